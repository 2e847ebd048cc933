//===- Contraction.cpp - A smaller graph of pairs -------------------------===//

#include "Contraction.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <queue>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

std::vector<TableId> solver::getTables(const Problem &problem) {
  std::vector<TableId> tables(problem.unary);
  for (const Problem::Edge &edge : problem.edges)
    tables.push_back(edge.table);
  return tables;
}

// A join of three variables; beyond it the table that remains would cost more than
// the variable.
static constexpr int64_t kMaxEntries = int64_t(1) << 22;

std::vector<unsigned> Contraction::getOrder(const Problem &problem) {
  unsigned n = problem.sizes.size();
  std::vector<llvm::SmallDenseSet<unsigned, 4>> neighbours(n);
  for (const Problem::Edge &edge : problem.edges) {
    neighbours[edge.a].insert(edge.b);
    neighbours[edge.b].insert(edge.a);
  }
  // In rounds over ascending numbers, so that repeated layers shrink alike.
  std::vector<unsigned> queue(n), next, order;
  for (unsigned v = 0; v < n; ++v)
    queue[v] = v;
  std::vector<bool> done = problem.getSharingVariables(), queued(n, true);
  while (!queue.empty()) {
    next.clear();
    for (unsigned v : queue) {
      queued[v] = false;
      if (done[v] || neighbours[v].size() > 2)
        continue;
      int64_t entries = problem.sizes[v];
      SmallVector<unsigned, 2> around(neighbours[v].begin(), neighbours[v].end());
      for (unsigned u : around)
        entries *= problem.sizes[u];
      if (entries > kMaxEntries)
        continue;
      done[v] = true;
      order.push_back(v);
      for (unsigned u : around) {
        neighbours[u].erase(v);
        for (unsigned w : around)
          if (w != u)
            neighbours[u].insert(w);
        if (!queued[u]) {
          queued[u] = true;
          next.push_back(u);
        }
      }
      neighbours[v].clear();
    }
    llvm::sort(next);
    queue = next;
  }
  return order;
}

Contraction::Contraction(const Problem &problem, JoinMemo &memo)
    : problem(problem), memo(memo), elimination(problem, getOrder(problem), INT64_MAX, memo) {
  unsigned n = problem.sizes.size(), numTables = n + problem.edges.size();
  std::vector<bool> gone(n, false);
  for (const Elimination::Step &step : elimination.getSteps())
    gone[step.v] = true;
  // A variable without any table or neighbour has no step; it stays 0.
  std::vector<bool> used(n, false);
  for (unsigned v = 0; v < n; ++v)
    used[v] = problem.unary[v] != kNoTable;
  for (const Problem::Edge &edge : problem.edges)
    used[edge.a] = used[edge.b] = true;
  for (const Problem::Sharing &sharing : problem.sharings) {
    used[sharing.host] = true;
    for (auto [v, items] : sharing.readers)
      used[v] = true;
  }
  std::vector<unsigned> number(n, kNoVar);
  for (unsigned v = 0; v < n; ++v)
    if (!gone[v] && used[v]) {
      number[v] = coreVars.size();
      coreVars.push_back(v);
      core.sizes.push_back(problem.sizes[v]);
    }
  unarySources.resize(coreVars.size());
  std::map<std::pair<unsigned, unsigned>, SmallVector<unsigned, 2>> edges;
  for (unsigned v = 0; v < n; ++v)
    if (number[v] != kNoVar && problem.unary[v] != kNoTable)
      unarySources[number[v]].push_back(v);
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (number[edge.a] != kNoVar && number[edge.b] != kNoVar)
      edges[{number[edge.a], number[edge.b]}].push_back(n + i);
  for (unsigned step : elimination.getRests()) {
    ArrayRef<unsigned> scope = elimination.getSteps()[step].scope;
    if (scope.size() == 1)
      unarySources[number[scope[0]]].push_back(numTables + step);
    else
      edges[{number[scope[0]], number[scope[1]]}].push_back(numTables + step);
  }
  for (auto &[pair, sources] : edges) {
    core.edges.push_back({pair.first, pair.second, kNoTable});
    edgeSources.push_back(sources);
  }
  for (Problem::Sharing sharing : problem.sharings) {
    sharing.host = number[sharing.host];
    for (auto &[v, items] : sharing.readers)
      v = number[v];
    core.sharings.push_back(std::move(sharing));
  }
  // Any table, until there is one: what matters is where there will be none.
  for (ArrayRef<unsigned> sources : unarySources)
    core.unary.push_back(sources.empty() ? kNoTable : 0);
}

bool Contraction::run(ArrayRef<TableId> tables) {
  last = elimination.run(tables);
  if (last.total.isImpossible())
    return false;
  unsigned numTables = tables.size();
  auto sum = [&](ArrayRef<unsigned> sources) {
    TableId all = kNoTable;
    for (unsigned source : sources) {
      TableId id = source < numTables ? tables[source] : memo.get(last.entries[source - numTables]).result;
      all = all == kNoTable ? id : memo.pool.add(all, id);
    }
    return all;
  };
  for (unsigned v = 0; v < coreVars.size(); ++v)
    core.unary[v] = sum(unarySources[v]);
  for (unsigned i = 0; i < core.edges.size(); ++i)
    core.edges[i].table = sum(edgeSources[i]);
  core.constant = problem.constant + last.total;
  return true;
}

std::vector<unsigned> Contraction::expand(ArrayRef<unsigned> coreChoices) {
  std::vector<unsigned> choices(problem.sizes.size(), 0);
  for (auto [i, v] : llvm::enumerate(coreVars))
    choices[v] = coreChoices[i];
  bool possible = elimination.trace(last, choices);
  (void)possible;
  assert(possible && "the core has choices that the rest forbids");
  return choices;
}
