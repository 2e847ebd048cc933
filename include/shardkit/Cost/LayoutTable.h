//===- LayoutTable.h - Interned shardings of one mesh -----------*- C++ -*-===//
//
// Closed shardings as small integers: equal numbers are equal layouts. Prices
// of reshards are computed once per pair.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_LAYOUTTABLE_H
#define SHARDKIT_COST_LAYOUTTABLE_H

#include "shardkit/Cost/CostModel.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

using LayoutId = unsigned;

class LayoutTable {
public:
  LayoutTable(const Mesh &mesh, FlatSymbolRefAttr meshRef)
      : mesh(mesh), meshRef(meshRef), costs(mesh) {}

  /// Closes every dim and drops `replicated`, priorities and size-1 entries.
  LayoutId intern(Sharding sharding);
  LayoutId getReplicated(int64_t rank);
  /// The same digits, complete.
  LayoutId getComplete(LayoutId id);
  const Sharding &get(LayoutId id) const { return shardings[id]; }
  bool isPartial(LayoutId id) const { return !shardings[id].unreduced.empty(); }
  ShardingAttr getAttr(LayoutId id);

  /// Predicted seconds from one layout to another of a value of `type`. A
  /// complete value that becomes partial costs nothing by itself.
  double getSeconds(LayoutId from, LayoutId to, RankedTensorType type);
  /// Collectives of that reshard.
  SmallVector<PlanStep, 3> getPlan(LayoutId from, LayoutId to,
                                   RankedTensorType type) const;
  const CostModel &getCosts() const { return costs; }
  const Mesh &getMesh() const { return mesh; }

private:
  const Mesh &mesh;
  FlatSymbolRefAttr meshRef;
  CostModel costs;
  std::vector<Sharding> shardings;
  std::vector<ShardingAttr> attrs;
  llvm::StringMap<LayoutId> ids;
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, double> seconds;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LAYOUTTABLE_H
