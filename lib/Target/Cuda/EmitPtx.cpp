//===- EmitPtx.cpp - From kernels to PTX ----------------------------------===//

#include "../Common/ContiguousReshapes.h"
#include "shardkit/Target/Common/CatchCrashes.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

extern "C" const unsigned char shardkit_device_library[];
extern "C" const size_t shardkit_device_library_size;

void spmd::cuda::registerCudaTarget(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// f32 and f64 may be contracted to FMA. Narrow types are rounded after each operation, as
/// users expect.
static void allowContraction(gpu::GPUModuleOp module) {
  module.walk([](Operation *op) {
    auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op) ||
        op->getResult(0).getType().getIntOrFloatBitWidth() < 32)
      return;
    arith::FastMathFlags flags = fast.getFastMathFlagsAttr().getValue();
    op->setAttr(fast.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flags | arith::FastMathFlags::contract));
  });
}

LogicalResult spmd::cuda::lowerKernels(gpu::GPUModuleOp module) {
  allowContraction(module);
  module.walk([](memref::ExpandShapeOp op) {
    if (!op.getResultType().hasStaticShape())
      target::castReshapes(op);
  });
  PassManager pm(module->getContext(), gpu::GPUModuleOp::getOperationName());
  pm.enableVerifier(false);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.useBarePtrCallConv = true;
  pm.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

namespace {
class PtxEmitter : public LLVM::ModuleToObject {
public:
  PtxEmitter(gpu::GPUModuleOp module, StringRef chip, int optLevel)
      : ModuleToObject(*module.getOperation(), "nvptx64-nvidia-cuda", chip, "", optLevel) {}

  std::optional<SmallVector<std::unique_ptr<llvm::Module>>> loadBitcodeFiles(llvm::Module &module) override {
    auto buffer = llvm::MemoryBuffer::getMemBuffer(
        StringRef(reinterpret_cast<const char *>(shardkit_device_library), shardkit_device_library_size),
        "device library", /*RequiresNullTerminator=*/false);
    auto library = llvm::parseBitcodeFile(*buffer, module.getContext());
    if (!library) {
      getOperation().emitError("the device library cannot be read: ") << llvm::toString(library.takeError());
      return std::nullopt;
    }
    (*library)->setTargetTriple(module.getTargetTriple());
    (*library)->setDataLayout(module.getDataLayout());
    SmallVector<std::unique_ptr<llvm::Module>> libraries;
    libraries.push_back(std::move(*library));
    return libraries;
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override {
    for (llvm::Function &function : module)
      if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) {
        getOperation().emitError("device code calls '")
            << function.getName() << "', which the device library does not have";
        return failure();
      }
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function))
        if (auto call = dyn_cast<llvm::CallBase>(&instruction);
            call && !call->isInlineAsm() && !call->getCalledFunction()) {
          getOperation().emitError("device code calls '")
              << call->getCalledOperand()->getName() << "' with other types than it has";
          return failure();
        }
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    FailureOr<SmallString<0>> text =
        translateModuleToISA(module, **machine, [&] { return getOperation().emitError(); });
    if (failed(text))
      return failure();
    return SmallVector<char, 0>(text->begin(), text->end());
  }
};
} // namespace

FailureOr<std::string> spmd::cuda::emitPtx(gpu::GPUModuleOp module, StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  for (int optLevel : {3, 1, 0}) {
    // Not destroyed after a crash.
    auto *text = new std::optional<SmallVector<char, 0>>;
    if (spmd::target::runCatchingCrashes([&] { *text = PtxEmitter(module, chip, optLevel).run(); })) {
      std::unique_ptr<std::optional<SmallVector<char, 0>>> owned(text);
      if (!*text)
        return failure();
      return std::string((*text)->begin(), (*text)->end());
    }
    InFlightDiagnostic diag = optLevel > 0 ? module.emitWarning() : module.emitError();
    diag << "LLVM crashed while it compiled the kernels";
    if (optLevel == 0)
      return diag << ", without optimization too; expected kernels that this LLVM compiles";
    diag << "; they are compiled with less optimization";
  }
  return failure();
}
