//===- MinSum.cpp - The least sum of tables -------------------------------===//

#include "MinSum.h"
#include "EliminationOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

// Graphs whose joins are small, or few and not large, are eliminated as they are.
bool MinSum::isSmall(const Elimination &elimination) const {
  double most = options.directJoinEntries;
  return elimination.isExact() && elimination.getAllJoins() <= double(1 << 28) &&
         (elimination.getLargestJoin() <= most ||
          (elimination.getLargestJoin() <= 32 * most && elimination.getAllJoins() <= 256 * most));
}

MinSum::MinSum(const Problem &problem, const SolverOptions &options, JoinMemo &memo,
               const Clock &clock)
    : options(options), memo(memo), clock(clock), contraction(problem, memo) {
  const Problem &core = contraction.getCore();
  direct = std::make_unique<Elimination>(core, getMinFillOrder(core), options.maxJoinEntries, memo);
  if (isSmall(*direct))
    return;
  direct.reset();
  // By number, that is in program order: what is near in the program is near in a pass. What
  // comes after all its neighbours was added to them, and stands behind the first.
  std::vector<unsigned> order(core.sizes.size()), place(order.size());
  for (unsigned v = 0; v < order.size(); ++v)
    order[v] = place[v] = v;
  std::vector<bool> isLast(order.size(), true);
  for (const Problem::Edge &edge : core.edges) {
    place[edge.b] = std::min(place[edge.b], edge.a);
    isLast[edge.a] = false;
  }
  llvm::stable_sort(order, [&](unsigned v, unsigned w) {
    return (isLast[v] ? place[v] : v) < (isLast[w] ? place[w] : w);
  });
  ascent = std::make_unique<DualAscent>(core, order, memo.pool);
}

MinSum::Answer MinSum::solve(ArrayRef<TableId> tables, double gap) {
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
  searchByAscent(answer, gap);
  if (!answer.choices.empty())
    answer.choices = contraction.expand(answer.choices);
  return answer;
}

