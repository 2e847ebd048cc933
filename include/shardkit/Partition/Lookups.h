//===- Lookups.h - Places that other shards own -----------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_LOOKUPS_H
#define SHARDKIT_PARTITION_LOOKUPS_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// The cut dims that an op addresses by data: what is noted before any type changes
/// is built when all are local.
class Lookups {
public:
  explicit Lookups(FunctionMeshes &meshes) : meshes(meshes) {}

  /// Notes what an op of the global program addresses; `getSharding` is null for
  /// what has no layout.
  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Makes the places that bodies look up local. Ops stay.
  void makeBodiesLocal();
  /// Replaces gathers and scatters by local loops.
  void expandOps();

private:
  struct CutDim {
    int64_t size; ///< in the global program
    DimEntries entries;
    /// The dim of the table (gather, scatter), or what addresses it (bodies).
    unsigned dim;
    SmallVector<OpOperand *, 1> uses;
  };
  struct CutOp {
    Operation *op;
    SmallVector<CutDim, 1> dims;
  };

  FunctionMeshes &meshes;
  std::vector<CutOp> bodies, ops;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_LOOKUPS_H
