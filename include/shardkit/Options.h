//===- Options.h - Values of options of passes and tools --------*- C++ -*-===//
//
// The enums of options. Options.td and Passes.td give each value its name and help.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_OPTIONS_H
#define SHARDKIT_OPTIONS_H

#include "shardkit/Support/PassOptions.h"

namespace mlir::spmd {

/// How propagation decides where shardings disagree.
enum class Conflicts {
  Basic, ///< the longest common prefix of all
  Cost   ///< the least predicted time
};

/// The implementation of MPI that --convert-spmd-to-mpi is for.
enum class MPIImplementation { OpenMPI, MPICH };

/// The plan that propagation leads to, without --spmd-auto-shard.
enum class DefaultPlan {
  Improved,   ///< propagated, then changed where that is predicted to take less time
  Propagation ///< as propagated
};

/// Whether a reshape may produce strided shardings: joining the dims of `[{}, {"x"}]`
/// gives `{2, "x"}`.
enum class StridedShardings {
  Allow,
  ForbidAtBoundary, ///< not on arguments and results of functions
  Forbid
};

/// The value that --spmd-partition gives to padding, to prove that no result depends on it.
enum class PaddingFill : uint8_t { None, Lowest, Ones, Zero };

/// Content of a plan that --spmd-export-plan writes.
enum class PlanContent { User, All };

/// Treatment of an annotation that the target of a conversion cannot express.
enum class UnsupportedFeature { Error, Remark };

/// How --spmd-build-stages finds the stages.
enum class StageChoice { Manual, Uniform, Auto };

/// The schedule of a pipeline. The values after Auto are those of ScheduleKind.
enum class ScheduleChoice { Auto = -1, GPipe, OneFOneB, OneFOneBOverlap, InterleavedOneFOneB, Inference };

/// Options of --spmd-auto-shard.
enum class SearchCostModel { Default, Alpa, XLA };
enum class SearchSolver { Own, Cbc };
enum class SubAxes { Auto, All };
enum class ReshardPerUse { Auto, Always, Never };
enum class MeshShapes { Given, All };

/// How hosts are linked, for --spmd-derive-costs.
enum class HostTopology { Tree, Ring };

/// Form of a report, an explanation or a timeline.
enum class OutputFormat { Text, Json, Remarks, Html };

} // namespace mlir::spmd

SHARDKIT_ENUM_OPTION(::mlir::spmd::Conflicts)
SHARDKIT_ENUM_OPTION(::mlir::spmd::MPIImplementation)
SHARDKIT_ENUM_OPTION(::mlir::spmd::DefaultPlan)
SHARDKIT_ENUM_OPTION(::mlir::spmd::StridedShardings)
SHARDKIT_ENUM_OPTION(::mlir::spmd::PaddingFill)
SHARDKIT_ENUM_OPTION(::mlir::spmd::PlanContent)
SHARDKIT_ENUM_OPTION(::mlir::spmd::UnsupportedFeature)
SHARDKIT_ENUM_OPTION(::mlir::spmd::StageChoice)
SHARDKIT_ENUM_OPTION(::mlir::spmd::ScheduleChoice)
SHARDKIT_ENUM_OPTION(::mlir::spmd::SearchCostModel)
SHARDKIT_ENUM_OPTION(::mlir::spmd::SearchSolver)
SHARDKIT_ENUM_OPTION(::mlir::spmd::SubAxes)
SHARDKIT_ENUM_OPTION(::mlir::spmd::ReshardPerUse)
SHARDKIT_ENUM_OPTION(::mlir::spmd::MeshShapes)
SHARDKIT_ENUM_OPTION(::mlir::spmd::HostTopology)
SHARDKIT_ENUM_OPTION(::mlir::spmd::OutputFormat)

#endif // SHARDKIT_OPTIONS_H
