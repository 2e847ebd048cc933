//===- Budget.cpp - The best choices within a memory limit ----------------===//

#include "Budget.h"
#include "../Elimination/EliminationOrder.h"
#include "SmallProgram.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>
#include <queue>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The fraction of the remaining time for the multipliers of one round.
static constexpr double kSolveFraction = 0.2;

BudgetSearch::BudgetSearch(const Problem &problem, std::optional<int64_t> budget, TablePool &pool,
                           const SolverOptions &options, const Clock &clock, SolverStatistics &statistics)
    : problem(problem), budget(budget), pool(pool), options(options), clock(clock), statistics(statistics) {
  if (budget)
    limit = *budget;
  // Always paid.
  bound = problem.constant.time;
  if (isPeak()) {
    bound = 0;
    for (int64_t f : problem.fixed)
      bound = std::max(bound, f);
  }
  std::vector<double> maximum(problem.fixed.size() + 1, 0);
  for (const Problem::Buffer &b : problem.buffers) {
    double bytes = double(*llvm::max_element(pool.get(b.bytes).time));
    maximum[b.begin] += bytes;
    maximum[b.end] -= bytes;
  }
  std::partial_sum(maximum.begin(), maximum.end(), maximum.begin());
  for (auto [m, f] : llvm::zip(maximum, problem.fixed))
    highest = std::max(highest, m + double(f));
  llvm::DenseMap<TableId, double> dearestOf;
  for (TableId id : getTables(problem)) {
    auto [it, isNew] = dearestOf.try_emplace(id, 0);
    if (isNew)
      for (int64_t time : pool.get(id).time)
        if (time < kInf)
          it->second = std::max(it->second, double(time));
    dearest += it->second;
  }
}

unsigned BudgetSearch::addColumn(ArrayRef<unsigned> choices) {
  uint64_t hash = llvm::xxh3_64bits(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(choices.data()),
                                                      choices.size() * sizeof(unsigned))) >>
                  1;
  auto [it, inserted] = columnOf.try_emplace(hash, columns.size());
  if (!inserted && ArrayRef(columns[it->second].choices) == choices)
    return it->second;
  // Mini-buckets may yield impossible choices.
  Price price = problem.getPrice(choices, pool);
  if (price.isImpossible()) {
    if (inserted)
      columnOf.erase(it);
    return kNoColumn;
  }
  Column column;
  column.choices.assign(choices.begin(), choices.end());
  column.price = price.time;
  problem.getMemory(choices, pool, column.memory);
  for (int64_t m : column.memory)
    column.peak = std::max(column.peak, m);
  column.held = std::accumulate(column.memory.begin(), column.memory.end(), int64_t(0));
  columns.push_back(std::move(column));
  unsigned id = columns.size() - 1;
  auto getRank = [&](unsigned of) { return std::pair(valueOf(columns[of]), columns[of].held); };
  if ((isPeak() || columns[id].peak <= limit) && (best == kNoColumn || getRank(id) < getRank(best)))
    best = id;
  return id;
}

bool BudgetSearch::isDone() const {
  if (clock.isOver())
    return true;
  if (!hasBest())
    return clock.getSeconds() >= patience;
  int64_t value = getValue();
  if (isPeak() && enough >= 0 && value <= enough)
    return true;
  if (bound >= value)
    return true;
  return !isPeak() && double(value - bound) <= options.gap * std::abs(double(value));
}

//===----------------------------------------------------------------------===//
// Multipliers
//===----------------------------------------------------------------------===//

