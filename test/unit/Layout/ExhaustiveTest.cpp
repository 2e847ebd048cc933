//===- ExhaustiveTest.cpp - All pairs of layouts of small values ----------===//
//
// Every layout to every layout, on meshes of up to 8 devices: each plan is run
// on buffers, and receives exactly the elements that devices lack.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"
#include <algorithm>
#include <numeric>

using namespace shardkit_test;

namespace {
struct Case {
  std::initializer_list<int64_t> mesh, shape;
  bool uneven;
};
} // namespace

static size_t checkAllPairs(const Case &c) {
  Mesh m = mesh(c.mesh);
  std::vector<Layout> layouts = allLayouts(m, Shape(c.shape), c.uneven);
  for (const Layout &from : layouts)
    for (const Layout &to : layouts) {
      checkPlan(from, to, m.numDevices(), /*expectBound=*/true, &m);
      if (testing::Test::HasFailure())
        return 0;
    }
  return layouts.size() * layouts.size();
}

TEST(Exhaustive, EvenLayoutsAttainTheBound) {
  size_t pairs = 0;
  for (const Case &c : std::initializer_list<Case>{
           {{2}, {4, 2}, false},       {{3}, {3, 6}, false},       {{4}, {4, 4}, false},
           {{4}, {8}, false},          {{6}, {6, 2}, false},       {{6}, {12}, false},
           {{8}, {8}, false},          {{8}, {4, 4}, false},       {{2, 2}, {4, 4}, false},
           {{2, 3}, {6, 6}, false},    {{3, 2}, {12}, false},      {{2, 4}, {4, 4}, false},
           {{4, 2}, {2, 2, 2}, false}, {{2, 2, 2}, {4, 2}, false}, {{2, 2, 2}, {2, 2, 2}, false},
           {{8}, {2, 6, 2}, false},    {{6}, {6, 6}, false},       {{2, 3}, {12, 3}, false},
           {{3, 2}, {2, 3, 6}, false}, {{2, 4}, {8, 2}, false},    {{2, 2, 2}, {4, 4}, false}}) {
    SCOPED_TRACE(mesh(c.mesh).axesToString());
    pairs += checkAllPairs(c);
    if (HasFailure())
      return;
  }
  EXPECT_GT(pairs, 33000u);
  RecordProperty("pairs", std::to_string(pairs));
}

TEST(Exhaustive, UnevenLayoutsAttainTheBound) {
  size_t pairs = 0;
  for (const Case &c : std::initializer_list<Case>{{{2}, {3, 5}, true},
                                                   {{4}, {5, 2}, true},
                                                   {{5}, {7, 3}, true},
                                                   {{7}, {9}, true},
                                                   {{8}, {3, 5}, true},
                                                   {{2, 2}, {5, 4}, true},
                                                   {{2, 2}, {1, 3}, true},
                                                   {{2, 3}, {5, 6}, true},
                                                   {{3, 2}, {4, 7}, true},
                                                   {{2, 4}, {5, 3}, true},
                                                   {{2, 2, 2}, {3, 5}, true},
                                                   {{2, 2, 2}, {7}, true},
                                                   {{3, 2}, {5, 7, 2}, true},
                                                   {{2, 4}, {9, 10}, true},
                                                   {{2, 2, 2}, {5, 6}, true},
                                                   {{2, 2, 2}, {3, 5, 2}, true}}) {
    SCOPED_TRACE(mesh(c.mesh).axesToString());
    pairs += checkAllPairs(c);
    if (HasFailure())
      return;
  }
  EXPECT_GT(pairs, 19000u);
  RecordProperty("pairs", std::to_string(pairs));
}

TEST(Exhaustive, ViewsAttainTheBound) {
  size_t pairs = 0;
  for (auto [a, b, size] : std::initializer_list<std::tuple<Mesh, Mesh, Shape>>{{mesh({2, 3}), mesh({3, 2}), {6, 6}},
                                                                                {mesh({2, 3}), mesh({6}), {12, 2}},
                                                                                {mesh({2, 4}), mesh({4, 2}), {8, 2}},
                                                                                {mesh({2, 3}), mesh({3, 2}), {5, 3}}}) {
    SCOPED_TRACE(a.axesToString() + " -> " + b.axesToString());
    for (const Layout &from : allLayouts(a, size, true))
      for (const Layout &to : allLayouts(b, size, true)) {
        checkPlan(from, to, a.numDevices(), /*expectBound=*/true);
        ++pairs;
        if (HasFailure())
          return;
      }
  }
  EXPECT_GT(pairs, 2000u);
}

