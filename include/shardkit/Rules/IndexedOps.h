//===- IndexedOps.h - Ops that address elements by data ---------*- C++ -*-===//
//
// A dim that is addressed by data (the rows of an embedding table) may be sharded: a
// device reads or writes the indices of its shard only. This file decides for which ops
// and bodies that is correct, and expands the ops that address rows to loops.
//
//   a table of 8 rows on 2 devices, indices [5, 1]
//   device 0 owns rows 0 to 3: yields 0, row 1     device 1 owns 4 to 7: yields row 5, 0
//   the result is partial (sum) over the axis
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_INDEXEDOPS_H
#define SHARDKIT_RULES_INDEXEDOPS_H

#include "shardkit/Rules/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::spmd {

//===--- bodies that look up elements of captured tensors -----------------===//

/// The indices at which a body (`getIndexedBody`) reads captured tensors. A device that
/// does not own an index runs the body with another element and discards the result: it
/// yields the current element of the output, or the neutral element if the output is not
/// read. That is correct if
///   * all yielded values are integers, indices or floats, and accumulation is a known
///     reduction,
///   * no other op can trap or read out of bounds on an unintended element: no element
///     that is looked up is itself an index.
class BodyLookups {
public:
  explicit BodyLookups(Operation *op) : op(op) {}

  /// The indexed factor of dim `d` of a captured tensor, added to `rule` on first use:
  /// one per index value and size. -1 if the dim must stay unsharded.
  int32_t getFactor(ShardingRule &rule, Value captured, unsigned d);

private:
  bool collect();

  Operation *op;
  std::optional<bool> allowed;
  /// Ops of the body that compute indices.
  llvm::SmallDenseSet<Operation *> feeding;
  llvm::SmallDenseMap<std::pair<Value, int64_t>, int32_t> factors;
};

//===--- ops that address rows --------------------------------------------===//

/// That of the op's ShardingRuleOpInterface; std::nullopt for ops without it.
std::optional<Addressing> getAddressing(Operation *op);
/// That of tensor.gather, tensor.scatter, tosa.gather and tosa.scatter; std::nullopt for
/// unranked tensors.
std::optional<Addressing> getUpstreamAddressing(Operation *op);
/// The lookup of an embedding: elements of operand `indices` address dim 0 of operand `table`, and the result has the
/// dims of the indices, then the other dims of the table. Operands that are not
/// ranked tensors become an addressing that does not fit the op.
Addressing getLookupAddressing(Operation *op, unsigned table, unsigned indices);
/// Addressed dims are indexed; other dims of the table follow those of the rows.
ShardingRule getAddressingRule(Operation *op, const Addressing &addressing);

/// The local index of index `global` along the dim with coordinate `k`, in bounds for any
/// `global`, and whether this device owns it; null: always.
struct LocalIndex {
  Value index, owned;
};
using LocalIndexFn = llvm::function_ref<LocalIndex(OpBuilder &b, Location loc, unsigned k, Value global)>;

/// Expands the op to loops before it: a linalg.generic that reads, one that writes (every
/// element looks at every row), or for unknown sizes a nest of scf.for that writes element
/// by element. Elements that are not owned are read as the neutral element of a sum and
/// not written. Returns the value that replaces the result of the op.
Value expandAddressing(OpBuilder &b, Operation *op, const Addressing &addressing, LocalIndexFn localize = {});

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_INDEXEDOPS_H
