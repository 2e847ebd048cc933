//===- TermFrame.cpp - Terms over global indices -------------------------===//

#include "shardkit/Proof/Terms.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

/// Splits the terms of `form` at the boundaries between the digits of `by`: each is inside of a digit or has no part of
/// one then.
static IndexForm splitAt(const IndexForm &form, const IndexForm &by) {
  SmallVector<IndexTerm> all(form.getTerms());
  for (size_t i = 0; i < all.size(); ++i)
    for (const IndexTerm &digit : by.getTerms())
      for (int64_t at : {digit.lo, digit.hi()}) {
        IndexTerm &term = all[i];
        if (term.kind != digit.kind || term.var != digit.var || term.kind == IndexTerm::Kind::Scalar || term.lo >= at ||
            at >= term.hi() || at % term.lo || term.hi() % at)
          continue;
        IndexTerm above{term.kind, term.var, at, term.hi() / at, term.coef * (at / term.lo)};
        term.size = at / term.lo;
        all.push_back(above);
      }
  return IndexForm::ofTerms(form.getConstant(), all);
}

void TermFrame::takeDigits(unsigned loop, IndexForm &rest, TermTable &terms, SumFactors &factors) {
  const IndexForm &index = *loops[loop];
  if (index.getConstant() != 0 || !index.isBijective())
    return;
  struct Digit {
    int64_t lo, size, factor;
  };
  SmallVector<Digit> digits;
  SmallVector<IndexTerm> others;
  for (const IndexTerm &term : splitAt(rest, index).getTerms()) {
    auto isOf = [&](const IndexTerm &digit) {
      return term.kind == digit.kind && term.var == digit.var && digit.lo <= term.lo && term.hi() <= digit.hi() &&
             term.lo % digit.lo == 0 && digit.hi() % term.hi() == 0;
    };
    const IndexTerm *digit = llvm::find_if(index.getTerms(), isOf);
    if (digit == index.getTerms().end())
      others.push_back(term);
    else
      digits.push_back({digit->coef * (term.lo / digit->lo), term.size, term.coef});
  }
  llvm::sort(digits, [](const Digit &a, const Digit &b) { return a.lo < b.lo; });
  SmallVector<Digit> joined;
  for (const Digit &digit : digits) {
    if (!joined.empty() && joined.back().lo * joined.back().size == digit.lo &&
        digit.factor == joined.back().factor * joined.back().size)
      joined.back().size *= digit.size;
    else
      joined.push_back(digit);
  }
  for (const Digit &digit : joined) {
    // Beyond the largest index there is nothing to take a remainder of.
    int64_t end = digit.lo * digit.size, last = index.getRange().second;
    bool isTop = end > last;
    if (!isTop && loop < assumed.size() && assumed[loop] && assumed[loop]->first >= 0 && assumed[loop]->second < end)
      isTop = usedAssumption = true;
    TermId number = terms.getDigit(loop, digit.lo, isTop ? 0 : digit.size);
    factors.push_back({digit.lo == 1 && isTop ? int64_t(loop) : -1 - int64_t(number), digit.factor});
  }
  rest = IndexForm::ofTerms(rest.getConstant(), others);
}

bool TermFrame::takeWhole(unsigned loop, IndexForm &rest, SumFactors &factors) const {
  const IndexForm &index = *loops[loop];
  // The factor is that of any digit of the loop, a local one if there is one.
  const IndexTerm *pivot = nullptr;
  for (const IndexTerm &term : index.getTerms())
    if (!pivot || term.kind == IndexTerm::Kind::Loop)
      pivot = &term;
  int64_t factor = 0;
  for (const IndexTerm &term : rest.getTerms())
    if (term.kind == pivot->kind && term.var == pivot->var && term.lo <= pivot->lo &&
        pivot->lo < std::max(term.hi(), term.lo + 1)) {
      int64_t coef = term.coef * (pivot->lo / term.lo);
      if (coef % pivot->coef)
        return false;
      factor = coef / pivot->coef;
    }
  if (factor == 0)
    return true;
  std::optional<IndexForm> next = rest.plus(index, -factor);
  if (!next)
    return false;
  rest = *next;
  factors.push_back({int64_t(loop), factor});
  return true;
}

