//===- DualAscent.cpp - A lower bound by moving costs about ---------------===//

#include "DualAscent.h"
#include "Vectorize.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

DualAscent::DualAscent(const Problem &problem, ArrayRef<unsigned> order, TablePool &pool)
    : problem(problem), pool(pool), order(order) {
  unsigned n = problem.sizes.size();
  position.resize(n);
  for (auto [i, v] : llvm::enumerate(order))
    position[v] = i;
  std::vector<SmallVector<Link, 4>> of(n);
  size_t at = 0;
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    size_t toA = at, toB = at + problem.sizes[edge.a];
    at = toB + problem.sizes[edge.b];
    bool aFirst = position[edge.a] < position[edge.b];
    of[edge.a].push_back({edge.b, unsigned(i), aFirst, toA, toB});
    of[edge.b].push_back({edge.a, unsigned(i), !aFirst, toB, toA});
  }
  messages.assign(at, 0);
  linkBegin.push_back(0);
  forwardCount.assign(n, 0);
  backwardCount.assign(n, 0);
  for (unsigned v = 0; v < n; ++v) {
    for (const Link &link : of[v])
      ++(link.forward ? forwardCount : backwardCount)[v];
    links.insert(links.end(), of[v].begin(), of[v].end());
    linkBegin.push_back(links.size());
  }
}

void DualAscent::setTables(ArrayRef<TableId> newTables, double newBig) {
  if (Real(newBig) != big)
    reals.clear();
  big = Real(newBig);
  tables.assign(newTables.begin(), newTables.end());
  unsigned n = problem.sizes.size();
  transposed.resize(problem.edges.size());
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    transposed[i] = pool.transpose(tables[n + i], problem.sizes[edge.a], problem.sizes[edge.b]);
}

using Real = DualAscent::Real;

const Real *DualAscent::getTable(TableId id) {
  std::unique_ptr<Real[]> &entry = reals[id];
  if (!entry) {
    const Table &table = pool.get(id);
    entry.reset(new Real[table.size()]);
    for (size_t i = 0; i < table.size(); ++i)
      entry[i] = std::min(Real(table.time[i]), big);
  }
  return entry.get();
}

/// out[j] = min over i of base[i] + table[i][j]; returns the least of them.
template <unsigned Block>
static inline __attribute__((always_inline)) void minPlusBlock(Real *out, const Real *base,
                                                               const Real *table, size_t rows,
                                                               size_t columns, size_t at) {
  Real least[Block];
  for (unsigned k = 0; k < Block; ++k)
    least[k] = base[0] + table[at + k];
  for (size_t i = 1; i < rows; ++i) {
    Real b = base[i];
    const Real *row = table + i * columns + at;
    for (unsigned k = 0; k < Block; ++k) {
      Real sum = b + row[k];
      least[k] = sum < least[k] ? sum : least[k];
    }
  }
  for (unsigned k = 0; k < Block; ++k)
    out[at + k] = least[k];
}

SHARDKIT_CLONES static Real minPlus(Real *out, const Real *base, const Real *table, size_t rows,
                                    size_t columns) {
  // Blocks stay in registers; the last one overlaps with the one before.
  constexpr unsigned kBlock = 16;
  if (columns >= kBlock) {
    size_t at = 0;
    for (; at + kBlock <= columns; at += kBlock)
      minPlusBlock<kBlock>(out, base, table, rows, columns, at);
    if (at < columns)
      minPlusBlock<kBlock>(out, base, table, rows, columns, columns - kBlock);
  } else {
    for (size_t at = 0; at < columns; ++at)
      minPlusBlock<1>(out, base, table, rows, columns, at);
  }
  Real least = out[0];
  for (size_t j = 1; j < columns; ++j)
    least = out[j] < least ? out[j] : least;
  return least;
}

