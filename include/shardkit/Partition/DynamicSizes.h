//===- DynamicSizes.h - Global and local dynamic sizes ----------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_DYNAMICSIZES_H
#define SHARDKIT_PARTITION_DYNAMICSIZES_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Sharded dims of dynamic size. All shards of such a dim have the same size.
///
///   * `tensor.dim` yields the global size: the local size times the number of shards.
///   * `tensor.empty` and `tensor.splat` take the local size: the global size divided by the
///     number of shards. It must be a multiple of it. That is known if the size is the
///     `tensor.dim` of an equally sharded dim. Any other size is checked at run time, if that
///     is allowed, and so is a size that a reshard splits.
class DynamicSizes {
public:
  DynamicSizes(const FunctionMeshes &meshes, bool allowChecks) : meshes(meshes), allowChecks(allowChecks) {}

  /// Rewrites the sizes of `op`, before its results get local types. `getGlobal` is the type of
  /// a tensor in the global program. Emits an error if a check is needed but not allowed.
  LogicalResult makeLocal(Operation *op, llvm::function_ref<RankedTensorType(Value)> getGlobal,
                          llvm::function_ref<const Sharding &(Value)> getSharding);

  /// Checks, before a reshard, that the sizes are multiples of the shards of the new layout.
  LogicalResult checkMove(ReshardOp op, RankedTensorType type, const Sharding &from, const Sharding &to);

private:
  /// The result of a `tensor.dim`: the local size, and the entries of the dim.
  struct KnownSize {
    Value local;
    DimEntries entries;
  };
  /// Checks that `size` is a multiple of `factor`, for a dim that is sharded by `entries`.
  LogicalResult check(Operation *op, Value size, int64_t factor, unsigned d, RankedTensorType type,
                      ArrayRef<DimEntry> entries);
  FailureOr<Value> getLocal(Operation *op, Value size, unsigned d, RankedTensorType type, ArrayRef<DimEntry> entries);

  const FunctionMeshes &meshes;
  bool allowChecks;
  llvm::DenseMap<Value, KnownSize> knownSizes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_DYNAMICSIZES_H
