//===- ResultMatch.cpp - The classes that a result holds ------------------===//

#include "JoinedLoops.h"
#include "PartialTerms.h"
#include "Selections.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Values of its own that an op gets in search of one that the unsharded program has.
static constexpr int kMaxOwn = 16;

namespace {
/// Looks for the classes of the unsharded program that a result of an op holds elements of.
///
///   1. `readDims`       each dim of the result is a loop; the index of the loop is the form of the dim
///   2. `readKept`       a value that the device with one coordinate keeps is partial
///   3. `matchConstant`, `matchMove`
///                       constants, and elements that only move: a fact that needs no key
///   4. `matchClass`     each class under the key of the terms: are its loops counted once, is what padding adds left
///                       out, and over which devices is the result partial?
class ResultMatch {
public:
  ResultMatch(OpTerms &op, unsigned r, Attempt &attempt)
      : op(op), structured(op.structured), global(op.values.global), terms(op.values.terms), values(op.values),
        attempt(attempt), r(r), result(op.op.getResult(r)), type(cast<RankedTensorType>(result.getType())),
        dimLoops(structured.resultLoops[r]), hasReduction(structured.hasReduction()) {}

  /// False if other results are not worth a try.
  bool match();

private:
  bool readDims();
  void readKept();
  /// Makes the test of ranks in the conjunction `term` the condition, and its other parts the value.
  void splitConjunction(MutableArrayRef<TermId> operands);
  bool matchConstant();
  void matchMove();
  /// The indices of the loops, in all lanes or in those that are inside of the dims.
  OpTerms::Ranges getLanes(bool areInside) const;
  /// A value of its own, with a dim per loop, which the unsharded program does not have.
  void addDefined();
  /// The classes under a key.
  bool matchClasses(ArrayRef<int64_t> key);
  /// The slice of a class that an op on slices computes: `loopSizes` become those of the op.
  ClassId getSlice(ClassId candidate, MutableArrayRef<int64_t> loopSizes);
  /// A reshape of a class whose loops are joined ones of the op.
  bool matchJoined();
  /// A selection among what all blocks keep.
  void matchChoice();
  /// `loopSizes` are those of the unsharded op, if it has the loops of this one.
  bool matchClass(ClassId candidate, ArrayRef<int64_t> loopSizes);

  /// The form of a dim; std::nullopt if the dim is tied to no index.
  std::optional<IndexForm> getForm(unsigned d) const;
  /// What the result holds in lanes of `d` outside of its dim; null if that is not one constant.
  Attribute getPadding(unsigned d);
  /// Dim `d` of an element that moves; std::nullopt if it is not at the loop of this dim.
  std::optional<DimFact> getMovedDim(unsigned d, const ClassInfo &info, ArrayRef<int64_t> sum);

  /// The ranks over which reduced loops are sharded, and the loops of those with padding.
  struct Reduced {
    Ranks ranks;
    SmallVector<unsigned> overflow;
  };
  /// A selection of which a device has one block of a loop. False if it is not such.
  bool matchBlocks(ClassId candidate, ArrayRef<int64_t> loopSizes, const Reduced &reduced);
  /// std::nullopt if the reduced loops do not count each element of the class once; `why` may say so.
  std::optional<Reduced> readReduced(ArrayRef<int64_t> loopSizes, std::string &why) const;
  /// True if the reduced loops run through their dims from the first index to the last.
  bool keepsOrder() const;
  /// The dims of a result of a class; std::nullopt if they do not fit.
  std::optional<Fact> readClassFact(ClassId candidate, const Reduced &reduced, std::string &why);
  /// What padding of reduced loops would add must leave the output as it is.
  enum class Overflow { LeftOut, Added, Unknown };
  Overflow checkOverflow(ArrayRef<int64_t> loopSizes, const Reduced &reduced, std::string &why);
  /// Sets over which ranks a result is partial, of the reduction `kind`. False if it is neither partial nor complete.
  bool setPartial(Fact &fact, ReductionKind kind, const Reduced &reduced, std::string &why);
  /// True if a device has lanes of a loop that are outside of its dim, and others were assumed.
  bool isPadded(unsigned loop) const;
  /// The reduction that leaves out what devices have that do not own an element.
  std::optional<ReductionKind> getMaskKind() const;
  /// Adds a fact of `term`: where one device keeps it, a partial one.
  void addFact(const Fact &fact);

