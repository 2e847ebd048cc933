//===- CudaOps.h - What becomes one kernel ----------------------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_IR_CUDAOPS_H
#define SHARDKIT_TARGET_IR_CUDAOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardkit/Target/IR/CudaOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "shardkit/Target/IR/CudaOps.h.inc"

namespace mlir::spmd::cuda {
/// On ops in the region of `spmd_cuda.rows`: the loops that choose the row
/// (DenseI64ArrayAttr).
inline constexpr llvm::StringLiteral kOuterAttr = "spmd_cuda.outer";
} // namespace mlir::spmd::cuda

#endif // SHARDKIT_TARGET_IR_CUDAOPS_H
