//===- Propagation.h - Complete partial shardings ---------------*- C++ -*-===//
//
// Works on dense tables of values and ops: the shardings that are given are
// read once, completed to a fixpoint, and returned; the pass writes them once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROPAGATION_PROPAGATION_H
#define SHARDKIT_PROPAGATION_PROPAGATION_H

#include "shardkit/Rules/ShardingRule.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// True if the op makes a value out of nothing (constant splat, tensor.empty,
/// splat, fill of an empty tensor): it takes any layout at no cost, so it is
/// made anew per layout and nothing propagates through it.
bool isCreation(Operation *op);

class Propagation {
public:
  explicit Propagation(const Mesh &mesh) : mesh(mesh) {}

  /// Adds a value with what is given for it; open dims may be extended.
  unsigned addValue(Value value, Sharding given);
  /// Adds a place that holds a value (a function result): not an SSA value, but
  /// with a sharding of its own.
  unsigned addSlot(ArrayRef<int64_t> shape, Type elementType, Sharding given);
  bool contains(Value value) const { return ids.contains(value); }
  unsigned getId(Value value) const { return ids.lookup(value); }
  /// Adds an op; all its tensors that were added take part.
  void addOp(ShardingRule rule);
  /// Makes two values of one shape equal dim by dim.
  void addIdentity(unsigned a, unsigned b);

  /// Propagates to the fixpoint.
  void run();
  const Sharding &get(unsigned id) const { return values[id].sharding; }

private:
  struct ValueState {
    Sharding sharding;
    SmallVector<int64_t, 4> shape;
    int64_t bytes;
    SmallVector<unsigned, 4> users; // nodes
  };
  /// A rule with its tensors as value ids (-1: does not take part).
  struct Node {
    ShardingRule rule;
    SmallVector<int32_t, 4> tensors;
    bool late; // contraction or reduction: after views and elementwise ops
    bool dirty = true;
  };
  void addNode(Node node);
  /// Moves shardings among the tensors of a node; marks the nodes of changed
  /// values.
  void visit(Node &node);
  bool update(unsigned id, unsigned dim, ArrayRef<DimEntry> entries);

  const Mesh &mesh;
  llvm::DenseMap<Value, unsigned> ids;
  std::vector<ValueState> values;
  std::vector<Node> nodes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_PROPAGATION_H
