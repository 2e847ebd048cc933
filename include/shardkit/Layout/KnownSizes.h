//===- KnownSizes.h - Layouts of values of unknown size ---------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_KNOWNSIZES_H
#define SHARDKIT_LAYOUT_KNOWNSIZES_H

#include "shardkit/Layout/Sharding.h"

namespace mlir::spmd {

/// `shape` with every unknown (negative) size replaced by the smallest that all
/// `shardings` divide. The actual size is a multiple of it, and each index stands for
/// that many consecutive elements: facts about layouts of this shape hold for the
/// value.
///   [?, 6], [{"x"}, {}] and [{"y"}, {}], x=2, y=3 -> [6, 6]
llvm::SmallVector<int64_t, 4> withKnownSizes(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<const Sharding *> shardings);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_KNOWNSIZES_H
