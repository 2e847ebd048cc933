//===- Phases.cpp - What the IR still needs before a bundle ---------------===//

#include "Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

using namespace mlir;
using namespace mlir::spmd;

static bool isAnnotated(ModuleOp module) {
  bool annotated = false;
  module.walk([&](Operation *op) {
    if (isa<WithShardingConstraintOp, ReshardOp>(op))
      annotated = true;
    if (auto func = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        annotated |= bool(func.getArgAttr(i, kShardingAttr)) ||
                     bool(func.getArgAttr(i, kAxisResourcesAttr));
  });
  return annotated;
}

LogicalResult spmd::runPhases(ModuleOp module, const PhaseOptions &options) {
  // Partitioned IR is ready; so is IR without annotations (one device).
  if (getPhase(module) >= 3 || !isAnnotated(module))
    return success();
  return module.emitError("the module is annotated but not partitioned, expected "
                          "local view (run --spmd-partition first)");
}

OwningOpRef<ModuleOp> spmd::makeReference(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<Operation *> dead;
  copy->walk([&](Operation *op) {
    if (isa_and_nonnull<SPMDDialect>(op->getDialect())) {
      if (op->getNumOperands() == 1 && op->getNumResults() == 1)
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      dead.push_back(op);
    }
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      if (attr.getName().strref().starts_with("spmd."))
        op->removeDiscardableAttr(attr.getName());
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      auto keep = [](DictionaryAttr attrs) {
        SmallVector<NamedAttribute> kept;
        for (NamedAttribute attr : attrs)
          if (!attr.getName().strref().starts_with("spmd."))
            kept.push_back(attr);
        return DictionaryAttr::get(attrs.getContext(), kept);
      };
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (auto attrs = func.getArgAttrDict(i))
          func.setArgAttrs(i, keep(attrs));
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        if (auto attrs = func.getResultAttrDict(i))
          func.setResultAttrs(i, keep(attrs));
    }
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return copy;
}
