//===- TimelinePass.cpp - --spmd-timeline ---------------------------------===//

#include "shardkit/Passes.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "shardkit/Stages/Timeline.h"
#include "shardkit/Support/Output.h"

#include <map>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTIMELINEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct TimelinePass : public spmd::impl::SPMDTimelinePassBase<TimelinePass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  FailureOr<ScheduleOp> chooseSchedule(ModuleOp module) {
    auto all = llvm::to_vector(module.getOps<ScheduleOp>());
    for (ScheduleOp op : all)
      if (op.getSymName() == schedule || (schedule.empty() && all.size() == 1))
        return op;
    InFlightDiagnostic diag = emitError(module.getLoc());
    if (schedule.empty())
      diag << "the module has " << all.size() << " schedules, expected "
           << (all.empty() ? "one, as --spmd-build-stages makes it" : "the option schedule=NAME to choose one");
    else
      diag << "unknown schedule \"" << schedule << "\", expected an spmd.schedule";
    for (ScheduleOp op : all)
      diag.attachNote(op.getLoc()) << "available schedule: @" << op.getSymName();
    return diag;
  }

  LogicalResult run(ModuleOp module) {
    FailureOr<ScheduleOp> op = chooseSchedule(module);
    if (failed(op))
      return failure();
    FailureOr<ScheduleProgram> read = ScheduleProgram::read(*op);
    if (failed(read))
      return failure();
    FailureOr<ScheduleLists> lists = ScheduleLists::read(*op, *read);
    if (failed(lists) || failed(verifySchedule(*op, *read, *lists)) || failed(lists->readClocks()))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == OutputFormat::Html) {
      FailureOr<std::vector<double>> seconds = predictSeconds(*read, kDefaultTripCount);
      if (failed(seconds))
        return failure();
      printTimelinePage(read->program, lists->lists, *seconds, os);
    } else {
      FailureOr<ClockTable> table = makeTable(*op, *read, *lists);
      if (failed(table))
        return failure();
      printTimeline(*table, os);
    }
    return writeOutput(module.getLoc(), output, text);
  }

  /// One cell per mesh and clock with a run: functions of one stage, fragment and microbatch
  /// are one piece of work.
  static FailureOr<ClockTable> makeTable(ScheduleOp op, const ScheduleProgram &read, const ScheduleLists &lists) {
    std::map<int64_t, int64_t> rowOf;
    for (const std::vector<Instruction> &list : lists.lists)
      for (const Instruction &instruction : list)
        if (instruction.kind == Instruction::Kind::Run)
          rowOf[instruction.clock] = 0;
    int64_t rows = 0;
    for (auto &[clock, row] : rowOf)
      row = rows++;
    ClockTable table;
    table.numMeshes = lists.lists.size();
    table.numMicrobatches = op.getMicrobatches();
    table.virtualStages = read.program.meshOfStage.size() / lists.lists.size();
    table.cells.resize(rows * table.numMeshes);
    for (auto [mesh, list] : llvm::enumerate(lists.lists))
      for (auto [instruction, runOp] : llvm::zip_equal(list, lists.ops[mesh])) {
        if (instruction.kind != Instruction::Kind::Run)
          continue;
        const StageFunction &function = read.program.functions[instruction.function];
        Cell work{function.stage, function.fragment, instruction.microbatch};
        Cell &cell = table.cells[rowOf[instruction.clock] * table.numMeshes + mesh];
        if (!cell.isIdle() && work.fragment != StageFragment::Apply && cell != work)
          return runOp->emitError() << "mesh " << mesh << " runs something else in clock " << instruction.clock
                                    << " already, expected one piece of work per clock";
        cell = work;
      }
    return table;
  }
};

} // namespace
