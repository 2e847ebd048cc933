//===- Kernels.h - The PTX of the runtime's own kernels --------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_KERNELS_H
#define SHARDKIT_RT_CUDA_KERNELS_H

namespace shardkit::rt::cuda {

/// The compiled kernels/*.c; empty texts in a runtime that was built without (kernels/Kernels.cmake).
extern const char *const kernelPtx, *const attentionF32Ptx, *const attentionTf32Ptx, *const attentionF16Ptx,
                                                                                         *const attentionBf16Ptx;

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_KERNELS_H
