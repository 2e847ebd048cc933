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

void ChoiceGroups::split(ArrayRef<unsigned> choices) {
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
    Groups &grouping = result.groups.emplace_back();
    grouping.of.assign(excess.size(), Groups::kNone);
    for (const auto &members : from.members) {
      unsigned group = grouping.members.size();
      for (unsigned x : members)
        if (excess[x] <= slack)
          grouping.add(x, group);
    }
    result.impossible |= grouping.members.empty();
  }
  if (!result.impossible)
    addTables(moved, slack, withBytes, result, toPool);
  return result;
}

namespace {
/// Costs of choices, term by term; a group of choices has the minimum of each term.
struct Terms {
  std::vector<std::vector<int64_t>> times; // by term, by choice

  static int64_t add(int64_t x, int64_t y) { return x >= kInf || y >= kInf ? kInf : x + y; }
  int64_t getSum(unsigned choice) const {
    int64_t sum = 0;
    for (auto &term : times)
      sum = add(sum, term[choice]);
    return sum;
  }
  /// The costs of the first k choices as a group, for each k; `sums[k]` is without choice k.
  void getGroupSums(ArrayRef<unsigned> choices, SmallVectorImpl<int64_t> &sums) const {
    SmallVector<int64_t, 8> minimum(times.size(), kInf);
    sums.clear();
    for (unsigned choice : choices) {
      int64_t sum = 0;
      for (auto [minTime, term] : llvm::zip_equal(minimum, times)) {
        sum = add(sum, minTime);
        minTime = std::min(minTime, term[choice]);
      }
      sums.push_back(sum);
    }
    sums.push_back(std::accumulate(minimum.begin(), minimum.end(), int64_t(0), add));
  }
  /// The choices that cost more than others in one term, such that both groups cost as much as possible; none if no
  /// split gains anything.
  SmallVector<unsigned, 32> findSplit(SmallVector<unsigned, 32> choices) const {
    SmallVector<unsigned, 32> high;
    SmallVector<int64_t, 32> low, rest;
    getGroupSums(choices, low);
    int64_t maximum = low.back();
    for (auto &term : times) {
      llvm::sort(choices, [&](unsigned x, unsigned y) { return std::pair(term[x], x) < std::pair(term[y], y); });
      getGroupSums(choices, low);
      std::reverse(choices.begin(), choices.end());
      getGroupSums(choices, rest);
      std::reverse(choices.begin(), choices.end());
      for (size_t k = 1; k < choices.size(); ++k) {
        int64_t cost = std::min(low[k], rest[choices.size() - k]);
        if (term[choices[k - 1]] == term[choices[k]] || cost <= maximum)
          continue;
        maximum = cost;
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
  // Equal variables among equal groups have equal requests.
  SequenceMap asked;
  SmallVector<unsigned, 32> key;
  for (unsigned v = 0; v < problem.sizes.size(); ++v) {
    const Groups &grouping = abstracted.groups[moved.sumOf[v]];
    ArrayRef<unsigned> members = grouping.members[solution[v]];
    if (members.size() == 1)
      continue;
    isAny = true;
    ArrayRef<Link> around = ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]);
    key.assign({moved.sumOf[v], solution[v]});
    for (const Link &link : around)
      key.append({moved.sumOf[link.to], solution[link.to]});
    if (!asked.insert(key).second)
      continue;
    // The costs of the choices of a variable, and of each pair with a neighboring group.
    Terms terms;
    auto &first = terms.times.emplace_back();
    for (unsigned x : members)
      first.push_back(moved.unary[moved.unaryOf[v]][x]);
    for (const Link &link : around) {
      const Table &table = pool.get(getTableFrom(v, link));
      const Groups &other = abstracted.groups[moved.sumOf[link.to]];
      const int64_t *byMember = moved.shifts[moved.pairOf[link.edge]].data(), *byOther = byMember + grouping.of.size();
      if (problem.edges[link.edge].a != v) {
        byOther = byMember;
        byMember += other.of.size();
      }
      auto &term = terms.times.emplace_back();
      for (unsigned x : members) {
        int64_t &minimum = term.emplace_back(kInf);
        for (unsigned y : other.members[solution[link.to]])
          if (int64_t time = table.time[size_t(x) * other.of.size() + y]; time < kInf)
            minimum = std::min(minimum, time + byMember[x] + byOther[y]);
      }
    }
    // The best single choice becomes a group, the others are split.
    unsigned best = 0;
    for (unsigned i = 1; i < members.size(); ++i)
      if (terms.getSum(i) < terms.getSum(best))
        best = i;
    SmallVector<unsigned, 32> others, high;
    for (unsigned i = 0; i < members.size(); ++i)
      if (i != best)
        others.push_back(i);
    high = terms.findSplit(others);
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
