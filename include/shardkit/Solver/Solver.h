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
  /// Seconds after which the best solution found is returned with its bound.
  double timeLimit = 60;
  /// The same in entries of tables that are visited, which no clock has a say in.
  double workLimit = std::numeric_limits<double>::infinity();
  /// The most bytes that may be live at one point; none: as many as there are.
  std::optional<int64_t> budget;
  /// What takes more time than that is of no interest.
  int64_t cutoff = Price::kImpossible;
  /// Good choices of the first variables, if any are known: a place to begin at.
  llvm::ArrayRef<unsigned> start;
  /// The optimum without a budget, or what was found of it, which is not looked for again, and its bound.
  llvm::ArrayRef<unsigned> free;
  Price freeBound;
  /// Stop when (objective - bound) / objective is at most this. 0 asks for a proof.
  double gap = 0;
  /// Entries of the largest table that elimination may join; beyond it bounds are
  /// computed from parts of a table and the search branches.
  int64_t maxJoinEntries = int64_t(1) << 26;
  /// Entries of a join up to which a graph is eliminated as it is, without the bounds that
  /// would leave less to eliminate.
  int64_t directJoinEntries = int64_t(1) << 16;
};

enum class SolverStatus {
  Optimal,    // `objective` is proven to be the lowest, bytes included
  Gap,        // the optimum lies in [lowerBound, objective]; without choices: unknown
  Infeasible, // proven: no choices are possible, or none within the budget
};

/// What the solver did, in numbers that are equal from run to run.
struct SolverStatistics {
  uint64_t variables = 0;   // that are left after reductions
  uint64_t dropped = 0;     // choices that are never better than another one
  uint64_t merged = 0;      // variables that follow another one
  uint64_t eliminated = 0;  // variables eliminated, over all runs
  uint64_t joins = 0;       // of these computed, the rest were look-ups
  uint64_t joinEntries = 0; // entries of the joins that were computed
  uint64_t largestJoin = 0; // entries of the largest
  uint64_t runs = 0;        // of the elimination
  uint64_t nodes = 0;       // of branch and bound

  void add(const SolverStatistics &other);
};

struct Solution {
  SolverStatus status = SolverStatus::Gap;
  /// One choice per variable; empty if infeasible or none was found.
  std::vector<unsigned> choices;
  Price objective = Price::impossible(), lowerBound;
  int64_t peak = 0, peakPoint = 0; // of `choices`
  double seconds = 0, work = 0;    // as for the limits
  /// Where nothing within the budget was found: the smallest feasible budget is between these, and
  /// exactly both where they are equal. -1 where it was not asked for, or not found.
  int64_t smallestBudgetBound = -1, smallestBudget = -1;
  /// The choices of `smallestBudget`.
  std::vector<unsigned> smallest;
  SolverStatistics statistics;

  /// (objective - lowerBound) / objective, of times; 0 where both are equal, 1 without choices.
  double getGap() const;
};

/// The choices of the lowest price whose peak is within the budget. Deterministic:
/// equal graphs have equal solutions, unless the time limit cuts the search short.
Solution solve(const CostGraph &graph, const SolverOptions &options = {});

/// The same problem as a 0/1 program for CBC; a check on `solve`. Bytes that break
/// ties are not part of it: `objective.bytes` is what the choices have, and the bound's
/// is 0. `error` is set and the solution empty where ShardKit was built without CBC.
Solution solveWithCbc(const CostGraph &graph, const SolverOptions &options, std::string &error);

} // namespace mlir::spmd

#endif // SHARDKIT_SOLVER_SOLVER_H
