//===- Pipelines.h - What stages run, send and hold -------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_PIPELINES_H
#define SHARDKIT_REPORT_PIPELINES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Report/Memory.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

/// A part of a stage: how often a step runs it.
struct ReportPart {
  std::string function;
  int64_t runs = 1;
  double seconds = 0; // of one run, predicted
};

/// What the devices of one mesh do in a step; bytes are those of one device.
struct ReportStages {
  std::string mesh;
  std::vector<int64_t> stages;
  std::vector<ReportPart> parts;
  /// The most microbatches whose forward part has run and whose backward part has not.
  int64_t inFlight = 0;
  /// What the backward part reads that was there after the forward part, per microbatch.
  int64_t residualBytes = 0;
  /// The most bytes of values between parts, sums and copies of parts of arguments and
  /// results among them.
  int64_t valueBytes = 0;
  /// At most: arguments, results, values between parts, and what a part holds inside.
  int64_t peakBytes = 0;
};

/// A value that one mesh sends to another.
struct ReportTransfer {
  std::string value;
  int64_t from = 0, to = 0;
  int64_t bytes = 0; // received, summed over the devices
  int64_t count = 0; // per step
};

struct ReportPipeline {
  std::string name, schedule;
  int64_t microbatches = 1;
  std::vector<ReportStages> meshes;
  std::vector<ReportTransfer> transfers;
  /// What the timeline is drawn of.
  ScheduleProgram program;
  ScheduleLists lists;
  std::vector<double> seconds; // by function
};

/// The schedules of a partitioned module, whose instructions are verified. `memory`: of
/// its functions. `tripCount`: of loops whose bounds are not constant.
FailureOr<std::vector<ReportPipeline>> computePipelines(ModuleOp module, const MeshCache &meshes,
                                                        ArrayRef<FunctionMemory> memory, int64_t tripCount);

/// How often a step runs each function that is a part of a schedule.
llvm::StringMap<int64_t> countRuns(ModuleOp module);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_PIPELINES_H
