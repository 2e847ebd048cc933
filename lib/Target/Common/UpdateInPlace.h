//===- UpdateInPlace.h - Results in the memory of arguments -----*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H
#define SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H

#include "mlir/IR/Value.h"

namespace mlir::spmd::target {

/// Whether `value` can be computed in the memory of `argument`, a tensor of the same type.
/// The computation must read each element of `argument` at most when it writes that
/// element, and no op may read `argument` afterwards.
bool canUpdateInPlace(Value value, Value argument);

/// The first write of the ops that compute `value` from `argument` by writing into it one after the other: insertions
/// of slices, contractions that accumulate, loops that carry it. Null if there are none, or if `argument` is read after
/// that.
OpOperand *findUpdate(Value value, BlockArgument argument);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H
