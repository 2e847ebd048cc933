//===- Propagate.cpp - --spmd-propagate -----------------------------------===//
//
// Completes the module. Where functions were improved (ImprovePropagation.h), the plan is compared
// with the propagated one, and with its layouts under strategies by cost, as each runs. Functions
// that do not gain from it get their propagated plan back.
//
//===----------------------------------------------------------------------===//

#include "PlanComparison.h"
#include "shardkit/AutoSharding/ImprovePropagation.h"
#include "shardkit/AutoSharding/ModuleSearch.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPROPAGATEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-propagate"

using namespace mlir;
using namespace mlir::spmd;

/// Strategies by cost replace those of the improved plan if the function takes less than this fraction of the time.
static constexpr double kMaxByCostFraction = 0.999;

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
    propagationOptions = *options;
    if (plan != DefaultPlan::Improved || conflicts != Conflicts::Cost)
      return failed(complete(module, /*improves=*/false, /*emitsRemarks=*/true)) ? signalPassFailure() : void();
    OwningOpRef<ModuleOp> propagated = module.clone();
    FailureOr<std::vector<FunctionNames>> improved = complete(module, /*improves=*/true, /*emitsRemarks=*/true);
    if (failed(improved))
      return signalPassFailure();
    if (!improved->empty())
      keepGains(module, *propagated, *improved);
  }

private:
  /// Returns the functions whose propagated plan was improved.
  FailureOr<std::vector<FunctionNames>> complete(ModuleOp module, bool improves, bool emitsRemarks) {
    std::vector<FunctionNames> improved;
    auto completeGroup = [&](ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                             CallOperandLayouts &callOperands) -> FailureOr<std::unique_ptr<FunctionPropagation>> {
      auto propagation = FunctionPropagation::compute(funcs, meshes, calls, propagationOptions);
      if (failed(propagation))
        return failure();
      if (emitsRemarks) {
        (*propagation)->emitRemarks();
        SPMD_COUNT(shardedValues, (*propagation)->getPropagation().getNumSharded());
      }
      if (!improves)
        return propagation;
      if (failed(improvePropagation(**propagation, meshes, {propagationOptions, deferReductions}, callOperands)))
        return failure();
      if (func::FuncOp first = funcs.front(); first->hasAttr(kImprovedAttr))
        improved.emplace_back(llvm::map_range(funcs, [](func::FuncOp func) { return func.getName().str(); }));
      return propagation;
    };
    if (failed(completeModule(module, completeGroup)))
      return failure();
    return improved;
  }

  /// Gives functions their propagated plan back where the improved one does not gain in the end, and strategies by cost
  /// where these take less time, as where a small sum is computed on all devices.
  void keepGains(ModuleOp module, ModuleOp propagated, ArrayRef<FunctionNames> improved) {
    {
      // The first completion has reported everything.
      ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
      if (failed(complete(propagated, /*improves=*/false, /*emitsRemarks=*/false)))
        return;
    }
    OwningOpRef<ModuleOp> changed = module.clone(), byCost = module.clone();
    for (auto func : byCost->getOps<func::FuncOp>())
      if (func->hasAttr(kImprovedAttr))
        forgetStrategies(func);
    PhaseOptions phases;
    phases.tripCount = tripCount;
    phases.deferReductions = deferReductions;
    std::vector<BestPlan> best = keepBestPlans(
        module, {{propagated}, {*changed, kMaxImprovedFraction}, {*byCost, kMaxByCostFraction}}, improved, phases);
    Builder b(&getContext());
    for (auto [names, kept] : llvm::zip(improved, best))
      if (kept.plan == 2 && kept.seconds)
        for (const std::string &name : names)
          if (Operation *func = module.lookupSymbol(name); func && func->hasAttr(kImprovedAttr)) {
            NamedAttrList said(func->getAttrOfType<DictionaryAttr>(kImprovedAttr));
            said.set("improved", b.getF64FloatAttr(*kept.seconds));
            func->setAttr(kImprovedAttr, said.getDictionary(&getContext()));
          }
  }

  Propagation::Options propagationOptions;
};

} // namespace
