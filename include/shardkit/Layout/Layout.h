//===- Layout.h - Which device owns which element ---------------*- C++ -*-===//
//
// The meaning of a sharding: digits of the row-major flat index that are owned
// by digits of the logical device rank. See docs/concepts/Layouts.md.
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

/// Appends the (sub-)axes that make up a rank digit, major to minor. False if a
/// border between axes does not divide it.
bool appendAxes(const RankDigit &rank, const Mesh &mesh, DimEntries &entries);

/// Places [step * k + offset, step * k + offset + size) of a dim, held by the
/// device with coordinate k: windows of neighbours may overlap and reach beyond
/// the dim on both sides.
///   dim of 32 over 4, a window of 3 around each place: step 8, offset -1, size 10
struct Window {
  int64_t step, offset, size;
  bool operator==(const Window &o) const { return step == o.step && offset == o.offset && size == o.size; }
};

/// A dim of `size` elements cut into ceil(size / count) chunks over the rank
/// digits (major to minor); the device with coordinate k owns chunk k, or, where
/// it has a window, holds that. No sharding denotes windows: they are what a halo
/// exchange leads to.
struct UnevenDim {
  unsigned dim;
  llvm::SmallVector<RankDigit, 2> ranks;
  std::optional<Window> window = std::nullopt;
  bool operator==(const UnevenDim &o) const { return dim == o.dim && ranks == o.ranks && window == o.window; }
  /// Number of chunks.
  int64_t count() const;
  /// Elements of a chunk of a dim of `size`, the last ones may have fewer.
  int64_t chunk(int64_t size) const {
    int64_t n = count();
    return window ? window->size : (size + n - 1) / n;
  }
  /// The places of a dim of `size` that chunk `k` has: [begin, end), empty where
  /// end is not greater.
  std::pair<int64_t, int64_t> places(int64_t k, int64_t size) const {
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

/// A layout of a value of `shape` on the devices of a mesh. Digits are
/// coalesced and sorted by falling `lo`; two layouts over the same device order
/// are equal iff these members are.
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

  /// 0 also if a size is not known (negative): such a value has no digits.
  int64_t numElements() const;
  /// Local shape; uneven dims are padded (ceil).
  llvm::SmallVector<int64_t, 4> localShape() const;
  int64_t numLocalElements() const;
  bool operator==(const Layout &o) const;
  bool operator!=(const Layout &o) const { return !(*this == o); }

  /// True if the digits fit `shape`: cut at the borders between its dims, each
  /// piece is a digit of one dim. Holds for all that `get` returns.
  bool fitsShape() const;

  /// The canonical sharding on `mesh`; nothing if a digit is no (sub-)axis of
  /// it (a view with other axes is needed).
  std::optional<Sharding> toSharding(const Mesh &mesh) const;

  /// The places of a dim that `rank` owns: the first `most` intervals [begin, end), ascending, none where it owns
  /// padding alone. What it owns of the value is their product. The sizes are known and none is 0.
  ///   [{"x"}] of 8, x = 4, rank 1: [2, 4)     gap of 2 before "x": [1, 2), [5, 6)
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> getPlaces(unsigned dim, int64_t rank, size_t most) const;

  /// Flat indices that `rank` owns, in local row-major order. Brute force:
  /// the oracle of the tests, never used by a pass.
  llvm::SmallVector<int64_t> ownedIndices(int64_t rank) const;

  std::string toString() const;
};

/// Joins digits that are neighbours in the index and in the rank, drops digits
/// of size 1, sorts.
void coalesce(llvm::SmallVectorImpl<Digit> &digits);
void coalesce(llvm::SmallVectorImpl<RankDigit> &digits);
/// Those that follow each other, major to minor, become one; the order stays.
void joinNeighbours(llvm::SmallVectorImpl<RankDigit> &digits);
/// Digits that cover all of these: those that overlap become one.
///   (1, 2), (2, 2) -> (1, 4)     (3, 2), (1, 2) of 6 ranks -> (1, 6)
void joinRanks(llvm::SmallVectorImpl<RankDigit> &digits);

/// A row-major reshape: what stays sharded without moving a
/// byte, and what must be gathered before it.
struct ReshapeResult {
  Layout result; // of outShape
  /// The input less what does not fit. Of the input shape where that is
  /// possible, else of the flat shape [N]: the local value is then reshaped to
  /// one dim, gathered, and reshaped on. Always a local reshape of `result`.
  Layout gathered;
  bool free; // nothing gathered
};
ReshapeResult reshape(const Layout &in, llvm::ArrayRef<int64_t> outShape);

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_LAYOUT_H
