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

MinSum::Answer MinSum::solve(ArrayRef<TableId> tables, double gap, int64_t cutoff) {
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
  searchByAscent(answer, gap, cutoff);
  if (!answer.choices.empty())
    answer.choices = contraction.expand(answer.choices);
  return answer;
}

namespace {
/// What is left of a problem within a slack of the bound, for solutions of at most `most`.
struct Rest {
  TablePool pool;
  Reducer reducer{pool};
  JoinMemo memo{pool};
  DualAscent::Restricted restricted;
  std::optional<Reduction> reduction;

  Rest(const DualAscent &ascent, const DualAscent::Moved &moved, int64_t slack, int64_t most)
      : restricted(ascent.restrict(moved, slack, pool)) {
    if (restricted.impossible)
      return;
    reduction = reducer.reduce(std::move(restricted.problem));
    memo.setLimit(std::min(kInf, most - reduction->problem.constant.time + 1));
  }
  bool isEmpty() const { return !reduction || reduction->problem.impossible; }
  const Problem &getProblem() const { return reduction->problem; }
  std::vector<unsigned> expand(ArrayRef<unsigned> choices) const {
    std::vector<unsigned> all = reduction->expand(choices, pool);
    for (unsigned v = 0; v < all.size(); ++v)
      all[v] = restricted.kept[restricted.keptOf[v]][all[v]];
    return all;
  }
};
} // namespace

