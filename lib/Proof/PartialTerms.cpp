//===- PartialTerms.cpp - Terms of partial results ------------------------===//

#include "PartialTerms.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

static StringRef getName(const Term &term) { return OperationName::getFromOpaquePointer(term.name).getStringRef(); }

static bool isDifference(StringRef name) { return name == "arith.subf" || name == "arith.subi"; }

std::optional<Partial> PartialTerms::get(TermId id) {
  auto it = known.find(id);
  if (it != known.end())
    return it->second;
  auto masked = op.masked.find(id);
  std::optional<Partial> result = masked == op.masked.end() ? compute(id) : mask(id, masked->second);
  known[id] = result;
  return result;
}

std::optional<Partial> PartialTerms::mask(TermId id, const OpTerms::Masked &masked) {
  const Term &term = terms[id], &other = terms[masked.other];
  std::optional<Partial> result;
  if (other.kind == Term::Kind::Output && term.kind == Term::Kind::Op && term.operands.size() == 2 &&
      llvm::is_contained(term.operands, masked.other) && getCombinerKind(getName(term), term.type) == kind) {
    result = combine(term, masked.ranks);
  } else if (other.kind == Term::Kind::Constant && isNeutral(kind, other.attribute)) {
    result = compute(id);
    if (result && overlap(result->ranks, masked.ranks))
      result = std::nullopt;
    if (result)
      result->ranks = unite(result->ranks, masked.ranks);
  }
  if (!result) {
    why = "what the owner of an element reads does not stand alone in a reduction";
    return std::nullopt;
  }
  values.count("element that its owner reads");
  result->owned.clear();
  result->isNeutral = false;
  return result;
}

bool PartialTerms::hasCompleteIndices(TermId id) {
  // The other terms have their indices in operands, which the caller follows.
  if (!llvm::is_contained({Term::Kind::Element, Term::Kind::Sum, Term::Kind::SumCompare, Term::Kind::Lookup},
                          terms[id].kind))
    return true;
  return llvm::all_of(terms.getReferences(id), [&](TermId index) {
    std::optional<Partial> partial = get(index);
    if (partial && partial->ranks.empty() && partial->owned.empty())
      return true;
    why = "reads at, or compares, an index that is not complete";
    return false;
  });
}

std::optional<Partial> PartialTerms::compute(TermId id) {
  const Term &term = terms[id];
  if (!hasCompleteIndices(id))
    return std::nullopt;
  if (auto it = op.owned.find(id); it != op.owned.end())
    return Partial{false, {}, it->second.ranks};
  switch (term.kind) {
  case Term::Kind::Undefined:
    return Partial{true, {}};
  case Term::Kind::Constant:
    return Partial{isNeutral(kind, term.attribute), {}};
  case Term::Kind::Element:
    return Partial{false, op.elements.lookup(id)};
  case Term::Kind::Output: {
    if (outputRanks)
      return Partial{false, *outputRanks};
    const Ranks &ranks = op.outputs[term.numbers[0]];
    return ranks.empty() ? get(term.operands[0]) : Partial{false, ranks};
  }
  case Term::Kind::Select: {
    std::optional<Partial> condition = get(term.operands[0]);
    if (!condition || !condition->ranks.empty() || !condition->owned.empty()) {
      why = "selects by a partial value";
      return std::nullopt;
    }
    std::optional<Partial> value = get(term.operands[1]), other = get(term.operands[2]);
    return join(value, other);
  }
  case Term::Kind::Op:
    return computeOp(term);
  default:
    return Partial{false, {}};
  }
}

