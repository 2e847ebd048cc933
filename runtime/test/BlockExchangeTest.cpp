//===- BlockExchangeTest.cpp - Weights read in blocks, exchanged ----------===//

#include "OnDevices.h"
#include "Support.h"

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Loading/BlockExchange.h"

#include <numeric>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

/// A tensor cut along its dims by axes of a mesh, which are in no or one dim each.
ValueInfo sharded(const std::vector<int64_t> &shape, const std::vector<int64_t> &mesh,
                  const std::vector<std::vector<int>> &axes, DType dtype) {
  ValueInfo value;
  value.name = "w";
  value.dtype = dtype;
  value.globalElements = value.localElements = 1;
  std::vector<int64_t> rankStrides(mesh.size(), 1);
  for (size_t a = mesh.size(); a-- > 1;)
    rankStrides[a - 1] = rankStrides[a] * mesh[a];
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t left = shape[d];
    for (int axis : axes[d]) {
      left /= mesh[size_t(axis)];
      value.extents.offset.push_back({rankStrides[size_t(axis)], mesh[size_t(axis)], value.globalElements * left});
    }
    value.extents.loops.insert(value.extents.loops.begin(), {left, value.globalElements, value.localElements});
    value.globalElements *= shape[d];
    value.localElements *= left;
  }
  return value;
}

const TensorSource stored = StoredSource();

/// Moves blocks of 0, 1, 2, ... and compares with what ranks hold of these.
void verify(const ValueInfo &value, const CollectiveInfo &move, int64_t ranks) {
  FunctionInfo function;
  function.name = "loading";
  function.devices = ranks;
  function.collectives = {move};
  std::vector<int32_t> full(static_cast<size_t>(value.globalElements));
  std::iota(full.begin(), full.end(), 1);
  std::vector<std::vector<int32_t>> out(static_cast<size_t>(ranks));
  for (std::vector<int32_t> &one : out)
    one.assign(size_t(value.localElements), -1);
  Executor executor;
  EXPECT_OK(executor.runCollectives(function, [&](int64_t rank, size_t) {
    return std::pair<const void *, void *>(full.data() + rank * move.inElements, out[size_t(rank)].data());
  }));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<int32_t> wanted(static_cast<size_t>(value.localElements));
    gatherLocal(value.extents, rank, 4, full.data(), wanted.data());
    ASSERT_EQ(out[size_t(rank)], wanted) << "rank " << rank;
  }
}

TEST(BlockExchange, columnsReplicasAndSegments) {
  const std::vector<int64_t> mesh = {2, 2};
  const std::vector<std::vector<std::vector<int>>> shardings = {{{}, {0, 1}}, {{}, {1, 0}}, {{}, {}},
                                                                {{1}, {}},    {{}, {0}},    {{1}, {0}}};
  for (const auto &axes : shardings) {
    const ValueInfo value = sharded({128, 256}, mesh, axes, DType::I32);
    const auto move = moveFromBlocks(value, stored, 4);
    ASSERT_TRUE(move);
    EXPECT_EQ(move->inElements, 128 * 256 / 4);
    EXPECT_EQ(move->outElements, value.localElements);
    verify(value, *move, 4);
  }
}

TEST(BlockExchange, randomShapesAndMeshes) {
  std::mt19937 random(5);
  auto upTo = [&](size_t most) { return int64_t(1 + random() % most); };
  int moved = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> mesh;
    for (int64_t i = upTo(3); i > 0; --i)
      mesh.push_back(1 + upTo(2));
    const int64_t ranks = std::accumulate(mesh.begin(), mesh.end(), int64_t(1), std::multiplies<>());
    std::vector<std::vector<int>> axes(size_t(upTo(3)));
    std::vector<int64_t> shape;
    std::vector<int> order(mesh.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int axis : order)
      if (size_t dim = random() % (axes.size() + 1); dim < axes.size())
        axes[dim].push_back(axis);
    for (const std::vector<int> &some : axes) {
      int64_t size = upTo(3) << (2 + random() % 6);
      for (int axis : some)
        size *= mesh[size_t(axis)];
      shape.push_back(size);
    }
    const ValueInfo value = sharded(shape, mesh, axes, DType::I32);
    const auto move = moveFromBlocks(value, stored, ranks);
    SCOPED_TRACE(round);
    if (move) {
      ++moved;
      verify(value, *move, ranks);
    }
  }
  EXPECT_GT(moved, 50);
}

TEST(BlockExchange, noExchangeIfItReadsNoLess) {
  const std::vector<int64_t> mesh = {4};
  auto isTogether = [&](const ValueInfo &value) { return moveFromBlocks(value, stored, 4).has_value(); };
  EXPECT_TRUE(isTogether(sharded({256, 256}, mesh, {{}, {0}}, DType::F32)));
  EXPECT_FALSE(isTogether(sharded({256, 256}, mesh, {{0}, {}}, DType::F32))) << "in one run each";
  EXPECT_FALSE(isTogether(sharded({64, 64}, mesh, {{}, {0}}, DType::F32))) << "small";
  EXPECT_FALSE(isTogether(sharded({4, 131072}, mesh, {{}, {0}}, DType::F32))) << "in long runs";
  EXPECT_FALSE(isTogether(sharded({333, 333}, mesh, {{}, {}}, DType::F32))) << "blocks are uneven";
  EXPECT_FALSE(isTogether(sharded({6, 100000}, mesh, {{}, {0}}, DType::F64))) << "blocks end in the middle of a run";
  ValueInfo made = sharded({256, 256}, mesh, {{}, {0}}, DType::F32);
  made.load = LoadInfo();
  EXPECT_FALSE(isTogether(made)) << "made by a function";
}

} // namespace
