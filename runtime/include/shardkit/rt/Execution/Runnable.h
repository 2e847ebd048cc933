//===- Runnable.h - A function, or a pipeline -------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_EXECUTION_RUNNABLE_H
#define SHARDKIT_RT_EXECUTION_RUNNABLE_H

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <string>
#include <vector>

namespace shardkit::rt {

/// A program of one step: a pipeline on the meshes of its stages, or a function, which is
/// one stage on its mesh. Knows which rank holds which shard of which argument and result.
class Runnable {
public:
  using Position = PipelineInfo::Buffer;

  explicit Runnable(const FunctionInfo &function);
  explicit Runnable(const PipelineInfo &pipeline);

  /// Names and global types of arguments and results, the reference, all devices.
  const FunctionInfo &full() const { return *full_; }
  const PipelineInfo *pipeline() const { return pipeline_; }
  const std::string &name() const { return full_->name; }
  /// "function 'main'"
  std::string title() const;
  int64_t devices() const { return full_->devices; }

  size_t stages() const { return held_.size(); }
  /// The values that each rank of a stage holds during the step.
  const FunctionInfo &held(size_t stage) const { return *held_[stage]; }
  /// The ranks of a stage, by rank of its mesh.
  const std::vector<int64_t> &ranks(size_t stage) const { return ranks_[stage]; }
  size_t stageOf(int64_t rank) const { return meshRanks_[size_t(rank)].first; }
  /// The rank of its mesh: extents are in these.
  int64_t meshRank(int64_t rank) const { return meshRanks_[size_t(rank)].second; }
  const FunctionInfo &heldBy(int64_t rank) const { return held(stageOf(rank)); }
  /// The stages that hold argument or result i; the first one is used.
  const std::vector<Position> &argumentPositions(size_t i) const { return arguments_[i]; }
  const std::vector<Position> &resultPositions(size_t i) const { return results_[i]; }

  /// An error unless every argument that a result updates is updated wherever it is.
  Status checkDonation() const;

  /// All functions of the program.
  const std::vector<const FunctionInfo *> &functions() const { return functions_; }
  /// Calls fn(counter) for all counters of `rank` in `stats`, in a fixed order.
  template <typename Fn> void forEachCounter(RunStats &stats, int64_t rank, Fn &&fn) const {
    for (size_t f = 0; f < functions_.size(); ++f) {
      if (pipeline_ && pipeline_->stageOf[f] != stageOf(rank))
        continue;
      for (CollectiveStats &times : stats.functions[f].collectives[size_t(meshRank(rank))])
        fn(times);
      if (pipeline_)
        fn(stats.functions[f].runs[size_t(meshRank(rank))]);
    }
    for (auto &transfer : stats.transfers)
      fn(transfer[size_t(rank)]);
    if (pipeline_)
      fn(stats.ranks[size_t(rank)]);
  }

private:
  const FunctionInfo *full_;
  const PipelineInfo *pipeline_ = nullptr;
  std::vector<const FunctionInfo *> held_, functions_;
  std::vector<std::vector<int64_t>> ranks_;
  std::vector<std::pair<size_t, int64_t>> meshRanks_; ///< By rank: stage, rank of its mesh.
  std::vector<std::vector<Position>> arguments_, results_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_RUNNABLE_H
