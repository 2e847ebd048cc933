//===- TermFrame.cpp - Terms over global indices -------------------------===//

#include "shardkit/Proof/Terms.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"

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
    int64_t low = (*sum)[0], high = (*sum)[0];
    bool known = true;
    for (int64_t i = 0; i < (*sum)[1] && known; ++i) {
      int64_t loop = (*sum)[2 + 2 * i], factor = (*sum)[3 + 2 * i];
      known = loop >= 0 && assumed[loop].has_value() && !isUnknownSize(assumed[loop]->second + 1);
      if (known) {
        low += factor * (factor < 0 ? assumed[loop]->second : assumed[loop]->first);
        high += factor * (factor < 0 ? assumed[loop]->first : assumed[loop]->second);
      }
    }
    if (known)
      if (std::optional<bool> decided = byRange(low, high)) {
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
    return terms.getSelect(condition, convert(term.operands[1], terms), convert(term.operands[2], terms));
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
