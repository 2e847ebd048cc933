//===- shard-compile.cpp - From IR to a bundle ----------------------------===//

#include "Phases.h"
#include "shardkit/Bundle/Bundle.h"
#include "shardkit/InitAllDialects.h"
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

static cl::OptionCategory category("shard-compile");
static cl::opt<std::string> input(cl::Positional, cl::desc("<IR file>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Directory of the bundle"), cl::value_desc("bundle"),
                                   cl::cat(category));
static cl::opt<std::string> target("target", cl::desc("What runs the programs: cpu or cuda"), cl::init("cpu"),
                                   cl::cat(category));
static cl::opt<std::string> chip("chip", cl::desc("Compute capability of the GPU, for --target=cuda"),
                                 cl::init("sm_90"), cl::cat(category));
static cl::opt<std::string> cpu("mcpu", cl::desc("Processor; native is this machine's"), cl::init("native"),
                                cl::cat(category));
static cl::opt<unsigned> optLevel("opt-level", cl::desc("0 to 3; 1 compiles many functions fast"), cl::init(3),
                                  cl::cat(category));
static cl::opt<int64_t>
    parallelWork("parallel-work",
                 cl::desc("For cpu: loop nests of at least so many scalar operations run on all threads of a device"),
                 cl::init(1 << 16), cl::cat(category));
static cl::opt<bool> withReference("with-reference",
                                   cl::desc("Add the unsharded programs that shard-run --verify compares with"),
                                   cl::cat(category));
static cl::opt<bool>
    loadPieces("load-pieces",
               cl::desc("Ranks read their own bytes where a loading function moves data alone; off: all are compiled"),
               cl::init(true), cl::cat(category));
static cl::opt<std::string> mesh("mesh", cl::desc("Mesh that axis resources resolve against"), cl::cat(category));
static cl::opt<std::string> conflicts("conflicts", cl::desc("cost or basic: as of --spmd-propagate"), cl::init("cost"),
                                      cl::cat(category));
static cl::opt<std::string> stridedShardings("strided-shardings",
                                             cl::desc("allow, forbid-at-boundary or forbid: as of --spmd-propagate"),
                                             cl::init("allow"), cl::cat(category));
static cl::opt<int64_t> tripCount("trip-count",
                                  cl::desc("Trips of loops without constant bounds: as of --spmd-propagate"),
                                  cl::init(100), cl::cat(category));
static cl::opt<std::string>
    emitStage("emit", cl::desc("Print IR instead of writing a bundle: tensor (fused and tiled), memref, llvm, llvm-ir"),
              cl::cat(category));
static cl::opt<std::string>
    fillPadding("fill-padding", cl::desc("For tests: what the padding of uneven shards holds: lowest, ones or zero"),
                cl::cat(category));
static cl::opt<std::string> autoShard("auto-shard", cl::ValueOptional,
                                      cl::desc("Choose layouts by search; options as of --spmd-auto-shard"),
                                      cl::value_desc("options"), cl::cat(category));
static cl::opt<std::string>
    pipeline("pipeline", cl::ValueOptional,
             cl::desc("Cut the program into pipeline stages; options as of --spmd-build-stages"),
             cl::value_desc("options"), cl::cat(category));
static cl::opt<bool> inlineCalls("inline", cl::desc("Inline private functions before layouts are chosen"),
                                 cl::init(true), cl::cat(category));
static cl::opt<bool>
    deferReductions("defer-reductions",
                    cl::desc("Keep partial sums partial as long as that is cheaper: as of --spmd-insert-reshards"),
                    cl::init(true), cl::cat(category));
static cl::opt<bool> mergeContractions("merge-contractions",
                                       cl::desc("Make one product of those with parts of one stored tensor"),
                                       cl::init(true), cl::cat(category));
static cl::opt<bool> mergeReductions("merge-reductions", cl::desc("Reduce sums of all-reduces once"), cl::init(true),
                                     cl::cat(category));
static cl::opt<bool> hoist("hoist", cl::desc("Move collectives out of loops"), cl::init(true), cl::cat(category));
static cl::opt<int64_t> memoryBudget("memory-budget",
                                     cl::desc("Bytes that a device may hold, for --hoist; 0: the mesh's memory"),
                                     cl::init(0), cl::cat(category));
static cl::opt<bool> sink("sink", cl::desc("Place collectives where least is held"), cl::init(true), cl::cat(category));
static cl::opt<bool> combine("combine", cl::desc("Let small collectives of one group travel together"), cl::init(true),
                             cl::cat(category));
static cl::opt<int64_t> combineBytes("combine-bytes", cl::desc("Largest collective for --combine; -1: by latency"),
                                     cl::init(-1), cl::cat(category));
static cl::opt<bool> overlap("overlap", cl::desc("Start collectives early and wait for them late"), cl::init(true),
                             cl::cat(category));
static cl::opt<double>
    minHiddenFraction("min-hidden-fraction",
                      cl::desc("Least share of its time that compute hides where --overlap splits a collective"),
                      cl::init(0.01), cl::cat(category));
