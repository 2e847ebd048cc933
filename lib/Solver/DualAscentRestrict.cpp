//===- DualAscentRestrict.cpp - What is left within a slack ---------------===//

#include "DualAscent.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A choice of a host and what several readers share beside it.
struct DualAscent::SharedSet {
  unsigned host; // a position in what is left of the host
  SmallVector<unsigned, 3> items;
  int64_t time; // at least; of all that is paid beside it
};

/// Those within the slack, of the choices that are left; false where there are too many to list.
bool DualAscent::listSets(unsigned number, const Moved &moved, int64_t slack, ArrayRef<unsigned> hosts,
                          ArrayRef<ArrayRef<unsigned>> left, std::vector<SharedSet> &sets) const {
  const Problem::Sharing &sharing = problem.sharings[number];
  const Table &prices = pool.get(sharing.prices);
  size_t numReaders = left.size(), numItems = prices.size() / problem.sizes[sharing.host];
  const int64_t *byHost = moved.sharedShifts[moved.sharedOf[number]].data();
  const int64_t *byReader = byHost + problem.sizes[sharing.host];
  // The least that a reader adds for an item; how many may ask for it.
  std::vector<int64_t> added(numReaders * numItems, kInf);
  std::vector<unsigned> askers(numItems, 0);
  for (unsigned r = 0; r < numReaders; ++r) {
    ArrayRef<unsigned> items = pool.getList(sharing.readers[r].second);
    for (unsigned x : left[r]) {
      int64_t &own = added[r * numItems + items[x]];
      askers[items[x]] += own >= kInf;
      own = std::min(own, byReader[x]);
    }
    byReader += items.size();
  }
  unsigned visited = 0;
  std::vector<unsigned> shareable;
  SmallVector<int64_t, 6> alone(numReaders);
  for (auto [i, h] : llvm::enumerate(hosts)) {
    const int64_t *row = prices.time.data() + h * numItems;
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
    SharedSet set{unsigned(i), {}, 0};
    // `paid`: for the items of the set.
    auto extend = [&](auto &self, size_t from, int64_t paid) -> bool {
      if (++visited > kMaxSets)
        return false;
      set.time = paid;
      SmallVector<int64_t, 6> own(alone);
      for (unsigned r = 0; r < numReaders; ++r) {
        for (unsigned item : set.items)
          own[r] = std::min(own[r], added[r * numItems + item]);
        set.time = own[r] >= kInf || set.time >= kInf ? kInf : set.time + own[r];
      }
      if (set.time <= slack)
        sets.push_back(set);
      size_t more = numReaders / 2 - set.items.size();
      if (more == 0)
        return true;
      // What one item more gains; several together gain at most the sum.
      SmallVector<std::pair<int64_t, size_t>> gains;
      SmallVector<int64_t> best;
      for (size_t k = from; k < shareable.size(); ++k) {
        int64_t gain = -row[shareable[k]];
        for (unsigned r = 0; r < numReaders && set.time < kInf; ++r)
          gain += std::max<int64_t>(own[r] - added[r * numItems + shareable[k]], 0);
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
    if (!extend(extend, 0, byHost[h]))
      return false;
  }
  return true;
}

/// A variable whose choices are sets: pairs with the host and with the readers cost the rest.
void DualAscent::addSharing(const Moved &moved, unsigned number, int64_t slack, Restricted &result,
                            TablePool &toPool) const {
  const Problem::Sharing &sharing = problem.sharings[number];
  Problem &to = result.problem;
  const Table &prices = pool.get(sharing.prices);
  size_t numItems = prices.size() / problem.sizes[sharing.host];
  ArrayRef<unsigned> hosts = result.kept[moved.sumOf[sharing.host]];
  SmallVector<ArrayRef<unsigned>, 6> left;
  for (auto [v, items] : sharing.readers)
    left.push_back(result.kept[moved.sumOf[v]]);
  std::vector<SharedSet> sets;
  if (!listSets(number, moved, slack, hosts, left, sets)) {
    result.isTooLarge = true;
    return;
  }
  if (sets.empty()) {
    result.impossible = true;
    return;
  }
  unsigned own = to.sizes.size();
  to.sizes.push_back(sets.size());
  Table unary, withHost;
  for (const SharedSet &set : sets)
    unary.time.push_back(set.time);
  for (unsigned h = 0; h < hosts.size(); ++h)
    for (const SharedSet &set : sets)
      withHost.time.push_back(set.host == h ? 0 : kInf);
  to.unary.push_back(toPool.intern(std::move(unary)));
  to.edges.push_back({sharing.host, own, toPool.intern(std::move(withHost))});
  const int64_t *byReader =
      moved.sharedShifts[moved.sharedOf[number]].data() + problem.sizes[sharing.host];
  for (auto [r, reader] : llvm::enumerate(sharing.readers)) {
    ArrayRef<unsigned> items = pool.getList(reader.second);
    // What the reader pays beside a set, less the least of that, which is in the set's own time.
    Table table;
    table.time.assign(left[r].size() * sets.size(), kInf);
    for (auto [i, set] : llvm::enumerate(sets)) {
      const int64_t *row = prices.time.data() + hosts[set.host] * numItems;
      auto getPaid = [&](unsigned x) {
        int64_t time = llvm::is_contained(set.items, items[x]) ? 0 : row[items[x]];
        return time >= kInf ? kInf : time + byReader[x];
      };
      int64_t least = kInf;
      for (unsigned x : left[r])
        least = std::min(least, getPaid(x));
      for (auto [k, x] : llvm::enumerate(left[r]))
        if (int64_t paid = getPaid(x); paid < kInf && paid - least <= slack)
          table.time[k * sets.size() + i] = paid - least;
    }
    byReader += items.size();
    TableId id = toPool.intern(std::move(table));
    auto mine = llvm::MutableArrayRef(to.edges).take_back(r + 1);
    auto known = llvm::find_if(mine, [&, v = reader.first](const Problem::Edge &edge) {
      return edge.b == own && edge.a == v;
    });
    if (known != mine.end())
      known->table = toPool.add(known->table, id);
    else
      to.edges.push_back({reader.first, own, id});
  }
}

bool DualAscent::isAtMost(const Moved &moved, int64_t slack, double most) const {
  std::vector<double> left;
  for (const auto &excess : moved.excess)
    left.push_back(llvm::count_if(excess, [&](int64_t e) { return e <= slack; }));
  double size = 0;
  llvm::SmallDenseSet<unsigned> counted; // equal pairs are made once
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (counted.insert(moved.pairOf[i]).second)
      size += left[moved.sumOf[edge.a]] * left[moved.sumOf[edge.b]];
  if (size > most || problem.sharings.empty())
    return size <= most;
  std::vector<std::vector<unsigned>> kept;
  for (const auto &excess : moved.excess) {
    auto &own = kept.emplace_back();
    for (unsigned x = 0; x < excess.size(); ++x)
      if (excess[x] <= slack)
        own.push_back(x);
  }
  llvm::SmallDenseSet<unsigned> countedShared;
  for (auto [i, sharing] : llvm::enumerate(problem.sharings)) {
    if (!countedShared.insert(moved.sharedOf[i]).second)
      continue;
    SmallVector<ArrayRef<unsigned>, 6> of;
    double choices = kept[moved.sumOf[sharing.host]].size();
    for (auto [v, items] : sharing.readers) {
      of.push_back(kept[moved.sumOf[v]]);
      choices += of.back().size();
    }
    std::vector<SharedSet> sets;
    if (!listSets(i, moved, slack, kept[moved.sumOf[sharing.host]], of, sets))
      return false;
    size += choices * sets.size();
    if (size > most)
      return false;
  }
  return true;
}

DualAscent::Restricted DualAscent::restrict(const Moved &moved, int64_t slack, bool withBytes,
                                            TablePool &toPool) const {
  Restricted result;
  for (const std::vector<int64_t> &excess : moved.excess) {
    auto &left = result.kept.emplace_back();
    for (unsigned x = 0; x < excess.size(); ++x)
      if (excess[x] <= slack)
        left.push_back(x);
    result.impossible |= left.empty();
  }
  if (!result.impossible)
    addTables(moved, slack, withBytes, result, toPool);
  return result;
}

DualAscent::Restricted DualAscent::restrictTo(ArrayRef<unsigned> solution, const Moved &moved, int64_t near,
                                              int64_t slack, TablePool &toPool) const {
  Restricted result;
  std::vector<std::vector<bool>> keep;
  for (const std::vector<int64_t> &excess : moved.excess) {
    keep.emplace_back();
    for (int64_t e : excess)
      keep.back().push_back(e <= near);
  }
  std::vector<SmallVector<unsigned, 4>> taken(solution.size());
  for (auto [v, x] : llvm::enumerate(solution))
    if (auto &own = taken[alikeOf[v]]; !llvm::is_contained(own, x))
      own.push_back(x);
  for (unsigned v = 0; v < solution.size(); ++v)
    for (unsigned x : taken[alikeOf[v]])
      keep[moved.sumOf[v]][x] = true;
  for (const std::vector<bool> &own : keep) {
    auto &left = result.kept.emplace_back();
    for (unsigned x = 0; x < own.size(); ++x)
      if (own[x])
        left.push_back(x);
  }
  addTables(moved, slack, /*withBytes=*/false, result, toPool);
  return result;
}

/// All but what is left of the choices.
void DualAscent::addTables(const Moved &moved, int64_t slack, bool withBytes, Restricted &result,
                           TablePool &toPool) const {
  unsigned n = problem.sizes.size();
  Problem &to = result.problem;
  to.constant = problem.constant;
  to.constant.time += moved.bound;
  result.keptOf = moved.sumOf;
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
  for (unsigned i = 0; i < problem.sharings.size() && !result.impossible && !result.isTooLarge; ++i)
    addSharing(moved, i, slack, result, toPool);
  llvm::sort(to.edges, [](const Problem::Edge &x, const Problem::Edge &y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
}
