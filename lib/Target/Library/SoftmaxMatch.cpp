//===- SoftmaxMatch.cpp - A softmax over scores ---------------------------===//

#include "SoftmaxMatch.h"

using namespace mlir;
using namespace mlir::spmd::target;

namespace {

using Kind = Expression::Kind;

/// x of ext(trunc(x)): skips conversions between float types.
static Expression *skipConversions(Expression *e) {
  while (e && e->kind == Kind::Apply && isa<arith::ExtFOp, arith::TruncFOp>(e->op))
    e = e->operands[0];
  return e;
}
template <typename OpTy> static Expression *matchApply(Expression *e) {
  return e && e->kind == Kind::Apply && isa<OpTy>(e->op) ? e : nullptr;
}
static std::optional<double> constantFloat(Expression *e) {
  auto value = e ? dyn_cast_or_null<FloatAttr>(e->constant) : FloatAttr();
  return value ? std::optional<double>(value.getValueAsDouble()) : std::nullopt;
}
static std::optional<bool> constantBool(Expression *e) {
  auto value = e && e->type.isInteger(1) ? dyn_cast_or_null<IntegerAttr>(e->constant) : IntegerAttr();
  return value ? std::optional<bool>(!value.getValue().isZero()) : std::nullopt;
}
/// Whether an expression can be evaluated for all indices without the scores.
static bool isComputable(const Expression *e) {
  return !e->hasScores && e->kind != Kind::Reduce && llvm::all_of(e->operands, isComputable);
}
static bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

class Match {
public:
  Match(Expressions &expressions, const Digits &key) : expressions(expressions), loops(expressions.loops), key(key) {}
  bool matchSoftmax(Expression *e);
  SoftmaxMatch result;

private:
  Expression *matchExponential(Expression *e);
  bool matchSteps(Expression *e);
  bool matchSelect(Expression *e);
  bool matchCausal(Expression *condition, ScoreStep &step);
  bool addStep(const ScoreStep &step) {
    result.steps.push_back(step);
    return result.steps.size() <= SK_MAX_ATTENTION_STEPS;
  }
  bool addRounding(Type type) { return !isSmallFloat(type) || addStep({SK_ROUND, nullptr, 0, true, 0, type}); }