void DualAscent::pass(bool forward) {
  SmallVector<Real, 128> own, base;
  unsigned n = problem.sizes.size();
  for (unsigned k = 0; k < n; ++k) {
    unsigned v = order[forward ? k : n - 1 - k];
    unsigned size = problem.sizes[v];
    own.assign(size, 0);
    if (tables[v] != kNoTable) {
      const Real *unary = getTable(tables[v]);
      std::copy(unary, unary + size, own.begin());
    }
    ArrayRef<Link> around = ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]);
    for (const Link &link : around)
      for (unsigned x = 0; x < size; ++x)
        own[x] += messages[link.message + x];
    unsigned ahead = forward ? forwardCount[v] : backwardCount[v];
    unsigned behind = forward ? backwardCount[v] : forwardCount[v];
    Real share = 1.0 / std::max({ahead, behind, 1u});
    base.resize(size);
    for (const Link &link : around) {
      if (link.forward != forward)
        continue;
      for (unsigned x = 0; x < size; ++x)
        base[x] = share * own[x] - messages[link.message + x];
      // Rows are the choices of v.
      bool isA = problem.edges[link.edge].a == v;
      const Real *table = getTable(isA ? tables[n + link.edge] : transposed[link.edge]);
      unsigned columns = problem.sizes[link.to];
      Real *out = &messages[link.back];
      Real least = minPlus(out, base.data(), table, size, columns);
      for (unsigned j = 0; j < columns; ++j)
        out[j] = std::min(out[j] - least, big);
    }
  }
}

void DualAscent::iterate() {
  pass(true);
  pass(false);
}

bool DualAscent::decode(llvm::MutableArrayRef<unsigned> choices) const {
  unsigned n = problem.sizes.size();
  SmallVector<double, 128> sum;
  auto addEdge = [&](const Link &link, unsigned v) {
    bool isA = problem.edges[link.edge].a == v;
    const Table &table = pool.get(isA ? transposed[link.edge] : tables[n + link.edge]);
    const int64_t *row = table.time.data() + size_t(choices[link.to]) * problem.sizes[v];
    for (unsigned x = 0; x < problem.sizes[v]; ++x)
      sum[x] += std::min(double(row[x]), double(big));
  };
  auto choose = [&](unsigned v, bool first) {
    sum.assign(problem.sizes[v], 0);
    if (tables[v] != kNoTable)
      for (unsigned x = 0; x < problem.sizes[v]; ++x)
        sum[x] += std::min(double(pool.get(tables[v]).time[x]), double(big));
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l) {
      const Link &link = links[l];
      if (first && link.forward)
        for (unsigned x = 0; x < problem.sizes[v]; ++x)
          sum[x] += messages[link.message + x];
      else
        addEdge(link, v);
    }
    unsigned best = llvm::min_element(sum) - sum.begin();
    // A move only where it gains something, lest it go round in circles.
    if (!first && sum[best] >= sum[choices[v]])
      return false;
    choices[v] = best;
    return true;
  };
  // The last pass went backwards: messages of what comes later are up to date.
  for (unsigned v : order)
    choose(v, true);
  for (unsigned round = 0; round < 4; ++round) {
    bool changed = false;
    for (unsigned v : order)
      changed |= choose(v, false);
    if (!changed)
      break;
  }
  for (unsigned v = 0; v < n; ++v)
    if (tables[v] != kNoTable && pool.get(tables[v]).time[choices[v]] >= kInf)
      return false;
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (pool.get(tables[n + i])
            .time[size_t(choices[edge.a]) * problem.sizes[edge.b] + choices[edge.b]] >= kInf)
      return false;
  return true;
}

SHARDKIT_CLONES static void minimizeShifted(const int64_t *__restrict table,
                                            const int64_t *__restrict byRow,
                                            const int64_t *__restrict byColumn, size_t rows,
                                            size_t columns, int64_t *__restrict rowLeast,
                                            int64_t *__restrict columnLeast) {
  for (size_t y = 0; y < columns; ++y)
    columnLeast[y] = kInf;
  for (size_t x = 0; x < rows; ++x) {
    int64_t least = kInf, shift = byRow[x];
    const int64_t *row = table + x * columns;
    for (size_t y = 0; y < columns; ++y) {
      int64_t pair = row[y] >= kInf ? kInf : row[y] + shift + byColumn[y];
      least = pair < least ? pair : least;
      columnLeast[y] = pair < columnLeast[y] ? pair : columnLeast[y];
    }
    rowLeast[x] = least;
  }
}

