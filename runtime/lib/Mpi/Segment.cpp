//===- Segment.cpp - What the processes of a node share -------------------===//

#include "Segment.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shardkit::rt::mpi {

SharedMemory::~SharedMemory() {
  if (data_)
    ::munmap(data_, size_t(bytes_));
  if (file_ >= 0)
    ::close(file_);
}

Status SharedMemory::map() {
  void *data = ::mmap(nullptr, size_t(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (data == MAP_FAILED)
    return ioError("shared memory of " + std::to_string(bytes_) + " bytes cannot be mapped: " + std::strerror(errno));
  ::madvise(data, size_t(bytes_), MADV_HUGEPAGE); // A hint, may fail.
  data_ = static_cast<char *>(data);
  return {};
}

Expected<SharedMemory> SharedMemory::create(int64_t bytes) {
  SharedMemory memory;
  memory.bytes_ = bytes;
  memory.file_ = ::memfd_create("shardkit", MFD_CLOEXEC);
  if (memory.file_ < 0 || ::ftruncate(memory.file_, bytes) != 0)
    return ioError("shared memory of " + std::to_string(bytes) + " bytes cannot be had: " + std::strerror(errno));
  SK_RETURN_IF_ERROR(memory.map());
  return memory;
}

std::string SharedMemory::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_);
}

Expected<SharedMemory> SharedMemory::open(const std::string &path, int64_t bytes) {
  SharedMemory memory;
  memory.bytes_ = bytes;
  memory.file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (memory.file_ < 0)
    return ioError("shared memory of another process (" + path + ") cannot be opened: " + std::strerror(errno));
  SK_RETURN_IF_ERROR(memory.map());
  return memory;
}

void Segment::fail(const Status &status) {
  uint32_t none = 0;
  if (!failState.compare_exchange_strong(none, 1))
    return;
  failCode = int32_t(status.code());
  std::strncpy(failMessage, status.message().c_str(), sizeof failMessage - 1);
  finishFailure();
}

void Segment::finishFailure() {
  if (!failMessage[0]) {
    failCode = int32_t(Code::Aborted);
    std::strncpy(failMessage, "a process ended while it reported an error", sizeof failMessage - 1);
  }
  failState.store(2, std::memory_order_release);
  for (int process = 0; process < maxProcesses; ++process)
    if (processes[process].pid.load(std::memory_order_relaxed))
      ring(process);
}

void Segment::ring(int process) {
  ProcessRecord &record = processes[process];
  record.bell.fetch_add(1);
  if (record.waiting.load())
    ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&record.bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Segment::waitForBell(int process, uint32_t seen, double seconds) {
  ProcessRecord &record = processes[process];
  timespec limit;
  limit.tv_sec = time_t(seconds);
  limit.tv_nsec = long((seconds - double(limit.tv_sec)) * 1e9);
  record.waiting.fetch_add(1);
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&record.bell), FUTEX_WAIT, seen, &limit, nullptr, 0);
  record.waiting.fetch_sub(1);
}

int64_t nanoseconds() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace shardkit::rt::mpi
