//===- CostModel.h - What communication costs -------------------*- C++ -*-===//
//
// The one cost library: propagation conflicts, reshard plans, reports and the
// solver price collectives here and nowhere else (docs/Costs.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_COSTMODEL_H
#define SHARDKIT_COST_COSTMODEL_H

#include "shardkit/Layout/ReshardPlan.h"

namespace mlir::spmd {

/// What one collective moves: the B of the cost formulas, the bytes received
/// summed over the group's devices, and its predicted time.
struct CollectiveCost {
  int64_t bytes = 0;
  int64_t received = 0;
  double seconds = 0;
};

/// How collectives are priced where not by the default alone.
struct CostOptions {
  /// As Alpa does: tails that break its ties (0.1 for an all-gather, 0.01 for an
  /// all-reduce, 0.001 for a reduce-scatter and an all-to-all), and the bytes of an
  /// all-to-all counted n/2 times.
  bool alpa = false;
  /// Kinds that must not be used: their price is infinite.
  llvm::SmallVector<CollectiveKind, 2> forbidden;
};

class CostModel {
public:
  static constexpr double kDefaultAlpha = 1.0e-5; // s
  static constexpr double kDefaultBeta = 1.0e-10; // s / byte
  static constexpr double kDefaultFlops = 1.0e13; // flop / s

  explicit CostModel(const Mesh &mesh, CostOptions options = {}) : mesh(mesh), options(std::move(options)) {}

  /// Whether some collectives must not be used.
  bool forbids() const { return !options.forbidden.empty(); }
  /// Cost of one step of a plan on elements of `elementBytes` bytes.
  CollectiveCost getCost(const PlanStep &step, int64_t elementBytes) const;
  /// Seconds of a group's `alpha`: what a collective saves that travels together
  /// with another one.
  double getLatency(llvm::ArrayRef<RankDigit> group) const { return getLink(group).first; }
  /// The plan of the lowest predicted time among those that receive least (see
  /// Plan.h). Layouts on the way are shardings of `views`, a mesh over the same
  /// devices, or else of this one.
  ReshardPlan planReshard(const Layout &from, const Layout &to, int64_t elementBytes,
                          const Mesh *views = nullptr) const;
  /// Seconds of a whole plan.
  double getSeconds(llvm::ArrayRef<PlanStep> plan, int64_t elementBytes) const;
  /// Names of the axes that a group of rank digits runs over, in mesh order.
  llvm::SmallVector<std::string> getAxes(llvm::ArrayRef<RankDigit> group) const;

private:
  /// alpha: sum, beta: largest, over the axes of size > 1 that `group` touches.
  std::pair<double, double> getLink(llvm::ArrayRef<RankDigit> group) const;
  /// The least alpha of any axis, and the least beta.
  std::pair<double, double> getFastestLink() const;
  bool touches(unsigned axis, llvm::ArrayRef<RankDigit> group) const;

  const Mesh &mesh;
  CostOptions options;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COSTMODEL_H
