//===- CpuClock.h - Time that the process computes ----------------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_CPUCLOCK_H
#define SHARDKIT_SUPPORT_CPUCLOCK_H

#include <chrono>
#include <ctime>

namespace mlir::spmd {

/// The CPU time of the process, as a clock of std::chrono: what else runs on the machine does not count.
struct CpuClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CpuClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
  static double getSecondsSince(time_point start) { return std::chrono::duration<double>(now() - start).count(); }
};

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_CPUCLOCK_H
