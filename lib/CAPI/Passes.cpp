//===- Passes.cpp - Passes with options, and reports ----------------------===//

#include "shardkit-c/Passes.h"
#include "../Driver/Phases.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Report/PartitionedValues.h"
#include "shardkit/Report/Report.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::spmd;

MlirLogicalResult skAddPass(MlirOpPassManager passes, const char *name, intptr_t numOptions,
                            const SkPassOption *options, MlirStringCallback onError, void *data) {
  auto fail = [&](const Twine &message) {
    std::string text = message.str();
    onError(wrap(StringRef(text)), data);
    return mlirLogicalResultFailure();
  };
  const PassRegistryEntry *entry = PassPipelineInfo::lookup(name);
  if (!entry)
    entry = PassInfo::lookup(name);
  if (!entry)
    return fail("there is no pass or pipeline '" + Twine(name) + "', expected one that is registered");
  std::string text;
  for (const SkPassOption &option : ArrayRef(options, numOptions)) {
    StringRef value = option.value;
    bool isList = value.find_first_of(" {}'\"") != StringRef::npos;
    text += (Twine(text.empty() ? "" : " ") + option.name + "=" + (isList ? "{" + value + "}" : Twine(value))).str();
  }
  // Options that are wrong are found on another pass manager, so that a failure adds nothing.
  std::string message;
  auto handle = [&](const Twine &error) {
    if (message.empty())
      message = error.str();
    return failure();
  };
  OpPassManager &target = *unwrap(passes);
  for (OpPassManager copy(target.getOpAnchorName()); OpPassManager *pm : {&copy, &target})
    if (failed(entry->addToPipeline(*pm, text, handle)))
      return fail("'" + Twine(name) + "' does not take {" + text + "}" + (message.empty() ? "" : ": " + message));
  return mlirLogicalResultSuccess();
}

MlirLogicalResult skGetReport(MlirOperation op, MlirStringCallback callback, void *data) {
  auto module = dyn_cast_or_null<ModuleOp>(unwrap(op));
  assert(module && "a report is that of a module");
  std::string text;
  if (getPhase(module) < int(Phase::Partitioned)) {
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(runPhases(*copy, PhaseOptions(), &text)))
      return mlirLogicalResultFailure();
  } else {
    ReportOptions options;
    options.tripCount = PhaseOptions().tripCount;
    FailureOr<Report> report = buildReport(module, PartitionedValues(module, /*fromSource=*/false), options);
    if (failed(report))
      return mlirLogicalResultFailure();
    llvm::raw_string_ostream os(text);
    printJSON(*report, options.top, os);
  }
  callback(wrap(StringRef(text)), data);
  return mlirLogicalResultSuccess();
}
