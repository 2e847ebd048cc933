//===- Blame.cpp - Which op is the first to be wrong ----------------------===//

#include "Blame.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Ops of one name that are compared, and ops that are followed.
static constexpr unsigned kMaxCandidates = 256, kMaxDepth = 16;
/// Ops of the unsharded program that are looked for.
static constexpr unsigned kMaxMissing = 8;

namespace {
/// Follows the operand that differs from that of an op of the unsharded program.
///
///   local     a = slice x [0, 1]; c = add a, b; d = matmul c, w       no matmul has c and w
///   unsharded                                   d = matmul c', w      c is not c' = add a', b, so a is not a'
class Blame {
public:
  Blame(const LocalValues &values) : values(values), global(values.global) {}
  /// The op that gives the operand of `op` that no op of the unsharded program has there; null if that is not one.
  Operation *findIn(Operation *op) const;
  /// The op that gives an operand of `op`, or led to it, if the unsharded program has that operand nowhere, and
  /// `other` of it has all others; otherwise `op`.
  Operation *refine(Operation *op, Operation *other) const;
  /// The op that gives `value`, which is not `expected`, or the one that led to it.
  Operation *follow(Value value, ClassId expected, unsigned depth) const;

private:
  /// The only operand of `op` that is not a shard of that of `other`.
  std::optional<unsigned> findMismatch(Operation *op, Operation *other) const;

  /// True if the unsharded program has nothing of what the value holds.
  bool isOwn(Value value) const {
    ArrayRef<Fact> facts = values.getFacts(value);
    return !facts.empty() && llvm::all_of(facts, [&](const Fact &fact) { return global[fact.value].isOwn; });
  }
  /// True if the value holds `expected`, or a reshape of it.
  bool holds(Value value, ClassId expected) const {
    return global[expected].isUndefined || llvm::any_of(values.getFacts(value), [&](const Fact &fact) {
             return global[fact.value].root == global[expected].root;
           });
  }

  const LocalValues &values;
  const GlobalProgram &global;
};
} // namespace

std::optional<unsigned> Blame::findMismatch(Operation *op, Operation *other) const {
  if (op->getName() != other->getName() || op->getNumOperands() != other->getNumOperands())
    return std::nullopt;
  std::optional<unsigned> mismatch;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<ClassId> expected = global.getClass(other->getOperand(i));
    if (!isa<RankedTensorType>(operand.getType()) || (expected && holds(operand, *expected)))
      continue;
    if (mismatch || !expected)
      return std::nullopt;
    mismatch = i;
  }
  return mismatch;
}

Operation *Blame::findIn(Operation *op) const {
  std::optional<unsigned> found;
  Operation *other = nullptr;
  for (Operation *candidate : global.getOps(op->getName()).take_front(kMaxCandidates)) {
    std::optional<unsigned> mismatch = findMismatch(op, candidate);
    if (!mismatch)
      continue;
    if (found && *found != *mismatch)
      return nullptr; // either may be meant
    found = mismatch;
    if (!other)
      other = candidate;
  }
  if (!found)
    return nullptr;
  ClassId expected = *global.getClass(other->getOperand(*found));
  Value operand = op->getOperand(*found);
  // The program has that value: the op reads another one.
  return values.isHeld(expected) && !isOwn(operand) ? op : follow(operand, expected, 0);
}

Operation *Blame::refine(Operation *op, Operation *other) const {
  std::optional<unsigned> mismatch = findMismatch(op, other);
  if (!mismatch)
    return op;
  Value operand = op->getOperand(*mismatch);
  ClassId expected = *global.getClass(other->getOperand(*mismatch));
  auto isNumber = [&](const Fact &fact) { return bool(global[fact.value].splat); };
  bool isOtherNumber =
      global[expected].splat && !values.isHeld(expected) && llvm::any_of(values.getFacts(operand), isNumber);
  if (!isOwn(operand) && !isOtherNumber)
    return op;
  Operation *deeper = follow(operand, expected, 0);
  return deeper ? deeper : op;
}

