//===- Passes.h - CUDA code generation --------------------------*- C++ -*-===//
//
// From functions on buffers (Common/Passes.h) to PTX and host code that launches it.
// See docs/internals/Cuda.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TARGET_CUDA_PASSES_H
#define SHARDKIT_TARGET_CUDA_PASSES_H

#include "shardkit/Target/Common/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Target/Cuda/Passes.h.inc"

namespace cuda {

/// Registers the translations of device code to LLVM IR.
void registerCudaTarget(DialectRegistry &registry);

// Passes on one module of functions without calls.

/// Fuses ops on tensors.
void buildToTensor(OpPassManager &pm, bool groupLoops);
/// The same, bufferizes, and makes kernels.
void buildToKernels(OpPassManager &pm, bool groupLoops);
/// Lowers the host code to LLVM dialect, with the PTX of the kernels as a constant.
void buildToLLVM(OpPassManager &pm, StringRef chip);

/// Lowers the kernels of `module` to LLVM and NVVM dialect, in place.
LogicalResult lowerKernels(gpu::GPUModuleOp module);
/// The self-contained PTX of lowered kernels; an error if a function has no definition.
FailureOr<std::string> emitPtx(gpu::GPUModuleOp module, StringRef chip);

} // namespace cuda

#define GEN_PASS_REGISTRATION
#include "shardkit/Target/Cuda/Passes.h.inc"

} // namespace mlir::spmd

#endif // SHARDKIT_TARGET_CUDA_PASSES_H