  OpTerms &op;
  const Structured &structured;
  GlobalProgram &global;
  TermTable &terms;
  LocalValues &values;
  Attempt &attempt;
  unsigned r;
  Value result;
  RankedTensorType type;
  ArrayRef<int> dimLoops; ///< The loop of each dim, or -1.
  bool hasReduction;
  TermId term = 0;
  /// Only the device with one coordinate over these ranks has `term`; the others have the constant `other`.
  Ranks kept;
  Attribute other;
};
} // namespace

bool proof::matchResult(OpTerms &terms, unsigned r, Attempt &attempt) { return ResultMatch(terms, r, attempt).match(); }

bool ResultMatch::match() {
  if (!readDims())
    return true;
  readKept();
  unsigned numLoops = op.getNumLoops();
  bool isWhole = llvm::equal(dimLoops, llvm::seq<int>(0, numLoops));
  if (isWhole && !hasReduction && op.owned.empty()) {
    if (matchConstant())
      return true;
    matchMove();
    if (op.addsDefined)
      return addDefined(), true;
  }
  SumList sums;
  for (int loop : dimLoops) {
    bool isIndex = loop >= 0 && !op.isUnit(loop);
    sums.push_back(isIndex ? SmallVector<int64_t, 6>{0, 1, loop, 1} : SmallVector<int64_t, 6>{0, 0});
  }
  SmallVector<TermId> keyTerms = op.inside;
  keyTerms[r] = term;
  SmallVector<bool> isUnit;
  for (unsigned l = 0; l < numLoops; ++l)
    isUnit.push_back(op.isUnit(l));
  if (!matchClasses(global.getKey(structured, r, keyTerms, sums, isUnit)))
    return false;
  if (values.getFacts(result).empty() && !matchJoined())
    return false;
  if (values.getFacts(result).empty() && hasReduction)
    matchChoice();
  if (values.getFacts(result).empty())
    attempt.fail(0, Outcome::Undecided, "no value of the unsharded program is computed like this", "no counterpart");
  return true;
}

bool ResultMatch::matchClasses(ArrayRef<int64_t> key) {
  for (ClassId candidate : SmallVector<ClassId>(global.find(key))) {
    RankedTensorType other = global[candidate].type;
    SmallVector<int64_t, 4> loopSizes = global[candidate].loopSizes;
    if (loopSizes.size() != op.getNumLoops() || other.getRank() != type.getRank() ||
        other.getElementType() != type.getElementType())
      continue;
    if (!matchClass(candidate, loopSizes))
      return false;
    if (!values.getFacts(result).empty())
      continue;
    if (ClassId slice = getSlice(candidate, loopSizes); slice != candidate && !matchClass(slice, loopSizes))
      return false;
  }
  return true;
}

ClassId ResultMatch::getSlice(ClassId candidate, MutableArrayRef<int64_t> loopSizes) {
  for (auto [d, l] : llvm::enumerate(dimLoops)) {
    if (l < 0 || op.isUnit(l) || !op.loops[l].size || *op.loops[l].size >= loopSizes[l])
      continue;
    int64_t size = *op.loops[l].size;
    SmallVector<int64_t> shape(global[candidate].type.getShape());
    // Lanes beyond the smaller dim are none of the slice.
    if (op.loops[l].form->hasScalar() || op.loops[l].form->isInside(size) || shape[d] != loopSizes[l] ||
        isUnknownSize(loopSizes[l]))
      continue;
    shape[d] = loopSizes[l] = size;
    candidate = global.addSlice(candidate, global[candidate].type.clone(shape), d, 0);
  }
  return candidate;
}