Operation *Blame::follow(Value value, ClassId expected, unsigned depth) const {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return nullptr;
  // A value that such an op of the unsharded program gives is right, and its reader is wrong.
  bool isRight = llvm::any_of(values.getFacts(value), [&](const Fact &fact) {
    Operation *other = global[fact.value].op;
    return other && other->getName() == op->getName() && fact.value != expected;
  });
  if (isRight)
    return nullptr;
  auto number = cast<OpResult>(value).getResultNumber();
  Operation *deeper = nullptr;
  if (isa<DoneOp>(op)) {
    deeper = follow(op->getOperand(number), expected, depth + 1);
  } else if (auto start = dyn_cast<StartOp>(op)) {
    deeper = follow(start.getBody().front().getTerminator()->getOperand(number), expected, depth + 1);
  } else if (isa<CollectiveOpInterface>(op)) {
    Value operand = op->getOperand(0);
    bool readsOther = values.isHeld(expected) && !isOwn(operand) && !values.getFacts(operand).empty();
    if (!holds(operand, expected) && !readsOther)
      deeper = follow(operand, expected, depth + 1);
  } else if (Operation *other = global[expected].op) {
    if (std::optional<unsigned> mismatch = findMismatch(op, other))
      deeper = follow(op->getOperand(*mismatch), *global.getClass(other->getOperand(*mismatch)), depth + 1);
  }
  return deeper || isa<DoneOp, StartOp>(op) ? deeper : op;
}

Operation *proof::findFirstWrong(Operation *op, const LocalValues &values) { return Blame(values).findIn(op); }

Operation *proof::findFirstWrong(Value value, ClassId expected, const LocalValues &values) {
  return Blame(values).follow(value, expected, 0);
}

//===----------------------------------------------------------------------===//
// What the partitioned program should compute, and does not
//===----------------------------------------------------------------------===//

namespace {
/// Finds the local op that stands where one of the unsharded program should: of the ops that give nothing that the
/// unsharded program has, the one that is most like the first op of that program whose value no local value holds.
///
///   unsharded   h = tanh x; y = add h, b       nothing holds h, nor what is computed from it
///   local       g = sin x;  z = add g, b       sin reads what tanh reads, add does not
class MissingOp {
public:
  MissingOp(Operation *op, const LocalValues &values);
  Operation *find() const;

private:
  /// The value that a class is a slice or a reshape of.
  ClassId getRoot(ClassId id) const;
  using Classes = llvm::SmallDenseSet<ClassId>;
  /// What a term reads.
  void addRead(TermId id, Classes &classes) const;
  void addClass(ClassId id, Classes &classes) const;
  Classes getRead(Operation *local) const;
  /// Ops of the unsharded program of which no local value holds a result, or what is computed from it.
  SmallVector<Operation *> getMissing() const;
  bool isHeld(Operation *global) const;
  double getLikeness(Operation *global, Operation *local) const;

  const LocalValues &values;
  const GlobalProgram &global;
  llvm::DenseSet<ClassId> held;
  SmallVector<Operation *> candidates; ///< in program order
};
} // namespace

MissingOp::MissingOp(Operation *op, const LocalValues &values) : values(values), global(values.global) {
  // A number that is computed may be one that the unsharded program does not compute.
  auto isOwn = [&](const Fact &fact) { return global[fact.value].isOwn || global[fact.value].splat; };
  auto func = op->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : func.getArguments())
    for (const Fact &fact : values.getFacts(argument))
      held.insert(fact.value);
  func.walk<WalkOrder::PreOrder>([&](Operation *local) {
    bool isCandidate = false;
    for (Value result : local->getResults()) {
      ArrayRef<Fact> facts = values.getFacts(result);
      const Gap *gap = values.getGap(result);
      isCandidate |= facts.empty() ? gap && gap->op == local : llvm::all_of(facts, isOwn);
      for (const Fact &fact : facts)
        held.insert(fact.value);
    }
    if (isCandidate && local->getNumOperands() > 0 && !isa<StartOp, DoneOp>(local))
      candidates.push_back(local);
  });
}

