//===- OpTerms.cpp - The terms of a local op over global indices ----------===//

#include "OpTerms.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

std::optional<IndexForm> proof::getAt(const IndexForm &form, unsigned dim, int64_t size, const IndexForm &map) {
  ArrayRef<IndexTerm> loops = map.getTerms();
  bool isOne = loops.size() == 1 && loops[0].kind == IndexTerm::Kind::Loop && loops[0].coef == 1 && loops[0].lo == 1;
  if (!(isOne || loops.empty()) || map.hasScalar() || map.getConstant() < 0 || map.getRange().second >= size)
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

bool OpTerms::isShardedLookup(Value tensor, unsigned d) const {
  return llvm::any_of(llvm::zip_equal(structured.arguments, operands), [&](auto pair) {
    auto [argument, fact] = pair;
    return argument.value == tensor && argument.isLookup && fact && fact->dims.size() > d && fact->dims[d].form &&
           *fact->dims[d].form != IndexForm::ofLoop(d, fact->dims[d].size);
  });
}

bool OpTerms::hasAll(Value tensor, unsigned d) const {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(d);
  return llvm::any_of(llvm::zip_equal(structured.arguments, operands), [&](auto pair) {
    auto [argument, fact] = pair;
    if (argument.value != tensor || !fact || !values.global[fact->value].type || fact->dims.size() <= d)
      return false;
    return !values.global[fact->value].isUniform[d] && fact->dims[d].size == size &&
           fact->dims[d].form == IndexForm::ofLoop(d, size);
  });
}

bool OpTerms::isUniformLookup(Value tensor, unsigned d) const {
  return llvm::any_of(llvm::zip_equal(structured.arguments, operands), [&](auto pair) {
    auto [argument, fact] = pair;
    if (argument.value != tensor || !argument.isLookup || !fact || fact->dims.size() <= d)
      return false;
    const ClassInfo &info = values.global[fact->value];
    return !fact->dims[d].form || (info.type && info.isUniform[d]);
  });
}

bool OpTerms::isReadBy(TermId index, int64_t size) {
  TermFrame frame;
  for (const LoopIndex &loop : loops) {
    frame.loops.push_back(loop.form);
    frame.assumed.push_back(loop.form && loop.size ? std::optional(std::pair<int64_t, int64_t>(0, *loop.size - 1))
                                                   : std::nullopt);
  }
  frame.context = op.getContext();
  frame.getArgument = [this, &frame](unsigned number) {
    return convertArgument(number, frame, llvm::SmallBitVector(getNumLoops()));
  };
  frame.getLookup = [this, &frame](unsigned number, ArrayRef<TermId> indices) {
    return convertLookup(number, indices, frame);
  };
  TermId converted = frame.convert(index, values.terms);
  return !isMisfit && values.global.isRead(converted, size, [&](int64_t loop) {
    return loop < int64_t(loops.size()) ? loops[loop].size : std::nullopt;
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
      // Results of their own may each have one.
      attempt.fail(2, op.getNumResults() > 1 ? Outcome::Undecided : Outcome::Refused,
                   "combines partial results of different reductions", "partial");
      return false;
    }
    partialKind = fact->kind;
  }
  return true;
}

bool OpTerms::readsPartial(TermId id) const {
  return values.terms.anyTerm(id, [&](TermId next) {
    const Term &term = values.terms[next];
    return !elements.lookup(next).empty() || (term.kind == Term::Kind::Output && !outputs[term.numbers[0]].empty());
  });
}

bool OpTerms::convertInside(Attempt &attempt) {
  if (!readPartialKind(attempt))
    return false;
  readOuterElements();
  TermFrame frame;
  for (auto [l, loop] : llvm::enumerate(loops))
    frame.assumed.push_back(loop.form && loop.size ? std::optional(std::pair<int64_t, int64_t>(0, *loop.size - 1))
                                                   : getRange(l));
  assumed = frame.assumed;
  inside = convert(frame, llvm::SmallBitVector(getNumLoops()));
  usedAssumption = frame.usedAssumption;
  if (frame.usedEquation && !isMisfit)
    values.count("selections whose other sides are equal");
  if (!masked.empty() && readsUnmasked(frame))
    setMisfit("reads a sharded value at computed indices, and not only where the device owns it");
  if (isMisfit)
    attempt.fail(1, Outcome::Undecided, misfit, misfit.find("computed") != std::string::npos ? "lookup" : "misfit");
  return !isMisfit;
}

void OpTerms::readOuterElements() {
  for (TermId term : structured.terms)
    addCompleteElements(term);
}

void OpTerms::addCompleteElements(TermId term) {
  SmallVector<TermId> stack{term};
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!completed.insert(id).second)
      continue;
    if (values.terms[id].kind == Term::Kind::Element)
      addElement(id, {});
    llvm::append_range(stack, values.terms.getReferences(id));
  }
}

