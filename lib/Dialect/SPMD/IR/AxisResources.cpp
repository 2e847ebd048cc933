//===- AxisResources.cpp - Shardings as axis resources --------------------===//

#include "shardkit/Dialect/SPMD/IR/AxisResources.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::spmd;

AxisResourcesAttr spmd::toAxisResources(ShardingAttr sharding) {
  if (!sharding.getReplicated().empty() || !sharding.getUnreduced().empty())
    return {};
  Builder b(sharding.getContext());
  SmallVector<Attribute> entries;
  bool replicated = true;
  for (DimShardingAttr dim : sharding.getDims()) {
    if (dim.getPriority() != 0 || (dim.getOpen() && !dim.getEntries().empty()))
      return {};
    if (dim.getOpen()) {
      entries.push_back(b.getUnitAttr());
      replicated = false;
      continue;
    }
    SmallVector<StringRef> axes;
    for (DimEntryAttr entry : dim.getEntries()) {
      if (!entry.isFullAxis())
        return {};
      axes.push_back(entry.getAxis());
    }
    replicated &= axes.empty();
    entries.push_back(b.getStrArrayAttr(axes));
  }
  if (replicated)
    entries.clear();
  return AxisResourcesAttr::get(sharding.getContext(), replicated, entries);
}
