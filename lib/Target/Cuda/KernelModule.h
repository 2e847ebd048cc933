//===- KernelModule.h - The kernels of a module -----------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_CUDA_KERNELMODULE_H
#define SHARDKIT_LIB_TARGET_CUDA_KERNELMODULE_H

#include "shardkit/Target/Cuda/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd::cuda {

/// The grid of a launch, computed by the host, and the block of a kernel.
struct LaunchShape {
  OpFoldResult blocks;
  int64_t threads = 1;
  /// Threads read elements of buffers that other threads wrote, so that LLVM must not
  /// cache loads.
  bool communicates = false;
};

/// Makes kernels of ops of the host; equal kernels are shared.
class KernelModule {
public:
  /// Emits the body of a kernel; values from outside are mapped.
  using Body = function_ref<void(OpBuilder &b, IRMapping &mapping)>;

  explicit KernelModule(ModuleOp module) : module(module) {}

  /// Inserts a launch of a kernel before `op`, which `body` emits instead of `op`. `others`
  /// are values that it uses in addition to those of `op`.
  void replace(Operation *op, StringRef name, const LaunchShape &shape, Body body, ValueRange others = {});

private:
  gpu::GPUModuleOp getKernels();

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  std::map<std::string, gpu::GPUFuncOp> known; ///< By text.
};

/// The index of a thread in its block, and in all blocks.
Value getThread(OpBuilder &b, Location loc);
Value getGlobalThread(OpBuilder &b, Location loc, int64_t threads);

} // namespace mlir::spmd::cuda

#endif // SHARDKIT_LIB_TARGET_CUDA_KERNELMODULE_H