void OpTerms::addElement(TermId element, const Ranks &ranks) {
  auto [it, isNew] = elements.try_emplace(element, ranks);
  if (!isNew && it->second != ranks)
    setMisfit("reads a value as a complete one and as a partial one");
}

SmallVector<TermId> OpTerms::convert(TermFrame &frame, const llvm::SmallBitVector &outside) {
  frame.context = op.getContext();
  for (const LoopIndex &loop : loops)
    frame.loops.push_back(loop.form);
  // The frame outlives this call.
  frame.getArgument = [this, &frame, outside](unsigned number) { return convertArgument(number, frame, outside); };
  frame.getLookup = [this, &frame](unsigned number, ArrayRef<TermId> indices) {
    return convertLookup(number, indices, frame);
  };
  frame.getOwned = [this, &frame](const Term &term) { return convertOwned(term, frame); };
  frame.replace = [this](TermId from, TermId to) {
    if (owned.count(from) || masked.count(from) || bounds.count(from))
      return false;
    if (auto it = elements.find(from); it != elements.end())
      addElement(to, Ranks(it->second));
    return true;
  };
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

bool OpTerms::addRead(ArrayRef<int64_t> sum, int64_t size, const TermFrame &frame,
                      const llvm::SmallBitVector &outside) {
  if (outside.none()) {
    reads.push_back({SmallVector<int64_t, 6>(sum), size, frame.assumed});
    return true;
  }
  std::optional<std::pair<int64_t, int64_t>> range = frame.getRange(sum);
  return range && range->first >= 0 && range->second < size;
}

bool OpTerms::areReadsInside(const Ranges &ranges) const {
  return llvm::all_of(reads, [&](const Read &read) {
    TermFrame frame;
    for (auto [range, where, all] : llvm::zip_equal(ranges, read.where, assumed)) {
      frame.assumed.push_back(range);
      // A limit that is none of the loop is one of a condition.
      if (range && where && all && where->first != all->first)
        frame.assumed.back()->first = std::max(range->first, where->first);
      if (range && where && all && where->second != all->second)
        frame.assumed.back()->second = std::min(range->second, where->second);
    }
    std::optional<std::pair<int64_t, int64_t>> range = frame.getRange(read.sum);
    return range && range->first >= 0 && range->second < read.size;
  });
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
      // An element that is the same along a dim does not tell its padding apart.
      const ClassInfo &info = values.global[fact.value];
      bool isUniform = d < info.isUniform.size() && info.isUniform[d];
      bool isLoop = sum[0] == 0 && sum[1] == 1 && sum[3] == 1 && sum[2] >= 0;
      if (isLoop && outside[sum[2]] && dim.padding && loops[sum[2]].size == dim.size) {
        padding = dim.padding;
      } else if (isUniform && !at->isInside(dim.size)) {
        // Lanes outside of the dim are outside of the loop, or of a condition.
        bool isInside = isLoop && loops[sum[2]].size == dim.size && !outside[sum[2]];
        std::optional<std::pair<int64_t, int64_t>> range = frame.getRange(sum);
        if (!isInside && !(range && range->first >= 0 && range->second < dim.size))
          return setMisfit("reads padding of dim " + Twine(d) + " of operand #" + Twine(number));
        frame.usedAssumption = true;
      }
    }
    sums.push_back(sum);
  }
  TermTable &terms = values.terms;
  TermId element = padding ? terms.getConstant(padding) : values.global.getElement(fact.value, sums);
  bool isReadThrough =
      !padding && (terms[element].kind != Term::Kind::Element || terms.getElement(element).first != fact.value);
  // Padding of a value is not what is next to it in another one.
  for (auto [dim, sum] : llvm::zip_equal(fact.dims, sums))
    if (isReadThrough && dim.hasPadding() && !addRead(sum, dim.size, frame, outside))
      return terms.getUnknown(&op);
  unsigned first = structured.numInputs, output = number - first;
  if (structured.hasReduction() && number >= first && output < structured.results.size()) {
    outputs[output] = fact.partial;
    Term term{Term::Kind::Output};
    term.operands.push_back(element);
    term.numbers.push_back(output);
    return terms.get(term);
  }
  if (terms[element].kind == Term::Kind::Element)
    addElement(element, fact.partial);
  else // a constant is complete, and so is what is computed
    isMisfit |= !fact.partial.empty();
  if (terms[element].kind != Term::Kind::Element)
    addCompleteElements(element);
  return element;
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

