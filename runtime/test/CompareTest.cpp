//===- CompareTest.cpp - Tolerances ---------------------------------------===//

#include "Support.h"

#include "shardkit/rt/Execution/Compare.h"

#include <cmath>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

Difference compareF32(std::vector<float> a, std::vector<float> b) {
  ValueInfo value;
  value.extents = Extents::identity(int64_t(a.size()));
  return compareLocal(value, 0, a.data(), b.data());
}

TEST(Compare, toleranceIsRelativeToTheLargestElement) {
  Tolerance tolerance = Tolerance::forDType(DType::F32);
  EXPECT_TRUE(compareF32({100, 1e-4f}, {100, 5e-4f}).within(DType::F32, tolerance));
  EXPECT_FALSE(compareF32({100, 1}, {100, 1.1f}).within(DType::F32, tolerance));
  EXPECT_EQ(compareF32({100, 1}, {100, 2}).unequal, 1);
}

TEST(Compare, toleranceGrowsWithRounding) {
  ValueInfo value;
  EXPECT_EQ(Tolerance::forResult(value).rtol, 1e-5);
  value.rounding = 1e-6; // 8e-6 is covered.
  EXPECT_EQ(Tolerance::forResult(value).rtol, 1e-5);
  value.rounding = 1e-5;
  EXPECT_DOUBLE_EQ(Tolerance::forResult(value).rtol, 8e-5);
  EXPECT_DOUBLE_EQ(Tolerance::forResult(value).atol, 8e-8);
  EXPECT_FALSE(Tolerance::forResult(value).exact);
  value.exact = true;
  EXPECT_TRUE(Tolerance::forResult(value).exact);
}

TEST(Compare, nanEqualsOnlyNan) {
  float nan = std::nanf(""), inf = HUGE_VALF;
  Tolerance exact{0, 0, true}, loose{1, 1, false};
  EXPECT_TRUE(compareF32({nan, inf}, {nan, inf}).within(DType::F32, exact));
  EXPECT_FALSE(compareF32({nan}, {1}).within(DType::F32, loose));
  EXPECT_FALSE(compareF32({1}, {nan}).within(DType::F32, loose));
  EXPECT_FALSE(compareF32({inf}, {-inf}).within(DType::F32, loose));
  EXPECT_FALSE(compareF32({1}, {inf}).within(DType::F32, loose));
}

TEST(Compare, errorIsAFractionOfTheTolerance) {
  const Difference difference = compareF32({100, 1}, {100, 1.5f});
  EXPECT_DOUBLE_EQ(difference.fractionOf(DType::F32, {0.01, 1, false}), 0.25);
  EXPECT_DOUBLE_EQ(difference.fractionOf(DType::F32, {0.001, 0.15, false}), 2);
  EXPECT_EQ(difference.fractionOf(DType::F32, {0, 0, true}), 0);
  EXPECT_EQ(compareF32({1}, {1}).fractionOf(DType::F32, {0, 0, false}), 0);
}

TEST(Compare, exactComparesBits) {
  Tolerance exact{0, 0, true};
  EXPECT_FALSE(compareF32({0.0f}, {-0.0f}).within(DType::F32, exact));
  EXPECT_TRUE(compareF32({0.0f}, {-0.0f}).within(DType::F32, {0, 0, false}));
}

TEST(Compare, componentsOfComplexNumbersAreElements) {
  ValueInfo value;
  value.dtype = DType::C64;
  value.extents = Extents::identity(2);
  std::vector<float> a = {1, 2, 3, 100}, b = {1, 2, 3.5, 100};
  const Difference difference = compareLocal(value, 0, a.data(), b.data());
  EXPECT_EQ(difference.elements, 4);
  EXPECT_EQ(difference.unequal, 1);
  EXPECT_EQ(difference.maxAbs, 0.5);
  EXPECT_EQ(difference.maxReference, 100);
  EXPECT_FALSE(difference.within(DType::C64, Tolerance::forDType(DType::C64)));
  EXPECT_TRUE(difference.within(DType::C64, {0.01, 0, false}));
}

TEST(Compare, largeIntegersAreNotRounded) {
  ValueInfo value;
  value.dtype = DType::I64;
  value.extents = Extents::identity(1);
  int64_t a = (int64_t(1) << 60) + 1, b = int64_t(1) << 60;
  EXPECT_FALSE(compareLocal(value, 0, &a, &b).within(DType::I64, {1, 1, false}));
}

} // namespace
