//===- Solver.cpp - The cheapest choices of a cost graph ------------------===//

#include "shardkit/AutoSharding/Solver.h"
#include "Elimination.h"
#include "EliminationOrder.h"
#include <chrono>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;

double Solution::getGap() const {
  if (choices.empty())
    return 1;
  if (objective.time <= lowerBound.time)
    return 0;
  return double(objective.time - lowerBound.time) / std::abs(double(objective.time));
}

Solution mlir::spmd::solve(const CostGraph &graph, const SolverOptions &options) {
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  TablePool pool;
  Reducer reducer(pool);
  JoinMemo memo(pool);
  Solution solution;
  Reduction reduction = reducer.reduce(readGraph(graph, false, pool));
  Problem &problem = reduction.problem;
  if (problem.impossible) {
    solution.status = SolverStatus::Infeasible;
    solution.lowerBound = Price::impossible();
    solution.seconds = elapsed();
    return solution;
  }
  auto order = getMinFillOrder(problem);
  Elimination elimination(problem, order, options.maxJoinEntries, memo);
  std::vector<TableId> tables(problem.unary);
  for (auto &edge : problem.edges)
    tables.push_back(edge.table);
  auto run = elimination.run(tables);
  std::vector<unsigned> choices(problem.sizes.size());
  if (run.total.isImpossible() || !elimination.trace(run, choices)) {
    solution.status = SolverStatus::Infeasible;
    solution.lowerBound = Price::impossible();
  } else {
    solution.choices = reduction.expand(choices, pool);
    solution.objective = graph.getPrice(solution.choices);
    solution.lowerBound = run.total + problem.constant;
    solution.peak = graph.getPeak(solution.choices, &solution.peakPoint);
    solution.status = solution.objective == solution.lowerBound ? SolverStatus::Optimal : SolverStatus::Gap;
    if (options.budget && solution.peak > *options.budget) {
      // The bound holds within the budget as well; choices within it are not searched yet.
      solution.choices.clear();
      solution.objective = Price::impossible();
      solution.status = SolverStatus::Gap;
    }
  }
  solution.statistics = memo.statistics;
  solution.statistics.variables = problem.sizes.size();
  solution.statistics.merged = reduction.merges.size();
  solution.statistics.dropped = reduction.dropped;
  solution.seconds = elapsed();
  return solution;
}
