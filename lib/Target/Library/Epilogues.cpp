//===- Epilogues.cpp - Fuse epilogues into contractions --------------------===//
//
// An epilogue follows a contraction that has no other user: additions of operands, then an
// activation. For example, gelu(x * w + bias) becomes one spmd_rt.contract.
//
//===----------------------------------------------------------------------===//

#include "ScoreExpressions.h"
#include "shardkit/rt/abi.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETEPILOGUES
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::target;

namespace {

using Kind = Expression::Kind;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// A polynomial in x and in t = tanh(sqrt(2/pi) (x + 0.044715 x^3)), by their powers.
class Polynomial {
public:
  static Polynomial term(int x, int t, double factor) {
    Polynomial p;
    p.terms[{x, t}] = factor;
    return p;
  }
  Polynomial operator+(const Polynomial &other) const {
    Polynomial sum = *this;
    for (auto [powers, factor] : other.terms)
      sum.terms[powers] += factor;
    return sum;
  }
  Polynomial operator*(const Polynomial &other) const {
    Polynomial product;
    for (auto [p, factor] : terms)
      for (auto [q, times] : other.terms)
        product.terms[{p.first + q.first, p.second + q.second}] += factor * times;
    return product;
  }
  int degree() const {
    int most = 0;
    for (auto [powers, factor] : terms)
      most = std::max(most, powers.first + powers.second);
    return most;
  }
  std::optional<double> constant() const {
    if (degree() > 0 || terms.empty())
      return std::nullopt;
    return terms.begin()->second;
  }
  /// Compares factors with a relative tolerance of `error`.
  bool isNear(const Polynomial &other, double error) const {
    return terms.size() == other.terms.size() && llvm::all_of(terms, [&](auto &term) {
             auto known = other.terms.find(term.first);
             return known != other.terms.end() &&
                    std::abs(term.second - known->second) <= error * std::abs(known->second);
           });
  }

private:
  std::map<std::pair<int, int>, double> terms;
};

/// Constants of a program are rounded to its types, or are products of such.
double constantError(Type type) { return type.isBF16() ? 1e-2 : type.isF16() ? 2e-3 : 0; }

/// x of ext(trunc(x)).
Expression *skipConversions(Expression *e) {
  while (e && e->kind == Kind::Apply && isa<arith::ExtFOp, arith::TruncFOp>(e->op))
    e = e->operands[0];
  return e;
}

/// Whether all floats up to the scores have the type of the result, or f32, so that there
/// is no rounding to another type.
bool hasTypes(Expression *e, Type type) {
  if (!e->hasScores || e->type.isInteger(1))
    return llvm::all_of(e->operands, [&](Expression *x) { return !x->hasScores || hasTypes(x, type); });
  return (e->type == type || e->type.isF32()) &&
         llvm::all_of(e->operands, [&](Expression *x) { return hasTypes(x, type); });
}

class Activation {
public:
  Activation(Expressions &expressions) : expressions(expressions) {}

  /// "relu" or "gelu" of the scores; empty if there is no activation.
  std::optional<StringRef> match(Expression *e) {
    if (isScores(e))
      return "";
    if (isRelu(e))
      return "relu";
    std::optional<Polynomial> p = evaluate(e);
    if (p && p->isNear(Polynomial::term(1, 0, 0.5) + Polynomial::term(1, 1, 0.5), error))
      return "gelu";
    return std::nullopt;
  }
  Expression *scores = nullptr;

private:
  bool isScores(Expression *e) {
    e = skipConversions(e);
    if (!e || e->kind != Kind::Scores)
      return false;
    if (!scores)
      scores = e;
    return expressions.equal(scores, e);
  }
  static bool isZero(Expression *e) {
    auto value = e ? dyn_cast_or_null<FloatAttr>(e->constant) : FloatAttr();
    return value && value.getValue().isZero();
  }

  /// The maximum that propagates NaN, as in frameworks.
  bool isRelu(Expression *e) {
    e = skipConversions(e);
    if (!e || e->kind != Kind::Apply)
      return false;
    if (isa<arith::MaximumFOp>(e->op))
      return (isScores(e->operands[0]) && isZero(e->operands[1])) ||
             (isScores(e->operands[1]) && isZero(e->operands[0]));
    if (!isa<arith::SelectOp>(e->op) || !isScores(e->operands[1]) || !isZero(e->operands[2]))
      return false;
    Expression *condition = e->operands[0];
    auto compare = condition->kind == Kind::Apply ? dyn_cast<arith::CmpFOp>(condition->op) : nullptr;
    return compare &&
           llvm::is_contained({arith::CmpFPredicate::UGT, arith::CmpFPredicate::UGE}, compare.getPredicate()) &&
           isScores(condition->operands[0]) && isZero(condition->operands[1]);
  }