BudgetSearch::Multipliers BudgetSearch::round(ArrayRef<std::pair<unsigned, double>> exact, bool everywhere) const {
  // As fine as sums in 64 bits allow, in powers of two. Once there is a solution, what costs many times more than
  // all columns may become impossible.
  double maximum = isPeak() ? highest : hasBest() ? 1 : dearest;
  if (!isPeak()) {
    for (const Column &column : columns)
      maximum = std::max(maximum, double(column.price - problem.constant.time));
    double pressure = 0;
    for (auto [p, m] : exact)
      pressure += m * double(limit + 1);
    maximum = 16 * std::max(maximum, pressure);
  }
  int shift = std::clamp(58 - int(std::ceil(std::log2(maximum + 1))), 0, 30);
  Multipliers result;
  result.scale = isPeak() ? 0 : int64_t(1) << shift;
  // Sums from the first point on are rounded, not each: many small ones add up.
  double sum = 0;
  int64_t last = 0;
  auto add = [&](unsigned p, double m) {
    sum += m;
    int64_t rounded = std::llround(std::ldexp(sum, shift));
    if (rounded > last)
      result.points.push_back({p, rounded - last});
    last = rounded;
  };
  if (!isPeak()) {
    for (auto [p, m] : exact)
      add(p, m);
    return result;
  }
  // Without a price at a point, its buffers would be chosen arbitrarily, and the next peak would be there. So every
  // point has a small price, until only the bound matters.
  double all = 0;
  for (auto [p, m] : exact)
    all += m;
  double rest = everywhere ? 1.0 / 256 : 0;
  auto it = exact.begin();
  for (unsigned p = 0; p < problem.fixed.size(); ++p) {
    double exactShare = it != exact.end() && it->first == p ? (it++)->second / all : 0;
    add(p, exact.empty() ? 1.0 / problem.fixed.size() : (1 - rest) * exactShare + rest / problem.fixed.size());
  }
  return result;
}

std::vector<TableId> BudgetSearch::weigh(const Problem &of, const Multipliers &by, TablePool &in) const {
  std::vector<int64_t> before(of.fixed.size() + 1, 0); // sum of the multipliers before a point
  for (auto [p, m] : by.points)
    before[p + 1] = m;
  for (unsigned p = 0; p < of.fixed.size(); ++p)
    before[p + 1] += before[p];
  unsigned n = of.sizes.size();
  std::vector<SmallVector<Weight, 2>> weights(n + of.edges.size());
  for (const Problem::Buffer &buffer : of.buffers) {
    int64_t factor = before[buffer.end] - before[buffer.begin];
    if (factor == 0)
      continue;
    unsigned slot = buffer.a;
    if (buffer.b != kNoVar) {
      auto it = llvm::lower_bound(of.edges, buffer, [](const Problem::Edge &e, const Problem::Buffer &b) {
        return std::tie(e.a, e.b) < std::tie(b.a, b.b);
      });
      slot = n + (it - of.edges.begin());
    }
    // One weight per table of bytes, so that equal variables have equal lists.
    auto *same = llvm::find_if(weights[slot], [&](const Weight &w) { return w.bytes == buffer.bytes; });
    if (same != weights[slot].end())
      same->factor += factor;
    else
      weights[slot].push_back({buffer.bytes, factor});
  }
  std::vector<TableId> tables = getTables(of);
  for (unsigned i = 0; i < tables.size(); ++i) {
    llvm::sort(weights[i], [](const Weight &x, const Weight &y) { return x.bytes < y.bytes; });
    if (tables[i] != kNoTable && (by.scale != 1 || !weights[i].empty()))
      tables[i] = in.weigh(tables[i], by.scale, weights[i], false);
  }
  return tables;
}

int64_t BudgetSearch::getBoundOf(int64_t minimum, const Multipliers &by, const Problem &of) const {
  __int128 sum = __int128(minimum), divisor = by.scale;
  if (isPeak()) {
    for (auto [p, m] : by.points) {
      sum += __int128(m) * of.fixed[p];
      divisor += m;
    }
  } else {
    sum += __int128(by.scale) * of.constant.time;
    for (auto [p, m] : by.points)
      sum += __int128(m) * (of.fixed[p] - *budget);
  }
  if (divisor == 0)
    return INT64_MIN;
  // Values are integers: rounded up.
  __int128 quotient = sum / divisor;
  if (sum % divisor > 0)
    ++quotient;
  return int64_t(std::clamp<__int128>(quotient, INT64_MIN, kInf));
}

//===----------------------------------------------------------------------===//
// The master program
//===----------------------------------------------------------------------===//

