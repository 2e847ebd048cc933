//===- ShardingProblem.h - A function as a cost graph -----------*- C++ -*-===//
//
// Automatic sharding minimises a sum: of each value the layout it is kept in, of each
// op how it computes, and a price where these meet. Values and ops are the places and
// nodes of a propagation, so that pins, groups, tied values, loops and calls mean the
// same in both.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H
#define SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H

#include "shardkit/AutoSharding/SearchSpace.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Solver/CostGraph.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include <functional>
#include <map>

namespace mlir::spmd {

/// What is asked of the layout that a place is kept in beyond what users gave there, or
/// of how a node computes.
struct Requirement {
  Requirement(Propagation::ValueId place, std::function<double(LayoutId)> price)
      : place(place), price(std::move(price)) {}
  static Requirement ofNode(Propagation::NodeId node, std::function<double(const FactorAxes &)> price) {
    Requirement requirement(0, nullptr);
    requirement.node = node;
    requirement.strategyPrice = std::move(price);
    return requirement;
  }

  Propagation::ValueId place;
  /// Seconds that a layout costs, infinite where it must not be.
  std::function<double(LayoutId)> price;
  Propagation::NodeId node = 0;
  std::function<double(const FactorAxes &)> strategyPrice; // of a node if not null
};

/// Something that is paid for when choices are made: a value that a reader wants
/// otherwise than it is kept, a result that is not kept as it is computed.
struct PaidMove {
  Value value;
  Operation *op; // the (first) reader, or the op that computes it
  enum Kind { Read, Completed, Windows, Picked } kind;
  LayoutId from, to;
  double seconds; // as often as it runs
};

/// When a reader has a copy of a value made that one before it had: never, where a budget leaves no room to hold it in
/// between, or always, so that each pays for its own.
enum class Regather { Never, WithinBudget, Always };

struct ProblemOptions {
  Regather regather = Regather::WithinBudget;
  /// Parts of axes too, not only where a whole one divides nothing.
  bool allSubAxes = false;
  /// Contractions may use fewer devices than they could.
  bool recompute = false;
  /// Seconds that one device alone would compute for an op; null: time to compute is
  /// no part of the price.
  std::function<double(const Propagation::Node &)> getComputeSeconds;
  /// Values each of whose readers pays its own reshard; null: as `regather` says.
  llvm::function_ref<bool(Value)> isGatheredPerUse = nullptr;
  /// Places whose given layouts do not count, if any.
  llvm::BitVector released;
  /// Where the values of the function live, if what a device holds counts.
  const LiveBuffers *live = nullptr;
  /// How an op must compute, if somebody said so.
  llvm::function_ref<std::optional<FactorAxes>(Operation *)> getPinned = nullptr;
};

/// Prices of one or two variables as they are computed: infinite seconds where
/// something is impossible, and bytes that break ties (none: zero).
struct PriceTable {
  std::vector<double> seconds;
  std::vector<int64_t> bytes;
};

/// Where several readers of a value want the same layout that it is not kept in, one reshard is paid
/// by all of them. With many axes that is a sharing of the graph. Else what to
/// share is one more choice per value, offered for all layouts that readers may share or, where these
/// are too many, only for those that a solution has asked for. Of all others together the most
/// expensive one is paid: too little only where readers want several, a relaxation that refine() makes
/// exact.
class ShardingProblem {
public:
  using PlaceId = Propagation::ValueId;
  using NodeId = Propagation::NodeId;

  /// `propagation` has read a function, and has run: layouts that it found and that
  /// are no whole axes are in the space too.
  ShardingProblem(Propagation &propagation, const ProblemOptions &options);