bool ResultMatch::matchBlocks(ClassId candidate, ArrayRef<int64_t> loopSizes, const Reduced &reduced) {
  std::string why;
  std::optional<Fact> fact = readClassFact(candidate, reduced, why);
  if (!fact || overlap(reduced.ranks, global[candidate].varying) || !kept.empty() ||
      checkOverflow(loopSizes, reduced, why) != Overflow::LeftOut)
    return false;
  std::optional<Fact> choice = getBlockChoice(op, r, *fact, loopSizes);
  if (!choice)
    return false;
  addFact(*choice);
  values.count("selection in each block of a loop");
  return true;
}

void ResultMatch::matchChoice() {
  std::string why;
  std::optional<ClassId> choice = findChoice(op, r);
  std::optional<Fact> fact = choice && kept.empty() ? readClassFact(*choice, {}, why) : std::nullopt;
  if (!fact || !op.areReadsInside(getLanes(/*areInside=*/true)))
    return;
  addFact(*fact);
  values.count("selection among what all blocks keep");
}

bool ResultMatch::matchJoined() {
  // In another order only a plain reduction is the same.
  if (structured.terms.size() != 1 || (hasReduction && !getReduction(term, r, terms)))
    return true;
  std::optional<JoinedLoops> joined = JoinedLoops::find(op, term, dimLoops);
  if (!joined)
    return true;
  for (ClassId candidate : SmallVector<ClassId>(global.find(joined->getKey()))) {
    std::optional<SmallVector<int64_t>> loopSizes = joined->getLoopSizes(global[candidate]);
    if (!loopSizes || global[candidate].type.getElementType() != type.getElementType())
      continue;
    if (!matchClass(joined->getResult(candidate), *loopSizes))
      return false;
    if (!values.getFacts(result).empty())
      values.count("loops that divide one loop");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

bool ResultMatch::readDims() {
  for (auto [form, loop] : llvm::zip_equal(structured.results[r], dimLoops))
    if (loop < 0 && !form.isConstant()) {
      attempt.fail(1, Outcome::Undecided, "writes elements at indices that are not modelled", "map");
      return false;
    }
  // The index of a loop uses no other loop.
  for (int loop : dimLoops)
    for (unsigned l = 0; l < op.getNumLoops(); ++l)
      if (loop >= 0 && int(l) != loop && op.loops[loop].form && op.loops[loop].form->uses(IndexTerm::Kind::Loop, l))
        return false;
  return true;
}

std::optional<IndexForm> ResultMatch::getForm(unsigned d) const {
  int loop = dimLoops[d];
  if (loop < 0)
    return IndexForm(0);
  if (!op.loops[loop].form)
    return std::nullopt;
  SmallVector<unsigned> to = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  to[loop] = d;
  return op.loops[loop].form->renameLoops(to);
}

bool ResultMatch::isPadded(unsigned loop) const {
  if (!op.usedAssumption || !op.loops[loop].form || !op.loops[loop].size)
    return false;
  return !op.loops[loop].form->isInside(*op.loops[loop].size);
}

Attribute ResultMatch::getPadding(unsigned d) {
  int loop = dimLoops[d];
  if (hasReduction || other || loop < 0 || !op.loops[loop].size)
    return {};
  std::optional<std::pair<int64_t, int64_t>> range = op.getRange(loop);
  int64_t size = *op.loops[loop].size;
  if (!range)
    return {};
  llvm::SmallBitVector outside(op.getNumLoops());
  outside.set(loop);
  Attribute padding;
  for (bool above : {false, true}) {
    if (above ? range->second < size : range->first >= 0)
      continue;
    // Operands that do not fit in padding leave it unknown.
    bool savedMisfit = op.isMisfit;
    std::string savedReason = op.misfit;
    TermFrame frame = op.getFrameOutside(loop, above);
    TermId value = op.convert(frame, outside)[r];
    op.isMisfit = savedMisfit;
    op.misfit = savedReason;
    if (terms[value].kind != Term::Kind::Constant || (padding && padding != terms[value].attribute))
      return {};
    padding = terms[value].attribute;
  }
  return padding;
}

//===----------------------------------------------------------------------===//
// Values that one device keeps
//===----------------------------------------------------------------------===//

/// Ranks of which only the one with a coordinate passes a test: `digit = number`, several joined by and.
static bool readRankTest(TermId id, const TermTable &terms, Ranks &ranks) {
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Select && terms.getBool(term.operands[2]) == false)
    return readRankTest(term.operands[0], terms, ranks) && readRankTest(term.operands[1], terms, ranks);
  if (term.kind != Term::Kind::Compare || term.numbers[0] != 1)
    return false;
  const IndexForm &form = term.form;
  for (const IndexTerm &index : form.getTerms())
    if (index.kind != IndexTerm::Kind::Rank)
      return false;
  // Exactly one choice of digits.
  if (!form.plus(-form.getConstant()).isBijective() || form.getRange().first > 0 || form.getRange().second < 0 ||
      overlap(ranks, form.getRanks()))
    return false;
  ranks = unite(ranks, form.getRanks());
  return true;
}

void ResultMatch::splitConjunction(MutableArrayRef<TermId> operands) {
  SmallVector<TermId> stack{term}, tests, rest;
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    const Term &part = terms[id];
    Ranks ranks;
    if (readRankTest(id, terms, ranks))
      tests.push_back(id);
    else if (part.kind == Term::Kind::Select && terms.getBool(part.operands[2]) == false)
      stack.append({part.operands[0], part.operands[1]});
    else
      rest.push_back(id);
  }
  if (tests.empty() || rest.empty())
    return;
  for (auto [operand, parts] : {std::pair(0, ArrayRef(tests)), std::pair(1, ArrayRef(rest))}) {
    operands[operand] = parts.front();
    for (TermId part : parts.drop_front())
      operands[operand] = terms.getAnd(operands[operand], part, op.op.getContext());
  }
}

