//===- CollectiveMove.h - Costs of collectives in the IR --------*- C++ -*-===//

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
  /// The share of `cost.seconds` that does not depend on the bytes.
  double latency;
};

/// Fails, with an error at the op, if its layouts do not fit its types.
FailureOr<CollectiveMove> getMove(CollectiveOpInterface op, const MeshCache &meshes);

/// True if the op is in a `spmd.start` after another collective, which pays the latency.
bool travelsAlong(Operation *op);

/// Seconds of compute on a device for one execution of an op, including its regions with
/// their trip counts: two operations per element of the iteration space of a contraction, one
/// of that of another structured op, such as a pooling, and one per element of the result of
/// any other; of an op that computes for each of several groups some of the rows
/// (`spmd.groups`) that share of it. Where the mesh has a bandwidth, an op takes at least the time of the bytes that
/// it reads and writes. Ops on elements and rows are computed together up to the next
/// contraction or collective: values between them are not written.
double getComputeSeconds(Operation *op, const Mesh &mesh, int64_t tripCount);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COLLECTIVEMOVE_H
