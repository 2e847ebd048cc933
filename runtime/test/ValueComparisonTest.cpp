//===- ValueComparisonTest.cpp - Values of two programs, as made ----------===//

#include "Support.h"

#include "shardkit/rt/Execution/ValueComparison.h"

#include <thread>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

const auto neverFails = [] { return false; };

/// A value of `size` f32 that `shards` ranks hold in chunks.
ProbeInfo chunked(int64_t size, int64_t shards) {
  ProbeInfo probe;
  const int64_t chunk = (size + shards - 1) / shards;
  probe.value.globalShape = {size};
  probe.value.localShape = {chunk};
  probe.value.globalElements = size;
  probe.value.localElements = chunk;
  probe.value.extents.loops = {{chunk, 1, 1}};
  if (size % shards)
    probe.value.extents.uneven = {{0, size, {{1, shards}}}};
  else
    probe.value.extents.offset = {{1, shards, chunk}};
  return probe;
}

FunctionInfo functionOf(std::vector<ProbeInfo> probes, int64_t devices) {
  FunctionInfo function;
  function.devices = devices;
  function.probes = std::move(probes);
  return function;
}

TEST(ValueComparison, paddingIsNotCompared) {
  const FunctionInfo function = functionOf({chunked(3, 2)}, 2);
  ValueComparison values(function, {0, 2}, {});
  const std::vector<float> full = {1, 2, 3}, first = {1, 2}, second = {3, 99};
  ASSERT_TRUE(values.addFull(0, full.data()).ok());
  ASSERT_TRUE(values.compare(1, 0, second.data(), neverFails).ok());
  ASSERT_TRUE(values.compare(0, 0, first.data(), neverFails).ok());
  EXPECT_FALSE(values.first());
  EXPECT_EQ(values.differences()[0].times, 1);
  EXPECT_EQ(values.differences()[0].difference.elements, 3);
}

TEST(ValueComparison, namesTheFirstThatWasMade) {
  const FunctionInfo function = functionOf({chunked(4, 2), chunked(4, 2)}, 2);
  ValueComparison values(function, {0, 2}, {});
  const std::vector<float> full = {1, 2, 3, 4}, right = {1, 2}, wrong = {3, 5};
  for (int64_t id : {1, 0, 1})
    ASSERT_TRUE(values.addFull(id, full.data()).ok());
  // The second time of value 1 is compared before value 0.
  for (int64_t id : {1, 1, 0}) {
    ASSERT_TRUE(values.compare(0, id, right.data(), neverFails).ok());
    ASSERT_TRUE(
        values
            .compare(1, id, id == 1 && values.differences()[1].times == 0 ? full.data() + 2 : wrong.data(), neverFails)
            .ok());
  }
  ASSERT_TRUE(values.first());
  EXPECT_EQ(values.first()->id, 0);
  EXPECT_EQ(values.first()->position, 1);
  EXPECT_EQ(values.first()->rank, 1);
  EXPECT_EQ(values.first()->elements.first, Shape{3});
  EXPECT_EQ(values.first()->elements.firstLocal, Shape{1});
  EXPECT_EQ(values.first()->elements.mine, 5);
  EXPECT_EQ(values.first()->elements.theirs, 4);
  EXPECT_FALSE(values.differences()[1].isWithin);
}

TEST(ValueComparison, partialValuesAreAddedUp) {
  ProbeInfo probe = chunked(2, 1);
  probe.reduction = Reduction::Sum;
  probe.partial = {{1, 2}};
  const FunctionInfo function = functionOf({probe}, 2);
  ValueComparison values(function, {0, 2}, {});
  const std::vector<float> full = {3, 5}, first = {1, 5}, second = {2, 0};
  ASSERT_TRUE(values.addFull(0, full.data()).ok());
  ASSERT_TRUE(values.compare(0, 0, first.data(), neverFails).ok());
  EXPECT_EQ(values.differences()[0].times, 0);
  ASSERT_TRUE(values.compare(1, 0, second.data(), neverFails).ok());
  EXPECT_FALSE(values.first());
  EXPECT_EQ(values.differences()[0].times, 1);
}

TEST(ValueComparison, aValueOfOneProgramAloneIsMissing) {
  const FunctionInfo function = functionOf({chunked(2, 1)}, 1);
  ValueComparison values(function, {0, 1}, {});
  values.endFull();
  const std::vector<float> mine = {1, 2};
  ASSERT_TRUE(values.compare(0, 0, mine.data(), neverFails).ok());
  ASSERT_TRUE(values.first());
  EXPECT_TRUE(values.first()->isMissing);
}

/// The full program is far ahead and may keep one value, while the rank reads them in another order.
TEST(ValueComparison, neitherWaitsForTheOther) {
  const FunctionInfo function = functionOf({chunked(4, 1), chunked(4, 1), chunked(4, 1)}, 1);
  ComparisonOptions options;
  options.maxBytes = 16;
  ValueComparison values(function, {0, 1}, options);
  const std::vector<float> full = {1, 2, 3, 4};
  std::thread thread([&] {
    for (int64_t id : {0, 1, 2})
      EXPECT_TRUE(values.addFull(id, full.data()).ok());
    values.endFull();
  });
  for (int64_t id : {2, 0, 1})
    EXPECT_TRUE(values.compare(0, id, full.data(), neverFails).ok());
  values.endRanks();
  thread.join();
  EXPECT_FALSE(values.first());
  for (const ProbeDifference &known : values.differences())
    EXPECT_EQ(known.times, 1);
}

TEST(ValueComparison, anUnknownNumberIsAnError) {
  const FunctionInfo function = functionOf({chunked(2, 1)}, 1);
  ValueComparison values(function, {0, 1}, {});
  const std::vector<float> data = {1, 2};
  EXPECT_FALSE(values.addFull(1, data.data()).ok());
  EXPECT_FALSE(values.compare(0, -1, data.data(), neverFails).ok());
}

} // namespace
