//===- Compare.cpp - Sharded against unsharded results --------------------===//

#include "shardkit/rt/Execution/Compare.h"

#include "Support/Md5.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace shardkit::rt {

Tolerance Tolerance::forDType(DType dtype) {
  double rtol = 0;
  switch (componentType(dtype)) {
  case DType::F64:
    rtol = 1e-12;
    break;
  case DType::F32:
    rtol = 1e-5;
    break;
  case DType::F16:
    rtol = 2e-3;
    break;
  case DType::BF16:
    rtol = 2e-2;
    break;
  default:
    break;
  }
  return {rtol, rtol / 1000, false};
}

Tolerance Tolerance::forResult(const ValueInfo &value) {
  Tolerance tolerance = forDType(value.dtype);
  tolerance.rtol = std::max(tolerance.rtol, 8 * value.rounding);
  tolerance.atol = tolerance.rtol / 1000;
  tolerance.exact = value.exact;
  return tolerance;
}

void Difference::merge(const Difference &other) {
  maxAbs = std::max(maxAbs, other.maxAbs);
  maxReference = std::max(maxReference, other.maxReference);
  unequal += other.unequal;
  incomparable += other.incomparable;
  elements += other.elements;
}

double Difference::fractionOf(DType dtype, const Tolerance &tolerance) const {
  if (tolerance.exact || !isFloat(dtype) || maxAbs == 0)
    return 0;
  return maxAbs / tolerance.limit(maxReference);
}

bool Difference::within(DType dtype, const Tolerance &tolerance) const {
  if (tolerance.exact || !isFloat(dtype))
    return unequal == 0;
  return incomparable == 0 && maxAbs <= tolerance.limit(maxReference);
}

namespace {

/// An integer as wide as a float, whose order is that of magnitudes: infinity and NaN come last.
template <typename T> using Bits = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
template <typename T> Bits<T> magnitudeBits(T value) {
  return std::bit_cast<Bits<T>>(value) & std::numeric_limits<Bits<T>>::max();
}
template <typename T> constexpr Bits<T> infinityBits = std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());

/// Adds a run of floats that lie next to each other on both sides; false, and nothing is added, if one is not finite or
/// a difference is too large for the type.
template <typename T>
bool addFinite(const T *mine, const T *theirs, int64_t n, bool isLargestKnown, Difference &total) {
  if (isLargestKnown && std::memcmp(mine, theirs, size_t(n) * sizeof(T)) == 0)
    return true;
  Bits<T> error = 0, largest = 0;
  int64_t unequal = 0;
  // In blocks, so that a count of the width of the floats suffices.
  constexpr int64_t block = 1 << 14;
  for (int64_t begin = 0; begin < n; begin += block) {
    Bits<T> count = 0;
    for (int64_t i = begin; i < std::min(n, begin + block); ++i) {
      error = std::max(error, magnitudeBits<T>(mine[i] - theirs[i]));
      largest = std::max(largest, magnitudeBits<T>(theirs[i]));
      count += std::bit_cast<Bits<T>>(mine[i]) != std::bit_cast<Bits<T>>(theirs[i]);
    }
    unequal += count;
  }
  if (error >= infinityBits<T>)
    return false;
  total.maxAbs = std::max(total.maxAbs, double(std::bit_cast<T>(error)));
  total.maxReference = std::max(total.maxReference, double(std::bit_cast<T>(largest)));
  total.unequal += unequal;
  return true;
}

} // namespace

Difference compareLocal(const ValueInfo &value, int64_t rank, const void *local, const void *reference,
                        std::optional<double> largest) {
  Difference total;
  const int64_t components = numComponents(value.dtype);
  dispatch(componentType(value.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T *mine = static_cast<const T *>(local);
    const T *theirs = static_cast<const T *>(reference);
    forEachPiece(
        coalesceLoops(value.extents, rank), value.extents.base(rank),
        [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
          total.elements += n * components;
          if constexpr (std::is_floating_point_v<T>)
            if (gs == 1 && ls == 1 &&
                addFinite(mine + l * components, theirs + g * components, n * components, largest.has_value(), total))
              return;
          for (int64_t i = 0; i < n * components; ++i) {
            const T &x = mine[(l + i / components * ls) * components + i % components];
            const T &y = theirs[(g + i / components * gs) * components + i % components];
            double a = toDouble(x), b = toDouble(y);
            if (std::isfinite(b))
              total.maxReference = std::max(total.maxReference, std::abs(b));
            bool same;
            if constexpr (std::is_same_v<T, Bool>)
              same = a == b;
            else
              same = std::memcmp(&x, &y, sizeof(T)) == 0;
            if (same || (std::isnan(a) && std::isnan(b)))
              continue;
            ++total.unequal;
            if (std::isfinite(a) && std::isfinite(b))
              total.maxAbs = std::max(total.maxAbs, std::abs(a - b));
            else
              ++total.incomparable;
          }
        });
  });
  if (largest)
    total.maxReference = *largest;
  return total;
}

