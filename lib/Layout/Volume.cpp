//===- Volume.cpp - How many elements a change of layout receives ---------===//

#include "Atoms.h"
#include "Segments.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Layouts that do not split each other evenly: segments
//===----------------------------------------------------------------------===//

namespace {
/// How many elements of a segment the ranks own, by their coordinates on it.
class SegmentCount {
public:
  explicit SegmentCount(const TransferSegment &segment) {
    for (auto [digits, side] : {std::pair(ArrayRef(segment.src), &src), std::pair(ArrayRef(segment.dst), &dst)})
      for (const TransferDigit &digit : digits)
        if (digit.isRank)
          side->push_back({digit.stride, digit.size});
    if (segment.window) {
      countWindows(segment);
      return;
    }
    // One walk over the runs of elements with one owner on each side.
    for (int64_t i = 0; i < segment.size;) {
      int64_t run = std::min({runLength(segment.src, i), runLength(segment.dst, i), segment.size - i});
      int64_t from = owner(segment.src, i), to = owner(segment.dst, i);
      if (mine.size() <= static_cast<size_t>(to))
        mine.resize(to + 1, 0);
      mine[to] += run;
      common[{from, to}] += run;
      i += run;
    }
  }

  /// Elements that the device owns in `to`, and those it owns in both.
  std::pair<int64_t, int64_t> count(int64_t fromRank, int64_t toRank) const {
    int64_t from = coordinate(src, fromRank), to = coordinate(dst, toRank);
    if (static_cast<size_t>(to) >= mine.size())
      return {0, 0};
    return {mine[to], common.lookup({from, to})};
  }

private:
  /// The elements that each window has in common with the source.
  void countWindows(const TransferSegment &segment) {
    int64_t windows = 1, length = 1;
    for (const TransferDigit &digit : segment.dst)
      (digit.isRank ? windows : length) *= digit.size;
    mine.resize(windows, 0);
    for (int64_t k = 0; k < windows; ++k) {
      int64_t begin = segment.window->step * k + segment.window->offset;
      int64_t end = std::min(begin + length, segment.size);
      for (int64_t i = std::max<int64_t>(begin, 0); i < end;) {
        int64_t run = std::min(runLength(segment.src, i), end - i);
        mine[k] += run;
        common[{owner(segment.src, i), k}] += run;
        i += run;
      }
    }
  }

  static int64_t owner(ArrayRef<TransferDigit> digits, int64_t value) {
    int64_t result = 0, scale = 1;
    for (const TransferDigit &digit : llvm::reverse(digits)) {
      if (digit.isRank) {
        result += value % digit.size * scale;
        scale *= digit.size;
      }
      value /= digit.size;
    }
    return result;
  }
  static int64_t coordinate(ArrayRef<RankDigit> digits, int64_t rank) {
    int64_t result = 0;
    for (const RankDigit &digit : digits)
      result = result * digit.size + (rank / digit.stride) % digit.size;
    return result;
  }

  SmallVector<RankDigit, 2> src, dst;
  SmallVector<int64_t, 8> mine;
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, int64_t, 16> common;
};
} // namespace

static SmallVector<SegmentCount, 6> countEach(ArrayRef<TransferSegment> segments) {
  SmallVector<SegmentCount, 6> counts;
  for (const TransferSegment &segment : segments)
    counts.emplace_back(segment);
  return counts;
}

/// Adds the elements that one device receives.
static void addDevice(ArrayRef<SegmentCount> counts, int64_t fromRank, int64_t toRank, MoveVolume &volume) {
  int64_t mine = 1, common = 1;
  for (const SegmentCount &segment : counts) {
    auto [to, both] = segment.count(fromRank, toRank);
    mine *= to;
    common *= both;
  }
  volume.total += mine - common;
  volume.largest = std::max(volume.largest, mine - common);
}

/// Rank digits that cover those that own something, each on its own or, where
/// they do not nest, all ranks.
static SmallVector<RankDigit, 8> involvedRanks(ArrayRef<TransferSegment> segments, int64_t numDevices) {
  SmallVector<RankDigit, 8> used;
  SmallVector<int64_t, 12> boundaries{1};
  for (const TransferSegment &segment : segments)
    for (ArrayRef<TransferDigit> digits : {ArrayRef(segment.src), ArrayRef(segment.dst)})
      for (const TransferDigit &digit : digits)
        if (digit.isRank) {
          used.push_back({digit.stride, digit.size});
          boundaries.append({digit.stride, digit.stride * digit.size});
        }
  llvm::sort(boundaries);
  boundaries.erase(llvm::unique(boundaries), boundaries.end());
  SmallVector<RankDigit, 8> digits;
  for (unsigned i = 0; i + 1 < boundaries.size(); ++i) {
    if (boundaries[i + 1] % boundaries[i] != 0)
      return {{1, numDevices}};
    if (llvm::any_of(used, [&](const RankDigit &digit) {
          return boundaries[i] >= digit.stride && boundaries[i] < digit.stride * digit.size;
        }))
      digits.push_back({boundaries[i], boundaries[i + 1] / boundaries[i]});
  }
  return digits;
}