/// What a term requires and is, as a list: those of nested conjunctions.
static void getConjuncts(TermId id, const TermTable &terms, llvm::SmallDenseSet<TermId> &conjuncts) {
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Select && terms.getBool(term.operands[2]) == false) {
    getConjuncts(term.operands[0], terms, conjuncts);
    getConjuncts(term.operands[1], terms, conjuncts);
    return;
  }
  conjuncts.insert(id);
}

/// The local index of a sharded dim at which an element is read, as the index in the unsharded value. The element is
/// there if `owns` holds.
///
///   dim 4 x + j, read at e - 4 x                     e        owned if 0 <= e - 4 x < 4
///   dim 6 x + j, e mod 6                             e        owned if (e / 6) mod 2 = x
static std::optional<IndexForm> getOwnedIndex(const DimFact &dim, unsigned d, int64_t size, const IndexForm &local,
                                              TermTable &terms, MLIRContext *context,
                                              llvm::SmallDenseSet<TermId> &owns) {
  // Each index has one owner.
  if (dim.form->getConstant() != 0 || !dim.form->isBijective() || dim.form->getRange().second + 1 < dim.size)
    return std::nullopt;
  // The only local index of a dim of one element is 0, of any factor.
  std::optional<IndexForm> index = size == 1 ? local : IndexForm(0);
  SmallVector<IndexTerm> ranks;
  for (const IndexTerm &term : dim.form->getTerms()) {
    if (term.kind == IndexTerm::Kind::Rank) {
      ranks.push_back(term);
      continue;
    }
    if (term.kind != IndexTerm::Kind::Loop)
      return std::nullopt;
    std::optional<IndexForm> digit = local;
    if (term.lo != 1 || term.size != size) {
      digit = digit->dividedBy(term.lo, /*isUnsigned=*/true);
      digit = digit ? digit->modulo(term.size, /*isUnsigned=*/true) : std::nullopt;
    }
    index = digit ? index->plus(*digit, term.coef) : std::nullopt;
    if (!index)
      return std::nullopt;
  }
  // Blocks: what is left of the rank goes away.
  std::optional<IndexForm> block = index;
  for (const IndexTerm &rank : ranks)
    block = block ? block->plus(IndexForm::ofTerm(rank)) : std::nullopt;
  if (block && !block->hasRank()) {
    // Without what holds anyway.
    auto [low, high] = local.getRange();
    if (low < 0)
      owns.insert(terms.getNot(terms.getLess(local), context));
    if (high >= size)
      owns.insert(terms.getLess(local.plus(-size)));
    return block;
  }
  // Digits of data.
  const IndexTerm *data =
      llvm::find_if(index->getTerms(), [](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Data; });
  if (data == index->getTerms().end() || index->hasRank())
    return std::nullopt;
  IndexForm number = IndexForm::ofData(data->var);
  for (const IndexTerm &rank : ranks) {
    std::optional<IndexForm> digit = number.dividedBy(rank.coef, /*isUnsigned=*/true);
    digit = digit ? digit->modulo(rank.size, /*isUnsigned=*/true) : std::nullopt;
    index = digit ? index->plus(*digit, rank.coef) : std::nullopt;
    std::optional<IndexForm> difference =
        digit ? digit->plus(IndexForm::ofRank({rank.lo, rank.size}), -1) : std::nullopt;
    if (!index || !difference)
      return std::nullopt;
    owns.insert(terms.getEqual(*difference));
  }
  ArrayRef<IndexTerm> all = index->getTerms();
  bool isNumber = index->getConstant() == 0 && all.size() == 1 && all[0].kind == IndexTerm::Kind::Data &&
                  all[0].lo == 1 && all[0].coef == 1 && all[0].size >= dim.size;
  return isNumber ? std::optional(number) : std::nullopt;
}