  std::optional<Polynomial> evaluate(Expression *e) {
    e = skipConversions(e);
    if (!e)
      return std::nullopt;
    if (isScores(e))
      return Polynomial::term(1, 0, 1);
    if (auto value = dyn_cast_or_null<FloatAttr>(e->constant)) {
      error = std::max(error, constantError(e->type));
      return Polynomial::term(0, 0, value.getValueAsDouble());
    }
    if (e->kind != Kind::Apply || !isa<FloatType>(e->type))
      return std::nullopt;
    SmallVector<Polynomial> of;
    for (Expression *operand : e->operands) {
      auto value = dyn_cast_or_null<IntegerAttr>(operand->constant);
      std::optional<Polynomial> p = value ? Polynomial::term(0, 0, double(value.getInt())) : evaluate(operand);
      if (!p)
        return std::nullopt;
      of.push_back(std::move(*p));
    }
    std::optional<Polynomial> p = combine(e->op, of);
    return p && p->degree() <= 8 ? p : std::nullopt;
  }

  std::optional<Polynomial> combine(Operation *op, ArrayRef<Polynomial> of) {
    const Polynomial minus = Polynomial::term(0, 0, -1);
    if (isa<arith::AddFOp>(op))
      return of[0] + of[1];
    if (isa<arith::SubFOp>(op))
      return of[0] + minus * of[1];
    if (isa<arith::MulFOp>(op))
      return of[0] * of[1];
    if (isa<arith::NegFOp>(op))
      return minus * of[0];
    if (isa<math::FmaOp>(op))
      return of[0] * of[1] + of[2];
    if (isa<arith::DivFOp>(op)) {
      std::optional<double> below = of[1].constant();
      if (!below || *below == 0)
        return std::nullopt;
      return of[0] * Polynomial::term(0, 0, 1 / *below);
    }
    if (isa<math::PowFOp, math::FPowIOp>(op)) {
      std::optional<double> power = of[1].constant();
      if (power == 2.0)
        return of[0] * of[0];
      if (power == 3.0)
        return of[0] * of[0] * of[0];
      return std::nullopt;
    }
    if (isa<math::TanhOp>(op)) {
      constexpr double first = 0.7978845608028654;
      auto inner = Polynomial::term(1, 0, first) + Polynomial::term(3, 0, first * 0.044715);
      return of[0].isNear(inner, 2 * error) ? std::optional(Polynomial::term(0, 1, 1)) : std::nullopt;
    }
    return std::nullopt;
  }

  Expressions &expressions;
  double error = 2e-6;
};

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// A value on which all later users of a contraction's result depend.
struct Stage {
  Value value;
  size_t numInside; ///< The number of ops up to the value.
};

class Epilogue {
public:
  Epilogue(ContractOp product, SizeCodes &codes) : product(product), codes(codes) {}
  bool match();
  void replace(OpBuilder &b);

private:
  /// An added tensor, and the groups of dims of C that its dims form.
  struct Added {
    Expression *read;
    SmallVector<unsigned> dims = {};
    SmallVector<ReassociationIndices> groups = {};
    bool isMatrix = false;
  };
  struct Sum {
    Sum(Value scores, SetVector<Operation *> ops, SizeCodes &codes)
        : inside(std::move(ops)), expressions(scores, inside, codes) {}
    const SetVector<Operation *> inside;
    Expressions expressions;
    Access access; ///< The access of the stage.
    Expression *scores = nullptr;
    SmallVector<Added> added;
  };

  void findStages();
  SetVector<Operation *> insideFrom(size_t from, size_t to) const {
    return SetVector<Operation *>(inside.begin() + from, inside.begin() + to);
  }
  /// The contraction with results of `type`.
  bool matchTo(Type type);
  std::unique_ptr<Sum> matchSum(const Stage &stage, Type type);
  bool addTerms(Sum &sum, Expression *e, Type type);
  bool resolve(Sum &sum, Expression *read);
  /// Whether both have the same elements in the same order, each once.
  static bool areInOrder(const ScoreLoops &loops, const Access &x, const Access &y);
  static Access accessTo(ScoreLoops &loops, Value value);

