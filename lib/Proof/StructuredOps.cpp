//===- StructuredOps.cpp - Ops that compute each element by a term --------===//

#include "LocalOps.h"
#include "OpTerms.h"

#include <numeric>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Combinations of facts and of loop indices that are tried per op.
static constexpr size_t kMaxCombinations = 128;
/// Indices that are tried per loop.
static constexpr size_t kMaxIndices = 6;

/// Calls `visit` with combinations of one choice per list, as numbers of the choices.
static void forEachCombination(ArrayRef<size_t> counts, llvm::function_ref<void(ArrayRef<size_t>)> visit) {
  size_t combinations = 1;
  for (size_t count : counts)
    combinations *= count;
  SmallVector<size_t> chosen(counts.size());
  for (size_t c = 0; c < std::min(combinations, kMaxCombinations); ++c) {
    size_t rest = c;
    for (auto [i, count] : llvm::enumerate(counts)) {
      chosen[i] = rest % count;
      rest /= count;
    }
    visit(chosen);
  }
}

/// The arguments that the terms of an op read, and what may trap where no term reads its result.
static SmallVector<unsigned> getUsed(const Structured &structured, const TermTable &terms) {
  llvm::DenseSet<TermId> seen;
  SmallVector<TermId> stack(structured.terms.begin(), structured.terms.end());
  for (const Trap &trap : structured.traps) {
    llvm::append_range(stack, trap.operands);
    for (const Guard &guard : trap.guards)
      stack.push_back(guard.first);
  }
  llvm::SmallBitVector used(structured.arguments.size());
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    const Term &term = terms[id];
    if (term.kind == Term::Kind::Argument || (term.kind == Term::Kind::Lookup && term.numbers[0] >= 0))
      used.set(term.numbers[0]);
    llvm::append_range(stack, terms.getReferences(id));
  }
  return llvm::to_vector_of<unsigned>(used.set_bits());
}

//===----------------------------------------------------------------------===//
// Indices of loops
//===----------------------------------------------------------------------===//

namespace {
/// Collects the global indices that each loop of an op may stand for: those of the dims that it walks through. Where a
/// dim is read at a sum of loops, as in a window, the index of one follows from those of the others.
class LoopIndexFinder {
public:
  LoopIndexFinder(const Structured &structured, ArrayRef<const Fact *> operands, const TermTable &terms)
      : structured(structured), operands(operands), terms(terms), found(structured.extents.size()) {}

  /// At least one index per loop.
  std::vector<SmallVector<LoopIndex, 2>> find();

private:
  /// A dim that is read at a sum of several loops.
  struct Sum {
    IndexForm at;
    int64_t constant;
    ArrayRef<std::pair<unsigned, int64_t>> loops;
  };

  void propose(unsigned loop, const IndexForm &form, std::optional<int64_t> size, bool isGuess = false);
  /// A loop that stands for the whole of itself.
  void proposeItself(unsigned loop);
  void readOperands();
  /// A dim that is read at a constant plus a multiple of one loop.
  void readDim(const DimFact &dim, const IndexForm &at, const IndexForm &map, std::pair<unsigned, int64_t> loop,
               int64_t localSize);
  void readBody();
  /// Indices next to other loops, as in a comparison of two.
  void readParts();
  /// The dims of a tensor that is read at an index of one loop, next to computed ones.
  void readLookup(const Term &term);
  /// Loops of one iteration may stand for any dim of one local element.
  void proposeUnits();
  void collectIndices(TermId id, llvm::DenseSet<TermId> &seen);
  void solveSums();
  /// The index of a loop of a sum by those of the others, where these are `getOther`.
  void solveSum(const Sum &sum, unsigned loop, bool isGuess, llvm::function_ref<IndexForm(unsigned)> getOther);
  /// A sum of loops that no other operand has: any of them may be the sharded one.
  void guessSums();

  const Structured &structured;
  ArrayRef<const Fact *> operands;
  const TermTable &terms;
  std::vector<SmallVector<LoopIndex, 2>> found;
  SmallVector<Sum> sums;
  SmallVector<IndexForm> bodyIndices; ///< indices that the body computes or compares
};
} // namespace

