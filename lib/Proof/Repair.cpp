//===- Repair.cpp - Which op, mended, makes a function proven -------------===//

#include "Repair.h"
#include "Edits.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Ops that are visited for all tries: a number, and a number per op of the function.
static constexpr unsigned kMaxVisits = 16000, kMaxVisitsPerOp = 8;
/// Forms of a dim, contents of padding, and layouts of a value that are tried.
static constexpr size_t kMaxForms = 16, kMaxPaddings = 6, kMaxLayouts = 48;
/// Elements by which a slice or a window may be off.
static constexpr int64_t kMaxShift = 4;

namespace {
using Facts = std::vector<Fact>;

/// The layouts that values of a function have, and may have.
class SeenLayouts {
public:
  explicit SeenLayouts(LocalValues &values) : values(values) {}
  void add(const Fact &fact, ArrayRef<int64_t> localShape);
  void add(const Layout &layout);
  /// What a local value of `type` may hold of a class: layouts of its dims, paddings, partial results.
  Facts getFacts(ClassId id, RankedTensorType type) const;

private:
  using Partial = std::pair<SmallVector<RankDigit, 2>, ReductionKind>;
  void addForm(const DimFact &dim, unsigned d, int64_t chunk);
  void addPartial(ArrayRef<RankDigit> ranks, ReductionKind kind);

  LocalValues &values;
  /// By sizes of the dim and of the local one, over loop 0.
  std::map<std::pair<int64_t, int64_t>, SmallVector<IndexForm, 2>> forms;
  SmallVector<Partial> partials;
  SmallVector<Attribute> paddings;
};

class RepairSearch {
public:
  RepairSearch(Block &block, LocalValues &values, BlockProver &prover,
               llvm::function_ref<SmallVector<Value>()> findUnproven, const unsigned &numVisits)
      : block(block), values(values), global(values.global), prover(prover), findUnproven(findUnproven),
        numVisits(numVisits), layouts(values), numClasses(global.size()) {}
  void readLayouts(ArrayRef<std::pair<Value, Fact>> results);
  std::optional<Repair> find();

private:
  void collectOps();
  /// The later ops that read what an op gives, or what is computed from it.
  SmallVector<Operation *> getReaders(Operation *op) const;
  /// True if an op computes what the unsharded program computes as well.
  bool isRight(Operation *op) const;
  /// How much an op would have to change to give a value.
  enum class Change { Attributes, Operand, All };
  static constexpr Change kChanges[] = {Change::Attributes, Change::Operand, Change::All};
  Change getChange(Operation *op, const Fact &fact) const;
  /// True if a collective, a slice or the like gives `fact` with an operand that holds `from`, with other attributes.
  bool moves(Operation *op, const Fact &from, const Fact &fact) const;
  /// The value that a class is a slice or a reshape of.
  ClassId getRoot(ClassId id) const;
  std::optional<Repair> repair(Operation *op, Change change);
  /// Tries changes of an op one after the other: each calls `tryOne` with the number of the next one.
  std::optional<Repair> edit(Operation *op, ArrayRef<Edit> edits);
  /// The op of the block with `op`, and those that read what it gives.
  SmallVector<Operation *> getChanged(Operation *op) const;
  /// What the tensors that an op gives may hold, per try.
  std::vector<Facts> getTries(Operation *op, Change change) const;
  Facts getFacts(Operation *op, Value result) const;
  /// `changed` has the op of the block with `op`, and those that read it.
  bool isProvenWith(BlockProver::Assumed assumed, ArrayRef<Operation *> changed, size_t &numVisited);
  void visitAgain(Operation *op);

