//===- Strip.cpp - The unsharded program ----------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/Sorts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSTRIPPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Annotations that a plan can restore.
bool isShardingAttr(StringRef name) {
  return llvm::is_contained({StringRef(kShardingAttr), StringRef(kShardingsAttr), StringRef(kUserShardingAttr),
                             StringRef(kFactorShardingsAttr), StringRef(kReshardPerUseAttr),
                             StringRef(kAxisResourcesAttr), StringRef(kPhaseAttr), StringRef(kSolverAttr),
                             StringRef(kImprovedAttr), StringRef(kMeshShapesAttr)},
                            name);
}

struct StripPass : public spmd::impl::SPMDStripPassBase<StripPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const bool isLocal = getPhase(module) >= int(Phase::Partitioned);
    if (failed(verifyInput(module, isLocal && !shardingsOnly ? Phase::Final : Phase::Resharded, getArgument())))
      return signalPassFailure();
    SmallVector<Operation *> dead;
    module->walk([&](Operation *op) {
      auto strip = [&](NamedAttrList &attrs) {
        SmallVector<StringAttr> ours;
        for (NamedAttribute attr : attrs) {
          StringRef name = attr.getName().strref();
          if (shardingsOnly ? isShardingAttr(name) : name.starts_with("spmd."))
            ours.push_back(attr.getName());
        }
        for (StringAttr name : ours)
          attrs.erase(name);
        return !ours.empty();
      };
      NamedAttrList attrs(op->getDiscardableAttrDictionary());
      if (strip(attrs))
        op->setDiscardableAttrs(attrs.getDictionary(op->getContext()));
      if (auto func = dyn_cast<FunctionOpInterface>(op)) {
        SignatureAttrs signature(func);
        for (unsigned i = 0; i < func.getNumArguments(); ++i)
          strip(signature.arg(i));
        for (unsigned i = 0; i < func.getNumResults(); ++i)
          strip(signature.result(i));
        signature.write();
        return;
      }
      if (isa<ProbeOp>(op)) {
        if (!keepProbes)
          dead.push_back(op);
        return;
      }
      if (isa<WithShardingConstraintOp, ReshardOp>(op) || (isa<PropagationBarrierOp>(op) && !shardingsOnly)) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        dead.push_back(op);
      } else if (isa<MeshOp, ShardingGroupOp, StageBoundaryOp>(op) && !shardingsOnly) {
        for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
          result.replaceAllUsesWith(operand);
        dead.push_back(op);
      }
    });
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    if (shardingsOnly) {
      for (MeshOp mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
        if (SymbolTable::symbolKnownUseEmpty(mesh, module))
          mesh.erase();
      return;
    }
    expandSorts(module);
    WalkResult left = module->walk([&](Operation *op) {
      if (op->getDialect() && isa<SPMDDialect>(op->getDialect()) && !isa<ProbeOp>(op)) {
        InFlightDiagnostic diag = op->emitError() << op->getName();
        if (isLocal)
          diag << " is an op of a local program that cannot be removed, expected none: run --convert-spmd-to-calls "
                  "or another conversion of collectives before";
        else
          diag << " has no unsharded form; compare with a second function named by spmd.reference";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
