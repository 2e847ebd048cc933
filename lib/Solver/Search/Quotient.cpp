//===- Quotient.cpp - Equal choices of what looks alike -------------------===//

#include "Quotient.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Numbers of variables, equal for those that look alike.
static std::vector<unsigned> getColors(const Problem &problem, unsigned radius) {
  unsigned n = problem.sizes.size();
  std::vector<SmallVector<std::array<unsigned, 3>, 6>> around(n); // table, as a or b, the other one
  for (const Problem::Edge &edge : problem.edges) {
    around[edge.a].push_back({edge.table, 0, edge.b});
    around[edge.b].push_back({edge.table, 1, edge.a});
  }
  std::vector<unsigned> colors, next(n);
  {
    SequenceMap known;
    for (unsigned v = 0; v < n; ++v)
      colors.push_back(known.insert({problem.sizes[v], problem.unary[v]}).first);
  }
  SmallVector<std::array<unsigned, 3>, 8> sorted;
  SmallVector<unsigned, 32> key;
  for (unsigned round = 0; round < radius; ++round) {
    SequenceMap known;
    for (unsigned v = 0; v < n; ++v) {
      sorted.assign(around[v].begin(), around[v].end());
      for (auto &[table, side, other] : sorted)
        other = colors[other];
      llvm::sort(sorted);
      key.assign({colors[v]});
      for (auto &link : sorted)
        key.append(link.begin(), link.end());
      next[v] = known.insert(key).first;
    }
    colors.swap(next);
  }
  return colors;
}

Quotient::Quotient(const Problem &original, const TablePool &from, unsigned radius, TablePool &to)
    : of(getColors(original, radius)) {
  unsigned n = 0;
  for (unsigned color : of)
    n = std::max(n, color + 1);
  problem.sizes.resize(n);
  problem.unary.assign(n, kNoTable);
  problem.constant = {original.constant.time, 0};
  llvm::DenseMap<TableId, TableId> times;
  auto getTimes = [&](TableId id) {
    auto [it, isNew] = times.try_emplace(id);
    if (isNew)
      it->second = to.intern(Table{from.get(id).time, {}});
    return it->second;
  };
  // How often each table is there.
  llvm::MapVector<std::pair<unsigned, TableId>, unsigned> owns;
  llvm::MapVector<std::pair<std::pair<unsigned, unsigned>, TableId>, unsigned> pairs;
  for (unsigned v = 0; v < of.size(); ++v) {
    problem.sizes[of[v]] = original.sizes[v];
    if (original.unary[v] != kNoTable)
      ++owns[{of[v], getTimes(original.unary[v])}];
  }
  SmallVector<unsigned, 128> all;
  for (const Problem::Edge &edge : original.edges) {
    TableId table = getTimes(edge.table);
    unsigned a = of[edge.a], b = of[edge.b], rows = original.sizes[edge.a], columns = original.sizes[edge.b];
    if (a == b) {
      all.resize(rows);
      std::iota(all.begin(), all.end(), 0);
      ++owns[{a, to.gatherDiagonal(table, columns, to.addList(all))}];
    } else if (a < b) {
      ++pairs[{{a, b}, table}];
    } else {
      ++pairs[{{b, a}, to.transpose(table, rows, columns)}];
    }
  }
  auto add = [&](TableId &sum, TableId table, unsigned count) {
    TableId more = to.weigh(table, count, {}, /*withBytes=*/false);
    sum = sum == kNoTable ? more : to.add(sum, more);
  };
  for (auto &[key, count] : owns)
    add(problem.unary[key.first], key.second, count);
  llvm::MapVector<std::pair<unsigned, unsigned>, TableId> sums;
  for (auto &[key, count] : pairs)
    add(sums.try_emplace(key.first, kNoTable).first->second, key.second, count);
  for (auto &[pair, table] : sums)
    problem.edges.push_back({pair.first, pair.second, table});
  llvm::sort(problem.edges, [](auto &x, auto &y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
}

std::vector<unsigned> Quotient::expand(ArrayRef<unsigned> choices) const {
  std::vector<unsigned> all;
  for (unsigned color : of)
    all.push_back(choices[color]);
  return all;
}
