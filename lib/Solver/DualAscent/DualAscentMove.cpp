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
                                            int64_t *__restrict rowMin, int64_t *__restrict columnMin) {
  for (size_t y = 0; y < columns; ++y)
    columnMin[y] = kInf;
  for (size_t x = 0; x < rows; ++x) {
    int64_t minimum = kInf, shift = byRow[x];
    const int64_t *row = table + x * columns;
    for (size_t y = 0; y < columns; ++y) {
      int64_t pair = row[y] >= kInf ? kInf : row[y] + shift + byColumn[y];
      minimum = pair < minimum ? pair : minimum;
      columnMin[y] = pair < columnMin[y] ? pair : columnMin[y];
    }
    rowMin[x] = minimum;
  }
}

/// The same for sharings; `give` by entries of `ownOf`. `allLeasts`: what each choice of a member costs
/// there at least, less the least of all, by entries of `sharedOf`. False if one is impossible.
bool DualAscent::moveSharings(ArrayRef<std::vector<int64_t>> give, Moved &result,
                              std::vector<std::vector<int64_t>> &allMinima) const {
  SequenceMap sharings;
  SmallVector<unsigned, 32> key;
  std::vector<unsigned> firsts; // that are equal to none before
  for (auto [i, sharing] : llvm::enumerate(problem.sharings)) {
    unsigned earliest = getEarliest(sharing);
    key.assign({sharing.prices});
    for (unsigned slot = 0; slot <= sharing.readers.size(); ++slot) {
      unsigned v = getMember(sharing, slot);
      size_t message = sharedAt[i][slot];
      key.append({result.unaryOf[v], position[v] > earliest, unsigned(message), unsigned(message >> 32)});
      if (slot > 0)
        key.push_back(sharing.readers[slot - 1].second);
    }
    auto [number, isNew] = sharings.insert(key);
    result.sharedOf.push_back(number);
    if (isNew)
      firsts.push_back(i);
  }
  result.sharedShifts.resize(firsts.size());
  allMinima.resize(firsts.size());
  std::vector<int64_t> minOfShared(firsts.size());
  llvm::parallelFor(0, firsts.size(), [&](size_t number) {
    std::tie(result.sharedShifts[number], allMinima[number], minOfShared[number]) =
        moveSharing(firsts[number], give, result.unaryOf);
  });
  if (llvm::any_of(minOfShared, [](int64_t minimum) { return minimum >= kInf / 2; }))
    return false;
  for (unsigned number : result.sharedOf)
    result.bound += minOfShared[number];
  return true;
}

std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>
DualAscent::moveSharing(unsigned i, ArrayRef<std::vector<int64_t>> give, ArrayRef<unsigned> unaryOf) const {
  const Problem::Sharing &sharing = problem.sharings[i];
  unsigned earliest = getEarliest(sharing);
  std::vector<int64_t> shifts;
  size_t numHosts = problem.sizes[sharing.host], numItems = pool.get(sharing.prices).size() / numHosts;
  SharingSums<int64_t> sums(pool.get(sharing.prices).time.data(), pool.get(byItem[i]).time.data(), numHosts, numItems,
                            sharing.readers.size(), kInf);
  for (unsigned slot = 0; slot <= sharing.readers.size(); ++slot) {
    unsigned v = getMember(sharing, slot);
    for (unsigned x = 0; x < problem.sizes[v]; ++x)
      shifts.push_back((position[v] > earliest ? give[unaryOf[v]][x] : 0) -
                       int64_t(std::floor(received[sharedAt[i][slot] + x])));
  }
  std::copy(shifts.begin(), shifts.begin() + numHosts, sums.getHost());
  const int64_t *at = shifts.data() + numHosts;
  for (unsigned r = 0; r < sharing.readers.size(); ++r) {
    int64_t *itemTimes = sums.getItems(r);
    std::fill(itemTimes, itemTimes + numItems, kInf);
    for (unsigned item : pool.getList(sharing.readers[r].second)) {
      itemTimes[item] = std::min(itemTimes[item], *at);
      ++at;
    }
  }
  sums.prepare();
  std::vector<int64_t> minima(numHosts);
  sums.getHostSums(minima.data());
  int64_t minimum = *llvm::min_element(minima);
  at = shifts.data() + numHosts;
  std::vector<int64_t> byItem(numItems);
  for (unsigned r = 0; r < sharing.readers.size(); ++r) {
    sums.getItemSums(r, byItem.data());
    for (unsigned item : pool.getList(sharing.readers[r].second)) {
      minima.push_back(byItem[item] >= kInf / 2 ? kInf : byItem[item] + *at - minimum);
      ++at;
    }
  }
  for (size_t h = 0; h < numHosts; ++h) {
    minima[h] = minima[h] >= kInf / 2 ? kInf : minima[h] - minimum;
    shifts[h] -= minimum;
  }
  return {std::move(shifts), std::move(minima), minimum};
}

