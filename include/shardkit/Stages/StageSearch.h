//===- StageSearch.h - The best cut of layers into stages -------*- C++ -*-===//
//
// Which layers form a stage and on how many devices each runs, so that a step of B
// microbatches takes least: the sum of the times of all stages plus B - 1 times that of
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

/// What is given of one stage; all that it says holds together.
struct StagePin {
  /// The first and last of its layers: they are one stage, no more and no fewer.
  std::optional<std::pair<int64_t, int64_t>> layers;
  /// Its number, from the front.
  std::optional<int64_t> stage;
  /// Where it runs, a number in the list of submeshes. Needs layers or a stage.
  std::optional<int64_t> submesh;
};

struct StageProblem {
  int64_t numLayers = 0, numDevices = 0, numMicrobatches = 1;
  /// Devices of each submesh that a stage may run on; stages use all devices together.
  llvm::SmallVector<int64_t> submeshes;
  /// Layers before which a stage may start, rising, none of them 0; without: all layers.
  std::optional<llvm::SmallVector<int64_t>> cuts;
  std::optional<int64_t> numStages;
  llvm::SmallVector<StagePin> pins;
};

/// Seconds for one microbatch of layers `first` to `last` on a submesh (its number in the
/// list), where activations of `inFlight` microbatches are held: min(B, n - i) for stage i
/// of n. Nothing: does not fit. At least 0, and with more in flight never less and never
/// fitting again: what is asked for more in flight is left out where fewer are too many.
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
  int64_t costCalls = 0; // no question is asked twice
  int64_t bounds = 0;    // tables of what is at least needed
  int64_t plans = 0;     // tables of what is needed
};

/// The plan of the lowest objective. Nothing, and `error`, where there is none or the
/// problem contradicts itself.
std::optional<StagePlan> searchStages(const StageProblem &problem, StageCost cost, std::string &error,
                                      StageSearchStatistics *statistics = nullptr);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGESEARCH_H
