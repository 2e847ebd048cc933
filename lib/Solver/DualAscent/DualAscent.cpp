//===- DualAscent.cpp - A lower bound by moving costs about ---------------===//

#include "DualAscent.h"
#include "../Support/Vectorize.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Parallel.h"
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

using namespace mlir::spmd;
using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Passes over so many entries run on several threads.
static constexpr double kManyEntries = 1 << 20;

DualAscent::DualAscent(const Problem &problem, ArrayRef<unsigned> order, TablePool &pool, const Clock &clock)
    : problem(problem), pool(pool), clock(clock), order(order) {
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
  std::vector<SmallVector<Member, 2>> memberOf(n);
  for (auto [i, sharing] : llvm::enumerate(problem.sharings)) {
    unsigned first = ~0u, last = 0;
    for (unsigned slot = 0; slot <= sharing.readers.size(); ++slot) {
      first = std::min(first, position[getMember(sharing, slot)]);
      last = std::max(last, position[getMember(sharing, slot)]);
    }
    for (unsigned slot = 0; slot <= sharing.readers.size(); ++slot) {
      unsigned v = getMember(sharing, slot);
      memberOf[v].push_back({unsigned(i), slot, position[v]<last, position[v]> first});
    }
  }
  memberBegin.push_back(0);
  for (unsigned v = 0; v < n; ++v) {
    for (const Member &member : memberOf[v]) {
      forwardCount[v] += member.hasLater;
      backwardCount[v] += member.hasEarlier;
    }
    members.insert(members.end(), memberOf[v].begin(), memberOf[v].end());
    memberBegin.push_back(members.size());
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
  byItem.clear();
  for (const Problem::Sharing &sharing : problem.sharings) {
    unsigned numHosts = problem.sizes[sharing.host];
    byItem.push_back(pool.transpose(sharing.prices, numHosts, pool.get(sharing.prices).size() / numHosts));
  }
  group();
}

bool DualAscent::refine() {
  if (finest)
    return false;
  // The influence of distance on messages is far from exponential: a slightly larger radius would not help for long.
  tellsAllApart = true;
  group();
  return true;
}

void DualAscent::restart() {
  refine();
  for (std::vector<Real> *all : {&messages, &received, &sent})
    std::fill(all->begin(), all->end(), 0);
}

void DualAscent::countEntries() {
  passEntries = 0;
  for (unsigned v : visited)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      passEntries += double(problem.sizes[v]) * problem.sizes[links[l].to];
  llvm::SmallDenseSet<size_t> counted;
  for (auto [i, sharing] : llvm::enumerate(problem.sharings))
    if (counted.insert(sharedAt[i][0]).second)
      passEntries += double(pool.get(sharing.prices).size()) * sharing.readers.size() * (1 << sharing.readers.size());
}

void DualAscent::group() {
  unsigned n = problem.sizes.size();
  finest = false;
  // The neighborhood of a variable, with a radius that grows each round; equal ones have equal numbers.
  std::vector<unsigned> colors(n), next(n);
  SmallVector<std::array<unsigned, 4>, 8> around; // forward, table, colour, which link
  auto sortAround = [&](unsigned v) {
    around.clear();
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      around.push_back({links[l].forward, getTableFrom(v, links[l]), colors[links[l].to], l});
    llvm::sort(around);
  };
  // Sharings by their tables and members.
  auto getSharedKey = [&](const Problem::Sharing &sharing) {
    SmallVector<unsigned, 24> key{sharing.prices, colors[sharing.host]};
    for (auto [v, items] : sharing.readers)
      key.append({items, colors[v]});
    return key;
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
    std::vector<Member> sortedMembers;
    sortedMembers.reserve(members.size());
    unsigned before = count;
    count = color([&](unsigned v) {
      sortAround(v);
      key.push_back(colors[v]);
      for (auto &entry : around)
        key.append({entry[0], entry[1], entry[2]});
      for (auto &entry : around)
        sorted.push_back(links[entry[3]]);
      SmallVector<std::pair<SmallVector<unsigned, 24>, Member>, 2> shared;
      for (const Member &member : getMembers(v)) {
        shared.push_back({getSharedKey(problem.sharings[member.sharing]), member});
        shared.back().first.append({member.slot, member.hasLater, member.hasEarlier});
      }
      llvm::stable_sort(shared, llvm::less_first());
      for (auto &[memberKey, member] : shared) {
        key.push_back(kNoVar);
        key.append(memberKey.begin(), memberKey.end());
        sortedMembers.push_back(member);
      }
    });
    links.swap(sorted);
    members.swap(sortedMembers);
    last = count == before || rounds + 1 >= kRadius;
    // With hardly any equal variables there is no benefit.
    if (count > n / 2 || tellsAllApart) {
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
  // The one in the middle stands for all of a class: the first one has others around it than most.
  std::vector<unsigned> middle(count, kNoVar), size(count, 0), seen(count, 0);
  for (unsigned v : order)
    ++size[colors[v]];
  visited.clear();
  for (unsigned v : order)
    if (seen[colors[v]]++ == size[colors[v]] / 2) {
      middle[colors[v]] = v;
      visited.push_back(v);
    }
  classOf.resize(n);
  for (unsigned v = 0; v < n; ++v)
    classOf[v] = middle[colors[v]];
  if (alikeOf.empty())
    alikeOf = classOf;
  // Messages that a variable sends are those of the one that stands for it.
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
  std::vector<std::array<size_t, 2>> firstMessage(problem.edges.size()); // by a, by b
  for (unsigned v = 0; v < n; ++v)
    for (unsigned i = 0, e = linkBegin[v + 1] - linkBegin[v]; i < e; ++i) {
      Link &link = links[linkBegin[v] + i];
      link.back = links[linkBegin[classOf[v]] + i].back;
      firstMessage[link.edge][problem.edges[link.edge].a != v] = link.back;
    }
  // The same for messages to and from sharings.
  std::vector<Real> oldReceived = std::move(received), oldSent = std::move(sent);
  received.clear();
  sent.clear();
  for (unsigned v : visited)
    for (Member &member : llvm::MutableArrayRef(members).slice(memberBegin[v], memberBegin[v + 1] - memberBegin[v])) {
      size_t from = std::exchange(member.message, received.size()), to = received.size() + problem.sizes[v];
      received.resize(to, 0);
      sent.resize(to, 0);
      if (oldReceived.empty())
        continue;
      std::copy_n(oldReceived.begin() + from, problem.sizes[v], received.begin() + member.message);
      std::copy_n(oldSent.begin() + from, problem.sizes[v], sent.begin() + member.message);
    }
  sharedAt.resize(problem.sharings.size());
  for (auto [at, sharing] : llvm::zip(sharedAt, problem.sharings))
    at.resize(sharing.readers.size() + 1);
  for (unsigned v = 0; v < n; ++v)
    for (unsigned i = memberBegin[v]; i < memberBegin[v + 1]; ++i) {
      members[i].message = members[memberBegin[classOf[v]] + i - memberBegin[v]].message;
      sharedAt[members[i].sharing][members[i].slot] = members[i].message;
    }
  for (unsigned v = 0; v < n; ++v)
    for (unsigned l = linkBegin[v]; l < linkBegin[v + 1]; ++l)
      links[l].message = firstMessage[links[l].edge][problem.edges[links[l].edge].a == v];
  countEntries();
  isScheduled = false;
}

using Real = DualAscent::Real;

void DualAscent::getSharedSums(const Member &member, llvm::function_ref<std::optional<unsigned>(unsigned)> getFixed,
                               Real *sumOfChoice) const {
  const Problem::Sharing &sharing = problem.sharings[member.sharing];
  ArrayRef<size_t> at = sharedAt[member.sharing];
  size_t numHosts = problem.sizes[sharing.host], numItems = pool.get(sharing.prices).size() / numHosts;
  SharingSums<Real> sums(getTable(sharing.prices), getTable(byItem[member.sharing]), numHosts, numItems,
                         sharing.readers.size(), big);
  auto getLeft = [&](unsigned slot, unsigned x) { return sent[at[slot] + x] - received[at[slot] + x]; };
  Real *host = sums.getHost();
  if (member.slot == 0) {
    std::fill(host, host + numHosts, 0);
  } else if (auto fixed = getFixed(sharing.host)) {
    std::fill(host, host + numHosts, big);
    host[*fixed] = 0;
  } else {
    for (size_t h = 0; h < numHosts; ++h)
      host[h] = getLeft(0, h);
  }
  for (auto [r, reader] : llvm::enumerate(sharing.readers)) {
    ArrayRef<unsigned> items = pool.getList(reader.second);
    Real *itemTimes = sums.getItems(r);
    std::fill(itemTimes, itemTimes + numItems, big);
    if (auto fixed = getFixed(reader.first)) {
      itemTimes[items[*fixed]] = 0;
      continue;
    }
    for (auto [x, item] : llvm::enumerate(items))
      itemTimes[item] = std::min(itemTimes[item], getLeft(r + 1, x));
  }
  sums.prepare(/*but=*/member.slot > 0 ? member.slot - 1 : sharing.readers.size());
  unsigned size = problem.sizes[getMember(sharing, member.slot)];
  if (member.slot == 0) {
    sums.getHostSums(sumOfChoice);
  } else {
    SmallVector<Real, 256> byItem(numItems);
    sums.getItemSums(member.slot - 1, byItem.data());
    for (auto [x, item] : llvm::enumerate(pool.getList(sharing.readers[member.slot - 1].second)))
      sumOfChoice[x] = byItem[item];
  }
  Real minimum = *std::min_element(sumOfChoice, sumOfChoice + size);
  for (unsigned x = 0; x < size; ++x)
    sumOfChoice[x] = std::min(sumOfChoice[x] - minimum, big);
}

const Real *DualAscent::getTable(TableId id) const {
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
static inline __attribute__((always_inline)) void minPlusBlock(Real *out, const Real *base, const Real *table,
                                                               size_t rows, size_t columns, size_t at) {
  Real minimum[Block];
  for (unsigned k = 0; k < Block; ++k)
    minimum[k] = base[0] + table[at + k];
  for (size_t i = 1; i < rows; ++i) {
    Real b = base[i];
    const Real *row = table + i * columns + at;
    for (unsigned k = 0; k < Block; ++k) {
      Real sum = b + row[k];
      minimum[k] = sum < minimum[k] ? sum : minimum[k];
    }
  }
  for (unsigned k = 0; k < Block; ++k)
    out[at + k] = minimum[k];
}

SHARDKIT_CLONES static Real minPlus(Real *out, const Real *base, const Real *table, size_t rows, size_t columns) {
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
  Real minimum = out[0];
  for (size_t j = 1; j < columns; ++j)
    minimum = out[j] < minimum ? out[j] : minimum;
  return minimum;
}

void DualAscent::schedule() {
  isScheduled = true;
  forwardSteps.reset();
  backwardSteps.reset();
  if (passEntries < kManyEntries)
    return;
  // Lazily computed tables are computed before threads need them.
  std::vector<TableId> missing;
  auto need = [&](TableId id) {
    if (reals.try_emplace(id).second)
      missing.push_back(id);
  };
  for (unsigned v : visited) {
    if (tables[v] != kNoTable)
      need(tables[v]);
    for (const Link &link : ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]))
      need(getTableFrom(v, link));
    for (const Member &member : getMembers(v)) {
      need(problem.sharings[member.sharing].prices);
      need(byItem[member.sharing]);
    }
  }
  llvm::parallelFor(0, missing.size(), [&](size_t i) { getTable(missing[i]); });
  auto make = [&](bool forward) {
    std::vector<StepSchedule::Step> steps(visited.size());
    for (auto [k, step] : llvm::enumerate(steps)) {
      unsigned v = visited[forward ? k : visited.size() - 1 - k];
      for (const Link &link : ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v])) {
        step.reads.push_back(link.message);
        if (link.forward == forward)
          step.writes.push_back(link.back);
      }
      // Received and sent messages are adjacent.
      for (const Member &member : getMembers(v)) {
        step.writes.push_back(messages.size() + member.message);
        for (size_t at : sharedAt[member.sharing])
          step.reads.push_back(messages.size() + at);
      }
    }
    return StepSchedule(steps);
  };
  forwardSteps = make(true);
  backwardSteps = make(false);
}