  const CostGraph &getGraph() const { return graph; }
  /// Replaces what is asked of places; the graph is another one then.
  void require(std::vector<Requirement> requirements);
  /// How layouts that several readers may want and that are not on offer are paid: once per
  /// value, which is not too much (the most expensive one that is wanted), or by each reader,
  /// which is not too little.
  enum class Unoffered { OncePerValue, PerReader };
  /// Changes that, and whether the graph has what a device holds (what many axes let readers share has its exact price
  /// only without). The graph is another one then, of the same variables but for those that say what is shared, which
  /// come last. At first what is not on offer is paid once, and the graph has what a device holds where that is known;
  /// with many axes that graph takes long to make: there it is then paid by each reader, and memory does not count.
  void setGraph(Unoffered how, bool countsMemory);
  /// Whether the graph has what is held of copies on offer, from the first reader of the value to the last: as if they
  /// were shared by all readers that want them. At first it has not, and peaks are never too high.
  void setCountsHeld(bool counts);
  bool isMemoryCounted() const { return countsMemory; }
  bool isHeldCounted() const { return countsHeld; }
  /// Whether anything is on offer that would be held.
  bool mayHold() const { return !copies.empty(); }
  /// A reader of a value: operand `tensor` of a node.
  struct Use {
    NodeId node;
    unsigned tensor;
    auto operator<=>(const Use &) const = default;
  };
  /// What becomes of the copies that readers want of values.
  struct Copies {
    /// Readers that have a copy made although one before them wants the same, ascending: it is not held in between.
    std::vector<Use> anew;
    /// The most bytes that a device then holds, and the first point of `live` where it does; 0 if it is not known
    /// what is live.
    int64_t peak = 0, peakPoint = 0;
  };
  /// Holds copies from one reader that may share them to the next, those whose price is the highest for what they
  /// take of a point that would be above the budget first, and within it as far as that is possible; all with
  /// `Regather::Never`.
  Copies holdCopies(ArrayRef<unsigned> choices, std::optional<int64_t> budget = {});
  /// The operand of the op of a node that this is, as `spmd.reshard_per_use` counts them; none where it takes what is
  /// there.
  std::optional<int64_t> getOperandNumber(const Use &use) const;
  /// Offers what these choices ask for and what is made anew; false if all of it was on offer, so that the
  /// graph's price of them is the right one. Else the graph is another one, whose prices
  /// are not lower (once per value), or not higher (per reader).
  bool refine(ArrayRef<unsigned> choices, ArrayRef<Use> anew = {});
  /// Whether the mesh has so many axes that the planner takes too long for all that is priced, and
  /// that values have too many layouts for sets of them to be listed.
  bool hasManyAxes() const { return table.getMesh().axes.size() > 2; }
  /// Whether readers may share what is not on offer from the beginning.
  bool canOffer() const {
    return llvm::any_of(offers, [](const Offer &offer) { return !offer.isComplete(); });
  }
  /// Variables that say where values are kept and how nodes compute; those behind them say what is
  /// shared, for which getSeconds needs no choice.
  unsigned getNumDecisions() const { return numDecisions; }
  /// Choices of all variables together.
  uint64_t getNumChoices() const {
    uint64_t sum = 0;
    for (Var v = 0; v < graph.getNumVariables(); ++v)
      sum += graph.getNumChoices(v);
    return sum;
  }
  /// All that is paid, copies shared but for those made anew: each price as often as it is paid,
  /// added in ascending order. `onlyMoves`: collectives alone, without time to compute
  /// and prices of requirements.
  /// Choices are those of the graph as it is now.
  double getSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> anew = {}, bool onlyMoves = false);
  /// What is paid for, one per reader and layout or result; the sum is that of getSeconds of moves.
  std::vector<PaidMove> getMoves(ArrayRef<unsigned> choices, ArrayRef<Use> anew = {});
  /// What a price of the graph is in seconds.
  double toSeconds(int64_t time) const { return time * quantum; }
  /// The most that a solution of these seconds costs in the graph, whose prices are rounded.
  int64_t toTime(double seconds) const {
    return int64_t(seconds / quantum) + graph.getCosts().size() + 8 * sharings.size() + 1;
  }
  /// Places whose uses may want more shared layouts than a choice has room for.
  bool isWithinSets() const { return limitedSets; }

  /// The layouts that a place may be kept in, one per choice, perhaps some twice.
  ArrayRef<LayoutId> getDomain(PlaceId place) const { return domains[places[place].domain]; }
  /// How a node may compute; empty for one that hands a value on.
  ArrayRef<FactorAxes> getStrategies(NodeId node) const {
    return nodes[node].computes ? ArrayRef<FactorAxes>(spaces[nodes[node].space]) : ArrayRef<FactorAxes>();
  }
  /// The layout that a place is kept in.
  LayoutId getLayout(PlaceId place, ArrayRef<unsigned> choices) const {
    return domains[places[place].domain][choices[places[place].var]];
  }
  /// Bytes that a device then holds of it.
  int64_t getLocalBytes(PlaceId place, ArrayRef<unsigned> choices) const {
    return space.getLocalBytes(getLayout(place, choices), propagation.getPlace(place).type);
  }
  /// How a node computes; null for one that hands a value on.
  const FactorAxes *getStrategy(NodeId node, ArrayRef<unsigned> choices) const {
    return nodes[node].var == CostGraph::kNoVar ? nullptr : &spaces[nodes[node].space][choices[nodes[node].var]];
  }

private:
  using Var = CostGraph::Var;
  using Key = std::vector<int64_t>;
  using DomainId = unsigned;
  using SpaceId = unsigned;
  using SetsId = unsigned;

