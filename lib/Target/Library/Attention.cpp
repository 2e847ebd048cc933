//===- Attention.cpp - Recognize softmax(q k^T) v -------------------------===//

#include "SoftmaxMatch.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETATTENTION
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

namespace {

using Kind = Expression::Kind;

/// softmax(scores) v, scores = q k^T after some steps.
class Attention {
public:
  Attention(ContractOp first, const SetVector<Operation *> &between, OpOperand &probabilities, SizeCodes &codes)
      : first(first), second(cast<ContractOp>(probabilities.getOwner())),
        operandNumber(probabilities.getOperandNumber()), expressions(first->getResult(0), between, codes),
        loops(expressions.loops) {}

  bool run() { return findSoftmax() && findOperands() && findRoles(); }
  void replace(OpBuilder &b);

private:
  bool findSoftmax();
  Expression *readMoved(Value value, AffineMap map, ArrayRef<Digits> digits);
  bool findOperands();
  bool findRoles();
  void followResult();
  std::pair<Value, AffineMap> getOperand(OpBuilder &b, Expression *e);
  Value compute(OpBuilder &b, Expression *e, Digits &used);
  AffineMap mapOf(ArrayRef<int> digits, MLIRContext *context) const;
  std::optional<SmallVector<int64_t>> getLoopSizes(ContractOp op) {
    return expressions.getLoopSizes(llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>()),
                                    op->getOperands());
  }

  ContractOp first, second;
  unsigned operandNumber;
  Expressions expressions;
  ScoreLoops &loops;
  Digits key;
  SmallVector<Digits> outer; ///< The digits of the loops of `second`.
  SoftmaxMatch softmax;
  Expression *q = nullptr, *k = nullptr, *v = nullptr;
  Value result; ///< The last of the reshapes and transposes after `second`.
  Access resultAccess;
  SmallVector<int> order; ///< All loops: the batch, query, key, head, value.
};

//===----------------------------------------------------------------------===//
// Operands and loops
//===----------------------------------------------------------------------===//

