//===- ContractionDirect.cpp - Vectors and tiny matrices in place ---------===//

#include "Clones.h"
#include "ContractionDims.h"

#include <algorithm>

namespace shardkit::rt {

namespace {

/// y[j * yStride] (+)= sum over i of x[i * xStride] * w[i * wk + j * wn].
struct VectorShape {
  int64_t n, k, xStride, wk, wn, yStride;
  bool accumulate;
};

template <typename T>
inline __attribute__((always_inline)) void vectorTimesMatrix(const VectorShape &s, const T *x, const T *w, T *y) {
  if (s.wn == 1 && s.n >= 4) {
    constexpr int64_t block = 512;
    T acc[block];
    for (int64_t j0 = 0; j0 < s.n; j0 += block) {
      int64_t columns = std::min(block, s.n - j0);
      for (int64_t j = 0; j < columns; ++j)
        acc[j] = 0;
      for (int64_t i = 0; i < s.k; ++i) {
        T value = x[i * s.xStride];
        const T *row = w + i * s.wk + j0;
        for (int64_t j = 0; j < columns; ++j)
          acc[j] += value * row[j];
      }
      for (int64_t j = 0; j < columns; ++j) {
        T &to = y[(j0 + j) * s.yStride];
        to = s.accumulate ? to + acc[j] : acc[j];
      }
    }
    return;
  }
  for (int64_t j = 0; j < s.n; ++j) {
    const T *column = w + j * s.wn;
    constexpr int64_t lanes = 16;
    T acc[lanes] = {};
    int64_t i = 0;
    if (s.xStride == 1 && s.wk == 1)
      for (; i + lanes <= s.k; i += lanes)
        for (int64_t l = 0; l < lanes; ++l)
          acc[l] += x[i + l] * column[i + l];
    else
      for (; i + lanes <= s.k; i += lanes)
        for (int64_t l = 0; l < lanes; ++l)
          acc[l] += x[(i + l) * s.xStride] * column[(i + l) * s.wk];
    for (int64_t l = 0; i < s.k; ++i, ++l)
      acc[l] += x[i * s.xStride] * column[i * s.wk];
    T sum = 0;
    for (int64_t l = 0; l < lanes; ++l)
      sum += acc[l];
    T &to = y[j * s.yStride];
    to = s.accumulate ? to + sum : sum;
  }
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
      : outer_(std::move(outer)), shape_(shape), swapped_(swapped) {}

  Status run(const void *a, const void *b, void *c) override {
    forEachIndex(outer_, [&](int64_t oa, int64_t ob, int64_t oc, bool) {
      const T *pa = static_cast<const T *>(a) + oa;
      const T *pb = static_cast<const T *>(b) + ob;
      runVector(shape_, swapped_ ? pb : pa, swapped_ ? pa : pb, static_cast<T *>(c) + oc);
    });
    return {};
  }
  const char *strategy() const override { return "direct"; }

private:
  ContractionDims outer_;
  VectorShape shape_;
  bool swapped_;
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
