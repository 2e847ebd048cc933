//===- UpdateInPlace.h - Results in their arguments' memory -----*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H
#define SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H

#include "mlir/IR/Value.h"

namespace mlir::spmd::target {

/// Whether `value` may be written, while it is computed, to memory that holds `argument`
/// (a tensor of the same type): what computes it reads each element of `argument` at
/// most where it writes that element, and nothing reads `argument` afterwards.
bool canUpdateInPlace(Value value, Value argument);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_UPDATEINPLACE_H
