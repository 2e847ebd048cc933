//===- WidenedRowsAvx2.cpp - Rows of few bits with AVX2 and FMA -----------===//
//
// Compiled with the options of these instructions: includes nothing whose inline functions others share.
//
//===----------------------------------------------------------------------===//

#include "WidenedRows.h"

#include "shardkit/rt/abi.h"

#include <immintrin.h>

namespace shardkit::rt {

namespace {

struct Lanes {
  __m256 low, high;
};

inline __m128i bytesAt(const uint8_t *bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)); }
/// The largest of bytes without their signs.
using Bytes = __m128i;
inline Bytes noBytes() { return _mm_setzero_si128(); }
inline void note(Bytes &seen, __m128i bytes) { seen = _mm_max_epu8(seen, _mm_and_si128(bytes, _mm_set1_epi8(0x7f))); }
inline Lanes zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline Lanes set(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
inline Lanes load(const float *from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
inline void store(float *to, Lanes a) {
  _mm256_storeu_ps(to, a.low);
  _mm256_storeu_ps(to + 8, a.high);
}
inline Lanes multiply(Lanes a, Lanes b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline Lanes subtract(Lanes a, Lanes b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline Lanes add(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

/// Permutations read the lowest three bits of each lane; the fourth one chooses.
inline __m256 lookUpEight(Lanes values, __m256i numbers) {
  const __m256 low = _mm256_permutevar8x32_ps(values.low, numbers),
               high = _mm256_permutevar8x32_ps(values.high, numbers);
  return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(numbers, 28)));
}
struct Numbers {
  __m256i low, high;
};
inline Numbers readNumbers(const uint8_t *bytes) {
  const __m128i all = bytesAt(bytes);
  return {_mm256_cvtepu8_epi32(all), _mm256_cvtepu8_epi32(_mm_srli_si128(all, 8))};
}
inline Numbers shiftRight(Numbers a, int32_t by) {
  const __m128i count = _mm_cvtsi32_si128(by);
  return {_mm256_srl_epi32(a.low, count), _mm256_srl_epi32(a.high, count)};
}
inline Lanes lookUp(Lanes values, Numbers numbers) {
  return {lookUpEight(values, numbers.low), lookUpEight(values, numbers.high)};
}
inline Lanes widen(__m128i bytes) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
}
inline Lanes readSigned(const uint8_t *bytes) { return widen(bytesAt(bytes)); }
inline Lanes readSix(const uint8_t *bytes, const uint8_t *high, int32_t shift, int32_t highShift) {
  const __m128i low = _mm_and_si128(_mm_srl_epi16(bytesAt(bytes), _mm_cvtsi32_si128(shift)), _mm_set1_epi8(15));
  const __m128i two = _mm_and_si128(_mm_srl_epi16(bytesAt(high), _mm_cvtsi32_si128(highShift)), _mm_set1_epi8(3));
  return widen(_mm_sub_epi8(_mm_or_si128(low, _mm_slli_epi16(two, 4)), _mm_set1_epi8(32)));
}
/// 32 numbers that follow each other.
inline void readSixPair(const uint8_t *bytes, const uint8_t *high, int32_t shift, int32_t highShift, Lanes (&to)[2]) {
  const __m256i allLow = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes));
  const __m256i allHigh = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(high));
  const __m256i low = _mm256_and_si256(_mm256_srl_epi16(allLow, _mm_cvtsi32_si128(shift)), _mm256_set1_epi8(15));
  const __m256i two = _mm256_and_si256(_mm256_srl_epi16(allHigh, _mm_cvtsi32_si128(highShift)), _mm256_set1_epi8(3));
  const __m256i number = _mm256_sub_epi8(_mm256_or_si256(low, _mm256_slli_epi16(two, 4)), _mm256_set1_epi8(32));
  to[0] = widen(_mm256_castsi256_si128(number));
  to[1] = widen(_mm256_extracti128_si256(number, 1));
}
/// As the bits of an f32 with another bias. Not of a NaN.
inline __m256 readEight(__m128i bytes) {
  const __m256i wide = _mm256_slli_epi32(_mm256_cvtepi8_epi32(bytes), 20);
  const __m256i bits = _mm256_and_si256(wide, _mm256_set1_epi32(int(0x87f00000)));
  return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p120f));
}
inline Lanes readFloat8(const uint8_t *bytes, Bytes &seen) {
  const __m128i all = bytesAt(bytes);
  note(seen, all);
  return {readEight(all), readEight(_mm_srli_si128(all, 8))};
}
inline bool hasNanByte(Bytes seen) { return _mm_movemask_epi8(_mm_cmpeq_epi8(seen, _mm_set1_epi8(0x7f))) != 0; }

#include "WidenedRows.inc"

} // namespace

const WidenedRowCode avx2WidenedRows = {sumNumbers, readInnerNumbers};

} // namespace shardkit::rt
