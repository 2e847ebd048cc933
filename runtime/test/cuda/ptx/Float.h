//===- Float.h - Floating-point formats of PTX ------------------*- C++ -*-===//

#ifndef SHARDKIT_TEST_CUDA_PTX_FLOAT_H
#define SHARDKIT_TEST_CUDA_PTX_FLOAT_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shardkit::emu {

/// Nearest with ties to even, toward zero, down, up, nearest with ties away.
enum class Round { Nearest, Zero, Down, Up, Away };

/// A binary format below f64: a sign, `exponent` bits, `mantissa` bits.
struct Format {
  int exponent, mantissa;
};
inline constexpr Format kF16{5, 10}, kBF16{8, 7}, kF32{8, 23}, kTF32{8, 10}, kE5M2{5, 2};

/// The value rounded once to the format, as its bits. `finite`: what is too large
/// becomes the largest finite value.
inline uint32_t roundTo(Format format, double value, Round mode = Round::Nearest, bool finite = false) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = uint32_t(bits >> 63) << (format.exponent + format.mantissa);
  uint32_t infinity = ((1u << format.exponent) - 1) << format.mantissa;
  if (value != value)
    return (sign & 0) | infinity | ((1u << format.mantissa) - 1);
  int bias = (1 << (format.exponent - 1)) - 1;
  int exponent = int(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff)
    return sign | (finite ? infinity - 1 : infinity);
  if (exponent == 0 && mantissa == 0)
    return sign;
  if (exponent == 0)
    exponent = 1; // Below every format here: rounds to 0 or the least value.
  else
    mantissa |= uint64_t(1) << 52;
  int target = exponent - 1023 + bias;
  int drop = 52 - format.mantissa;
  if (target < 1) {
    drop += 1 - target;
    target = 1;
  }
  uint64_t kept, rest, half;
  if (drop > 60) {
    kept = 0;
    rest = 1;
    half = 2;
  } else {
    kept = mantissa >> drop;
    rest = mantissa & ((uint64_t(1) << drop) - 1);
    half = uint64_t(1) << (drop - 1);
  }
  bool up = false;
  switch (mode) {
  case Round::Nearest:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case Round::Away:
    up = rest >= half;
    break;
  case Round::Zero:
    break;
  case Round::Down:
    up = rest && sign;
    break;
  case Round::Up:
    up = rest && !sign;
    break;
  }
  // The hidden bit of `kept` adds one to the exponent; so does a carry.
  uint64_t out = (uint64_t(target - 1) << format.mantissa) + kept + up;
  if (out >= infinity) {
    bool largest = finite || mode == Round::Zero || (mode == Round::Down && !sign) || (mode == Round::Up && sign);
    out = largest ? infinity - 1 : infinity;
  }
  return sign | uint32_t(out);
}

inline float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

inline float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00)
    return floatOf(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x400)
    return floatOf(sign | ((rest << 13) + 0x38000000));
  float value = float(rest) * 0x1p-24f;
  return sign ? -value : value;
}
inline uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOf(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000)
    return 0x7fff;
  if (rest >= 0x38800000 && rest < 0x47800000) { // Normal as f16, before rounding.
    rest += 0xfff + (rest >> 13 & 1);
    return uint16_t(sign | (rest - 0x38000000) >> 13);
  }
  return uint16_t(roundTo(kF16, value));
}
inline float bfloatToFloat(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }
inline uint16_t floatToBFloat(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// a * b + c with its last bit set where it is not exact (round to odd), so that
/// rounding it to f16 or bf16 rounds once. a * b is exact in double.
inline double fusedOdd(double a, double b, double c) {
  double p = a * b, s = p + c;
  if (!std::isfinite(s))
    return s;
  double t = s - p, error = (p - (s - t)) + (c - t);
  uint64_t bits = std::bit_cast<uint64_t>(s);
  if (error != 0 && !(bits & 1)) {
    bool away = (error > 0) == (s > 0);
    if (s == 0)
      return error;
    bits += away ? 1 : -1;
  }
  return std::bit_cast<double>(bits);
}

struct F16 {
  uint16_t bits;
  static F16 of(float value) { return {floatToHalf(value)}; }
  static F16 of(double value) { return {uint16_t(roundTo(kF16, value))}; }
  operator float() const { return halfToFloat(bits); }
  static constexpr uint16_t kNaN = 0x7fff, kInfinity = 0x7c00;
};
struct BF16 {
  uint16_t bits;
  static BF16 of(float value) { return {floatToBFloat(value)}; }
  static BF16 of(double value) { return {uint16_t(roundTo(kBF16, value))}; }
  operator float() const { return bfloatToFloat(bits); }
  static constexpr uint16_t kNaN = 0x7fff, kInfinity = 0x7f80;
};

template <typename T> inline constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

template <typename T> T flushed(T value) {
  if constexpr (std::is_same_v<T, F16>)
    return (value.bits & 0x7c00) == 0 ? F16{uint16_t(value.bits & 0x8000)} : value;
  else if constexpr (std::is_same_v<T, float>)
    return (bitsOf(value) & 0x7f800000) == 0 ? floatOf(bitsOf(value) & 0x80000000) : value;
  else
    return value;
}

/// f8, with 4 exponent bits, no infinity: NaN is all ones.
inline uint8_t floatToE4M3(double value) {
  if (value != value)
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  double size = std::fabs(value);
  if (size >= 448)
    return sign | 0x7e;
  if (size == 0)
    return sign;
  int exponent = std::max(std::ilogb(size), -6);
  double steps = std::nearbyint(std::ldexp(size, 3 - exponent)); // 8..16 when normal
  return sign | uint8_t(((exponent + 6) << 3) + int(steps));
}
inline float e4m3ToFloat(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float size = exponent == 15 && mantissa == 7 ? std::numeric_limits<float>::quiet_NaN()
               : exponent                      ? std::ldexp(float(8 + mantissa), exponent - 10)
                                               : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -size : size;
}
inline float e5m2ToFloat(uint8_t bits) { return halfToFloat(uint16_t(bits) << 8); }

} // namespace shardkit::emu

#endif // SHARDKIT_TEST_CUDA_PTX_FLOAT_H
