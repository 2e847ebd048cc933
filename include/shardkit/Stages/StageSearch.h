//===- StageSearch.h - The best split of layers into stages -----*- C++ -*-===//
//
// Which layers form a stage and on how many devices each runs, so that a step of B
// microbatches takes the least time: the sum of the times of all stages plus B - 1 times that of
// the slowest. Exact; see docs/internals/Stages.md, "Stage search".
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_STAGESEARCH_H
#define SHARDKIT_STAGES_STAGESEARCH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace mlir::spmd {

/// A constraint on one stage; all fields that are set hold together.
struct StageConstraint {
  /// The first and last of its layers: they are one stage, no more and no fewer.
  std::optional<std::pair<int64_t, int64_t>> layers;
  /// Its index, from the front.
  std::optional<int64_t> stage;
  /// The index of its submesh in the list. Needs layers or a stage.
  std::optional<int64_t> submesh;
};

struct StageProblem {
  int64_t numLayers = 0, numDevices = 0, numMicrobatches = 1;
  /// Devices of each submesh that a stage may run on; stages use all devices together.
  llvm::SmallVector<int64_t> submeshes;
  /// Layers before which a stage may start, rising, none of them 0. std::nullopt: all layers.
  std::optional<llvm::SmallVector<int64_t>> splitPoints;
  std::optional<int64_t> numStages;
  llvm::SmallVector<StageConstraint> constraints;
};

/// Seconds for one microbatch of layers `first` to `last` on a submesh (its index in the list),
/// with the activations of `inFlight` microbatches held: min(B, n - i) for stage i of n.
/// std::nullopt if they do not fit. At least 0 and monotonic: with more in flight the time does
/// not decrease, and a stage that does not fit with fewer does not fit with more.
using StageCost =
    llvm::function_ref<std::optional<double>(int64_t first, int64_t last, int64_t submesh, int64_t inFlight)>;

struct ChosenStage {
  int64_t firstLayer, lastLayer, submesh;
  double seconds;
};

struct StagePlan {
  llvm::SmallVector<ChosenStage> stages;
  /// Seconds. Of equal plans the one with fewer stages, then the one whose first stage runs
  /// on fewer devices, has fewer layers, then likewise the second one.
  double objective = 0;
};

/// In numbers that are equal from run to run.
struct StageSearchStatistics {
  int64_t costCalls = 0; // each stage is evaluated once
  int64_t bounds = 0;    // tables of lower bounds
  int64_t plans = 0;     // tables of exact sums
};

/// The plan of the lowest objective. std::nullopt, and `error`, if there is none or the problem
/// is contradictory.
std::optional<StagePlan> searchStages(const StageProblem &problem, StageCost cost, std::string &error,
                                      StageSearchStatistics *statistics = nullptr);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGESEARCH_H