/// Sums over the ranks. Works for all layouts. The ranks are enumerated over the digits that some side
/// uses, not over the whole mesh: with dims that are not divided evenly the
/// ranks have different shares, and there is no closed form.
static MoveVolume countSegments(const Layout &from, const Layout &to, int64_t numDevices) {
  SmallVector<TransferSegment, 6> segments = makeSegments(from, to);
  SmallVector<RankDigit, 8> digits = involvedRanks(segments, numDevices);
  SmallVector<SegmentCount, 6> counts = countEach(segments);
  int64_t involved = 1;
  for (const RankDigit &digit : digits)
    involved *= digit.size;
  MoveVolume volume;
  for (int64_t v = 0; v < involved; ++v) {
    int64_t rank = 0, remaining = v;
    for (const RankDigit &digit : digits) {
      rank += (remaining % digit.size) * digit.stride;
      remaining /= digit.size;
    }
    addDevice(counts, rank, rank, volume);
  }
  volume.total *= numDevices / involved;
  return volume;
}

//===----------------------------------------------------------------------===//
// Layouts that split each other evenly: closed form
//===----------------------------------------------------------------------===//

static MoveVolume closedForm(const Atoms &atoms, int64_t numDevices) {
  int64_t covered = atoms.rank.back(), n = atoms.index.back();
  int64_t local = n;
  for (unsigned i = 0; i < atoms.numIndex(); ++i)
    if (atoms.to[i] >= 0)
      local /= atoms.indexSize(i);
  MoveVolume volume;
  volume.total = (local * covered - commonElements(atoms, atoms.from, atoms.to)) * (numDevices / covered);

  // The minimum that a rank already owns: 0 if two different digits of the rank own one
  // atom (some rank has different values there), else the elements that no rank owns on
  // either side.
  int64_t common = 1;
  for (unsigned i = 0; i < atoms.numIndex(); ++i) {
    int from = atoms.from[i], to = atoms.to[i];
    if (from >= 0 && to >= 0 && from != to)
      common = 0;
    else if (from < 0 && to < 0)
      common *= atoms.indexSize(i);
  }
  volume.largest = local - common;
  return volume;
}

MoveVolume mlir::spmd::moveVolume(const Layout &from, const Layout &to, int64_t numDevices) {
  if ((from.digits == to.digits && from.uneven == to.uneven) || from.numElements() == 0)
    return {};
  if (from.uneven.empty() && to.uneven.empty()) {
    if (auto atoms = align(from, to, /*atDims=*/false); atoms && numDevices % atoms->rank.back() == 0)
      return closedForm(*atoms, numDevices);
    Layout a = from, b = to; // digits on both sides have equal shares
    removeCommonDigits(a, b);
    return countSegments(a, b, numDevices);
  }

  // Dims with the same chunks on both sides: their ranks own nothing else, and
  // the shares add up to the dim.
  Layout a = from, b = to;
  int64_t devices = numDevices;
  SmallVector<std::pair<int64_t, int64_t>, 2> chunks; // chunk of the first rank
  for (unsigned i = 0; i < a.uneven.size();) {
    auto it = llvm::find(b.uneven, a.uneven[i]);
    if (it == b.uneven.end()) {
      ++i;
      continue;
    }
    int64_t size = a.shape[it->dim];
    chunks.push_back({size, it->chunk(size)});
    devices /= it->count();
    b.uneven.erase(it);
    a.uneven.erase(a.uneven.begin() + i);
  }
  MoveVolume volume;
  std::optional<Atoms> atoms;
  if (a.uneven.empty() && b.uneven.empty())
    atoms = align(a, b, /*atDims=*/false);
  else
    removeCommonDigits(a, b);
  volume = atoms ? closedForm(*atoms, atoms->rank.back()) : countSegments(a, b, numDevices);
  // Both are in units of other numbers of ranks than `devices`.
  int64_t counted = atoms ? atoms->rank.back() : numDevices;
  volume.total = static_cast<int64_t>(static_cast<__int128>(volume.total) * devices / counted);
  for (auto [size, chunk] : chunks)
    volume.largest = volume.largest / size * chunk;
  return volume;
}

MoveVolume mlir::spmd::moveVolume(const Layout &from, const Layout &to, ArrayRef<int64_t> order) {
  if (from.numElements() == 0)
    return {};
  SmallVector<SegmentCount, 6> counts = countEach(makeSegments(from, to));
  MoveVolume volume;
  for (int64_t rank = 0; rank < static_cast<int64_t>(order.size()); ++rank)
    addDevice(counts, rank, order[rank], volume);
  return volume;
}

int64_t mlir::spmd::receivedElements(const Layout &from, const Layout &to, int64_t numDevices) {
  return moveVolume(from, to, numDevices).total;
}
