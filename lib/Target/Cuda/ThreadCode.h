//===- ThreadCode.h - What one thread does of a linalg op -------*- C++ -*-===//
//
// A linalg op on buffers is cut into pieces that can be computed in any order: some
// elements of the result that lie side by side, with all reductions into them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
#define SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H

#include "shardkit/Target/Cuda/Passes.h"

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

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
