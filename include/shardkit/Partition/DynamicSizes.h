//===- DynamicSizes.h - Global and local dynamic sizes ----------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_DYNAMICSIZES_H
#define SHARDKIT_PARTITION_DYNAMICSIZES_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Sharded dims of dynamic size. All shards of such a dim have the same size.
///
///   * A size argument of the function is a multiple of all the shards of dims that have its size
///     (getMultiples): the caller sees to it. What follows from it needs no check.
///   * `tensor.dim` yields the global size: the local size times the number of shards.
///   * `tensor.empty` and `tensor.splat` take the local size: the global size divided by the
///     number of shards. It must be a multiple of it. That is known if the size is the
///     `tensor.dim` of an equally sharded dim. Any other size is checked at run time, if that
///     is allowed, and so is a size that a reshard splits.
class DynamicSizes {
public:
  DynamicSizes(func::FuncOp func, const FunctionMeshes &meshes, bool allowChecks)
      : sizes(func), multiples(sizes.getNumSymbols(), 1), meshes(meshes), allowChecks(allowChecks) {}

  /// Makes the size arguments multiples of the shards of a value of the global program. Before any value gets its local
  /// type, and after all values were added: getMultiples.
  void addValue(Value value, const Sharding &sharding);
  /// What each size argument is a multiple of.
  ArrayRef<int64_t> getMultiples() const { return multiples; }
  /// The shape of a shard as a map of the size arguments, for a value whose global shape is `shape`.
  AffineMap getLocalShape(AffineMap shape, const Sharding &sharding) const;

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

  /// Whether a size is a multiple of `factor` for all sizes that the function is called with.
  bool isMultipleOf(AffineExpr size, int64_t factor) const;

  SymbolicSizes sizes;
  SmallVector<int64_t, 2> multiples;
  const FunctionMeshes &meshes;
  bool allowChecks;
  llvm::DenseMap<Value, KnownSize> knownSizes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_DYNAMICSIZES_H
