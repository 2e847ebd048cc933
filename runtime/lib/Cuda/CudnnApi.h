//===- CudnnApi.h - The functions of libcudnn that are used ----*- C++ -*--===//
//
// The backend of cuDNN 9: descriptors with attributes. Declared here, from NVIDIA's
// documentation; see DriverApi.h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_CUDNNAPI_H
#define SHARDKIT_RT_CUDA_CUDNNAPI_H

#include "DriverApi.h"

#include <cstdint>

namespace shardkit::rt::cuda {

using cudnnStatus_t = int;
using cudnnHandle_t = struct cudnnContext *;
using cudnnBackendDescriptor_t = void *;

inline constexpr cudnnStatus_t CUDNN_STATUS_SUCCESS = 0;
/// cudnnDataType_t
inline constexpr int CUDNN_DATA_FLOAT = 0, CUDNN_DATA_HALF = 2, CUDNN_DATA_INT32 = 4, CUDNN_DATA_BFLOAT16 = 9,
                     CUDNN_DATA_BOOLEAN = 11;
/// cudnnPointwiseMode_t
inline constexpr int CUDNN_POINTWISE_ADD = 0, CUDNN_POINTWISE_MUL = 1, CUDNN_POINTWISE_DIV = 6, CUDNN_POINTWISE_SUB = 9,
                     CUDNN_POINTWISE_EXP = 13, CUDNN_POINTWISE_LOG = 15, CUDNN_POINTWISE_CMP_GE = 303,
                     CUDNN_POINTWISE_GEN_INDEX = 501, CUDNN_POINTWISE_BINARY_SELECT = 601;
/// cudnnReduceTensorOp_t
inline constexpr int CUDNN_REDUCE_TENSOR_ADD = 0, CUDNN_REDUCE_TENSOR_MAX = 3;
/// cudnnBackendHeurMode_t
inline constexpr int CUDNN_HEUR_MODE_A = 3;
/// cudnnBackendAttributeType_t
inline constexpr int CUDNN_TYPE_HANDLE = 0, CUDNN_TYPE_DATA_TYPE = 1, CUDNN_TYPE_BOOLEAN = 2, CUDNN_TYPE_INT64 = 3,
                     CUDNN_TYPE_VOID_PTR = 6, CUDNN_TYPE_HEUR_MODE = 8, CUDNN_TYPE_POINTWISE_MODE = 14,
                     CUDNN_TYPE_BACKEND_DESCRIPTOR = 15, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE = 18, CUDNN_TYPE_CHAR = 24;
/// cudnnBackendDescriptorType_t
inline constexpr int CUDNN_BACKEND_POINTWISE_DESCRIPTOR = 0, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
                     CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
                     CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR = 13, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
                     CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16, CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
                     CUDNN_BACKEND_MATMUL_DESCRIPTOR = 18, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR = 19,
                     CUDNN_BACKEND_REDUCTION_DESCRIPTOR = 21, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR = 22,
                     CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR = 38;
/// cudnnBackendAttributeName_t
inline constexpr int CUDNN_ATTR_POINTWISE_MODE = 0, CUDNN_ATTR_POINTWISE_MATH_PREC = 1, CUDNN_ATTR_POINTWISE_AXIS = 9,
                     CUDNN_ATTR_ENGINEHEUR_MODE = 200, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
                     CUDNN_ATTR_ENGINEHEUR_RESULTS = 202, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP = 204,
                     CUDNN_ATTR_EXECUTION_PLAN_HANDLE = 400, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
                     CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP = 407,
                     CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750, CUDNN_ATTR_OPERATION_POINTWISE_XDESC = 751,
                     CUDNN_ATTR_OPERATION_POINTWISE_BDESC = 752, CUDNN_ATTR_OPERATION_POINTWISE_YDESC = 753,
                     CUDNN_ATTR_OPERATION_POINTWISE_TDESC = 758, CUDNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
                     CUDNN_ATTR_OPERATIONGRAPH_OPS = 801, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
                     CUDNN_ATTR_TENSOR_DATA_TYPE = 901, CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
                     CUDNN_ATTR_TENSOR_STRIDES = 903, CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
                     CUDNN_ATTR_TENSOR_IS_VIRTUAL = 907, CUDNN_ATTR_TENSOR_IS_BY_VALUE = 908,
                     CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
                     CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003, CUDNN_ATTR_MATMUL_COMP_TYPE = 1500,
                     CUDNN_ATTR_OPERATION_MATMUL_ADESC = 1520, CUDNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
                     CUDNN_ATTR_OPERATION_MATMUL_CDESC = 1522, CUDNN_ATTR_OPERATION_MATMUL_DESC = 1523,
                     CUDNN_ATTR_REDUCTION_OPERATOR = 1600, CUDNN_ATTR_REDUCTION_COMP_TYPE = 1601,
                     CUDNN_ATTR_OPERATION_REDUCTION_XDESC = 1610, CUDNN_ATTR_OPERATION_REDUCTION_YDESC = 1611,
                     CUDNN_ATTR_OPERATION_REDUCTION_DESC = 1612, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION = 2702;

/// Those that return cudnnStatus_t.
#define SK_CUDNN_FUNCTIONS(X)                                                                                          \
  X(cudnnCreate, (cudnnHandle_t *))                                                                                    \
  X(cudnnDestroy, (cudnnHandle_t))                                                                                     \
  X(cudnnSetStream, (cudnnHandle_t, CUstream))                                                                         \
  X(cudnnBackendCreateDescriptor, (int, cudnnBackendDescriptor_t *))                                                   \
  X(cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t))                                                         \
  X(cudnnBackendSetAttribute, (cudnnBackendDescriptor_t, int, int, int64_t, const void *))                             \
  X(cudnnBackendGetAttribute, (cudnnBackendDescriptor_t, int, int, int64_t, int64_t *, void *))                        \
  X(cudnnBackendFinalize, (cudnnBackendDescriptor_t))                                                                  \
  X(cudnnBackendExecute, (cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t))

struct CudnnApi {
#define SK_MEMBER(name, parameters) cudnnStatus_t(*name) parameters = nullptr;
  SK_CUDNN_FUNCTIONS(SK_MEMBER)
#undef SK_MEMBER
  size_t (*cudnnGetVersion)() = nullptr;
  size_t (*cudnnGetCudartVersion)() = nullptr;
  const char *(*cudnnGetErrorString)(cudnnStatus_t) = nullptr;
  void (*cudnnGetLastErrorString)(char *, size_t) = nullptr;

  static Expected<CudnnApi> open();
  /// The first that makes all plans of CudnnTest.cpp; NVIDIA's front end refuses attention
  /// to the two before it.
  static constexpr size_t oldest = 91002;

  Status check(cudnnStatus_t result, const std::string &what) const;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_CUDNNAPI_H
