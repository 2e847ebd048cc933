//===- Phases.cpp - What the IR still needs before a bundle ---------------===//

#include "Phases.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Report/Report.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult spmd::runPhases(ModuleOp module, const PhaseOptions &options, std::string *report) {
  auto run = [&](const PhaseOptions &options, Phase last) {
    PassManager pm(module.getContext());
    buildPhases(pm, Phase(getPhase(module)), options, last);
    return pm.run(module);
  };
  if (!report)
    return run(options, Phase::Final);
  // Values are called what they are called after propagation, as in --spmd-report.
  bool fromSource = getPhase(module) < int(Phase::Partitioned);
  PhaseOptions keeping = options;
  keeping.keepLayouts = true;
  if (fromSource) {
    if (failed(run(keeping, Phase::Propagated)))
      return failure();
    noteOrigins(module);
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

LogicalResult spmd::specializeShapes(ModuleOp module, ArrayRef<std::string> shapes) {
  if (shapes.empty())
    return success();
  PassManager pm(module.getContext());
  pm.addPass(createSPMDPinShardingsPass());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  SPMDSpecializeShapesPassOptions options;
  llvm::append_range(options.shapes, shapes);
  pm.addPass(createSPMDSpecializeShapesPass(options));
  return pm.run(module);
}

/// Functions that name another one as their reference get its body.
static LogicalResult takeReferences(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    auto name = func->getAttrOfType<FlatSymbolRefAttr>(kReferenceAttr);
    if (!name)
      continue;
    auto other = module.lookupSymbol<func::FuncOp>(name.getAttr());
    if (!other || other.isExternal() || other->hasAttr(kReferenceAttr) ||
        other.getFunctionType() != func.getFunctionType())
      return func.emitError() << "spmd.reference of @" << func.getName() << " is " << name
                              << ", expected a function of type " << func.getFunctionType()
                              << " with a body and no reference of its own";
    Region body;
    IRMapping map;
    other.getBody().cloneInto(&body, map);
    func.getBody().takeBody(body);
  }
  return success();
}

OwningOpRef<ModuleOp> spmd::makeReference(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(takeReferences(*copy)))
    return {};
  PassManager pm(module.getContext());
  // What only the sharded program calls need not have an unsharded form.
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createSPMDStripPass());
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

void spmd::dropReferences(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    func->removeAttr(kReferenceAttr);
}
