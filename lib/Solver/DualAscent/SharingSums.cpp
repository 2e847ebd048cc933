//===- SharingSums.cpp - Least sums of what readers share -----------------===//

#include "SharingSums.h"
#include "../Support/Vectorize.h"
#include <algorithm>

using namespace mlir::spmd::solver;

static constexpr size_t kLanes = 16;
/// Vectors that are added to a table at once: more do not fit into registers.
static constexpr size_t kMaxVectors = 4;

/// The minimum of `n` elements.
template <typename T> static inline __attribute__((always_inline)) T getMin(const T *a, size_t n) {
  T minimum[kLanes];
  std::fill(minimum, minimum + kLanes, a[0]);
  forBlocks<kLanes>(n, [&](size_t at, auto lanes) __attribute__((always_inline)) {
    for (size_t k = 0; k < lanes; ++k)
      minimum[k] = a[at + k] < minimum[k] ? a[at + k] : minimum[k];
  });
  return *std::min_element(minimum, minimum + kLanes);
}

/// sums[v * columns + j]: the minimum of table[i * columns + j] + by[v][i] over all rows i.
template <size_t numVectors, typename T>
static inline __attribute__((always_inline)) void addToRows(const T *table, size_t rows, size_t columns,
                                                            const T *const *by, T *sums) {
  forBlocks<kLanes>(columns, [&](size_t at, auto lanes) __attribute__((always_inline)) {
    using Block = typename Lanes<T, lanes>::Type;
    Block minimum[numVectors];
    for (size_t v = 0; v < numVectors; ++v)
      minimum[v] = *reinterpret_cast<const Block *>(table + at) + by[v][0];
    for (size_t i = 1; i < rows; ++i) {
      Block row = *reinterpret_cast<const Block *>(table + i * columns + at);
      for (size_t v = 0; v < numVectors; ++v) {
        Block sum = row + by[v][i];
        minimum[v] = sum < minimum[v] ? sum : minimum[v];
      }
    }
    for (size_t v = 0; v < numVectors; ++v)
      *reinterpret_cast<Block *>(sums + v * columns + at) = minimum[v];
  });
}
template <typename T>
static inline __attribute__((always_inline)) void addToRows(const T *table, size_t rows, size_t columns,
                                                            size_t numVectors, const T *const *by, T *sums) {
  static_assert(kMaxVectors == 4);
  if (numVectors == 1)
    addToRows<1>(table, rows, columns, by, sums);
  else if (numVectors == 2)
    addToRows<2>(table, rows, columns, by, sums);
  else if (numVectors == 3)
    addToRows<3>(table, rows, columns, by, sums);
  else
    addToRows<4>(table, rows, columns, by, sums);
}

