//===- Segments.h - Common segments of two layouts --------------*- C++ -*-===//
//
// Internal to the layout library. Two layouts of one value need not split each
// other evenly (Atoms.h). The index still is a product of segments such that every digit
// and uneven dim of either side is inside one segment; in each, both sides write the index
// as a number in their own digits.
//
//   12 elements, from [{"x"}] (x = 3), to [{"y"}] (y = 2)
//   segment [2, 12) of 6     from: rank 3, local 2     to: rank 2, local 3
//   segment [1, 2) of 2      local on both
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_SEGMENTS_H
#define SHARDKIT_LIB_LAYOUT_SEGMENTS_H

#include "shardkit/Layout/ReshardPlan.h"

namespace mlir::spmd::detail {

/// Splits the digits of both lists at each other's boundaries, in the index and in the
/// rank, and at the given boundaries, if these divide the digit. If all of them do, the
/// result is that of `align`.
void splitDigits(llvm::SmallVectorImpl<Digit> &a, llvm::SmallVectorImpl<Digit> &b,
                 llvm::ArrayRef<int64_t> indexBoundaries, llvm::ArrayRef<int64_t> rankBoundaries);

/// The segments, major to minor, whose product is the index. Local digits have the strides
/// of the local buffers (uneven dims padded). If a dim is uneven, both
/// layouts have one shape.
llvm::SmallVector<TransferSegment, 6> makeSegments(const Layout &from, const Layout &to);

/// The interval of a dim in the index.
std::pair<int64_t, int64_t> dimInterval(llvm::ArrayRef<int64_t> shape, unsigned dim);

/// The number of consecutive elements from `value` on that have the same ranks and are
/// contiguous in the buffer: up to the end of the minor local digit.
inline int64_t runLength(llvm::ArrayRef<TransferDigit> digits, int64_t value) {
  if (digits.empty() || digits.back().isRank)
    return 1;
  return digits.back().size - value % digits.back().size;
}

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_SEGMENTS_H
