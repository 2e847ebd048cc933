//===- LocalWorld.cpp - Ranks that are threads of this process ------------===//

#include "shardkit/rt/Collectives/Group.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
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
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, &limit, nullptr, 0);
}

void futexWakeAll(std::atomic<uint32_t> &word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

} // namespace

class LocalGroup : public Group {
public:
  LocalGroup(World &world, std::vector<int> ranks)
      : Group(world, std::move(ranks)), slots_(std::make_unique<Slot[]>(ranks_.size())) {}

  void publish(int index, int round, std::span<const PublishedBuffer> buffers) override {
    slots_[size_t(index)].buffers[round].assign(buffers.begin(), buffers.end());
    arrive(index);
  }

  bool wait(int index, int round, const std::function<std::string()> &describe) override {
    if (!awaitAll(index, describe))
      return false;
    const std::vector<PublishedBuffer> &mine = slots_[size_t(index)].buffers[round];
    for (int peer = 0; peer < size(); ++peer) {
      const std::vector<PublishedBuffer> &theirs = slots_[size_t(peer)].buffers[round];
      if (theirs.size() == mine.size() &&
          std::equal(mine.begin(), mine.end(), theirs.begin(), [](const PublishedBuffer &a, const PublishedBuffer &b) {
            return a.id == b.id && a.count == b.count;
          }))
        continue;
      // Every member sees the mismatch; the first one reports it.
      world_.fail(World::mismatchStatus(describe(), ranks_[size_t(index)], mine[0], ranks_[size_t(peer)], theirs[0]),
                  ranks_[size_t(index)]);
      return false;
    }
    return true;
  }

  const char *published(int, int peer, int round, size_t k) override {
    return static_cast<const char *>(slots_[size_t(peer)].buffers[round][k].data);
  }

  CopyEngine &engineOf(int peer, int round) override { return *slots_[size_t(peer)].buffers[round][0].engine; }

  bool release(int index, const std::function<std::string()> &describe) override {
    arrive(index);
    return awaitAll(index, describe);
  }

  void wakeAll() {
    generation_.fetch_or(1, std::memory_order_release);
    futexWakeAll(generation_);
  }

private:
  struct alignas(64) Slot {
    std::vector<PublishedBuffer> buffers[2]; ///< By round.
    uint32_t generation = 0;                 ///< Of the meeting it came to last.
    std::atomic<uint64_t> arrivals{0};
  };

  /// A member comes again only after it has met the others.
  void arrive(int index) {
    Slot &slot = slots_[size_t(index)];
    slot.generation = generation_.load(std::memory_order_acquire);
    slot.arrivals.fetch_add(1, std::memory_order_release);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == uint32_t(ranks_.size())) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(2, std::memory_order_release);
      if (ranks_.size() > 1)
        futexWakeAll(generation_);
    }
  }

  bool awaitAll(int index, const std::function<std::string()> &describe) {
    const uint32_t generation = slots_[size_t(index)].generation;
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
      double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      double left = world_.timeout() - waited;
      if (left > 0) {
        futexWait(generation_, generation, std::min(left, 1.0));
        continue;
      }
      const uint64_t mine = slots_[size_t(index)].arrivals.load(std::memory_order_relaxed);
      std::vector<int> arrived, missing;
      for (size_t i = 0; i < ranks_.size(); ++i)
        (slots_[i].arrivals.load(std::memory_order_acquire) < mine ? missing : arrived).push_back(ranks_[i]);
      if (missing.empty())
        continue; // The last one is arriving right now.
      world_.fail(world_.timeoutStatus(describe(), ranks_[size_t(index)], arrived, missing), ranks_[size_t(index)]);
      return false;
    }
  }

  std::unique_ptr<Slot[]> slots_;
  std::atomic<uint32_t> arrived_{0};
  /// Counts completed meetings in steps of 2; bit 0 says that the world failed.
  std::atomic<uint32_t> generation_{0};
};

class LocalOneWay : public Group {
public:
  LocalOneWay(World &world, std::vector<int> ranks, const std::vector<int> &receivers)
      : Group(world, std::move(ranks)), members_(ranks_.size()) {
    for (int rank : receivers)
      members_[size_t(indexOf(rank))].receives = true;
  }

  void publish(int index, int, std::span<const PublishedBuffer> buffers) override {
    std::lock_guard lock(mutex_);
    Member &member = members_[size_t(index)];
    member.buffers.assign(buffers.begin(), buffers.end());
    member.engine = buffers[0].engine;
    ++member.posted;
    changed_.notify_all();
  }

