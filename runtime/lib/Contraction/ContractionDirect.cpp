//===- ContractionDirect.cpp - Vectors and tiny matrices in place ---------===//

#include "Clones.h"
#include "ContractionDims.h"

#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shardkit::rt {

namespace {

/// y[j * yStride] (+)= sum over i of x[i * xStride] * w[i * wk + j * wn].
struct VectorShape {
  int64_t n, k, xStride, wk, wn, yStride;
  bool accumulate;
};

constexpr int64_t lanes = 16;
template <typename T> struct Lanes {
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
};
#define SK_INLINE inline __attribute__((always_inline))

template <typename T> SK_INLINE void store(const VectorShape &s, T *y, int64_t j, T value) {
  T &to = y[j * s.yStride];
  to = s.accumulate ? to + value : value;
}

// Where both of them can compute an element, functions add its terms in the same order: no bit depends on the number of
// columns, or of threads.

/// Columns that are contiguous in w.
template <typename T> SK_INLINE void sumRows(const VectorShape &s, const T *x, const T *w, T *y) {
  constexpr int64_t block = 512;
  T acc[block];
  for (int64_t j0 = 0; j0 < s.n; j0 += block) {
    const int64_t columns = std::min(block, s.n - j0);
    std::fill_n(acc, columns, T(0));
    for (int64_t i = 0; i < s.k; ++i) {
      const T value = x[i * s.xStride];
      const T *row = w + i * s.wk + j0;
      for (int64_t j = 0; j < columns; ++j)
        acc[j] += value * row[j];
    }
    for (int64_t j = 0; j < columns; ++j)
      store(s, y, j0 + j, acc[j]);
  }
}

/// `a` becomes the lanes of both whose number has a bit clear, `b` those where it is set.
template <int64_t bit, typename V, int64_t... lane>
SK_INLINE void exchangeLanes(V &a, V &b, std::integer_sequence<int64_t, lane...>) {
  const V x = a, y = b;
  a = __builtin_shufflevector(x, y, (lane & bit ? lanes + lane - bit : lane)...);
  b = __builtin_shufflevector(x, y, (lane & bit ? lanes + lane : lane + bit)...);
}
/// One of the steps that exchange lanes and vectors.
template <int64_t bit, typename V> SK_INLINE void transposeBit(V *vectors) {
  for (int64_t i = 0; i < lanes; ++i)
    if (!(i & bit))
      exchangeLanes<bit>(vectors[i], vectors[i + bit], std::make_integer_sequence<int64_t, lanes>());
}

/// As many columns as there are lanes, whose elements follow each other, as x's do. The lanes of a column are added
/// one after the other, those of all columns at once.
template <typename T> SK_INLINE void sumColumns(const VectorShape &s, const T *x, const T *w, T *y) {
  using Vector = typename Lanes<T>::Vector;
  Vector acc[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= s.k; i += lanes) {
    Vector a;
    __builtin_memcpy(&a, x + i, sizeof a);
    for (int64_t c = 0; c < lanes; ++c) {
      Vector b;
      __builtin_memcpy(&b, w + c * s.wn + i, sizeof b);
      acc[c] += a * b;
    }
  }
  for (int64_t l = 0; i < s.k; ++i, ++l)
    for (int64_t c = 0; c < lanes; ++c)
      acc[c][l] += x[i] * w[c * s.wn + i];
  transposeBit<1>(acc);
  transposeBit<2>(acc);
  transposeBit<4>(acc);
  transposeBit<8>(acc);
  Vector sums = {};
  for (int64_t l = 0; l < lanes; ++l)
    sums += acc[l];
  for (int64_t c = 0; c < lanes; ++c)
    store(s, y, c, T(sums[c]));
}

/// Any strides.
template <typename T> SK_INLINE void sumColumn(const VectorShape &s, const T *x, const T *column, T *y) {
  T acc[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= s.k; i += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      acc[l] += x[(i + l) * s.xStride] * column[(i + l) * s.wk];
  for (int64_t l = 0; i < s.k; ++i, ++l)
    acc[l] += x[i * s.xStride] * column[i * s.wk];
  T sum = 0;
  for (int64_t l = 0; l < lanes; ++l)
    sum += acc[l];
  store(s, y, 0, sum);
}

template <typename T> SK_INLINE void vectorTimesMatrix(const VectorShape &s, const T *x, const T *w, T *y) {
  if (s.wn == 1 && s.n >= 4)
    return sumRows(s, x, w, y);
  int64_t j = 0;
  if (s.xStride == 1 && s.wk == 1)
    for (; j + lanes <= s.n; j += lanes)
      sumColumns(s, x, w + j * s.wn, y + j * s.yStride);
  for (; j < s.n; ++j)
    sumColumn(s, x, w + j * s.wn, y + j * s.yStride);
}

SK_CLONES void runVector(const VectorShape &s, const float *x, const float *w, float *y) {
  vectorTimesMatrix(s, x, w, y);
}
SK_CLONES void runVector(const VectorShape &s, const double *x, const double *w, double *y) {
  vectorTimesMatrix(s, x, w, y);
}

template <typename T> class DirectPlan : public ContractionPlan {
public:
  DirectPlan(ContractionDims outer, VectorShape shape, bool swapped)
      : outer_(std::move(outer)), shape_(shape), swapped_(swapped), rows_(product(outer_)) {}

  Status run(const void *a, const void *b, void *c) override {
    const T *x = static_cast<const T *>(swapped_ ? b : a), *w = static_cast<const T *>(swapped_ ? a : b);
    T *y = static_cast<T *>(c);
    const int64_t columns = columnsOfTask();
    if (columns == 0) {
      forEachIndex(outer_, [&](int64_t oa, int64_t ob, int64_t oc, bool) {
        runVector(shape_, x + (swapped_ ? ob : oa), w + (swapped_ ? oa : ob), y + oc);
      });
      return {};
    }
    const int64_t tasks = (shape_.n + columns - 1) / columns;
    onLibraryThreads(rows_ * tasks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % tasks * columns;
        const auto [oa, ob, oc] = offsetsOf(i / tasks);
        VectorShape some = shape_;
        some.n = std::min(columns, shape_.n - first);
        runVector(some, x + (swapped_ ? ob : oa), w + (swapped_ ? oa : ob) + first * shape_.wn,
                  y + oc + first * shape_.yStride);
      }
    });
    return {};
  }
  const char *strategy() const override { return "direct"; }

private:
  /// Columns that a thread computes at a time, as many as there can be, for they are read side by side; 0: one thread
  /// computes all.
  int64_t columnsOfTask() const {
    constexpr int64_t worthThreads = 1 << 17, atLeast = 64;
    const int64_t threads = rows_ * shape_.n * shape_.k < worthThreads ? 1 : libraryThreads();
    if (threads == 1)
      return 0;
    const int64_t parts = rows_ % threads == 0 || rows_ >= 4 * threads ? 1 : threads;
    return std::max(((shape_.n + parts - 1) / parts + atLeast - 1) / atLeast * atLeast, atLeast);
  }
  /// Of A, B and C at an index of the outer dims.
  std::array<int64_t, 3> offsetsOf(int64_t index) const {
    std::array<int64_t, 3> offsets = {};
    for (size_t d = outer_.size(); d-- > 0; index /= outer_[d].size) {
      const int64_t i = index % outer_[d].size;
      offsets[0] += i * outer_[d].a, offsets[1] += i * outer_[d].b, offsets[2] += i * outer_[d].c;
    }
    return offsets;
  }