/// Runs a plan between two orders of the devices, and counts received elements.
static void checkReorder(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> order) {
  int64_t devices = order.size(), total = 0, bound = 0;
  ReshardPlan plan = planReshard(from, to, {nullptr, nullptr, nullptr, order});
  SCOPED_TRACE(toString(plan));
  Layout cur = from;
  Buffers data = makeBuffers(from, devices);
  unsigned crossings = 0;
  for (const PlanStep &step : plan) {
    EXPECT_EQ(step.from, cur);
    bool reorders = !step.order.empty();
    auto transfer = computeTransfer(step.from, step.to, reorders);
    ASSERT_TRUE(transfer.has_value());
    int64_t received = 0;
    data = runTransfer(*transfer, step.to.numLocalElements(), data, received, step.order);
    MoveVolume volume = reorders ? moveVolume(step.from, step.to, order) : moveVolume(step.from, step.to, devices);
    if (step.from.partial.empty())
      EXPECT_EQ(received, volume.total);
    if (step.kind == CollectiveKind::AllSlice)
      EXPECT_EQ(received, 0);
    total += received;
    crossings += reorders;
    cur = step.to;
  }
  EXPECT_EQ(crossings, 1u);
  EXPECT_EQ(cur, to);
  EXPECT_TRUE(sameBuffers(to, data, makeBuffers(to, devices)));
  if (!from.partial.empty())
    return;
  for (int64_t rank = 0; rank < devices; ++rank) {
    auto has = from.ownedIndices(rank), wants = to.ownedIndices(order[rank]);
    for (int64_t i : wants)
      bound += !std::binary_search(has.begin(), has.end(), i);
  }
  EXPECT_EQ(total, bound);
}

TEST(Exhaustive, OtherDeviceOrdersAttainTheBound) {
  for (auto [a, b, size] : std::initializer_list<std::tuple<Mesh, Mesh, Shape>>{{mesh({4}), mesh({4}), {8}},
                                                                                {mesh({2, 2}), mesh({2, 2}), {4, 2}},
                                                                                {mesh({2, 3}), mesh({3, 2}), {6, 4}},
                                                                                {mesh({5}), mesh({5}), {7, 2}}}) {
    std::vector<Layout> sources = allLayouts(a, size, true), targets = allLayouts(b, size, true);
    llvm::SmallVector<int64_t> order(a.numDevices());
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < 6; ++round) {
      // The reverse order first: it permutes values of digits, not digits.
      if (round)
        std::shuffle(order.begin(), order.end(), std::mt19937(round));
      else
        std::reverse(order.begin(), order.end());
      if (std::is_sorted(order.begin(), order.end()))
        continue;
      for (const Layout &from : sources)
        for (const Layout &to : targets) {
          checkReorder(from, to, order);
          if (HasFailure())
            return;
        }
      for (Layout from : sources) {
        if (!from.digits.empty() || !from.uneven.empty())
          continue;
        from.partial = {{1, a.axes.back().size}};
        for (const Layout &to : targets)
          checkReorder(from, to, order);
      }
    }
  }
}

TEST(Plan, OrdersOfDevices) {
  Mesh a = mesh({2, 2}), b = mesh({2, 2}), c = mesh({4});
  a.deviceIds = {10, 11, 12, 13};
  b.deviceIds = {12, 10, 11, 13};
  EXPECT_EQ(*rankOrder(a, b), (llvm::SmallVector<int64_t>{1, 2, 0, 3}));
  EXPECT_FALSE(rankOrder(a, c));
  // Full blocks change their device.
  Layout l = layout("[{\"x\", \"y\"}]", a, {8});
  auto order = *rankOrder(a, b);
  ReshardPlan plan = planReshard(l, l, {nullptr, nullptr, nullptr, order});
  EXPECT_EQ(kinds(plan), "collective_permute");
  // Replicated source: each device takes its shard.
  plan = planReshard(Layout::replicated({8}), l, {nullptr, nullptr, nullptr, order});
  EXPECT_EQ(kinds(plan), "all_slice");
}
