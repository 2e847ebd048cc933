//===- Regions.cpp - Loops and branches -----------------------------------===//

#include "BlockProver.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Layouts that are tried per loop.
static constexpr unsigned kMaxInductions = 24;

//===----------------------------------------------------------------------===//
// Layouts of values that start as constants
//===----------------------------------------------------------------------===//

/// A set of axes as the digits of the rank that they are, the minor ones first.
static SmallVector<RankDigit> getDigits(const Mesh &mesh, unsigned set) {
  SmallVector<RankDigit> digits;
  int64_t stride = 1;
  for (unsigned a = mesh.axes.size(); a-- > 0;) {
    if (set >> a & 1)
      digits.push_back({stride, mesh.axes[a].size});
    stride *= mesh.axes[a].size;
  }
  return digits;
}

static bool isShardedOver(const Fact &fact, ArrayRef<RankDigit> ranks) {
  return llvm::any_of(fact.dims, [&](const DimFact &dim) { return overlap(dim.form->getRanks(), ranks); });
}

/// `fact` with dim `d` in equal blocks of `chunk` over a set of axes, in any order of up to three: all that it may be.
static SmallVector<Fact, 2> shardDim(const Fact &fact, unsigned d, int64_t chunk, const Mesh &mesh) {
  SmallVector<Fact, 2> sharded;
  for (unsigned set = 1; set < (1u << std::min<size_t>(mesh.axes.size(), 6)); ++set) {
    SmallVector<RankDigit> digits = getDigits(mesh, set);
    int64_t count = 1;
    for (const RankDigit &digit : digits)
      count *= digit.size;
    if ((fact.dims[d].size + count - 1) / count != chunk || isShardedOver(fact, digits))
      continue;
    auto byStride = [](const RankDigit &a, const RankDigit &b) { return a.stride < b.stride; };
    do {
      IndexForm form = IndexForm::ofLoop(d, chunk);
      int64_t step = chunk;
      for (const RankDigit &digit : digits) {
        form = *form.plus(IndexForm::ofRank(digit), step);
        step *= digit.size;
      }
      auto hasForm = [&](const Fact &other) { return other.dims[d].form == form; };
      if (llvm::any_of(sharded, hasForm))
        continue;
      sharded.push_back(fact);
      sharded.back().dims[d].form = form;
    } while (digits.size() <= 3 && std::next_permutation(digits.begin(), digits.end(), byStride));
  }
  return sharded;
}

/// Layouts that a value of a class may have whose elements are all equal at first: those of values of its shapes,
/// complete and as partial sums over axes.
static SmallVector<Fact, 2> guessLayouts(ClassId id, RankedTensorType local, const LocalValues &values) {
  ArrayRef<int64_t> shape = values.global[id].type.getShape();
  SmallVector<Fact, 2> layouts{getFullFact(id, shape)};
  const Mesh *mesh = values.mesh;
  if (shape.size() != local.getShape().size())
    return {};
  if (!mesh)
    return shape == local.getShape() ? layouts : SmallVector<Fact, 2>();
  for (auto [d, size, chunk] : llvm::enumerate(shape, local.getShape())) {
    if (chunk == size)
      continue;
    SmallVector<Fact, 2> next;
    for (const Fact &fact : layouts) {
      // Those of other values first.
      for (const IndexForm &seen : values.getSeenForms(size, chunk)) {
        std::optional<IndexForm> form =
            seen.rename({{IndexTerm::Kind::Loop, 0, 1, chunk, IndexTerm::Kind::Loop, unsigned(d), 1}});
        if (!form || isShardedOver(fact, form->getRanks()))
          continue;
        next.push_back(fact);
        next.back().dims[d].form = *form;
      }
      for (const Fact &sharded : shardDim(fact, d, chunk, *mesh))
        if (llvm::none_of(next, [&](const Fact &other) { return other.dims == sharded.dims; }))
          next.push_back(sharded);
    }
    layouts = next;
  }
  for (const Fact &fact : SmallVector<Fact, 2>(layouts))
    for (unsigned set = 1; set < (1u << std::min<size_t>(mesh->axes.size(), 4)); ++set) {
      Fact partial = fact;
      for (const RankDigit &digit : getDigits(*mesh, set))
        if (digit.size > 1)
          partial.partial.push_back(digit);
      if (partial.partial.empty() || isShardedOver(fact, partial.partial))
        continue;
      coalesce(partial.partial);
      layouts.push_back(partial);
    }
  for (const Fact &fact : SmallVector<Fact, 2>(layouts))
    for (ArrayRef<RankDigit> ranks : values.getSeenPartials()) {
      Fact partial = fact;
      partial.partial.assign(ranks.begin(), ranks.end());
      if (fact.partial.empty() && !isShardedOver(fact, ranks) && !llvm::is_contained(layouts, partial))
        layouts.push_back(partial);
    }
  return layouts;
}