  Block &block;
  LocalValues &values;
  GlobalProgram &global;
  BlockProver &prover;
  llvm::function_ref<SmallVector<Value>()> findUnproven;
  const unsigned &numVisits; ///< of the prover, those of ops of regions included
  SeenLayouts layouts;
  ClassId numClasses;
  SmallVector<Operation *> ops;             ///< those on which results depend, in order
  llvm::SmallDenseSet<Operation *> leading; ///< those of which all results that are not proven are computed
  /// The ops of the block that give what an op or its regions read.
  llvm::DenseMap<Operation *, llvm::SmallDenseSet<Operation *, 4>> producers;
  unsigned maxVisits = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a value may hold
//===----------------------------------------------------------------------===//

void SeenLayouts::addForm(const DimFact &dim, unsigned d, int64_t chunk) {
  if (dim.padding && !llvm::is_contained(paddings, dim.padding) && paddings.size() < kMaxPaddings)
    paddings.push_back(dim.padding);
  if (!dim.form || dim.form->hasScalar())
    return;
  std::optional<IndexForm> form = dim.form->rename({{IndexTerm::Kind::Loop, d, 1, chunk, IndexTerm::Kind::Loop, 0, 1}});
  SmallVector<IndexForm, 2> &list = forms[{dim.size, chunk}];
  if (form && list.size() < kMaxForms && !llvm::is_contained(list, *form))
    list.push_back(*form);
}

void SeenLayouts::addPartial(ArrayRef<RankDigit> ranks, ReductionKind kind) {
  Partial partial(ranks, kind);
  if (!ranks.empty() && partials.size() < kMaxForms && !llvm::is_contained(partials, partial))
    partials.push_back(partial);
}

void SeenLayouts::add(const Fact &fact, ArrayRef<int64_t> localShape) {
  for (auto [d, dim, chunk] : llvm::enumerate(fact.dims, localShape))
    addForm(dim, d, chunk);
  addPartial(fact.partial, fact.kind);
}

void SeenLayouts::add(const Layout &layout) {
  for (auto [d, form, size, chunk] : llvm::enumerate(getIndexForms(layout), layout.shape, layout.localShape()))
    addForm({size, form, {}}, d, chunk);
  addPartial(layout.partial, layout.partialKind);
}

Facts SeenLayouts::getFacts(ClassId id, RankedTensorType type) const {
  const ClassInfo &info = values.global[id];
  Fact empty{id, {}, {}};
  if (info.splat) {
    auto typed = dyn_cast<TypedAttr>(info.splat);
    if (!typed || typed.getType() != type.getElementType())
      return {};
    empty.dims.resize(type.getRank());
    return {empty};
  }
  if (!info.type || info.type.getElementType() != type.getElementType() || info.type.getRank() != type.getRank())
    return {};
  Facts facts{empty};
  for (auto [d, size, chunk] : llvm::enumerate(info.type.getShape(), type.getShape())) {
    SmallVector<DimFact> dims;
    if (info.isUniform[d])
      dims.push_back({size, std::nullopt, {}});
    else if (size == chunk)
      dims.push_back({size, IndexForm::ofLoop(d, size), {}});
    auto seen = forms.find({size, chunk});
    if (seen != forms.end())
      for (const IndexForm &form : seen->second)
        if (std::optional<IndexForm> renamed =
                form.rename({{IndexTerm::Kind::Loop, 0, 1, chunk, IndexTerm::Kind::Loop, unsigned(d), 1}})) {
          DimFact dim{size, *renamed, {}};
          if (llvm::is_contained(dims, dim))
            continue;
          dims.push_back(dim);
          if (!dim.hasPadding())
            continue;
          for (Attribute padding : paddings) {
            auto typed = dyn_cast<TypedAttr>(padding);
            if (!typed || typed.getType() != type.getElementType())
              continue;
            dims.push_back(dim);
            dims.back().padding = padding;
          }
        }
    Facts longer;
    for (const Fact &fact : facts)
      for (const DimFact &dim : dims)
        if (longer.size() < kMaxLayouts) {
          longer.push_back(fact);
          longer.back().dims.push_back(dim);
        }
    facts = std::move(longer);
  }
  for (size_t i = 0, complete = facts.size(); i < complete && facts.size() < kMaxLayouts; ++i)
    for (const Partial &partial : partials) {
      facts.push_back(facts[i]);
      facts.back().partial = partial.first;
      facts.back().kind = partial.second;
    }
  return facts;
}

void RepairSearch::readLayouts(ArrayRef<std::pair<Value, Fact>> results) {
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (const Fact &fact : values.getFacts(value))
        layouts.add(fact, type.getShape());
  };
  for (const auto &[value, fact] : results)
    layouts.add(fact, cast<RankedTensorType>(value.getType()).getShape());
  llvm::for_each(block.getArguments(), add);
  block.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective)
      return;
    const Mesh *from = values.meshes.lookup(collective.getFromMesh()),
               *to = values.meshes.lookup(collective.getToMesh());
    auto isStatic = [](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return tensor.hasStaticShape() && llvm::none_of(tensor.getShape(), isUnknownSize);
    };
    Layout before, after;
    if (!from || !to || !isStatic(op->getOperand(0).getType()) || !isStatic(op->getResult(0).getType()) ||
        failed(collective.getLayouts(*from, *to, before, after)))
      return;
    if (global.orders.translate(before, *from))
      layouts.add(before);
    if (global.orders.translate(after, *to))
      layouts.add(after);
  });
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

