//===- StartedCollectives.cpp - Collectives in two halves -----------------===//
//
// A rank that starts offers its buffers and goes on; when it is done with other
// work it waits for its peers, computes its outputs from their inputs, and waits
// until all have read. Ranks reach starts and dones in one order, so the rank
// that is furthest back always finds what its peers offer: nobody waits in a circle.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/Collectives/Collective.h"

#include <algorithm>

namespace shardkit::rt {

StartedPlan::StartedPlan(std::vector<CollectivePlan *> plans, World &world, const MeshRanks &mesh)
    : plans_(std::move(plans)), states_(size_t(world.size())) {
  std::vector<std::vector<int>> members;
  for (int rank : mesh.ranks()) {
    const std::vector<int> &ranks = plans_[0]->participants(rank);
    if (ranks[0] == rank)
      members.push_back(ranks);
  }
  groups_ = world.groups(members, /*own=*/true);
}

Status StartedPlan::start(int rank, int64_t id, const void *in, void *out, CopyEngine &engine) {
  State &state = states_[size_t(rank)];
  if (state.started == plans_.size() || plans_[state.started]->info().id != id)
    return internalError(
        "the program starts collective " + std::to_string(id) +
        (state.started == plans_.size() ? " again before it is done" : " out of the order that the manifest lists"));
  state.buffers.resize(plans_.size());
  state.buffers[state.started] = {in, out, 1};
  if (++state.started == plans_.size())
    CollectivePlan::publish(plans_, *groups_[size_t(rank)], rank, state.buffers, engine);
  return {};
}

Status StartedPlan::done(int rank, int64_t id, const void *in, void *out, bool &waited, CopyEngine &engine) {
  State &state = states_[size_t(rank)];
  auto plan = std::find_if(plans_.begin(), plans_.end(), [&](const CollectivePlan *p) { return p->info().id == id; });
  size_t i = size_t(plan - plans_.begin());
  if (state.started < plans_.size() || i != state.finished)
    return internalError("the program waits for collective " + std::to_string(id) + ", which it has not started");
  if (state.buffers[i].in != in || state.buffers[i].out != out)
    return internalError("the program waits for collective " + std::to_string(id) +
                         " with other buffers than it started it with");
  waited = state.finished == 0;
  if (waited && !CollectivePlan::rendezvous(plans_, *groups_[size_t(rank)], rank, state.buffers, engine))
    return Status(Code::Aborted, "");
  if (++state.finished == plans_.size())
    state.started = state.finished = 0;
  return {};
}

FunctionPlans::FunctionPlans(const FunctionInfo &function, World &world, const MeshRanks &mesh) {
  for (const CollectiveInfo &info : function.collectives)
    plans.push_back(std::make_unique<CollectivePlan>(info, world, mesh));
  started.resize(plans.size());
  for (size_t first = 0; first < plans.size(); ++first) {
    if (plans[first]->info().startGroup != int64_t(first))
      continue;
    std::vector<CollectivePlan *> together;
    for (size_t i = first; i < plans.size() && plans[i]->info().startGroup == int64_t(first); ++i) {
      together.push_back(plans[i].get());
      for (int rank : mesh.ranks())
        if (plans[i]->participants(rank) != plans[first]->participants(rank))
          status = internalError(plans[i]->describe() + " is started with collective " + std::to_string(first) +
                                 ", which other ranks are in");
    }
    auto plan = std::make_shared<StartedPlan>(together, world, mesh);
    for (size_t i = 0; i < together.size(); ++i)
      started[first + i] = plan;
  }
}

} // namespace shardkit::rt
