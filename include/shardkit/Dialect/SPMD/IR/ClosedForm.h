//===- ClosedForm.h - Collectives as nested loops ---------------*- C++ -*-===//
//
// A collective in closed form: for each rank and each element of its result, the rank and
// the element that it is read from (Layout/ReshardPlan.h, docs/reference/Manifest.md). Whatever
// lowers collectives reads this form.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_CLOSEDFORM_H
#define SHARDKIT_DIALECT_SPMD_IR_CLOSEDFORM_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// A collective over the ranks 0 to `devices` - 1.
///
///   mesh <"x"=2, "y"=4>, all_gather <[{"y"}, {}]> : tensor<2x3xf32> -> tensor<8x3xf32>
///   transfer.atoms  {4, srcIsRank, stride 1, dst stride 6}, {6, src stride 1, dst stride 1}
///   group           (stride 1, size 4)
///   getDeviceGroups [0, 1, 2, 3], [4, 5, 6, 7]
struct ClosedForm {
  CollectiveKind kind;
  std::optional<ReductionKind> reduction;
  /// Elements of the operand and of the result; 0 if a size is unknown.
  int64_t inElements, outElements;
  int64_t devices;
  /// The layouts on one order of the ranks, without the digits that they have in common;
  /// each in its own order where the orders below are set.
  Layout from, to;
  Transfer transfer;
  /// Digits of the ranks among which data move, or, of a reduction, that are combined.
  llvm::SmallVector<RankDigit, 2> group;
  /// If operand or result are on a mesh that lists the devices in another order: the rank of
  /// each device of that mesh.
  llvm::SmallVector<int64_t> sourceOrder, destinationOrder;

  bool isReordered() const { return !sourceOrder.empty() || !destinationOrder.empty(); }
  /// All digits in which ranks that exchange elements may differ, as few as possible. One of
  /// all ranks if an order is set.
  llvm::SmallVector<RankDigit, 2> getDigits() const;
  /// The ranks that exchange elements with each other, each group in rising order, by their
  /// first ranks.
  llvm::SmallVector<llvm::SmallVector<int64_t>> getDeviceGroups() const;
};

/// The closed form of a collective. Fails, with an error at the op, if its meshes list other
/// devices, or if it combines ranks that are not digits.
FailureOr<ClosedForm> getClosedForm(CollectiveOpInterface op, const MeshCache &meshes);

/// The ranks that differ in `digits` alone, of `devices`: each group in rising order, by their
/// first ranks.
///   (1, 4) of 8: [0, 1, 2, 3], [4, 5, 6, 7]     (4, 2) of 8: [0, 4], [1, 5], [2, 6], [3, 7]
llvm::SmallVector<llvm::SmallVector<int64_t>> getDeviceGroups(llvm::ArrayRef<RankDigit> digits, int64_t devices);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_CLOSEDFORM_H
