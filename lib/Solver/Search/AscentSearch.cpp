//===- AscentSearch.cpp - The least sum of large graphs -------------------===//

#include "AscentSearch.h"
#include "../Elimination/EliminationOrder.h"
#include "../Elimination/GrowingElimination.h"
#include "Quotient.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

/// Entries of the largest joins of neighbourhoods, of any solution and of the best one.
static constexpr int64_t kSmallNeighbourhood = int64_t(1) << 18, kLargeNeighbourhood = int64_t(1) << 22;
/// Solutions that are merged, at most.
static constexpr size_t kMaxMerged = 32;
/// Searches of neighbourhoods in a row that find nothing before there are no more.
static constexpr unsigned kMaxFruitless = 3;
/// Links that variables are compared along to be one in a quotient.
static constexpr unsigned kQuotientRadius = 2;
/// Entries that may be visited to settle bytes, where the proof of the time took less.
static constexpr double kBytesWork = double(1ll << 30);

/// The restriction of a problem to a slack of the bound, for solutions of at most `maximum`. Bytes make joins several
/// times slower: searches for times alone omit them.
struct AscentSearch::Rest {
  TablePool pool;
  Reducer reducer{pool};
  JoinMemo memo{pool};
  DualAscent::Restricted restricted;
  std::optional<Reduction> reduction;

  Rest(const AscentSearch &search, int64_t slack, bool withBytes)
      : restricted(search.ascent.restrict(search.moved, slack, withBytes, pool)) {
    begin(search);
  }
  /// The choices of it that are close to the bound or in one of the solutions.
  Rest(const AscentSearch &search, ArrayRef<std::vector<unsigned>> solutions, int64_t near)
      : restricted(search.ascent.restrictTo(solutions, search.moved, near, search.getNeeded(), pool)) {
    begin(search);
  }
  void begin(const AscentSearch &search) {
    if (restricted.impossible || restricted.isTooLarge)
      return;
    reduction = reducer.reduce(std::move(restricted.problem), &search.clock);
    restricted.isTooLarge = search.clock.isOver(); // not reduced
    memo.setLimit(getMax(search.base + std::min(search.getNeeded(), kInf / 8)) + 1);
  }
  /// Whether what readers share would be too much to list: there is no problem then.
  bool isTooLarge() const { return restricted.isTooLarge; }
  bool isEmpty() const { return restricted.impossible || (reduction && reduction->problem.impossible); }
  const Problem &getProblem() const { return reduction->problem; }
  /// The sums of its tables in solutions of `time`.
  int64_t getMax(int64_t time) const { return time - getProblem().constant.time; }
  std::vector<unsigned> expand(ArrayRef<unsigned> choices) const {
    std::vector<unsigned> all = reduction->expand(choices, pool);
    // Followed by those of sharings.
    all.resize(restricted.groupsOf.size());
    for (unsigned v = 0; v < all.size(); ++v)
      all[v] = restricted.groups[restricted.groupsOf[v]].members[all[v]].front();
    return all;
  }
};

AscentSearch::AscentSearch(const Problem &core, DualAscent &ascent, const SolverOptions &options, JoinMemo &memo,
                           const Clock &clock, double gap, int64_t cutoff, bool toTheEnd)
    : core(core), ascent(ascent), options(options), memo(memo), clock(clock), gap(gap), cutoff(cutoff),
      toTheEnd(toTheEnd) {
  // The substitute of impossible prices only has to exceed the prices of good solutions; a smaller one costs less
  // precision.
  double big = 0;
  auto tables = getTables(core);
  llvm::DenseSet<TableId> seen;
  for (TableId id : tables) {
    if (id == kNoTable || !seen.insert(id).second)
      continue;
    timesOnly &= memo.pool.get(id).bytes.empty();
    int64_t maximum = 0;
    for (int64_t t : memo.pool.get(id).time)
      if (t < kInf)
        maximum = std::max(maximum, t);
    big = std::max(big, double(maximum));
  }
  for (const Problem::Sharing &sharing : core.sharings)
    for (int64_t t : memo.pool.get(sharing.prices).time)
      if (t < kInf)
        big = std::max(big, double(t));
  ascent.setTables(tables, 16 * big + 1);
  answer.lower = core.constant;
}

