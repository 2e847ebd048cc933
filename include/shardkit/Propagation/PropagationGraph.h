//===- PropagationGraph.h - Value classes and nodes as tables ---*- C++ -*-===//
//
// The tables that propagation, explanations and automatic sharding work on.
//
//   value class   values that share one sharding: the argument and the result of a loop,
//                 the members of a sharding group, an argument and the result tied to it
//   node          an op with its sharding rule, or an identity, which forwards one value
//                 as another: a constraint, the init of a loop, a returned value
//   tensor        an operand or result of the rule of a node, with its value class, if any
//   level         of a node: one above the highest definition of its operands;
//                 of a value class: that of its highest definition
//
// %0 = linalg.matmul ins(%a, %b) outs(%c) with three value classes a, b, 0 is one node with
// the tensors {a, b, -1, 0}: %c is constant-like and has no value class.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROPAGATION_PROPAGATIONGRAPH_H
#define SHARDKIT_PROPAGATION_PROPAGATIONGRAPH_H

#include "shardkit/Layout/ShardingTable.h"
#include "shardkit/Rules/RuleTable.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spmd {

/// The directions in which shardings may pass an op.
enum class Flow : uint8_t { None = 0, Forward = 1, Backward = 2, Both = 3 };

class PropagationGraph {
public:
  using ClassId = unsigned;
  using NodeId = unsigned;

  /// Stages of a run, each to its fixpoint:
  ///   1. elementwise ops and views,
  ///   2. contractions and reductions,
  ///   3. small values that are broadcast, which have the weakest preference,
  ///   4. sub-axes that a reshape can forward although it cannot forward the full axes, for
  ///      values without a sharding so far.
  enum Stage : uint8_t { kViews, kContractions, kBroadcasts, kSubAxes, kNumStages };

  struct ValueClass {
    ShardingId sharding, userSharding;
    RankedTensorType type;
    unsigned level;
    SmallVector<NodeId, 4> nodes; // readers and definitions, each once
    bool boundary = false;        // argument or result of the function
  };
  struct Node {
    Operation *op;
    const ShardingRule *rule;
    unsigned firstTensor; // index into the list of all tensors
    unsigned level;
    Flow flow;
    bool isIdentity = false;
    unsigned counts = 0; // index into countLists: executions of reshards per tensor
    // Indexed by direction (forward, backward): the first stage of the node, and whether it
    // has to be visited.
    uint8_t stage[2] = {kViews, kViews};
    bool dirty[2] = {false, false};
    /// Whether the rule is that of the op: false for calls and identities.
    bool hasOpRule = false;
    unsigned manual = 0; // index into manualLists: the manual axes around it
  };

  /// `tripCount`: trips of loops with bounds that are not constant.
  explicit PropagationGraph(int64_t tripCount) : tripCount(tripCount) {}

  //===--- Construction ----------------------------------------------------===//

  /// Adds a value class with a user sharding, whose open dims may be extended.
  ClassId addClass(RankedTensorType type, Sharding userSharding);
  /// Adds a value with a value class of its own.
  ClassId addValue(Value value, Sharding userSharding);
  /// Adds a value to an existing value class.
  void addValue(Value value, ClassId valueClass);
  /// Replaces the user sharding of a value class, before the run.
  void setUserSharding(ClassId id, Sharding userSharding);
  /// Marks a value class as an argument or result of the function.
  void setBoundary(ClassId id) { classes[id].boundary = true; }

  /// Adds an op, after the definitions of its operands. Tensors without a value class are
  /// ignored.
  NodeId addOp(Operation *op, ShardingRule rule);
  /// Adds an identity from a value to a value class, dim by dim. `defined` is the value that
  /// the identity defines; null for a back edge, such as the yield of a loop.
  NodeId addIdentity(Operation *op, Value from, ClassId to, Value defined = {}, Flow flow = Flow::Both);
  /// Adds an identity between value classes. If a dim is longer on one side, its major factor
  /// is not forwarded: the manual axes at the boundary of their region.
  NodeId addIdentity(Operation *op, ClassId from, ClassId to, Value defined = {}, Flow flow = Flow::Both) {
    return addIdentity(op, {}, from, classes[from].level, op->getBlock(), to, defined, flow);
  }