void ResultMatch::readKept() {
  term = op.inside[r];
  while (!hasReduction && terms[term].kind == Term::Kind::Select) {
    SmallVector<TermId, 3> operands(terms[term].operands);
    const Term &otherwise = terms[operands[2]];
    Ranks ranks = kept;
    // Of booleans it is a conjunction, whose parts have an order of their own.
    if (Ranks tested; terms.getBool(operands[2]) == false && !readRankTest(operands[0], terms, tested))
      splitConjunction(operands);
    if (otherwise.kind != Term::Kind::Constant || (other && otherwise.attribute != other) ||
        !readRankTest(operands[0], terms, ranks))
      return;
    kept = ranks;
    other = otherwise.attribute;
    term = operands[1];
  }
}

std::optional<ReductionKind> ResultMatch::getMaskKind() const {
  auto it = op.masked.find(term);
  if (it == op.masked.end() || terms[it->second.other].kind != Term::Kind::Constant)
    return std::nullopt;
  Attribute other = terms[it->second.other].attribute;
  for (ReductionKind kind : {ReductionKind::Sum, ReductionKind::Or, ReductionKind::Xor, ReductionKind::Max,
                             ReductionKind::Min, ReductionKind::Prod, ReductionKind::And})
    if (isNeutral(kind, other))
      return getKindOf(kind, type.getElementType());
  return std::nullopt;
}

void ResultMatch::addFact(const Fact &fact) {
  if (kept.empty())
    return values.addFact(result, fact);
  if (overlap(kept, global[fact.value].varying))
    return;
  // A sharded dim has other elements on the other devices.
  if (llvm::any_of(fact.dims, [&](const DimFact &dim) { return dim.form && overlap(dim.form->getRanks(), kept); }) ||
      overlap(fact.partial, kept))
    return;
  for (ReductionKind kind : {ReductionKind::Sum, ReductionKind::Prod, ReductionKind::And, ReductionKind::Or,
                             ReductionKind::Xor, ReductionKind::Max, ReductionKind::Min, ReductionKind::UMax,
                             ReductionKind::UMin, ReductionKind::MaxNum, ReductionKind::MinNum}) {
    if (!isNeutral(kind, other) || (!fact.partial.empty() && fact.kind != kind))
      continue;
    Fact partial = fact;
    partial.kind = kind;
    partial.partial = unite(fact.partial, kept);
    values.addFact(result, partial);
    values.count("value that one device keeps");
  }
}

