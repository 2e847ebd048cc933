//===- ExplainPass.cpp - --spmd-explain and --spmd-explain-reshape --------===//

#include "ValueNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Explain.h"
#include "shardkit/Report/ExplainReshape.h"
#include "shardkit/Report/ExplainSearch.h"
#include "shardkit/Support/Output.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPLAINPASS
#define GEN_PASS_DEF_SPMDEXPLAINRESHAPEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
/// The shared implementation of both passes: `run` explains a propagated module, with options of propagation.
template <typename PassT, typename RunFn> void explainModule(PassT &pass, RunFn run) {
  ModuleOp module = pass.getOperation();
  auto write = [&]() -> LogicalResult {
    if (failed(verifyInput(module, Phase::Propagated, pass.getArgument())))
      return failure();
    auto options = Propagation::getOptions(module.getLoc(), pass.conflicts, pass.stridedShardings, pass.tripCount);
    PhaseOptions phases = pass.getPropagationOptions();
    if (failed(options) || failed(verifyPhaseOptions(phases, module.getLoc())))
      return failure();
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(runPhasesOnCopy(*copy, phases, Phase::Propagated)))
      return failure();
    auto functions = run(*copy, *options);
    if (failed(functions))
      return failure();
    if (pass.format == OutputFormat::Remarks) {
      emitRemarks(*functions);
      return success();
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    if (pass.format == OutputFormat::Json)
      printJSON(*functions, os);
    else
      printText(*functions, os);
    return writeOutput(module.getLoc(), pass.output, text);
  };
  pass.markUnchanged();
  if (failed(write()))
    pass.fail();
}

struct ExplainPass : public WithPropagationOptions<spmd::impl::SPMDExplainPassBase<ExplainPass>> {
  using Base::conflicts, Base::format, Base::getOperation, Base::output, Base::stridedShardings, Base::tripCount;
  using WithPropagationOptions::WithPropagationOptions;
  void markUnchanged() { markAllAnalysesPreserved(); }
  void fail() { signalPassFailure(); }

  void runOnOperation() override {
    ModuleOp original = getOperation();
    explainModule(*this, [&](ModuleOp module, const Propagation::Options &options) {
      if (top < 1)
        return FailureOr<std::vector<ExplainedFunction>>(emitError(module.getLoc())
                                                         << "top=" << top.getValue() << ", expected 1 or more");
      if (failed(verifySelection(module, original, value)))
        return FailureOr<std::vector<ExplainedFunction>>(failure());
      if (wasSearched(module))
        return explainSearch(module, value, top, grid);
      return explain(module, value, grid, options);
    });
  }
};

struct ExplainReshapePass : public WithPropagationOptions<spmd::impl::SPMDExplainReshapePassBase<ExplainReshapePass>> {
  using Base::conflicts, Base::format, Base::getOperation, Base::output, Base::stridedShardings, Base::tripCount;
  using WithPropagationOptions::WithPropagationOptions;
  void markUnchanged() { markAllAnalysesPreserved(); }
  void fail() { signalPassFailure(); }

  void runOnOperation() override { explainModule(*this, explainReshapes); }
};
} // namespace
