//===- CostModel.cpp - Alpha-beta costs per mesh axis ---------------------===//

#include "shardkit/Cost/CostModel.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir::spmd;

bool CostModel::touches(unsigned axis, llvm::ArrayRef<RankDigit> group) const {
  int64_t low = mesh.axisStride(axis), high = low * mesh.axes[axis].size;
  return llvm::any_of(group, [&](const RankDigit &digit) {
    return std::max(digit.stride, low) < std::min(digit.stride * digit.size, high);
  });
}

std::pair<double, double> CostModel::getLink(llvm::ArrayRef<RankDigit> group) const {
  double alpha = 0, beta = 0;
  for (unsigned a = 0; a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].size == 1 || !touches(a, group))
      continue;
    alpha += mesh.alpha.empty() ? kDefaultAlpha : mesh.alpha[a];
    beta = std::max(beta, mesh.beta.empty() ? kDefaultBeta : mesh.beta[a]);
  }
  return {alpha, beta};
}

std::pair<double, double> CostModel::getFastestLink() const {
  double alpha = kDefaultAlpha, beta = kDefaultBeta;
  if (!mesh.alpha.empty())
    alpha = *llvm::min_element(mesh.alpha);
  if (!mesh.beta.empty())
    beta = *llvm::min_element(mesh.beta);
  return {alpha, beta};
}

llvm::SmallVector<std::string> CostModel::getAxes(llvm::ArrayRef<RankDigit> group) const {
  llvm::SmallVector<std::string> names;
  for (unsigned a = 0; a < mesh.axes.size(); ++a)
    if (mesh.axes[a].size > 1 && touches(a, group))
      names.push_back(mesh.axes[a].name);
  return names;
}

static double getAlpaTail(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return 0.1;
  case CollectiveKind::AllReduce:
    return 0.01;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    return 0.001;
  default:
    return 0;
  }
}

CollectiveCost CostModel::getCost(const PlanStep &step, int64_t elementBytes) const {
  int64_t n = 1;
  for (const RankDigit &digit : step.group)
    n *= digit.size;
  CollectiveCost cost;
  if (n == 1 || step.kind == CollectiveKind::AllSlice)
    return cost;
  int64_t fromBytes = step.from.numLocalElements() * elementBytes;
  int64_t toBytes = step.to.numLocalElements() * elementBytes;
  auto [alpha, beta] = getLink(step.group);
  double share = 0; // fraction of B that a device sends or receives
  switch (step.kind) {
  case CollectiveKind::AllSlice:
    return cost;
  case CollectiveKind::AllGather:
    cost.bytes = toBytes;
    share = double(n - 1) / n;
    cost.received = (n - 1) * toBytes;
    break;
  case CollectiveKind::AllReduce:
    cost.bytes = fromBytes;
    share = 2.0 * (n - 1) / n;
    cost.received = 2 * (n - 1) * fromBytes;
    break;
  case CollectiveKind::ReduceScatter:
    cost.bytes = fromBytes;
    share = double(n - 1) / n;
    cost.received = (n - 1) * fromBytes;
    break;
  case CollectiveKind::AllToAll:
    cost.bytes = n * fromBytes;
    share = double(n - 1) / (double(n) * n);
    cost.received = (n - 1) * fromBytes;
    break;
  case CollectiveKind::CollectivePermute:
  case CollectiveKind::Exchange: {
    int64_t devices = mesh.numDevices();
    // The device that receives most sets the time; some may have what they need.
    MoveVolume volume =
        step.order.empty() ? moveVolume(step.from, step.to, devices) : moveVolume(step.from, step.to, step.order);
    if (volume.total == 0)
      return cost;
    cost.bytes = volume.largest * elementBytes;
    share = 1;
    cost.received = volume.total * elementBytes / (devices / n);
    break;
  }
  }
  double tail = 0;
  if (options.alpa) {
    if (step.kind == CollectiveKind::AllToAll)
      share *= n / 2.0;
    tail = getAlpaTail(step.kind);
  }
  cost.seconds = alpha + beta * share * cost.bytes + tail;
  if (options.xla && (step.kind == CollectiveKind::AllToAll || step.kind == CollectiveKind::Exchange))
    cost.seconds = getXlaSeconds(step, elementBytes);
  if (llvm::is_contained(options.forbidden, step.kind))
    cost.seconds = std::numeric_limits<double>::infinity();
  return cost;
}

double CostModel::getXlaSeconds(const PlanStep &step, int64_t elementBytes) const {
  CostModel costs(mesh);
  std::optional<double> best;
  for (bool gathersLast : {false, true}) {
    std::optional<ReshardPlan> plan = planWholeAxes(step.from, step.to, mesh, gathersLast);
    if (!plan)
      break;
    double seconds = costs.getSeconds(*plan, elementBytes);
    best = std::min(best.value_or(seconds), seconds);
  }
  if (best)
    return *best;
  // A collective_permute, then as here.
  auto [alpha, beta] = getLink(step.group);
  return costs.getCost(step, elementBytes).seconds + alpha + beta * (step.from.numLocalElements() * elementBytes);
}

ReshardPlan CostModel::planReshard(const Layout &from, const Layout &to, int64_t elementBytes,
                                   const Mesh *views) const {
  auto seconds = [&](const PlanStep &step) { return getCost(step, elementBytes).seconds; };
  auto [alpha, beta] = getFastestLink();
  auto minSeconds = [&, alpha = alpha, beta = beta](int64_t elements) {
    return alpha + beta * (elements * elementBytes);
  };
  ReshardOptions planned{views ? views : &mesh, seconds};
  // A forbidden collective exceeds every bound.
  if (options.forbidden.empty())
    planned.minSeconds = minSeconds;
  return spmd::planReshard(from, to, planned);
}

double CostModel::getSeconds(llvm::ArrayRef<PlanStep> plan, int64_t elementBytes) const {
  double seconds = 0;
  for (const PlanStep &step : plan)
    seconds += getCost(step, elementBytes).seconds;
  return seconds;
}
