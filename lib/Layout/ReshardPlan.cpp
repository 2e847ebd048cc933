//===- ReshardPlan.cpp - Collectives from one layout to another ---------===//
//
//   in -(slice)-> A -(exchange)-> M -(gather)-> out
//
// A has every slice that needs no data movement. M = out always attains the bound: one
// exchange moves the missing elements. Other M are `out` sharded by more ranks, which a
// gather removes last.
//
//===----------------------------------------------------------------------===//

#include "Atoms.h"
#include "Planner.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

llvm::SmallVector<RankDigit, 2> mlir::spmd::getMovedRanks(const Layout &from, const Layout &to) {
  llvm::SmallVector<RankDigit, 2> ranks;
  auto addDiffering = [&](const Layout &a, const Layout &b) {
    for (const Digit &digit : a.digits)
      if (!llvm::is_contained(b.digits, digit))
        ranks.push_back({digit.stride, digit.size()});
    for (const UnevenDim &dim : a.uneven)
      if (!llvm::is_contained(b.uneven, dim))
        ranks.append(dim.ranks.begin(), dim.ranks.end());
    for (const RankDigit &digit : a.partial)
      if (!llvm::is_contained(b.partial, digit))
        ranks.push_back(digit);
  };
  addDiffering(from, to);
  addDiffering(to, from);
  joinRanks(ranks);
  return ranks;
}

using Ranks = SmallVector<RankDigit, 2>;

llvm::StringRef mlir::spmd::stringifyCollectiveKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllSlice:
    return "all_slice";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::CollectivePermute:
    return "collective_permute";
  case CollectiveKind::Exchange:
    return "exchange";
  }
  return "";
}

