//===- ReshapeTest.cpp - The worked examples of docs/concepts/Layouts.md -===//

#include "Simulator.h"

using namespace shardkit_test;

namespace {
struct Outcome {
  std::string result, gathered;
  bool free;
};
} // namespace

static Outcome run(const std::string &in, const Mesh &m, Shape inShape, Shape outShape) {
  ReshapeResult r = reshape(layout(in, m, inShape), outShape);
  auto express = [&](const Layout &l) -> std::string {
    auto s = l.toSharding(m);
    return s ? toString(*s, m) : "nothing";
  };
  return {express(r.result), express(r.gathered), r.free};
}

TEST(Reshape, CollapseAfterUnshardedDimYieldsStride) {
  Mesh m = mesh({2});
  Outcome o = run("[{}, {\"x\"}]", m, {2, 4}, {8});
  EXPECT_EQ(o.result, "[{2, \"x\"}]");
  EXPECT_TRUE(o.free);
  EXPECT_EQ(reshape(layout("[{}, {\"x\"}]", m, {2, 4}), {8}).result.localShape(), Shape{4});
}

TEST(Reshape, ExpandOfStridedShardingMovesAxisInward) {
  Outcome o = run("[{2, \"x\"}]", mesh({2}), {16}, {2, 8});
  EXPECT_EQ(o.result, "[{}, {\"x\"}]");
  EXPECT_TRUE(o.free);
}

TEST(Reshape, ExpandSplitsAxisIntoSubAxes) {
  Outcome o = run("[{\"x\"}]", mesh({4}), {8}, {2, 4});
  EXPECT_EQ(o.result, "[{\"x\":(1)2}, {\"x\":(2)2}]");
  EXPECT_TRUE(o.free);
  o = run("[{2, \"x\"}]", mesh({4}), {16}, {4, 4});
  EXPECT_EQ(o.result, "[{2, \"x\":(1)2}, {\"x\":(2)2}]");
  EXPECT_TRUE(o.free);
}

TEST(Reshape, TwoAxesAndAStrideInOneDim) {
  Mesh m = namedMesh({{"dp", 2}, {"tp", 2}});
  Outcome o = run("[{\"dp\"}, {\"tp\"}, {}, {}]", m, {4, 64, 7, 64}, {256, 7, 64});
  EXPECT_EQ(o.result, "[{\"dp\", 2, \"tp\"}, {}, {}]");
  EXPECT_TRUE(o.free);
}

TEST(Reshape, StridedShardsOfThreeDims) {
  // [4, 4, 4] sharded on dim 1 to [8, 8]: no communication.
  Outcome o = run("[{}, {\"x\"}, {}]", mesh({2}), {4, 4, 4}, {8, 8});
  EXPECT_EQ(o.result, "[{4, \"x\"}, {}]");
  EXPECT_TRUE(o.free);
}

TEST(Reshape, GathersOnlyMisfittingDigits) {
  Mesh m = mesh({6});
  Layout in = layout("[{\"x\"}]", m, {12});
  Outcome o = run("[{\"x\"}]", m, {12}, {4, 3});
  EXPECT_EQ(o.result, "[{\"x\":(1)2}, {}]");
  EXPECT_EQ(o.gathered, "[{\"x\":(1)2}]");
  EXPECT_FALSE(o.free);
  EXPECT_EQ(receivedElements(in, reshape(in, {4, 3}).gathered, 6), 24);
}

TEST(Reshape, GathersAllIfNoDigitFits) {
  Outcome o = run("[{}, {\"x\"}]", mesh({4}), {12, 8}, {16, 6});
  EXPECT_EQ(o.result, "[{}, {}]");
  EXPECT_FALSE(o.free);
}

TEST(Reshape, UnevenDimMustStayADim) {
  Mesh m = mesh({2});
  EXPECT_EQ(run("[{\"x\"}, {}]", m, {5, 4}, {5, 2, 2}).result, "[{\"x\"}, {}, {}]");
  EXPECT_EQ(run("[{}, {\"x\"}]", m, {4, 5}, {2, 2, 5}).result, "[{}, {}, {\"x\"}]");
  Outcome merged = run("[{\"x\"}, {}]", m, {5, 4}, {20});
  EXPECT_EQ(merged.result, "[{}]");
  EXPECT_EQ(merged.gathered, "[{}, {}]");
  EXPECT_FALSE(merged.free);
  EXPECT_EQ(run("[{\"x\"}, {}]", m, {1, 4}, {1, 2, 2}).result, "[{\"x\"}, {}, {}]");
  EXPECT_FALSE(run("[{\"x\"}, {}]", m, {1, 4}, {4}).free);
  EXPECT_FALSE(run("[{\"x\"}, {}]", m, {1, 4}, {1, 1, 4}).free);
}

