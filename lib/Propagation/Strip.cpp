//===- Strip.cpp - The unsharded program ----------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSTRIPPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct StripPass : public spmd::impl::SPMDStripPassBase<StripPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPhaseAtMost(module, Phase::Resharded, getArgument())))
      return signalPassFailure();
    SmallVector<Operation *> dead;
    module->walk([&](Operation *op) {
      auto isOurs = [](NamedAttribute attr) {
        return attr.getName().strref().starts_with("spmd.");
      };
      for (NamedAttribute attr : llvm::make_filter_range(
               llvm::to_vector(op->getDiscardableAttrs()), isOurs))
        op->removeAttr(attr.getName());
      if (auto func = dyn_cast<FunctionOpInterface>(op)) {
        for (unsigned i = 0; i < func.getNumArguments(); ++i)
          for (NamedAttribute attr : llvm::make_filter_range(
                   llvm::to_vector(func.getArgAttrs(i)), isOurs))
            func.removeArgAttr(i, attr.getName());
        for (unsigned i = 0; i < func.getNumResults(); ++i)
          for (NamedAttribute attr : llvm::make_filter_range(
                   llvm::to_vector(func.getResultAttrs(i)), isOurs))
            func.removeResultAttr(i, attr.getName());
        return;
      }
      if (isa<WithShardingConstraintOp, ReshardOp, PropagationBarrierOp>(op)) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        dead.push_back(op);
      } else if (isa<MeshOp, ShardingGroupOp, StageBoundaryOp>(op)) {
        for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
          result.replaceAllUsesWith(operand);
        dead.push_back(op);
      }
    });
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    WalkResult left = module->walk([&](Operation *op) {
      if (op->getDialect() && isa<SPMDDialect>(op->getDialect())) {
        op->emitError() << op->getName()
                        << " has no unsharded form; compare with a second "
                           "function named by spmd.reference";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