TermId OpTerms::convertLookup(unsigned number, ArrayRef<TermId> indices, TermFrame &frame) {
  const Structured::Argument &argument = structured.arguments[number];
  const Fact &fact = *operands[number];
  TermTable &terms = values.terms;
  if (!fact.partial.empty())
    return setMisfit("reads a partial value at computed indices");
  if (values.global[fact.value].splat || values.global[fact.value].isUndefined)
    return values.global.getLookup(fact.value, {});
  ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
  SmallVector<TermId> converted;
  Ownership ownership;
  SmallVector<Bound, 2> reads;
  llvm::SmallDenseSet<TermId> masks;
  bool hasPadding = false;
  for (auto [d, dim] : llvm::enumerate(fact.dims)) {
    TermId at = indices[d];
    bool isFull = !dim.form || *dim.form == IndexForm::ofLoop(d, dim.size);
    if (isFull) {
      converted.push_back(frame.convert(at, terms));
      reads.push_back({terms.getForm(at), dim.size});
      continue;
    }
    // A masked index is one that the mask lets through.
    if (terms[at].kind == Term::Kind::Select) {
      getConjuncts(terms[at].operands[0], terms, masks);
      at = terms[at].operands[1];
    }
    std::optional<IndexForm> index;
    IndexForm local = terms.getForm(at);
    bool isLoop = terms[indices[d]].kind == Term::Kind::Index && !local.hasScalar() && !local.hasRank();
    bool isInside = readsInside && d < argument.readsInside.size() && argument.readsInside[d];
    if (isLoop || isInside)
      index = getAt(*dim.form, d, shape[d], local);
    // All devices read what they have.
    if (isInside && index) {
      hasPadding |= dim.hasPadding();
    } else if (!isLoop) {
      index = getOwnedIndex(dim, d, shape[d], local, terms, op.getContext(), ownership.conditions);
      ownership.ranks = unite(ownership.ranks, dim.form->getRanks());
    }
    if (!index)
      return setMisfit("reads a sharded value at computed indices");
    converted.push_back(frame.convert(terms.getIndex(*index), terms));
    reads.push_back({*index, dim.size});
  }
  // The owner has the index, not what a mask puts in its place.
  for (TermId condition : masks)
    if (!ownership.conditions.contains(condition) && !isBound(condition, reads))
      return setMisfit("reads a sharded value at computed indices");
  TermId term = values.global.getLookup(fact.value, converted);
  // Padding of a value is not what is next to it in another one.
  const Term &read = terms[term];
  bool isOfValue = (read.kind == Term::Kind::Element && read.numbers[0] == int64_t(fact.value)) ||
                   (read.kind == Term::Kind::Lookup && read.numbers[0] == -1 && read.numbers[1] == int64_t(fact.value));
  if (hasPadding && !isOfValue)
    return setMisfit("reads a sharded value at computed indices, which may be those of padding");
  llvm::append_range(bounds[term], reads);
  if (ownership.ranks.empty()) {
    addCompleteElements(term);
    isMisfit |= owned.count(term);
    return term;
  }
  auto [it, isNew] = owned.try_emplace(term, ownership);
  isMisfit |= !isNew && !(it->second == ownership);
  return term;
}

