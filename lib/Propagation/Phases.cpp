//===- Phases.cpp - How far the IR has come -------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(kPhaseAttr, StringAttr::get(module.getContext(), kPhases[int(phase)]));
}

LogicalResult spmd::verifyPhaseAtMost(ModuleOp module, Phase last, StringRef pass) {
  int phase = getPhase(module);
  if (phase <= int(last))
    return success();
  return emitError(module.getLoc()) << "module is in phase \"" << kPhases[phase] << "\", expected at most \""
                                    << kPhases[int(last)] << "\" for --" << pass;
}
