//===- LayoutTest.cpp - What shardings mean -------------------------------===//

#include "Simulator.h"

using namespace shardkit_test;
using Indices = llvm::SmallVector<int64_t>;

TEST(Layout, AxisOwnsADigitOfTheIndex) {
  Mesh m = mesh({2});
  Layout l = layout("[{}, {\"x\"}]", m, {2, 4});
  ASSERT_EQ(l.digits.size(), 1u);
  EXPECT_EQ(l.digits[0], (Digit{2, 4, 1}));
  EXPECT_EQ(l.localShape(), (Shape{2, 2}));
  EXPECT_EQ(l.ownedIndices(1), (Indices{2, 3, 6, 7}));
}

TEST(Layout, StrideIsRepeatedDeviceList) {
  // tensor<8> on [0, 1, 0, 1]: i = (g*2 + c)*2 + t.
  Mesh m = mesh({2});
  Layout l = layout("[{2, \"x\"}]", m, {8});
  EXPECT_EQ(l.ownedIndices(0), (Indices{0, 1, 4, 5}));
  EXPECT_EQ(l.ownedIndices(1), (Indices{2, 3, 6, 7}));
  EXPECT_EQ(l.localShape(), Shape{4});
  Layout plain = layout("[{\"x\"}]", mesh({4}), {8});
  EXPECT_EQ(plain.digits[0], (Digit{2, 8, 1}));
  EXPECT_EQ(plain.ownedIndices(1), (Indices{2, 3}));
}

TEST(Layout, OwnedIntervals) {
  using Intervals = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;
  Mesh m = mesh({2, 3});
  Layout l = layout("[{2, \"x\"}, {\"y\"}]", m, {8, 7}); // 3 does not divide 7
  EXPECT_EQ(l.getOwnedIntervals(0, 4, 9), (Intervals{{2, 4}, {6, 8}}));
  EXPECT_EQ(l.getOwnedIntervals(0, 4, 1), (Intervals{{2, 4}}));
  EXPECT_EQ(l.getOwnedIntervals(1, 4, 9), (Intervals{{3, 6}}));
  EXPECT_EQ(l.getOwnedIntervals(1, 5, 9), (Intervals{{6, 7}}));
  EXPECT_EQ(layout("[{\"x\", \"y\"}]", m, {4}).getOwnedIntervals(0, 5, 9), Intervals{});
}

TEST(Layout, DigitsJoinAcrossDims) {
  Mesh m = mesh({4});
  Layout l = layout("[{\"x\":(1)2}, {\"x\":(2)2}]", m, {2, 4});
  ASSERT_EQ(l.digits.size(), 1u);
  EXPECT_EQ(l.digits[0], (Digit{2, 8, 1}));
  EXPECT_EQ(l.localShape(), (Shape{1, 2}));
  Layout other = layout("[{\"x\":(2)2}, {\"x\":(1)2}]", m, {2, 4});
  EXPECT_EQ(other.digits.size(), 2u);
  EXPECT_NE(l, other);
}

TEST(Layout, CoalesceTruthTable) {
  auto joined = [](llvm::SmallVector<Digit, 4> digits) {
    coalesce(digits);
    Layout l;
    l.digits.assign(digits.begin(), digits.end());
    return l.toString();
  };
  EXPECT_EQ(joined({{4, 8, 2}, {2, 4, 1}}), " {[2, 8)@1}");
  EXPECT_EQ(joined({{2, 4, 1}, {4, 8, 2}}), " {[2, 8)@1}");
  EXPECT_EQ(joined({{4, 8, 1}, {2, 4, 2}}), " {[4, 8)@1, [2, 4)@2}");
  EXPECT_EQ(joined({{8, 16, 2}, {2, 4, 1}}), " {[8, 16)@2, [2, 4)@1}");
  EXPECT_EQ(joined({{4, 8, 4}, {2, 4, 1}}), " {[4, 8)@4, [2, 4)@1}");
  EXPECT_EQ(joined({{4, 4, 7}}), " {}");
  llvm::SmallVector<RankDigit, 2> ranks{{1, 2}, {2, 3}};
  coalesce(ranks);
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0], (RankDigit{1, 6}));
  ranks = {{1, 2}, {4, 2}};
  coalesce(ranks);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0], (RankDigit{4, 2}));
}

