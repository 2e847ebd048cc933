//===- shard-prove.cpp - Compares a partitioned program with its original -===//
//
//   shard-prove GLOBAL LOCAL [--shardings=PLAN] [--certificate=FILE]
//
// Decides for each public function of LOCAL whether it computes what the function of
// that name in GLOBAL does. Exit status: 0 if all are proven, 1 if one is not, 2 if the
// files cannot be read or do not fit each other.
//
// What arguments and results of LOCAL hold is in their shardings: those of the plan, else
// those of LOCAL, else those of GLOBAL.
//
// With --split-input-file, LOCAL has several programs with `// -----` between them. The
// same line ends what is printed of each of them.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Enumeration/Enumeration.h"
#include "shardkit/Plan/ShardingPlan.h"
#include "shardkit/Proof/Boundary.h"
#include "shardkit/Proof/Certificate.h"
#include "shardkit/Proof/Normalize.h"
#include "shardkit/Proof/Shardings.h"
#include "shardkit/ProofCheck/Check.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
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
  llvm::cl::opt<std::string> shardings{
      "shardings",
      llvm::cl::desc("Plan with the shardings of arguments and results (default: those of LOCAL, else those of "
                     "GLOBAL)"),
      llvm::cl::value_desc("plan"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> certificate{"certificate", llvm::cl::desc("Write the outcome as JSON"),
                                         llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> check{"check",
                                   llvm::cl::desc("Check the claims of a certificate, which --certificate wrote, at "
                                                  "chosen elements, without a search"),
                                   llvm::cl::value_desc("certificate"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> split{"split-input-file", llvm::cl::desc("LOCAL has several programs, divided by '// -----'"),
                            llvm::cl::cat(category)};
  llvm::cl::opt<bool> elements{"by-elements",
                               llvm::cl::desc("Decide what the rules leave not decided element by element, if the "
                                              "program is small (default)"),
                               llvm::cl::init(true), llvm::cl::cat(category)};
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

namespace {
enum Status { AllProven, NotProven, Illegal };
} // namespace

/// Reads a buffer. Null, with its errors, if it is not legal.
static OwningOpRef<ModuleOp> read(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sources,
                                  MLIRContext &context) {
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  return parseSourceFile<ModuleOp>(sources, &context);
}

/// The unsharded program with the shardings of a plan. Null, with its errors, if the plan does not fit it.
static OwningOpRef<ModuleOp> applyShardings(ModuleOp global, const std::string &path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
  if (!file) {
    llvm::errs() << "error: " << error << "\n";
    return {};
  }
  FailureOr<ShardingPlan> plan = readPlan(file->getBuffer(), path, global.getContext());
  OwningOpRef<ModuleOp> copy = global.clone();
  if (failed(plan) || failed(applyPlan(*plan, *copy)))
    return {};
  return copy;
}

/// Compares one program, and prints the outcome of each of its functions.
static Status compare(ModuleOp global, ModuleOp shardings, std::unique_ptr<llvm::MemoryBuffer> buffer,
                      const Options &options) {
  MLIRContext &context = *global.getContext();
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> local = read(std::move(buffer), sources, context);
  if (!local)
    return Illegal;
  SourceMgrDiagnosticHandler handler(sources, &context);
  if (llvm::all_of(local->getOps<func::FuncOp>(), [](func::FuncOp f) { return f.isPrivate() || f.isExternal(); })) {
    local->emitError() << "the partitioned program has no public function with a body";
    return Illegal;
  }
  if (failed(proof::takeShardings(shardings, *local, !options.shardings.empty())))
    return Illegal;
  proof::Fallback fallback;
  if (options.elements)
    fallback = [](func::FuncOp global, func::FuncOp local, proof::Proof &proof) {
      decideByElements(global, local, proof);
    };
  FailureOr<proof::Certificate> certificate =
      proof::proveModule(global, *local, !options.certificate.empty(), proof::kMaxSizes, fallback);
  if (failed(certificate))
    return Illegal;
  if (options.elements)
    decideByElements(global, *local, *certificate);
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
      return Illegal;
    }
    proof::printJSON(*certificate, file->os());
    file->keep();
  }
  return areProven ? AllProven : NotProven;
}

static bool hasShardFunction(func::FuncOp func, int64_t argument) {
  return argument >= 0 && argument < int64_t(func.getNumArguments()) && func.getArgAttr(argument, kShardFunctionAttr);
}

/// Checks the claims of a certificate about both programs.
static Status check(ModuleOp global, ModuleOp shardings, std::unique_ptr<llvm::MemoryBuffer> buffer,
                    const Options &options) {
  auto fail = [](const Twine &why) {
    llvm::errs() << "error: " << why << "\n";
    return Illegal;
  };
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> local = read(std::move(buffer), sources, *global.getContext());
  if (!local)
    return Illegal;
  SourceMgrDiagnosticHandler handler(sources, global.getContext());
  if (failed(proof::takeShardings(shardings, *local, !options.shardings.empty())))
    return Illegal;
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(options.check, &error);
  if (!file)
    return fail(error);
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(file->getBuffer());
  if (!json)
    return fail(options.check + ": " + llvm::toString(json.takeError()));
  const llvm::json::Object *certificate = json->getAsObject();
  const llvm::json::Array *functions = certificate ? certificate->getArray("functions") : nullptr;
  if (!functions)
    return fail(options.check + " is not a certificate");
  if (certificate->getString("unsharded") != StringRef(proof::getHash(global)) ||
      certificate->getString("partitioned") != StringRef(proof::getHash(*local)))
    return fail(options.check + " is a certificate of other programs");
  OwningOpRef<ModuleOp> globalCopy = global.clone(), localCopy = local->clone();
  (void)proof::normalize(*globalCopy, *localCopy);
  Status worst = AllProven;
  for (const llvm::json::Value &value : *functions) {
    const llvm::json::Object *function = value.getAsObject();
    std::optional<StringRef> name = function ? function->getString("name") : std::nullopt;
    const llvm::json::Object *loads = function ? function->getObject("loads") : nullptr;
    std::optional<StringRef> compared = loads ? loads->getString("function") : name;
    auto globalFunc = compared ? globalCopy->lookupSymbol<func::FuncOp>(*compared) : func::FuncOp();
    auto localFunc = compared ? localCopy->lookupSymbol<func::FuncOp>(*compared) : func::FuncOp();
    std::optional<int64_t> argument = loads ? loads->getInteger("argument") : 0;
    if (!name || !globalFunc || !localFunc || !argument || (loads && !hasShardFunction(localFunc, *argument)))
      return fail(options.check + " has a function that the programs do not have");
    if (function->getString("outcome") != StringRef("proven")) {
      llvm::outs() << "@" << *name << ": not proven\n";
      worst = NotProven;
      continue;
    }
    if (loads) {
      FailureOr<proof::LoadingFunctions> copies = proof::copyLoadingFunctions(globalFunc, localFunc, *argument);
      if (failed(copies))
        return Illegal;
      globalFunc = copies->load;
      localFunc = copies->shard;
    }
    FailureOr<proof::Boundary> boundary = proof::pairBoundary(globalFunc, localFunc);
    if (failed(boundary))
      return Illegal;
    CheckResult result = checkFunction(globalFunc, localFunc, boundary->arguments, boundary->results, *function);
    if (!result.op) {
      llvm::outs() << "@" << *name << ": checked, " << result.checked << " claims\n";
      continue;
    }
    llvm::outs() << "@" << *name << ": " << (result.isUnconfirmed ? "not confirmed" : "not checked") << "\n";
    emitError(result.op->getLoc()) << "@" << *name << " is " << (result.isUnconfirmed ? "not confirmed" : "not checked")
                                   << " at " << result.op->getName() << ": " << result.reason;
    worst = NotProven;
  }
  return worst;
}

int main(int argc, char **argv) {
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "ShardKit: prove that a partitioned program computes what another does\n");
  if (options.split && !options.certificate.empty()) {
    llvm::errs() << "error: --certificate is of one program, and --split-input-file of several\n";
    return Illegal;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<SPMDDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto open = [](const std::string &path) {
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
    if (!file) {
      llvm::errs() << "error: " << error << "\n";
    } else if (file->getBuffer().starts_with("HloModule")) {
      llvm::errs() << path << ": error: a module of HLO, expected one of MLIR: shardkit-prove reads HLO\n";
      file.reset();
    }
    return file;
  };
  std::unique_ptr<llvm::MemoryBuffer> globalFile = open(options.global), localFile = open(options.local);
  if (!globalFile || !localFile)
    return Illegal;
  llvm::SourceMgr globalSources;
  OwningOpRef<ModuleOp> global = read(std::move(globalFile), globalSources, context);
  if (!global)
    return Illegal;
  OwningOpRef<ModuleOp> planned;
  if (!options.shardings.empty()) {
    SourceMgrDiagnosticHandler handler(globalSources, &context);
    planned = applyShardings(*global, options.shardings);
    if (!planned)
      return Illegal;
  }
  ModuleOp shardings = planned ? *planned : *global;
  if (!options.check.empty())
    return check(*global, shardings, std::move(localFile), options);
  if (!options.split)
    return compare(*global, shardings, std::move(localFile), options);
  SmallVector<StringRef> programs;
  localFile->getBuffer().split(programs, kDefaultSplitMarker);
  Status worst = AllProven;
  for (StringRef program : programs) {
    worst = std::max(
        worst, compare(*global, shardings, llvm::MemoryBuffer::getMemBufferCopy(program, options.local), options));
    llvm::outs() << kDefaultSplitMarker << "\n";
    llvm::errs() << kDefaultSplitMarker << "\n";
    llvm::outs().flush();
  }
  return worst;
}
