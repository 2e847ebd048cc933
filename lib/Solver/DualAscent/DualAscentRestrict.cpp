//===- DualAscentRestrict.cpp - What is left within a slack ---------------===//

#include "DualAscent.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <limits>
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

void ChoiceGroups::add(unsigned choice, unsigned group) {
  if (group == members.size())
    members.emplace_back();
  of[choice] = group;
  members[group].push_back(choice);
}

//===----------------------------------------------------------------------===//
// What is shared
//===----------------------------------------------------------------------===//

/// A choice of a host, and the set of items that several readers share.
struct DualAscent::SharedSet {
  unsigned host;
  SmallVector<unsigned, 3> items;
  int64_t time; // lower bound of all prices with it
};

/// The prices of a host and its readers after messages.
struct DualAscent::SharedPrices {
  size_t numItems;
  const int64_t *byHost;
  const int64_t *prices; // item prices, host-major
  const Groups *hosts;
  SmallVector<ArrayRef<unsigned>, 6> items; // per reader and choice
  SmallVector<const int64_t *, 6> byReader; // addition per reader and choice
  SmallVector<const Groups *, 6> readers;
};

DualAscent::SharedPrices DualAscent::getSharedPrices(unsigned number, const Moved &moved,
                                                     ArrayRef<Groups> groups) const {
  const Problem::Sharing &sharing = problem.sharings[number];
  const Table &prices = pool.get(sharing.prices);
  const int64_t *shifts = moved.sharedShifts[moved.sharedOf[number]].data();
  SharedPrices result{prices.size() / problem.sizes[sharing.host],
                      shifts,
                      prices.time.data(),
                      &groups[moved.sumOf[sharing.host]],
                      {},
                      {},
                      {}};
  shifts += problem.sizes[sharing.host];
  for (auto [v, items] : sharing.readers) {
    result.items.push_back(pool.getList(items));
    result.byReader.push_back(shifts);
    result.readers.push_back(&groups[moved.sumOf[v]]);
    shifts += problem.sizes[v];
  }
  return result;
}

/// Those within the slack, of the choices that are left; false where there are too many to list.
bool DualAscent::listSets(const SharedPrices &prices, int64_t slack, std::vector<SharedSet> &sets) {
  size_t numReaders = prices.items.size(), numItems = prices.numItems;
  // The minimal addition of a reader for an item; and the number of readers that may request it.
  std::vector<int64_t> added(numReaders * numItems, kInf);
  std::vector<unsigned> askers(numItems, 0);
  for (unsigned r = 0; r < numReaders; ++r)
    for (auto [x, item] : llvm::enumerate(prices.items[r])) {
      if (prices.readers[r]->of[x] == Groups::kNone)
        continue;
      int64_t &itemTime = added[r * numItems + item];
      askers[item] += itemTime >= kInf;
      itemTime = std::min(itemTime, prices.byReader[r][x]);
    }
  unsigned visited = 0;
  std::vector<unsigned> shareable;
  SmallVector<int64_t, 6> alone(numReaders);
  for (unsigned h = 0; h < prices.hosts->of.size(); ++h) {
    if (prices.hosts->of[h] == Groups::kNone)
      continue;
    const int64_t *row = prices.prices + h * numItems;
    shareable.clear();
    for (unsigned item = 0; item < numItems; ++item)
      if (askers[item] > 1 && row[item] > 0 && row[item] < kInf)
        shareable.push_back(item);
    for (unsigned r = 0; r < numReaders; ++r) {
      alone[r] = kInf;
      for (unsigned item = 0; item < numItems; ++item)
        if (row[item] < kInf && added[r * numItems + item] < kInf)
          alone[r] = std::min(alone[r], row[item] + added[r * numItems + item]);
    }
    SharedSet set{h, {}, 0};
    // `paid`: for the items of the set.
    auto extend = [&](auto &self, size_t from, int64_t paid) -> bool {
      if (++visited > kMaxSets)
        return false;
      set.time = paid;
      SmallVector<int64_t, 6> readerTimes(alone);
      for (unsigned r = 0; r < numReaders; ++r) {
        for (unsigned item : set.items)
          readerTimes[r] = std::min(readerTimes[r], added[r * numItems + item]);
        set.time = readerTimes[r] >= kInf || set.time >= kInf ? kInf : set.time + readerTimes[r];
      }
      if (set.time <= slack)
        sets.push_back(set);
      size_t more = numReaders / 2 - set.items.size();
      if (more == 0)
        return true;
      // The gain of one more item; several together gain at most the sum.
      SmallVector<std::pair<int64_t, size_t>> gains;
      SmallVector<int64_t> best;
      for (size_t k = from; k < shareable.size(); ++k) {
        int64_t gain = -row[shareable[k]];
        for (unsigned r = 0; r < numReaders && set.time < kInf; ++r)
          gain += std::max<int64_t>(readerTimes[r] - added[r * numItems + shareable[k]], 0);
        gains.push_back({gain, k});
        best.push_back(std::max<int64_t>(gain, 0));
      }
      size_t others = std::min(more - 1, best.size());
      std::partial_sort(best.begin(), best.begin() + others, best.end(), std::greater<>());
      int64_t rest = std::accumulate(best.begin(), best.begin() + others, int64_t(0));
      for (auto [gain, k] : gains) {
        if (set.time < kInf && set.time - gain - rest > slack)
          continue;
        int64_t before = set.time;
        set.items.push_back(shareable[k]);
        bool isDone = self(self, k + 1, paid + row[shareable[k]]);
        set.items.pop_back();
        set.time = before;
        if (!isDone)
          return false;
      }
      return true;
    };
    if (!extend(extend, 0, prices.byHost[h]))
      return false;
  }
  return true;
}

