//===- ReshardCostTest.cpp - Plans against all sequences ------------------===//

#include "CheapestSequence.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace shardkit_test;

static constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Layout> shardkit_test::wholeAxisLayouts(const Mesh &mesh, const Shape &shape) {
  std::vector<Layout> result;
  for (const char *text : {"[{}, {}]", "[{\"x\"}, {}]", "[{\"y\"}, {}]", "[{}, {\"x\"}]", "[{}, {\"y\"}]",
                           "[{\"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]", "[{}, {\"x\", \"y\"}]",
                           "[{}, {\"y\", \"x\"}]", "[{\"x\"}, {\"y\"}]", "[{\"y\"}, {\"x\"}]"})
    result.push_back(layout(text, mesh, shape));
  return result;
}

static RankDigit digitOf(const Mesh &mesh, unsigned axis) { return {mesh.axisStride(axis), mesh.axes[axis].size}; }

static bool usesRank(const Layout &layout, const RankDigit &rank) {
  // Whole axes: strides tell them apart, but for joined digits.
  return llvm::any_of(layout.digits, [&](const Digit &digit) {
    return std::max(digit.stride, rank.stride) < std::min(digit.stride * digit.size(), rank.stride * rank.size);
  });
}

/// True if `to` is `from` with the axis on a dim.
static bool addsOnly(const Layout &from, const Layout &to, const RankDigit &rank, int64_t devices) {
  if (!usesRank(to, rank) || usesRank(from, rank) || to.numLocalElements() * rank.size != from.numLocalElements())
    return false;
  return receivedElements(from, to, devices) == 0;
}

CheapestSequence::CheapestSequence(const Mesh &mesh, unsigned axis, const std::vector<Layout> &places,
                                   int64_t elementBytes) {
  RankDigit rank = digitOf(mesh, axis);
  int64_t devices = mesh.numDevices();
  for (const Layout &place : places)
    if (!usesRank(place, rank)) {
      partial.push_back(place);
      partial.back().partial = {rank};
    }
  nodes = places;
  nodes.insert(nodes.end(), partial.begin(), partial.end());

  CostModel costs(mesh);
  price.assign(nodes.size(), std::vector<double>(nodes.size(), infinity));
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = 0; j < nodes.size(); ++j) {
      const Layout &from = nodes[i], &to = nodes[j];
      auto seconds = [&](CollectiveKind kind, llvm::SmallVector<RankDigit, 2> group) {
        return costs.getCost({kind, from, to, group}, elementBytes).seconds;
      };
      if (from.partial == to.partial) {
        // Any move is an exchange at most; a gather has its own price.
        price[i][j] =
            moveVolume(from, to, devices).total == 0 ? 0 : seconds(CollectiveKind::Exchange, getMovedRanks(from, to));
        if (receivedElements(to, from, devices) == 0 && price[i][j] > 0)
          price[i][j] = std::min(price[i][j], seconds(CollectiveKind::AllGather, getMovedRanks(from, to)));
      } else if (!from.partial.empty()) {
        if (from.digits == to.digits)
          price[i][j] = seconds(CollectiveKind::AllReduce, {rank});
        else if (addsOnly(from, to, rank, devices))
          price[i][j] = seconds(CollectiveKind::ReduceScatter, {rank});
      }
    }
}

size_t CheapestSequence::find(const Layout &layout) const { return llvm::find(nodes, layout) - nodes.begin(); }

