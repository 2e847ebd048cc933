//===- Propagation.h - Complete partial shardings ---------------*- C++ -*-===//
//
// Works on dense tables of values and ops: the shardings that are given are
// read once, completed to a fixpoint, and returned; the pass writes them once.
// Rules, shardings and what ops propose are numbers: what an op does with the
// shardings of its tensors is computed once and looked up for all ops alike.
//
// Levels make the result independent of the order of operations: an op stands
// one level above the highest definition of its operands. A forward sweep goes
// up the levels, ops proposing layouts for their results; a backward sweep goes
// down, and a value weighs what all its users propose at once. What disagrees
// is decided by predicted time, ties by the layouts themselves.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROPAGATION_PROPAGATION_H
#define SHARDKIT_PROPAGATION_PROPAGATION_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Layout/ShardingTable.h"
#include "shardkit/Options.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/RuleTable.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <deque>

namespace mlir::spmd {

/// Which way shardings may pass an op.
enum class Flow : uint8_t { None = 0, Forward = 1, Backward = 2, Both = 3 };

class Propagation {
public:
  struct Options {
    Conflicts conflicts = Conflicts::Cost;
    StridedShardings stridedShardings = StridedShardings::Allow;
    /// Trips of loops whose bounds are not constant.
    int64_t tripCount = kDefaultTripCount;
    CostOptions costs;
  };
  /// The options of a pass; an error if `tripCount` is not positive.
  static FailureOr<Options> getOptions(Location loc, Conflicts conflicts, StridedShardings stridedShardings,
                                       int64_t tripCount);
  using ValueId = unsigned;
  using NodeId = unsigned;

  Propagation(LayoutTable &table, const Options &options) : table(table), mesh(table.getMesh()), options(options) {}

  /// Adds a place that holds a tensor; open dims of what is given may be
  /// extended.
  ValueId addPlace(RankedTensorType type, Sharding given);
  ValueId addValue(Value value, Sharding given);
  /// Several values may share a place: a loop's argument and its result, the
  /// members of a group.
  void addValue(Value value, ValueId place);
  bool contains(Value value) const { return ids.contains(value); }
  ValueId getId(Value value) const { return ids.lookup(value).id; }

  /// Adds an op, after those that define its operands; all its tensors that
  /// were added take part.
  NodeId addOp(Operation *op, ShardingRule rule);
  /// One value handed on as another, dim by dim: the result of a constraint, what
  /// a loop starts from, what a function returns. `defined`: the value that begins
  /// to be there, if it does, rather than one that goes back to where it was.
  NodeId addIdentity(Operation *op, Value from, ValueId to, Value defined = {}, Flow flow = Flow::Both);
  /// The same from a place. Of a dim that is longer on one side the major part
  /// stays behind: manual axes at the border of their region.
  NodeId addIdentity(Operation *op, ValueId from, ValueId to, Value defined = {}, Flow flow = Flow::Both) {
    return addIdentity(op, {}, from, values[from].level, op->getBlock(), to, defined, flow);
  }

  /// Ops that are added from now on run this often (a part of a pipeline stage).
  void beginPart(int64_t executions) { partExecutions = executions; }
  /// Axes that are manual around the ops that are added from now on: each device of them
  /// computes with values of its own.
  void setManualAxes(ArrayRef<DimEntry> axes);

  /// Propagates to the fixpoint.
  void run();
  const Sharding &get(ValueId id) const { return shardings.get(values[id].sharding); }
  ShardingId getShardingId(ValueId id) const { return values[id].sharding; }
  const ShardingTable &getShardings() const { return shardings; }
  /// Marks a place as an argument or result of the function.
  void setBoundary(ValueId id) { values[id].boundary = true; }
  /// Replaces what is given for a place, before the run.
  void setGiven(ValueId id, Sharding given);

