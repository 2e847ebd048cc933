//===- RuntimeOps.td - What the runtime does, as ops -------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD
#define SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SpmdRt_Dialect : Dialect {
  let name = "spmd_rt";
  let cppNamespace = "::mlir::spmd::target";
  let summary = "Calls of the runtime, before they are calls";
  let description = [{
    Internal to `lib/Target/Common`. Work that the runtime does (contractions,
    collectives) as destination-style ops, on tensors before bufferization and
    on memrefs after it, so that fusion, tiling and unit-dim folding cannot take
    it apart.
  }];
}

class SpmdRt_Op<string mnemonic, list<Trait> traits = []>
    : Op<SpmdRt_Dialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, [
          "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
          "getAliasingValues", "bufferize"]>])>;

def SpmdRt_ContractOp : SpmdRt_Op<"contract"> {
  let summary = "A sum of products for sk_contract";
  let description = [{
    C = [C +] sum of A * B over the loops that C's map does not use. The maps
    are projected permutations of one iteration space of at most
    SK_MAX_CONTRACTION_DIMS loops larger than 1. With `overwrite` the init is
    not read.

    ```mlir
    %r = spmd_rt.contract [affine_map<(m, n, k) -> (m, k)>,
                            affine_map<(m, n, k) -> (n, k)>,
                            affine_map<(m, n, k) -> (m, n)>]
           ins(%a, %b : tensor<4x8xf32>, tensor<6x8xf32>)
           outs(%c : tensor<4x6xf32>) overwrite -> tensor<4x6xf32>
    ```
  }];
  let arguments = (ins AffineMapArrayAttr:$indexing_maps, AnyShaped:$a,
    AnyShaped:$b, AnyShaped:$c, UnitAttr:$overwrite);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $indexing_maps `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    `outs` `(` $c `:` type($c) `)` (`overwrite` $overwrite^)? attr-dict
    (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
    /// Sizes of the loops; nothing if they contradict each other or are dynamic.
    std::optional<SmallVector<int64_t>> getLoopSizes();
  }];
}

def SpmdRt_CollectiveOp : SpmdRt_Op<"collective"> {
  let summary = "A collective, by the id under which the manifest lists it";
  let description = [{
    ```mlir
    %r = spmd_rt.collective 3 ins(%x : tensor<4x8xf32>)
           outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    The init is not read; input and output never share memory. The first `batch_dims`
    dims are the same on both sides, of any size: the collective is that of the rest,
    at each of their places.
  }];
  let arguments = (ins I64Attr:$id, DefaultValuedAttr<I64Attr, "0">:$batch_dims,
                       AnyShaped:$input, AnyShaped:$init);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $id `ins` `(` $input `:` type($input) `)` `outs` `(` $init `:` type($init)
    `)` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def SpmdRt_StartOp : Op<SpmdRt_Dialect, "start", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Starts a collective, by the id under which the manifest lists it";
  let description = [{
    ```mlir
    %begun = spmd_rt.start 3 %x, %init
               : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    %r = spmd_rt.done 3 %x, %begun
           : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    ```
    Both operands belong to the runtime until the done, which takes the same input:
    it is read and the output written all that time.
  }];
  let arguments = (ins I64Attr:$id, AnyShaped:$input, AnyShaped:$init);
  let results = (outs Optional<AnyRankedTensor>:$begun);
  let assemblyFormat = [{
    $id $input `,` $init attr-dict `:` type($input) `,` type($init) (`->` type($begun)^)?
  }];
}

def SpmdRt_DoneOp : Op<SpmdRt_Dialect, "done", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Waits for a collective that was started";
  let description = [{
    See `spmd_rt.start`.
  }];
  let arguments = (ins I64Attr:$id, AnyShaped:$input, AnyShaped:$begun);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $id $input `,` $begun attr-dict `:` type($input) `,` type($begun) (`->` type($result)^)?
  }];
}

def SpmdRt_CoordinateOp : Op<SpmdRt_Dialect, "coordinate", [Pure]> {
  let summary = "(rank / stride) mod size";
  let arguments = (ins I64Attr:$stride, I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$stride $size attr-dict";
}

#endif // SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD
