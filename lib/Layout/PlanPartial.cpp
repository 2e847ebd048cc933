//===- PlanPartial.cpp - The cheapest way to a complete value -------------===//
//
// A reduction can come before or after a move, at once or in two steps with a move in
// between; the cheapest order depends on sizes and links.
//   1. List the possible intermediate layouts: every rank piece is at its interval in
//      `in`, at its interval in `out`, unused, or (if it is to be combined) still partial
//      or at an unused interval.
//   2. Connect two of them if one collective leads from the one to the other.
//   3. The plan is the shortest path (A*).
//
//===----------------------------------------------------------------------===//

#include "Atoms.h"
#include "Planner.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::detail;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

namespace {
/// An intermediate layout: pieces, and the ranks that are still partial (a bit each).
struct Node {
  Pieces pieces;
  uint32_t partial;
  Layout layout;
};

class Search {
public:
  /// Upper bound of the number of layouts.
  static constexpr size_t limit = 256;
  Search(const Planner &planner, const Layout &in, const Layout &out, ArrayRef<RankDigit> reduce, bool coarse);

  /// The ranks that may shard unused intervals in intermediate layouts: only those to be
  /// combined, or others too. For unused ranks, a slice, a smaller reduction and a gather
  /// can be cheaper than the reduction. Ranks that move can make room for a
  /// reduce_scatter.
  enum class FreePieces { All, Combined, None };

  /// False if there are too many layouts.
  bool listNodes(FreePieces freePieces);

  /// A*. std::nullopt if no path leads to `out`.
  std::optional<ReshardPlan> run();

private:
  /// Splits the ranks to be combined at the boundaries of pieces and of the mesh.
  void shardReduced(ArrayRef<RankDigit> reduce);

  /// Adds the major factor of every interval between two boundaries of the index, for each
  /// of the ranks to be combined and, in the remaining factor, for others.
  void addFreePieces(ArrayRef<Piece> fixed, bool others);
  Layout withPartial(ArrayRef<Piece> pieces, uint32_t mask) const;

  /// Every choice of candidates from `first` on, with every set of partial ranks
  /// that own nothing.
  bool addNodes(unsigned first, const Pieces &pieces);

  /// The collective that leads from one layout to the other, which is partial over no
  /// other ranks, if one does.
  std::optional<PlanStep> connect(const Node &a, const Node &b) const;