/// Calls fn(global, local, x, y) for all elements of a shard and those of the reference.
template <typename Fn>
static void forEachPair(const ValueInfo &value, int64_t rank, const void *local, const void *reference, Fn &&fn) {
  const int64_t components = numComponents(value.dtype), base = value.extents.localBase(rank);
  dispatch(componentType(value.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T *mine = static_cast<const T *>(local);
    const T *theirs = static_cast<const T *>(reference);
    forEachPiece(coalesceLoops(value.extents, rank), value.extents.base(rank),
                 [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                   for (int64_t i = 0; i < n; ++i)
                     for (int64_t c = 0; c < components; ++c) {
                       const int64_t global = g + i * gs, at = base + l + i * ls;
                       fn(global, at, mine[at * components + c], theirs[global * components + c]);
                     }
                 });
  });
}

static Shape indexOf(int64_t flat, const Shape &shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = shape[d] ? flat % shape[d] : 0;
    flat = shape[d] ? flat / shape[d] : 0;
  }
  return index;
}

WrongElements findWrong(const ValueInfo &value, int64_t rank, const void *local, const void *reference, double limit) {
  WrongElements wrong;
  const bool isBool = value.dtype == DType::I1, isRounded = isFloat(value.dtype);
  forEachPair(value, rank, local, reference, [&](int64_t global, int64_t at, const auto &x, const auto &y) {
    if (std::memcmp(&x, &y, sizeof x) == 0)
      return;
    const double a = toDouble(x), b = toDouble(y);
    if ((std::isnan(a) && std::isnan(b)) || (isBool && a == b))
      return;
    if (limit >= 0 && isRounded && std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= limit)
      return;
    const Shape index = indexOf(global, value.globalShape);
    if (wrong.count++ == 0) {
      wrong.first = wrong.begin = wrong.end = index;
      wrong.firstLocal = indexOf(at, value.localShape);
      wrong.mine = a;
      wrong.theirs = b;
    }
    for (size_t d = 0; d < index.size(); ++d) {
      wrong.begin[d] = std::min(wrong.begin[d], index[d]);
      wrong.end[d] = std::max(wrong.end[d], index[d] + 1);
    }
  });
  return wrong;
}

double largestMagnitude(DType dtype, const void *data, int64_t elements) {
  double largest = 0;
  dispatch(componentType(dtype), [&](auto zero) {
    using T = decltype(zero);
    const T *values = static_cast<const T *>(data);
    if constexpr (std::is_floating_point_v<T>) {
      Bits<T> bits = 0;
      for (int64_t i = 0; i < elements * numComponents(dtype); ++i)
        bits = std::max(bits, magnitudeBits<T>(values[i]));
      if (bits < infinityBits<T>) {
        largest = double(std::bit_cast<T>(bits));
        return;
      }
    }
    for (int64_t i = 0; i < elements * numComponents(dtype); ++i)
      if (double magnitude = std::abs(toDouble(values[i])); std::isfinite(magnitude))
        largest = std::max(largest, magnitude);
  });
  return largest;
}

std::string digestLocal(const ValueInfo &value, int64_t rank, const void *local) {
  Md5 md5;
  const int64_t size = dtypeSize(value.dtype);
  const char *base = static_cast<const char *>(local) + value.extents.localBase(rank) * size;
  forEachPiece(coalesceLoops(value.extents, rank), 0, [&](int64_t, int64_t l, int64_t n, int64_t, int64_t ls) {
    if (ls == 1)
      return md5.add(base + l * size, n * size);
    for (int64_t i = 0; i < n; ++i)
      md5.add(base + (l + i * ls) * size, size);
  });
  return md5.hex();
}

} // namespace shardkit::rt
