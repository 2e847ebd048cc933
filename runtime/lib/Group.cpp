//===- Group.cpp - Ranks of one process that wait for each other ------------===//

#include "shardkit/rt/Group.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace shardkit::rt {

namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void futexWait(std::atomic<uint32_t> &word, uint32_t expected, double seconds) {
  timespec limit;
  limit.tv_sec = time_t(seconds);
  limit.tv_nsec = long((seconds - double(limit.tv_sec)) * 1e9);
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
            FUTEX_WAIT_PRIVATE, expected, &limit, nullptr, 0);
}

void futexWakeAll(std::atomic<uint32_t> &word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
            FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

} // namespace

Group::Group(World &world, std::vector<int> ranks)
    : world_(world), ranks_(std::move(ranks)),
      slots_(std::make_unique<GroupSlot[]>(ranks_.size())) {}

int Group::indexOf(int rank) const {
  return int(std::lower_bound(ranks_.begin(), ranks_.end(), rank) -
             ranks_.begin());
}

bool Group::arrive(int index, const std::function<std::string()> &describe) {
  return wait(index, post(index), describe);
}

Group::Ticket Group::post(int index) {
  uint32_t generation = generation_.load(std::memory_order_acquire);
  uint64_t mine =
      slots_[size_t(index)].arrivals.fetch_add(1, std::memory_order_release) +
      1;
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      uint32_t(ranks_.size())) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(2, std::memory_order_release);
    if (ranks_.size() > 1)
      futexWakeAll(generation_);
  }
  return {generation, mine};
}

bool Group::wait(int index, Ticket ticket, const std::function<std::string()> &describe) {
  auto [generation, mine] = ticket;
  if (generation & 1)
    return false;
  // With a core for every rank a peer is often just behind.
  static const unsigned cores = std::thread::hardware_concurrency();
  int spins = unsigned(world_.size()) <= cores ? 300 : 0;
  for (int i = 0; i < spins; ++i) {
    if (generation_.load(std::memory_order_acquire) != generation)
      break;
    pause();
  }
  auto start = std::chrono::steady_clock::now();
  while (true) {
    uint32_t now = generation_.load(std::memory_order_acquire);
    if (now & 1)
      return false;
    if (now != generation)
      return true;
    double waited = std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - start)
                        .count();
    double left = world_.timeout() - waited;
    if (left <= 0) {
      std::string missing;
      for (size_t i = 0; i < ranks_.size(); ++i)
        if (slots_[i].arrivals.load(std::memory_order_acquire) < mine)
          missing +=
              (missing.empty() ? "" : ", ") + world_.describeRank(ranks_[i]);
      if (missing.empty())
        continue; // The last one is arriving right now.
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%g", world_.timeout());
      world_.fail(Status(Code::Timeout,
                         describe() + ": rank " +
                             std::to_string(ranks_[size_t(index)]) +
                             " waited " + seconds + " s, missing " + missing));
      return false;
    }
    futexWait(generation_, generation, std::min(left, 1.0));
  }
}

void Group::wakeAll() {
  generation_.fetch_or(1, std::memory_order_release);
  futexWakeAll(generation_);
}

World::World(int ranks, double timeoutSeconds)
    : records_(size_t(ranks)), timeout_(timeoutSeconds) {}

Group &World::group(const std::vector<int> &ranks) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Group> &group = groups_[ranks];
  if (!group)
    group = std::make_unique<Group>(*this, ranks);
  return *group;
}

Group &World::makeGroup(const std::vector<int> &ranks) {
  std::lock_guard lock(mutex_);
  ownGroups_.push_back(std::make_unique<Group>(*this, ranks));
  return *ownGroups_.back();
}

void World::fail(Status status) {
  std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed))
    return;
  status_ = std::move(status);
  failed_.store(true, std::memory_order_release);
  for (auto &[ranks, group] : groups_)
    group->wakeAll();
  for (auto &group : ownGroups_)
    group->wakeAll();
}

Status World::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void World::startRun(const FunctionInfo &function) {
  function_ = &function;
  for (RankRecord &record : records_) {
    record.collective.store(-1, std::memory_order_relaxed);
    record.inside.store(false, std::memory_order_relaxed);
    record.finished.store(false, std::memory_order_relaxed);
  }
}

std::string World::describeRank(int rank) const {
  const RankRecord &record = records_[size_t(rank)];
  int64_t id = record.collective.load(std::memory_order_relaxed);
  std::string text = "rank " + std::to_string(rank) + " (";
  std::string what;
  if (id >= 0)
    what = "collective " + std::to_string(id) +
           (function_ && id < int64_t(function_->collectives.size())
                ? " " + function_->collectives[size_t(id)].kind
                : "");
  if (record.finished.load(std::memory_order_relaxed))
    text += "finished";
  else if (id < 0)
    text += "before its first collective";
  else
    text += (record.inside.load(std::memory_order_relaxed) ? "in " : "after ") +
            what;
  return text + ")";
}

} // namespace shardkit::rt
