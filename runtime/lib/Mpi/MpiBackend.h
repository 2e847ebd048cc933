//===- MpiBackend.h - Several processes under Open MPI ---------*- C++ -*--===//
//
// Every MPI call is made under one mutex (MPI_THREAD_SERIALIZED), none of those that
// wait for others blocks: waits poll, so that they end when a peer is gone. Only the start,
// the making of communicators and the end block; the watchdog ends that.
//
// Processes of a node see each other in its segment: heartbeats, process ids. The first
// process of a node sends a heartbeat to that of the next node in messages; it is the
// node that is gone when none comes. The heartbeat names a process that waits for the end
// of all, so that each node finds that it does not come to what they wait in.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MPI_MPIBACKEND_H
#define SHARDKIT_RT_MPI_MPIBACKEND_H

#include "Segment.h"

#include "shardkit/rt/Support/Buffer.h"

#include <mpi.h>

#include <map>
#include <mutex>
#include <thread>

namespace shardkit::rt::mpi {

class MpiWorld;

class MpiBackend : public Backend {
public:
  explicit MpiBackend(double timeoutSeconds) : timeout_(timeoutSeconds) {}
  Status open();

  const char *name() const override { return "mpi"; }
  bool isOnNode(int process) const override { return nodeIndex_[size_t(process)] >= 0; }
  std::unique_ptr<World> makeWorld(int ranks, double timeoutSeconds) override;
  Status agree(Status mine, World *world, const std::string &what) override;
  Expected<std::vector<std::string>> exchange(const std::string &mine) override;
  Status transfer(int from, int to, void *data, int64_t bytes) override;
  Expected<NodeMemory> nodeMemory(int64_t devices, int64_t bytes) override;
  LoadTeam *loadTeam() override { return nodeProcesses_ > 1 ? &segment_->team : nullptr; }
  std::pair<int64_t, int64_t> sent() const override { return {messages_, bytes_}; }
  void abort(const Status &status) override;
  void finish() override;
  [[noreturn]] void exit(int status, bool failed) override;

  // What worlds are made of.

  Segment &segment() { return *segment_; }
  std::mutex &mutex() { return mutex_; }
  /// 64 bytes: counts of messages stay far from INT_MAX.
  MPI_Datatype block() const { return block_; }
  /// The processes that have ranks in one of `members` together with this one; of all
  /// ranks of a world. Made once for each way to part ranks.
  MPI_Comm communicator(const std::vector<std::vector<int>> &members, int64_t devices, std::vector<int> &processOf);
  void fail(const Status &status);
  bool failed() const override { return segment_->failed() || failedElsewhere_.load(std::memory_order_acquire); }
  Status status() const;
  void ring(int process) {
    if (isOnNode(process))
      segment_->ring(nodeIndex_[size_t(process)]);
  }
  void countSent(int64_t bytes) {
    ++messages_;
    bytes_ += bytes;
  }
  /// How many worlds have messages on their way while nobody waits for them: then the
  /// watchdog helps.
  void countMoving(int more) { moving_ += more; }
  void use(MpiWorld *world) { current_.store(world); }
  void forget(MpiWorld *world) { current_.compare_exchange_strong(world, nullptr); }

  enum class Waited { Done, Failed, TimedOut, Error };
  /// Polls until all requests are complete; `statuses` are set then, or where Error is
  /// returned. Failed: the run has failed. A timeout of 0 is none.
  Waited wait(std::vector<MPI_Request> &requests, std::vector<MPI_Status> &statuses, double timeoutSeconds);
  /// An error of a function of MPI.
  static Status check(int code, const char *function);

private:
  struct Beat {
    int64_t endedProcess = -1; ///< Segment::endedElsewhere.
    uint64_t endedTogether = 0;
  };
  Status openNode();
  /// The processes of the node make memory together.
  Status makeNodeMemory(int64_t bytes);
  /// Makes an MPI call; what it refuses is an error for all.
  template <typename Fn> Status start(Fn &&call, const char *function) {
    int code = MPI_SUCCESS;
    {
      std::lock_guard lock(mutex_);
      code = call();
    }
    if (code == MPI_SUCCESS)
      return {};
    fail(check(code, function));
    return status();
  }
  Status waitControl(MPI_Request request, double timeoutSeconds, bool &timedOut);
  void watch();
  /// Before all processes have met: waits for that, at most as long as `limit` seconds.
  void watchStart(double limit);
  void watchPeers(int64_t now);
  /// Sends and receives heartbeats of other nodes, and takes what they report.
  void watchNodes(int64_t now);
  /// Of all processes at their end that this node knows, the one that has begun least.
  Beat findEnded() const;
  void takeBeat(const Beat &beat);
  void failByEnd(int process);
  Status findNodes();
  Status waitForAll();
  void moveMessages();
  std::string ranksOnProcess(int process) const;
  /// As fail, with the function that runs.
  void failRun(const Status &status);
  /// Prints the error of this process and ends it.
  [[noreturn]] void endNow(const Status &status, int code);

