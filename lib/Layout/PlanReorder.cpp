//===- PlanReorder.cpp - Between two orders of the same devices -----------===//
//
// An order that permutes digits of the rank maps layouts to layouts (MeshViews.h). For
// any other order, one step changes the order by exact intersections: slices and
// reductions before it count ranks as `from` does, gathers after it as `to` does.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;

std::optional<SmallVector<int64_t>> mlir::spmd::rankOrder(const Mesh &from, const Mesh &to) {
  int64_t n = from.numDevices();
  if (to.numDevices() != n)
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> a, b; // device, rank
  for (int64_t rank = 0; rank < n; ++rank) {
    a.push_back({from.device(rank), rank});
    b.push_back({to.device(rank), rank});
  }
  llvm::sort(a);
  llvm::sort(b);
  SmallVector<int64_t> order(n);
  for (int64_t i = 0; i < n; ++i) {
    if (a[i].first != b[i].first)
      return std::nullopt;
    order[a[i].second] = b[i].second;
  }
  return order;
}

void Planner::cross(const Layout &in, const Layout &out, ReshardPlan &steps) const {
  ArrayRef<int64_t> order = options.order;
  int64_t bound = moveVolume(in, out, order).total;
  SmallVector<RankDigit, 2> all{{1, devices}};
  auto name = [&](ArrayRef<Piece> a, ArrayRef<Piece> m, int64_t volume) {
    if (volume == 0)
      return CollectiveKind::AllSlice;
    bool same = nameMove(a, m) == CollectiveKind::AllSlice && nameMove(m, a) == CollectiveKind::AllSlice;
    return same || nameMove(a, m) == CollectiveKind::CollectivePermute ? CollectiveKind::CollectivePermute
                                                                       : CollectiveKind::Exchange;
  };
  auto [inPieces, outPieces] = makePieces(in, out, options.mesh);
  Layout sliced = in;
  Pieces a = sliceAll(*this, inPieces, outPieces, in);
  // A slice in one order may drop elements that are needed in the other.
  if (Layout candidate = layoutOf(a, in); moveVolume(candidate, out, order).total == bound)
    sliced = candidate;
  else
    a = inPieces;
  add(steps, {CollectiveKind::AllSlice, in, sliced, movedRanks(inPieces, a)});

  std::optional<Price> best;
  ReshardPlan bestTail;
  for (const Pieces &extra : gatherChoices(a, outPieces)) {
    Pieces m = outPieces;
    m.append(extra.begin(), extra.end());
    Layout middle = extra.empty() ? out : layoutOf(m, in);
    if (!middle.fitsShape())
      continue;
    int64_t reordered = moveVolume(sliced, middle, order).total;
    if (reordered + moveVolume(middle, out, devices).total != bound)
      continue;
    ReshardPlan tail;
    add(tail, {name(a, m, reordered), sliced, middle, all, order});
    add(tail, {CollectiveKind::AllGather, middle, out, movedRanks(m, outPieces)});
    Price sum = price(tail);
    if (best && !(sum < *best))
      continue;
    best = sum;
    bestTail = std::move(tail);
  }
  for (PlanStep &step : bestTail)
    add(steps, std::move(step));
}

void Planner::planReorder(const Layout &in, const Layout &out, ArrayRef<RankDigit> reduce, ReshardPlan &steps) const {
  if (reduce.empty())
    return cross(in, out, steps);
  // Combined in its layout, or onto the intervals of `out`.
  Layout goal = out;
  goal.partial.clear();
  Layout stays = in;
  stays.partial.clear();
  stays.partialKind = goal.partialKind = ReductionKind::Sum;
  std::optional<Price> best;
  for (const Layout &middle : {stays, goal}) {
    ReshardPlan plan;
    planPartial(in, middle, reduce, plan);
    cross(middle, goal, plan);
    Price sum = price(plan);
    if (best && !(sum < *best))
      continue;
    best = sum;
    steps = std::move(plan);
  }
}
