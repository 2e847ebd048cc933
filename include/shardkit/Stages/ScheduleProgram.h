//===- ScheduleProgram.h - Schedules in IR and as plain data ----*- C++ -*-===//

#ifndef SHARDKIT_STAGES_SCHEDULEPROGRAM_H
#define SHARDKIT_STAGES_SCHEDULEPROGRAM_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Stages/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

/// The parts of a schedule in the order of the module, and what they hand to one
/// another, as their signatures say it.
struct ScheduleProgram {
  PipelineProgram program;
  SmallVector<func::FuncOp> functions; // as in `program`
  llvm::StringMap<int64_t> valueOf;

  static FailureOr<ScheduleProgram> read(ScheduleOp schedule);
  /// A result that hands out a value, and an argument on a mesh that takes it; null
  /// where there is none.
  struct Place {
    func::FuncOp func;
    unsigned index = 0;
    explicit operator bool() { return !!func; }
  };
  Place getProducer(int64_t value) const;
  Place getConsumer(int64_t value, int64_t mesh) const;
};

/// The instructions of a schedule, and the ops that they are.
struct ScheduleLists {
  InstructionLists lists; // without clocks
  std::vector<SmallVector<Operation *>> places;

  /// One error at a transfer or an instruction that is none.
  static FailureOr<ScheduleLists> read(ScheduleOp schedule, const ScheduleProgram &program);
  /// Sets the clocks of verified lists, which their runs say. One error at a run that does
  /// not.
  LogicalResult readClocks();
};

/// Seconds of one run of each part: what a device computes, and its collectives, one after
/// the other. `tripCount`: of loops whose bounds are not constant.
FailureOr<std::vector<double>> predictSeconds(const ScheduleProgram &program, int64_t tripCount);

/// Writes the transfers and the instructions of a schedule whose functions are split.
LogicalResult emitSchedule(ScheduleOp schedule);
/// One error at an instruction if the lists of a schedule do not do what they should.
LogicalResult verifySchedule(ScheduleOp schedule);
LogicalResult verifySchedule(ScheduleOp schedule, const ScheduleProgram &program, const ScheduleLists &lists);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_SCHEDULEPROGRAM_H
