//===- MovePrices.cpp - Prices of moves, planned once per kind ------------===//

#include "shardkit/Cost/MovePrices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <numeric>

using namespace mlir::spmd;
using llvm::ArrayRef;

static bool isSamePlan(const ReshardPlan &a, const ReshardPlan &b) {
  return llvm::equal(a, b, [](const PlanStep &a, const PlanStep &b) {
    return a.kind == b.kind && a.from == b.from && a.to == b.to && a.group == b.group;
  });
}

const ReshardPlan &MovePrices::getPlan(Move &move, int64_t elementBytes) {
  auto at = llvm::lower_bound(move.planned, std::pair(elementBytes, 0u));
  if (at != move.planned.end()) {
    if (at->first == elementBytes)
      return move.plans[at->second];
    if (at != move.planned.begin() && std::prev(at)->second == at->second)
      return move.plans[at->second];
  }
  ReshardPlan plan = costs.planReshard(move.from, move.to, elementBytes, &views);
  auto known = llvm::find_if(move.plans, [&](const ReshardPlan &other) { return isSamePlan(plan, other); });
  unsigned id = known - move.plans.begin();
  if (known == move.plans.end())
    move.plans.push_back(std::move(plan));
  move.planned.insert(at, {elementBytes, id});
  return move.plans[id];
}

double MovePrices::getSeconds(const Sharding &from, const Sharding &to, ArrayRef<int64_t> shape, int64_t elementBytes) {
  struct Dim {
    ArrayRef<DimEntry> from, to;
    int64_t size;
  };
  llvm::SmallVector<Dim> dims;
  bool reduces = !from.unreduced.empty() || !to.unreduced.empty();
  int64_t devices = views.numDevices(), scale = 1;
  for (auto [a, b, size] : llvm::zip(from.dims, to.dims, shape)) {
    // Which of several plans stands for one that is forbidden may depend on the sizes.
    if (size == 0 || !divides(a.entries, size) || !divides(b.entries, size) || costs.forbids()) {
      Layout source = Layout::get(from, views, shape), target = Layout::get(to, views, shape);
      return costs.getSeconds(costs.planReshard(source, target, elementBytes, &views), elementBytes);
    }
    // A sum may be scattered onto a dim in addition to the entries that shard it, and XLA slices by others too.
    int64_t factor = std::lcm(totalFactor(a.entries), totalFactor(b.entries));
    int64_t smallest = std::gcd(size, 2 * factor * (reduces || costs.isForXla() ? devices : 1));
    scale *= size / smallest;
    if (factor == 1 && !reduces)
      scale *= smallest;
    else if (smallest > 1)
      dims.push_back({a.entries, b.entries, smallest});
  }
  auto isLess = [](ArrayRef<DimEntry> a, ArrayRef<DimEntry> b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  llvm::stable_sort(dims, [&](const Dim &a, const Dim &b) {
    if (a.size != b.size)
      return a.size < b.size;
    if (a.from != b.from)
      return isLess(a.from, b.from);
    return isLess(a.to, b.to);
  });

  Sharding source, target;
  llvm::SmallVector<int64_t> smallest;
  for (const Dim &dim : dims) {
    source.dims.push_back({DimEntries(dim.from)});
    target.dims.push_back({DimEntries(dim.to)});
    smallest.push_back(dim.size);
  }
  source.unreduced = from.unreduced;
  source.unreducedKind = from.unreducedKind;
  target.unreduced = to.unreduced;
  target.unreducedKind = to.unreducedKind;
  llvm::SmallVector<int64_t, 64> key(smallest.begin(), smallest.end());
  appendKey(source, key);
  appendKey(target, key);
  auto [move, isNew] = moves.try_emplace(key);
  if (isNew) {
    move.from = Layout::get(source, views, smallest);
    move.to = Layout::get(target, views, smallest);
  }
  return costs.getSeconds(getPlan(move, elementBytes * scale), elementBytes * scale);
}

/// All that prices depend on: not the names.
static void appendMesh(const Mesh &mesh, llvm::SmallVectorImpl<int64_t> &key) {
  auto append = [&](const auto &numbers) {
    key.push_back(numbers.size());
    for (auto number : numbers)
      key.push_back(llvm::bit_cast<int64_t>(number));
  };
  key.push_back(mesh.axes.size());
  for (const MeshAxis &axis : mesh.axes)
    key.push_back(axis.size);
  append(mesh.deviceIds);
  append(mesh.alpha);
  append(mesh.beta);
  key.push_back(mesh.viewBoundaries.size());
  for (const auto &strides : mesh.viewBoundaries)
    append(strides);
}

MovePrices &SharedMovePrices::get(const Mesh &costMesh, const Mesh &views, const CostOptions &options) {
  llvm::SmallVector<int64_t, 32> key{options.alpa, options.xla};
  for (CollectiveKind kind : options.forbidden)
    key.push_back(int64_t(kind));
  key.push_back(-1);
  appendMesh(costMesh, key);
  appendMesh(views, key);
  return tables.try_emplace(key, costMesh, views, options).first.prices;
}
