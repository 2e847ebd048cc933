//===- Passes.td - Passes of CUDA code generation ----------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CUDA_PASSES_TD
#define SHARDKIT_TARGET_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdCudaRows : Pass<"spmd-cuda-rows", "::mlir::func::FuncOp"> {
  let summary = "Ops that share rows become one kernel";
  let description = [{
    Walks backwards; a linalg op joins the group of its users if all of them are in
    one group and see it by the same rows: softmax and layer norm become one
    `spmd_cuda.rows` each, whose rows are read once and stay in registers. Groups that
    reduce nothing stay as they are.
  }];
  let options = [Option<"maxLength", "max-length", "int64_t", "16384",
    "Elements of the longest row that registers hold">];
  let dependentDialects = ["::mlir::spmd::cuda::SpmdCudaDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SpmdCudaKernels : Pass<"spmd-cuda-kernels", "::mlir::ModuleOp"> {
  let summary = "Work on buffers becomes kernels, launched by the host";
  let description = [{
    After bufferization. Each linalg op becomes one kernel, with a thread per
    element of its result (16 bytes of it where it is contiguous), several threads per
    element where it reduces, and a thread per element of the updates where it is a
    scatter, whose updates another kernel links by their places; stores by the host become
    kernels too. A loop nest without calls whose linalg ops are small becomes a
    kernel of one block that runs the loops as they are, its threads sharing each linalg op.
    Other loops and branches stay with the host. Equal kernels are one `gpu.func`;
    all stand in one `gpu.module`.
  }];
  let options = [Option<"blockIterations", "block-iterations", "int64_t", "4096",
    "Iterations of the largest linalg op of a nest that one block runs">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::affine::AffineDialect"];
}

def SpmdCudaDevice : Pass<"spmd-cuda-device", "::mlir::ModuleOp"> {
  let summary = "Kernels become PTX; launches, copies and reads of the host become calls";
  let description = [{
    After the arena is planned. The text of the PTX is a constant of the host's
    module; `gpu.launch_func` becomes `sk_launch`, `memref.copy` `sk_copy`, a load by
    the host `sk_read` and a constant buffer `sk_constant`.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_90\"",
    "Compute capability">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect"];
}

#endif // SHARDKIT_TARGET_CUDA_PASSES_TD
