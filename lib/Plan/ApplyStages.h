//===- ApplyStages.h - Stages of a plan become boundaries -------*- C++ -*-===//

#ifndef SHARDKIT_LIB_PLAN_APPLYSTAGES_H
#define SHARDKIT_LIB_PLAN_APPLYSTAGES_H

#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Plan/Resolve.h"

namespace mlir::spmd {

/// Writes a boundary after each stage but the last, and the meshes of the stages on the
/// function (`spmd.mesh = [@s0, @s1]`). Existing boundaries
/// and meshes must be the same.
LogicalResult applyStages(const ShardingPlan &plan, ModuleOp module, const MeshCache &meshes);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_PLAN_APPLYSTAGES_H
