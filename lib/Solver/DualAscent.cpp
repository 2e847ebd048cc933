//===- DualAscent.cpp - A lower bound by moving costs about ---------------===//

#include "DualAscent.h"
#include "Vectorize.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
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
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    bool aFirst = position[edge.a] < position[edge.b];
    of[edge.a].push_back({edge.b, unsigned(i), aFirst});
    of[edge.b].push_back({edge.a, unsigned(i), !aFirst});
  }
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
  group();
}

bool DualAscent::refine() {
  if (finest)
    return false;
  // What distances do to messages is far from exponential: some links more do not help for long.
  radius = radius < kLastRadius ? 2 * radius : ~0u;
  group();
  return true;
}

double DualAscent::getPassEntries() const {
  double entries = 0;
  for (unsigned v : visited)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      entries += double(problem.sizes[v]) * problem.sizes[links[l].to];
  return entries;
}

void DualAscent::group() {
  unsigned n = problem.sizes.size();
  finest = false;
  // What is around a variable, further in each round; numbers of equal ones are equal.
  std::vector<unsigned> colors(n), next(n);
  SmallVector<std::array<unsigned, 4>, 8> around; // forward, table, colour, which link
  auto sortAround = [&](unsigned v) {
    around.clear();
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      around.push_back({links[l].forward, getTableFrom(v, links[l]), colors[links[l].to], l});
    llvm::sort(around);
  };
  SmallVector<unsigned, 32> key;
  auto color = [&](auto getKey) {
    SequenceMap known;
    for (unsigned v = 0; v < n; ++v) {
      key.clear();
      getKey(v);
      next[v] = known.insert(key).first;
    }
    colors.swap(next);
    return known.size();
  };
  unsigned count = color([&](unsigned v) { key.append({problem.sizes[v], tables[v]}); });
  unsigned rounds = 0;
  for (bool last = false; !last; ++rounds) {
    // The links of equal variables correspond in the order by which they were compared last.
    std::vector<Link> sorted;
    sorted.reserve(links.size());
    unsigned before = count;
    count = color([&](unsigned v) {
      sortAround(v);
      key.push_back(colors[v]);
      for (auto &own : around)
        key.append({own[0], own[1], own[2]});
      for (auto &own : around)
        sorted.push_back(links[own[3]]);
    });
    links.swap(sorted);
    last = count == before || rounds + 1 >= radius;
    // Where hardly any are equal nothing is gained by it.
    if (count > n / 2 || radius == ~0u) {
      for (unsigned v = 0; v < n; ++v)
        colors[v] = v;
      count = n;
      last = true;
    }
    if (count == before)
      finest = true;
  }
  finest |= count == n;

  std::vector<Real> old = std::move(messages);
  std::vector<unsigned> first(count, kNoVar);
  visited.clear();
  classOf.resize(n);
  for (unsigned v : order) {
    if (first[colors[v]] == kNoVar) {
      first[colors[v]] = v;
      visited.push_back(v);
    }
    classOf[v] = first[colors[v]];
  }
  // Messages that a variable sends are those of the first one that is equal to it.
  size_t at = 0;
  messages.clear();
  for (unsigned v : visited)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l) {
      unsigned size = problem.sizes[links[l].to];
      if (old.empty())
        messages.resize(at + size, 0);
      else
        messages.insert(messages.end(), old.begin() + links[l].back, old.begin() + links[l].back + size);
      links[l].back = at;
      at += size;
    }
  std::vector<std::array<size_t, 2>> sent(problem.edges.size()); // by a, by b
  for (unsigned v = 0; v < n; ++v)
    for (unsigned i = 0, e = linkBegin[v + 1] - linkBegin[v]; i < e; ++i) {
      Link &link = links[linkBegin[v] + i];
      link.back = links[linkBegin[classOf[v]] + i].back;
      sent[link.edge][problem.edges[link.edge].a != v] = link.back;
    }
  for (unsigned v = 0; v < n; ++v)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      links[l].message = sent[links[l].edge][problem.edges[links[l].edge].a == v];
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
  unsigned n = visited.size();
  for (unsigned k = 0; k < n; ++k) {
    unsigned v = visited[forward ? k : n - 1 - k];
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
      const Real *table = getTable(getTableFrom(v, link));
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

bool DualAscent::choose(unsigned v, bool byMessages, llvm::MutableArrayRef<unsigned> choices) const {
  unsigned size = problem.sizes[v];
  SmallVector<double, 128> sum(size, 0);
  auto add = [&](const int64_t *row) {
    for (unsigned x = 0; x < size; ++x)
      sum[x] += std::min(double(row[x]), double(big));
  };
  if (tables[v] != kNoTable)
    add(pool.get(tables[v]).time.data());
  for (const Link &link : ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v])) {
    if (byMessages && link.forward) {
      for (unsigned x = 0; x < size; ++x)
        sum[x] += messages[link.message + x];
      continue;
    }
    bool isA = problem.edges[link.edge].a == v;
    const Table &table = pool.get(isA ? transposed[link.edge] : tables[problem.sizes.size() + link.edge]);
    add(table.time.data() + size_t(choices[link.to]) * size);
  }
  unsigned least = llvm::min_element(sum) - sum.begin();
  // A move only where it gains something, lest it go round in circles.
  if (!byMessages && sum[least] >= sum[choices[v]])
    return false;
  choices[v] = least;
  return true;
}

