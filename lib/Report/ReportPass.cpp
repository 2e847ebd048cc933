//===- ReportPass.cpp - --spmd-report -------------------------------------===//

#include "Html.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Report.h"
#include "shardkit/Support/Output.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDREPORTPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ReportPass : public WithPhaseOptions<spmd::impl::SPMDReportPassBase<ReportPass>> {
  using WithPhaseOptions::WithPhaseOptions;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (top < 0) {
      emitError(module.getLoc()) << "top=" << top.getValue() << ", expected 0 or more";
      return signalPassFailure();
    }
    if (!(maxReplicated >= 0)) {
      emitError(module.getLoc()) << "max-replicated=" << maxReplicated.getValue()
                                 << ", expected a percentage from 0 on";
      return signalPassFailure();
    }
    auto options = Propagation::getOptions(module.getLoc(), conflicts, stridedShardings, tripCount);
    if (failed(options) || failed(report(module, *options)))
      signalPassFailure();
  }

  LogicalResult report(ModuleOp module, const Propagation::Options &options) {
    OwningOpRef<ModuleOp> partitioned, propagated;
    bool fromSource = getPhase(module) < int(Phase::Partitioned);
    if (fromSource) {
      partitioned = module.clone();
      if (failed(partition(*partitioned, propagated)))
        return failure();
      module = *partitioned;
    }
    PartitionedValues values(module, fromSource);
    FailureOr<Report> report = buildReport(module, values, {.top = unsigned(top), .tripCount = tripCount});
    if (failed(report))
      return failure();
    if (!baseline.empty()) {
      auto comparison = compareReport(*report, baseline, module.getLoc());
      if (failed(comparison))
        return failure();
      report->comparison = std::move(*comparison);
    }
    if (failed(write(module, *report, values, propagated.get(), options)))
      return failure();
    if (maxReplicated >= 100)
      return success();
    if (!report->layoutsKnown)
      return emitError(module.getLoc())
             << "max-replicated of a module whose layouts are gone, expected one that is not "
                "partitioned yet, or was with keep-layouts";
    return verifyReplicated(report->replicated, report->memory, maxReplicated);
  }

  LogicalResult write(ModuleOp module, Report &report, const PartitionedValues &values, ModuleOp propagated,
                      const Propagation::Options &options) {
    if (format == OutputFormat::Remarks) {
      emitRemarks(report, top);
      return success();
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == OutputFormat::Json)
      printJSON(report, top, os);
    else if (format == OutputFormat::Text)
      printText(report, top, os);
    else if (failed(readClocks(report)) || failed(printPage(module, report, values, propagated, options, os)))
      return failure();
    return writeOutput(module.getLoc(), output, text);
  }

  static LogicalResult readClocks(Report &report) {
    for (ReportPipeline &pipeline : report.pipelines)
      if (failed(pipeline.lists.readClocks()))
        return failure();
    return success();
  }

  /// Runs the remaining phases on a copy of the module. `propagated` becomes the module
  /// after propagation, if that is one of them and the format is a page.
  LogicalResult partition(ModuleOp copy, OwningOpRef<ModuleOp> &propagated) {
    PhaseOptions phases = getPhaseOptions();
    phases.keepLayouts = true;
    if (failed(verifyPhaseOptions(phases, copy.getLoc())) || failed(runPhasesOnCopy(copy, phases, Phase::Propagated)))
      return failure();
    if (format == OutputFormat::Html && getPhase(copy) == int(Phase::Propagated))
      propagated = copy.clone();
    recordOrigins(copy);
    return runPhasesOnCopy(copy, phases, Phase::Final);
  }

  LogicalResult printPage(ModuleOp module, const Report &report, const PartitionedValues &values, ModuleOp propagated,
                          const Propagation::Options &options, raw_ostream &os) {
    std::vector<DrawnFunction> functions;
    for (const ReportFunction &function : report.functions) {
      auto func = module.lookupSymbol<func::FuncOp>(function.name);
      functions.push_back({func, buildGraph(func, values)});
    }
    std::vector<ExplainedFunction> reasons;
    if (propagated) {
      DrawnNames names = getDrawnNames(functions, values);
      auto wants = [&](StringRef function, StringRef name) {
        auto it = names.find(function);
        return it != names.end() && it->second.contains(name);
      };
      auto explained = explain(propagated, wants, options);
      if (failed(explained))
        return failure();
      reasons = std::move(*explained);
    }
    printHTML(report, top, functions, values, reasons, os);
    return success();
  }
};
} // namespace
