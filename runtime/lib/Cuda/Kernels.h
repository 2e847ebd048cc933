//===- Kernels.h - The PTX of the runtime's own kernels --------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_KERNELS_H
#define SHARDKIT_RT_CUDA_KERNELS_H

namespace shardkit::rt::cuda {

/// kernels/*.ptx
extern const char *const kernelText, *const attentionF32Text, *const attentionTf32Text, *const attentionF16Text,
                                                                                            *const attentionBf16Text;

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_KERNELS_H
