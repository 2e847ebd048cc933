//===- CbcSolver.cpp - The same problem for CBC ---------------------------===//
//
// One binary per choice, one continuous product per pair of choices, tied together by
// the local marginals; a continuous one per item that readers share, which is paid where one asks
// for it; one row per point that can be the peak.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Solver/Solver.h"
#include <chrono>
#include <string>

#ifdef SHARDKIT_HAVE_CBC
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <Cbc_C_Interface.h>
#include <cmath>
#include <map>
#endif

using namespace mlir::spmd;

#ifndef SHARDKIT_HAVE_CBC
Solution mlir::spmd::solveWithCbc(const CostGraph &graph, const SolverOptions &options,
                                  std::string &error) {
  error = "ShardKit was built without CBC: install coinor-libcbc-dev and configure with "
          "SHARDKIT_ENABLE_CBC=ON";
  return {};
}
#else

namespace {
/// A program by columns, as CBC takes it.
class Program {
public:
  int addRow(double low, double high) {
    rowLow.push_back(low);
    rowHigh.push_back(high);
    return int(rowLow.size()) - 1;
  }
  int addColumn(double cost, bool possible, bool integer) {
    costs.push_back(cost);
    high.push_back(possible ? 1 : 0);
    integers.push_back(integer);
    entries.emplace_back();
    return int(costs.size()) - 1;
  }
  void add(int row, int column, double value) {
    for (auto &[r, v] : entries[column])
      if (r == row) {
        v += value;
        return;
      }
    entries[column].push_back({row, value});
  }
  void addCost(int column, Price price) {
    if (price.isImpossible())
      high[column] = 0;
    else
      costs[column] += double(price.time);
  }

  std::vector<double> costs, high, rowLow, rowHigh;
  std::vector<bool> integers;
  std::vector<std::vector<std::pair<int, double>>> entries;
};
} // namespace

