//===- AutoStages.h - Where stages end, and on what they run ----*- C++ -*-===//

#ifndef SHARDKIT_STAGES_AUTOSTAGES_H
#define SHARDKIT_STAGES_AUTOSTAGES_H

#include "shardkit/Stages/Stages.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// Where automatic stages may end: the `candidate` boundaries of a function, else the
/// points of the forward part that are crossed by fewest bytes (arguments and constants
/// aside), at most 128, none inside of a loop. `stages` are those of the function in one
/// stage. A cut lies behind its op.
SmallVector<Operation *> getStageCandidates(func::FuncOp func, const Microbatches &microbatches, const Stages &stages);

/// `count` stages whose forward parts compute about as much. One error where there are
/// fewer candidates.
FailureOr<SmallVector<Operation *>> chooseUniformCuts(func::FuncOp func, const Microbatches &microbatches,
                                                      const Stages &stages, int64_t count);

struct AutoStages {
  SmallVector<Operation *> cuts;
  std::vector<Mesh> meshes; // with device ids, not named
  /// Predicted seconds of a step.
  double objective = 0;
  SmallVector<double> seconds; // of a microbatch, per stage
};

struct AutoStageOptions {
  MeshOp cluster;
  /// Names of the axes of each stage's mesh; empty: those that the function's axis
  /// resources name, else those of the cluster.
  SmallVector<std::string> axes;
  /// 0: any number.
  int64_t numStages = 0;
};

/// The stages, their devices and the shapes of their meshes that need least time: the
/// search of stages (StageSearch.h) over what --spmd-auto-shard finds for each stage on
/// each shape, what the user asked for included. Ops of `func` are local to a
/// microbatch. One error where nothing fits.
FailureOr<AutoStages> chooseStages(func::FuncOp func, const Microbatches &microbatches, const Stages &stages,
                                   const AutoStageOptions &options);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_AUTOSTAGES_H
