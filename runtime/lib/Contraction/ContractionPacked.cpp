//===- ContractionPacked.cpp - Contractions on contiguous copies ----------===//
//
// The general case: the operands of one batch element are copied to contiguous
// buffers of the type that accumulates (f32, f64 or an integer as wide as the
// result), multiplied, and stored with one rounding.
//
//===----------------------------------------------------------------------===//

#include "Clones.h"
#include "ContractionDims.h"
#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace shardkit::rt {

namespace {

/// C += A * B, all contiguous and row-major. Blocks of 4 x `width` of C stay in
/// registers.
template <typename T>
inline __attribute__((always_inline)) void multiply(const T *__restrict a, const T *__restrict b, T *__restrict c,
                                                    int64_t m, int64_t n, int64_t k) {
  constexpr int64_t width = 128 / int64_t(sizeof(T)), depth = 256;
  for (int64_t k0 = 0; k0 < k; k0 += depth) {
    int64_t kEnd = std::min(k, k0 + depth);
    for (int64_t j0 = 0; j0 < n; j0 += width) {
      int64_t columns = std::min(width, n - j0);
      int64_t i = 0;
      for (; i + 4 <= m && columns == width; i += 4) {
        T acc[4][width];
        for (int r = 0; r < 4; ++r)
          for (int64_t j = 0; j < width; ++j)
            acc[r][j] = c[(i + r) * n + j0 + j];
        for (int64_t kk = k0; kk < kEnd; ++kk)
          for (int r = 0; r < 4; ++r) {
            T x = a[(i + r) * k + kk];
            for (int64_t j = 0; j < width; ++j)
              acc[r][j] = T(acc[r][j] + T(x * b[kk * n + j0 + j]));
          }
        for (int r = 0; r < 4; ++r)
          for (int64_t j = 0; j < width; ++j)
            c[(i + r) * n + j0 + j] = acc[r][j];
      }
      for (; i < m; ++i)
        for (int64_t kk = k0; kk < kEnd; ++kk) {
          T x = a[i * k + kk];
          for (int64_t j = 0; j < columns; ++j)
            c[i * n + j0 + j] = T(c[i * n + j0 + j] + T(x * b[kk * n + j0 + j]));
        }
    }
  }
}

SK_CLONES void multiplyAll(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k) {
  multiply(a, b, c, m, n, k);
}
SK_CLONES void multiplyAll(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  multiply(a, b, c, m, n, k);
}
SK_CLONES void multiplyAll(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t m, int64_t n, int64_t k) {
  multiply(a, b, c, m, n, k);
}
SK_CLONES void multiplyAll(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t m, int64_t n, int64_t k) {
  multiply(a, b, c, m, n, k);
}

template <typename T, typename S> T widen(S value) {
  if constexpr (std::is_same_v<S, Half>)
    return T(f16ToFloat(value.bits));
  else if constexpr (std::is_same_v<S, BFloat>)
    return T(bf16ToFloat(value.bits));
  else if constexpr (std::is_same_v<S, Bool>)
    return T(value.value ? 1 : 0);
  else
    return T(value);
}

template <typename T, typename S> void narrow(T value, S &to) {
  if constexpr (std::is_same_v<S, Half>)
    to.bits = floatToF16(float(value));
  else if constexpr (std::is_same_v<S, BFloat>)
    to.bits = floatToBf16(float(value));
  else if constexpr (std::is_same_v<S, Bool>)
    to.value = uint8_t(uint64_t(value) & 1);
  else
    to = S(value);
}

/// The offsets of all indices of `dims`, major to minor.
std::vector<int64_t> offsets(const ContractionDims &dims, int64_t ContractionDim::*stride) {
  std::vector<int64_t> result = {0};
  for (const ContractionDim &dim : dims) {
    std::vector<int64_t> next;
    next.reserve(result.size() * size_t(dim.size));
    for (int64_t base : result)
      for (int64_t i = 0; i < dim.size; ++i)
        next.push_back(base + i * (dim.*stride));
    result = std::move(next);
  }
  return result;
}

template <typename T> class PackedPlan : public ContractionPlan {
public:
  PackedPlan(Contraction contraction, std::unique_ptr<LibraryProduct> library)
      : x_(std::move(contraction)), library_(std::move(library)), m_(product(x_.m)), n_(product(x_.n)),
        k_(product(x_.k)), aRows_(offsets(x_.m, &ContractionDim::a)), aColumns_(offsets(x_.k, &ContractionDim::a)),
        bRows_(offsets(x_.k, &ContractionDim::b)), bColumns_(offsets(x_.n, &ContractionDim::b)),
        cRows_(offsets(x_.m, &ContractionDim::c)), cColumns_(offsets(x_.n, &ContractionDim::c)), a_(size_t(m_ * k_)),
        b_(size_t(k_ * n_)), c_(size_t(m_ * n_)) {}

  Status run(const void *a, const void *b, void *c) override {
    Status status;
    int64_t lastA = -1, lastB = -1;
    forEachIndex(x_.batch, [&](int64_t oa, int64_t ob, int64_t oc, bool) {
      if (!status.ok())
        return;
      if (oa != lastA)
        gather(a, oa, aRows_, aColumns_, a_.data());
      if (ob != lastB)
        gather(b, ob, bRows_, bColumns_, b_.data());
      lastA = oa, lastB = ob;
      if (library_) {
        status = library_->run(a_.data(), b_.data(), c_.data());
      } else {
        multiplyRows();
      }
      if (status.ok())
        scatter(c, oc);
    });
    return status;
  }
  const char *strategy() const override { return "packed"; }

private:
  /// Rows on several threads, in fours, which `multiply` takes at once: the same bits on any
  /// number of them.
  void multiplyRows() {
    constexpr int64_t four = 4, worthThreads = 1 << 20;
    auto rows = [&](int64_t begin, int64_t end) {
      begin *= four;
      end = std::min(end * four, m_);
      std::fill(c_.data() + begin * n_, c_.data() + end * n_, T(0));
      multiplyAll(a_.data() + begin * k_, b_.data(), c_.data() + begin * n_, end - begin, n_, k_);
    };
    const int64_t fours = (m_ + four - 1) / four;
    if (m_ * n_ * k_ < worthThreads)
      rows(0, fours);
    else
      onLibraryThreads(fours, rows);
  }

  void gather(const void *from, int64_t base, const std::vector<int64_t> &rows, const std::vector<int64_t> &columns,
              T *to) {
    dispatch(x_.in, [&](auto zero) {
      using S = decltype(zero);
      if constexpr (std::is_floating_point_v<T> ==
                    (std::is_floating_point_v<S> || std::is_same_v<S, Half> || std::is_same_v<S, BFloat>)) {
        const S *source = static_cast<const S *>(from) + base;
        for (int64_t row : rows) {
          const S *line = source + row;
          for (int64_t column : columns)
            *to++ = widen<T>(line[column]);
        }
      }
    });
  }
  void scatter(void *to, int64_t base) {
    dispatch(x_.out, [&](auto zero) {
      using S = decltype(zero);
      if constexpr (std::is_floating_point_v<T> ==
                    (std::is_floating_point_v<S> || std::is_same_v<S, Half> || std::is_same_v<S, BFloat>)) {
        S *target = static_cast<S *>(to) + base;
        const T *from = c_.data();
        for (int64_t row : cRows_)
          for (int64_t column : cColumns_) {
            S &element = target[row + column];
            T value = *from++;
            if (x_.accumulate)
              value = T(value + widen<T>(element));
            narrow(value, element);
          }
      }
    });
  }

  Contraction x_;
  std::unique_ptr<LibraryProduct> library_;
  int64_t m_, n_, k_;
  std::vector<int64_t> aRows_, aColumns_, bRows_, bColumns_, cRows_, cColumns_;
  std::vector<T> a_, b_, c_;
};

} // namespace

Expected<std::unique_ptr<ContractionPlan>> planPacked(const Contraction &contraction) {
  using Result = Expected<std::unique_ptr<ContractionPlan>>;
  DType in = contraction.in, out = contraction.out;
  if (in == DType::F64 || out == DType::F64)
    return Result(std::make_unique<PackedPlan<double>>(contraction, nullptr));
  if (isFloat(out)) {
    int64_t m = product(contraction.m), n = product(contraction.n), k = product(contraction.k);
    std::unique_ptr<LibraryProduct> library;
    if (libraryTakes(DType::F32, DType::F32)) {
      SK_ASSIGN_OR_RETURN(library,
                          makeLibraryProduct({DType::F32, DType::F32, false, m, n, k, {k, 1}, {n, 1}, {n, 1}, {}}));
    }
    return Result(std::make_unique<PackedPlan<float>>(contraction, std::move(library)));
  }
  // Narrow integers wrap the same way in 32 bits.
  if (out == DType::I64)
    return Result(std::make_unique<PackedPlan<uint64_t>>(contraction, nullptr));
  return Result(std::make_unique<PackedPlan<uint32_t>>(contraction, nullptr));
}

} // namespace shardkit::rt
