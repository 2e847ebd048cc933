//===- Volume.cpp - How many elements a change of layout receives ---------===//

#include "Atoms.h"
#include "shardkit/Layout/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Layouts that do not cut each other: intervals
//===----------------------------------------------------------------------===//

namespace {
/// "The element belongs to the ranks whose digits have the value
/// (i mod hi) / lo." A digit of a layout, or an uneven dim (where lo does not
/// divide hi).
struct Owner {
  int64_t lo, hi;
  SmallVector<RankDigit, 2> ranks;
  bool isTo;
  int64_t base; // the index interval is [base, hi); base < lo where uneven

  int64_t coordinate(int64_t rank) const {
    int64_t k = 0;
    for (const RankDigit &digit : ranks)
      k = k * digit.size + (rank / digit.stride) % digit.size;
    return k;
  }
};

/// Sums over the ranks by walking the runs of elements with one owner. Works
/// for all layouts. The index is split into segments that no owner straddles,
/// so the walk is over the runs of one segment, never over all elements. The
/// ranks are enumerated over the digits that some owner uses (all ranks if
/// these digits do not nest), not over the whole mesh: with dims that are not
/// divided evenly the ranks have different shares, and there is no closed form.
class IntervalCount {
public:
  IntervalCount(const Layout &from, const Layout &to) {
    add(from, false);
    add(to, true);
    borders.push_back(1);
    borders.push_back(from.numElements());
    for (const Layout *layout : {&from, &to}) {
      int64_t b = 1;
      for (int64_t size : llvm::reverse(layout->shape))
        borders.push_back(b *= size);
    }
    for (const Owner &owner : owners) {
      borders.push_back(owner.base);
      borders.push_back(owner.hi);
    }
    llvm::sort(borders);
    borders.erase(llvm::unique(borders), borders.end());
    // Keep the borders that every owner is on one side of.
    llvm::erase_if(borders, [&](int64_t c) {
      return llvm::any_of(owners, [c](const Owner &owner) {
        return !(owner.hi <= c ? c % owner.hi == 0
                               : c <= owner.base && owner.base % c == 0);
      });
    });
    // Of borders that do not divide each other (none lies inside an owner),
    // the smaller one.
    unsigned n = 1;
    for (unsigned i = 1; i < borders.size(); ++i)
      if (borders[i] % borders[n - 1] == 0 &&
          borders.back() % borders[i] == 0)
        borders[n++] = borders[i];
    borders.truncate(n);
  }

  MoveVolume run(int64_t numDevices) {
    SmallVector<int64_t, 12> ranks{1};
    for (const Owner &owner : owners)
      for (const RankDigit &digit : owner.ranks) {
        ranks.push_back(digit.stride);
        ranks.push_back(digit.stride * digit.size);
      }
    llvm::sort(ranks);
    ranks.erase(llvm::unique(ranks), ranks.end());
    bool nested = true;
    for (unsigned i = 1; i < ranks.size(); ++i)
      nested &= ranks[i] % ranks[i - 1] == 0;

    SmallVector<RankDigit, 8> digits;
    int64_t involved = 1;
    for (unsigned i = 0; nested && i + 1 < ranks.size(); ++i) {
      bool used = llvm::any_of(owners, [&](const Owner &owner) {
        return llvm::any_of(owner.ranks, [&](const RankDigit &digit) {
          return ranks[i] >= digit.stride &&
                 ranks[i] < digit.stride * digit.size;
        });
      });
      if (!used)
        continue;
      digits.push_back({ranks[i], ranks[i + 1] / ranks[i]});
      involved *= digits.back().size;
    }
    if (!nested) {
      digits.push_back({1, numDevices});
      involved = numDevices;
    }

    MoveVolume volume;
    for (int64_t v = 0; v < involved; ++v) {
      int64_t rank = 0, rest = v;
      for (const RankDigit &digit : digits) {
        rank += (rest % digit.size) * digit.stride;
        rest /= digit.size;
      }
      int64_t mine = 1, common = 1;
      // A dim of size 1 has no interval; all of it is coordinate 0's.
      for (const Owner &owner : owners)
        if (owner.base == owner.hi && owner.coordinate(rank) != 0) {
          common = 0;
          mine = owner.isTo ? 0 : mine;
        }
      for (unsigned i = 0; i + 1 < borders.size(); ++i) {
        auto [to, both] = countSegment(borders[i], borders[i + 1], rank);
        mine *= to;
        common *= both;
      }
      volume.total += mine - common;
      volume.largest = std::max(volume.largest, mine - common);
    }
    volume.total *= numDevices / involved;
    return volume;
  }

private:
  void add(const Layout &layout, bool isTo) {
    for (const Digit &digit : layout.digits)
      owners.push_back({digit.lo, digit.hi, {{digit.stride, digit.size()}},
                        isTo, digit.lo});
    for (const UnevenDim &u : layout.uneven) {
      int64_t b = 1;
      for (unsigned e = u.dim + 1; e < layout.shape.size(); ++e)
        b *= layout.shape[e];
      int64_t size = layout.shape[u.dim];
      owners.push_back({b * u.chunk(size), b * size, u.ranks, isTo, b});
    }
  }

  /// Elements of [0, hi / lo) that the rank owns in `to`, and in both.
  std::pair<int64_t, int64_t> countSegment(int64_t lo, int64_t hi,
                                           int64_t rank) {
    struct Run {
      int64_t lo, hi, value;
      bool isTo;
    };
    SmallVector<Run, 4> runs;
    for (const Owner &owner : owners) {
      if (owner.base < lo || owner.hi > hi || owner.base == owner.hi)
        continue;
      runs.push_back({owner.lo / lo, owner.hi / lo, owner.coordinate(rank),
                      owner.isTo});
    }
    int64_t size = hi / lo;
    if (runs.empty())
      return {size, size};
    int64_t mine = 0, common = 0;
    for (int64_t i = 0; i < size;) {
      int64_t next = size;
      bool inTo = true, inFrom = true;
      for (const Run &run : runs) {
        int64_t phase = i % run.hi, end = (phase / run.lo + 1) * run.lo;
        next = std::min(next, i - phase + std::min(end, run.hi));
        if (phase / run.lo != run.value)
          (run.isTo ? inTo : inFrom) = false;
      }
      if (inTo) {
        mine += next - i;
        common += inFrom ? next - i : 0;
      }
      i = next;
    }
    return {mine, common};
  }

  SmallVector<Owner, 8> owners;
  SmallVector<int64_t, 16> borders;
};
} // namespace

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
    return IntervalCount(from, to).run(numDevices);
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
  volume = atoms ? closedForm(*atoms, atoms->rank.back())
                 : IntervalCount(a, b).run(numDevices);
  // Both are in units of other numbers of ranks than `devices`.
  int64_t counted = atoms ? atoms->rank.back() : numDevices;
  volume.total = static_cast<int64_t>(static_cast<__int128>(volume.total) *
                                      devices / counted);
  for (auto [size, chunk] : chunks)
    volume.largest = volume.largest / size * chunk;
  return volume;
}

int64_t mlir::spmd::receivedElements(const Layout &from, const Layout &to,
                                     int64_t numDevices) {
  return moveVolume(from, to, numDevices).total;
}