bool DualAscent::decode(llvm::MutableArrayRef<unsigned> choices) const {
  // The last pass went backwards: messages of what comes later are up to date.
  for (unsigned v : order)
    choose(v, /*byMessages=*/true, choices);
  return improve(choices);
}

bool DualAscent::improve(llvm::MutableArrayRef<unsigned> choices) const {
  unsigned n = problem.sizes.size();
  for (unsigned round = 0; round < 4; ++round) {
    bool changed = false;
    for (unsigned v : order)
      changed |= choose(v, /*byMessages=*/false, choices);
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
  // it. Rounded down, which changes where costs are, not their sum. Variables that receive
  // the same have the same.
  auto getMessage = [&](size_t i) { return int64_t(std::floor(messages[i])); };
  SequenceMap owns;
  std::vector<std::vector<int64_t>> give;
  std::vector<int64_t> leasts;
  SmallVector<unsigned, 32> key;
  for (unsigned v = 0; v < n; ++v) {
    unsigned size = problem.sizes[v];
    key.assign({size, tables[v], forwardCount[v], backwardCount[v]});
    ArrayRef<Link> around = ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]);
    for (const Link &link : around)
      key.append({unsigned(link.message), unsigned(link.message >> 32)});
    auto [number, isNew] = owns.insert(key);
    result.ownOf.push_back(number);
    if (isNew) {
      std::vector<int64_t> own(size, 0);
      if (tables[v] != kNoTable)
        own = pool.get(tables[v]).time;
      for (const Link &link : around)
        for (unsigned x = 0; x < size; ++x)
          if (own[x] < kInf)
            own[x] += getMessage(link.message + x);
      int64_t ahead = backwardCount[v], behind = forwardCount[v];
      int64_t share = std::max<int64_t>({ahead, behind, 1});
      int64_t least = kInf;
      std::vector<int64_t> &given = give.emplace_back(size, 0);
      for (unsigned x = 0; x < size; ++x) {
        if (own[x] >= kInf)
          continue;
        given[x] = own[x] / share;
        own[x] -= given[x] * ahead;
        least = std::min(least, own[x]);
      }
      if (least >= kInf) {
        result.impossible = true;
        return result;
      }
      for (int64_t &x : own)
        if (x < kInf)
          x -= least;
      leasts.push_back(least);
      result.own.push_back(std::move(own));
    }
    result.bound += leasts[number];
  }

  // Pairs between equal variables with equal messages are equal.
  std::vector<std::array<size_t, 2>> received(problem.edges.size()); // by a, by b
  for (unsigned v = 0; v < n; ++v)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      received[links[l].edge][problem.edges[links[l].edge].a != v] = links[l].message;
  SequenceMap pairs;
  std::vector<std::vector<int64_t>> rowLeasts, columnLeasts;
  std::vector<int64_t> pairLeasts;
  result.pairOf.reserve(problem.edges.size());
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    size_t toA = received[i][0], toB = received[i][1];
    bool aGives = position[edge.a] > position[edge.b];
    unsigned a = result.ownOf[edge.a], b = result.ownOf[edge.b];
    key.assign({tables[n + i], a, b, unsigned(toA), unsigned(toA >> 32), unsigned(toB),
                unsigned(toB >> 32), aGives});
    auto [pair, isNew] = pairs.insert(key);
    result.pairOf.push_back(pair);
    if (!isNew) {
      result.bound += pairLeasts[pair];
      continue;
    }
    unsigned sa = problem.sizes[edge.a], sb = problem.sizes[edge.b];
    std::vector<int64_t> &shifts = result.shifts.emplace_back(sa + sb);
    int64_t *byRow = shifts.data(), *byColumn = byRow + sa;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] = (aGives ? give[a][x] : 0) - getMessage(toA + x);
    for (unsigned y = 0; y < sb; ++y)
      byColumn[y] = (aGives ? 0 : give[b][y]) - getMessage(toB + y);
    std::vector<int64_t> &rowLeast = rowLeasts.emplace_back(sa);
    std::vector<int64_t> &columnLeast = columnLeasts.emplace_back(sb);
    minimizeShifted(pool.get(tables[n + i]).time.data(), byRow, byColumn, sa, sb, rowLeast.data(),
                    columnLeast.data());
    int64_t least = *llvm::min_element(rowLeast);
    if (least >= kInf) {
      result.impossible = true;
      return result;
    }
    pairLeasts.push_back(least);
    result.bound += least;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] -= least;
    for (int64_t &x : rowLeast)
      x = x >= kInf ? kInf : x - least;
    for (int64_t &y : columnLeast)
      y = y >= kInf ? kInf : y - least;
  }

  SequenceMap sums;
  for (unsigned v = 0; v < n; ++v) {
    key.assign({result.ownOf[v]});
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      key.push_back(2 * result.pairOf[links[l].edge] + (problem.edges[links[l].edge].a != v));
    auto [sum, isNew] = sums.insert(key);
    result.sumOf.push_back(sum);
    if (!isNew)
      continue;
    std::vector<int64_t> excess = result.own[result.ownOf[v]];
    for (unsigned pair : ArrayRef(key).drop_front()) {
      const std::vector<int64_t> &least = (pair % 2 ? columnLeasts : rowLeasts)[pair / 2];
      for (auto [to, x] : llvm::zip_equal(excess, least))
        to = x >= kInf || to >= kInf ? kInf : to + x;
    }
    result.excess.push_back(std::move(excess));
  }
  return result;
}