//===----------------------------------------------------------------------===//
// Constants, and elements that only move
//===----------------------------------------------------------------------===//

bool ResultMatch::matchConstant() {
  if (terms[term].kind == Term::Kind::Constant && !op.usedAssumption) {
    Fact fact{global.getSplat(terms[term].attribute), {}, {}};
    fact.dims.resize(type.getRank());
    addFact(fact);
    return true;
  }
  if (terms[term].kind == Term::Kind::Undefined && kept.empty()) {
    values.addUniformFact(result, global.getUndefined());
    return true;
  }
  return false;
}

void ResultMatch::matchMove() {
  if (terms[term].kind != Term::Kind::Element)
    return;
  auto [source, sums] = terms.getElement(term);
  Fact fact{source, {}, op.elements.lookup(term)};
  if (!fact.partial.empty())
    fact.kind = *op.partialKind;
  if (global[source].type.getRank() != type.getRank()) {
    // A reshape that was read through.
    SmallVector<int64_t> shape(type.getRank(), 1);
    for (auto [sum, size] : llvm::zip_equal(sums, global[source].type.getShape()))
      if (sum[1] == 1 && sum[2] >= 0 && sum[2] < type.getRank())
        shape[sum[2]] = size;
    std::optional<ClassId> reshaped = global.getUnitReshape(source, sums, type.clone(shape), global[source].loc);
    if (!reshaped)
      return;
    fact.value = *reshaped;
    sums.clear();
    for (auto [d, size] : llvm::enumerate(shape))
      sums.push_back(size == 1 ? SmallVector<int64_t, 6>{0, 0} : SmallVector<int64_t, 6>{0, 1, int64_t(d), 1});
  }
  const ClassInfo &info = global[fact.value];
  for (auto [d, sum] : llvm::enumerate(sums)) {
    std::optional<DimFact> dim = getMovedDim(d, info, sum);
    if (!dim)
      return;
    fact.dims.push_back(*dim);
  }
  // A fact of what was assumed has the lanes of the loops that are in their dims.
  if (!op.areReadsInside(getLanes(/*areInside=*/op.usedAssumption)))
    return;
  addFact(fact);
  values.count("elements that move");
}

OpTerms::Ranges ResultMatch::getLanes(bool areInside) const {
  OpTerms::Ranges ranges;
  for (unsigned l = 0; l < op.getNumLoops(); ++l) {
    std::optional<int64_t> size = areInside ? op.loops[l].size : std::nullopt;
    ranges.push_back(size ? std::optional(std::pair<int64_t, int64_t>(0, *size - 1)) : op.getRange(l));
  }
  return ranges;
}

void ResultMatch::addDefined() {
  // It is computed also where the unsharded program computes nothing, so that it may not trap.
  auto isNoTrap = [&](const Trap &trap) { return isHarmless(trap, terms); };
  if (!llvm::all_of(structured.traps, isNoTrap) || !kept.empty() || !op.masked.empty() ||
      !op.areReadsInside(getLanes(/*areInside=*/true)))
    return;
  if (!terms.isOverGlobal(term))
    return;
  bool isMove = terms[term].kind == Term::Kind::Element;
  if (isMove && !values.getFacts(result).empty())
    return;
  Fact fact{0, {}, {}};
  if (isMove)
    fact.partial = op.elements.lookup(term);
  else if (op.partialKind)
    return;
  if (!fact.partial.empty())
    fact.kind = *op.partialKind;
  SmallVector<int64_t> shape;
  for (unsigned d = 0; d < dimLoops.size(); ++d) {
    const LoopIndex &loop = op.loops[d];
    std::optional<IndexForm> form = getForm(d);
    bool isOne = !form || form->isConstant();
    if (isOne && isPadded(d))
      return;
    // Without a size, the loop has all indices that its digits give.
    bool isKnown = loop.size || (form && form->getConstant() == 0 && form->isBijective());
    if (!isOne && (!isKnown || form->hasScalar()))
      return;
    shape.push_back(isOne ? type.getDimSize(d) : loop.size ? *loop.size : form->getRange().second + 1);
    fact.dims.push_back({shape.back(), isOne ? std::nullopt : form, {}});
  }
  // One class, but for those under which the unsharded program has the value.
  auto isOwn = [&](const Fact &known) { return global[known.value].isOwn; };
  bool isAnother = llvm::any_of(values.getFacts(result), isOwn);
  if (isAnother && ++attempt.numOwn > kMaxOwn)
    return;
  fact.value = global.getDefined(type.clone(shape), term);
  if (isAnother && global.findEqual(fact.value).empty())
    return;
  const ClassInfo &info = global[fact.value];
  for (unsigned d = 0; d < dimLoops.size(); ++d)
    // Equal elements are so inside of the dim.
    if (info.isUniform[d] && !fact.dims[d].hasPadding())
      fact.dims[d].form = std::nullopt;
    else if (!info.isUniform[d] && !fact.dims[d].form)
      return;
  addFact(fact);
  values.count(isMove ? "elements that move" : "value that only the partitioned program has");
}

