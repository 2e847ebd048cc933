//===- RowMasks.h - Masks of rows through ops that move them ----*- C++ -*-===//
//
// A mask of the rows of one value becomes one of the value that it is made of, or that is made of it:
//
//   %r = collective ins(%x : tensor<?x8xf32>) -> tensor<?x2x8xf32>   mask tensor<?x2xi1> of dims 0 and 1
//   %t = transpose %r [1, 0, 2]                                      mask tensor<2x?xi1>
//   %c = collapse_shape %t [[0, 1], [2]]                             mask tensor<?xi1> of dim 0
//   %s = extract_slice %c[0, 0] [%n, 8] [1, 1]                       mask of the first %n rows
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_ROWMASKS_H
#define SHARDKIT_LIB_TARGET_COMMON_ROWMASKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd::target {

/// A tensor of i1, whose dims are these of another value. Functions that are not given a builder leave `value` as it
/// is.
struct RowMask {
  Value value;
  SmallVector<int64_t> dims; ///< Ascending.

  /// Whether all dims of `of` before the last one of the mask are of the mask, or have size 1: its elements are equal
  /// parts of `of`, in order.
  bool isLeadingOf(Value of) const;
};

/// All false.
Value makeEmptyMask(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes);
/// Whether an element of a mask counts: it is true, or not zero.
Value emitIsSet(OpBuilder &b, Location loc, Value element);
/// Of each row of a mask whether any element counts.
Value emitFlags(OpBuilder &b, Location loc, Value mask, unsigned row);
/// True where one of them is, of equal sizes.
Value makeUnion(OpBuilder &b, Location loc, Value first, Value second);

/// From a mask of rows of the first operand of `op`, which are zero elsewhere, to one of its result; false where `op`
/// is not one that moves rows.
bool mapForward(Operation *op, RowMask &mask, OpBuilder *b = nullptr);

/// The op in the same block that reads a value, save its sizes; null if there are none or several.
Operation *getOnlyReader(Value value);
/// Whether a mask of the result of `op` can become one of `value`, which it reads; appends what that needs to exist.
bool canMapBackward(Operation *op, Value value, SmallVectorImpl<Value> &needed);
/// From a mask of the rows of the result of `op` that are needed to one of `value`, which it reads, of these sizes;
/// false where they are not equal parts of it.
bool mapBackward(Operation *op, Value value, RowMask &mask, OpBuilder *b = nullptr, ArrayRef<OpFoldResult> sizes = {});
/// The sizes of the result of such an op.
SmallVector<OpFoldResult> getSizesAfter(OpBuilder &b, Operation *op, ArrayRef<OpFoldResult> sizes);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_ROWMASKS_H
