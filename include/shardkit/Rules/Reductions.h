//===- Reductions.h - Neutral elements and combiners ------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_REDUCTIONS_H
#define SHARDKIT_RULES_REDUCTIONS_H

#include "shardkit/Layout/Sharding.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir::linalg {
class LinalgOp;
} // namespace mlir::linalg

namespace mlir::spmd {

/// Neutral element of a reduction for elements of `type` (an integer, index or
/// float type).
TypedAttr getNeutralElement(ReductionKind kind, Type type);
/// The value x for which op(acc, x) is acc, bit by bit: a sum that starts from
/// -0.0 stays -0.0.
TypedAttr getExactNeutral(ReductionKind kind, Type type);
/// The same as a scalar constant; of complex numbers too, which have sums and products.
Value createExactNeutral(OpBuilder &b, Location loc, ReductionKind kind, Type type);
/// The value of all elements of a tensor, if it is a fill or splat of a constant.
Attribute getFillElement(Value value);
/// True if all elements of `value` are known to be neutral or undefined: a fill or splat
/// of the neutral element, or tensor.empty.
bool isNeutralFill(Value value, ReductionKind kind);
/// The kind of reduction that a scalar op computes, if it is one. Arithmetic on i1 is
/// that of booleans (a sum of i1 is xor).
std::optional<ReductionKind> matchCombiner(Operation *op);
/// How partial results of output `i` of a structured op combine: the yielded value
/// must be one associative op of the accumulator and a value that does not depend
/// on it.
std::optional<ReductionKind> matchReduction(linalg::LinalgOp op, unsigned i);
/// True for a structured op that reduces what it computes of the elements of two operands: a matrix product or a
/// convolution. A pooling or a sum over windows reads only the shape of its second operand.
bool isContraction(Operation *op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_REDUCTIONS_H
