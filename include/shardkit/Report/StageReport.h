//===- StageReport.h - Stages in a report ------------------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_STAGEREPORT_H
#define SHARDKIT_REPORT_STAGEREPORT_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Report/Memory.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::spmd {

/// A fragment of a stage, and how often a step runs it.
struct ReportFragment {
  std::string function;
  int64_t runs = 1;
  double seconds = 0; // predicted for one run
};

/// The stages of one mesh in a step; bytes are those of one device.
struct ReportStages {
  std::string mesh;
  std::vector<int64_t> stages;
  std::vector<ReportFragment> fragments;
  /// The maximum number of microbatches between their forward and backward fragments.
  int64_t inFlight = 0;
  /// Bytes that the backward fragment reads of the time of the forward fragment, per
  /// microbatch.
  int64_t residualBytes = 0;
  /// The peak of the bytes of values between fragments, including sums and copies of
  /// slices of arguments and results.
  int64_t valueBytes = 0;
  /// An upper bound: arguments, results, values between fragments and temporaries.
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
  /// The program of the timeline.
  ScheduleProgram program;
  ScheduleLists lists;
  std::vector<double> seconds; // by function
};

/// The schedules of a partitioned module, whose instructions are verified. `memory`: the
/// memory of its functions. `tripCount`: of loops without constant bounds.
FailureOr<std::vector<ReportPipeline>> computePipelines(ModuleOp module, const MeshCache &meshes,
                                                        ArrayRef<FunctionMemory> memory, int64_t tripCount);

/// How often each function runs if each public function runs once, or if each schedule runs one step.
/// Calls count as often as their loops run (`tripCount`: of loops without constant bounds).
llvm::StringMap<int64_t> countRuns(ModuleOp module, int64_t tripCount);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_STAGEREPORT_H
