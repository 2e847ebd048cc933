//===- Phases.cpp - The phases before a bundle ----------------------------===//

#include "Phases.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Report.h"
#include "shardkit/Transforms/InlineCalls.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult spmd::runPhases(ModuleOp module, const PhaseOptions &options, std::string *report,
                              std::string *certificate, bool proves) {
  // A program in local view has no unsharded one. A program with probes is to be looked into, not refused.
  proves &= getPhase(module) < int(Phase::Partitioned) && !options.withValues;
  if (options.prove || proves) {
    PhaseOptions others = options;
    others.prove = false;
    OwningOpRef<ModuleOp> unsharded = module.clone();
    return success(succeeded(runPhases(module, others, report)) &&
                   succeeded(proveAgainst(*unsharded, module, certificate, /*isSilent=*/!options.prove)));
  }
  auto run = [&](const PhaseOptions &options, Phase last) {
    PassManager pm(module.getContext());
    buildPhases(pm, Phase(getPhase(module)), options, last);
    return pm.run(module);
  };
  if (!report)
    return run(options, Phase::Final);
  // Values have the names that they have after propagation, as in --spmd-report.
  bool fromSource = getPhase(module) < int(Phase::Partitioned);
  PhaseOptions keeping = options;
  keeping.keepLayouts = true;
  if (fromSource) {
    if (failed(run(keeping, Phase::Propagated)))
      return failure();
    recordOrigins(module);
  }
  if (failed(run(keeping, Phase::Final)))
    return failure();
  PartitionedValues values(module, fromSource);
  ReportOptions reportOptions;
  reportOptions.tripCount = options.tripCount;
  FailureOr<Report> built = buildReport(module, values, reportOptions);
  if (failed(built))
    return failure();
  llvm::raw_string_ostream os(*report);
  printJSON(*built, reportOptions.top, os);
  module.walk([](Operation *op) {
    for (StringRef name : {kLayoutsAttr, kGlobalTypesAttr, kOriginsAttr})
      op->removeDiscardableAttr(name);
  });
  return success();
}

LogicalResult spmd::addArguments(ModuleOp module, const PhaseOptions &options) {
  if (getPhase(module) > int(Phase::Annotated))
    return success();
  PassManager pm(module.getContext());
  pm.addPass(createSPMDSizeBucketsPass({options.buckets}));
  pm.addPass(createSPMDSizeArgumentsPass({options.hints}));
  pm.addPass(createSPMDOutlineConstantsPass({options.maxConstantBytes}));
  pm.addPass(createSPMDByteArgumentsPass());
  return pm.run(module);
}

LogicalResult spmd::specializeShapes(ModuleOp module, ArrayRef<std::string> shapes) {
  if (shapes.empty())
    return success();
  makeDroppedDimsExplicit(module);
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(createSPMDShardingsToConstraintsPass());
  addInliner(pm);
  pm.addPass(createSymbolDCEPass());
  SPMDSpecializeShapesPassOptions options;
  llvm::append_range(options.shapes, shapes);
  pm.addPass(createSPMDSpecializeShapesPass(options));
  return pm.run(module);
}

LogicalResult spmd::writeInferredSegments(ModuleOp module, const PhaseOptions &options) {
  auto isLoaded = [](func::FuncOp func, unsigned i) {
    return func.isPublic() && func.getArgAttr(i, kLoadAttr) && !func.getArgAttr(i, kSegmentsAttr);
  };
  auto isAnyLoaded = [&](func::FuncOp func) {
    return llvm::any_of(llvm::seq(func.getNumArguments()), [&](unsigned i) { return isLoaded(func, i); });
  };
  if (!options.inferSegments || options.pipeline || getPhase(module) > int(Phase::Annotated) ||
      llvm::none_of(module.getOps<func::FuncOp>(), isAnyLoaded))
    return success();
  // As buildPhases does up to there, on a copy.
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(createSPMDImportOrtPass());
  SPMDResolveAxisResourcesPassOptions resources;
  resources.mesh = options.mesh;
  pm.addPass(createSPMDResolveAxisResourcesPass(resources));
  pm.addNestedPass<func::FuncOp>(createSPMDDecomposePass());
  if (options.inlineCalls)
    pm.addPass(createSPMDInlineCallsPass());
  pm.addNestedPass<func::FuncOp>(createSPMDNarrowSortsPass());
  pm.addPass(createSPMDInferSegmentsPass());
  if (failed(pm.run(*copy)))
    return failure();
  for (auto func : module.getOps<func::FuncOp>())
    if (auto inferred = copy->lookupSymbol<func::FuncOp>(func.getNameAttr()))
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (Attribute segments = inferred.getArgAttr(i, kSegmentsAttr); segments && isLoaded(func, i))
          func.setArgAttr(i, kSegmentsAttr, segments);
  return success();
}
