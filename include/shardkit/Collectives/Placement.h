//===- Placement.h - Moving collectives in their blocks --------*- C++ -*-===//
//
// The passes of this folder move collectives within their block, and out of and
// into loops that all devices run alike; never past a branch.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_COLLECTIVES_PLACEMENT_H
#define SHARDKIT_COLLECTIVES_PLACEMENT_H

#include "shardkit/Cost/CollectiveMove.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The op of `block` that a user is, or is in; the block's terminator for a user in
/// another block of the function.
Operation *getUserIn(Block *block, Operation *user);

/// The first op of `block` that reads one of the values, itself or in a region;
/// null if none does. The values are defined in the block.
Operation *getFirstUser(ValueRange values, Block *block);

/// The op of `block` that gives the value; null for arguments and for values from
/// outside the block.
Operation *getProducer(Value value, Block *block);

/// Moves an op before another op of its block, and keeps the order of the block valid.
/// `Operation::moveBefore` invalidates it, so that the next query after each move would
/// number all ops of the block again.
void moveWithinBlock(Operation *op, Operation *before);

/// Blocks of a function in local view that contain collectives, in program order,
/// without the bodies of `spmd.start`.
SmallVector<Block *> getBlocks(func::FuncOp func);

/// Whether a collective may be split into a start and a done, alone or combined with
/// others: it moves data between devices, and its size is known.
bool mayStart(CollectiveOpInterface op);

/// The memory budget of a function in bytes: `budget` if it is positive, else the smallest `memory` of its meshes;
/// std::nullopt if it is unlimited.
std::optional<int64_t> getMemoryBudget(func::FuncOp func, int64_t budget, const MeshCache &meshes);

/// One error unless the function may be in local view: of a module that is partitioned, or of no phase.
LogicalResult verifyLocalView(func::FuncOp func, StringRef pass);
/// The same of all functions of a module.
LogicalResult verifyLocalView(ModuleOp module, StringRef pass);

/// Makes an `spmd.start` of the collectives before `start` and its `spmd.done`
/// before `done`. The operands of the collectives dominate `start`, and `done`
/// dominates their users.
StartOp startTogether(ArrayRef<CollectiveOpInterface> ops, Operation *start, Operation *done);

} // namespace mlir::spmd

#endif // SHARDKIT_COLLECTIVES_PLACEMENT_H