double DualAscent::getRestrictedSize(const Moved &moved, int64_t slack) const {
  std::vector<double> left;
  for (const auto &excess : moved.excess)
    left.push_back(llvm::count_if(excess, [&](int64_t e) { return e <= slack; }));
  double size = 0;
  llvm::SmallDenseSet<unsigned> counted; // equal pairs are made once
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (counted.insert(moved.pairOf[i]).second)
      size += left[moved.sumOf[edge.a]] * left[moved.sumOf[edge.b]];
  return size;
}

DualAscent::Restricted DualAscent::restrict(const Moved &moved, int64_t slack, bool withBytes,
                                            TablePool &toPool) const {
  unsigned n = problem.sizes.size();
  Restricted result;
  Problem &to = result.problem;
  to.constant = problem.constant;
  to.constant.time += moved.bound;
  for (const std::vector<int64_t> &excess : moved.excess) {
    auto &left = result.kept.emplace_back();
    for (unsigned x = 0; x < excess.size(); ++x)
      if (excess[x] <= slack)
        left.push_back(x);
    result.impossible |= left.empty();
  }
  result.keptOf = moved.sumOf;
  if (result.impossible)
    return result;
  std::vector<TableId> ofSum(moved.excess.size(), kNoTable);
  for (unsigned v = 0; v < n; ++v) {
    TableId &id = ofSum[moved.sumOf[v]];
    ArrayRef<unsigned> left = result.kept[moved.sumOf[v]];
    if (id == kNoTable) {
      Table table;
      for (unsigned x : left) {
        table.time.push_back(moved.own[moved.ownOf[v]][x]);
        if (withBytes && tables[v] != kNoTable)
          table.bytes.push_back(pool.get(tables[v]).get(x).bytes);
      }
      id = toPool.intern(std::move(table));
    }
    to.sizes.push_back(left.size());
    to.unary.push_back(id);
  }
  llvm::DenseMap<std::tuple<unsigned, unsigned, unsigned>, TableId> ofPair;
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    unsigned a = moved.sumOf[edge.a], b = moved.sumOf[edge.b];
    auto [it, isNew] = ofPair.try_emplace({moved.pairOf[i], a, b});
    if (isNew) {
      unsigned sa = problem.sizes[edge.a], sb = problem.sizes[edge.b];
      const Table &from = pool.get(tables[n + i]);
      const int64_t *byRow = moved.shifts[moved.pairOf[i]].data(), *byColumn = byRow + sa;
      Table table;
      for (unsigned x : result.kept[a])
        for (unsigned y : result.kept[b]) {
          Price price = from.get(size_t(x) * sb + y);
          int64_t time = price.time + byRow[x] + byColumn[y];
          bool possible = !price.isImpossible() && time <= slack;
          table.time.push_back(possible ? time : kInf);
          if (withBytes)
            table.bytes.push_back(possible ? price.bytes : 0);
        }
      it->second = toPool.intern(std::move(table));
    }
    to.edges.push_back({edge.a, edge.b, it->second});
  }
  return result;
}