ClassId MissingOp::getRoot(ClassId id) const {
  while (global[id].source || global[id].root != id)
    id = global[id].source ? *global[id].source : global[id].root;
  return id;
}

void MissingOp::addRead(TermId id, Classes &classes) const {
  SmallVector<TermId> stack{id};
  llvm::SmallDenseSet<TermId> seen;
  while (!stack.empty()) {
    TermId next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    const Term &term = values.terms[next];
    if (term.kind == Term::Kind::Element)
      addClass(term.numbers[0], classes);
    else if (term.kind == Term::Kind::Lookup && term.numbers[0] < 0)
      addClass(term.numbers[1], classes);
    llvm::append_range(stack, values.terms.getReferences(next));
  }
}

void MissingOp::addClass(ClassId id, Classes &classes) const {
  const ClassInfo &info = global[id];
  if (info.definition)
    addRead(*info.definition, classes);
  else if (!info.splat && !info.isUndefined)
    classes.insert(getRoot(id));
}

MissingOp::Classes MissingOp::getRead(Operation *local) const {
  Classes classes;
  for (Value operand : local->getOperands())
    for (const Fact &fact : values.getFacts(operand))
      addClass(fact.value, classes);
  return classes;
}

bool MissingOp::isHeld(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) {
    std::optional<ClassId> id = global.getClass(result);
    return id && (global[*id].splat || global[*id].isUndefined || held.contains(*id));
  });
}

SmallVector<Operation *> MissingOp::getMissing() const {
  auto last = llvm::find_if(llvm::seq<ClassId>(0, global.size()), [&](ClassId id) { return global[id].op; });
  if (last == llvm::seq<ClassId>(0, global.size()).end())
    return {};
  SmallVector<Operation *> ops;
  global[*last].op->getParentOfType<func::FuncOp>().walk([&](Operation *op) { ops.push_back(op); });
  // Users come later, and ops after those of their regions.
  llvm::DenseSet<Operation *> leadsToHeld;
  for (Operation *op : llvm::reverse(ops))
    if (isHeld(op) || (op->hasTrait<OpTrait::IsTerminator>() && leadsToHeld.contains(op->getParentOp())) ||
        llvm::any_of(op->getUsers(), [&](Operation *user) { return leadsToHeld.contains(user); }))
      leadsToHeld.insert(op);
  llvm::erase_if(ops, [&](Operation *op) {
    return leadsToHeld.contains(op) || llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  });
  return ops;
}

double MissingOp::getLikeness(Operation *op, Operation *local) const {
  Classes wanted, read = getRead(local);
  for (Value operand : op->getOperands())
    if (std::optional<ClassId> id = global.getClass(operand))
      addClass(*id, wanted);
  double shared = llvm::count_if(wanted, [&](ClassId id) { return read.contains(id); });
  double all = wanted.size() + read.size() - shared;
  return (all ? shared / all : 0) + (op->getName() == local->getName());
}

