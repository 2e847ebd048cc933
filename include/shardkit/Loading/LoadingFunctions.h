//===- LoadingFunctions.h - What a loading function does --------*- C++ -*-===//
//
// Three ways to make an argument from stored tensors, from the cheapest to load by:
// elements that are copied (a device reads its own), host functions that are called
// by name, and anything else, which is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LOADING_LOADINGFUNCTIONS_H
#define SHARDKIT_LOADING_LOADINGFUNCTIONS_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/Copies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The result of `load` as copies of elements of its arguments; nothing where it
/// computes, or where no small number of boxes says what it moves.
std::optional<Copies> getCopies(func::FuncOp load);

/// A call `f(value, extras..., output)` of a host function.
struct HostStep {
  func::CallOp call;
  SmallVector<Attribute> extras; ///< IntegerAttr, FloatAttr or StringAttr.
  RankedTensorType type;         ///< Of the output.
};
/// The calls of `load` in order; none if it calls no function without a body. An
/// error where it does anything else beside, or does not pass its one argument from
/// call to call to the end.
FailureOr<SmallVector<HostStep>> getHostSteps(func::FuncOp load);
/// Checks the output of the last step for an argument of type `local` on each
/// device in `layout`: a slice for each device, or for each distinct shard.
LogicalResult verifyHostSteps(ArrayRef<HostStep> steps, RankedTensorType local, const Layout &layout, int64_t devices,
                              const Twine &argument);

/// What devices hold of an argument of a partitioned function: of one value, or of
/// parts of one (spmd.segment, spmd.segments_of), side by side along a dim.
struct ArgumentLayout {
  struct Part {
    RankedTensorType type; ///< Of the part on all devices.
    int64_t offset;        ///< In the whole, along the dim.
    Layout layout;
    ShardingAttr sharding; ///< Null: whole on every device.
  };
  const Mesh *mesh = nullptr; ///< Null if there is none.
  int64_t dim = -1;           ///< Of parts; else -1.
  RankedTensorType whole;     ///< What parts are parts of, the argument itself where there are none.
  SmallVector<Part, 1> parts; ///< At least one.

  /// True if every device has all of the argument.
  bool isWhole() const;
  /// Equal where devices hold the same.
  std::string toString() const;
  /// What devices copy where the whole is `copies`; nothing where that has no closed form.
  std::optional<std::vector<CopyPiece>> cut(const Copies &copies) const;
};
FailureOr<ArgumentLayout> getArgumentLayout(func::FuncOp func, unsigned argument, const MeshCache &meshes);

/// An error where the layout of the result of `load` parts what is computed from
/// one stored element: places of a word of several small numbers, or of a group
/// with one scale. `weight` names the stored tensors.
LogicalResult verifyPackedElements(func::FuncOp load, const ArgumentLayout &layout, Attribute weight, Location loc,
                                   const Twine &argument);

} // namespace mlir::spmd

#endif // SHARDKIT_LOADING_LOADINGFUNCTIONS_H
