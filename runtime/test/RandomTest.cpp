//===- RandomTest.cpp - Random tensors are the same on every mesh ---------===//

#include "Support.h"

#include "shardkit/rt/Loading/Random.h"

#include <cmath>
#include <set>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

TEST(Random, isTheSameOnEveryMesh) {
  for (DType dtype : allDTypes) {
    ValueInfo value;
    value.name = "x";
    value.kind = ValueKind::Weight;
    value.dtype = dtype;
    value.globalShape = {12, 16};
    value.globalElements = 192;
    RandomTensor random = RandomTensor::forValue(value, 7);
    std::vector<char> full(192 * 8), part(192 * 8), expected(192 * 8);
    random.fill(full.data(), 1, 0, 1, 192);
    value.extents = {{{1, 4, 4}}, {{12, 16, 4}, {4, 1, 1}}};
    int64_t size = dtypeSize(dtype);
    forEachPiece(coalesceLoops(value.extents, 2), value.extents.base(2),
                 [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                   random.fill(part.data() + l * size, ls, g, gs, n);
                 });
    gatherLocal(value.extents, 2, dtypeSize(dtype), full.data(), expected.data());
    EXPECT_EQ(part, expected);
    for (int64_t i = 0; i < 192; ++i) {
      double v = getElement(dtype, full.data(), i);
      if (isFloat(dtype)) {
        EXPECT_GE(v, -0.25);
        EXPECT_LT(v, 0.25);
      } else {
        EXPECT_TRUE(v == 0 || v == 1);
      }
    }
  }
}

TEST(Random, complexNumbersHaveTwoComponents) {
  ValueInfo value;
  value.name = "x";
  value.dtype = DType::C128;
  value.globalShape = {40};
  std::vector<double> full(80), last(4);
  RandomTensor random = RandomTensor::forValue(value, 7);
  random.fill(full.data(), 1, 0, 1, 40);
  std::set<double> distinct(full.begin(), full.end());
  EXPECT_EQ(distinct.size(), 80u);
  EXPECT_GE(*distinct.begin(), -1);
  EXPECT_LT(*distinct.rbegin(), 1);
  random.fill(last.data(), 1, 35, 4, 2); // Places 35 and 39.
  EXPECT_EQ(last, (std::vector<double>{full[70], full[71], full[78], full[79]}));
}

TEST(Random, rangesAndSeeds) {
  ValueInfo value;
  value.name = "ids";
  value.dtype = DType::I32;
  value.globalShape = {1000};
  value.range = {-3, 30000};
  auto draw = [&](uint64_t seed) {
    std::vector<int32_t> v(1000);
    RandomTensor::forValue(value, seed).fill(v.data(), 1, 0, 1, 1000);
    return v;
  };
  std::vector<int32_t> v = draw(1);
  EXPECT_GE(*std::min_element(v.begin(), v.end()), -3);
  EXPECT_LT(*std::max_element(v.begin(), v.end()), 30000);
  EXPECT_GT(*std::max_element(v.begin(), v.end()), 29000);
  EXPECT_EQ(v, draw(1));
  EXPECT_NE(v, draw(2));
  value.name = "other";
  EXPECT_NE(v, draw(1));
  RandomTensor narrow = RandomTensor::forValue(value, 1, std::pair(5, 6));
  narrow.fill(v.data(), 1, 0, 1, 1000);
  EXPECT_EQ(v, std::vector<int32_t>(1000, 5));
}

} // namespace
