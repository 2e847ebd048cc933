//===- ScoreExpressions.cpp - Elements of tensors as expressions ----------===//

#include "ScoreExpressions.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Digits ScoreLoops::add(int64_t size) {
  if (size == 1)
    return {};
  loops.push_back({size});
  return {int(loops.size() - 1)};
}

Digits ScoreLoops::resolve(ArrayRef<int> digits) const {
  Digits result;
  for (int loop : digits) {
    if (loops[loop].outer < 0) {
      result.push_back(loop);
      continue;
    }
    for (int half : {loops[loop].outer, loops[loop].inner})
      llvm::append_range(result, resolve(ArrayRef<int>(half)));
  }
  return result;
}

std::optional<Access> ScoreLoops::split(ArrayRef<int> digits, ArrayRef<int64_t> sizes) {
  Digits left = resolve(digits);
  Access result(sizes.size());
  for (int64_t i = int64_t(sizes.size()) - 1; i >= 0; --i) {
    Digits ofSize; // Minor to major.
    for (int64_t rest = sizes[i]; rest != 1;) {
      if (left.empty() || rest < 1)
        return std::nullopt;
      int loop = left.pop_back_val();
      int64_t size = loops[loop].size;
      if (rest % size != 0) {
        if (size % rest != 0)
          return std::nullopt;
        int outer = add(size / rest).front(), inner = add(rest).front();
        loops[loop].outer = outer;
        loops[loop].inner = inner;
        left.push_back(outer);
        loop = inner;
        size = rest;
      }
      ofSize.push_back(loop);
      rest /= size;
    }
    result[i].assign(ofSize.rbegin(), ofSize.rend());
  }
  if (!left.empty())
    return std::nullopt;
  return result;
}

std::optional<Access> ScoreLoops::access(AffineMap map, ArrayRef<Digits> loops) {
  Access result;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    result.push_back(loops[dim.getPosition()]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expression *Expressions::make(Expression e) {
  constexpr size_t maxSize = 4000; // A limit, as shared subexpressions are copied.
  if (pool.size() >= maxSize)
    return nullptr;
  pool.push_back(std::move(e));
  return &pool.back();
}

Expression *Expressions::makeConstant(TypedAttr value) {
  Expression e{Expression::Constant, value.getType(), {}};
  e.constant = value;
  return make(e);
}

Expression *Expressions::apply(Operation *op, SmallVector<Expression *> operands) {
  Expression e{Expression::Apply, op->getResult(0).getType(), {}};
  SmallVector<Attribute> constants;
  for (Expression *operand : operands) {
    if (!operand)
      return nullptr;
    e.hasScores |= operand->hasScores;
    constants.push_back(operand->constant);
  }
  SmallVector<OpFoldResult> folded;
  if (!operands.empty() && !llvm::is_contained(constants, Attribute()) && succeeded(op->fold(constants, folded)) &&
      folded.size() == 1)
    if (auto value = dyn_cast_or_null<TypedAttr>(dyn_cast<Attribute>(folded[0])))
      return makeConstant(value);
  e.op = op;
  e.operands = std::move(operands);
  return make(e);
}

struct Expressions::Body {
  Body(linalg::LinalgOp op, bool isDeep) : op(op), loops(op.getNumLoops()), isDeep(isDeep) {}
  linalg::LinalgOp op;
  SmallVector<Digits> loops;
  bool isDeep;
  DenseMap<Value, Expression *> known;
};

Expression *Expressions::scalar(Value value, Body &body) {
  if (auto known = body.known.find(value); known != body.known.end())
    return known->second;
  Expression *result = nullptr;
  Attribute constant;
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == body.op.getBlock()) {
    OpOperand *operand = body.op.getOpOperandsMatchingBBargs()[argument.getArgNumber()];
    if (!isa<RankedTensorType>(operand->get().getType())) {
      result = scalar(operand->get(), body);
    } else if (auto access = ScoreLoops::access(body.op.getMatchingIndexingMap(operand), body.loops)) {
      result = read(operand->get(), *access, body.isDeep);
    }
  } else if (matchPattern(value, m_Constant(&constant)) && isa<TypedAttr>(constant)) {
    result = makeConstant(cast<TypedAttr>(constant));
  } else if (!op || op->getBlock() != body.op.getBlock()) {
    result = make({Expression::Scalar, value.getType(), value});
  } else if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    Expression e{Expression::Index, value.getType(), {}};
    e.index = body.loops[index.getDim()];
    result = make(e);
  } else if (op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op)) {
    SmallVector<Expression *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand, body));
    result = apply(op, std::move(operands));
  }
  return body.known[value] = result;
}