/// The loops of `second`, and the softmax over the one that it sums.
bool Attention::findSoftmax() {
  auto maps = llvm::to_vector(second.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::optional<SmallVector<int64_t>> sizes = getLoopSizes(second);
  if (!sizes)
    return false;
  for (int64_t size : *sizes)
    outer.push_back(loops.add(size));
  for (auto [i, digits] : llvm::enumerate(outer))
    if (!digits.empty() && !maps[2].isFunctionOfDim(i)) {
      if (!key.empty())
        return false;
      key = digits;
    }
  std::optional<Access> access = ScoreLoops::access(maps[operandNumber], outer);
  if (key.empty() || !access)
    return false;
  std::optional<SoftmaxMatch> match =
      matchSoftmax(expressions, expressions.read(second->getOperand(operandNumber), *access), key);
  if (match)
    softmax = std::move(*match);
  return match.has_value();
}

Expression *Attention::readMoved(Value value, AffineMap map, ArrayRef<Digits> digits) {
  std::optional<Access> access = ScoreLoops::access(map, digits);
  Expression *e = access ? expressions.read(value, *access) : nullptr;
  return e && e->kind == Kind::Read ? e : nullptr;
}

static bool hasLoop(const ScoreLoops &loops, const Expression *e, int loop) {
  return llvm::any_of(e->access, [&](const Digits &index) { return llvm::is_contained(loops.resolve(index), loop); });
}

bool Attention::findOperands() {
  auto maps = llvm::to_vector(first.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::optional<SmallVector<int64_t>> sizes = getLoopSizes(first);
  if (!sizes)
    return false;
  SmallVector<Digits> inner(sizes->size());
  for (auto [expr, index] : llvm::zip_equal(maps[2].getResults(), softmax.product->access))
    inner[cast<AffineDimExpr>(expr).getPosition()] = index;
  Digits sum;
  for (auto [i, size] : llvm::enumerate(*sizes))
    if (!maps[2].isFunctionOfDim(i) && size != 1) {
      if (!sum.empty())
        return false;
      inner[i] = sum = loops.add(size);
    }
  auto outerMaps = llvm::to_vector(second.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  q = readMoved(first.getA(), maps[0], inner);
  k = readMoved(first.getB(), maps[1], inner);
  v = readMoved(second->getOperand(1 - operandNumber), outerMaps[1 - operandNumber], outer);
  if (!q || !k || !v || sum.empty() || q->type != k->type || q->type != v->type ||
      !(q->type.isF32() || q->type.isF16() || q->type.isBF16()))
    return false;
  result = second->getResult(0);
  resultAccess = *ScoreLoops::access(outerMaps[2], outer);
  followResult();

  Digits keys = loops.resolve(key), heads = loops.resolve(sum);
  if (keys.size() != 1 || heads.size() != 1)
    return false;
  if (hasLoop(loops, q, keys[0]))
    std::swap(q, k);
  key = keys;
  order.push_back(heads[0]);
  return hasLoop(loops, k, keys[0]) && !hasLoop(loops, q, keys[0]);
}

/// Includes reshapes, transposes and rounding of the result, which the op does itself.
void Attention::followResult() {
  // Sums are f32 and rounded once, to the type of q.
  auto mayBe = [&](Type type) {
    const Type now = getElementTypeOrSelf(result);
    return type == now || (now.isF32() && type == q->type);
  };
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    Value source;
    AffineMap in, out;
    if (user->getBlock() != second->getBlock())
      return;
    Access next;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
      std::optional<SmallVector<int64_t>> known = expressions.codes.getShape(expand);
      if (!known)
        return;
      ArrayRef<int64_t> shape = *known;
      for (auto [digits, group] : llvm::zip_equal(resultAccess, expand.getReassociationIndices())) {
        auto split = loops.split(digits, shape.slice(group.front(), group.size()));
        if (!split)
          return;
        llvm::append_range(next, *split);
      }
      if (resultAccess.empty())
        next.resize(shape.size());
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
        Digits &digits = next.emplace_back();
        for (int64_t dim : group)
          llvm::append_range(digits, resultAccess[dim]);
      }
    } else if (matchMove(user, source, in, out, /*mayRound=*/true) && source == result && in.isPermutation() &&
               mayBe(getElementTypeOrSelf(user->getResult(0)))) {
      SmallVector<Digits> digits(in.getNumDims());
      for (auto [expr, index] : llvm::zip_equal(in.getResults(), resultAccess))
        digits[cast<AffineDimExpr>(expr).getPosition()] = index;
      next = *ScoreLoops::access(out, digits);
    } else {
      return;
    }
    result = user->getResult(0);
    resultAccess = std::move(next);
  }
}

