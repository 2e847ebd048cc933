//===- Attributes.h - Attributes of StableHLO in generic form ---*- C++ -*-===//
//
// Nothing has verified these ops. What is missing or of another form reads as an empty list, which
// no rule takes for an answer.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_STABLEHLO_ATTRIBUTES_H
#define SHARDKIT_LIB_STABLEHLO_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::spmd::stablehlo {

using Ints = SmallVector<int64_t, 4>;

/// `array<i64: 0, 2>`, or `dense<[[0, 1]]> : tensor<1x2xi64>` in row-major order.
Ints getInts(Operation *op, StringRef name);
/// Writes numbers in the form in which the attribute is.
void setInts(Operation *op, StringRef name, ArrayRef<int64_t> values);
std::optional<int64_t> getInt(Operation *op, StringRef name);
/// The list of a key in an opaque attribute: `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.
Ints getList(Operation *op, StringRef name, StringRef key);
/// The text of an attribute.
std::string getText(Operation *op, StringRef name);
/// The one value of a tensor that is a constant, or a broadcast of one; else null.
TypedAttr getSplat(Value value);
/// The shape of a ranked tensor; empty for other values.
ArrayRef<int64_t> getShapeOf(Value value);

/// Dims of the operands of a convolution: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
struct ConvolutionDims {
  int64_t batchIn, featureIn, featureOut, batchOut, kernelIn, kernelOut;
  Ints in, kernel, out; ///< of the spatial dims
};
std::optional<ConvolutionDims> getConvolutionDims(Operation *op);

} // namespace mlir::spmd::stablehlo

#endif // SHARDKIT_LIB_STABLEHLO_ATTRIBUTES_H
