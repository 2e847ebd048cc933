//===- Extents.h - Which elements a rank holds, in closed form -*- C++ -*--===//
//
// Element `l` of rank r's local buffer is element
//   base(r) + sum_k i_k * loops[k].globalStride,  l = sum_k i_k * loops[k].localStride
// of the row-major global value. A loop over a dim that the ranks do not divide
// ends early on the last ranks: their buffers end in padding, which is never
// read from nor written to a global value. Nothing here grows with the number of
// ranks.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MANIFEST_EXTENTS_H
#define SHARDKIT_RT_MANIFEST_EXTENTS_H

#include "shardkit/rt/Support/Status.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace shardkit::rt {

struct OffsetDigit {
  int64_t rankStride, size, globalStride;
  bool operator==(const OffsetDigit &) const = default;
};
struct ExtentLoop {
  int64_t size, globalStride, localStride;
  bool operator==(const ExtentLoop &) const = default;
};

struct RankDigit {
  int64_t stride, size;
  bool operator==(const RankDigit &) const = default;
};
/// The loop with this index runs over a chunk of a dim of `size`: the chunk whose
/// number is the coordinate of the rank on `ranks` (major to minor). A piece
/// has only the indices [begin, begin + size) of the dim, the first of which
/// is global index 0 of the loop.
struct UnevenLoop {
  int64_t loop, size;
  std::vector<RankDigit> ranks;
  int64_t begin = 0;
  bool operator==(const UnevenLoop &) const = default;

  /// Indices [first, end) of the loop, over chunks of `chunk`, are there.
  std::pair<int64_t, int64_t> indices(int64_t rank, int64_t chunk) const {
    int64_t start = coordinate(rank) * chunk;
    int64_t first = std::clamp(begin - start, int64_t(0), chunk);
    return {first, std::clamp(begin + size - start, first, chunk)};
  }

  int64_t coordinate(int64_t rank) const {
    int64_t result = 0;
    for (const RankDigit &digit : ranks)
      result = result * digit.size + rank / digit.stride % digit.size;
    return result;
  }
};

struct Extents {
  std::vector<OffsetDigit> offset;
  std::vector<ExtentLoop> loops;
  std::vector<UnevenLoop> uneven = {};
  /// If the value is on a mesh that counts the devices in another order: the rank there of each rank. The digits are
  /// those of that rank.
  std::vector<int64_t> order = {};
  bool operator==(const Extents &) const = default;

  int64_t rankInOrder(int64_t rank) const { return order.empty() ? rank : order[size_t(rank)]; }

  /// The global offset of the first element that `rank` holds, local element
  /// localBase(rank); beyond the value where it holds nothing.
  int64_t base(int64_t rank) const {
    rank = rankInOrder(rank);
    int64_t result = 0;
    for (const OffsetDigit &digit : offset)
      result += (rank / digit.rankStride) % digit.size * digit.globalStride;
    for (const UnevenLoop &dim : uneven) {
      const ExtentLoop &loop = loops[size_t(dim.loop)];
      int64_t index = dim.coordinate(rank) * loop.size + dim.indices(rank, loop.size).first;
      result += (index - dim.begin) * loop.globalStride;
    }
    return result;
  }
  /// 0 but for pieces that begin inside a chunk.
  int64_t localBase(int64_t rank) const {
    rank = rankInOrder(rank);
    int64_t result = 0;
    for (const UnevenLoop &dim : uneven) {
      const ExtentLoop &loop = loops[size_t(dim.loop)];
      result += dim.indices(rank, loop.size).first * loop.localStride;
    }
    return result;
  }

  /// The full value on one device.
  static Extents identity(int64_t elements) { return {{}, {{elements, 1, 1}}, {}}; }
};

/// Whether `order` has 0 to `size` - 1, each once.
bool isPermutation(const std::vector<int64_t> &order, int64_t size);

/// The loops of `rank` without those of size 1, major to minor in the global
/// value, with neighbours joined where both strides are contiguous. Unless the extents are
/// empty the result's last loop has the smallest global stride; a rank that
/// holds one element has no loop.
std::vector<ExtentLoop> coalesceLoops(const Extents &extents, int64_t rank);

/// True if one of the ranks before `rank` holds the same elements as `rank`.
/// (Replicas: the first rank is the one that writes.)
bool isReplica(const Extents &extents, int64_t rank);