  ContractionDims outer_;
  VectorShape shape_;
  bool swapped_;
  int64_t rows_;
};

} // namespace

std::unique_ptr<ContractionPlan> planDirect(const Contraction &x) {
  if (x.in != x.out || (x.in != DType::F32 && x.in != DType::F64) || x.m.size() > 1 || x.n.size() > 1 || x.k.size() > 1)
    return nullptr;
  bool tiny = x.work() <= 512;
  if (!x.m.empty() && !x.n.empty() && !tiny)
    return nullptr;
  ContractionDim k = x.k.empty() ? ContractionDim{1, 0, 0, 0} : x.k[0];
  // The vector is A unless only A is a matrix.
  bool swapped = x.n.empty() && !x.m.empty();
  ContractionDims outer = x.batch;
  VectorShape shape;
  if (swapped) {
    const ContractionDim &m = x.m[0];
    shape = {m.size, k.size, k.b, k.a, m.a, m.c, x.accumulate};
  } else {
    ContractionDim n = x.n.empty() ? ContractionDim{1, 0, 0, 0} : x.n[0];
    shape = {n.size, k.size, k.a, k.b, n.b, n.c, x.accumulate};
    outer.insert(outer.end(), x.m.begin(), x.m.end());
  }
  if (x.in == DType::F32)
    return std::make_unique<DirectPlan<float>>(std::move(outer), shape, swapped);
  return std::make_unique<DirectPlan<double>>(std::move(outer), shape, swapped);
}

} // namespace shardkit::rt