double CheapestSequence::getSeconds(const Layout &from, const Layout &to) const {
  size_t n = nodes.size();
  std::vector<double> best(n, infinity);
  best[find(from)] = 0;
  for (int collectives = 0; collectives <= 3; ++collectives) {
    // Slices are free; one is enough, a slice of a slice is one.
    std::vector<double> sliced = best;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        if (price[i][j] == 0)
          sliced[j] = std::min(sliced[j], best[i]);
    best = sliced;
    if (collectives == 3)
      break;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        sliced[j] = std::min(sliced[j], best[i] + price[i][j]);
    best = sliced;
  }
  return best[find(to)];
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static void expectCheapest(const Mesh &m, const std::vector<Layout> &places, const std::vector<Layout> &ends,
                           int64_t elementBytes) {
  CostModel costs(m);
  for (unsigned axis : {0u, 1u}) {
    CheapestSequence oracle(m, axis, places, elementBytes);
    for (Layout from : ends) {
      if (usesRank(from, digitOf(m, axis)))
        continue;
      from.partial = {digitOf(m, axis)};
      for (const Layout &to : ends) {
        ReshardPlan plan = costs.planReshard(from, to, elementBytes);
        double seconds = costs.getSeconds(plan, elementBytes);
        double cheapest = oracle.getSeconds(from, to);
        EXPECT_LE(seconds, cheapest * (1 + 1e-9)) << from.toString() << "  ->  " << to.toString() << "\n"
                                                  << toString(plan);
      }
    }
  }
}

static const std::initializer_list<std::initializer_list<int64_t>> meshes = {{2, 2}, {2, 4}, {3, 2}};

TEST(PartialPlans, CostAtMostAnySequenceOfThreeCollectives) {
  for (auto sizes : meshes)
    // Latency counts, both count, bandwidth counts.
    for (Shape shape : {Shape{24, 24}, Shape{768, 384}, Shape{6144, 6144}}) {
      Mesh m = mesh(sizes);
      SCOPED_TRACE(m.axesToString());
      std::vector<Layout> layouts = wholeAxisLayouts(m, shape);
      expectCheapest(m, layouts, layouts, 4);
    }
}

TEST(PartialPlans, FollowTheLinks) {
  for (bool slowRows : {false, true}) {
    Mesh m = mesh({2, 4});
    m.alpha = {slowRows ? 1e-4 : 1e-6, 1e-5};
    m.beta = {slowRows ? 1e-9 : 1e-11, 1e-10};
    for (Shape shape : {Shape{24, 24}, Shape{1536, 768}}) {
      std::vector<Layout> layouts = wholeAxisLayouts(m, shape);
      expectCheapest(m, layouts, layouts, 4);
    }
  }
}

TEST(PartialPlans, CostAtMostSequencesThroughStridedShardings) {
  // Halves of axes and gaps on the way would not help.
  for (auto sizes : meshes) {
    Mesh m = mesh(sizes);
    SCOPED_TRACE(m.axesToString());
    int64_t size = m.axes[0].size == 3 ? 6 : 8;
    for (Shape shape : {Shape{size, size}, Shape{2 * size, size}})
      for (int64_t elementBytes : {4, 1 << 20})
        expectCheapest(m, allLayouts(m, shape, false), wholeAxisLayouts(m, shape), elementBytes);
  }
}

TEST(PartialPlans, MoveAfterTheReduction) {
  // All-reduce, then permute, is cheaper than scatter, move and gather.
  Mesh m = mesh({2, 2});
  Layout from = layout("[{\"y\"}, {}], unreduced = {\"x\"}", m, {96, 96});
  Layout to = layout("[{}, {\"y\"}]", m, {96, 96});
  CostModel costs(m);
  double seconds = costs.getSeconds(costs.planReshard(from, to, 4), 4);
  EXPECT_LT(seconds, 2.4e-5);
}

TEST(Plans, CompleteValuesReachTheBoundInMinimalTime) {
  // Among plans at the bound; a plan of two slices and gathers may be faster.
  for (auto sizes : meshes)
    for (Shape shape : {Shape{24, 24}, Shape{6144, 6144}}) {
      Mesh m = mesh(sizes);
      CostModel costs(m);
      std::vector<Layout> layouts = wholeAxisLayouts(m, shape);
      for (const Layout &from : layouts)
        for (const Layout &to : layouts) {
          ReshardPlan plan = costs.planReshard(from, to, 4);
          int64_t total = 0;
          for (const PlanStep &step : plan)
            total += receivedElements(step.from, step.to, m.numDevices());
          EXPECT_EQ(total, receivedElements(from, to, m.numDevices()));
          // One exchange is always at the bound.
          if (total > 0)
            EXPECT_LE(costs.getSeconds(plan, 4),
                      (1 + 1e-9) *
                          costs.getCost({CollectiveKind::Exchange, from, to, getMovedRanks(from, to)}, 4).seconds);
        }
    }
}

TEST(Cost, ExchangeIsPricedByTheMaximalReceivedBytes) {
  Mesh m = mesh({2});
  // 5 rows in chunks of 3 and 2: the second device receives 3 rows.
  Layout from = layout("[{\"x\"}, {}]", m, {5, 4});
  CostModel costs(m);
  PlanStep step{CollectiveKind::Exchange, from, Layout::replicated({5, 4}), {{1, 2}}};
  CollectiveCost cost = costs.getCost(step, 4);
  EXPECT_EQ(cost.bytes, 3 * 4 * 4);
  EXPECT_EQ(cost.received, 5 * 4 * 4);
  EXPECT_DOUBLE_EQ(cost.seconds, CostModel::kDefaultAlpha + CostModel::kDefaultBeta * 48);
  // Chunks that are parts of larger ones: nothing moves, nothing is paid.
  step = {CollectiveKind::Exchange, Layout::replicated({5, 4}), from, {{1, 2}}};
  EXPECT_EQ(costs.getCost(step, 4).seconds, 0);
}

TEST(Cost, AlpaModelHasTailsAndPenalty) {
  Mesh m = mesh({4});
  m.alpha = {1};
  m.beta = {1};
  CostModel costs(m, {/*alpa=*/true, /*xla=*/false, {}});
  Layout whole = Layout::replicated({64, 64});
  Layout rows = layout("[{\"x\"}, {}]", m, {64, 64}), columns = layout("[{}, {\"x\"}]", m, {64, 64});
  Layout partial = whole;
  partial.partial = {{1, 4}};
  auto seconds = [&](CollectiveKind kind, const Layout &from, const Layout &to, int64_t elementBytes) {
    return costs.getCost({kind, from, to, {{1, 4}}}, elementBytes).seconds;
  };
  // 64 x 64 elements of 1, 8 and 16 bytes.
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllReduce, partial, whole, 1), 6145.01);
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllReduce, partial, whole, 8), 49153.01);
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllGather, rows, whole, 16), 49153.1);
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::ReduceScatter, partial, rows, 16), 49153.001);
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllToAll, rows, columns, 128), 196609.001);
  // A group of one device costs nothing.
  Mesh one = mesh({1});
  EXPECT_EQ(CostModel(one, {/*alpa=*/true, /*xla=*/false, {}})
                .getCost({CollectiveKind::AllReduce, partial, whole, {{1, 1}}}, 4)
                .seconds,
            0);
  // What is forbidden has no price.
  CostModel forbidding(m, {/*alpa=*/false, /*xla=*/false, {CollectiveKind::AllToAll}});
  EXPECT_EQ(forbidding.getCost({CollectiveKind::AllToAll, rows, columns, {{1, 4}}}, 4).seconds, infinity);
}