Operation *MissingOp::find() const {
  SmallVector<Operation *> missing = getMissing();
  for (Operation *op : ArrayRef(missing).take_front(kMaxMissing)) {
    Operation *found = nullptr;
    double best = 0;
    for (Operation *local : ArrayRef(candidates).take_front(kMaxCandidates))
      if (double likeness = getLikeness(op, local); likeness > best) {
        best = likeness;
        found = local;
      }
    if (!found)
      continue;
    Operation *refined = Blame(values).refine(found, op);
    Operation *mask = refined == found ? findOwnMask(found, values) : nullptr;
    return mask ? mask : refined;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Layouts, masks
//===----------------------------------------------------------------------===//

/// The operand that `value` is another name of, or the one with its layout; null if there is none.
static Value getSameLayout(Value value, const LocalValues &values) {
  Operation *op = value.getDefiningOp();
  if (isa<DoneOp>(op))
    return op->getOperand(cast<OpResult>(value).getResultNumber());
  if (auto start = dyn_cast<StartOp>(op))
    return start.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (Value operand : op->getOperands()) {
    auto other = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !other || other.getShape() != type.getShape())
      continue;
    for (const Fact &fact : values.getFacts(value))
      for (const Fact &from : values.getFacts(operand)) {
        auto isSame = [](auto dims) { return std::get<0>(dims).form == std::get<1>(dims).form; };
        if (fact.dims.size() == from.dims.size() && fact.partial == from.partial &&
            llvm::all_of(llvm::zip_equal(fact.dims, from.dims), isSame))
          return operand;
      }
  }
  return {};
}

Operation *proof::findLayoutChange(ValueRange operands, bool withCollectives, const LocalValues &values) {
  Operation *last = nullptr;
  bool lastIsSlice = false;
  for (Value value : operands) {
    unsigned depth = 0;
    while (value && value.getDefiningOp() && depth++ < kMaxDepth) {
      Value next = getSameLayout(value, values);
      if (!next)
        break;
      value = next;
    }
    // Constants and inits have any layout.
    // Of a reshape, or an op of several operands, the layout may be meant.
    Operation *op = value ? value.getDefiningOp() : nullptr;
    bool isSlice = isa_and_nonnull<tensor::ExtractSliceOp, AllSliceOp>(op);
    if (!isa_and_nonnull<tensor::ExtractSliceOp, HaloExchangeOp>(op) &&
        !(withCollectives && isa_and_nonnull<CollectiveOpInterface>(op)))
      continue;
    // Slices rather than what moves.
    if (last && isSlice != lastIsSlice ? isSlice
                                       : !last || (op->getBlock() == last->getBlock() && last->isBeforeInBlock(op))) {
      last = op;
      lastIsSlice = isSlice;
    }
  }
  return last;
}

/// True if the op selects by a condition, as a mask does.
static bool isMask(Operation *op) {
  return op && op->walk([](Operation *nested) {
                   return isa<arith::SelectOp, scf::IfOp>(nested) ? WalkResult::interrupt() : WalkResult::advance();
                 }).wasInterrupted();
}

Operation *proof::findMask(Operation *op, const LocalValues &values) {
  Operation *found = nullptr;
  for (Value operand : op->getOperands()) {
    auto isOpen = [](const DimFact &dim) { return dim.hasPadding() && !dim.padding; };
    auto isPadded = [](const DimFact &dim) { return dim.hasPadding(); };
    if (!isMask(operand.getDefiningOp()))
      continue;
    for (const Fact &fact : values.getFacts(operand)) {
      if (llvm::any_of(fact.dims, isOpen))
        return operand.getDefiningOp();
      if (!found && llvm::any_of(fact.dims, isPadded))
        found = operand.getDefiningOp();
    }
  }
  return found;
}

Operation *proof::findOwnMask(Operation *op, const LocalValues &values) {
  for (Value operand : op->getOperands()) {
    ArrayRef<Fact> facts = values.getFacts(operand);
    bool isOwn =
        !facts.empty() && llvm::all_of(facts, [&](const Fact &fact) { return values.global[fact.value].isOwn; });
    if (isOwn && isMask(operand.getDefiningOp()))
      return operand.getDefiningOp();
  }
  return nullptr;
}

Operation *proof::findInit(Operation *op, bool isRefused, const LocalValues &values) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destination)
    return nullptr;
  for (Value init : destination.getDpsInits())
    if (isMask(init.getDefiningOp()) &&
        (isRefused || llvm::any_of(values.getFacts(init), [](const Fact &fact) { return fact.partial.empty(); })))
      return init.getDefiningOp();
  return nullptr;
}

Operation *proof::findMissing(Operation *op, const LocalValues &values) { return MissingOp(op, values).find(); }
