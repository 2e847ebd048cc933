//===- Pieces.cpp ---------------------------------------------------------===//

#include "Pieces.h"
#include "Atoms.h"
#include "Segments.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

int64_t Piece::numRanks() const {
  int64_t n = 1;
  for (const RankDigit &rank : ranks)
    n *= rank.size;
  return n;
}

std::pair<Pieces, Pieces> detail::makePieces(const Layout &a, const Layout &b, const Mesh *mesh, bool coarse) {
  SmallVector<int64_t, 16> index, ranks, axes;
  int64_t n = 1;
  for (int64_t size : llvm::reverse(a.shape))
    index.push_back(n *= size);
  auto addRanks = [&](ArrayRef<RankDigit> digits) {
    for (const RankDigit &digit : digits)
      ranks.append({digit.stride, digit.stride * digit.size});
  };
  for (const Layout *layout : {&a, &b}) {
    addRanks(layout->partial);
    for (const UnevenDim &u : layout->uneven)
      addRanks(u.ranks);
  }
  if (mesh) {
    int64_t stride = 1;
    for (const MeshAxis &axis : llvm::reverse(mesh->axes))
      axes.push_back(stride *= axis.size);
  }
  // Between axes first: sub-axes from there can be moved separately.
  SmallVector<Digit, 4> digits[2] = {a.digits, b.digits}, none;
  for (auto &list : digits)
    splitDigits(list, none, index, axes);
  if (!coarse)
    splitDigits(digits[0], digits[1], index, ranks);

  Pieces result[2];
  for (unsigned i : {0, 1}) {
    for (const Digit &digit : digits[i])
      result[i].push_back({digit.lo, digit.hi, {{digit.stride, digit.size()}}});
    for (const UnevenDim &u : (i ? b : a).uneven) {
      auto [lo, hi] = dimInterval(a.shape, u.dim);
      result[i].push_back({lo, hi, u.ranks, static_cast<int>(u.dim)});
    }
  }
  return {std::move(result[0]), std::move(result[1])};
}

Layout detail::layoutOf(ArrayRef<Piece> pieces, const Layout &like) {
  Layout layout = Layout::replicated(like.shape);
  for (const Piece &piece : pieces)
    if (piece.uneven < 0)
      layout.digits.push_back({piece.lo, piece.hi, piece.ranks[0].stride});
    else
      layout.uneven.push_back({static_cast<unsigned>(piece.uneven), piece.ranks});
  coalesce(layout.digits);
  llvm::sort(layout.uneven, [](const UnevenDim &a, const UnevenDim &b) { return a.dim < b.dim; });
  layout.partial = like.partial;
  layout.partialKind = like.partialKind;
  return layout;
}

bool detail::isLocal(const Piece &piece, ArrayRef<Piece> pieces) {
  return llvm::none_of(pieces, [&](const Piece &other) {
    return std::max(piece.lo, other.lo) < std::min(piece.hi, other.hi) ||
           (piece.uneven >= 0 && piece.uneven == other.uneven);
  });
}

bool detail::isFree(const Piece &piece, ArrayRef<RankDigit> ranks) {
  return llvm::none_of(piece.ranks, [&](const RankDigit &rank) {
    return llvm::any_of(ranks, [&](const RankDigit &other) { return overlap(rank, other); });
  });
}

bool detail::isFree(const Piece &piece, ArrayRef<Piece> pieces) {
  return llvm::all_of(pieces, [&](const Piece &other) { return isFree(piece, other.ranks); });
}

SmallVector<RankDigit, 2> detail::movedRanks(ArrayRef<Piece> a, ArrayRef<Piece> b) {
  SmallVector<RankDigit, 2> ranks;
  for (auto [from, to] : {std::pair(a, b), std::pair(b, a)})
    for (const Piece &piece : from)
      if (!llvm::is_contained(to, piece))
        ranks.append(piece.ranks);
  joinRanks(ranks);
  return ranks;
}

/// The intervals of pieces, joined, and the counts of uneven dims: the blocks of a
/// value.
static SmallVector<std::pair<int64_t, int64_t>, 8> blocks(ArrayRef<Piece> pieces) {
  SmallVector<std::pair<int64_t, int64_t>, 8> intervals;
  for (const Piece &piece : pieces)
    if (piece.uneven < 0)
      intervals.push_back({piece.lo, piece.hi});
  llvm::sort(intervals);
  unsigned n = 0;
  for (auto interval : intervals) {
    if (n && intervals[n - 1].second == interval.first)
      intervals[n - 1].second = interval.second;
    else
      intervals[n++] = interval;
  }
  intervals.truncate(n);
  SmallVector<std::pair<int64_t, int64_t>, 2> uneven;
  for (const Piece &piece : pieces)
    if (piece.uneven >= 0)
      uneven.push_back({-1 - piece.uneven, piece.numRanks()});
  llvm::sort(uneven);
  intervals.append(uneven.begin(), uneven.end());
  return intervals;
}

CollectiveKind detail::nameMove(ArrayRef<Piece> a, ArrayRef<Piece> m) {
  auto within = [](ArrayRef<Piece> subset, ArrayRef<Piece> set) {
    return llvm::all_of(subset, [&](const Piece &piece) { return llvm::is_contained(set, piece); });
  };
  if (within(a, m))
    return CollectiveKind::AllSlice;
  if (within(m, a))
    return CollectiveKind::AllGather;
  if (blocks(a) == blocks(m))
    return CollectiveKind::CollectivePermute;
  // To local intervals, so that each device keeps an equal share of its block.
  SmallVector<RankDigit, 2> ranks[2];
  auto isApart = [](const Piece &x, const Piece &y) { return x.lo % y.hi == 0 || y.lo % x.hi == 0; };
  for (auto [from, to, side] : {std::tuple(a, m, 0), std::tuple(m, a, 1)})
    for (const Piece &piece : from) {
      if (llvm::is_contained(to, piece))
        continue;
      if (piece.uneven >= 0 ||
          llvm::any_of(to, [&](const Piece &other) { return other.uneven < 0 && !isApart(piece, other); }) ||
          !isLocal(piece, to))
        return CollectiveKind::Exchange;
      ranks[side].append(piece.ranks);
    }
  for (auto &list : ranks)
    coalesce(list);
  return ranks[0] == ranks[1] ? CollectiveKind::AllToAll : CollectiveKind::Exchange;
}
