//===- CombineCollectives.cpp - Collectives that travel together ----------===//
//
// A collective can move between the op that defines its operand and the first reader of its
// result that cannot wait. Elementwise ops that compute the operand can move up with it;
// readers that do little work, such as transposes, reshapes and updates, wait until the
// collectives of their operands are done. This is its interval. Collectives of one kind and
// group whose intervals share a point are combined there, up to the capacity of a bucket; those
// that reduce if reduction and element type are the same. The points are chosen greedily:
//
//   ops       0 1 2 3 4 5 6 7
//   a         [-----]             the first interval to end, at 3: a and b start there
//   b             [---------]
//   c                   [---]     the next one without a point: c starts at 7
//
// If a function then holds too many bytes at once, buckets get smaller.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include <map>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCOMBINECOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-combine-collectives"

using namespace mlir;
using namespace mlir::spmd;

/// A bucket whose latency is at most this fraction of its transfer time is full.
static constexpr double kMinLatencyFraction = 1.0 / 32;
/// Collectives that are read at one point fill at most this many buckets, unless memory is short: more of them hide
/// little more of the transfer behind compute.
static constexpr double kMaxBuckets = 3;
/// Without a budget the peak may grow by this fraction of itself, and by `kMaxGrowthBytes` in any case.
static constexpr int64_t kMaxGrowthDivisor = 4, kMaxGrowthBytes = int64_t(1) << 20;

namespace {

/// The properties that combined collectives share.
using Key = SmallVector<uint64_t, 8>;

struct Candidate {
  CollectiveOpInterface op;
  double transfer, latency;
  /// The collective can move before any of the ops with numbers first to last.
  unsigned first = 0, last = 0;
};

/// How much is combined.
struct CombineLimits {
  /// The largest collective in bytes; -1: no limit.
  int64_t maxBytes = -1;
  /// Readers wait, and buckets have this fraction of their capacity. 0: readers do not wait, and only collectives whose
  /// latency exceeds their transfer time are combined.
  double capacity = 1;
};

/// Combines the collectives of one block.
class BlockCombiner {
public:
  BlockCombiner(Block *block, const MeshCache &meshes, CombineLimits limits)
      : block(block), meshes(meshes), limits(limits) {}
  LogicalResult run();
  /// Restores the block as it was before `run`.
  void undo();
  ArrayRef<StartOp> getStarts() const { return starts; }

private:
  /// The properties that must match; std::nullopt for a collective that is not combined.
  std::optional<Key> getKey(CollectiveOpInterface op, const CollectiveMove &move) const;
  /// Collects candidates that share properties, in program order.
  LogicalResult collect();
  /// Numbers the ops of the block, and finds out which can move.
  void number();
  /// The first point at which a value can be available; std::nullopt if it depends on a collective.
  std::optional<unsigned> getEarliest(Value value);
  void setInterval(Candidate &candidate);
  void combine(SmallVector<Candidate> candidates);
  void combineAt(Operation *at, ArrayRef<CollectiveOpInterface> members);
  /// Moves the ops that compute a value, those after `before`, before it.
  void moveUp(Value value, Operation *before);

  Block *block;
  const MeshCache &meshes;
  CombineLimits limits;
  SmallVector<Operation *> original; ///< All ops, in the order before `run`.
  SmallVector<StartOp> starts;
  SmallVector<SmallVector<Candidate>> classes;
  // Of the class that is combined:
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseMap<Operation *, std::optional<unsigned>> earliest;
  /// The first reader of each op's results that cannot wait.
  SmallVector<unsigned> latest;
};

struct CombineCollectivesPass : public spmd::impl::SPMDCombineCollectivesPassBase<CombineCollectivesPass> {
  using Base::Base;

  LogicalResult combine(func::FuncOp func, const MeshCache &meshes);
  void count(const BlockCombiner &combiner);
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ops that can move
//===----------------------------------------------------------------------===//

/// Elementwise and constant-like ops.
static bool isElementwise(Operation *op) {
  if (!isPure(op))
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumParallelLoops() == structured.getNumLoops();
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) || OpTrait::hasElementwiseMappableTraits(op);
}

/// Ops that do not compute more than an operation per element that they read or write: compute that hides collectives
/// does not wait for them.
static bool mayWait(Operation *op) {
  if (!isPure(op) || isa<CollectiveOpInterface, StartOp, DoneOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isElementwise(op))
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    unsigned read = 0;
    for (OpOperand *input : structured.getDpsInputOperands())
      read += isa<RankedTensorType>(input->get().getType()) && !structured.getMatchingBlockArgument(input).use_empty();
    return read <= 1;
  }
  if (isa_and_nonnull<tensor::TensorDialect>(op->getDialect()))
    return op->getNumRegions() == 0 || isa<tensor::PadOp>(op);
  return isa<tosa::TransposeOp, tosa::ReshapeOp, tosa::SliceOp, tosa::ConcatOp, tosa::CastOp, tosa::AddOp, tosa::SubOp,
             tosa::MulOp, tosa::NegateOp, tosa::ReduceSumOp>(op);
}

