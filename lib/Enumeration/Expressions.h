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
#include <map>

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
  /// An element of a tensor of these elements, at indices of which some are not known. Those that are are inside.
  ExprId getLookup(Type type, ArrayRef<int64_t> shape, ArrayRef<ExprId> elements, ArrayRef<ExprId> indices);
  /// Notes that the unsharded program computes this in all its runs. So indices of a look-up are inside of the tensor.
  void assumeDefined(ExprId id);
  /// Notes that an integer is in [min, max] where the unsharded program is defined.
  void assumeRange(ExprId id, int64_t min, int64_t max);
  /// The integer that an expression is where all others have the only value that is possible.
  std::optional<int64_t> findInteger(ExprId id);
  /// The least and the largest value of an integer, if both are known.
  using Range = std::pair<int64_t, int64_t>;
  std::optional<Range> getRange(ExprId id) const;
  /// All ranges that are assumed.
  const std::map<ExprId, Range> &getAssumptions() const { return ranges; }
  void setAssumptions(std::map<ExprId, Range> assumed);
  /// True if it is in all cases.
  bool isInRange(ExprId id, int64_t min, int64_t max);
  /// The comparison of two integers.
  ExprId getEqual(ExprId a, ExprId b);
  /// True if a look-up is inside of its tensor, and a divisor is not one that traps, in all cases.
  bool isDefined(ExprId id);
  /// True if two expressions are equal in all cases: for all values of the indices that the unsharded program reads at.
  bool areEqualInAllCases(ExprId a, ExprId b);
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
  ExprId getOp(OperationName name, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands);
  std::optional<int64_t> getInteger(ExprId id) const;
  /// Calls `accept` with values of all integers below an expression of which few are possible, until one is not
  /// accepted. False then, or if there are too many cases.
  using Values = llvm::DenseMap<ExprId, ExprId>;
  bool forEachCase(ArrayRef<ExprId> of, llvm::function_ref<bool(Values &)> accept);
  /// An expression where some have values. Those that were computed are kept in `values`.
  ExprId substitute(ExprId id, Values &values);
  bool isDefined(const Expr &expr, Values &values);
  ExprId getNegated(ExprId id, Type type);
  std::optional<ExprId> expandProduct(const Expr &expr, ArrayRef<ExprId> factors);
  std::optional<ExprId> expandEach(const Expr &sum, llvm::function_ref<ExprId(ExprId)> get);
  Attribute fold(OperationName name, DictionaryAttr attributes, Type type, ArrayRef<ExprId> operands) const;

  std::deque<Expr> list;
  llvm::DenseMap<size_t, SmallVector<ExprId, 1>> ids;
  llvm::DenseMap<ExprId, std::optional<ExprId>> expanded;
  size_t numExpanded = 0, numSubstituted = 0;
  /// Least and largest values of integers, where the unsharded program is defined.
  std::map<ExprId, Range> ranges;
  Values known; ///< by the ranges of one value
};

} // namespace mlir::spmd::enumeration

#endif // SHARDKIT_LIB_ENUMERATION_EXPRESSIONS_H
