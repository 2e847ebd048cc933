//===- Phases.cpp - What the IR still needs before a bundle ---------------===//

#include "Phases.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult spmd::runPhases(ModuleOp module, const PhaseOptions &options) {
  PassManager pm(module.getContext());
  buildPhases(pm, Phase(getPhase(module)), options);
  return pm.run(module);
}

OwningOpRef<ModuleOp> spmd::makeReference(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(createSPMDStripPass());
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}
