//===- EmitObject.cpp - From LLVM dialect to an object, and the linker ----===//

#include "shardkit/Target/Common/CatchCrashes.h"
#include "shardkit/Target/Common/Passes.h"
#include "shardkit/Target/Program.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

using namespace mlir;

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(const spmd::target::CodegenOptions &options,
                                                                std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string cpu = options.cpu, features;
  if (cpu == "native") {
    cpu = llvm::sys::getHostCPUName().str();
    std::vector<std::string> list;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      list.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(list);
    features = llvm::join(list, ",");
  }
  // The instructions of x86 for bf16 read and write subnormals as zeros, unlike all other arithmetic.
  if (triple.isX86())
    features += std::string(features.empty() ? "" : ",") + "-avx512bf16,-avxneconvert,-avx10.2";
  // The target's machine would print that it does not know the processor, and take another.
  std::unique_ptr<llvm::MCSubtargetInfo> processors(target->createMCSubtargetInfo(triple, "", ""));
  if (processors && !processors->isCPUStringValid(cpu)) {
    error = "unknown processor '" + cpu + "', expected native or a name that clang -mcpu=help lists";
    return nullptr;
  }
  llvm::CodeGenOptLevel level = options.optLevel >= 3   ? llvm::CodeGenOptLevel::Aggressive
                                : options.optLevel == 2 ? llvm::CodeGenOptLevel::Default
                                : options.optLevel == 1 ? llvm::CodeGenOptLevel::Less
                                                        : llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, cpu, features, llvm::TargetOptions(),
                                                                          llvm::Reloc::PIC_, std::nullopt, level));
}

namespace {
/// The passes of LLVM that run, the innermost last, and those that are left out.
struct PassTrace {
  SmallVector<std::string> running;
  std::string function; ///< Of the innermost pass; empty for passes of modules.
  SmallVector<std::string> skipped;

  void attach(llvm::PassInstrumentationCallbacks &callbacks) {
    callbacks.registerShouldRunOptionalPassCallback(
        [this](StringRef pass, llvm::Any) { return !llvm::is_contained(skipped, pass); });
    callbacks.registerBeforeNonSkippedPassCallback([this](StringRef pass, llvm::Any ir) {
      running.push_back(pass.str());
      if (const auto *known = llvm::any_cast<const llvm::Function *>(&ir))
        function = (*known)->getName().str();
    });
    callbacks.registerAfterPassCallback(
        [this](StringRef, llvm::Any, const llvm::PreservedAnalyses &) { running.pop_back(); });
    callbacks.registerAfterPassInvalidatedCallback(
        [this](StringRef, const llvm::PreservedAnalyses &) { running.pop_back(); });
  }
};
} // namespace

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level, PassTrace &trace) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = level >= 2;
  tuning.LoopUnrolling = level >= 2;
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassInstrumentationCallbacks callbacks;
  trace.attach(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::OptimizationLevel opt = level >= 3   ? llvm::OptimizationLevel::O3
                                : level == 2 ? llvm::OptimizationLevel::O2
                                : level == 1 ? llvm::OptimizationLevel::O1
                                             : llvm::OptimizationLevel::O0;
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(opt) : builder.buildPerModuleDefaultPipeline(opt);
  passes.run(module, mam);
}

