//===- Group.h - Ranks that meet -------------------------------*- C++ -*--===//
//
// How ranks reach each other. A World holds the ranks of one run, a Group those
// that take part in a collective together. In a meeting every member offers
// buffers and then reads those of the others: in place where ranks are threads of
// one process (LocalWorld), from messages elsewhere. What collectives mean is in
// Collective.h alone. When a rank fails every waiter of the world returns with the
// first error.
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

/// What the members of a group read of each other's buffers in one meeting; asked
/// for by groups that send it.
class Reading {
public:
  virtual ~Reading() = default;
  /// Bytes that rank `to` reads of rank `from`, of `count` items.
  virtual int64_t bytes(int from, int to, int64_t count) const = 0;
  /// Puts them side by side at `packed`, in the order in which `to` takes them.
  virtual void pack(int from, int to, int64_t count, const void *buffer, void *packed) const = 0;
};

/// What a member hands to its peers for the time of one meeting.
struct Offer {
  int64_t id = -1; ///< Of the collective; all members must offer the same.
  const void *data = nullptr;
  const Reading *reading = nullptr;
  int64_t count = 1;      ///< Items (`CollectivePlan::run`); all must offer as many.
  Mover *mover = nullptr; ///< Of this member.
};

class Group {
public:
  Group(World &world, std::vector<int> ranks) : world_(world), ranks_(std::move(ranks)) {}
  virtual ~Group() = default;

  World &world() { return world_; }
  const std::vector<int> &ranks() const { return ranks_; }
  int size() const { return int(ranks_.size()); }
  int indexOf(int rank) const;

  /// A meeting has up to two rounds (0, 1) of post and wait, then release. `post`
  /// says that this member has come and never waits.
  virtual void post(int index, int round, std::span<const Offer> offers) = 0;
  /// Returns once what all others offered can be read. False when the world failed,
  /// also by this wait's own timeout or where members met in different collectives;
  /// `describe` names the meeting in the message.
  virtual bool wait(int index, int round, const std::function<std::string()> &describe) = 0;
  /// Offer `k` of `peer` in `round`, as member `index` reads it: the buffer, or what
  /// Reading::pack makes of it where World::isPacked().
  virtual const char *offered(int index, int peer, int round, size_t k) = 0;
  /// Whose buffers those are: the mover that `peer` offered them with, or the host's
  /// where they are messages.
  virtual Mover &moverOf(int peer, int round) { return hostMover(); }
  /// Returns once no other member reads what this one offered.
  virtual bool release(int index, const std::function<std::string()> &describe) = 0;

protected:
  World &world_;
  std::vector<int> ranks_;
};

/// What a rank did last: the flight recorder. May lie in memory that processes
/// share.
struct alignas(64) RankRecord {
  std::atomic<int64_t> instruction{-1}; ///< Of a pipeline: the one it is in.
  std::atomic<int64_t> collective{-1};  ///< Entered last there, -1 before the first.
  /// How far it is, comparable between ranks: how many it has entered; in a pipeline
  /// behind the order of the instruction (`instructionShift`).
  std::atomic<uint64_t> entered{0};
  std::atomic<bool> inside{false};
  std::atomic<bool> finished{false};
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr int instructionShift = 32;

/// What runs on a world, in words.
class Running {
public:
  virtual ~Running() = default;
  virtual std::string title() const = 0; ///< "function 'main'"
  /// "collective 3 all_to_all", of one that `rank` enters in `instruction`.
  virtual std::string meeting(int rank, int64_t instruction, int64_t id) const = 0;
  /// Where in a pipeline `rank` is then: "stage 1, instruction 5 (...)".
  virtual std::string place(int, int64_t) const { return ""; }
};

/// A function on the ranks of its mesh.
class RunningFunction : public Running {
public:
  explicit RunningFunction(const FunctionInfo &function) : function_(function) {}
  std::string title() const override { return "function '" + function_.name + "'"; }
  std::string meeting(int rank, int64_t instruction, int64_t id) const override;

private:
  const FunctionInfo &function_;
};

/// The ranks of a mesh among those of a world.
class MeshRanks {
public:
  /// `world[r]`: of rank r of the mesh.
  explicit MeshRanks(std::vector<int> world) : world_(std::move(world)) {}
  /// All of a world.
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
  /// Whether peers read what Reading::pack makes of a buffer.
  virtual bool isPacked() const { return false; }
  /// For each rank its group among the given ones, which have every rank once at most,
  /// ranks ascending; null for one that none has. Groups are made once; with `own` they are
  /// of their own, for meetings that others may come in between. Every process calls it in
  /// the same order.
  virtual std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool own) = 0;
  /// A new group of both, ranks ascending, in which receivers alone read and senders alone
  /// are read: a sender waits in `release` for the receivers, a receiver in `wait` for the
  /// senders, and nobody else waits. Has round 0 only. Every process calls it in the same
  /// order.
  virtual Group &oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) = 0;

  /// Records the first error, with what runs and where `rank` is in it (-1: an error of
  /// no rank), and wakes every waiter.
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
  /// The error of ranks that met in two collectives,
  /// or with other numbers of items.
  static Status mismatchStatus(const std::string &what, int rank, const Offer &mine, int peer, const Offer &theirs);

  Fault &fault() { return fault_; }
  /// A rank of this process goes without a word: ends the process if ranks are
  /// processes.
  virtual void vanish() {}

  /// False for a rank whose record is not at hand.
  virtual bool isKnown(int) const { return true; }

protected:
  virtual void keepError(Status status) = 0;
  std::vector<RankRecord *> records_;

private:
  double timeout_;
  const Running *running_ = nullptr;
  Fault fault_;
};

/// Both, ascending.
std::vector<int> joinRanks(std::vector<int> some, const std::vector<int> &others);
/// "0-2, 5"
std::string rankList(const std::vector<int> &ranks);

/// The ranks are threads of this process; waits block on a futex.
class LocalWorld : public World {
public:
  LocalWorld(int ranks, double timeoutSeconds);
  ~LocalWorld() override;

  std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool own) override;
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
  std::vector<std::unique_ptr<LocalGroup>> ownGroups_;
  std::vector<std::unique_ptr<class LocalOneWay>> oneWays_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_GROUP_H