TEST(Reshape, GatherMayNeedTheFlatShape) {
  Mesh m = mesh({6});
  Layout in = layout("[{\"x\":(1)3}, {\"x\":(3)2}, {}]", m, {3, 2, 2});
  ReshapeResult r = reshape(in, {4, 3});
  EXPECT_EQ(r.gathered.shape, (Shape{12}));
  EXPECT_EQ(r.gathered.digits, r.result.digits);
  EXPECT_TRUE(r.gathered.fitsShape());
  EXPECT_FALSE(r.free);
  // The gathered layout: the same digits over the flat shape.
  Layout flat = in;
  flat.shape = {12};
  checkPlan(flat, r.gathered, 6, /*expectBound=*/true);
}

TEST(Reshape, PartialAndEmptyValues) {
  Mesh m = mesh({2, 2});
  ReshapeResult r = reshape(layout("[{\"x\"}], unreduced(max) = {\"y\"}", m, {8}), {2, 4});
  EXPECT_EQ(r.result, layout("[{\"x\"}, {}], unreduced(max) = {\"y\"}", m, {2, 4}));
  EXPECT_TRUE(reshape(Layout::replicated({0, 4}), {2, 0}).free);
  EXPECT_EQ(run("[]", m, {}, {1, 1}).result, "[{}, {}]");
}

//===----------------------------------------------------------------------===//
// Random: legal and maximal
//===----------------------------------------------------------------------===//

/// The value (I / p) mod (q / p) depends on one coordinate of `shape` alone.
static bool dependsOnOneDim(int64_t p, int64_t q, llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  int64_t b = 1;
  for (unsigned d = shape.size(); d-- > 0; b *= shape[d]) {
    std::vector<int64_t> value(shape[d], -1);
    bool single = true;
    for (int64_t i = 0; i < n && single; ++i) {
      int64_t v = (i / p) % (q / p), &seen = value[(i / b) % shape[d]];
      single = seen < 0 || seen == v;
      seen = v;
    }
    if (single)
      return true;
  }
  return false;
}

TEST(Reshape, RandomResultsAreLegalAndMaximal) {
  Random random(11);
  int gathers = 0;
  for (int n = 0; n < 50000; ++n) {
    Mesh m = random.mesh();
    Shape inShape = random.shape(3, 192);
    Layout in = Layout::get(random.sharding(m, inShape, false, false), m, inShape);
    // Regroup the prime factors of the shape.
    int64_t total = in.numElements();
    Shape outShape;
    for (int64_t remaining = total; remaining > 1;) {
      int64_t size = random.pick<int64_t>({1, 2, 3, 4, 5, 6, 8, 12, remaining});
      if (remaining % size == 0 && outShape.size() < 5) {
        outShape.push_back(size);
        remaining /= size;
      } else if (outShape.size() >= 5) {
        outShape.push_back(remaining);
        remaining = 1;
      }
    }
    ReshapeResult r = reshape(in, outShape);
    SCOPED_TRACE(in.toString() + " -> " + r.result.toString());
    EXPECT_TRUE(r.result.fitsShape());
    EXPECT_TRUE(r.gathered.fitsShape());
    EXPECT_EQ(r.gathered.digits, r.result.digits);
    EXPECT_EQ(r.free, r.result.digits == in.digits);
    gathers += !r.free;
    for (int64_t rank = 0; rank < m.numDevices(); ++rank) {
      auto before = in.ownedIndices(rank), after = r.result.ownedIndices(rank);
      EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
      EXPECT_EQ(r.gathered.ownedIndices(rank), after);
      EXPECT_EQ(static_cast<int64_t>(after.size()), r.result.numLocalElements());
    }
    for (const Digit &digit : in.digits)
      for (int64_t p = digit.lo; p < digit.hi; p += digit.lo)
        for (int64_t q = 2 * p; q <= digit.hi; q += p) {
          if (digit.hi % p || digit.hi % q || !dependsOnOneDim(p, q, outShape))
            continue;
          bool kept = false;
          for (const Digit &k : r.result.digits)
            kept |= k.lo <= p && q <= k.hi && p % k.lo == 0 && k.hi % q == 0;
          EXPECT_TRUE(kept) << p << ", " << q;
        }
  }
  EXPECT_GT(gathers, 2000);
}