  /// Stages of a run, each to its fixpoint: elementwise ops and views; then
  /// contractions and reductions; then small values that are broadcast, which
  /// have the least to say; at last the parts of axes that reshapes can hand on where
  /// they cannot hand on the whole, for values that nothing else has settled.
  enum Stage : uint8_t { kViews, kContractions, kBroadcasts, kParts, kNumStages };

  struct Place {
    ShardingId sharding, given;
    RankedTensorType type;
    unsigned level;
    SmallVector<NodeId, 4> nodes; // that read or define it, each once
    bool boundary = false;
  };
  /// An op with its rule.
  struct Node {
    Operation *op;
    const ShardingRule *rule;
    unsigned firstTensor; // in the list of all
    unsigned level;
    Flow flow;
    bool handsOn = false; // one value as another, nothing is computed
    unsigned counts = 0;  // how often reshards of its tensors run: a list of countLists
    // By direction (forward, backward): the stage in which the op begins to take
    // part, and whether it is to be visited.
    uint8_t stage[2] = {kViews, kViews};
    bool dirty[2] = {false, false};
    /// Whether the rule is that of the op (no call, nothing handed on).
    bool isOwnRule = false;
    unsigned manual = 0; // axes that are manual around it: a list of manualLists
  };
  /// One dim of one place got longer, `node` having proposed it.
  struct Extension {
    ValueId place;
    unsigned dim;
    DimEntries entries; // all that the dim has then
    NodeId node;
  };

  /// True if a reshape had to leave an axis out that it could have passed on if the
  /// axes beside each other on a dim were one (a mesh of 2 x 3 as one of 3 x 2).
  /// Uneven dims are cut by whole axes, which it does not have.
  bool wantsFlatMesh() const { return needsFlatMesh && !hasUneven; }

  /// Keeps what happens during the run: extensions, in order.
  void record() { recording = true; }
  ArrayRef<Extension> getExtensions() const { return extensions; }
  const Place &getPlace(ValueId id) const { return values[id]; }
  const Node &getNode(NodeId id) const { return nodes[id]; }
  /// Places of the tensors of a rule (-1: does not take part).
  ArrayRef<int32_t> getTensors(const Node &node) const {
    return ArrayRef(tensors).slice(node.firstTensor, node.rule->numOperands() + node.rule->numResults());
  }
  /// The values of the tensors of a rule; null for what is a place alone.
  ArrayRef<Value> getTensorValues(const Node &node) const {
    return ArrayRef(tensorValues).slice(node.firstTensor, node.rule->numOperands() + node.rule->numResults());
  }
  /// How often a reshard of tensor `t` of an op runs.
  int64_t getCount(const Node &node, unsigned t) const { return node.counts == 0 ? 1 : countLists[node.counts][t]; }
  /// Axes that are manual around an op, along which it cannot compute in parts.
  ArrayRef<DimEntry> getManualAxes(const Node &node) const { return manualLists[node.manual]; }
  /// Settles a place otherwise than by propagation.
  void set(ValueId id, Sharding sharding) { values[id].sharding = shardings.intern(std::move(sharding)); }
  unsigned getNumNodes() const { return nodes.size(); }
  unsigned getNumPlaces() const { return values.size(); }
  /// What an op does with the shardings of its tensors: axes per factor.
  /// `agreed`: whether they wanted the same.
  FactorAxes choose(const Node &node, bool *agreed = nullptr);
  /// The tensors of an op as the choice by cost sees them.
  SmallVector<TensorLayout> getTensorLayouts(const Node &node);
  LayoutTable &getTable() { return table; }
  const Options &getOptions() const { return options; }
  /// True if what an op hands to dim `d` of its tensor `t` must end at its first
  /// gap.
  bool mustEndAtGap(const Node &node, unsigned t, unsigned d) const;

private:
  /// What an op would have a place be: entries per dim, none where it has no
  /// say.
  using Dims = SmallVector<DimEntries, 4>;
  using DimsId = unsigned;
  struct Proposal {
    ValueId place;
    NodeId node;
    DimsId dims;
  };
  /// The same for a tensor of a rule.
  struct Suggestion {
    unsigned tensor;
    DimsId dims;
  };
  struct Definition {
    ValueId id;
    unsigned level;
  };