void AscentSearch::take(std::vector<unsigned> choices) {
  Price price = core.getPrice(choices, memo.pool);
  if (answer.choices.empty() || price < best) {
    best = price;
    answer.choices = std::move(choices);
  }
}

int64_t AscentSearch::getNeeded() const {
  int64_t maximum = std::min(best.isImpossible() ? kInf : best.time, cutoff);
  return maximum >= kInf ? kInf : maximum - base;
}

bool AscentSearch::isFarOff() const {
  // A phase continues until the missing amount is halved.
  double enough = std::abs(double(answer.lower.time)) / (neighbourhoods ? 64 : 32);
  return core.sharings.empty() && !best.isImpossible() && double(best.time - answer.lower.time) > enough;
}

bool AscentSearch::isDone() const {
  if (isSettled() || clock.isOver() || clock.getWork() >= bytesEnd)
    return true;
  return gap > 0 && !best.isImpossible() && best.time - answer.lower.time <= gap * double(std::abs(best.time));
}

bool AscentSearch::pass(unsigned count) {
  for (unsigned i = 0; i < count && !clock.isOver(); ++i)
    ascent.iterate();
  double entries = count * ascent.getPassEntries();
  work += entries;
  clock.spend(entries);
  moved = ascent.move();
  if (moved.impossible) {
    answer.impossible = true;
    return true;
  }
  if (moved.bound < 0 && !ascent.isFinest()) {
    // Less than without messages: the sharing contradicts its members.
    ascent.restart();
    return pass(count);
  }
  base = core.constant.time + moved.bound;
  raise({base, INT64_MIN / 4});
  double gain = moved.bound - lastBound;
  double left = std::max(1.0, std::min(double(getNeeded()), std::abs(double(base))));
  stalled = gain <= left * 1e-4 ? stalled + 1 : 0;
  isSlow = gain <= left / 256;
  lastBound = moved.bound;
  // Equal messages lose precision next to different ones, which only finer messages regain. As gains decrease, the
  // remaining gain may be a small fraction of the required one.
  double before = std::exchange(lastGain, gain);
  double rest = ++numRounds > 3 && gain < before ? gain * gain / (before - gain) : double(kInf);
  isSlow |= !ascent.isFinest() && !isPoor() && rest < left / 4;
  remaining = rest;
  // While solutions are poor better ones are looked for before the last of the gain.
  double maximum = isPoor() ? std::max(left, std::abs(double(base)) / 3) : left;
  isGaining = gain > maximum / 64 && !isSlow;
  return !isGaining || answer.lower.time > cutoff;
}

AscentSearch::Answer AscentSearch::run(ArrayRef<unsigned> start) {
  // If a pass takes long, few passes may suffice.
  bool findsBetter = true;
  for (unsigned chunk = ascent.getPassEntries() > double(1 << 28) ? 2 : 8;; chunk += std::max(chunk / 4, 1u)) {
    bool hasEnded = pass(chunk);
    if (!start.empty() && !isSettled()) {
      decode(std::exchange(start, {}));
      improveBest();
    }
    if (!hasEnded) {
      // If passes take long, solutions are searched between them, as long as better ones are found.
      if (chunk * ascent.getPassEntries() > double(1 << 29) && findsBetter) {
        Price before = best;
        decode();
        improveBest();
        findsBetter = best < before;
      }
      goOnWithFew();
      if (!isDone())
        continue;
    }
    if (isSettled())
      return std::move(answer);
    decode();
    for (auto step : {&AscentSearch::eliminateWithin, &AscentSearch::improveBest, &AscentSearch::goOnWithFew}) {
      if (!best.isImpossible() && best.time <= answer.lower.time)
        settleBytes();
      if (isDone())
        return std::move(answer);
      (this->*step)();
    }
    if (isDone())
      return std::move(answer);
    for (auto step : {&AscentSearch::searchNeighbourhoods, &AscentSearch::solveAbstractions}) {
      (this->*step)();
      if (isDone())
        return std::move(answer);
    }
    if (isSlow && ascent.refine()) {
      chunk = std::clamp(work / 4 / ascent.getPassEntries(), 1.0, 8.0);
      numRounds = 2; // the first gains of these regain the loss
      stalled = 0;
      findsBetter = true;
      tooMuch = kInf;
      continue;
    }
    if (!toTheEnd && (stalled > 8 || fruitless >= kMaxFruitless))
      return std::move(answer);
    bool mayFindBetter = isFarOff() && fruitless < kMaxFruitless && stalled <= 8;
    if (toTheEnd && isExhausted() && !mayFindBetter && (eliminateGrowing(/*withBytes=*/false) || stalled > 8)) {
      if (!best.isImpossible() && best.time <= answer.lower.time)
        settleBytes();
      return std::move(answer);
    }
  }
}