std::optional<Partial> PartialTerms::computeOp(const Term &term) {
  StringRef name = getName(term);
  bool combines = getCombinerKind(name, term.type) == kind || (kind == ReductionKind::Sum && isDifference(name));
  if (combines && term.operands.size() == 2)
    return combine(term, {});
  SmallVector<Partial> operands;
  for (TermId operand : term.operands) {
    std::optional<Partial> partial = get(operand);
    if (!partial)
      return std::nullopt;
    operands.push_back(*partial);
  }
  Ranks owned;
  for (const Partial &operand : operands)
    if (!operand.owned.empty())
      owned = overlap(owned, operand.owned) ? owned : unite(owned, operand.owned);
  if (llvm::all_of(operands, [](const Partial &operand) { return operand.ranks.empty(); }))
    return Partial{false, {}, owned};
  if (!owned.empty()) {
    why = "combines an element that its owner reads with a partial value";
    return std::nullopt;
  }
  if (kind == ReductionKind::Sum && name == "arith.negf")
    return operands[0];
  // Only the order of roundings differs: the parts are exact in the wider type.
  if (kind == ReductionKind::Sum && name == "arith.extf") {
    values.count("partial sum in a wider type");
    return operands[0];
  }
  // As of a sum in the narrower type, each part is rounded: contractions that accumulate in a wider type end so.
  if (kind == ReductionKind::Sum && name == "arith.truncf") {
    values.count("partial sum in a narrower type");
    return operands[0];
  }
  bool isProduct = name == "arith.mulf" || name == "arith.muli";
  if (kind == ReductionKind::Sum && isProduct && (operands[0].ranks.empty() || operands[1].ranks.empty())) {
    values.count("product of a partial sum with a complete factor");
    return operands[0].ranks.empty() ? operands[1] : operands[0];
  }
  const Partial &shown = operands[0].ranks.empty() && operands.size() > 1 ? operands[1] : operands[0];
  why = name.str() + " of a value that is partial (" + stringifyReductionKind(kind).str() + ") over " +
        proof::toString(shown.ranks, values.mesh);
  return std::nullopt;
}

std::optional<Partial> PartialTerms::combine(const Term &term, ArrayRef<RankDigit> more) {
  if (overlap(reduced, more)) {
    why = "reduces over " + proof::toString(reduced, values.mesh) + " what is partial over it";
    return std::nullopt;
  }
  Ranks shared = unite(reduced, more);
  std::optional<Partial> sides[2];
  for (auto [i, operand] : llvm::enumerate(term.operands)) {
    sides[i] = get(operand);
    // What this device adds to the output is a part of the loop.
    bool isOutput = terms[operand].kind == Term::Kind::Output;
    bool hasOutput = terms[term.operands[1 - i]].kind == Term::Kind::Output;
    if (shared.empty() || !hasOutput || isOutput || !sides[i] || sides[i]->isNeutral)
      continue;
    if (overlap(sides[i]->ranks, shared)) {
      why = "reduces over " + proof::toString(shared, values.mesh) + " what is partial over it";
      return std::nullopt;
    }
    if (!more.empty())
      sides[i]->owned.clear();
    sides[i]->ranks = unite(sides[i]->ranks, shared);
  }
  return join(sides[0], sides[1]);
}

std::optional<Partial> PartialTerms::join(std::optional<Partial> a, std::optional<Partial> b) {
  if (!a || !b)
    return std::nullopt;
  if (!a->owned.empty() || !b->owned.empty()) {
    if (a->owned == b->owned && a->ranks == b->ranks)
      return a;
    why = "combines an element that its owner reads with one that all devices have";
    // Both may be computed with before the mask, if neither is partial.
    if (!a->ranks.empty() || !b->ranks.empty())
      return std::nullopt;
    return Partial{false, {}, a->owned.empty() ? b->owned : a->owned};
  }
  if (a->isNeutral)
    return b;
  if (b->isNeutral || a->ranks == b->ranks)
    return a;
  // A value that all devices combine counts once.
  if (isIdempotent(kind) && (a->ranks.empty() || b->ranks.empty())) {
    values.count("idempotent reduction of a complete value");
    return a->ranks.empty() ? b : a;
  }
  auto describe = [&](const Partial &partial, StringRef noun) {
    return partial.ranks.empty() ? std::string("a complete value")
                                 : noun.str() + " that is partial over " + proof::toString(partial.ranks, values.mesh);
  };
  // The complete one first: operands have no order.
  if (b->ranks.empty())
    std::swap(a, b);
  why = "combines " + describe(*a, "a value") + " with " + describe(*b, "one");
  return std::nullopt;
}

std::optional<ReductionKind> proof::getReduction(TermId id, unsigned r, const TermTable &terms) {
  const Term &term = terms[id];
  if (term.kind != Term::Kind::Op || term.operands.size() != 2)
    return std::nullopt;
  bool first = terms[term.operands[0]].kind == Term::Kind::Output,
       second = terms[term.operands[1]].kind == Term::Kind::Output;
  if (first == second || terms[term.operands[first ? 0 : 1]].numbers[0] != int64_t(r))
    return std::nullopt;
  llvm::DenseSet<TermId> seen;
  SmallVector<TermId> stack{term.operands[first ? 1 : 0]};
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (terms[next].kind == Term::Kind::Output)
      return std::nullopt;
    llvm::append_range(stack, terms.getReferences(next));
  }
  StringRef name = getName(term);
  if (first && isDifference(name))
    return ReductionKind::Sum;
  return getCombinerKind(name, term.type);
}
