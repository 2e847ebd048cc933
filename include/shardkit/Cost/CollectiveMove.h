//===- CollectiveMove.h - What a collective of the IR moves -----*- C++ -*-===//

#ifndef SHARDKIT_COST_COLLECTIVEMOVE_H
#define SHARDKIT_COST_COLLECTIVEMOVE_H

#include "shardkit/Cost/CostModel.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

namespace mlir::spmd {

/// A collective as the cost model sees it. `mesh` is that of the operand.
struct CollectiveMove {
  PlanStep step;
  const Mesh *mesh;
  CollectiveCost cost;
  /// The part of `cost.seconds` that does not grow with the bytes.
  double latency;
};

/// Failure, with an error at the op, where its layouts do not fit its types.
FailureOr<CollectiveMove> getMove(CollectiveOpInterface op, const MeshCache &meshes);

/// True if the op is started together with one before it, so that its latency is
/// paid already.
bool travelsAlong(Operation *op);

/// Seconds that a device computes for one execution of an op and of what is in its
/// regions, as often as that runs: two operations per element of the iteration
/// space of a contraction, one per element of what another op gives.
double getComputeSeconds(Operation *op, const Mesh &mesh, int64_t tripCount);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COLLECTIVEMOVE_H
