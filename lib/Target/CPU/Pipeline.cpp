//===- Pipeline.cpp - From tensors to LLVM dialect ------------------------===//

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "shardkit/Target/CPU/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::cpu::registerCPUTarget(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registry.insert<SpmdCpuDialect>();
}

void spmd::cpu::buildToTensor(OpPassManager &pm, bool tile) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createSpmdCpuLegalize());
  f.addPass(createLinalgFoldUnitExtentDimsPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
  f.addPass(createSpmdCpuContractions());
  f.addPass(createConvertElementwiseToLinalgPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createSpmdCpuFuse());
  f.addPass(createLinalgFoldUnitExtentDimsPass());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
  if (!tile)
    return;
  f.addPass(createSpmdCpuTileGroups());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
}

void spmd::cpu::buildBuffers(OpPassManager &pm) {
  pm.nest<func::FuncOp>().addPass(createSpmdCpuBoundary());
  pm.addPass(createSpmdCpuBufferize());
  auto &g = pm.nest<func::FuncOp>();
  // On tensors it would drop the results.
  g.addPass(createForallToForLoopPass());
  g.addPass(createCanonicalizerPass());
  g.addPass(createCSEPass());
}

void spmd::cpu::buildToMemRef(OpPassManager &pm) {
  buildToTensor(pm);
  buildBuffers(pm);
}

void spmd::cpu::buildLoopsToLLVM(OpPassManager &pm) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createConvertLinalgToLoopsPass());
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

void spmd::cpu::buildToLLVM(OpPassManager &pm) {
  pm.addPass(createSpmdCpuCalls());
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createSpmdCpuPlanArena());
  pm.addPass(createSpmdCpuOutline());
  pm.nest<func::FuncOp>().addPass(createSpmdCpuMath());
  buildLoopsToLLVM(pm);
  pm.addPass(createSpmdCpuEntries());
}

void spmd::cpu::buildReference(OpPassManager &pm) {
  auto &f = pm.nest<func::FuncOp>();
  SpmdCpuLegalizeOptions legalize;
  legalize.regions = false;
  f.addPass(createSpmdCpuLegalize(legalize));
  f.addPass(createConvertElementwiseToLinalgPass());
  f.addPass(createSpmdCpuBoundary());
  SpmdCpuBufferizeOptions options;
  options.copyBeforeWrite = true;
  pm.addPass(createSpmdCpuBufferize(options));
  bufferization::BufferDeallocationPipelineOptions dealloc;
  bufferization::buildBufferDeallocationPipeline(pm, dealloc);
  pm.addPass(createConvertBufferizationToMemRefPass());
  // The helper of deallocations takes memrefs of dynamic size.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  auto &g = pm.nest<func::FuncOp>();
  g.addPass(createForallToForLoopPass());
  pm.addPass(createSpmdCpuOutline());
  buildLoopsToLLVM(pm);
  pm.addPass(createSpmdCpuEntries());
}
