//===- Propagate.cpp - --spmd-propagate -----------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPROPAGATEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct PropagatePass : public spmd::impl::SPMDPropagatePassBase<PropagatePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto options = Propagation::getOptions(module.getLoc(), conflicts, stridedShardings, tripCount);
    if (failed(options) || failed(verifyInput(module, Phase::Propagated, getArgument())) ||
        failed(verifyLowered(module, Phase::Annotated, "--" + getArgument())))
      return signalPassFailure();
    auto complete = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls, CallOperandLayouts &) {
      auto propagation = FunctionPropagation::compute(funcs, meshes, calls, *options);
      if (succeeded(propagation))
        (*propagation)->emitRemarks();
      return propagation;
    };
    if (failed(completeModule(module, complete)))
      signalPassFailure();
  }
};

} // namespace
