//===- Transfer.cpp - A change of layout as loops over strides ------------===//

#include "Atoms.h"
#include "Segments.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// removeCommonDigits
//===----------------------------------------------------------------------===//

/// The digits of a layout, split at dim boundaries, relative to their dim.
static SmallVector<SmallVector<Digit, 2>, 4> digitsPerDim(const Layout &layout) {
  SmallVector<SmallVector<Digit, 2>, 4> result(layout.shape.size());
  int64_t b = 1;
  for (unsigned d = layout.shape.size(); d-- > 0;) {
    int64_t top = b * layout.shape[d];
    for (const Digit &digit : layout.digits) {
      int64_t lo = std::max(digit.lo, b), hi = std::min(digit.hi, top);
      if (lo < hi)
        result[d].push_back({lo / b, hi / b, digit.stride * (lo / digit.lo)});
    }
    b = top;
  }
  return result;
}

static void setDigits(Layout &layout, ArrayRef<SmallVector<Digit, 2>> perDim) {
  layout.digits.clear();
  int64_t b = 1;
  for (unsigned d = layout.shape.size(); d-- > 0;) {
    for (const Digit &digit : perDim[d])
      layout.digits.push_back({digit.lo * b, digit.hi * b, digit.stride});
    b *= layout.shape[d];
  }
  coalesce(layout.digits);
}

/// True if every other digit stays one digit when [lo, hi) is removed from the index.
static bool removable(ArrayRef<Digit> digits, int64_t lo, int64_t hi) {
  return llvm::all_of(digits, [&](const Digit &digit) {
    return digit.hi <= lo   ? lo % digit.hi == 0
           : digit.lo >= hi ? digit.lo % hi == 0
                            : digit.lo <= lo && hi <= digit.hi && lo % digit.lo == 0 && digit.hi % hi == 0;
  });
}

static void removeInterval(SmallVectorImpl<Digit> &digits, int64_t lo, int64_t hi) {
  int64_t size = hi / lo;
  SmallVector<Digit, 4> remaining;
  for (const Digit &digit : digits) {
    if (digit.hi <= lo) {
      remaining.push_back(digit);
    } else if (digit.lo >= hi) {
      remaining.push_back({digit.lo / size, digit.hi / size, digit.stride});
    } else {
      if (digit.hi > hi)
        remaining.push_back({lo, digit.hi / size, digit.stride * (hi / digit.lo)});
      if (digit.lo < lo)
        remaining.push_back({digit.lo, lo, digit.stride});
    }
  }
  digits.assign(remaining.begin(), remaining.end());
}

/// Removes one interval that both sides assign to the same rank digit.
static bool removeOneCommon(SmallVectorImpl<Digit> &from, SmallVectorImpl<Digit> &to, int64_t &size) {
  for (const Digit &a : from)
    for (const Digit &b : to) {
      int64_t lo = std::max(a.lo, b.lo), hi = std::min(a.hi, b.hi);
      if (lo >= hi || lo % a.lo || lo % b.lo || hi % lo || a.hi % hi || b.hi % hi ||
          a.stride * (lo / a.lo) != b.stride * (lo / b.lo) || !removable(from, lo, hi) || !removable(to, lo, hi))
        continue;
      size /= hi / lo;
      removeInterval(from, lo, hi);
      removeInterval(to, lo, hi);
      return true;
    }
  return false;
}

