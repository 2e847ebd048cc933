//===- ExhaustiveTest.cpp - All pairs of layouts of small values ----------===//
//
// Every layout to every layout, on meshes of up to 8 devices: each plan is run
// on buffers, and receives exactly the elements that devices do not have yet.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

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

TEST(Exhaustive, EvenLayoutsMeetTheBound) {
  size_t pairs = 0;
  for (const Case &c : std::initializer_list<Case>{
           {{2}, {4, 2}, false},
           {{3}, {3, 6}, false},
           {{4}, {4, 4}, false},
           {{4}, {8}, false},
           {{6}, {6, 2}, false},
           {{6}, {12}, false},
           {{8}, {8}, false},
           {{8}, {4, 4}, false},
           {{2, 2}, {4, 4}, false},
           {{2, 3}, {6, 6}, false},
           {{3, 2}, {12}, false},
           {{2, 4}, {4, 4}, false},
           {{4, 2}, {2, 2, 2}, false},
           {{2, 2, 2}, {4, 2}, false},
           {{2, 2, 2}, {2, 2, 2}, false},
           {{8}, {2, 6, 2}, false},
           {{6}, {6, 6}, false},
           {{2, 3}, {12, 3}, false},
           {{3, 2}, {2, 3, 6}, false},
           {{2, 4}, {8, 2}, false},
           {{2, 2, 2}, {4, 4}, false}}) {
    SCOPED_TRACE(mesh(c.mesh).axesToString());
    pairs += checkAllPairs(c);
    if (HasFailure())
      return;
  }
  EXPECT_GT(pairs, 33000u);
  RecordProperty("pairs", std::to_string(pairs));
}

TEST(Exhaustive, UnevenLayoutsMeetTheBound) {
  size_t pairs = 0;
  for (const Case &c : std::initializer_list<Case>{
           {{2}, {3, 5}, true},
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

TEST(Exhaustive, ViewsOfTheSameDevicesMeetTheBound) {
  size_t pairs = 0;
  for (auto [a, b, size] :
       std::initializer_list<std::tuple<Mesh, Mesh, Shape>>{
           {mesh({2, 3}), mesh({3, 2}), {6, 6}},
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
