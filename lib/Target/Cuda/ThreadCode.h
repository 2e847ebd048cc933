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

/// Whether `buffer` is visited side by side as `loop` runs, from places that are aligned
/// to `width` elements.
bool isSideBySide(Value buffer, AffineMap map, unsigned loop, int64_t width);
/// What `combiner`, of a reduction's payload, makes of two values.
Value combine(OpBuilder &b, Operation *combiner, Value x, Value y);

/// A reduction whose terms are shared by threads of one block.
struct SplitReduction {
  Pieces pieces;
  int64_t splits = 1; ///< Threads for each element of the result.
  /// Neighbouring threads take neighbouring terms of one result; else neighbouring results.
  bool alongTerms = true;
  SmallVector<Operation *> combiners; ///< Of each result, in the op's body.
};

/// How `op` is best split, if it can be (it adds, multiplies, or takes the largest or
/// smallest, and its sizes are known) and that makes it faster.
std::optional<SplitReduction> getSplitReduction(linalg::LinalgOp op, int64_t threads);
/// Computes `threads / splits` results on a block of that many threads; all of them come
/// here. `kernel` gets the memory that they share.
void emitSplitReduction(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split,
                        int64_t threads, gpu::GPUFuncOp kernel);

/// An elementwise op that reads some operands along another dim than it writes along: a
/// block takes a square of both, and turns it in memory that its threads share.
struct TiledMove {
  unsigned readLoop = 0, writeLoop = 0;
  SmallVector<unsigned> others;  ///< The other loops, slowest first.
  SmallVector<unsigned> turned; ///< Operands that are read along readLoop.
};
inline constexpr int64_t kTile = 32;

std::optional<TiledMove> getTiledMove(linalg::LinalgOp op);
/// Number of squares.
int64_t countTiles(linalg::LinalgOp op, const TiledMove &move);
/// Computes square `block id` with `threads` threads.
void emitTiledMove(OpBuilder &b, linalg::LinalgOp op, const TiledMove &move, int64_t threads,
                   gpu::GPUFuncOp kernel);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_THREADCODE_H
