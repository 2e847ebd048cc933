//===- Runnable.cpp - A function, or a pipeline ---------------------------===//

#include "shardkit/rt/Execution/Runnable.h"

namespace shardkit::rt {

Runnable::Runnable(const FunctionInfo &function)
    : full_(&function), held_{&function}, functions_{&function}, ranks_(1) {
  for (int64_t rank = 0; rank < function.devices; ++rank) {
    ranks_[0].push_back(rank);
    meshRanks_.emplace_back(0, rank);
  }
  for (size_t i = 0; i < function.arguments.size(); ++i)
    arguments_.push_back({{0, i}});
  for (size_t i = 0; i < function.results.size(); ++i)
    results_.push_back({{0, i}});
}

Runnable::Runnable(const PipelineInfo &pipeline)
    : full_(&pipeline.signature), pipeline_(&pipeline), meshRanks_(size_t(pipeline.signature.devices)),
      arguments_(pipeline.argumentBuffers), results_(pipeline.resultBuffers) {
  for (const FunctionInfo &function : pipeline.functions)
    functions_.push_back(&function);
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const StageInfo &stage = pipeline.stages[s];
    held_.push_back(&stage.held);
    ranks_.push_back(stage.ranks);
    for (size_t r = 0; r < stage.ranks.size(); ++r)
      meshRanks_[size_t(stage.ranks[r])] = {s, int64_t(r)};
  }
}

std::string Runnable::title() const { return (pipeline_ ? "pipeline '" : "function '") + name() + "'"; }

} // namespace shardkit::rt