  /// A variable whose choices have a layout each that a value is kept in.
  struct Kept {
    Var var = CostGraph::kNoVar;
    DomainId domain = 0;
    /// Layouts that it is also had in, paid once, per choice; 0: none.
    SetsId sets = 0;
  };
  struct NodeVar {
    Var var = CostGraph::kNoVar;
    SpaceId space = 0;
    bool computes = false;
    int64_t definesAlone = -1; // the place that it shares a variable with
  };
  /// Layouts that readers of a value may share, ascending, and how many of them may want each.
  struct Offer {
    std::vector<LayoutId> layouts;
    std::map<LayoutId, unsigned> askers;
    bool hasPrice(LayoutId id) const { return llvm::binary_search(layouts, id) || askers.at(id) < 2; }
    bool isComplete() const {
      return llvm::all_of(askers, [&](auto &asked) { return hasPrice(asked.first); });
    }
  };

  void addStrategies();
  void addPlaces();
  void addShared();
  /// Whether the graph prices what its readers share as it is, without anything on offer.
  bool isSharing(Value value) const {
    auto it = shared.find(value);
    return it != shared.end() && it->second.isSharing && unoffered == Unoffered::OncePerValue && !countsMemory;
  }
  void addSharings();
  Offer getOffer(PlaceId place, ArrayRef<Use> readers);
  void addVariables();
  void addCopies(Value value);
  /// What is asked of places, and time to compute.
  void addDemands();
  /// What users gave for a place, if that counts.
  const Sharding &getGiven(PlaceId id);
  void build();
  /// What the copies of a value with these readers are chosen from, without a variable
  /// of its own; `sets` is 0 where nothing is on offer.
  Kept getCopies(PlaceId place, ArrayRef<Use> readers, unsigned offer);
  /// The layouts that the readers of a value want and it is not kept in, each once; those that at
  /// least `byAtLeast` of them want.
  void getWanted(Value value, ArrayRef<Use> readers, ArrayRef<unsigned> choices, SmallVectorImpl<LayoutId> &wanted,
                 unsigned byAtLeast = 1);
  void addBuffers();
  /// What is paid for copies that could be shared.
  std::vector<PaidMove> getMovesAnew(ArrayRef<unsigned> choices, ArrayRef<Use> anew);
  /// Where a buffer of `live` is kept; null for what is no value of the propagation.
  Value getKept(const LiveBuffer &buffer) const;
  /// Whether the user has it made anew.
  bool isGivenAnew(const Use &use) const;
  /// The points of `live` at which a reader needs its copy; numbers of nodes if it is not known what is live.
  std::pair<int64_t, int64_t> getReadSpan(NodeId id) const;
  /// Whether a node takes part in the program that comes out: a pin without readers does not.
  bool isRead(NodeId id) const;
  /// A reader of a copy, and the points at which it needs it.
  struct Read {
    int64_t begin, end;
    Use use;
  };
  /// By what it is a copy of, and its layout: its readers, in program order.
  using Reads = llvm::MapVector<std::pair<Value, LayoutId>, SmallVector<Read, 2>>;
  Reads getReads(ArrayRef<unsigned> choices);
  class Profile;
  /// Holds all but copies: values where they are kept, and results on their way there.
  void holdValues(ArrayRef<unsigned> choices, Profile &profile);
  /// What a reader asks for that is not where its value is kept, or made for it; none for one that takes it as it is.
  std::optional<LayoutId> getAsked(const Use &use, ArrayRef<unsigned> choices);
  /// Bytes of one or two variables, as a table of the graph, computed once per build.
  CostGraph::BytesId getBytes(Key key, llvm::function_ref<std::vector<int64_t>()> make);
  void addEdges();
  void addEdges(NodeId id);
  void addEntry(NodeId id);
  void finish();

