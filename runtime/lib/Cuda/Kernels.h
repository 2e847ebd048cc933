//===- Kernels.h - The PTX of the runtime's own kernels -----------*- C++ -*-===//

#ifndef SHARDKIT_RT_CUDA_KERNELS_H
#define SHARDKIT_RT_CUDA_KERNELS_H

namespace shardkit::rt::cuda {

/// kernels/kernels.ptx
extern const char *const kernelText;

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_KERNELS_H
