//===- Solver.cpp - The cheapest choices of a cost graph ------------------===//

#include "shardkit/Solver/Solver.h"
#include "Budget/Budget.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

double Solution::getGap() const {
  if (choices.empty())
    return 1;
  if (objective.time <= lowerBound.time)
    return 0;
  return double(objective.time - lowerBound.time) / std::abs(double(objective.time));
}

void SolverStatistics::add(const SolverStatistics &other) {
  variables += other.variables;
  dropped += other.dropped;
  merged += other.merged;
  eliminated += other.eliminated;
  joins += other.joins;
  joinEntries += other.joinEntries;
  largestJoin = std::max(largestJoin, other.largestJoin);
  runs += other.runs;
  nodes += other.nodes;
}

static void setChoices(Solution &solution, const CostGraph &graph, std::vector<unsigned> choices) {
  solution.choices = std::move(choices);
  solution.objective = graph.getPrice(solution.choices);
  solution.peak = graph.getPeak(solution.choices, &solution.peakPoint);
}

static void setInfeasible(Solution &solution) {
  solution.status = SolverStatus::Infeasible;
  solution.choices.clear();
  solution.objective = solution.lowerBound = Price::impossible();
}

/// The optimum without a budget.
static void solveFree(const CostGraph &graph, const SolverOptions &options, const Clock &clock, Solution &solution) {
  TablePool pool;
  Reducer reducer(pool);
  JoinMemo memo(pool);
  Reduction reduction = reducer.reduce(readGraph(graph, false, pool));
  SolverStatistics &statistics = solution.statistics;
  statistics.variables = reduction.problem.sizes.size();
  statistics.dropped = reduction.dropped;
  statistics.merged = reduction.merges.size();
  if (reduction.problem.impossible) {
    setInfeasible(solution);
    return;
  }
  MinSum minSum(reduction.problem, options, memo, clock);
  if (!options.start.empty())
    minSum.setStart(reduction.narrow(options.start, pool));
  MinSum::Answer answer = minSum.solve(getTables(reduction.problem), options.budget ? 0 : options.gap,
                                       options.cutoff < Price::kImpossible ? options.cutoff : kInf);
  statistics.add(memo.statistics);
  if (answer.impossible) {
    setInfeasible(solution);
    return;
  }
  solution.lowerBound = answer.lower;
  solution.status = answer.optimal ? SolverStatus::Optimal : SolverStatus::Gap;
  if (!answer.price.isImpossible())
    setChoices(solution, graph, reduction.expand(answer.choices, pool));
}

/// Times that count bytes as their last digits, where sums stay small enough for it:
/// the factor of times, or 0 where only times are minimized.
static int64_t getFactor(const CostGraph &graph) {
  __int128 times = 1, bytes = 1;
  for (const CostGraph::Cost &cost : graph.getCosts()) {
    int64_t t = 0, b = 0;
    for (Price p : graph.getTable(cost.table))
      if (!p.isImpossible()) {
        t = std::max(t, std::abs(p.time));
        b = std::max(b, std::abs(p.bytes));
      }
    times += t;
    bytes += b;
  }
  // Reading a table subtracts its least entry: bytes differ by up to twice as much.
  __int128 factor = 4 * bytes;
  return factor * times < (__int128(1) << 40) ? int64_t(factor) : 0;
}

static void flatten(Problem &problem, int64_t factor, TablePool &pool) {
  for (unsigned v = 0; v < problem.sizes.size(); ++v) {
    TableId &id = problem.unary[v];
    if (id != kNoTable) {
      id = pool.flatten(id, factor);
      continue;
    }
    Table zeros;
    zeros.time.assign(problem.sizes[v], 0);
    id = pool.intern(std::move(zeros));
  }
  for (Problem::Edge &edge : problem.edges)
    edge.table = pool.flatten(edge.table, factor);
  if (factor)
    problem.constant = {problem.constant.time * factor + problem.constant.bytes, 0};
  else
    problem.constant.bytes = 0;
}

/// The fraction of the time after which the smallest budget is searched, if no solution within the budget was found.
static constexpr double kPatience = 0.5;