static SmallVector<Value> getReads(Operation *op) {
  llvm::SetVector<Value> reads(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads.takeVector();
}

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

std::optional<Key> BlockCombiner::getKey(CollectiveOpInterface op, const CollectiveMove &move) const {
  switch (op.getKind()) {
  case CollectiveKind::AllGather:
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    break;
  default:
    return std::nullopt;
  }
  double transfer = move.cost.seconds - move.latency;
  if (move.cost.bytes == 0 || (limits.maxBytes >= 0 && move.cost.bytes > limits.maxBytes) ||
      (limits.maxBytes < 0 && limits.capacity == 0 && transfer >= move.latency))
    return std::nullopt;
  // Elements that are only moved may have other types.
  Type reduced = op.getReduction() ? getElementTypeOrSelf(op->getResult(0).getType()) : Type();
  Key key{uint64_t(op.getKind()), op.getReduction() ? 1 + uint64_t(*op.getReduction()) : 0,
          uint64_t(reinterpret_cast<uintptr_t>(op.getFromMesh().getAsOpaquePointer())),
          uint64_t(reinterpret_cast<uintptr_t>(reduced.getAsOpaquePointer()))};
  for (const RankDigit &digit : move.step.group)
    key.append({uint64_t(digit.stride), uint64_t(digit.size)});
  return key;
}

LogicalResult BlockCombiner::collect() {
  std::map<Key, unsigned> keys; // only looked up: pointers give no order
  // A reshard per use: combining it would keep its result live.
  llvm::DenseSet<std::tuple<Value, StringAttr, Attribute, Type>> before;
  for (Operation &op : *block) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || !mayStart(collective) || op.use_empty())
      continue;
    if (!before
             .insert(
                 {op.getOperand(0), op.getName().getIdentifier(), op.getAttrDictionary(), op.getResult(0).getType()})
             .second)
      continue;
    FailureOr<CollectiveMove> move = getMove(collective, meshes);
    if (failed(move))
      return failure();
    std::optional<Key> key = getKey(collective, *move);
    if (!key)
      continue;
    auto [it, isNew] = keys.try_emplace(*key, classes.size());
    if (isNew)
      classes.emplace_back();
    classes[it->second].push_back({collective, move->cost.seconds - move->latency, move->latency});
  }
  llvm::erase_if(classes, [](ArrayRef<Candidate> candidates) { return candidates.size() < 2; });
  return success();
}

void BlockCombiner::number() {
  ops.clear();
  position.clear();
  earliest.clear();
  for (Operation &op : *block) {
    position[&op] = ops.size();
    ops.push_back(&op);
  }
  latest.assign(ops.size(), ops.size() - 1);
  for (unsigned i = ops.size(); i-- > 0;)
    for (Operation *user : ops[i]->getUsers()) {
      Operation *here = getUserIn(block, user);
      unsigned at = position.lookup(here);
      latest[i] = std::min(latest[i], limits.capacity > 0 && mayWait(here) ? latest[at] : at);
    }
}

std::optional<unsigned> BlockCombiner::getEarliest(Value value) {
  Operation *def = getProducer(value, block);
  if (!def)
    return 0;
  if (isa<CollectiveOpInterface, DoneOp>(def))
    return std::nullopt;
  auto [it, isNew] = earliest.try_emplace(def, 1 + position.lookup(def));
  if (!isNew)
    return it->second;
  bool isMovable = isElementwise(def);
  // A reader that may wait comes after the collectives that it waits for.
  if (!isMovable && !(limits.capacity > 0 && mayWait(def)))
    return it->second;
  unsigned first = 0;
  for (Value operand : getReads(def)) {
    std::optional<unsigned> point = getEarliest(operand);
    if (!point)
      return earliest[def] = std::nullopt;
    first = std::max(first, *point);
  }
  return earliest[def] = isMovable ? first : 1 + position.lookup(def);
}

void BlockCombiner::setInterval(Candidate &candidate) {
  // From the op that defines the operand, or the first point of the operand if that can move as well, to the first
  // reader that cannot wait. A collective that waits for another one does not move up.
  unsigned at = position.lookup(candidate.op);
  candidate.first = getEarliest(candidate.op->getOperand(0)).value_or(at + 1);
  candidate.last = latest[at];
}

void BlockCombiner::moveUp(Value value, Operation *before) {
  Operation *def = getProducer(value, block);
  if (!def || def->isBeforeInBlock(before))
    return;
  for (Value operand : getReads(def))
    moveUp(operand, before);
  moveWithinBlock(def, before);
}

void BlockCombiner::combineAt(Operation *at, ArrayRef<CollectiveOpInterface> members) {
  // All readers before `at`, directly or through others, wait.
  unsigned point = position.lookup(at);
  SmallVector<unsigned> waiting;
  llvm::DenseSet<Operation *> found;
  SmallVector<Operation *> sources(members.begin(), members.end());
  while (!sources.empty())
    for (Operation *user : sources.pop_back_val()->getUsers()) {
      Operation *here = getUserIn(block, user);
      auto it = position.find(here);
      if (it == position.end() || it->second >= point || !found.insert(here).second)
        continue;
      waiting.push_back(it->second);
      sources.push_back(here);
    }
  llvm::sort(waiting);
  for (CollectiveOpInterface member : members)
    moveUp(member->getOperand(0), at);
  starts.push_back(startTogether(members, at, at));
  for (unsigned reader : waiting)
    moveWithinBlock(ops[reader], at);
}

