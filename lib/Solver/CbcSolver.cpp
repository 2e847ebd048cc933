//===- CbcSolver.cpp - The same problem for CBC ---------------------------===//
//
// One binary variable per choice; one continuous product per pair of choices, linked by the
// local marginals; a continuous variable per item that readers share, which is paid if a reader
// requests it; one row per point that can be the peak.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Solver/Solver.h"
#include "shardkit/Support/CpuClock.h"
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
Solution mlir::spmd::solveWithCbc(const CostGraph &graph, const SolverOptions &options, std::string &error) {
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

  /// Its tolerances are absolute: large costs are measured in a larger unit, which is returned.
  double scaleCosts() {
    double unit = 1;
    for (double c : costs)
      while (std::abs(c) / unit > 1e6)
        unit *= 2;
    for (double &c : costs)
      c /= unit;
    return unit;
  }
  Cbc_Model *makeModel() const {
    std::vector<CoinBigIndex> starts = {0};
    std::vector<int> indices;
    std::vector<double> values;
    for (const auto &column : entries) {
      for (auto [row, value] : column) {
        indices.push_back(row);
        values.push_back(value);
      }
      starts.push_back(CoinBigIndex(indices.size()));
    }
    std::vector<double> low(costs.size(), 0);
    Cbc_Model *model = Cbc_newModel();
    Cbc_loadProblem(model, int(costs.size()), int(rowLow.size()), starts.data(), indices.data(), values.data(),
                    low.data(), high.data(), costs.data(), rowLow.data(), rowHigh.data());
    for (size_t i = 0; i < costs.size(); ++i)
      if (integers[i])
        Cbc_setInteger(model, int(i));
    Cbc_setObjSense(model, 1);
    return model;
  }

protected:
  std::vector<double> costs, high, rowLow, rowHigh;
  std::vector<bool> integers;
  std::vector<std::vector<std::pair<int, double>>> entries;
};

/// The program of a cost graph: two variables with a price table become a binary per choice, a
/// product per pair of choices, and rows that equate the sums of products with the binaries.
class GraphProgram : public Program {
public:
  explicit GraphProgram(const CostGraph &graph);

  /// Limits the live bytes at each point to `budget`.
  void addBudget(int64_t budget);

  /// A choice per variable, from the values of all columns.
  std::vector<unsigned> getChoices(const double *values) const;

private:
  /// The first product of the choices of a < b, a-major.
  int getPair(unsigned a, unsigned b);

  /// Calls back with the column and the index into a table of all choices.
  template <typename Callback> void forEach(unsigned a, unsigned b, Callback callback) {
    unsigned na = graph.getNumChoices(a);
    if (b == CostGraph::kNoVar) {
      for (unsigned x = 0; x < na; ++x)
        callback(first[a] + int(x), x);
      return;
    }
    int begin = getPair(std::min(a, b), std::max(a, b));
    unsigned nb = graph.getNumChoices(b);
    for (unsigned x = 0; x < na; ++x)
      for (unsigned y = 0; y < nb; ++y)
        callback(begin + int(a < b ? x * nb + y : y * na + x), x * nb + y);
  }

  /// An item is paid for a choice of the host if at least one reader requests it.
  void addSharing(const CostGraph::Sharing &sharing);

  /// Points where something begins and the next event is an end.
  std::vector<int64_t> getPeaks() const;

  const CostGraph &graph;
  std::vector<int> first; ///< The first column of each variable.
  std::map<std::pair<unsigned, unsigned>, int> pairs;
};
} // namespace

GraphProgram::GraphProgram(const CostGraph &graph) : graph(graph), first(graph.getNumVariables()) {
  for (unsigned v = 0; v < graph.getNumVariables(); ++v) {
    int row = addRow(1, 1);
    for (unsigned c = 0; c < graph.getNumChoices(v); ++c) {
      int column = addColumn(0, true, true);
      if (c == 0)
        first[v] = column;
      add(row, column, 1);
    }
  }
  for (const CostGraph::Cost &cost : graph.getCosts())
    forEach(cost.a, cost.b, [&](int column, unsigned index) { addCost(column, graph.getTable(cost.table)[index]); });
  for (const CostGraph::Sharing &sharing : graph.getSharings())
    addSharing(sharing);
}

