//===- RowCode.h - Rows that stay in registers ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H

#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

/// How the rows of an op lie on threads: neighbouring threads take neighbouring vectors,
/// round after round until the row ends.
struct RowShape {
  int64_t rows = 1, length = 1;
  int64_t width = 1;   ///< Elements of a vector.
  int64_t threads = 1; ///< For a row: a power of 2.
  int64_t rounds = 1;
  int64_t rowsPerBlock = 1;
  int64_t blockThreads() const { return threads * rowsPerBlock; }
};

RowShape getRowShape(RowsOp op);
/// Computes the rows of a block; `op` is on buffers of the kernel.
void emitRows(OpBuilder &b, RowsOp op, const RowShape &shape, gpu::GPUFuncOp kernel);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H
