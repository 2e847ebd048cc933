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
  /// `shared`: prices that several functions share; must outlive it.
  explicit LayoutTable(FunctionMeshes &meshes, CostOptions options = {}, SharedMovePrices *shared = nullptr)
      : meshes(meshes), costs(meshes.getCostMesh(), options),
        prices((shared ? *shared : ownPrices).get(meshes.getCostMesh(), meshes.getMesh(), options)) {}
  LayoutTable(const LayoutTable &) = delete;

  /// The layout of an attribute for a value of `type`; the replicated one if the value has no
  /// elements.
  FailureOr<LayoutId> read(ShardingAttr attr, RankedTensorType type, EmitErrorFn emitError);

  /// Closes every dim and drops `replicated`, priorities and size-1 entries.
  LayoutId intern(Sharding sharding);
  LayoutId getReplicated(int64_t rank);
  /// The same layout without `unreduced`.
  LayoutId getComplete(LayoutId id);
  const Sharding &get(LayoutId id) const { return shardings.get(id); }
  bool isPartial(LayoutId id) const { return !get(id).unreduced.empty(); }
  ShardingAttr getAttr(LayoutId id);

  /// Predicted seconds of a reshard of a value of `type`. Making a complete value partial is
  /// free. A dynamic size counts as one element per device of the mesh.
  double getSeconds(LayoutId from, LayoutId to, RankedTensorType type);
  /// Predicted seconds of a halo exchange of a value in layout `id`.
  double getSeconds(LayoutId id, ArrayRef<UnevenDim> windows, RankedTensorType type);
  /// The move of a reshard, for remarks.
  struct Move {
    int64_t bytes = 0;       // sum of B in the cost formulas
    std::string kinds, axes; // steps that move data, comma-separated
  };
  Move getMove(LayoutId from, LayoutId to, RankedTensorType type);
  /// The collectives of a reshard, planned once, for the sizes of `withKnownSizes`. Valid until
  /// the next call.
  const ReshardPlan &getPlan(LayoutId from, LayoutId to, RankedTensorType type);
  const CostModel &getCosts() const { return costs; }
  const Mesh &getMesh() const { return meshes.getMesh(); }
  FunctionMeshes &getMeshes() { return meshes; }

private:
  FunctionMeshes &meshes;
  CostModel costs;
  SharedMovePrices ownPrices;
  ShardingTable shardings;
  std::vector<ShardingAttr> attrs;
  llvm::DenseMap<Attribute, LayoutId> known;
  struct Planned {
    ReshardPlan plan;
    int64_t elementBytes; // bytes that one element of the plan represents
  };
  /// The shape that a move is planned with, and the bytes that one element of it represents.
  std::pair<SmallVector<int64_t, 4>, int64_t> getPricedShape(LayoutId from, LayoutId to, RankedTensorType type) const;
  const Planned &getPlanned(LayoutId from, LayoutId to, RankedTensorType type);
  MovePrices &prices;
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, Planned> plans;
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, double> seconds;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_LAYOUTTABLE_H
