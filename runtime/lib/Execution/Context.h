//===- Context.h - What a rank's sk_context holds ---------------*- C++ -*-===//

#ifndef SHARDKIT_RT_CONTEXT_H
#define SHARDKIT_RT_CONTEXT_H

#include "shardkit/rt/Collectives/Collective.h"
#include "shardkit/rt/Contraction/Contraction.h"
#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Cuda/Nccl.h"
#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Support/Buffer.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {
class HostFunctions;
class ValueComparison;
} // namespace shardkit::rt

/// One per rank thread; the fields of a run are set before each step. Or one of a
/// user of loader.h, who has functions and a message alone.
struct sk_context {
  int rank = 0;     ///< Of the world.
  int meshRank = 0; ///< What the program knows: the rank of its mesh.
  shardkit::rt::World *world = nullptr;
  shardkit::rt::FunctionPlans *plans = nullptr;
  std::vector<shardkit::rt::CollectiveStats> *stats = nullptr;
  shardkit::rt::ContractionStats *contractionStats = nullptr;
  int32_t status = 0;  ///< Sticky.
  bool isGone = false; ///< By an injected fault: the rank returns without a word.
  shardkit::rt::ContractionCache contractions;
  shardkit::rt::cuda::Device *device = nullptr; ///< Of a program that runs on one.
  shardkit::rt::cuda::NcclRank *nccl = nullptr; ///< What moves its collectives, if set.
  /// Host copies of what collectives of a device send and receive by messages: of the
  /// one that runs (-1), and of those that are started.
  std::map<int64_t, std::pair<shardkit::rt::Buffer, shardkit::rt::Buffer>> staged;
  /// What compares the values of the run, if anything does; this is then a rank, or the counterpart.
  shardkit::rt::ValueComparison *values = nullptr;
  bool isCounterpart = false;
  /// Of a context outside of programs (loader.h).
  shardkit::rt::HostFunctions *functions = nullptr;
  std::string message;
};

namespace shardkit::rt {

/// Ends the run on all ranks with `status`; returns the status of `ctx`.
int32_t failRun(sk_context &ctx, Status status);
/// What a fault that was asked for does to this rank as it enters (`after`: has left)
/// the meeting with this id; 0 if there is none.
int32_t injectFault(sk_context &ctx, int64_t id, bool after);
/// The flight record of a rank that comes to a meeting.
void recordEntry(RankRecord &record, int64_t id);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CONTEXT_H
