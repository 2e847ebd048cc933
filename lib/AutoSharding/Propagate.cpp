//===- Propagate.cpp - --spmd-propagate -----------------------------------===//

#include "shardkit/AutoSharding/ImprovePropagation.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
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
    // Choices of an earlier run are not constraints.
    if (getPhase(module) > int(Phase::Annotated))
      for (auto func : getProgramFunctions(module))
        forgetSearch(func);
    bool improves = plan == DefaultPlan::Improved && conflicts == Conflicts::Cost;
    auto complete = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                        CallOperandLayouts &callOperands) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
      auto propagation = FunctionPropagation::compute(funcs, meshes, calls, *options);
      if (failed(propagation))
        return failure();
      (*propagation)->emitRemarks();
      if (improves && failed(improvePropagation(**propagation, meshes, {*options, deferReductions}, callOperands)))
        return failure();
      return propagation;
    };
    if (failed(completeModule(module, complete)))
      signalPassFailure();
  }
};

} // namespace
