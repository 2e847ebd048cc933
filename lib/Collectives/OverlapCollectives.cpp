//===- OverlapCollectives.cpp - Collectives overlap with compute ---------------===//
//
// A collective is done right before its first user. It starts before the independent
// compute that hides its time, and not earlier, as its result uses memory from then on.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Overlap.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDOVERLAPCOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-overlap-collectives"

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct OverlapCollectivesPass : public spmd::impl::SPMDOverlapCollectivesPassBase<OverlapCollectivesPass> {
  using Base::Base;

  /// One collective, or several that start together.
  struct Unit {
    Operation *op; // the collective or the start
    SmallVector<CollectiveOpInterface> members;
  };

  LogicalResult overlap(Block *block, const MeshCache &meshes) {
    SmallVector<Unit> units;
    for (Operation &op : *block) {
      Unit unit{&op, {}};
      if (auto start = dyn_cast<StartOp>(op))
        llvm::append_range(unit.members, start.getBody().getOps<CollectiveOpInterface>());
      else if (auto collective = dyn_cast<CollectiveOpInterface>(op);
               collective && mayStart(collective) && !op.use_empty())
        unit.members.push_back(collective);
      else
        continue;
      units.push_back(std::move(unit));
    }
    for (Unit &unit : units)
      if (failed(overlap(unit, block, meshes)))
        return failure();
    return success();
  }

  LogicalResult overlap(Unit &unit, Block *block, const MeshCache &meshes) {
    auto start = dyn_cast<StartOp>(unit.op);
    double seconds = 0;
    const Mesh *mesh = nullptr;
    for (CollectiveOpInterface member : unit.members) {
      FailureOr<CollectiveMove> move = getMove(member, meshes);
      if (failed(move))
        return failure();
      seconds += move->cost.seconds - (travelsAlong(member) ? move->latency : 0);
      mesh = move->mesh;
    }
    Operation *user = getFirstUser(start ? start.getDone()->getResults() : unit.op->getResults(), block);
    if (!user) // nobody reads what was started
      return success();
    // The ops that define its operands: it starts after them.
    llvm::SmallPtrSet<Operation *, 4> producers;
    for (CollectiveOpInterface member : unit.members)
      if (Operation *def = getProducer(member->getOperand(0), block))
        producers.insert(def);
    // It starts before as many ops as hide its time.
    Operation *first = user;
    double hidden = 0;
    for (Operation *op = user->getPrevNode(); op && hidden < seconds; op = op->getPrevNode()) {
      if (producers.contains(op))
        break;
      if (op == unit.op || (start && op == start.getDone()))
        continue;
      if (double more = getComputeSeconds(op, *mesh, tripCount)) {
        hidden += more;
        first = op;
      }
    }
    SPMD_LOG() << unit.op->getName() << " at " << unit.op->getLoc() << " takes " << seconds << " s, compute before "
               << user->getName() << " at " << user->getLoc() << " hides " << hiddenFraction * hidden << " s";
    if (hidden == 0 || hiddenFraction * hidden < minHiddenFraction * seconds)
      return success();
    SPMD_COUNT(overlappedCollectives, unit.members.size());
    if (!start) {
      startTogether(unit.members, first, user);
      return success();
    }
    moveWithinBlock(start, first);
    moveWithinBlock(start.getDone(), user);
    return success();
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!(minHiddenFraction >= 0)) {
      emitModuleError(func) << "min-hidden-fraction=" << minHiddenFraction.getValue() << ", expected 0 or more";
      return signalPassFailure();
    }
    if (tripCount < 1) {
      emitModuleError(func) << "trip-count=" << tripCount.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    if (failed(verifyLocalView(func, getArgument())))
      return signalPassFailure();
    MeshCache meshes(func);
    hiddenFraction = 1;
    for (const MeshCache::Entry &entry : meshes.entries())
      hiddenFraction = std::min(hiddenFraction, getOverlap(entry.op).value_or(1));
    for (Block *block : getBlocks(func))
      if (failed(overlap(block, meshes)))
        return signalPassFailure();
  }

  double hiddenFraction; // the fraction of a collective that passes while devices compute
};

} // namespace
