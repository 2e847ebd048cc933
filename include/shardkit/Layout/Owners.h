//===- Owners.h - Elements of a layout, one by one --------------*- C++ -*-===//
//
// Which index a rank holds at a local index, and which rank owns an index: by number, for
// evaluations of single elements. No pass decides by these.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_OWNERS_H
#define SHARDKIT_LAYOUT_OWNERS_H

#include "shardkit/Layout/Layout.h"

namespace mlir::spmd {

/// The ranks that differ from `rank` in these digits alone, that rank first if its digits are 0.
llvm::SmallVector<int64_t> getGroup(int64_t rank, llvm::ArrayRef<RankDigit> digits);

/// The chunks of dim `dim` if it is sharded unevenly; null otherwise.
const UnevenDim *getUneven(const Layout &layout, unsigned dim);

/// The index of dim `dim` that a rank holds at local index `local`. Padding has indices outside of the dim.
int64_t getOwnIndex(const Layout &layout, unsigned dim, int64_t rank, int64_t local);

/// The local index of `index` on its owner, whose digits replace those of `rank`.
///   dim of 16, [{"x"}], x = 4: index 9 is local index 1 of x = 2
int64_t locate(const Layout &layout, unsigned dim, int64_t index, int64_t &rank);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_OWNERS_H