  /// Interns a list by its content.
  template <typename T>
  static unsigned intern(std::vector<std::vector<T>> &lists, std::map<Key, unsigned> &ids, Key key,
                         std::vector<T> list);
  DomainId internDomain(std::vector<LayoutId> layouts);
  /// A table under what it depends on, computed once.
  unsigned getTable(Key key, llvm::function_ref<PriceTable()> make);
  void addCost(Var var, unsigned priceTable) { costs.push_back({var, CostGraph::kNoVar, priceTable}); }
  void addCost(Var a, Var b, unsigned priceTable) { costs.push_back({a, b, priceTable}); }
  /// Says what the cost that was added last is paid for.
  void setOrigin(NodeId node, unsigned tensor, PaidMove::Kind kind) {
    costs.back().node = node;
    costs.back().tensor = tensor;
    costs.back().kind = kind;
  }
  Var addVariable(size_t numChoices) { return graph.addVariable(numChoices); }

  /// Infinite for what cannot be moved.
  double getSeconds(LayoutId from, LayoutId to, RankedTensorType type);
  /// From how a result is computed to where it is kept. On more than two axes as if sums were
  /// completed first, but for slices that cost nothing: the planner knows more ways there, and takes
  /// much longer.
  double getProducedSeconds(LayoutId produced, LayoutId home, RankedTensorType type);
  ExtraCuts getExtraCuts(const Propagation::Node &node) const;
  bool allows(const Sharding &given, LayoutId id, RankedTensorType type) const;
  /// What operand `t` of a node must be had in, by strategy (or, for one that hands
  /// values on, by choice of where it goes); `has` is where it is kept.
  LayoutId getNeeded(NodeId id, unsigned t, unsigned strategy, LayoutId has);
  unsigned getNumNeeds(NodeId id) const;
  unsigned getStrategyNumber(NodeId id, ArrayRef<unsigned> choices) const;
  Kept getSource(NodeId id, unsigned t) const;
  RankedTensorType getType(NodeId id, unsigned t) const;
  Key getUseKey(NodeId id, unsigned t) const;

  Propagation &propagation;
  LayoutTable &table;
  ProblemOptions options;
  SearchSpace space;
  CostGraph graph;
  double quantum = 1;
  bool limitedSets = false, countsMemory = false, countsHeld = false;
  unsigned numDecisions = 0;
  Unoffered unoffered = Unoffered::OncePerValue;

  std::vector<std::vector<LayoutId>> domains;
  std::vector<std::vector<FactorAxes>> spaces;
  // By rule, tensor and space: what is needed by strategy, wherever it is kept.
  llvm::DenseMap<std::tuple<const void *, unsigned, unsigned>, std::vector<LayoutId>> needs;
  std::vector<std::vector<SmallVector<LayoutId, 2>>> sets;
  /// Per choice of such a set what is paid, once, for layouts that are not on offer: seconds of the
  /// most expensive one.
  std::vector<std::vector<double>> covers;
  std::vector<PriceTable> priceTables;
  std::map<Key, unsigned> domainIds, spaceIds, tableIds;
  std::map<Key, CostGraph::BytesId> bytesIds;
  std::map<Key, Kept> copiesOf;
  /// Values with several readers, the readers, and the class of values that have the same
  /// and so are offered the same.
  struct Shared {
    SmallVector<Use, 4> readers;
    unsigned offer;
    bool isSharing = false;
  };
  llvm::MapVector<Value, Shared> shared;
  std::vector<Offer> offers;
  std::vector<CostGraph::Sharing> sharings;
  std::vector<unsigned> sharingPrices; // price tables, one per sharing of the graph
  struct Cost {
    Var a, b;
    unsigned table;
    /// Whether readers of a value share what it is a price of.
    bool isShared = false;
    /// Whether it is the price of collectives.
    bool isMove = true;
    /// What is paid for, where that is one tensor of a node.
    NodeId node = ~0u;
    unsigned tensor = 0;
    PaidMove::Kind kind = PaidMove::Read;
  };
  std::vector<Cost> costs;
  /// Seconds of that with these choices each time, and how often. The plan that completes a
  /// result may be cheaper than what the search supposed.
  std::pair<double, int64_t> getPaid(const Cost &cost, ArrayRef<unsigned> choices);
  std::vector<Requirement> requirements;
  std::map<int64_t, Sharding> openGiven; // by rank

  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, double> producedSeconds;
  std::vector<Kept> places;   // per place
  std::vector<NodeVar> nodes; // per node
  llvm::DenseMap<Value, Kept> copies;
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H
