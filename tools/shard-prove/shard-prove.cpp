//===- shard-prove.cpp - Compares a partitioned program with its original -===//
//
//   shard-prove GLOBAL LOCAL [--certificate=FILE]
//
// Decides for each public function of LOCAL whether it computes what the function of
// that name in GLOBAL does. Exit status: 0 if all are proven, 1 if one is not, 2 if the
// files cannot be read or do not fit each other.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Proof/Certificate.h"

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
  llvm::cl::opt<std::string> certificate{"certificate", llvm::cl::desc("Write the outcome as JSON"),
                                         llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> rules{"rules", llvm::cl::desc("Print how often each rule was used"), llvm::cl::cat(category)};
};
} // namespace

static void print(const proof::Certificate::Function &function, bool rules) {
  llvm::raw_ostream &os = llvm::outs();
  const proof::Proof &proof = function.proof;
  os << "@" << function.name << ": " << proof::stringifyOutcome(proof.outcome);
  if (proof.outcome != proof::Outcome::Proven) {
    os << " (" << proof.kind << ")\n";
    return;
  }
  os << ", " << proof.localOps << " ops against " << proof.globalOps << "\n";
  if (rules)
    for (auto &[rule, uses] : proof.rules)
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
  SourceMgrDiagnosticHandler handler(localSources, &context);
  FailureOr<proof::Certificate> certificate = proof::proveModule(*global, *local);
  if (failed(certificate))
    return 2;
  bool areProven = true;
  for (const proof::Certificate::Function &function : certificate->functions) {
    print(function, options.rules);
    areProven &= function.proof.outcome == proof::Outcome::Proven;
  }
  proof::report(*certificate, DiagnosticSeverity::Error);
  if (!options.certificate.empty()) {
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(options.certificate, &error);
    if (!file) {
      llvm::errs() << "error: " << error << "\n";
      return 2;
    }
    proof::printJSON(*certificate, file->os());
    file->keep();
  }
  return areProven ? 0 : 1;
}
