//===- TermFrame.cpp - Terms over global indices -------------------------===//

#include "shardkit/Proof/Terms.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

std::optional<SmallVector<int64_t, 6>> TermFrame::express(const IndexForm &form) const {
  IndexForm rest = form;
  SmallVector<std::pair<int64_t, int64_t>, 4> factors;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (!loop || loop->isConstant())
      continue;
    // The factor is that of any digit of the loop, a local one if there is one.
    const IndexTerm *pivot = nullptr;
    for (const IndexTerm &term : loop->getTerms())
      if (!pivot || term.kind == IndexTerm::Kind::Loop)
        pivot = &term;
    int64_t factor = 0;
    for (const IndexTerm &term : rest.getTerms())
      if (term.kind == pivot->kind && term.var == pivot->var && term.lo <= pivot->lo &&
          pivot->lo < std::max(term.hi(), term.lo + 1)) {
        int64_t coef = term.coef * (pivot->lo / term.lo);
        if (coef % pivot->coef)
          return std::nullopt;
        factor = coef / pivot->coef;
      }
    if (factor == 0)
      continue;
    std::optional<IndexForm> next = rest.plus(*loop, -factor);
    if (!next)
      return std::nullopt;
    rest = *next;
    factors.push_back({int64_t(i), factor});
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
  coordinates = &terms;
  std::optional<SmallVector<int64_t, 6>> sum = express(*form);
  coordinates = nullptr;
  return sum;
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
    std::optional<SmallVector<int64_t, 6>> sum = form ? express(*form) : std::nullopt;
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
    // One of two equal comparisons, by the sign of the last factor: -s < 0 holds where s - 1 < 0 does not.
    bool isNegated = (*sum)[1] > 0 && sum->back() < 0;
    if (isNegated) {
      (*sum)[0] = isLess ? -(*sum)[0] - 1 : -(*sum)[0];
      for (size_t i = 3; i < sum->size(); i += 2)
        (*sum)[i] = -(*sum)[i];
    }
    Term result{TermKind::SumCompare};
    result.numbers.push_back(term.numbers[0]);
    result.numbers.append(sum->begin(), sum->end());
    TermId id = terms.get(result);
    return isNegated && isLess ? terms.getSelect(id, decide(false), decide(true)) : id;
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
