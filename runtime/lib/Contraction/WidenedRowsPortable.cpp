//===- WidenedRowsPortable.cpp - Rows of few bits on any processor --------===//

#include "WidenedRows.h"

#include "shardkit/rt/abi.h"

namespace shardkit::rt {

namespace {

struct Lanes {
  float at[16];
};

struct Bytes {};
inline Bytes noBytes() { return {}; }

template <typename Fn> inline Lanes each(Fn &&fn) {
  Lanes result;
  for (int l = 0; l < 16; ++l)
    result.at[l] = fn(l);
  return result;
}
inline Lanes zero() { return {}; }
inline Lanes set(float value) {
  return each([&](int) { return value; });
}
inline Lanes load(const float *from) {
  return each([&](int l) { return from[l]; });
}
inline void store(float *to, const Lanes &a) { __builtin_memcpy(to, a.at, sizeof a.at); }
inline Lanes multiply(const Lanes &a, const Lanes &b) {
  return each([&](int l) { return a.at[l] * b.at[l]; });
}
inline Lanes subtract(const Lanes &a, const Lanes &b) {
  return each([&](int l) { return a.at[l] - b.at[l]; });
}
inline Lanes add(const Lanes &a, const Lanes &b, const Lanes &c) {
  return each([&](int l) { return a.at[l] * b.at[l] + c.at[l]; });
}
static inline float decodeFloat8(uint8_t byte);
struct Numbers {
  uint8_t at[16];
};
inline Numbers readNumbers(const uint8_t *bytes) {
  Numbers numbers;
  __builtin_memcpy(numbers.at, bytes, sizeof numbers.at);
  return numbers;
}
inline Numbers shiftRight(Numbers a, int32_t by) {
  for (uint8_t &number : a.at)
    number = uint8_t(number >> by);
  return a;
}
inline Lanes lookUp(const Lanes &values, const Numbers &numbers) {
  return each([&](int l) { return values.at[numbers.at[l] & 15]; });
}
inline Lanes readSigned(const uint8_t *bytes) {
  return each([&](int l) { return float(int8_t(bytes[l])); });
}
inline Lanes readSix(const uint8_t *bytes, const uint8_t *high, int32_t shift, int32_t highShift) {
  return each([&](int l) { return float(int((bytes[l] >> shift & 15) | (high[l] >> highShift & 3) << 4) - 32); });
}
inline void readSixPair(const uint8_t *bytes, const uint8_t *high, int32_t shift, int32_t highShift, Lanes (&to)[2]) {
  for (int i = 0; i < 2; ++i)
    to[i] = readSix(bytes + 16 * i, high + 16 * i, shift, highShift);
}
inline Lanes readFloat8(const uint8_t *bytes, Bytes &) {
  return each([&](int l) { return decodeFloat8(bytes[l]); });
}
inline bool hasNanByte(Bytes) { return false; } // decodeFloat8 reads them

#include "WidenedRows.inc"

} // namespace

const WidenedRowCode portableWidenedRows = {sumNumbers, readInnerNumbers};

} // namespace shardkit::rt