/// Called on processors without instructions for bf16; libgcc only has it since GCC 13.
static void defineRoundToBFloat(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto *type = llvm::FunctionType::get(b.getBFloatTy(), {b.getFloatTy()}, /*isVarArg=*/false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::LinkOnceODRLinkage, "__truncsfbf2", module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->setDoesNotThrow();
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  llvm::Value *x = function->getArg(0), *bits = b.CreateBitCast(x, b.getInt32Ty());
  llvm::Value *upper = b.CreateLShr(bits, 16);
  llvm::Value *half = b.CreateAdd(b.CreateAnd(upper, 1), b.getInt32(0x7fff)); // Ties to even.
  llvm::Value *rounded = b.CreateLShr(b.CreateAdd(bits, half), 16);
  llvm::Value *quiet = b.CreateOr(upper, 0x40);
  llvm::Value *result = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  b.CreateRet(b.CreateBitCast(b.CreateTrunc(result, b.getInt16Ty()), b.getBFloatTy()));
}

/// One attempt, which a crash of LLVM may end; `trace` then names the pass.
static LogicalResult emitOnce(ModuleOp module, const spmd::target::CodegenOptions &options, PassTrace &trace,
                              llvm::SmallVectorImpl<char> &object) {
  // A crash leaves these behind as they are: they are not destroyed then.
  llvm::LLVMContext context;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(options, error);
  if (!machine)
    return emitError(module.getLoc(), error); // It is not about the module, which would be printed.
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir)
    return failure();
  ir->setTargetTriple(machine->getTargetTriple());
  ir->setDataLayout(machine->createDataLayout());
  // AVX-512 machines prefer 256 bits by default; these loops gain from 512.
  bool wide = machine->getTargetTriple().isX86() && machine->getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (llvm::Function &function : *ir) {
    function.setDoesNotThrow();
    if (function.isDeclaration())
      continue;
    if (wide)
      function.addFnAttr("prefer-vector-width", "512");
    if (function.hasLocalLinkage())
      function.addFnAttr(llvm::Attribute::NoInline);
  }
  optimize(*ir, *machine, options.optLevel, trace);
  trace.function.clear();
  llvm::raw_svector_ostream os(object);
  if (options.emit == "llvm-ir") {
    ir->print(os, nullptr);
    return success();
  }
  defineRoundToBFloat(*ir);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("this LLVM cannot emit objects for ") << machine->getTargetTriple().str();
  passes.run(*ir);
  return success();
}

LogicalResult spmd::target::emitObject(ModuleOp module, const CodegenOptions &given,
                                       llvm::SmallVectorImpl<char> &object) {
  CodegenOptions options = given;
  SmallVector<std::string> skipped;
  while (true) {
    // Never destroyed after a crash: a part of LLVM may have been at work on it.
    auto trace = std::make_unique<PassTrace>();
    trace->skipped = skipped;
    LogicalResult result = failure();
    object.clear();
    if (runCatchingCrashes([&] { result = emitOnce(module, options, *trace, object); }))
      return result;
    PassTrace &crashed = *trace.release();
    const std::string pass = crashed.running.empty() ? "" : crashed.running.back();
    Operation *function = crashed.function.empty() ? nullptr : module.lookupSymbol(crashed.function);
    if (!function) // What emits code does not say where it is.
      for (auto defined : module.getOps<LLVM::LLVMFuncOp>())
        if (!function && !defined.isExternal())
          function = defined;
    Location loc = function ? function->getLoc() : module.getLoc();
    if (!pass.empty() && !llvm::is_contained(skipped, pass)) {
      emitWarning(loc) << "LLVM crashed in its " << pass << "; this code is compiled without that pass";
      skipped.push_back(pass);
    } else if (options.optLevel > 0) {
      emitWarning(loc) << "LLVM crashed " << (pass.empty() ? "while it emitted code" : "in its " + pass)
                       << "; this code is compiled with --opt-level=0";
      options.optLevel = 0;
    } else {
      return emitError(loc) << "LLVM crashed " << (pass.empty() ? "while it emitted code" : "in its " + pass)
                            << " for this code, without optimization too; expected IR that this LLVM compiles: "
                               "--emit=llvm prints it for a report to LLVM";
    }
  }
}

LogicalResult spmd::target::linkShared(Location loc, ArrayRef<std::string> objects, StringRef path) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    return emitError(loc, "no linker: expected ld.lld-22 or ld.lld in PATH (package lld-22)");
  SmallVector<StringRef> args{*linker, "-shared", "-o", path, "--gc-sections", "-z", "noexecstack"};
  for (const std::string &object : objects)
    args.push_back(object);
  SmallString<128> log;
  if (std::error_code ec = llvm::sys::fs::createTemporaryFile("shardkit-link", "log", log))
    return emitError(loc, "no temporary file: ") << ec.message();
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(*linker, args, std::nullopt, redirects, 0, 0, &error);
  auto text = llvm::MemoryBuffer::getFile(log);
  llvm::sys::fs::remove(log);
  if (status == 0)
    return success();
  InFlightDiagnostic diag = emitError(loc, "linking failed");
  if (!error.empty())
    diag << ": " << error;
  if (text && !(*text)->getBuffer().empty())
    diag.attachNote() << (*text)->getBuffer().split('\n').first;
  return diag;
}
