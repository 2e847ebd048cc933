//===- RandomTest.cpp - Random layouts against enumeration ----------------===//

#include "Simulator.h"
#include "llvm/ADT/STLExtras.h"

using namespace shardkit_test;

namespace {
struct Pair {
  Mesh mesh;
  Shape shape;
  Layout a, b;
};
} // namespace

static Pair randomPair(Random &random, bool uneven, bool partial) {
  Pair p;
  p.mesh = random.mesh();
  p.shape = random.shape(4, 400);
  p.a = Layout::get(random.sharding(p.mesh, p.shape, uneven, partial), p.mesh, p.shape);
  p.b = Layout::get(random.sharding(p.mesh, p.shape, uneven, false), p.mesh, p.shape);
  return p;
}

TEST(Random, ShardingsRoundTripThroughLayouts) {
  Random random(1);
  for (int n = 0; n < 3000; ++n) {
    Mesh m = random.mesh();
    Shape shape = random.shape(4, 400);
    Sharding s = random.sharding(m, shape, true, true);
    SCOPED_TRACE(toString(s, m));
    ASSERT_FALSE(verifySharding(s, m, shape, true));
    Layout l = Layout::get(s, m, shape);
    EXPECT_TRUE(l.fitsShape());
    auto back = l.toSharding(m);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(Layout::get(*back, m, shape), l) << toString(*back, m);
    for (unsigned d = 0; d < shape.size(); ++d)
      EXPECT_EQ(back->dims[d].entries, canonicalize(back->dims[d].entries));
    // Text too.
    std::string text = toString(*back, m);
    EXPECT_EQ(toString(sharding(text, m), m), text);

    // Shares: every element has the number of owners of the layout.
    std::vector<int64_t> owners(l.numElements(), 0);
    int64_t max = 0;
    for (int64_t rank = 0; rank < m.numDevices(); ++rank) {
      auto owned = l.ownedIndices(rank);
      max = std::max<int64_t>(max, owned.size());
      for (int64_t i : owned)
        ++owners[i];
    }
    EXPECT_EQ(max, l.numLocalElements());
    EXPECT_TRUE(llvm::all_equal(owners));
  }
}

/// The product of the owned intervals of all dims, as flat indices.
static llvm::SmallVector<int64_t> productOfIntervals(const Layout &l, int64_t rank) {
  llvm::SmallVector<int64_t> indices{0};
  for (unsigned d = 0; d < l.shape.size(); ++d) {
    llvm::SmallVector<int64_t> next;
    for (int64_t index : indices)
      for (auto [begin, end] : l.getOwnedIntervals(d, rank, 1000))
        for (int64_t i = begin; i < end; ++i)
          next.push_back(index * l.shape[d] + i);
    indices = std::move(next);
  }
  return indices;
}

TEST(Random, OwnedIntervalsMatchOwnedIndices) {
  Random random(8);
  for (int n = 0; n < 2000; ++n) {
    Mesh m = random.mesh();
    Shape shape = random.shape(4, 400);
    Sharding s = random.sharding(m, shape, true, true);
    SCOPED_TRACE(toString(s, m));
    Layout l = Layout::get(s, m, shape);
    for (int64_t rank = 0; rank < m.numDevices(); ++rank) {
      ASSERT_EQ(productOfIntervals(l, rank), l.ownedIndices(rank));
      for (unsigned d = 0; d < shape.size(); ++d) {
        auto all = l.getOwnedIntervals(d, rank, 1000), first = l.getOwnedIntervals(d, rank, 1);
        for (auto [a, b] : llvm::zip(all, first))
          ASSERT_EQ(a.first, b.first);
        ASSERT_EQ(first.size(), std::min<size_t>(all.size(), 1));
      }
    }
  }
}

TEST(Random, EqualIffOwnedIndicesAreEqual) {
  Random random(2);
  int equal = 0;
  for (int n = 0; n < 3000; ++n) {
    Pair p = randomPair(random, false, false);
    bool same = true;
    for (int64_t rank = 0; rank < p.mesh.numDevices(); ++rank)
      same &= p.a.ownedIndices(rank) == p.b.ownedIndices(rank);
    EXPECT_EQ(p.a == p.b, same) << p.a.toString() << "  " << p.b.toString();
    equal += same;
  }
  EXPECT_GT(equal, 50);
}