void DualAscent::pass(bool forward) {
  auto step = [&](unsigned k) { visit(visited[forward ? k : visited.size() - 1 - k], forward); };
  if (const auto &steps = forward ? forwardSteps : backwardSteps)
    return steps->run(step);
  for (unsigned k = 0; k < visited.size(); ++k)
    step(k);
}

void DualAscent::visit(unsigned v, bool forward) {
  SmallVector<Real, 128> belief, base;
  unsigned size = problem.sizes[v];
  belief.assign(size, 0);
  if (tables[v] != kNoTable) {
    const Real *unary = getTable(tables[v]);
    std::copy(unary, unary + size, belief.begin());
  }
  ArrayRef<Link> around = ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v]);
  for (const Link &link : around)
    for (unsigned x = 0; x < size; ++x)
      belief[x] += messages[link.message + x];
  for (const Member &member : getMembers(v)) {
    if (forward ? member.hasEarlier : member.hasLater)
      getSharedSums(member, [](unsigned) { return std::nullopt; }, &received[member.message]);
    for (unsigned x = 0; x < size; ++x)
      belief[x] += received[member.message + x];
  }
  unsigned ahead = forward ? forwardCount[v] : backwardCount[v];
  unsigned behind = forward ? backwardCount[v] : forwardCount[v];
  Real share = 1.0 / std::max({ahead, behind, 1u});
  base.resize(size);
  for (const Link &link : around) {
    if (link.forward != forward)
      continue;
    for (unsigned x = 0; x < size; ++x)
      base[x] = share * belief[x] - messages[link.message + x];
    // Rows are the choices of v.
    const Real *table = getTable(getTableFrom(v, link));
    unsigned columns = problem.sizes[link.to];
    Real *out = &messages[link.back];
    Real minimum = minPlus(out, base.data(), table, size, columns);
    for (unsigned j = 0; j < columns; ++j)
      out[j] = std::min(out[j] - minimum, big);
  }
  for (const Member &member : getMembers(v)) {
    // The remainder stays at the variable if no later one exists, as equal variables may have another order.
    if (!(forward ? member.hasLater : member.hasEarlier))
      continue;
    Real minimum = *llvm::min_element(belief);
    for (unsigned x = 0; x < size; ++x)
      sent[member.message + x] = std::min(share * (belief[x] - minimum), big);
  }
}

void DualAscent::iterate() {
  if (!isScheduled)
    schedule();
  pass(true);
  pass(false);
}

bool DualAscent::choose(unsigned v, llvm::MutableArrayRef<unsigned> choices) const {
  unsigned size = problem.sizes[v];
  SmallVector<double, 128> sum(size, 0);
  auto add = [&](const int64_t *row) {
    for (unsigned x = 0; x < size; ++x)
      sum[x] += std::min(double(row[x]), double(big));
  };
  if (tables[v] != kNoTable)
    add(pool.get(tables[v]).time.data());
  for (const Link &link : ArrayRef(links).slice(linkBegin[v], linkBegin[v + 1] - linkBegin[v])) {
    if (choices[link.to] == kNoVar) {
      for (unsigned x = 0; x < size; ++x)
        sum[x] += messages[link.message + x];
      continue;
    }
    bool isA = problem.edges[link.edge].a == v;
    const Table &table = pool.get(isA ? transposed[link.edge] : tables[problem.sizes.size() + link.edge]);
    add(table.time.data() + size_t(choices[link.to]) * size);
  }
  for (const Member &member : getMembers(v)) {
    const Problem::Sharing &sharing = problem.sharings[member.sharing];
    auto isUnknown = [&](unsigned other) { return other != v && choices[other] == kNoVar; };
    if (isUnknown(sharing.host) || llvm::any_of(sharing.readers, [&](auto &r) { return isUnknown(r.first); })) {
      SmallVector<Real, 256> byChoice(size);
      getSharedSums(
          member,
          [&](unsigned other) -> std::optional<unsigned> {
            if (other == v || choices[other] == kNoVar)
              return std::nullopt;
            return choices[other];
          },
          byChoice.data());
      for (unsigned x = 0; x < size; ++x)
        sum[x] += byChoice[x];
      continue;
    }
    // Items that others request are paid already.
    const Table &prices = pool.get(sharing.prices);
    size_t numItems = prices.size() / problem.sizes[sharing.host];
    SmallVector<unsigned, 8> asked;
    for (auto [reader, items] : sharing.readers)
      if (reader != v)
        asked.push_back(pool.getList(items)[choices[reader]]);
    llvm::sort(asked);
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    auto getPrice = [&](size_t host, unsigned item) {
      return std::min(double(prices.time[host * numItems + item]), double(big));
    };
    if (member.slot == 0) {
      for (unsigned x = 0; x < size; ++x)
        for (unsigned item : asked)
          sum[x] += getPrice(x, item);
      continue;
    }
    for (auto [x, item] : llvm::enumerate(pool.getList(sharing.readers[member.slot - 1].second)))
      if (!llvm::is_contained(asked, item))
        sum[x] += getPrice(choices[sharing.host], item);
  }
  unsigned minimum = llvm::min_element(sum) - sum.begin();
  // A move only where it gains something, lest it go round in circles.
  if (choices[v] != kNoVar && sum[minimum] >= sum[choices[v]])
    return false;
  choices[v] = minimum;
  return true;
}