void MinSum::searchByAscent(Answer &answer, double gap) {
  const Problem &core = contraction.getCore();
  // What stands for impossible only has to be more than anything that could be part of a good
  // solution; the closer it is, the less it costs in precision.
  double big = 0;
  bool timesOnly = true; // no bytes that would break ties
  auto tables = getTables(core);
  for (TableId id : tables) {
    if (id == kNoTable)
      continue;
    timesOnly &= memo.pool.get(id).bytes.empty();
    int64_t most = 0;
    for (int64_t t : memo.pool.get(id).time)
      if (t < kInf)
        most = std::max(most, t);
    big = std::max(big, double(most));
  }
  ascent->setTables(tables, 16 * big + 1);
  double perSweep = 0;
  for (const Problem::Edge &edge : core.edges)
    perSweep += 2.0 * core.sizes[edge.a] * core.sizes[edge.b];

  Price &best = answer.price;
  auto isGood = [&] { return best.time - answer.lower.time <= gap * double(std::abs(best.time)); };
  answer.lower = core.constant;
  double work = 0;
  int64_t lastSlack = 0, lastBound = 0;
  unsigned stalled = 0;
  for (unsigned chunk = 8;; chunk += chunk / 4) {
    for (unsigned i = 0; i < chunk && !clock.isOver(); ++i)
      ascent->iterate();
    work += chunk * perSweep;
    clock.spend(chunk * perSweep);
    DualAscent::Moved moved = ascent->move();
    if (moved.impossible) {
      answer.impossible = true;
      return;
    }
    int64_t base = core.constant.time;
    answer.lower = std::max(answer.lower, Price{base + moved.bound, INT64_MIN / 4});
    stalled = moved.bound - lastBound <= std::abs(double(moved.bound)) * 1e-6 ? stalled + 1 : 0;
    lastBound = moved.bound;

    // Many ties leave many choices; what the messages say may be as good as the bound.
    auto take = [&](std::vector<unsigned> choices) {
      Price price = core.getPrice(choices, memo.pool);
      if (answer.choices.empty() || price < best) {
        best = price;
        answer.choices = std::move(choices);
      }
    };
    std::vector<unsigned> decoded(core.sizes.size(), 0);
    if (ascent->decode(decoded))
      take(std::move(decoded));
    if (timesOnly && !best.isImpossible() && best.time <= answer.lower.time) {
      answer.lower = best;
      answer.optimal = true;
      return;
    }

    if (gap > 0 && !best.isImpossible() && isGood())
      return;

    // All solutions within bound + slack are in the restricted problem: if its optimum is
    // within, it is the optimum. The slack grows from a guess, or is what the best
    // solution asks for.
    int64_t needed = best.isImpossible() ? kInf : best.time - base - moved.bound;
    int64_t slack = std::max<int64_t>(1, std::abs(double(moved.bound)) / (1 << 14));
    slack = std::min(std::max(slack, lastSlack / 4), needed);
    for (bool last = false; !last && !clock.isOver();) {
      last = slack >= needed;
      // An entry of a join costs some times what an entry of a sweep does, and more memory.
      // Not more work than the sweeps took, unless sweeps do not help any more.
      double mayCost =
          std::clamp(stalled > 2 ? 4 * work : work / 8, double(1 << 22), double(1 << 29));
      if (ascent->getRestrictedSize(moved, slack) >
          std::clamp(work / 512, double(1 << 22), double(1 << 26)))
        break;
      TablePool local;
      Reducer reducer(local);
      JoinMemo localMemo(local);
      DualAscent::Restricted restricted = ascent->restrict(moved, slack, local);
      std::optional<Reduction> reduction;
      if (!restricted.impossible)
        reduction = reducer.reduce(std::move(restricted.problem));
      if (restricted.impossible || reduction->problem.impossible) {
        // Nothing within the slack at all.
        answer.lower = std::max(answer.lower, Price{base + moved.bound + slack + 1, INT64_MIN / 4});
        lastSlack = slack;
        if (slack >= kInf / 8) {
          answer.impossible = true;
          return;
        }
        slack = std::min(4 * slack, std::max(needed, slack + 1));
        continue;
      }
      Problem &rest = reduction->problem;
      Elimination elimination(rest, getMinFillOrder(rest), options.maxJoinEntries, localMemo);
      // Not more work than the sweeps took, unless sweeps do not help any more.
      if (!elimination.isExact() || elimination.getAllJoins() > mayCost) {
        if (stalled <= 6 || !last)
          break;
        // The end: small parts of the joins, for a bound and choices that are maybe better.
        elimination = Elimination(rest, getMinFillOrder(rest), 1 << 16, localMemo);
      }
      Elimination::Run run = elimination.run(getTables(rest));
      clock.spend(4 * elimination.getAllJoins());
      memo.statistics.add(localMemo.statistics);
      std::vector<unsigned> choices(rest.sizes.size(), 0);
      if (run.total.isImpossible()) {
        answer.lower = std::max(answer.lower, Price{base + moved.bound + slack + 1, INT64_MIN / 4});
        lastSlack = slack;
        slack = std::min(4 * slack, std::max(needed, slack + 1));
        continue;
      }
      Price total = run.total + rest.constant;
      if (!elimination.isExact())
        answer.lower = std::max(
            answer.lower, std::min(total, Price{base + moved.bound + slack + 1, INT64_MIN / 4}));
      if (elimination.trace(run, choices)) {
        std::vector<unsigned> all = reduction->expand(choices, local);
        for (unsigned v = 0; v < all.size(); ++v)
          all[v] = restricted.kept[v][all[v]];
        take(std::move(all));
      }
      if (elimination.isExact() && total.time <= base + moved.bound + slack) {
        answer.lower = best;
        answer.optimal = true;
        return;
      }
      if (!best.isImpossible())
        needed = best.time - base - moved.bound;
      lastSlack = slack;
      slack = std::min(4 * slack, std::max(needed, slack + 1));
    }
    if (!best.isImpossible() && isGood())
      return;
    if (clock.isOver() || stalled > 8)
      return;
  }
}