DualAscent::Moved DualAscent::move() const {
  unsigned n = problem.sizes.size();
  Moved result;
  // As in a pass backwards: a variable hands equal shares of what it has to those before
  // it. Rounded down, which changes where costs are, not their sum.
  result.own.resize(n);
  std::vector<std::vector<int64_t>> give(n);
  auto getMessage = [&](size_t i) { return int64_t(std::floor(messages[i])); };
  for (unsigned v = 0; v < n; ++v) {
    unsigned size = problem.sizes[v];
    std::vector<int64_t> &own = result.own[v];
    own.assign(size, 0);
    give[v].assign(size, 0);
    if (tables[v] != kNoTable)
      own = pool.get(tables[v]).time;
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      for (unsigned x = 0; x < size; ++x)
        if (own[x] < kInf)
          own[x] += getMessage(links[l].message + x);
    int64_t ahead = backwardCount[v], behind = forwardCount[v];
    int64_t share = std::max<int64_t>({ahead, behind, 1});
    int64_t least = kInf;
    for (unsigned x = 0; x < size; ++x) {
      if (own[x] >= kInf)
        continue;
      give[v][x] = own[x] / share;
      own[x] -= give[v][x] * ahead;
      least = std::min(least, own[x]);
    }
    if (least >= kInf) {
      result.impossible = true;
      return result;
    }
    result.bound += least;
    for (int64_t &x : own)
      if (x < kInf)
        x -= least;
  }
  result.excess = result.own;
  result.shifts.resize(messages.size());
  std::vector<int64_t> rowLeast, columnLeast;
  size_t at = 0;
  auto add = [](int64_t &to, int64_t x) { to = x >= kInf || to >= kInf ? kInf : to + x; };
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    unsigned sa = problem.sizes[edge.a], sb = problem.sizes[edge.b];
    bool aGives = position[edge.a] > position[edge.b];
    int64_t *byRow = &result.shifts[at], *byColumn = byRow + sa;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] = (aGives ? give[edge.a][x] : 0) - getMessage(at + x);
    for (unsigned y = 0; y < sb; ++y)
      byColumn[y] = (aGives ? 0 : give[edge.b][y]) - getMessage(at + sa + y);
    at += sa + sb;
    rowLeast.resize(sa);
    columnLeast.resize(sb);
    minimizeShifted(pool.get(tables[n + i]).time.data(), byRow, byColumn, sa, sb, rowLeast.data(),
                    columnLeast.data());
    int64_t least = *llvm::min_element(rowLeast);
    if (least >= kInf) {
      result.impossible = true;
      return result;
    }
    result.bound += least;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] -= least;
    for (unsigned x = 0; x < sa; ++x)
      add(result.excess[edge.a][x], rowLeast[x] >= kInf ? kInf : rowLeast[x] - least);
    for (unsigned y = 0; y < sb; ++y)
      add(result.excess[edge.b][y], columnLeast[y] >= kInf ? kInf : columnLeast[y] - least);
  }
  return result;
}

double DualAscent::getRestrictedSize(const Moved &moved, int64_t slack) const {
  std::vector<double> left;
  for (const auto &excess : moved.excess)
    left.push_back(llvm::count_if(excess, [&](int64_t e) { return e <= slack; }));
  double size = 0;
  for (const Problem::Edge &edge : problem.edges)
    size += left[edge.a] * left[edge.b];
  return size;
}

DualAscent::Restricted DualAscent::restrict(const Moved &moved, int64_t slack,
                                            TablePool &toPool) const {
  unsigned n = problem.sizes.size();
  Restricted result;
  Problem &to = result.problem;
  to.constant = problem.constant + Price{moved.bound, 0};
  auto &left = result.kept;
  left.resize(n);
  for (unsigned v = 0; v < n; ++v) {
    for (unsigned x = 0; x < problem.sizes[v]; ++x)
      if (moved.excess[v][x] <= slack)
        left[v].push_back(x);
    if (left[v].empty()) {
      result.impossible = true;
      return result;
    }
    to.sizes.push_back(left[v].size());
    Table table;
    for (unsigned x : left[v]) {
      table.time.push_back(moved.own[v][x]);
      if (tables[v] != kNoTable)
        table.bytes.push_back(pool.get(tables[v]).get(x).bytes);
    }
    to.unary.push_back(toPool.intern(std::move(table)));
  }
  size_t at = 0;
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    unsigned sa = problem.sizes[edge.a], sb = problem.sizes[edge.b];
    const Table &from = pool.get(tables[n + i]);
    Table table;
    for (unsigned x : left[edge.a])
      for (unsigned y : left[edge.b]) {
        Price price = from.get(size_t(x) * sb + y);
        int64_t time = price.time + moved.shifts[at + x] + moved.shifts[at + sa + y];
        bool possible = !price.isImpossible() && time <= slack;
        table.time.push_back(possible ? time : kInf);
        table.bytes.push_back(possible ? price.bytes : 0);
      }
    at += sa + sb;
    to.edges.push_back({edge.a, edge.b, toPool.intern(std::move(table))});
  }
  return result;
}
