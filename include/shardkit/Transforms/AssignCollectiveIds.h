//===- AssignCollectiveIds.h - Ids of collectives ---------------*- C++ -*-===//

#ifndef SHARDKIT_TRANSFORMS_ASSIGNCOLLECTIVEIDS_H
#define SHARDKIT_TRANSFORMS_ASSIGNCOLLECTIVEIDS_H

namespace mlir {
class Operation;
}

namespace mlir::spmd {

/// Writes `id = N` on the collectives inside `root`, from 0 in program order.
int64_t assignCollectiveIds(Operation *root);

} // namespace mlir::spmd

#endif // SHARDKIT_TRANSFORMS_ASSIGNCOLLECTIVEIDS_H
