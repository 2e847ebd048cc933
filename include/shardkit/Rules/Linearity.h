//===- Linearity.h - Ops that are linear in operands ------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_LINEARITY_H
#define SHARDKIT_RULES_LINEARITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::spmd {

/// True if the op's only result is linear in the marked tensor operands taken
/// together, the others held fixed:
///   f(a + a', b + b', c) = f(a, b, c) + f(a', b', c)     a, b marked
/// The reduction of partial sums of the marked operands may then be deferred until after
/// the op, if the others are complete. An init that the op adds to counts as an operand.
/// Division is left out: its quotients are rounded.
///   marked               arith.addf: both    arith.mulf: one    matmul: a and init
///   linear               yes                 yes                yes
///   others marked        one: no             both: no           a alone: no; a, b, init: no
bool isLinear(Operation *op, const llvm::SmallBitVector &marked);

/// True if the op is linear in all tensor operands that it reads, such as a sum, a
/// difference, a view or a transpose.
bool isAdditive(Operation *op);

/// The tensor operands whose elements the op reads.
llvm::SmallBitVector getReadTensors(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_LINEARITY_H
