//===- CombineCollectives.cpp - Small collectives travel together ---------===//
//
// A collective may stand anywhere between the op that gives its operand and its
// first user; what makes the operand element by element may go ahead with it. Those of one kind, group, reduction and
// element type that have a place in common go there together. The places are chosen as the fewest points that lie in
// every such interval: the end of the one that ends first, and on.
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

/// What collectives have in common that may travel together.
using Key = SmallVector<uint64_t, 8>;

struct Candidate {
  CollectiveOpInterface op;
  /// It may stand before any of the ops numbered first to last.
  unsigned first, last;
};

struct CombineCollectivesPass : public spmd::impl::SPMDCombineCollectivesPassBase<CombineCollectivesPass> {
  using Base::Base;

  /// What travels with it must match; nothing for a collective that is not to be
  /// combined.
  std::optional<Key> getKey(CollectiveOpInterface op, const CollectiveMove &move) {
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
    Key key{
        uint64_t(op.getKind()), op.getReduction() ? 1 + uint64_t(*op.getReduction()) : 0,
        uint64_t(reinterpret_cast<uintptr_t>(op.getFromMesh().getAsOpaquePointer())),
        uint64_t(reinterpret_cast<uintptr_t>(getElementTypeOrSelf(op->getResult(0).getType()).getAsOpaquePointer()))};
    for (const RankDigit &digit : move.step.group)
      key.append({uint64_t(digit.stride), uint64_t(digit.size)});
    return key;
  }

  /// Ops that compute element by element, or make values out of nothing.
  static bool isElementwise(Operation *op) {
    if (!isPure(op))
      return false;
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return structured.getNumParallelLoops() == structured.getNumLoops();
    return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op) ||
           OpTrait::hasElementwiseMappableTraits(op);
  }

  static SmallVector<Value> getReads(Operation *op) {
    llvm::SetVector<Value> reads(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), reads);
    return reads.takeVector();
  }

  /// The first place at which a value may be there; nothing where it takes a collective.
  std::optional<unsigned> getEarliest(Value value, Block *block) {
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
      std::optional<unsigned> own = getEarliest(operand, block);
      if (!own)
        return earliest[def] = std::nullopt;
      first = std::max(first, *own);
    }
    return earliest[def] = first;
  }

  /// Moves what makes a value, as far as it stands behind `place`, before it.
  void raise(Value value, Operation *place) {
    Operation *def = getProducer(value, place->getBlock());
    if (!def || def->isBeforeInBlock(place))
      return;
    for (Value operand : getReads(def))
      raise(operand, place);
    moveWithinBlock(def, place);
  }

  LogicalResult combine(Block *block, const MeshCache &meshes) {
    position.clear();
    earliest.clear();
    SmallVector<Operation *> ops;
    for (Operation &op : *block) {
      position[&op] = ops.size();
      ops.push_back(&op);
    }
    std::map<Key, unsigned> keys; // only looked up: pointers give no order
    SmallVector<SmallVector<Candidate>> classes;
    // What an earlier one gives was made anew so that it need not be held.
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
      // Behind the op that gives the operand; behind itself where that may move as
      // well, to its first user at most.
      unsigned first;
      if (std::optional<unsigned> own = getEarliest(op->getOperand(0), block)) {
        first = *own;
      } else {
        Operation *def = getProducer(op->getOperand(0), block);
        first = 1 + position.lookup(isa<CollectiveOpInterface>(def) ? op : def);
      }
      Operation *user = getFirstUser(op->getResults(), block);
      classes[it->second].push_back({collective, first, position.lookup(user)});
    }
    for (SmallVector<Candidate> &candidates : classes) {
      // By where they end; equal ends in program order.
      llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
        return std::pair(a.last, position.lookup(a.op)) < std::pair(b.last, position.lookup(b.op));
      });
      while (candidates.size() > 1) {
        unsigned place = candidates.front().last;
        SmallVector<Candidate> together, rest;
        for (const Candidate &candidate : candidates)
          (candidate.first <= place ? together : rest).push_back(candidate);
        if (together.size() > 1) {
          llvm::sort(together, [&](const Candidate &a, const Candidate &b) {
            return position.lookup(a.op) < position.lookup(b.op);
          });
          SmallVector<CollectiveOpInterface> members;
          for (const Candidate &candidate : together)
            members.push_back(candidate.op);
          // Their first user as things stand now: it may have moved.
          SmallVector<Value> results;
          for (CollectiveOpInterface member : members)
            results.push_back(member->getResult(0));
          Operation *at = getFirstUser(results, block);
          for (CollectiveOpInterface member : members)
            raise(member->getOperand(0), at);
          startTogether(members, at, at);
        }
        candidates = std::move(rest);
      }
    }
    return success();
  }

  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseMap<Operation *, std::optional<unsigned>> earliest;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyLocalView(module, getArgument())))
      return signalPassFailure();
    MeshCache meshes(module);
    for (auto func : module.getOps<func::FuncOp>())
      for (Block *block : getBlocks(func))
        if (failed(combine(block, meshes)))
          return signalPassFailure();
  }
};

} // namespace
