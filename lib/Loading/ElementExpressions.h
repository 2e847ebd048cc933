//===- ElementExpressions.h - Elements of loading functions -----*- C++ -*-===//
//
// A loading function that computes each element of its result by itself is an
// expression over leaves. A leaf has the shape of the result, and its elements are
// copies of stored elements:
//
//   transpose(extf(%w)) * 2.0  ->  mulf(extf(leaf: %w, transposed), 2.0)
//
// Slices, transposes, broadcasts and reshapes of an expression are those of its
// leaves. A concatenation of equal expressions is the expression of concatenations; of
// different ones a select by a leaf of numbers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_LOADING_ELEMENTEXPRESSIONS_H
#define SHARDKIT_LIB_LOADING_ELEMENTEXPRESSIONS_H

#include "shardkit/Layout/Copies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <memory>

namespace mlir::spmd {

struct ElementNode;
/// An expression; null if it is unknown.
using Element = std::shared_ptr<const ElementNode>;

struct ElementNode {
  enum class Kind {
    Undefined, ///< Any value.
    Leaf,      ///< Copies of stored elements, or of numbers.
    Constant,  ///< `constant`.
    Lookup,    ///< Element `operands[0]` of the one-dimensional `constant`.
    Op         ///< A scalar op.
  } kind;
  Type type;
  std::optional<Copies> copies = std::nullopt;
  TypedAttr constant = {};
  std::optional<OperationName> name = std::nullopt;
  DictionaryAttr attrs = {};
  SmallVector<Element, 2> operands = {};
};

/// The element of the result of `load`; null if it does not compute its elements by
/// themselves, or if the expression is too large.
Element getElements(func::FuncOp load);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_LOADING_ELEMENTEXPRESSIONS_H
