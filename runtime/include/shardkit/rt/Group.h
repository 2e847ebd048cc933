//===- Group.h - Ranks of one process that wait for each other --*- C++ -*-===//
//
// The local backend's synchronisation. A World holds the ranks of one run, a
// Group those that take part in a collective together. Waits block on a futex;
// when a rank fails every waiter of the world returns with the first error.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_GROUP_H
#define SHARDKIT_RT_GROUP_H

#include "shardkit/rt/Manifest.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shardkit::rt {

class World;

/// What a member hands to its peers for the time of one collective.
struct alignas(64) GroupSlot {
  const void *in = nullptr;
  void *out = nullptr;
  int64_t id = -1;
  int64_t count = 1; ///< Items, see `CollectivePlan::run`.
  std::atomic<uint64_t> arrivals{0};
};

class Group {
public:
  Group(World &world, std::vector<int> ranks);

  World &world() { return world_; }
  const std::vector<int> &ranks() const { return ranks_; }
  int size() const { return int(ranks_.size()); }
  int indexOf(int rank) const;
  GroupSlot &slot(int index) { return slots_[size_t(index)]; }

  /// Returns once every member has called it as often as this one. False when
  /// the world failed, also by this wait's own timeout; then `describe` gives
  /// the text in front of ", rank 3 (...) missing".
  bool arrive(int index, const std::function<std::string()> &describe);

  /// `arrive` in two halves: `post` says that this member has come and never
  /// waits, `wait` waits for the others. A member posts again only after that.
  struct Ticket {
    uint32_t generation = 0;
    uint64_t arrivals = 0;
  };
  Ticket post(int index);
  bool wait(int index, Ticket ticket, const std::function<std::string()> &describe);

private:
  friend class World;
  void wakeAll();

  World &world_;
  std::vector<int> ranks_;
  std::unique_ptr<GroupSlot[]> slots_;
  std::atomic<uint32_t> arrived_{0};
  /// Counts completed waits in steps of 2; bit 0 says that the world failed.
  std::atomic<uint32_t> generation_{0};
};

/// What a rank did last: the flight recorder.
struct alignas(64) RankRecord {
  std::atomic<int64_t> collective{-1}; ///< Entered last, -1 before the first.
  std::atomic<bool> inside{false};
  std::atomic<bool> finished{false};
};

class World {
public:
  World(int ranks, double timeoutSeconds);

  int size() const { return int(records_.size()); }
  double timeout() const { return timeout_; }
  void setTimeout(double seconds) { timeout_ = seconds; }
  RankRecord &record(int rank) { return records_[size_t(rank)]; }
  /// The group of exactly these ranks (ascending); made once.
  Group &group(const std::vector<int> &ranks);
  /// A group of its own, for meetings that others may come in between.
  Group &makeGroup(const std::vector<int> &ranks);

  /// Records the first error and wakes every waiter.
  void fail(Status status);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  Status status() const;
  /// Called before a run: no rank has done anything.
  void startRun(const FunctionInfo &function);
  /// "rank 2 (in collective 1, all_gather)" for messages.
  std::string describeRank(int rank) const;

private:
  std::vector<RankRecord> records_;
  double timeout_;
  const FunctionInfo *function_ = nullptr;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  Status status_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Group>> ownGroups_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_GROUP_H
