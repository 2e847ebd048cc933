//===- ScoreExpressions.h - Elements of tensors as expressions --*- C++ -*-===//
//
// An element of a tensor as an expression, computed through linalg ops and reshapes. The
// leaves are elements of other tensors. Indices are loops; a reshape that expands a dim
// splits its loop into an outer and an inner one. For example:
//
//   %e = exp(%x - broadcast(%max))    ->    e[i, j] = exp(x[i, j] - max[i])
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H
#define SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H

#include "SizeCodes.h"
#include "shardkit/Target/Common/Passes.h"
#include <deque>

namespace mlir::spmd::target {

/// Matches an op that only moves elements: a transpose, broadcast or copy; with `mayRound`
/// it may round floats to a smaller type. Returns the maps from the loops to the source and
/// to the result.
bool matchMove(Operation *op, Value &source, AffineMap &in, AffineMap &out, bool mayRound = false);

/// An index: loops, major to minor, as the digits of a number; 0 without loops.
using Digits = SmallVector<int, 2>;
/// The indices of an element, one for each dim.
using Access = SmallVector<Digits>;

// Sizes are codes (SizeCodes.h).

class ScoreLoops {
public:
  /// A new loop; no digits for size 1.
  Digits add(int64_t size);
  int64_t size(int loop) const { return loops[loop].size; }
  /// Replaces loops that were split by their outer and inner loops.
  Digits resolve(ArrayRef<int> digits) const;
  /// Splits an index into indices of these sizes, major to minor.
  std::optional<Access> split(ArrayRef<int> digits, ArrayRef<int64_t> sizes);
  /// The indices of `map` for loops with these digits; std::nullopt unless all results are
  /// loops.
  static std::optional<Access> access(AffineMap map, ArrayRef<Digits> loops);

private:
  struct Loop {
    int64_t size;
    int outer = -1, inner = -1; ///< The loops after a split, or -1.
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
  Digits index = {}; ///< For Reduce: its loop.
  Operation *op = nullptr;
  SmallVector<Expression *> operands = {};
  bool hasScores = false;
};

class Expressions {
public:
  /// Ops in `inlined` become expressions up to `scores`; elements of other tensors are
  /// leaves.
  Expressions(Value scores, const SetVector<Operation *> &inlined, SizeCodes &codes)
      : codes(codes), scores(scores), inlined(inlined) {}

  /// Null if the element cannot be expressed.
  Expression *read(Value tensor, Access access, bool isDeep = false);
  /// The same, with all elementwise ops as expressions.
  Expression *deepen(Expression *e);
  /// Whether two expressions are equal if the loops in `pairs` are identified.
  bool equal(Expression *a, Expression *b, ArrayRef<std::pair<Digits, Digits>> pairs = {});

  /// The sizes of the loops of an op, by the indexing maps of its operands; std::nullopt unless all are known.
  std::optional<SmallVector<int64_t>> getLoopSizes(ArrayRef<AffineMap> maps, ValueRange operands);

  ScoreLoops loops;
  SizeCodes &codes;

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

/// The groups of dims of sizes `shape` for each dim of the other type.
Value reshapeTo(OpBuilder &b, Location loc, const SizeCodes &codes, Value value, ArrayRef<int64_t> shape,
                ArrayRef<ReassociationIndices> groups, bool expands);
/// Groups in which dims of size 1, marked by 0 in `counts`, belong to adjacent groups.
SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> counts);
/// A tensor whose dims are loops, with these loops.
std::pair<Value, Digits> getView(OpBuilder &b, const Expressions &expressions, Value value, const Access &access);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_LIBRARY_SCOREEXPRESSIONS_H
