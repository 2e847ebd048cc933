//===- Group.h - The ranks of a collective ---------------------*- C++ -*--===//
//
// A World holds the ranks of one run, a Group those of one collective. In a rendezvous
// every member publishes buffers and then reads those of the others: directly if ranks
// are threads of one process (LocalWorld), from messages otherwise. Only Collective.h
// knows the semantics of collectives. When a rank fails, every waiter of the world
// returns with the first error.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_GROUP_H
#define SHARDKIT_RT_COLLECTIVES_GROUP_H

#include "shardkit/rt/Collectives/CopyEngine.h"
#include "shardkit/rt/Collectives/Fault.h"
#include "shardkit/rt/Manifest/Manifest.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace shardkit::rt {

class World;

/// The elements that members of a group read of each other's buffers in one rendezvous.
/// Groups that send messages call it.
class Reading {
public:
  virtual ~Reading() = default;
  /// Bytes that rank `to` reads of rank `from`, of `count` items.
  virtual int64_t bytes(int from, int to, int64_t count) const = 0;
  /// Puts them side by side at `packed`, in the order in which `to` takes them.
  virtual void pack(int from, int to, int64_t count, const void *buffer, void *packed) const = 0;
};

/// A buffer that a member lets its peers read during one rendezvous.
struct PublishedBuffer {
  int64_t id = -1; ///< Id of the collective; all members must publish the same.
  const void *data = nullptr;
  const Reading *reading = nullptr;
  int64_t count = 1;            ///< Items (`CollectivePlan::run`); the same on all members.
  CopyEngine *engine = nullptr; ///< The engine of this member.
};

class Group {
public:
  Group(World &world, std::vector<int> ranks) : world_(world), ranks_(std::move(ranks)) {}
  virtual ~Group() = default;

  World &world() { return world_; }
  const std::vector<int> &ranks() const { return ranks_; }
  int size() const { return int(ranks_.size()); }
  int indexOf(int rank) const;

  /// A rendezvous has up to two rounds (0, 1) of publish and wait, then release. `publish`
  /// announces that this member has arrived and never waits.
  virtual void publish(int index, int round, std::span<const PublishedBuffer> buffers) = 0;
  /// Returns once the buffers of all others can be read. False when the world failed,
  /// also by the timeout of this wait or because members are in different collectives;
  /// `describe` names the rendezvous in the message.
  virtual bool wait(int index, int round, const std::function<std::string()> &describe) = 0;
  /// Buffer `k` of `peer` in `round`, as member `index` reads it: the buffer itself, or
  /// the result of Reading::pack if World::isPacked().
  virtual const char *published(int index, int peer, int round, size_t k) = 0;
  /// The engine that `peer` published its buffers with; that of the host if they came as
  /// messages.
  virtual CopyEngine &engineOf(int peer, int round) { return hostCopyEngine(); }
  /// Returns once no other member reads the buffers of this one.
  virtual bool release(int index, const std::function<std::string()> &describe) = 0;

protected:
  World &world_;
  std::vector<int> ranks_;
};

/// The last action of a rank: the flight recorder. May lie in memory that processes
/// share.
struct alignas(64) RankRecord {
  std::atomic<int64_t> instruction{-1}; ///< The current instruction of a pipeline.
  std::atomic<int64_t> collective{-1};  ///< Entered last there, -1 before the first.
  /// Progress, comparable between ranks: the number of collectives that it has entered; in
  /// a pipeline the upper bits have the order of the instruction (`instructionShift`).
  std::atomic<uint64_t> entered{0};
  std::atomic<bool> inside{false};
  std::atomic<bool> finished{false};
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr int instructionShift = 32;

/// Describes the program that runs on a world, for messages.
class Running {
public:
  virtual ~Running() = default;
  virtual std::string title() const = 0; ///< "function 'main'"
  /// "collective 3 all_to_all", of one that `rank` enters in `instruction`.
  virtual std::string rendezvous(int rank, int64_t instruction, int64_t id) const = 0;
  /// The position of `rank` in a pipeline: "stage 1, instruction 5 (...)".
  virtual std::string position(int, int64_t) const { return ""; }
};

/// A function on the ranks of its mesh.
class RunningFunction : public Running {
public:
  explicit RunningFunction(const FunctionInfo &function) : function_(function) {}
  std::string title() const override { return "function '" + function_.name + "'"; }
  std::string rendezvous(int rank, int64_t instruction, int64_t id) const override;

private:
  const FunctionInfo &function_;
};

/// The ranks of a mesh among those of a world.
class MeshRanks {
public:
  /// `world[r]`: the rank in the world of rank r of the mesh.
  explicit MeshRanks(std::vector<int> world) : world_(std::move(world)) {}
  /// All ranks of a world.
  static MeshRanks all(int size);
  int size() const { return int(world_.size()); }
  int operator[](int rank) const { return world_[size_t(rank)]; }
  const std::vector<int> &ranks() const { return world_; }

private:
  std::vector<int> world_;
};

class World {
public:
  explicit World(double timeoutSeconds) : timeout_(timeoutSeconds) {}
  virtual ~World() = default;

