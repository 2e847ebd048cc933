//===- LoadingFunctions.h - Analysis of loading functions -------*- C++ -*-===//
//
// A loading function computes an argument from stored tensors. There are four kinds,
// the cheapest first:
//
// 1. It copies elements: each device reads the elements of its shard.
// 2. It computes each element by itself: each device reads the elements that its shard
//    depends on, and a compiled function computes the shard.
// 3. It calls host functions: the loader calls them by name.
// 4. Any other function is compiled, and reads its stored tensors in full.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LOADING_LOADINGFUNCTIONS_H
#define SHARDKIT_LOADING_LOADINGFUNCTIONS_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/Copies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir::spmd {

/// The result of `load` as copies of elements of its arguments; std::nullopt if it
/// computes, or if a small number of boxes cannot describe the copies.
std::optional<Copies> getCopies(func::FuncOp load);

/// A call `f(value, extras..., output)` of a host function.
struct HostStep {
  func::CallOp call;
  SmallVector<Attribute> extras; ///< IntegerAttr, FloatAttr or StringAttr.
  RankedTensorType type;         ///< The type of the output.
};
/// The calls of `load` in order; empty if it calls no function without a body. An
/// error if it also has other ops, or if it is not a chain of calls from its one
/// argument to its result.
FailureOr<SmallVector<HostStep>> getHostSteps(func::FuncOp load);
/// Checks the output of the last step for an argument of type `local` on each
/// device in `layout`: a slice for each device, or for each distinct shard.
LogicalResult verifyHostSteps(ArrayRef<HostStep> steps, RankedTensorType local, const Layout &layout, int64_t devices,
                              const Twine &argument);

/// The layout of an argument of a partitioned function. The argument is a value, or the
/// concatenation of segments of one along a dim (spmd.segment, spmd.segments_of).
///
/// For example, wq and wk of 8x4 elements, stored in one tensor of 8x12 with dim 1
/// segmented, are `fullType` 8x12, `dim` 1, and segments of 8x4 at offsets 0 and 4. A
/// value without segments has one segment at offset 0.
struct ArgumentLayout {
  struct Segment {
    RankedTensorType type;  ///< The global type of the segment.
    RankedTensorType slice; ///< That of the slice of the full tensor; `type` may have its units in a dim of their own.
    int64_t offset;         ///< Its offset in the full tensor, along the dim.
    Layout layout;
    ShardingAttr sharding;                             ///< Null: replicated on every device.
    SmallVector<ReassociationIndices> unitGroups = {}; ///< From `slice` to `type` if they differ.
  };
  const Mesh *mesh = nullptr;       ///< Null if there is none.
  int64_t dim = -1;                 ///< The segmented dim, or -1.
  RankedTensorType fullType;        ///< The type of the tensor that is segmented.
  SmallVector<Segment, 1> segments; ///< At least one.

  /// True if every device has all of the argument.
  bool isReplicated() const;
  /// Equal for equal contents of all devices.
  std::string toString() const;
  /// The copies of each device, if `copies` are those of the full tensor; std::nullopt if
  /// they have no closed form. With `byDevice` pieces of single shards replace that.
  std::optional<std::vector<CopyPiece>> shard(const Copies &copies, bool byDevice = false) const;
  /// The shape of the argument on a device.
  SmallVector<int64_t, 4> localShape() const;
};
FailureOr<ArgumentLayout> getArgumentLayout(func::FuncOp func, unsigned argument, const MeshCache &meshes);

/// A loading function that computes each element of its result by itself, for a layout.
/// The loader fills operands with copies of stored elements, and a function of these
/// computes the shard. No collective is needed, and no element of another shard.
///
/// For example, `extf(%w) * %s` of f8 elements with one scale for each row, sharded by 4
/// devices on dim 0 of 8x16, has operands 2x16xf8 and 2xf32.
class ElementwiseLoad {
public:
  struct Operand {
    Type type;                     ///< The element type.
    SmallVector<int64_t, 4> shape; ///< Without dims along which all elements are equal.
    std::vector<CopyPiece> pieces; ///< From stored tensors, or numbers (kNumbersSource).
  };
  /// std::nullopt if the function does not compute its elements by themselves.
  static std::optional<ElementwiseLoad> get(func::FuncOp load, const ArgumentLayout &layout);

  ArrayRef<Operand> getOperands() const { return operands; }
  /// Creates the function from the operands to the shard.
  func::FuncOp build(OpBuilder &b, Location loc, StringRef name) const;

private:
  /// Dims of the shard that operands lack become dims of their own: `sizes` are those of
  /// dim d, major to minor.
  struct LoopDims {
    SmallVector<int64_t, 2> sizes;
  };
  std::shared_ptr<const struct ElementNode> root;
  SmallVector<Operand> operands;
  llvm::DenseMap<const struct ElementNode *, unsigned> operandOf; ///< The leaves.
  SmallVector<LoopDims> dims;
  SmallVector<SmallVector<unsigned>> missing; ///< Per operand and dim: the number of minor loop dims that it lacks.
  RankedTensorType local;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LOADING_LOADINGFUNCTIONS_H
