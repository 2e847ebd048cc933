//===- ReshardPlanTest.cpp - Plans between layouts ----------------------===//

#include "Simulator.h"

using namespace shardkit_test;

namespace {
struct PlanCase {
  const char *from, *to, *expected;
};
} // namespace

static void checkCases(const Mesh &m, Shape shape, std::initializer_list<PlanCase> cases) {
  for (const PlanCase &c : cases) {
    SCOPED_TRACE(std::string(c.from) + " -> " + c.to);
    Layout from = layout(c.from, m, shape), to = layout(c.to, m, shape);
    EXPECT_EQ(kinds(planReshard(from, to)), c.expected);
    checkPlan(from, to, m.numDevices(), from.partial.empty() && to.partial.empty());
  }
}

TEST(Plan, SingleCollectives) {
  checkCases(mesh({2, 2}), {8, 8},
             {{"[{}, {}]", "[{}, {}]", ""},
              {"[{}, {}]", "[{\"x\"}, {}]", "all_slice"},
              {"[{\"x\"}, {}]", "[{}, {}]", "all_gather"},
              {"[{\"x\", \"y\"}, {}]", "[{}, {}]", "all_gather"},
              {"[{\"x\"}, {\"y\"}]", "[{}, {}]", "all_gather"},
              {"[{}, {}]", "[{\"x\"}, {2, \"y\"}]", "all_slice"},
              {"[{\"x\"}, {}]", "[{}, {\"x\"}]", "all_to_all"},
              {"[{\"x\", \"y\"}, {}]", "[{\"x\"}, {\"y\"}]", "all_to_all"},
              {"[{\"x\", \"y\"}, {}]", "[{}, {\"x\", \"y\"}]", "all_to_all"},
              {"[{2, \"x\"}, {}]", "[{\"x\"}, {}]", "all_to_all"},
              {"[{\"x\"}, {}]", "[{\"y\"}, {}]", "collective_permute"},
              {"[{\"x\"}, {\"y\"}]", "[{\"y\"}, {\"x\"}]", "collective_permute"},
              {"[{\"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]", "collective_permute"},
              {"[{\"x\"}, {\"y\"}]", "[{}, {\"x\", \"y\"}]", "exchange"}});
}

TEST(Plan, SlicesFirstAndGathersLast) {
  checkCases(mesh({2, 2}), {8, 8},
             {{"[{\"x\"}, {}]", "[{}, {\"y\"}]", "all_slice all_gather"},
              {"[{\"x\"}, {}]", "[{}, {\"x\", \"y\"}]", "all_slice all_to_all"},
              {"[{\"x\", \"y\"}, {}]", "[{}, {\"x\"}]", "all_to_all all_gather"},
              // A permute makes room, then a gather: at the bound.
              {"[{\"x\"}, {\"y\"}]", "[{}, {\"x\"}]", "collective_permute all_gather"}});
}

TEST(Plan, SubAxesAndStrides) {
  checkCases(mesh({4}), {8, 8},
             {{"[{\"x\"}, {}]", "[{\"x\":(1)2}, {}]", "all_gather"},
              {"[{\"x\"}, {}]", "[{\"x\":(1)2}, {\"x\":(2)2}]", "all_to_all"},
              {"[{\"x\":(2)2, \"x\":(1)2}, {}]", "[{\"x\"}, {}]", "collective_permute"},
              {"[{\"x\"}, {}]", "[{2, \"x\"}, {}]", "exchange"}});
  // The reshape example: native (2 . x2 . 2), requested (x2 . 4).
  Mesh m = mesh({2});
  Layout from = layout("[{2, \"x\"}]", m, {8}), to = layout("[{\"x\"}]", m, {8});
  EXPECT_EQ(receivedElements(from, to, 2), 4);
  checkCases(m, {8}, {{"[{2, \"x\"}]", "[{\"x\"}]", "all_to_all"}});
}

