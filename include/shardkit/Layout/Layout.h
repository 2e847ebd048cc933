//===- Layout.h - Which device owns which element ---------------*- C++ -*-===//
//
// The meaning of a sharding: digits of the row-major flat index of a value that are
// owned by digits of the logical device rank. See docs/concepts/Layouts.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LAYOUT_LAYOUT_H
#define SHARDKIT_LAYOUT_LAYOUT_H

#include "shardkit/Layout/Sharding.h"

namespace mlir::spmd {

/// Value (I / lo) mod (hi / lo) of flat index I contributes value * stride to
/// the logical rank.
struct Digit {
  int64_t lo, hi, stride;
  int64_t size() const { return hi / lo; }
  bool operator==(const Digit &o) const { return lo == o.lo && hi == o.hi && stride == o.stride; }
};

/// A digit of the logical rank: (rank / stride) mod size.
struct RankDigit {
  int64_t stride, size;
  bool operator==(const RankDigit &o) const { return stride == o.stride && size == o.size; }
};

/// The digit of the logical rank that a (sub-)axis is.
RankDigit getRankDigit(const DimEntry &entry, const Mesh &mesh);

/// Appends the (sub-)axes whose product is a rank digit, major to minor. False if a
/// boundary between axes does not divide it.
bool appendAxes(const RankDigit &rank, const Mesh &mesh, DimEntries &entries);

/// The indices [step * k + offset, step * k + offset + size) of a dim, which the
/// device with coordinate k holds. Windows of neighbors may overlap and reach beyond
/// the dim on both sides.
///   dim of 32 over 4, a window of 3 around each element: step 8, offset -1, size 10
struct Window {
  int64_t step, offset, size;
  /// Which of the offsets of the exchange that are known at run time is added; -1: none.
  int64_t added = -1;
  bool operator==(const Window &o) const {
    return step == o.step && offset == o.offset && size == o.size && added == o.added;
  }
};

/// A dim of `size` elements split into chunks of ceil(size / count) over the rank
/// digits (major to minor). The device with coordinate k owns chunk k, or holds its
/// window if there is one. No sharding denotes windows: they are the result of a halo
/// exchange.
///   5 elements over "x" of 4: chunks of 2, devices own 2, 2, 1 and 0 elements
struct UnevenDim {
  unsigned dim;
  llvm::SmallVector<RankDigit, 2> ranks;
  std::optional<Window> window = std::nullopt;
  bool operator==(const UnevenDim &o) const { return dim == o.dim && ranks == o.ranks && window == o.window; }
  /// Number of chunks.
  int64_t count() const;
  /// Elements of a chunk of a dim of `size`; the last chunks may have fewer.
  int64_t chunk(int64_t size) const {
    int64_t n = count();
    return window ? window->size : (size + n - 1) / n;
  }
  /// The indices of a dim of `size` in chunk `k`: [begin, end), empty unless end is
  /// greater.
  std::pair<int64_t, int64_t> interval(int64_t k, int64_t size) const {
    int64_t begin = window ? window->step * k + window->offset : k * chunk(size);
    return {std::max<int64_t>(begin, 0), std::min(begin + chunk(size), size)};
  }
  /// Chunk that a rank owns.
  int64_t coordinate(int64_t rank) const {
    int64_t k = 0;
    for (const RankDigit &digit : ranks)
      k = k * digit.size + (rank / digit.stride) % digit.size;
    return k;
  }
};

/// A layout of a value of `shape` on the devices of a mesh. Digits are coalesced and
/// sorted by falling `lo`; two layouts over the same device order are equal iff these
/// members are.
///
///   mesh <"x"=2, "y"=2>, shape 4x6, sharding [{"x"}, {"y"}]
///   flat index I = 6 * i + j of 24
///   digit (12, 24, 2): i / 2 = (I / 12) mod 2 is the coordinate on "x"
///   digit (3, 6, 1):   j / 3 = (I / 3) mod 2 is the coordinate on "y"
struct Layout {
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<Digit, 4> digits;
  llvm::SmallVector<UnevenDim, 1> uneven;
  /// Ranks over which the value is partial, sorted by falling stride, joined.
  llvm::SmallVector<RankDigit, 2> partial;
  ReductionKind partialKind = ReductionKind::Sum;

  /// The layout that `sharding` denotes. The sharding must be legal
  /// (verifySharding). A value with zero elements has no digits.
  static Layout get(const Sharding &sharding, const Mesh &mesh, llvm::ArrayRef<int64_t> shape);
  static Layout replicated(llvm::ArrayRef<int64_t> shape);

  /// 0 also if a size is unknown (negative): such a value has no digits.
  int64_t numElements() const;
  /// Local shape; uneven dims are padded (ceil).
  llvm::SmallVector<int64_t, 4> localShape() const;
  int64_t numLocalElements() const;
  bool operator==(const Layout &o) const;
  bool operator!=(const Layout &o) const { return !(*this == o); }

  /// True if the digits fit `shape`: split at the boundaries between its dims, each
  /// piece is a digit of one dim. Holds for all that `get` returns.
  bool fitsShape() const;

  /// The canonical sharding on `mesh`; std::nullopt if a digit is not a (sub-)axis of
  /// it (a view with other axes is needed).
  std::optional<Sharding> toSharding(const Mesh &mesh) const;

  /// The indices of a dim that `rank` owns: the first `max` intervals [begin, end), in ascending order, none if it
  /// owns only padding. It owns the product of the intervals of all dims. The sizes are known and none is 0.
  ///   [{"x"}] of 8, x = 4, rank 1: [2, 4)     [{2, "x"}]: [1, 2), [5, 6)
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> getOwnedIntervals(unsigned dim, int64_t rank, size_t max) const;

  /// Flat indices that `rank` owns, in local row-major order. Brute force: the oracle
  /// of the tests, never used by a pass.
  llvm::SmallVector<int64_t> ownedIndices(int64_t rank) const;

  std::string toString() const;
};

/// Joins digits that are adjacent in the index and in the rank, drops digits of size
/// 1, and sorts.
void coalesce(llvm::SmallVectorImpl<Digit> &digits);
void coalesce(llvm::SmallVectorImpl<RankDigit> &digits);
/// Joins consecutive digits that are adjacent, major to minor; keeps the order.
void joinAdjacent(llvm::SmallVectorImpl<RankDigit> &digits);
/// Digits that cover all of these; overlapping digits are merged.
///   (1, 2), (2, 2) -> (1, 4)     (3, 2), (1, 2) of 6 ranks -> (1, 6)
void joinRanks(llvm::SmallVectorImpl<RankDigit> &digits);

/// A row-major reshape: the digits that stay sharded without data
/// movement, and those that must be gathered before it.
struct ReshapeResult {
  Layout result; // has outShape
  /// The input without the digits that do not fit. It has the input shape if possible,
  /// else the flat shape [N]: the local value is then reshaped to one dim, gathered, and
  /// reshaped again. Always a local reshape of `result`.
  Layout gathered;
  bool free; // no digit is gathered
};
ReshapeResult reshape(const Layout &in, llvm::ArrayRef<int64_t> outShape);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_LAYOUT_H
