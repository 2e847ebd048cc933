//===- CudaOps.td - What becomes one kernel ----------------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CUDA_CUDAOPS_TD
#define SHARDKIT_TARGET_CUDA_CUDAOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SpmdCuda_Dialect : Dialect {
  let name = "spmd_cuda";
  let cppNamespace = "::mlir::spmd::cuda";
  let summary = "Ops that are one kernel together";
  let description = [{
    Internal to `lib/Target/Cuda`.
  }];
}

def SpmdCuda_RowsOp : Op<SpmdCuda_Dialect, "rows", [
    DestinationStyleOpInterface, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "linalg ops that work on rows of the same length, a row at a time";
  let description = [{
    The linalg ops in the region, on tensors, say what is computed; what the region
    yields is the result of this op. Each has `spmd_cuda.outer`, the positions of those of
    its loops that choose the row; the loops of all have the same sizes
    there, in this order. Its other loops run along the row: all of them are parallel, or
    all of them reduce. A value is needed where its row is, so that rows can stay in
    registers. The arguments of the region are the inputs, tensors or scalars; the region stays as it is when
    inputs and result become buffers.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, AnyShaped:$init);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def SpmdCuda_YieldOp : Op<SpmdCuda_Dialect, "yield", [Pure, Terminator, HasParent<"RowsOp">]> {
  let summary = "The result of `spmd_cuda.rows`";
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // SHARDKIT_TARGET_CUDA_CUDAOPS_TD
