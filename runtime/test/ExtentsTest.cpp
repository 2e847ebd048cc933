//===- ExtentsTest.cpp - Closed form against enumeration ------------------===//

#include "Support.h"

#include "shardkit/rt/Manifest/Extents.h"

#include <map>
#include <numeric>
#include <set>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

/// A random layout: the global index as random digits, each local or owned by an
/// axis of the mesh; local digits keep their order or are shuffled.
struct RandomLayout {
  Extents extents;
  int64_t global = 1, local = 1, devices = 1;

  explicit RandomLayout(std::mt19937 &random) {
    int64_t axes[3];
    for (int64_t &axis : axes)
      devices *= axis = 1 + int64_t(random() % 3);
    int64_t stride = devices;
    bool used[3] = {};
    int64_t rankStride[3];
    for (int i = 0; i < 3; ++i)
      rankStride[i] = stride /= axes[i];
    std::vector<size_t> localDigits;
    int count = 1 + int(random() % 6);
    for (int i = 0; i < count; ++i) {
      int axis = int(random() % 6);
      if (axis < 3 && !used[axis]) {
        used[axis] = true;
        extents.offset.push_back({rankStride[axis], axes[axis], global});
        global *= axes[axis];
      } else {
        int64_t size = 1 + int64_t(random() % 4);
        extents.loops.push_back({size, global, 0});
        global *= size;
      }
    }
    for (int i = 0; i < 3; ++i)
      if (!used[i] && random() % 2) // Replicated, said in full.
        extents.offset.push_back({rankStride[i], axes[i], 0});
    if (random() % 2)
      std::shuffle(extents.loops.begin(), extents.loops.end(), random);
    for (ExtentLoop &loop : extents.loops) {
      loop.localStride = local;
      local *= loop.size;
    }
    std::reverse(extents.loops.begin(), extents.loops.end());
  }

  /// The definition, element by element.
  int64_t globalOf(int64_t rank, int64_t l) const {
    int64_t g = 0;
    for (const OffsetDigit &digit : extents.offset)
      g += (rank / digit.rankStride) % digit.size * digit.globalStride;
    for (const ExtentLoop &loop : extents.loops)
      g += (l / loop.localStride) % loop.size * loop.globalStride;
    return g;
  }
};

/// 5 x 6 on 4 chunks of rows and 2 of columns: rows 2, 2, 1, 0.
Extents unevenRows() { return {{{1, 2, 3}}, {{2, 6, 3}, {3, 1, 1}}, {{0, 5, {{4, 2}, {2, 2}}}}}; }

TEST(Extents, validExtentsMatchTheDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    RandomLayout layout(random);
    Status valid = validateExtents(layout.extents, layout.local, layout.global, layout.devices, true);
    ASSERT_TRUE(valid.ok()) << valid.message();
    std::vector<int32_t> global(static_cast<size_t>(layout.global));
    std::iota(global.begin(), global.end(), 7);
    std::vector<int32_t> back(global.size(), -1);
    for (int64_t rank = 0; rank < layout.devices; ++rank) {
      std::vector<int32_t> local(static_cast<size_t>(layout.local), -1);
      gatherLocal(layout.extents, rank, 4, global.data(), local.data());
      for (int64_t l = 0; l < layout.local; ++l)
        ASSERT_EQ(local[size_t(l)], layout.globalOf(rank, l) + 7);
      if (!isReplica(layout.extents, rank))
        scatterLocal(layout.extents, rank, 4, local.data(), back.data());
    }
    EXPECT_EQ(back, global);
  }
}

TEST(Extents, coalescedLoopsJoinFullRows) {
  Extents rows{{{1, 2, 32}}, {{4, 8, 8}, {8, 1, 1}}};
  ASSERT_EQ(coalesceLoops(rows, 0).size(), 1u);
  EXPECT_EQ(coalesceLoops(rows, 0)[0].size, 32);
  Extents columns{{{1, 2, 4}}, {{4, 8, 4}, {4, 1, 1}}};
  EXPECT_EQ(coalesceLoops(columns, 0).size(), 2u);
}