std::optional<SmallVector<int64_t, 6>> TermFrame::expressAs(const IndexForm &form, TermTable *digits,
                                                            TermTable *coordinates) {
  IndexForm rest = form;
  SumFactors factors;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (!loop || loop->isConstant())
      continue;
    if (digits && loop->getConstant() == 0 && loop->isBijective())
      takeDigits(i, rest, *digits, factors);
    else if (!takeWhole(i, rest, factors))
      return std::nullopt;
  }
  for (const IndexTerm &term : rest.getTerms()) {
    if (term.kind == IndexTerm::Kind::Rank && coordinates) {
      factors.push_back({-1 - int64_t(coordinates->getCoordinate(term.lo, term.size)), term.coef});
      continue;
    }
    if (term.kind != IndexTerm::Kind::Scalar)
      return std::nullopt;
    factors.push_back({-1 - int64_t(term.var), term.coef});
  }
  llvm::sort(factors);
  SmallVector<int64_t, 6> sum{rest.getConstant(), int64_t(factors.size())};
  for (auto [loop, factor] : factors)
    sum.append({loop, factor});
  return sum;
}

std::optional<SmallVector<int64_t, 6>> TermFrame::express(const IndexForm &form, TermTable *terms) {
  std::optional<SmallVector<int64_t, 6>> sum = expressAs(form, nullptr, nullptr);
  return sum || !terms ? sum : expressAs(form, terms, nullptr);
}

std::optional<IndexForm> TermFrame::convertData(const IndexForm &form, TermTable &terms) {
  if (!form.hasData())
    return form;
  IndexForm result(form.getConstant());
  for (const IndexTerm &term : form.getTerms()) {
    IndexForm part;
    if (term.kind != IndexTerm::Kind::Data) {
      part = IndexForm::ofTerm(term);
    } else if (term.lo != 1 || term.size != kAnyData) {
      return std::nullopt;
    } else {
      TermId number = convert(term.var, terms);
      // A negative number is one without sign after some casts.
      auto constant = dyn_cast_or_null<IntegerAttr>(terms[terms.skipCasts(number)].attribute);
      if (terms[terms.skipCasts(number)].kind == TermKind::Constant && constant && !constant.getValue().isNegative() &&
          constant.getValue().getSignificantBits() < 60)
        part = IndexForm(constant.getValue().getSExtValue() * term.coef);
      else if (terms[number].kind == TermKind::Sum && terms[number].numbers[1] == 0)
        part = IndexForm(terms[number].numbers[0] * term.coef);
      else
        part = IndexForm::ofScalar(number).times(term.coef);
    }
    std::optional<IndexForm> sum = result.plus(part);
    if (!sum)
      return std::nullopt;
    result = *sum;
  }
  return result;
}

std::optional<SmallVector<int64_t, 6>> TermFrame::expressIndex(const IndexForm &given, TermTable &terms) {
  std::optional<IndexForm> form = convertData(given, terms);
  if (!form)
    return std::nullopt;
  std::optional<SmallVector<int64_t, 6>> sum = express(*form, &terms);
  return sum ? sum : expressAs(*form, nullptr, &terms);
}

