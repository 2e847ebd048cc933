//===- shard-compile.cpp - From IR to a bundle ----------------------------===//

#include "Phases.h"
#include "shardkit/Bundle/Bundle.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/InitAllDialects.h"
#include "shardkit/Support/LocatedDiagnostics.h"
#include "shardkit/Transforms/Reference.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class ProgramTarget { Cpu, Cuda };
enum class EmitStage { None, Tensor, MemRef, LLVM, LLVMIR };
} // namespace
SHARDKIT_ENUM_OPTION(ProgramTarget)
SHARDKIT_ENUM_OPTION(EmitStage)

static cl::OptionCategory category("shard-compile");
static cl::opt<std::string> input(cl::Positional, cl::desc("<IR file>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Directory of the bundle"), cl::value_desc("bundle"),
                                   cl::cat(category));
static cl::opt<ProgramTarget> target("target", cl::desc("Device that runs the programs"),
                                     cl::values(clEnumValN(ProgramTarget::Cpu, "cpu", "processors"),
                                                clEnumValN(ProgramTarget::Cuda, "cuda", "GPUs of NVIDIA")),
                                     cl::init(ProgramTarget::Cpu), cl::cat(category));
static cl::opt<std::string> chip("chip", cl::desc("Compute capability of the GPU, for --target=cuda"),
                                 cl::init("sm_90"), cl::cat(category));
static cl::opt<std::string> cpu("mcpu", cl::desc("Processor; native is this machine's"), cl::init("native"),
                                cl::cat(category));
static cl::opt<unsigned> optLevel("opt-level", cl::desc("0 to 3; 1 compiles many functions fast"), cl::init(3),
                                  cl::cat(category));
static cl::opt<int64_t>
    parallelWork("parallel-work",
                 cl::desc("For cpu: loop nests of at least this many scalar operations run on all threads of a device"),
                 cl::init(1 << 16), cl::cat(category));
static cl::opt<bool> withReference("with-reference",
                                   cl::desc("Add the unsharded programs that shard-run --verify compares with"),
                                   cl::cat(category));
static cl::opt<bool> loadPieces(
    "load-pieces",
    cl::desc("Ranks read the bytes of their shards if a loading function only copies; off: all are compiled"),
    cl::init(true), cl::cat(category));
static cl::opt<EmitStage> emitStage("emit", cl::desc("Print IR instead of writing a bundle"),
                                    cl::values(clEnumValN(EmitStage::Tensor, "tensor", "fused and tiled, on tensors"),
                                               clEnumValN(EmitStage::MemRef, "memref", "on buffers"),
                                               clEnumValN(EmitStage::LLVM, "llvm", "in LLVM dialect"),
                                               clEnumValN(EmitStage::LLVMIR, "llvm-ir", "LLVM IR, optimized")),
                                    cl::init(EmitStage::None), cl::cat(category));
static cl::list<std::string> shapes("shapes", cl::CommaSeparated, cl::desc("Sizes of arguments of dynamic size"),
                                    cl::value_desc("NAME=SIZExSIZE"), cl::cat(category));
static cl::opt<std::string> remarksFilter("remarks-filter", cl::desc("Print remarks whose category matches"),
                                          cl::value_desc("regex"), cl::cat(category));