TEST(Extents, replicasHaveTheElementsOfAnEarlierRank) {
  Extents replicated{{{2, 2, 8}, {1, 2, 0}}, {{8, 1, 1}}};
  EXPECT_FALSE(isReplica(replicated, 0));
  EXPECT_TRUE(isReplica(replicated, 1));
  EXPECT_FALSE(isReplica(replicated, 2));
  EXPECT_TRUE(isReplica(replicated, 3));
}

/// Ranks in another order hold what the ranks there do.
TEST(Extents, otherOrdersOfTheDevices) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const RandomLayout layout(random);
    Extents extents = round % 4 == 0 ? unevenRows() : layout.extents;
    const int64_t devices = round % 4 == 0 ? 8 : layout.devices, elements = round % 4 == 0 ? 30 : layout.global;
    const int64_t localElements = round % 4 == 0 ? 6 : layout.local;
    const Extents plain = extents;
    extents.order.resize(size_t(devices));
    std::iota(extents.order.begin(), extents.order.end(), 0);
    std::shuffle(extents.order.begin(), extents.order.end(), random);
    ASSERT_TRUE(validateExtents(extents, localElements, elements, devices, true).ok());
    std::vector<int32_t> global(static_cast<size_t>(elements));
    std::iota(global.begin(), global.end(), 0);
    std::vector<std::vector<int32_t>> held;
    for (int64_t rank = 0; rank < devices; ++rank) {
      std::vector<int32_t> local(size_t(localElements), -1), there = local;
      gatherLocal(extents, rank, 4, global.data(), local.data());
      gatherLocal(plain, extents.order[size_t(rank)], 4, global.data(), there.data());
      EXPECT_EQ(local, there);
      EXPECT_EQ(distinctShard(extents, rank).index, distinctShard(plain, extents.order[size_t(rank)]).index);
      held.push_back(local);
      const int64_t first = std::find(held.begin(), held.end(), local) - held.begin();
      if (local != std::vector<int32_t>(size_t(localElements), -1)) { // Padding alone is no replica.
        EXPECT_EQ(firstOwner(extents, rank), first);
      }
    }
    const ShardMap map(extents);
    for (int64_t g = 0; g < elements; ++g) {
      const ShardMap::Location at = map.find(g);
      ASSERT_GE(at.rank, 0);
      EXPECT_EQ(held[size_t(at.rank)][size_t(at.local)], g);
      EXPECT_EQ(firstOwner(extents, at.rank), at.rank);
    }
  }
}

TEST(Extents, emptyAndScalarValues) {
  EXPECT_TRUE(validateExtents({{}, {}}, 1, 1, 4, true).ok());
  EXPECT_TRUE(validateExtents({{}, {{0, 1, 1}}}, 0, 0, 4, true).ok());
  int32_t one = 5, copy = 0;
  gatherLocal({{}, {}}, 0, 4, &one, &copy);
  EXPECT_EQ(copy, 5);
}

TEST(Extents, theLastRanksOfAnUnevenDimHoldLess) {
  Extents extents = unevenRows();
  Status valid = validateExtents(extents, 6, 30, 8, true);
  ASSERT_TRUE(valid.ok()) << valid.message();
  std::vector<int32_t> global(30), back(30, -1);
  std::iota(global.begin(), global.end(), 0);
  const int64_t rows[] = {2, 2, 1, 0};
  for (int64_t rank = 0; rank < 8; ++rank) {
    std::vector<int32_t> local(6, -1);
    gatherLocal(extents, rank, 4, global.data(), local.data());
    int64_t chunk = rank / 2, column = rank % 2 * 3;
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j)
        EXPECT_EQ(local[size_t(3 * i + j)], i < rows[chunk] ? (2 * chunk + i) * 6 + column + j : -1);
    EXPECT_FALSE(isReplica(extents, rank));
    scatterLocal(extents, rank, 4, local.data(), back.data());
  }
  EXPECT_EQ(back, global);
}

