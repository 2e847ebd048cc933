//===- Prover.cpp - Decides what each local value holds -------------------===//

#include "shardkit/Proof/Prover.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Proof/GlobalProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

StringRef proof::stringifyOutcome(Outcome outcome) {
  switch (outcome) {
  case Outcome::Proven:
    return "proven";
  case Outcome::Refused:
    return "refused";
  case Outcome::Undecided:
    return "not decided";
  }
  return "";
}

namespace {
/// Why a value has no fact.
struct Gap {
  Operation *op = nullptr;
  Outcome outcome = Outcome::Undecided;
  std::string why, kind;
};

/// The digits over which a term is partial.
struct Partial {
  bool isNeutral = false;
  SmallVector<RankDigit, 2> ranks;
};

/// How far an attempt to match an op came: the furthest says why it failed.
struct Attempt {
  int distance = -1;
  Outcome outcome = Outcome::Undecided;
  std::string why, kind;
  void fail(int newDistance, Outcome newOutcome, const Twine &newWhy, StringRef newKind) {
    if (newDistance > distance)
      *this = {newDistance, newOutcome, newWhy.str(), newKind.str()};
  }
};

/// A loop and what its index may be.
struct Proposal {
  std::optional<IndexForm> form;
  std::optional<int64_t> size;
  bool operator==(const Proposal &) const = default;
};
} // namespace

namespace mlir::spmd::proof {
class Prover {
public:
  Prover(GlobalProgram &global, TermTable &terms, const MeshCache &meshes, Proof &proof)
      : global(global), terms(terms), meshes(meshes), proof(proof),
        reader(terms, [this](Value value) { return getOuterScalar(value); }) {
    reader.getCoordinate = [this](Operation *op) { return getCoordinate(op); };
    reader.getLookup = [this](Value tensor, ArrayRef<TermId> indices) { return getLookup(tensor, indices); };
  }

  LogicalResult prove(func::FuncOp globalFunc, func::FuncOp local);

private:
  const Mesh *getMesh() const { return mesh; }
  FailureOr<Fact> readBoundary(func::FuncOp local, ShardingAttr sharding, TypeAttr globalType, Type localType,
                               ClassId value, Type expected, const Twine &what);

  void visit(Block &block);
  void visit(Operation &op);
  void visitCollective(CollectiveOpInterface op);
  void visitBroadcast(BroadcastOp op);
  void visitReshape(Operation &op);
  void visitStructured(Operation &op, const Structured &structured);
  void visitOpaque(Operation &op);
  void visitEqualConcat(tensor::ConcatOp op);
  void visitFor(scf::ForOp op);
  bool tryFor(scf::ForOp op, const RegionInfo &info);
  void visitIf(scf::IfOp op);
  /// Forgets what is known of the values of a region.
  void clear(Region &region);
  /// Layouts that a value of a class may have whose elements are all equal at first: those of other values of its
  /// shapes, complete and as partial results over axes.
  SmallVector<Fact, 2> guess(ClassId id, RankedTensorType local);

  void tryOperands(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands, Attempt &attempt);
  void tryLoops(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands, ArrayRef<Proposal> loops,
                Attempt &attempt);
  std::optional<Partial> getPartial(TermId term, ReductionKind kind, ArrayRef<RankDigit> reduced,
                                    llvm::DenseMap<TermId, SmallVector<RankDigit, 2>> &elements,
                                    ArrayRef<SmallVector<RankDigit, 2>> outputs,
                                    llvm::DenseMap<TermId, std::optional<Partial>> &known, std::string &why);

  void addFact(Value value, Fact fact);
  void setGap(Operation *op, Outcome outcome, const Twine &why, StringRef kind);
  /// Values without facts lead back to the op that made the first gap.
  bool passGap(Operation &op, Value operand);
  void count(StringRef rule) { ++proof.rules[rule.str()]; }

  TermId getOuterScalar(Value value);
  std::optional<IndexForm> getCoordinate(Operation *op);
  std::optional<TermId> getLookup(Value tensor, ArrayRef<TermId> indices);
  ScalarReader getScalars() {
    ScalarReader scalars;
    scalars.get = [this](Value value) { return reader.get(value); };
    scalars.getCoordinate = [this](Operation *op) { return getCoordinate(op); };
    return scalars;
  }

  GlobalProgram &global;
  TermTable &terms;
  const MeshCache &meshes;
  Proof &proof;
  BodyReader reader;
  llvm::DenseMap<Value, SmallVector<Fact, 2>> facts;
  llvm::DenseMap<Value, Gap> gaps;
  const Mesh *mesh = nullptr;
  bool hasOrders = false; // meshes that list the devices in several orders
};
} // namespace mlir::spmd::proof

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// More facts of one value are not kept: a value has few names.
static constexpr size_t kMaxFacts = 8;
/// Combinations of facts and of loop indices that are tried per op.
static constexpr size_t kMaxCombinations = 48;

void Prover::addFact(Value value, Fact fact) {
  SmallVector<Fact, 2> &list = facts[value];
  if (list.size() >= kMaxFacts || llvm::is_contained(list, fact))
    return;
  list.push_back(fact);
  ArrayRef<int64_t> localShape = cast<RankedTensorType>(value.getType()).getShape();
  // Slices and paddings of the global value that this one is a part of, too.
  for (const ViewUser &user : global.getViewUsers(fact.value)) {
    Fact view{user.value, {}, fact.partial, fact.kind};
    bool fits = true;
    for (auto [d, dim] : llvm::enumerate(fact.dims)) {
      int64_t size = global[user.value].type.getDimSize(d);
      if (user.offsets[d] == 0 && user.steps[d] == 1 && size == dim.size) {
        view.dims.push_back(dim);
        continue;
      }
      std::optional<IndexForm> form;
      if (dim.form && !dim.form->hasScalar())
        form = dim.form->plus(-user.offsets[d]).exactlyDividedBy(user.steps[d]);
      fits &= form.has_value();
      if (!fits)
        break;
      // A part of the view, and not a part of something else next to it.
      auto [low, high] = form->getRange();
      fits &= low > -localShape[d] && high < size + localShape[d];
      // Outside of a slice there are other elements. The padding of the view is that of the local value.
      fits &= !user.padding || !dim.hasPadding() || dim.padding == user.padding;
      view.dims.push_back({size, form, user.padding ? dim.padding : Attribute()});
    }
    if (!fits)
      continue;
    addFact(value, view);
  }
}

void Prover::setGap(Operation *op, Outcome outcome, const Twine &why, StringRef kind) {
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && facts[result].empty())
      gaps[result] = {op, outcome, why.str(), kind.str()};
}

bool Prover::passGap(Operation &op, Value operand) {
  if (!facts[operand].empty())
    return false;
  auto it = gaps.find(operand);
  Gap gap = it == gaps.end() ? Gap{&op, Outcome::Undecided, "a value of another region", "region"} : it->second;
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()) && facts[result].empty())
      gaps[result] = gap;
  return true;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

TermId Prover::getOuterScalar(Value value) {
  Operation *op = value.getDefiningOp();
  return terms.getUnknown(op ? op : value.getParentBlock()->getParentOp());
}

std::optional<IndexForm> Prover::getCoordinate(Operation *op) {
  auto coordinate = cast<DeviceCoordinateOp>(op);
  const Mesh *of = meshes.lookup(coordinate.getMeshAttr());
  if (!of || hasOrders)
    return std::nullopt;
  int64_t stride = 1;
  for (const MeshAxis &axis : llvm::reverse(of->axes)) {
    if (axis.name == coordinate.getAxis())
      return IndexForm::ofRank({stride, axis.size});
    stride *= axis.size;
  }
  return std::nullopt;
}

