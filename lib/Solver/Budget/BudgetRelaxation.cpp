//===- BudgetRelaxation.cpp - Within a budget, among few choices ----------===//
//
// For variables restricted to some of their choices, column generation finds multipliers by
// exact eliminations. Solutions on both sides of the budget are split and recombined.
//
//===----------------------------------------------------------------------===//

#include "../Elimination/EliminationOrder.h"
#include "Budget.h"
#include <map>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The subproblem with only some choices of each variable, in a pool of its own, which is released with it.
static Problem copySubproblem(const Problem &problem, const TablePool &pool, ArrayRef<std::vector<unsigned>> allowed,
                              TablePool &to) {
  Problem subproblem;
  subproblem.fixed = problem.fixed;
  subproblem.constant = problem.constant;
  std::vector<unsigned> lists;
  for (const auto &list : allowed) {
    subproblem.sizes.push_back(list.size());
    lists.push_back(to.addList(list));
  }
  // Equal tables restricted alike are copied once.
  SequenceMap keys;
  std::vector<TableId> made;
  auto copy = [&](TableId id, unsigned a, unsigned b) {
    auto [index, inserted] =
        keys.insert({id, lists[a], b == kNoVar ? kNoTable : lists[b], b == kNoVar ? 1 : problem.sizes[b]});
    if (!inserted)
      return made[index];
    const Table &from = pool.get(id);
    Table table;
    for (unsigned x : allowed[a]) {
      if (b == kNoVar)
        table.time.push_back(from.time[x]);
      else
        for (unsigned y : allowed[b])
          table.time.push_back(from.time[size_t(x) * problem.sizes[b] + y]);
    }
    made.push_back(to.intern(std::move(table)));
    return made.back();
  };
  for (unsigned v = 0; v < problem.sizes.size(); ++v)
    subproblem.unary.push_back(copy(problem.unary[v], v, kNoVar));
  for (const Problem::Edge &edge : problem.edges)
    subproblem.edges.push_back({edge.a, edge.b, copy(edge.table, edge.a, edge.b)});
  for (const Problem::Buffer &b : problem.buffers)
    subproblem.buffers.push_back({b.begin, b.end, b.a, b.b, copy(b.bytes, b.a, b.b)});
  return subproblem;
}

/// Numbers steps in pre-order of the elimination tree, the largest subtree last: a split of these numbers is a split of
/// the graph.
static std::vector<unsigned> getDepthFirst(ArrayRef<Elimination::Step> steps) {
  unsigned n = steps.size();
  std::vector<SmallVector<unsigned, 4>> children(n);
  std::vector<unsigned> size(n, 1), number(n, 0), stack;
  for (unsigned i = 0; i < n; ++i) {
    if (steps[i].parent == ~0u) {
      stack.push_back(i);
      continue;
    }
    children[steps[i].parent].push_back(i);
    size[steps[i].parent] += size[i];
  }
  unsigned next = 0;
  while (!stack.empty()) {
    unsigned i = stack.back();
    stack.pop_back();
    number[i] = next++;
    // The last one pushed comes first.
    llvm::sort(children[i], [&](unsigned x, unsigned y) { return size[x] != size[y] ? size[x] > size[y] : x < y; });
    stack.insert(stack.end(), children[i].begin(), children[i].end());
  }
  return number;
}

class BudgetSearch::Relaxation {
public:
  Relaxation(BudgetSearch &search, const Node &node);

  /// Finds multipliers, and the columns that they lead to; coarsely where solutions are what counts. False where
  /// nothing is possible.
  bool mix(unsigned iterations, bool isCoarse);
  /// Looks for solutions within the budget between those that the multipliers lead to.
  void repair();
  Relaxed take() {
    search.statistics.add(memo.statistics);
    search.clock.spend(memo.getWork());
    return std::move(result);
  }

private:
  /// A solution that repair has tried.
  struct Tried {
    bool fits = false;
    int64_t value = kInf;
  };

  bool isAboveAnyway() const;
  void spendOn(size_t things) const { search.clock.spend(solver::Clock::kLookUp * double(things)); }
  unsigned addColumn(ArrayRef<unsigned> choices);
  /// Adds a run under other multipliers if it leads to a column that no other leads to.
  void addRun(const Exact &exact);
  /// The solution that follows the run of its label at each step.
  Tried attempt(ArrayRef<uint8_t> with);
  void split(uint8_t front, uint8_t back);
  void mixStretches(unsigned numGroups);

  BudgetSearch &search;
  TablePool local;
  JoinMemo memo{local};
  std::vector<std::vector<unsigned>> allowed;
  Reduction reduction;
  std::optional<Elimination> elimination;
  Relaxed result;
  bool hasBound = false;
  std::vector<Elimination::Run> runs;
  std::vector<unsigned> runOf; // column of each run

  // Inputs of repair: runs, the number of each step, and the run that each step follows in the best solution so far.
  SmallVector<unsigned, 8> mixed;
  std::vector<unsigned> number;
  std::vector<uint8_t> labels, bestLabels;
  int64_t bestValue = kInf;
};