void AscentSearch::eliminateWithin() {
  // The slack grows from a guess; it never has to exceed that of the best solution.
  int64_t slack = guess > 0 ? guess : std::max<int64_t>(1, std::abs(double(moved.bound)) / (1 << 14));
  int64_t factor = 4;
  auto getNext = [&] { return factor * slack < tooMuch ? factor * slack : 2 * slack; };
  for (bool last = false; !last && !clock.isOver(); slack = getNext()) {
    // If few choices are left, all are tried at once.
    if (getNeeded() < kInf && ascent.isAtMost(moved, getNeeded(), 32.0 * core.sizes.size()))
      slack = getNeeded();
    last = slack >= getNeeded();
    slack = std::min(slack, getNeeded());
    if (slack >= tooMuch && !isExhausted())
      return;
    auto giveUp = [&] {
      guess = std::max<int64_t>(1, slack / 4);
      tooMuch = slack;
    };
    // Not more work than the sweeps took, unless sweeps do not help any more.
    double minimum = isPoor() ? 1 << 22 : 1 << 20;
    // If the bound is far off, it does not come near by slacks: joins that grow get what is left.
    bool mayTakeLong = isExhausted() && !isPoor();
    double mayCost = std::clamp(mayTakeLong ? 4 * work
                                : isPoor()  ? work / 8
                                            : work / 32,
                                minimum, double(mayTakeLong ? 1 << 29 : 1 << 27));
    if (!ascent.isAtMost(moved, slack, std::clamp(work / 512, minimum, double(1 << 26))))
      return giveUp();
    Rest rest(*this, slack, /*withBytes=*/false);
    if (rest.isTooLarge())
      return giveUp();
    if (rest.isEmpty()) {
      nothingWithin(slack);
      guess = slack;
      answer.impossible |= slack >= kInf / 8;
      if (isSettled())
        return;
      continue;
    }
    const Problem &problem = rest.getProblem();
    // The visited entries of joins are limited: joins may be larger if few entries are possible.
    int64_t maxJoin = 4 * options.maxJoinEntries;
    Elimination elimination(problem, getMinFillOrder(problem), maxJoin, rest.memo);
    if (!elimination.isExact())
      elimination = Elimination(problem, getMinFillOrder(problem, /*bySize=*/true), maxJoin, rest.memo);
    if (!elimination.isExact())
      return giveUp();
    Elimination::Run run = elimination.run(getTables(problem), mayCost, &clock);
    clock.spend(rest.memo.getWork());
    memo.statistics.add(rest.memo.statistics);
    if (run.isOver)
      return giveUp();
    guess = slack;
    if (run.total.isImpossible()) {
      nothingWithin(slack);
    } else {
      Price total = run.total + problem.constant;
      raise(std::min(total, Price{base + slack + 1, INT64_MIN / 4}));
      std::vector<unsigned> choices(problem.sizes.size(), 0);
      if (elimination.trace(run, choices))
        take(rest.expand(choices));
      if (total.time <= base + slack)
        return;
    }
    factor = rest.memo.getWork() > (1 << 21) ? 2 : 4;
    // The cost of a slack grows faster than the slack, but it may find a better solution.
    double larger = double(getNeeded()) / double(slack);
    if (!isExhausted() && !(isPoor() && ascent.isFinest()) && larger * larger * rest.memo.getWork() > mayCost)
      return;
  }
}

void AscentSearch::decode(ArrayRef<unsigned> start) {
  // Many ties leave many choices; the choices of the messages may be as good as the bound.
  std::vector<unsigned> decoded(core.sizes.size(), kNoVar);
  if (!start.empty())
    decoded = start;
  lastDecoded.clear();
  if (!ascent.decode(decoded))
    return;
  lastDecoded = decoded;
  take(std::move(decoded));
}

