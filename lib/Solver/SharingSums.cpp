//===- SharingSums.cpp - Least sums of what readers share -----------------===//

#include "SharingSums.h"
#include "Vectorize.h"
#include <algorithm>

using namespace mlir::spmd::solver;

static constexpr size_t kLanes = 16;

/// Calls do(first, lanes) for blocks of 0, ..., n - 1; the last one overlaps with the one before, a minimum may be
/// taken twice.
template <typename Do> static inline __attribute__((always_inline)) void forBlocks(size_t n, Do block) {
  std::integral_constant<size_t, kLanes> lanes;
  std::integral_constant<size_t, 1> one;
  if (n < kLanes) {
    for (size_t at = 0; at < n; ++at)
      block(at, one);
    return;
  }
  size_t at = 0;
  for (; at + kLanes <= n; at += kLanes)
    block(at, lanes);
  if (at < n)
    block(n - kLanes, lanes);
}

/// The least of term(0), ..., term(n - 1).
template <typename T, typename Term> static inline __attribute__((always_inline)) T leastOf(size_t n, Term term) {
  T least[kLanes];
  for (size_t k = 0; k < kLanes; ++k)
    least[k] = term(0);
  forBlocks(n, [&](size_t at, auto lanes) __attribute__((always_inline)) {
    for (size_t k = 0; k < lanes; ++k) {
      T next = term(at + k);
      least[k] = next < least[k] ? next : least[k];
    }
  });
  for (size_t k = 1; k < kLanes; ++k)
    least[0] = std::min(least[0], least[k]);
  return least[0];
}

/// All that has loops over items, compiled for the machine at hand as a whole.
template <typename T> struct SharingSums<T>::Kernels {
  using Sums = SharingSums<T>;

  static inline __attribute__((always_inline)) T getLeast(const T *a, size_t n) {
    return leastOf<T>(n, [=](size_t i) { return a[i]; });
  }
  static inline __attribute__((always_inline)) T getLeastSum(const T *a, const T *b, size_t n) {
    return leastOf<T>(n, [=](size_t i) { return a[i] + b[i]; });
  }

  static inline __attribute__((always_inline)) void prepare(Sums &s) {
    size_t n = s.numItems;
    // What is not possible does not add up.
    for (size_t set = 1; set < s.parts.size(); ++set) {
      size_t first = __builtin_ctzll(set);
      const T *own = s.items.data() + first * n, *rest = s.added.data() + (set & (set - 1)) * n;
      T *to = s.added.data() + set * n;
      forBlocks(n, [&](size_t at, auto lanes) __attribute__((always_inline)) {
        for (size_t k = 0; k < lanes; ++k) {
          T sum = own[at + k] + rest[at + k];
          to[at + k] = sum < s.impossible ? sum : s.impossible;
        }
      });
      s.leastAdded[set] = getLeast(to, n);
    }
    for (size_t h = 0; h < s.numHosts; ++h)
      for (size_t r = 0; r < s.numReaders; ++r)
        s.alone[h * s.numReaders + r] =
            std::min(getLeastSum(s.prices + h * n, s.items.data() + r * n, n), s.impossible);
  }

  /// The least sum of each set of readers, of these, beside a choice of the host.
  static inline __attribute__((always_inline)) void setParts(Sums &s, size_t h, size_t of) {
    size_t n = s.numItems;
    const T *row = s.prices + h * n;
    T *same = s.same.data(), *parts = s.parts.data();
    T cheapest = getLeast(row, n);
    for (size_t set = 1; set <= of; ++set) {
      if ((set & of) != set)
        continue;
      // Some ask for the same as the first one, the others for something else.
      size_t first = set & -set, others = set ^ first;
      if (others == 0) {
        same[set] = parts[set] = s.alone[h * s.numReaders + __builtin_ctzll(set)];
        continue;
      }
      T best = s.impossible;
      for (size_t with = others; with != 0;) {
        with = (with - 1) & others;
        T sum = same[first | with] + parts[others ^ with];
        best = sum < best ? sum : best;
      }
      // Or all ask for the same, unless that cannot be better.
      if (s.leastAdded[set] + cheapest < best)
        best = std::min(best, getLeastSum(row, s.added.data() + set * n, n));
      same[set] = parts[set] = best;
    }
  }

  static inline __attribute__((always_inline)) void getHostSums(Sums &s, T *sums) {
    for (size_t h = 0; h < s.numHosts; ++h) {
      setParts(s, h, s.parts.size() - 1);
      sums[h] = std::min(s.host[h] + s.parts.back(), s.impossible);
    }
  }

  /// The least of sums of the row and of what is useful.
  static inline __attribute__((always_inline)) void addToLeast(Sums &s, const T *row, T *sums) {
    forBlocks(s.numItems, [&](size_t at, auto lanes) __attribute__((always_inline)) {
      T least[lanes];
      for (size_t k = 0; k < lanes; ++k)
        least[k] = s.impossible;
      for (auto [added, more] : s.useful)
        for (size_t k = 0; k < lanes; ++k) {
          T sum = added[at + k] + more;
          least[k] = sum < least[k] ? sum : least[k];
        }
      for (size_t k = 0; k < lanes; ++k) {
        T sum = row[at + k] + least[k], before = sums[at + k];
        sums[at + k] = sum < before ? sum : before;
      }
    });
  }

  static inline __attribute__((always_inline)) void getItemSums(Sums &s, size_t reader, T *sums) {
    size_t n = s.numItems, own = size_t(1) << reader, others = (s.parts.size() - 1) ^ own;
    std::fill(sums, sums + n, s.impossible);
    // The cheapest choices first: what is dearer is mostly seen to be of no use at once.
    for (size_t h = 0; h < s.numHosts; ++h)
      s.order[h] = h;
    std::sort(s.order.begin(), s.order.end(),
              [&](unsigned a, unsigned b) { return s.host[a] != s.host[b] ? s.host[a] < s.host[b] : a < b; });
    T added = 0;
    for (size_t r = 0; r < s.numReaders; ++r)
      added += r == reader ? 0 : s.leastAdded[size_t(1) << r];
    for (unsigned h : s.order) {
      if (s.host[h] >= s.impossible)
        break;
      // All that others add, and what the dearest of them pays if the reader does not ask for the same, is
      // the least that they cost.
      T paid = 0;
      for (size_t r = 0; r < s.numReaders; ++r)
        if (r != reader)
          paid = std::max(paid, s.alone[h * s.numReaders + r] - s.leastAdded[size_t(1) << r]);
      const T *row = s.prices + h * n;
      T gained = leastOf<T>(n, [=](size_t i) { return (row[i] < paid ? paid : row[i]) - sums[i]; });
      if (s.host[h] + added + gained >= 0)
        continue;
      setParts(s, h, others);
      // Asking for the same as some may never be better than leaving them to themselves.
      s.useful.clear();
      for (size_t with = others;; with = (with - 1) & others) {
        T more = s.host[h] + s.parts[others ^ with];
        if (more < s.impossible && (with == 0 || s.leastAdded[with] + s.parts[others ^ with] < s.parts[others]))
          s.useful.push_back({s.added.data() + with * n, more});
        if (with == 0)
          break;
      }
      addToLeast(s, row, sums);
    }
    for (size_t i = 0; i < n; ++i)
      sums[i] = std::min(sums[i], s.impossible);
  }
};

