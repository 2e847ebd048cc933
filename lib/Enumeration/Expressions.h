//===- Expressions.h - Elements as expressions ------------------*- C++ -*-===//
// Internal to the enumeration of elements.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_ENUMERATION_EXPRESSIONS_H
#define SHARDKIT_LIB_ENUMERATION_EXPRESSIONS_H

#include "Numbers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace mlir::spmd::enumeration {

using ExprId = unsigned;

/// Expressions by number: equal ones have one number. Operands of a commutative op are a sorted bag, so that sums are
/// equal in every order and division into parts.
///
///   (a + b) + (0 + c)    addf{a, b, c}
///   max(a, max(b, a))    maximumf{a, b}
class Expressions {
public:
  ExprId getConstant(Attribute value);
  /// An element of an argument, or one of which nothing is known: equal to no other.
  ExprId getLeaf(Type type);
  /// A scalar op of expressions, folded as MLIR folds it.
  ExprId getOp(Operation *op, Type type, ArrayRef<ExprId> operands);
  ExprId getSelect(ExprId condition, ExprId value, ExprId other, Type type);
  /// What the op `name`, which is commutative, combines.
  ExprId getBag(StringRef name, Type type, ArrayRef<ExprId> operands);
  /// An element of a tensor of these elements, at indices that are not known.
  ExprId getLookup(Type type, ArrayRef<ExprId> elements, ArrayRef<ExprId> indices);
  /// An expression with products of sums as sums of products; std::nullopt if it becomes too long.
  std::optional<ExprId> expand(ExprId id);
  /// The constant that an expression is; null if it is none.
  Attribute getValue(ExprId id) const { return list[id].name.empty() ? list[id].value : Attribute(); }

private:
  struct Expr {
    StringRef name;  ///< the op; empty: a constant, or a leaf
    Attribute value; ///< the constant, or the attributes of the op
    Type type;
    SmallVector<ExprId, 2> operands;
    bool operator==(const Expr &) const = default;
  };
  ExprId get(Expr expr);
  ExprId getNegated(ExprId id, Type type);
  std::optional<ExprId> expandProduct(const Expr &expr, ArrayRef<ExprId> factors);
  std::optional<ExprId> expandEach(const Expr &sum, llvm::function_ref<ExprId(ExprId)> get);
  Attribute fold(Operation *op, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands) const;

  std::deque<Expr> list;
  llvm::DenseMap<size_t, SmallVector<ExprId, 1>> ids;
  llvm::DenseMap<ExprId, std::optional<ExprId>> expanded;
  size_t numExpanded = 0;
};

} // namespace mlir::spmd::enumeration

#endif // SHARDKIT_LIB_ENUMERATION_EXPRESSIONS_H
