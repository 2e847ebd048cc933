//===- IndexedOps.h - Places that come from data ----------------*- C++ -*-===//
//
// A dim that is addressed by data (the rows of an embedding table) may be cut: a
// shard reads or writes the places that it owns. This file knows which ops and
// bodies can do without the others, and spells the ops that address rows as loops.
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

/// The places that a body (`getIndexedBody`) reads captured tensors at. A shard
/// that does not own a place runs the body with another element and drops what
/// comes out: it hands out what the output holds already, or the neutral element
/// where the output is not read. That is right if
///   * all that is yielded is of integers, index or floats, and what accumulates
///     is a known reduction,
///   * nothing else can trap or read out of bounds on an element that it is not
///     meant for: no element that is looked up is itself an index.
class BodyLookups {
public:
  explicit BodyLookups(Operation *op) : op(op) {}

  /// The indexed factor of dim `d` of a captured tensor, added to `rule` on first
  /// use: one per place and size. -1 where the dim stays whole.
  int32_t getFactor(ShardingRule &rule, Value captured, unsigned d);

private:
  bool collect();

  Operation *op;
  std::optional<bool> allowed;
  /// Ops of the body that places are computed by.
  llvm::SmallDenseSet<Operation *> feeding;
  llvm::SmallDenseMap<std::pair<Value, int64_t>, int32_t> factors;
};

//===--- ops that address rows --------------------------------------------===//

/// What tensor.gather, tensor.scatter, tosa.gather and tosa.scatter have in common:
/// rows of a table are read or written, one per tuple of coordinates.
struct Addressing {
  bool writes;
  unsigned tableOperand, indicesOperand;
  Value table, indices;
  /// Read: the result. Written: the operand.
  Value rows;
  /// Leading dims that `rows` and `indices` have in common.
  int64_t batch;
  /// Whether the last dim of `indices` runs over coordinates (else there is one).
  bool hasTuples;
  /// Per dim of the table: the coordinate that addresses it, or -1, and else the
  /// dim of `rows` that goes along it.
  SmallVector<int64_t> coordinate, along;
};

/// Nothing for other ops, and where a tensor has no rank.
std::optional<Addressing> getAddressing(Operation *op);
/// Addressed dims are indexed; other dims of the table follow those of the rows.
ShardingRule getAddressingRule(Operation *op, const Addressing &addressing);

/// Where place `global` along the dim with coordinate `k` is: the index to use
/// (in bounds whatever `global` is) and whether it is the right one; null: always.
struct LocalPlace {
  Value index, owned;
};
using LocalPlaceFn = llvm::function_ref<LocalPlace(OpBuilder &b, Location loc, unsigned k, Value global)>;

/// The op as loops, before it: a linalg.generic that reads, one that writes (every place
/// looks at every row), or where sizes are not known a nest of scf.for that writes element
/// by element. Places that are not owned are read as the neutral element of a sum and not
/// written. Returns what replaces the op's result.
Value expandAddressing(OpBuilder &b, Operation *op, const Addressing &addressing, LocalPlaceFn localize = {});

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_INDEXEDOPS_H