/// True if a value of these facts is the value `id` as `expected` says.
static bool holds(ArrayRef<Fact> facts, ClassId id, const Fact &expected, const GlobalProgram &global) {
  return llvm::any_of(facts, [&](const Fact &fact) {
    if (fact.value != id)
      return false;
    // A constant is in every layout, and the neutral element is partial over any ranks.
    if (global[id].isUndefined)
      return true;
    bool isNeutralSplat = global[id].splat && isNeutral(expected.kind, global[id].splat);
    if (!(isNeutralSplat && fact.partial.empty()) &&
        (fact.partial != expected.partial || (!fact.partial.empty() && fact.kind != expected.kind)))
      return false;
    for (auto [is, should] : llvm::zip_equal(fact.dims, expected.dims))
      if (is.form && is.form != should.form)
        return false;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Induction over a loop, as if it was a loop of the unsharded program.
///
///   1. `readBounds`  both run over the same indices
///   2. `readInits`   what the carried values hold before the loop: shards of what the unsharded loop carries
///   3. `iterate`     with that before an iteration, they hold the same after it
///
/// A value that starts as a constant may have any layout; those that are tried are in `layouts`.
class Induction {
public:
  Induction(BlockProver &prover, LocalValues &values, LoopLikeOpInterface op, const RegionInfo &info)
      : prover(prover), values(values), global(values.global), op(op), info(info), layouts(op.getInits().size()),
        chosen(op.getInits().size()) {}

  /// Adds the facts of the results. False if the loops are not the same.
  bool prove();
  /// True if a carried value may have several layouts, so that one which fails says nothing of the program.
  bool hasGuess() const {
    return llvm::any_of(layouts, [](ArrayRef<Fact> choices) { return choices.size() > 1; });
  }

private:
  bool readBounds();
  bool readInits();
  bool readInit(unsigned i);
  void setArguments();
  /// Visits the body. False if an iteration changes what the values hold; `chosen` is the next choice then, if
  /// `hasNext`.
  bool iterate(bool &hasNext);
  /// A later layout of a carried value: the first one that an iteration yields, or the next one.
  std::optional<unsigned> getLater(unsigned i) const;
  void setResults();
  /// Of scf.while: gives the arguments of its body, and the results, what the condition forwards.
  bool visitCondition(scf::WhileOp loop);

  const Fact &getLayout(unsigned i) const { return layouts[i][chosen[i]]; }
  static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

  BlockProver &prover;
  LocalValues &values;
  GlobalProgram &global;
  LoopLikeOpInterface op;
  const RegionInfo &info;
  std::vector<SmallVector<Fact, 2>> layouts;
  SmallVector<unsigned> chosen;
  std::vector<std::optional<Fact>> forwarded;
};
} // namespace

bool Induction::prove() {
  if (!readBounds() || !readInits())
    return false;
  bool hasNext = true;
  for (unsigned attempt = 0; attempt < kMaxInductions && hasNext; ++attempt) {
    setArguments();
    if (iterate(hasNext)) {
      setResults();
      values.count("induction over a loop");
      return true;
    }
  }
  return false;
}

bool Induction::readBounds() {
  if (info.op->getName() != op->getName() || info.inits.size() != layouts.size() ||
      info.results.size() != op->getNumResults())
    return false;
  auto loop = dyn_cast<scf::ForOp>(*op);
  if (!loop)
    return true;
  SmallVector<Value> bounds{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  return llvm::all_of(llvm::zip_equal(bounds, info.scalars),
                      [&](auto pair) { return values.reader.get(std::get<0>(pair)) == std::get<1>(pair); });
}

bool Induction::readInits() {
  return llvm::all_of(llvm::seq<unsigned>(0, layouts.size()), [&](unsigned i) { return readInit(i); });
}

bool Induction::readInit(unsigned i) {
  Value init = op.getInits()[i];
  if (!isTensor(init))
    return info.scalarInits[i] && values.reader.get(init) == *info.scalarInits[i];
  if (!info.inits[i] || !info.arguments[i] || !info.yields[i] || !info.results[i])
    return false;
  const ClassInfo &first = global[*info.inits[i]];
  ArrayRef<Fact> facts = values.getFacts(init);
  for (const Fact &fact : facts) {
    if (fact.value != *info.inits[i])
      continue;
    bool isOpen =
        first.splat || first.isUndefined || llvm::any_of(fact.dims, [](const DimFact &dim) { return !dim.form; });
    if (!isOpen) {
      layouts[i].push_back(fact);
      layouts[i].back().value = *info.arguments[i];
      for (DimFact &dim : layouts[i].back().dims)
        dim.padding = {};
      continue;
    }
    for (const Fact &guess : guessLayouts(*info.arguments[i], cast<RankedTensorType>(init.getType()), values))
      if (holds(facts, *info.inits[i], guess, global))
        layouts[i].push_back(guess);
  }
  return !layouts[i].empty();
}

void Induction::setArguments() {
  for (Region &region : op->getRegions())
    values.clear(region);
  if (info.induction)
    values.reader.set(*op.getSingleInductionVar(), *info.induction);
  for (auto [i, argument] : llvm::enumerate(op.getRegionIterArgs())) {
    if (isTensor(argument))
      values.addFact(argument, getLayout(i));
    else
      values.reader.set(argument, *info.scalarArguments[i]);
  }
}

bool Induction::visitCondition(scf::WhileOp loop) {
  prover.visit(*loop.getBeforeBody());
  if (values.reader.get(loop.getConditionOp().getCondition()) != info.scalars.front())
    return false;
  forwarded.assign(op->getNumResults(), std::nullopt);
  for (auto [i, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
    Value argument = loop.getAfterArguments()[i];
    if (!isTensor(value)) {
      if (values.reader.get(value) != *info.scalarForwarded[i])
        return false;
      values.reader.set(argument, *info.scalarBodyArguments[i]);
      continue;
    }
    if (!info.forwarded[i] || !info.bodyArguments[i] || !info.results[i])
      return false;
    for (const Fact &fact : values.getFacts(value))
      if (!forwarded[i] && fact.value == *info.forwarded[i])
        forwarded[i] = fact;
    if (!forwarded[i])
      return false;
    // Equal elements have no layout: one that has them all will do.
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    if (llvm::any_of(forwarded[i]->dims, [](const DimFact &dim) { return !dim.form; })) {
      if (global[*info.results[i]].type.getShape() != shape)
        return false;
      forwarded[i] = getFullFact(*info.forwarded[i], shape);
    }
    for (DimFact &dim : forwarded[i]->dims)
      dim.padding = {};
    Fact inBody = *forwarded[i];
    inBody.value = *info.bodyArguments[i];
    values.addFact(argument, inBody);
  }
  prover.visit(*loop.getAfterBody());
  return true;
}

bool Induction::iterate(bool &hasNext) {
  hasNext = false;
  if (auto loop = dyn_cast<scf::WhileOp>(*op)) {
    if (!visitCondition(loop))
      return false;
  } else {
    prover.visit(op->getRegion(0).front());
  }
  bool isCarried = true;
  for (auto [i, yielded] : llvm::enumerate(op.getYieldedValues())) {
    if (!isTensor(yielded)) {
      isCarried &= values.reader.get(yielded) == *info.scalarYields[i];
      continue;
    }
    if (holds(values.getFacts(yielded), *info.yields[i], getLayout(i), global))
      continue;
    isCarried = false;
    if (std::optional<unsigned> later = getLater(i)) {
      chosen[i] = *later;
      hasNext = true;
    }
  }
  return isCarried;
}

std::optional<unsigned> Induction::getLater(unsigned i) const {
  LoopLikeOpInterface loop = op;
  ArrayRef<Fact> yielded = values.getFacts(loop.getYieldedValues()[i]);
  for (unsigned c = chosen[i] + 1; c < layouts[i].size(); ++c)
    if (holds(yielded, *info.yields[i], layouts[i][c], global))
      return c;
  return chosen[i] + 1 < layouts[i].size() ? std::optional(chosen[i] + 1) : std::nullopt;
}

void Induction::setResults() {
  bool isWhile = isa<scf::WhileOp>(*op);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!isTensor(result)) {
      values.reader.set(result, *info.scalarResults[i]);
      continue;
    }
    Fact fact = isWhile ? *forwarded[i] : getLayout(i);
    fact.value = *info.results[i];
    values.addFact(result, fact);
  }
}

/// Proves a loop by one of the unsharded program. Otherwise its results have a gap.
static void visitLoop(BlockProver &prover, LocalValues &values, LoopLikeOpInterface op) {
  for (Value init : op.getInits())
    if (isa<RankedTensorType>(init.getType()) && values.passGap(*op, init))
      return;
  // The second time with layouts that the values of the body have.
  bool hasGuess = false;
  for (unsigned round = 0; round < 2; ++round)
    for (const RegionInfo &info : std::vector<RegionInfo>(values.global.getRegions())) {
      Induction induction(prover, values, op, info);
      bool isProven = induction.prove();
      hasGuess |= induction.hasGuess();
      values.hasGuess |= hasGuess;
      if (isProven)
        return;
    }
  // The first value of the body that is not known.
  for (Region &region : op->getRegions())
    for (Operation &nested : region.front())
      for (Value result : nested.getResults())
        if (const Gap *gap = values.getGap(result)) {
          Gap first = *gap;
          if (hasGuess)
            first.outcome = Outcome::Undecided;
          return values.setGap(op, first);
        }
  StringRef name = op->getName().getStringRef();
  values.setGap(op, Outcome::Undecided, "no loop of the unsharded program carries the same values", name);
}

void BlockProver::visitFor(scf::ForOp op) { visitLoop(*this, values, op); }

void BlockProver::visitWhile(scf::WhileOp op) { visitLoop(*this, values, op); }

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// The layouts that the values of both regions have, which are those of result `r` of a branch of the unsharded
/// program.
static SmallVector<Fact, 2> findBranchFacts(scf::IfOp op, unsigned r, const RegionInfo &info, LocalValues &values) {
  const GlobalProgram &global = values.global;
  Value value = op.thenYield().getOperand(r), other = op.elseYield().getOperand(r);
  if (!info.inits[r] || !info.yields[r] || !info.results[r])
    return {};
  SmallVector<Fact, 2> candidates, found;
  for (auto [side, id] : {std::pair(value, *info.inits[r]), std::pair(other, *info.yields[r])})
    for (const Fact &fact : values.getFacts(side))
      if (fact.value == id && !global[id].splat && !global[id].isUndefined &&
          llvm::all_of(fact.dims, [](const DimFact &dim) { return dim.form.has_value(); }))
        candidates.push_back(fact);
  if (candidates.empty()) {
    candidates = guessLayouts(*info.results[r], cast<RankedTensorType>(value.getType()), values);
    values.hasGuess |= candidates.size() > 1;
  }
  for (Fact &fact : candidates) {
    for (DimFact &dim : fact.dims)
      dim.padding = {};
    if (!holds(values.getFacts(value), *info.inits[r], fact, global) ||
        !holds(values.getFacts(other), *info.yields[r], fact, global))
      continue;
    fact.value = *info.results[r];
    found.push_back(fact);
  }
  return found;
}

/// Adds the facts of the results if they are those of a branch of the unsharded program.
static bool matchBranch(scf::IfOp op, const RegionInfo &info, LocalValues &values) {
  std::vector<SmallVector<Fact, 2>> found(op.getNumResults());
  for (unsigned r = 0; r < op.getNumResults(); ++r) {
    Value value = op.thenYield().getOperand(r), other = op.elseYield().getOperand(r);
    if (isa<RankedTensorType>(value.getType())) {
      found[r] = findBranchFacts(op, r, info, values);
      if (found[r].empty())
        return false;
    } else if (!info.scalarInits[r] || values.reader.get(value) != *info.scalarInits[r] || !info.scalarYields[r] ||
               values.reader.get(other) != *info.scalarYields[r]) {
      return false;
    }
  }
  for (unsigned r = 0; r < op.getNumResults(); ++r) {
    for (const Fact &fact : found[r])
      values.addFact(op.getResult(r), fact);
    if (found[r].empty() && info.scalarResults[r])
      values.reader.set(op.getResult(r), *info.scalarResults[r]);
  }
  values.count("branch");
  return true;
}

void BlockProver::visitIf(scf::IfOp op) {
  visit(*op.thenBlock());
  visit(*op.elseBlock());
  TermId condition = values.reader.get(op.getCondition());
  for (const RegionInfo &info : values.global.getRegions())
    if (isa<scf::IfOp>(info.op) && info.scalars[0] == condition && info.results.size() == op.getNumResults() &&
        matchBranch(op, info, values))
      return;
  for (Block *block : {op.thenBlock(), op.elseBlock()})
    for (Value yielded : block->getTerminator()->getOperands())
      if (isa<RankedTensorType>(yielded.getType()) && values.passGap(*op, yielded))
        return;
  values.setGap(op, Outcome::Undecided, "no branch of the unsharded program yields the same values", "scf.if");
}
