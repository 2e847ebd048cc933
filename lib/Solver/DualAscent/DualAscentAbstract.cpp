//===- DualAscentAbstract.cpp - Choices taken together --------------------===//

#include "DualAscent.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

void DualAscent::Groups::split(ArrayRef<unsigned> choices) {
  llvm::SmallDenseMap<unsigned, unsigned, 4> to;
  for (unsigned choice : choices) {
    llvm::erase(members[of[choice]], choice);
    add(choice, to.try_emplace(of[choice], members.size()).first->second);
  }
}

DualAscent::Restricted DualAscent::abstract(ArrayRef<Groups> groups, const Moved &moved, int64_t slack, bool withBytes,
                                            TablePool &toPool) const {
  assert(problem.sharings.empty() && "sets of what is shared are listed choice by choice");
  Restricted result;
  for (auto [from, excess] : llvm::zip_equal(groups, moved.excess)) {
    Groups &own = result.groups.emplace_back();
    own.of.assign(excess.size(), Groups::kNone);
    for (const auto &members : from.members) {
      unsigned group = own.members.size();
      for (unsigned x : members)
        if (excess[x] <= slack)
          own.add(x, group);
    }
    result.impossible |= own.members.empty();
  }
  if (!result.impossible)
    addTables(moved, slack, withBytes, result, toPool);
  return result;
}

namespace {
/// What choices cost, term by term; a group of them costs the least of each.
struct Terms {
  std::vector<std::vector<int64_t>> times; // by term, by choice

  static int64_t add(int64_t x, int64_t y) { return x >= kInf || y >= kInf ? kInf : x + y; }
  int64_t getSum(unsigned choice) const {
    int64_t sum = 0;
    for (auto &term : times)
      sum = add(sum, term[choice]);
    return sum;
  }
  /// What the first choices cost together, for any number of them; `sums[k]` is without choice k.
  void getGroupSums(ArrayRef<unsigned> choices, SmallVectorImpl<int64_t> &sums) const {
    SmallVector<int64_t, 8> least(times.size(), kInf);
    sums.clear();
    for (unsigned choice : choices) {
      int64_t sum = 0;
      for (auto [own, term] : llvm::zip_equal(least, times)) {
        sum = add(sum, own);
        own = std::min(own, term[choice]);
      }
      sums.push_back(sum);
    }
    sums.push_back(std::accumulate(least.begin(), least.end(), int64_t(0), add));
  }
  /// Those that cost more than others in one term, such that both parts cost as much as possible; none if no cut
  /// gains anything.
  SmallVector<unsigned, 32> findCut(SmallVector<unsigned, 32> choices) const {
    SmallVector<unsigned, 32> high;
    SmallVector<int64_t, 32> low, rest;
    getGroupSums(choices, low);
    int64_t most = low.back();
    for (auto &term : times) {
      llvm::sort(choices, [&](unsigned x, unsigned y) { return std::pair(term[x], x) < std::pair(term[y], y); });
      getGroupSums(choices, low);
      std::reverse(choices.begin(), choices.end());
      getGroupSums(choices, rest);
      std::reverse(choices.begin(), choices.end());
      for (size_t k = 1; k < choices.size(); ++k) {
        int64_t cost = std::min(low[k], rest[choices.size() - k]);
        if (term[choices[k - 1]] == term[choices[k]] || cost <= most)
          continue;
        most = cost;
        high.assign(choices.begin() + k, choices.end());
      }
    }
    return high;
  }
};
} // namespace

bool DualAscent::split(ArrayRef<unsigned> solution, const Restricted &abstracted, const Moved &moved,
                       llvm::MutableArrayRef<Groups> groups) const {
  bool isAny = false;
  // Variables that look alike among groups that are alike ask for the same.
  SequenceMap asked;
  SmallVector<unsigned, 32> key;
  for (unsigned v = 0; v < problem.sizes.size(); ++v) {
    const Groups &own = abstracted.groups[moved.sumOf[v]];
    ArrayRef<unsigned> members = own.members[solution[v]];
    if (members.size() == 1)
      continue;
    isAny = true;
    ArrayRef<Link> around = ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]);
    key.assign({moved.sumOf[v], solution[v]});
    for (const Link &link : around)
      key.append({moved.sumOf[link.to], solution[link.to]});
    if (!asked.insert(key).second)
      continue;
    // What a variable's own choices cost, and each pair with the groups around it.
    Terms terms;
    auto &first = terms.times.emplace_back();
    for (unsigned x : members)
      first.push_back(moved.own[moved.ownOf[v]][x]);
    for (const Link &link : around) {
      const Table &table = pool.get(getTableFrom(v, link));
      const Groups &other = abstracted.groups[moved.sumOf[link.to]];
      const int64_t *byOwn = moved.shifts[moved.pairOf[link.edge]].data(), *byOther = byOwn + own.of.size();
      if (problem.edges[link.edge].a != v) {
        byOther = byOwn;
        byOwn += other.of.size();
      }
      auto &term = terms.times.emplace_back();
      for (unsigned x : members) {
        int64_t &least = term.emplace_back(kInf);
        for (unsigned y : other.members[solution[link.to]])
          if (int64_t time = table.time[size_t(x) * other.of.size() + y]; time < kInf)
            least = std::min(least, time + byOwn[x] + byOther[y]);
      }
    }
    // The one that would be the best by itself becomes a group, the others are cut.
    unsigned best = 0;
    for (unsigned i = 1; i < members.size(); ++i)
      if (terms.getSum(i) < terms.getSum(best))
        best = i;
    SmallVector<unsigned, 32> others, high;
    for (unsigned i = 0; i < members.size(); ++i)
      if (i != best)
        others.push_back(i);
    high = terms.findCut(others);
    Groups &now = groups[moved.sumOf[v]];
    if (now.members[now.of[members[best]]].size() > 1)
      now.split(members[best]);
    // They may have been split for others of the class.
    llvm::SmallDenseSet<unsigned, 8> low;
    for (unsigned i : others)
      if (!llvm::is_contained(high, i))
        low.insert(now.of[members[i]]);
    llvm::erase_if(high, [&](unsigned i) { return !low.contains(now.of[members[i]]); });
    for (unsigned &i : high)
      i = members[i];
    now.split(high);
  }
  return isAny;
}
