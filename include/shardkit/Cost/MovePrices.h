//===- MovePrices.h - Prices of moves, planned once per kind ----*- C++ -*-===//
//
// The cost of a move depends on the axes of each dim and on the number of bytes, but not on
// the order of dims nor on the sizes themselves. So a move of a large value is planned on the
// smallest value with the same sharding.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COST_MOVEPRICES_H
#define SHARDKIT_COST_MOVEPRICES_H

#include "shardkit/Cost/CostModel.h"
#include "shardkit/Layout/KeyedTable.h"

namespace mlir::spmd {

class MovePrices {
public:
  /// Both must outlive it. Layouts are shardings of `views`.
  MovePrices(const CostModel &costs, const Mesh &views) : costs(costs), views(views) {}

  /// Predicted seconds of the plan that `CostModel::planReshard` makes from one closed
  /// sharding of a value of `shape` (static) to another.
  double getSeconds(const Sharding &from, const Sharding &to, llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

private:
  /// Plans of one move by bytes per element. The cost of a candidate of the planner is linear
  /// in the bytes: a plan that is cheapest at two sizes is cheapest between them.
  struct Move {
    Layout from, to;
    std::vector<ReshardPlan> plans;
    std::vector<std::pair<int64_t, unsigned>> planned; // bytes and plan, ascending
  };
  const ReshardPlan &getPlan(Move &move, int64_t elementBytes);

  const CostModel &costs;
  const Mesh &views;
  KeyedTable<Move> moves;
};

/// The prices of the moves of several functions: those that agree on meshes and options share one table.
class SharedMovePrices {
public:
  /// Prices of moves between shardings of `views`, with the link costs of `costMesh`. Valid as long as this.
  MovePrices &get(const Mesh &costMesh, const Mesh &views, const CostOptions &options);

private:
  struct Table {
    Table(const Mesh &costMesh, const Mesh &views, const CostOptions &options)
        : costMesh(costMesh), views(views), costs(this->costMesh, options), prices(costs, this->views) {}
    Mesh costMesh, views;
    CostModel costs;
    MovePrices prices;
  };
  KeyedTable<Table> tables;
};

} // namespace mlir::spmd

#endif // SHARDKIT_COST_MOVEPRICES_H