TEST(Plan, PartialDigitsAreScatteredToResultDims) {
  checkCases(mesh({2, 2}), {8, 8},
             {{"[{}, {}], unreduced = {\"x\"}", "[{}, {}]", "all_reduce"},
              {"[{}, {}], unreduced = {\"x\"}", "[{\"x\"}, {}]", "reduce_scatter"},
              {"[{}, {}], unreduced = {\"x\", \"y\"}", "[{\"x\"}, {\"y\"}]", "reduce_scatter"},
              {"[{}, {}], unreduced = {\"x\", \"y\"}", "[{\"x\"}, {}]", "reduce_scatter all_reduce"},
              {"[{\"y\"}, {}], unreduced = {\"x\"}", "[{}, {}]", "reduce_scatter all_gather"},
              {"[{}, {}], unreduced = {\"x\", \"y\"}", "[{}, {}], unreduced = {\"y\"}", "all_reduce"},
              {"[{}, {}], unreduced = {\"x\"}", "[{\"y\"}, {}], unreduced = {\"x\"}", "all_slice"},
              // A slice commutes with the reduction and makes it cheaper.
              {"[{}, {}], unreduced = {\"x\"}", "[{\"y\"}, {}]", "all_slice all_reduce"},
              // The dim of the result is in use: scattered elsewhere, moved, never replicated.
              {"[{\"y\"}, {}], unreduced = {\"x\"}", "[{\"x\"}, {\"y\"}]", "reduce_scatter collective_permute"},
              {"[{\"y\"}, {}], unreduced = {\"x\"}", "[{\"x\"}, {}]", "reduce_scatter collective_permute all_gather"},
              // With an exchange between the halves of an all-reduce it moves less.
              {"[{\"y\"}, {}], unreduced = {\"x\"}", "[{}, {\"y\"}]", "reduce_scatter collective_permute all_gather"}});
}

TEST(Plan, ReductionWithoutUnshardedDimReplicates) {
  checkCases(mesh({2, 2}), {2}, {{"[{\"y\"}], unreduced = {\"x\"}", "[{\"x\"}]", "all_reduce collective_permute"}});
  checkCases(mesh({2, 2}), {}, {{"[], unreduced = {\"x\"}", "[]", "all_reduce"}});
}

TEST(Plan, UnevenDims) {
  checkCases(mesh({2, 2}), {5, 4},
             {{"[{\"x\"}, {}]", "[{}, {}]", "all_gather"},
              {"[{}, {}]", "[{\"x\"}, {}]", "all_slice"},
              {"[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", "all_gather"},
              {"[{\"x\"}, {}]", "[{\"x\"}, {\"y\"}]", "all_slice"},
              {"[{\"x\"}, {}]", "[{\"x\", \"y\"}, {}]", "exchange"},
              {"[{\"x\"}, {}]", "[{}, {\"x\"}]", "exchange"},
              {"[{}, {\"x\"}]", "[{\"x\"}, {}]", "exchange"},
              {"[{\"x\"}, {}]", "[{\"y\"}, {}]", "collective_permute"},
              {"[{\"x\"}, {\"y\"}]", "[{\"y\"}, {}]", "exchange"},
              {"[{\"x\"}, {}], unreduced = {\"y\"}", "[{\"x\"}, {\"y\"}]", "reduce_scatter"},
              {"[{\"x\"}, {}], unreduced = {\"y\"}", "[{\"y\"}, {}]", "reduce_scatter exchange"}});
}

TEST(Plan, MisalignedDigits) {
  // 2 x 3 against 3 x 2.
  Mesh m = mesh({2, 3});
  checkCases(m, {6, 4},
             {{"[{\"x\"}, {}]", "[{\"y\"}, {}]", "exchange"}, {"[{\"x\"}, {}]", "[{\"y\", \"x\"}, {}]", "exchange"}});
  // Independent slices still come first.
  checkCases(mesh({2, 3, 2}), {6, 4},
             {{"[{\"x\"}, {}]", "[{\"y\"}, {\"z\"}]", "all_slice exchange"},
              {"[{\"x\"}, {}], unreduced = {\"y\"}", "[{\"y\"}, {\"z\"}]", "exchange reduce_scatter all_gather"}});
  // Rank digits that do not nest.
  Mesh six = mesh({6});
  checkCases(six, {12, 4},
             {{"[{\"x\":(1)2}, {}]", "[{\"x\":(3)2}, {}]", "collective_permute"},
              {"[{\"x\":(1)2}, {}], unreduced = {\"x\":(2)3}", "[{\"x\":(1)3}, {}]", "all_reduce exchange"}});
}

