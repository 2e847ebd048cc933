//===- Reduction.cpp - Fewer choices and variables ------------------------===//

#include "Problem.h"
#include "Support/Clock.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <set>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

std::vector<unsigned> Reduction::expand(ArrayRef<unsigned> choices, const TablePool &pool) const {
  std::vector<unsigned> before(numBefore, 0);
  for (unsigned v = 0; v < choices.size(); ++v)
    before[kept[v]] = pool.getList(choiceLists[v])[choices[v]];
  // In reverse order, as a variable that was merged late may determine earlier ones.
  for (const Merge &merge : llvm::reverse(merges))
    before[merge.v] = pool.getList(merge.list)[before[merge.u]];
  return before;
}

std::vector<unsigned> Reduction::narrow(ArrayRef<unsigned> before, const TablePool &pool) const {
  std::vector<unsigned> choices(kept.size(), kNoVar);
  for (unsigned v = 0; v < kept.size(); ++v) {
    ArrayRef<unsigned> left = pool.getList(choiceLists[v]);
    const unsigned *it = kept[v] < before.size() ? llvm::find(left, before[kept[v]]) : left.end();
    if (it != left.end())
      choices[v] = it - left.begin();
  }
  return choices;
}

//===----------------------------------------------------------------------===//
// Dominance
//===----------------------------------------------------------------------===//

namespace {
/// A table whose rows are the choices that are compared.
struct RowView {
  const Table *table;
  unsigned columns;
  // Per row: the column where it is cheapest.
  std::vector<unsigned> cheapest;
};
} // namespace

static bool isImpossibleRow(const Table &table, size_t row, size_t columns) {
  return std::all_of(table.time.begin() + row * columns, table.time.begin() + (row + 1) * columns,
                     [](int64_t t) { return t >= kInf; });
}

/// Signature: number of choices, table of one variable, labels, then per neighbour its table
/// and number of choices, a separator, and the same for buffers. Returns the choices that
/// are possible and not dominated, as a list of the pool; kNoTable for all.
unsigned Reducer::findUndominated(ArrayRef<unsigned> signature) {
  auto [index, inserted] = signatures.insert(signature);
  if (!inserted)
    return undominated[index];

  unsigned size = signature[0];
  const Table *unary = signature[1] == kNoTable ? nullptr : &pool.get(signature[1]);
  std::vector<RowView> rows;
  // Only a choice with the same label is a better one.
  ArrayRef<unsigned> labels;
  if (signature[2] != kNoTable)
    labels = pool.getList(signature[2]);
  unsigned i = 3;
  for (; signature[i] != kNoTable; i += 2)
    rows.push_back({&pool.get(signature[i]), signature[i + 1], {}});
  std::vector<RowView> bytes;
  for (++i; i < signature.size(); i += 2)
    bytes.push_back({&pool.get(signature[i]), signature[i + 1], {}});

  std::vector<bool> keep(size, true);
  for (unsigned b = 0; b < size; ++b) {
    if (unary && unary->time[b] >= kInf)
      keep[b] = false;
    for (const RowView &row : rows)
      if (keep[b] && isImpossibleRow(*row.table, b, row.columns))
        keep[b] = false;
  }
  for (RowView &row : rows)
    for (size_t b = 0; b < size; ++b) {
      auto begin = row.table->time.begin() + b * row.columns;
      row.cheapest.push_back(std::min_element(begin, begin + row.columns) - begin);
    }

  // Lexicographic lower bound of price(b) - price(a) over all choices of the neighbors; none if a choice of a neighbor
  // is possible with `b` but not with `a`.
  std::vector<int64_t> rowOfB;
  auto isDominated = [&](unsigned b, unsigned a) {
    int64_t time = unary ? unary->time[b] - unary->time[a] : 0;
    // Each neighbour's cheapest partner of b bounds the minimum from above: most pairs
    // fail here.
    for (const RowView &row : rows) {
      unsigned c = row.cheapest[b];
      int64_t ta = row.table->time[size_t(a) * row.columns + c];
      if (ta >= kInf)
        return false;
      time += row.table->time[size_t(b) * row.columns + c] - ta;
    }
    if (time < 0)
      return false;
    for (const RowView &view : bytes)
      for (unsigned c = 0; c < view.columns; ++c)
        if (view.table->time[size_t(b) * view.columns + c] < view.table->time[size_t(a) * view.columns + c])
          return false;
    Price sum;
    if (unary) {
      Price pb = unary->get(b), pa = unary->get(a);
      sum = {pb.time - pa.time, pb.bytes - pa.bytes};
    }
    for (const RowView &row : rows) {
      const int64_t *tb = row.table->time.data() + size_t(b) * row.columns;
      const int64_t *ta = row.table->time.data() + size_t(a) * row.columns;
      int64_t minimum = 4 * kInf;
      for (unsigned c = 0; c < row.columns; ++c) {
        // If b is impossible, the price of a does not matter.
        int64_t d = (tb[c] >= kInf ? 3 * kInf : tb[c]) - ta[c];
        minimum = d < minimum ? d : minimum;
      }
      if (minimum <= -kInf / 2)
        return false;
      sum.time += minimum;
      if (row.table->bytes.empty())
        continue;
      int64_t minBytes = INT64_MAX;
      for (unsigned c = 0; c < row.columns; ++c)
        if (tb[c] < kInf && tb[c] - ta[c] == minimum)
          minBytes = std::min(minBytes, row.table->bytes[size_t(b) * row.columns + c] -
                                            row.table->bytes[size_t(a) * row.columns + c]);
      sum.bytes += minBytes == INT64_MAX ? 0 : minBytes;
    }
    if (sum != Price{0, 0})
      return sum > Price{0, 0};
    return a < b; // the lower number of equals
  };
  // With very many choices only those with the lowest lower bounds are tried as the better one: all pairs would take
  // longer than they save.
  constexpr unsigned kAllPairs = 256, kBetter = 64;
  std::vector<unsigned> better;
  for (unsigned a = 0; a < size; ++a)
    if (keep[a])
      better.push_back(a);
  if (better.size() > kAllPairs) {
    std::vector<int64_t> minimum(size, 0);
    for (unsigned a : better) {
      minimum[a] = unary ? unary->time[a] : 0;
      for (const RowView &row : rows)
        minimum[a] += row.table->time[size_t(a) * row.columns + row.cheapest[a]];
    }
    llvm::sort(better,
               [&](unsigned x, unsigned y) { return minimum[x] != minimum[y] ? minimum[x] < minimum[y] : x < y; });
    better.resize(kBetter);
  }
  // Dominance is transitive: a dropped choice need not be tried, as the choice that dropped it drops the same ones.
  for (unsigned b = 0; b < size; ++b)
    for (unsigned a : better) {
      if (!keep[b])
        break;
      if (a != b && keep[a] && (labels.empty() || labels[a] == labels[b]) && isDominated(b, a))
        keep[b] = false;
    }

  unsigned list = kNoTable;
  if (llvm::is_contained(keep, false)) {
    SmallVector<unsigned, 32> left;
    for (unsigned b = 0; b < size; ++b)
      if (keep[b])
        left.push_back(b);
    list = pool.addList(left);
  }
  undominated.push_back(list);
  return list;
}

