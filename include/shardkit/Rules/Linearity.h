//===- Linearity.h - Ops that sums pass through -----------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_LINEARITY_H
#define SHARDKIT_RULES_LINEARITY_H

#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// True if every element of the op's only result is a sum or difference of
/// elements of its tensor operands, each read once at most, so that
///   f(a + a', b + b') = f(a, b) + f(a', b')
/// Partial sums may then go through the op and be completed behind it.
///   arith.addf, linalg.transpose, tensor.collapse_shape   yes
///   arith.mulf, a sum with a constant, a broadcast        no
bool isAdditive(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_LINEARITY_H
