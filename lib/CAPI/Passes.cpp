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
    if (!option.name || !option.value)
      return fail("an option of '" + Twine(name) + "' has no " + (option.name ? "value" : "name") + ", expected text");
    StringRef value = option.value;
    bool isList = value.find_first_of(" {}'\"") != StringRef::npos;
    text += (Twine(text.empty() ? "" : " ") + option.name + "=" + (isList ? "{" + value + "}" : Twine(value))).str();
  }
  std::string message;
  auto handle = [&](const Twine &error) {
    if (message.empty())
      message = error.str();
    return failure();
  };
  // Wrong options, and passes of other ops, are found on a manager of any op, so that a failure adds nothing.
  OpPassManager &target = *unwrap(passes), all;
  if (failed(entry->addToPipeline(all, text, handle)))
    return fail("'" + Twine(name) + "' does not take {" + text + "}" + (message.empty() ? "" : ": " + message));
  std::optional<StringRef> anchor = target.getOpName();
  for (Pass &pass : all.getPasses())
    if (std::optional<StringRef> op = pass.getOpName(); op && anchor && *op != *anchor && *anchor != "builtin.module")
      return fail("'" + Twine(name) + "' runs on " + *op + ", expected a pass manager of it and not of " + *anchor);
  // Passes of functions run on each function of a module.
  const OpPassManager::Nesting nesting = target.getNesting();
  target.setNesting(OpPassManager::Nesting::Implicit);
  const LogicalResult added = entry->addToPipeline(target, text, handle);
  target.setNesting(nesting);
  if (failed(added))
    return fail(message);
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
