//===- SPMDCollectives.td - Local-view ops of the spmd dialect -*- tablegen -*-//
//
// Each collective writes the digits that it moves as dimension shardings of its
// own global value; verifiers derive the result type from them. A dynamic size is
// dynamic on both sides, and assumed to be a multiple of the shards of both.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDCOLLECTIVES
#define SHARDKIT_DIALECT_SPMD_IR_SPMDCOLLECTIVES

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardkit/Dialect/SPMD/IR/SPMDAttrs.td"
include "shardkit/Dialect/SPMD/IR/SPMDInterfaces.td"

// A dead collective may be erased (it is dead on every device), but none is
// speculatable: it must not move under control flow that differs between devices.
class SPMD_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : SPMD_Op<mnemonic, !listconcat(traits, [
        NoMemoryEffect, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<SPMD_CollectiveOpInterface>])>;

def SPMD_AllGatherOp : SPMD_CollectiveOp<"all_gather"> {
  let summary = "every device receives the shards of the others";
  let description = [{
    The sharding is that of the operand, over the result type.

    Constraints:
    * (all_gather_c1) the sharding is legal for the result type and not unreduced
    * (all_gather_c2) the operand has the local shape of the sharding
    * (all_gather_c3) element types are equal

    ```mlir
    %1 = spmd.all_gather %0 <@pod, [{}, {2, "model"} ]> : tensor<8x4xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ShardingAttr:$sharding,
                       OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($input) `->` type($result)";
}

def SPMD_AllSliceOp : SPMD_CollectiveOp<"all_slice"> {
  let summary = "every device keeps its shard; no data move";
  let description = [{
    The sharding is that of the result, over the operand type.

    Constraints:
    * (all_slice_c1) the sharding is legal for the operand type and not unreduced
    * (all_slice_c2) the result has the local shape of the sharding
    * (all_slice_c3) element types are equal

    ```mlir
    %1 = spmd.all_slice %0 <@pod, [{"model"}, {} ]> : tensor<8x4xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ShardingAttr:$sharding,
                       OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($input) `->` type($result)";
}

def SPMD_AllReduceOp : SPMD_CollectiveOp<"all_reduce", [AllTypesMatch<["input", "result"]>]> {
  let summary = "combines the partial values of the devices along some axes";
  let description = [{
    Constraints:
    * (all_reduce_c1) at least one axis; each belongs to the mesh and is used once
    * (all_reduce_c2) the reduction is defined for the element type

    ```mlir
    %1 = spmd.all_reduce %0 max <@pod, {"model"}> : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ReductionKindAttr:$reduction_kind,
                       SPMD_AxesAttr:$axes, OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input custom<Reduction>($reduction_kind) $axes attr-dict `:` type($result)";
}

def SPMD_ReduceScatterOp : SPMD_CollectiveOp<"reduce_scatter"> {
  let summary = "combines partial values; every device keeps its shard";
  let description = [{
    The operand is partial over all axes of the sharding, which is that of the
    result, over the operand type.

    Constraints:
    * (reduce_scatter_c1) the sharding is legal for the operand type, names an axis and is not unreduced
    * (reduce_scatter_c2) the result has the local shape of the sharding
    * (reduce_scatter_c3) element types are equal and the reduction is defined for them

    ```mlir
    %1 = spmd.reduce_scatter %0 sum <@pod, [{"model"}, {} ]> : tensor<8x4xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ReductionKindAttr:$reduction_kind,
                       SPMD_ShardingAttr:$sharding, OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = [{
    $input custom<Reduction>($reduction_kind) $sharding attr-dict
    `:` type($input) `->` type($result)
  }];
}

def SPMD_AllToAllOp : SPMD_CollectiveOp<"all_to_all"> {
  let summary = "moves axes from some dimensions to others";
  let description = [{
    The global value is the one whose local shape under `from` is the operand's.

    Constraints:
    * (all_to_all_c1) both shardings name views of one mesh, are legal for the global value and not unreduced
    * (all_to_all_c2) the result has the local shape of `to`
    * (all_to_all_c3) element types are equal

    ```mlir
    %1 = spmd.all_to_all %0 <@pod, [{"model"}, {} ]> to <@pod, [{}, {"model"} ]> : tensor<2x8xf32> -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ShardingAttr:$from,
                       SPMD_ShardingAttr:$to, OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input $from `to` $to attr-dict `:` type($input) `->` type($result)";
}

class SPMD_MoveOp<string mnemonic> : SPMD_CollectiveOp<mnemonic> {
  let arguments = (ins SPMD_Tensor:$input, TypeAttrOf<AnyRankedTensor>:$global_type,
                       SPMD_ShardingAttr:$from, SPMD_ShardingAttr:$to,
                       OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = [{
    $input `of` $global_type $from `to` $to attr-dict `:` type($input) `->` type($result)
  }];
}

def SPMD_CollectivePermuteOp : SPMD_MoveOp<"collective_permute"> {
  let summary = "every device sends its full shard to another";
  let description = [{
    Constraints:
    * (collective_permute_c1) both shardings are legal for the global type and not unreduced
    * (collective_permute_c2) operand and result have their local shapes, which are equal
    * (collective_permute_c3) element types are equal

    ```mlir
    %1 = spmd.collective_permute %0 of tensor<8x16xf32> <@pod, [{"data"}, {} ]> to <@turned, [{"data"}, {} ]> : tensor<4x16xf32> -> tensor<4x16xf32>
    ```
  }];
}

def SPMD_ExchangeOp : SPMD_MoveOp<"exchange"> {
  let summary = "grouped point-to-point moves from one layout to another";
  let description = [{
    Constraints:
    * (exchange_c1) both shardings are legal for the global type and not unreduced
    * (exchange_c2) operand and result have their local shapes
    * (exchange_c3) element types are equal

    ```mlir
    %1 = spmd.exchange %0 of tensor<8x16xf32> <@pod, [{"data"}, {} ]> to <@pod2, [{}, {"u"} ]> : tensor<4x16xf32> -> tensor<8x8xf32>
    ```
  }];
}

def SPMD_HaloExchangeOp : SPMD_CollectiveOp<"halo_exchange"> {
  let summary = "every device receives a window of a sharded dimension";
  let description = [{
    Window i is one of dimension `dims[i]`: the device with coordinate k on the
    axes of that dimension in `to` receives the elements from index
    `steps[i] * k + offsets[i]` on, as many as the dimension of the result has.
    Windows may overlap (the halo of a convolution) and reach beyond the dimension;
    elements beyond it are zero. No data move if `from` leaves all these dimensions
    unsharded. Dimensions without a window have the same axes on both sides.

    With step 0 all devices receive the same window: its owners send it. An offset may be
    known at run time only (`%i`). All devices that exchange elements must have the same one.

    Constraints:
    * (halo_exchange_c1) `from` is legal for the global type, both shardings have its rank and are not unreduced
    * (halo_exchange_c2) dims are rising, belong to the value, and have a step and an offset each; `to` shards exactly these, without strides unless the step is 0; there is a value for each offset that is known at run time
    * (halo_exchange_c3) a dim has the same axes in `from` as in `to`, or none and a window
    * (halo_exchange_c4) the operand has the local shape of `from`, the result that of the windows
    * (halo_exchange_c5) element types are equal

    ```mlir
    %1 = spmd.halo_exchange %0 of tensor<8x16xf32> <@pod, [{"data"}, {} ]> to <@pod, [{"data"}, {} ]> dims = [0] steps = [4] offsets = [-1] : tensor<4x16xf32> -> tensor<6x16xf32>
    %2 = spmd.halo_exchange %0 of tensor<8x16xf32> <@pod, [{"data"}, {} ]> to <@pod, [{"data"}, {} ]> dims = [0] steps = [0] offsets = [%i] : tensor<4x16xf32> -> tensor<1x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, Variadic<Index>:$dynamic_offsets,
                       TypeAttrOf<AnyRankedTensor>:$global_type,
                       SPMD_ShardingAttr:$from, SPMD_ShardingAttr:$to,
                       DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$steps,
                       DenseI64ArrayAttr:$offsets, OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = [{
    $input `of` $global_type $from `to` $to `dims` `=` $dims `steps` `=` $steps
    `offsets` `=` custom<DynamicIndexList>($dynamic_offsets, $offsets)
    attr-dict `:` type($input) `->` type($result)
  }];
}

// Both have an effect: a start must neither be erased nor be merged with another,
// since each is a rendezvous of devices.
def SPMD_StartOp : SPMD_Op<"start",
    [SingleBlock, MemoryEffects<[MemWrite]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "starts collectives that are sent together";
  let description = [{
    The devices have one rendezvous for all collectives of the region. Their results
    may be read after the `spmd.done` that takes them, and their operands must not
    change before it.

    Constraints:
    * (start_c1) the region holds collectives that move data, at least one, and returns their results in order
    * (start_c2) no collective of the region reads the result of another
    * (start_c3) all of them move data among the same devices
    * (start_c4) one `spmd.done` of the same block takes all results in order, and is their only user

    ```mlir
    %1:2 = spmd.start {
      %a = spmd.all_reduce %x sum <@pod, {"model"}> : tensor<8x4xf32>
      %b = spmd.all_reduce %y sum <@pod, {"model"}> : tensor<16xf32>
      spmd.return %a, %b : tensor<8x4xf32>, tensor<16xf32>
    } : tensor<8x4xf32>, tensor<16xf32>
    %2:2 = spmd.done %1#0, %1#1 : tensor<8x4xf32>, tensor<16xf32>
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<SPMD_Tensor>:$results);
  let assemblyFormat = "$body attr-dict `:` type($results)";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The `spmd.done` of the results.
    DoneOp getDone();
  }];
}

def SPMD_DoneOp : SPMD_Op<"done",
    [MemoryEffects<[MemWrite]>, AllTypesMatch<["inputs", "results"]>]> {
  let summary = "waits for collectives that were started";
  let description = [{
    Constraints:
    * (done_c1) the operands are all results of one `spmd.start` of the same block, in order

    ```mlir
    %2 = spmd.done %1 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<SPMD_Tensor>:$inputs);
  let results = (outs Variadic<SPMD_Tensor>:$results);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

def SPMD_BroadcastOp : SPMD_Op<"broadcast",
    [NoMemoryEffect, AllTypesMatch<["input", "result"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "every device along some axes receives the value of one of them";
  let description = [{
    `root` is the row-major coordinate of the sender on the axes.

    Constraints:
    * (broadcast_c1) at least one axis; each belongs to the mesh and is used once
    * (broadcast_c2) the root is a coordinate on the axes

    ```mlir
    %1 = spmd.broadcast %0 <@pod, {"model"}> root = 2 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_AxesAttr:$axes, I64Attr:$root,
                       OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input $axes `root` `=` custom<I64>($root) attr-dict `:` type($result)";
}

def SPMD_SendOp : SPMD_Op<"send", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sends a value to the devices of another mesh";
  let description = [{
    Pairs with the `spmd.recv` of the same channel, which has the same global
    type and shardings.

    Constraints:
    * (send_c1) both shardings are legal for the global type and not unreduced
    * (send_c2) the operand has the local shape of `from`
    * (send_c3) element types are equal
    * (send_c4) the channel is not negative

    ```mlir
    spmd.send %0 of tensor<8x16xf32> <@s0, [{"data"}, {} ]> to <@s1, [{}, {"u"} ]> channel = 3 : tensor<4x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, TypeAttrOf<AnyRankedTensor>:$global_type,
                       SPMD_ShardingAttr:$from, SPMD_ShardingAttr:$to,
                       I64Attr:$channel, OptionalAttr<I64Attr>:$id);
  let assemblyFormat = [{
    $input `of` $global_type $from `to` $to `channel` `=` custom<I64>($channel)
    attr-dict `:` type($input)
  }];
}

def SPMD_RecvOp : SPMD_Op<"recv", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "receives a value from the devices of another mesh";
  let description = [{
    Constraints:
    * (recv_c1) both shardings are legal for the global type and not unreduced
    * (recv_c2) the result has the local shape of `to`
    * (recv_c3) element types are equal
    * (recv_c4) the channel is not negative

    ```mlir
    %1 = spmd.recv of tensor<8x16xf32> <@s0, [{"data"}, {} ]> to <@s1, [{}, {"u"} ]> channel = 3 : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins TypeAttrOf<AnyRankedTensor>:$global_type,
                       SPMD_ShardingAttr:$from, SPMD_ShardingAttr:$to,
                       I64Attr:$channel, OptionalAttr<I64Attr>:$id);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = [{
    `of` $global_type $from `to` $to `channel` `=` custom<I64>($channel)
    attr-dict `:` type($result)
  }];
}

def SPMD_DeviceCoordinateOp : SPMD_Op<"device_coordinate",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "coordinate of this device on a mesh axis";
  let description = [{
    Constraints:
    * (device_coordinate_c1) the axis belongs to the mesh

    ```mlir
    %i = spmd.device_coordinate @pod "model" : index
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrAttr:$axis);
  let results = (outs Index:$coordinate);
  let assemblyFormat = "$mesh $axis attr-dict `:` type($coordinate)";
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDCOLLECTIVES
