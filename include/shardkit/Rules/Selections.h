//===- Selections.h - Reductions that pick one of many ----------*- C++ -*-===//

#ifndef SHARDKIT_RULES_SELECTIONS_H
#define SHARDKIT_RULES_SELECTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// A structured op that keeps, per place of its outputs, the best candidate that it
/// has seen along its reduction loops: an argmax, a maximum written as compare
/// and select. A candidate has an element per output, and what is best is decided
/// by comparing these with what the outputs hold.
///
/// Every shard (every thread of a device) may pick its own first, from candidates that
/// follow each other, and pick among what the shards have picked, in their order, by the same ops. That is checked, not
/// recognised: the ops are evaluated on all candidates of a small domain (NaN, zeros of both signs, values below and
/// above): what a shard has picked must count like all that it has seen, although every shard starts from the init:
///   x > best ? x : best, with the place                    yes
///   x >= best ? x : best, with the place                   no: the init wins a tie
///   max(x, best), x > best ? place : best place, floats    no: after a NaN
struct Selection {
  /// Per output the element of the candidate, a value of the body.
  SmallVector<Value, 2> candidate;
  /// What decides: the ops of the body that depend on an output, in order.
  SmallVector<Operation *> ops;
};

/// The parts of an op, on tensors or buffers, that looks like a selection.
std::optional<Selection> getSelection(linalg::LinalgOp op);
/// True if the op is a selection, checked as above.
bool isSelection(linalg::LinalgOp op);
/// True if shards may instead start from their first candidate, whatever the inits are:
///   x >= best ? x : best, with the place, integers         yes
///   x > best ? x : best, with the place, floats            no: a NaN that comes first stays
bool isAssociativeSelection(linalg::LinalgOp op);
/// Emits what the body of `op` holds after it has held `held` and seen `candidate`.
SmallVector<Value> pickOne(OpBuilder &b, linalg::LinalgOp op, const Selection &selection, ValueRange held,
                           ValueRange candidate);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_SELECTIONS_H
