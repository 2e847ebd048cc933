//===- NcclApi.h - The functions of libnccl.so.2 that are used -*- C++ -*--===//
//
// Declared here, from NCCL's documentation; see DriverApi.h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_NCCLAPI_H
#define SHARDKIT_RT_CUDA_NCCLAPI_H

#include "DriverApi.h"

#include <climits>

namespace shardkit::rt::cuda {

using ncclResult_t = int;
using ncclComm_t = struct ncclComm *;
struct ncclUniqueId {
  char internal[128];
};

inline constexpr ncclResult_t ncclSuccess = 0, ncclInProgress = 7;
/// ncclDataType_t
inline constexpr int ncclInt8 = 0, ncclUint8 = 1, ncclInt32 = 2, ncclUint32 = 3, ncclInt64 = 4, ncclUint64 = 5,
                     ncclFloat16 = 6, ncclFloat32 = 7, ncclFloat64 = 8, ncclBfloat16 = 9;
/// ncclRedOp_t
inline constexpr int ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3;

/// As of NCCL 2.18; later ones add members and read `version`.
struct ncclConfig_t {
  size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN;
  int cgaClusterSize = INT_MIN, minCTAs = INT_MIN, maxCTAs = INT_MIN;
  const char *netName = nullptr;
  int splitShare = INT_MIN;
};

/// Those that return ncclResult_t.
#define SK_NCCL_FUNCTIONS(X)                                                                                           \
  X(ncclGetVersion, (int *))                                                                                           \
  X(ncclGetUniqueId, (ncclUniqueId *))                                                                                 \
  X(ncclCommInitRankConfig, (ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *))                                    \
  X(ncclCommSplit, (ncclComm_t, int, int, ncclComm_t *, ncclConfig_t *))                                               \
  X(ncclCommGetAsyncError, (ncclComm_t, ncclResult_t *))                                                               \
  X(ncclCommAbort, (ncclComm_t))                                                                                       \
  X(ncclCommFinalize, (ncclComm_t))                                                                                    \
  X(ncclCommDestroy, (ncclComm_t))                                                                                     \
  X(ncclGroupStart, ())                                                                                                \
  X(ncclGroupEnd, ())                                                                                                  \
  X(ncclAllReduce, (const void *, void *, size_t, int, int, ncclComm_t, CUstream))                                     \
  X(ncclAllGather, (const void *, void *, size_t, int, ncclComm_t, CUstream))                                          \
  X(ncclReduceScatter, (const void *, void *, size_t, int, int, ncclComm_t, CUstream))                                 \
  X(ncclBroadcast, (const void *, void *, size_t, int, int, ncclComm_t, CUstream))                                     \
  X(ncclSend, (const void *, size_t, int, int, ncclComm_t, CUstream))                                                  \
  X(ncclRecv, (void *, size_t, int, int, ncclComm_t, CUstream))

struct NcclApi {
#define SK_MEMBER(name, parameters) ncclResult_t(*name) parameters = nullptr;
  SK_NCCL_FUNCTIONS(SK_MEMBER)
#undef SK_MEMBER
  const char *(*ncclGetErrorString)(ncclResult_t) = nullptr;
  const char *(*ncclGetLastError)(ncclComm_t) = nullptr;

  static Expected<NcclApi> open();
  static constexpr int oldest = 21800;

  /// ncclInProgress is none.
  Status check(ncclResult_t result, const std::string &what, ncclComm_t comm = nullptr) const;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_NCCLAPI_H
