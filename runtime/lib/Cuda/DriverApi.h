//===- DriverApi.h - The functions of libcuda.so.1 that are used -*- C++ -*--===//
//
// Declared here, from NVIDIA's documentation of the driver API, so that no header of
// CUDA is needed. test/CudaDeclarationsTest.cpp compares with cuda.h where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_DRIVERAPI_H
#define SHARDKIT_RT_CUDA_DRIVERAPI_H

#include "shardkit/rt/Support/Status.h"

#include <cstddef>

namespace shardkit::rt::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUmemoryPool = struct CUmemPoolHandle_st *;

inline constexpr CUresult CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NO_DEVICE = 100,
                          CUDA_ERROR_NOT_READY = 600;
/// CUdevice_attribute
inline constexpr int CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
                     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
                     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97;
/// CUjit_option
inline constexpr int CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6;
inline constexpr int CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2,
                          CU_MEMHOSTALLOC_PORTABLE = 1;
inline constexpr int CU_STREAM_CAPTURE_MODE_RELAXED = 2;
inline constexpr int CU_MEMORYTYPE_DEVICE = 2;
/// CUmemPool_attribute, an unsigned number of 64 bits.
inline constexpr int CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;

struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

/// Name of the member, name that the library exports, parameters; all return CUresult.
#define SK_CUDA_DRIVER_FUNCTIONS(X)                                                                                    \
  X(cuInit, cuInit, (unsigned))                                                                                        \
  X(cuDriverGetVersion, cuDriverGetVersion, (int *))                                                                   \
  X(cuGetErrorName, cuGetErrorName, (CUresult, const char **))                                                         \
  X(cuGetErrorString, cuGetErrorString, (CUresult, const char **))                                                     \
  X(cuDeviceGetCount, cuDeviceGetCount, (int *))                                                                       \
  X(cuDeviceGet, cuDeviceGet, (CUdevice *, int))                                                                       \
  X(cuDeviceGetName, cuDeviceGetName, (char *, int, CUdevice))                                                         \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, CUdevice))                                                       \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *, int, CUdevice))                                                \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                       \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                               \
  X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext *))                                                                   \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext))                                                                     \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **))                      \
  X(cuModuleUnload, cuModuleUnload, (CUmodule))                                                                        \
  X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                  \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))                                                    \
  X(cuLaunchKernel, cuLaunchKernel,                                                                                    \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))    \
  X(cuStreamCreate, cuStreamCreate, (CUstream *, unsigned))                                                            \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream))                                                                   \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream))                                                              \
  X(cuStreamQuery, cuStreamQuery, (CUstream))                                                                          \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                               \
  X(cuEventCreate, cuEventCreate, (CUevent *, unsigned))                                                               \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent))                                                                      \
  X(cuEventRecord, cuEventRecord, (CUevent, CUstream))                                                                 \
  X(cuEventQuery, cuEventQuery, (CUevent))                                                                             \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent))                                                                 \
  X(cuEventElapsedTime, cuEventElapsedTime, (float *, CUevent, CUevent))                                               \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                                                               \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr))                                                                            \
  X(cuMemAllocAsync, cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))                                               \
  X(cuMemFreeAsync, cuMemFreeAsync, (CUdeviceptr, CUstream))                                                           \
  X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, (CUmemoryPool *, CUdevice))                                  \
  X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, (CUmemoryPool, int, void *))                                         \
  X(cuMemPoolTrimTo, cuMemPoolTrimTo, (CUmemoryPool, size_t))                                                          \
  X(cuMemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                                                       \
  X(cuMemFreeHost, cuMemFreeHost, (void *))                                                                            \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                            \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                                  \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                             \
  X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))          \
  X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream))                                            \
  X(cuMemsetD8Async, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                  \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))                                                    \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))                                                     \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long))                     \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))                                                             \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph))                                                                         \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))

struct DriverApi {
#define SK_MEMBER(name, exported, parameters) CUresult(*name) parameters = nullptr;
  SK_CUDA_DRIVER_FUNCTIONS(SK_MEMBER)
#undef SK_MEMBER

  /// Loads and starts the driver; its version is at least `oldest`.
  static Expected<DriverApi> open();
  static constexpr int oldest = 12000;
  int version = 0; ///< 13000: CUDA 13.0.

  /// An error that says what was asked for: "copying 64 bytes".
  Status check(CUresult result, const std::string &what) const;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_DRIVERAPI_H
