//===- Reduce.cpp - Combining the buffers of several ranks ----------------===//

#include "shardkit/rt/Collectives/Reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace shardkit::rt {

namespace {

template <typename T> T nanMax(T a, T b) {
  if (a != a)
    return a;
  if (b != b)
    return b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <typename T> T nanMin(T a, T b) {
  if (a != a)
    return a;
  if (b != b)
    return b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// The combiner on the type that accumulates: double, float, or an unsigned
/// integer whose signed twin is S.
template <Reduction R, typename A> A combine(A a, A b) {
  if constexpr (std::is_floating_point_v<A>) {
    if constexpr (R == Reduction::Sum)
      return a + b;
    else if constexpr (R == Reduction::Prod)
      return a * b;
    else if constexpr (R == Reduction::Max)
      return nanMax(a, b);
    else if constexpr (R == Reduction::Min)
      return nanMin(a, b);
    else if constexpr (R == Reduction::MaxNum)
      return a != a ? b : b != b ? a : nanMax(a, b);
    else if constexpr (R == Reduction::MinNum)
      return a != a ? b : b != b ? a : nanMin(a, b);
    else
      return a;
  } else {
    using S = std::make_signed_t<A>;
    if constexpr (R == Reduction::Sum)
      return A(a + b);
    else if constexpr (R == Reduction::Prod)
      return A(uint64_t(a) * b);
    else if constexpr (R == Reduction::And)
      return A(a & b);
    else if constexpr (R == Reduction::Or)
      return A(a | b);
    else if constexpr (R == Reduction::Xor)
      return A(a ^ b);
    else if constexpr (R == Reduction::Max)
      return S(a) > S(b) ? a : b;
    else if constexpr (R == Reduction::Min)
      return S(a) < S(b) ? a : b;
    else if constexpr (R == Reduction::UMax)
      return a > b ? a : b;
    else if constexpr (R == Reduction::UMin)
      return a < b ? a : b;
    else
      return a;
  }
}

template <typename T> struct Memory {
  using Acc = std::make_unsigned_t<T>;
  static Acc load(T v) { return Acc(v); }
  static T store(Acc v) { return T(v); }
};
template <> struct Memory<double> {
  using Acc = double;
  static Acc load(double v) { return v; }
  static double store(Acc v) { return v; }
};
template <> struct Memory<float> {
  using Acc = float;
  static Acc load(float v) { return v; }
  static float store(Acc v) { return v; }
};
template <> struct Memory<Half> {
  using Acc = float;
  static Acc load(Half v) { return f16ToFloat(v.bits); }
  static Half store(Acc v) { return {floatToF16(v)}; }
};
template <> struct Memory<BFloat> {
  using Acc = float;
  static Acc load(BFloat v) { return bf16ToFloat(v.bits); }
  static BFloat store(Acc v) { return {floatToBf16(v)}; }
};
template <> struct Memory<Bool> {
  using Acc = uint8_t;
  static Acc load(Bool v) { return v.value ? 1 : 0; }
  static Bool store(Acc v) { return {uint8_t(v & 1)}; }
};

template <typename T, Reduction R>
void reduceAs(const void *const *in, int64_t numInputs, int64_t inStride, void *outPointer, int64_t outStride,
              int64_t count) {
  using M = Memory<T>;
  using Acc = typename M::Acc;
  constexpr int64_t block = 1024;
  Acc acc[block];
  T *out = static_cast<T *>(outPointer);
  for (int64_t at = 0; at < count; at += block) {
    int64_t n = std::min(block, count - at);
    for (int64_t k = 0; k < numInputs; ++k) {
      const T *from = static_cast<const T *>(in[k]) + at * inStride;
      if (k == 0) {
        if (inStride == 1)
          for (int64_t i = 0; i < n; ++i)
            acc[i] = M::load(from[i]);
        else
          for (int64_t i = 0; i < n; ++i)
            acc[i] = M::load(from[i * inStride]);
      } else if (inStride == 1) {
        for (int64_t i = 0; i < n; ++i)
          acc[i] = combine<R, Acc>(acc[i], M::load(from[i]));
      } else {
        for (int64_t i = 0; i < n; ++i)
          acc[i] = combine<R, Acc>(acc[i], M::load(from[i * inStride]));
      }
    }
    T *to = out + at * outStride;
    if (outStride == 1)
      for (int64_t i = 0; i < n; ++i)
        to[i] = M::store(acc[i]);
    else
      for (int64_t i = 0; i < n; ++i)
        to[i * outStride] = M::store(acc[i]);
  }
}

} // namespace

Reduction reductionOnBits(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return Reduction::Xor;
  case Reduction::Prod:
  case Reduction::Max: // true is -1
  case Reduction::UMin:
    return Reduction::And;
  case Reduction::Min:
  case Reduction::UMax:
    return Reduction::Or;
  default:
    return reduction;
  }
}

void reduceStrided(Reduction reduction, DType dtype, const void *const *in, int64_t numInputs, int64_t inStride,
                   void *out, int64_t outStride, int64_t count) {
  if (dtype == DType::I1)
    reduction = reductionOnBits(reduction);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto as = [&]<Reduction R>() { reduceAs<T, R>(in, numInputs, inStride, out, outStride, count); };
    constexpr bool isFloating = std::is_floating_point_v<typename Memory<T>::Acc>;
    switch (reduction) {
    case Reduction::None:
      return;
    case Reduction::Sum:
      return as.template operator()<Reduction::Sum>();
    case Reduction::Prod:
      return as.template operator()<Reduction::Prod>();
    case Reduction::Max:
      return as.template operator()<Reduction::Max>();
    case Reduction::Min:
      return as.template operator()<Reduction::Min>();
    default:
      break;
    }
    if constexpr (isFloating) {
      if (reduction == Reduction::MaxNum)
        return as.template operator()<Reduction::MaxNum>();
      if (reduction == Reduction::MinNum)
        return as.template operator()<Reduction::MinNum>();
    } else {
      if (reduction == Reduction::And)
        return as.template operator()<Reduction::And>();
      if (reduction == Reduction::Or)
        return as.template operator()<Reduction::Or>();
      if (reduction == Reduction::Xor)
        return as.template operator()<Reduction::Xor>();
      if (reduction == Reduction::UMax)
        return as.template operator()<Reduction::UMax>();
      if (reduction == Reduction::UMin)
        return as.template operator()<Reduction::UMin>();
    }
  });
}

} // namespace shardkit::rt
