//===- ReduceTest.cpp - Combiners and their corners -----------------------===//

#include "Support.h"

#include "shardkit/rt/Collectives/Reduce.h"

#include <cmath>
#include <limits>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

template <typename T> T reduceTwo(Reduction reduction, DType dtype, T a, T b) {
  const void *in[] = {&a, &b};
  T out;
  reduceStrided(reduction, dtype, in, 2, 1, &out, 1, 1);
  return out;
}

TEST(Reduce, maxAndMinPropagateNaNAndOrderZeros) {
  float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  auto f32 = [](Reduction r, float a, float b) { return reduceTwo(r, DType::F32, a, b); };
  EXPECT_TRUE(std::isnan(f32(Reduction::Max, nan, 1)));
  EXPECT_TRUE(std::isnan(f32(Reduction::Max, 1, nan)));
  EXPECT_TRUE(std::isnan(f32(Reduction::Min, 1, nan)));
  EXPECT_EQ(f32(Reduction::MaxNum, nan, 1), 1);
  EXPECT_EQ(f32(Reduction::MaxNum, 1, nan), 1);
  EXPECT_EQ(f32(Reduction::MinNum, nan, -inf), -inf);
  EXPECT_TRUE(std::isnan(f32(Reduction::MinNum, nan, nan)));
  EXPECT_FALSE(std::signbit(f32(Reduction::Max, -0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(f32(Reduction::Max, 0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(f32(Reduction::Min, 0.0f, -0.0f)));
}

TEST(Reduce, integersWrapAndKnowSigns) {
  EXPECT_EQ(reduceTwo<int8_t>(Reduction::Sum, DType::I8, 127, 1), -128);
  EXPECT_EQ(reduceTwo<int16_t>(Reduction::Prod, DType::I16, 300, 300), int16_t(90000));
  EXPECT_EQ(reduceTwo<int32_t>(Reduction::Max, DType::I32, -1, 1), 1);
  EXPECT_EQ(reduceTwo<int32_t>(Reduction::UMax, DType::I32, -1, 1), -1);
  EXPECT_EQ(reduceTwo<int64_t>(Reduction::UMin, DType::I64, -1, 1), 1);
  EXPECT_EQ(reduceTwo<int64_t>(Reduction::Min, DType::I64, -1, 1), -1);
}

TEST(Reduce, bitsFollowOneBitIntegers) {
  struct {
    Reduction reduction;
    int table[4]; // 00 01 10 11
  } cases[] = {{Reduction::Sum, {0, 1, 1, 0}}, {Reduction::Prod, {0, 0, 0, 1}}, {Reduction::And, {0, 0, 0, 1}},
               {Reduction::Or, {0, 1, 1, 1}},  {Reduction::Xor, {0, 1, 1, 0}},  {Reduction::Max, {0, 0, 0, 1}},
               {Reduction::Min, {0, 1, 1, 1}}, {Reduction::UMax, {0, 1, 1, 1}}, {Reduction::UMin, {0, 0, 0, 1}}};
  for (const auto &test : cases)
    for (uint8_t i = 0; i < 4; ++i)
      EXPECT_EQ(reduceTwo<uint8_t>(test.reduction, DType::I1, i >> 1, i & 1), test.table[i])
          << reductionName(test.reduction) << int(i);
}

TEST(Reduce, smallFloatsRoundOnce) {
  // 256 + 1 + 1 in bf16: rounding each step stays at 256, once gives 258.
  uint16_t a = floatToBf16(256), b = floatToBf16(1);
  const void *in[] = {&a, &b, &b};
  uint16_t out;
  reduceStrided(Reduction::Sum, DType::BF16, in, 3, 1, &out, 1, 1);
  EXPECT_EQ(bf16ToFloat(out), 258);
  uint16_t c = floatToF16(2048), d = floatToF16(1);
  const void *half[] = {&c, &d, &d};
  reduceStrided(Reduction::Sum, DType::F16, half, 3, 1, &out, 1, 1);
  EXPECT_EQ(f16ToFloat(out), 2050);
}

TEST(Reduce, addsFromLeftToRight) {
  float a = 1e8f, b = -1e8f, c = 1.0f;
  const void *first[] = {&a, &b, &c}, *last[] = {&c, &a, &b};
  float out;
  reduceStrided(Reduction::Sum, DType::F32, first, 3, 1, &out, 1, 1);
  EXPECT_EQ(out, 1.0f);
  reduceStrided(Reduction::Sum, DType::F32, last, 3, 1, &out, 1, 1);
  EXPECT_EQ(out, 0.0f);
}

TEST(Reduce, stridesAndLongRuns) {
  std::vector<int32_t> a(5000), b(5000), out(7500, -1);
  for (int i = 0; i < 5000; ++i)
    a[size_t(i)] = i, b[size_t(i)] = 3 * i;
  const void *in[] = {a.data(), b.data()};
  reduceStrided(Reduction::Sum, DType::I32, in, 2, 2, out.data(), 3, 2500);
  for (int i = 0; i < 2500; ++i) {
    EXPECT_EQ(out[size_t(3 * i)], 8 * i);
    EXPECT_EQ(out[size_t(3 * i + 1)], -1);
  }
}

} // namespace
