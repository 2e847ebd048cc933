//===- ProblemVariables.h - Domains of a sharding problem -------*- C++ -*-===//
//
// Variables of the problem and what they are chosen from:
//
//   domain      the layouts that a value class may be stored in, one per choice
//   strategy    an assignment of (sub-)axes to the factors of the rule of a node
//   space       the strategies of a node, one per choice
//
// Equal domains and equal spaces are interned, so that their prices are computed once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_PROBLEMVARIABLES_H
#define SHARDKIT_AUTOSHARDING_PROBLEMVARIABLES_H

#include "shardkit/AutoSharding/SearchSpace.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Options.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Solver/CostGraph.h"
#include "llvm/ADT/BitVector.h"
#include <functional>
#include <map>

namespace mlir::spmd {

struct ProblemOptions {
  /// When a reader reshards a value although a reader before it had the same copy: if the memory
  /// budget leaves no room to hold the copy in between (Auto), always or never.
  ReshardPerUse reshardPerUse = ReshardPerUse::Auto;
  /// Use sub-axes everywhere, not only if the full axis divides no factor.
  bool allSubAxes = false;
  /// Contractions may use fewer devices than they could.
  bool recompute = false;
  /// Candidates are changes of the propagated layouts: with axes that these use, and contractions
  /// on as many devices as these give them, or more.
  bool improvesPropagation = false;
  /// Seconds that one device alone computes for an op; null: compute time has no price.
  std::function<double(const Propagation::Node &)> getComputeSeconds;
  /// The fraction of a move that passes while independent ops compute; the objective counts what is left of it.
  /// Unless it is 0, compute time has a price.
  double overlap = 0;
  /// Values that each reader reshards for itself; null: according to `reshardPerUse`.
  llvm::function_ref<bool(Value)> isReshardedPerUse = nullptr;
  /// Value classes with user shardings to ignore, if any.
  llvm::BitVector released;
  /// Live ranges of the values of the function, if memory counts.
  const LiveBuffers *live = nullptr;
  /// The strategy of an op, if the user specified it.
  llvm::function_ref<std::optional<FactorAxes>(Operation *)> getFixedStrategy = nullptr;
};

class ProblemVariables {
public:
  using ClassId = Propagation::ClassId;
  using NodeId = Propagation::NodeId;
  /// A reader of a value: operand `tensor` of a node.
  struct Use {
    NodeId node;
    unsigned tensor;
    auto operator<=>(const Use &) const = default;
  };

  /// `propagation` has run: its results are candidates too, if they are not full axes.
  ProblemVariables(Propagation &propagation, const ProblemOptions &options)
      : propagation(propagation), table(propagation.getTable()), options(options),
        space(table, getAxes(), options.allSubAxes) {}

  /// Whether the mesh has too many axes for the planner to price every pair of layouts, and for
  /// sets of layouts to be listed.
  bool hasManyAxes() const { return space.getNumAxes() > 2; }

  /// The layouts that a value class may be stored in, one per choice; repetitions are possible.
  ArrayRef<LayoutId> getDomain(ClassId valueClass) const { return domains[classes[valueClass].domain]; }
  /// The strategies of a node; empty for an identity.
  ArrayRef<FactorAxes> getStrategies(NodeId node) const {
    return nodes[node].computes ? ArrayRef<FactorAxes>(spaces[nodes[node].space]) : ArrayRef<FactorAxes>();
  }
  /// The layout that a value class is stored in.
  LayoutId getLayout(ClassId valueClass, ArrayRef<unsigned> choices) const {
    return domains[classes[valueClass].domain][choices[classes[valueClass].var]];
  }
  /// Bytes that a device stores of it.
  int64_t getLocalBytes(ClassId valueClass, ArrayRef<unsigned> choices) const {
    return space.getLocalBytes(getLayout(valueClass, choices), propagation.getClass(valueClass).type);
  }
  /// The propagated layouts and their strategies as choices of value classes and nodes; empty if
  /// some are not candidates. In an improvement all are.
  std::vector<unsigned> getPropagated();
  /// Whether an op computes with this strategy, or one that is free as well, by the layouts that
  /// its tensors have in the propagation now.
  bool isChosenByCost(const Propagation::Node &node, const FactorAxes &axes);
  /// The strategy of a node; null for an identity.
  const FactorAxes *getStrategy(NodeId node, ArrayRef<unsigned> choices) const {
    return nodes[node].var == CostGraph::kNoVar ? nullptr : &spaces[nodes[node].space][choices[nodes[node].var]];
  }

protected:
  using Var = CostGraph::Var;
  using Key = std::vector<int64_t>;
  using DomainId = unsigned;
  using SpaceId = unsigned;
  using SetsId = unsigned;

  /// The variable of a value class, or of the copies of a value.
  struct Kept {
    Var var = CostGraph::kNoVar;
    DomainId domain = 0;
    /// Per choice: further layouts of copies that readers share; 0: none.
    SetsId sets = 0;
  };
  struct NodeVar {
    Var var = CostGraph::kNoVar;
    SpaceId space = 0;
    bool computes = false;
    int64_t definesAlone = -1; // the value class that it shares a variable with
  };

  /// The axes of the mesh that layouts are made of.
  DimEntries getAxes();
  void addStrategies();
  void addClasses();
  /// The strategy of a node with the propagated layouts.
  const FactorAxes &getPropagatedStrategy(const Propagation::Node &node);
  /// The strategies of a node that may replace the propagated one, with this one. `all`: the
  /// space of all strategies, which has this key.
  SpaceId getImprovements(const Propagation::Node &node, Key key, SpaceId all);
  /// The user sharding of a value class, unless it is released.
  const Sharding &getUserSharding(ClassId id);
  ExtraShardings getExtraShardings(const Propagation::Node &node) const;
  llvm::DenseMap<ClassId, SmallVector<Use, 1>> findSegments();
  /// False for a layout of a segment that splits a unit, by the rule of a reader.
  bool keepsUnits(const Use &reader, LayoutId layout);
  bool allows(const Sharding &userSharding, LayoutId id, RankedTensorType type) const;
  /// The layout that operand `t` of a node needs: per strategy, or for an identity per choice
  /// of its target. `has` is the layout that the operand is stored in.
  LayoutId getNeeded(NodeId id, unsigned t, unsigned strategy, LayoutId has);
  unsigned getNumNeeds(NodeId id) const;
  unsigned getStrategyNumber(NodeId id, ArrayRef<unsigned> choices) const;
  RankedTensorType getType(NodeId id, unsigned t) const;
  DomainId internDomain(std::vector<LayoutId> layouts);

  Propagation &propagation;
  LayoutTable &table;
  ProblemOptions options;
  SearchSpace space;
  std::vector<std::vector<LayoutId>> domains;
  std::vector<std::vector<FactorAxes>> spaces;
  std::vector<Kept> classes;  // per value class
  std::vector<NodeVar> nodes; // per node

private:
  std::map<Key, unsigned> domainIds, spaceIds;
  KeyedTable<FactorAxes> propagatedStrategies; // by rule, layouts and executions
  /// Needed layouts per strategy, by rule, tensor and space; independent of the stored layout.
  llvm::DenseMap<std::tuple<const void *, unsigned, unsigned>, std::vector<LayoutId>> needs;
  std::map<int64_t, Sharding> openShardings; // by rank
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_PROBLEMVARIABLES_H