/// The neutral element of a sum or a maximum.
static bool isNeutral(Expression *e, Operation *combiner) {
  auto value = e ? dyn_cast_or_null<FloatAttr>(e->constant) : FloatAttr();
  if (!value)
    return false;
  if (isa<arith::AddFOp>(combiner))
    return value.getValue().isZero();
  if (isa<arith::MaxNumFOp>(combiner) && value.getValue().isNaN())
    return true;
  return value.getValue().isNegative() && (value.getValue().isInfinity() || value.getValue().isLargest());
}

std::optional<SmallVector<int64_t>> Expressions::getLoopSizes(ArrayRef<AffineMap> maps, ValueRange operands) {
  SmallVector<int64_t> sizes(maps.front().getNumDims(), -1);
  for (auto [map, operand] : llvm::zip_equal(maps, operands)) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    std::optional<SmallVector<int64_t>> shape = codes.getShape(operand);
    if (!shape)
      return std::nullopt;
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), *shape))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()] = size;
  }
  return llvm::is_contained(sizes, -1) ? std::nullopt : std::optional(sizes);
}

Expression *Expressions::result(linalg::LinalgOp op, unsigned number, const Access &access, bool isDeep) {
  OpOperand *init = op.getDpsInitOperand(number);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation())
    return nullptr;
  Body body(op, isDeep);
  Digits reduced;
  std::optional<SmallVector<int64_t>> sizes = getLoopSizes(op.getIndexingMapsArray(), op->getOperands());
  if (!sizes)
    return nullptr;
  for (auto [expr, digits] : llvm::zip_equal(map.getResults(), access))
    body.loops[cast<AffineDimExpr>(expr).getPosition()] = digits;
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (map.isFunctionOfDim(i))
      continue;
    if (kind != utils::IteratorType::reduction || !reduced.empty())
      return nullptr;
    body.loops[i] = reduced = loops.add((*sizes)[i]);
  }
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  if (op.getNumReductionLoops() == 0)
    return scalar(yielded, body);
  Operation *combiner = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return nullptr;
  BlockArgument sum = op.getMatchingBlockArgument(init);
  bool isFirst = combiner->getOperand(0) == sum;
  if (!isFirst && combiner->getOperand(1) != sum)
    return nullptr;
  // The value so far has no other use.
  for (OpOperand &operand : op.getDpsInitsMutable())
    body.known[op.getMatchingBlockArgument(&operand)] = nullptr;
  Expression *term = scalar(combiner->getOperand(isFirst), body);
  if (!term || !isNeutral(read(init->get(), access), combiner))
    return nullptr;
  Expression e{Expression::Reduce, yielded.getType(), {}};
  e.index = reduced;
  e.op = combiner;
  e.operands = {term};
  e.hasScores = term->hasScores;
  return make(e);
}

Expression *Expressions::read(Value tensor, Access access, bool isDeep) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !codes.getShape(tensor))
    return nullptr;
  while (true) {
    if (tensor == scores) {
      Expression e{Expression::Scores, type.getElementType(), tensor, access};
      e.hasScores = true;
      return make(e);
    }
    Operation *op = tensor.getDefiningOp();
    Value source;
    AffineMap in, out;
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op)) {
      Access joined;
      for (const ReassociationIndices &group : expand.getReassociationIndices()) {
        Digits &digits = joined.emplace_back();
        for (int64_t dim : group)
          llvm::append_range(digits, access[dim]);
      }
      tensor = expand.getSrc();
      access = std::move(joined);
    } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
      Access expanded;
      std::optional<SmallVector<int64_t>> known = codes.getShape(collapse.getSrc());
      if (!known)
        return nullptr;
      ArrayRef<int64_t> shape = *known;
      for (auto [digits, group] : llvm::zip_equal(access, collapse.getReassociationIndices())) {
        auto split = loops.split(digits, shape.slice(group.front(), group.size()));
        if (!split)
          return nullptr;
        llvm::append_range(expanded, *split);
      }
      if (collapse.getReassociationIndices().empty())
        expanded.resize(shape.size()); // All of size 1.
      tensor = collapse.getSrc();
      access = std::move(expanded);
    } else if (matchMove(op, source, in, out) && getElementTypeOrSelf(source) == type.getElementType()) {
      SmallVector<Digits> digits(in.getNumDims());
      for (auto [expr, index] : llvm::zip_equal(out.getResults(), access))
        digits[cast<AffineDimExpr>(expr).getPosition()] = index;
      access = *ScoreLoops::access(in, digits);
      tensor = source;
    } else {
      break;
    }
    if (!codes.getShape(tensor))
      return nullptr;
  }
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && constant.isSplat())
    return makeConstant(cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    Attribute value;
    if (matchPattern(fill.getInputs()[0], m_Constant(&value)) && isa<TypedAttr>(value))
      return makeConstant(cast<TypedAttr>(value));
  } else if (op && (inlined.contains(op) || (isDeep && op.getNumParallelLoops() == op.getNumLoops()))) {
    return result(op, cast<OpResult>(tensor).getResultNumber(), access, isDeep);
  }
  return make({Expression::Read, type.getElementType(), tensor, access});
}