void AscentSearch::improveBest() {
  for (Price before = Price::impossible(); best < before && !isDone();) {
    before = best;
    improveOnce();
  }
}

void AscentSearch::improveOnce() {
  if (!best.isImpossible() && getNeeded() > 0)
    merge(answer.choices, moved.getNear(getNeeded(), /*choices=*/8));
}

bool AscentSearch::merge(ArrayRef<std::vector<unsigned>> solutions, int64_t near) {
  Rest rest(*this, solutions, near);
  if (rest.isTooLarge() || rest.isEmpty())
    return true;
  const Problem &problem = rest.getProblem();
  Elimination elimination(problem, getMinFillOrder(problem), options.maxJoinEntries, rest.memo);
  if (!elimination.isExact())
    return false;
  Elimination::Run run = elimination.run(getTables(problem), std::max(work / 8, double(1 << 22)), &clock);
  clock.spend(rest.memo.getWork());
  memo.statistics.add(rest.memo.statistics);
  std::vector<unsigned> choices(problem.sizes.size(), 0);
  if (!run.isOver && !run.total.isImpossible() && elimination.trace(run, choices))
    take(rest.expand(choices));
  return !run.isOver;
}

void AscentSearch::searchNeighbourhoods() {
  if (!isFarOff() || !hasConverged())
    return;
  Price before = best;
  if (!neighbourhoods) {
    neighbourhoods.emplace(core, memo.pool, memo.statistics);
    solveQuotient();
  }
  auto descend = [&](std::vector<unsigned> choices, int64_t maxJoin) {
    bool isDone = neighbourhoods->descend(choices, maxJoin, work / 8, clock);
    optima.push_back(choices);
    take(std::move(choices));
    return isDone;
  };
  // The solution of the messages is a different start each time. Each of the local optima is the best one for some
  // start.
  if (!lastDecoded.empty() && fruitless < kMaxFruitless)
    descend(std::exchange(lastDecoded, {}), kSmallNeighbourhood);
  optima.push_back(answer.choices);
  if (optima.size() > kMaxMerged)
    optima.erase(optima.begin(), optima.end() - kMaxMerged);
  for (size_t count = optima.size(); count > 1 && !merge(ArrayRef(optima).take_back(count), -1);)
    count = count * 2 / 3;
  if (best < descended && descend(answer.choices, kLargeNeighbourhood))
    descended = best;
  fruitless = best < before ? 0 : fruitless + 1;
}

void AscentSearch::solveQuotient() {
  TablePool pool;
  Quotient quotient(core, memo.pool, kQuotientRadius, pool);
  if (quotient.problem.sizes.size() > core.sizes.size() / 2)
    return;
  Reduction reduction = Reducer(pool).reduce(std::move(quotient.problem));
  const Problem &problem = reduction.problem;
  if (problem.impossible)
    return;
  SolverOptions subOptions = options;
  subOptions.timeLimit = (options.timeLimit - clock.getSeconds()) / 2;
  subOptions.workLimit = std::min(options.workLimit - clock.getWork(), work);
  Clock subClock(subOptions);
  JoinMemo subMemo(pool);
  MinSum subSearch(problem, subOptions, subMemo, subClock);
  Answer found = subSearch.solve(getTables(problem), std::max(gap, 1.0 / 256), kInf, /*toTheEnd=*/false);
  clock.spend(subClock.getWork());
  memo.statistics.add(subMemo.statistics);
  if (!found.choices.empty())
    take(quotient.expand(reduction.expand(found.choices, pool)));
}

void AscentSearch::solveAbstractions() {
  if (!core.sharings.empty() || !hasConverged() || answer.choices.empty())
    return;
  if (!abstraction) {
    abstraction.emplace(core, ascent, moved, !timesOnly, memo.statistics);
    abstractionGain = getNeeded();
  }
  // As with passes: as long as they gain something; and where nothing else does, unless much is missing.
  auto isWorthIt = [&] {
    double left = best.time - answer.lower.time;
    return (isExhausted() && left <= std::abs(double(base)) / 64) || abstractionGain > left / 64 ||
           abstraction->getWork() < work / 8;
  };
  while (!isDone() && !isAbstracted && isWorthIt()) {
    Price before = answer.lower;
    int64_t maximum = base + getNeeded();
    Abstraction::Optimum found = abstraction->solve(maximum, options.maxJoinEntries, clock);
    if (found.isOver) {
      isAbstracted = true;
      return;
    }
    if (found.lower.isImpossible())
      return raise({maximum + 1, INT64_MIN / 4});
    raise(found.lower);
    abstractionGain = std::max(double(answer.lower.time - before.time), abstractionGain / 2);
    if (found.isExact || ascent.decode(found.choices))
      take(std::move(found.choices));
    if (best <= answer.lower) {
      answer.lower = best;
      answer.optimal = true;
    }
  }
}

