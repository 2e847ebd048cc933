//===- Windows.h - Ops that read cut dims in windows ------------*- C++ -*-===//
//
// A shard of a convolution, a slice, a padded or a joined tensor reads places of
// its operand that other shards hold. Each such operand becomes a halo exchange of
// the window that the shard reads, and the op computes on that.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PARTITION_WINDOWS_H
#define SHARDKIT_PARTITION_WINDOWS_H

#include "shardkit/Cost/ComputeChoice.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {

class HaloExchangeOp;

/// What partition knows of values.
struct ValueInfo {
  llvm::function_ref<const Sharding &(Value)> getSharding;
  llvm::function_ref<RankedTensorType(Value)> getGlobalType;
};

class Windows {
public:
  explicit Windows(FunctionMeshes &meshes) : meshes(meshes) {}

  /// Notes how an op of the global program is cut, if it reads windows;
  /// `getSharding` is null for what has no layout.
  void collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding);
  bool contains(Operation *op) const { return plans.contains(op); }
  /// Makes an op that was noted local; its operands are. Returns the value that
  /// stands for its result, or null where the op stays, to be retyped.
  Value lower(Operation *op, const ValueInfo &values);
  /// Joins windows of one value that overlap, so that no element comes twice, and
  /// erases what nobody reads. Call it when all values are local.
  void finish();

private:
  /// How an op is cut.
  struct Plan {
    ShardingRule rule;
    FactorAxes axes;
    /// Reads of tensors that the body captures, with their operands of the rule.
    SmallVector<std::pair<tensor::ExtractOp, unsigned>, 0> reads;
    /// Dims of the destination that an inserted slice lacks: local sizes do not say.
    llvm::SmallBitVector dropped;
  };
  /// A window of one dim.
  struct CutWindow {
    unsigned dim;
    DimEntries entries;
    Window window;
  };
  /// What a local value is, where it is a padded tensor.
  struct Padded {
    Value source;
    SmallVector<CutWindow, 2> windows;
    Value padding;
    SmallVector<OpFoldResult> low, high;     // of dims with windows constant
    RankedTensorType sourceType, resultType; // in the global program
    Sharding sourceSharding;
  };

  SmallVector<CutWindow, 2> getCutWindows(const Plan &plan, unsigned t) const;
  /// The local value of these windows; dims without one are as `value` has them.
  Value createFetch(OpBuilder &b, Location loc, Value value, const Sharding &sharding, RankedTensorType globalType,
                    ArrayRef<CutWindow> windows);
  /// The same of a value that may be a padded tensor: that of its source, padded.
  Value createWindow(OpBuilder &b, Location loc, Value value, const Sharding &sharding, RankedTensorType globalType,
                     ArrayRef<CutWindow> windows);
  Value createPadded(OpBuilder &b, Location loc, const Padded &padded, ArrayRef<CutWindow> windows);
  /// A fetched value with `padding` in the lanes that lie beyond the dim.
  Value createMasked(OpBuilder &b, Location loc, Value value, ArrayRef<CutWindow> windows, RankedTensorType globalType,
                     Value padding);
  Value getCoordinate(OpBuilder &b, Location loc, ArrayRef<DimEntry> entries);
  void lowerReads(Operation *op, const Plan &plan, const ValueInfo &values);
  Value lowerPad(Operation *op, const Plan &plan, const ValueInfo &values);
  Value lowerInsert(tensor::InsertSliceOp op, const Plan &plan, const ValueInfo &values);
  Value lowerConcat(Operation *op, unsigned dim, const Plan &plan, const ValueInfo &values);
  void lowerOwnWindows(Operation *op, const Plan &plan, Value value, RankedTensorType type,
                       ArrayRef<CutWindow> windows);
  void joinHalos();

  FunctionMeshes &meshes;
  llvm::DenseMap<Operation *, Plan> plans;
  llvm::DenseMap<Value, Padded> paddedValues;
  /// In the order of their making.
  SmallVector<HaloExchangeOp> halos;
  SmallVector<Operation *> made;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_WINDOWS_H
