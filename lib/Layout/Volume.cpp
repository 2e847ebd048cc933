//===- Volume.cpp - How many elements a change of layout receives ---------===//

#include "Atoms.h"
#include "Segments.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Layouts that do not cut each other: segments
//===----------------------------------------------------------------------===//

/// True if the rank owns the place `value` of a segment on one side.
static bool owns(ArrayRef<TransferPart> parts, int64_t value, int64_t rank) {
  for (unsigned i = parts.size(); i-- > 0;) {
    const TransferPart &part = parts[i];
    if (part.isRank && value % part.size != (rank / part.stride) % part.size)
      return false;
    value /= part.size;
  }
  return true;
}

/// Elements of a segment that the device owns in `to`, and those in both.
static std::pair<int64_t, int64_t> countSegment(const TransferSegment &segment,
                                                int64_t fromRank,
                                                int64_t toRank) {
  int64_t mine = 0, common = 0;
  for (int64_t i = 0; i < segment.size;) {
    int64_t run = std::min({runLength(segment.src, i), runLength(segment.dst, i),
                            segment.size - i});
    if (owns(segment.dst, i, toRank)) {
      mine += run;
      common += owns(segment.src, i, fromRank) ? run : 0;
    }
    i += run;
  }
  return {mine, common};
}

/// Rank digits that cover those that own something, each on its own or, where
/// they do not nest, all ranks.
static SmallVector<RankDigit, 8>
involvedRanks(ArrayRef<TransferSegment> segments, int64_t numDevices) {
  SmallVector<RankDigit, 8> used;
  SmallVector<int64_t, 12> borders{1};
  for (const TransferSegment &segment : segments)
    for (ArrayRef<TransferPart> parts : {ArrayRef(segment.src), ArrayRef(segment.dst)})
      for (const TransferPart &part : parts)
        if (part.isRank) {
          used.push_back({part.stride, part.size});
          borders.append({part.stride, part.stride * part.size});
        }
  llvm::sort(borders);
  borders.erase(llvm::unique(borders), borders.end());
  SmallVector<RankDigit, 8> digits;
  for (unsigned i = 0; i + 1 < borders.size(); ++i) {
    if (borders[i + 1] % borders[i] != 0)
      return {{1, numDevices}};
    if (llvm::any_of(used, [&](const RankDigit &digit) {
          return borders[i] >= digit.stride &&
                 borders[i] < digit.stride * digit.size;
        }))
      digits.push_back({borders[i], borders[i + 1] / borders[i]});
  }
  return digits;
}

/// Sums over the ranks by walking the runs of elements with one owner. Works
/// for all layouts. The ranks are enumerated over the digits that some side
/// uses, not over the whole mesh: with dims that are not divided evenly the
/// ranks have different shares, and there is no closed form.
static MoveVolume countSegments(const Layout &from, const Layout &to,
                                int64_t numDevices) {
  SmallVector<TransferSegment, 6> segments = cutSegments(from, to);
  SmallVector<RankDigit, 8> digits = involvedRanks(segments, numDevices);
  int64_t involved = 1;
  for (const RankDigit &digit : digits)
    involved *= digit.size;
  MoveVolume volume;
  for (int64_t v = 0; v < involved; ++v) {
    int64_t rank = 0, rest = v;
    for (const RankDigit &digit : digits) {
      rank += (rest % digit.size) * digit.stride;
      rest /= digit.size;
    }
    int64_t mine = 1, common = 1;
    for (const TransferSegment &segment : segments) {
      auto [to, both] = countSegment(segment, rank, rank);
      mine *= to;
      common *= both;
    }
    volume.total += mine - common;
    volume.largest = std::max(volume.largest, mine - common);
  }
  volume.total *= numDevices / involved;
  return volume;
}

//===----------------------------------------------------------------------===//
// Layouts that cut each other evenly: closed form
//===----------------------------------------------------------------------===//

static MoveVolume closedForm(const Atoms &atoms, int64_t numDevices) {
  int64_t covered = atoms.rank.back(), n = atoms.index.back();
  int64_t local = n;
  for (unsigned i = 0; i < atoms.numIndex(); ++i)
    if (atoms.to[i] >= 0)
      local /= atoms.indexSize(i);
  MoveVolume volume;
  volume.total = (local * covered - commonElements(atoms, atoms.from, atoms.to)) *
                 (numDevices / covered);

  // The least that a rank finds in what it has: nothing where two different
  // digits of the rank own one atom (some rank has different values there), else
  // what no rank owns on either side.
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

MoveVolume mlir::spmd::moveVolume(const Layout &from, const Layout &to,
                                  int64_t numDevices) {
  if ((from.digits == to.digits && from.uneven == to.uneven) ||
      from.numElements() == 0)
    return {};
  if (from.uneven.empty() && to.uneven.empty()) {
    if (auto atoms = align(from, to, /*atDims=*/false);
        atoms && numDevices % atoms->rank.back() == 0)
      return closedForm(*atoms, numDevices);
    Layout a = from, b = to; // what stays in place has equal shares
    removeCommonDigits(a, b);
    return countSegments(a, b, numDevices);
  }

  // Dims with the same chunks on both sides: their ranks own nothing else, and
  // the shares add up to the dim.
  Layout a = from, b = to;
  int64_t devices = numDevices;
  SmallVector<std::pair<int64_t, int64_t>, 2> chunks; // of the first rank
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
  volume = atoms ? closedForm(*atoms, atoms->rank.back())
                 : countSegments(a, b, numDevices);
  // Both are in units of other numbers of ranks than `devices`.
  int64_t counted = atoms ? atoms->rank.back() : numDevices;
  volume.total = static_cast<int64_t>(static_cast<__int128>(volume.total) *
                                      devices / counted);
  for (auto [size, chunk] : chunks)
    volume.largest = volume.largest / size * chunk;
  return volume;
}

MoveVolume mlir::spmd::moveVolume(const Layout &from, const Layout &to,
                                  ArrayRef<int64_t> order) {
  if (from.numElements() == 0)
    return {};
  SmallVector<TransferSegment, 6> segments = cutSegments(from, to);
  MoveVolume volume;
  for (int64_t rank = 0; rank < static_cast<int64_t>(order.size()); ++rank) {
    int64_t mine = 1, common = 1;
    for (const TransferSegment &segment : segments) {
      auto [to, both] = countSegment(segment, rank, order[rank]);
      mine *= to;
      common *= both;
    }
    volume.total += mine - common;
    volume.largest = std::max(volume.largest, mine - common);
  }
  return volume;
}

int64_t mlir::spmd::receivedElements(const Layout &from, const Layout &to,
                                     int64_t numDevices) {
  return moveVolume(from, to, numDevices).total;
}