BudgetSearch::Relaxation::Relaxation(BudgetSearch &search, const Node &node) : search(search) {
  result.columns = node.columns;
  const Problem &problem = search.problem;
  allowed.resize(problem.sizes.size());
  for (auto &[v, list] : node.allowed)
    allowed[v] = list;
  for (unsigned v = 0; v < allowed.size(); ++v)
    if (allowed[v].empty())
      for (unsigned c = 0; c < problem.sizes[v]; ++c)
        allowed[v].push_back(c);
  reduction = Reducer(local).reduce(copySubproblem(problem, search.pool, allowed, local));
  spendOn(problem.edges.size() + problem.buffers.size());
  const Problem &subproblem = reduction.problem;
  result.impossible = subproblem.impossible || isAboveAnyway();
  if (!result.impossible)
    elimination.emplace(subproblem, getMinFillOrder(subproblem),
                        std::min<int64_t>(search.options.maxJoinEntries, 1 << 23), memo);
}

/// Whether what is live at least is above the budget.
bool BudgetSearch::Relaxation::isAboveAnyway() const {
  if (search.isPeak())
    return false;
  const Problem &subproblem = reduction.problem;
  std::vector<int64_t> minimum(subproblem.fixed.size() + 1, 0);
  for (const Problem::Buffer &b : subproblem.buffers) {
    int64_t bytes = *llvm::min_element(local.get(b.bytes).time);
    minimum[b.begin] += bytes;
    minimum[b.end] -= bytes;
  }
  int64_t live = 0;
  for (unsigned p = 0; p < subproblem.fixed.size(); ++p) {
    live += minimum[p];
    if (live + subproblem.fixed[p] > search.limit)
      return true;
  }
  return false;
}

unsigned BudgetSearch::Relaxation::addColumn(ArrayRef<unsigned> choices) {
  std::vector<unsigned> all = reduction.expand(choices, local);
  for (unsigned v = 0; v < all.size(); ++v)
    all[v] = allowed[v][all[v]];
  return search.addColumn(all);
}

bool BudgetSearch::Relaxation::mix(unsigned iterations, bool isCoarse) {
  if (result.impossible)
    return false;
  const Problem &subproblem = reduction.problem;
  std::vector<unsigned> rows;
  for (unsigned c : result.columns)
    if (const std::vector<int64_t> &memory = search.columns[c].memory; !memory.empty()) {
      unsigned at = llvm::max_element(memory) - memory.begin();
      if (!llvm::is_contained(rows, at))
        rows.push_back(at);
    }
  llvm::sort(rows);
  result.bound = INT64_MIN;
  double smooth = 0;
  bool everywhere = search.isPeak();
  for (unsigned i = 0; i < iterations && !search.clock.isOver(); ++i) {
    Exact exact;
    double value = 0;
    if (!result.columns.empty()) {
      Master master = search.solveMaster(result.columns, rows);
      result.shares = master.shares;
      exact = master.multipliers;
      value = master.value;
    }
    // Near the multipliers of the best bound (Wentges' smoothing), unless that gave nothing new.
    if (hasBound && smooth > 0)
      exact = blend(result.multipliers, exact, smooth);
    Multipliers multipliers = search.round(exact, everywhere);
    spendOn(subproblem.edges.size() + subproblem.buffers.size());
    Elimination::Run run = elimination->run(search.weigh(subproblem, multipliers, local));
    if (run.total.isImpossible()) {
      result.impossible = true;
      return false;
    }
    int64_t now = search.getBoundOf(run.total.time, multipliers, subproblem);
    if (now > result.bound) {
      result.bound = now;
      result.multipliers = exact;
      hasBound = true;
    }
    std::vector<unsigned> choices(subproblem.sizes.size(), 0);
    bool isNew = false;
    if (elimination->trace(run, choices)) {
      unsigned c = addColumn(choices);
      if (c != kNoColumn && !llvm::is_contained(result.columns, c)) {
        isNew = true;
        result.columns.push_back(c);
      }
      if (c != kNoColumn && !llvm::is_contained(runOf, c)) {
        runs.push_back(std::move(run));
        runOf.push_back(c);
      }
    }
    if (search.hasBest() && result.bound >= search.getValue())
      break;
    if (!isNew && smooth == 0 && i > 0 && !everywhere)
      break; // the master's value is the bound
    everywhere &= isNew;
    if (i > 0 && value - double(result.bound) < (isCoarse ? 1e-5 * std::abs(value) : 0.5))
      break;
    smooth = isNew ? 0.5 : 0;
    if (local.getMemory() > size_t(1) << 30)
      break;
  }
  if (!result.columns.empty())
    result.shares = search.solveMaster(result.columns, rows).shares;
  return true;
}