bool DualAscent::decode(llvm::MutableArrayRef<unsigned> choices) const {
  // The last pass went backwards: messages of what comes later are up to date.
  for (unsigned v : order)
    if (choices[v] == kNoVar)
      choose(v, choices);
  return improve(choices);
}

bool DualAscent::improve(llvm::MutableArrayRef<unsigned> choices) const {
  unsigned n = problem.sizes.size();
  for (unsigned round = 0; round < 4; ++round) {
    bool changed = false;
    for (unsigned v : order)
      changed |= choose(v, choices);
    if (!changed)
      break;
  }
  for (unsigned v = 0; v < n; ++v)
    if (tables[v] != kNoTable && pool.get(tables[v]).time[choices[v]] >= kInf)
      return false;
  for (auto [i, edge] : llvm::enumerate(problem.edges))
    if (pool.get(tables[n + i]).time[size_t(choices[edge.a]) * problem.sizes[edge.b] + choices[edge.b]] >= kInf)
      return false;
  for (const Problem::Sharing &sharing : problem.sharings) {
    const Table &prices = pool.get(sharing.prices);
    size_t numItems = prices.size() / problem.sizes[sharing.host];
    for (auto [v, items] : sharing.readers)
      if (prices.time[choices[sharing.host] * numItems + pool.getList(items)[choices[v]]] >= kInf)
        return false;
  }
  return true;
}
