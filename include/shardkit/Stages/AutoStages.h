//===- AutoStages.h - Automatic stages --------------------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_AUTOSTAGES_H
#define SHARDKIT_STAGES_AUTOSTAGES_H

#include "shardkit/Stages/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// The ops after which automatic stages may end: the `candidate` boundaries of a function, else
/// the points between forward ops that are crossed by the fewest bytes (arguments and constants
/// excluded), at most 128, none inside of a loop. `stages` are those of the function in one
/// stage.
SmallVector<Operation *> getStageCandidates(func::FuncOp func, const Microbatches &microbatches, const Stages &stages);

/// The split points of `count` stages whose forward fragments compute about as much. One error
/// if there are fewer candidates.
FailureOr<SmallVector<Operation *>> chooseUniformSplitPoints(func::FuncOp func, const Microbatches &microbatches,
                                                             const Stages &stages, int64_t count);

struct AutoStages {
  SmallVector<Operation *> splitPoints;
  std::vector<Mesh> meshes; // with device ids, without names
  /// Predicted seconds of a step.
  double objective = 0;
  SmallVector<double> seconds; // for a microbatch, per stage
};

struct AutoStageOptions {
  MeshOp cluster;
  /// Names of the axes of each stage's mesh; empty: those that the function's axis
  /// resources name, else those of the cluster.
  SmallVector<std::string> axes;
  /// 0: any number.
  int64_t numStages = 0;
};

/// The stages, their devices and the shapes of their meshes that minimize the time of a step:
/// the search of stages (StageSearch.h) over the layouts that --spmd-auto-shard finds for each
/// stage on each shape, under the shardings of the user. Ops of `func` are local to a
/// microbatch. One error if no stages fit.
FailureOr<AutoStages> chooseStages(func::FuncOp func, const Microbatches &microbatches, const Stages &stages,
                                   const AutoStageOptions &options);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_AUTOSTAGES_H