std::vector<SmallVector<LoopIndex, 2>> LoopIndexFinder::find() {
  readOperands();
  readBody();
  unsigned numLoops = found.size();
  // Reduced loops of windows are the same on all devices, as a rule.
  for (unsigned l = 0; l < numLoops; ++l)
    if (found[l].empty() && structured.isReduction[l])
      proposeItself(l);
  solveSums();
  guessSums();
  readParts();
  proposeUnits();
  for (unsigned l = 0; l < numLoops; ++l) {
    bool isRead = llvm::any_of(bodyIndices, [&](const IndexForm &form) { return form.uses(IndexTerm::Kind::Loop, l); });
    if (found[l].empty() && isRead)
      proposeItself(l);
    if (found[l].empty())
      found[l].push_back({std::nullopt, std::nullopt});
  }
  return found;
}

void LoopIndexFinder::propose(unsigned loop, const IndexForm &form, std::optional<int64_t> size, bool isGuess) {
  auto isSame = [&](const LoopIndex &index) { return index.form == form && index.size == size; };
  if (llvm::none_of(found[loop], isSame) && found[loop].size() < kMaxIndices)
    found[loop].push_back({form, size, isGuess});
}

void LoopIndexFinder::proposeItself(unsigned loop) {
  propose(loop, IndexForm::ofLoop(loop, structured.extents[loop]), structured.extents[loop], /*isGuess=*/true);
}

void LoopIndexFinder::readOperands() {
  for (auto [argument, fact] : llvm::zip_equal(structured.arguments, operands)) {
    if (!fact || argument.isLookup)
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
    for (auto [d, dim] : llvm::enumerate(fact->dims)) {
      if (!dim.form || argument.loops[d].empty())
        continue;
      const IndexForm &map = argument.map[d];
      std::optional<IndexForm> at = getAt(*dim.form, d, shape[d], map);
      if (!at)
        continue;
      if (argument.loops[d].size() > 1)
        sums.push_back({*at, map.getConstant(), argument.loops[d]});
      else
        readDim(dim, *at, map, argument.loops[d].front(), shape[d]);
    }
  }
}

void LoopIndexFinder::readDim(const DimFact &dim, const IndexForm &at, const IndexForm &map,
                              std::pair<unsigned, int64_t> loop, int64_t localSize) {
  auto [number, factor] = loop;
  // Of a dim that is read beyond its end, as by a padding, the loop may have the same index and another size.
  bool isBeyond = !map.hasScalar() && !map.isInside(localSize);
  if (dim.size == 1 && isBeyond && at.isConstant())
    return;
  propose(number, at, dim.size);
  if (isBeyond)
    propose(number, at, std::nullopt);
  // The one element of a dim that the first device has.
  if (structured.extents[number] == 1 && at.getConstant() == 0 && at.hasRank() && !at.hasScalar())
    propose(number, at, 1, /*isGuess=*/true);
  // What a slice gave before is from an offset on, with a step.
  int64_t step = 0;
  for (const IndexTerm &term : at.getTerms())
    step = std::gcd(step, term.coef);
  if (step > 1 || at.getConstant() != 0)
    if (std::optional<IndexForm> index = at.plus(-at.getConstant()).exactlyDividedBy(std::max<int64_t>(step, 1)))
      propose(number, *index, std::nullopt);
  if (at.hasScalar()) {
    // A window that begins where the program computes.
    IndexForm fixed(at.getConstant());
    for (const IndexTerm &term : at.getTerms())
      if (term.kind != IndexTerm::Kind::Scalar)
        fixed = fixed.plus(IndexForm::ofTerm(term)).value_or(fixed);
    propose(number, fixed.plus(-fixed.getRange().first), std::nullopt);
  }
  if (map.getConstant() == 0 && factor == 1 && !map.hasScalar())
    return;
  // The index of the loop itself, if the unsharded op has the same offset.
  std::optional<IndexForm> offset = map.plus(IndexForm::ofLoop(number, structured.extents[number]), -factor);
  std::optional<IndexForm> index = offset ? at.plus(*offset, -1) : std::nullopt;
  if (index)
    index = index->exactlyDividedBy(factor);
  if (!index)
    return;
  propose(number, *index, std::nullopt);
  // Windows begin before or behind the shard of the loop.
  if (!index->hasScalar())
    propose(number, index->plus(-index->getRange().first), std::nullopt);
}

