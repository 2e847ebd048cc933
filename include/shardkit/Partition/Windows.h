//===- Windows.h - Windows of sharded dims ----------------------*- C++ -*-===//
//
// A shard of a convolution, a slice, a padded tensor or a concatenation reads elements of its
// operand that other shards own. Each such operand becomes a halo exchange of the window that
// the shard reads, and the op computes on it.
//
//   convolution with a kernel of 3 over a dim of 8, {"x"=2}: the device x=0 reads elements 0
//   to 4 (of a padded input), the device x=1 elements 3 to 7; each receives one element.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PARTITION_WINDOWS_H
#define SHARDKIT_PARTITION_WINDOWS_H

#include "shardkit/Cost/ComputeChoice.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {

class HaloExchangeOp;

/// Shardings and global types of values.
struct ValueInfo {
  llvm::function_ref<const Sharding &(Value)> getSharding;
  llvm::function_ref<RankedTensorType(Value)> getGlobalType;
};

class Windows {
public:
  explicit Windows(FunctionMeshes &meshes) : meshes(meshes) {}

  /// Collects an op of the global program that reads windows of sharded dims; `getSharding`
  /// returns null for a value without a sharding.
  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  bool contains(Operation *op) const { return plans.contains(op); }
  /// Makes a collected op local, with operands that are local already. Returns the value that
  /// replaces its result, or null if the op stays and the caller changes its types.
  Value lower(Operation *op, const ValueInfo &values);
  /// Joins overlapping windows of one value, so that no element is received twice, and erases
  /// dead ops. Called when all values are local.
  void finish();

private:
  /// The rule of an op, and the axes that shard its factors.
  struct Plan {
    ShardingRule rule;
    WindowForm form;
    FactorAxes axes;
    /// Reads of captured tensors, with the operand numbers of the rule.
    SmallVector<std::pair<tensor::ExtractOp, unsigned>, 0> reads;
    /// Dims of the full tensor that a slice drops: not known from local sizes.
    llvm::SmallBitVector dropped;
  };
  /// A window of one dim.
  struct ShardedWindow {
    unsigned dim;
    DimEntries entries;
    Window window;
    Value offset = Value(); ///< Known at run time, added to the offset of the window.
  };
  /// The operands of a padding op, by its local result.
  struct Padded {
    Value source;
    SmallVector<ShardedWindow, 2> windows;
    Value padding;
    SmallVector<OpFoldResult> low, high;     // constant for dims with windows
    RankedTensorType sourceType, resultType; // in the global program
    Sharding sourceSharding;
  };
  /// The operands of an insertion into zeros, by its local result.
  struct Inserted {
    Value source, zero;
    SmallVector<ShardedWindow, 2> windows;
    SmallVector<int64_t> offsets, strides; // per dim, in the global program
    RankedTensorType sourceType;           // in the global program
    Sharding sourceSharding;
  };

  SmallVector<ShardedWindow, 2> getShardedWindows(const Plan &plan, unsigned t) const;
  /// The local value of these windows; dims without a window are those of `value`.
  Value createFetch(OpBuilder &b, Location loc, Value value, const Sharding &sharding, RankedTensorType globalType,
                    ArrayRef<ShardedWindow> windows);
  /// Whether the window of each device is its shard of the value: nothing is received.
  static bool isShard(const ShardedWindow &window, Value value, const Sharding &sharding, RankedTensorType globalType);
  /// The windows by a halo exchange.
  Value createExchange(OpBuilder &b, Location loc, Value value, const Sharding &sharding, RankedTensorType globalType,
                       ArrayRef<ShardedWindow> windows);
  /// The same of a value that may be a padded tensor or an insertion: windows of its source, padded or inserted.
  Value createWindow(OpBuilder &b, Location loc, Value value, const Sharding &sharding, RankedTensorType globalType,
                     ArrayRef<ShardedWindow> windows);
  Value createPadded(OpBuilder &b, Location loc, const Padded &padded, ArrayRef<ShardedWindow> windows);
  /// Windows of an insertion: those of its source, inserted into zeros. Null where the stride does not divide the
  /// steps.
  Value createInserted(OpBuilder &b, Location loc, Value result, const Inserted &inserted,
                       ArrayRef<ShardedWindow> asked);
  /// A value with `padding` in the lanes beyond the dim.
  Value createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<ShardedWindow> windows,
                     RankedTensorType globalType, Value padding);
  Value getCoordinate(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries);
  void lowerReads(Operation *op, const Plan &plan, const ValueInfo &values);
  /// A slice takes what it needs of windows. Returns a view of them where a slice at a run-time index is all of them.
  Value lowerSlice(tensor::ExtractSliceOp op, const Plan &plan, const ValueInfo &values);
  Value lowerPad(Operation *op, const Plan &plan, const ValueInfo &values);
  Value lowerInsert(tensor::InsertSliceOp op, const Plan &plan, const ValueInfo &values);
  /// Remembers an insertion into zeros with windows in the result, if its offsets and sizes are constant.
  void recordInserted(tensor::InsertSliceOp op, Value result, const Plan &plan, const ValueInfo &values);
  Value lowerConcat(Operation *op, const Plan &plan, const ValueInfo &values);
  void lowerInPlace(Operation *op, const Plan &plan, unsigned t, Value value, RankedTensorType type,
                    ArrayRef<ShardedWindow> windows);
  void joinHalos();

  FunctionMeshes &meshes;
  llvm::DenseMap<Operation *, Plan> plans;
  llvm::DenseMap<Value, Padded> paddedValues;
  llvm::DenseMap<Value, Inserted> insertedValues;
  /// In the order of their creation.
  SmallVector<HaloExchangeOp> halos;
  SmallVector<Operation *> made;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_WINDOWS_H
