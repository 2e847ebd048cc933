//===- Runnable.cpp - A function, or a pipeline ---------------------------===//

#include "shardkit/rt/Execution/Runnable.h"

#include <algorithm>

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

Status Runnable::checkDonation() const {
  for (const ValueInfo &result : full().results)
    if (result.tied)
      for (auto [stage, index] : argumentPositions(size_t(*result.tied))) {
        const std::vector<ValueInfo> &results = held(stage).results;
        if (std::none_of(results.begin(), results.end(),
                         [&, i = int64_t(index)](const ValueInfo &held) { return held.tied == std::optional(i); }))
          return invalid("result '" + result.name + "' of " + title() + " updates argument '" +
                         full().arguments[size_t(*result.tied)].name + "', which stage " + std::to_string(stage) +
                         " still reads afterwards, or has in another layout");
      }
  return {};
}

std::string Runnable::title() const { return (pipeline_ ? "pipeline '" : "function '") + name() + "'"; }

} // namespace shardkit::rt
