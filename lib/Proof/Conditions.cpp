//===- Conditions.cpp - Terms under conditions ----------------------------===//
//
// A term is rewritten to an equal one in which a selection is not repeated inside of itself,
// and a conjunction does not have what its other parts imply:
//
//   select(c, f(select(c, a, b)), d)             select(c, f(a), d)
//   e mod 3 = x and (e / 3) mod 4 = i            e mod 12 = 3 i + x
//   0 <= e < 4 and i = e, for i in [0, 4)        i = e
//
//===----------------------------------------------------------------------===//

#include "shardkit/Proof/Terms.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;
using TermKind = Term::Kind;

namespace {
class Simplifier {
public:
  Simplifier(TermTable &terms, MLIRContext *context) : terms(terms), context(context) {}
  TermId simplify(TermId id);

private:
  using Set = llvm::SmallDenseSet<TermId>;
  /// The term with other operands, and other numbers in its index.
  TermId rebuild(TermId id, llvm::function_ref<TermId(TermId)> get);
  /// An equal term where the conditions in `known` hold.
  TermId assume(TermId id, const Set &known, llvm::DenseMap<TermId, TermId> &memo);
  TermId assume(TermId id, const Set &known) {
    llvm::DenseMap<TermId, TermId> memo;
    return assume(id, known, memo);
  }
  SmallVector<TermId> getConjuncts(TermId id) const;
  /// A conjunction without the parts that its equations imply.
  TermId reduce(SmallVector<TermId> conjuncts);
  bool joinDigits(SmallVectorImpl<IndexForm> &equations) const;
  /// True if the equation implies the condition.
  bool implies(const IndexForm &equation, TermId condition) const;
  std::optional<IndexForm> getEquation(TermId id) const;
  /// `form` < 0 or `form` = 0 in all lanes, or in none.
  std::optional<bool> decide(const IndexForm &form, bool isLess) const;

  TermTable &terms;
  MLIRContext *context;
  llvm::DenseMap<TermId, TermId> done;
};
} // namespace

SmallVector<TermId> Simplifier::getConjuncts(TermId id) const {
  SmallVector<TermId> conjuncts, stack{id};
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    const Term &term = terms[next];
    if (term.kind == TermKind::Select && terms.getBool(term.operands[2]) == false)
      stack.append({term.operands[1], term.operands[0]});
    else
      conjuncts.push_back(next);
  }
  return conjuncts;
}

TermId Simplifier::rebuild(TermId id, llvm::function_ref<TermId(TermId)> get) {
  Term term = terms[id]; // the table grows
  auto getForm = [&](const IndexForm &form) {
    std::optional<IndexForm> sum = IndexForm(form.getConstant());
    for (const IndexTerm &digit : form.getTerms()) {
      IndexForm part = IndexForm::ofTerm(digit);
      bool isData = digit.kind == IndexTerm::Kind::Data;
      TermId number = isData ? get(digit.var) : 0;
      bool isAll = isData && digit.lo == 1 && digit.size == kAnyData;
      if (isAll || (isData && number != digit.var)) {
        TermId index = terms.getIndex(terms.getForm(number));
        if (digit.lo != 1)
          index = terms.getIndexOp("arith.divui", index, digit.lo);
        if (digit.hi() < kAnyData)
          index = terms.getIndexOp("arith.remui", index, digit.size);
        part = terms.getForm(index).times(digit.coef);
      }
      sum = sum ? sum->plus(part) : std::nullopt;
    }
    return sum;
  };
  switch (term.kind) {
  case TermKind::Index:
  case TermKind::Compare: {
    if (!term.form.hasData())
      return id;
    std::optional<IndexForm> form = getForm(term.form);
    if (!form || *form == term.form)
      return id;
    if (term.kind == TermKind::Index)
      return terms.getIndex(*form);
    return term.numbers[0] == 0 ? terms.getLess(*form) : terms.getEqual(*form);
  }
  case TermKind::Select: {
    TermId condition = get(term.operands[0]), value = get(term.operands[1]), other = get(term.operands[2]);
    return terms.getSelect(condition, value, other);
  }
  case TermKind::Op: {
    SmallVector<TermId> operands;
    for (TermId operand : term.operands)
      operands.push_back(get(operand));
    if (ArrayRef(operands) == ArrayRef<TermId>(term.operands))
      return id;
    return terms.getOp(term.name, OperationName::getFromOpaquePointer(term.name).getStringRef(), term.attribute,
                       term.type, operands, term.numbers[0]);
  }
  case TermKind::Lookup:
    for (TermId &operand : term.operands)
      operand = get(operand);
    return terms.get(term);
  default:
    return id;
  }
}

TermId Simplifier::assume(TermId id, const Set &known, llvm::DenseMap<TermId, TermId> &memo) {
  if (auto it = memo.find(id); it != memo.end())
    return it->second;
  const Term &term = terms[id];
  TermId result;
  bool holds = term.kind == TermKind::Select && terms.getBool(term.operands[2]) != false &&
               llvm::all_of(getConjuncts(term.operands[0]), [&](TermId part) { return known.contains(part); });
  if (holds)
    result = assume(term.operands[1], known, memo);
  else
    result = rebuild(id, [&](TermId operand) { return assume(operand, known, memo); });
  memo[id] = result;
  return result;
}