/// The index of one loop in a form: its digits and those of ranks that continue them. Without a loop, ranks alone.
///
///   100 i0 + 300 x + 4 y + i1      3 x + i0 for loop 0, 4 y + i1 for loop 1
static IndexForm getPart(const IndexForm &form, std::optional<unsigned> loop) {
  auto isOfLoop = [&](const IndexTerm &term) { return term.kind == IndexTerm::Kind::Loop && term.var == loop; };
  SmallVector<IndexTerm> terms;
  int64_t unit = 0;
  for (const IndexTerm &term : form.getTerms())
    if (isOfLoop(term) || term.kind == IndexTerm::Kind::Rank) {
      terms.push_back(term);
      bool isSmaller = unit == 0 || std::abs(term.coef) < std::abs(unit);
      if (isSmaller && (isOfLoop(term) || !loop))
        unit = term.coef;
    }
  // The digit of the loop with factor 1 may follow one of a rank.
  for (const IndexTerm &term : terms)
    if (loop && term.kind == IndexTerm::Kind::Rank && unit == term.coef * term.size)
      unit = term.coef;
  IndexForm part;
  int64_t next = unit;
  for (bool changed = true; changed && unit != 0;) {
    const IndexTerm *digit = llvm::find_if(terms, [&](const IndexTerm &term) { return term.coef == next; });
    changed = digit != terms.end();
    if (!changed)
      break;
    IndexTerm scaled = *digit;
    scaled.coef /= unit;
    part = part.plus(IndexForm::ofTerm(scaled)).value_or(part);
    next *= digit->size;
  }
  return part;
}

void LoopIndexFinder::readBody() {
  llvm::DenseSet<TermId> seen;
  for (TermId term : structured.terms)
    collectIndices(term, seen);
  unsigned numLoops = found.size();
  // Where operands say the index of a loop, a comparison may say another size of its dim.
  for (const IndexForm &form : bodyIndices)
    for (unsigned l = 0; l < numLoops; ++l) {
      IndexForm index = form.plus(-form.getConstant());
      bool isOfLoop = index.uses(IndexTerm::Kind::Loop, l) && !index.hasScalar() && index.isBijective() &&
                      llvm::all_of(index.getTerms(), [&](const IndexTerm &term) {
                        return term.kind == IndexTerm::Kind::Rank || term.var == l;
                      });
      if (isOfLoop && !found[l].empty() && form.getConstant() < 0 && -form.getConstant() <= index.getRange().second)
        propose(l, index, -form.getConstant());
    }
  for (const IndexForm &form : bodyIndices)
    for (unsigned l = 0; l < numLoops; ++l) {
      bool isAlone = form.uses(IndexTerm::Kind::Loop, l) || structured.extents[l] == 1;
      for (unsigned other = 0; other < numLoops; ++other)
        isAlone &= other == l || !form.uses(IndexTerm::Kind::Loop, other);
      if (!isAlone || form.hasScalar() || !found[l].empty() || !form.isBijective())
        continue;
      // That of a loop of one iteration, or of no loop.
      if (!form.uses(IndexTerm::Kind::Loop, l))
        found[l].push_back({std::nullopt, std::nullopt});
      IndexForm index = form.plus(-form.getConstant());
      // A comparison with the size of the dim leaves padding out.
      if (form.getConstant() < 0 && -form.getConstant() <= index.getRange().second)
        propose(l, index, -form.getConstant());
      propose(l, index, index.getRange().second + 1);
      propose(l, index, std::nullopt);
    }
}

void LoopIndexFinder::readParts() {
  unsigned numLoops = found.size();
  for (const IndexForm &form : bodyIndices)
    for (unsigned l = 0; l < numLoops; ++l) {
      bool isUnit = structured.extents[l] == 1;
      IndexForm index = getPart(form, isUnit ? std::nullopt : std::optional(l));
      bool isPart = index.uses(IndexTerm::Kind::Loop, l) || isUnit;
      if (isPart && found[l].empty() && index.hasRank() && index.isBijective()) {
        if (isUnit)
          found[l].push_back({std::nullopt, std::nullopt});
        propose(l, index, index.getRange().second + 1, /*isGuess=*/true);
        propose(l, index, std::nullopt, /*isGuess=*/true);
      }
    }
}