std::optional<DimFact> ResultMatch::getMovedDim(unsigned d, const ClassInfo &info, ArrayRef<int64_t> sum) {
  DimFact dim{info.type.getDimSize(d), std::nullopt, {}};
  const LoopIndex &loop = op.loops[d];
  bool isPlain = sum[0] == 0 && sum[1] == 1 && sum[3] == 1;
  // What was assumed of a loop must be what is inside of the dim.
  if (op.usedAssumption && loop.size) {
    bool isOne = dim.size == 1 && sum[0] == 0 && sum[1] == 0;
    if (*loop.size != dim.size || !(dim.size == 1 ? isOne : isPlain))
      return std::nullopt;
  }
  if (info.isUniform[d]) {
    // Equal elements are so inside of the dim.
    if (isPadded(d))
      dim.form = getForm(d);
    if (dim.hasPadding() && loop.size == dim.size)
      dim.padding = getPadding(d);
    return dim;
  }
  IndexForm form(sum[0]);
  if (sum[1] > 1)
    return std::nullopt;
  if (sum[1] == 1) {
    std::optional<IndexForm> own = sum[2] == int64_t(d) ? getForm(d) : std::nullopt;
    if (!own)
      return std::nullopt;
    form = *form.plus(*own, sum[3]);
  }
  dim.form = form;
  if (isPlain && loop.size == dim.size)
    dim.padding = getPadding(d);
  return dim;
}

//===----------------------------------------------------------------------===//
// Classes under the key
//===----------------------------------------------------------------------===//