static void solveWithin(const CostGraph &graph, const SolverOptions &options, const Clock &clock, Solution &solution) {
  TablePool pool;
  Reducer reducer(pool);
  Reduction reduction = reducer.reduce(readGraph(graph, true, pool));
  Problem &problem = reduction.problem;
  solution.statistics.variables = problem.sizes.size();
  solution.statistics.dropped = reduction.dropped;
  solution.statistics.merged = reduction.merges.size();
  int64_t factor = getFactor(graph);
  Price freeBound = solution.lowerBound;
  flatten(problem, factor, pool);

  BudgetSearch search(problem, options.budget, pool, options, clock, solution.statistics);
  if (!solution.choices.empty()) {
    for (ArrayRef<unsigned> known : {ArrayRef(solution.choices), options.start}) {
      if (known.size() != graph.getNumVariables())
        continue;
      std::vector<unsigned> start = reduction.narrow(known, pool);
      problem.complete(start, pool);
      search.addSolution(start);
    }
    if (!factor)
      search.raise(freeBound.time);
    search.setPatience(kPatience * options.timeLimit);
    search.run();
    search.setPatience(options.timeLimit);
  }
  // Is there anything within the budget? Where not, what is the least that there is? What needs little also leads on.
  BudgetSearch peak(problem, std::nullopt, pool, options, clock, solution.statistics);
  if (!search.hasBest() || !search.isDone()) {
    peak.run(*options.budget);
    for (const BudgetSearch::Column &column : peak.getColumns())
      search.addSolution(column.choices);
  }
  auto expand = [&](const BudgetSearch::Column &column) { return reduction.expand(column.choices, pool); };
  if (!search.hasBest()) {
    solution.choices.clear();
    solution.objective = Price::impossible();
    solution.smallestBudgetBound = peak.getBound();
    if (peak.hasBest()) {
      solution.smallest = expand(peak.getBest());
      solution.smallestBudget = graph.getPeak(solution.smallest, &solution.peakPoint);
    }
    solution.status = peak.getBound() > *options.budget ? SolverStatus::Infeasible : SolverStatus::Gap;
    if (solution.status == SolverStatus::Infeasible)
      solution.lowerBound = Price::impossible();
    return;
  }

  if (!peak.getColumns().empty())
    search.run();
  bool closed = search.getBound() >= search.getValue();
  if (!closed || !factor) // bytes are not minimized
    search.descend();
  setChoices(solution, graph, expand(search.getBest()));
  solution.status = closed && factor ? SolverStatus::Optimal : SolverStatus::Gap;
  if (solution.status == SolverStatus::Optimal) {
    solution.lowerBound = solution.objective;
    return;
  }
  // Back from one number to two; bytes are less than half a unit of time.
  Price found{search.getBound(), INT64_MIN / 4};
  if (factor) {
    int64_t shifted = search.getBound() + factor / 2;
    int64_t time = shifted / factor - (shifted % factor < 0);
    found = {time, search.getBound() - time * factor};
  }
  solution.lowerBound = std::max(freeBound, found);
}

Solution mlir::spmd::solve(const CostGraph &graph, const SolverOptions &options) {
  Clock clock(options);
  Solution solution;
  if (options.budget && options.free.size() == graph.getNumVariables()) {
    setChoices(solution, graph, options.free);
    solution.lowerBound = options.freeBound;
    solution.status = solution.objective <= solution.lowerBound ? SolverStatus::Optimal : SolverStatus::Gap;
  } else {
    solveFree(graph, options, clock, solution);
  }
  bool fits = !options.budget || (!solution.objective.isImpossible() && solution.peak <= *options.budget);
  if (solution.status != SolverStatus::Infeasible &&
      (!fits || (options.budget && solution.status == SolverStatus::Gap))) {
    Solution free = solution;
    solveWithin(graph, options, clock, solution);
    // A solution without a budget that is not a proven optimum may be within the budget and better.
    if (fits && free.objective < solution.objective) {
      free.lowerBound = std::max(free.lowerBound, solution.lowerBound);
      free.statistics = solution.statistics;
      solution = std::move(free);
    }
  }
  // Bytes are part of a proof only.
  if (solution.status == SolverStatus::Gap && solution.lowerBound.bytes < 0)
    solution.lowerBound.bytes = 0;
  solution.seconds = clock.getSeconds();
  solution.work = clock.getWork();
  return solution;
}
