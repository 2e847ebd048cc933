//===- ShardedSelections.h - Selections over shards -------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_SHARDEDSELECTIONS_H
#define SHARDKIT_PARTITION_SHARDEDSELECTIONS_H

#include "shardkit/Cost/LayoutTable.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// Selections (`isSelection`, such as argmax) with a sharded reduction loop. They are collected
/// before any type changes, and completed when all values are local.
///
///   argmax over 8 elements on 2 devices: each device selects a candidate of its 4 elements;
///   both candidates are gathered, and the same selection runs over the 2 candidates.
class ShardedSelections {
public:
  explicit ShardedSelections(LayoutTable &table) : table(table) {}

  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Gathers the candidate of each shard after each selection, and selects among them.
  LogicalResult complete();

private:
  struct ShardedSelection {
    linalg::LinalgOp op;
    DimEntries entries;
    /// Per result.
    SmallVector<RankedTensorType> globalTypes;
    std::vector<Sharding> shardings;
  };

  LayoutTable &table;
  std::vector<ShardedSelection> selections;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_SHARDEDSELECTIONS_H