//   removeCommonDigits, 8x16, x = y = 2         | result
//   [{"x"}, {"y"}] -> [{"x"}, {}]               | 4x16 [{}, {"y"}] -> [{}, {}]
//   [{"x"}, {}]    -> [{"y"}, {}]               | as it is
//   [{"x", "y"}, {}] -> [{"x"}, {}]             | 4x16 [{"y"}, {}] -> [{}, {}]
//   [{2, "x"}, {}] -> [{"x"}, {}]               | as it is: other elements
//   partial x, y   -> partial x                 | partial y -> complete
//   5x16 [{"x"}, {"y"}] -> [{"x"}, {}]          | 3x16 [{}, {"y"}] -> [{}, {}]
void mlir::spmd::removeCommonDigits(Layout &from, Layout &to) {
  if (from.shape == to.shape) {
    bool changed = false;
    if (!from.digits.empty() || !from.uneven.empty()) {
      auto a = digitsPerDim(from), b = digitsPerDim(to);
      for (unsigned d = 0; d < from.shape.size(); ++d)
        while (removeOneCommon(a[d], b[d], from.shape[d]))
          changed = true;
      for (unsigned i = 0; i < from.uneven.size();) {
        auto it = llvm::find(to.uneven, from.uneven[i]);
        if (it == to.uneven.end()) {
          ++i;
          continue;
        }
        from.shape[it->dim] = it->chunk(from.shape[it->dim]);
        to.uneven.erase(it);
        from.uneven.erase(from.uneven.begin() + i);
        changed = true;
      }
      if (changed) {
        to.shape = from.shape;
        setDigits(from, a);
        setDigits(to, b);
      }
    }
  }

  if (!from.partial.empty() && !to.partial.empty() && from.partialKind == to.partialKind) {
    auto onlyFrom = subtract(from.partial, to.partial);
    auto onlyTo = subtract(to.partial, from.partial);
    if (onlyFrom && onlyTo) {
      from.partial.assign(onlyFrom->begin(), onlyFrom->end());
      to.partial.assign(onlyTo->begin(), onlyTo->end());
    }
  }
}

//===----------------------------------------------------------------------===//
// computeTransfer
//===----------------------------------------------------------------------===//

/// Chooses among replicas of the source so that senders share the work. Ranks with other digits for p read, for [{"x"}]
/// -> [{"y"}], the same source (y, y): digit x of the source is y, digit y of the source is free. Reading from (y, x)
/// instead makes the move a permutation. In general follow the replaced digits, x <- y <- z ..., to a digit that owns
/// nothing in `from`, and let the first digit, if it owns nothing in `to`, stand for it. A rank that owns the element
/// still reads it from itself: all digits of the chain are equal there.
static void closeCycles(const Atoms &atoms, const SmallVectorImpl<bool> &busy, SmallVectorImpl<TransferAtom> &result) {
  unsigned n = atoms.numRank();
  SmallVector<int, 12> next(n, -1);       // source digit p is digit next[p]
  SmallVector<bool, 12> source(n, false); // owns something in `from`
  SmallVector<bool, 12> target(n, false); // owns something in `to`
  for (unsigned i = 0; i < atoms.numIndex(); ++i) {
    if (atoms.from[i] >= 0) {
      source[atoms.from[i]] = true;
      next[atoms.from[i]] = atoms.to[i];
    }
    if (atoms.to[i] >= 0)
      target[atoms.to[i]] = true;
  }
  for (unsigned p = 0; p < n; ++p) {
    if (!source[p] || target[p] || next[p] < 0)
      continue;
    int last = next[p];
    while (last >= 0 && source[last])
      last = next[last];
    if (last < 0 || busy[last] || busy[p])
      continue;
    result.push_back({atoms.rankSize(p), true, true, atoms.rank[last], atoms.rank[p]});
  }
}

