//===- ExplainPass.cpp - --spmd-explain -----------------------------------===//

#include "Output.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Explain.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDEXPLAINPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ExplainPass : public spmd::impl::SPMDExplainPassBase<ExplainPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (failed(verifyPhaseAtMost(module, Phase::Propagated, getArgument())))
      return signalPassFailure();
    if (!llvm::is_contained({"text", "json", "remarks"}, StringRef(format))) {
      emitError(module.getLoc()) << "unknown format \"" << format
                                 << "\", expected text, json or remarks";
      return signalPassFailure();
    }
    auto options = Propagation::parseOptions(module.getLoc(), conflicts, reshapeGaps, tripCount);
    if (failed(options))
      return signalPassFailure();
    auto functions = explain(module, value, *options);
    if (failed(functions))
      return signalPassFailure();
    if (format == "remarks")
      return emitRemarks(*functions);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(*functions, os);
    else
      printText(*functions, os);
    if (failed(writeOutput(module.getLoc(), output, text)))
      signalPassFailure();
  }
};
} // namespace