  /// What open requests of agree and exchange point to; lives as long as the process,
  /// since a run that fails leaves them open.
  struct Control {
    int local[3], all[3], length;
    int64_t size[2];
    std::vector<int> sizes, offsets;
    std::string text, mine, joined;
    char where[256];
  };

  const double timeout_;
  Control control_;
  MPI_Comm world_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL, abort_ = MPI_COMM_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  std::mutex mutex_;
  std::vector<int> nodeIndex_; ///< Of each process; -1 on another node.
  SharedMemory segmentMemory_;
  std::shared_ptr<SharedMemory> nodeMemory_; ///< The last that was made.
  bool isNodeMemoryFree_ = true;             ///< No process used that of its node at the last agree.
  Segment *segment_ = nullptr;
  std::map<std::vector<int>, MPI_Comm> communicators_; ///< By colours of processes.
  std::atomic<int64_t> messages_{0}, bytes_{0};
  std::atomic<MpiWorld *> current_{nullptr};
  std::atomic<bool> failedElsewhere_{false}, ending_{false}, isOpen_{false};
  std::atomic<int> moving_{0}, endStatus_{0};
  int previousNode_ = -1, nextNode_ = -1; ///< First processes of neighboring nodes, of the first one of a node.
  int64_t heardAt_ = 0, lockedSince_ = 0; ///< Of the watchdog.
  Beat beat_;
  MPI_Request beatRequest_ = MPI_REQUEST_NULL;
  Status elsewhere_;
  std::string abortMessage_; ///< Lives until the process ends.
  std::vector<MPI_Request> abortRequests_;
};

/// The ranks that this process and others run as threads.
class MpiWorld : public World {
public:
  MpiWorld(MpiBackend &backend, int ranks, double timeoutSeconds);
  ~MpiWorld() override;

  MpiBackend &backend() { return backend_; }
  /// Room for a message; what was given back is used again.
  Buffer takeRoom(int64_t bytes) {
    std::lock_guard lock(roomMutex_);
    return std::move(*room_.take(bytes)); // On the host there is no error.
  }
  void giveRoomBack(Buffer buffer) {
    std::lock_guard lock(roomMutex_);
    room_.giveBack(std::move(buffer));
  }
  bool isPacked() const override { return true; }
  std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool isPrivate) override;
  Group &oneWay(const std::vector<int> &senders, const std::vector<int> &receivers) override;
  bool failed() const override { return backend_.failed(); }
  Status status() const override { return backend_.status(); }
  void startRun(const Running &running, int64_t begin, int64_t end) override {
    World::startRun(running, begin, end);
    backend_.use(this);
  }
  void vanish() override;
  bool isKnown(int rank) const override { return backend_.isOnNode(backend_.ownerOf(rank, int64_t(records_.size()))); }

private:
  std::vector<Group *> groups(const std::vector<std::vector<int>> &members, bool isPrivate, bool isOneWay);
  void keepError(Status status) override { backend_.fail(status); }
  MpiBackend &backend_;
  std::vector<RankRecord> elsewhere_;
  bool hasOneWays_ = false;
  std::mutex roomMutex_;
  BufferPool room_;
  std::map<std::vector<std::vector<int>>, std::vector<std::shared_ptr<Group>>> known_;
  std::vector<std::shared_ptr<Group>> privateGroups_;
};

} // namespace shardkit::rt::mpi

#endif // SHARDKIT_RT_MPI_MPIBACKEND_H
