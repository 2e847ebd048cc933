//===- CudnnAttention.h - sk_attention by cuDNN ----------------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_CUDNNATTENTION_H
#define SHARDKIT_RT_CUDA_CUDNNATTENTION_H

#include "CudnnApi.h"

#include "shardkit/rt/abi.h"

#include <array>
#include <memory>
#include <vector>

namespace shardkit::rt::cuda {

/// An operand as cuDNN counts it: [batch, head, row, column], strides in elements.
struct CudnnOperand {
  std::array<int64_t, 4> dims, strides;
};

/// sk_attention in terms of cuDNN. Scores are scaled, biased and masked in this order.
struct CudnnShape {
  int type = 0;                       ///< cudnnDataType_t of q, k, v and the result.
  CudnnOperand q, k, v, out, bias;    ///< k is transposed: rows are those of a head.
  int biasOperand = -1, biasType = 0; ///< -1: there is none.
  float scale = 1;
  bool isCausal = false; ///< Keys behind a query weigh nothing;
  bool fromLast = false; ///< the last key is that of the last query, else first and first.
};

/// Says why where it is nothing that cuDNN does, or would not do as described.
Expected<CudnnShape> cudnnShape(const sk_attention_desc &desc);

/// Where a plan is to run: a handle; or a device that need not be there, as a finalized
/// CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, for a plan that is only made.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;
  cudnnBackendDescriptor_t device = nullptr;
};

/// A plan for one shape, of the first engine that cuDNN's heuristics name and that works.
class CudnnAttention {
public:
  /// q, k, v and the result are aligned to 16 bytes, the bias to `biasAlignment`.
  static Expected<std::unique_ptr<CudnnAttention>> make(const CudnnApi &api, CudnnTarget target,
                                                        const CudnnShape &shape, int64_t biasAlignment,
                                                        int64_t maxWorkspaceBytes);
  ~CudnnAttention();
  int64_t workspaceBytes() const { return workspaceBytes_; }
  /// On the handle's stream.
  Status run(cudnnHandle_t handle, const void *q, const void *k, const void *v, void *out, const void *bias,
             void *workspace) const;

private:
  struct Attribute;
  class Graph;
  explicit CudnnAttention(const CudnnApi &api) : api_(api) {}
  /// A finalized descriptor, which goes with this object.
  Expected<cudnnBackendDescriptor_t> add(int kind, const std::vector<Attribute> &attributes);
  Expected<cudnnBackendDescriptor_t> addGraph(const CudnnShape &shape, int64_t biasAlignment, cudnnHandle_t handle);
  Status choose(CudnnTarget target, cudnnBackendDescriptor_t graph, int64_t maxWorkspaceBytes);

  const CudnnApi &api_;
  std::vector<cudnnBackendDescriptor_t> descriptors_;
  cudnnBackendDescriptor_t plan_ = nullptr;
  int64_t workspaceBytes_ = 0;
  float scale_ = 1, masked_ = 0;
  int32_t queries_ = 0, keys_ = 0;
  bool hasBias_ = false, isCausal_ = false, fromLast_ = false;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_CUDNNATTENTION_H
