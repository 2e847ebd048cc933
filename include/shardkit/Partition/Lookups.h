//===- Lookups.h - Accesses at data-dependent indices -----------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_LOOKUPS_H
#define SHARDKIT_PARTITION_LOOKUPS_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Ops that access a sharded dim at data-dependent indices. They are collected before any type
/// changes, and rewritten when all values are local.
///
///   rows of %table (8 rows, {"x"=2}) at %i: each device reads row %i - 4 * x if it owns it,
///   else 0; the sum over "x" is the result.
class Lookups {
public:
  explicit Lookups(FunctionMeshes &meshes) : meshes(meshes) {}

  /// Collects an op of the global program; `getSharding` returns null for a value without a
  /// sharding.
  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Makes the indices in bodies local, in place.
  void makeBodiesLocal();
  /// Replaces gathers and scatters by local loops.
  void expandOps();

private:
  struct ShardedDim {
    int64_t size; ///< in the global program
    DimEntries entries;
    /// The dim of the table (gather, scatter, slice), and the indices into it (bodies).
    unsigned dim;
    SmallVector<OpOperand *, 1> uses;
  };
  struct ShardedOp {
    Operation *op;
    SmallVector<ShardedDim, 1> dims;
  };

  FunctionMeshes &meshes;
  std::vector<ShardedOp> bodies, ops;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_LOOKUPS_H
