//===- Placement.h - Where in its block a collective may stand --*- C++ -*-===//
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

/// Moves an op to before another one of its block. `Operation::moveBefore` makes the order of
/// the whole block unknown: whoever asks for it behind each move numbers all its ops anew.
void moveWithinBlock(Operation *op, Operation *before);

/// Blocks of a function in local view that collectives stand in, in program order.
/// The bodies of `spmd.start` are left out.
SmallVector<Block *> getBlocks(func::FuncOp func);

/// Whether a collective may be started apart from where it is done, alone or with
/// others: it moves data between devices, and as many as is known.
bool mayStart(CollectiveOpInterface op);

/// One error unless the module may be in local view: partitioned, or of no phase.
LogicalResult verifyLocalView(ModuleOp module, StringRef pass);

/// Makes an `spmd.start` of the collectives before `start` and its `spmd.done`
/// before `done`. The collectives, in the order given, read only what is there
/// at `start`, and their users stand behind `done`.
StartOp startTogether(ArrayRef<CollectiveOpInterface> ops, Operation *start, Operation *done);

} // namespace mlir::spmd

#endif // SHARDKIT_COLLECTIVES_PLACEMENT_H
