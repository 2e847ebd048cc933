//===- Runnable.h - A function, or a pipeline -------------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_RUNNABLE_H
#define SHARDKIT_TOOLS_SHARDRUN_RUNNABLE_H

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <string>
#include <vector>

namespace shardkit::run {

/// What runs as one: a pipeline on the meshes of its stages, or a function, which is
/// one stage on its mesh. Says which rank holds what of which argument and result.
class Runnable {
public:
  using Place = rt::PipelineInfo::Place;

  explicit Runnable(const rt::FunctionInfo &function);
  explicit Runnable(const rt::PipelineInfo &pipeline);

  /// Names and global types of arguments and results, the reference, all devices.
  const rt::FunctionInfo &whole() const { return *whole_; }
  const rt::PipelineInfo *pipeline() const { return pipeline_; }
  const std::string &name() const { return whole_->name; }
  /// "function 'main'"
  std::string title() const;
  int64_t devices() const { return whole_->devices; }

  size_t stages() const { return held_.size(); }
  /// What each rank of a stage holds for the whole step.
  const rt::FunctionInfo &held(size_t stage) const { return *held_[stage]; }
  /// The ranks of a stage, by rank of its mesh.
  const std::vector<int64_t> &ranks(size_t stage) const { return ranks_[stage]; }
  size_t stageOf(int64_t rank) const { return places_[size_t(rank)].first; }
  /// The rank of its mesh: extents are in these.
  int64_t meshRank(int64_t rank) const { return places_[size_t(rank)].second; }
  const rt::FunctionInfo &heldBy(int64_t rank) const { return held(stageOf(rank)); }
  /// Where argument or result i of the whole is; the first place is the one that counts.
  const std::vector<Place> &argumentPlaces(size_t i) const { return arguments_[i]; }
  const std::vector<Place> &resultPlaces(size_t i) const { return results_[i]; }

  /// All functions of it.
  const std::vector<const rt::FunctionInfo *> &functions() const { return functions_; }
  /// Calls fn(counter) for all that `rank` counts in `stats`, in a fixed order.
  template <typename Fn> void forEachCounter(rt::RunStats &stats, int64_t rank, Fn &&fn) const {
    for (size_t f = 0; f < functions_.size(); ++f) {
      if (pipeline_ && pipeline_->stageOf[f] != stageOf(rank))
        continue;
      for (rt::TimeStats &times : stats.functions[f].collectives[size_t(meshRank(rank))])
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
  const rt::FunctionInfo *whole_;
  const rt::PipelineInfo *pipeline_ = nullptr;
  std::vector<const rt::FunctionInfo *> held_, functions_;
  std::vector<std::vector<int64_t>> ranks_;
  std::vector<std::pair<size_t, int64_t>> places_; ///< Of each rank: stage, rank of its mesh.
  std::vector<std::vector<Place>> arguments_, results_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_RUNNABLE_H