void RepairSearch::collectOps() {
  for (Operation &op : block.without_terminator())
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (Operation *top = block.findAncestorOpInBlock(*producer); top && top != &op)
            producers[&op].insert(top);
    });
  auto getSources = [&](Value result) {
    llvm::DenseSet<Operation *> sources;
    if (Operation *op = result.getDefiningOp())
      sources.insert(op);
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (sources.contains(&op))
        sources.insert_range(producers[&op]);
    return sources;
  };
  llvm::DenseSet<Operation *> live;
  for (Value result : block.getTerminator()->getOperands())
    live.insert_range(getSources(result));
  for (Operation &op : block.without_terminator())
    if (live.contains(&op))
      ops.push_back(&op);
  leading.insert_range(ops);
  auto restrict = [&](const llvm::DenseSet<Operation *> &sources) {
    for (Operation *op : ops)
      if (!sources.contains(op))
        leading.erase(op);
  };
  for (Value result : findUnproven())
    restrict(getSources(result));
  // An op that gives nothing known, of known operands, is wrong itself, or what it reads is.
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (const Gap *gap = values.getGap(result); gap && block.findAncestorOpInBlock(*gap->op) == op)
        restrict(getSources(result));
}

SmallVector<Operation *> RepairSearch::getReaders(Operation *op) const {
  llvm::DenseSet<Operation *> changed{op};
  SmallVector<Operation *> readers;
  for (Operation *later : ops)
    if (auto it = producers.find(later); it != producers.end() && llvm::any_of(it->second, [&](Operation *producer) {
                                           return changed.contains(producer);
                                         })) {
      changed.insert(later);
      readers.push_back(later);
    }
  return readers;
}

/// True if an op gives elements of its operands as they are.
static bool isMove(Operation *op) {
  return isa<CollectiveOpInterface>(op) || isa_and_nonnull<tensor::TensorDialect>(op->getDialect());
}

bool RepairSearch::isRight(Operation *op) const {
  return !isMove(op) && llvm::all_of(op->getResults(), [&](Value result) {
    return !isa<RankedTensorType>(result.getType()) ||
           llvm::any_of(values.getFacts(result), [&](const Fact &fact) { return !global[fact.value].isOwn; });
  });
}

ClassId RepairSearch::getRoot(ClassId id) const {
  while (global[id].source || global[id].root != id)
    id = global[id].source ? *global[id].source : global[id].root;
  return id;
}

/// The ranks that the dims of a value are sharded over.
static SmallVector<RankDigit, 2> getRanks(const Fact &fact) {
  SmallVector<RankDigit, 2> ranks;
  for (const DimFact &dim : fact.dims)
    if (dim.form)
      ranks = unite(ranks, dim.form->getRanks());
  return ranks;
}

/// The number of devices of a group.
static int64_t getCount(ArrayRef<RankDigit> ranks) {
  return llvm::product_of(llvm::map_range(ranks, [](const RankDigit &rank) { return rank.size; }), int64_t(1));
}