TEST(Cost, XlaMovesMinorAxes) {
  Mesh m = mesh({4, 2});
  m.alpha = {0, 0};
  m.beta = {1, 1};
  CostModel ours(m), xla(m, {/*alpa=*/false, /*xla=*/true, {}});
  // Bytes of 64 x 64 elements of f32, of which a device has 2048 where both axes shard it.
  auto seconds = [&](const CostModel &costs, const char *from, const char *to) {
    return costs.getSeconds(costs.planReshard(layout(from, m, {64, 64}), layout(to, m, {64, 64}), 4), 4);
  };
  for (const CostModel *costs : {&ours, &xla}) {
    EXPECT_DOUBLE_EQ(seconds(*costs, R"([{"x", "y"}, {}])", R"([{"x"}, {"y"}])"), 1024);
    EXPECT_DOUBLE_EQ(seconds(*costs, R"([{"x"}, {"y"}])", R"([{}, {"y", "x"}])"), 1536);
  }
  // The major axis: a collective_permute first, then an all_to_all, or an all_gather.
  EXPECT_DOUBLE_EQ(seconds(xla, R"([{"x", "y"}, {}])", R"([{"y"}, {"x"}])"), 2048 + 1536);
  EXPECT_LT(seconds(ours, R"([{"x", "y"}, {}])", R"([{"y"}, {"x"}])"), 2048 + 1);
  EXPECT_DOUBLE_EQ(seconds(xla, R"([{"x", "y"}, {}])", R"([{"y"}, {}])"), 2048 + 6144);
  // An axis that comes first in its new dim is ordered there.
  EXPECT_DOUBLE_EQ(seconds(xla, R"([{"x"}, {"y"}])", R"([{}, {"x", "y"}])"), 1536 + 2048);
}
