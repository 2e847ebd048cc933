//===- FunctionSearch.h - The best layouts of one function ------*- C++ -*-===//
//
// What a user may ask of a search, as requirements of the problem, and the search:
// solve, offer what the solution asks for, solve again (docs/rationale/Search.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H
#define SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H

#include "shardkit/AutoSharding/ShardingProblem.h"
#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Solver/Solver.h"
#include <chrono>

namespace mlir::spmd {

struct SearchOptions {
  /// Prices, forbidden collectives and trips.
  Propagation::Options propagation;
  Regather regather = Regather::WithinBudget;
  bool allSubAxes = false;
  bool allowRecompute = false;
  /// Bytes per device; none: what the mesh says.
  std::optional<int64_t> memoryBudget;
  double gap = 0.001;
  /// Seconds, with what it takes to plan and to price the choices.
  double timeLimit = 60;
  /// Of the solver, in what it visits: the same answer on any machine.
  double workLimit = std::numeric_limits<double>::infinity();
  /// CBC solves instead, where ShardKit was built with it.
  bool withCbc = false;

  bool allowReplicatedWeights = true;
  /// Axes that cut dim 0 of the inputs, major to minor, and the names of these; no
  /// names: every argument that is no weight and not updated.
  SmallVector<std::string> batchAxes, batchArguments;
  /// ZeRO: 1 optimizer state, 2 gradients too, 3 weights too are cut by the batch axes.
  int64_t zeroStage = 0;
  /// Values of fewer elements stay as propagation has them.
  int64_t smallValueThreshold = 0;
  /// Seconds for each value that is not where propagation has it.
  double deviationPenalty = 0;
};

/// What is asked of the layouts of a function by options, with who asks for it.
struct Demand {
  Requirement requirement;
  Location loc;
  std::string text; // "zero-stage=1 cuts argument m.w by {"data"}"
};

/// What the options ask of this function. An error where they contradict what is given
/// there or ask for what the mesh has not; a remark where nothing can be done for a
/// value.
FailureOr<std::vector<Demand>> getDemands(func::FuncOp func, const SearchOptions &options, FunctionMeshes &meshes,
                                          Propagation &propagation, const ShardingProblem &problem);

struct SearchResult {
  /// Empty if nothing was found.
  std::vector<unsigned> choices;
  /// Readers that have copies made anew (`spmd.reshard_per_use`).
  std::vector<ShardingProblem::Use> anew;
  double objective = std::numeric_limits<double>::infinity(), lowerBound = 0;
  /// The part of the objective that collectives are, and all of them where that was
  /// asked for. (Of other choices than the last ones the problem cannot say that later.)
  double communication = 0;
  std::vector<PaidMove> moves;
  bool proven = false;
  /// What the solver said last.
  Solution last;
  /// Where nothing within the budget was found: what needs the least of all that was found, the bytes that it needs
  /// (-1: nothing was found), and what is needed in any case.
  std::vector<unsigned> smallest;
  int64_t smallestBudget = -1, smallestBudgetBound = -1;
  unsigned rounds = 0;
  double seconds = 0; // that it took, as the time limit counts them
};

class FunctionSearch {
public:
  /// Fails, with an error, where `spmd.factor_shardings` on an op or an option cannot be read.
  /// `released`: places whose given layouts do not count; `demands`: whether options
  /// that ask for layouts do.
  static FailureOr<std::unique_ptr<FunctionSearch>> create(func::FuncOp func, FunctionMeshes &meshes,
                                                           FunctionPropagation &propagation,
                                                           const SearchOptions &options, llvm::BitVector released = {},
                                                           bool demands = true);

  /// Searches with what is asked for, and `also`.
  SearchResult run(ArrayRef<Requirement> also = {}, bool withMoves = false);
  /// `optimal`, `gap`, or `optimal within sets of 3`.
  StringRef getStatus(const SearchResult &result) const;
  /// Settles places as chosen and writes `spmd.factor_shardings` on ops; `handed` gets what calls
  /// hand over.
  void write(const SearchResult &result, HandedLayouts &handed);

  ShardingProblem &getProblem() { return *problem; }
  ArrayRef<Demand> getDemands() const { return demands; }
  /// Asks for these only from now on.
  void setDemands(std::vector<Demand> wanted) { demands = std::move(wanted); }
  std::optional<int64_t> getBudget() const { return budget; }
  const LiveBuffers *getLiveBuffers() const { return live ? &*live : nullptr; }
  FunctionPropagation &getFunction() { return function; }
  func::FuncOp getFunc() const { return func; }
  const SearchOptions &getOptions() const { return options; }
  FunctionMeshes &getMeshes() { return meshes; }

private:
  class Rounds;
  using Clock = std::chrono::steady_clock;

  FunctionSearch(func::FuncOp func, FunctionMeshes &meshes, FunctionPropagation &function, const SearchOptions &options)
      : func(func), meshes(meshes), function(function), options(options) {}

  func::FuncOp func;
  FunctionMeshes &meshes;
  FunctionPropagation &function;
  const SearchOptions &options;
  std::optional<int64_t> budget;
  std::optional<LiveBuffers> live;
  std::optional<ShardingProblem> problem;
  std::vector<Demand> demands;
  /// Whether the problem has what was asked for besides the demands.
  bool asked = false;
  /// Until it is searched first.
  std::optional<Clock::time_point> created = Clock::now();
};

/// An error that says why there are no layouts: what does not fit, which pins and
/// options force it.
LogicalResult emitInfeasible(FunctionSearch &search, const SearchResult &result);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H
