//===- Descent.cpp - A solution within a budget, variable by variable -----===//

#include "Budget.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::SmallVector;

/// The choices of a column, with the memory of each point.
class BudgetSearch::Descent {
public:
  Descent(const BudgetSearch &search, const Column &column);
  /// The choices after the last change. There is one pass at least, whatever the clock says.
  std::vector<unsigned> run();

private:
  /// A choice by its price next to those of the neighbors, and what it holds, summed over all points.
  using Ranked = std::tuple<int64_t, int64_t, unsigned>;

  /// Whether a better choice of the variable was taken.
  bool improve(unsigned v);
  /// The prices of the choices of a variable.
  void readPrices(unsigned v);
  /// What is better than its choice, the best first.
  SmallVector<Ranked> rankBetter(unsigned v);
  int64_t getBytes(const Problem::Buffer &buffer) const;
  int64_t getHeld(unsigned v) const;
  /// Adds what a variable holds to the memory, or takes it out.
  void hold(unsigned v, int64_t sign);
  bool fits(unsigned v) const;

  const Problem &problem;
  TablePool &pool;
  const Clock &clock;
  int64_t limit;
  std::vector<SmallVector<unsigned, 4>> edges, buffers; // by variable
  std::vector<unsigned> choices;
  std::vector<int64_t> memory, prices;
};

BudgetSearch::Descent::Descent(const BudgetSearch &search, const Column &column)
    : problem(search.problem), pool(search.pool), clock(search.clock), limit(search.limit), edges(problem.sizes.size()),
      buffers(problem.sizes.size()), choices(column.choices), memory(column.memory) {
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    edges[edge.a].push_back(i);
    edges[edge.b].push_back(i);
  }
  for (auto [i, buffer] : llvm::enumerate(problem.buffers)) {
    buffers[buffer.a].push_back(i);
    if (buffer.b != kNoVar)
      buffers[buffer.b].push_back(i);
  }
}

std::vector<unsigned> BudgetSearch::Descent::run() {
  for (bool changed = true; changed; changed &= !clock.isOver()) {
    changed = false;
    for (unsigned v = 0; v < problem.sizes.size(); ++v)
      changed |= improve(v);
  }
  return std::move(choices);
}

bool BudgetSearch::Descent::improve(unsigned v) {
  readPrices(v);
  SmallVector<Ranked> better = rankBetter(v);
  if (better.empty())
    return false;
  unsigned before = choices[v];
  hold(v, -1);
  for (auto [price, held, choice] : better) {
    choices[v] = choice;
    hold(v, 1);
    if (fits(v))
      return true;
    hold(v, -1);
  }
  choices[v] = before;
  hold(v, 1);
  return false;
}

void BudgetSearch::Descent::readPrices(unsigned v) {
  const Table &own = pool.get(problem.unary[v]);
  prices.assign(own.time.begin(), own.time.end());
  for (unsigned i : edges[v]) {
    const Problem::Edge &edge = problem.edges[i];
    const Table &table = pool.get(edge.table);
    for (unsigned c = 0; c < prices.size(); ++c)
      prices[c] =
          std::min(kInf, prices[c] + (edge.a == v ? table.time[size_t(c) * problem.sizes[edge.b] + choices[edge.b]]
                                                  : table.time[size_t(choices[edge.a]) * problem.sizes[v] + c]));
  }
}

SmallVector<BudgetSearch::Descent::Ranked> BudgetSearch::Descent::rankBetter(unsigned v) {
  unsigned before = choices[v];
  int64_t price = prices[before], held = getHeld(v);
  SmallVector<Ranked> better;
  for (unsigned c = 0; c < prices.size(); ++c) {
    if (prices[c] > price || c == before)
      continue;
    choices[v] = c;
    if (int64_t own = getHeld(v); prices[c] < price || own < held)
      better.push_back({prices[c], own, c});
  }
  choices[v] = before;
  llvm::sort(better);
  return better;
}

int64_t BudgetSearch::Descent::getBytes(const Problem::Buffer &buffer) const {
  const Table &bytes = pool.get(buffer.bytes);
  return buffer.b == kNoVar ? bytes.time[choices[buffer.a]]
                            : bytes.time[size_t(choices[buffer.a]) * problem.sizes[buffer.b] + choices[buffer.b]];
}

int64_t BudgetSearch::Descent::getHeld(unsigned v) const {
  int64_t held = 0;
  for (unsigned i : buffers[v])
    held += getBytes(problem.buffers[i]) * (problem.buffers[i].end - problem.buffers[i].begin);
  return held;
}

void BudgetSearch::Descent::hold(unsigned v, int64_t sign) {
  for (unsigned i : buffers[v]) {
    const Problem::Buffer &buffer = problem.buffers[i];
    if (int64_t bytes = sign * getBytes(buffer))
      for (unsigned p = buffer.begin; p < buffer.end; ++p)
        memory[p] += bytes;
  }
}

bool BudgetSearch::Descent::fits(unsigned v) const {
  return llvm::all_of(buffers[v], [&](unsigned i) {
    const Problem::Buffer &buffer = problem.buffers[i];
    return std::all_of(memory.begin() + buffer.begin, memory.begin() + buffer.end,
                       [&](int64_t bytes) { return bytes <= limit; });
  });
}

void BudgetSearch::descend() { addColumn(Descent(*this, columns[best]).run()); }
