//===- CombineCollectives.cpp - Small collectives become one --------------===//
//
// A collective can move between the op that defines its operand and its first user;
// elementwise ops that compute the operand can move with it. This is its interval.
// Collectives of one kind, group, reduction and element type whose intervals share a point
// are combined there. The pass chooses the fewest points that hit all intervals, greedily:
//
//   ops       0 1 2 3 4 5 6 7
//   a         [-----]             the first interval to end, at 3: a and b start there
//   b             [---------]
//   c                   [---]     the next one without a point: c starts at 7
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include <map>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCOMBINECOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The properties that combined collectives share.
using Key = SmallVector<uint64_t, 8>;

struct Candidate {
  CollectiveOpInterface op;
  /// The collective can move before any of the ops with numbers first to last.
  unsigned first, last;
};

struct CombineCollectivesPass : public spmd::impl::SPMDCombineCollectivesPassBase<CombineCollectivesPass> {
  using Base::Base;

  /// The properties that must match; std::nullopt for a collective that is not
  /// combined.
  std::optional<Key> getKey(CollectiveOpInterface op, const CollectiveMove &move);

  /// Elementwise and constant-like ops.
  static bool isElementwise(Operation *op);
  static SmallVector<Value> getReads(Operation *op);

  /// The first point at which a value can be available; std::nullopt if it depends on a
  /// collective.
  std::optional<unsigned> getEarliest(Value value, Block *block);

  /// Moves the ops that compute a value, those after `before`, before it.
  void moveUp(Value value, Operation *before);
  LogicalResult combine(Block *block, const MeshCache &meshes);

  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseMap<Operation *, std::optional<unsigned>> earliest;

  void runOnOperation() override;
};

} // namespace

std::optional<Key> CombineCollectivesPass::getKey(CollectiveOpInterface op, const CollectiveMove &move) {
  switch (op.getKind()) {
  case CollectiveKind::AllGather:
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    break;
  default:
    return std::nullopt;
  }
  double transfer = move.cost.seconds - move.latency;
  bool isSmall = maxBytes >= 0 ? move.cost.bytes <= maxBytes : transfer < move.latency;
  if (!isSmall || move.cost.seconds == 0)
    return std::nullopt;
  Key key{uint64_t(op.getKind()), op.getReduction() ? 1 + uint64_t(*op.getReduction()) : 0,
          uint64_t(reinterpret_cast<uintptr_t>(op.getFromMesh().getAsOpaquePointer())),
          uint64_t(reinterpret_cast<uintptr_t>(getElementTypeOrSelf(op->getResult(0).getType()).getAsOpaquePointer()))};
  for (const RankDigit &digit : move.step.group)
    key.append({uint64_t(digit.stride), uint64_t(digit.size)});
  return key;
}

bool CombineCollectivesPass::isElementwise(Operation *op) {
  if (!isPure(op))
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumParallelLoops() == structured.getNumLoops();
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) || OpTrait::hasElementwiseMappableTraits(op);
}

SmallVector<Value> CombineCollectivesPass::getReads(Operation *op) {
  llvm::SetVector<Value> reads(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads.takeVector();
}

std::optional<unsigned> CombineCollectivesPass::getEarliest(Value value, Block *block) {
  Operation *def = getProducer(value, block);
  if (!def)
    return 0;
  if (isa<CollectiveOpInterface, DoneOp>(def))
    return std::nullopt;
  auto [it, isNew] = earliest.try_emplace(def, 1 + position.lookup(def));
  if (!isNew)
    return it->second;
  if (!isElementwise(def))
    return it->second;
  unsigned first = 0;
  for (Value operand : getReads(def)) {
    std::optional<unsigned> point = getEarliest(operand, block);
    if (!point)
      return earliest[def] = std::nullopt;
    first = std::max(first, *point);
  }
  return earliest[def] = first;
}

void CombineCollectivesPass::moveUp(Value value, Operation *before) {
  Operation *def = getProducer(value, before->getBlock());
  if (!def || def->isBeforeInBlock(before))
    return;
  for (Value operand : getReads(def))
    moveUp(operand, before);
  moveWithinBlock(def, before);
}

LogicalResult CombineCollectivesPass::combine(Block *block, const MeshCache &meshes) {
  position.clear();
  earliest.clear();
  SmallVector<Operation *> ops;
  for (Operation &op : *block) {
    position[&op] = ops.size();
    ops.push_back(&op);
  }
  std::map<Key, unsigned> keys; // only looked up: pointers give no order
  SmallVector<SmallVector<Candidate>> classes;
  // A reshard per use: combining it would keep its result live.
  llvm::DenseSet<std::tuple<Value, StringAttr, Attribute, Type>> before;
  for (Operation *op : ops) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || !mayStart(collective) || op->use_empty())
      continue;
    if (!before
             .insert({op->getOperand(0), op->getName().getIdentifier(), op->getAttrDictionary(),
                      op->getResult(0).getType()})
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
    // From the op that defines the operand, or the first point of the operand if that
    // can move as well, to the first user.
    unsigned first;
    if (std::optional<unsigned> point = getEarliest(op->getOperand(0), block)) {
      first = *point;
    } else {
      Operation *def = getProducer(op->getOperand(0), block);
      first = 1 + position.lookup(isa<CollectiveOpInterface>(def) ? op : def);
    }
    Operation *user = getFirstUser(op->getResults(), block);
    classes[it->second].push_back({collective, first, position.lookup(user)});
  }
  for (SmallVector<Candidate> &candidates : classes) {
    // Sorted by their ends; equal ends in program order.
    llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
      return std::pair(a.last, position.lookup(a.op)) < std::pair(b.last, position.lookup(b.op));
    });
    while (candidates.size() > 1) {
      unsigned point = candidates.front().last;
      SmallVector<Candidate> together, rest;
      for (const Candidate &candidate : candidates)
        (candidate.first <= point ? together : rest).push_back(candidate);
      if (together.size() > 1) {
        llvm::sort(together, [&](const Candidate &a, const Candidate &b) {
          return position.lookup(a.op) < position.lookup(b.op);
        });
        SmallVector<CollectiveOpInterface> members;
        for (const Candidate &candidate : together)
          members.push_back(candidate.op);
        // Their first user now: it may have moved.
        SmallVector<Value> results;
        for (CollectiveOpInterface member : members)
          results.push_back(member->getResult(0));
        Operation *at = getFirstUser(results, block);
        for (CollectiveOpInterface member : members)
          moveUp(member->getOperand(0), at);
        startTogether(members, at, at);
      }
      candidates = std::move(rest);
    }
  }
  return success();
}

void CombineCollectivesPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyLocalView(module, getArgument())))
    return signalPassFailure();
  MeshCache meshes(module);
  for (auto func : module.getOps<func::FuncOp>())
    for (Block *block : getBlocks(func))
      if (failed(combine(block, meshes)))
        return signalPassFailure();
}
