//===- Random.cpp - Reproducible random tensors ---------------------------===//

#include "shardkit/rt/Loading/Random.h"

#include <cmath>
#include <type_traits>

namespace shardkit::rt {

/// The finaliser of splitmix64.
static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

RandomTensor RandomTensor::forValue(const ValueInfo &value, uint64_t seed,
                                    std::optional<std::pair<int64_t, int64_t>> range) {
  RandomTensor random;
  random.key = 0xcbf29ce484222325ull;
  for (unsigned char c : value.name)
    random.key = (random.key ^ c) * 0x100000001b3ull;
  random.key = mix(random.key ^ mix(seed + 0x9e3779b97f4a7c15ull));
  random.dtype = value.dtype;
  if (value.kind == ValueKind::Weight && !value.globalShape.empty() && value.globalShape.back() > 0)
    random.scale = 1.0 / std::sqrt(double(value.globalShape.back()));
  if (!range)
    range = value.range;
  if (range) {
    random.low = range->first;
    random.high = range->second;
  }
  return random;
}

/// Of types that are stored only: the integers that they are in memory.
static DType inMemory(DType dtype) {
  switch (dtype) {
  case DType::U64:
    return DType::I64;
  case DType::U32:
    return DType::I32;
  case DType::U16:
    return DType::I16;
  default:
    return isComputeType(dtype) ? dtype : DType::I8;
  }
}

/// An 8-bit float between -1 and 1, of any magnitude that the type has there; a power
/// of 2 where it has no sign.
static uint8_t narrowFloat(DType dtype, uint64_t bits) {
  if (dtype == DType::F8E8M0FNU)
    return uint8_t(120 + (bits >> 61));
  const bool isE4 = dtype == DType::F8E4M3FN || dtype == DType::F8E4M3FNUZ;
  const bool isFNUZ = dtype == DType::F8E4M3FNUZ || dtype == DType::F8E5M2FNUZ;
  const uint64_t one = isE4 ? (isFNUZ ? 8 : 7) << 3 : (isFNUZ ? 16 : 15) << 2;
  const uint64_t size = (bits >> 32) * one >> 32;
  return uint8_t(size | (size ? bits << 7 & 0x80 : 0)); // There may be no -0.
}

void RandomTensor::fill(void *to, int64_t toStride, int64_t first, int64_t stride, int64_t count) const {
  auto bits = [&](int64_t i) { return mix(key + uint64_t(first + i * stride) * 0x9e3779b97f4a7c15ull); };
  // Floats have just the bits that the type can hold, so nothing rounds to 1.
  auto uniform = [&](int64_t i, int digits) { return std::ldexp(double(bits(i) >> (64 - digits)), 1 - digits) - 1.0; };
  if (isComplex(dtype)) { // Its parts are neighbours.
    RandomTensor component = *this;
    component.dtype = componentType(dtype);
    for (int64_t i : {0, 1})
      component.fill(static_cast<char *>(to) + i * dtypeSize(component.dtype), 2 * toStride, 2 * first + i, 2 * stride,
                     count);
    return;
  }
  if (isFloat(dtype) && !isComputeType(dtype)) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint8_t *>(to)[i * toStride] = narrowFloat(dtype, bits(i));
    return;
  }
  const uint64_t span = uint64_t(high) - uint64_t(low);
  dispatch(inMemory(dtype), [&](auto zero) {
    using T = decltype(zero);
    T *out = static_cast<T *>(to);
    for (int64_t i = 0; i < count; ++i) {
      T &element = out[i * toStride];
      if constexpr (std::is_same_v<T, double>)
        element = uniform(i, 53) * scale;
      else if constexpr (std::is_same_v<T, float>)
        element = float((double(bits(i) >> 40) * 0x1p-23 - 1.0) * scale);
      else if constexpr (std::is_same_v<T, Half>)
        element.bits = floatToF16(float(uniform(i, 11) * scale));
      else if constexpr (std::is_same_v<T, BFloat>)
        element.bits = floatToBf16(float(uniform(i, 8) * scale));
      else {
        uint64_t value = uint64_t(low) + uint64_t((static_cast<unsigned __int128>(bits(i)) * span) >> 64);
        if constexpr (std::is_same_v<T, Bool>)
          element.value = value & 1;
        else
          element = T(value);
      }
    }
  });
}

} // namespace shardkit::rt
