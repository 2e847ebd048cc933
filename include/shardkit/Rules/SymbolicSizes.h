//===- SymbolicSizes.h - Sizes that only the run knows ----------*- C++ -*-===//
//
// --spmd-size-arguments gives a function an argument for each size that only the run knows. The
// sizes of values are expressions of these arguments:
//
//   func.func @f(%x: tensor<?x16xf32> {spmd.global_sizes = affine_map<()[s0] -> (s0, 16)>},
//                %b: index {spmd.size = "b"})
//   %y = tensor.collapse_shape %x [[0, 1]]                // s0 * 16
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_SYMBOLICSIZES_H
#define SHARDKIT_RULES_SYMBOLICSIZES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::spmd {

/// The largest size there may be. As an upper bound it is none.
constexpr int64_t kLargestSize = (int64_t(1) << 40) - 1;

/// The least and the largest value of a size argument.
std::pair<int64_t, int64_t> getSizeBounds(BlockArgument size);

/// The size arguments of a function, in their order: symbol i of expressions is argument i of these.
SmallVector<BlockArgument> getSizeArguments(func::FuncOp func);

/// The sizes that programs are planned for, by size argument: the hint, else the upper bound, else `otherwise`; with
/// `atBounds` the bound comes first.
SmallVector<int64_t> getLikelySizes(func::FuncOp func, int64_t otherwise, bool atBounds);

/// The value of an expression, symbol i of which is `sizes[i]`; std::nullopt for null, and where it is too large.
std::optional<int64_t> evaluateSize(AffineExpr expr, ArrayRef<int64_t> sizes);

/// True for an op whose tensors all have one shape.
bool hasOneShape(Operation *op);

/// Sizes of the values of one function as expressions of its size arguments: sums, products and
/// quotients of symbols and constants. In a partitioned function they are those of shards.
class SymbolicSizes {
public:
  explicit SymbolicSizes(func::FuncOp func);

  /// The size of dim `d` of a ranked tensor, and an index as a size; null if it depends on data, or
  /// is computed in a way that is not followed.
  AffineExpr getDim(Value tensor, int64_t d);
  AffineExpr getIndex(Value index);

  unsigned getNumSymbols() const { return symbols.size(); }

private:
  AffineExpr computeDim(Value tensor, int64_t d);
  /// In a partitioned function.
  AffineExpr getMovedDim(CollectiveOpInterface op, int64_t d);
  AffineExpr computeIndex(Value index);
  /// Whether a condition that compares sizes holds at all sizes within their bounds, or at none; null if neither is
  /// known.
  std::optional<bool> compare(Value condition);
  std::optional<bool> isAtLeast(AffineExpr a, AffineExpr b);
  bool areNotNegative(AffineExpr a, AffineExpr b);
  /// The operand that a minimum or maximum is at all sizes; null if that depends on these.
  AffineExpr chooseBound(Operation *op, AffineExpr a, AffineExpr b);

  MLIRContext *context;
  MeshCache meshes; ///< Read where a collective needs them.
  llvm::DenseMap<Value, unsigned> symbols;
  SmallVector<std::pair<int64_t, int64_t>> bounds; ///< By symbol.
  llvm::DenseMap<Value, AffineMap> argumentSizes;  ///< `spmd.global_sizes`.
  llvm::DenseMap<std::pair<Value, int64_t>, AffineExpr> dims;
  llvm::DenseMap<Value, AffineExpr> indices;
};

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_SYMBOLICSIZES_H
