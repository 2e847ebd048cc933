//===- SplitReduction.h - Reductions by several threads --------*- C++ -*--===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H
#define SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H

#include "ThreadCode.h"
#include "shardkit/Rules/Selections.h"

namespace mlir::spmd::cuda {

/// A reduction whose terms are divided among threads of one block, or of several. For
/// example, the sum of 2^20 terms: 256 threads in each of 64 blocks sum 64 terms each, the
/// threads of a block add their sums, and another kernel adds the sums of the blocks.
struct SplitReduction {
  Pieces pieces;
  int64_t splits = 1; ///< Threads of a block for each element of the result.
  /// Blocks for each element of the result: each reduces a chunk of the terms, and another
  /// op reduces their results.
  int64_t chunks = 1;
  /// Whether adjacent threads process adjacent terms of one result, or adjacent results.
  bool alongTerms = true;
  SmallVector<Operation *> combiners; ///< The combiner of each result, in the body of the op.
  /// Alternatively, each thread selects one of consecutive terms, and the selections of
  /// adjacent threads are combined in the order of the terms.
  std::optional<Selection> selection;
  bool fromFirst = false; ///< A thread starts from its first term, or from the init.
};

/// The fastest split of `op`, if it sums, multiplies, takes a maximum or minimum
/// of, or selects one of its terms, and if a split is faster.
std::optional<SplitReduction> getSplitReduction(linalg::LinalgOp op, int64_t threads);
/// The number of blocks of `threads` threads.
OpFoldResult countBlocks(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, int64_t threads);
/// Allocates memory for the results of the blocks of `op`, and inserts after `op` the op
/// that reduces them.
linalg::LinalgOp emitPartials(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split,
                              SmallVectorImpl<Value> &partials);
/// Emits `threads / splits` results, or one chunk of each, for a block of that many threads.
/// `kernel` gets the shared memory.
void emitSplitReduction(OpBuilder &b, linalg::LinalgOp op, const SplitReduction &split, int64_t threads,
                        gpu::GPUFuncOp kernel, ValueRange partials);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_SPLITREDUCTION_H
