//===- NcclImpl.h - What NCCL's ranks are made of --------------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_NCCLIMPL_H
#define SHARDKIT_RT_CUDA_NCCLIMPL_H

#include "DeviceImpl.h"
#include "NcclApi.h"

#include "shardkit/rt/Cuda/Nccl.h"

#include <cstdlib>
#include <deque>

namespace shardkit::rt::cuda {

/// How a collective is asked for.
struct NcclOperation {
  enum class Kind { Nothing, AllReduce, AllGather, ReduceScatter, Broadcast, Exchange } kind;
  int dtype = 0, operation = 0; ///< NCCL's.
  int root = 0;                 ///< Of a broadcast, in the group.
  bool isPacked = false;        ///< Pieces of an item are not where NCCL wants them.
};

struct NcclRank::Impl {
  Impl(const NcclApi &api, Device &device, int rank, int ranks, double timeout)
      : api(api), device(device), driver(device.impl().driver), rank(rank), ranks(ranks), timeout(timeout) {}
  ~Impl();

  Status connect(const ncclUniqueId &id);
  /// Polls a communicator that does not block.
  Status settle(ncclComm_t comm, const std::string &what);
  Status call(ncclResult_t result, const std::string &what, ncclComm_t comm) { return api.check(result, what, comm); }
  NcclOperation choose(CollectivePlan &plan);
  NcclOperation getOperation(CollectivePlan &plan);
  Status perform(CollectivePlan &plan, int64_t count, const void *in, void *out, ncclComm_t comm);
  Status exchange(CollectivePlan &plan, int64_t count, const void *in, void *out, ncclComm_t comm, int dtype);
  Expected<char *> scratch(int64_t bytes);
  Status freeScratch();
  Expected<CUevent> event();
  std::vector<ncclComm_t> communicators() const;
  /// Communicators that do not block are finalized, waited for and destroyed. A rank may wait
  /// for others of its process, so each is done for all before the next; those of `all` are
  /// then ready to be destroyed.
  static void closeAll(std::vector<Impl *> &all);
  Status finalize();
  Status waitFinalized();
  void abort();

  const NcclApi &api;
  Device &device;
  const DriverApi &driver;
  const int rank, ranks;
  const double timeout;
  /// Whether groups of one rank go through NCCL too, which tries it on one GPU (SK_NCCL_ALONE); else they copy.
  const bool goesAlone = std::getenv("SK_NCCL_ALONE") != nullptr;
  ncclComm_t world = nullptr;
  std::map<std::vector<std::vector<int>>, ncclComm_t> split;
  std::map<const CollectivePlan *, ncclComm_t> commOf;
  std::map<const CollectivePlan *, NcclOperation> operationOf;
  std::vector<CUdeviceptr> scratches;
  struct InFlight {
    const CollectivePlan *plan;
    CUevent begin, end;
  };
  std::deque<InFlight> inFlight;
  std::vector<CUevent> idleEvents;
  std::map<int64_t, CUevent> started;
  struct Sequence {
    uint64_t hash = 0;
    int64_t count = 0;
  };
  std::map<std::vector<int>, Sequence> sequences; ///< By the ranks of the group.
  bool isAborted = false;
  std::shared_ptr<std::vector<Impl *>> ofProcess; ///< Those that are to be closed yet.
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_NCCLIMPL_H