BudgetSearch::Master BudgetSearch::solveMaster(ArrayRef<unsigned> which, std::vector<unsigned> &rows) const {
  double low = 1e300, high = -1e300, maximum = 1;
  for (unsigned c : which) {
    low = std::min(low, double(valueOf(columns[c])));
    high = std::max(high, double(valueOf(columns[c])));
    maximum = std::max(maximum, double(columns[c].peak));
  }
  double range = std::max({1.0, high - low, isPeak() ? 0 : std::abs(low) / 1000});
  // Memory is measured relative to the budget, or to the highest peak; plus one byte on both sides, so that a budget of
  // 0 is not a divisor.
  double unit = isPeak() ? maximum + 1 : double(limit) + 1;
  SmallProgram program;
  Master master;
  while (true) {
    program.numRows = rows.size();
    program.columns.clear();
    // Stands for what may still be found, at a price that no solution has.
    program.columns.push_back({isPeak() ? 10.0 : 1000.0, 1, std::vector<double>(rows.size(), 0)});
    for (unsigned c : which) {
      SmallProgram::Column column{isPeak() ? 0.0 : (double(columns[c].price) - low) / range, 1, {}};
      for (unsigned p : rows)
        column.rows.push_back((double(columns[c].memory[p]) + 1) / unit);
      program.columns.push_back(std::move(column));
    }
    if (isPeak())
      program.columns.push_back({-1, 0, std::vector<double>(rows.size(), 1)});
    program.solve();
    master.shares.assign(program.x.begin() + 1, program.x.begin() + 1 + which.size());
    // The point where the mix of columns needs the most, if it is not a row yet.
    double limit = isPeak() ? unit * (1 - program.x.back()) : unit;
    std::vector<double> mix(problem.fixed.size(), 0);
    for (auto [c, share] : llvm::zip_equal(which, master.shares))
      if (share > 1e-12)
        for (unsigned p = 0; p < mix.size(); ++p)
          mix[p] += share * double(columns[c].memory[p]);
    unsigned at = llvm::max_element(mix) - mix.begin();
    if (mix.empty() || mix[at] <= limit * (1 + 1e-9) || llvm::is_contained(rows, at) || rows.size() >= 60)
      break;
    rows.push_back(at);
  }
  clock.spend(program.work);
  for (auto [i, p] : llvm::enumerate(rows))
    if (program.duals[i] > 1e-12)
      master.multipliers.push_back({p, isPeak() ? program.duals[i] : program.duals[i] * range / unit});
  llvm::sort(master.multipliers);
  master.value = isPeak() ? unit * (1 - program.x.back()) : program.value * range + low;
  return master;
}

BudgetSearch::Exact BudgetSearch::blend(const Exact &a, const Exact &b, double weight) {
  Exact result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->first < y->first)) {
      result.push_back({x->first, weight * x->second});
      ++x;
    } else if (x == a.end() || y->first < x->first) {
      result.push_back({y->first, (1 - weight) * y->second});
      ++y;
    } else {
      result.push_back({x->first, weight * x->second + (1 - weight) * y->second});
      ++x;
      ++y;
    }
  }
  return result;
}

