//===- DynamicSizes.h - Sizes that are known at run time --------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_DYNAMICSIZES_H
#define SHARDKIT_PARTITION_DYNAMICSIZES_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Dims of dynamic size that are cut evenly: all shards of such a dim have the same
/// size, so the global one is a multiple of it. What an op asks of a size is global
/// (`tensor.dim`), what an op is told of one is local (`tensor.empty`,
/// `tensor.splat`). A size that is told is known to be a multiple if it was asked of
/// a dim that is cut alike; any other is checked at run time, where that is allowed,
/// and so is a size that is cut by a move.
class DynamicSizes {
public:
  DynamicSizes(const FunctionMeshes &meshes, bool allowChecks) : meshes(meshes), allowChecks(allowChecks) {}

  /// Before the results of `op` get local types. `getGlobal` is the type of a tensor
  /// in the global program. An error where a check would be needed.
  LogicalResult makeLocal(Operation *op, llvm::function_ref<RankedTensorType(Value)> getGlobal,
                          llvm::function_ref<const Sharding &(Value)> getSharding);

  /// Before the local value of `input` is moved: what another layout cuts must be a
  /// multiple of all that is cut.
  LogicalResult checkMove(ReshardOp op, RankedTensorType type, const Sharding &from, const Sharding &to);

private:
  /// A global size that was asked: the local one, and how the dim is cut.
  struct Asked {
    Value local;
    DimEntries entries;
  };
  /// That `size` is a multiple of `factor`, where the dim is cut by `entries`.
  LogicalResult check(Operation *op, Value size, int64_t factor, unsigned d, RankedTensorType type,
                      ArrayRef<DimEntry> entries);
  FailureOr<Value> getLocal(Operation *op, Value size, unsigned d, RankedTensorType type, ArrayRef<DimEntry> entries);

  const FunctionMeshes &meshes;
  bool allowChecks;
  llvm::DenseMap<Value, Asked> asked;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_DYNAMICSIZES_H
