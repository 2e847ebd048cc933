//===- shard-prove.cpp - Compares a partitioned program with its original -===//
//
//   shard-prove GLOBAL LOCAL
//
// Decides for each public function of LOCAL whether it computes what the function of
// that name in GLOBAL does. Exit status: 0 if all are proven, 1 if one is not, 2 if the
// files cannot be read or do not fit each other.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/Normalize.h"
#include "shardkit/Proof/Prover.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {
/// Options, in a function so that other tools' constructors do not run before them.
struct Options {
  llvm::cl::OptionCategory category{"Options of shard-prove"};
  llvm::cl::opt<std::string> global{llvm::cl::Positional, llvm::cl::desc("GLOBAL"), llvm::cl::Required,
                                    llvm::cl::cat(category)};
  llvm::cl::opt<std::string> local{llvm::cl::Positional, llvm::cl::desc("LOCAL"), llvm::cl::Required,
                                   llvm::cl::cat(category)};
  llvm::cl::opt<bool> rules{"rules", llvm::cl::desc("Print how often each rule was used"), llvm::cl::cat(category)};
};
} // namespace

static void print(func::FuncOp func, const proof::Proof &result, bool rules) {
  llvm::raw_ostream &os = llvm::outs();
  os << "@" << func.getName() << ": " << proof::stringifyOutcome(result.outcome);
  if (result.outcome != proof::Outcome::Proven) {
    os << " (" << result.kind << ")\n";
    return;
  }
  os << ", " << result.localOps << " ops against " << result.globalOps << "\n";
  if (rules)
    for (auto &[rule, uses] : result.rules)
      os << "  " << uses << " x " << rule << "\n";
}

int main(int argc, char **argv) {
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "ShardKit: prove that a partitioned program computes what another does\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<SPMDDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr globalSources, localSources;
  auto read = [&](const std::string &path, llvm::SourceMgr &sources) -> OwningOpRef<ModuleOp> {
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
    if (!file) {
      llvm::errs() << "error: " << error << "\n";
      return {};
    }
    sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, &context);
    return parseSourceFile<ModuleOp>(sources, &context);
  };
  OwningOpRef<ModuleOp> global = read(options.global, globalSources), local = read(options.local, localSources);
  if (!global || !local)
    return 2;
  if (failed(proof::normalize(*global, *local)))
    return 2;
  SourceMgrDiagnosticHandler handler(localSources, &context);
  int status = 0;
  for (auto func : local->getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    auto other = global->lookupSymbol<func::FuncOp>(func.getName());
    if (!other || other.isExternal()) {
      func.emitError() << "@" << func.getName() << " is not a function of '" << options.global << "'";
      return 2;
    }
    FailureOr<proof::Proof> result = proof::prove(other, func);
    if (failed(result)) {
      status = 2;
      continue;
    }
    print(func, *result, options.rules);
    if (result->outcome == proof::Outcome::Proven)
      continue;
    status = std::max(status, 1);
    InFlightDiagnostic diag = emitError(*result->loc)
                              << "@" << func.getName() << " is " << proof::stringifyOutcome(result->outcome) << " at "
                              << result->op->getName() << ": " << result->reason;
    for (auto &[loc, note] : result->notes)
      diag.attachNote(loc) << note;
  }
  return status;
}
