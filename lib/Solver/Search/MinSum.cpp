//===- MinSum.cpp - The least sum of tables -------------------------------===//

#include "MinSum.h"
#include "../Elimination/EliminationOrder.h"
#include "AscentSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

// Graphs whose joins are small, or few and not large, are eliminated as they are.
bool MinSum::isSmall(const Elimination &elimination) const {
  double maximum = options.directJoinEntries;
  return elimination.isExact() && elimination.getAllJoins() <= double(1 << 28) &&
         (elimination.getLargestJoin() <= maximum ||
          (elimination.getLargestJoin() <= 32 * maximum && elimination.getAllJoins() <= 256 * maximum));
}

MinSum::MinSum(const Problem &problem, const SolverOptions &options, JoinMemo &memo, const Clock &clock)
    : options(options), memo(memo), clock(clock), contraction(problem, memo) {
  const Problem &core = contraction.getCore();
  if (core.sharings.empty())
    direct = std::make_unique<Elimination>(core, getMinFillOrder(core), options.maxJoinEntries, memo);
  if (direct && isSmall(*direct))
    return;
  direct.reset();
  // By number, which is program order, so that neighbors in the program are neighbors in a pass. A variable after all
  // its neighbors is a copy, which is placed after the first of them.
  std::vector<unsigned> order(core.sizes.size()), anchor(order.size());
  for (unsigned v = 0; v < order.size(); ++v)
    order[v] = anchor[v] = v;
  std::vector<bool> isLast(order.size(), true);
  for (const Problem::Edge &edge : core.edges) {
    anchor[edge.b] = std::min(anchor[edge.b], edge.a);
    isLast[edge.a] = false;
  }
  llvm::stable_sort(order,
                    [&](unsigned v, unsigned w) { return (isLast[v] ? anchor[v] : v) < (isLast[w] ? anchor[w] : w); });
  ascent = std::make_unique<DualAscent>(core, order, memo.pool, clock);
}

void MinSum::setStart(ArrayRef<unsigned> choices) {
  start.clear();
  for (unsigned v : contraction.getCoreVariables())
    start.push_back(choices[v]);
}

MinSum::Answer MinSum::solve(ArrayRef<TableId> tables, double gap, int64_t cutoff, bool toTheEnd) {
  Answer answer;
  if (!contraction.run(tables)) {
    answer.impossible = true;
    return answer;
  }
  const Problem &core = contraction.getCore();
  if (direct) {
    Elimination::Run run = direct->run(getTables(core));
    std::vector<unsigned> choices(core.sizes.size(), 0);
    if (run.total.isImpossible() || !direct->trace(run, choices)) {
      answer.impossible = true;
      return answer;
    }
    answer.optimal = true;
    answer.lower = answer.price = run.total + core.constant;
    answer.choices = contraction.expand(choices);
    return answer;
  }
  answer = AscentSearch(core, *ascent, options, memo, clock, gap, cutoff, toTheEnd).run(start);
  if (!answer.choices.empty())
    answer.choices = contraction.expand(answer.choices);
  return answer;
}