/// Checks that the loops write every local element exactly once (on a rank
/// without padding), that every rank's elements lie inside the global value and, with `coverGlobal`, that
/// the ranks together hold every global element.
Status validateExtents(const Extents &extents, int64_t localElements, int64_t globalElements, int64_t devices,
                       bool coverGlobal);

/// One of several pieces of a local buffer, perhaps from different tensors:
/// local element `l` of the extents is element localBase + l, global element g
/// is element globalBase + g of its source.
struct ExtentPiece {
  int64_t source = 0, globalBase = 0, localBase = 0;
  Extents extents;
  bool operator==(const ExtentPiece &) const = default;
};

/// Checks that the pieces together write every local element exactly once (on a
/// rank without padding) and that none reaches beyond its source. Uneven loops run
/// over dims of the local buffer, and all pieces together cover all indices of
/// these. Pieces that lie in one another more finely than nested loops do are refused.
Status validatePieces(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &sourceElements,
                      const std::vector<int64_t> &localShape, const std::vector<int64_t> &globalShape, int64_t devices);

/// Checks that pieces of an operand of `operandElements` elements are inside it and inside their
/// sources. Source -1 has all numbers that an i32 holds.
Status validateOperand(const std::vector<ExtentPiece> &pieces, const std::vector<int64_t> &sourceElements,
                       int64_t operandElements, int64_t devices);

/// The number of the distinct shard of a rank, and how many there are; shards are
/// numbered by their first elements, and ranks with the same elements share one.
struct DistinctShard {
  int64_t index = 0, count = 1;
};
DistinctShard distinctShard(const Extents &extents, int64_t rank);
/// The first rank that holds what `rank` holds.
int64_t firstOwner(const Extents &extents, int64_t rank);

/// Maps a global element to a rank and a local element, for extents that cover the global value
/// (validateExtents with coverGlobal), or for pieces.
class ShardMap {
public:
  explicit ShardMap(const Extents &extents) { add(extents, 0, 0, 0); }
  ShardMap() = default;
  /// Adds the shards of the value with these extents; their ranks are counted from
  /// `firstRank` on. False if the loops do not distinguish the elements of the value.
  bool add(const Extents &extents, int64_t globalBase, int64_t localBase, int64_t firstRank);
  struct Location {
    int64_t rank = -1; ///< The first rank that holds it; -1 if none does.
    int64_t local = 0;
    int64_t run = 1; ///< Number of elements that are contiguous in both.
  };
  Location find(int64_t global) const;

private:
  struct Digit {
    int64_t size, globalStride, localStride; ///< 0 for a digit of the rank.
    int64_t chunk, begin;                    ///< Chunk and begin of an uneven dim, else 0.
    std::vector<RankDigit> ranks;            ///< Empty for a plain loop.
  };
  struct Shards {
    int64_t globalBase, localBase, firstRank;
    std::vector<Digit> digits;    ///< By global stride, the finest first.
    std::vector<int64_t> holders; ///< With an order: the first rank that holds what a rank of the order holds.
  };
  static constexpr size_t maxDigits = 64;
  static bool find(const Shards &shards, int64_t global, Location &location);
  std::vector<Shards> shards_;
};

/// Calls fn(globalOffset, localOffset, count, globalStride, localStride) for
/// every innermost piece of `rank`, ascending in the outer loops.
template <typename Fn> void forEachPiece(const std::vector<ExtentLoop> &loops, int64_t base, Fn &&fn) {
  for (const ExtentLoop &loop : loops)
    if (loop.size == 0)
      return;
  if (loops.empty())
    return fn(base, int64_t(0), int64_t(1), int64_t(1), int64_t(1));
  size_t outer = loops.size() - 1;
  const ExtentLoop &inner = loops.back();
  std::vector<int64_t> index(outer, 0);
  int64_t global = base, local = 0;
  while (true) {
    fn(global, local, inner.size, inner.globalStride, inner.localStride);
    size_t k = outer;
    while (k > 0) {
      --k;
      global += loops[k].globalStride;
      local += loops[k].localStride;
      if (++index[k] < loops[k].size)
        break;
      global -= loops[k].size * loops[k].globalStride;
      local -= loops[k].size * loops[k].localStride;
      index[k] = 0;
      if (k == 0)
        return;
    }
    if (outer == 0)
      return;
  }
}

/// Copies the shard of `rank` between a full global value and its local buffer.
void gatherLocal(const Extents &extents, int64_t rank, int64_t elementSize, const void *global, void *local);
void scatterLocal(const Extents &extents, int64_t rank, int64_t elementSize, const void *local, void *global);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_EXTENTS_H