TEST(Layout, UnevenDimHasCeilChunks) {
  Mesh m = mesh({2, 2});
  Layout l = layout("[{\"x\", \"y\"}]", m, {5}); // chunks 2 2 1 0
  EXPECT_TRUE(l.digits.empty());
  ASSERT_EQ(l.uneven.size(), 1u);
  ASSERT_EQ(l.uneven[0].ranks.size(), 1u); // joined
  EXPECT_EQ(l.localShape(), Shape{2});
  EXPECT_EQ(l.ownedIndices(0), (Indices{0, 1}));
  EXPECT_EQ(l.ownedIndices(2), (Indices{4}));
  EXPECT_EQ(l.ownedIndices(3), (Indices{}));
  // Minor axis first: coordinate k = y * 2 + x.
  Layout swapped = layout("[{\"y\", \"x\"}]", m, {5});
  EXPECT_EQ(swapped.ownedIndices(1), (Indices{4}));
  EXPECT_NE(l, swapped);
}

TEST(Layout, UnitDimIsUnevenOnAnAxis) {
  Mesh m = mesh({2});
  Layout l = layout("[{\"x\"}, {}]", m, {1, 3});
  EXPECT_EQ(l.uneven.size(), 1u);
  EXPECT_EQ(l.localShape(), (Shape{1, 3}));
  EXPECT_EQ(l.ownedIndices(0), (Indices{0, 1, 2}));
  EXPECT_TRUE(l.ownedIndices(1).empty());
}

TEST(Layout, EmptyValueHasNoDigits) {
  Mesh m = mesh({2});
  Layout l = layout("[{\"x\"}, {}], unreduced = {}", m, {4, 0});
  EXPECT_EQ(l, Layout::replicated({4, 0}));
  EXPECT_EQ(l.localShape(), (Shape{4, 0}));
  EXPECT_EQ(l.numElements(), 0);
  EXPECT_TRUE(l.fitsShape());
  EXPECT_TRUE(planReshard(l, Layout::replicated({4, 0})).empty());
  // An unknown size.
  Layout unknown = Layout::get(sharding("[{\"x\"}]", m), m, {INT64_MIN});
  EXPECT_TRUE(unknown.digits.empty());
}

TEST(Layout, AxesOfSizeOneHaveNoDigits) {
  Mesh m = namedMesh({{"x", 2}, {"u", 1}});
  EXPECT_EQ(layout("[{\"x\", \"u\"}]", m, {4}), layout("[{\"x\"}]", m, {4}));
  EXPECT_EQ(layout("[{\"u\"}]", m, {5}), Layout::replicated({5}));
  EXPECT_EQ(layout("[{}], unreduced = {\"u\"}", m, {5}), Layout::replicated({5}));
}

TEST(Layout, ToShardingSplitsDigitsAtAxes) {
  Mesh m43 = namedMesh({{"x", 4}, {"y", 3}});
  auto express = [](const Layout &l, const Mesh &m) -> std::string {
    auto s = l.toSharding(m);
    return s ? toString(*s, m) : "nothing";
  };
  auto rankDigit = [](int64_t stride, int64_t size) {
    Layout l = Layout::replicated({24 * size});
    l.digits.push_back({24, 24 * size, stride});
    return l;
  };
  EXPECT_EQ(express(rankDigit(3, 4), m43), "[{\"x\"}]");
  EXPECT_EQ(express(rankDigit(3, 2), m43), "[{\"x\":(2)2}]");
  EXPECT_EQ(express(rankDigit(1, 6), m43), "[{\"x\":(2)2, \"y\"}]");
  EXPECT_EQ(express(rankDigit(1, 2), m43), "nothing");
  EXPECT_EQ(express(rankDigit(2, 3), m43), "nothing");
  // Another view of the same devices.
  Mesh m23 = namedMesh({{"x", 2}, {"y", 3}});
  Mesh m32 = namedMesh({{"u", 3}, {"v", 2}});
  EXPECT_EQ(express(layout("[{\"x\", \"y\"}]", m23, {6}), m32), "[{\"u\", \"v\"}]");
  EXPECT_EQ(express(layout("[{\"x\"}]", m23, {6}), m32), "nothing");
  EXPECT_EQ(express(layout("[{\"x\"}], unreduced(max) = {\"y\"}", m23, {6}), m23),
            "[{\"x\"}], unreduced(max) = {\"y\"}");
  EXPECT_EQ(express(layout("[{\"y\", \"x\"}]", m23, {5}), m23), "[{\"y\", \"x\"}]");
}
