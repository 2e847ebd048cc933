//===- WidenedRowsAvx512.cpp - Rows of few bits with AVX-512 --------------===//
//
// Compiled with the options of these instructions: includes nothing whose inline functions others share.
//
//===----------------------------------------------------------------------===//

#include "WidenedRows.h"

#include "shardkit/rt/abi.h"

#include <immintrin.h>

namespace shardkit::rt {

namespace {

using Lanes = __m512;

inline __m128i bytesAt(const uint8_t *bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)); }
/// The largest of bytes without their signs.
using Bytes = __m128i;
inline Bytes noBytes() { return _mm_setzero_si128(); }
inline void note(Bytes &seen, __m128i bytes) { seen = _mm_max_epu8(seen, _mm_and_si128(bytes, _mm_set1_epi8(0x7f))); }
inline Lanes zero() { return _mm512_setzero_ps(); }
inline Lanes set(float value) { return _mm512_set1_ps(value); }
inline Lanes load(const float *from) { return _mm512_loadu_ps(from); }
inline void store(float *to, Lanes a) { _mm512_storeu_ps(to, a); }
inline Lanes multiply(Lanes a, Lanes b) { return _mm512_mul_ps(a, b); }
inline Lanes subtract(Lanes a, Lanes b) { return _mm512_sub_ps(a, b); }
inline Lanes add(Lanes a, Lanes b, Lanes c) { return _mm512_fmadd_ps(a, b, c); }

using Numbers = __m512i;
inline Numbers readNumbers(const uint8_t *bytes) { return _mm512_cvtepu8_epi32(bytesAt(bytes)); }
inline Numbers shiftRight(Numbers a, int32_t by) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(by)); }
/// The permutation reads the lowest four bits of each lane.
inline Lanes lookUp(Lanes values, Numbers numbers) { return _mm512_permutexvar_ps(numbers, values); }
inline Lanes widen(__m128i bytes) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)); }
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
inline Lanes readFloat8(const uint8_t *bytes, Bytes &seen) {
  const __m128i all = bytesAt(bytes);
  note(seen, all);
  const __m512i wide = _mm512_slli_epi32(_mm512_cvtepi8_epi32(all), 20);
  const __m512i bits = _mm512_and_si512(wide, _mm512_set1_epi32(int(0x87f00000)));
  return _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p120f));
}
inline bool hasNanByte(Bytes seen) { return _mm_movemask_epi8(_mm_cmpeq_epi8(seen, _mm_set1_epi8(0x7f))) != 0; }

#include "WidenedRows.inc"

} // namespace

const WidenedRowCode avx512WidenedRows = {sumNumbers, readInnerNumbers};

} // namespace shardkit::rt
