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
/// A dim whose size is a size argument s of the function (SymbolicSizes.h) has shards of
/// ceil(s / m) * (m / shards), where m is a multiple of the shards of all dims of size s: they are
/// chunks of a dim that is padded to a multiple of m. So a move between two such layouts is one of
/// equal shards. It is padded before it is sharded, and trimmed after it was gathered.
///
///   s = 5, m = 4: {"x"} of 2 has shards of 4, {"x", "y"} of 4 has shards of 2
///
/// If an op has no form on padded shards, s has to be a multiple of m: the caller sees to it.
///
/// Of a size that is computed otherwise:
///   * `tensor.dim` yields the global size: the local size times the number of shards.
///   * `tensor.empty` and others take the local size: the global size divided by the number of
///     shards. It must be a multiple of it. That is known if the size is the `tensor.dim` of an
///     equally sharded dim. Any other size is checked at run time, if that is allowed, and so is
///     a size that a reshard splits.
class DynamicSizes {
public:
  using GetSharding = llvm::function_ref<const Sharding *(Value)>;

  DynamicSizes(func::FuncOp func, FunctionMeshes &meshes, bool allowChecks);

  // Before any value gets its local type, first all values, then all ops:

  void addValue(Value value, const Sharding &sharding);
  void addOp(Operation *op, GetSharding getSharding);

  /// The number that each size argument has to be, or is padded to, a multiple of.
  ArrayRef<int64_t> getMultiples() const { return multiples; }
  bool isPadded(unsigned symbol) const { return allowsPadding[symbol] && multiples[symbol] > 1; }
  bool hasPadding() const;

  /// The size of dim `d` of a value if its shards may have padding, else null.
  AffineExpr getPaddedSize(Value value, unsigned d) const;
  /// The shape of a shard as a map of the size arguments, for a value whose global shape is `shape`.
  AffineMap getLocalShape(AffineMap shape, const Sharding &sharding) const;
  /// The size of a dim, and of one of its shards.
  Value createSize(OpBuilder &b, Location loc, AffineExpr size) const;
  Value createShardSize(OpBuilder &b, Location loc, AffineExpr size, int64_t shards) const;

  // While types change:

  /// Rewrites the sizes of `op`, before its results get local types. `getGlobal` is the type of
  /// a tensor in the global program. Emits an error if a check is needed but not allowed.
  LogicalResult makeLocal(Operation *op, llvm::function_ref<RankedTensorType(Value)> getGlobal,
                          llvm::function_ref<const Sharding &(Value)> getSharding);

  /// Checks, before a reshard, that the sizes are multiples of the shards of the new layout.
  LogicalResult checkMove(ReshardOp op, RankedTensorType type, const Sharding &from, const Sharding &to);
  /// The input of a reshard with the padding that its shards have, and its result without the padding of shards that
  /// were gathered.
  Value pad(OpBuilder &b, ReshardOp op, Value input, const Sharding &from, const Sharding &to) const;
  Value trimPadding(OpBuilder &b, ReshardOp op, Value result, const Sharding &from, const Sharding &to) const;
  /// `local` stands for `value` of the global program.
  void replace(Value value, Value local);

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
  AffineExpr getDim(Value value, unsigned d) const;
  /// The size of a shard of a known size in terms of the size arguments.
  AffineExpr getShardSize(AffineExpr size, int64_t shards) const;
  /// Whether a size is a multiple of `factor` for all sizes that the function is called with.
  bool isMultipleOf(AffineExpr size, int64_t factor) const;
  /// `size` has to be a multiple, if it is a size argument, because of what is at `loc`.
  void forbidPadding(AffineExpr size, Location loc, const Twine &reason);

  SymbolicSizes sizes;
  SmallVector<BlockArgument> arguments;
  SmallVector<int64_t, 2> multiples;
  SmallVector<bool, 2> allowsPadding;
  /// Values of unknown size: the sizes of their dims, null where they are not known either.
  llvm::DenseMap<Value, SmallVector<AffineExpr>> shapes;
  FunctionMeshes &meshes;
  bool allowChecks;
  llvm::DenseMap<Value, KnownSize> knownSizes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_DYNAMICSIZES_H
