//===- Selections.h - Reductions that select a candidate --------*- C++ -*-===//

#ifndef SHARDKIT_RULES_SELECTIONS_H
#define SHARDKIT_RULES_SELECTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::spmd {

/// A structured op that keeps, per element of its outputs, the best candidate along its
/// reduction loops: an argmax, or a maximum written as compare and select. A candidate
/// has an element per output; the body compares these with the current elements of the
/// outputs.
///
/// Every shard (every thread of a device) may first select among consecutive candidates.
/// The same ops then select among the selections of the shards, in their order. Whether
/// that is correct is verified by evaluation, not by pattern matching: the ops are run on
/// all candidates of a small domain (NaN, zeros of both signs, values below and above).
/// The selection of a shard must be equivalent to all its candidates, although every
/// shard starts from the init:
///   x > best ? x : best, with the index                    yes
///   x >= best ? x : best, with the index                   no: the init wins a tie
///   max(x, best), x > best ? index : best index, floats    no: after a NaN
struct Selection {
  /// Per output the element of the candidate, a value of the body.
  SmallVector<Value, 2> candidate;
  /// The ops of the body that depend on an output, in order.
  SmallVector<Operation *> ops;
};

/// The candidate and ops of an op, on tensors or buffers, that has the form of a selection.
std::optional<Selection> getSelection(linalg::LinalgOp op);
/// True if the op is a selection, checked as above.
bool isSelection(linalg::LinalgOp op);
/// True if shards may instead start from their first candidate, whatever the inits are:
///   x >= best ? x : best, with the index, integers         yes
///   x > best ? x : best, with the index, floats            no: an initial NaN stays
bool isAssociativeSelection(linalg::LinalgOp op);
/// Emits one step of the selection: the elements of the outputs after `candidate`, if they
/// were `held` before.
SmallVector<Value> pickOne(OpBuilder &b, linalg::LinalgOp op, const Selection &selection, ValueRange held,
                           ValueRange candidate);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_SELECTIONS_H
