//===- SplitReduction.h - Reductions by several threads --------*- C++ -*--===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H
#define SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H

#include "ThreadCode.h"
#include "shardkit/Rules/Selections.h"

namespace mlir::spmd::cuda {

/// A reduction whose terms are shared by threads of one block, or of several.
struct SplitReduction {
  Pieces pieces;
  int64_t splits = 1; ///< Threads of a block for each element of the result.
  /// Blocks for each element of the result: each stores what it has of its part of the terms,
  /// and another op reduces these.
  int64_t parts = 1;
  /// Neighbouring threads take neighbouring terms of one result; else neighbouring results.
  bool alongTerms = true;
  SmallVector<Operation *> combiners; ///< Of each result, in the op's body.
  /// Instead: each thread picks from terms that follow each other, and neighbours' picks
  /// meet in the order of these.
  std::optional<Selection> selection;
  bool fromFirst = false; ///< A thread starts from the first of its terms; else from the init.
};

/// How `op` is best split, if it can be (it adds, multiplies, takes the largest or
/// smallest, or picks one of the terms, and its sizes are known) and that makes it faster.
std::optional<SplitReduction> getSplitReduction(linalg::LinalgOp op, int64_t threads);
/// Blocks that compute all of it, of `threads` threads.
int64_t countBlocks(linalg::LinalgOp op, const SplitReduction &split, int64_t threads);
/// Memory for what the parts of `op` have of each of its results, and behind `op` the op that
/// reduces them.
linalg::LinalgOp emitPartials(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split,
                              SmallVectorImpl<Value> &partials);
/// Computes `threads / splits` results, or one part of each, on a block of that many threads;
/// all of them come here. `kernel` gets the memory that they share.
void emitSplitReduction(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, int64_t threads,
                        gpu::GPUFuncOp kernel, ValueRange partials);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H