  Expressions &expressions;
  const ScoreLoops &loops;
  const Digits &key;
};

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// x of exp(x - max(x)).
Expression *Match::matchExponential(Expression *e) {
  Expression *exponential = matchApply<math::ExpOp>(skipConversions(e));
  Expression *difference = exponential ? matchApply<arith::SubFOp>(skipConversions(exponential->operands[0])) : nullptr;
  if (!difference)
    return nullptr;
  Expression *x = difference->operands[0], *largest = skipConversions(difference->operands[1]);
  // max(-inf, max(x)), as JAX has it.
  while (matchApply<arith::MaximumFOp>(largest) || matchApply<arith::MaxNumFOp>(largest)) {
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    bool isFirst = constantFloat(largest->operands[0]) == lowest;
    if (!isFirst && constantFloat(largest->operands[1]) != lowest)
      return nullptr;
    largest = skipConversions(largest->operands[isFirst]);
  }
  if (!largest || largest->kind != Kind::Reduce || isa<arith::AddFOp>(largest->op) ||
      !expressions.equal(skipConversions(largest->operands[0]), skipConversions(x), {{largest->index, key}}))
    return nullptr;
  return x;
}

bool Match::matchSoftmax(Expression *e) {
  Expression *p = skipConversions(e);
  Expression *above = nullptr, *below = nullptr;
  if (Expression *quotient = matchApply<arith::DivFOp>(p)) {
    above = quotient->operands[0];
    below = quotient->operands[1];
  } else if (Expression *times = matchApply<arith::MulFOp>(p)) {
    for (int i : {0, 1})
      if (Expression *inverse = matchApply<arith::DivFOp>(skipConversions(times->operands[i]));
          inverse && constantFloat(inverse->operands[0]) == 1.0) {
        above = times->operands[1 - i];
        below = inverse->operands[1];
      }
  }
  below = skipConversions(below);
  if (!above || !below || below->kind != Kind::Reduce || !isa<arith::AddFOp>(below->op))
    return false;
  above = skipConversions(above);
  if (!expressions.equal(skipConversions(below->operands[0]), above, {{below->index, key}}))
    return false;
  return matchSteps(matchExponential(above));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool Match::matchSteps(Expression *e) {
  if (!e || !e->hasScores || !(e->type.isF32() || isSmallFloat(e->type)))
    return false;
  if (e->kind == Kind::Scores) {
    result.product = e;
    return addRounding(e->type);
  }
  if (e->kind != Kind::Apply)
    return false;
  if (isa<arith::ExtFOp>(e->op))
    return matchSteps(e->operands[0]);
  if (isa<arith::SelectOp>(e->op))
    return matchSelect(e);
  bool swapped = e->operands.size() == 2 && e->operands[1]->hasScores;
  if (swapped && e->operands[0]->hasScores)
    return false;
  Expression *other = e->operands.size() == 2 ? e->operands[!swapped] : nullptr;
  ScoreStep step{};
  std::optional<double> value = constantFloat(other);
  if (isa<arith::TruncFOp>(e->op)) {
    step.kind = SK_ROUND;
    other = nullptr;
  } else if (isa<arith::MulFOp>(e->op)) {
    step.kind = value ? SK_SCALE : SK_MULTIPLY;
    step.value = value.value_or(0);
  } else if (isa<arith::DivFOp>(e->op) && !swapped && value && *value != 0) {
    step.kind = SK_SCALE;
    step.value = 1 / *value;
  } else if (isa<arith::AddFOp>(e->op)) {
    step.kind = SK_ADD;
  } else if (isa<arith::SubFOp>(e->op) && !swapped) {
    step.kind = SK_SUBTRACT;
  } else {
    return false;
  }
  if (other && step.kind != SK_SCALE) {
    step.operand = other;
    if (Expression *ext = matchApply<arith::ExtFOp>(other); ext && isSmallFloat(ext->operands[0]->type))
      step.operand = ext->operands[0];
    if (!isComputable(step.operand) || !(step.operand->type.isF32() || isSmallFloat(step.operand->type)))
      return false;
  }
  if (!matchSteps(e->operands[swapped]))
    return false;
  return (step.kind == SK_ROUND || addStep(step)) && addRounding(e->type);
}

bool Match::matchSelect(Expression *e) {
  Expression *condition = e->operands[0];
  bool keep = e->operands[1]->hasScores;
  std::optional<double> other = constantFloat(e->operands[1 + keep]);
  if (!isComputable(condition) || !other || !matchSteps(e->operands[2 - keep]))
    return false;
  if (std::optional<bool> known = constantBool(condition))
    return *known == keep;
  ScoreStep step{SK_SELECT, condition, *other, keep};
  ScoreStep causal = step;
  if (matchCausal(expressions.deepen(condition), causal))
    step = causal;
  return addStep(step);
}

/// A linear combination of indices plus a constant.
struct Linear {
  SmallVector<std::pair<Digits, int64_t>> terms;
  int64_t number = 0;
};

static std::optional<Linear> matchLinear(Expression *e, const ScoreLoops &loops) {
  if (!e || !e->type.isIntOrIndex() || (!e->type.isIndex() && e->type.getIntOrFloatBitWidth() < 32))
    return std::nullopt;
  if (e->kind == Kind::Index)
    return Linear{{{loops.resolve(e->index), 1}}, 0};
  if (auto value = dyn_cast_or_null<IntegerAttr>(e->constant))
    return Linear{{}, value.getInt()};
  if (e->kind != Kind::Apply)
    return std::nullopt;
  std::optional<Linear> left = matchLinear(e->operands[0], loops);
  if (!left || isa<arith::IndexCastOp, arith::ExtSIOp>(e->op))
    return left;
  std::optional<Linear> right = e->operands.size() == 2 ? matchLinear(e->operands[1], loops) : std::nullopt;
  if (!right || !isa<arith::AddIOp, arith::SubIOp>(e->op))
    return std::nullopt;
  int64_t sign = isa<arith::AddIOp>(e->op) ? 1 : -1;
  left->number += sign * right->number;
  for (auto &[index, times] : right->terms)
    left->terms.push_back({index, sign * times});
  return left;
}

/// Whether it is (key <= query + a number), or its contrary.
bool Match::matchCausal(Expression *e, ScoreStep &step) {
  if (!e || e->kind != Kind::Apply)
    return false;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(e->op)) {
    for (int i : {0, 1})
      if (std::optional<bool> known = constantBool(e->operands[i])) {
        if (*known == isa<arith::OrIOp>(e->op) && !isa<arith::XOrIOp>(e->op))
          return false;
        step.keep ^= isa<arith::XOrIOp>(e->op) && *known;
        return matchCausal(e->operands[1 - i], step);
      }
    return false;
  }
  if (isa<arith::SelectOp>(e->op)) {
    std::optional<bool> yes = constantBool(e->operands[1]), no = constantBool(e->operands[2]);
    if (!yes || !no || *yes == *no)
      return false;
    step.keep ^= *no;
    return matchCausal(e->operands[0], step);
  }
  auto compare = dyn_cast<arith::CmpIOp>(e->op);
  std::optional<Linear> left = compare ? matchLinear(e->operands[0], loops) : std::nullopt;
  std::optional<Linear> right = compare ? matchLinear(e->operands[1], loops) : std::nullopt;
  if (!left || !right)
    return false;
  // left - right + number >= 0, or the other way round.
  int64_t sign = 1, number = left->number - right->number;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
    break;
  case arith::CmpIPredicate::sgt:
    number -= 1;
    break;
  case arith::CmpIPredicate::sle:
    sign = -1, number = -number;
    break;
  case arith::CmpIPredicate::slt:
    sign = -1, number = -number - 1;
    break;
  default:
    return false;
  }
  SmallVector<std::pair<Digits, int64_t>> terms;
  auto add = [&](const Digits &index, int64_t times) {
    for (auto &[known, sum] : terms)
      if (known == index) {
        sum += times;
        return;
      }
    terms.push_back({index, times});
  };
  for (auto &[index, times] : left->terms)
    add(index, sign * times);
  for (auto &[index, times] : right->terms)
    add(index, -sign * times);
  llvm::erase_if(terms, [](auto &term) { return term.second == 0; });
  if (terms.size() != 2)
    return false;
  Digits keys = loops.resolve(key);
  bool keyIsFirst = terms[0].first == keys;
  auto &[of, ofTimes] = terms[!keyIsFirst ? 1 : 0];
  auto &[to, toTimes] = terms[!keyIsFirst ? 0 : 1];
  if (of != keys || to.size() != 1 || (!result.query.empty() && result.query != to) ||
      !((ofTimes == -1 && toTimes == 1) || (ofTimes == 1 && toTimes == -1)))
    return false;
  step.kind = SK_CAUSAL;
  step.operand = nullptr;
  if (ofTimes == 1) { // key >= query - number
    step.keep = !step.keep;
    number = -number - 1;
  }
  step.offset = number;
  result.query = to;
  return true;
}

} // namespace

std::optional<SoftmaxMatch> spmd::target::matchSoftmax(Expressions &expressions, Expression *e, const Digits &key) {
  Match match(expressions, key);
  if (!match.matchSoftmax(e))
    return std::nullopt;
  return std::move(match.result);
}
