//===- ArithTest.cpp - PTX against the same text compiled for the host ----===//

#include "Calls.h"

#include <cmath>
#include <cstring>
#include <random>

namespace shardkit::emu::test {

// arith.c on the host. Kernels of 16-bit types have their bits here.
struct Pair {
  int a;
  float b;
  double c;
  short d[3];
};
extern "C" {
#define TWO(name, T) void name(T *, const T *, const T *, int);
TWO(int_s8, int8_t)
TWO(int_u8, uint8_t)
TWO(int_s16, int16_t)
TWO(int_u16, uint16_t)
TWO(int_s32, int32_t)
TWO(int_u32, uint32_t)
TWO(int_s64, int64_t)
TWO(int_u64, uint64_t)
TWO(bits32, uint32_t)
TWO(bits64, uint64_t)
TWO(float_f32, float)
TWO(float_f64, double)
TWO(float_f16, uint16_t)
TWO(float_bf16, uint16_t)
void convert_f32(const float *, int8_t *, uint8_t *, int16_t *, uint16_t *, int32_t *, uint32_t *, int64_t *,
                 uint64_t *, uint16_t *, uint16_t *, double *, int);
void convert_back(float *, const int8_t *, const uint8_t *, const int16_t *, const uint16_t *, const int32_t *,
                  const uint32_t *, const int64_t *, const uint64_t *, const uint16_t *, const uint16_t *,
                  const double *, int);
#ifdef __x86_64__
/// float to bf16, which GCC 12's library lacks; bf16 is returned in the register of vectors.
using InVector = short __attribute__((vector_size(16)));
__attribute__((weak)) InVector __truncsfbf2(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return InVector{short(f != f ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
#endif
void structure_host(double *, const int *, const Pair *, int);
void collatz(int *, const int *, int);
}

namespace {

constexpr int kThreads = 1000;

/// Bits of every kind: small, large, few, many; those of floats when they are floats.
template <typename T> std::vector<T> values(int seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::vector<T> out(kThreads);
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>) {
      double v = (double(int64_t(bits)) * 0x1p-63) * std::pow(10.0, double(i % 13) - 6);
      if (i % 31 == 5)
        v = double(int(i % 17)) - 8;
      out[i] = i % 97 == 3 ? T(INFINITY) : i % 89 == 7 ? T(NAN) : i % 83 == 1 ? T(-0.0) : T(v);
    } else {
      uint64_t v = bits >> (random() % (8 * sizeof(T)));
      out[i] = T(i % 11 == 0 ? i % 5 : i % 13 == 1 ? ~v : v);
      if (i % 41 == 2)
        out[i] = std::numeric_limits<T>::min();
      if (i % 43 == 2)
        out[i] = T(-1);
    }
  }
  return out;
}

template <typename T> bool isNaN(T v) {
  if constexpr (std::is_floating_point_v<T>)
    return v != v;
  return false;
}
template <typename T>
void expectSame(const std::vector<T> &got, const std::vector<T> &expected, size_t perThread,
                bool (*nan)(T) = isNaN<T>) {
  ASSERT_EQ(got.size(), expected.size());
  int shown = 0;
  for (size_t i = 0; i < got.size() && shown < 12; ++i)
    if (memcmp(&got[i], &expected[i], sizeof(T)) && !(nan(got[i]) && nan(expected[i]))) {
      ++shown;
      ADD_FAILURE() << "thread " << i / perThread << ", result " << i % perThread << ": " << +got[i] << ", expected "
                    << +expected[i];
    }
}

class Arith : public Emulated, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    Emulated::SetUp();
    load(std::string("arith.") + GetParam() + ".ptx");
  }
  template <typename T>
  void two(const char *name, void (*host)(T *, const T *, const T *, int), size_t results, bool (*nan)(T) = isNaN<T>) {
    SCOPED_TRACE(name);
    std::vector<T> a = values<T>(1), b = values<T>(2);
    for (size_t i = 3; i < a.size(); i += 19)
      b[i] = a[i];
    std::vector<T> expected(results * kThreads);
    host(expected.data(), a.data(), b.data(), kThreads);
    CUdeviceptr out = alloc(expected.size() * sizeof(T));
    launch(name, (kThreads + 127) / 128, 128, Arguments(out, upload(a), upload(b), kThreads));
    expectSame(download<T>(out, expected.size()), expected, results, nan);
  }
};

TEST_P(Arith, Integers) {
  two<int8_t>("int_s8", int_s8, 16);
  two<uint8_t>("int_u8", int_u8, 16);
  two<int16_t>("int_s16", int_s16, 16);
  two<uint16_t>("int_u16", int_u16, 16);
  two<int32_t>("int_s32", int_s32, 16);
  two<uint32_t>("int_u32", int_u32, 16);
  two<int64_t>("int_s64", int_s64, 16);
  two<uint64_t>("int_u64", int_u64, 16);
}

TEST_P(Arith, Bits) {
  two<uint32_t>("bits32", bits32, 12);
  two<uint64_t>("bits64", bits64, 8);
}

TEST_P(Arith, Floats) {
  two<float>("float_f32", float_f32, 20);
  two<double>("float_f64", float_f64, 20);
}

TEST_P(Arith, HalfPrecision) {
  two<uint16_t>("float_f16", float_f16, 20, [](uint16_t v) { return (v & 0x7fff) > 0x7c00; });
  two<uint16_t>("float_bf16", float_bf16, 8, [](uint16_t v) { return (v & 0x7fff) > 0x7f80; });
}

TEST_P(Arith, Conversions) {
  std::vector<float> a = values<float>(5);
  for (float &v : a) // In range of what they are converted to: the rest is undefined in C.
    v = std::isfinite(v) ? std::clamp(v * 50, -1e8f, 1e8f) : 3.5f;
  std::vector<int8_t> s8(kThreads);
  std::vector<uint8_t> u8(kThreads);
  std::vector<int16_t> s16(kThreads);
  std::vector<uint16_t> u16(kThreads), h(kThreads), b(kThreads);
  std::vector<int32_t> s32(kThreads);
  std::vector<uint32_t> u32(kThreads);
  std::vector<int64_t> s64(kThreads);
  std::vector<uint64_t> u64(kThreads);
  std::vector<double> d(kThreads);
  convert_f32(a.data(), s8.data(), u8.data(), s16.data(), u16.data(), s32.data(), u32.data(), s64.data(), u64.data(),
              h.data(), b.data(), d.data(), kThreads);
  CUdeviceptr o[11];
  const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 8};
  for (size_t i = 0; i < 11; ++i)
    o[i] = alloc(sizes[i] * kThreads);
  launch("convert_f32", 8, 128,
         Arguments(upload(a), o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], kThreads));
  expectSame(download<int8_t>(o[0], kThreads), s8, 1);
  expectSame(download<uint8_t>(o[1], kThreads), u8, 1);
  expectSame(download<int16_t>(o[2], kThreads), s16, 1);
  expectSame(download<uint16_t>(o[3], kThreads), u16, 1);
  expectSame(download<int32_t>(o[4], kThreads), s32, 1);
  expectSame(download<uint32_t>(o[5], kThreads), u32, 1);
  expectSame(download<int64_t>(o[6], kThreads), s64, 1);
  expectSame(download<uint64_t>(o[7], kThreads), u64, 1);
  expectSame(download<uint16_t>(o[8], kThreads), h, 1);
  expectSame(download<uint16_t>(o[9], kThreads), b, 1);
  expectSame(download<double>(o[10], kThreads), d, 1);

  s64 = values<int64_t>(8);
  u64 = values<uint64_t>(9);
  u32 = values<uint32_t>(10);
  s32 = values<int32_t>(11);
  d = values<double>(12);
  std::vector<float> expected(14 * kThreads);
  convert_back(expected.data(), s8.data(), u8.data(), s16.data(), u16.data(), s32.data(), u32.data(), s64.data(),
               u64.data(), h.data(), b.data(), d.data(), kThreads);
  CUdeviceptr out = alloc(expected.size() * 4);
  launch("convert_back", 8, 128,
         Arguments(out, upload(s8), upload(u8), upload(s16), upload(u16), upload(s32), upload(u32), upload(s64),
                   upload(u64), upload(h), upload(b), upload(d), kThreads));
  expectSame(download<float>(out, expected.size()), expected, 14);
}

