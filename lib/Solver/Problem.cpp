//===- Problem.cpp - A cost graph as the solver works on it ---------------===//

#include "Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;

void Problem::getMemory(ArrayRef<unsigned> choices, const TablePool &pool, std::vector<int64_t> &memory) const {
  // Differences first, then their running sum.
  memory.assign(fixed.size() + 1, 0);
  for (const Buffer &buffer : buffers) {
    size_t index = choices[buffer.a];
    if (buffer.b != kNoVar)
      index = index * sizes[buffer.b] + choices[buffer.b];
    int64_t bytes = pool.get(buffer.bytes).time[index];
    memory[buffer.begin] += bytes;
    memory[buffer.end] -= bytes;
  }
  memory.pop_back();
  int64_t live = 0;
  for (auto [m, f] : llvm::zip_equal(memory, fixed)) {
    live += m;
    m = live + f;
  }
}

Price Problem::getPrice(ArrayRef<unsigned> choices, const TablePool &pool) const {
  Price sum = constant;
  for (unsigned v = 0; v < sizes.size(); ++v)
    if (unary[v] != kNoTable)
      sum = sum + pool.get(unary[v]).get(choices[v]);
  for (const Edge &edge : edges)
    sum = sum + pool.get(edge.table).get(size_t(choices[edge.a]) * sizes[edge.b] + choices[edge.b]);
  llvm::SmallVector<unsigned, 8> asked;
  for (const Sharing &sharing : sharings) {
    const Table &prices = pool.get(sharing.prices);
    size_t numItems = prices.size() / sizes[sharing.host];
    asked.clear();
    for (auto [v, items] : sharing.readers)
      asked.push_back(pool.getList(items)[choices[v]]);
    llvm::sort(asked);
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    for (unsigned item : asked)
      sum = sum + prices.get(choices[sharing.host] * numItems + item);
  }
  return sum;
}

void Problem::complete(llvm::MutableArrayRef<unsigned> choices, const TablePool &pool) const {
  std::vector<llvm::SmallVector<unsigned, 4>> edgesOf(sizes.size());
  for (auto [i, edge] : llvm::enumerate(edges)) {
    edgesOf[edge.a].push_back(i);
    edgesOf[edge.b].push_back(i);
  }
  std::vector<Price> sums;
  auto choose = [&](unsigned v) {
    sums.assign(sizes[v], Price());
    for (unsigned x = 0; x < sizes[v]; ++x) {
      if (unary[v] != kNoTable)
        sums[x] = pool.get(unary[v]).get(x);
      for (unsigned i : edgesOf[v]) {
        const Edge &edge = edges[i];
        unsigned other = choices[edge.a == v ? edge.b : edge.a];
        if (other != kNoVar)
          sums[x] =
              sums[x] +
              pool.get(edge.table).get(edge.a == v ? size_t(x) * sizes[edge.b] + other : size_t(other) * sizes[v] + x);
      }
    }
    if (choices[v] == kNoVar || sums[choices[v]].isImpossible())
      choices[v] = llvm::min_element(sums) - sums.begin();
  };
  for (unsigned v = 0; v < sizes.size(); ++v)
    if (choices[v] == kNoVar)
      choose(v);
  for (unsigned round = 0; round < 4; ++round)
    for (unsigned v = 0; v < sizes.size(); ++v)
      choose(v);
}

std::vector<bool> Problem::getSharingVariables() const {
  std::vector<bool> in(sizes.size(), false);
  for (const Sharing &sharing : sharings) {
    in[sharing.host] = true;
    for (auto [v, items] : sharing.readers)
      in[v] = true;
  }
  return in;
}

static TableId internBytes(ArrayRef<int64_t> bytes, TablePool &pool) {
  Table table;
  table.time.assign(bytes.begin(), bytes.end());
  return pool.intern(std::move(table));
}