TEST(Extents, unevenLoopsMustBeChunks) {
  auto message = [](auto change) {
    Extents extents = unevenRows();
    change(extents.uneven[0]);
    return validateExtents(extents, 6, 30, 8, true).message();
  };
  EXPECT_NE(message([](UnevenLoop &u) { u.loop = 2; }).find("names loop 2"), std::string::npos);
  EXPECT_NE(message([](UnevenLoop &u) { u.size = 9; }).find("expected 1 to 8"), std::string::npos);
  EXPECT_NE(message([](UnevenLoop &u) { u.size = 4; }).find("do not cover"), std::string::npos);
  EXPECT_NE(message([](UnevenLoop &u) { u.ranks[0].stride = 3; }).find("does not fit 8 devices"), std::string::npos);
  EXPECT_NE(message([](UnevenLoop &u) { u.ranks[1].stride = 1; }).find("overlap"), std::string::npos);
}

TEST(ShardMap, findsElementsOfPieces) {
  // Rows [16|8|8] of 6, each part on two ranks; columns of a matrix transposed in steps; rows 8 to 19 of a
  // dim in chunks of 11.
  struct Case {
    int64_t elements, ranks;
    std::vector<ExtentPiece> pieces;
  };
  const std::vector<Case> cases = {{192,
                                    2,
                                    {{0, 0, 0, {{{1, 2, 48}}, {{48, 1, 1}}, {}}},
                                     {0, 96, 48, {{{1, 2, 24}}, {{24, 1, 1}}, {}}},
                                     {0, 144, 72, {{{1, 2, 24}}, {{24, 1, 1}}, {}}}}},
                                   {70, 1, {{0, 1, 0, {{}, {{5, 2, 7}, {7, 10, 1}}, {}}}}},
                                   {80, 3, {{0, 3, 0, {{}, {{11, 6, 6}, {6, 1, 1}}, {{0, 12, {{1, 3}}, 8}}}}}},
                                   {20, 2, {{0, 4, 1, {{{1, 2, 5}}, {{2, 1, 3}, {3, 0, 7}}, {}}}}}};
  for (const Case &test : cases) {
    ShardMap map;
    std::map<int64_t, std::pair<int64_t, int64_t>> wanted; // Rank and place of each element.
    for (const ExtentPiece &piece : test.pieces) {
      ASSERT_TRUE(map.add(piece.extents, piece.globalBase, piece.localBase, 100));
      for (int64_t rank = 0; rank < test.ranks; ++rank)
        forEachPiece(coalesceLoops(piece.extents, rank), piece.extents.base(rank),
                     [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                       for (int64_t i = 0; i < n; ++i)
                         wanted.emplace(
                             piece.globalBase + g + i * gs,
                             std::pair(100 + rank, piece.localBase + piece.extents.localBase(rank) + l + i * ls));
                     });
    }
    ASSERT_FALSE(wanted.empty());
    for (int64_t g = 0; g < test.elements; ++g) {
      ShardMap::Location location = map.find(g);
      auto it = wanted.find(g);
      ASSERT_EQ(location.rank, it == wanted.end() ? -1 : it->second.first) << g;
      if (location.rank < 0)
        continue;
      EXPECT_EQ(location.local, it->second.second) << g;
      for (int64_t i = 1; i < location.run; ++i)
        EXPECT_EQ(wanted.at(g + i), std::pair(location.rank, location.local + i)) << g;
    }
  }
  // Overlapping rows do not tell elements apart.
  ShardMap map;
  EXPECT_FALSE(map.add({{}, {{3, 2, 3}, {3, 1, 1}}, {}}, 0, 0, 0));
}

} // namespace
