//===- Abstraction.cpp - Bounds from choices taken together ---------------===//

#include "Abstraction.h"
#include "../Elimination/Contraction.h"
#include "../Elimination/EliminationOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

/// The average number of groups of choices per variable at the start.
static constexpr unsigned kFirstChoices = 2;
/// Bytes of tables beyond which they are not kept for later ones.
static constexpr size_t kLargeAbstractionBytes = size_t(1) << 30;

Abstraction::Abstraction(const Problem &core, const DualAscent &ascent, const DualAscent::Moved &from, bool withBytes,
                         SolverStatistics &statistics)
    : core(core), ascent(ascent), moved(from), withBytes(withBytes), statistics(statistics) {
  int64_t near = moved.getNear(std::max<int64_t>(moved.bound, 0), kFirstChoices);
  for (const auto &excess : moved.excess) {
    DualAscent::Groups &grouping = groups.emplace_back();
    grouping.of.resize(excess.size());
    for (unsigned x = 0; x < excess.size(); ++x)
      if (excess[x] <= near)
        grouping.add(x, grouping.members.size());
    unsigned others = grouping.members.size();
    for (unsigned x = 0; x < excess.size(); ++x)
      if (excess[x] > near)
        grouping.add(x, others);
  }
}

Abstraction::Optimum Abstraction::solve(int64_t maximum, int64_t maxJoin, const Clock &clock) {
  if (!tables || tables->pool.getMemory() > kLargeAbstractionBytes)
    tables = std::make_unique<Tables>();
  auto &[pool, reducer, memo] = *tables;
  memo.forgetUnused(); // groups before the split do not occur again
  Optimum result;
  int64_t slack = std::min(maximum - core.constant.time - moved.bound, kInf / 8);
  result.lower = Price::impossible();
  DualAscent::Restricted abstracted = ascent.abstract(groups, moved, slack, withBytes, pool);
  work += ascent.getPassEntries();
  if (abstracted.impossible)
    return result;
  Reduction reduction = reducer.reduce(std::move(abstracted.problem));
  const Problem &problem = reduction.problem;
  if (problem.impossible)
    return result;
  Elimination elimination(problem, getMinFillOrder(problem), maxJoin, memo);
  std::vector<TableId> all = getTables(problem), times;
  for (TableId id : all)
    times.push_back(id == kNoTable ? id : pool.flatten(id, 0));
  double before = memo.getWork();
  Elimination::Run run;
  if (elimination.isExact())
    run = elimination.run(times, std::numeric_limits<double>::infinity(), &clock);
  work += memo.getWork() - before;
  clock.spend(memo.getWork() - before);
  statistics.add(std::exchange(memo.statistics, {}));
  if (!elimination.isExact() || run.isOver) {
    result.isOver = true;
    return result;
  }
  if (run.total.isImpossible() || run.total.time + problem.constant.time > maximum)
    return result;
  std::vector<unsigned> choices(problem.sizes.size(), 0);
  Price total = elimination.traceFewest(run, all, choices);
  if (total.isImpossible()) {
    result.isOver = true;
    return result;
  }
  result.lower = total + problem.constant;
  choices = reduction.expand(choices, pool);
  result.isExact = !ascent.split(choices, abstracted, moved, groups);
  for (unsigned v = 0; v < choices.size(); ++v) {
    ArrayRef<unsigned> members = abstracted.groups[abstracted.groupsOf[v]].members[choices[v]];
    result.choices.push_back(members.size() == 1 ? members.front() : kNoVar);
  }
  return result;
}
