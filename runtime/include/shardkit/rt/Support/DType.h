//===- DType.h - Element types ----------------------------------*- C++ -*-===//
//
// The element types of abi.h with their names, sizes and conversions. f16 and
// bf16 exist in memory only; arithmetic happens in f32. Programs compute with
// the first nine, and with the components of complex numbers; the others can be stored,
// loaded, moved and converted.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_SUPPORT_DTYPE_H
#define SHARDKIT_RT_SUPPORT_DTYPE_H

#include "shardkit/rt/abi.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardkit::rt {

enum class DType : int32_t {
  F64 = SK_F64,
  F32 = SK_F32,
  F16 = SK_F16,
  BF16 = SK_BF16,
  I64 = SK_I64,
  I32 = SK_I32,
  I16 = SK_I16,
  I8 = SK_I8,
  I1 = SK_I1,
  U64 = SK_U64,
  U32 = SK_U32,
  U16 = SK_U16,
  U8 = SK_U8,
  F8E4M3FN = SK_F8E4M3FN,
  F8E5M2 = SK_F8E5M2,
  F8E4M3FNUZ = SK_F8E4M3FNUZ,
  F8E5M2FNUZ = SK_F8E5M2FNUZ,
  F8E8M0FNU = SK_F8E8M0FNU,
  I4 = SK_I4,
  U4 = SK_U4,
  C64 = SK_C64,
  C128 = SK_C128,
};
/// Those that programs compute with.
inline constexpr int kNumDTypes = 9;
inline constexpr int kNumStoredDTypes = 22;
inline bool isComputeType(DType dtype) { return int(dtype) < kNumDTypes; }
inline bool isComplex(DType dtype) { return dtype == DType::C64 || dtype == DType::C128; }
/// The type of the components of a complex number, any other type itself; and their number.
inline DType componentType(DType dtype) {
  return dtype == DType::C64 ? DType::F32 : dtype == DType::C128 ? DType::F64 : dtype;
}
inline int64_t numComponents(DType dtype) { return isComplex(dtype) ? 2 : 1; }

/// "f64" ... "c128", as in manifests.
const char *dtypeName(DType dtype);
std::optional<DType> parseDType(std::string_view name);
/// Bytes per element in memory; i1, i4 and u4 take one byte.
int64_t dtypeSize(DType dtype);
/// Bits per element in files that pack: 4 for i4 and u4, else those in memory.
int64_t dtypeBits(DType dtype);
/// Complex numbers too.
inline bool isFloat(DType dtype) {
  return dtype <= DType::BF16 || (dtype >= DType::F8E4M3FN && dtype <= DType::F8E8M0FNU) || isComplex(dtype);
}
/// Same bits in memory: equal, or integers of one width.
bool sameBits(DType a, DType b);

using Shape = std::vector<int64_t>;
/// "4x8"; "scalar" for rank 0.
std::string shapeString(const Shape &shape);
/// Product of the sizes; std::nullopt if one is negative or the product (times 16
/// bytes) overflows.
std::optional<int64_t> numElements(const Shape &shape);

inline float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Round to nearest even; NaN stays NaN (quiet).
inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

inline float f16ToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) // Infinity and NaN.
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) // Normal.
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  float value = float(magnitude) * 0x1p-24f; // Subnormal: exact.
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

/// Round to nearest even; overflow gives infinity.
inline uint16_t floatToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) // Rounds to 65536 or more.
    return uint16_t(sign | 0x7c00u);
  if (magnitude >= 0x38800000u) { // Normal.
    uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
    return uint16_t(sign | ((rounded - (112u << 23)) >> 13));
  }
  // Subnormal: adding 0.5 puts the last kept bit at 2^-24 and rounds there.
  float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
}

/// A type of C++ for each dtype: the element as it lies in memory.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

/// Calls fn(T{}) with the memory type of `dtype`, one that programs compute with.
template <typename Fn> decltype(auto) dispatch(DType dtype, Fn &&fn) {
  switch (dtype) {
  case DType::F64:
    return fn(double{});
  case DType::F32:
    return fn(float{});
  case DType::F16:
    return fn(Half{});
  case DType::BF16:
    return fn(BFloat{});
  case DType::I64:
    return fn(int64_t{});
  case DType::I32:
    return fn(int32_t{});
  case DType::I16:
    return fn(int16_t{});
  case DType::I8:
    return fn(int8_t{});
  default:
    break;
  }
  return fn(Bool{});
}

inline double toDouble(double v) { return v; }
inline double toDouble(float v) { return v; }
inline double toDouble(Half v) { return f16ToFloat(v.bits); }
inline double toDouble(BFloat v) { return bf16ToFloat(v.bits); }
inline double toDouble(int64_t v) { return double(v); }
inline double toDouble(int32_t v) { return v; }
inline double toDouble(int16_t v) { return v; }
inline double toDouble(int8_t v) { return v; }
inline double toDouble(Bool v) { return v.value ? 1 : 0; }

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_DTYPE_H
