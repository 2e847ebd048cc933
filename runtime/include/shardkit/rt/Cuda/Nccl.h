//===- Nccl.h - Collectives between devices of several processes -*- C++ -*--===//
//
// --backend=nccl: processes find each other through another backend (MPI, TCP), which
// also carries what the host says; collectives of devices go through NCCL, on the
// communication stream. What NCCL has as one operation (an all-reduce, an all-gather, a
// reduce-scatter, a broadcast) is one, with packing where the layout wants it; every
// other move is a group of sends and receives. Reductions that NCCL has not, or means
// differently (max and min of floats, which drop NaN there), are sends and receives too,
// reduced by the runtime's kernels.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_NCCL_H
#define SHARDKIT_RT_CUDA_NCCL_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Collectives/Collective.h"
#include "shardkit/rt/Cuda/Device.h"

namespace shardkit::rt::cuda {

/// The communicators of one rank.
class NcclRank {
public:
  struct Impl;
  explicit NcclRank(std::unique_ptr<Impl> impl);
  ~NcclRank();

  /// By all ranks of the world together: the communicators of all these plans.
  Status prepare(std::span<const std::unique_ptr<CollectivePlan>> plans, World &world);
  /// Gives the collective to the communication stream, between startCommunication and
  /// endCommunication of the device.
  Status run(CollectivePlan &plan, int64_t count, const void *in, void *out, World &world);
  /// Gives what `start` has given a mark, which the program's stream waits for.
  Status markStarted(int64_t id);
  Status waitStarted(int64_t id);
  /// What this rank has run since the last call, in text: for each group of ranks how
  /// many collectives, and a hash of them in order.
  std::string takeSequence();
  /// Waits until the device is done with all of it: for `timeout` seconds in one
  /// collective at most. Fails the world, and gives up, where NCCL reports an error or
  /// that time is over.
  void wait(World &world);

private:
  /// Waits until at most so many collectives are under way; false when the world failed.
  bool drain(World &world, size_t most);
  std::unique_ptr<Impl> impl_;
};

/// Of the ranks of this process.
class NcclRanks {
public:
  /// By all processes together; `forEachRank` calls a function on the thread of each rank.
  static Expected<std::unique_ptr<NcclRanks>>
  open(Backend &backend, Devices &devices, int64_t ranks, double timeoutSeconds,
       const std::function<Status(const std::function<Status(int64_t)> &)> &forEachRank);
  ~NcclRanks();
  NcclRank *of(int64_t rank);
  /// By all processes together: that ranks of a group ran the same collectives.
  Status compareSequences(Backend &backend);

private:
  NcclRanks() = default;
  int64_t begin_ = 0;
  std::vector<std::unique_ptr<NcclRank>> ranks_;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_NCCL_H