Expression *Expressions::deepen(Expression *e) {
  if (!e)
    return nullptr;
  if (e->kind == Expression::Read) {
    Expression *deep = read(e->value, e->access, /*isDeep=*/true);
    return deep ? deep : e;
  }
  if (e->kind != Expression::Apply)
    return e;
  SmallVector<Expression *> operands;
  for (Expression *operand : e->operands)
    operands.push_back(deepen(operand));
  return apply(e->op, std::move(operands));
}

bool Expressions::equal(Expression *a, Expression *b, ArrayRef<std::pair<Digits, Digits>> pairs) {
  if (a->kind != b->kind || a->type != b->type || a->value != b->value || a->constant != b->constant ||
      a->operands.size() != b->operands.size() || a->access.size() != b->access.size())
    return false;
  SmallVector<std::pair<Digits, Digits>> all(pairs);
  if (a->kind == Expression::Reduce)
    all.push_back({a->index, b->index});
  DenseMap<int, int> renamed;
  for (auto &[from, to] : all) {
    Digits left = loops.resolve(from), right = loops.resolve(to);
    if (left.size() != right.size())
      return false;
    for (auto [x, y] : llvm::zip_equal(left, right)) {
      if (loops.size(x) != loops.size(y))
        return false;
      renamed[x] = y;
    }
  }
  auto same = [&](const Digits &x, const Digits &y) {
    Digits left = loops.resolve(x);
    for (int &loop : left)
      if (auto it = renamed.find(loop); it != renamed.end())
        loop = it->second;
    return left == loops.resolve(y);
  };
  for (auto [x, y] : llvm::zip_equal(a->access, b->access))
    if (!same(x, y))
      return false;
  if (a->kind == Expression::Index && !same(a->index, b->index))
    return false;
  if (a->op && (a->op->getName() != b->op->getName() ||
                (a->kind == Expression::Apply && a->op->getAttrDictionary() != b->op->getAttrDictionary())))
    return false;
  for (auto [x, y] : llvm::zip_equal(a->operands, b->operands))
    if (!equal(x, y, all))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors by loops
//===----------------------------------------------------------------------===//

Value spmd::target::reshapeTo(OpBuilder &b, Location loc, const SizeCodes &codes, Value value, ArrayRef<int64_t> shape,
                              ArrayRef<ReassociationIndices> groups, bool expands) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType wanted = codes.getType(shape, type.getElementType());
  if (wanted == type)
    return value;
  if (expands)
    return tensor::ExpandShapeOp::create(b, loc, wanted, value, groups, codes.getSizes(b, loc, shape));
  return tensor::CollapseShapeOp::create(b, loc, wanted, value, groups);
}

SmallVector<ReassociationIndices> spmd::target::groupUnits(ArrayRef<int64_t> counts) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [dim, count] : llvm::enumerate(counts)) {
    if (count == 0) {
      (groups.empty() ? leading : groups.back()).push_back(dim);
    } else {
      groups.emplace_back();
      if (groups.size() == 1)
        groups.back() = leading;
      groups.back().push_back(dim);
    }
  }
  return groups;
}

std::pair<Value, Digits> spmd::target::getView(OpBuilder &b, const Expressions &expressions, Value value,
                                               const Access &access) {
  const ScoreLoops &loops = expressions.loops;
  Location loc = value.getLoc();
  SmallVector<int64_t> split, flat, counts;
  SmallVector<ReassociationIndices> groups;
  Digits all;
  for (const Digits &index : access) {
    Digits digits = loops.resolve(index);
    ReassociationIndices &group = groups.emplace_back();
    if (digits.empty()) {
      group.push_back(split.size());
      split.push_back(1);
      counts.push_back(0);
    }
    for (int loop : digits) {
      group.push_back(split.size());
      split.push_back(loops.size(loop));
      flat.push_back(loops.size(loop));
      counts.push_back(1);
      all.push_back(loop);
    }
  }
  value = reshapeTo(b, loc, expressions.codes, value, split, groups, /*expands=*/true);
  return {reshapeTo(b, loc, expressions.codes, value, flat, groupUnits(counts), /*expands=*/false), all};
}
