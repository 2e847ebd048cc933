//===- Nccl.h - Collectives between devices of several processes -*- C++ -*--===//
//
// --backend=nccl: processes find each other through another backend (MPI, TCP), which
// also carries the messages of the host; collectives of devices go through NCCL, on the
// communication stream. A move that is one NCCL operation (an all-reduce, an all-gather, a
// reduce-scatter, a broadcast) is run as one, with packing where the layout needs it; every
// other move is a group of sends and receives. Reductions that NCCL lacks, or defines
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

  /// Called by all ranks of the world together: makes the communicators of all these plans.
  Status prepare(std::span<const std::unique_ptr<CollectivePlan>> plans, World &world);
  /// Enqueues the collective on the communication stream, between startCommunication and
  /// endCommunication of the device.
  Status run(CollectivePlan &plan, int64_t count, const void *in, void *out, World &world);
  /// Records an event after the work that `start` has enqueued; the program's stream waits for it.
  Status recordStarted(int64_t id);
  Status waitStarted(int64_t id);
  /// The collectives that this rank has run since the last call, as text: for each group
  /// of ranks their number, and a hash of them in order.
  std::string takeSequence();
  /// Waits until the device has run all of them, at most `timeout` seconds per
  /// collective. Fails the world and returns if NCCL reports an error or that time is over.
  void wait(World &world);

private:
  /// Waits until at most `pending` collectives are in flight; false when the world failed.
  bool drain(World &world, size_t pending);
  std::unique_ptr<Impl> impl_;
};

/// The communicators of the ranks of this process.
class NcclRanks {
public:
  /// Called by all processes together; `forEachRank` calls a function on the thread of each rank.
  static Expected<std::unique_ptr<NcclRanks>>
  open(Backend &backend, Devices &devices, int64_t ranks, double timeoutSeconds,
       const std::function<Status(const std::function<Status(int64_t)> &)> &forEachRank);
  ~NcclRanks();
  NcclRank *of(int64_t rank);
  /// Called by all processes together: an error unless all ranks of each group ran the same collectives.
  Status compareSequences(Backend &backend);

private:
  NcclRanks() = default;
  int64_t begin_ = 0;
  std::vector<std::unique_ptr<NcclRank>> ranks_;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_NCCL_H
