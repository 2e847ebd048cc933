//===- Propagation.h - Complete partial shardings ---------------*- C++ -*-===//
//
// User shardings are read once into dense tables (PropagationGraph.h), completed to a
// fixpoint, and written once by the pass. Rules, shardings and proposals are numbers: the
// reaction of an op to the shardings of its tensors is computed once for all equal ops.
//
// Levels make the result independent of the order of operations:
//
//   1. A forward sweep goes up the levels; nodes propose shardings for their results.
//   2. A backward sweep goes down; a value class weighs the proposals of all its readers at
//      once.
//   3. Sweeps alternate until no node has to be visited. Then the next stage begins, and
//      after the last stage the next priority.
//
// Conflicting proposals are resolved by predicted time, ties by the shardings themselves.
//
// Example: mesh <"x"=2>, %0 = matmul(%a [{"x"}, {?}], %b [{?}, {?}]) with the factors i, k, j.
// The rule projects {"x"} of dim 0 of %a to factor i, so the node proposes [{"x"}, {}] for %0.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROPAGATION_PROPAGATION_H
#define SHARDKIT_PROPAGATION_PROPAGATION_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Options.h"
#include "shardkit/Propagation/PropagationGraph.h"
#include "shardkit/Rules/ControlFlow.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <deque>

namespace mlir::spmd {

/// The fixpoint over a PropagationGraph.
class Propagation : public PropagationGraph {
public:
  struct Options {
    Conflicts conflicts = Conflicts::Cost;
    StridedShardings stridedShardings = StridedShardings::Allow;
    /// Trips of loops with bounds that are not constant.
    int64_t tripCount = kDefaultTripCount;
    CostOptions costs;
  };
  /// The options of a pass; an error if `tripCount` is not positive.
  static FailureOr<Options> getOptions(Location loc, Conflicts conflicts, StridedShardings stridedShardings,
                                       int64_t tripCount);

  Propagation(LayoutTable &table, const Options &options)
      : PropagationGraph(options.tripCount), table(table), mesh(table.getMesh()), options(options) {}

  /// Propagates to the fixpoint.
  void run();

  /// True if a reshape dropped an axis that it could forward if neighboring axes on a dim were
  /// one axis (a mesh of 2 x 3 as one of 3 x 2). Uneven dims need full axes, which that mesh
  /// does not have.
  bool wantsFlatMesh() const { return needsFlatMesh && !hasUneven; }

  /// A dim of a value class was extended, as proposed by `node`.
  struct Extension {
    ClassId valueClass;
    unsigned dim;
    DimEntries entries; // all entries of the dim after the extension
    NodeId node;
  };
  /// Records the extensions of the run, in order.
  void record() { recording = true; }
  ArrayRef<Extension> getExtensions() const { return extensions; }

  /// The axes of each factor that a node chooses for the shardings of its tensors. `agreed` is
  /// set to false on a conflict between tensors.
  FactorAxes choose(const Node &node, bool *agreed = nullptr);
  /// The tensors of a node as inputs of the choice by cost.
  SmallVector<TensorLayout> getTensorLayouts(const Node &node);
  /// True if the sharding that a node proposes for dim `d` of its tensor `t` must end at its
  /// first stride.
  bool mustBeUnstrided(const Node &node, unsigned t, unsigned d) const;
  LayoutTable &getTable() { return table; }
  const Options &getOptions() const { return options; }

private:
  /// Proposed entries per dim; empty for a dim without a proposal.
  using Dims = SmallVector<DimEntries, 4>;
  using DimsId = unsigned;
  struct Proposal {
    ClassId valueClass;
    NodeId node;
    DimsId dims;
  };
  /// A proposal for a tensor of a rule.
  struct Suggestion {
    unsigned tensor;
    DimsId dims;
  };

  bool isActive(const DimSharding &dim) const { return dim.priority <= priority; }
  /// Adds to the rules which factors may be padded. Only needed if a user sharding is uneven
  /// or a rule has windows, as uneven shardings start there.
  void markUneven();
  /// Schedules a visit of a node in one direction or both.
  void touch(NodeId node, Flow directions = Flow::Both);
  void touchAround(ClassId valueClass);
  bool sweep(bool backward, uint8_t stage);
  /// Appends the proposals of a node for its results or its operands.
  void propose(NodeId id, bool backward, std::vector<Proposal> &proposals);
  SmallVector<Suggestion, 2> getSuggestions(const Node &node, bool backward);
  DimsId intern(Dims dims);
  bool isOpen(ShardingId id);
  /// Resolves the proposals for one value class in one direction.
  void resolve(MutableArrayRef<Proposal> proposals, bool backward);
  /// The sharding of a value class after it accepts as much of a proposal as it can.
  ShardingId extend(ClassId valueClass, DimsId dims);
  /// Entries of `userSharding` are kept as written: its strides are not filled.
  Sharding extend(const Sharding &sharding, const Sharding &userSharding, RankedTensorType type,
                  ArrayRef<DimEntries> dims, bool unstrided) const;
  DimEntry getFreeSubAxis(const Sharding &sharding, unsigned dim, DimEntry entry) const;
  bool update(ClassId valueClass, ShardingId sharding, ArrayRef<Proposal> proposals);
  /// Records and logs an extension.
  void add(const Extension &extension);

  LayoutTable &table;
  const Mesh &mesh;
  Options options;
  /// User dims of a higher number do not take part yet.
  int64_t priority = 0;
  /// Whether reshapes forward sub-axes, and the rules that could.
  bool forwardsSubAxes = false;
  llvm::SmallPtrSet<const ShardingRule *, 4> rulesWithSubAxes;
  std::deque<Dims> dimLists;
  KeyedTable<DimsId> dimListIds;
  /// Computed once: suggestions per rule, direction and shardings (of the current priority),
  /// and extended shardings.
  KeyedTable<SmallVector<Suggestion, 2>> suggestions;
  llvm::DenseMap<std::tuple<std::pair<ShardingId, ShardingId>, DimsId, Type>, ShardingId> extended;
  /// Nodes to visit, per direction and level.
  std::vector<SmallVector<NodeId, 2>> dirtyAt[2];
  llvm::BitVector dirtyLevels[2];
  bool hasUneven = false; // user shardings
  bool needsFlatMesh = false;
  bool recording = false;
  std::vector<Extension> extensions;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_PROPAGATION_H
