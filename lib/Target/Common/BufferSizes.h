//===- BufferSizes.h - Sizes of buffers that only the run knows -*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_BUFFERSIZES_H
#define SHARDKIT_LIB_TARGET_COMMON_BUFFERSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd::target {

/// The sizes of the buffers of a function as expressions of the sizes that only the run knows (kSizesAttr), which are
/// symbols. An expression is as large as the size or larger.
class BufferSizes {
public:
  explicit BufferSizes(func::FuncOp func);

  /// Null where none is known.
  AffineExpr getUpperBound(Value index) { return get(index).expr; }

  unsigned getNumSizes() const { return least.size(); }
  /// The least and the largest sizes, for which expressions can be evaluated.
  ArrayRef<int64_t> getLeast() const { return least; }
  ArrayRef<int64_t> getMost() const { return most; }
  /// The number of the argument that is size `i`.
  unsigned getArgument(unsigned i) const { return arguments[i]; }

private:
  struct Size {
    AffineExpr expr;
    bool isExact = false;
  };
  Size get(Value index);
  Size getDim(Value buffer, int64_t d);
  Size compute(Value index);
  Size computeDim(Value buffer, int64_t d);
  Size computeFrom(Operation *op);
  Size getFolded(OpFoldResult size);
  /// The map of operands; not exact ones may only make it grow.
  Size apply(AffineMap map, ValueRange operands);
  /// Either of two: exact only if they are equal.
  static Size join(Size a, Size b);
  Size getConstant(int64_t value) { return {getAffineConstantExpr(value, context), true}; }

  MLIRContext *context;
  Block *body;
  SmallVector<int64_t> least, most;
  SmallVector<unsigned> arguments;
  DenseMap<Value, Size> indices;
  DenseMap<std::pair<Value, int64_t>, Size> dims;
};

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_BUFFERSIZES_H