std::optional<std::pair<int64_t, int64_t>> TermFrame::getRange(ArrayRef<int64_t> sum) const {
  std::pair<int64_t, int64_t> range(sum[0], sum[0]);
  for (int64_t i = 0; i < sum[1]; ++i) {
    int64_t loop = sum[2 + 2 * i], factor = sum[3 + 2 * i];
    if (loop < 0 || loop >= int64_t(assumed.size()) || !assumed[loop] || isUnknownSize(assumed[loop]->second + 1))
      return std::nullopt;
    range.first += factor * (factor < 0 ? assumed[loop]->second : assumed[loop]->first);
    range.second += factor * (factor < 0 ? assumed[loop]->first : assumed[loop]->second);
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Under conditions
//===----------------------------------------------------------------------===//

namespace {
/// What a condition says of a sum without its constant: lies in [low, high].
struct SumBounds {
  SmallVector<int64_t, 6> sum; ///< with the constant 0
  int64_t low = -kAnyIndex, high = kAnyIndex;
};
} // namespace

/// The bounds of all sums where `id` is `isTrue`.
static void addBounds(TermId id, bool isTrue, const TermTable &terms, SmallVectorImpl<SumBounds> &bounds) {
  const Term &term = terms[id];
  if (term.kind == TermKind::Select) {
    std::optional<bool> value = terms.getBool(term.operands[1]), other = terms.getBool(term.operands[2]);
    if (value == false && other == true)
      return addBounds(term.operands[0], !isTrue, terms, bounds);
    if (other == false && isTrue) {
      addBounds(term.operands[0], true, terms, bounds);
      addBounds(term.operands[1], true, terms, bounds);
    }
    return;
  }
  if (term.kind != TermKind::SumCompare || (term.numbers[0] == 1 && !isTrue))
    return;
  SmallVector<int64_t, 6> sum(llvm::drop_begin(term.numbers));
  int64_t constant = std::exchange(sum[0], 0);
  auto *known = llvm::find_if(bounds, [&](const SumBounds &other) { return other.sum == sum; });
  if (known == bounds.end()) {
    bounds.push_back({sum});
    known = std::prev(bounds.end());
  }
  // sum + constant = 0, < 0, or >= 0.
  if (term.numbers[0] == 1)
    known->low = known->high = -constant;
  else if (isTrue)
    known->high = std::min(known->high, -constant - 1);
  else
    known->low = std::max(known->low, -constant);
}

/// What an equation determines of a sum, as its place in the sum: the only scalar, with the factor 1 or -1, or the only
/// loop.
static std::optional<unsigned> findDetermined(ArrayRef<int64_t> sum) {
  if (sum[1] == 1 && sum[2] >= 0)
    return std::abs(sum[3]) == 1 ? std::optional(2u) : std::nullopt;
  std::optional<unsigned> found;
  for (unsigned i = 2; i < sum.size(); i += 2) {
    if (sum[i] >= 0)
      continue;
    if (found || std::abs(sum[i + 1]) != 1)
      return std::nullopt;
    found = i;
  }
  return found;
}

TermId TermFrame::convertWhere(TermId condition, bool isTrue, TermId id, TermTable &terms) {
  SmallVector<SumBounds> bounds;
  addBounds(condition, isTrue, terms, bounds);
  auto narrowed = assumed;
  for (const SumBounds &bound : bounds) {
    ArrayRef<int64_t> sum = bound.sum;
    if (sum[1] != 1 || sum[2] < 0 || sum[3] <= 0 || sum[2] >= int64_t(narrowed.size()) || !narrowed[sum[2]])
      continue;
    auto &[low, high] = *narrowed[sum[2]];
    if (bound.low > -kAnyIndex)
      low = std::max(low, llvm::divideCeilSigned(bound.low, sum[3]));
    if (bound.high < kAnyIndex)
      high = std::min(high, llvm::divideFloorSigned(bound.high, sum[3]));
    if (low > high)
      return convert(id, terms); // nowhere
  }
  if (narrowed == assumed)
    return convert(id, terms);
  SmallVector<int64_t> key;
  for (const auto &range : narrowed)
    key.append({range ? range->first : kAnyIndex, range ? range->second : kAnyIndex});
  std::swap(assumed, narrowed);
  std::swap(converted, convertedWhere[key]);
  TermId result = convert(id, terms);
  std::swap(converted, convertedWhere[key]);
  std::swap(assumed, narrowed);
  return result;
}

/// The quotient that is exact where a remainder is zero: divui of what remui is of, as a term; std::nullopt if `sum` is
/// no remainder.
static std::optional<TermId> getQuotient(ArrayRef<int64_t> sum, TermTable &terms, int64_t &divisor, TermId &number) {
  if (sum[1] != 1 || sum[2] >= 0)
    return std::nullopt;
  const Term &remainder = terms[-1 - sum[2]];
  auto isIndex = [&](TermId id) { return terms[id].kind == TermKind::Sum; };
  if (remainder.kind != TermKind::Op || remainder.operands.size() != 2 ||
      OperationName::getFromOpaquePointer(remainder.name).getStringRef() != "arith.remui" ||
      !isIndex(remainder.operands[0]) || !isIndex(remainder.operands[1]) ||
      terms[remainder.operands[1]].numbers[1] != 0)
    return std::nullopt;
  divisor = terms[remainder.operands[1]].numbers[0];
  number = remainder.operands[0];
  MLIRContext *context = remainder.attribute.getContext();
  OperationName name("arith.divui", context);
  return terms.getOp(name.getAsOpaquePointer(), name.getStringRef(), remainder.attribute, remainder.type,
                     ArrayRef<TermId>(remainder.operands), 0);
}

bool TermFrame::areEqualWhere(TermId condition, TermId a, TermId b, TermTable &terms) {
  SmallVector<SumBounds> bounds;
  addBounds(condition, true, terms, bounds);
  for (SumBounds &bound : bounds) {
    ArrayRef<int64_t> sum = bound.sum;
    bool isLoop = sum[1] == 1 && sum[2] >= 0 && sum[3] == 1;
    if (isLoop && sum[2] < int64_t(assumed.size()) && assumed[sum[2]]) {
      usedAssumption = true;
      bound.low = std::max(bound.low, assumed[sum[2]]->first);
      bound.high = std::min(bound.high, assumed[sum[2]]->second);
    }
    if (bound.low != bound.high)
      continue;
    Equation equation;
    TermId number = 0;
    std::optional<TermId> quotient = bound.low == 0 ? getQuotient(sum, terms, equation.divisor, number) : std::nullopt;
    if (quotient) {
      // divisor * (number / divisor) = number
      equation.determined = -1 - int64_t(*quotient);
      equation.by.assign(terms[number].numbers.begin(), terms[number].numbers.end());
    } else if (std::optional<unsigned> at = findDetermined(sum)) {
      // sum + factor * determined = number
      equation.determined = sum[*at];
      int64_t factor = sum[*at + 1];
      equation.by = {factor * bound.low, 0};
      for (unsigned i = 2; i < sum.size(); i += 2)
        if (i != *at) {
          ++equation.by[1];
          equation.by.append({sum[i], -factor * sum[i + 1]});
        }
    } else {
      continue;
    }
    llvm::DenseMap<TermId, TermId> memo;
    for (TermId *side : {&a, &b})
      if (!apply(equation, *side, terms, memo))
        return false;
  }
  return a == b;
}

SmallVector<int64_t, 6> TermFrame::Equation::apply(ArrayRef<int64_t> sum) const {
  std::map<int64_t, int64_t> factors;
  int64_t constant = sum[0];
  for (int64_t i = 0; i < sum[1]; ++i) {
    int64_t loop = sum[2 + 2 * i], factor = sum[3 + 2 * i];
    if (loop != determined || factor % divisor != 0) {
      factors[loop] += factor;
      continue;
    }
    factor /= divisor;
    constant += factor * by[0];
    for (int64_t k = 0; k < by[1]; ++k)
      factors[by[2 + 2 * k]] += factor * by[3 + 2 * k];
  }
  return makeSum(constant, factors);
}

bool TermFrame::apply(const Equation &equation, TermId &id, TermTable &terms,
                      llvm::DenseMap<TermId, TermId> &memo) const {
  if (auto it = memo.find(id); it != memo.end()) {
    id = it->second;
    return true;
  }
  TermId from = id;
  Term term = terms[id]; // the table grows
  for (TermId &operand : term.operands)
    if (!apply(equation, operand, terms, memo))
      return false;
  switch (term.kind) {
  case TermKind::Element: {
    auto [element, sums] = terms.getElement(id);
    term.numbers.assign({int64_t(element)});
    for (ArrayRef<int64_t> sum : sums)
      llvm::append_range(term.numbers, equation.apply(sum));
    id = terms.get(term);
    break;
  }
  case TermKind::Sum: {
    SmallVector<int64_t, 6> sum = equation.apply(term.numbers);
    term.numbers.assign(sum.begin(), sum.end());
    id = terms.get(term);
    break;
  }
  case TermKind::SumCompare:
    id = terms.getSumCompare(term.numbers[0], equation.apply(ArrayRef(term.numbers).drop_front()));
    break;
  case TermKind::Select:
    id = terms.getSelect(term.operands[0], term.operands[1], term.operands[2]);
    break;
  case TermKind::Op:
    id = terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                     term.type, term.operands, term.numbers[0]);
    break;
  default:
    // An output, or a look-up, whose indices are scalars of their own.
    if (ArrayRef<TermId>(term.operands) != ArrayRef<TermId>(terms[from].operands))
      return false;
  }
  if (id != from && replace && !replace(from, id))
    return false;
  memo[from] = id;
  return true;
}

TermId TermFrame::convert(TermId id, TermTable &terms) {
  auto known = converted.find(id);
  if (known != converted.end())
    return known->second;
  TermId result = convertOnce(id, terms);
  converted[id] = result;
  return result;
}

TermId TermFrame::convertOnce(TermId id, TermTable &terms) {
  Term term = terms[id];
  auto decide = [&](bool value) { return terms.getConstant(BoolAttr::get(context, value)); };
  switch (term.kind) {
  case TermKind::Argument:
    return getArgument(term.numbers[0]);
  case TermKind::Lookup: {
    if (term.numbers[0] < 0) // of the function around the op
      return id;
    return getLookup(term.numbers[0], term.operands);
  }
  case TermKind::Index: {
    std::optional<SmallVector<int64_t, 6>> sum = expressIndex(term.form, terms);
    if (!sum) {
      hasRest = true;
      return id;
    }
    Term result{TermKind::Sum};
    result.numbers.assign(sum->begin(), sum->end());
    return terms.get(result);
  }
  case TermKind::Compare: {
    std::optional<IndexForm> form = convertData(term.form, terms);
    std::optional<SmallVector<int64_t, 6>> sum = form ? express(*form, &terms) : std::nullopt;
    bool isLess = term.numbers[0] == 0;
    auto byRange = [&](int64_t low, int64_t high) -> std::optional<bool> {
      if (isLess ? high < 0 : low == 0 && high == 0)
        return true;
      if (isLess ? low >= 0 : low > 0 || high < 0)
        return false;
      return std::nullopt;
    };
    if (!term.form.hasScalar()) {
      auto [low, high] = term.form.getRange();
      if (std::optional<bool> known = byRange(low, high))
        return decide(*known);
    }
    if (!sum) {
      hasRest = true;
      return id;
    }
    if (auto range = getRange(*sum))
      if (std::optional<bool> decided = byRange(range->first, range->second)) {
        usedAssumption = true;
        return decide(*decided);
      }
    return terms.getSumCompare(term.numbers[0], *sum);
  }
  case TermKind::Select: {
    if (std::optional<TermId> owned = getOwned ? getOwned(term) : std::nullopt)
      return *owned;
    TermId condition = convert(term.operands[0], terms);
    // Only the side that is taken counts.
    if (std::optional<bool> known = terms.getBool(condition))
      return convert(term.operands[*known ? 1 : 2], terms);
    TermId value = convertWhere(condition, true, term.operands[1], terms);
    TermId other = convertWhere(condition, false, term.operands[2], terms);
    // One side of two conditions, by the numbers that the first one says.
    if (Term inner = terms[value]; inner.kind == TermKind::Select && inner.operands[2] != other &&
                                   areEqualWhere(condition, inner.operands[2], other, terms)) {
      usedEquation = true;
      return terms.getSelect(terms.getAnd(condition, inner.operands[0], context), inner.operands[1], other);
    }
    return terms.getSelect(condition, value, other);
  }
  case TermKind::Op: {
    SmallVector<TermId> operands;
    for (TermId operand : term.operands)
      operands.push_back(convert(operand, terms));
    return terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                       term.type, operands, term.numbers[0]);
  }
  default:
    return id;
  }
}
