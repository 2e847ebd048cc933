//===- Backend.h - The processes of a run ----------------------*- C++ -*--===//
//
// A run has one process (local) or several (mpi, tcp), each with some of the logical
// ranks as threads. Processes are numbered from 0; a node is a machine, or what
// SK_PROCESSES_PER_NODE makes of one. Functions marked "together" are called by all
// processes in the same order; they end with one error everywhere when a process is
// gone.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_BACKEND_H
#define SHARDKIT_RT_COLLECTIVES_BACKEND_H

#include "shardkit/rt/Collectives/Group.h"
#include "shardkit/rt/Support/Status.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace shardkit::rt {

/// The counters by which the processes of a node divide a load among them.
struct LoadTeam {
  std::atomic<int64_t> nextBlock{0}, nextCall{0};
};

/// Memory that all processes of a node can write, for each rank of the node; null for other ranks. Empty if the node
/// has one process, which uses its own memory.
struct NodeMemory {
  std::vector<char *> ranks;
  std::shared_ptr<void> owner; ///< Keeps it.
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual const char *name() const = 0;
  int process() const { return process_; }
  int processes() const { return processes_; }
  /// This process among those of its node.
  int nodeProcess() const { return nodeProcess_; }
  int nodeProcesses() const { return nodeProcesses_; }

  /// Processes have blocks of ranks that follow one another, of equal size but for the
  /// last; those without any join all calls that are made together.
  int64_t blockOf(int64_t devices) const { return (devices + processes_ - 1) / processes_; }
  int ownerOf(int64_t rank, int64_t devices) const { return int(rank / blockOf(devices)); }
  /// [begin, end) of the ranks of `process`.
  std::pair<int64_t, int64_t> ranksOf(int process, int64_t devices) const;
  std::pair<int64_t, int64_t> localRanks(int64_t devices) const { return ranksOf(process_, devices); }
  virtual bool isOnNode(int process) const = 0;

  /// A process is gone or out of step: no call together can succeed any more.
  virtual bool failed() const { return false; }

  virtual std::unique_ptr<World> makeWorld(int ranks, double timeoutSeconds) = 0;

  /// Together: returns the error of the lowest process that has one, on all. With `world` it is
  /// a Timeout error that names `what` when others come later than that world waits.
  virtual Status agree(Status mine, World *world = nullptr, const std::string &what = "") = 0;
  /// Together: returns the texts of all processes, in order, on every process.
  virtual Expected<std::vector<std::string>> exchange(const std::string &mine) = 0;
  /// Both processes call it: `bytes` bytes from one to the other.
  virtual Status transfer(int from, int to, void *data, int64_t bytes) = 0;
  /// By the processes of a node together: `bytes` for each of its ranks. Memory that no process kept at the last
  /// `agree` is used again.
  virtual Expected<NodeMemory> nodeMemory(int64_t devices, int64_t bytes) = 0;
  /// The team of the node; null if the node has one process. The first process of the node
  /// resets it before an `agree` that starts the load.
  virtual LoadTeam *loadTeam() = 0;
  /// Messages and bytes that collectives and transfers of this process sent.
  virtual std::pair<int64_t, int64_t> sent() const = 0;

  /// This process cannot continue: an error for all of them.
  virtual void abort(const Status &) {}

  /// Selects the thread that reports why this process fails: true on the first thread that calls this. That thread
  /// then ends the process; the others leave that to it.
  bool mayReport() {
    std::thread::id first, self = std::this_thread::get_id();
    return reporter_.compare_exchange_strong(first, self) || first == self;
  }

  /// At the end of a process that ends by itself: waits for the others, and ends the
  /// communication.
  virtual void finish() {}
  /// Ends the process: in order if `failed` is false, otherwise without waiting for
  /// others.
  [[noreturn]] virtual void exit(int status, bool failed) = 0;

private:
  std::atomic<std::thread::id> reporter_{};

protected:
  int process_ = 0, processes_ = 1, nodeProcess_ = 0, nodeProcesses_ = 1;
};

/// One process.
std::unique_ptr<Backend> makeLocalBackend();

/// Open MPI, from the library in the folder of this one; an error in one sentence if the
/// build or the machine has none. Ranks wait `timeoutSeconds` for each other at most.
Expected<std::unique_ptr<Backend>> openMpiBackend(double timeoutSeconds);

/// Processes that find their number in the environment: SK_RANK, SK_WORLD_SIZE, SK_ADDRESS
/// (host:port of process 0); one process if these are not set.
Expected<std::unique_ptr<Backend>> openTcpBackend(double timeoutSeconds);

/// Whether mpirun has started this process, and SK_RANK does not specify another way to find the others.
bool areProcessesUnderMpi();

/// The function that libshardkit_mpi.so exports as `sk_open_mpi_backend`; null and `message` on
/// failure.
using OpenBackendFunction = Backend *(*)(double timeoutSeconds, std::string *message);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_BACKEND_H