std::optional<TermId> Prover::getLookup(Value tensor, ArrayRef<TermId> indices) {
  for (const Fact &fact : facts[tensor]) {
    if (global[fact.value].splat && fact.partial.empty())
      return global.getLookup(fact.value, {});
    if (!fact.isFull())
      continue;
    SmallVector<TermId> sums;
    for (TermId index : indices) {
      if (terms[index].kind == Term::Kind::Index && terms[index].form.isConstant()) {
        Term term{Term::Kind::Sum};
        term.numbers = {terms[index].form.getConstant(), 0};
        index = terms.get(term);
      }
      sums.push_back(index);
    }
    return global.getLookup(fact.value, sums);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

void Prover::visitCollective(CollectiveOpInterface op) {
  Operation &operation = *op.getOperation();
  Value input = operation.getOperand(0), result = operation.getResult(0);
  if (passGap(operation, input))
    return;
  const Mesh *fromMesh = meshes.lookup(op.getFromMesh()), *toMesh = meshes.lookup(op.getToMesh());
  Move move;
  if (!fromMesh || !toMesh || hasOrders || (operation.getNumOperands() > 1 && isa<HaloExchangeOp>(operation)) ||
      failed(op.getLayouts(*fromMesh, *toMesh, move.from, move.to)))
    return setGap(&operation, Outcome::Undecided,
                  "a collective that is not modelled: windows at run time, or several orders of devices",
                  operation.getName().getStringRef());
  move.isLocal = op.getKind() == CollectiveKind::AllSlice;
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  move.from.partialKind = getKindOf(move.from.partialKind, element);
  if (!isa<ComplexType>(element))
    move.zero = Builder(op.getContext()).getZeroAttr(element);
  std::string why;
  bool isRefused = true;
  for (const Fact &fact : SmallVector<Fact, 2>(facts[input])) {
    if (global[fact.value].splat || global[fact.value].isUndefined) {
      // All devices have the same elements.
      std::optional<ReductionKind> kind = op.getReduction();
      if (kind)
        kind = getKindOf(*kind, element);
      if (!fact.partial.empty()) {
        std::optional<SmallVector<RankDigit, 2>> rest = without(fact.partial, move.from.partial);
        if (kind && *kind == fact.kind && rest) {
          Fact reduced = fact;
          reduced.partial = *rest;
          if (rest->empty())
            reduced.kind = ReductionKind::Sum;
          addFact(result, reduced);
        } else {
          why = "the operand is partial over " + proof::toString(fact.partial, mesh);
        }
        continue;
      }
      if (!kind || global[fact.value].isUndefined || isIdempotent(*kind) ||
          isNeutral(*kind, global[fact.value].splat)) {
        bool addsZeros = false;
        for (const IndexForm &form : getIndexForms(move.to))
          addsZeros |= form.getRange().first < 0;
        for (auto [form, size] : llvm::zip_equal(getIndexForms(move.to), move.to.shape))
          addsZeros |= form.getRange().second >= size;
        if (!addsZeros || global[fact.value].splat == move.zero) {
          addFact(result, fact);
        } else {
          isRefused = false;
          why = "a window of a constant, with zeros around it";
        }
      } else {
        why = "reduces a constant that all devices have";
      }
      continue;
    }
    bool isModelled = true;
    std::string reason;
    if (std::optional<Fact> moved = applyMove(fact, move, mesh, reason, isModelled)) {
      addFact(result, *moved);
      count("collective");
    } else {
      isRefused &= isModelled;
      if (why.empty())
        why = reason;
    }
  }
  setGap(&operation, isRefused ? Outcome::Refused : Outcome::Undecided, why, operation.getName().getStringRef());
}

void Prover::visitBroadcast(BroadcastOp op) { setGap(op, Outcome::Undecided, "not modelled", "spmd.broadcast"); }

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

void Prover::visitReshape(Operation &op) {
  Value source = op.getOperand(0), result = op.getResult(0);
  if (passGap(op, source))
    return;
  auto from = cast<RankedTensorType>(source.getType()), to = cast<RankedTensorType>(result.getType());
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return setGap(&op, Outcome::Undecided, "a dynamic size", op.getName().getStringRef());
  for (const Fact &fact : SmallVector<Fact, 2>(facts[source])) {
    const ClassInfo &info = global[fact.value];
    if (info.splat || info.isUndefined) {
      addFact(result, fact);
      continue;
    }
    if (to.getRank() == 1)
      (void)global.getFlat(fact.value);
    for (ClassId other : SmallVector<ClassId>(global.getReshapes(fact.value))) {
      RankedTensorType type = global[other].type;
      if (type.getRank() != to.getRank())
        continue;
      if (std::optional<Fact> reshaped = applyReshape(fact, from.getShape(), to.getShape(), other, type.getShape())) {
        bool isUniform = true;
        for (auto [d, dim] : llvm::enumerate(reshaped->dims))
          isUniform &= dim.form || global[other].isUniform[d];
        if (!isUniform)
          continue;
        addFact(result, *reshaped);
        count("reshape");
      }
    }
  }
  setGap(&op, Outcome::Undecided, "no reshape of the unsharded program has these elements",
         op.getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// `form` of dim `dim` of an operand, at `map` over the loops of an op.
static std::optional<IndexForm> getAt(const IndexForm &form, unsigned dim, int64_t size, const IndexForm &map) {
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

static SmallVector<unsigned> getUsed(const Structured &structured, const TermTable &terms) {
  llvm::DenseSet<TermId> seen;
  SmallVector<TermId> stack(structured.terms.begin(), structured.terms.end());
  llvm::SmallBitVector used(structured.arguments.size());
  while (!stack.empty()) {
    TermId id = stack.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    const Term &term = terms[id];
    if (term.kind == Term::Kind::Argument || (term.kind == Term::Kind::Lookup && term.numbers[0] >= 0))
      used.set(term.numbers[0]);
    stack.append(term.operands.begin(), term.operands.end());
  }
  SmallVector<unsigned> list;
  for (unsigned a : used.set_bits())
    list.push_back(a);
  return list;
}

/// Forms of indices in terms.
static void findIndices(TermId id, const TermTable &terms, llvm::DenseSet<TermId> &seen,
                        SmallVectorImpl<IndexForm> &forms) {
  if (!seen.insert(id).second)
    return;
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Index || term.kind == Term::Kind::Compare)
    forms.push_back(term.form);
  for (TermId operand : term.operands)
    findIndices(operand, terms, seen, forms);
}

/// Operands of equal sizes that are sharded alike: index i of operand n is digit n, then i, of the result.
void Prover::visitEqualConcat(tensor::ConcatOp op) {
  unsigned dim = op.getDim();
  auto first = cast<RankedTensorType>(op.getInputs()[0].getType());
  if (op.getInputs().size() < 2)
    return;
  for (const Fact &fact : SmallVector<Fact, 2>(facts[op.getInputs()[0]])) {
    if (!fact.partial.empty() || fact.dims.size() <= dim || !fact.dims[dim].form || fact.dims[dim].hasPadding() ||
        !fact.dims[dim].form->hasRank())
      continue;
    SmallVector<ClassId> classes;
    for (Value input : op.getInputs()) {
      if (input.getType() != first)
        return;
      for (const Fact &other : facts[input])
        if (other.dims == fact.dims && other.partial.empty()) {
          classes.push_back(other.value);
          break;
        }
    }
    if (classes.size() != op.getInputs().size())
      continue;
    SmallVector<int64_t> shape;
    std::optional<SmallVector<int64_t>> key = global.getConcatKey(classes, dim, shape);
    if (!key)
      continue;
    int64_t extent = first.getDimSize(dim), count = classes.size();
    IndexForm index = IndexForm::ofLoop(dim, extent * count);
    std::optional<IndexForm> operand = index.dividedBy(extent);
    std::optional<IndexForm> form =
        fact.dims[dim].form->rename({{IndexTerm::Kind::Loop, dim, 1, extent, IndexTerm::Kind::Loop, dim, 1}});
    form = form && operand ? form->plus(*operand, fact.dims[dim].size) : std::nullopt;
    if (!form)
      continue;
    for (ClassId candidate : SmallVector<ClassId>(global.find(*key))) {
      if (global[candidate].type.getShape() != ArrayRef(shape))
        continue;
      Fact result = fact;
      result.value = candidate;
      result.dims[dim] = {shape[dim], *form, {}};
      for (auto [d, part] : llvm::enumerate(result.dims)) {
        part.padding = {};
        if (global[candidate].isUniform[d])
          part.form = std::nullopt;
      }
      addFact(op.getResult(), result);
      this->count("concatenation of equal shards");
    }
  }
}

void Prover::visitStructured(Operation &op, const Structured &structured) {
  SmallVector<unsigned> used = getUsed(structured, terms);
  for (TermId term : structured.terms)
    if (Operation *unknown = terms.findUnknown(term))
      return setGap(&op, Outcome::Undecided,
                    "the body has " + unknown->getName().getStringRef() + ", which is not modelled",
                    unknown->getName().getStringRef());
  for (unsigned a : used)
    if (passGap(op, structured.arguments[a].value))
      return;
  // One fact per operand, in all combinations. Equal operands have equal facts.
  SmallVector<const Fact *> operands(structured.arguments.size());
  std::vector<SmallVector<Fact, 2>> choices;
  for (unsigned a : used)
    choices.push_back(facts[structured.arguments[a].value]);
  Attempt attempt;
  size_t combinations = 1;
  for (const auto &choice : choices)
    combinations *= choice.size();
  for (size_t c = 0; c < std::min(combinations, kMaxCombinations); ++c) {
    size_t rest = c;
    for (auto [i, a] : llvm::enumerate(used)) {
      operands[a] = &choices[i][rest % choices[i].size()];
      rest /= choices[i].size();
    }
    tryOperands(op, structured, operands, attempt);
  }
  if (attempt.distance < 0)
    attempt.fail(0, Outcome::Undecided, "no value of the unsharded program is computed like this", "no counterpart");
  setGap(&op, attempt.outcome, attempt.why, attempt.kind);
}

void Prover::tryOperands(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands,
                         Attempt &attempt) {
  unsigned numLoops = structured.extents.size();
  std::vector<SmallVector<Proposal, 2>> proposals(numLoops);
  auto propose = [&](unsigned loop, const IndexForm &form, std::optional<int64_t> size) {
    Proposal proposal{form, size};
    if (!llvm::is_contained(proposals[loop], proposal) && proposals[loop].size() < 6)
      proposals[loop].push_back(proposal);
  };
  struct Compound {
    IndexForm found;
    int64_t constant;
    ArrayRef<std::pair<unsigned, int64_t>> loops;
  };
  SmallVector<Compound> compounds;
  for (auto [a, argument] : llvm::enumerate(structured.arguments)) {
    const Fact *fact = operands[a];
    if (!fact || argument.isLookup)
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
    for (auto [d, dim] : llvm::enumerate(fact->dims)) {
      if (!dim.form)
        continue;
      const IndexForm &map = argument.map[d];
      std::optional<IndexForm> at = getAt(*dim.form, d, shape[d], map);
      ArrayRef<std::pair<unsigned, int64_t>> of = argument.loops[d];
      if (!at || of.empty())
        continue;
      if (of.size() > 1) {
        compounds.push_back({*at, map.getConstant(), of});
        continue;
      }
      auto [loop, factor] = of.front();
      bool isPlain = map.getConstant() == 0 && factor == 1 && !map.hasScalar();
      propose(loop, *at, dim.size);
      if (isPlain)
        continue;
      // The index of the loop itself, if the unsharded op has the same offset.
      std::optional<IndexForm> offset = map.plus(IndexForm::ofLoop(loop, structured.extents[loop]), -factor);
      std::optional<IndexForm> index = offset ? at->plus(*offset, -1) : std::nullopt;
      if (index)
        index = index->exactlyDividedBy(factor);
      if (!index)
        continue;
      propose(loop, *index, std::nullopt);
      // Windows begin before or behind the shard of the loop.
      if (!index->hasScalar())
        propose(loop, index->plus(-index->getRange().first), std::nullopt);
    }
  }
  // Indices that the body computes.
  SmallVector<IndexForm> forms;
  llvm::DenseSet<TermId> seen;
  for (TermId term : structured.terms)
    findIndices(term, terms, seen, forms);
  for (const IndexForm &form : forms)
    for (unsigned l = 0; l < numLoops; ++l) {
      IndexForm loop = IndexForm::ofLoop(l, structured.extents[l]);
      bool alone = form.uses(IndexTerm::Kind::Loop, l) || structured.extents[l] == 1;
      for (unsigned k = 0; k < numLoops; ++k)
        alone &= k == l || !form.uses(IndexTerm::Kind::Loop, k);
      if (!alone || form.hasScalar() || !proposals[l].empty())
        continue;
      if (form.isBijective())
        propose(l, form.plus(-form.getConstant()), std::nullopt);
    }
  // Loops of windows: what is left of a dim without the other loops.
  for (unsigned l = 0; l < numLoops; ++l)
    if (proposals[l].empty() && structured.isReduction[l])
      propose(l, IndexForm::ofLoop(l, structured.extents[l]), structured.extents[l]);
  for (const Compound &compound : compounds) {
    int open = -1, numOpen = 0;
    for (auto [l, factor] : compound.loops)
      if (proposals[l].empty()) {
        open = l;
        ++numOpen;
      }
    if (numOpen != 1)
      continue;
    std::optional<IndexForm> rest = compound.found.plus(-compound.constant);
    int64_t step = 0;
    for (auto [l, factor] : compound.loops) {
      if (int(l) == open)
        step = factor;
      else if (rest)
        rest = rest->plus(*proposals[l][0].form, -factor);
    }
    if (rest)
      rest = rest->exactlyDividedBy(step);
    if (rest)
      propose(open, *rest, std::nullopt);
  }
  for (unsigned l = 0; l < numLoops; ++l) {
    bool isRead = llvm::any_of(forms, [&](const IndexForm &form) { return form.uses(IndexTerm::Kind::Loop, l); });
    if (proposals[l].empty() && isRead)
      propose(l, IndexForm::ofLoop(l, structured.extents[l]), structured.extents[l]);
    if (proposals[l].empty())
      proposals[l].push_back({std::nullopt, std::nullopt});
  }
  size_t combinations = 1;
  for (const auto &list : proposals)
    combinations *= list.size();
  SmallVector<Proposal> loops(numLoops);
  for (size_t c = 0; c < std::min(combinations, kMaxCombinations); ++c) {
    size_t rest = c;
    for (unsigned l = 0; l < numLoops; ++l) {
      loops[l] = proposals[l][rest % proposals[l].size()];
      rest /= proposals[l].size();
    }
    tryLoops(op, structured, operands, loops, attempt);
  }
}

/// Ranks of which only the one with a coordinate passes a test: `digit = number`, several joined by and.
static bool readRankTest(TermId id, const TermTable &terms, SmallVectorImpl<RankDigit> &ranks) {
  const Term &term = terms[id];
  if (term.kind == Term::Kind::Op && term.operands.size() == 2 &&
      OperationName::getFromOpaquePointer(term.name).getStringRef() == "arith.andi")
    return readRankTest(term.operands[0], terms, ranks) && readRankTest(term.operands[1], terms, ranks);
  if (term.kind != Term::Kind::Compare || term.numbers[0] != 1)
    return false;
  IndexForm form = term.form;
  for (const IndexTerm &index : form.getTerms())
    if (index.kind != IndexTerm::Kind::Rank)
      return false;
  // Exactly one choice of digits.
  if (!form.plus(-form.getConstant()).isBijective() || form.getRange().first > 0 || form.getRange().second < 0)
    return false;
  ranks.append(form.getRanks());
  return true;
}

std::optional<Partial> Prover::getPartial(TermId id, ReductionKind kind, ArrayRef<RankDigit> reduced,
                                          llvm::DenseMap<TermId, SmallVector<RankDigit, 2>> &elements,
                                          ArrayRef<SmallVector<RankDigit, 2>> outputs,
                                          llvm::DenseMap<TermId, std::optional<Partial>> &known, std::string &why) {
  auto it = known.find(id);
  if (it != known.end())
    return it->second;
  auto compute = [&]() -> std::optional<Partial> {
    Term term = terms[id];
    auto get = [&](TermId operand) { return getPartial(operand, kind, reduced, elements, outputs, known, why); };
    auto join = [&](std::optional<Partial> a, std::optional<Partial> b) -> std::optional<Partial> {
      if (!a || !b)
        return std::nullopt;
      if (a->isNeutral)
        return b;
      if (b->isNeutral || a->ranks == b->ranks)
        return a;
      // A value that all devices combine counts once.
      if (isIdempotent(kind) && (a->ranks.empty() || b->ranks.empty())) {
        count("idempotent reduction of a complete value");
        return a->ranks.empty() ? b : a;
      }
      auto describe = [&](ArrayRef<RankDigit> ranks) {
        return ranks.empty() ? std::string("a complete value")
                             : "a value that is partial over " + proof::toString(ranks, mesh);
      };
      why = "combines " + describe(a->ranks) + " with " +
            (b->ranks.empty() ? describe(b->ranks) : "one that is partial over " + proof::toString(b->ranks, mesh));
      return std::nullopt;
    };
    switch (term.kind) {
    case Term::Kind::Undefined:
      return Partial{true, {}};
    case Term::Kind::Constant:
      return Partial{isNeutral(kind, term.attribute), {}};
    case Term::Kind::Element:
      return Partial{false, elements.lookup(id)};
    case Term::Kind::Output: {
      ArrayRef<RankDigit> ranks = outputs[term.numbers[0]];
      if (!ranks.empty())
        return Partial{false, SmallVector<RankDigit, 2>(ranks)};
      return get(term.operands[0]);
    }
    case Term::Kind::Select: {
      std::optional<Partial> condition = get(term.operands[0]);
      if (!condition || !condition->ranks.empty()) {
        why = "selects by a partial value";
        return std::nullopt;
      }
      return join(get(term.operands[1]), get(term.operands[2]));
    }
    case Term::Kind::Op: {
      StringRef name = OperationName::getFromOpaquePointer(term.name).getStringRef();
      bool isDifference = kind == ReductionKind::Sum && (name == "arith.subf" || name == "arith.subi");
      if ((getCombinerKind(name, term.type) == kind || isDifference) && term.operands.size() == 2) {
        std::optional<Partial> sides[2];
        for (auto [i, operand] : llvm::enumerate(term.operands)) {
          sides[i] = get(operand);
          // What this device adds is a part of the loop.
          bool isOutput = terms[operand].kind == Term::Kind::Output;
          bool hasOutput = terms[term.operands[1 - i]].kind == Term::Kind::Output;
          if (!reduced.empty() && hasOutput && !isOutput && sides[i] && !sides[i]->isNeutral) {
            if (overlap(sides[i]->ranks, reduced)) {
              why = "reduces over " + proof::toString(reduced, mesh) + " what is partial over it";
              return std::nullopt;
            }
            sides[i]->ranks = unite(sides[i]->ranks, reduced);
          }
        }
        return join(sides[0], sides[1]);
      }
      SmallVector<Partial> operands;
      bool isComplete = true;
      for (TermId operand : term.operands) {
        std::optional<Partial> part = get(operand);
        if (!part)
          return std::nullopt;
        isComplete &= part->ranks.empty();
        operands.push_back(*part);
      }
      if (isComplete)
        return Partial{false, {}};
      if (kind == ReductionKind::Sum) {
        if (name == "arith.negf")
          return operands[0];
        if ((name == "arith.mulf" || name == "arith.muli") &&
            (operands[0].ranks.empty() || operands[1].ranks.empty())) {
          count("product of a partial sum with a complete factor");
          return operands[0].ranks.empty() ? operands[1] : operands[0];
        }
      }
      why = name.str() + " of a value that is partial (" + stringifyReductionKind(kind).str() + ") over " +
            proof::toString(operands[0].ranks.empty() && operands.size() > 1 ? operands[1].ranks : operands[0].ranks,
                            mesh);
      return std::nullopt;
    }
    default:
      return Partial{false, {}};
    }
  };
  std::optional<Partial> result = compute();
  known[id] = result;
  return result;
}

/// Reduces only where a sum of terms is added to the output: `out + f`, with f independent of the output.
static std::optional<ReductionKind> getReduction(TermId id, const TermTable &terms) {
  const Term &term = terms[id];
  if (term.kind != Term::Kind::Op || term.operands.size() != 2)
    return std::nullopt;
  bool first = terms[term.operands[0]].kind == Term::Kind::Output,
       second = terms[term.operands[1]].kind == Term::Kind::Output;
  if (first == second)
    return std::nullopt;
  llvm::DenseSet<TermId> seen;
  SmallVector<TermId> stack{term.operands[first ? 1 : 0]};
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (terms[next].kind == Term::Kind::Output)
      return std::nullopt;
    stack.append(terms[next].operands.begin(), terms[next].operands.end());
  }
  StringRef name = OperationName::getFromOpaquePointer(term.name).getStringRef();
  if (first && (name == "arith.subf" || name == "arith.subi"))
    return ReductionKind::Sum;
  return getCombinerKind(name, term.type);
}

void Prover::tryLoops(Operation &op, const Structured &structured, ArrayRef<const Fact *> operands,
                      ArrayRef<Proposal> loops, Attempt &attempt) {
  unsigned numLoops = loops.size();
  bool hasReduction = structured.hasReduction();
  // Partial operands.
  llvm::DenseMap<TermId, SmallVector<RankDigit, 2>> elements;
  SmallVector<SmallVector<RankDigit, 2>, 1> outputs(structured.results.size());
  std::optional<ReductionKind> partialKind;
  bool hasPartial = false;
  for (const Fact *fact : operands)
    if (fact && !fact->partial.empty()) {
      if (partialKind && *partialKind != fact->kind)
        return attempt.fail(2, Outcome::Refused, "combines partial results of different reductions", "partial");
      partialKind = fact->kind;
      hasPartial = true;
    }

  std::string misfit;
  bool isLocalIndex = false;
  // Converts the terms, with what is assumed of each loop. `outside`: loops whose index is not in their dim.
  auto convert = [&](TermFrame &frame, llvm::function_ref<bool(unsigned)> isOutside) {
    frame.context = op.getContext();
    for (const Proposal &loop : loops)
      frame.loops.push_back(loop.form);
    frame.getArgument = [&, isOutside](unsigned a) -> TermId {
      const Structured::Argument &argument = structured.arguments[a];
      const Fact &fact = *operands[a];
      ArrayRef<int64_t> shape = cast<RankedTensorType>(argument.value.getType()).getShape();
      SumList sums;
      Attribute padding;
      for (auto [d, dim] : llvm::enumerate(fact.dims)) {
        SmallVector<int64_t, 6> sum{0, 0};
        if (dim.form) {
          std::optional<IndexForm> at = getAt(*dim.form, d, shape[d], argument.map[d]);
          std::optional<SmallVector<int64_t, 6>> expressed = at ? frame.express(*at) : std::nullopt;
          if (!expressed) {
            if (misfit.empty())
              misfit = "dim " + std::to_string(d) + " of operand #" + std::to_string(a) + " has " +
                       dim.form->toString(mesh) + ", which does not fit the other operands";
            isLocalIndex = true;
            return terms.getUnknown(&op);
          }
          sum = *expressed;
          if (sum[0] == 0 && sum[1] == 1 && sum[3] == 1 && sum[2] >= 0 && isOutside(sum[2]) && dim.padding &&
              loops[sum[2]].size == dim.size)
            padding = dim.padding;
        }
        sums.push_back(sum);
      }
      TermId element = padding ? terms.getConstant(padding) : global.getElement(fact.value, sums);
      bool isOutput = hasReduction && a >= structured.numInputs && a < structured.numInputs + structured.results.size();
      if (isOutput) {
        outputs[a - structured.numInputs] = fact.partial;
      } else if (!fact.partial.empty()) {
        // A constant is complete.
        isLocalIndex |= terms[element].kind != Term::Kind::Element;
        auto [it, isNew] = elements.try_emplace(element, fact.partial);
        isLocalIndex |= !isNew && it->second != fact.partial;
      } else if (elements.count(element)) {
        isLocalIndex = true;
      }
      if (!isOutput)
        return element;
      Term output{Term::Kind::Output};
      output.operands.push_back(element);
      output.numbers.push_back(a - structured.numInputs);
      return terms.get(output);
    };
    frame.getLookup = [&](unsigned a, ArrayRef<TermId> indices) -> TermId {
      const Fact &fact = *operands[a];
      if (!fact.partial.empty() || (!global[fact.value].splat && !fact.isFull())) {
        if (misfit.empty())
          misfit = "reads a sharded value at computed indices";
        isLocalIndex = true;
        return terms.getUnknown(&op);
      }
      return global.getLookup(fact.value, indices);
    };
    SmallVector<TermId> converted;
    for (TermId term : structured.terms)
      converted.push_back(frame.convert(term, terms));
    return converted;
  };

  TermFrame frame;
  for (unsigned l = 0; l < numLoops; ++l)
    frame.assumed.push_back(loops[l].form && loops[l].size
                                ? std::optional(std::pair<int64_t, int64_t>(0, *loops[l].size - 1))
                                : std::nullopt);
  SmallVector<TermId> converted = convert(frame, [](unsigned) { return false; });
  if (isLocalIndex)
    return attempt.fail(1, Outcome::Undecided, misfit,
                        misfit.find("computed") != std::string::npos ? "lookup" : "misfit");

  // Padding has any content: it must not divide, nor be an index.
  for (unsigned loop = 0; loop < numLoops && !structured.traps.empty(); ++loop) {
    if (!loops[loop].form || loops[loop].form->hasScalar())
      continue;
    auto [low, high] = loops[loop].form->getRange();
    if (loops[loop].size && low >= 0 && high < *loops[loop].size)
      continue;
    if (!loops[loop].size)
      return attempt.fail(1, Outcome::Undecided, "a division or a look-up in windows", "trap");
    for (bool above : {false, true}) {
      if (above ? high < *loops[loop].size : low >= 0)
        continue;
      TermFrame outside;
      for (unsigned l = 0; l < numLoops; ++l) {
        std::optional<std::pair<int64_t, int64_t>> range;
        if (loops[l].form && !loops[l].form->hasScalar())
          range = loops[l].form->getRange();
        if (l == loop)
          range = above ? std::pair(*loops[l].size, high) : std::pair(low, int64_t(-1));
        outside.assumed.push_back(range);
      }
      (void)convert(outside, [&](unsigned l) { return l == loop; });
      for (const Trap &trap : structured.traps) {
        bool runs = llvm::none_of(trap.guards, [&](const std::pair<TermId, bool> &guard) {
          std::optional<bool> known = terms.getBool(outside.convert(guard.first, terms));
          return known && *known != guard.second;
        });
        bool isSafe = llvm::all_of(trap.operands, [&](TermId operand) {
          const Term &term = terms[outside.convert(operand, terms)];
          auto number = dyn_cast_or_null<IntegerAttr>(term.attribute);
          bool isDivisor = term.kind == Term::Kind::Constant && number && !number.getValue().isZero() &&
                           !number.getValue().isAllOnes();
          // A cast of a masked index is one.
          const Term *cast = &term;
          while (cast->kind == Term::Kind::Op && cast->operands.size() == 1)
            cast = &terms[cast->operands[0]];
          if (auto zero = dyn_cast_or_null<IntegerAttr>(cast->attribute); zero && cast->kind == Term::Kind::Constant)
            number = zero;
          bool isIndex = term.kind == Term::Kind::Sum || term.kind == Term::Kind::Index;
          return isIntegerDivision(trap.op) ? isDivisor || (isIndex && term.kind == Term::Kind::Sum &&
                                                            term.numbers[1] == 0 && term.numbers[0] > 0)
                                            : isIndex || (number && number.getValue().isZero());
        });
        if (runs && !isSafe)
          return attempt.fail(5, isIntegerDivision(trap.op) ? Outcome::Refused : Outcome::Undecided,
                              trap.op->getName().getStringRef() + " of the content of padding (loop " + Twine(loop) +
                                  ": " + loops[loop].form->toString(mesh) + " beyond " + Twine(*loops[loop].size) + ")",
                              "trap");
      }
    }
  }

  SmallVector<bool> isUnit;
  for (unsigned l = 0; l < numLoops; ++l)
    isUnit.push_back(loops[l].form ? loops[l].form->isConstant() : structured.extents[l] == 1);

  for (auto [r, result] : llvm::enumerate(op.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    // Results over the loops; a dim is a loop, or has one element.
    SumList sums;
    ArrayRef<int> dimLoops = structured.resultLoops[r];
    if (llvm::any_of(llvm::zip_equal(structured.results[r], dimLoops),
                     [](auto pair) { return std::get<1>(pair) < 0 && !std::get<0>(pair).isConstant(); })) {
      attempt.fail(1, Outcome::Undecided, "writes elements at indices that are not modelled", "map");
      continue;
    }
    for (int loop : dimLoops) {
      SmallVector<int64_t, 6> sum{0, 0};
      if (loop >= 0 && !isUnit[loop])
        sum = {0, 1, loop, 1};
      sums.push_back(sum);
    }
    bool isWhole = dimLoops.size() == numLoops;
    for (auto [d, loop] : llvm::enumerate(dimLoops))
      isWhole &= loop == int(d);

    // A value that only the device with a coordinate keeps is partial.
    TermId termId = converted[r];
    SmallVector<RankDigit, 2> kept;
    Attribute other;
    while (!hasReduction && terms[termId].kind == Term::Kind::Select &&
           readRankTest(terms[termId].operands[0], terms, kept) &&
           terms[terms[termId].operands[2]].kind == Term::Kind::Constant &&
           (!other || terms[terms[termId].operands[2]].attribute == other)) {
      other = terms[terms[termId].operands[2]].attribute;
      termId = terms[termId].operands[1];
    }
    SmallVector<TermId> keyTerms(converted.begin(), converted.end());
    keyTerms[r] = termId;
    Term term = terms[termId];

    // Forms of the dims of the result.
    auto getDim = [&](unsigned d) -> std::optional<IndexForm> {
      int loop = dimLoops[d];
      if (loop < 0)
        return IndexForm(0);
      if (!loops[loop].form)
        return std::nullopt;
      SmallVector<unsigned> to(std::max<unsigned>(numLoops, loop + 1));
      for (unsigned l = 0; l < numLoops; ++l)
        to[l] = l;
      to[loop] = d;
      return loops[loop].form->renameLoops(to);
    };
    // A proposal has only its own loop.
    auto isOwn = [&](unsigned d) {
      int loop = dimLoops[d];
      if (loop < 0 || !loops[loop].form)
        return true;
      for (unsigned l = 0; l < numLoops; ++l)
        if (int(l) != loop && loops[loop].form->uses(IndexTerm::Kind::Loop, l))
          return false;
      return true;
    };
    bool areOwn = true;
    for (unsigned d = 0; d < dimLoops.size(); ++d)
      areOwn &= isOwn(d);
    if (!areOwn)
      continue;
    auto getPadding = [&](unsigned d) -> Attribute {
      int loop = dimLoops[d];
      if (hasReduction || loop < 0 || !loops[loop].form || !loops[loop].size || other)
        return {};
      DimFact dim{*loops[loop].size, loops[loop].form, {}};
      if (!dim.hasPadding() || dim.form->hasScalar())
        return {};
      auto [low, high] = dim.form->getRange();
      Attribute padding;
      bool savedLocal = isLocalIndex;
      std::string savedMisfit = misfit;
      for (bool above : {false, true}) {
        if (above ? high < dim.size : low >= 0)
          continue;
        TermFrame outside;
        for (unsigned l = 0; l < numLoops; ++l) {
          if (int(l) == loop)
            outside.assumed.push_back(above ? std::pair(dim.size, high) : std::pair(low, int64_t(-1)));
          else
            outside.assumed.push_back(
                loops[l].form && !loops[l].form->hasScalar() ? std::optional(loops[l].form->getRange()) : std::nullopt);
        }
        TermId value = convert(outside, [&](unsigned l) { return int(l) == loop; })[r];
        isLocalIndex = savedLocal;
        misfit = savedMisfit;
        if (terms[value].kind != Term::Kind::Constant || (padding && padding != terms[value].attribute))
          return {};
        padding = terms[value].attribute;
      }
      return padding;
    };

    auto addPartial = [&](Fact fact) {
      if (kept.empty()) {
        addFact(result, fact);
        return;
      }
      for (ReductionKind kind : {ReductionKind::Sum, ReductionKind::Prod, ReductionKind::And, ReductionKind::Or,
                                 ReductionKind::Xor, ReductionKind::Max, ReductionKind::Min, ReductionKind::UMax,
                                 ReductionKind::UMin, ReductionKind::MaxNum, ReductionKind::MinNum}) {
        if (!isNeutral(kind, other) || (!fact.partial.empty() && fact.kind != kind) || overlap(fact.partial, kept))
          continue;
        bool isSharded = false;
        for (const DimFact &dim : fact.dims)
          isSharded |= dim.form && overlap(dim.form->getRanks(), kept);
        if (isSharded)
          continue;
        Fact partial = fact;
        partial.kind = kind;
        partial.partial = unite(fact.partial, kept);
        addFact(result, partial);
        count("value that one device keeps");
      }
    };

    // Constants, and elements that only move.
    if (isWhole && !hasReduction) {
      if (term.kind == Term::Kind::Constant && !frame.usedAssumption) {
        Fact fact{global.getSplat(term.attribute), {}, {}};
        fact.dims.resize(type.getRank());
        addPartial(fact);
        continue;
      }
      if (term.kind == Term::Kind::Undefined && kept.empty()) {
        Fact fact{global.getUndefined(), {}, {}};
        fact.dims.resize(type.getRank());
        addFact(result, fact);
        continue;
      }
      if (term.kind == Term::Kind::Element) {
        ClassId source = term.numbers[0];
        const ClassInfo &info = global[source];
        Fact fact{source, {}, elements.lookup(termId)};
        if (!fact.partial.empty())
          fact.kind = *partialKind;
        bool isMove = info.type.getRank() == type.getRank();
        size_t at = 1;
        for (unsigned d = 0; isMove && d < info.type.getRank(); ++d) {
          ArrayRef<int64_t> sum = ArrayRef(term.numbers).slice(at, 2 + 2 * term.numbers[at + 1]);
          at += sum.size();
          DimFact dim{info.type.getDimSize(d), std::nullopt, {}};
          // What was assumed of a loop must be what is inside of the dim.
          if (frame.usedAssumption && loops[d].size)
            isMove &= *loops[d].size == dim.size && sum[0] == 0 && sum[1] == (dim.size == 1 ? 0 : 1) &&
                      (sum[1] == 0 || sum[3] == 1);
          if (!info.isUniform[d]) {
            IndexForm form(sum[0]);
            bool isSame = true;
            for (int64_t i = 0; i < sum[1]; ++i) {
              isSame &= sum[2 + 2 * i] == int64_t(d) && sum[1] == 1;
              std::optional<IndexForm> own = isSame ? getDim(d) : std::nullopt;
              isSame &= own.has_value();
              if (isSame)
                form = *form.plus(*own, sum[3 + 2 * i]);
            }
            isMove &= isSame;
            dim.form = form;
            if (sum[0] == 0 && sum[1] == 1 && sum[3] == 1 && loops[d].size == dim.size)
              dim.padding = getPadding(d);
          }
          fact.dims.push_back(dim);
        }
        if (isMove) {
          addPartial(fact);
          count("elements that move");
        }
      }
    }

    SmallVector<int64_t> key = global.getKey(structured, r, keyTerms, sums, isUnit);
    for (ClassId candidate : SmallVector<ClassId>(global.find(key))) {
      const ClassInfo &info = global[candidate];
      if (info.loopSizes.size() != numLoops || info.type.getRank() != type.getRank() ||
          info.type.getElementType() != type.getElementType())
        continue;
      bool fits = true;
      SmallVector<RankDigit, 2> reduced;
      SmallVector<unsigned> overflow;
      std::string why;
      for (unsigned l = 0; l < numLoops && fits; ++l) {
        int64_t size = info.loopSizes[l];
        if (loops[l].size && *loops[l].size != size && frame.usedAssumption)
          fits = false;
        if (!structured.isReduction[l])
          continue;
        if (!loops[l].form) {
          if (structured.extents[l] != size) {
            fits = false;
            why =
                "reduces " + std::to_string(structured.extents[l]) + " of " + std::to_string(size) + " equal elements";
          }
          continue;
        }
        const IndexForm &form = *loops[l].form;
        int64_t total = 1;
        for (const IndexTerm &part : form.getTerms())
          total *= part.size;
        if (!form.isBijective() || form.getConstant() > 0 || form.getConstant() + total < size) {
          fits = false;
          why = "reduces over " + form.toString(mesh) + ", which does not count each of " + std::to_string(size) +
                " elements once";
          break;
        }
        if (overlap(reduced, form.getRanks())) {
          fits = false;
          why = "two loops are sharded over the same devices";
          break;
        }
        reduced = unite(reduced, form.getRanks());
        if (form.getConstant() < 0 || form.getConstant() + total > size)
          overflow.push_back(l);
      }
      if (!fits) {
        if (!why.empty())
          attempt.fail(4, Outcome::Refused, why, "reduction");
        continue;
      }
      Fact fact{candidate, {}, {}};
      for (unsigned d = 0; d < dimLoops.size() && fits; ++d) {
        std::optional<IndexForm> form = getDim(d);
        if (info.isUniform[d])
          form = std::nullopt;
        else if (!form)
          fits = false;
        if (form && overlap(form->getRanks(), reduced)) {
          fits = false;
          why = "reduces over " + proof::toString(reduced, mesh) + ", over which dim " + std::to_string(d) +
                " of the result is sharded";
        }
        DimFact dim{info.type.getDimSize(d), form, {}};
        if (dim.hasPadding() && loops[dimLoops[d]].size == dim.size)
          dim.padding = getPadding(d);
        fact.dims.push_back(dim);
      }
      // The same term, so the same reduction: which one it is.
      std::optional<ReductionKind> kind = partialKind;
      if (fits && !reduced.empty()) {
        std::optional<ReductionKind> own = getReduction(termId, terms);
        if (!own) {
          attempt.fail(4, Outcome::Undecided, "a sharded reduction of several values, such as a selection",
                       "selection");
          continue;
        }
        if (kind && *kind != *own) {
          fits = false;
          why = "the reduced loop is sharded over " + proof::toString(reduced, mesh) +
                ", but an operand is partial by another reduction";
        }
        kind = own;
      }
      // Lanes outside of a reduced loop must leave the output as it is.
      for (unsigned set = 1; fits && set < (1u << std::min<size_t>(overflow.size(), 6)); ++set) {
        for (bool above : {false, true}) {
          TermFrame outside;
          bool isPossible = true;
          auto isOutside = [&](unsigned l) {
            for (auto [i, loop] : llvm::enumerate(overflow))
              if (loop == l && (set >> i & 1))
                return true;
            return false;
          };
          for (unsigned l = 0; l < numLoops; ++l) {
            std::optional<std::pair<int64_t, int64_t>> range;
            if (loops[l].form && !loops[l].form->hasScalar()) {
              auto [low, high] = loops[l].form->getRange();
              int64_t size = info.loopSizes[l];
              range = std::pair<int64_t, int64_t>(0, size - 1);
              if (isOutside(l)) {
                range = above ? std::pair(size, high) : std::pair(low, int64_t(-1));
                isPossible &= range->first <= range->second;
              }
            }
            outside.assumed.push_back(range);
          }
          if (!isPossible)
            continue;
          TermId left = convert(outside, isOutside)[r];
          if (isLocalIndex)
            return attempt.fail(3, Outcome::Undecided, "padding of a reduced loop", "padding");
          if (terms[left].kind != Term::Kind::Output || terms[left].numbers[0] != int64_t(r)) {
            fits = false;
            why = "padding of loop " + std::to_string(overflow.front()) + " (" +
                  loops[overflow.front()].form->toString(mesh) + " beyond " +
                  std::to_string(info.loopSizes[overflow.front()]) + ") is part of the result";
            break;
          }
          count("padding that a reduction leaves out");
        }
      }
      if (overflow.size() > 6)
        fits = false;
      if (fits && (hasPartial || !reduced.empty())) {
        llvm::DenseMap<TermId, std::optional<Partial>> known;
        std::optional<Partial> partial = getPartial(termId, *kind, reduced, elements, outputs, known, why);
        if (!partial) {
          fits = false;
        } else {
          fact.partial = partial->ranks;
          coalesce(fact.partial);
          fact.kind = *kind;
          for (const DimFact &dim : fact.dims)
            if (dim.form && overlap(dim.form->getRanks(), fact.partial)) {
              fits = false;
              why = "a result that is partial and sharded over the same devices";
            }
          if (fact.partial.empty())
            fact.kind = ReductionKind::Sum;
        }
      }
      if (!fits) {
        attempt.fail(why.empty() ? 3 : 5, why.empty() ? Outcome::Undecided : Outcome::Refused,
                     why.empty() ? "loops of other sizes than in the unsharded program" : why, "partial");
        continue;
      }
      addPartial(fact);
      count(hasReduction ? "reduction" : "op on shards");
    }
    if (facts[result].empty())
      attempt.fail(0, Outcome::Undecided, "no value of the unsharded program is computed like this", "no counterpart");
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Prover::visitOpaque(Operation &op) {
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()) && passGap(op, operand))
      return;
  bool areFull = true;
  std::optional<SmallVector<int64_t>> key = global.getOpaqueKey(&op, [&](Value value) -> std::optional<int64_t> {
    if (!isa<ShapedType>(value.getType()))
      return int64_t(reader.get(value));
    for (const Fact &fact : facts[value])
      if (fact.partial.empty() && (global[fact.value].splat || global[fact.value].isUndefined || fact.isFull()))
        return int64_t(fact.value);
    areFull = false;
    return std::nullopt;
  });
  if (key)
    for (auto [r, result] : llvm::enumerate(op.getResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      key->push_back(r);
      for (ClassId candidate : global.find(*key)) {
        Fact fact{candidate, {}, {}};
        for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
          fact.dims.push_back({size, IndexForm::ofLoop(d, size), {}});
        addFact(result, fact);
        count("same op on full values");
        break;
      }
      key->pop_back();
    }
  StringRef name = op.getName().getStringRef();
  if (!areFull)
    setGap(&op, Outcome::Undecided, name + " on shards is not modelled", name);
  else
    setGap(&op, Outcome::Undecided, "no " + name + " of the unsharded program has these operands", name);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void Prover::clear(Region &region) {
  auto forget = [&](Value value) {
    facts.erase(value);
    gaps.erase(value);
    reader.erase(value);
  };
  for (Block &block : region) {
    for (Value argument : block.getArguments())
      forget(argument);
    for (Operation &op : block) {
      for (Value result : op.getResults())
        forget(result);
      for (Region &nested : op.getRegions())
        clear(nested);
    }
  }
}

SmallVector<Fact, 2> Prover::guess(ClassId id, RankedTensorType local) {
  RankedTensorType type = global[id].type;
  SmallVector<Fact, 2> complete;
  Fact full{id, {}, {}};
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    full.dims.push_back({size, IndexForm::ofLoop(d, size), {}});
  if (type.getShape() == local.getShape())
    complete.push_back(full);
  // Dims in equal blocks over some axes, in their order.
  if (mesh && type.getShape() != local.getShape()) {
    unsigned numAxes = mesh->axes.size();
    SmallVector<Fact, 2> open{full};
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      int64_t chunk = local.getDimSize(d);
      if (chunk == size)
        continue;
      SmallVector<Fact, 2> next;
      for (const Fact &fact : open)
        for (unsigned set = 1; set < (1u << std::min(numAxes, 6u)); ++set) {
          Layout layout;
          int64_t stride = 1, count = 1;
          IndexForm form = IndexForm::ofLoop(d, chunk);
          SmallVector<RankDigit, 2> ranks;
          for (unsigned a = numAxes; a-- > 0;) {
            RankDigit digit{stride, mesh->axes[a].size};
            stride *= digit.size;
            if (!(set >> a & 1))
              continue;
            form = *form.plus(IndexForm::ofRank(digit), chunk * count);
            count *= digit.size;
            ranks.push_back(digit);
          }
          bool isFree = (size + count - 1) / count == chunk;
          for (const DimFact &dim : fact.dims)
            isFree &= !overlap(dim.form->getRanks(), ranks);
          if (!isFree)
            continue;
          next.push_back(fact);
          next.back().dims[d].form = form;
        }
      open = next;
    }
    complete.append(open.begin(), open.end());
  }
  SmallVector<Fact, 2> all = complete;
  if (mesh)
    for (const Fact &fact : complete)
      for (unsigned set = 1; set < (1u << std::min<size_t>(mesh->axes.size(), 4)); ++set) {
        Fact partial = fact;
        int64_t stride = 1;
        bool isFree = true;
        for (unsigned a = mesh->axes.size(); a-- > 0;) {
          RankDigit digit{stride, mesh->axes[a].size};
          stride *= digit.size;
          if (!(set >> a & 1) || digit.size == 1)
            continue;
          for (const DimFact &dim : fact.dims)
            isFree &= !overlap(dim.form->getRanks(), digit);
          partial.partial.push_back(digit);
        }
        coalesce(partial.partial);
        if (isFree && !partial.partial.empty())
          all.push_back(partial);
      }
  return all;
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

bool Prover::tryFor(scf::ForOp op, const RegionInfo &info) {
  auto loop = dyn_cast<scf::ForOp>(info.op);
  if (!loop || loop.getInitArgs().size() != op.getInitArgs().size())
    return false;
  SmallVector<Value> bounds{op.getLowerBound(), op.getUpperBound(), op.getStep()};
  for (auto [bound, term] : llvm::zip_equal(bounds, info.scalars))
    if (reader.get(bound) != term)
      return false;
  unsigned numArguments = op.getInitArgs().size();
  // What each argument may hold: what is yielded must be the same.
  std::vector<SmallVector<Fact, 2>> choices(numArguments);
  for (unsigned i = 0; i < numArguments; ++i) {
    Value init = op.getInitArgs()[i];
    if (!isa<RankedTensorType>(init.getType())) {
      if (!info.scalarInits[i] || reader.get(init) != *info.scalarInits[i])
        return false;
      continue;
    }
    if (!info.inits[i] || !info.arguments[i] || !info.yields[i] || !info.results[i])
      return false;
    for (const Fact &fact : facts[init]) {
      if (fact.value != *info.inits[i])
        continue;
      if (global[fact.value].splat || global[fact.value].isUndefined) {
        for (const Fact &guessed : guess(*info.arguments[i], cast<RankedTensorType>(init.getType())))
          if (holds(facts[init], *info.inits[i], guessed, global))
            choices[i].push_back(guessed);
        continue;
      }
      Fact carried = fact;
      carried.value = *info.arguments[i];
      for (DimFact &dim : carried.dims)
        dim.padding = {};
      bool isOpen = llvm::any_of(carried.dims, [](const DimFact &dim) { return !dim.form; });
      if (isOpen) {
        for (const Fact &guessed : guess(*info.arguments[i], cast<RankedTensorType>(init.getType())))
          if (holds(facts[init], *info.inits[i], guessed, global))
            choices[i].push_back(guessed);
      } else {
        choices[i].push_back(carried);
      }
    }
    if (choices[i].empty())
      return false;
  }
  SmallVector<unsigned> chosen(numArguments, 0);
  for (unsigned attempt = 0; attempt < 16; ++attempt) {
    clear(op.getRegion());
    reader.set(op.getInductionVar(), *info.induction);
    for (unsigned i = 0; i < numArguments; ++i) {
      BlockArgument argument = op.getRegionIterArgs()[i];
      if (isa<RankedTensorType>(argument.getType()))
        addFact(argument, choices[i][chosen[i]]);
      else
        reader.set(argument, *info.scalarArguments[i]);
    }
    visit(*op.getBody());
    bool isCarried = true, hasNext = false;
    for (unsigned i = 0; i < numArguments; ++i) {
      Value yielded = op.getYieldedValues()[i];
      if (!isa<RankedTensorType>(yielded.getType())) {
        isCarried &= reader.get(yielded) == *info.scalarYields[i];
        continue;
      }
      if (holds(facts[yielded], *info.yields[i], choices[i][chosen[i]], global))
        continue;
      isCarried = false;
      // What is yielded may tell.
      std::optional<unsigned> better;
      for (auto [c, choice] : llvm::enumerate(choices[i]))
        if (c > chosen[i] && !better && holds(facts[yielded], *info.yields[i], choice, global))
          better = c;
      if (!better && chosen[i] + 1 < choices[i].size())
        better = chosen[i] + 1;
      if (better) {
        chosen[i] = *better;
        hasNext = true;
      }
    }
    if (isCarried) {
      for (unsigned i = 0; i < numArguments; ++i) {
        Value result = op.getResult(i);
        if (!isa<RankedTensorType>(result.getType())) {
          reader.set(result, *info.scalarResults[i]);
          continue;
        }
        Fact fact = choices[i][chosen[i]];
        fact.value = *info.results[i];
        addFact(result, fact);
      }
      count("induction over a loop");
      return true;
    }
    if (!hasNext)
      break;
  }
  return false;
}

void Prover::visitFor(scf::ForOp op) {
  for (Value init : op.getInitArgs())
    if (isa<RankedTensorType>(init.getType()) && passGap(*op, init))
      return;
  for (const RegionInfo &info : std::vector<RegionInfo>(global.getRegions()))
    if (tryFor(op, info))
      return;
  // The first value of the body that is not known.
  const Gap *first = nullptr;
  for (Operation &nested : *op.getBody())
    for (Value result : nested.getResults())
      if (auto gap = gaps.find(result); gap != gaps.end() && !first)
        first = &gap->second;
  if (first) {
    Gap gap = *first;
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        gaps[result] = gap;
    return;
  }
  setGap(op, Outcome::Undecided, "no loop of the unsharded program carries the same values", "scf.for");
}

void Prover::visitIf(scf::IfOp op) {
  visit(*op.thenBlock());
  visit(*op.elseBlock());
  TermId condition = reader.get(op.getCondition());
  for (const RegionInfo &info : global.getRegions()) {
    if (!isa<scf::IfOp>(info.op) || info.scalars[0] != condition || info.results.size() != op.getNumResults())
      continue;
    bool isSame = true;
    std::vector<std::optional<Fact>> found(op.getNumResults());
    for (unsigned r = 0; r < op.getNumResults(); ++r) {
      Value value = op.thenYield().getOperand(r), other = op.elseYield().getOperand(r);
      if (!isa<RankedTensorType>(value.getType())) {
        isSame &= info.scalarInits[r] && reader.get(value) == *info.scalarInits[r] && info.scalarYields[r] &&
                  reader.get(other) == *info.scalarYields[r];
        continue;
      }
      if (!info.inits[r] || !info.yields[r] || !info.results[r]) {
        isSame = false;
        break;
      }
      SmallVector<Fact, 2> candidates;
      for (auto [side, id] : {std::pair(value, *info.inits[r]), std::pair(other, *info.yields[r])})
        for (const Fact &fact : facts[side])
          if (fact.value == id && !global[id].splat && !global[id].isUndefined &&
              llvm::all_of(fact.dims, [](const DimFact &dim) { return dim.form.has_value(); }))
            candidates.push_back(fact);
      if (candidates.empty())
        candidates = guess(*info.results[r], cast<RankedTensorType>(value.getType()));
      for (Fact &fact : candidates) {
        for (DimFact &dim : fact.dims)
          dim.padding = {};
        if (holds(facts[value], *info.inits[r], fact, global) && holds(facts[other], *info.yields[r], fact, global)) {
          found[r] = fact;
          found[r]->value = *info.results[r];
          break;
        }
      }
      isSame &= found[r].has_value();
    }
    if (!isSame)
      continue;
    for (unsigned r = 0; r < op.getNumResults(); ++r) {
      if (found[r])
        addFact(op.getResult(r), *found[r]);
      else if (info.scalarResults[r])
        reader.set(op.getResult(r), *info.scalarResults[r]);
    }
    count("branch");
    return;
  }
  for (Block *block : {op.thenBlock(), op.elseBlock()})
    for (Value yielded : block->getTerminator()->getOperands())
      if (isa<RankedTensorType>(yielded.getType()) && passGap(*op, yielded))
        return;
  setGap(op, Outcome::Undecided, "no branch of the unsharded program yields the same values", "scf.if");
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Prover::visit(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(op);
}

void Prover::visit(Operation &op) {
  ++proof.localOps;
  if (op.getNumResults() == 0)
    return;
  // Facts are of static sizes.
  for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool hasScalar = llvm::any_of(op.getResultTypes(), [](Type result) { return !isa<ShapedType>(result); });
    if (!isa<ShapedType>(type) || (tensor && tensor.hasStaticShape()))
      continue;
    if (hasScalar && op.getNumRegions() == 0)
      reader.read(op);
    for (Value operand : op.getOperands())
      if (isa<ShapedType>(operand.getType()) && passGap(op, operand))
        return;
    return setGap(&op, Outcome::Undecided, "a size that only the run knows", "dynamic size");
  }
  if (std::optional<Value> annotated = getAnnotated(&op)) {
    if (!passGap(op, *annotated))
      for (const Fact &fact : SmallVector<Fact, 2>(facts[*annotated]))
        addFact(op.getResult(0), fact);
    return;
  }
  if (auto start = dyn_cast<StartOp>(op)) {
    Block &body = start.getBody().front();
    visit(body);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands())) {
      facts[result] = facts[value];
      if (gaps.count(value))
        gaps[result] = gaps[value];
    }
    return;
  }
  if (auto done = dyn_cast<DoneOp>(op)) {
    for (auto [result, value] : llvm::zip_equal(op.getResults(), op.getOperands())) {
      facts[result] = facts[value];
      if (gaps.count(value))
        gaps[result] = gaps[value];
    }
    return;
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return visitCollective(collective);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return visitBroadcast(broadcast);
  bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  if (isScalar && op.getNumRegions() == 0)
    return reader.read(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getElseRegion().empty())
    return visitIf(branch);
  if (isScalar)
    return;
  auto addEverywhere = [&](ClassId id) {
    Fact fact{id, {}, {}};
    fact.dims.resize(cast<RankedTensorType>(op.getResult(0).getType()).getRank());
    addFact(op.getResult(0), fact);
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()); dense && dense.isSplat())
      return addEverywhere(global.getSplat(dense.getSplatValue<Attribute>()));
  if (isa<tensor::EmptyOp>(op))
    return addEverywhere(global.getUndefined());
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return visitReshape(op);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    visitEqualConcat(concat);
  if (std::optional<Structured> structured = readStructured(&op, terms, getScalars()))
    return visitStructured(op, *structured);
  visitOpaque(op);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<Fact> Prover::readBoundary(func::FuncOp local, ShardingAttr sharding, TypeAttr globalType, Type localType,
                                     ClassId value, Type expected, const Twine &what) {
  auto type = cast<RankedTensorType>(expected);
  if (globalType && globalType.getValue() != expected)
    return local.emitError() << what << " has the global type " << globalType.getValue()
                             << ", but the unsharded function has " << expected;
  Layout layout = Layout::replicated(type.getShape());
  if (sharding) {
    auto emit = [&] { return local.emitError() << what << ": "; };
    FailureOr<ShardingOnMesh> read = meshes.read(sharding, emit);
    if (failed(read))
      return failure();
    if (std::optional<ShardingError> error =
            verifySharding(read->sharding, *read->mesh, type.getShape(), /*allowUneven=*/true))
      return local.emitError() << what << ": " << error->message;
    layout = Layout::get(read->sharding, *read->mesh, type.getShape());
  }
  if (type.clone(layout.localShape()) != localType)
    return local.emitError() << what << " is " << localType << ", expected " << type.clone(layout.localShape())
                             << ", the shard of " << type << " by its sharding";
  return getFact(value, layout);
}

LogicalResult Prover::prove(func::FuncOp globalFunc, func::FuncOp local) {
  auto undecided = [&](Operation *op, const Twine &why, StringRef kind) {
    proof.outcome = Outcome::Undecided;
    proof.op = op;
    proof.loc = op->getLoc();
    proof.reason = why.str();
    proof.kind = kind.str();
    return success();
  };
  if (globalFunc.getNumArguments() != local.getNumArguments() || globalFunc.getNumResults() != local.getNumResults())
    return local.emitError() << "@" << local.getName() << " has " << local.getNumArguments() << " arguments and "
                             << local.getNumResults() << " results, but the unsharded function has "
                             << globalFunc.getNumArguments() << " and " << globalFunc.getNumResults();
  if (!local.getBody().hasOneBlock() || !globalFunc.getBody().hasOneBlock())
    return undecided(local, "branches between blocks are not modelled", "blocks");
  for (func::FuncOp func : {globalFunc, local})
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (isa<ShapedType>(type) && (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0))
        return undecided(local, "sizes that only the run knows, or of no elements, are not modelled", "sizes");
    }
  // All meshes that the function names count ranks alike.
  SmallVector<FlatSymbolRefAttr> named;
  auto addAttrs = [&](DictionaryAttr attrs) {
    if (!attrs)
      return;
    for (NamedAttribute attr : attrs)
      if (auto sharding = dyn_cast<ShardingAttr>(attr.getValue()))
        named.push_back(sharding.getMesh());
      else if (auto axes = dyn_cast<AxesAttr>(attr.getValue()))
        named.push_back(axes.getMesh());
  };
  for (unsigned i = 0; i < local.getNumArguments(); ++i)
    addAttrs(local.getArgAttrDict(i));
  for (unsigned i = 0; i < local.getNumResults(); ++i)
    addAttrs(local.getResultAttrDict(i));
  local.walk([&](Operation *op) {
    addAttrs(op->getAttrDictionary());
    if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op))
      named.push_back(coordinate.getMeshAttr());
  });
  for (FlatSymbolRefAttr name : named) {
    const Mesh *other = meshes.lookup(name);
    if (!other)
      return local.emitError() << "mesh " << name << " does not exist";
    if (!mesh)
      mesh = other;
    hasOrders |= other->numDevices() != mesh->numDevices() || other->deviceIds != mesh->deviceIds;
  }
  if (hasOrders)
    return undecided(local, "meshes that list the devices in several orders are not modelled", "orders");

  bool hasManual = globalFunc
                       ->walk([](Operation *op) {
                         return isa<ManualComputationOp, CollectiveOpInterface>(op) ? WalkResult::interrupt()
                                                                                    : WalkResult::advance();
                       })
                       .wasInterrupted();
  // Collectives that the user wrote may combine whatever a device holds.
  if (hasManual)
    return undecided(globalFunc, "a manual computation is not modelled", "manual computation");
  global.add(globalFunc);
  proof.globalOps = global.getNumOps();
  for (auto [i, argument] : llvm::enumerate(local.getArguments())) {
    BlockArgument unsharded = globalFunc.getArgument(i);
    std::optional<ClassId> id = global.getClass(unsharded);
    if (!id) {
      if (argument.getType() != unsharded.getType())
        return local.emitError() << "argument #" << i << " is " << argument.getType()
                                 << ", but the unsharded function has " << unsharded.getType();
      reader.set(argument, global.getScalar(unsharded));
      continue;
    }
    FailureOr<Fact> fact = readBoundary(local, local.getArgAttrOfType<ShardingAttr>(i, kShardingAttr),
                                        local.getArgAttrOfType<TypeAttr>(i, kGlobalTypeAttr), argument.getType(), *id,
                                        unsharded.getType(), "argument #" + Twine(i));
    if (failed(fact))
      return failure();
    addFact(argument, *fact);
  }
  visit(local.getBody().front());

  Operation *terminator = local.getBody().front().getTerminator();
  Operation *globalTerminator = globalFunc.getBody().front().getTerminator();
  const Gap *firstGap = nullptr;
  unsigned firstResult = 0;
  for (auto [r, value] : llvm::enumerate(terminator->getOperands())) {
    Value unsharded = globalTerminator->getOperand(r);
    if (!isa<RankedTensorType>(value.getType())) {
      if (reader.get(value) != global.getScalar(unsharded))
        return undecided(value.getDefiningOp() ? value.getDefiningOp() : terminator,
                         "result #" + Twine(r) + " is a scalar that is not known to be that of the unsharded function",
                         "scalar");
      continue;
    }
    std::optional<ClassId> id = global.getClass(unsharded);
    if (!id)
      return undecided(globalTerminator, "result #" + Twine(r) + " of the unsharded function is not modelled",
                       "global");
    FailureOr<Fact> expected = readBoundary(local, local.getResultAttrOfType<ShardingAttr>(r, kShardingAttr),
                                            local.getResultAttrOfType<TypeAttr>(r, kGlobalTypeAttr), value.getType(),
                                            *id, unsharded.getType(), "result #" + Twine(r));
    if (failed(expected))
      return failure();
    if (facts[value].empty()) {
      auto gap = gaps.find(value);
      if (gap == gaps.end())
        return undecided(terminator, "result #" + Twine(r) + " is not modelled", "result");
      // The first in program order.
      if (!firstGap ||
          (gap->second.op->getBlock() == firstGap->op->getBlock() && gap->second.op->isBeforeInBlock(firstGap->op))) {
        firstGap = &gap->second;
        firstResult = r;
      }
      continue;
    }
    if (firstGap)
      continue;
    bool isProven = false;
    std::string why, kind = "result";
    Outcome outcome = Outcome::Undecided;
    for (const Fact &fact : facts[value]) {
      if (fact.value != *id) {
        if (why.empty())
          why = "holds another value of the unsharded program";
        continue;
      }
      int64_t rank = -1;
      SmallVector<int64_t> index;
      if (!fact.partial.empty() || !expected->partial.empty()) {
        if (fact.partial == expected->partial && fact.kind == expected->kind) {
        } else {
          why = "is partial (" + stringifyReductionKind(fact.kind).str() + ") over " +
                proof::toString(fact.partial, mesh) + ", expected the complete value";
          outcome = Outcome::Refused;
          continue;
        }
      }
      if (global[*id].splat || global[*id].isUndefined ||
          haveSameElements(fact, *expected, mesh ? mesh->numDevices() : 1,
                           cast<RankedTensorType>(value.getType()).getShape(), rank, index)) {
        isProven = true;
        break;
      }
      llvm::raw_string_ostream os(why);
      why.clear();
      os << "holds " << fact.toString(mesh) << ", expected " << expected->toString(mesh);
      if (rank >= 0) {
        outcome = Outcome::Refused;
        auto print = [&](const Fact &of) {
          os << "[";
          llvm::interleaveComma(llvm::enumerate(of.dims), os, [&](auto dim) {
            if (dim.value().form)
              os << dim.value().form->evaluate(rank, index);
            else
              os << "any";
          });
          os << "]";
        };
        os << ": element [";
        llvm::interleaveComma(index, os);
        os << "] of rank " << rank << " is ";
        print(fact);
        os << ", expected ";
        print(*expected);
      }
    }
    if (isProven)
      continue;
    Operation *op = value.getDefiningOp() ? value.getDefiningOp() : terminator;
    (void)undecided(op, "result #" + Twine(r) + " " + why, kind);
    proof.outcome = outcome;
    return success();
  }
  if (firstGap) {
    (void)firstResult;
    (void)undecided(firstGap->op, firstGap->why, firstGap->kind);
    proof.outcome = firstGap->outcome;
    for (Value operand : firstGap->op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      for (const Fact &fact : facts[operand]) {
        const ClassInfo &info = global[fact.value];
        if (!info.loc)
          continue;
        proof.notes.push_back({*info.loc, "an operand holds this value as " + fact.toString(mesh)});
        break;
      }
    }
    return success();
  }
  proof.outcome = Outcome::Proven;
  return success();
}

FailureOr<Proof> proof::prove(func::FuncOp globalFunc, func::FuncOp local) {
  Proof result;
  TermTable terms;
  GlobalProgram global(terms);
  MeshCache meshes(local->getParentOp());
  Prover prover(global, terms, meshes, result);
  if (failed(prover.prove(globalFunc, local)))
    return failure();
  return result;
}