  const Planner &planner;
  const Layout &in, &out;
  Pieces inPieces, outPieces, candidates;
  SmallVector<RankDigit, 4> partial;
  std::vector<Node> nodes;
};

Search::Search(const Planner &planner, const Layout &in, const Layout &out, ArrayRef<RankDigit> reduce, bool coarse)
    : planner(planner), in(in), out(out) {
  std::tie(inPieces, outPieces) = makePieces(in, out, planner.getMesh(), coarse);
  shardReduced(reduce);
}

bool Search::listNodes(FreePieces freePieces) {
  nodes.clear();
  candidates.clear();
  Pieces fixed;
  for (const Piece &piece : inPieces)
    // Pieces in both layouts stay.
    (llvm::is_contained(outPieces, piece) ? fixed : candidates).push_back(piece);
  for (const Piece &piece : outPieces)
    if (!llvm::is_contained(fixed, piece))
      candidates.push_back(piece);
  if (freePieces != FreePieces::None)
    addFreePieces(fixed, freePieces == FreePieces::All);
  return addNodes(0, fixed);
}

std::optional<ReshardPlan> Search::run() {
  unsigned n = nodes.size();
  SmallVector<std::optional<Price>, 0> best(n);
  SmallVector<Price, 0> remaining(n); // lower bound to `out`
  SmallVector<int64_t, 0> elements(n);
  SmallVector<int, 0> previous(n, -1);
  SmallVector<bool, 0> done(n, false);
  int source = -1, target = -1;
  for (unsigned i = 0; i < n; ++i) {
    if (nodes[i].layout == in)
      source = i;
    if (nodes[i].layout == out)
      target = i;
  }
  if (source < 0 || target < 0)
    return std::nullopt;
  // 1. Lower bounds. A device that gets a sum receives data for each of its elements; a
  // device that gets more elements than it has receives these.
  int64_t wanted = nodes[target].layout.numLocalElements();
  for (unsigned i = 0; i < n; ++i) {
    elements[i] = nodes[i].layout.numLocalElements();
    bool isSum = nodes[i].partial != nodes[target].partial;
    remaining[i].seconds = planner.minSeconds(isSum ? wanted : wanted - elements[i]);
  }
  bool bounded = planner.minSeconds(1) > 0;
  // 2. Expand the layout with the lowest estimate until that is the target.
  best[source] = Price();
  while (!done[target]) {
    int next = -1;
    std::optional<Price> first;
    for (unsigned i = 0; i < n; ++i)
      if (!done[i] && best[i])
        // Among equal ones, the one with the shorter path.
        if (Price estimate = *best[i] + remaining[i];
            !first || estimate < *first || (!(*first < estimate) && *best[i] < *best[next])) {
          next = i;
          first = estimate;
        }
    if (next < 0)
      return std::nullopt;
    done[next] = true;
    if (next == target)
      break;
    for (unsigned i = 0; i < n; ++i) {
      if (done[i] || nodes[i].partial & ~nodes[next].partial)
        continue;
      // Most are excluded by the lower bound of the elements to receive.
      Price lowest = *best[next];
      lowest.seconds += planner.minSeconds(elements[i] - elements[next]);
      if ((bounded && best[i] && *best[i] < lowest) ||
          (bounded && best[target] && *best[target] < lowest + remaining[i]))
        continue;
      std::optional<PlanStep> step = connect(nodes[next], nodes[i]);
      if (!step)
        continue;
      Price price = *best[next] + planner.price(*step);
      if (best[i] && !(price < *best[i]))
        continue;
      best[i] = price;
      previous[i] = next;
    }
  }
  // 3. Collect the steps of the path, last to first.
  ReshardPlan plan;
  for (int i = target; i != source; i = previous[i]) {
    PlanStep step = *connect(nodes[previous[i]], nodes[i]);
    // An exchange without data movement.
    if (step.kind == CollectiveKind::Exchange && moveVolume(step.from, step.to, planner.numDevices()).total == 0)
      step.kind = CollectiveKind::AllSlice;
    plan.push_back(std::move(step));
  }
  std::reverse(plan.begin(), plan.end());
  return plan;
}

void Search::shardReduced(ArrayRef<RankDigit> reduce) {
  SmallVector<int64_t, 16> boundaries;
  for (const Pieces *pieces : {&inPieces, &outPieces})
    for (const Piece &piece : *pieces)
      for (const RankDigit &rank : piece.ranks)
        boundaries.append({rank.stride, rank.stride * rank.size});
  if (const Mesh *mesh = planner.getMesh()) {
    int64_t stride = 1;
    for (const MeshAxis &axis : llvm::reverse(mesh->axes))
      boundaries.push_back(stride *= axis.size);
  }
  llvm::sort(boundaries);
  for (RankDigit rank : reduce) {
    for (int64_t c : boundaries) {
      int64_t end = rank.stride * rank.size;
      if (c <= rank.stride || c >= end || c % rank.stride != 0 || end % c != 0)
        continue;
      partial.push_back({rank.stride, c / rank.stride});
      rank = {c, end / c};
    }
    partial.push_back(rank);
  }
  // Many ranks (of many axes) are combined together.
  if (partial.size() > 4)
    partial.assign(reduce.begin(), reduce.end());
}

void Search::addFreePieces(ArrayRef<Piece> fixed, bool others) {
  SmallVector<int64_t, 16> boundaries;
  int64_t n = 1;
  boundaries.push_back(1);
  for (int64_t size : llvm::reverse(in.shape))
    boundaries.push_back(n *= size);
  for (const Pieces *pieces : {&inPieces, &outPieces})
    for (const Piece &piece : *pieces)
      if (piece.uneven < 0)
        boundaries.append({piece.lo, piece.hi});
  auto add = [&](const RankDigit &rank) {
    llvm::sort(boundaries);
    boundaries.erase(llvm::unique(boundaries), boundaries.end());
    SmallVector<int64_t, 8> splits;
    for (unsigned i = boundaries.size(); i-- > 1;) {
      int64_t lo = boundaries[i - 1], hi = boundaries[i];
      if (hi % lo != 0 || (hi / lo) % rank.size != 0)
        continue;
      Piece piece{hi / rank.size, hi, {rank}};
      splits.push_back(piece.lo);
      if (isLocal(piece, fixed) && !llvm::is_contained(candidates, piece))
        candidates.push_back(piece);
    }
    return splits;
  };
  SmallVector<int64_t, 16> splits;
  for (const RankDigit &rank : partial)
    splits.append(add(rank));
  if (!others)
    return;
  boundaries.append(splits);
  for (const Piece &piece : inPieces)
    if (piece.uneven < 0 && !llvm::is_contained(fixed, piece))
      add(piece.ranks[0]);
  if (const Mesh *mesh = planner.getMesh())
    for (unsigned axis = 0; axis < mesh->axes.size(); ++axis) {
      RankDigit rank{mesh->axisStride(axis), mesh->axes[axis].size};
      Piece probe{1, 1, {rank}};
      if (rank.size > 1 && isFree(probe, inPieces) && isFree(probe, in.partial))
        add(rank);
    }
}

Layout Search::withPartial(ArrayRef<Piece> pieces, uint32_t mask) const {
  Layout layout = layoutOf(pieces, out);
  if (mask == 0)
    return layout;
  for (unsigned i = 0; i < partial.size(); ++i)
    if (mask >> i & 1)
      layout.partial.push_back(partial[i]);
  coalesce(layout.partial);
  layout.partialKind = in.partialKind;
  return layout;
}

bool Search::addNodes(unsigned first, const Pieces &pieces) {
  if (first < candidates.size()) {
    const Piece &piece = candidates[first];
    if (isLocal(piece, pieces) && isFree(piece, pieces) && isFree(piece, out.partial)) {
      Pieces more = pieces;
      more.push_back(piece);
      if (!addNodes(first + 1, more))
        return false;
    }
    return addNodes(first + 1, pieces);
  }
  uint32_t open = 0;
  for (unsigned i = 0; i < partial.size(); ++i) {
    Piece probe{1, 1, {partial[i]}};
    if (isFree(probe, pieces))
      open |= 1u << i;
  }
  for (uint32_t mask = open;; mask = (mask - 1) & open) {
    Layout layout = withPartial(pieces, mask);
    if (layout == in || layout == out || planner.isLegal(layout))
      nodes.push_back({pieces, mask, std::move(layout)});
    if (nodes.size() > limit)
      return false;
    if (mask == 0)
      return true;
  }
}

std::optional<PlanStep> Search::connect(const Node &a, const Node &b) const {
  if (a.partial == b.partial) {
    return PlanStep{nameMove(a.pieces, b.pieces), a.layout, b.layout, movedRanks(a.pieces, b.pieces)};
  }
  // Combined ranks shard an interval, or all devices get the result.
  SmallVector<RankDigit, 2> combined, placed;
  for (unsigned i = 0; i < partial.size(); ++i)
    if ((a.partial & ~b.partial) >> i & 1)
      combined.push_back(partial[i]);
  for (const Piece &piece : a.pieces)
    if (!llvm::is_contained(b.pieces, piece))
      return std::nullopt;
  for (const Piece &piece : b.pieces)
    if (!llvm::is_contained(a.pieces, piece))
      placed.append(piece.ranks);
  coalesce(combined);
  coalesce(placed);
  if (!placed.empty() && placed != combined)
    return std::nullopt;
  return PlanStep{placed.empty() ? CollectiveKind::AllReduce : CollectiveKind::ReduceScatter, a.layout, b.layout,
                  combined};
}
} // namespace

void Planner::planPartial(const Layout &in, const Layout &out, ArrayRef<RankDigit> reduce, ReshardPlan &steps) const {
  // As many candidates as the bound allows. Full axes have priority over unused intervals.
  using FreePieces = Search::FreePieces;
  for (auto [freePieces, coarse] :
       {std::pair(FreePieces::All, false), std::pair(FreePieces::All, true), std::pair(FreePieces::Combined, false),
        std::pair(FreePieces::Combined, true), std::pair(FreePieces::None, false)}) {
    Search search(*this, in, out, reduce, coarse);
    if (!search.listNodes(freePieces))
      continue;
    if (std::optional<ReshardPlan> plan = search.run()) {
      for (PlanStep &step : *plan)
        add(steps, std::move(step));
      return;
    }
  }
  // Too many layouts, or no common boundaries: combine, then move.
  Layout complete = in;
  complete.partial = out.partial;
  complete.partialKind = out.partialKind;
  add(steps, {CollectiveKind::AllReduce, in, complete, SmallVector<RankDigit, 2>(reduce)});
  planComplete(complete, out, steps);
}
