//===- CudaOps.td - Groups of ops in one kernel ------------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CUDA_CUDAOPS_TD
#define SHARDKIT_TARGET_CUDA_CUDAOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SpmdCuda_Dialect : Dialect {
  let name = "spmd_cuda";
  let cppNamespace = "::mlir::spmd::cuda";
  let summary = "Ops that become one kernel";
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
  let summary = "linalg ops on rows of the same length, one row at a time";
  let description = [{
    The linalg ops in the region compute the result on tensors; the region yields it.
    Each linalg op has `spmd_cuda.outer`, the positions of its loops that select the row.
    These loops have the same sizes, in this order, in all ops. The other loops of an op
    run along the row: all are parallel, or all are reductions. A row depends only on the
    same row of other values, so that rows stay in registers. The arguments of the region
    are the inputs, tensors or scalars; the region does not change when inputs and result
    become buffers.
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
