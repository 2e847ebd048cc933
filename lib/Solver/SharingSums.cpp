//===- SharingSums.cpp - Least sums of what readers share -----------------===//

#include "SharingSums.h"
#include "Vectorize.h"
#include <algorithm>

using namespace mlir::spmd::solver;

/// The least of term(0), ..., term(n - 1), several at a time.
template <typename T, typename Term> static inline __attribute__((always_inline)) T leastOf(size_t n, Term term) {
  constexpr size_t kLanes = 16;
  T least[kLanes];
  for (size_t k = 0; k < kLanes; ++k)
    least[k] = term(0);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      T next = term(i + k);
      least[k] = next < least[k] ? next : least[k];
    }
  for (; i < n; ++i)
    least[0] = std::min(least[0], term(i));
  for (size_t k = 1; k < kLanes; ++k)
    least[0] = std::min(least[0], least[k]);
  return least[0];
}
SHARDKIT_CLONES static float getLeast(const float *a, size_t n) {
  return leastOf<float>(n, [=](size_t i) { return a[i]; });
}
SHARDKIT_CLONES static int64_t getLeast(const int64_t *a, size_t n) {
  return leastOf<int64_t>(n, [=](size_t i) { return a[i]; });
}
SHARDKIT_CLONES static float getLeastSum(const float *a, const float *b, size_t n) {
  return leastOf<float>(n, [=](size_t i) { return a[i] + b[i]; });
}
SHARDKIT_CLONES static int64_t getLeastSum(const int64_t *a, const int64_t *b, size_t n) {
  return leastOf<int64_t>(n, [=](size_t i) { return a[i] + b[i]; });
}

template <typename T>
SharingSums<T>::SharingSums(const T *prices, size_t numHosts, size_t numItems, size_t numReaders, T impossible)
    : prices(prices), numHosts(numHosts), numItems(numItems), numReaders(numReaders), impossible(impossible),
      host(numHosts), items(numItems * numReaders), added(numItems << numReaders), leastAdded(size_t(1) << numReaders),
      same(size_t(1) << numReaders),
      parts(size_t(1) << numReaders) {}

template <typename T> void SharingSums<T>::prepare() {
  // What is not possible does not add up.
  for (size_t set = 1; set < parts.size(); ++set) {
    size_t first = __builtin_ctzll(set);
    const T *own = items.data() + first * numItems, *rest = added.data() + (set & (set - 1)) * numItems;
    T *to = added.data() + set * numItems;
    for (size_t i = 0; i < numItems; ++i)
      to[i] = std::min(own[i] + rest[i], impossible);
    leastAdded[set] = getLeast(to, numItems);
  }
}

template <typename T> void SharingSums<T>::setParts(size_t h) {
  const T *row = prices + h * numItems;
  T cheapest = getLeast(row, numItems);
  for (size_t set = 1; set < parts.size(); ++set) {
    // Some ask for the same as the first one, the others for something else.
    size_t first = set & -set, others = set ^ first;
    T best = impossible;
    for (size_t with = others; with != 0;) {
      with = (with - 1) & others;
      best = std::min(best, same[first | with] + parts[others ^ with]);
    }
    // Or all ask for the same, unless that cannot be better.
    if (leastAdded[set] + cheapest < best)
      best = std::min(best, getLeastSum(row, added.data() + set * numItems, numItems));
    same[set] = parts[set] = best;
  }
}

template <typename T> void SharingSums<T>::getHostSums(T *sums) {
  for (size_t h = 0; h < numHosts; ++h) {
    setParts(h);
    sums[h] = std::min(host[h] + parts.back(), impossible);
  }
}

/// least[i] = min(least[i], row[i] + added[i] + more)
template <typename T>
static inline __attribute__((always_inline)) void addToLeastOf(T *__restrict least, const T *row, const T *added, T more,
                                                               size_t n) {
  for (size_t i = 0; i < n; ++i) {
    T sum = row[i] + added[i] + more;
    least[i] = sum < least[i] ? sum : least[i];
  }
}
SHARDKIT_CLONES static void addToLeast(float *least, const float *row, const float *added, float more, size_t n) {
  addToLeastOf(least, row, added, more, n);
}
SHARDKIT_CLONES static void addToLeast(int64_t *least, const int64_t *row, const int64_t *added, int64_t more, size_t n) {
  addToLeastOf(least, row, added, more, n);
}

template <typename T> void SharingSums<T>::getItemSums(size_t reader, T *sums) {
  std::fill(sums, sums + numItems, impossible);
  size_t own = size_t(1) << reader, others = (parts.size() - 1) ^ own;
  for (size_t h = 0; h < numHosts; ++h) {
    if (host[h] >= impossible)
      continue;
    setParts(h);
    for (size_t with = others;; with = (with - 1) & others) {
      T more = host[h] + parts[others ^ with];
      // Asking for the same as these may never be better than leaving them to themselves.
      if (more < impossible && (with == 0 || leastAdded[with] + parts[others ^ with] < parts[others]))
        addToLeast(sums, prices + h * numItems, added.data() + with * numItems, more, numItems);
      if (with == 0)
        break;
    }
  }
  for (size_t i = 0; i < numItems; ++i)
    sums[i] = std::min(sums[i], impossible);
}

template class mlir::spmd::solver::SharingSums<float>;
template class mlir::spmd::solver::SharingSums<int64_t>;