  /// Ops that are added from now on are in another function, which is called this often as
  /// compared with the others.
  void beginFunction(int64_t calls) {
    functionCalls = calls;
    fragmentExecutions = 1;
    lastCount = {nullptr, 1};
  }
  /// Ops that are added from now on are in a fragment of a stage with this many executions.
  void beginFragment(int64_t executions) { fragmentExecutions = executions; }
  /// Sets the manual axes around the ops that are added from now on: devices along them
  /// compute with different values.
  void setManualAxes(ArrayRef<DimEntry> axes);

  //===--- Queries ---------------------------------------------------------===//

  bool contains(Value value) const { return ids.contains(value); }
  ClassId getId(Value value) const { return ids.lookup(value).id; }
  const Sharding &get(ClassId id) const { return shardings.get(classes[id].sharding); }
  ShardingId getShardingId(ClassId id) const { return classes[id].sharding; }
  const ShardingTable &getShardings() const { return shardings; }
  /// Replaces the sharding of a value class.
  void set(ClassId id, Sharding sharding) { classes[id].sharding = shardings.intern(std::move(sharding)); }

  const ValueClass &getClass(ClassId id) const { return classes[id]; }
  unsigned getNumClasses() const { return classes.size(); }
  /// The number of value classes that axes shard.
  unsigned getNumSharded() const;
  const Node &getNode(NodeId id) const { return nodes[id]; }
  unsigned getNumNodes() const { return nodes.size(); }
  /// Value classes of the tensors of a rule; -1 for a tensor without one.
  ArrayRef<int32_t> getTensors(const Node &node) const {
    return ArrayRef(tensors).slice(node.firstTensor, node.rule->numOperands() + node.rule->numResults());
  }
  /// Values of the tensors of a rule; null for a value class without a value.
  ArrayRef<Value> getTensorValues(const Node &node) const {
    return ArrayRef(tensorValues).slice(node.firstTensor, node.rule->numOperands() + node.rule->numResults());
  }
  /// Executions of a reshard of tensor `t` of a node.
  int64_t getCount(const Node &node, unsigned t) const { return node.counts == 0 ? 1 : countLists[node.counts][t]; }
  /// The manual axes around a node, which its factors must not be sharded by.
  ArrayRef<DimEntry> getManualAxes(const Node &node) const { return manualLists[node.manual]; }

protected:
  std::vector<ValueClass> classes;
  std::vector<Node> nodes;
  ShardingTable shardings;
  RuleTable rules;
  /// Whether any rule has windows.
  bool hasWindows = false;

private:
  struct Definition {
    ClassId id;
    unsigned level;
  };

  NodeId addNode(Node node, ArrayRef<int32_t> tensorClasses, ArrayRef<Value> newValues);
  NodeId addIdentity(Operation *op, Value value, ClassId from, unsigned level, Block *block, ClassId to, Value defined,
                     Flow flow);
  int64_t countExecutions(Block *block);
  unsigned internCounts(ArrayRef<int64_t> counts);

  int64_t tripCount, functionCalls = 1, fragmentExecutions = 1;
  llvm::DenseMap<Value, Definition> ids;
  std::vector<int32_t> tensors;
  std::vector<Value> tensorValues;
  /// Distinct lists of counts of the tensors of a node; the first stands for ones.
  std::vector<SmallVector<int64_t, 4>> countLists{{}};
  std::pair<Block *, int64_t> lastCount{nullptr, 1};
  /// Distinct lists of manual axes, of which the first is empty; and the current one.
  std::vector<DimEntries> manualLists{{}};
  unsigned manual = 0;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_PROPAGATIONGRAPH_H