bool ResultMatch::matchClass(ClassId candidate, ArrayRef<int64_t> loopSizes) {
  const ClassInfo &info = global[candidate];
  std::string why;
  StringRef failed = "partial";
  auto fail = [&] {
    if (why.empty())
      attempt.fail(3, Outcome::Undecided, "loops of other sizes than in the unsharded program", "partial");
    else
      // There are more ways to read what one device owns than those that are modelled.
      attempt.fail(5, op.owned.empty() ? Outcome::Refused : Outcome::Undecided, why, failed);
    return true;
  };
  OpTerms::Ranges inside;
  for (int64_t size : loopSizes)
    inside.push_back(std::pair<int64_t, int64_t>(0, size - 1));
  if (!op.areReadsInside(inside)) {
    attempt.fail(4, Outcome::Undecided, "reads what is outside of an operand", "padding");
    return true;
  }
  std::optional<Reduced> reduced = readReduced(loopSizes, why);
  if (!reduced) {
    bool isGuess = llvm::any_of(op.loops, [](const LoopIndex &loop) { return loop.isGuess; });
    if (!why.empty())
      attempt.fail(isGuess ? 3 : 4, isGuess ? Outcome::Undecided : Outcome::Refused, why, "reduction");
    return true;
  }
  // Without a plain reduction, the iterations must be in the same order.
  if (hasReduction && !getReduction(term, r, terms) && !keepsOrder()) {
    if (matchBlocks(candidate, loopSizes, *reduced))
      return true;
    attempt.fail(4, Outcome::Undecided, "a reduction of several values in another order", "selection");
    return true;
  }
  // Devices along manual axes have other values, which only the user's collectives combine.
  if (overlap(reduced->ranks, info.varying) || overlap(kept, info.varying)) {
    attempt.fail(4, Outcome::Undecided, "a reduction along the axes of a manual computation", "manual computation");
    return true;
  }
  std::optional<Fact> fact = readClassFact(candidate, *reduced, why);
  if (!fact)
    return fail();
  // The same term, so the same reduction: which one it is.
  std::optional<ReductionKind> kind = op.partialKind;
  if (!reduced->ranks.empty()) {
    std::optional<ReductionKind> own = getReduction(term, r, terms);
    if (!own) {
      attempt.fail(4, Outcome::Undecided, "a sharded reduction of several values, such as a selection", "selection");
      return true;
    }
    if (kind && *kind != *own && op.readsPartial(term)) {
      why = "the reduced loop is sharded over " + proof::toString(reduced->ranks, values.mesh) +
            ", but an operand is partial by another reduction";
      return fail();
    }
    kind = own;
  }
  if (!op.owned.empty() && !kind)
    kind = hasReduction ? getReduction(term, r, terms) : getMaskKind();
  if (!op.owned.empty() && !kind) {
    attempt.fail(4, Outcome::Undecided, "reads a sharded value at computed indices", "lookup");
    return true;
  }
  switch (checkOverflow(loopSizes, *reduced, why)) {
  case Overflow::Unknown:
    attempt.fail(3, Outcome::Undecided, "padding of a reduced loop", "padding");
    return false;
  case Overflow::Added:
    failed = "padding";
    return fail();
  case Overflow::LeftOut:
    break;
  }
  if (kind && !setPartial(*fact, *kind, *reduced, why))
    return fail();
  addFact(*fact);
  values.count(hasReduction ? "reduction" : "op on shards");
  return true;
}

std::optional<ResultMatch::Reduced> ResultMatch::readReduced(ArrayRef<int64_t> loopSizes, std::string &why) const {
  Reduced reduced;
  for (unsigned l = 0; l < op.getNumLoops(); ++l) {
    int64_t size = loopSizes[l];
    const LoopIndex &loop = op.loops[l];
    bool fits = !loop.size || *loop.size == size || !op.usedAssumption;
    if (!structured.isReduction[l]) {
      if (!fits)
        return std::nullopt;
      continue;
    }
    if (!loop.form) {
      if (structured.extents[l] != size) {
        why = "reduces " + std::to_string(structured.extents[l]) + " of " + std::to_string(size) + " equal elements";
        return std::nullopt;
      }
      if (!fits)
        return std::nullopt;
      continue;
    }
    const IndexForm &form = *loop.form;
    int64_t total = 1;
    for (const IndexTerm &part : form.getTerms())
      total *= part.size;
    if (!form.isBijective() || form.getConstant() > 0 || form.getConstant() + total < size ||
        !form.tellsApart(l, structured.extents[l])) {
      why = "reduces over " + form.toString(values.mesh) + ", which does not count each of " + std::to_string(size) +
            " elements once";
      return std::nullopt;
    }
    if (overlap(reduced.ranks, form.getRanks())) {
      why = "two loops are sharded over the same devices";
      return std::nullopt;
    }
    if (!fits)
      return std::nullopt;
    reduced.ranks = unite(reduced.ranks, form.getRanks());
    if (form.getConstant() < 0 || form.getConstant() + total > size)
      reduced.overflow.push_back(l);
  }
  return reduced;
}

bool ResultMatch::keepsOrder() const {
  return llvm::all_of(llvm::seq<unsigned>(0, op.getNumLoops()), [&](unsigned l) {
    const std::optional<IndexForm> &form = op.loops[l].form;
    return !structured.isReduction[l] || !form ||
           form->plus(-form->getConstant()) == IndexForm::ofLoop(l, structured.extents[l]);
  });
}

