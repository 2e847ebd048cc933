//===- ScheduleProgram.h - Schedules in IR and as plain data ----*- C++ -*-===//

#ifndef SHARDKIT_STAGES_SCHEDULEPROGRAM_H
#define SHARDKIT_STAGES_SCHEDULEPROGRAM_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Stages/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

/// The fragments of a schedule in the order of the module, and the values that they exchange,
/// as read from their signatures.
struct ScheduleProgram {
  PipelineProgram program;
  SmallVector<func::FuncOp> functions; // as in `program`
  llvm::StringMap<int64_t> valueOf;

  static FailureOr<ScheduleProgram> read(ScheduleOp schedule);
  /// A result that writes a value, or an argument that reads it; null if there is none.
  struct Endpoint {
    func::FuncOp func;
    unsigned index = 0;
    explicit operator bool() { return !!func; }
  };
  Endpoint getProducer(int64_t value) const;
  Endpoint getConsumer(int64_t value, int64_t mesh) const;
};

/// The instructions of a schedule, and their ops.
struct ScheduleLists {
  InstructionLists lists; // without clocks
  std::vector<SmallVector<Operation *>> ops;

  /// One error at a channel or an instruction that is not valid.
  static FailureOr<ScheduleLists> read(ScheduleOp schedule, const ScheduleProgram &program);
  /// Sets the clocks of verified lists from those of their runs. One error at a run without a
  /// clock.
  LogicalResult readClocks();
};

/// Seconds of one run of each fragment: the computation of a device and its collectives, one
/// after the other. `tripCount` is that of loops whose bounds are not constant.
FailureOr<std::vector<double>> predictSeconds(const ScheduleProgram &program, int64_t tripCount);

/// Writes the channels and the instructions of a schedule whose stages are outlined.
LogicalResult emitSchedule(ScheduleOp schedule);
/// Verifies the lists of a schedule (schedule_c5): one error at an instruction.
LogicalResult verifySchedule(ScheduleOp schedule);
LogicalResult verifySchedule(ScheduleOp schedule, const ScheduleProgram &program, const ScheduleLists &lists);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_SCHEDULEPROGRAM_H
