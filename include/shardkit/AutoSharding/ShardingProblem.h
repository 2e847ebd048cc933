//===- ShardingProblem.h - A function as a cost graph -----------*- C++ -*-===//
//
// Automatic sharding minimizes a sum of prices over a cost graph (Solver/CostGraph.h).
//
// Terms:
//   stored layout   the layout that a value class is stored in: one variable per value class
//   strategy        how a node computes: one variable per node (ProblemVariables.h)
//   reader          an operand of a node, which needs a layout that its strategy determines
//   copy            a value in another layout than its stored one, made for a reader
//   shared copy     a copy that several readers use; it is paid once
//   listed copy     a shared copy with a price of its own in the graph
//   room            seconds of a move in which independent compute hides it (ProblemOverlap.cpp)
//
// For %0 = matmul(%a, %b) and its reader `return`, variables are in brackets, prices (cost
// functions, "factors" of the graph) are on the edges:
//
//   [layout of %a] --reshard--+
//                             +--> [strategy] --reduce, reshard--> [layout of %0] --reshard--> return
//   [layout of %b] --reshard--+
//         |
//         +--equal--> [copies of %b] --reshard--> [strategy of another reader]
//
// A node that alone defines a value shares its variable with the value. A constraint, a group,
// a tied value, a loop and a call mean the same as in propagation, since value classes and
// nodes are those of its graph.
//
// Readers that need the same copy pay for one reshard. On a mesh with many axes the graph has
// a sharing (CostGraph::Sharing). Otherwise a variable per value chooses a set of listed
// copies. If there are too many to list, only the copies that a solution requested are listed;
// all others together cost as much as the most expensive one. That is a relaxation: it is too
// low only if readers need several of them. `refine` makes it exact.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H
#define SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H

#include "shardkit/AutoSharding/ProblemVariables.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {

/// An additional price: of the layout that a value class is stored in, or of the strategy of a
/// node.
struct Requirement {
  Requirement(Propagation::ClassId valueClass, std::function<double(LayoutId)> price)
      : valueClass(valueClass), price(std::move(price)) {}
  static Requirement ofNode(Propagation::NodeId node, std::function<double(const FactorAxes &)> price) {
    Requirement requirement(0, nullptr);
    requirement.node = node;
    requirement.strategyPrice = std::move(price);
    return requirement;
  }

  Propagation::ClassId valueClass;
  /// Seconds of a layout; infinite for a forbidden one.
  std::function<double(LayoutId)> price;
  Propagation::NodeId node = 0;
  std::function<double(const FactorAxes &)> strategyPrice; // if not null, the price of a node
};

/// A move that choices pay for: a copy for a reader, or a result that is not stored in the
/// layout that it is computed in.
struct PaidMove {
  Value value;
  Operation *op; // the (first) reader, or the op that computes it
  enum Kind { Read, Completed, Windows, Picked } kind;
  LayoutId from, to;
  double seconds; // over all executions
};

/// Prices of one or two variables: infinite seconds for an impossible choice, and bytes that
/// break ties (none: zero).
struct PriceTable {
  std::vector<double> seconds;
  std::vector<int64_t> bytes;
};

/// The layouts of listed copies, ascending, and the number of readers that may need each.
struct SharedLayouts {
  std::vector<LayoutId> layouts;
  std::map<LayoutId, unsigned> numReaders;
  bool hasPrice(LayoutId id) const { return llvm::binary_search(layouts, id) || numReaders.at(id) < 2; }
  bool isComplete() const {
    return llvm::all_of(numReaders, [&](auto &layout) { return hasPrice(layout.first); });
  }
};

/// A schedule of copies.
struct CopySchedule {
  /// Readers that reshard again although a reader before them has the same copy, ascending.
  std::vector<ProblemVariables::Use> perUse;
  /// The peak bytes of a device, and the first such point of `live`; 0 without live ranges.
  int64_t peak = 0, peakPoint = 0;
};

/// A reader of a copy, and the points between which it needs the copy.
struct CopyRead {
  int64_t begin, end;
  ProblemVariables::Use use;
};

/// A value with several readers. Values with equal readers are one group.
struct SharedValue {
  SmallVector<ProblemVariables::Use, 4> readers;
  unsigned group; // index into sharedLayouts
  bool isSharing = false;
};