  bool wait(int index, int, const std::function<std::string()> &describe) override {
    const Member &mine = members_[size_t(index)];
    if (!mine.receives)
      return true;
    if (!waitFor(index, describe, [&](const Member &peer) { return peer.receives || peer.posted >= mine.posted; }))
      return false;
    for (size_t peer = 0; peer < members_.size(); ++peer) {
      const Member &theirs = members_[peer];
      if (theirs.receives ||
          (theirs.buffers.size() == mine.buffers.size() &&
           std::equal(mine.buffers.begin(), mine.buffers.end(), theirs.buffers.begin(),
                      [](const PublishedBuffer &a, const PublishedBuffer &b) { return a.id == b.id; })))
        continue;
      world_.fail(
          World::mismatchStatus(describe(), ranks_[size_t(index)], mine.buffers[0], ranks_[peer], theirs.buffers[0]),
          ranks_[size_t(index)]);
      return false;
    }
    return true;
  }

  const char *published(int, int peer, int, size_t k) override {
    return static_cast<const char *>(members_[size_t(peer)].buffers[k].data);
  }
  CopyEngine &engineOf(int peer, int) override { return *members_[size_t(peer)].engine.load(); }

  bool release(int index, const std::function<std::string()> &describe) override {
    const Member &mine = members_[size_t(index)];
    if (!mine.receives)
      return waitFor(index, describe, [&](const Member &peer) { return !peer.receives || peer.left >= mine.posted; });
    std::lock_guard lock(mutex_);
    ++members_[size_t(index)].left;
    changed_.notify_all();
    return true;
  }

  void wakeAll() {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

private:
  struct Member {
    bool receives = false;
    std::vector<PublishedBuffer> buffers;
    std::atomic<CopyEngine *> engine{&hostCopyEngine()}; ///< Of the last offer.
    int64_t posted = 0, left = 0;                        ///< How often.
  };

  /// Until `isThere` says so of every member.
  template <typename Fn> bool waitFor(int index, const std::function<std::string()> &describe, Fn &&isThere) {
    std::vector<int> arrived, missing;
    {
      std::unique_lock lock(mutex_);
      const bool came = changed_.wait_for(lock, std::chrono::duration<double>(world_.timeout()), [&] {
        return world_.failed() || std::all_of(members_.begin(), members_.end(), isThere);
      });
      if (world_.failed())
        return false;
      if (came)
        return true;
      for (size_t peer = 0; peer < members_.size(); ++peer)
        (isThere(members_[peer]) ? arrived : missing).push_back(ranks_[peer]);
    }
    world_.fail(world_.timeoutStatus(describe(), ranks_[size_t(index)], arrived, missing), ranks_[size_t(index)]);
    return false;
  }

  std::vector<Member> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

LocalWorld::LocalWorld(int ranks, double timeoutSeconds) : World(timeoutSeconds), storage_(size_t(ranks)) {
  for (RankRecord &record : storage_)
    records_.push_back(&record);
}

LocalWorld::~LocalWorld() = default;

std::vector<Group *> LocalWorld::groups(const std::vector<std::vector<int>> &members, bool isPrivate) {
  std::lock_guard lock(mutex_);
  std::vector<Group *> result(records_.size());
  for (const std::vector<int> &ranks : members) {
    if (ranks.empty())
      continue;
    std::unique_ptr<LocalGroup> made;
    std::unique_ptr<LocalGroup> &group = isPrivate ? made : groups_[ranks];
    if (!group)
      group = std::make_unique<LocalGroup>(*this, ranks);
    for (int rank : ranks)
      result[size_t(rank)] = group.get();
    if (isPrivate)
      privateGroups_.push_back(std::move(made));
  }
  return result;
}

Group &LocalWorld::oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) {
  std::lock_guard lock(mutex_);
  oneWays_.push_back(std::make_unique<LocalOneWay>(*this, joinRanks(senders, receivers), receivers));
  return *oneWays_.back();
}

void LocalWorld::keepError(Status status) {
  std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed))
    return;
  status_ = std::move(status);
  failed_.store(true, std::memory_order_release);
  for (auto &[ranks, group] : groups_)
    group->wakeAll();
  for (auto &group : privateGroups_)
    group->wakeAll();
  for (auto &group : oneWays_)
    group->wakeAll();
}

Status LocalWorld::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

} // namespace shardkit::rt
