//===- KnownSizes.h - Layouts of values of unknown size ---------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_KNOWNSIZES_H
#define SHARDKIT_LAYOUT_KNOWNSIZES_H

#include "shardkit/Layout/Sharding.h"

namespace mlir::spmd {

/// `shape` with every size that is not known (negative) the smallest that all
/// `shardings` divide. The dim is so many times longer as its size is a multiple of
/// this one, and each place stands for as many that stay together: what layouts of
/// this shape say holds for the value.
///   [?, 6], [{"x"}, {}] and [{"y"}, {}], x=2, y=3 -> [6, 6]
llvm::SmallVector<int64_t, 4> withKnownSizes(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<const Sharding *> shardings);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_KNOWNSIZES_H
