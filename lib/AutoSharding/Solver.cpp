//===- Solver.cpp - The cheapest choices of a cost graph ------------------===//

#include "shardkit/AutoSharding/Solver.h"
#include "MinSum.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;

double Solution::getGap() const {
  if (choices.empty())
    return 1;
  if (objective.time <= lowerBound.time)
    return 0;
  return double(objective.time - lowerBound.time) / std::abs(double(objective.time));
}

static void setInfeasible(Solution &solution) {
  solution.status = SolverStatus::Infeasible;
  solution.lowerBound = Price::impossible();
}

Solution mlir::spmd::solve(const CostGraph &graph, const SolverOptions &options) {
  Clock clock(options.timeLimit);
  TablePool pool;
  Reducer reducer(pool);
  JoinMemo memo(pool);
  Solution solution;
  Reduction reduction = reducer.reduce(readGraph(graph, false, pool));
  SolverStatistics &statistics = memo.statistics;
  statistics.variables = reduction.problem.sizes.size();
  statistics.dropped = reduction.dropped;
  statistics.merged = reduction.merges.size();
  if (reduction.problem.impossible) {
    setInfeasible(solution);
  } else {
    MinSum minSum(reduction.problem, options, memo, clock);
    MinSum::Answer answer = minSum.solve(getTables(reduction.problem), 0);
    if (answer.impossible)
      setInfeasible(solution);
    solution.lowerBound = answer.lower;
    if (!answer.choices.empty()) {
      solution.choices = reduction.expand(answer.choices, pool);
      solution.objective = graph.getPrice(solution.choices);
      solution.peak = graph.getPeak(solution.choices, &solution.peakPoint);
      solution.status = answer.optimal ? SolverStatus::Optimal : SolverStatus::Gap;
    }
  }
  solution.statistics = statistics;
  solution.seconds = clock.getSeconds();
  return solution;
}