TermId Simplifier::simplify(TermId id) {
  if (auto it = done.find(id); it != done.end())
    return it->second;
  const Term &term = terms[id];
  TermId result;
  if (term.kind != TermKind::Select) {
    result = rebuild(id, [&](TermId operand) { return simplify(operand); });
  } else if (terms.getBool(term.operands[2]) == false) {
    SmallVector<TermId> parts = llvm::map_to_vector(getConjuncts(id), [&](TermId part) { return simplify(part); });
    result = reduce(parts);
  } else {
    auto [given, value, other] = std::tuple(term.operands[0], term.operands[1], term.operands[2]);
    // By the condition as it was, and as it is.
    SmallVector<TermId> parts = getConjuncts(given);
    TermId condition = simplify(given);
    Set known(parts.begin(), parts.end());
    value = simplify(assume(value, known));
    parts = getConjuncts(condition);
    value = assume(value, Set(parts.begin(), parts.end()));
    other = simplify(other);
    result = terms.getSelect(condition, value, other);
  }
  done[id] = result;
  return result;
}

std::optional<IndexForm> Simplifier::getEquation(TermId id) const {
  const Term &term = terms[id];
  return term.kind == TermKind::Compare && term.numbers[0] == 1 ? std::optional(term.form) : std::nullopt;
}

std::optional<bool> Simplifier::decide(const IndexForm &form, bool isLess) const {
  if (form.hasScalar())
    return std::nullopt;
  auto [low, high] = form.getRange();
  if (isLess ? high < 0 : low == 0 && high == 0)
    return true;
  if (isLess ? low >= 0 : low > 0 || high < 0)
    return false;
  return std::nullopt;
}

bool Simplifier::implies(const IndexForm &equation, TermId condition) const {
  const Term *term = &terms[condition];
  bool isNegated = term->kind == TermKind::Select && terms.getBool(term->operands[1]) == false &&
                   terms.getBool(term->operands[2]) == true;
  if (isNegated)
    term = &terms[term->operands[0]];
  if (term->kind != TermKind::Compare)
    return false;
  for (int64_t factor : {1, -1}) {
    std::optional<IndexForm> form = term->form.plus(equation, factor);
    if (form && decide(*form, term->numbers[0] == 0) == !isNegated)
      return true;
  }
  return false;
}

/// The only number whose digit is part of an equation, as in e mod 3 - x; null if there is none.
static const IndexTerm *getDigit(const IndexForm &form) {
  const IndexTerm *found = nullptr;
  for (const IndexTerm &term : form.getTerms()) {
    if (term.kind == IndexTerm::Kind::Scalar || (term.kind == IndexTerm::Kind::Data && found))
      return nullptr;
    if (term.kind == IndexTerm::Kind::Data)
      found = &term;
  }
  return found && std::abs(found->coef) == 1 && found->size < kAnyData ? found : nullptr;
}

bool Simplifier::joinDigits(SmallVectorImpl<IndexForm> &equations) const {
  for (size_t a = 0; a < equations.size(); ++a)
    for (size_t b = 0; b < equations.size(); ++b) {
      const IndexTerm *minor = getDigit(equations[a]), *major = getDigit(equations[b]);
      if (a == b || !minor || !major || minor->var != major->var || minor->hi() != major->lo)
        continue;
      // Each side of the minor one is less than its size, so that both are equal if the sum is.
      IndexForm low = equations[a].times(minor->coef), high = equations[b].times(major->coef);
      int64_t size = minor->size;
      std::optional<IndexForm> other = low.plus(IndexForm::ofTerm({minor->kind, minor->var, minor->lo, size, 1}), -1);
      if (!other)
        continue;
      auto [first, last] = other->getRange(); // the negated side without data
      if (first <= -size || last > 0)
        continue;
      std::optional<IndexForm> sum = low.plus(high, size);
      if (!sum)
        continue;
      equations[a] = *sum;
      equations.erase(equations.begin() + b);
      return true;
    }
  return false;
}

TermId Simplifier::reduce(SmallVector<TermId> conjuncts) {
  Set all(conjuncts.begin(), conjuncts.end());
  for (TermId &part : conjuncts) {
    Set others = all;
    others.erase(part);
    part = assume(part, others);
  }
  SmallVector<IndexForm> equations;
  for (TermId part : conjuncts)
    if (std::optional<IndexForm> equation = getEquation(part))
      equations.push_back(*equation);
  // Only where a loop is compared: what tells who owns an element stays as it is.
  auto hasLoop = [](const IndexForm &form) {
    return llvm::any_of(form.getTerms(), [](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Loop; });
  };
  if (llvm::any_of(equations, hasLoop)) {
    llvm::erase_if(conjuncts, [&](TermId part) { return getEquation(part).has_value(); });
    while (joinDigits(equations)) {
    }
    for (IndexForm &equation : equations) {
      // All digits below a bound that the number is known to have are the number.
      const IndexTerm *digit = getDigit(equation);
      if (digit && digit->lo == 1) {
        IndexForm number = IndexForm::ofData(digit->var);
        TermId bound = terms.getLess(number.plus(-digit->size)), sign = terms.getNot(terms.getLess(number), context);
        if (llvm::is_contained(conjuncts, bound) && llvm::is_contained(conjuncts, sign))
          if (std::optional<IndexForm> rest = equation.plus(IndexForm::ofTerm(*digit), -1))
            equation = rest->plus(number, digit->coef).value_or(equation);
      }
    }
    llvm::erase_if(conjuncts, [&](TermId part) {
      return llvm::any_of(equations, [&](const IndexForm &equation) { return implies(equation, part); });
    });
    for (const IndexForm &equation : equations)
      conjuncts.push_back(terms.getEqual(equation));
  }
  TermId result = conjuncts.front();
  for (TermId part : llvm::drop_begin(conjuncts))
    result = terms.getAnd(result, part, context);
  return result;
}

TermId proof::simplify(TermId id, TermTable &terms, MLIRContext *context) {
  return Simplifier(terms, context).simplify(id);
}