void LoopIndexFinder::readLookup(const Term &term) {
  const Structured::Argument &argument = structured.arguments[term.numbers[0]];
  const Fact *fact = operands[term.numbers[0]];
  if (!fact)
    return;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
  for (auto [d, dim] : llvm::enumerate(fact->dims)) {
    const Term &index = terms[term.operands[d]];
    if (!dim.form || index.kind != Term::Kind::Index || index.form.getTerms().size() != 1)
      continue;
    const IndexTerm &loop = index.form.getTerms().front();
    if (loop.kind != IndexTerm::Kind::Loop || loop.lo != 1)
      continue;
    if (std::optional<IndexForm> at = getAt(*dim.form, d, shape[d], index.form))
      readDim(dim, *at, index.form, {loop.var, loop.coef}, shape[d]);
  }
}

void LoopIndexFinder::proposeUnits() {
  auto hasRank = [](const LoopIndex &index) { return index.form && index.form->hasRank(); };
  SmallVector<bool> isSharded;
  for (const auto &indices : found)
    isSharded.push_back(llvm::any_of(indices, hasRank));
  for (auto [argument, fact] : llvm::zip_equal(structured.arguments, operands)) {
    if (!fact || argument.isLookup)
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
    for (auto [d, dim] : llvm::enumerate(fact->dims)) {
      if (!dim.form || shape[d] != 1 || !dim.form->hasRank())
        continue;
      for (unsigned l = 0; l < found.size(); ++l)
        if (structured.extents[l] == 1 && !isSharded[l]) {
          if (found[l].empty())
            found[l].push_back({std::nullopt, std::nullopt});
          propose(l, *dim.form, dim.size, /*isGuess=*/true);
        }
    }
  }
}

void LoopIndexFinder::collectIndices(TermId id, llvm::DenseSet<TermId> &seen) {
  if (!seen.insert(id).second)
    return;
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Index || term.kind == Term::Kind::Compare)
    bodyIndices.push_back(term.form);
  if (term.kind == Term::Kind::Lookup && term.numbers[0] >= 0)
    readLookup(term);
  for (TermId operand : terms.getReferences(id))
    collectIndices(operand, seen);
}

void LoopIndexFinder::solveSums() {
  for (const Sum &sum : sums) {
    auto isOpen = [&](const std::pair<unsigned, int64_t> &loop) { return found[loop.first].empty(); };
    if (llvm::count_if(sum.loops, isOpen) != 1)
      continue;
    solveSum(sum, llvm::find_if(sum.loops, isOpen)->first, /*isGuess=*/false, [&](unsigned loop) {
      // A loop of equal elements is the same on all devices.
      return found[loop][0].form.value_or(IndexForm::ofLoop(loop, structured.extents[loop]));
    });
  }
}

void LoopIndexFinder::solveSum(const Sum &sum, unsigned loop, bool isGuess,
                               llvm::function_ref<IndexForm(unsigned)> getOther) {
  // What is left of the dim without the other loops.
  std::optional<IndexForm> rest = sum.at.plus(-sum.constant);
  int64_t step = 1;
  for (auto [other, factor] : sum.loops) {
    if (other == loop)
      step = factor;
    else if (rest)
      rest = rest->plus(getOther(other), -factor);
  }
  if (rest)
    rest = rest->exactlyDividedBy(step);
  if (rest)
    propose(loop, *rest, std::nullopt, isGuess);
}