  int size() const { return int(records_.size()); }
  double timeout() const { return timeout_; }
  RankRecord &record(int rank) { return *records_[size_t(rank)]; }
  /// Whether peers read the result of Reading::pack instead of the buffer.
  virtual bool isPacked() const { return false; }
  /// For each rank its group among the given ones, which have every rank once at most,
  /// ranks ascending; null for a rank that is in none. Groups with the same ranks are one
  /// object unless `isPrivate`; a private group is for a rendezvous that others may
  /// interleave with. Every process calls it in the same order.
  virtual std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool isPrivate) = 0;
  /// A new group of both, ranks ascending, in which receivers alone read and senders alone
  /// are read: a sender waits in `release` for the receivers, a receiver in `wait` for the
  /// senders, and no other member waits. Has round 0 only. Every process calls it in the same
  /// order.
  virtual Group &oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) = 0;

  /// Keeps the first error, with the running program and the position of `rank` in it (-1:
  /// an error of no rank), and wakes every waiter.
  void fail(const Status &status, int rank = -1);
  virtual bool failed() const = 0;
  virtual Status status() const = 0;
  /// Called before a run: the ranks [begin, end) have done nothing. `running` outlives
  /// the world.
  virtual void startRun(const Running &running, int64_t begin, int64_t end);
  /// "rank 2 (in collective 1, all_gather)" for messages.
  std::string describeRank(int rank) const;
  /// The error of a wait that took too long.
  Status timeoutStatus(const std::string &what, int rank, const std::vector<int> &arrived,
                       const std::vector<int> &missing) const;
  /// The error of ranks in two different collectives, or with different numbers of items.
  static Status mismatchStatus(const std::string &what, int rank, const PublishedBuffer &mine, int peer,
                               const PublishedBuffer &theirs);

  Fault &fault() { return fault_; }
  /// A rank of this process ends silently; so does the process if ranks are processes.
  virtual void vanish() {}

  /// False for a rank whose record is not available.
  virtual bool isKnown(int) const { return true; }

protected:
  virtual void keepError(Status status) = 0;
  std::vector<RankRecord *> records_;

private:
  double timeout_;
  const Running *running_ = nullptr;
  Fault fault_;
};

/// The union of both, ascending.
std::vector<int> joinRanks(std::vector<int> some, const std::vector<int> &others);
/// "0-2, 5"
std::string rankList(const std::vector<int> &ranks);

/// The ranks are threads of this process; waits block on a futex.
class LocalWorld : public World {
public:
  LocalWorld(int ranks, double timeoutSeconds);
  ~LocalWorld() override;

  std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool isPrivate) override;
  Group &oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) override;
  bool failed() const override { return failed_.load(std::memory_order_acquire); }
  Status status() const override;

private:
  void keepError(Status status) override;
  std::vector<RankRecord> storage_;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  Status status_;
  std::map<std::vector<int>, std::unique_ptr<class LocalGroup>> groups_;
  std::vector<std::unique_ptr<LocalGroup>> privateGroups_;
  std::vector<std::unique_ptr<class LocalOneWay>> oneWays_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_GROUP_H