TEST(Random, SplitDimInvertsJoinDim) {
  Random random(3);
  int splits = 0;
  for (int n = 0; n < 4000; ++n) {
    Mesh m = random.mesh();
    Shape factors;
    int64_t size = 1;
    for (int f = random.below(4) + 1; f > 0; --f) {
      factors.push_back(random.pick<int64_t>({1, 2, 2, 3, 4, 6, 8}));
      size *= factors.back();
    }
    Sharding s = random.sharding(m, {size}, false, false);
    llvm::ArrayRef<DimEntry> dim = s.dims[0].entries;
    SCOPED_TRACE(toString(s, m));
    bool fits;
    llvm::SmallVector<DimEntries> split = splitDim(dim, factors, &fits);
    // The dim is reshaped to the factors.
    Layout joined = Layout::get(s, m, {size});
    ReshapeResult r = reshape(joined, factors);
    EXPECT_EQ(fits, r.free && r.result.toSharding(m));
    Sharding expanded;
    for (const DimEntries &entries : split)
      expanded.dims.push_back({entries});
    EXPECT_FALSE(verifySharding(expanded, m, factors, false));
    Layout over = Layout::get(expanded, m, factors);
    EXPECT_TRUE(isRefinement(joinDim(split, factors), canonicalize(dim)));
    // On a mesh of one axis, splitDim keeps as much as reshape.
    if (m.axes.size() <= 1)
      EXPECT_EQ(over.digits, r.result.digits);
    if (!fits)
      continue;
    ++splits;
    EXPECT_EQ(over.digits, joined.digits);
    EXPECT_EQ(joinDim(split, factors), canonicalize(dim));
  }
  EXPECT_GT(splits, 1000);
}

TEST(Random, VolumesAreExact) {
  Random random(4);
  int uneven = 0;
  for (int n = 0; n < 6000; ++n) {
    Pair p = randomPair(random, n % 2, false);
    auto brute = bruteVolume(p.a, p.b, p.mesh.numDevices());
    auto volume = moveVolume(p.a, p.b, p.mesh.numDevices());
    EXPECT_EQ(volume.total, brute.total) << p.a.toString() << "  ->  " << p.b.toString();
    EXPECT_EQ(volume.largest, brute.largest) << p.a.toString() << "  ->  " << p.b.toString();
    uneven += !p.a.uneven.empty() || !p.b.uneven.empty();
  }
  EXPECT_GT(uneven, 300);
}

TEST(Random, VolumesAreExactBetweenViewsOfTheDevices) {
  Random random(6);
  Mesh views[] = {mesh({12}), mesh({3, 4}), mesh({4, 3}), mesh({2, 6}), mesh({2, 3, 2})};
  for (int n = 0; n < 1500; ++n) {
    Shape shape = random.shape(3, 400);
    const Mesh &m = views[random.below(5)], &k = views[random.below(5)];
    Layout a = Layout::get(random.sharding(m, shape, true, false), m, shape);
    Layout b = Layout::get(random.sharding(k, shape, true, false), k, shape);
    auto brute = bruteVolume(a, b, 12);
    auto volume = moveVolume(a, b, 12);
    EXPECT_EQ(volume.total, brute.total) << a.toString() << "  " << b.toString();
    EXPECT_EQ(volume.largest, brute.largest) << a.toString() << "  " << b.toString();
    checkPlan(a, b, 12, true);
  }
}

TEST(Random, PlansAttainTheBound) {
  Random random(7);
  int aligned = 0, uneven = 0;
  for (int n = 0; n < 6000; ++n) {
    Pair p = randomPair(random, n % 3 == 0, false);
    auto transfer = computeTransfer(p.a, p.b);
    ASSERT_TRUE(transfer.has_value());
    aligned += transfer->segments.empty();
    uneven += !p.a.uneven.empty() || !p.b.uneven.empty();
    checkPlan(p.a, p.b, p.mesh.numDevices(), true);
  }
  EXPECT_GT(aligned, 2500);
  EXPECT_GT(uneven, 600);
}

TEST(Random, PlansOfPartialValuesRun) {
  Random random(9);
  for (int n = 0; n < 4000; ++n) {
    Pair p = randomPair(random, n % 3 == 0, true);
    checkPlan(p.a, p.b, p.mesh.numDevices(), false);
  }
}

TEST(Random, PlansThatStayPartialRun) {
  Random random(10);
  int stays = 0;
  for (int n = 0; n < 2000; ++n) {
    Pair p = randomPair(random, false, true);
    // Ranks that `b` does not own stay partial.
    p.b.partial = p.a.partial;
    auto s = p.b.toSharding(p.mesh);
    if (!s || verifySharding(*s, p.mesh, p.shape, false))
      continue;
    stays += !p.b.partial.empty();
    checkPlan(p.a, p.b, p.mesh.numDevices(), false);
  }
  EXPECT_GT(stays, 200);
}

TEST(Random, TransfersMoveInOneStep) {
  Random random(12);
  for (int n = 0; n < 4000; ++n) {
    Pair p = randomPair(random, false, true);
    auto transfer = computeTransfer(p.a, p.b);
    if (!transfer)
      continue;
    SCOPED_TRACE(p.a.toString() + "  ->  " + p.b.toString());
    int64_t devices = p.mesh.numDevices(), received = 0;
    Buffers out = runTransfer(*transfer, p.b.numLocalElements(), makeBuffers(p.a, devices), received);
    EXPECT_TRUE(sameBuffers(p.b, out, makeBuffers(p.b, devices)));
    if (p.a.partial.empty())
      EXPECT_EQ(received, receivedElements(p.a, p.b, devices));
  }
}
