//===- CostModel.h - Costs of communication ---------------------*- C++ -*-===//
//
// The only source of prices of collectives: for conflicts in propagation, reshard plans,
// reports and the solver.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_COSTMODEL_H
#define SHARDKIT_COST_COSTMODEL_H

#include "shardkit/Layout/ReshardPlan.h"

namespace mlir::spmd {

/// The cost of one collective: the B of the cost formulas, the received bytes summed over the
/// devices of the group, and the predicted time.
struct CollectiveCost {
  int64_t bytes = 0;
  int64_t received = 0;
  double seconds = 0;
};

/// Predicted seconds of a device.
struct PlanSeconds {
  double communication = 0;
  double compute = 0;

  double getSum() const { return communication + compute; }
  void add(const PlanSeconds &other, double times) {
    communication += other.communication * times;
    compute += other.compute * times;
  }
  /// The limit for a plan that saves the rest of `fraction` of the communication, or of the compute where nothing is
  /// communicated.
  double getMaxSum(double fraction) const {
    return getSum() - (1 - fraction) * (communication > 0 ? communication : compute);
  }
};

/// Deviations from the default prices.
struct CostOptions {
  /// Alpa's prices: constants that break ties (0.1 for an all-gather, 0.01 for an all-reduce,
  /// 0.001 for a reduce-scatter and an all-to-all), and n/2 times the bytes of an all-to-all.
  bool alpa = false;
  /// XLA's prices: an exchange, or an all-to-all, that has no counterpart there is priced as the collectives that XLA
  /// has instead (see `planWholeAxes`).
  bool xla = false;
  /// Forbidden kinds: their price is infinite.
  llvm::SmallVector<CollectiveKind, 2> forbidden;
};

class CostModel {
public:
  static constexpr double kDefaultAlpha = 1.0e-5; // s
  static constexpr double kDefaultBeta = 1.0e-10; // s / byte
  static constexpr double kDefaultFlops = 1.0e13; // flop / s

  explicit CostModel(const Mesh &mesh, CostOptions options = {}) : mesh(mesh), options(std::move(options)) {}

  /// Whether some collectives are forbidden.
  bool forbids() const { return !options.forbidden.empty(); }
  bool isForXla() const { return options.xla; }
  /// Cost of one step of a plan on elements of `elementBytes` bytes.
  CollectiveCost getCost(const PlanStep &step, int64_t elementBytes) const;
  /// Seconds of the `alpha` of a group, which a collective that is combined with another one
  /// saves.
  double getLatency(llvm::ArrayRef<RankDigit> group) const { return getLink(group).first; }
  /// The plan with the lowest predicted time among those with the fewest received bytes
  /// (Plan.h). Intermediate layouts are shardings on `views`, a mesh over the same devices, or
  /// on the mesh of the model if that is null.
  ReshardPlan planReshard(const Layout &from, const Layout &to, int64_t elementBytes,
                          const Mesh *views = nullptr) const;
  /// Seconds of a whole plan.
  double getSeconds(llvm::ArrayRef<PlanStep> plan, int64_t elementBytes) const;
  /// Names of the axes that a group of rank digits runs over, in mesh order.
  llvm::SmallVector<std::string> getAxes(llvm::ArrayRef<RankDigit> group) const;

private:
  /// The sum of alpha and the maximum of beta, over the axes of size > 1 of `group`.
  std::pair<double, double> getLink(llvm::ArrayRef<RankDigit> group) const;
  /// The minimum of alpha and the minimum of beta, over all axes.
  std::pair<double, double> getFastestLink() const;
  /// Seconds of what XLA has instead of a step without a sum.
  double getXlaSeconds(const PlanStep &step, int64_t elementBytes) const;
  bool touches(unsigned axis, llvm::ArrayRef<RankDigit> group) const;

  const Mesh &mesh;
  CostOptions options;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COSTMODEL_H