/// A variable whose choices are sets: pairs with the host and with the readers cost the rest. Every choice is a group
/// of its own.
struct DualAscent::SharedTables {
  size_t numSets = 0;
  bool isTooLarge = false;
  Table unary, withHost;
  SmallVector<Table, 6> withReaders;
};

DualAscent::SharedTables DualAscent::makeSharedTables(const SharedPrices &prices, int64_t slack) {
  SharedTables result;
  std::vector<SharedSet> sets;
  result.isTooLarge = !listSets(prices, slack, sets);
  if (result.isTooLarge)
    return result;
  result.numSets = sets.size();
  for (const SharedSet &set : sets)
    result.unary.time.push_back(set.time);
  for (const auto &host : prices.hosts->members)
    for (const SharedSet &set : sets)
      result.withHost.time.push_back(set.host == host.front() ? 0 : kInf);
  for (auto [items, byReader, reader] : llvm::zip_equal(prices.items, prices.byReader, prices.readers)) {
    // The price of the reader with a set, minus its minimum, which is in the time of the set.
    const auto &left = reader->members;
    Table &table = result.withReaders.emplace_back();
    table.time.assign(left.size() * sets.size(), kInf);
    for (auto [i, set] : llvm::enumerate(sets)) {
      auto getPaid = [&](unsigned x) {
        unsigned item = items[x];
        int64_t time = llvm::is_contained(set.items, item) ? 0 : prices.prices[set.host * prices.numItems + item];
        return time >= kInf ? kInf : time + byReader[x];
      };
      int64_t minimum = kInf;
      for (const auto &choice : left)
        minimum = std::min(minimum, getPaid(choice.front()));
      for (auto [k, choice] : llvm::enumerate(left))
        if (int64_t paid = getPaid(choice.front()); paid < kInf && paid - minimum <= slack)
          table.time[k * sets.size() + i] = paid - minimum;
    }
  }
  return result;
}

