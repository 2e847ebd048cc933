//===- ShardedSelections.h - Selections over shards -------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_SHARDEDSELECTIONS_H
#define SHARDKIT_PARTITION_SHARDEDSELECTIONS_H

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// Selections with a sharded factor: reductions (`isSelection`, such as argmax) and sorts of
/// which few elements are kept (top-k). They are collected before any type changes, and
/// completed when all values are local.
///
///   argmax over 8 elements on 2 devices: each device selects a candidate of its 4 elements;
///   both candidates are gathered, and the same selection runs over the 2 candidates.
///   The first 2 of 8 elements on 2 devices: each device keeps the first 2 of its 4 elements,
///   4 candidates are gathered, and the same sort keeps the first 2 of these.
class ShardedSelections {
public:
  explicit ShardedSelections(LayoutTable &table) : table(table) {}

  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Gathers the candidates of each shard after each selection, and selects among them.
  LogicalResult complete();

private:
  struct ShardedSelection {
    Operation *op;
    /// The size of the selection factor, and its axes.
    int64_t size;
    DimEntries entries;
    /// Per result.
    SmallVector<RankedTensorType> globalTypes;
    std::vector<Sharding> shardings;
  };

  LogicalResult complete(linalg::LinalgOp op, const ShardedSelection &sharded);
  LogicalResult complete(SortOp op, const ShardedSelection &sharded);
  /// Gathers along `dim` the local candidates of all shards; `sharding` is that of the global
  /// value apart from this dim.
  FailureOr<Value> gather(OpBuilder &b, Value candidates, RankedTensorType globalType, Sharding sharding, unsigned dim,
                          const DimEntries &entries);
  /// Per element of the local operands whether it is not padding along the sorted dim.
  Value createIsInside(OpBuilder &b, SortOp op, const ShardedSelection &sharded);

  LayoutTable &table;
  std::vector<ShardedSelection> selections;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_SHARDEDSELECTIONS_H
