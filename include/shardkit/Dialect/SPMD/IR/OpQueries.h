//===- OpQueries.h - Classes of ops that phases distinguish -----*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_OPQUERIES_H
#define SHARDKIT_DIALECT_SPMD_IR_OPQUERIES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir {
class Operation;
namespace spmd {

/// The `value` of an op named `constant`, of any dialect, that is a splat of the type of its result; else null.
SplatElementsAttr getSplatConstant(Operation *op);

/// True if the op yields a constant-like value: a splat constant, tensor.empty,
/// tensor.splat, or a fill of one of these. Such a value takes any layout at no cost:
/// it is rematerialized per layout, and nothing propagates through it.
bool isConstantLike(Operation *op);

/// True for ops that forward their operand in a layout of their own: constraints,
/// reshards and propagation barriers.
bool isConstraintLike(Operation *op);

/// True for a value that is rematerialized per layout: a constant-like one, also if constrained.
bool isRematerialized(Value value);

/// True for a constraint that only such constraints read: it is dropped.
bool isDeadConstraint(Operation *op);

} // namespace spmd
} // namespace mlir

#endif // SHARDKIT_DIALECT_SPMD_IR_OPQUERIES_H