Solution mlir::spmd::solveWithCbc(const CostGraph &graph, const SolverOptions &options,
                                  std::string &error) {
  auto start = std::chrono::steady_clock::now();
  error.clear();
  Solution solution;
  unsigned n = graph.getNumVariables();
  Program program;
  std::vector<int> first(n);
  for (unsigned v = 0; v < n; ++v) {
    int row = program.addRow(1, 1);
    for (unsigned c = 0; c < graph.getNumChoices(v); ++c) {
      int column = program.addColumn(0, true, true);
      if (c == 0)
        first[v] = column;
      program.add(row, column, 1);
    }
  }
  // First product of each pair, a-major; a < b.
  std::map<std::pair<unsigned, unsigned>, int> pairs;
  auto getPair = [&](unsigned a, unsigned b) {
    if (a > b)
      std::swap(a, b);
    auto [it, inserted] = pairs.try_emplace({a, b});
    if (!inserted)
      return it->second;
    unsigned na = graph.getNumChoices(a), nb = graph.getNumChoices(b);
    std::vector<int> rowsA, rowsB;
    for (unsigned x = 0; x < na; ++x) {
      rowsA.push_back(program.addRow(0, 0));
      program.add(rowsA.back(), first[a] + x, -1);
    }
    for (unsigned y = 0; y < nb; ++y) {
      rowsB.push_back(program.addRow(0, 0));
      program.add(rowsB.back(), first[b] + y, -1);
    }
    for (unsigned x = 0; x < na; ++x)
      for (unsigned y = 0; y < nb; ++y) {
        int column = program.addColumn(0, true, false);
        if (x == 0 && y == 0)
          it->second = column;
        program.add(rowsA[x], column, 1);
        program.add(rowsB[y], column, 1);
      }
    return it->second;
  };
  // Calls back with the column and the index into a table of all choices.
  auto forEach = [&](unsigned a, unsigned b, auto callback) {
    if (b == CostGraph::kNoVar) {
      for (unsigned x = 0; x < graph.getNumChoices(a); ++x)
        callback(first[a] + int(x), x);
      return;
    }
    int begin = getPair(a, b);
    unsigned na = graph.getNumChoices(a), nb = graph.getNumChoices(b);
    for (unsigned x = 0; x < na; ++x)
      for (unsigned y = 0; y < nb; ++y)
        callback(begin + int(a < b ? x * nb + y : y * na + x), x * nb + y);
  };
  for (const CostGraph::Cost &cost : graph.getCosts())
    forEach(cost.a, cost.b, [&](int column, unsigned index) {
      program.addCost(column, graph.getTable(cost.table)[index]);
    });
  // An item is paid beside a choice of the host as soon as one reader asks for it there.
  for (const CostGraph::Sharing &sharing : graph.getSharings()) {
    llvm::ArrayRef<Price> prices = graph.getTable(sharing.prices);
    unsigned numHosts = graph.getNumChoices(sharing.host), numItems = prices.size() / numHosts;
    for (unsigned h = 0; h < numHosts; ++h)
      for (unsigned item = 0; item < numItems; ++item) {
        if (prices[h * numItems + item].time == 0)
          continue;
        int paid = program.addColumn(0, true, false);
        program.addCost(paid, prices[h * numItems + item]);
        for (const CostGraph::Reader &reader : sharing.readers) {
          if (!llvm::is_contained(reader.items, item))
            continue;
          int row = program.addRow(-1, 1e30);
          program.add(row, paid, 1);
          program.add(row, first[sharing.host] + int(h), -1);
          for (auto [x, asked] : llvm::enumerate(reader.items))
            if (asked == item)
              program.add(row, first[reader.var] + int(x), -1);
        }
      }
  }
  if (options.budget) {
    // Points where something begins and the next event is an end.
    std::vector<std::pair<int64_t, bool>> events;
    for (const CostGraph::Buffer &b : graph.getBuffers()) {
      events.push_back({b.begin, true});
      events.push_back({b.end, false});
    }
    llvm::sort(events);
    events.erase(std::unique(events.begin(), events.end()), events.end());
    for (size_t i = 0; i < events.size(); ++i) {
      if (!events[i].second || (i + 1 < events.size() && events[i + 1].second))
        continue;
      int row = program.addRow(-1e30, double(*options.budget));
      for (const CostGraph::Buffer &b : graph.getBuffers()) {
        if (b.begin > events[i].first || b.end <= events[i].first)
          continue;
        if (b.a == CostGraph::kNoVar) {
          program.rowHigh[row] -= double(b.fixed);
          continue;
        }
        forEach(b.a, b.b, [&](int column, unsigned index) {
          int64_t bytes = graph.getBytes(b.table)[index];
          if (bytes)
            program.add(row, column, double(bytes));
        });
      }
    }
  }

  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> indices;
  std::vector<double> values;
  for (const auto &column : program.entries) {
    for (auto [row, value] : column) {
      indices.push_back(row);
      values.push_back(value);
    }
    starts.push_back(CoinBigIndex(indices.size()));
  }
  // Its tolerances are absolute: large costs are measured in a larger unit.
  double unit = 1;
  for (double c : program.costs)
    while (std::abs(c) / unit > 1e6)
      unit *= 2;
  for (double &c : program.costs)
    c /= unit;
  std::vector<double> low(program.costs.size(), 0);
  Cbc_Model *model = Cbc_newModel();
  Cbc_loadProblem(model, int(program.costs.size()), int(program.rowLow.size()), starts.data(),
                  indices.data(), values.data(), low.data(), program.high.data(),
                  program.costs.data(), program.rowLow.data(), program.rowHigh.data());
  for (size_t i = 0; i < program.costs.size(); ++i)
    if (program.integers[i])
      Cbc_setInteger(model, int(i));
  Cbc_setObjSense(model, 1);
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "log", "0");
  Cbc_setParameter(model, "seconds", std::to_string(options.timeLimit).c_str());
  Cbc_setParameter(model, "ratioGap", std::to_string(options.gap).c_str());
  Cbc_solve(model);

  const double *best = Cbc_bestSolution(model);
  if (Cbc_isProvenInfeasible(model)) {
    solution.status = SolverStatus::Infeasible;
    solution.lowerBound = Price::impossible();
  } else if (best) {
    for (unsigned v = 0; v < n; ++v) {
      const double *x = best + first[v];
      solution.choices.push_back(unsigned(std::max_element(x, x + graph.getNumChoices(v)) - x));
    }
    solution.objective = graph.getPrice(solution.choices);
    solution.peak = graph.getPeak(solution.choices, &solution.peakPoint);
    bool optimal = Cbc_isProvenOptimal(model) && options.gap == 0;
    solution.status = optimal ? SolverStatus::Optimal : SolverStatus::Gap;
    double bound = Cbc_getBestPossibleObjValue(model) * unit;
    solution.lowerBound = {
        optimal ? solution.objective.time : int64_t(std::clamp(std::floor(bound), -1e17, 1e17)), 0};
  }
  Cbc_deleteModel(model);
  solution.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return solution;
}
#endif
