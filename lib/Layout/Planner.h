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

/// What plans are compared by: time, then collectives without a name, then
/// number of collectives.
struct Price {
  double seconds = 0;
  unsigned unnamed = 0, steps = 0;

  Price operator+(const Price &o) const { return {seconds + o.seconds, unnamed + o.unnamed, steps + o.steps}; }
  bool operator<(const Price &o) const;
};

class Planner {
public:
  Planner(const Layout &from, const Layout &to, const ReshardOptions &options);

  /// Leads `in` to `out`, which has the same partial ranks, at the bound.
  void planComplete(const Layout &in, const Layout &out, ReshardPlan &steps) const;
  /// Leads `in`, which is partial over `reduce` too, to `out`, as cheaply as any
  /// sequence of collectives over the places of both does.
  void planPartial(const Layout &in, const Layout &out, llvm::ArrayRef<RankDigit> reduce, ReshardPlan &steps) const;

  /// Leads `in`, partial over `reduce`, to the complete `out`, whose ranks are in
  /// another order, at the bound of the complete value.
  void planReorder(const Layout &in, const Layout &out, llvm::ArrayRef<RankDigit> reduce, ReshardPlan &steps) const;

  /// True if a value can have this layout on the way.
  bool isLegal(const Layout &layout) const;
  Price price(const PlanStep &step) const;
  Price price(llvm::ArrayRef<PlanStep> steps) const;
  /// Seconds that a device takes at least to receive so many elements.
  double least(int64_t elements) const;
  const Mesh *getMesh() const { return options.mesh; }
  int64_t numDevices() const { return devices; }
  /// Appends a step, unless it is none.
  static void add(ReshardPlan &steps, PlanStep step);

private:
  void cross(const Layout &in, const Layout &out, ReshardPlan &steps) const;

  const ReshardOptions &options;
  int64_t devices;
};

/// `pieces` with every piece of `goal` whose place is local and whose ranks own
/// nothing.
Pieces sliceAll(const Planner &planner, Pieces pieces, llvm::ArrayRef<Piece> goal, const Layout &like);
/// The sets of pieces that a gather can join last, each with `out`: ranks of `a`
/// that `out` leaves free, where they are or at a place that `a` gives up.
///   [{"x"}, {"y"}] -> [{}, {}]: both stay
///   [{"x"}, {"y"}] -> [{}, {"x"}]: y moves to the rows, M = [{"y"}, {"x"}]
std::vector<Pieces> gatherChoices(llvm::ArrayRef<Piece> a, llvm::ArrayRef<Piece> out);

} // namespace mlir::spmd::detail

#endif // SHARDKIT_LIB_LAYOUT_PLANNER_H
