//===- Linearity.h - Ops that sums pass through -----------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_LINEARITY_H
#define SHARDKIT_RULES_LINEARITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd {

/// True if the op's only result is linear in the marked tensor operands taken
/// together, the others held fixed:
///   f(a + a', b + b', c) = f(a, b, c) + f(a', b', c)     a, b marked
/// Partial sums of the marked operands may then go through the op and be
/// completed behind it, if the others are complete. An init that the op adds to
/// counts as an operand. Division is left out: its quotients are rounded.
///   marked               arith.addf: both    arith.mulf: one    matmul: a and init
///   linear               yes                 yes                yes
///   others marked        one: no             both: no           a alone: no; a, b, init: no
bool isLinear(Operation *op, const llvm::SmallBitVector &marked);

/// True if the op is linear in all its tensor operands that it reads: a sum, a
/// difference, a view, a transpose.
bool isAdditive(Operation *op);

/// The tensor operands whose elements the op reads.
llvm::SmallBitVector getReadTensors(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_LINEARITY_H
