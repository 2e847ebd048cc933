//===- NeighbourhoodSearch.cpp - Better choices of many at once -----------===//

#include "NeighbourhoodSearch.h"
#include "../Elimination/Contraction.h"
#include "../Elimination/EliminationOrder.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

/// The number of consecutive neighborhoods without improvement before joins grow.
static constexpr unsigned kMaxSame = 8;
/// Bytes of tables beyond which they are not kept for later ones.
static constexpr size_t kLargeNeighbourhoodBytes = size_t(1) << 29;

NeighbourhoodSearch::NeighbourhoodSearch(const Problem &problem, const TablePool &from, SolverStatistics &statistics)
    : problem(problem), from(from), statistics(statistics), timesLeftOut(problem.sizes.size(), 0) {
  assert(problem.sharings.empty() && "prices are those of pairs");
}

TableId NeighbourhoodSearch::getTimes(TableId id) {
  if (id == kNoTable)
    return id;
  auto [it, isNew] = tables->times.try_emplace(id);
  if (isNew)
    it->second = tables->pool.intern(Table{from.get(id).time, {}});
  return it->second;
}

bool NeighbourhoodSearch::improve(llvm::MutableArrayRef<unsigned> choices, int64_t maxJoin, const Clock &clock) {
  if (!tables || tables->pool.getMemory() > kLargeNeighbourhoodBytes)
    tables = std::make_unique<Tables>();
  auto &[pool, memo, times] = *tables;
  std::vector<unsigned> order = getOrderWithin(problem, maxJoin, timesLeftOut);
  // By number, as in the problem.
  std::vector<unsigned> variables = order, before, numberOf(problem.sizes.size(), kNoVar);
  llvm::sort(variables);
  Problem subproblem;
  for (auto [i, v] : llvm::enumerate(variables)) {
    numberOf[v] = i;
    subproblem.sizes.push_back(problem.sizes[v]);
    subproblem.unary.push_back(getTimes(problem.unary[v]));
    before.push_back(choices[v]);
  }
  for (const Problem::Edge &edge : problem.edges) {
    unsigned a = numberOf[edge.a], b = numberOf[edge.b];
    if (a == kNoVar && b == kNoVar)
      continue;
    TableId table = getTimes(edge.table);
    if (a != kNoVar && b != kNoVar) {
      subproblem.edges.push_back({a, b, table});
      continue;
    }
    unsigned rows = problem.sizes[edge.a], columns = problem.sizes[edge.b];
    bool isRow = a == kNoVar;
    unsigned only = pool.addList(choices[isRow ? edge.a : edge.b]);
    TableId slice = isRow ? pool.gather(table, columns, only, kNoTable, 1, columns)
                          : pool.gather(table, columns, kNoTable, only, rows, 1);
    TableId &unary = subproblem.unary[isRow ? b : a];
    unary = unary == kNoTable ? slice : pool.add(unary, slice);
  }
  for (unsigned &v : order)
    v = numberOf[v];
  Elimination elimination(subproblem, order, INT64_MAX, memo);
  double workBefore = memo.getWork();
  Elimination::Run run = elimination.run(getTables(subproblem), std::numeric_limits<double>::infinity(), &clock);
  work += memo.getWork() - workBefore;
  clock.spend(memo.getWork() - workBefore);
  statistics.add(std::exchange(memo.statistics, {}));
  if (run.isOver || run.total.time >= subproblem.getPrice(before, pool).time)
    return false;
  std::vector<unsigned> found(variables.size(), 0);
  if (!elimination.trace(run, found))
    return false;
  for (auto [v, x] : llvm::zip_equal(variables, found))
    choices[v] = x;
  return true;
}

bool NeighbourhoodSearch::descend(llvm::MutableArrayRef<unsigned> choices, int64_t maxJoin, double mayVisit,
                                  const Clock &clock, int64_t firstJoin) {
  for (int64_t join = firstJoin; join <= maxJoin; join *= 4)
    for (unsigned same = 0; same < kMaxSame;) {
      if (work >= mayVisit || clock.isOver())
        return false;
      same = improve(choices, join, clock) ? 0 : same + 1;
    }
  return true;
}
