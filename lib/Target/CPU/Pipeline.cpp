//===- Pipeline.cpp - From tensors to LLVM dialect ------------------------===//

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::cpu::buildToTensor(OpPassManager &pm, bool groupLoops) {
  pm.nest<func::FuncOp>().addPass(createSpmdCpuScatters());
  target::buildFused(pm, /*forDevices=*/false, groupLoops);
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createSpmdCpuWidenedOperands());
  f.addPass(createCanonicalizerPass());
  f.addPass(createSpmdCpuTileGroups());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
}

void spmd::cpu::buildToMemRef(OpPassManager &pm, bool groupLoops) {
  buildToTensor(pm, groupLoops);
  target::buildBuffers(pm);
}

void spmd::cpu::buildToLLVM(OpPassManager &pm, int64_t parallelWork) {
  pm.addPass(createSpmdTargetLowerToCalls());
  SpmdCpuParallelOptions parallel;
  parallel.minWork = parallelWork;
  pm.addPass(createSpmdCpuParallel(parallel));
  pm.addPass(createSpmdTargetPlanArena());
  pm.addPass(createSpmdCpuOutline());
  pm.nest<func::FuncOp>().addPass(createSpmdCpuMath());
  target::buildLoopsToLLVM(pm);
  pm.addPass(createSpmdTargetEntryPoints());
  pm.addPass(createSpmdCpuParallelCalls());
}

void spmd::cpu::buildReference(OpPassManager &pm) {
  auto &f = pm.nest<func::FuncOp>();
  SpmdTargetLegalizeOptions legalize;
  legalize.regions = false;
  f.addPass(createSpmdTargetLegalize(legalize));
  f.addPass(createConvertElementwiseToLinalgPass());
  f.addPass(createSpmdTargetAccumulate());
  f.addPass(createSpmdTargetDestinationPassing());
  SpmdTargetBufferizeOptions options;
  options.copyBeforeWrite = true;
  pm.addPass(createSpmdTargetBufferize(options));
  bufferization::BufferDeallocationPipelineOptions dealloc;
  bufferization::buildBufferDeallocationPipeline(pm, dealloc);
  pm.addPass(createConvertBufferizationToMemRefPass());
  // The helper of deallocations takes memrefs of dynamic size.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  auto &g = pm.nest<func::FuncOp>();
  g.addPass(createForallToForLoopPass());
  pm.addPass(createSpmdCpuOutline());
  target::buildLoopsToLLVM(pm);
  pm.addPass(createSpmdTargetEntryPoints());
}
