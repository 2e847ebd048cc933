//===- Blame.cpp - Which op is the first to be wrong ----------------------===//

#include "Blame.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

/// Ops of one name that are compared, and ops that are followed.
static constexpr unsigned kMaxCandidates = 256, kMaxDepth = 16;

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
  /// The op that gives `value`, which is not `expected`, or the one that led to it.
  Operation *follow(Value value, ClassId expected, unsigned depth) const;

private:
  /// The only operand of `op` that is not a shard of that of `other`.
  std::optional<unsigned> findMismatch(Operation *op, Operation *other) const;

  bool holds(Value value, ClassId expected) const {
    return global[expected].isUndefined ||
           llvm::any_of(values.getFacts(value), [&](const Fact &fact) { return fact.value == expected; });
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
  return found ? follow(op->getOperand(*found), *global.getClass(other->getOperand(*found)), 0) : nullptr;
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
    if (!holds(op->getOperand(0), expected))
      deeper = follow(op->getOperand(0), expected, depth + 1);
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

Operation *proof::findFirstOwn(ValueRange operands, const LocalValues &values) {
  auto isOwn = [&](Value value) {
    ArrayRef<Fact> facts = values.getFacts(value);
    return !facts.empty() && value.getDefiningOp() &&
           llvm::all_of(facts, [&](const Fact &fact) { return values.global[fact.value].isOwn; });
  };
  Operation *first = nullptr;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> stack(operands.begin(), operands.end());
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isOwn(value) || !seen.insert(op).second)
      continue;
    // Names of a value give none of their own.
    if (auto start = dyn_cast<StartOp>(op)) {
      llvm::append_range(stack, start.getBody().front().getTerminator()->getOperands());
      continue;
    }
    bool isFirst = !isa<DoneOp>(op) && llvm::none_of(op->getOperands(), isOwn);
    if (isFirst && (!first || (op->getBlock() == first->getBlock() && op->isBeforeInBlock(first))))
      first = op;
    llvm::append_range(stack, op->getOperands());
  }
  return first;
}
