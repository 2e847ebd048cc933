//===- InlineCalls.h - Inlining of calls ------------------------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_INLINECALLS_H
#define SHARDKIT_TRANSFORMS_INLINECALLS_H

namespace mlir {
class OpPassManager;

namespace spmd {

/// Adds MLIR's inliner, and a pass for the calls that it keeps: it does not inline a body with affine ops into a loop
/// or a branch, where they could no longer be analyzed. They compute the same there, and unused private functions are
/// erased. `simplifies`: callees are canonicalized first.
void addInliner(OpPassManager &passes, bool simplifies = true);

} // namespace spmd
} // namespace mlir

#endif // SHARDKIT_TRANSFORMS_INLINECALLS_H