TEST(Plan, CompleteToPartialIsLeftOut) {
  Mesh m = mesh({2, 2});
  Layout from = layout("[{}]", m, {8});
  Layout to = layout("[{\"y\"}], unreduced = {\"x\"}", m, {8});
  auto plan = planReshard(from, to);
  ASSERT_EQ(kinds(plan), "all_slice");
  EXPECT_EQ(plan[0].to, layout("[{\"y\"}]", m, {8}));
  // Another kind of partial value is completed first.
  Layout maximum = layout("[{}], unreduced(max) = {\"x\"}", m, {8});
  Layout sum = layout("[{}], unreduced = {\"x\"}", m, {8});
  EXPECT_EQ(kinds(planReshard(maximum, sum)), "all_reduce");
}

TEST(Plan, GroupsAreMovedRankDigits) {
  Mesh m = mesh({2, 4});
  auto group = [&](const char *from, const char *to) {
    auto plan = planReshard(layout(from, m, {8, 8}), layout(to, m, {8, 8}));
    return plan.back().group;
  };
  using Group = llvm::SmallVector<RankDigit, 2>;
  EXPECT_EQ(group("[{\"x\"}, {}]", "[{}, {}]"), (Group{{4, 2}}));
  EXPECT_EQ(group("[{\"x\", \"y\"}, {}]", "[{}, {}]"), (Group{{1, 8}}));
  EXPECT_EQ(group("[{\"x\"}, {\"y\":(1)2}]", "[{}, {\"y\":(1)2}]"), (Group{{4, 2}}));
  EXPECT_EQ(group("[{}, {}], unreduced = {\"y\":(2)2}", "[{}, {}]"), (Group{{1, 2}}));
}

TEST(Volume, ClosedForms) {
  Mesh m = mesh({4});
  Layout none = layout("[{}]", m, {16}), x = layout("[{\"x\"}]", m, {16});
  EXPECT_EQ(receivedElements(none, x, 4), 0);
  EXPECT_EQ(receivedElements(x, none, 4), 48);
  EXPECT_EQ(receivedElements(x, x, 4), 0);
  EXPECT_EQ(receivedElements(x, none, 8), 96); // replicated over two more
  MoveVolume v = moveVolume(x, none, 4);
  EXPECT_EQ(v.largest, 12);
}

TEST(Volume, UnevenDims) {
  Mesh m = mesh({2, 2});
  Layout a = layout("[{\"x\"}, {}]", m, {5, 4});        // 3 2
  Layout b = layout("[{\"x\", \"y\"}, {}]", m, {5, 4}); // 2 2 1 0
  EXPECT_EQ(receivedElements(a, b, 4), 0 * 4 + 4 + 0 + 0);
  EXPECT_EQ(moveVolume(b, a, 4).total, bruteVolume(b, a, 4).total);
  EXPECT_EQ(moveVolume(b, a, 4).largest, bruteVolume(b, a, 4).largest);
}

TEST(Volume, LargeValuesWithoutEnumeration) {
  Mesh m = namedMesh({{"x", 512}, {"y", 64}});
  Shape shape{1 << 20, 1 << 20};
  Layout a = layout("[{\"x\"}, {\"y\"}]", m, shape);
  Layout b = layout("[{\"y\"}, {\"x\"}]", m, shape);
  int64_t block = int64_t(1) << 25; // 2^40 / 2^15
  // 64-way of x and y share; a rank owns at most one block.
  EXPECT_GT(receivedElements(a, b, m.numDevices()), 0);
  EXPECT_EQ(moveVolume(a, b, m.numDevices()).largest, block);
}