//===----------------------------------------------------------------------===//
// The graph while it shrinks
//===----------------------------------------------------------------------===//

namespace mlir::spmd::solver {
/// One reduction of a problem (see Reducer). Until nothing changes:
///   1. Choices that another choice dominates are dropped.
///   2. Variables that a neighbor determines are merged into it.
///
///   variable v with prices {0, 3}, an edge to w that costs at most 2 more for choice 0 of v:
///   choice 1 is dropped
class ReductionRun {
public:
  ReductionRun(Reducer &reducer, Problem problem);
  Reduction run(const Clock *clock);

private:
  struct Link {
    unsigned to;
    TableId table; // rows are the choices of whom the link belongs to
  };

  unsigned getSize(unsigned v) const { return problem.sizes[v]; }

  /// A reader of a sharing may replace a choice only by one that requests the same item; a host none.
  void setLabels();
  unsigned gatherList(unsigned list, unsigned which);
  void touch(unsigned v);

  Link &getLink(unsigned v, unsigned to) {
    return *llvm::lower_bound(links[v], to, [](const Link &l, unsigned t) { return l.to < t; });
  }

  SmallVector<unsigned, 32> getSignature(unsigned v);

  /// Restricts variables to the choices of these lists. A table between two of them is restricted once.
  void restrict(ArrayRef<std::pair<unsigned, unsigned>> drops);
  void compose(unsigned v, unsigned list);

  unsigned getChoice(unsigned v, unsigned c) const { return choices[v] == kNoTable ? c : pool.getList(choices[v])[c]; }

  /// Per choice of the rows the only one that it allows; kNoTable if some allow several.
  unsigned getFunction(TableId id, unsigned rows, unsigned columns);

