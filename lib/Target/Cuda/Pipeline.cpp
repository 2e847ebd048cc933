//===- Pipeline.cpp - From tensors to kernels and host code ---------------===//

#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::cuda::buildToTensor(OpPassManager &pm, bool groupLoops) {
  target::buildFused(pm, /*forDevices=*/true, groupLoops);
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createSpmdCudaRows());
  f.addPass(createCanonicalizerPass());
  f.addPass(createCSEPass());
}

void spmd::cuda::buildToKernels(OpPassManager &pm, bool groupLoops) {
  cuda::buildToTensor(pm, groupLoops);
  target::buildBuffers(pm);
  pm.addPass(createSpmdCudaKernels());
}

void spmd::cuda::buildToLLVM(OpPassManager &pm, StringRef chip) {
  pm.addPass(createSpmdTargetLowerToCalls());
  SpmdTargetPlanArenaOptions arena;
  arena.stackBytes = 0;
  pm.addPass(createSpmdTargetPlanArena(arena));
  SpmdCudaLowerToDeviceCallsOptions device;
  device.chip = chip.str();
  pm.addPass(createSpmdCudaLowerToDeviceCalls(device));
  target::buildLoopsToLLVM(pm);
  pm.addPass(createSpmdTargetEntryPoints());
}