Problem solver::readGraph(const CostGraph &graph, bool withBuffers, TablePool &pool) {
  Problem problem;
  unsigned n = graph.getNumVariables();
  for (unsigned v = 0; v < n; ++v)
    problem.sizes.push_back(graph.getNumChoices(v));
  problem.unary.assign(n, kNoTable);

  std::vector<TableId> tables(graph.getNumTables(), kNoTable);
  std::vector<Price> minima(graph.getNumTables());
  for (const CostGraph::Cost &cost : graph.getCosts()) {
    TableId &id = tables[cost.table];
    if (id == kNoTable) {
      // Nothing below 0, so that a sum with something impossible stays impossible.
      ArrayRef<Price> prices = graph.getTable(cost.table);
      Price minimum = *llvm::min_element(prices);
      if (minimum.isImpossible())
        minimum = Price();
      Table table;
      for (Price p : prices) {
        table.time.push_back(p.isImpossible() ? kInf : p.time - minimum.time);
        table.bytes.push_back(p.isImpossible() ? 0 : p.bytes - minimum.bytes);
      }
      id = pool.intern(std::move(table));
      minima[cost.table] = minimum;
    }
    problem.constant = problem.constant + minima[cost.table];
    if (cost.b == CostGraph::kNoVar) {
      TableId &sum = problem.unary[cost.a];
      sum = sum == kNoTable ? id : pool.add(sum, id);
    } else if (cost.a < cost.b) {
      problem.edges.push_back({cost.a, cost.b, id});
    } else {
      problem.edges.push_back({cost.b, cost.a, pool.transpose(id, problem.sizes[cost.a], problem.sizes[cost.b])});
    }
  }

  for (const CostGraph::Sharing &sharing : graph.getSharings()) {
    Table table;
    for (Price p : graph.getTable(sharing.prices))
      table.time.push_back(p.isImpossible() ? kInf : p.time);
    Problem::Sharing &converted = problem.sharings.emplace_back();
    converted.host = sharing.host;
    converted.prices = pool.intern(std::move(table));
    for (const CostGraph::Reader &reader : sharing.readers)
      converted.readers.push_back({reader.var, pool.addList(reader.items)});
  }

  if (withBuffers) {
    // Between two neighboring ends of intervals the same buffers are live. Such a segment matters only if an interval
    // begins at its start and one ends at its end: otherwise a neighboring segment has the same buffers and more.
    ArrayRef<CostGraph::Buffer> buffers = graph.getBuffers();
    std::vector<std::pair<int64_t, bool>> events; // the point, and whether it begins one
    for (const CostGraph::Buffer &buffer : buffers) {
      events.push_back({buffer.begin, true});
      events.push_back({buffer.end, false});
    }
    llvm::sort(events);
    events.erase(std::unique(events.begin(), events.end()), events.end());
    std::vector<int64_t> points; // begins of the kept segments
    for (size_t i = 0; i < events.size(); ++i) {
      if (!events[i].second)
        continue;
      size_t next = i + 1; // (p, false) sorts before (p, true)
      if (next == events.size() || !events[next].second)
        points.push_back(events[i].first);
    }
    problem.fixed.assign(points.size(), 0);
    auto getPoint = [&](int64_t p) { return llvm::lower_bound(points, p) - points.begin(); };
    std::vector<TableId> bytes(graph.getNumByteTables(), kNoTable);
    std::vector<int64_t> fixed(points.size() + 1, 0);
    for (const CostGraph::Buffer &buffer : buffers) {
      unsigned begin = getPoint(buffer.begin), end = getPoint(buffer.end);
      if (begin == end)
        continue;
      if (buffer.a == CostGraph::kNoVar) {
        fixed[begin] += buffer.fixed;
        fixed[end] -= buffer.fixed;
        continue;
      }
      TableId &id = bytes[buffer.table];
      if (id == kNoTable)
        id = internBytes(graph.getBytes(buffer.table), pool);
      Problem::Buffer b{begin, end, buffer.a, buffer.b, id};
      if (buffer.b != CostGraph::kNoVar) {
        if (buffer.b < buffer.a) {
          b.bytes = pool.transpose(id, problem.sizes[buffer.a], problem.sizes[buffer.b]);
          std::swap(b.a, b.b);
        }
        problem.edges.push_back({b.a, b.b, kNoTable});
      }
      problem.buffers.push_back(b);
    }
    int64_t live = 0;
    for (unsigned p = 0; p < points.size(); ++p)
      problem.fixed[p] = live += fixed[p];
  }

  llvm::sort(problem.edges, [](const Problem::Edge &x, const Problem::Edge &y) {
    return std::tie(x.a, x.b, x.table) < std::tie(y.a, y.b, y.table);
  });
  std::vector<Problem::Edge> edges;
  for (const Problem::Edge &edge : problem.edges) {
    if (edges.empty() || edges.back().a != edge.a || edges.back().b != edge.b)
      edges.push_back(edge);
    else if (edges.back().table == kNoTable)
      edges.back().table = edge.table;
    else if (edge.table != kNoTable)
      edges.back().table = pool.add(edges.back().table, edge.table);
  }
  for (Problem::Edge &edge : edges)
    if (edge.table == kNoTable)
      edge.table = internBytes(std::vector<int64_t>(size_t(problem.sizes[edge.a]) * problem.sizes[edge.b], 0), pool);
  problem.edges = std::move(edges);
  return problem;
}