void DualAscent::addSharings(const Moved &moved, int64_t slack, Restricted &result, TablePool &toPool) const {
  Problem &to = result.problem;
  // Some at a time: equal tables are one only once they are in the pool.
  constexpr size_t kAtOnce = 64;
  std::vector<SharedTables> made;
  for (size_t begin = 0, n = problem.sharings.size(); begin < n; begin += kAtOnce) {
    made.assign(std::min(kAtOnce, n - begin), {});
    llvm::parallelFor(0, made.size(), [&](size_t k) {
      made[k] = makeSharedTables(getSharedPrices(begin + k, moved, result.groups), slack);
    });
    result.isTooLarge |= clock.isOver();
    for (auto [k, tables] : llvm::enumerate(made)) {
      const Problem::Sharing &sharing = problem.sharings[begin + k];
      result.isTooLarge |= tables.isTooLarge;
      result.impossible |= tables.numSets == 0;
      if (result.isTooLarge || result.impossible)
        return;
      unsigned setVar = to.sizes.size();
      to.sizes.push_back(tables.numSets);
      to.unary.push_back(toPool.intern(std::move(tables.unary)));
      to.edges.push_back({sharing.host, setVar, toPool.intern(std::move(tables.withHost))});
      for (auto [r, reader] : llvm::enumerate(sharing.readers)) {
        TableId id = toPool.intern(std::move(tables.withReaders[r]));
        auto mine = llvm::MutableArrayRef(to.edges).take_back(r + 1);
        auto known = llvm::find_if(
            mine, [&, v = reader.first](const Problem::Edge &edge) { return edge.b == setVar && edge.a == v; });
        if (known != mine.end())
          known->table = toPool.add(known->table, id);
        else
          to.edges.push_back({reader.first, setVar, id});
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// What is left within a slack
//===----------------------------------------------------------------------===//

/// The choices that `isLeft`, each by itself.
template <typename Predicate> static DualAscent::Groups getGroups(ArrayRef<int64_t> excess, Predicate isLeft) {
  DualAscent::Groups groups;
  groups.of.assign(excess.size(), DualAscent::Groups::kNone);
  for (unsigned x = 0; x < excess.size(); ++x)
    if (isLeft(x))
      groups.add(x, groups.members.size());
  return groups;
}

bool DualAscent::isAtMost(const Moved &moved, int64_t slack, double maximum) const {
  std::vector<double> left;
  for (const auto &excess : moved.excess)
    left.push_back(llvm::count_if(excess, [&](int64_t e) { return e <= slack; }));
  double size = 0;
  llvm::SmallDenseSet<unsigned> counted; // equal pairs are made once
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (counted.insert(moved.pairOf[i]).second)
      size += left[moved.sumOf[edge.a]] * left[moved.sumOf[edge.b]];
  if (size > maximum || problem.sharings.empty())
    return size <= maximum;
  std::vector<Groups> groups;
  for (const auto &excess : moved.excess)
    groups.push_back(getGroups(excess, [&](unsigned x) { return excess[x] <= slack; }));
  llvm::SmallDenseSet<unsigned> countedShared;
  std::vector<unsigned> sharings;
  for (unsigned i = 0; i < problem.sharings.size(); ++i)
    if (countedShared.insert(moved.sharedOf[i]).second)
      sharings.push_back(i);
  // Some at a time: the first may be too much.
  constexpr size_t kAtOnce = 64;
  for (ArrayRef<unsigned> left = sharings; !left.empty(); left = left.drop_front(std::min(left.size(), kAtOnce))) {
    std::vector<double> sizes(std::min(left.size(), kAtOnce));
    llvm::parallelFor(0, sizes.size(), [&](size_t k) {
      SharedPrices prices = getSharedPrices(left[k], moved, groups);
      sizes[k] = prices.hosts->members.size();
      for (const Groups *reader : prices.readers)
        sizes[k] += reader->members.size();
      std::vector<SharedSet> sets;
      sizes[k] *= listSets(prices, slack, sets) ? sets.size() : std::numeric_limits<double>::infinity();
    });
    size = std::accumulate(sizes.begin(), sizes.end(), size);
    if (!(size <= maximum) || clock.isOver())
      return false;
  }
  return true;
}

DualAscent::Restricted DualAscent::restrict(const Moved &moved, int64_t slack, bool withBytes,
                                            TablePool &toPool) const {
  Restricted result;
  for (const std::vector<int64_t> &excess : moved.excess) {
    result.groups.push_back(getGroups(excess, [&](unsigned x) { return excess[x] <= slack; }));
    result.impossible |= result.groups.back().members.empty();
  }
  if (!result.impossible)
    addTables(moved, slack, withBytes, result, toPool);
  return result;
}

DualAscent::Restricted DualAscent::restrictTo(ArrayRef<std::vector<unsigned>> solutions, const Moved &moved,
                                              int64_t near, int64_t slack, TablePool &toPool) const {
  Restricted result;
  unsigned n = problem.sizes.size();
  std::vector<SmallVector<unsigned, 4>> taken(n), ofSum(moved.excess.size());
  for (const std::vector<unsigned> &solution : solutions)
    for (auto [v, x] : llvm::enumerate(solution))
      if (auto &list = taken[alikeOf[v]]; !llvm::is_contained(list, x))
        list.push_back(x);
  for (unsigned v = 0; v < n; ++v)
    for (unsigned x : taken[alikeOf[v]])
      if (auto &list = ofSum[moved.sumOf[v]]; !llvm::is_contained(list, x))
        list.push_back(x);
  for (auto [excess, list] : llvm::zip_equal(moved.excess, ofSum))
    result.groups.push_back(
        getGroups(excess, [&](unsigned x) { return excess[x] <= near || llvm::is_contained(list, x); }));
  addTables(moved, slack, /*withBytes=*/false, result, toPool);
  return result;
}

/// The tables of groups: the least of what their choices cost.
void DualAscent::addTables(const Moved &moved, int64_t slack, bool withBytes, Restricted &result,
                           TablePool &toPool) const {
  unsigned n = problem.sizes.size();
  Problem &to = result.problem;
  to.constant = problem.constant;
  to.constant.time += moved.bound;
  result.groupsOf = moved.sumOf;
  auto makeTable = [&](size_t size) {
    Table table;
    table.time.assign(size, kInf);
    table.bytes.assign(withBytes ? size : 0, 0);
    return table;
  };
  auto lower = [&](Table &table, size_t at, int64_t time, int64_t bytes) {
    if (time > table.time[at] || (time == table.time[at] && (!withBytes || bytes >= table.bytes[at])))
      return;
    table.time[at] = time;
    if (withBytes)
      table.bytes[at] = bytes;
  };
  std::vector<TableId> ofSum(moved.excess.size(), kNoTable);
  for (unsigned v = 0; v < n; ++v) {
    TableId &id = ofSum[moved.sumOf[v]];
    const Groups &grouping = result.groups[moved.sumOf[v]];
    if (id == kNoTable) {
      Table table = makeTable(grouping.members.size());
      for (auto [x, group] : llvm::enumerate(grouping.of))
        if (int64_t time = moved.unary[moved.unaryOf[v]][x]; group != Groups::kNone && time < kInf)
          lower(table, group, time, withBytes && tables[v] != kNoTable ? pool.get(tables[v]).get(x).bytes : 0);
      id = toPool.intern(std::move(table));
    }
    to.sizes.push_back(grouping.members.size());
    to.unary.push_back(id);
  }
  llvm::DenseMap<std::tuple<unsigned, unsigned, unsigned>, TableId> ofPair;
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    unsigned a = moved.sumOf[edge.a], b = moved.sumOf[edge.b];
    auto [it, isNew] = ofPair.try_emplace({moved.pairOf[i], a, b});
    if (isNew) {
      const Groups &rows = result.groups[a], &columns = result.groups[b];
      const Table &from = pool.get(tables[n + i]);
      const int64_t *byRow = moved.shifts[moved.pairOf[i]].data(), *byColumn = byRow + rows.of.size();
      Table table = makeTable(rows.members.size() * columns.members.size());
      for (auto [g, xs] : llvm::enumerate(rows.members))
        for (unsigned x : xs)
          for (auto [h, ys] : llvm::enumerate(columns.members))
            for (unsigned y : ys) {
              Price price = from.get(size_t(x) * columns.of.size() + y);
              if (int64_t time = price.time + byRow[x] + byColumn[y]; !price.isImpossible() && time <= slack)
                lower(table, g * columns.members.size() + h, time, price.bytes);
            }
      it->second = toPool.intern(std::move(table));
    }
    to.edges.push_back({edge.a, edge.b, it->second});
  }
  if (!result.impossible)
    addSharings(moved, slack, result, toPool);
  llvm::sort(to.edges,
             [](const Problem::Edge &x, const Problem::Edge &y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
}
