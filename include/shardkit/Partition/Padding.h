//===- Padding.h - Keep padding lanes out of results ------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_PADDING_H
#define SHARDKIT_PARTITION_PADDING_H

#include "shardkit/Dialect/SPMD/IR/FunctionMeshes.h"
#include "shardkit/Options.h"
#include "shardkit/Partition/DynamicSizes.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// A dim of a value, or a loop of an op, that is sharded unevenly.
struct UnevenLoop {
  unsigned position;
  int64_t size; ///< in the global program
  DimEntries entries;
  AffineExpr dynamicSize = {}; ///< If the size is dynamic (DynamicSizes.h).
  bool operator==(const UnevenLoop &o) const {
    return position == o.position && size == o.size && entries == o.entries && dynamicSize == o.dynamicSize;
  }
};

/// The unevenly sharded dims of a value of `shape`.
SmallVector<UnevenLoop, 1> getUnevenDims(const Sharding &sharding, ArrayRef<int64_t> shape);

/// The padding of one function. Needs of ops are collected before any type changes; masks and
/// guards are created when all values are local.
///
///   sum over a dim of 5 on 4 devices (chunks of 2): lanes 5 to 7 are masked by 0.
class Padding {
public:
  Padding(FunctionMeshes &meshes, const DynamicSizes &dynamicSizes) : meshes(meshes), dynamicSizes(dynamicSizes) {}

  /// Collects the needs of an op of the global program; `getSharding` returns null for a value
  /// without a sharding. Emits an error for an op that has no form on padded shards.
  LogicalResult collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  /// Fills the padding lanes of a local value for all its users (tests).
  void fill(Value value, ArrayRef<UnevenLoop> dims, PaddingFill with);
  /// Masks operands and guards bodies. Ops may be replaced.
  void apply();

private:
  struct Mask {
    Operation *op;
    unsigned operand;
    TypedAttr value;
    SmallVector<UnevenLoop, 1> dims;
  };
  struct Guard {
    Operation *op;
    PaddingNeeds::Body body;
    SmallVector<UnevenLoop, 1> loops;
  };
  /// The number of elements of the chunk of this device that are not padding; not positive if
  /// there are none. Created at the insertion point.
  Value getCount(OpBuilder &b, Location loc, const UnevenLoop &loop);
  Value createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<UnevenLoop> dims, TypedAttr with);
  /// The spmd.fragment that an op comes after; null before the first one, and in functions without fragments.
  Operation *getFragment(Operation *op);
  /// Sets the insertion point for an op that replaces `value` for all readers in `fragment`. That is after the value,
  /// or at the start of the fragment if another one computes it: a sum is complete only there.
  void setInsertionPoint(OpBuilder &b, Value value, Operation *fragment);
  void guard(const Guard &guard);

  /// The size of a dynamic factor whose shards may have padding, else null.
  AffineExpr getPaddedSize(const ShardingRule &rule, int32_t f) const;

  FunctionMeshes &meshes;
  const DynamicSizes &dynamicSizes;
  SmallVector<Operation *> fragments;
  std::vector<Mask> masks;
  std::vector<Guard> guards;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_PADDING_H
