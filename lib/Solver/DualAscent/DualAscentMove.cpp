//===- DualAscentMove.cpp - What costs that are moved prove ---------------===//

#include "../Support/Vectorize.h"
#include "DualAscent.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <array>
#include <cmath>
#include <map>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

SHARDKIT_CLONES static void minimizeShifted(const int64_t *__restrict table, const int64_t *__restrict byRow,
                                            const int64_t *__restrict byColumn, size_t rows, size_t columns,
                                            int64_t *__restrict rowLeast, int64_t *__restrict columnLeast) {
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

/// The same for sharings; `give` by entries of `ownOf`. `allLeasts`: what each choice of a member costs
/// there at least, less the least of all, by entries of `sharedOf`. False if one is impossible.
bool DualAscent::moveSharings(ArrayRef<std::vector<int64_t>> give, Moved &result,
                              std::vector<std::vector<int64_t>> &allLeasts) const {
  SequenceMap sharings;
  SmallVector<unsigned, 32> key;
  std::vector<unsigned> firsts; // that are equal to none before
  for (auto [i, sharing] : llvm::enumerate(problem.sharings)) {
    unsigned earliest = getEarliest(sharing);
    key.assign({sharing.prices});
    for (unsigned place = 0; place <= sharing.readers.size(); ++place) {
      unsigned v = getMember(sharing, place);
      size_t message = sharedAt[i][place];
      key.append({result.ownOf[v], position[v] > earliest, unsigned(message), unsigned(message >> 32)});
      if (place > 0)
        key.push_back(sharing.readers[place - 1].second);
    }
    auto [number, isNew] = sharings.insert(key);
    result.sharedOf.push_back(number);
    if (isNew)
      firsts.push_back(i);
  }
  result.sharedShifts.resize(firsts.size());
  allLeasts.resize(firsts.size());
  std::vector<int64_t> leastOfShared(firsts.size());
  llvm::parallelFor(0, firsts.size(), [&](size_t number) {
    std::tie(result.sharedShifts[number], allLeasts[number], leastOfShared[number]) =
        moveSharing(firsts[number], give, result.ownOf);
  });
  if (llvm::any_of(leastOfShared, [](int64_t least) { return least >= kInf / 2; }))
    return false;
  for (unsigned number : result.sharedOf)
    result.bound += leastOfShared[number];
  return true;
}

std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>
DualAscent::moveSharing(unsigned i, ArrayRef<std::vector<int64_t>> give, ArrayRef<unsigned> ownOf) const {
  const Problem::Sharing &sharing = problem.sharings[i];
  unsigned earliest = getEarliest(sharing);
  std::vector<int64_t> shifts;
  size_t numHosts = problem.sizes[sharing.host], numItems = pool.get(sharing.prices).size() / numHosts;
  SharingSums<int64_t> sums(pool.get(sharing.prices).time.data(), pool.get(byItem[i]).time.data(), numHosts, numItems,
                            sharing.readers.size(), kInf);
  for (unsigned place = 0; place <= sharing.readers.size(); ++place) {
    unsigned v = getMember(sharing, place);
    for (unsigned x = 0; x < problem.sizes[v]; ++x)
      shifts.push_back((position[v] > earliest ? give[ownOf[v]][x] : 0) -
                       int64_t(std::floor(received[sharedAt[i][place] + x])));
  }
  std::copy(shifts.begin(), shifts.begin() + numHosts, sums.getHost());
  const int64_t *at = shifts.data() + numHosts;
  for (unsigned r = 0; r < sharing.readers.size(); ++r) {
    int64_t *own = sums.getItems(r);
    std::fill(own, own + numItems, kInf);
    for (unsigned item : pool.getList(sharing.readers[r].second)) {
      own[item] = std::min(own[item], *at);
      ++at;
    }
  }
  sums.prepare();
  std::vector<int64_t> leasts(numHosts);
  sums.getHostSums(leasts.data());
  int64_t least = *llvm::min_element(leasts);
  at = shifts.data() + numHosts;
  std::vector<int64_t> byItem(numItems);
  for (unsigned r = 0; r < sharing.readers.size(); ++r) {
    sums.getItemSums(r, byItem.data());
    for (unsigned item : pool.getList(sharing.readers[r].second)) {
      leasts.push_back(byItem[item] >= kInf / 2 ? kInf : byItem[item] + *at - least);
      ++at;
    }
  }
  for (size_t h = 0; h < numHosts; ++h) {
    leasts[h] = leasts[h] >= kInf / 2 ? kInf : leasts[h] - least;
    shifts[h] -= least;
  }
  return {std::move(shifts), std::move(leasts), least};
}

int64_t DualAscent::Moved::getNear(int64_t most, unsigned choices) const {
  auto isMore = [&] {
    size_t count = 0;
    for (const auto &own : excess)
      count += llvm::count_if(own, [&](int64_t e) { return e <= most; });
    return count > choices * excess.size();
  };
  while (most > 0 && isMore())
    most /= 2;
  return most;
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
    for (const Member &member : getMembers(v))
      key.append({member.hasEarlier, unsigned(member.message), unsigned(member.message >> 32)});
    auto [number, isNew] = owns.insert(key);
    result.ownOf.push_back(number);
    if (isNew) {
      std::vector<int64_t> own(size, 0);
      if (tables[v] != kNoTable)
        llvm::copy(pool.get(tables[v]).time, own.begin());
      for (const Link &link : around)
        for (unsigned x = 0; x < size; ++x)
          if (own[x] < kInf)
            own[x] += getMessage(link.message + x);
      for (const Member &member : getMembers(v)) {
        for (unsigned x = 0; x < size; ++x)
          if (own[x] < kInf)
            own[x] += int64_t(std::floor(received[member.message + x]));
      }
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
  std::vector<std::array<size_t, 2>> arriving(problem.edges.size()); // by a, by b
  for (unsigned v = 0; v < n; ++v)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      arriving[links[l].edge][problem.edges[links[l].edge].a != v] = links[l].message;
  SequenceMap pairs;
  std::vector<std::vector<int64_t>> rowLeasts, columnLeasts;
  std::vector<int64_t> pairLeasts;
  result.pairOf.reserve(problem.edges.size());
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    size_t toA = arriving[i][0], toB = arriving[i][1];
    bool aGives = position[edge.a] > position[edge.b];
    unsigned a = result.ownOf[edge.a], b = result.ownOf[edge.b];
    key.assign({tables[n + i], a, b, unsigned(toA), unsigned(toA >> 32), unsigned(toB), unsigned(toB >> 32), aGives});
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
    minimizeShifted(pool.get(tables[n + i]).time.data(), byRow, byColumn, sa, sb, rowLeast.data(), columnLeast.data());
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

  std::vector<std::vector<int64_t>> sharedLeasts;
  if (!moveSharings(give, result, sharedLeasts)) {
    result.impossible = true;
    return result;
  }

  SequenceMap sums;
  for (unsigned v = 0; v < n; ++v) {
    key.assign({result.ownOf[v]});
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      key.push_back(2 * result.pairOf[links[l].edge] + (problem.edges[links[l].edge].a != v));
    size_t numLinks = key.size();
    for (const Member &member : getMembers(v))
      key.append({result.sharedOf[member.sharing], member.place});
    auto [sum, isNew] = sums.insert(key);
    result.sumOf.push_back(sum);
    if (!isNew)
      continue;
    std::vector<int64_t> excess = result.own[result.ownOf[v]];
    auto add = [&](const int64_t *least) {
      for (auto [x, to] : llvm::enumerate(excess))
        to = least[x] >= kInf || to >= kInf ? kInf : to + least[x];
    };
    for (unsigned pair : ArrayRef(key).slice(1, numLinks - 1))
      add((pair % 2 ? columnLeasts : rowLeasts)[pair / 2].data());
    // What one sharing costs at least counts once, also where `v` is several of its readers.
    std::map<unsigned, std::vector<int64_t>> ofSharing;
    for (const Member &member : getMembers(v)) {
      const int64_t *least = sharedLeasts[result.sharedOf[member.sharing]].data() + getOffset(member);
      std::vector<int64_t> &most = ofSharing[member.sharing];
      most.resize(excess.size(), 0);
      for (auto [x, to] : llvm::enumerate(most))
        to = std::max(to, least[x]);
    }
    for (auto &[sharing, least] : ofSharing)
      add(least.data());
    result.excess.push_back(std::move(excess));
  }
  return result;
}
