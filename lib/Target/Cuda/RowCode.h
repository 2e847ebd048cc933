//===- RowCode.h - Rows that stay in registers ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H

#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

/// The assignment of the rows of an op to threads: adjacent threads process adjacent
/// vectors, in rounds until the end of the row. For example, 32 threads with vectors of 4
/// process a row of 256 elements in 2 rounds of 128.
struct RowShape {
  int64_t length = 1;
  int64_t width = 1;   ///< Elements of a vector.
  int64_t threads = 1; ///< Threads of a row: a power of 2.
  int64_t rounds = 1;
  int64_t rowsPerBlock = 1;
  int64_t blockThreads() const { return threads * rowsPerBlock; }
};

RowShape getRowShape(RowsOp op);
/// The number of rows of `op`, on buffers.
OpFoldResult countRows(OpBuilder &b, RowsOp op);
/// Computes the rows of a block; `op` is on buffers of the kernel.
void emitRows(OpBuilder &b, RowsOp op, const RowShape &shape, gpu::GPUFuncOp kernel);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_ROWCODE_H
