//===- PlanPasses.cpp - --spmd-apply-plan and --spmd-export-plan ----------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Plan/ShardingPlan.h"
#include "shardkit/Support/Output.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDAPPLYPLANPASS
#define GEN_PASS_DEF_SPMDEXPORTPLANPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct ApplyPlanPass : public spmd::impl::SPMDApplyPlanPassBase<ApplyPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return failure();
    if (file.empty())
      return emitError(module.getLoc()) << "no plan to apply, expected the option file=PLAN.json";
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &error);
    if (!buffer)
      return emitError(module.getLoc()) << error;
    FailureOr<ShardingPlan> plan = readPlan(buffer->getBuffer(), file, &getContext());
    if (failed(plan))
      return failure();
    return applyPlan(*plan, module);
  }
};

struct ExportPlanPass : public spmd::impl::SPMDExportPlanPassBase<ExportPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    if (content != "user" && content != "all")
      return emitError(module.getLoc()) << "unknown kind of plan \"" << content << "\", expected user or all";
    if (file.empty())
      return emitError(module.getLoc()) << "no file to export to, expected the option "
                                           "file=PLAN.json (- is standard output)";
    bool all = content == "all";
    // Constraints, which are user shardings, no longer exist after that.
    if (failed(verifyInput(module, all ? Phase::Resharded : Phase::Propagated, getArgument())))
      return failure();
    FailureOr<ShardingPlan> plan = exportPlan(module, all);
    if (failed(plan))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    writePlan(*plan, os);
    return writeOutput(module.getLoc(), file, text);
  }
};

} // namespace