void BlockCombiner::combine(SmallVector<Candidate> candidates) {
  // Sorted by their ends; equal ends in program order.
  auto isEarlier = [&](const Candidate &a, const Candidate &b) {
    return std::pair(a.last, position.lookup(a.op)) < std::pair(b.last, position.lookup(b.op));
  };
  llvm::sort(candidates, isEarlier);
  while (candidates.size() > 1) {
    unsigned point = candidates.front().last;
    double capacity = std::numeric_limits<double>::infinity();
    if (limits.capacity > 0 && limits.maxBytes < 0) {
      double together = 0;
      for (const Candidate &candidate : candidates)
        if (candidate.first <= point && candidate.last == point)
          together += candidate.transfer;
      capacity = std::max(candidates.front().latency / kMinLatencyFraction, together / kMaxBuckets) * limits.capacity;
    }
    // All buckets of the point, one after the other: a full bucket is followed by the next.
    SmallVector<SmallVector<CollectiveOpInterface>> buckets(1);
    SmallVector<Candidate> rest;
    double filled = 0;
    for (const Candidate &candidate : candidates) {
      bool isFull = filled >= capacity;
      if (candidate.first > point || (isFull && candidate.last > point)) {
        rest.push_back(candidate);
        continue;
      }
      if (isFull) {
        buckets.emplace_back();
        filled = 0;
      }
      buckets.back().push_back(candidate.op);
      filled += candidate.transfer;
    }
    for (SmallVector<CollectiveOpInterface> &bucket : buckets) {
      if (bucket.size() < 2)
        continue;
      llvm::sort(bucket, [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); });
      combineAt(ops[point], bucket);
    }
    candidates = std::move(rest);
  }
}

LogicalResult BlockCombiner::run() {
  if (failed(collect()))
    return failure();
  if (classes.empty())
    return success();
  for (Operation &op : *block)
    original.push_back(&op);
  for (SmallVector<Candidate> &candidates : classes) {
    number();
    for (Candidate &candidate : candidates)
      setInterval(candidate);
    combine(std::move(candidates));
  }
  return success();
}

void BlockCombiner::undo() {
  for (StartOp start : starts) {
    DoneOp done = start.getDone();
    SmallVector<Operation *> members;
    for (Operation &member : start.getBody().front().without_terminator())
      members.push_back(&member);
    for (auto [member, result] : llvm::zip(members, done.getResults())) {
      result.replaceAllUsesWith(member->getResult(0));
      member->moveBefore(start);
    }
    done.erase();
    start.erase();
  }
  for (Operation *op : original)
    op->moveBefore(block, block->end());
}

void CombineCollectivesPass::count(const BlockCombiner &combiner) {
  for (StartOp start : combiner.getStarts()) {
    SPMD_LOG() << "starts " << start->getNumResults() << " collectives together at " << start->getLoc();
    SPMD_COUNT(combinedCollectives, start->getNumResults());
  }
}

LogicalResult CombineCollectivesPass::combine(func::FuncOp func, const MeshCache &meshes) {
  SmallVector<Block *> blocks = getBlocks(func);
  std::optional<int64_t> limit;
  auto getLimit = [&] {
    int64_t peak = getPeakBytes(func);
    std::optional<int64_t> budget = getMemoryBudget(func, memoryBudget, meshes);
    return budget ? std::max(peak, *budget) : peak + std::max(peak / kMaxGrowthDivisor, kMaxGrowthBytes);
  };
  for (double capacity : {1.0, 1.0 / 2, 1.0 / 4, 1.0 / 8, 0.0}) {
    CombineLimits limits{maxBytes, capacity};
    std::vector<BlockCombiner> combiners;
    bool hasStarts = false;
    if (!limit && capacity > 0)
      limit = getLimit();
    for (Block *block : blocks) {
      combiners.emplace_back(block, meshes, limits);
      if (failed(combiners.back().run()))
        return failure();
      hasStarts |= !combiners.back().getStarts().empty();
    }
    if (!hasStarts || capacity == 0 || getPeakBytes(func) <= *limit) {
      llvm::for_each(combiners, [&](const BlockCombiner &combiner) { count(combiner); });
      return success();
    }
    SPMD_LOG() << "more than " << *limit << " bytes of @" << func.getName() << " are live: smaller buckets than "
               << capacity << " of their capacity";
    for (BlockCombiner &combiner : combiners)
      combiner.undo();
  }
  return success();
}

void CombineCollectivesPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyLocalView(module, getArgument())))
    return signalPassFailure();
  if (memoryBudget < 0) {
    emitError(module.getLoc()) << "memory-budget=" << memoryBudget.getValue()
                               << ", expected a number of bytes, 0 for the mesh's memory";
    return signalPassFailure();
  }
  MeshCache meshes(module);
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && failed(combine(func, meshes)))
      return signalPassFailure();
}
