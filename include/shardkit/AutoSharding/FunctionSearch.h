//===- FunctionSearch.h - The best layouts of one function ------*- C++ -*-===//
//
// The search for the layouts of a function, or of functions that share values
// (docs/rationale/Search.md):
//   1. Options become requirements of the problem.
//   2. The solver solves the problem.
//   3. Copies that the solution needs are listed (ShardingProblem::refine); if some were not
//      listed yet, step 2 is repeated.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H
#define SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H

#include "shardkit/AutoSharding/ShardingProblem.h"
#include "shardkit/Propagation/CompleteModule.h"
#include "shardkit/Solver/Solver.h"
#include "shardkit/Support/CpuClock.h"

namespace mlir::spmd {

struct SearchOptions {
  /// Prices, forbidden collectives and trips.
  Propagation::Options propagation;
  ReshardPerUse reshardPerUse = ReshardPerUse::Auto;
  bool allSubAxes = false;
  bool allowRecompute = false;
  /// The objective counts what is left of collectives after the independent compute that they overlap with, by the
  /// `spmd.overlap` of the mesh.
  bool hidesCollectives = false;
  /// Bytes per device; none: the memory of the mesh.
  std::optional<int64_t> memoryBudget;
  /// Allowed distances from the bound: within a budget, and without one.
  double gap = 0.001, freeGap = 0;
  /// Seconds, including those to plan and to price the choices.
  double timeLimit = 60;
  /// A limit of table entries that the solver visits: the same answer on any machine.
  double workLimit = std::numeric_limits<double>::infinity();
  /// CBC solves instead, where ShardKit was built with it.
  bool withCbc = false;

  /// Begin with the propagated layouts, and search only changes of them (ProblemOptions).
  bool improvesPropagation = false;

  bool allowReplicatedWeights = true;
  /// Axes that shard dim 0 of the inputs, major to minor, and the names of the inputs; no
  /// names: every argument that is not a weight and not updated.
  SmallVector<std::string> batchAxes, batchArguments;
  /// ZeRO: the batch axes shard the optimizer state (1), gradients too (2), weights too (3).
  int64_t zeroStage = 0;
  /// Values with fewer elements keep their propagated sharding.
  int64_t smallValueThreshold = 0;
  /// Seconds for each value that deviates from its propagated sharding.
  double deviationPenalty = 0;
};

/// A requirement that stems from an option, with its description for diagnostics.
struct OptionRequirement {
  Requirement requirement;
  Location loc;
  std::string text; // "zero-stage=1 shards argument m.w by {"data"}"
};

/// The requirements of the options for these functions. An error if they contradict a user
/// sharding or name axes that the mesh does not have; a remark if they cannot be met for a
/// value.
FailureOr<std::vector<OptionRequirement>> getRequirements(FunctionPropagation &functions, const SearchOptions &options,
                                                          FunctionMeshes &meshes, const ShardingProblem &problem);

/// In `spmd.solver`, where the time limit ended the search.
inline constexpr llvm::StringLiteral kTimedOutName = "timed_out";

struct SearchResult {
  /// Empty if nothing was found.
  std::vector<unsigned> choices;
  /// Readers that reshard for themselves (`spmd.reshard_per_use`).
  std::vector<ShardingProblem::Use> perUse;
  double objective = std::numeric_limits<double>::infinity(), lowerBound = 0;
  /// The share of collectives in the objective, and the moves if requested. They are computed
  /// with the choices, since the problem knows only the latest ones.
  double communication = 0;
  /// Seconds of these that pass while independent ops compute, which the objective does not count.
  double hidden = 0;
  std::vector<PaidMove> moves;
  bool proven = false;
  /// The latest solution of the solver.
  Solution last;
  /// If no choices within the budget were found: the choices that need the fewest bytes, these
  /// bytes (-1: none were found), and a lower bound.
  std::vector<unsigned> smallest;
  int64_t smallestBudget = -1, smallestBudgetBound = -1;
  /// Whether the layouts that an improvement begins with are within the budget, as the search counts.
  bool startFits = true;
  unsigned rounds = 0;
  double seconds = 0;    // as counted for the time limit
  bool timedOut = false; // with more time it may be better
};

class FunctionSearch {
public:
  /// Fails, with an error, if `spmd.factor_shardings` on an op or an option cannot be read.
  /// `released`: value classes with user shardings to ignore; `requirements`: whether the
  /// requirements of options count.
  static FailureOr<std::unique_ptr<FunctionSearch>> create(FunctionMeshes &meshes, FunctionPropagation &propagation,
                                                           const SearchOptions &options, llvm::BitVector released = {},
                                                           bool requirements = true);

  /// Searches with the requirements of options, and `also`.
  SearchResult run(ArrayRef<Requirement> also = {}, bool withMoves = false);
  /// `optimal`, `gap`, or `optimal within sets of 3`.
  StringRef getStatus(const SearchResult &result) const;
  /// Sets the shardings of value classes and writes `spmd.factor_shardings` on ops; without
  /// `everyStrategy` only on those that would compute otherwise. `callOperands` gets the layouts in
  /// which calls pass their operands.
  void write(const SearchResult &result, CallOperandLayouts &callOperands, bool everyStrategy = true);

  ShardingProblem &getProblem() { return *problem; }
  ArrayRef<OptionRequirement> getRequirements() const { return requirements; }
  /// Replaces the requirements of options.
  void setRequirements(std::vector<OptionRequirement> wanted) { requirements = std::move(wanted); }
  std::optional<int64_t> getBudget() const { return budget; }
  const LiveBuffers *getLiveBuffers() const { return live ? &*live : nullptr; }
  FunctionPropagation &getFunction() { return function; }
  /// In the order of the module.
  ArrayRef<func::FuncOp> getFuncs() const { return funcs; }
  /// `function @f`, or `functions @f, @g`.
  std::string describeFuncs() const;
  const SearchOptions &getOptions() const { return options; }
  /// Whether the objective includes compute time: with `allow-recompute`, or if the mesh has `flops`.
  bool pricesCompute() const { return options.allowRecompute || meshes.getCostMesh().flops; }
  /// The fraction of collectives that passes while independent ops compute, and that the objective does not count.
  double getOverlap() const { return options.hidesCollectives && pricesCompute() ? overlap : 0; }
  FunctionMeshes &getMeshes() { return meshes; }

private:
  class Rounds;

  FunctionSearch(FunctionMeshes &meshes, FunctionPropagation &function, const SearchOptions &options);

  SmallVector<func::FuncOp> funcs;
  FunctionMeshes &meshes;
  FunctionPropagation &function;
  const SearchOptions &options;
  double overlap; // the `spmd.overlap` of the meshes
  std::optional<int64_t> budget;
  std::optional<LiveBuffers> live;
  std::optional<ShardingProblem> problem;
  std::vector<OptionRequirement> requirements;
  /// Whether the problem has any requirements.
  bool hasRequirements = false;
  /// The time of creation, until the first search.
  std::optional<CpuClock::time_point> created = CpuClock::now();
};

/// Emits an error with the reason why there are no layouts: the values that do not fit, and
/// the constraints and options that force them.
LogicalResult emitInfeasible(FunctionSearch &search, const SearchResult &result);

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_FUNCTIONSEARCH_H