/// A price table between one or two variables.
struct PricedVariables {
  CostGraph::Var a, b;
  unsigned table;
  bool isShared = false, isMove = true; // a shared copy; a price of collectives
  Propagation::NodeId node = ~0u;       // the origin, if it is one tensor of a node
  unsigned tensor = 0;
  PaidMove::Kind kind = PaidMove::Read;
  unsigned rest = ~0u; // the table in the graph, if it is another one
};

/// Positions of ops between which a move is under way.
struct MoveWindow {
  unsigned begin, end;
};

class ShardingProblem : public ProblemVariables {
public:
  using Copies = CopySchedule;
  /// `propagation` has run.
  ShardingProblem(Propagation &propagation, const ProblemOptions &options);

  const CostGraph &getGraph() const { return graph; }
  /// Replaces the requirements, and the graph.
  void require(std::vector<Requirement> requirements);
  /// How copies without a list entry are paid: once per value (the most expensive one; a lower
  /// bound), or by each reader (an upper bound).
  enum class Unlisted { OncePerValue, PerReader };
  /// Replaces the graph by one with this price of unlisted copies, with or without memory. The
  /// variables are the same but for those of copies, which come last. Initially unlisted copies
  /// are paid once, and memory counts if live ranges are known. With many axes such a graph
  /// takes too long: there unlisted copies are paid by each reader, without memory.
  void setGraph(Unlisted how, bool countsMemory);
  /// Sets whether the graph counts the memory of listed copies, from the first reader of the
  /// value to the last. Initially it does not, so that its peaks are lower bounds.
  void setCountsHeldCopies(bool counts);
  /// The seconds of moves in which independent compute hides them (ProblemOptions::overlap): none; all that is
  /// computed in between with known choices; what the moves of these leave to others; those of a lower bound.
  enum class Rooms { None, All, Left, Bound };
  /// Replaces the graph by one with these prices. Initially nothing is hidden.
  void setRooms(Rooms how, ArrayRef<unsigned> choices = {}, ArrayRef<Use> perUse = {});
  bool hidesMoves() const { return options.overlap > 0; }
  /// The seconds of moves that pass while independent ops compute. Each op hides what it computes once.
  double getHiddenSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> perUse);
  bool isMemoryCounted() const { return countsMemory; }
  bool countsHeldCopies() const { return countsHeld; }
  bool hasListedCopies() const { return !copies.empty(); }
  bool hasUnlisted() const {
    return llvm::any_of(sharedLayouts, [](const SharedLayouts &list) { return !list.isComplete(); });
  }
  /// Holds copies from one reader to the next as long as the budget permits: first those with
  /// the highest price per byte at the points above the budget. All with ReshardPerUse::Never.
  Copies scheduleCopies(ArrayRef<unsigned> choices, std::optional<int64_t> budget = {});
  /// The operand number of a use for `spmd.reshard_per_use`; none if it cannot reshard.
  std::optional<int64_t> getOperandNumber(const Use &use) const;
  /// Lists the copies that these choices need and those resharded per use. False if all had a
  /// price, so that the graph's price is exact. Otherwise the graph is replaced; its prices are
  /// not lower (once per value), or not higher (per reader).
  bool refine(ArrayRef<unsigned> choices, ArrayRef<Use> perUse = {});
  /// The number of variables of value classes and nodes; those of copies follow.
  unsigned getNumDecisions() const { return numDecisions; }
  /// The sum of the numbers of choices of all variables.
  uint64_t getNumChoices() const;
  /// The exact price of choices: each distinct price times its count, added in ascending order.
  /// `onlyMoves`: without compute time and requirements.
  double getSeconds(ArrayRef<unsigned> choices, ArrayRef<Use> perUse = {}, bool onlyMoves = false);
  /// The moves that choices pay for; their sum is getSeconds of moves.
  std::vector<PaidMove> getMoves(ArrayRef<unsigned> choices, ArrayRef<Use> perUse = {});
  /// Converts a price of the graph to seconds.
  double toSeconds(int64_t time) const { return time * quantum; }
  /// An upper bound of the graph's price, which is rounded, of a solution of these seconds.
  int64_t toTime(double seconds) const;
  /// Whether some values have more listed copies than one choice can hold.
  bool isWithinSets() const { return limitedSets; }

