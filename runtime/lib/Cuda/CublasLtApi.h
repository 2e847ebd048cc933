//===- CublasLtApi.h - The functions of libcublasLt that are used -*- C++ -*--===//
//
// Declared here, from NVIDIA's documentation; see DriverApi.h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_CUBLASLTAPI_H
#define SHARDKIT_RT_CUDA_CUBLASLTAPI_H

#include "DriverApi.h"

#include <cstdint>

namespace shardkit::rt::cuda {

using cublasStatus_t = int;
using cublasLtHandle_t = struct cublasLtContext *;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque *;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque *;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque *;

inline constexpr cublasStatus_t CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7,
                                CUBLAS_STATUS_NOT_SUPPORTED = 15;
/// cublasComputeType_t
inline constexpr int CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32F_FAST_TF32 = 77;
/// cublasOperation_t
inline constexpr int CUBLAS_OP_N = 0, CUBLAS_OP_T = 1;
/// cudaDataType
inline constexpr int CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14;
/// cublasLtMatmulDescAttributes_t
inline constexpr int CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4,
                     CUBLASLT_MATMUL_DESC_EPILOGUE = 7, CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
                     CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26;
/// cublasLtEpilogue_t, sums of which are meant
inline constexpr uint32_t CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2, CUBLASLT_EPILOGUE_BIAS = 4,
                          CUBLASLT_EPILOGUE_GELU = 32;
/// cublasLtMatrixLayoutAttribute_t
inline constexpr int CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6;
/// cublasLtMatmulPreferenceAttributes_t
inline constexpr int CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
                     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
                     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8;
/// cublasLtReductionScheme_t
inline constexpr uint32_t CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2;

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

/// Those that return cublasStatus_t.
#define SK_CUBLASLT_FUNCTIONS(X)                                                                                       \
  X(cublasLtCreate, (cublasLtHandle_t *))                                                                              \
  X(cublasLtDestroy, (cublasLtHandle_t))                                                                               \
  X(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t *, int, int))                                                      \
  X(cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc_t, int, const void *, size_t))                                 \
  X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))                                                                 \
  X(cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t))                          \
  X(cublasLtMatrixLayoutSetAttribute, (cublasLtMatrixLayout_t, int, const void *, size_t))                             \
  X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))                                                             \
  X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t *))                                                    \
  X(cublasLtMatmulPreferenceSetAttribute, (cublasLtMatmulPreference_t, int, const void *, size_t))                     \
  X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))                                                     \
  X(cublasLtMatmulAlgoGetHeuristic,                                                                                    \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,   \
     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *, int *))               \
  X(cublasLtMatmul, (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,       \
                     const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *, \
                     cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, CUstream))

struct CublasLtApi {
#define SK_MEMBER(name, parameters) cublasStatus_t(*name) parameters = nullptr;
  SK_CUBLASLT_FUNCTIONS(SK_MEMBER)
#undef SK_MEMBER
  size_t (*cublasLtGetVersion)() = nullptr;
  const char *(*cublasLtGetStatusString)(cublasStatus_t) = nullptr;

  /// The newest that a driver of `driverVersion` (13000: CUDA 13.0) runs.
  static Expected<CublasLtApi> open(int driverVersion);
  static constexpr size_t oldest = 120000;

  Status check(cublasStatus_t result, const std::string &what) const;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_CUBLASLTAPI_H
