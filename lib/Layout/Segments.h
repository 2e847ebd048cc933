//===- Segments.h - Two layouts cut where both allow it ---------*- C++ -*-===//
//
// Internal to the layout library. Two layouts of one value need not cut each
// other evenly (Atoms.h). The index still falls into segments that no digit and
// no uneven dim of either straddles; in each, both sides write the place as a
// number of their own digits.
//
//   12 elements, from [{"x"}] (x = 3), to [{"y"}] (y = 2)
//   segment [2, 12) of 6     from: rank 3, local 2     to: rank 2, local 3
//   segment [1, 2) of 2      local on both
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_SEGMENTS_H
#define SHARDKIT_LIB_LAYOUT_SEGMENTS_H

#include "shardkit/Layout/Plan.h"

namespace mlir::spmd::detail {

/// Splits the digits of both lists at each other's borders, in the index and in
/// the rank, and at the borders given, wherever this divides; the rest stays
/// whole. Where all cuts divide, the pieces are those of `align`.
void cutEvenly(llvm::SmallVectorImpl<Digit> &a, llvm::SmallVectorImpl<Digit> &b, llvm::ArrayRef<int64_t> indexBorders,
               llvm::ArrayRef<int64_t> rankBorders);

/// The segments, major to minor; together all of the index. Local parts have the
/// strides of the local buffers (uneven dims padded). If a dim is uneven, both
/// layouts have one shape.
llvm::SmallVector<TransferSegment, 6> cutSegments(const Layout &from, const Layout &to);

/// The interval of a dim in the index.
std::pair<int64_t, int64_t> dimInterval(llvm::ArrayRef<int64_t> shape, unsigned dim);

/// How many of the elements from `value` on have the same ranks, and stand side
/// by side in the buffer: all up to the end of the minor local part.
inline int64_t runLength(llvm::ArrayRef<TransferPart> parts, int64_t value) {
  if (parts.empty() || parts.back().isRank)
    return 1;
  return parts.back().size - value % parts.back().size;
}

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_SEGMENTS_H
