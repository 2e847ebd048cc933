//===- Sorts.h - Sorts as other ops -----------------------------*- C++ -*-===//

#ifndef SHARDKIT_RULES_SORTS_H
#define SHARDKIT_RULES_SORTS_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/Builders.h"

namespace mlir::spmd {

/// Emits the order of a sort: whether the element that has `first` in its operands comes before
/// the one that has `second`.
Value emitOrder(OpBuilder &b, SortOp op, ValueRange first, ValueRange second);

/// Replaces all sorts in `root` by structured ops and loops. The results are exact: elements are moved only.
///   up to 128 elements   the rank of each is the number of those before it; the element of rank
///                        p is that at index p of the result
///   more                 a loop over the log(n) (log(n) + 1) / 2 rounds of Batcher's bitonic
///                        network, which carries the index that an element came from
void expandSorts(Operation *root);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_SORTS_H