void BudgetSearch::Relaxation::addRun(const Exact &exact) {
  Elimination::Run run = elimination->run(search.weigh(reduction.problem, search.round(exact, search.isPeak()), local));
  std::vector<unsigned> choices(reduction.problem.sizes.size(), 0);
  if (run.total.isImpossible() || search.clock.isOver() || !elimination->trace(run, choices))
    return;
  unsigned c = addColumn(choices);
  if (c == kNoColumn || llvm::is_contained(runOf, c))
    return;
  runOf.push_back(c);
  runs.push_back(std::move(run));
  mixed.push_back(runs.size() - 1);
}

BudgetSearch::Relaxation::Tried BudgetSearch::Relaxation::attempt(ArrayRef<uint8_t> with) {
  SmallVector<const Elimination::Run *, 8> of;
  for (unsigned run : mixed)
    of.push_back(&runs[run]);
  std::vector<unsigned> choices(reduction.problem.sizes.size(), 0);
  if (search.clock.isOver() || !elimination->trace(of, with, choices))
    return Tried();
  spendOn(choices.size());
  size_t before = search.columns.size();
  unsigned c = addColumn(choices);
  if (c == kNoColumn)
    return Tried();
  const Column &column = search.columns[c];
  Tried tried{search.isPeak() || column.peak <= search.limit, search.valueOf(column)};
  // There may be many; what is not the best is of no use later.
  if (search.columns.size() > before && c != search.best)
    search.dropLastColumn();
  if (tried.fits && tried.value < bestValue) {
    bestValue = tried.value;
    bestLabels.assign(with.begin(), with.end());
  }
  return tried;
}

/// Combines one solution on the root side of a split with the other one after it, at the best split.
void BudgetSearch::Relaxation::split(uint8_t front, uint8_t back) {
  unsigned n = number.size();
  std::map<unsigned, Tried> tried; // by split
  auto splitAt = [&](unsigned at) {
    if (tried.count(at))
      return;
    for (unsigned i = 0; i < n; ++i)
      labels[i] = number[i] >= at ? back : front;
    tried[at] = attempt(labels);
  };
  constexpr unsigned kNumSplits = 12;
  for (unsigned i = 0; i <= kNumSplits; ++i)
    splitAt(uint64_t(n) * i / kNumSplits);
  // Bisect between a split within the budget and its neighbor above it.
  for (unsigned depth = 0; depth < 8 && !search.clock.isOver(); ++depth) {
    std::vector<unsigned> next;
    for (auto it = tried.begin(); std::next(it) != tried.end(); ++it) {
      auto other = std::next(it);
      if (it->second.fits != other->second.fits && other->first - it->first > 1)
        next.push_back((it->first + other->first) / 2);
    }
    if (next.empty())
      break;
    for (unsigned at : next)
      splitAt(at);
  }
}

/// Several splits: in each segment the solution that lowers the value.
void BudgetSearch::Relaxation::mixStretches(unsigned numGroups) {
  unsigned n = number.size();
  for (bool improved = true; improved && !bestLabels.empty() && !search.isDone();) {
    improved = false;
    for (unsigned subproblem = 0; subproblem < numGroups && !search.isDone(); ++subproblem)
      for (unsigned run = 0; run < mixed.size(); ++run) {
        labels = bestLabels;
        for (unsigned i = 0; i < n; ++i)
          if (uint64_t(number[i]) * numGroups / n == subproblem)
            labels[i] = run;
        int64_t before = bestValue;
        if (labels != bestLabels) {
          attempt(labels);
          improved |= bestValue < before;
        }
      }
  }
}

void BudgetSearch::Relaxation::repair() {
  if (!elimination->isExact())
    return;
  SmallVector<std::pair<double, unsigned>, 8> maximum;
  for (auto [c, share] : llvm::zip_equal(result.columns, result.shares)) {
    auto it = llvm::find(runOf, c);
    if (share > 1e-3 && it != runOf.end())
      maximum.push_back({-share, unsigned(it - runOf.begin())});
  }
  llvm::sort(maximum);
  for (auto [share, run] : llvm::ArrayRef(maximum).take_front(4))
    mixed.push_back(run);
  number = getDepthFirst(elimination->getSteps());
  // The columns of the master may be unrelated; then solutions of nearby multipliers are used, on both sides of the
  // budget.
  if (mixed.size() < 2 && hasBound) {
    for (double by : {0.9, 0.98, 1.02, 1.1}) {
      Exact all = result.multipliers;
      for (auto &[p, m] : all)
        m *= by;
      addRun(all);
    }
    for (unsigned i = 0; i < std::min<size_t>(2, result.multipliers.size()); ++i) {
      Exact one = result.multipliers;
      one[i].second *= 0.95;
      addRun(one);
    }
  }
  labels.resize(number.size());
  for (unsigned a = 0; a < mixed.size(); ++a)
    for (unsigned b = 0; b < mixed.size(); ++b)
      if (a != b)
        split(a, b);
  mixStretches(24);
  mixStretches(96);
}

BudgetSearch::Relaxed BudgetSearch::relax(const Node &node, unsigned iterations, bool repair) {
  Relaxation relaxation(*this, node);
  if (relaxation.mix(iterations, /*isCoarse=*/repair) && repair)
    relaxation.repair();
  return relaxation.take();
}