private:
  class Profile;
  using Read = CopyRead;
  using Shared = SharedValue;
  using Cost = PricedVariables;
  using Window = MoveWindow;
  /// Readers in program order, by value and layout of the copy.
  using Reads = llvm::MapVector<std::pair<Value, LayoutId>, SmallVector<Read, 2>>;

  // Construction of the graph, in this order.
  void addShared();
  void build();
  void addVariables();
  void addCopies(Value value);
  void addEdges();
  void addEdges(NodeId id);
  void addEntry(NodeId id);
  void addSharings();
  void addRequirements();
  void finish();
  void addBuffers();

  bool isSharing(Value value) const;
  SharedLayouts findSharedLayouts(ClassId valueClass, ArrayRef<Use> readers);
  Kept getCopies(ClassId valueClass, ArrayRef<Use> readers, unsigned group);
  Kept getSource(NodeId id, unsigned t) const;
  void getRequestedLayouts(Value value, ArrayRef<Use> readers, ArrayRef<unsigned> choices,
                           SmallVectorImpl<LayoutId> &wanted, unsigned minReaders = 1);
  std::optional<LayoutId> getRequested(const Use &use, ArrayRef<unsigned> choices);
  bool isUserReshardPerUse(const Use &use) const;
  std::vector<PaidMove> getMovesPerUse(ArrayRef<unsigned> choices, ArrayRef<Use> perUse);
  Value getKept(const LiveBuffer &buffer) const;
  std::pair<int64_t, int64_t> getReadSpan(NodeId id) const;
  bool isRead(NodeId id) const;
  Reads getReads(ArrayRef<unsigned> choices);
  void holdValues(ArrayRef<unsigned> choices, Profile &profile);
  /// Computed once per key and build: bytes of one or two variables.
  CostGraph::BytesId getBytes(Key key, llvm::function_ref<std::vector<int64_t>()> make);
  /// Computed once per key: prices of one or two variables.
  unsigned getTable(Key key, llvm::function_ref<PriceTable()> make);
  Key getUseKey(NodeId id, unsigned t) const;
  void addCost(Var var, unsigned priceTable) { costs.push_back({var, CostGraph::kNoVar, priceTable}); }
  void addCost(Var a, Var b, unsigned priceTable) { costs.push_back({a, b, priceTable}); }
  void setOrigin(NodeId node, unsigned tensor, PaidMove::Kind kind);
  /// Positions in program order, those of nested ops after that of the op around them.
  void numberOps();
  /// Seconds that ops compute, by position.
  std::vector<double> getComputeAt(ArrayRef<unsigned> choices) const;
  Window getReadWindow(Value value, Operation *reader) const;
  Window getCompletionWindow(Value value, Operation *maker) const;
  double getRoom(Value value, Window window) const;
  /// Whether the known choices leave nothing of what an op computes, so that a bound does not count it.
  bool isBound(NodeId id) const;
  /// The room of copies that readers share: until the first of these.
  double getSharedRoom(Value value) const;
  /// The table of what is left of prices.
  unsigned getRest(unsigned prices, double room);
  double getSeconds(LayoutId from, LayoutId to, RankedTensorType type);
  double getCompletionSeconds(LayoutId computed, LayoutId stored, RankedTensorType type);
  std::pair<double, int64_t> getPaid(const Cost &cost, ArrayRef<unsigned> choices);

  CostGraph graph;
  double quantum = 1; // seconds of a unit of time of the graph
  bool limitedSets = false, countsMemory = false, countsHeld = false;
  unsigned numDecisions = 0;
  Unlisted unlisted = Unlisted::OncePerValue;
  std::vector<Requirement> requirements;
  std::vector<Cost> costs;
  std::vector<PriceTable> priceTables;
  std::map<Key, unsigned> tableIds;
  std::map<Key, CostGraph::BytesId> bytesIds;
  llvm::MapVector<Value, Shared> shared;
  std::vector<SharedLayouts> sharedLayouts;
  std::vector<CostGraph::Sharing> sharings;
  std::vector<unsigned> sharingPrices; // price tables, one per sharing of the graph
  llvm::DenseMap<Value, Kept> copies;
  std::map<Key, Kept> copiesOf;
  std::vector<std::vector<SmallVector<LayoutId, 2>>> sets;
  std::vector<std::vector<double>> covers; // per choice of a set: seconds of the unlisted copies
  llvm::DenseMap<std::tuple<LayoutId, LayoutId, Type>, double> completionSeconds;
  // Overlap with compute.
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> spans; // positions: its own, and the one after all inside
  unsigned numPositions = 0;
  Rooms rooms = Rooms::None;
  std::vector<double> passed;          // compute before each position that can hide moves
  std::vector<double> left;            // compute that hid no move, by position, of the latest choices
  llvm::DenseMap<Value, double> taken; // seconds in which moves of a value were hidden then
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_SHARDINGPROBLEM_H