void LoopIndexFinder::guessSums() {
  for (const Sum &sum : sums)
    for (auto [loop, factor] : sum.loops) {
      bool isOnlyGuessed = llvm::all_of(found[loop], [](const LoopIndex &index) { return index.isGuess; });
      if (!structured.isReduction[loop] || !isOnlyGuessed || !sum.at.hasRank())
        continue;
      solveSum(sum, loop, /*isGuess=*/true,
               [&](unsigned other) { return IndexForm::ofLoop(other, structured.extents[other]); });
      for (auto [other, ignored] : sum.loops)
        proposeItself(other);
    }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// How an op is tried.
struct Try {
  bool readsInside = false, addsDefined = false;
};

/// One fact per operand and one index per loop.
static void tryLoops(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands,
                     ArrayRef<LoopIndex> loops, LocalValues &values, Try kind, Attempt &attempt) {
  OpTerms terms(op, structured, operands, loops, values);
  terms.readsInside = kind.readsInside;
  terms.addsDefined = kind.addsDefined;
  if (!terms.convertInside(attempt) || !checkTraps(terms, attempt))
    return;
  for (auto [r, result] : llvm::enumerate(op.getResults()))
    if (isa<RankedTensorType>(result.getType()) && !matchResult(terms, r, attempt))
      return;
}

/// True if a value has no facts, or is a selection of which the facts leave out the other side: it is padding in them.
static bool needsDefinition(Value result, const Structured &structured, const LocalValues &values) {
  ArrayRef<Fact> facts = values.getFacts(result);
  return facts.empty() || (values.terms[structured.terms[0]].kind == Term::Kind::Select &&
                           llvm::all_of(facts, [](const Fact &fact) { return fact.hasUnknownPadding(); }));
}

void proof::visitStructured(Operation &op, const Structured &structured, LocalValues &values) {
  for (TermId term : structured.terms)
    if (Operation *unknown = values.terms.findUnknown(term)) {
      if (const Gap *gap = values.getGapBehind(unknown))
        return values.setGap(&op, *gap);
      StringRef name = unknown->getName().getStringRef();
      return values.setGap(&op, Outcome::Undecided, "the body has " + name + ", which is not modelled", name);
    }
  SmallVector<unsigned> used = getUsed(structured, values.terms);
  // The facts of the operands before the op adds those of its results.
  std::vector<SmallVector<Fact, 2>> choices;
  SmallVector<size_t> counts;
  for (unsigned a : used) {
    Value operand = structured.arguments[a].value;
    if (values.passGap(op, operand))
      return;
    choices.emplace_back(values.getFacts(operand));
    counts.push_back(choices.back().size());
  }
  Attempt attempt;
  SmallVector<const Fact *> operands(structured.arguments.size());
  auto tryAll = [&](Try kind) {
    forEachCombination(counts, [&](ArrayRef<size_t> chosen) {
      for (auto [i, a] : llvm::enumerate(used))
        operands[a] = &choices[i][chosen[i]];
      std::vector<SmallVector<LoopIndex, 2>> indices = LoopIndexFinder(structured, operands, values.terms).find();
      SmallVector<size_t> indexCounts;
      for (const auto &list : indices)
        indexCounts.push_back(list.size());
      SmallVector<LoopIndex> loops(indices.size());
      forEachCombination(indexCounts, [&](ArrayRef<size_t> chosenIndices) {
        for (auto [l, list] : llvm::enumerate(indices))
          loops[l] = list[chosenIndices[l]];
        tryLoops(op, structured, operands, loops, values, kind, attempt);
      });
    });
  };
  tryAll({});
  bool mayReadInside = llvm::any_of(
      structured.arguments, [](const auto &argument) { return llvm::is_contained(argument.readsInside, true); });
  auto isOpen = [&] {
    return llvm::any_of(op.getResults(), [&](Value result) {
      return isa<RankedTensorType>(result.getType()) && values.getFacts(result).empty();
    });
  };
  if (mayReadInside && isOpen())
    tryAll({/*readsInside=*/true, /*addsDefined=*/false});
  // What the unsharded program has nowhere is read through to what it has.
  if (op.getNumResults() == 1 && !structured.hasReduction() && needsDefinition(op.getResult(0), structured, values))
    for (bool readsInside : {false, true})
      if (!readsInside || mayReadInside)
        tryAll({readsInside, /*addsDefined=*/true});
  if (attempt.distance < 0)
    attempt.fail(0, Outcome::Undecided, "no value of the unsharded program is computed like this", "no counterpart");
  values.setGap(&op, attempt.outcome, attempt.why, attempt.kind);
}
