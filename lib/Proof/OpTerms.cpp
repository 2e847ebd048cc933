//===- OpTerms.cpp - The terms of a local op over global indices ----------===//

#include "OpTerms.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

std::optional<IndexForm> proof::getAt(const IndexForm &form, unsigned dim, int64_t size, const IndexForm &map) {
  ArrayRef<IndexTerm> loops = map.getTerms();
  bool isOne = loops.size() == 1 && loops[0].kind == IndexTerm::Kind::Loop && loops[0].coef == 1 && loops[0].lo == 1;
  if (!(isOne || loops.empty()) || map.getConstant() < 0 || map.getRange().second >= size)
    return form.substitute(dim, size, map);
  // One loop from `begin` on, which may be all of one digit: an equal slice of a strided dim.
  int64_t begin = map.getConstant(), extent = isOne ? loops[0].size : 1;
  IndexForm at(form.getConstant());
  for (const IndexTerm &term : form.getTerms()) {
    std::optional<IndexForm> next;
    if (term.kind == IndexTerm::Kind::Rank) {
      next = at.plus(IndexForm::ofRank({term.lo, term.size}), term.coef);
    } else if (term.kind == IndexTerm::Kind::Scalar) {
      next = at.plus(IndexForm::ofScalar(term.var), term.coef);
    } else {
      std::optional<IndexForm> index = IndexForm(begin);
      if (isOne)
        index = index->plus(IndexForm::ofLoop(loops[0].var, extent));
      index = index->dividedBy(term.lo);
      index = index ? index->modulo(term.size) : std::nullopt;
      next = index ? at.plus(*index, term.coef) : std::nullopt;
    }
    if (!next)
      return std::nullopt;
    at = *next;
  }
  return at;
}

OpTerms::OpTerms(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands,
                 ArrayRef<LoopIndex> loops, LocalValues &values)
    : op(op), structured(structured), loops(loops), values(values), outputs(structured.results.size()),
      operands(operands) {}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool OpTerms::isUnit(unsigned loop) const {
  return loops[loop].form ? loops[loop].form->isConstant() : structured.extents[loop] == 1;
}

std::optional<std::pair<int64_t, int64_t>> OpTerms::getRange(unsigned loop) const {
  if (!loops[loop].form || loops[loop].form->hasScalar())
    return std::nullopt;
  return loops[loop].form->getRange();
}

TermFrame OpTerms::getFrameOutside(unsigned loop, bool above) const {
  TermFrame frame;
  for (unsigned l = 0; l < getNumLoops(); ++l)
    frame.assumed.push_back(getRange(l));
  auto [low, high] = *getRange(loop);
  frame.assumed[loop] = above ? std::pair(*loops[loop].size, high) : std::pair(low, int64_t(-1));
  return frame;
}

bool OpTerms::readsConstant(Value tensor) const {
  return llvm::any_of(llvm::zip_equal(structured.arguments, operands), [&](auto pair) {
    auto [argument, fact] = pair;
    return argument.value == tensor && fact && values.global[fact->value].splat;
  });
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool OpTerms::readPartialKind(Attempt &attempt) {
  for (const Fact *fact : operands) {
    if (!fact || fact->partial.empty())
      continue;
    if (partialKind && *partialKind != fact->kind) {
      attempt.fail(2, Outcome::Refused, "combines partial results of different reductions", "partial");
      return false;
    }
    partialKind = fact->kind;
  }
  return true;
}

bool OpTerms::convertInside(Attempt &attempt) {
  if (!readPartialKind(attempt))
    return false;
  TermFrame frame;
  for (const LoopIndex &loop : loops)
    frame.assumed.push_back(loop.form && loop.size ? std::optional(std::pair<int64_t, int64_t>(0, *loop.size - 1))
                                                   : std::nullopt);
  inside = convert(frame, llvm::SmallBitVector(getNumLoops()));
  usedAssumption = frame.usedAssumption;
  if (isMisfit)
    attempt.fail(1, Outcome::Undecided, misfit, misfit.find("computed") != std::string::npos ? "lookup" : "misfit");
  return !isMisfit;
}

SmallVector<TermId> OpTerms::convert(TermFrame &frame, const llvm::SmallBitVector &outside) {
  frame.context = op.getContext();
  for (const LoopIndex &loop : loops)
    frame.loops.push_back(loop.form);
  // The frame outlives this call.
  frame.getArgument = [this, &frame, outside](unsigned number) { return convertArgument(number, frame, outside); };
  frame.getLookup = [this](unsigned number, ArrayRef<TermId> indices) { return convertLookup(number, indices); };
  SmallVector<TermId> converted;
  for (TermId term : structured.terms)
    converted.push_back(frame.convert(term, values.terms));
  return converted;
}

TermId OpTerms::setMisfit(const Twine &why) {
  if (misfit.empty())
    misfit = why.str();
  isMisfit = true;
  return values.terms.getUnknown(&op);
}

TermId OpTerms::convertArgument(unsigned number, TermFrame &frame, const llvm::SmallBitVector &outside) {
  const Structured::Argument &argument = structured.arguments[number];
  const Fact &fact = *operands[number];
  ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
  SumList sums;
  Attribute padding;
  for (auto [d, dim] : llvm::enumerate(fact.dims)) {
    SmallVector<int64_t, 6> sum{0, 0};
    if (dim.form) {
      std::optional<IndexForm> at = getAt(*dim.form, d, shape[d], argument.map[d]);
      std::optional<SmallVector<int64_t, 6>> expressed = at ? frame.express(*at) : std::nullopt;
      if (!expressed)
        return setMisfit("dim " + Twine(d) + " of operand #" + Twine(number) + " has " +
                         dim.form->toString(values.mesh) + ", which does not fit the other operands");
      sum = *expressed;
      bool isLoop = sum[0] == 0 && sum[1] == 1 && sum[3] == 1 && sum[2] >= 0;
      if (isLoop && outside[sum[2]] && dim.padding && loops[sum[2]].size == dim.size)
        padding = dim.padding;
    }
    sums.push_back(sum);
  }
  TermTable &terms = values.terms;
  TermId element = padding ? terms.getConstant(padding) : values.global.getElement(fact.value, sums);
  unsigned first = structured.numInputs, output = number - first;
  if (structured.hasReduction() && number >= first && output < structured.results.size()) {
    outputs[output] = fact.partial;
    Term term{Term::Kind::Output};
    term.operands.push_back(element);
    term.numbers.push_back(output);
    return terms.get(term);
  }
  if (!fact.partial.empty()) {
    // A constant is complete.
    isMisfit |= terms[element].kind != Term::Kind::Element;
    auto [it, isNew] = elements.try_emplace(element, fact.partial);
    isMisfit |= !isNew && it->second != fact.partial;
  } else if (elements.count(element)) {
    isMisfit = true;
  }
  return element;
}

TermId OpTerms::convertLookup(unsigned number, ArrayRef<TermId> indices) {
  const Fact &fact = *operands[number];
  if (!fact.partial.empty() || (!values.global[fact.value].splat && !fact.isFull()))
    return setMisfit("reads a sharded value at computed indices");
  return values.global.getLookup(fact.value, indices);
}
