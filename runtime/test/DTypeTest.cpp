//===- DTypeTest.cpp - Conversions of small floats ------------------------===//

#include "Support.h"

#include <cmath>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

TEST(DType, halfRoundTripsExhaustively) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f16ToFloat(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(value))));
    else
      EXPECT_EQ(floatToF16(value), bits);
    float wide = bf16ToFloat(uint16_t(bits));
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(wide))));
    else
      EXPECT_EQ(floatToBf16(wide), bits);
  }
}

TEST(DType, halfRoundsToNearestEven) {
  // Between any two neighbours: the nearer one, and at the middle the even one.
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    float low = f16ToFloat(uint16_t(bits)), high = f16ToFloat(uint16_t(bits + 1));
    float middle = 0.5f * (low + high);
    EXPECT_EQ(floatToF16(middle), (bits & 1) ? bits + 1 : bits);
    EXPECT_EQ(floatToF16(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(floatToF16(std::nextafter(middle, 1e9f)), bits + 1);
    EXPECT_EQ(floatToF16(-middle), 0x8000u | ((bits & 1) ? bits + 1 : bits));
  }
  EXPECT_EQ(floatToF16(65519.0f), 0x7bff);
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(1e30f), 0x7c00);
}

TEST(DType, brainRoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(1.0f), 0x3f80);
  EXPECT_EQ(floatToBf16(1.00390625f), 0x3f80); // Halfway, even below.
  EXPECT_EQ(floatToBf16(1.01171875f), 0x3f82); // Halfway, even above.
  EXPECT_EQ(floatToBf16(3.4e38f), 0x7f80);
}

TEST(DType, namesRoundTrip) {
  for (DType dtype : allDTypes)
    EXPECT_EQ(parseDType(dtypeName(dtype)), dtype);
  EXPECT_FALSE(parseDType("f31"));
}

TEST(DType, elementCountsRefuseOverflow) {
  EXPECT_EQ(numElements({}), 1);
  EXPECT_EQ(numElements({3, 4}), 12);
  EXPECT_EQ(numElements({0, int64_t(1) << 62}), std::nullopt);
  EXPECT_EQ(numElements({0, 7}), 0);
  EXPECT_EQ(numElements({-1}), std::nullopt);
}
