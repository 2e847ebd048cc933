//===- LayoutTable.h - Interned shardings of a function ---------*- C++ -*-===//
//
// Closed shardings as small integers: equal numbers are equal layouts. Prices
// of reshards are computed once per pair.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_LAYOUTTABLE_H
#define SHARDKIT_COST_LAYOUTTABLE_H

#include "shardkit/Cost/MovePrices.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Layout/ShardingTable.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// The number of a closed sharding in a LayoutTable.
using LayoutId = ShardingId;

class LayoutTable {
public:
  explicit LayoutTable(FunctionMeshes &meshes, CostOptions options = {})
      : meshes(meshes), costs(meshes.getCostMesh(), std::move(options)), prices(costs, meshes.getMesh()) {}
  LayoutTable(const LayoutTable &) = delete;

  /// The layout that an attribute gives a value of `type`; a value without
  /// elements has the replicated one.
  FailureOr<LayoutId> read(ShardingAttr attr, RankedTensorType type, EmitErrorFn emitError);

  /// Closes every dim and drops `replicated`, priorities and size-1 entries.
  LayoutId intern(Sharding sharding);
  LayoutId getReplicated(int64_t rank);
  /// The same digits, complete.
  LayoutId getComplete(LayoutId id);
  const Sharding &get(LayoutId id) const { return shardings.get(id); }
  bool isPartial(LayoutId id) const { return !get(id).unreduced.empty(); }
  ShardingAttr getAttr(LayoutId id);

  /// Predicted seconds from one layout to another of a value of `type`. A
  /// complete value that becomes partial costs nothing by itself. A size that is
  /// not known counts as one place for each device of the mesh.
  double getSeconds(LayoutId from, LayoutId to, RankedTensorType type);
  /// Predicted seconds of a halo exchange of a value in layout `id`.
  double getSeconds(LayoutId id, ArrayRef<UnevenDim> windows, RankedTensorType type);
  /// What that reshard moves, as remarks say it.
  struct Move {
    int64_t bytes = 0;       // the sum of the B of the cost formulas
    std::string kinds, axes; // of the steps that move data, by commas
  };
  Move getMove(LayoutId from, LayoutId to, RankedTensorType type);
  /// Collectives of that reshard, planned once, of the value as `withKnownSizes`
  /// makes it. Valid until the next call.
  const ReshardPlan &getPlan(LayoutId from, LayoutId to, RankedTensorType type);
  const CostModel &getCosts() const { return costs; }
  const Mesh &getMesh() const { return meshes.getMesh(); }
  FunctionMeshes &getMeshes() { return meshes; }

private:
  FunctionMeshes &meshes;
  CostModel costs;
  ShardingTable shardings;
  std::vector<ShardingAttr> attrs;
  llvm::DenseMap<Attribute, LayoutId> known;
  struct Planned {
    ReshardPlan plan;
    int64_t elementBytes; // of all that one element of the plan stands for
  };
  /// The shape that a move is planned with, and what an element of it stands for.
  std::pair<SmallVector<int64_t, 4>, int64_t> getPricedShape(LayoutId from, LayoutId to, RankedTensorType type) const;
  const Planned &getPlanned(LayoutId from, LayoutId to, RankedTensorType type);
  MovePrices prices;
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, Planned> plans;
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, double> seconds;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LAYOUTTABLE_H
