//===- shard-compile.cpp - From IR to a bundle ----------------------------===//

#include "shardkit/Driver/Compile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class EmitStage { None, Local, Tensor, MemRef, LLVM, LLVMIR };
} // namespace
SHARDKIT_ENUM_OPTION(EmitStage)

static cl::OptionCategory category("shard-compile");
static cl::opt<std::string> input(cl::Positional, cl::desc("<IR file>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Directory of the bundle"), cl::value_desc("bundle"),
                                   cl::cat(category));
static cl::opt<EmitStage>
    emitStage("emit", cl::desc("Print IR instead of writing a bundle"),
              cl::values(clEnumValN(EmitStage::Local, "local", "the program of a device, not lowered"),
                         clEnumValN(EmitStage::Tensor, "tensor", "fused and tiled, on tensors"),
                         clEnumValN(EmitStage::MemRef, "memref", "on buffers"),
                         clEnumValN(EmitStage::LLVM, "llvm", "in LLVM dialect"),
                         clEnumValN(EmitStage::LLVMIR, "llvm-ir", "LLVM IR, optimized")),
              cl::init(EmitStage::None), cl::cat(category));
static cl::opt<std::string> cacheDirectory(
    "cache", cl::ValueOptional, cl::value_desc("directory"), cl::cat(category),
    cl::desc("Keep bundles there, and take them from there; without a directory: SHARDKIT_CACHE, else the user's"));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// The cache, if one is requested: by --cache or SHARDKIT_CACHE.
static FailureOr<std::unique_ptr<spmd::BundleCache>> openCache(std::string &reason) {
  if (!cacheDirectory.getNumOccurrences() && !llvm::sys::Process::GetEnv("SHARDKIT_CACHE"))
    return std::unique_ptr<spmd::BundleCache>();
  return spmd::BundleCache::open(cacheDirectory, reason);
}

static int compile(const spmd::CompileOptionSet &options) {
  if (output.empty() && emitStage == EmitStage::None)
    return fail("no output, expected -o DIRECTORY");
  std::string message;
  FailureOr<spmd::CompileOptions> read = options.read(message);
  if (failed(read))
    return fail(message);
  auto cache = openCache(message);
  if (failed(cache))
    return fail(message);
  static constexpr StringLiteral stages[] = {"", "local", "tensor", "memref", "llvm", "llvm-ir"};
  spmd::CompileRequest request;
  request.options = std::move(*read);
  request.output = output;
  request.cache = cache->get();
  request.emit = stages[int(emitStage.getValue())];
  if (!(request.ir = openInputFile(input, &message)))
    return fail(message);
  return failed(compile(request, [](const spmd::CompileDiagnostic &diag) { llvm::errs() << diag.text; }));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  spmd::CompileOptionSet options;
  options.addToCommandLine(category);
  for (StringRef argument : ArrayRef(argv, argc).drop_front())
    if (std::string wrong = options.verify(argument); !wrong.empty())
      return fail(wrong);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "ShardKit: compile a model into a bundle\n");
  return compile(options);
}
