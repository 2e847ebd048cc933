//===- Pipeline.cpp - The passes of all targets --------------------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::target::registerCommonTarget(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registry.insert<SpmdRtDialect>();
}

void spmd::target::buildFused(OpPassManager &pm, bool forDevices, bool groupLoops) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createSpmdTargetLegalize());
  f.addPass(createLinalgFoldUnitExtentDimsPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
  if (groupLoops) {
    f.addPass(createConvertElementwiseToLinalgPass());
    SpmdTargetGroupLoopsOptions loops;
    loops.forDevices = forDevices;
    f.addPass(createSpmdTargetGroupLoops(loops));
  }
  f.addPass(createSpmdTargetContractions());
  f.addPass(createConvertElementwiseToLinalgPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createSpmdTargetAccumulateContractions());
  if (forDevices) {
    f.addPass(createSpmdTargetAttention());
    f.addPass(createSpmdTargetEpilogues());
    f.addPass(createCanonicalizerPass());
  }
  f.addPass(createSpmdTargetAccumulate());
  f.addPass(createSpmdTargetFuse());
  f.addPass(createLinalgFoldUnitExtentDimsPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
}

void spmd::target::buildBuffers(OpPassManager &pm) {
  pm.nest<func::FuncOp>().addPass(createSpmdTargetDestinationPassing());
  pm.addPass(createSpmdTargetBufferize());
  auto &g = pm.nest<func::FuncOp>();
  // On tensors it would drop the results.
  g.addPass(createForallToForLoopPass());
  g.addPass(createCanonicalizerPass());
  g.addPass(createCSEPass());
}

void spmd::target::buildLoopsToLLVM(OpPassManager &pm) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createConvertLinalgToLoopsPass());
  f.addPass(createSpmdTargetContiguousReshapes());
  f.addPass(memref::createFoldMemRefAliasOpsPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
  f.addPass(createLoopInvariantCodeMotionPass());
  f.addPass(memref::createExpandStridedMetadataPass());
  f.addPass(createLowerAffinePass());
  f.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(options));
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCSEPass());
}
