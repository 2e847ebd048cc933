//===- Selections.h - Reductions that pick one of many ----------*- C++ -*-===//

#ifndef SHARDKIT_RULES_SELECTIONS_H
#define SHARDKIT_RULES_SELECTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// A structured op that keeps, per place of its outputs, the best candidate that it
/// has seen along its only reduction loop: an argmax, a maximum written as compare
/// and select. A candidate has an element per output, and what is best is decided
/// by comparing these with what the outputs hold.
///
/// Every shard may pick its own first, and pick among what the shards have picked,
/// in their order, by the same ops. That is checked, not recognised: the ops are
/// evaluated on all candidates of a small domain (NaN, zeros of both signs, values
/// below and above): what a shard has picked must count like all that it has seen,
/// although every shard starts from the init:
///   x > best ? x : best, with the place                    yes
///   x >= best ? x : best, with the place                   no: the init wins a tie
///   max(x, best), x > best ? place : best place, floats    no: after a NaN
struct Selection {
  /// Per output the element of the candidate, a value of the body.
  SmallVector<Value, 2> candidate;
  /// What decides: the ops of the body that depend on an output, in order.
  SmallVector<Operation *> ops;
};

/// The parts of an op that looks like a selection.
std::optional<Selection> getSelection(linalg::LinalgOp op);
/// True if the op is a selection, checked as above.
bool isSelection(linalg::LinalgOp op);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_SELECTIONS_H
