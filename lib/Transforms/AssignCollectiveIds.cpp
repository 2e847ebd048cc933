//===- AssignCollectiveIds.cpp - Ids in program order ---------------------===//

#include "shardkit/Transforms/AssignCollectiveIds.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Transforms/IdleCollectives.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDASSIGNCOLLECTIVEIDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

void spmd::assignCollectiveIds(Operation *root) {
  Builder b(root->getContext());
  int64_t next = 0;
  root->walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) { op->setAttr("id", b.getI64IntegerAttr(next++)); });
}

namespace {
struct AssignCollectiveIdsPass : public spmd::impl::SPMDAssignCollectiveIdsPassBase<AssignCollectiveIdsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshCache meshes(module);
    for (auto func : module.getOps<func::FuncOp>()) {
      if (failed(removeIdleCollectives(func, meshes)))
        return signalPassFailure();
      assignCollectiveIds(func);
    }
    if (getPhase(module) >= int(Phase::Partitioned))
      setPhase(module, Phase::Final);
  }
};
} // namespace
