//===- ScoreExpressions.h - Elements of tensors as expressions --*- C++ -*-===//
//
// What an element of a tensor is, followed through linalg ops and reshapes: an expression
// whose leaves are elements of other tensors. Indices are loops. Where a reshape takes an
// index apart its loop is split into an outer and an inner one.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H
#define SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H

#include "shardkit/Target/Common/Passes.h"
#include <deque>

namespace mlir::spmd::target {

/// An op that only moves elements: a transpose, broadcast or copy; with `mayRound` it may
/// round floats to a smaller type. Gives the map from the loops to the source and to the
/// result.
bool matchMove(Operation *op, Value &source, AffineMap &in, AffineMap &out, bool mayRound = false);

/// An index: loops, major to minor, as the digits of a number; none is 0.
using Digits = SmallVector<int, 2>;
/// Of an element: an index for each dim.
using Access = SmallVector<Digits>;

class ScoreLoops {
public:
  /// A new loop, nothing for size 1.
  Digits add(int64_t size);
  int64_t size(int loop) const { return loops[loop].size; }
  /// With the parts of loops that were split since.
  Digits resolve(ArrayRef<int> digits) const;
  /// Takes an index apart into indices of these sizes, major to minor.
  std::optional<Access> split(ArrayRef<int> digits, ArrayRef<int64_t> sizes);
  /// What `map`, of loops with these digits, reads; nothing unless all results are loops.
  static std::optional<Access> access(AffineMap map, ArrayRef<Digits> loops);

private:
  struct Loop {
    int64_t size;
    int outer = -1, inner = -1; ///< Once it is split.
  };
  SmallVector<Loop> loops;
};

struct Expression {
  enum Kind {
    Scores,   ///< An element of the scores.
    Read,     ///< An element of another tensor.
    Constant, ///< An attribute.
    Scalar,   ///< A value.
    Index,    ///< The value of an index.
    Apply,    ///< A scalar op.
    Reduce    ///< A sum (arith.addf) or maximum (arith.maximumf, maxnumf) over a loop.
  } kind;
  Type type;
  Value value;
  Access access = {};
  Attribute constant = {};
  Digits index = {}; ///< Of Reduce: its loop.
  Operation *op = nullptr;
  SmallVector<Expression *> operands = {};
  bool hasScores = false;
};

class Expressions {
public:
  /// Ops in `inlined` are followed back to `scores`; of other tensors elements are leaves.
  Expressions(Value scores, const SetVector<Operation *> &inlined) : scores(scores), inlined(inlined) {}

  /// Null for what cannot be said.
  Expression *read(Value tensor, Access access, bool isDeep = false);
  /// The same with all tensors followed as far as they are elementwise.
  Expression *deepen(Expression *e);
  /// Whether they are the same once the loops in `pairs` are taken for each other.
  bool equal(Expression *a, Expression *b, ArrayRef<std::pair<Digits, Digits>> pairs = {});

  ScoreLoops loops;

private:
  struct Body;
  Expression *make(Expression e);
  Expression *makeConstant(TypedAttr value);
  Expression *apply(Operation *op, SmallVector<Expression *> operands);
  Expression *result(linalg::LinalgOp op, unsigned number, const Access &access, bool isDeep);
  Expression *scalar(Value value, Body &body);
  Value scores;
  const SetVector<Operation *> &inlined;
  std::deque<Expression> pool;
};

/// Dims of sizes `shape`, by groups of them for each dim of the other side.
Value reshapeTo(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape, ArrayRef<ReassociationIndices> groups,
                bool expands);
/// Groups that put dims of size 1, marked by 0 in `counts`, to their neighbours.
SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> counts);
/// A tensor whose dims are loops, and which.
std::pair<Value, Digits> getView(OpBuilder &b, const ScoreLoops &loops, Value value, const Access &access);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H
