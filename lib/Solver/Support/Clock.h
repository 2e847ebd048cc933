//===- Clock.h - How long the solver may take -------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_CLOCK_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_CLOCK_H

#include "shardkit/Solver/Solver.h"
#include "shardkit/Support/CpuClock.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>

namespace mlir::spmd::solver {

class Clock {
public:
  explicit Clock(const SolverOptions &options) : limit(options.timeLimit), workLimit(options.workLimit) {}
  /// The cost of one look-up or interning, in table entries.
  static constexpr double kLookUp = 64;
  /// Entries of tables that were visited.
  void spend(double entries) const { work += entries; }
  double getWork() const { return work; }
  double getSeconds() const { return CpuClock::getSecondsSince(start); }
  bool isOver() const { return work >= workLimit || getSeconds() >= limit; }
  double getWorkLeft() const { return workLimit - work; }
  /// Runs `what` within a fraction of the remaining time and work.
  void inFraction(double fraction, llvm::function_ref<void()> what) const {
    double now = getSeconds(), all = limit, allWork = workLimit;
    limit = now + fraction * std::max(all - now, 0.0);
    workLimit = work + fraction * std::max(allWork - work, 0.0);
    what();
    limit = all;
    workLimit = allWork;
  }
  /// Does something that visits at most so many entries.
  void within(double entries, llvm::function_ref<void()> what) const {
    double allWork = workLimit;
    workLimit = std::min(workLimit, work + entries);
    what();
    workLimit = allWork;
  }

private:
  CpuClock::time_point start = CpuClock::now();
  mutable double limit, workLimit;
  mutable double work = 0;
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_CLOCK_H