std::optional<CollectiveKind> mlir::spmd::parseCollectiveKind(llvm::StringRef name) {
  for (auto kind :
       {CollectiveKind::AllSlice, CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll, CollectiveKind::CollectivePermute, CollectiveKind::Exchange})
    if (stringifyCollectiveKind(kind) == name)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Planner
//===----------------------------------------------------------------------===//

/// A multiple of all rank digits.
static int64_t coveredRanks(const Layout &a, const Layout &b) {
  int64_t n = 1;
  auto cover = [&](int64_t end) { n = std::lcm(n, end); };
  for (const Layout *layout : {&a, &b}) {
    for (const Digit &digit : layout->digits)
      cover(digit.stride * digit.size());
    for (const RankDigit &rank : layout->partial)
      cover(rank.stride * rank.size);
    for (const UnevenDim &u : layout->uneven)
      for (const RankDigit &rank : u.ranks)
        cover(rank.stride * rank.size);
  }
  return n;
}

Planner::Planner(const Layout &from, const Layout &to, const ReshardOptions &options)
    : options(options), devices(!options.order.empty() ? options.order.size()
                                : options.mesh         ? options.mesh->numDevices()
                                                       : coveredRanks(from, to)) {}

bool Planner::isLegal(const Layout &layout) const {
  return layout.fitsShape() && (!options.mesh || layout.toSharding(*options.mesh));
}

/// Without costs: the elements that a device receives.
static double receivedPerDevice(const PlanStep &step, int64_t devices) {
  double k = 1;
  for (const RankDigit &rank : step.group)
    k *= rank.size;
  switch (step.kind) {
  case CollectiveKind::AllReduce:
    return 2 * (k - 1) / k * step.from.numLocalElements();
  case CollectiveKind::ReduceScatter:
    return (k - 1) / k * step.from.numLocalElements();
  default:
    return static_cast<double>(step.order.empty() ? receivedElements(step.from, step.to, devices)
                                                  : moveVolume(step.from, step.to, step.order).total) /
           devices;
  }
}

Price Planner::price(const PlanStep &step) const {
  if (step.kind == CollectiveKind::AllSlice)
    return {};
  return {options.seconds ? options.seconds(step) : receivedPerDevice(step, devices),
          step.kind == CollectiveKind::Exchange, 1};
}

double Planner::minSeconds(int64_t elements) const {
  if (elements <= 0)
    return 0;
  return !options.seconds ? elements : options.minSeconds ? options.minSeconds(elements) : 0;
}

Price Planner::price(ArrayRef<PlanStep> steps) const {
  Price sum;
  for (const PlanStep &step : steps)
    sum = sum + price(step);
  return sum;
}

bool Price::operator<(const Price &o) const {
  // Sums of the same terms in another order are ties.
  double margin = 1.0e-9 * std::max(seconds, o.seconds);
  if (seconds < o.seconds - margin || seconds > o.seconds + margin)
    return seconds < o.seconds;
  if (unnamed != o.unnamed)
    return unnamed < o.unnamed;
  return steps < o.steps;
}

void Planner::add(ReshardPlan &steps, PlanStep step) {
  if (step.from != step.to || !step.order.empty())
    steps.push_back(std::move(step));
}

//===----------------------------------------------------------------------===//
// Complete values
//===----------------------------------------------------------------------===//

Pieces detail::sliceAll(const Planner &planner, Pieces pieces, ArrayRef<Piece> goal, const Layout &like) {
  for (const Piece &piece : goal) {
    if (!isLocal(piece, pieces) || !isFree(piece, pieces) || !isFree(piece, like.partial))
      continue;
    pieces.push_back(piece);
    if (!planner.isLegal(layoutOf(pieces, like)))
      pieces.pop_back();
  }
  return pieces;
}

std::vector<Pieces> detail::gatherChoices(ArrayRef<Piece> a, ArrayRef<Piece> out) {
  SmallVector<const Piece *, 8> movable, slots;
  for (const Piece &piece : a) {
    if (isLocal(piece, out))
      slots.push_back(&piece);
    if (isFree(piece, out))
      movable.push_back(&piece);
  }
  constexpr size_t limit = 64;
  std::vector<Pieces> choices{Pieces()};
  for (const Piece *piece : movable) {
    size_t n = choices.size();
    for (size_t i = 0; i < n && choices.size() < limit; ++i)
      for (const Piece *slot : slots) {
        // An uneven dim is left as it is.
        if (slot != piece && (slot->uneven >= 0 || piece->uneven >= 0 || slot->numRanks() != piece->numRanks()))
          continue;
        Piece moved = *slot;
        moved.ranks = piece->ranks;
        if (!isLocal(moved, choices[i]))
          continue;
        choices.push_back(choices[i]);
        choices.back().push_back(moved);
      }
  }
  return choices;
}

void Planner::planComplete(const Layout &in, const Layout &out, ReshardPlan &steps) const {
  if (in == out)
    return;
  auto [inPieces, outPieces] = makePieces(in, out, options.mesh);
  int64_t bound = moveVolume(in, out, devices).total;
  if (bound == 0) {
    add(steps, {CollectiveKind::AllSlice, in, out, movedRanks(inPieces, outPieces)});
    return;
  }
  Pieces a = sliceAll(*this, inPieces, outPieces, in);
  Layout sliced = layoutOf(a, in);

  std::optional<Price> best;
  ReshardPlan bestTail;
  for (const Pieces &extra : gatherChoices(a, outPieces)) {
    Pieces m = outPieces;
    m.append(extra.begin(), extra.end());
    Layout middle = extra.empty() ? out : layoutOf(m, in);
    if (!extra.empty() && !isLegal(middle))
      continue;
    ReshardPlan tail;
    add(tail, {nameMove(a, m), sliced, middle, movedRanks(a, m)});
    add(tail, {CollectiveKind::AllGather, middle, out, movedRanks(m, outPieces)});
    int64_t volume = 0;
    for (const PlanStep &step : tail)
      volume += moveVolume(step.from, step.to, devices).total;
    Price sum = price(tail);
    if (volume != bound || (best && !(sum < *best)))
      continue;
    best = sum;
    bestTail = std::move(tail);
  }
  add(steps, {CollectiveKind::AllSlice, in, sliced, movedRanks(inPieces, a)});
  for (PlanStep &step : bestTail)
    add(steps, std::move(step));
}

//===----------------------------------------------------------------------===//
// Partial ranks
//===----------------------------------------------------------------------===//

/// Ranks that are partial on both sides, with one kind: they stay partial.
static Ranks commonPartial(const Layout &from, const Layout &to) {
  if (from.partialKind == to.partialKind)
    if (auto reduced = subtract(from.partial, to.partial))
      if (auto stays = subtract(from.partial, *reduced))
        return *stays;
  return {};
}

/// `a` without `b`, which is a subset of it.
static Ranks without(ArrayRef<RankDigit> a, ArrayRef<RankDigit> b) { return b.empty() ? Ranks(a) : *subtract(a, b); }

Ranks mlir::spmd::addedPartial(const Layout &from, const Layout &to) {
  return without(to.partial, commonPartial(from, to));
}

ReshardPlan mlir::spmd::planReshard(const Layout &from, const Layout &to, const ReshardOptions &options) {
  ReshardPlan steps;
  bool reorders = false;
  for (size_t rank = 0; rank < options.order.size(); ++rank)
    reorders |= options.order[rank] != static_cast<int64_t>(rank);
  if (reorders) {
    Planner(from, to, options).planReorder(from, to, from.partial, steps);
    return steps;
  }
  if (from == to)
    return steps;
  Layout goal = to;
  goal.partial = commonPartial(from, to);
  goal.partialKind = goal.partial.empty() ? ReductionKind::Sum : from.partialKind;
  Planner planner(from, goal, options);
  if (from.partial == goal.partial)
    planner.planComplete(from, goal, steps);
  else
    planner.planPartial(from, goal, without(from.partial, goal.partial), steps);
  return steps;
}