void MinSum::searchByAscent(Answer &answer, double gap, int64_t cutoff) {
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

  Price &best = answer.price;
  auto isGood = [&] { return best.time - answer.lower.time <= gap * double(std::abs(best.time)); };
  answer.lower = core.constant;
  auto raise = [&](Price lower) { answer.lower = std::max(answer.lower, lower); };
  auto take = [&](std::vector<unsigned> choices) {
    Price price = core.getPrice(choices, memo.pool);
    if (answer.choices.empty() || price < best) {
      best = price;
      answer.choices = std::move(choices);
    }
  };
  double work = 0;
  int64_t guess = 0, tooMuch = kInf, lastBound = 0;
  unsigned stalled = 0;
  int64_t mayNeed = kInf; // to go on with few choices
  for (unsigned chunk = 8;; chunk += std::max(chunk / 4, 1u)) {
    for (unsigned i = 0; i < chunk && !clock.isOver(); ++i)
      ascent->iterate();
    double entries = chunk * ascent->getPassEntries();
    work += entries;
    clock.spend(entries);
    DualAscent::Moved moved = ascent->move();
    if (moved.impossible) {
      answer.impossible = true;
      return;
    }
    int64_t base = core.constant.time + moved.bound;
    raise({base, INT64_MIN / 4});
    auto getNeeded = [&] {
      int64_t most = std::min(best.isImpossible() ? kInf : best.time, cutoff);
      return most >= kInf ? kInf : most - base;
    };
    double gain = moved.bound - lastBound;
    double left = std::max(1.0, std::min(double(getNeeded()), std::abs(double(base))));
    stalled = gain <= left * 1e-4 ? stalled + 1 : 0;
    bool isSlow = gain <= left / 256;
    lastBound = moved.bound;
    // Passes still gain more than what is left would.
    if (gain > left / 64 && answer.lower.time <= cutoff)
      continue;
    // Many ties leave many choices; what the messages say may be as good as the bound.
    std::vector<unsigned> decoded(core.sizes.size(), 0);
    if (ascent->decode(decoded))
      take(std::move(decoded));
    if (timesOnly && !best.isImpossible() && best.time <= answer.lower.time) {
      answer.lower = best;
      answer.optimal = true;
      return;
    }

    if (answer.lower.time > cutoff || (gap > 0 && !best.isImpossible() && isGood()))
      return;

    // All solutions within base + slack are in the rest: if its optimum is within, it is the
    // optimum. The slack grows from a guess; it never has to be larger than what the best
    // solution asks for.
    auto nothingWithin = [&](int64_t slack) { raise({base + slack + 1, INT64_MIN / 4}); };
    int64_t slack = guess > 0 ? guess : std::max<int64_t>(1, std::abs(double(moved.bound)) / (1 << 14));
    int64_t factor = 4;
    for (bool last = false; !last && !clock.isOver(); slack = factor * slack) {
      last = slack >= getNeeded();
      slack = std::min(slack, getNeeded());
      if (slack >= tooMuch && stalled <= 2)
        break;
      // Not more work than the sweeps took, unless sweeps do not help any more.
      double mayCost =
          std::clamp(stalled > 2 ? 4 * work : work / 8, double(1 << 22), double(stalled > 2 ? 1 << 29 : 1 << 27));
      double size = ascent->getRestrictedSize(moved, slack);
      if (size > std::clamp(work / 512, double(1 << 22), double(1 << 26))) {
        guess = std::max<int64_t>(1, slack / 4);
        tooMuch = slack;
        break;
      }
      Rest rest(*ascent, moved, slack, base + getNeeded());
      if (rest.isEmpty()) {
        nothingWithin(slack);
        guess = slack;
        if (slack >= kInf / 8) {
          answer.impossible = true;
          return;
        }
        continue;
      }
      const Problem &problem = rest.getProblem();
      // What joins visit is limited: they may be larger where hardly anything is possible.
      int64_t maxJoin = 4 * options.maxJoinEntries;
      Elimination elimination(problem, getMinFillOrder(problem), maxJoin, rest.memo);
      if (!elimination.isExact())
        elimination = Elimination(problem, getMinFillOrder(problem, /*bySize=*/true), maxJoin, rest.memo);
      bool isExact = elimination.isExact();
      Elimination::Run run;
      if (isExact)
        run = elimination.run(getTables(problem), mayCost);
      clock.spend(rest.memo.getWork());
      factor = rest.memo.getWork() > (1 << 21) ? 2 : 4;
      if (!isExact || run.isOver) {
        guess = std::max<int64_t>(1, slack / 4);
        tooMuch = slack;
        // Small parts of the joins, for choices that are maybe better, and a bound: where there is
        // nothing good yet, and at the end.
        bool isPoor = double(getNeeded()) > std::abs(double(base)) / 64;
        if (!isPoor && (stalled <= 6 || !last))
          break;
        isExact = false;
        elimination = Elimination(problem, getMinFillOrder(problem), stalled > 2 ? 1 << 24 : 1 << 18, rest.memo);
        run = elimination.run(getTables(problem));
      }
      memo.statistics.add(rest.memo.statistics);
      if (isExact)
        guess = slack;
      if (run.total.isImpossible()) {
        nothingWithin(slack);
        continue;
      }
      Price total = run.total + problem.constant;
      raise(std::min(total, Price{base + slack + 1, INT64_MIN / 4}));
      std::vector<unsigned> choices(problem.sizes.size(), 0);
      if (elimination.trace(run, choices))
        take(rest.expand(choices));
      if (isExact && total.time <= base + slack) {
        answer.lower = best;
        answer.optimal = true;
        return;
      }
      if (!isExact)
        break;
    }
    if (answer.lower.time > cutoff || (!best.isImpossible() && isGood()))
      return;
    if (clock.isOver() || stalled > 8)
      return;

    // Where few choices are left that can be part of something better, the search goes on
    // with these alone.
    int64_t needed = getNeeded();
    double restricted = needed < kInf ? 2 * ascent->getRestrictedSize(moved, needed) : 1e300;
    // What is large takes long to reduce.
    double isLess = stalled > 0 || restricted <= (1 << 24) ? 2 : 16;
    if (needed <= mayNeed && restricted <= ascent->getPassEntries() / isLess) {
      Rest rest(*ascent, moved, needed, base + needed);
      mayNeed = needed / 4 * 3;
      if (rest.isEmpty()) {
        nothingWithin(needed);
        return;
      }
      MinSum part(rest.getProblem(), options, rest.memo, clock);
      Answer found = part.solve(getTables(rest.getProblem()), gap, base + needed);
      memo.statistics.add(rest.memo.statistics);
      if (found.impossible) {
        nothingWithin(needed);
        return;
      }
      raise(std::min(found.lower, Price{base + needed + 1, INT64_MIN / 4}));
      if (!found.choices.empty())
        take(rest.expand(found.choices));
      if (found.optimal && found.price.time <= base + needed) {
        answer.lower = best;
        answer.optimal = true;
        return;
      }
      if (answer.lower.time > cutoff || (!best.isImpossible() && isGood()))
        return;
      // What it found may leave less.
      stalled = 0;
    }
    if (isSlow && ascent->refine()) {
      chunk = 8;
      stalled = 0;
      tooMuch = kInf;
    }
  }
}