  NodeId addNode(Node node, ArrayRef<int32_t> tensors, ArrayRef<Value> tensorValues);
  NodeId addIdentity(Operation *op, Value value, ValueId from, unsigned level, Block *block, ValueId to, Value defined,
                     Flow flow);
  int64_t countExecutions(Block *block);
  /// How often the part of a pipeline stage runs whose ops are added from now on.
  int64_t partExecutions = 1;
  unsigned internCounts(ArrayRef<int64_t> counts);
  bool isActive(const DimSharding &dim) const { return dim.priority <= priority; }
  /// Finds out which ops can be computed on padded shards; asked only where
  /// something is given unevenly or read in windows, which begins such cuts.
  void markUneven();
  /// Has an op visited again, in one direction or both.
  void touch(NodeId node, Flow directions = Flow::Both);
  void touchAround(ValueId place);
  bool sweep(bool backward, uint8_t stage);
  /// Appends what the op proposes for its results or its operands.
  void propose(NodeId id, bool backward, std::vector<Proposal> &proposals);
  SmallVector<Suggestion, 2> getSuggestions(const Node &node, bool backward);
  DimsId intern(Dims dims);
  bool isOpen(ShardingId id);
  /// Settles what was proposed for one place in one direction.
  void resolve(MutableArrayRef<Proposal> proposals, bool backward);
  /// The sharding of a place once it has taken what it can.
  ShardingId extend(ValueId place, DimsId dims);
  /// `given` is kept as it is written: gaps in it are not filled.
  Sharding extend(const Sharding &sharding, const Sharding &given, RankedTensorType type, ArrayRef<DimEntries> dims,
                  bool noGaps) const;
  DimEntry getFreePart(const Sharding &sharding, unsigned dim, DimEntry entry) const;
  bool update(ValueId place, ShardingId sharding, ArrayRef<Proposal> proposals);

  LayoutTable &table;
  const Mesh &mesh;
  Options options;
  /// Given dims of a higher number do not take part yet.
  int64_t priority = 0;
  /// Whether reshapes hand on parts of axes, and the rules that could.
  bool handsOnParts = false;
  llvm::SmallPtrSet<const ShardingRule *, 4> rulesWithParts;
  llvm::DenseMap<Value, Definition> ids;
  std::vector<Place> values;
  std::vector<Node> nodes;
  std::vector<int32_t> tensors;
  std::vector<Value> tensorValues;
  RuleTable rules;
  ShardingTable shardings;
  std::deque<Dims> dimLists;
  KeyedTable<DimsId> dimListIds;
  /// Distinct lists of counts of the tensors of an op; the first stands for ones.
  std::vector<SmallVector<int64_t, 4>> countLists{{}};
  std::pair<Block *, int64_t> lastCount{nullptr, 1};
  /// Distinct sets of manual axes, the first is none; and that of ops that are added now.
  std::vector<DimEntries> manualLists{{}};
  unsigned manual = 0;
  /// What was computed: suggestions per rule, direction and shardings (of the
  /// current priority), extended shardings.
  KeyedTable<SmallVector<Suggestion, 2>> suggestions;
  llvm::DenseMap<std::tuple<std::pair<ShardingId, ShardingId>, DimsId, Type>, ShardingId> extended;
  /// Per direction and level: nodes to visit.
  std::vector<SmallVector<NodeId, 2>> dirtyAt[2];
  llvm::BitVector dirtyLevels[2];
  bool hasWindows = false; // of any rule
  bool hasUneven = false;  // given
  bool needsFlatMesh = false;
  bool recording = false;
  std::vector<Extension> extensions;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_PROPAGATION_H
