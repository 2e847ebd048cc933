//===- LayoutTable.cpp - Interned shardings of a function -----------------===//

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Layout/KnownSizes.h"

using namespace mlir;
using namespace mlir::spmd;

LayoutId LayoutTable::intern(Sharding sharding) {
  sharding.replicated.clear();
  for (DimSharding &dim : sharding.dims) {
    dim.entries = canonicalize(dim.entries);
    dim.open = false;
    dim.priority = 0;
  }
  llvm::sort(sharding.unreduced);
  sharding.unreduced = canonicalize(sharding.unreduced);
  if (sharding.unreduced.empty())
    sharding.unreducedKind = ReductionKind::Sum;
  LayoutId id = shardings.intern(std::move(sharding));
  if (id == attrs.size())
    attrs.push_back({});
  return id;
}

FailureOr<LayoutId> LayoutTable::read(ShardingAttr attr, RankedTensorType type, EmitErrorFn emitError) {
  if (llvm::is_contained(type.getShape(), 0))
    return getReplicated(type.getRank());
  auto it = known.find(attr);
  if (it != known.end())
    return it->second;
  FailureOr<Sharding> sharding = meshes.read(attr, emitError);
  if (failed(sharding))
    return failure();
  return known[attr] = intern(std::move(*sharding));
}

LayoutId LayoutTable::getReplicated(int64_t rank) {
  Sharding sharding;
  sharding.dims.resize(rank);
  return intern(std::move(sharding));
}

LayoutId LayoutTable::getComplete(LayoutId id) {
  if (!isPartial(id))
    return id;
  Sharding sharding = get(id);
  sharding.unreduced.clear();
  return intern(std::move(sharding));
}

ShardingAttr LayoutTable::getAttr(LayoutId id) {
  if (!attrs[id])
    attrs[id] = meshes.getAttr(get(id));
  return attrs[id];
}

std::pair<SmallVector<int64_t, 4>, int64_t> LayoutTable::getPricedShape(LayoutId from, LayoutId to,
                                                                        RankedTensorType type) const {
  SmallVector<int64_t, 4> shape = withKnownSizes(type.getShape(), {&get(from), &get(to)});
  int64_t bytes = getElementBytes(type.getElementType());
  for (auto [d, size] : llvm::enumerate(shape))
    if (type.isDynamicDim(d))
      bytes *= std::max<int64_t>(getMesh().numDevices() / size, 1);
  return {shape, bytes};
}

const LayoutTable::Planned &LayoutTable::getPlanned(LayoutId from, LayoutId to, RankedTensorType type) {
  auto [it, inserted] = plans.try_emplace({from, to, type});
  if (inserted) {
    auto [shape, bytes] = getPricedShape(from, to, type);
    it->second.plan = costs.planReshard(Layout::get(get(from), getMesh(), shape),
                                        Layout::get(get(to), getMesh(), shape), bytes, &getMesh());
    it->second.elementBytes = bytes;
  }
  return it->second;
}

const ReshardPlan &LayoutTable::getPlan(LayoutId from, LayoutId to, RankedTensorType type) {
  return getPlanned(from, to, type).plan;
}

double LayoutTable::getSeconds(LayoutId id, ArrayRef<UnevenDim> windows, RankedTensorType type) {
  const Mesh &mesh = meshes.getMesh();
  SmallVector<int64_t, 4> shape = withKnownSizes(type.getShape(), {&get(id)});
  PlanStep step{CollectiveKind::Exchange, Layout::get(get(id), mesh, shape), {}, {}};
  Sharding rest = get(id);
  for (const UnevenDim &window : windows)
    rest.dims[window.dim].entries.clear();
  step.to = Layout::get(rest, mesh, shape);
  step.to.uneven.append(windows.begin(), windows.end());
  llvm::sort(step.to.uneven, [](const UnevenDim &a, const UnevenDim &b) { return a.dim < b.dim; });
  step.group = getMovedRanks(step.from, step.to);
  return costs.getCost(step, getElementBytes(type.getElementType())).seconds;
}

LayoutTable::Move LayoutTable::getMove(LayoutId from, LayoutId to, RankedTensorType type) {
  Move move;
  const Planned &planned = getPlanned(from, to, type);
  for (const PlanStep &step : planned.plan) {
    CollectiveCost cost = costs.getCost(step, planned.elementBytes);
    if (cost.received == 0)
      continue;
    move.bytes += cost.bytes;
    move.kinds += (move.kinds.empty() ? "" : ", ") + stringifyCollectiveKind(step.kind).str();
    for (const std::string &axis : costs.getAxes(step.group))
      move.axes += (move.axes.empty() ? "" : ",") + axis;
  }
  return move;
}

double LayoutTable::getSeconds(LayoutId from, LayoutId to, RankedTensorType type) {
  if (from == to)
    return 0;
  auto [it, inserted] = seconds.try_emplace({from, to, type});
  if (inserted) {
    auto [shape, bytes] = getPricedShape(from, to, type);
    it->second = prices.getSeconds(get(from), get(to), shape, bytes);
  }
  return it->second;
}