/// Exact intersections, if the layouts do not split each other evenly.
static void intersect(const Layout &from, const Layout &to, bool reorders, Transfer &transfer) {
  auto isAtom = [](int64_t size, ArrayRef<TransferDigit> digits) {
    return digits.size() == 1 && digits[0].size == size;
  };
  for (TransferSegment &segment : makeSegments(from, to)) {
    if (segment.window || !isAtom(segment.size, segment.src) || !isAtom(segment.size, segment.dst)) {
      transfer.segments.push_back(std::move(segment));
      continue;
    }
    const TransferDigit &src = segment.src[0], &dst = segment.dst[0];
    if (reorders || !src.isRank || !dst.isRank || src.stride != dst.stride)
      transfer.atoms.push_back({segment.size, src.isRank, dst.isRank, src.stride, dst.stride});
  }

  // Ranks of the destination that own nothing in `from` choose a replica. A rank
  // that owns an element differs nowhere from the source, so it is the source.
  SmallVector<RankDigit, 2> used = from.partial;
  for (const Digit &digit : from.digits)
    used.push_back({digit.stride, digit.size()});
  for (const UnevenDim &u : from.uneven)
    used.append(u.ranks.begin(), u.ranks.end());
  for (const TransferSegment &segment : transfer.segments)
    for (const TransferDigit &digit : segment.dst) {
      RankDigit rank{digit.stride, digit.size};
      if (digit.isRank && llvm::none_of(used, [&](const RankDigit &other) { return overlap(rank, other); }))
        transfer.spread.push_back(rank);
    }
}

std::optional<Transfer> mlir::spmd::computeTransfer(const Layout &fromLayout, const Layout &toLayout, bool reorders) {
  const Layout *from = &fromLayout, *to = &toLayout;
  Layout fromReduced, toReduced;
  if (!reorders && (!from->uneven.empty() || !to->uneven.empty())) {
    // Uneven dims that are the same on both sides are padded buffers that stay.
    fromReduced = *from;
    toReduced = *to;
    removeCommonDigits(fromReduced, toReduced);
    from = &fromReduced;
    to = &toReduced;
  }
  if ((!from->uneven.empty() || !to->uneven.empty()) && from->shape != to->shape)
    return std::nullopt;
  Transfer transfer;
  if (!from->partial.empty()) {
    auto reduce = subtract(from->partial, to->partial);
    if (!reduce)
      return std::nullopt;
    transfer.reduce.assign(reduce->begin(), reduce->end());
  }
  std::optional<Atoms> atoms;
  if (from->uneven.empty() && to->uneven.empty())
    atoms = align(*from, *to, /*atDims=*/false);
  if (!atoms) {
    intersect(*from, *to, reorders, transfer);
    return transfer;
  }

  unsigned n = atoms->numIndex();
  transfer.atoms.resize(n);
  int64_t fromStride = 1, toStride = 1;
  for (unsigned i = 0; i < n; ++i) {
    TransferAtom &atom = transfer.atoms[n - 1 - i];
    atom.size = atoms->indexSize(i);
    atom.srcIsRank = atoms->from[i] >= 0;
    atom.dstIsRank = atoms->to[i] >= 0;
    atom.srcStride = atom.srcIsRank ? atoms->rank[atoms->from[i]] : fromStride;
    atom.dstStride = atom.dstIsRank ? atoms->rank[atoms->to[i]] : toStride;
    fromStride *= atom.srcIsRank ? 1 : atom.size;
    toStride *= atom.dstIsRank ? 1 : atom.size;
  }
  if (!reorders) {
    // An atom of one rank digit on both sides is not a loop.
    llvm::erase_if(transfer.atoms, [](const TransferAtom &atom) {
      return atom.srcIsRank && atom.dstIsRank && atom.srcStride == atom.dstStride;
    });
    SmallVector<bool, 12> busy(atoms->numRank(), false);
    atoms->rankAtoms(from->partial, busy);
    closeCycles(*atoms, busy, transfer.atoms);
  }

  // Join neighbors that are one loop.
  unsigned kept = 0;
  for (const TransferAtom &atom : transfer.atoms) {
    if (kept) {
      TransferAtom &last = transfer.atoms[kept - 1];
      if (last.srcIsRank == atom.srcIsRank && last.dstIsRank == atom.dstIsRank &&
          last.srcStride == atom.srcStride * atom.size && last.dstStride == atom.dstStride * atom.size) {
        int64_t size = last.size * atom.size;
        last = atom;
        last.size = size;
        continue;
      }
    }
    transfer.atoms[kept++] = atom;
  }
  transfer.atoms.truncate(kept);
  return transfer;
}
