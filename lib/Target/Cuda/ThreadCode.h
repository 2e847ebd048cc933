//===- ThreadCode.h - Code of one thread for a linalg op --------*- C++ -*-===//
//
// A linalg op on buffers is divided into pieces that can be computed in any order: a few
// contiguous elements of the result, with all reductions into them. For example, a sum
// over dim 1 of 1024x64 elements has 256 pieces of 4 results.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H

#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

/// The pieces of an op.
struct Pieces {
  /// The parallel loops, slowest first: adjacent pieces write adjacent elements.
  SmallVector<unsigned> loops;
  /// Iterations of the last loop in a piece.
  int64_t width = 1;
};

/// The number of iterations of `loops`.
OpFoldResult countIterations(OpBuilder &b, linalg::LinalgOp op, ArrayRef<unsigned> loops);
Pieces getPieces(linalg::LinalgOp op);
/// Number of pieces.
OpFoldResult countPieces(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces);
/// Emits piece `id` of `op`, which does not change.
void emitPiece(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces, Value id);

/// True if an element of an output is one value for all terms. Else the output has an element for each
/// term of a reduction loop, as fusion leaves it where an output carries the size of the loop.
bool isReducedInAllOutputs(linalg::LinalgOp op);

/// Whether `buffer` is contiguous along `loop`, with a start aligned to `width` elements.
bool isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width);
/// Shared memory of a block of `kernel`.
Value addShared(gpu::GPUFuncOp kernel, ArrayRef<int64_t> shape, Type element);
/// Emits the payload of `op` on one element of each operand, at the current indices of its
/// loops; `mapping` has the captured values. Returns the yielded values, or `wanted`.
SmallVector<Value> emitPayload(OpBuilder &b, linalg::LinalgOp op, ValueRange elements, ArrayRef<Value> loops,
                               IRMapping mapping = {}, ValueRange wanted = {});
/// Applies `combiner`, of the payload of a reduction, to two values.
Value combine(OpBuilder &b, Operation *combiner, Value x, Value y);

/// The bitwise neutral element of `combiner`; null if there is none.
TypedAttr getStart(Operation *combiner);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