void GraphProgram::addBudget(int64_t budget) {
  for (int64_t point : getPeaks()) {
    int row = addRow(-1e30, double(budget));
    for (const CostGraph::Buffer &b : graph.getBuffers()) {
      if (b.begin > point || b.end <= point)
        continue;
      if (b.a == CostGraph::kNoVar) {
        rowHigh[row] -= double(b.fixed);
        continue;
      }
      forEach(b.a, b.b, [&](int column, unsigned index) {
        int64_t bytes = graph.getBytes(b.table)[index];
        if (bytes)
          add(row, column, double(bytes));
      });
    }
  }
}

std::vector<unsigned> GraphProgram::getChoices(const double *values) const {
  std::vector<unsigned> choices;
  for (unsigned v = 0; v < first.size(); ++v) {
    const double *x = values + first[v];
    choices.push_back(unsigned(std::max_element(x, x + graph.getNumChoices(v)) - x));
  }
  return choices;
}

int GraphProgram::getPair(unsigned a, unsigned b) {
  auto [it, inserted] = pairs.try_emplace({a, b});
  if (!inserted)
    return it->second;
  auto addMarginals = [&](unsigned v) {
    std::vector<int> rows;
    for (unsigned c = 0; c < graph.getNumChoices(v); ++c) {
      rows.push_back(addRow(0, 0));
      add(rows.back(), first[v] + int(c), -1);
    }
    return rows;
  };
  std::vector<int> rowsA = addMarginals(a), rowsB = addMarginals(b);
  it->second = int(costs.size());
  for (int rowA : rowsA)
    for (int rowB : rowsB) {
      int column = addColumn(0, true, false);
      add(rowA, column, 1);
      add(rowB, column, 1);
    }
  return it->second;
}

void GraphProgram::addSharing(const CostGraph::Sharing &sharing) {
  llvm::ArrayRef<Price> prices = graph.getTable(sharing.prices);
  unsigned numHosts = graph.getNumChoices(sharing.host), numItems = prices.size() / numHosts;
  for (unsigned h = 0; h < numHosts; ++h)
    for (unsigned item = 0; item < numItems; ++item) {
      if (prices[h * numItems + item].time == 0)
        continue;
      int paid = addColumn(0, true, false);
      addCost(paid, prices[h * numItems + item]);
      for (const CostGraph::Reader &reader : sharing.readers) {
        if (!llvm::is_contained(reader.items, item))
          continue;
        int row = addRow(-1, 1e30);
        add(row, paid, 1);
        add(row, first[sharing.host] + int(h), -1);
        for (auto [x, asked] : llvm::enumerate(reader.items))
          if (asked == item)
            add(row, first[reader.var] + int(x), -1);
      }
    }
}

std::vector<int64_t> GraphProgram::getPeaks() const {
  std::vector<std::pair<int64_t, bool>> events;
  for (const CostGraph::Buffer &b : graph.getBuffers()) {
    events.push_back({b.begin, true});
    events.push_back({b.end, false});
  }
  llvm::sort(events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  std::vector<int64_t> peaks;
  for (size_t i = 0; i < events.size(); ++i)
    if (events[i].second && (i + 1 == events.size() || !events[i + 1].second))
      peaks.push_back(events[i].first);
  return peaks;
}

Solution mlir::spmd::solveWithCbc(const CostGraph &graph, const SolverOptions &options, std::string &error) {
  CpuClock::time_point start = CpuClock::now();
  error.clear();
  GraphProgram program(graph);
  if (options.budget)
    program.addBudget(*options.budget);
  const double unit = program.scaleCosts();
  Cbc_Model *model = program.makeModel();
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "log", "0");
  Cbc_setParameter(model, "seconds", std::to_string(options.timeLimit).c_str());
  Cbc_setParameter(model, "ratioGap", std::to_string(options.gap).c_str());
  Cbc_solve(model);

  Solution solution;
  if (Cbc_isProvenInfeasible(model)) {
    solution.status = SolverStatus::Infeasible;
    solution.lowerBound = Price::impossible();
  } else if (const double *best = Cbc_bestSolution(model)) {
    solution.choices = program.getChoices(best);
    solution.objective = graph.getPrice(solution.choices);
    solution.peak = graph.getPeak(solution.choices, &solution.peakPoint);
    bool optimal = Cbc_isProvenOptimal(model) && options.gap == 0;
    solution.status = optimal ? SolverStatus::Optimal : SolverStatus::Gap;
    double bound = Cbc_getBestPossibleObjValue(model) * unit;
    solution.lowerBound = {optimal ? solution.objective.time : int64_t(std::clamp(std::floor(bound), -1e17, 1e17)), 0};
  }
  Cbc_deleteModel(model);
  solution.seconds = CpuClock::getSecondsSince(start);
  return solution;
}
#endif
