//===- NarrowTypes.h - 8-bit floats and 4-bit integers ----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_NARROWTYPES_H
#define SHARDKIT_LIB_TARGET_COMMON_NARROWTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd::target {

/// f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f8E8M0FNU: the types of files.
bool isNarrowFloat(Type type);

/// 4-bit integers are passed to and from `func` in the low half of a byte, and 8-bit
/// floats are computed in f32.
LogicalResult widenNarrowTypes(func::FuncOp func);

/// Conversions from and to 8-bit floats become arithmetic on bits.
void populateNarrowFloatPatterns(RewritePatternSet &patterns);

/// `value` of f64 in f32, rounded to odd: lost bits set the last bit, so that a second
/// rounding equals that of `value`.
Value roundToOdd(OpBuilder &b, Location loc, Value value);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_NARROWTYPES_H