bool RepairSearch::moves(Operation *op, const Fact &from, const Fact &fact) const {
  if (getRoot(from.value) != getRoot(fact.value))
    return false;
  SmallVector<RankDigit, 2> before = getRanks(from), after = getRanks(fact);
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  bool keepsPartial = from.partial == fact.partial && (from.partial.empty() || from.kind == fact.kind);
  if (!collective) {
    // Offsets that the device computes depend on its rank.
    bool hasScalars = llvm::any_of(op->getOperandTypes(), [](Type type) { return !isa<ShapedType>(type); });
    return keepsPartial && (hasScalars || before == after);
  }
  if (collective.getReduction()) {
    bool reduces = without(from.partial, fact.partial).has_value() && from.partial != fact.partial;
    // As many devices as now.
    for (const Fact &found : values.getFacts(op->getResult(0)))
      reduces &= getCount(found.partial) == getCount(fact.partial);
    return reduces && without(after, before).has_value();
  }
  if (collective.getKind() == CollectiveKind::AllGather)
    return keepsPartial && without(before, after).has_value();
  if (collective.getKind() == CollectiveKind::AllSlice)
    return keepsPartial && without(after, before).has_value();
  return keepsPartial;
}

RepairSearch::Change RepairSearch::getChange(Operation *op, const Fact &fact) const {
  auto isConstant = [&](const Fact &of) { return bool(global[of.value].splat); };
  if (isConstant(fact) && op->getNumResults() == 1 && llvm::any_of(values.getFacts(op->getResult(0)), isConstant))
    return Change::Attributes;
  if (isRight(op))
    return Change::All;
  if (!isMove(op)) {
    Operation *other = global[fact.value].op;
    return other && other->getName() == op->getName() ? Change::Attributes : Change::Operand;
  }
  for (Value operand : op->getOperands())
    for (const Fact &from : values.getFacts(operand)) {
      if (moves(op, from, fact))
        return Change::Attributes;
      // A slice that should be another one on each device.
      if (!isa<CollectiveOpInterface>(op) && getRoot(from.value) == getRoot(fact.value) && from.partial == fact.partial)
        return Change::Operand;
    }
  if (op->getNumOperands() == 0)
    return Change::All;
  // A value of that type that is given before.
  Type type = op->getOperand(0).getType();
  auto isGiven = [&](Value value) {
    return value.getType() == type &&
           llvm::any_of(values.getFacts(value), [&](const Fact &from) { return moves(op, from, fact); });
  };
  bool isOfOther = llvm::any_of(block.getArguments(), isGiven);
  Operation *top = block.findAncestorOpInBlock(*op);
  for (Operation &earlier : block) {
    if (isOfOther || &earlier == top)
      break;
    isOfOther = llvm::any_of(earlier.getResults(), isGiven);
  }
  return isOfOther ? Change::Operand : Change::All;
}

Facts RepairSearch::getFacts(Operation *op, Value result) const {
  auto type = cast<RankedTensorType>(result.getType());
  Facts facts;
  auto add = [&](const Fact &fact) {
    if (!llvm::is_contained(facts, fact) && !llvm::is_contained(values.getFacts(result), fact))
      facts.push_back(fact);
  };
  // Another slice or window of the same.
  for (const Fact &fact : values.getFacts(result))
    for (unsigned d = 0; d < fact.dims.size() && !isRight(op); ++d)
      for (int64_t shift = -kMaxShift; shift <= kMaxShift; ++shift)
        if (fact.dims[d].form) {
          Fact shifted = fact;
          shifted.dims[d].form = fact.dims[d].form->plus(shift);
          add(shifted);
        }
  for (ClassId id = 0; id < numClasses; ++id)
    for (const Fact &fact : layouts.getFacts(id, type))
      add(fact);
  return facts;
}

std::vector<Facts> RepairSearch::getTries(Operation *op, Change change) const {
  SmallVector<Value> results;
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      results.push_back(result);
  std::vector<Facts> tries;
  if (results.size() == 1) {
    for (const Fact &fact : getFacts(op, results.front()))
      if (getChange(op, fact) == change)
        tries.push_back({fact});
    return tries;
  }
  return tries;
}

void RepairSearch::visitAgain(Operation *op) {
  values.forget(op);
  prover.visit(*op);
}

