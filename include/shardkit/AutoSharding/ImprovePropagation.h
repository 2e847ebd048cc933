//===- ImprovePropagation.h - A better default plan -------------*- C++ -*-===//
//
// Propagation decides value by value. Afterwards the solver of automatic sharding looks for
// changes of its result, under the same user shardings, that are predicted to take less time.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_IMPROVEPROPAGATION_H
#define SHARDKIT_AUTOSHARDING_IMPROVEPROPAGATION_H

#include "shardkit/Cost/CostModel.h"
#include "shardkit/Propagation/CompleteModule.h"

namespace mlir::spmd {

struct ImprovementOptions {
  Propagation::Options propagation;
  /// As for --spmd-insert-reshards, which the predicted times are those of.
  bool defersReductions = true;
};

/// Predicted seconds of the present layouts, as --spmd-insert-reshards will lower them; functions that share values
/// together, each as often as it is called. Writes the layouts. None if they cannot be lowered.
std::optional<PlanSeconds> getSecondsAsLowered(FunctionPropagation &functions, FunctionMeshes &meshes,
                                               const ImprovementOptions &options);

/// A plan replaces the propagated one if it saves more than the rest of this fraction of its communication.
inline constexpr double kMaxImprovedFraction = 0.92;

/// Changes the propagated layouts of values where the predicted time becomes less, and of as few
/// values as possible. Candidates are full axes; a contraction is computed on as many devices as
/// before, or more, unless the mesh has `flops`: then compute time counts. Functions whose plan changes get
/// `spmd.improved`, with both predicted times in seconds, and ops that must not compute by cost
/// `spmd.factor_shardings`. Deterministic: the work is limited, not the time. An error if
/// `spmd.factor_shardings` of the user cannot be read.
LogicalResult improvePropagation(FunctionPropagation &functions, FunctionMeshes &meshes,
                                 const ImprovementOptions &options, CallOperandLayouts &callOperands);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_IMPROVEPROPAGATION_H
