//===- Elements.h - What one element of a value is --------------*- C++ -*-===//
// Internal to the check of certificates.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOFCHECK_ELEMENTS_H
#define SHARDKIT_LIB_PROOFCHECK_ELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace mlir::spmd {

/// The number of an expression: equal ones have equal numbers.
using ExprId = unsigned;
using Index = SmallVector<int64_t, 4>;

struct Expr {
  enum Kind : int64_t {
    Constant,  ///< attribute
    Undefined, ///< an element of tensor.empty
    Leaf,      ///< an element of the unsharded program: value, then index
    Part,      ///< the part of a partial result that one device has; children: the element
    Op,        ///< a scalar op of children
    Reduce,    ///< children: the first value, then all that is combined with it, sorted
    Output     ///< the value before an iteration
  };
  Kind kind;
  Attribute attribute = {};
  const void *name = nullptr;
  Type type = {};
  Value value = {};
  Index index = {};
  SmallVector<ExprId, 4> children = {};
};

class ExprTable {
public:
  ExprId get(Expr expr);
  const Expr &operator[](ExprId id) const { return exprs[id]; }
  ExprId getConstant(Attribute value) { return get({Expr::Constant, value}); }
  /// An op of scalars, folded as MLIR folds it.
  ExprId getOp(OperationName name, DictionaryAttr attributes, Type type, ArrayRef<ExprId> children);

private:
  std::map<SmallVector<int64_t, 12>, ExprId> ids;
  std::vector<Expr> exprs;
};

/// Expressions of elements of a program, one op deep. A program is the unsharded one, or that of one device.
class Elements {
public:
  Elements(ExprTable &exprs) : exprs(exprs) {}
  virtual ~Elements() = default;

  /// The element that `op` writes at `index` of a result, over those of its operands; std::nullopt if the op is not one
  /// of those that are read, or has an index that is not known. `why` says so.
  std::optional<ExprId> compute(OpResult result, ArrayRef<int64_t> index);
  /// A scalar of the function.
  std::optional<ExprId> computeScalar(Value value) { return getValue(value); }
  std::string why;

protected:
  /// An element of an operand.
  virtual std::optional<ExprId> getElement(Value value, ArrayRef<int64_t> index) = 0;
  /// A scalar of the function that no op of constants gives.
  virtual std::optional<ExprId> getScalar(Value value) = 0;

  ExprTable &exprs;

private:
  std::optional<ExprId> getValue(Value value);
  std::optional<int64_t> getNumber(OpFoldResult value);
  std::optional<ExprId> computeLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> index);
  /// What a body yields, with its arguments and the indices of its loops set.
  std::optional<ExprId> computeBody(Block &block, unsigned yielded, ArrayRef<int64_t> loops);
  bool computeOp(Operation &op, ArrayRef<int64_t> loops);
  std::optional<ExprId> fail(const Twine &reason);

  llvm::DenseMap<Value, ExprId> scope; ///< values of the body that is read
};

/// A reduction of a value before and one that is combined with it: the name of the op, and the latter.
std::optional<std::pair<const void *, ExprId>> splitReduction(ExprId id, ExprId output, const ExprTable &exprs);
/// True if the constant changes nothing in a reduction by the op.
bool isNeutralConstant(const void *name, const Expr &expr);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_PROOFCHECK_ELEMENTS_H
