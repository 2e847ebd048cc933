//===- ThreadCode.h - What one thread does of a linalg op -------*- C++ -*-===//
//
// A linalg op on buffers is cut into pieces that can be computed in any order: some
// elements of the result that lie side by side, with all reductions into them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H

#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

/// How an op is cut.
struct Pieces {
  /// Its parallel loops, slowest first: neighbouring pieces write neighbouring elements.
  SmallVector<unsigned> loops;
  /// Iterations of the last one in a piece.
  int64_t width = 1;
};

Pieces getPieces(linalg::LinalgOp op);
/// Number of pieces.
OpFoldResult countPieces(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces);
/// Computes piece `id` of `op`, which stays as it is.
void emitPiece(OpBuilder &b, linalg::LinalgOp op, const Pieces &pieces, Value id);

/// Whether `buffer` is visited side by side as `loop` runs, from places that are aligned
/// to `width` elements.
bool isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width);
/// Memory that the threads of a block of `kernel` share.
Value addShared(gpu::GPUFuncOp kernel, ArrayRef<int64_t> shape, Type element);
/// The payload of `op` on one element of each operand, at the place where its loops are;
/// `mapping` has what it takes from outside. What it yields, or the values `wanted` of it.
SmallVector<Value> emitPayload(OpBuilder &b, linalg::LinalgOp op, ValueRange elements, ArrayRef<Value> loops,
                               IRMapping mapping = {}, ValueRange wanted = {});
/// What `combiner`, of a reduction's payload, makes of two values.
Value combine(OpBuilder &b, Operation *combiner, Value x, Value y);

/// What `combiner` leaves every value as it is with, bit for bit; null if there is nothing
/// of the kind.
TypedAttr getStart(Operation *combiner);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
