//===- Group.cpp - What worlds have in common -----------------------------===//

#include "shardkit/rt/Collectives/Group.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace shardkit::rt {

int Group::indexOf(int rank) const {
  return int(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
}

static std::string rendezvousName(int64_t id) {
  return id >= ChannelInfo::firstId ? "transfer " + std::to_string(id - ChannelInfo::firstId)
                                    : "collective " + std::to_string(id);
}

std::string RunningFunction::rendezvous(int, int64_t, int64_t id) const {
  return rendezvousName(id) +
         (id < int64_t(function_.collectives.size()) ? " " + function_.collectives[size_t(id)].kind : "");
}

MeshRanks MeshRanks::all(int size) {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return MeshRanks(std::move(ranks));
}

void World::startRun(const Running &running, int64_t begin, int64_t end) {
  running_ = &running;
  for (int64_t rank = begin; rank < end; ++rank) {
    RankRecord &record = *records_[size_t(rank)];
    record.instruction.store(-1, std::memory_order_relaxed);
    record.collective.store(-1, std::memory_order_relaxed);
    record.entered.store(0, std::memory_order_relaxed);
    record.inside.store(false, std::memory_order_relaxed);
    record.finished.store(false, std::memory_order_relaxed);
  }
}

void World::fail(const Status &status, int rank) {
  if (!running_)
    return keepError(status);
  std::string position;
  if (rank >= 0)
    position = running_->position(rank, records_[size_t(rank)]->instruction.load());
  keepError((position.empty() ? status : status.withContext(position)).withContext(running_->title()));
}

std::string World::describeRank(int rank) const {
  std::string text = "rank " + std::to_string(rank) + " (";
  if (!isKnown(rank))
    return text + "on another node)";
  const RankRecord &record = *records_[size_t(rank)];
  const int64_t id = record.collective.load(std::memory_order_relaxed);
  const int64_t instruction = record.instruction.load(std::memory_order_relaxed);
  if (record.finished.load(std::memory_order_relaxed))
    return text + "finished)";
  if (id < 0)
    text += "before its first collective";
  else
    text += (record.inside.load(std::memory_order_relaxed) ? "in " : "after ") +
            (running_ ? running_->rendezvous(rank, instruction, id) : rendezvousName(id));
  std::string position = running_ ? running_->position(rank, instruction) : "";
  return text + (position.empty() ? "" : ", " + position) + ")";
}

std::vector<int> joinRanks(std::vector<int> some, const std::vector<int> &others) {
  some.insert(some.end(), others.begin(), others.end());
  std::sort(some.begin(), some.end());
  return some;
}

std::string rankList(const std::vector<int> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i)
      text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

Status World::timeoutStatus(const std::string &what, int rank, const std::vector<int> &arrived,
                            const std::vector<int> &missing) const {
  std::string text;
  for (int peer : missing)
    text += (text.empty() ? "" : ", ") + describeRank(peer);
  // Those that are missing may wait themselves, for ranks further back.
  uint64_t minimum = UINT64_MAX;
  for (int peer : missing)
    if (isKnown(peer))
      minimum = std::min(minimum, records_[size_t(peer)]->entered.load(std::memory_order_relaxed));
  std::vector<int> back;
  for (int other = 0; other < size() && minimum != UINT64_MAX; ++other) {
    const RankRecord &record = *records_[size_t(other)];
    uint64_t entered = record.entered.load(std::memory_order_relaxed);
    if (!isKnown(other) || entered > minimum || (back.empty() && entered == minimum) ||
        record.finished.load(std::memory_order_relaxed))
      continue;
    if (entered < minimum)
      back.clear();
    minimum = entered;
    back.push_back(other);
  }
  for (size_t i = 0; i < back.size() && i < 8; ++i)
    text += (i ? ", " : ", furthest back ") + describeRank(back[i]);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", timeout_);
  return Status(Code::Timeout, what + ": rank " + std::to_string(rank) + " waited " + seconds + " s, arrived " +
                                   rankList(arrived) + ", missing " + text);
}

Status World::mismatchStatus(const std::string &what, int rank, const PublishedBuffer &mine, int peer,
                             const PublishedBuffer &theirs) {
  std::string met = what + ": rank " + std::to_string(rank) + " met rank " + std::to_string(peer);
  if (mine.id == theirs.id && mine.count != theirs.count)
    return internalError(met + " with " + std::to_string(theirs.count) + " items, expected " +
                         std::to_string(mine.count));
  return internalError(met + " in " + rendezvousName(theirs.id));
}

} // namespace shardkit::rt
