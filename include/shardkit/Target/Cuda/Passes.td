//===- Passes.td - Passes of CUDA code generation ----------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CUDA_PASSES_TD
#define SHARDKIT_TARGET_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdCudaRows : Pass<"spmd-cuda-rows", "::mlir::func::FuncOp"> {
  let summary = "Group ops that share rows into one kernel";
  let description = [{
    Visits ops backwards. A linalg op joins the group of its users if all of them are in
    one group and iterate over the same rows (lib/Target/Common/RowGroups.h). Softmax and
    layer norm become one `spmd_cuda.rows` each, whose rows are read once and stay in
    registers. Groups without a reduction do not change.
  }];
  let options = [Option<"maxLength", "max-length", "int64_t", "16384",
    "Elements of the longest row in registers">];
  let dependentDialects = ["::mlir::spmd::cuda::SpmdCudaDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def SpmdCudaKernels : Pass<"spmd-cuda-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn ops on buffers into kernels that the host launches";
  let description = [{
    After bufferization. Each linalg op becomes one kernel:

    * a thread per element of its result, or per 16 bytes of it where it is contiguous;
    * several threads per element for a reduction;
    * a thread per element of the updates for a scatter. Another kernel links updates with
      equal indices.

    Stores by the host become kernels too. A loop nest without calls whose linalg ops are
    small becomes a kernel of one block that runs the loops; its threads share each linalg
    op. Other loops and branches stay on the host. Equal kernels are one `gpu.func`, and all
    are in one `gpu.module`.
  }];
  let options = [Option<"blockIterations", "block-iterations", "int64_t", "4096",
    "Iterations of the largest linalg op of a nest for one block">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::affine::AffineDialect"];
}

def SpmdCudaLowerToDeviceCalls : Pass<"spmd-cuda-lower-to-device-calls", "::mlir::ModuleOp"> {
  let summary = "Compile kernels to PTX, and lower launches, copies and reads of the host to calls";
  let description = [{
    After the arena is planned. The text of the PTX is a constant of the host's
    module; `gpu.launch_func` becomes `sk_launch`, `memref.copy` `sk_copy`, a load by
    the host `sk_copy_to_host` and a constant buffer `sk_constant`.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_90\"",
    "Compute capability">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect"];
}

#endif // SHARDKIT_TARGET_CUDA_PASSES_TD
