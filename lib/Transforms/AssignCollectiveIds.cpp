//===- AssignCollectiveIds.cpp - Ids in program order ---------------------===//

#include "shardkit/Transforms/AssignCollectiveIds.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"
#include "shardkit/Transforms/IdleCollectives.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Threading.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDASSIGNCOLLECTIVEIDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-assign-collective-ids"

using namespace mlir;
using namespace mlir::spmd;

int64_t spmd::assignCollectiveIds(Operation *root) {
  Builder b(root->getContext());
  int64_t next = 0;
  root->walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) { op->setAttr("id", b.getI64IntegerAttr(next++)); });
  return next;
}

namespace {
struct AssignCollectiveIdsPass : public spmd::impl::SPMDAssignCollectiveIdsPassBase<AssignCollectiveIdsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshCache meshes(module);
    auto assign = [&](func::FuncOp func) -> LogicalResult {
      if (failed(removeIdleCollectives(func, meshes)))
        return failure();
      SPMD_COUNT(collectives, assignCollectiveIds(func));
      return success();
    };
    if (failed(
            failableParallelForEach(&getContext(), SmallVector<func::FuncOp>(module.getOps<func::FuncOp>()), assign)))
      return signalPassFailure();
    if (getPhase(module) >= int(Phase::Partitioned))
      setPhase(module, Phase::Final);
  }
};
} // namespace