bool Attention::findRoles() {
  int head = order.pop_back_val();
  SmallVector<int> batch, values, queries;
  for (const Digits &index : resultAccess)
    for (int loop : loops.resolve(index)) {
      bool inScores = hasLoop(loops, softmax.product, loop);
      if (!inScores)
        values.push_back(loop);
      else if (hasLoop(loops, q, loop) && !hasLoop(loops, k, loop) && !hasLoop(loops, v, loop))
        queries.push_back(loop);
      else
        batch.push_back(loop);
    }
  if (values.size() != 1 || !hasLoop(loops, v, values[0]) || !hasLoop(loops, v, key[0]) ||
      loops.size(values[0]) > SK_MAX_ATTENTION_HEAD || loops.size(head) > SK_MAX_ATTENTION_HEAD)
    return false;
  // The longest loop, or the one of a causal mask.
  Digits counted = loops.resolve(softmax.query);
  int chosen = -1;
  for (int loop : queries)
    if (counted.empty() ? chosen < 0 || loops.size(loop) >= loops.size(chosen)
                        : counted.size() == 1 && loop == counted[0])
      chosen = loop;
  if (!counted.empty() && chosen < 0)
    return false;
  for (int loop : queries)
    if (loop != chosen)
      batch.push_back(loop);
  if (batch.size() > SK_MAX_ATTENTION_BATCH || loops.size(key[0]) >= (1 << 30) ||
      (chosen >= 0 && loops.size(chosen) >= (1 << 30)))
    return false;
  // A loop over one query if there is none.
  order.assign(batch.begin(), batch.end());
  order.append({chosen, key[0], head, values[0]});
  int operands = 0;
  for (const ScoreStep &step : softmax.steps)
    operands += step.operand != nullptr;
  return operands <= SK_MAX_ATTENTION_OPERANDS;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

AffineMap Attention::mapOf(ArrayRef<int> digits, MLIRContext *context) const {
  SmallVector<AffineExpr> results;
  for (int loop : digits)
    results.push_back(getAffineDimExpr(llvm::find(order, loop) - order.begin(), context));
  return AffineMap::get(order.size(), 0, results, context);
}

static void findReads(Expression *e, SetVector<Expression *> &reads, const ScoreLoops &loops, Digits &used) {
  auto use = [&](const Digits &index) {
    for (int loop : loops.resolve(index))
      if (!llvm::is_contained(used, loop))
        used.push_back(loop);
  };
  if (e->kind == Kind::Read)
    reads.insert(e);
  for (const Digits &index : e->access)
    use(index);
  if (e->kind == Kind::Index)
    use(e->index);
  for (Expression *operand : e->operands)
    findReads(operand, reads, loops, used);
}

/// A new tensor of `e`, evaluated for all indices of the loops that it depends on.
Value Attention::compute(OpBuilder &b, Expression *e, Digits &used) {
  Location loc = second.getLoc();
  SetVector<Expression *> reads;
  findReads(e, reads, loops, used);
  llvm::sort(used, [&](int x, int y) { return llvm::find(order, x) < llvm::find(order, y); });
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  auto position = [&](int loop) { return llvm::find(used, loop) - used.begin(); };
  for (Expression *read : reads) {
    auto [value, digits] = getView(b, expressions, read->value, read->access);
    SmallVector<AffineExpr> results;
    for (int loop : digits)
      results.push_back(b.getAffineDimExpr(position(loop)));
    inputs.push_back(value);
    maps.push_back(AffineMap::get(used.size(), 0, results, b.getContext()));
  }
  SmallVector<OpFoldResult> shape;
  for (int loop : used)
    shape.push_back(expressions.codes.getSize(b, loc, loops.size(loop)));
  Value empty = tensor::EmptyOp::create(b, loc, shape, e->type);
  maps.push_back(b.getMultiDimIdentityMap(used.size()));
  SmallVector<utils::IteratorType> kinds(used.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{empty.getType()}, inputs, ValueRange{empty}, maps, kinds,
      [&](OpBuilder &inside, Location loc, ValueRange args) {
        std::function<Value(Expression *)> emit = [&](Expression *e) -> Value {
          switch (e->kind) {
          case Kind::Read:
            return args[llvm::find(reads, e) - reads.begin()];
          case Kind::Constant:
            return arith::ConstantOp::create(inside, loc, cast<TypedAttr>(e->constant));
          case Kind::Index: {
            Value sum = arith::ConstantIndexOp::create(inside, loc, 0);
            for (int loop : loops.resolve(e->index)) {
              Value size = getValueOrCreateConstantIndexOp(inside, loc, shape[position(loop)]);
              Value index = linalg::IndexOp::create(inside, loc, position(loop));
              sum = arith::AddIOp::create(inside, loc, arith::MulIOp::create(inside, loc, sum, size), index);
            }
            return sum;
          }
          case Kind::Apply: {
            IRMapping mapping;
            for (auto [operand, from] : llvm::zip_equal(e->operands, e->op->getOperands()))
              mapping.map(from, emit(operand));
            return inside.clone(*e->op, mapping)->getResult(0);
          }
          default:
            return e->value;
          }
        };
        linalg::YieldOp::create(inside, loc, emit(e));
      });
  return generic.getResult(0);
}

std::pair<Value, AffineMap> Attention::getOperand(OpBuilder &b, Expression *e) {
  Digits digits;
  Value value;
  if (e->kind == Kind::Read)
    std::tie(value, digits) = getView(b, expressions, e->value, e->access);
  // A diagonal becomes a separate tensor.
  if (!value || llvm::SmallDenseSet<int>(digits.begin(), digits.end()).size() != digits.size()) {
    digits.clear();
    value = compute(b, e, digits);
  }
  return {value, mapOf(digits, b.getContext())};
}

void Attention::replace(OpBuilder &b) {
  b.setInsertionPoint(second);
  Location loc = second.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  auto add = [&](Expression *e) {
    auto [value, map] = getOperand(b, e);
    operands.push_back(value);
    maps.push_back(map);
  };
  for (Expression *e : {q, k, v})
    add(e);
  SmallVector<Attribute> attributes;
  for (const ScoreStep &step : softmax.steps) {
    NamedAttrList named;
    auto set = [&](StringRef name, Attribute value) { named.append(name, value); };
    auto value = [&] { return b.getF32FloatAttr(float(step.value)); };
    auto operand = [&](StringRef name) {
      set(name, b.getI64IntegerAttr(operands.size() - 3));
      add(step.operand);
    };
    switch (step.kind) {
    case SK_SCALE:
      set("scale", value());
      break;
    case SK_ADD:
      operand("add");
      break;
    case SK_SUBTRACT:
      operand("subtract");
      break;
    case SK_MULTIPLY:
      operand("multiply");
      break;
    case SK_ROUND:
      set("round", TypeAttr::get(step.type));
      break;
    case SK_SELECT:
    case SK_CAUSAL:
      if (step.kind == SK_SELECT)
        operand("select");
      else
        set("causal", b.getI64IntegerAttr(step.offset));
      set("keep", b.getBoolAttr(step.keep));
      set("otherwise", value());
      break;
    }
    attributes.push_back(named.getDictionary(b.getContext()));
  }

  // The result by loops, then reshaped to the type of the original result.
  SmallVector<int64_t> flat, joined;
  SmallVector<int64_t> counts;
  SmallVector<ReassociationIndices> groups;
  Digits digits;
  for (const Digits &index : resultAccess) {
    Digits resolved = loops.resolve(index);
    counts.push_back(resolved.size());
    if (resolved.empty())
      continue;
    ReassociationIndices &group = groups.emplace_back();
    joined.push_back(1);
    for (int loop : resolved) {
      group.push_back(digits.size());
      digits.push_back(loop);
      flat.push_back(loops.size(loop));
      joined.back() *= loops.size(loop);
    }
  }
  auto type = cast<RankedTensorType>(result.getType());
  const SizeCodes &codes = expressions.codes;
  Value init = tensor::EmptyOp::create(b, loc, codes.getSizes(b, loc, flat), type.getElementType());
  maps.push_back(mapOf(digits, b.getContext()));
  int64_t query = int64_t(order.size()) - 4;
  auto attention = AttentionOp::create(b, loc, TypeRange{init.getType()}, b.getAffineMapArrayAttr(maps),
                                       b.getI64IntegerAttr(query), b.getArrayAttr(attributes), operands[0], operands[1],
                                       operands[2], ArrayRef<Value>(operands).drop_front(3), init);
  Value value = attention->getResult(0);
  value = reshapeTo(b, loc, codes, value, joined, groups, /*expands=*/false);
  value = reshapeTo(b, loc, codes, value, *expressions.codes.getShape(result), groupUnits(counts), /*expands=*/true);
  result.replaceAllUsesWith(value);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The ops between `product` and an operand of another contraction, if `product` has no
/// other use.
static OpOperand *findWay(ContractOp product, SetVector<Operation *> &between) {
  constexpr size_t most = 64;
  OpOperand *end = nullptr;
  SmallVector<Operation *> work{product};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != product->getBlock())
        return nullptr;
      if (auto contract = dyn_cast<ContractOp>(user)) {
        if (end || !contract.getOverwrite() || contract.isDpsInit(&use))
          return nullptr;
        end = &use;
      } else if (isa<linalg::LinalgOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) && between.size() < most) {
        if (between.insert(user))
          work.push_back(user);
      } else {
        return nullptr;
      }
    }
  }
  return end;
}

struct RecognizeAttention : spmd::impl::SpmdTargetAttentionBase<RecognizeAttention> {
  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    SizeCodes codes(getOperation());
    for (ContractOp product : products) {
      SetVector<Operation *> between;
      OpOperand *end = product.getOverwrite() ? findWay(product, between) : nullptr;
      if (!end)
        continue;
      Attention attention(product, between, *end, codes);
      OpBuilder builder(&getContext());
      if (attention.run())
        attention.replace(builder);
    }
  }
};
} // namespace
