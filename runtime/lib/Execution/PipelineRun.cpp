//===- PipelineRun.cpp - The plans of a pipeline --------------------------===//

#include "PipelineRun.h"

#include <algorithm>

namespace shardkit::rt {

namespace {

std::string microbatchText(int64_t microbatch) {
  return microbatch < 0 ? "once per step" : "of microbatch " + std::to_string(microbatch);
}

} // namespace

PipelinePlans::PipelinePlans(const PipelineInfo &pipeline, World &world, bool byNccl)
    : pipeline_(pipeline), ranks_(size_t(world.size())) {
  std::vector<MeshRanks> meshes;
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const std::vector<int64_t> &ranks = pipeline.stages[s].ranks;
    meshes.emplace_back(std::vector<int>(ranks.begin(), ranks.end()));
    for (int r = 0; r < meshes[s].size(); ++r)
      ranks_[size_t(meshes[s][r])] = {s, r};
  }
  for (size_t f = 0; f < pipeline.functions.size(); ++f) {
    functions_.push_back(std::make_unique<FunctionPlans>(pipeline.functions[f], world, meshes[pipeline.stageOf[f]]));
    if (status.ok() && !functions_.back()->status.ok())
      status = functions_.back()->status.withContext("function '" + pipeline.functions[f].name + "'");
  }
  for (const ChannelInfo &transfer : pipeline.channels) {
    const MeshRanks &from = meshes[transfer.fromStage], &to = meshes[transfer.toStage];
    transfers_.push_back(std::make_unique<CollectivePlan>(transfer.move, world, from, to));
    const bool isOfStep = pipeline.stages[transfer.toStage].values[transfer.toValue].isOfStep;
    const int64_t times = byNccl ? 0 : isOfStep ? 1 : pipeline.microbatches;
    std::vector<Group *> &ways = ways_.emplace_back();
    for (int64_t i = 0; i < times; ++i)
      ways.push_back(&world.oneWay(from.ranks(), to.ranks()));
  }
}

void PipelinePlans::prepare(RunStats &stats) const {
  stats.functions.resize(functions_.size());
  for (size_t f = 0; f < functions_.size(); ++f) {
    const size_t ranks = size_t(pipeline_.functions[f].devices);
    stats.functions[f].runs.resize(ranks);
    stats.functions[f].collectives.resize(ranks);
    stats.functions[f].contractions.resize(ranks);
    for (auto &perRank : stats.functions[f].collectives)
      perRank.resize(functions_[f]->plans.size());
  }
  stats.transfers.resize(transfers_.size());
  for (auto &perRank : stats.transfers)
    perRank.resize(ranks_.size());
  stats.ranks.resize(ranks_.size());
}

std::string PipelinePlans::title() const { return "pipeline '" + pipeline_.signature.name + "'"; }

const Instruction *PipelinePlans::find(int rank, int64_t instruction) const {
  const auto &list = pipeline_.stages[ranks_[size_t(rank)].first].instructions;
  return instruction >= 0 && instruction < int64_t(list.size()) ? &list[size_t(instruction)] : nullptr;
}

std::string PipelinePlans::rendezvous(int rank, int64_t instruction, int64_t id) const {
  if (id >= ChannelInfo::firstId)
    return "transfer " + std::to_string(id - ChannelInfo::firstId);
  const Instruction *in = find(rank, instruction);
  if (in && in->kind == Instruction::Kind::Run)
    return RunningFunction(pipeline_.functions[in->target]).rendezvous(rank, instruction, id);
  return "collective " + std::to_string(id);
}

std::string PipelinePlans::position(int rank, int64_t instruction) const {
  const Instruction *in = find(rank, instruction);
  std::string text = "stage " + std::to_string(ranks_[size_t(rank)].first);
  if (!in)
    return text;
  text += ", instruction " + std::to_string(instruction) + " (";
  switch (in->kind) {
  case Instruction::Kind::Run:
    return text + pipeline_.functions[in->target].name + " " + microbatchText(in->microbatch) + ")";
  case Instruction::Kind::Transfer:
    for (size_t i = 0; i < in->transfers.size() && i < 4; ++i)
      text += (i ? ", transfer " : "transfer ") + std::to_string(in->transfers[i].first) + " " +
              microbatchText(in->transfers[i].second);
    return text + (in->transfers.size() > 4 ? ", ... with stage " : " with stage ") + std::to_string(in->target) + ")";
  case Instruction::Kind::Free:
    return text + "free)";
  }
  return text;
}

} // namespace shardkit::rt