bool RepairSearch::isProvenWith(BlockProver::Assumed assumed, ArrayRef<Operation *> changed, size_t &numVisited) {
  prover.repaired = assumed;
  auto isOpen = [](OpResult result) { return isa<RankedTensorType>(result.getType()) && !result.use_empty(); };
  bool isProven = llvm::all_of(llvm::enumerate(changed), [&](auto next) {
    visitAgain(next.value());
    numVisited = std::max(numVisited, next.index() + 1);
    return llvm::none_of(next.value()->getResults(),
                         [&](OpResult result) { return isOpen(result) && values.getFacts(result).empty(); });
  });
  isProven = isProven && findUnproven().empty();
  prover.repaired = {};
  return isProven;
}

SmallVector<Operation *> RepairSearch::getChanged(Operation *op) const {
  Operation *top = block.findAncestorOpInBlock(*op);
  SmallVector<Operation *> changed = getReaders(top);
  changed.insert(changed.begin(), top);
  return changed;
}

std::optional<Repair> RepairSearch::repair(Operation *op, Change change) {
  SmallVector<Operation *> changed = getChanged(op);
  std::optional<Repair> found;
  size_t numVisited = 0;
  for (const Facts &facts : getTries(op, change)) {
    if (numVisits > maxVisits)
      break;
    if (isProvenWith({op, facts}, changed, numVisited)) {
      const ClassInfo &info = global[facts.front().value];
      std::string text = "if it gives this value as " + facts.front().toString(values.mesh);
      if (info.splat) {
        text = "if all its elements are ";
        llvm::raw_string_ostream(text) << info.splat;
      }
      found = {op, info.loc, text};
      break;
    }
  }
  for (Operation *visited : ArrayRef(changed).take_front(numVisited))
    visitAgain(visited);
  return found;
}

std::optional<Repair> RepairSearch::edit(Operation *op, ArrayRef<Edit> edits) {
  SmallVector<Operation *> changed = getChanged(op);
  std::optional<Repair> found;
  size_t numVisited = 0;
  for (const Edit &edit : edits) {
    if (numVisits > maxVisits)
      break;
    EditedOp edited(op, edit);
    if (edited.isLegal() && isProvenWith({}, changed, numVisited)) {
      found = {op, edit.loc, edit.what};
      break;
    }
  }
  for (Operation *visited : ArrayRef(changed).take_front(numVisited))
    visitAgain(visited);
  return found;
}

std::optional<Repair> RepairSearch::find() {
  collectOps();
  maxVisits = kMaxVisits + kMaxVisitsPerOp * ops.size();
  SmallVector<Operation *> all, suspects;
  for (Operation *top : ops)
    if (leading.contains(top))
      top->walk([&](Operation *op) {
        all.push_back(op);
        bool hasTensor = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
        if (hasTensor && !isa<StartOp, DoneOp, tensor::EmptyOp>(op))
          suspects.push_back(op);
      });
  // Where several changes would do, the last op reads what the others give.
  for (Operation *op : llvm::reverse(all))
    if (std::optional<Repair> found = edit(op, getOwnEdits(op)))
      return found;
  for (Operation *op : llvm::reverse(all))
    if (std::optional<Repair> found = edit(op, getOperandEdits(op)))
      return found;
  for (Change change : kChanges) {
    // All others are right in themselves: the last one does not fit them.
    if (change == Change::All)
      std::reverse(suspects.begin(), suspects.end());
    for (Operation *op : suspects)
      if (std::optional<Repair> found = repair(op, change))
        return found;
  }
  return std::nullopt;
}

std::optional<Repair> proof::findRepair(Block &block, LocalValues &values, BlockProver &prover,
                                        ArrayRef<std::pair<Value, Fact>> results,
                                        llvm::function_ref<SmallVector<Value>()> findUnproven,
                                        const unsigned &numVisits) {
  ScopedDiagnosticHandler silent(block.getParentOp()->getContext(), [](Diagnostic &) { return success(); });
  RepairSearch search(block, values, prover, findUnproven, numVisits);
  search.readLayouts(results);
  return search.find();
}