void AscentSearch::goOnWithFew() {
  while (!isDone() && getNeeded() < kInf && getNeeded() <= mayGoOn) {
    // Large problems take long to reduce; passes over sharings cost more than over the remaining pairs.
    double maximum = ascent.getPassEntries() / (core.sharings.empty() ? 4 : 1.5);
    if (core.sharings.empty() && !isGaining && stalled == 0)
      maximum = std::min(maximum, std::max(maximum / 8, double(1 << 23)));
    int64_t slack = getNeeded();
    while (!ascent.isAtMost(moved, slack, maximum)) {
      // If passes do not help any more, choices closer to the bound may lead to a better solution.
      slack /= 2;
      maximum = std::min(maximum, ascent.getPassEntries() / 8);
      if (isGaining || !ascent.isFinest() || base + slack < answer.lower.time)
        return;
    }
    mayGoOn = getNeeded() / 4 * 3;
    Rest rest(*this, slack, /*withBytes=*/true);
    if (rest.isTooLarge())
      return;
    if (rest.isEmpty())
      return nothingWithin(slack);
    MinSum subSearch(rest.getProblem(), options, rest.memo, clock);
    Answer found = subSearch.solve(getTables(rest.getProblem()), gap, base + slack, toTheEnd);
    memo.statistics.add(rest.memo.statistics);
    if (found.impossible)
      return nothingWithin(slack);
    raise(std::min(found.lower, Price{base + slack + 1, INT64_MIN / 4}));
    if (!found.choices.empty())
      take(rest.expand(found.choices));
    if (found.optimal && found.price.time <= base + slack) {
      answer.lower = best;
      answer.optimal = true;
    }
    // Its solution may restrict the problem further.
    stalled = 0;
  }
}

bool AscentSearch::eliminateGrowing(bool withBytes) {
  int64_t slack = std::min(getNeeded(), kInf / 8);
  // Some tables may be too large to hold, and what readers share too much to list.
  if (!ascent.isAtMost(moved, slack, core.sharings.empty() ? 1 << 28 : 1 << 27))
    return false;
  Rest rest(*this, slack, withBytes);
  if (rest.isTooLarge())
    return false;
  if (rest.isEmpty()) {
    answer.impossible |= slack >= kInf / 8;
    nothingWithin(slack);
    return true;
  }
  GrowingElimination growing(rest.getProblem(), 4 * options.maxJoinEntries, rest.pool, rest.reducer);
  while (growing.run(base + std::min(getNeeded(), slack), clock)) {
    raise(std::min(growing.getLower(), Price{base + slack + 1, INT64_MIN / 4}));
    std::vector<unsigned> choices;
    if (!growing.getLower().isImpossible())
      choices = growing.getChoices();
    if (!choices.empty()) {
      choices = rest.expand(choices);
      if (growing.isExact() || ascent.improve(choices))
        take(std::move(choices));
    }
    if (withBytes ? best <= answer.lower : best.time <= answer.lower.time || isDone())
      break;
    if (growing.isExact() || !growing.grow())
      break;
  }
  memo.statistics.add(growing.getStatistics());
  return true;
}

void AscentSearch::settleBytes() {
  if (!timesOnly) {
    if (bytesEnd >= kInf)
      bytesEnd = clock.getWork() + std::max(clock.getWork(), kBytesWork);
    clock.within(bytesEnd - clock.getWork(), [&] { eliminateGrowing(/*withBytes=*/true); });
  }
  answer.optimal = timesOnly || best <= answer.lower;
  // No bytes are fewer than none.
  answer.lower = answer.optimal ? best : Price{best.time, INT64_MIN / 4};
}