TEST_P(Arith, CallsAndLocalMemory) {
  std::vector<int> a(kThreads);
  for (int i = 0; i < kThreads; ++i)
    a[size_t(i)] = i * 37 % 101 - 20;
  Pair p = {3, 1.25f, -7.5, {4, -5, 6}};
  std::vector<double> expected(kThreads);
  structure_host(expected.data(), a.data(), &p, kThreads);
  CUdeviceptr out = alloc(8 * kThreads);
  launch("structure", 8, 128, Arguments(out, upload(a), p, uint16_t(0x3e00) /* 1.5 */, uint8_t(17), kThreads));
  expectSame(download<double>(out, kThreads), expected, 1);
}

TEST_P(Arith, DivergentLoops) {
  std::vector<int> a(kThreads), expected(kThreads, 7);
  for (int i = 0; i < kThreads; ++i)
    a[size_t(i)] = i * 7 % 353;
  collatz(expected.data(), a.data(), kThreads);
  CUdeviceptr out = upload(std::vector<int>(kThreads, 7));
  launch("collatz", 8, 128, Arguments(out, upload(a), kThreads));
  expectSame(download<int>(out, kThreads), expected, 1);
}

INSTANTIATE_TEST_SUITE_P(Chips, Arith, testing::Values("sm_80", "sm_90"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace shardkit::emu::test
