//===- Segment.h - What the processes of a node share ----------*- C++ -*--===//
//
// Memory of a node: one process makes it (memfd_create, so that the size of /dev/shm
// does not matter), the others map it through /proc. The segment in it holds the
// flight records of the node's ranks, heart beats, bells, and the first error.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MPI_SEGMENT_H
#define SHARDKIT_RT_MPI_SEGMENT_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Execution/Executor.h"

#include <cstddef>

namespace shardkit::rt::mpi {

/// Pages that processes have in common; unmapped with the object.
class SharedMemory {
public:
  SharedMemory() = default;
  SharedMemory(SharedMemory &&other) noexcept { swap(other); }
  SharedMemory &operator=(SharedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedMemory();

  /// Zeroed. Others open it by `place()`.
  static Expected<SharedMemory> create(int64_t bytes);
  static Expected<SharedMemory> open(const std::string &path, int64_t bytes);
  std::string path() const;

  char *data() { return data_; }
  int64_t bytes() const { return bytes_; }

private:
  Status map();
  void swap(SharedMemory &other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
  }
  char *data_ = nullptr;
  int64_t bytes_ = 0;
  int file_ = -1;
};

struct alignas(64) ProcessRecord {
  std::atomic<int32_t> pid{0};       ///< 0 before the process has come.
  std::atomic<bool> isAtEnd{false};  ///< It waits for all others to come to the end.
  std::atomic<bool> left{false};     ///< It has ended, or ends and takes part in nothing more.
  std::atomic<int64_t> beat{0};      ///< Nanoseconds of the machine's monotonic clock.
  std::atomic<uint64_t> together{0}; ///< How much it has begun that all do together.
  std::atomic<uint32_t> bell{0}, waiting{0};
};

struct Segment {
  static constexpr int maxProcesses = 1024;
  std::atomic<uint32_t> failState{0}; ///< 0, 1 while it is written, 2.
  int32_t failCode = 0;
  char failMessage[4096] = {};
  LoadTeam team;
  /// Of the processes of other nodes that are at their end, the one that has begun least; -1: none is known.
  std::atomic<int32_t> endedElsewhere{-1};
  std::atomic<uint64_t> endedTogether{0}; ///< How much it has begun (ProcessRecord::together).
  ProcessRecord processes[maxProcesses];
  RankRecord ranks[Executor::maxRanks];

  bool failed() const { return failState.load(std::memory_order_acquire) == 2; }
  /// The first one counts.
  void fail(const Status &status);
  Status status() const { return {Code(failCode), failMessage}; }
  /// True while the first error is written. Its process may be killed there: then another one finishes.
  bool isFailing() const { return failState.load() == 1; }
  void finishFailure();

  /// Wakes a process that waits.
  void ring(int process);
  /// Waits for a ring since `seen`, at most so long.
  void waitForBell(int process, uint32_t seen, double seconds);
};

int64_t nanoseconds();

} // namespace shardkit::rt::mpi

#endif // SHARDKIT_RT_MPI_SEGMENT_H
