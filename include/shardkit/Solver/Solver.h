//===- Solver.h - The cheapest choices of a cost graph ----------*- C++ -*-===//
//
// Exact without a memory limit wherever the graph's treewidth allows, else with a
// lower bound; see lib/Solver/README.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SOLVER_SOLVER_H
#define SHARDKIT_SOLVER_SOLVER_H

#include "shardkit/Solver/CostGraph.h"
#include <limits>
#include <optional>
#include <string>

namespace mlir::spmd {

struct SolverOptions {
  /// Seconds of CPU time after which the best solution found is returned with its bound.
  double timeLimit = 60;
  /// The same in visited table entries, which do not depend on a clock.
  double workLimit = std::numeric_limits<double>::infinity();
  /// The maximum of live bytes at each point; none: unlimited.
  std::optional<int64_t> budget;
  /// Solutions that take more time are not wanted.
  int64_t cutoff = Price::kImpossible;
  /// Good choices of the first variables, if known: a start of the search.
  llvm::ArrayRef<unsigned> start;
  /// The optimum without a budget, or the best solution found, which is not searched again, and
  /// its bound.
  llvm::ArrayRef<unsigned> free;
  Price freeBound;
  /// Stop when (objective - bound) / objective is at most this. 0 requires a proof.
  double gap = 0;
  /// Entries of the largest table that elimination may join. Beyond it, bounds are computed from
  /// mini-buckets, and the search branches.
  int64_t maxJoinEntries = int64_t(1) << 26;
  /// Entries of a join up to which a graph is eliminated directly, without bounds that reduce it
  /// first.
  int64_t directJoinEntries = int64_t(1) << 16;
};

enum class SolverStatus {
  Optimal,    // `objective` is proven to be the lowest, bytes included
  Gap,        // the optimum lies in [lowerBound, objective]; without choices: unknown
  Infeasible, // proven: no choices are possible, or none within the budget
};

/// Statistics of the solver, which are equal from run to run.
struct SolverStatistics {
  uint64_t variables = 0;   // after reductions
  uint64_t dropped = 0;     // choices that are never better than another one
  uint64_t merged = 0;      // variables determined by another one
  uint64_t eliminated = 0;  // variables eliminated, over all runs
  uint64_t joins = 0;       // computed ones, without look-ups
  uint64_t joinEntries = 0; // entries of the joins that were computed
  uint64_t largestJoin = 0; // entries of the largest join
  uint64_t runs = 0;        // elimination runs
  uint64_t nodes = 0;       // branch-and-bound nodes

  void add(const SolverStatistics &other);
};

struct Solution {
  SolverStatus status = SolverStatus::Gap;
  /// One choice per variable; empty if infeasible or none was found.
  std::vector<unsigned> choices;
  Price objective = Price::impossible(), lowerBound;
  int64_t peak = 0, peakPoint = 0; // for `choices`
  double seconds = 0, work = 0;    // as counted for the limits
  /// If no solution within the budget was found: bounds of the smallest feasible budget, which
  /// are equal if it is known exactly. -1 if not requested, or not found.
  int64_t smallestBudgetBound = -1, smallestBudget = -1;
  /// The choices of `smallestBudget`.
  std::vector<unsigned> smallest;
  SolverStatistics statistics;

  /// (objective - lowerBound) / objective, of times; 0 where both are equal, 1 without choices.
  double getGap() const;
};

/// The choices of the lowest price whose peak is within the budget. Deterministic:
/// equal graphs have equal solutions, unless the time limit ends the search early.
Solution solve(const CostGraph &graph, const SolverOptions &options = {});

/// Solves the same problem as a 0/1 program by CBC, to check `solve`. It ignores bytes that
/// break ties: `objective.bytes` are those of the choices, and those of the bound are 0. If
/// ShardKit was built without CBC, `error` is set and the solution is empty.
Solution solveWithCbc(const CostGraph &graph, const SolverOptions &options, std::string &error);

} // namespace mlir::spmd

#endif // SHARDKIT_SOLVER_SOLVER_H
