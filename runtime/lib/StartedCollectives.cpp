//===- StartedCollectives.cpp - Collectives in two halves -------------------===//
//
// A rank that starts posts its buffers and goes on; when it is done with other
// work it waits for its peers, computes its outputs from their inputs, and waits
// until all have read. Ranks reach starts and dones in one order, so the rank
// that is furthest back always finds its peers posted: nobody waits in a circle.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/Collective.h"

#include <algorithm>

namespace shardkit::rt {

StartedPlan::StartedPlan(std::vector<CollectivePlan *> plans, World &world)
    : plans_(std::move(plans)), states_(size_t(world.size())) {
  for (CollectivePlan *plan : plans_) {
    std::vector<Group *> own(size_t(world.size()), nullptr);
    for (int rank = 0; rank < world.size(); ++rank)
      if (!own[size_t(rank)]) {
        Group &group = world.makeGroup(plan->participants(rank));
        for (int member : group.ranks())
          own[size_t(member)] = &group;
      }
    groups_.push_back(std::move(own));
  }
}

Status StartedPlan::start(int rank, int64_t id, const void *in, void *out) {
  State &state = states_[size_t(rank)];
  if (state.handed == plans_.size() || plans_[state.handed]->info().id != id)
    return internalError("the program starts collective " + std::to_string(id) +
                         (state.handed == plans_.size()
                              ? " again before it is done"
                              : " out of the order that the manifest lists"));
  Group &group = *groups_[state.handed][size_t(rank)];
  GroupSlot &slot = group.slot(group.indexOf(rank));
  slot.in = in;
  slot.out = out;
  slot.id = id;
  if (++state.handed == plans_.size()) {
    Group &meeting = *groups_[0][size_t(rank)];
    state.ticket = meeting.post(meeting.indexOf(rank));
  }
  return {};
}

Status StartedPlan::done(int rank, int64_t id, const void *in, void *out, bool &waited) {
  State &state = states_[size_t(rank)];
  auto plan = std::find_if(plans_.begin(), plans_.end(),
                           [&](const CollectivePlan *p) { return p->info().id == id; });
  size_t i = size_t(plan - plans_.begin());
  if (state.handed < plans_.size() || i != state.taken)
    return internalError("the program waits for collective " + std::to_string(id) +
                         ", which it has not started");
  Group &group = *groups_[i][size_t(rank)];
  GroupSlot &slot = group.slot(group.indexOf(rank));
  if (slot.in != in || slot.out != out)
    return internalError("the program waits for collective " + std::to_string(id) +
                         " with other buffers than it started it with");
  waited = state.taken == 0;
  if (waited && !finish(rank))
    return Status(Code::Aborted, "");
  if (++state.taken == plans_.size())
    state.handed = state.taken = 0;
  return {};
}

bool StartedPlan::finish(int rank) {
  Group &meeting = *groups_[0][size_t(rank)];
  int index = meeting.indexOf(rank);
  auto text = [&] { return plans_[0]->describe(); };
  if (!meeting.wait(index, states_[size_t(rank)].ticket, text))
    return false;
  auto forEach = [&](auto &&fn) {
    for (size_t i = 0; i < plans_.size(); ++i) {
      Group &group = *groups_[i][size_t(rank)];
      fn(*plans_[i], group, group.slot(group.indexOf(rank)).out);
    }
  };
  bool shared = false;
  forEach([&](CollectivePlan &plan, Group &group, void *out) {
    plan.compute(rank, 1, group, out);
    shared |= plan.isShared(1, group);
  });
  if (shared) {
    if (!meeting.arrive(index, text))
      return false;
    forEach([&](CollectivePlan &plan, Group &group, void *out) {
      if (plan.isShared(1, group))
        plan.copyParts(rank, 1, group, out);
    });
  }
  return meeting.arrive(index, text);
}

FunctionPlans::FunctionPlans(const FunctionInfo &function, World &world) {
  for (const CollectiveInfo &info : function.collectives)
    plans.push_back(std::make_unique<CollectivePlan>(info, world));
  started.resize(plans.size());
  for (size_t first = 0; first < plans.size(); ++first) {
    if (plans[first]->info().with != int64_t(first))
      continue;
    std::vector<CollectivePlan *> together;
    for (size_t i = first; i < plans.size() && plans[i]->info().with == int64_t(first); ++i) {
      together.push_back(plans[i].get());
      for (int rank = 0; rank < world.size(); ++rank)
        if (plans[i]->participants(rank) != plans[first]->participants(rank))
          status = internalError(plans[i]->describe() + " is started with collective " +
                                 std::to_string(first) + ", which other ranks take part in");
    }
    auto plan = std::make_shared<StartedPlan>(together, world);
    for (size_t i = 0; i < together.size(); ++i)
      started[first + i] = plan;
  }
}

} // namespace shardkit::rt
