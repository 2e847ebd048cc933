//===- ReportPass.cpp - --spmd-report -------------------------------------===//

#include "Output.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Report.h"


namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDREPORTPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ReportPass : public spmd::impl::SPMDReportPassBase<ReportPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (format != "text" && format != "json") {
      emitError(module.getLoc()) << "unknown report format \"" << format
                         << "\", expected text or json";
      return signalPassFailure();
    }
    if (getPhase(module) < int(Phase::Partitioned)) {
      emitError(module.getLoc()) << "report of a module that is not partitioned, "
                            "expected phase \"partitioned\" or \"final\"";
      return signalPassFailure();
    }
    FailureOr<Report> report = buildReport(module);
    if (failed(report))
      return signalPassFailure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(*report, os);
    else
      printText(*report, os);
    if (failed(writeOutput(module.getLoc(), output, text)))
      signalPassFailure();
  }
};
} // namespace