static cl::list<std::string> shapes("shapes", cl::CommaSeparated,
                                    cl::desc("Sizes of arguments of dynamic size: as of --spmd-specialize-shapes"),
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

/// Moves the finished bundle to its place; an older bundle there goes.
static int publish(StringRef temporary, StringRef destination) {
  std::error_code ec;
  SmallString<128> old;
  if (llvm::sys::fs::exists(destination)) {
    // Only what looks like a bundle, or is empty, is replaced.
    llvm::sys::fs::directory_iterator it(destination, ec), end;
    SmallString<128> manifest(destination);
    llvm::sys::path::append(manifest, "manifest.json");
    if (ec || (it != end && !llvm::sys::fs::exists(manifest)))
      return fail("'" + destination + "' exists and is no bundle, expected a new or empty directory");
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
  static constexpr StringRef stages[] = {"", "tensor", "memref", "llvm", "llvm-ir"};
  if (!llvm::is_contained(stages, StringRef(emitStage)))
    return fail("--emit is '" + emitStage + "', expected tensor, memref, llvm or llvm-ir");
  if (target != "cpu" && target != "cuda")
    return fail("--target is '" + target + "', expected cpu or cuda");
  if (target != "cuda" && chip.getNumOccurrences() > 0)
    return fail("--chip is given, expected --target=cuda with it");
  if (target == "cuda" && !spmd::isCudaChip(chip))
    return fail("--chip is '" + chip +
                "', expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_120 or sm_121");
  if (output.empty() && emitStage.empty())
    return fail("no output, expected -o DIRECTORY");
  return 0;
}

/// 0, or 1 after an error.
static int readPhaseOptions(spmd::PhaseOptions &phases) {
  std::string reason;
  phases.mesh = mesh;
  phases.conflicts = conflicts;
  phases.stridedShardings = stridedShardings;
  phases.tripCount = tripCount;
  phases.fillPadding = fillPadding;
  if (autoShard.getNumOccurrences() > 0) {
    if (failed(spmd::verifyAutoShardOptions(autoShard, reason)))
      return fail("--auto-shard is '" + autoShard + "': " + reason);
    phases.autoShard = autoShard;
  }
  if (pipeline.getNumOccurrences() > 0) {
    if (failed(spmd::verifyPipelineOptions(pipeline, reason)))
      return fail("--pipeline is '" + pipeline + "': " + reason);
    phases.pipeline = pipeline;
  }
  phases.inlineCalls = inlineCalls;
  phases.deferReductions = deferReductions;
  phases.mergeContractions = mergeContractions;
  phases.mergeReductions = mergeReductions;
  phases.hoist = hoist;
  phases.memoryBudget = memoryBudget;
  phases.sink = sink;
  phases.combine = combine;
  phases.combineBytes = combineBytes;
  phases.overlap = overlap;
  phases.minHiddenFraction = minHiddenFraction;
  return 0;
}

/// Writes beside the destination, so that it appears in one step. `failedWith` says that
/// nothing could be written.
static int writeBundle(ModuleOp module, ModuleOp reference, const spmd::BundleOptions &options,
                       llvm::function_ref<int(const llvm::Twine &)> failedWith) {
  SmallString<128> destination(output), temporary;
  while (destination.size() > 1 && llvm::sys::path::is_separator(destination.back()))
    destination.pop_back();
  if (std::error_code ec = llvm::sys::fs::make_absolute(destination))
    return fail("cannot write '" + destination + "': " + ec.message());
  if (std::error_code ec = llvm::sys::fs::createUniqueDirectory(destination + ".tmp", temporary))
    return fail("cannot write '" + destination + "': " + ec.message());
  // createUniqueDirectory makes it private; a bundle is read like any other file.
  (void)llvm::sys::fs::setPermissions(temporary, llvm::sys::fs::perms(0755));
  int status = succeeded(spmd::writeBundle(module, reference, options, temporary)) ? publish(temporary, destination)
                                                                                   : failedWith("compilation failed");
  if (status)
    llvm::sys::fs::remove_directories(temporary);
  return status;
}

static int compile() {
  spmd::PhaseOptions phases;
  if (checkOptions() || readPhaseOptions(phases))
    return 1;
  std::string message;
  auto file = openInputFile(input, &message);
  if (!file)
    return fail(message);
  // The parser would print the bytes.
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
  // One error per compile: what follows the first is a consequence.
  bool reported = false;
  ScopedDiagnosticHandler first(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    bool drop = reported;
    reported = true;
    return success(drop);
  });
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
  if (failed(spmd::runPhases(*module, phases, emitStage.empty() ? &options.report : nullptr)))
    return failedWith("'" + input + "' cannot be compiled");
  options.target = target;
  options.chip = chip;
  options.cpu = cpu;
  options.optLevel = optLevel;
  options.parallelWork = parallelWork;
  options.pieces = loadPieces;
  options.emit = emitStage;
  if (!emitStage.empty())
    return succeeded(spmd::writeBundle(*module, nullptr, options, "")) ? 0 : failedWith("compilation failed");

  return writeBundle(*module, reference ? *reference : ModuleOp(), options, failedWith);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "ShardKit: compile a model into a bundle\n");
  return compile();
}
