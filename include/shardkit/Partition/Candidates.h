//===- Candidates.h - Pick among what the shards have picked ----*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_CANDIDATES_H
#define SHARDKIT_PARTITION_CANDIDATES_H

#include "shardkit/Cost/LayoutTable.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// Selections (`isSelection`) whose reduced loop is cut: noted before any type
/// changes, completed when all are local.
class Candidates {
public:
  explicit Candidates(LayoutTable &table) : table(table) {}

  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// After each of them gathers what the shards have picked, which is one candidate
  /// each, and picks again.
  LogicalResult pick();

private:
  struct CutSelection {
    linalg::LinalgOp op;
    DimEntries entries;
    /// Per result.
    SmallVector<RankedTensorType> globalTypes;
    std::vector<Sharding> shardings;
  };

  LayoutTable &table;
  std::vector<CutSelection> selections;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_CANDIDATES_H
