//===- Planner.h - Choosing the steps of a plan -----------------*- C++ -*-===//
//
// Internal to the layout library.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LAYOUT_PLANNER_H
#define SHARDKIT_LIB_LAYOUT_PLANNER_H

#include "Pieces.h"
#include <vector>

namespace mlir::spmd::detail {

/// The order of plans: by time, then by collectives without a name, then by number of
/// collectives.
struct Price {
  double seconds = 0;
  unsigned unnamed = 0, steps = 0;

  Price operator+(const Price &o) const { return {seconds + o.seconds, unnamed + o.unnamed, steps + o.steps}; }
  bool operator<(const Price &o) const;
};

/// Plans one reshard. See planReshard for the guarantees.
///
///   in = [{"x"}, {"y"}], out = [{"y"}, {}] of 8x8, x = y = 2
///   candidates M: out itself (one exchange), or out sharded by x again: [{"y"}, {"x"}]
///   the latter is a collective_permute to M and an all_gather of x
class Planner {
public:
  Planner(const Layout &from, const Layout &to, const ReshardOptions &options);

  /// Appends steps from `in` to `out`, which has the same partial ranks, at the bound.
  void planComplete(const Layout &in, const Layout &out, ReshardPlan &steps) const;
  /// Appends steps from `in`, which is partial over `reduce` too, to `out`: the cheapest
  /// sequence of collectives over the intervals of both.
  void planPartial(const Layout &in, const Layout &out, llvm::ArrayRef<RankDigit> reduce, ReshardPlan &steps) const;

  /// Appends steps from `in`, partial over `reduce`, to the complete `out`, whose ranks are
  /// in another order, at the bound of the complete value.
  void planReorder(const Layout &in, const Layout &out, llvm::ArrayRef<RankDigit> reduce, ReshardPlan &steps) const;

  /// True if the layout is allowed between two steps.
  bool isLegal(const Layout &layout) const;
  Price price(const PlanStep &step) const;
  Price price(llvm::ArrayRef<PlanStep> steps) const;
  /// Lower bound of the seconds in which a device receives this many elements.
  double minSeconds(int64_t elements) const;
  const Mesh *getMesh() const { return options.mesh; }
  int64_t numDevices() const { return devices; }
  /// Appends a step, unless it changes nothing.
  static void add(ReshardPlan &steps, PlanStep step);

private:
  void cross(const Layout &in, const Layout &out, ReshardPlan &steps) const;

  const ReshardOptions &options;
  int64_t devices;
};

/// `pieces` with every piece of `goal` whose interval is local and whose ranks are
/// unused.
Pieces sliceAll(const Planner &planner, Pieces pieces, llvm::ArrayRef<Piece> goal, const Layout &like);
/// The sets of pieces that a last gather can remove, each together with `out`: ranks of
/// `a` that `out` does not use, at their intervals or at one that `a` frees.
///   [{"x"}, {"y"}] -> [{}, {}]: both stay
///   [{"x"}, {"y"}] -> [{}, {"x"}]: y moves to the rows, M = [{"y"}, {"x"}]
std::vector<Pieces> gatherChoices(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> out);

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_PLANNER_H