SHARDKIT_CLONES static void prepareSums(SharingSums<float> &sums) { SharingSums<float>::Kernels::prepare(sums); }
SHARDKIT_CLONES static void prepareSums(SharingSums<int64_t> &sums) { SharingSums<int64_t>::Kernels::prepare(sums); }
SHARDKIT_CLONES static void setHostSums(SharingSums<float> &sums, float *to) {
  SharingSums<float>::Kernels::getHostSums(sums, to);
}
SHARDKIT_CLONES static void setHostSums(SharingSums<int64_t> &sums, int64_t *to) {
  SharingSums<int64_t>::Kernels::getHostSums(sums, to);
}
SHARDKIT_CLONES static void setItemSums(SharingSums<float> &sums, size_t reader, float *to) {
  SharingSums<float>::Kernels::getItemSums(sums, reader, to);
}
SHARDKIT_CLONES static void setItemSums(SharingSums<int64_t> &sums, size_t reader, int64_t *to) {
  SharingSums<int64_t>::Kernels::getItemSums(sums, reader, to);
}

template <typename T>
SharingSums<T>::SharingSums(const T *prices, size_t numHosts, size_t numItems, size_t numReaders, T impossible)
    : prices(prices), numHosts(numHosts), numItems(numItems), numReaders(numReaders), impossible(impossible),
      host(numHosts), items(numItems * numReaders), added(numItems << numReaders), leastAdded(size_t(1) << numReaders),
      alone(numHosts * numReaders), same(size_t(1) << numReaders), parts(size_t(1) << numReaders), order(numHosts) {}
template <typename T> void SharingSums<T>::prepare() { prepareSums(*this); }
template <typename T> void SharingSums<T>::getHostSums(T *sums) { setHostSums(*this, sums); }
template <typename T> void SharingSums<T>::getItemSums(size_t reader, T *sums) { setItemSums(*this, reader, sums); }

template class mlir::spmd::solver::SharingSums<float>;
template class mlir::spmd::solver::SharingSums<int64_t>;