std::optional<TermId> OpTerms::convertOwned(const Term &term, TermFrame &frame) {
  TermTable &terms = values.terms;
  const bool hasLookup = llvm::any_of(structured.arguments, [](const auto &argument) { return argument.isLookup; });
  if (!hasLookup)
    return std::nullopt;
  llvm::SmallDenseSet<TermId> conjuncts;
  getConjuncts(term.operands[0], terms, conjuncts);
  TermId value = frame.convert(term.operands[1], terms);
  // All that the value reads must be owned by just this condition.
  SmallVector<TermId> stack{value};
  llvm::DenseSet<TermId> seen;
  SmallVector<Ownership> owners;
  SmallVector<Bound> reads;
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    llvm::append_range(reads, bounds.lookup(id));
    if (auto it = owned.find(id); it != owned.end() && !llvm::is_contained(owners, it->second))
      owners.push_back(it->second);
    llvm::append_range(stack, terms.getReferences(id));
  }
  // Elements that are sharded over the same devices, at different indices, may have different owners.
  Ownership all;
  for (const Ownership &owner : owners) {
    if (overlap(all.ranks, owner.ranks))
      return std::nullopt;
    all.ranks = unite(all.ranks, owner.ranks);
    all.conditions.insert(owner.conditions.begin(), owner.conditions.end());
  }
  if (owners.empty())
    return std::nullopt;
  for (TermId condition : all.conditions)
    if (!conjuncts.contains(condition))
      return std::nullopt;
  // A number that data give is inside of the dim, or the unsharded program is undefined.
  for (TermId condition : conjuncts)
    if (!all.conditions.contains(condition) && !isBound(condition, reads))
      return std::nullopt;
  maskedSelects.insert(terms.get(term));
  auto [it, isNew] = masked.try_emplace(value, Masked{all.ranks, frame.convert(term.operands[2], terms)});
  isMisfit |= !isNew && (it->second.ranks != all.ranks || it->second.other != frame.convert(term.operands[2], terms));
  return value;
}

bool OpTerms::readsUnmasked(TermFrame &frame) const {
  TermTable &terms = values.terms;
  SmallVector<TermId> stack(structured.terms.begin(), structured.terms.end());
  llvm::DenseSet<TermId> seen;
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    const Term &term = terms[id];
    if (term.kind == Term::Kind::Lookup && term.numbers[0] >= 0 && owned.count(frame.convert(id, terms)))
      return true;
    if (maskedSelects.contains(id))
      stack.append({term.operands[0], term.operands[2]});
    else
      llvm::append_range(stack, terms.getReferences(id));
  }
  return false;
}

bool OpTerms::isBound(TermId id, ArrayRef<Bound> bounds) const {
  const TermTable &terms = values.terms;
  const Term *term = &terms[id];
  bool isNegated = term->kind == Term::Kind::Select && terms.getBool(term->operands[1]) == false &&
                   terms.getBool(term->operands[2]) == true;
  if (isNegated)
    term = &terms[term->operands[0]];
  if (term->kind != Term::Kind::Compare || term->numbers[0] != 0)
    return false;
  // 0 <= e, or e < size.
  return llvm::any_of(bounds, [&](const Bound &bound) {
    return term->form == (isNegated ? bound.first : bound.first.plus(-bound.second));
  });
}