/// The functions with loops, which are compiled for each kind of vector unit.
template <typename T> struct SharingSums<T>::Kernels {
  using Sums = SharingSums<T>;

  /// The least sums of each set of these readers.
  static inline __attribute__((always_inline)) void prepare(Sums &s, size_t readers) {
    size_t n = s.numItems, hosts = s.numHosts;
    // Impossible sums are clamped.
    for (size_t set = 1; set <= readers; ++set) {
      if ((set & readers) != set)
        continue;
      T *to = s.added.data() + set * n;
      if (size_t others = set & (set - 1)) {
        const T *ofSet = s.added.data() + (set ^ others) * n, *rest = s.added.data() + others * n;
        for (size_t i = 0; i < n; ++i) {
          T sum = ofSet[i] + rest[i];
          to[i] = sum < s.impossible ? sum : s.impossible;
        }
      }
      s.minAdded[set] = getMin(to, n);
    }
    T *cheapest = s.partitions.data(); // the empty set: free, computed first
    for (size_t h = 0; h < hosts; ++h)
      cheapest[h] = getMin(s.byHost + h * n, n);

    // Sets of as many readers wait for smaller ones only.
    size_t sets[kMaxVectors], numSets = 0;
    const T *by[kMaxVectors];
    auto compute = [&]() __attribute__((always_inline)) {
      if (numSets == 0)
        return;
      addToRows(s.byItem, n, hosts, numSets, by, s.sums.data());
      for (size_t v = 0; v < numSets; ++v) {
        T *same = s.same.data() + sets[v] * hosts, *partitions = s.partitions.data() + sets[v] * hosts;
        const T *sum = s.sums.data() + v * hosts;
        for (size_t h = 0; h < hosts; ++h)
          same[h] = partitions[h] = sum[h] < same[h] ? sum[h] : same[h];
      }
      numSets = 0;
    };
    for (int size = 1; size <= __builtin_popcountll(readers); ++size) {
      for (size_t set = 1; set <= readers; ++set) {
        if ((set & readers) != set || __builtin_popcountll(set) != size)
          continue;
        // Some readers request the same item as the first one, the others another item.
        size_t first = set & -set, others = set ^ first;
        T *best = s.same.data() + set * hosts;
        std::fill(best, best + hosts, s.impossible);
        for (size_t with = others; with != 0;) {
          with = (with - 1) & others;
          const T *same = s.same.data() + (first | with) * hosts,
                  *partitions = s.partitions.data() + (others ^ with) * hosts;
          for (size_t h = 0; h < hosts; ++h) {
            T sum = same[h] + partitions[h];
            best[h] = sum < best[h] ? sum : best[h];
          }
        }
        // Or all request the same item, unless that cannot be better.
        bool mayBeBetter = false;
        for (size_t h = 0; h < hosts; ++h)
          mayBeBetter |= s.minAdded[set] + cheapest[h] < best[h];
        if (!mayBeBetter) {
          std::copy(best, best + hosts, s.partitions.data() + set * hosts);
          continue;
        }
        sets[numSets] = set;
        by[numSets] = s.added.data() + set * n;
        if (++numSets == kMaxVectors)
          compute();
      }
      compute();
    }
    std::fill(cheapest, cheapest + hosts, 0);
  }

  static inline __attribute__((always_inline)) void getHostSums(Sums &s, T *sums) {
    const T *partitions = s.partitions.data() + ((size_t(1) << s.numReaders) - 1) * s.numHosts;
    for (size_t h = 0; h < s.numHosts; ++h) {
      T sum = s.host[h] + partitions[h];
      sums[h] = sum < s.impossible ? sum : s.impossible;
    }
  }

  static inline __attribute__((always_inline)) void getItemSums(Sums &s, size_t reader, T *sums) {
    size_t n = s.numItems, hosts = s.numHosts, others = ((size_t(1) << s.numReaders) - 1) ^ (size_t(1) << reader);
    std::fill(sums, sums + n, s.impossible);
    const T *all = s.partitions.data() + others * hosts;
    T *paid = s.sums.data(), *minimum = paid + kMaxVectors * hosts;
    size_t sets[kMaxVectors], numSets = 0;
    const T *by[kMaxVectors];
    auto compute = [&]() __attribute__((always_inline)) {
      addToRows(s.byHost, hosts, n, numSets, by, minimum);
      for (size_t v = 0; v < numSets; ++v)
        for (size_t i = 0; i < n; ++i) {
          T sum = minimum[v * n + i] + s.added[sets[v] * n + i];
          sums[i] = sum < sums[i] ? sum : sums[i];
        }
      numSets = 0;
    };
    for (size_t with = others;; with = (with - 1) & others) {
      // Sharing an item with some readers may never be better than not sharing.
      const T *rest = s.partitions.data() + (others ^ with) * hosts;
      bool mayBeBetter = with == 0;
      for (size_t h = 0; h < hosts; ++h)
        mayBeBetter |= s.minAdded[with] + rest[h] < all[h];
      if (mayBeBetter) {
        T *setSums = paid + numSets * hosts;
        for (size_t h = 0; h < hosts; ++h) {
          T sum = s.host[h] + rest[h];
          setSums[h] = sum < s.impossible ? sum : s.impossible;
        }
        sets[numSets] = with;
        by[numSets] = setSums;
        if (++numSets == kMaxVectors || with == 0)
          compute();
      }
      if (with == 0)
        break;
    }
  }
};

SHARDKIT_CLONES static void prepareSums(SharingSums<float> &sums, size_t readers) {
  SharingSums<float>::Kernels::prepare(sums, readers);
}
SHARDKIT_CLONES static void prepareSums(SharingSums<int64_t> &sums, size_t readers) {
  SharingSums<int64_t>::Kernels::prepare(sums, readers);
}
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
SharingSums<T>::SharingSums(const T *byHost, const T *byItem, size_t numHosts, size_t numItems, size_t numReaders,
                            T impossible)
    : byHost(byHost), byItem(byItem), numHosts(numHosts), numItems(numItems), numReaders(numReaders),
      impossible(impossible), host(numHosts), added(numItems << numReaders), minAdded(size_t(1) << numReaders),
      same(numHosts << numReaders), partitions(numHosts << numReaders), sums(kMaxVectors * (numHosts + numItems)) {}
template <typename T> void SharingSums<T>::prepare(size_t but) {
  size_t all = (size_t(1) << numReaders) - 1;
  prepareSums(*this, but < numReaders ? all ^ (size_t(1) << but) : all);
}
template <typename T> void SharingSums<T>::getHostSums(T *sums) { setHostSums(*this, sums); }
template <typename T> void SharingSums<T>::getItemSums(size_t reader, T *sums) { setItemSums(*this, reader, sums); }

template class mlir::spmd::solver::SharingSums<float>;
template class mlir::spmd::solver::SharingSums<int64_t>;