void BudgetSearch::dropLastColumn() {
  for (auto it = columnOf.begin(); it != columnOf.end(); ++it)
    if (it->second + 1 == columns.size()) {
      columnOf.erase(it);
      break;
    }
  columns.pop_back();
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

void BudgetSearch::branch(Node root, bool proves, unsigned maxNodes) {
  size_t numFixed = root.allowed.size();
  struct Worse {
    bool operator()(const std::pair<int64_t, unsigned> &x, const std::pair<int64_t, unsigned> &y) const {
      return x > y;
    }
  };
  std::vector<Node> nodes = {std::move(root)};
  std::priority_queue<std::pair<int64_t, unsigned>, std::vector<std::pair<int64_t, unsigned>>, Worse> queue;
  queue.push({bound, 0});
  while (!queue.empty()) {
    auto [value, index] = queue.top();
    if (proves)
      bound = std::max(bound, std::min(value, getValue()));
    if (isDone() || maxNodes-- == 0)
      return;
    queue.pop();
    Node node = std::move(nodes[index]);
    nodes[index] = Node();
    if (value >= getValue())
      continue;
    ++statistics.nodes;
    Relaxed relaxed = relax(node, node.allowed.size() == numFixed ? 100 : 25, false);
    if (relaxed.impossible)
      continue;
    int64_t low = std::max(value, relaxed.bound);
    if (clock.isOver()) {
      queue.push({low, index});
      if (proves)
        bound = std::max(bound, std::min(queue.top().first, getValue()));
      return;
    }
    if (low >= getValue())
      continue;
    // Branch where the used columns disagree most; else on the largest buffer of an open variable.
    std::vector<std::vector<unsigned>> allowed(problem.sizes.size());
    for (auto &[v, list] : node.allowed)
      allowed[v] = list;
    auto getAllowed = [&](unsigned v) {
      if (allowed[v].empty())
        for (unsigned c = 0; c < problem.sizes[v]; ++c)
          allowed[v].push_back(c);
      return ArrayRef(allowed[v]);
    };
    unsigned split = kNoVar, choice = 0;
    double maximum = 1e-6;
    for (unsigned v = 0; v < problem.sizes.size(); ++v) {
      if (getAllowed(v).size() < 2)
        continue;
      llvm::SmallDenseMap<unsigned, double, 4> sum;
      for (auto [c, share] : llvm::zip_equal(relaxed.columns, relaxed.shares))
        sum[columns[c].choices[v]] += share;
      double largest = 0;
      unsigned which = 0;
      for (unsigned c : getAllowed(v))
        if (sum.lookup(c) > largest) {
          largest = sum.lookup(c);
          which = c;
        }
      if (1 - largest > maximum) {
        maximum = 1 - largest;
        split = v;
        choice = which;
      }
    }
    if (split == kNoVar) {
      int64_t widest = -1;
      std::vector<int64_t> spread(problem.sizes.size(), 0);
      for (const Problem::Buffer &b : problem.buffers) {
        const Table &bytes = pool.get(b.bytes);
        int64_t s = *llvm::max_element(bytes.time) - *llvm::min_element(bytes.time);
        spread[b.a] = std::max(spread[b.a], s);
        if (b.b != kNoVar)
          spread[b.b] = std::max(spread[b.b], s);
      }
      for (unsigned v = 0; v < problem.sizes.size(); ++v)
        if (getAllowed(v).size() > 1 && spread[v] > widest) {
          widest = spread[v];
          split = v;
        }
      if (split == kNoVar)
        continue; // one solution, which relax has seen
      choice = getAllowed(split).front();
      if (!relaxed.columns.empty()) {
        unsigned of = columns[relaxed.columns.back()].choices[split];
        if (llvm::is_contained(getAllowed(split), of))
          choice = of;
      }
    }
    for (bool take : {true, false}) {
      Node child;
      std::vector<unsigned> list;
      for (unsigned c : getAllowed(split))
        if ((c == choice) == take)
          list.push_back(c);
      if (list.empty())
        continue;
      child.allowed = node.allowed;
      llvm::erase_if(child.allowed, [&](auto &entry) { return entry.first == split; });
      child.allowed.push_back({split, list});
      for (unsigned c : relaxed.columns)
        if (llvm::is_contained(list, columns[c].choices[split]) && child.columns.size() < 40)
          child.columns.push_back(c);
      nodes.push_back(std::move(child));
      queue.push({low, unsigned(nodes.size() - 1)});
    }
  }
  if (proves)
    bound = std::max(bound, getValue());
}

BudgetSearch::Node BudgetSearch::getNode(ArrayRef<unsigned> of) const {
  Node node;
  node.columns.assign(of.begin(), of.end());
  std::vector<std::vector<unsigned>> allowed(problem.sizes.size());
  for (unsigned c : of)
    for (unsigned v = 0; v < allowed.size(); ++v)
      if (!llvm::is_contained(allowed[v], columns[c].choices[v]))
        allowed[v].push_back(columns[c].choices[v]);
  for (unsigned v = 0; v < allowed.size(); ++v) {
    llvm::sort(allowed[v]);
    node.allowed.push_back({v, std::move(allowed[v])});
  }
  return node;
}

void BudgetSearch::searchLarge() {
  JoinMemo memo(pool);
  MinSum full(problem, options, memo, clock);
  Exact bestMultipliers, next;
  bool hasBound = false, smooth = false;
  unsigned stalled = 0, fruitless = 0;
  std::vector<unsigned> active;
  for (unsigned c = 0; c < columns.size(); ++c)
    active.push_back(c);
  if (!isPeak() && !active.empty()) {
    // The solution without multipliers is among them.
    std::vector<unsigned> rows;
    next = solveMaster(active, rows).multipliers;
    hasBound = true;
  }
  while (!isDone() && stalled < 4) {
    Exact exact = smooth && hasBound ? blend(bestMultipliers, next, 0.4) : next;
    Multipliers multipliers = round(exact, stalled == 0);
    // The first multipliers of a peak are a guess.
    double gap = isPeak() && exact.empty() ? 0.02 : 1e-4;
    MinSum::Answer answer;
    clock.inFraction(kSolveFraction,
                     [&] { answer = full.solve(weigh(problem, multipliers, pool), gap, kInf, /*toTheEnd=*/false); });
    if (answer.impossible) {
      bound = kInf;
      return;
    }
    int64_t minimum = answer.lower.time - problem.constant.time;
    int64_t now = getBoundOf(minimum, multipliers, problem);
    if (!hasBound || now > bound + std::abs(double(bound)) * 1e-5)
      stalled = 0;
    else
      ++stalled;
    if (now >= bound || !hasBound) {
      bestMultipliers = exact;
      hasBound = true;
    }
    bound = std::max(bound, now);
    bool isNew = false;
    if (!answer.choices.empty()) {
      unsigned c = addColumn(answer.choices);
      isNew = c != kNoColumn && !llvm::is_contained(active, c);
      if (isNew)
        active.push_back(c);
    }
    smooth = isNew;
    if (isDone() || memo.pool.getMemory() > size_t(3) << 30)
      return;
    // All that the solutions so far have chosen somewhere: the program recombines them
    // variable by variable, not only as a whole.
    Node node = getNode(active);
    Relaxed relaxed = relax(node, 40, true);
    next = relaxed.multipliers;
    // Perhaps there is nothing within the budget.
    if (!isPeak() && !hasBest() && ++fruitless >= 6)
      return;
    if (relaxed.impossible) {
      // Nothing among them is within the budget: what to pay for being above it.
      std::vector<unsigned> rows;
      next = solveMaster(active, rows).multipliers;
      continue;
    }
    // Those in use, and the newest.
    active.clear();
    for (auto [c, share] : llvm::zip(relaxed.columns, relaxed.shares))
      if (share > 1e-9)
        active.push_back(c);
    if (hasBest() && !llvm::is_contained(active, best))
      active.push_back(best);
    for (unsigned c : llvm::reverse(relaxed.columns))
      if (active.size() < 6 && !llvm::is_contained(active, c))
        active.push_back(c);
    llvm::sort(active);
  }
  // The bound will not get better. Solutions may: some nodes among the choices that
  // solutions have in common, fewer the larger the problem is.
  // Then among all that was ever chosen.
  for (bool all : {false, true}) {
    if (all) {
      active.resize(columns.size());
      std::iota(active.begin(), active.end(), 0);
    }
    if (!isDone() && !active.empty())
      branch(getNode(active), false, 60000 / problem.sizes.size());
    if (!isPeak() && hasBest() && !isDone())
      descend();
  }
}

void BudgetSearch::run(int64_t stopAt) {
  enough = stopAt;
  if (isDone())
    return;
  JoinMemo memo(pool);
  Elimination full(problem, getMinFillOrder(problem), options.maxJoinEntries, memo);
  Node root;
  for (unsigned c = 0; c < columns.size(); ++c)
    root.columns.push_back(c);
  if (full.isExact() && full.getLargestJoin() <= 32.0 * options.directJoinEntries &&
      full.getAllJoins() <= 256.0 * options.directJoinEntries)
    branch(std::move(root), /*proves=*/true, ~0u);
  else
    searchLarge();
}