static cl::opt<bool> allowUnregistered("allow-unregistered-dialect",
                                       cl::desc("Parse operations of unknown dialects (they cannot be compiled)"),
                                       cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// Moves the finished bundle to its destination, and removes an older bundle there.
static int publish(StringRef temporary, StringRef destination) {
  std::error_code ec;
  SmallString<128> old;
  if (llvm::sys::fs::exists(destination)) {
    // Only a bundle or an empty directory is replaced.
    llvm::sys::fs::directory_iterator it(destination, ec), end;
    SmallString<128> manifest(destination);
    llvm::sys::path::append(manifest, "manifest.json");
    if (ec || (it != end && !llvm::sys::fs::exists(manifest)))
      return fail("'" + destination + "' exists and is not a bundle, expected a new or empty directory");
    old = temporary;
    old += ".old";
    if ((ec = llvm::sys::fs::rename(destination, old)))
      return fail("cannot replace '" + destination + "': " + ec.message());
  }
  if ((ec = llvm::sys::fs::rename(temporary, destination)))
    return fail("cannot write '" + destination + "': " + ec.message());
  if (!old.empty())
    llvm::sys::fs::remove_directories(old);
  return 0;
}

/// 0, or 1 after an error.
static int checkOptions() {
  if (optLevel > 3)
    return fail("--opt-level is " + llvm::Twine(optLevel) + ", expected 0 to 3");
  if (parallelWork < 0)
    return fail("--parallel-work is " + llvm::Twine(parallelWork) + ", expected 0 or more");
  if (target != ProgramTarget::Cuda && chip.getNumOccurrences() > 0)
    return fail("--chip is given, expected --target=cuda with it");
  if (target == ProgramTarget::Cuda && !spmd::isCudaChip(chip))
    return fail("--chip is '" + chip +
                "', expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_120 or sm_121");
  if (output.empty() && emitStage == EmitStage::None)
    return fail("no output, expected -o DIRECTORY");
  return 0;
}

/// Writes next to the destination, so that the bundle appears in one step. `failedWith`
/// reports that it could not be written.
static int writeBundle(ModuleOp module, ModuleOp reference, const spmd::BundleOptions &options,
                       llvm::function_ref<int(const llvm::Twine &)> failedWith) {
  SmallString<128> destination(output), temporary;
  while (destination.size() > 1 && llvm::sys::path::is_separator(destination.back()))
    destination.pop_back();
  if (std::error_code ec = llvm::sys::fs::make_absolute(destination))
    return fail("cannot write '" + destination + "': " + ec.message());
  if (std::error_code ec = llvm::sys::fs::createUniqueDirectory(destination + ".tmp", temporary))
    return fail("cannot write '" + destination + "': " + ec.message());
  // createUniqueDirectory makes it private; a bundle has the permissions that the umask gives new directories.
  (void)llvm::sys::fs::setPermissions(temporary, llvm::sys::fs::perms(0777 & ~llvm::sys::fs::getUmask()));
  int status = succeeded(spmd::writeBundle(module, reference, options, temporary)) ? publish(temporary, destination)
                                                                                   : failedWith("compilation failed");
  if (status)
    llvm::sys::fs::remove_directories(temporary);
  return status;
}

static int compile(const spmd::PhaseCommandLine &phaseOptions) {
  if (checkOptions())
    return 1;
  std::string message;
  FailureOr<spmd::PhaseOptions> phases = phaseOptions.read(message);
  if (failed(phases))
    return fail(message);
  auto file = openInputFile(input, &message);
  if (!file)
    return fail(message);
  // The parser would print the bytes in its error.
  if (file->getBuffer().contains('\0') && !isBytecode(file->getMemBufferRef()))
    return fail("'" + input + "' is binary data, expected MLIR as text or bytecode");
  DialectRegistry registry;
  spmd::registerTarget(registry);
  spmd::registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects(allowUnregistered);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  // One error per compilation: later errors follow from the first.
  bool reported = false;
  ScopedDiagnosticHandler first(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    bool drop = reported;
    reported = true;
    return success(drop);
  });
  spmd::locateDiagnostics(&context, input);
  if (!remarksFilter.empty()) {
    remark::RemarkCategories categories{remarksFilter, std::nullopt, std::nullopt, std::nullopt, std::nullopt};
    if (failed(remark::enableOptimizationRemarks(context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                                 categories, /*printAsEmitRemarks=*/true)))
      return fail("--remarks-filter is '" + remarksFilter + "', expected a regular expression");
  }
  auto failedWith = [&](const llvm::Twine &what) { return reported ? 1 : fail(what); };
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failedWith("'" + input + "' is not an IR file");

  if (failed(spmd::specializeShapes(*module, shapes)))
    return failedWith("'" + input + "' cannot be compiled");
  OwningOpRef<ModuleOp> reference;
  if (withReference)
    if (!(reference = spmd::makeReference(*module)))
      return failedWith("'" + input + "' has no unsharded form");
  spmd::dropReferences(*module);
  spmd::BundleOptions options;
  if (failed(spmd::runPhases(*module, *phases, emitStage == EmitStage::None ? &options.report : nullptr)))
    return failedWith("'" + input + "' cannot be compiled");
  options.target = target == ProgramTarget::Cuda ? "cuda" : "cpu";
  options.chip = chip;
  options.cpu = cpu;
  options.optLevel = optLevel;
  options.parallelWork = parallelWork;
  options.pieces = loadPieces;
  static constexpr StringLiteral stages[] = {"", "tensor", "memref", "llvm", "llvm-ir"};
  options.emit = stages[int(emitStage.getValue())];
  if (emitStage != EmitStage::None)
    return succeeded(spmd::writeBundle(*module, nullptr, options, "")) ? 0 : failedWith("compilation failed");

  return writeBundle(*module, reference ? *reference : ModuleOp(), options, failedWith);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  spmd::PhaseCommandLine phaseOptions(category, /*except=*/{"keep-layouts"});
  for (StringRef argument : ArrayRef(argv, argc).drop_front())
    if (std::string renamed = spmd::describeRename(spmd::RenameKind::Option, argument.ltrim('-').split('=').first);
        argument.starts_with("-") && !renamed.empty())
      return fail(renamed);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "ShardKit: compile a model into a bundle\n");
  return compile(phaseOptions);
}
