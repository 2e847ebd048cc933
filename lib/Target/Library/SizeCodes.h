//===- SizeCodes.h - Sizes that only the run knows, as numbers --*- C++ -*-===//
//
// A size as a number with which reshapes can be followed: a static one as it is, any other as a
// product of its known factor and a prime number for each unknown one. For example, with b = 65537
// and s = 65539:
//
//   tensor<?x32xf32> of b * s rows   ->   [65537 * 65539, 32]
//   expanded to [b, s, 4, 8]         ->   [65537, 65539, 4, 8]
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_LIBRARY_SIZECODES_H
#define SHARDKIT_LIB_TARGET_LIBRARY_SIZECODES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::spmd {
class SymbolicSizes;
}

namespace mlir::spmd::target {

class SizeCodes {
public:
  explicit SizeCodes(func::FuncOp func);
  ~SizeCodes();

  /// The codes of the dims of a tensor; std::nullopt if a size does not follow from size arguments, or has no code.
  std::optional<SmallVector<int64_t>> getShape(Value tensor);
  /// The size with a code, `code` itself or a value.
  OpFoldResult getSize(OpBuilder &b, Location loc, int64_t code) const;
  SmallVector<OpFoldResult> getSizes(OpBuilder &b, Location loc, ArrayRef<int64_t> codes) const;
  /// The type of a tensor of sizes with these codes.
  RankedTensorType getType(ArrayRef<int64_t> codes, Type element) const;

private:
  std::optional<int64_t> encode(AffineExpr size);
  bool isKnown(int64_t code) const;

  std::unique_ptr<SymbolicSizes> symbolic;
  SmallVector<BlockArgument> arguments;
  SmallVector<AffineExpr> factors; ///< Factor i has prime i.
};

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_LIBRARY_SIZECODES_H
