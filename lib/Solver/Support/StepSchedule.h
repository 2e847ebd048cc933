//===- StepSchedule.h - Steps that may run at the same time -----*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_STEPSCHEDULE_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_STEPSCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstddef>
#include <vector>

namespace mlir::spmd::solver {

/// Steps, one after the other, that read and write cells. They run on the threads of LLVM's executor, those at the same
/// time that touch no cell that one of them writes: what comes out is what comes out of one after the other.
class StepSchedule {
public:
  /// The resources that a step reads and writes, as arbitrary numbers; they may be equal.
  struct Step {
    llvm::SmallVector<size_t, 12> reads, writes;
  };
  explicit StepSchedule(llvm::ArrayRef<Step> steps);

  /// Calls run(0), run(1), ..., as if in this order.
  void run(llvm::function_ref<void(unsigned step)> run) const;

private:
  // Each step after all that it waits for.
  std::vector<unsigned> order;
  std::vector<unsigned> waitBegin, waitsFor; // per step: the steps that it waits for
};

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_STEPSCHEDULE_H
