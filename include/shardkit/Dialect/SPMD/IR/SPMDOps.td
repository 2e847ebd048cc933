//===- SPMDOps.td - Global-view ops of the spmd dialect ----*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDOPS
#define SHARDKIT_DIALECT_SPMD_IR_SPMDOPS

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardkit/Dialect/SPMD/IR/SPMDAttrs.td"

def SPMD_MeshOp : SPMD_Op<"mesh", [Symbol]> {
  let summary = "a logical mesh of devices";
  let description = [{
    Axes are ordered major to minor; `device_ids[r]` is the device of row-major
    logical rank r (default: r). Link costs per axis (`alpha` in s, `beta` in
    s/byte), the compute rate `flops` (per second and device), the `bandwidth`
    of memory (bytes per second and device) and the `memory` budget (bytes per
    device) are optional.

    Constraints:
    * (mesh_c1) axis names are distinct and not empty, sizes positive
    * (mesh_c2) `device_ids` has one distinct, non-negative id per device
    * (mesh_c3) `alpha` and `beta` have one positive cost per axis
    * (mesh_c4) `flops`, `bandwidth` and `memory` are positive

    ```mlir
    spmd.mesh @pod = <["data"=2, "model"=4]>
    spmd.mesh @rows = <["x"=4], device_ids=[0, 2, 1, 3]> {alpha = [1.0e-6], beta = [1.0e-11]}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, SPMD_MeshAttr:$mesh,
                       OptionalAttr<F64ArrayAttr>:$alpha,
                       OptionalAttr<F64ArrayAttr>:$beta,
                       OptionalAttr<F64Attr>:$flops,
                       OptionalAttr<F64Attr>:$bandwidth,
                       OptionalAttr<I64Attr>:$memory);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
  let hasVerifier = 1;
}

def SPMD_WithShardingConstraintOp : SPMD_Op<"with_sharding_constraint",
    [AllTypesMatch<["input", "result"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "constrains the layout of a value at this point";
  let description = [{
    The producer may compute in another sharding and be resharded into this one.
    The op is not pure, so that canonicalization, CSE and DCE keep it; no pass
    changes its sharding.

    Constraints:
    * (with_sharding_constraint_c1) exactly one of sharding, axis resources and ONNX Runtime spec is given
    * (with_sharding_constraint_c2) the sharding is legal for the value (sharding_c1 to sharding_c4)
    * (with_sharding_constraint_c3) the value is not constrained to be unreduced
    * (with_sharding_constraint_c4) at most as many axis resources as dimensions

    ```mlir
    %1 = spmd.with_sharding_constraint %0 <@pod, [{"data"}, {?} ]> : tensor<8x16xf32>
    %2 = spmd.with_sharding_constraint %0 axis_resources ["data", ?] : tensor<8x16xf32>
    %3 = spmd.with_sharding_constraint %0 axis_resources replicated : tensor<8x16xf32>
    %4 = spmd.with_sharding_constraint %0 ort <"S[0]R", shape = [2], elements = [0, 1]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input,
                       OptionalAttr<SPMD_ShardingAttr>:$sharding,
                       OptionalAttr<SPMD_AxisResourcesAttr>:$axis_resources,
                       OptionalAttr<SPMD_OrtAttr>:$ort);
  let results = (outs SPMD_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::spmd::ShardingAttr":$sharding), [{
      build($_builder, $_state, input.getType(), input, sharding, {}, {});
    }]>
  ];
  let assemblyFormat = [{
    $input custom<ShardingOrResources>($sharding, $axis_resources, $ort)
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def SPMD_ReshardOp : SPMD_Op<"reshard",
    [Pure, AllTypesMatch<["input", "result"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "changes the layout of a value";
  let description = [{
    After --spmd-insert-reshards the only op that changes a layout.

    Constraints:
    * (reshard_c1) the sharding is legal for the value (sharding_c1 to sharding_c4)

    ```mlir
    %1 = spmd.reshard %0 <@pod, [{}, {"model"} ]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_ShardingAttr:$sharding);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def SPMD_ManualComputationOp : SPMD_Op<"manual_computation",
    [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a region written in local view over some axes";
  let description = [{
    Inside the region a dimension has its size divided by the manual axes that
    split it; axes not listed stay free, and types are global in them. The
    shardings constrain operands and results as `spmd.with_sharding_constraint`
    does. Free axes propagate in and out, manual axes are not used inside.
    Collectives in the region are over manual axes, and all devices must reach them
    alike. Partition replaces the op by its body. `spmd.reference = @f` on the
    function names the function that `shard-run --verify` compares with.

    Constraints:
    * (manual_computation_c1) one in-sharding per operand and one out-sharding per result
    * (manual_computation_c2) all shardings name one mesh, which has all manual axes; none is listed twice
    * (manual_computation_c3) every sharding is legal for its value (sharding_c1 to sharding_c4)
    * (manual_computation_c4) in every dimension manual axes come before free ones and `?`
    * (manual_computation_c5) region arguments have the local types of the operands
    * (manual_computation_c6) `spmd.return` has operands of the local types of the results

    ```mlir
    %1 = spmd.manual_computation (%0) in [<@pod, [{"data"}, {?} ]>] out [<@pod, [{"data"}, {?} ]>] axes ["data"] (%a: tensor<4x16xf32>) {
      spmd.return %a : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Variadic<SPMD_Tensor>:$inputs,
                       TypedArrayAttrBase<SPMD_ShardingAttr, "array of shardings">:$in_shardings,
                       TypedArrayAttrBase<SPMD_ShardingAttr, "array of shardings">:$out_shardings,
                       StrArrayAttr:$manual_axes);
  let results = (outs Variadic<SPMD_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::spmd::ShardingAttr getInSharding(unsigned i) {
      return ::llvm::cast<::mlir::spmd::ShardingAttr>(getInShardings()[i]);
    }
    ::mlir::spmd::ShardingAttr getOutSharding(unsigned i) {
      return ::llvm::cast<::mlir::spmd::ShardingAttr>(getOutShardings()[i]);
    }
    bool isManualAxis(::llvm::StringRef axis);
    /// The mesh that all shardings name; null where there are none.
    ::mlir::FlatSymbolRefAttr getMesh() {
      for (::mlir::ArrayAttr list : {getInShardings(), getOutShardings()})
        if (!list.empty())
          return ::llvm::cast<::mlir::spmd::ShardingAttr>(list[0]).getMesh();
      return {};
    }
  }];
}

def SPMD_ReturnOp : SPMD_Op<"return",
    [Pure, Terminator, ParentOneOf<["ManualComputationOp", "StartOp"]>]> {
  let summary = "ends a manual computation, or a group of started collectives";
  let arguments = (ins Variadic<SPMD_Tensor>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

def SPMD_SortOp : SPMD_Op<"sort", [Pure, SingleBlock]> {
  let summary = "the first elements along a dim in a stable order";
  let description = [{
    Sorts the operands along `dim` together, and keeps as many elements as the results
    have: the first of the order, or its last ones. The region specifies the order: true
    if the element of its first argument comes before that of its second; arguments of
    further operands follow in pairs. It must be a strict weak order. Elements of which
    none comes before the other keep their order.

    Sharded along `dim`, each shard selects its candidates; these are gathered, and the
    same op selects among them. Any other dim is parallel. Targets expand the op to
    loops: ranks by counting where the dim is short, else the rounds of a network.

    Constraints:
    * (sort_c1) at least one operand; operands have one shape, and results have one shape
    * (sort_c2) `dim` is a dim of the operands
    * (sort_c3) one result per operand, of its type except for the size of `dim`, which is at most that of the operand;
      of a dynamic size all elements are kept
    * (sort_c4) per operand the region has two arguments of its element type; it yields one i1
    * (sort_c5) the region has pure ops on scalars only

    ```mlir
    %1:2 = spmd.sort %0, %index dim = 1 {
    ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
      %before = arith.cmpf ogt, %a, %b : f32
      spmd.yield %before
    } : (tensor<4x32000xf32>, tensor<4x32000xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
    ```
  }];
  let arguments = (ins Variadic<SPMD_Tensor>:$inputs, I64Attr:$dimension, UnitAttr:$last);
  let results = (outs Variadic<SPMD_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$order);
  let assemblyFormat = [{
    $inputs `dim` `=` $dimension (`last` $last^)? $order attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getInputType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getInputs().front().getType());
    }
    /// The size of the sorted dim.
    int64_t getSortedSize() { return getInputType().getDimSize(getDimension()); }
    /// The number of elements that are kept of it.
    int64_t getKeptSize() {
      return ::llvm::cast<::mlir::RankedTensorType>(getOutputs().front().getType()).getDimSize(getDimension());
    }
  }];
}

def SPMD_YieldOp : SPMD_Op<"yield", [Pure, Terminator, HasParent<"SortOp">]> {
  let summary = "ends the region of a sort";
  let arguments = (ins I1:$before);
  let assemblyFormat = "$before attr-dict";
}

def SPMD_PropagationBarrierOp : SPMD_Op<"propagation_barrier",
    [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "stops propagation, or lets it pass one way";
  let description = [{
    ```mlir
    %1 = spmd.propagation_barrier %0 allow = none : tensor<8x16xf32>
    %2 = spmd.propagation_barrier %0 allow = forward : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, SPMD_BarrierDirection:$allow);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = "$input `allow` `=` $allow attr-dict `:` type($result)";
}

def SPMD_ShardingGroupOp : SPMD_Op<"sharding_group"> {
  let summary = "gives all values of one group the same sharding";
  let description = [{
    Constraints:
    * (sharding_group_c1) the group has a name

    ```mlir
    spmd.sharding_group %0 "g" : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, StrAttr:$group);
  let assemblyFormat = "$input $group attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def SPMD_StageBoundaryOp : SPMD_Op<"stage_boundary"> {
  let summary = "the boundary between two pipeline stages";
  let description = [{
    The operands enter the next stage. `backward` marks a boundary of the backward
    fragments, `candidate` a point at which automatic stages may split the program.
    Axis resources constrain the operands on both sides, each resolved against the
    mesh of its stage.

    Constraints:
    * (stage_boundary_c1) at least one operand
    * (stage_boundary_c2) at most as many axis resources as the lowest rank of a value

    ```mlir
    spmd.stage_boundary %0 : tensor<8x16xf32>
    spmd.stage_boundary backward %0, %1 axis_resources ["data", none] : tensor<8x16xf32>, tensor<8x4xf32>
    spmd.stage_boundary candidate %0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Variadic<SPMD_Tensor>:$inputs, UnitAttr:$backward,
                       UnitAttr:$candidate,
                       OptionalAttr<SPMD_AxisResourcesAttr>:$axis_resources);
  let assemblyFormat = [{
    (`backward` $backward^)? (`candidate` $candidate^)? $inputs
    (`axis_resources` custom<BareAxisResources>($axis_resources)^)?
    attr-dict `:` type($inputs)
  }];
  let hasVerifier = 1;
}

def SPMD_ProbeOp : SPMD_Op<"probe", [MemoryEffects<[MemWrite]>]> {
  let summary = "compares a value with that of the unsharded program";
  let description = [{
    --spmd-insert-probes puts one after each value, in a function and in its unsharded
    counterpart (`spmd.unsharded`), under the same number. `name` is what the value is
    called, `producer` the op that computes it. --spmd-partition adds the sharding and the
    global type of the value. A run passes both values to the runtime.

    Constraints:
    * (probe_c1) the number is not negative
    * (probe_c2) a probe has a sharding only with a global type of the same element type and rank

    ```mlir
    spmd.probe 3 "%5 (scores)" "linalg.matmul" %0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins I64Attr:$id, StrAttr:$name, StrAttr:$producer, SPMD_Tensor:$input,
                       OptionalAttr<SPMD_ShardingAttr>:$sharding, OptionalAttr<TypeAttr>:$global_type);
  let assemblyFormat = "$id $name $producer $input (`as` $sharding^ `of` $global_type)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDOPS
