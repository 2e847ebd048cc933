//===- InlineCalls.h - Bodies in place of calls -----------------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_INLINECALLS_H
#define SHARDKIT_TRANSFORMS_INLINECALLS_H

namespace mlir {
class OpPassManager;

namespace spmd {

/// MLIR's inliner, and what it leaves: where a body has ops of affine it takes a call in a loop or a branch for one
/// that stays, since they could no longer be analysed there. They compute the same, and private functions go.
/// `simplifies`: callees are canonicalized first.
void addInliner(OpPassManager &passes, bool simplifies = true);

} // namespace spmd
} // namespace mlir

#endif // SHARDKIT_TRANSFORMS_INLINECALLS_H
