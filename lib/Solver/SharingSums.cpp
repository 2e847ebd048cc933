//===- SharingSums.cpp - Least sums of what readers share -----------------===//

#include "SharingSums.h"
#include "Vectorize.h"
#include <algorithm>

using namespace mlir::spmd::solver;

SHARDKIT_CLONES static float leastSum(const float *a, const float *b, size_t n) {
  float least[8];
  for (size_t k = 0; k < 8; ++k)
    least[k] = a[0] + b[0];
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t k = 0; k < 8; ++k) {
      float sum = a[i + k] + b[i + k];
      least[k] = sum < least[k] ? sum : least[k];
    }
  for (; i < n; ++i)
    least[0] = std::min(least[0], a[i] + b[i]);
  for (size_t k = 1; k < 8; ++k)
    least[0] = std::min(least[0], least[k]);
  return least[0];
}

SHARDKIT_CLONES static int64_t leastSum(const int64_t *a, const int64_t *b, size_t n) {
  int64_t least = a[0] + b[0];
  for (size_t i = 1; i < n; ++i) {
    int64_t sum = a[i] + b[i];
    least = sum < least ? sum : least;
  }
  return least;
}

template <typename T>
SharingSums<T>::SharingSums(const T *prices, size_t numHosts, size_t numItems, size_t numReaders, T impossible)
    : prices(prices), numHosts(numHosts), numItems(numItems), numReaders(numReaders), impossible(impossible),
      host(numHosts), items(numItems * numReaders), added(numItems << numReaders), least(size_t(1) << numReaders),
      parts(size_t(1) << numReaders) {}

template <typename T> void SharingSums<T>::prepare() {
  // What is not possible does not add up.
  for (size_t set = 1; set < parts.size(); ++set) {
    size_t first = __builtin_ctzll(set);
    const T *own = items.data() + first * numItems, *rest = added.data() + (set & (set - 1)) * numItems;
    T *to = added.data() + set * numItems;
    for (size_t i = 0; i < numItems; ++i)
      to[i] = std::min(own[i] + rest[i], impossible);
  }
}

template <typename T> void SharingSums<T>::setParts(size_t h) {
  const T *row = prices + h * numItems;
  for (size_t set = 1; set < parts.size(); ++set)
    least[set] = std::min(leastSum(row, added.data() + set * numItems, numItems), impossible);
  // Who asks for the same as the first one of a set.
  for (size_t set = 1; set < parts.size(); ++set) {
    size_t first = set & -set, others = set ^ first;
    T best = least[set];
    for (size_t with = others; with != 0;) {
      with = (with - 1) & others;
      best = std::min(best, least[first | with] + parts[others ^ with]);
    }
    parts[set] = std::min(best, impossible);
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
      if (more < impossible)
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