  ContractOp product;
  SizeCodes &codes;
  SetVector<Operation *> inside;
  SmallVector<Stage> stages;
  std::unique_ptr<Sum> sum;
  StringRef activation;
  Value result; ///< The value that the contraction replaces.
};

void Epilogue::findStages() {
  constexpr size_t most = 40;
  SmallVector<Value> made{product->getResult(0)};
  Block *block = product->getBlock();
  while (true) {
    Operation *next = nullptr;
    SmallVector<Value, 2> open;
    for (Value value : made) {
      bool isOpen = false;
      for (Operation *user : value.getUsers()) {
        if (inside.contains(user))
          continue;
        isOpen = true;
        if (user->getBlock() != block)
          return;
        if (!next || user->isBeforeInBlock(next))
          next = user;
      }
      if (isOpen)
        open.push_back(value);
    }
    if (open.size() == 1)
      stages.push_back({open[0], inside.size()});
    auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(next);
    bool isElementwise = linalgOp && linalgOp.hasPureTensorSemantics() && linalgOp->getNumResults() == 1 &&
                         !linalgOp.hasDynamicShape() && linalgOp.getNumParallelLoops() == linalgOp.getNumLoops();
    if (!next || inside.size() == most || !(isElementwise || isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(next)))
      return;
    inside.insert(next);
    made.push_back(next->getResult(0));
  }
}

Access Epilogue::accessTo(ScoreLoops &loops, Value value) {
  Access access;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    access.push_back(loops.add(size));
  return access;
}

bool Epilogue::areInOrder(const ScoreLoops &loops, const Access &x, const Access &y) {
  auto flatten = [&](const Access &access) {
    Digits all;
    for (const Digits &index : access)
      llvm::append_range(all, loops.resolve(index));
    return all;
  };
  return flatten(x) == flatten(y);
}

/// Whether the stage is the contraction plus up to two operands.
std::unique_ptr<Epilogue::Sum> Epilogue::matchSum(const Stage &stage, Type type) {
  auto sum = std::make_unique<Sum>(product->getResult(0), insideFrom(0, stage.numInside), codes);
  ScoreLoops &loops = sum->expressions.loops;
  sum->access = accessTo(loops, stage.value);
  Expression *e = sum->expressions.read(stage.value, sum->access);
  if (!e || !e->hasScores || !hasTypes(e, type) || !addTerms(*sum, e, type) ||
      !areInOrder(loops, sum->access, sum->scores->access))
    return nullptr;
  // Resolved when all loops are known.
  SmallVector<Added> terms = std::move(sum->added);
  sum->added.clear();
  for (Added &term : terms)
    if (!resolve(*sum, term.read))
      return nullptr;
  return sum;
}

bool Epilogue::addTerms(Sum &sum, Expression *e, Type type) {
  e = skipConversions(e);
  if (!e)
    return false;
  if (e->kind == Kind::Scores) {
    sum.scores = e;
    return true;
  }
  if (e->kind != Kind::Apply || !isa<arith::AddFOp>(e->op) || sum.added.size() == SK_MAX_ADDED)
    return false;
  bool isSecond = !e->operands[0]->hasScores;
  Expression *other = e->operands[!isSecond];
  if (other->hasScores)
    return false;
  auto isRead = [&](Expression *x) { return x && x->kind == Kind::Read && x->type == type; };
  auto skipExtensions = [](Expression *x) {
    while (x && x->kind == Kind::Apply && isa<arith::ExtFOp>(x->op))
      x = x->operands[0];
    return x;
  };
  Expression *read = skipExtensions(sum.expressions.deepen(other));
  if (!isRead(read))
    read = skipExtensions(other);
  if (!isRead(read))
    return false;
  sum.added.push_back({read});
  return addTerms(sum, e->operands[isSecond], type);
}

/// The operands that the library can add: a vector along the rows of C, one per batch
/// element, or a matrix like C.
bool Epilogue::resolve(Sum &sum, Expression *read) {
  const ScoreLoops &loops = sum.expressions.loops;
  auto maps = llvm::to_vector(product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<Digits> dims;
  for (const Digits &index : sum.scores->access)
    dims.push_back(loops.resolve(index));
  Digits digits;
  for (const Digits &index : read->access)
    llvm::append_range(digits, loops.resolve(index));
  Added added{read};
  for (size_t at = 0; at < digits.size();) {
    auto dim = llvm::find_if(dims, [&](const Digits &d) { return !d.empty() && d[0] == digits[at]; });
    if (dim == dims.end() || llvm::is_contained(added.dims, unsigned(dim - dims.begin())) ||
        ArrayRef(digits).slice(at).take_front(dim->size()) != ArrayRef(*dim))
      return false;
    added.dims.push_back(dim - dims.begin());
    ReassociationIndices &group = added.groups.emplace_back();
    for (size_t i = 0; i < dim->size(); ++i)
      group.push_back(at++);
  }
  // The last dim of C is contiguous.
  unsigned last = dims.size();
  while (last > 0 && dims[last - 1].empty())
    --last;
  if (last-- == 0 || added.dims.empty() || added.dims.back() != last)
    return false;
  auto uses = [&](int operand, unsigned dim) {
    return maps[operand].isFunctionOfDim(cast<AffineDimExpr>(maps[2].getResult(dim)).getPosition());
  };
  if (uses(0, last) && uses(1, last))
    return false;
  const int side = uses(0, last) ? 0 : 1;
  bool hasAll = true;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    bool has = llvm::is_contained(added.dims, dim);
    added.isMatrix |= has && uses(1 - side, dim) && !uses(side, dim);
    hasAll &= has || dims[dim].empty();
  }
  if ((added.isMatrix && !(hasAll && product.getOverwrite())) ||
      llvm::any_of(sum.added, [&](const Added &other) { return other.isMatrix == added.isMatrix; }))
    return false;
  sum.added.push_back(std::move(added));
  return true;
}

bool Epilogue::match() {
  findStages();
  Type in = getElementTypeOrSelf(product.getA()), out = getElementTypeOrSelf(product.getC());
  // A sum of f32 that is rounded to the type of the operands at the end.
  if (in != out && product.getOverwrite() && matchTo(in))
    return true;
  return !out.isF64() && matchTo(out) && (!sum->added.empty() || !activation.empty());
}

bool Epilogue::matchTo(Type type) {
  size_t at = stages.size();
  while (at > 0 && !(sum = matchSum(stages[at - 1], type)))
    --at;
  if (!sum)
    return false;
  --at;
  for (size_t i = stages.size(); --i > at;) {
    if (getElementTypeOrSelf(stages[i].value) != type)
      continue;
    SetVector<Operation *> between = insideFrom(stages[at].numInside, stages[i].numInside);
    Expressions expressions(stages[at].value, between, codes);
    Access access = accessTo(expressions.loops, stages[i].value);
    Expression *e = expressions.read(stages[i].value, access);
    if (!e || !e->hasScores || !hasTypes(e, type))
      continue;
    Activation matcher(expressions);
    std::optional<StringRef> found = matcher.match(e);
    if (!found || !areInOrder(expressions.loops, access, matcher.scores->access))
      continue;
    activation = *found;
    result = stages[i].value;
    return true;
  }
  result = stages[at].value;
  return getElementTypeOrSelf(result) == type;
}

void Epilogue::replace(OpBuilder &b) {
  Operation *last = product;
  for (const Added &added : sum->added)
    if (Operation *op = added.read->value.getDefiningOp();
        op && op->getBlock() == product->getBlock() && last->isBeforeInBlock(op))
      last = op;
  b.setInsertionPointAfter(last);
  Location loc = product.getLoc();
  auto maps = llvm::to_vector(product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<Value> values;
  for (const Added &added : sum->added) {
    Value view = getView(b, sum->expressions, added.read->value, added.read->access).first;
    SmallVector<AffineExpr> results;
    SmallVector<int64_t> shape;
    for (unsigned dim : added.dims) {
      results.push_back(maps[2].getResult(dim));
      shape.push_back(cast<ShapedType>(product.getC().getType()).getDimSize(dim));
    }
    values.push_back(reshapeTo(b, loc, codes, view, shape, added.groups, /*expands=*/false));
    maps.push_back(AffineMap::get(maps[2].getNumDims(), 0, results, b.getContext()));
  }
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  auto wanted = cast<RankedTensorType>(result.getType());
  auto computed = RankedTensorType::get(type.getShape(), wanted.getElementType());
  Value init = product.getC();
  if (product.getOverwrite())
    init = tensor::EmptyOp::create(b, loc, type.getShape(), wanted.getElementType());
  Value value = ContractOp::create(b, loc, TypeRange{computed}, b.getAffineMapArrayAttr(maps), product.getA(),
                                   product.getB(), init, values, product.getOverwriteAttr(),
                                   activation.empty() ? StringAttr() : b.getStringAttr(activation))
                    ->getResult(0);
  if (std::optional<SmallVector<ReassociationIndices>> groups =
          computed == wanted ? std::nullopt : getReassociationIndicesForReshape(computed, wanted)) {
    value = reshapeTo(b, loc, codes, value, wanted.getShape(), *groups,
                      /*expands=*/computed.getRank() < wanted.getRank());
  } else if (computed != wanted) {
    auto all = [](int64_t rank) { return SmallVector<ReassociationIndices>{llvm::to_vector<2>(llvm::seq(rank))}; };
    value = reshapeTo(b, loc, codes, value, {wanted.getNumElements()}, all(computed.getRank()), false);
    value = reshapeTo(b, loc, codes, value, wanted.getShape(), all(wanted.getRank()), true);
  }
  result.replaceAllUsesWith(value);
}

struct RecognizeEpilogues : spmd::impl::SpmdTargetEpiloguesBase<RecognizeEpilogues> {
  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) {
      if (!op.isDynamic())
        products.push_back(op);
    });
    SizeCodes codes(getOperation());
    for (ContractOp product : products) {
      Epilogue epilogue(product, codes);
      OpBuilder builder(&getContext());
      if (product->getNumResults() == 1 && !product.isFused() && epilogue.match())
        epilogue.replace(builder);
    }
  }
};
} // namespace