int64_t MovedCosts::getNear(int64_t maximum, unsigned choices) const {
  auto isMore = [&] {
    size_t count = 0;
    for (const auto &list : excess)
      count += llvm::count_if(list, [&](int64_t e) { return e <= maximum; });
    return count > choices * excess.size();
  };
  while (maximum > 0 && isMore())
    maximum /= 2;
  return maximum;
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
  std::vector<int64_t> minima;
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
    result.unaryOf.push_back(number);
    if (isNew) {
      std::vector<int64_t> unary(size, 0);
      if (tables[v] != kNoTable)
        llvm::copy(pool.get(tables[v]).time, unary.begin());
      for (const Link &link : around)
        for (unsigned x = 0; x < size; ++x)
          if (unary[x] < kInf)
            unary[x] += getMessage(link.message + x);
      for (const Member &member : getMembers(v)) {
        for (unsigned x = 0; x < size; ++x)
          if (unary[x] < kInf)
            unary[x] += int64_t(std::floor(received[member.message + x]));
      }
      int64_t ahead = backwardCount[v], behind = forwardCount[v];
      int64_t share = std::max<int64_t>({ahead, behind, 1});
      int64_t minimum = kInf;
      std::vector<int64_t> &given = give.emplace_back(size, 0);
      for (unsigned x = 0; x < size; ++x) {
        if (unary[x] >= kInf)
          continue;
        given[x] = unary[x] / share;
        unary[x] -= given[x] * ahead;
        minimum = std::min(minimum, unary[x]);
      }
      if (minimum >= kInf) {
        result.impossible = true;
        return result;
      }
      for (int64_t &x : unary)
        if (x < kInf)
          x -= minimum;
      minima.push_back(minimum);
      result.unary.push_back(std::move(unary));
    }
    result.bound += minima[number];
  }

  // Pairs between equal variables with equal messages are equal.
  std::vector<std::array<size_t, 2>> arriving(problem.edges.size()); // by a, by b
  for (unsigned v = 0; v < n; ++v)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      arriving[links[l].edge][problem.edges[links[l].edge].a != v] = links[l].message;
  SequenceMap pairs;
  std::vector<std::vector<int64_t>> rowMinima, columnMinima;
  std::vector<int64_t> pairMinima;
  result.pairOf.reserve(problem.edges.size());
  for (auto [i, edge] : llvm::enumerate(problem.edges)) {
    size_t toA = arriving[i][0], toB = arriving[i][1];
    bool aGives = position[edge.a] > position[edge.b];
    unsigned a = result.unaryOf[edge.a], b = result.unaryOf[edge.b];
    key.assign({tables[n + i], a, b, unsigned(toA), unsigned(toA >> 32), unsigned(toB), unsigned(toB >> 32), aGives});
    auto [pair, isNew] = pairs.insert(key);
    result.pairOf.push_back(pair);
    if (!isNew) {
      result.bound += pairMinima[pair];
      continue;
    }
    unsigned sa = problem.sizes[edge.a], sb = problem.sizes[edge.b];
    std::vector<int64_t> &shifts = result.shifts.emplace_back(sa + sb);
    int64_t *byRow = shifts.data(), *byColumn = byRow + sa;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] = (aGives ? give[a][x] : 0) - getMessage(toA + x);
    for (unsigned y = 0; y < sb; ++y)
      byColumn[y] = (aGives ? 0 : give[b][y]) - getMessage(toB + y);
    std::vector<int64_t> &rowMin = rowMinima.emplace_back(sa);
    std::vector<int64_t> &columnMin = columnMinima.emplace_back(sb);
    minimizeShifted(pool.get(tables[n + i]).time.data(), byRow, byColumn, sa, sb, rowMin.data(), columnMin.data());
    int64_t minimum = *llvm::min_element(rowMin);
    if (minimum >= kInf) {
      result.impossible = true;
      return result;
    }
    pairMinima.push_back(minimum);
    result.bound += minimum;
    for (unsigned x = 0; x < sa; ++x)
      byRow[x] -= minimum;
    for (int64_t &x : rowMin)
      x = x >= kInf ? kInf : x - minimum;
    for (int64_t &y : columnMin)
      y = y >= kInf ? kInf : y - minimum;
  }

  std::vector<std::vector<int64_t>> sharedMinima;
  if (!moveSharings(give, result, sharedMinima)) {
    result.impossible = true;
    return result;
  }

  SequenceMap sums;
  for (unsigned v = 0; v < n; ++v) {
    key.assign({result.unaryOf[v]});
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      key.push_back(2 * result.pairOf[links[l].edge] + (problem.edges[links[l].edge].a != v));
    size_t numLinks = key.size();
    for (const Member &member : getMembers(v))
      key.append({result.sharedOf[member.sharing], member.slot});
    auto [sum, isNew] = sums.insert(key);
    result.sumOf.push_back(sum);
    if (!isNew)
      continue;
    std::vector<int64_t> excess = result.unary[result.unaryOf[v]];
    auto add = [&](const int64_t *minimum) {
      for (auto [x, to] : llvm::enumerate(excess))
        to = minimum[x] >= kInf || to >= kInf ? kInf : to + minimum[x];
    };
    for (unsigned pair : ArrayRef(key).slice(1, numLinks - 1))
      add((pair % 2 ? columnMinima : rowMinima)[pair / 2].data());
    // The minimum of a sharing counts once, also if `v` is several of its readers.
    std::map<unsigned, std::vector<int64_t>> ofSharing;
    for (const Member &member : getMembers(v)) {
      const int64_t *minimum = sharedMinima[result.sharedOf[member.sharing]].data() + getOffset(member);
      std::vector<int64_t> &maximum = ofSharing[member.sharing];
      maximum.resize(excess.size(), 0);
      for (auto [x, to] : llvm::enumerate(maximum))
        to = std::max(to, minimum[x]);
    }
    for (auto &[sharing, minimum] : ofSharing)
      add(minimum.data());
    result.excess.push_back(std::move(excess));
  }
  return result;
}
