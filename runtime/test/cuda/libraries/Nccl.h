//===- Nccl.h - Communicators of the emulated NCCL -------------*- C++ -*--===//
//
// Names and values as NVIDIA's documentation of NCCL 2.28 has them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_TEST_CUDA_LIBRARIES_NCCL_H
#define SHARDKIT_TEST_CUDA_LIBRARIES_NCCL_H

#include "../driver/Emulator.h"
#include "Clique.h"

#include <chrono>

namespace shardkit::emu {

using ncclResult = int;
enum : ncclResult {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};
enum class Kind : int32_t { AllReduce, Reduce, Broadcast, AllGather, ReduceScatter, AllToAll, Exchange };

/// What all ranks have to agree on.
struct Header {
  Kind kind;
  int32_t type, op, root;
  uint64_t count;
  bool operator==(const Header &) const = default;
};
std::string describe(const Header &header);
size_t bytesOfType(int type); ///< 0: unknown.
const char *nameOfType(int type);

/// a = a op b, elementwise; each step is rounded to the type.
void reduceInto(char *a, const char *b, uint64_t count, int type, int op);
/// avg: the sum, divided.
void divide(char *a, uint64_t count, int type, int ranks);

struct Communicator : std::enable_shared_from_this<Communicator> {
  std::unique_ptr<Clique> clique;
  int device = -1;
  bool blocking = true;
  std::vector<int> world; ///< The ranks as numbered in the first communicator.
  std::atomic<ncclResult> state{ncclInProgress};
  std::atomic<bool> aborted{false}, flush{false};
  std::atomic<int> outstanding{0};
  uint64_t nextCollective = 0, nextSplit = 0;
  /// Operations run in the order in which they were called: how many were called, how
  /// many are done, and up to which someone waits.
  uint64_t called = 0;
  std::atomic<uint64_t> done{0}, needed{0};
  std::vector<uint64_t> nextSend, nextRecv;

  int ranks() const { return clique->ranks(); }
  int rank() const { return clique->rank(); }
  /// An error that stays; the device stops.
  void fail(ncclResult error, const std::string &what);
};
using Comm = std::shared_ptr<Communicator>;

struct Transfer {
  bool send;
  int peer;
  uint64_t address, count, number;
  int type;
  bool done = false;
};

Work collective(Comm comm, Header header, uint64_t in, uint64_t out);
Work exchange(Comm comm, std::vector<Transfer> transfers);

using Clock = std::chrono::steady_clock;
/// SK_NCCL_TIMEOUT seconds (default 30).
double timeoutSeconds();
/// Appends a line to the file of SK_NCCL_RECORD.
void record(const Communicator &comm, const std::string &what);

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_LIBRARIES_NCCL_H