  /// Merges `v` into a neighbour that determines it, unless the neighbour's larger
  /// tables would cost more than the variable saves: elimination joins few entries
  /// where a choice is determined anyway.
  void tryMerge(unsigned v);
  void addUnary(unsigned v, TableId table);
  void addLink(unsigned a, unsigned b, TableId table);

  void removeLink(unsigned v, unsigned to) { links[v].erase(&getLink(v, to)); }

  void merge(unsigned v, unsigned u, unsigned list);
  Reduction finish();

  Reducer &reducer;
  TablePool &pool;
  Problem problem;
  std::vector<SmallVector<Link, 4>> links;
  std::vector<SmallVector<unsigned, 4>> buffersOf;
  std::vector<unsigned> choices, before;
  std::vector<unsigned> labels; // per variable a list, one per choice; kNoTable: all are alike
  std::vector<unsigned> left;   // per variable the list that it is just being restricted to
  std::vector<bool> alive, queued;
  std::vector<unsigned> touched;
  std::vector<Reduction::Merge> merges;
  uint64_t dropped = 0;
};

ReductionRun::ReductionRun(Reducer &reducer, Problem problem)
    : reducer(reducer), pool(reducer.pool), problem(std::move(problem)) {
  unsigned n = this->problem.sizes.size();
  links.resize(n);
  for (const Problem::Edge &edge : this->problem.edges) {
    links[edge.a].push_back({edge.b, edge.table});
    links[edge.b].push_back({edge.a, pool.transpose(edge.table, getSize(edge.a), getSize(edge.b))});
  }
  // By number: equal layers have equal signatures.
  for (auto &list : links)
    llvm::sort(list, [](const Link &x, const Link &y) { return x.to < y.to; });
  buffersOf.resize(n);
  for (auto [i, buffer] : llvm::enumerate(this->problem.buffers)) {
    buffersOf[buffer.a].push_back(i);
    if (buffer.b != kNoVar)
      buffersOf[buffer.b].push_back(i);
  }
  choices.assign(n, kNoTable);
  left.assign(n, kNoTable);
  setLabels();
  alive.assign(n, true);
  before = this->problem.sizes;
}

Reduction ReductionRun::run(const Clock *clock) {
  auto isOver = [&] { return clock && clock->isOver(); };
  unsigned n = problem.sizes.size();
  std::vector<unsigned> queue(n);
  for (unsigned v = 0; v < n; ++v)
    queue[v] = v;
  queued.assign(n, false);
  while (!queue.empty() && !problem.impossible && !isOver()) {
    // All of a round look at the same state: repeated layers then look alike for
    // longer. That is sound, as a choice is replaced whatever its neighbours choose.
    std::vector<std::pair<unsigned, unsigned>> drops;
    for (unsigned v : queue) {
      if (isOver())
        break;
      unsigned list = reducer.findUndominated(getSignature(v));
      if (list != kNoTable)
        drops.push_back({v, list});
    }
    touched.clear();
    if (llvm::any_of(drops, [&](auto &drop) { return pool.getList(drop.second).empty(); })) {
      problem.impossible = true;
      break;
    }
    restrict(drops);
    for (unsigned v : queue)
      if (alive[v])
        tryMerge(v);
    queue.clear();
    for (unsigned v : touched) {
      queued[v] = false;
      if (alive[v])
        queue.push_back(v);
    }
    llvm::sort(queue);
  }
  return finish();
}

void ReductionRun::setLabels() {
  unsigned n = problem.sizes.size();
  labels.assign(n, kNoTable);
  std::vector<std::vector<SmallVector<unsigned, 2>>> asked(n);
  for (const Problem::Sharing &sharing : problem.sharings) {
    asked[sharing.host].resize(getSize(sharing.host));
    for (unsigned x = 0; x < getSize(sharing.host); ++x)
      asked[sharing.host][x].push_back(x);
    for (auto [v, items] : sharing.readers) {
      asked[v].resize(getSize(v));
      for (auto [x, item] : llvm::enumerate(pool.getList(items)))
        asked[v][x].push_back(item);
    }
  }
  for (unsigned v = 0; v < n; ++v) {
    if (asked[v].empty())
      continue;
    SequenceMap known;
    SmallVector<unsigned, 64> list;
    for (auto &item : asked[v])
      list.push_back(known.insert(item).first);
    labels[v] = pool.addList(list);
  }
}

unsigned ReductionRun::gatherList(unsigned list, unsigned which) {
  SmallVector<unsigned, 64> all;
  for (unsigned c : pool.getList(which))
    all.push_back(pool.getList(list)[c]);
  return pool.addList(all);
}

void ReductionRun::touch(unsigned v) {
  if (!queued[v]) {
    queued[v] = true;
    touched.push_back(v);
  }
}

SmallVector<unsigned, 32> ReductionRun::getSignature(unsigned v) {
  SmallVector<unsigned, 32> key = {getSize(v), problem.unary[v], labels[v]};
  for (const Link &link : links[v])
    key.append({link.table, getSize(link.to)});
  key.push_back(kNoTable);
  SmallVector<std::pair<unsigned, unsigned>, 8> bytes;
  for (unsigned i : buffersOf[v]) {
    const Problem::Buffer &b = problem.buffers[i];
    if (b.b == kNoVar)
      bytes.push_back({b.bytes, 1});
    else if (b.a == v)
      bytes.push_back({b.bytes, getSize(b.b)});
    else
      bytes.push_back({pool.transpose(b.bytes, getSize(b.a), getSize(b.b)), getSize(b.a)});
  }
  llvm::sort(bytes);
  bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
  for (auto [id, columns] : bytes)
    key.append({id, columns});
  return key;
}

void ReductionRun::restrict(ArrayRef<std::pair<unsigned, unsigned>> drops) {
  for (auto [v, list] : drops)
    left[v] = list;
  auto getLeft = [&](unsigned v) { return left[v] == kNoTable ? getSize(v) : unsigned(pool.getList(left[v]).size()); };
  for (auto [v, list] : drops) {
    unsigned size = getLeft(v);
    if (problem.unary[v] != kNoTable)
      problem.unary[v] = pool.gather(problem.unary[v], 1, list, kNoTable, size, 1);
    for (Link &link : links[v]) {
      unsigned u = link.to;
      link.table = pool.gather(link.table, getSize(u), list, left[u], size, getLeft(u));
      touch(u);
      if (left[u] != kNoTable)
        continue;
      Link &back = getLink(u, v);
      back.table = pool.gather(back.table, getSize(v), kNoTable, list, getSize(u), size);
    }
    for (unsigned i : buffersOf[v]) {
      Problem::Buffer &b = problem.buffers[i];
      if (b.b == kNoVar)
        b.bytes = pool.gather(b.bytes, 1, list, kNoTable, size, 1);
      else if (b.a == v || left[b.a] == kNoTable)
        b.bytes = pool.gather(b.bytes, getSize(b.b), left[b.a], left[b.b], getLeft(b.a), getLeft(b.b));
    }
  }
  for (auto [v, list] : drops) {
    compose(v, list);
    if (labels[v] != kNoTable)
      labels[v] = gatherList(labels[v], list);
    dropped += getSize(v) - getLeft(v);
    problem.sizes[v] = getLeft(v);
    touch(v);
  }
  for (auto [v, list] : drops)
    left[v] = kNoTable;
}

void ReductionRun::compose(unsigned v, unsigned list) {
  if (choices[v] == kNoTable) {
    choices[v] = list;
    return;
  }
  choices[v] = gatherList(choices[v], list);
}

unsigned ReductionRun::getFunction(TableId id, unsigned rows, unsigned columns) {
  auto [index, inserted] = reducer.functionKeys.insert({id, rows, columns});
  if (inserted) {
    const Table &table = pool.get(id);
    SmallVector<unsigned, 32> list;
    for (size_t i = 0; i < rows && list.size() == i; ++i) {
      unsigned count = 0, only = 0;
      for (size_t j = 0; j < columns; ++j)
        if (table.time[i * columns + j] < kInf) {
          ++count;
          only = j;
        }
      if (count == 1)
        list.push_back(only);
    }
    reducer.functions.push_back(list.size() == rows ? pool.addList(list) : kNoTable);
  }
  return reducer.functions[index];
}

void ReductionRun::tryMerge(unsigned v) {
  if (labels[v] != kNoTable)
    return;
  if (getSize(v) == 1)
    return; // no table of it has more entries than the neighbour alone
  for (const Link &link : links[v]) {
    unsigned u = link.to;
    unsigned list = getFunction(getLink(u, v).table, getSize(u), getSize(v));
    if (list == kNoTable)
      continue;
    bool grows = getSize(u) > getSize(v) && llvm::any_of(links[v], [&](const Link &other) {
                   return other.to != u && !llvm::any_of(links[u], [&](const Link &l) { return l.to == other.to; });
                 });
    if (!grows) {
      merge(v, u, list);
      return;
    }
  }
}

void ReductionRun::addUnary(unsigned v, TableId table) {
  TableId &unary = problem.unary[v];
  unary = unary == kNoTable ? table : pool.add(unary, table);
}

void ReductionRun::addLink(unsigned a, unsigned b, TableId table) {
  auto add = [&](unsigned v, unsigned to, TableId id) {
    auto it = llvm::lower_bound(links[v], to, [](const Link &l, unsigned t) { return l.to < t; });
    if (it != links[v].end() && it->to == to)
      it->table = pool.add(it->table, id);
    else
      links[v].insert(it, {to, id});
  };
  add(a, b, table);
  add(b, a, pool.transpose(table, getSize(a), getSize(b)));
}

void ReductionRun::merge(unsigned v, unsigned u, unsigned list) {
  unsigned su = getSize(u), sv = getSize(v);
  addUnary(u, pool.gatherDiagonal(getLink(u, v).table, sv, list));
  if (problem.unary[v] != kNoTable)
    addUnary(u, pool.gather(problem.unary[v], 1, list, kNoTable, su, 1));
  removeLink(u, v);
  for (const Link &link : links[v]) {
    if (link.to == u)
      continue;
    removeLink(link.to, v);
    addLink(u, link.to, pool.gather(link.table, getSize(link.to), list, kNoTable, su, getSize(link.to)));
    touch(link.to);
  }
  links[v].clear();
  for (unsigned i : buffersOf[v]) {
    Problem::Buffer &b = problem.buffers[i];
    unsigned other = b.a == v ? b.b : b.a;
    if (other == u) {
      TableId id = b.a == u ? b.bytes : pool.transpose(b.bytes, sv, su);
      b.bytes = pool.gatherDiagonal(id, sv, list);
      b.a = u;
      b.b = kNoVar;
      continue; // in the list of u already
    }
    unsigned otherSize = other == kNoVar ? 1 : getSize(other);
    TableId id = b.a == v || other == kNoVar ? b.bytes : pool.transpose(b.bytes, otherSize, sv);
    b.bytes = pool.gather(id, otherSize, list, kNoTable, su, otherSize);
    b.a = u;
    b.b = other;
    buffersOf[u].push_back(i);
  }
  buffersOf[v].clear();
  // By the choices that they had at first, since both may shrink later.
  std::vector<unsigned> function(before[u], 0);
  for (unsigned c = 0; c < su; ++c)
    function[getChoice(u, c)] = getChoice(v, pool.getList(list)[c]);
  merges.push_back({v, u, pool.addList(function)});
  alive[v] = false;
  touch(u);
}

Reduction ReductionRun::finish() {
  Reduction result;
  result.numBefore = before.size();
  result.merges = std::move(merges);
  result.dropped = dropped;
  Problem &to = result.problem;
  to.impossible = problem.impossible;
  to.constant = problem.constant;
  to.fixed = std::move(problem.fixed);
  std::vector<unsigned> number(before.size(), kNoVar);
  for (unsigned v = 0; v < before.size(); ++v) {
    if (!alive[v])
      continue;
    number[v] = to.sizes.size();
    to.sizes.push_back(getSize(v));
    to.unary.push_back(problem.unary[v]);
    result.kept.push_back(v);
    if (choices[v] == kNoTable) {
      std::vector<unsigned> all(before[v]);
      for (unsigned c = 0; c < before[v]; ++c)
        all[c] = c;
      choices[v] = pool.addList(all);
    }
    result.choiceLists.push_back(choices[v]);
  }
  for (unsigned v = 0; v < before.size(); ++v)
    for (const Link &link : links[v])
      if (v < link.to)
        to.edges.push_back({number[v], number[link.to], link.table});
  to.sharings = std::move(problem.sharings);
  for (Problem::Sharing &sharing : to.sharings) {
    unsigned host = sharing.host;
    unsigned numItems = pool.get(sharing.prices).size() / before[host];
    sharing.prices = pool.gather(sharing.prices, numItems, choices[host], kNoTable, getSize(host), numItems);
    sharing.host = number[host];
    for (auto &[v, items] : sharing.readers) {
      items = gatherList(items, choices[v]);
      v = number[v];
    }
  }
  to.buffers = std::move(problem.buffers);
  for (Problem::Buffer &b : to.buffers) {
    b.a = number[b.a];
    if (b.b == kNoVar)
      continue;
    b.b = number[b.b];
    if (b.a > b.b) {
      b.bytes = pool.transpose(b.bytes, to.sizes[b.a], to.sizes[b.b]);
      std::swap(b.a, b.b);
    }
  }
  return result;
}
} // namespace mlir::spmd::solver

Reduction Reducer::reduce(Problem problem, const Clock *clock) {
  return ReductionRun(*this, std::move(problem)).run(clock);
}