std::optional<Fact> ResultMatch::readClassFact(ClassId candidate, const Reduced &reduced, std::string &why) {
  const ClassInfo &info = global[candidate];
  Fact fact{candidate, {}, {}};
  for (unsigned d = 0; d < dimLoops.size(); ++d) {
    std::optional<IndexForm> form = getForm(d);
    // Equal elements are so inside of the dim.
    if (info.isUniform[d] && !(dimLoops[d] >= 0 && isPadded(dimLoops[d])))
      form = std::nullopt;
    else if (!form)
      return std::nullopt;
    if (form && overlap(form->getRanks(), reduced.ranks)) {
      why = "reduces over " + proof::toString(reduced.ranks, values.mesh) + ", over which dim " + std::to_string(d) +
            " of the result is sharded";
      return std::nullopt;
    }
    DimFact dim{info.type.getDimSize(d), form, {}};
    if (dim.hasPadding() && op.loops[dimLoops[d]].size == dim.size)
      dim.padding = getPadding(d);
    fact.dims.push_back(dim);
  }
  return fact;
}

ResultMatch::Overflow ResultMatch::checkOverflow(ArrayRef<int64_t> loopSizes, const Reduced &reduced,
                                                 std::string &why) {
  ArrayRef<unsigned> overflow = reduced.overflow;
  enum { Inside, Above, Below, NumSides };
  if (overflow.size() > 4)
    return Overflow::Unknown;
  unsigned combinations = 1;
  for (size_t i = 0; i < overflow.size(); ++i)
    combinations *= NumSides;
  // In a lane of padding any of the loops may be outside.
  for (unsigned combination = 1; combination < combinations; ++combination) {
    llvm::SmallBitVector outside(op.getNumLoops());
    TermFrame frame;
    for (unsigned l = 0; l < op.getNumLoops(); ++l) {
      frame.assumed.push_back(op.getRange(l));
      if (frame.assumed.back())
        frame.assumed.back() = std::pair(int64_t(0), loopSizes[l] - 1);
    }
    bool isPossible = true;
    unsigned rest = combination;
    for (unsigned loop : overflow) {
      unsigned side = rest % NumSides;
      rest /= NumSides;
      if (side == Inside)
        continue;
      outside.set(loop);
      auto [low, high] = *op.getRange(loop);
      auto range = side == Above ? std::pair(loopSizes[loop], high) : std::pair(low, int64_t(-1));
      isPossible &= range.first <= range.second;
      frame.assumed[loop] = range;
    }
    if (!isPossible)
      continue;
    TermId left = op.convert(frame, outside)[r];
    if (op.isMisfit)
      return Overflow::Unknown;
    if (terms[left].kind != Term::Kind::Output || terms[left].numbers[0] != int64_t(r)) {
      unsigned first = overflow.front();
      why = "padding of loop " + std::to_string(first) + " (" + op.loops[first].form->toString(values.mesh) +
            " beyond " + std::to_string(loopSizes[first]) + ") is part of the result";
      return Overflow::Added;
    }
    values.count("padding that a reduction leaves out");
  }
  return Overflow::LeftOut;
}

bool ResultMatch::setPartial(Fact &fact, ReductionKind kind, const Reduced &reduced, std::string &why) {
  PartialTerms partialTerms(op, kind, reduced.ranks);
  std::optional<Partial> partial = partialTerms.get(term);
  if (!partial) {
    why = partialTerms.why;
    return false;
  }
  if (!partial->owned.empty()) {
    why = "reads a sharded value at indices that other devices own";
    return false;
  }
  // From the second iteration on, the outputs are partial as the result is.
  if (hasReduction && !partial->ranks.empty()) {
    PartialTerms again(op, kind, reduced.ranks, partial->ranks);
    std::optional<Partial> kept = again.get(term);
    if (!kept || kept->ranks != partial->ranks || !kept->owned.empty()) {
      why = again.why.empty() ? "computes with an output that is partial" : again.why;
      return false;
    }
  }
  fact.partial = partial->ranks;
  coalesce(fact.partial);
  fact.kind = fact.partial.empty() ? ReductionKind::Sum : kind;
  for (const DimFact &dim : fact.dims)
    if (dim.form && overlap(dim.form->getRanks(), fact.partial)) {
      why = "a result that is partial and sharded over the same devices";
      return false;
    }
  return true;
}
