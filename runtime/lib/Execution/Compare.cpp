//===- Compare.cpp - Sharded against unsharded results --------------------===//

#include "shardkit/rt/Execution/Compare.h"

#include "Support/Md5.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

Difference compareLocal(const ValueInfo &value, int64_t rank, const void *local, const void *reference) {
  Difference total;
  const int64_t components = numComponents(value.dtype);
  dispatch(componentType(value.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T *mine = static_cast<const T *>(local);
    const T *theirs = static_cast<const T *>(reference);
    forEachPiece(coalesceLoops(value.extents, rank), value.extents.base(rank),
                 [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                   total.elements += n * components;
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
  return total;
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
