//===- PlanWholeAxes.cpp - Moves of axes that are minor in their dim ------===//

#include "Planner.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// The ranks that shard a dim, major to minor.
using DimRanks = SmallVector<RankDigit, 3>;

/// A layout that moves from one to another, as the ranks of each dim.
class MovedAxes {
public:
  MovedAxes(const Layout &from, const Layout &to) : to(to), last(from) {}

  /// False if the layouts are not ranks of dims from their major end on.
  bool read(const Mesh &mesh);
  /// False if a size is not divided on the way. With `gathersLast`, ranks that leave for another dim go first.
  bool move(bool gathersLast);

  ReshardPlan steps;

private:
  std::optional<unsigned> findDim(const RankDigit &rank, ArrayRef<DimRanks> dims) const;
  bool add(CollectiveKind kind);
  bool slice();
  bool permute(bool gathersLast);
  bool removeMinor();
  /// The dim that a rank moves to; the number of dims if all devices get its parts.
  unsigned getTarget(const RankDigit &rank) const { return findDim(rank, wanted).value_or(wanted.size()); }
  /// Whether the minor axis of a dim does.
  bool isLeaving(unsigned d) const;
  bool hasLeaving() const;

  const Layout &to;
  Layout last;
  Pieces lastPieces;
  SmallVector<DimRanks, 4> dims, wanted;
};

} // namespace

bool MovedAxes::read(const Mesh &mesh) {
  if (!last.uneven.empty() || !to.uneven.empty())
    return false;
  auto [own, others] = makePieces(last, to, &mesh, /*coarse=*/true);
  lastPieces = own;
  for (auto [pieces, lists] : {std::pair(&own, &dims), std::pair(&others, &wanted)}) {
    llvm::sort(*pieces, [](const Piece &a, const Piece &b) { return a.hi > b.hi; });
    int64_t end = last.numElements();
    auto piece = pieces->begin();
    for (int64_t size : last.shape) {
      int64_t at = end;
      end /= std::max<int64_t>(size, 1);
      DimRanks &ranks = lists->emplace_back();
      for (; piece != pieces->end() && piece->hi > end; ++piece) {
        if (piece->hi != at || piece->lo < end)
          return false;
        ranks.push_back(piece->ranks[0]);
        at = piece->lo;
      }
    }
  }
  // A part of an axis on one side, and the axis or another part on the other.
  return llvm::all_of(own, [&](const Piece &a) {
    return llvm::all_of(others, [&](const Piece &b) { return a.ranks == b.ranks || isFree(a, b.ranks); });
  });
}

std::optional<unsigned> MovedAxes::findDim(const RankDigit &rank, ArrayRef<DimRanks> dims) const {
  for (unsigned d = 0; d < dims.size(); ++d)
    if (llvm::is_contained(dims[d], rank))
      return d;
  return std::nullopt;
}

bool MovedAxes::add(CollectiveKind kind) {
  Pieces pieces;
  int64_t end = last.numElements();
  for (auto [ranks, size] : llvm::zip(dims, last.shape)) {
    int64_t at = end;
    end /= size;
    for (const RankDigit &rank : ranks) {
      if ((at / end) % rank.size != 0)
        return false;
      pieces.push_back({at / rank.size, at, {rank}});
      at /= rank.size;
    }
  }
  Layout next = layoutOf(pieces, last);
  Planner::add(steps, {kind, last, next, movedRanks(lastPieces, pieces)});
  last = std::move(next);
  lastPieces = std::move(pieces);
  return true;
}

bool MovedAxes::slice() {
  for (auto [d, ranks] : llvm::enumerate(wanted))
    for (const RankDigit &rank : ranks)
      if (!findDim(rank, dims))
        dims[d].push_back(rank);
  return add(CollectiveKind::AllSlice);
}

bool MovedAxes::permute(bool gathersLast) {
  for (auto [d, ranks] : llvm::enumerate(dims)) {
    DimRanks ordered;
    for (const RankDigit &rank : wanted[d])
      if (llvm::is_contained(ranks, rank))
        ordered.push_back(rank);
    // Those that move to one dim together.
    SmallVector<unsigned, 4> targets;
    for (const RankDigit &rank : ranks)
      if (unsigned target = getTarget(rank); target != d && !llvm::is_contained(targets, target))
        targets.push_back(target);
    if (auto gathered = llvm::find(targets, unsigned(dims.size())); gathersLast && gathered != targets.end())
      std::rotate(targets.begin(), gathered, gathered + 1);
    for (unsigned target : targets)
      llvm::copy_if(
          target < dims.size() ? wanted[target] : ranks, std::back_inserter(ordered),
          [&](const RankDigit &rank) { return llvm::is_contained(ranks, rank) && getTarget(rank) == target; });
    ranks = ordered;
  }
  return add(CollectiveKind::CollectivePermute);
}

bool MovedAxes::isLeaving(unsigned d) const { return !dims[d].empty() && getTarget(dims[d].back()) != d; }

bool MovedAxes::hasLeaving() const {
  for (unsigned d = 0; d < dims.size(); ++d)
    if (isLeaving(d))
      return true;
  return false;
}

bool MovedAxes::removeMinor() {
  // One that moves to a dim first; of several, whatever the order of the dims, that of the major ranks.
  auto getKey = [&](unsigned d) { return std::pair(getTarget(dims[d].back()) < dims.size(), dims[d].back().stride); };
  std::optional<unsigned> from;
  for (unsigned d = 0; d < dims.size(); ++d)
    if (isLeaving(d) && (!from || getKey(d) > getKey(*from)))
      from = d;
  unsigned target = getTarget(dims[*from].back());
  auto start = llvm::find_if(dims[*from], [&](const RankDigit &rank) { return getTarget(rank) == target; });
  DimRanks moved(start, dims[*from].end());
  dims[*from].erase(start, dims[*from].end());
  if (target == dims.size())
    return add(CollectiveKind::AllGather);
  dims[target].append(moved);
  return add(CollectiveKind::AllToAll);
}

bool MovedAxes::move(bool gathersLast) {
  if (!slice())
    return false;
  while (true) {
    if (!permute(gathersLast))
      return false;
    if (!hasLeaving())
      return last == to;
    if (!removeMinor())
      return false;
  }
}

std::optional<ReshardPlan> mlir::spmd::planWholeAxes(const Layout &from, const Layout &to, const Mesh &mesh,
                                                     bool gathersLast) {
  MovedAxes moved(from, to);
  if (from.numElements() == 0 || !moved.read(mesh) || !moved.move(gathersLast))
    return std::nullopt;
  return std::move(moved.steps);
}
