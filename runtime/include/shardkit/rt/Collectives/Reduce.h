//===- Reduce.h - Combining the buffers of several ranks --------*- C++ -*-===//

#ifndef SHARDKIT_RT_COLLECTIVES_REDUCE_H
#define SHARDKIT_RT_COLLECTIVES_REDUCE_H

#include "shardkit/rt/Manifest/Manifest.h"

namespace shardkit::rt {

/// out[i * outStride] = in[0][i * inStride] (op) in[1][...] (op) ..., combined
/// from left to right, for i < count. f16 and bf16 sums and products accumulate
/// in f32 and round once. max and min propagate NaN, maxnum and minnum drop it;
/// all four order -0 below +0. i1 follows the one-bit integer: sum is xor, the
/// signed max of true (-1) and false (0) is false.
void reduceStrided(Reduction reduction, DType dtype, const void *const *in, int64_t numInputs, int64_t inStride,
                   void *out, int64_t outStride, int64_t count);

/// The equivalent of `reduction` on i1.
Reduction reductionOnBits(Reduction reduction);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_REDUCE_H
