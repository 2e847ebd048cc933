//===- TransferTest.cpp - Moves as loops over strides ---------------------===//

#include "Simulator.h"

using namespace shardkit_test;

static void checkRemoved(const Mesh &m, Shape shape, const char *from,
                         const char *to, Shape restShape, const char *restFrom,
                         const char *restTo) {
  SCOPED_TRACE(std::string(from) + " -> " + to);
  Layout a = layout(from, m, shape), b = layout(to, m, shape);
  removeCommonDigits(a, b);
  EXPECT_EQ(a, layout(restFrom, m, restShape));
  EXPECT_EQ(b, layout(restTo, m, restShape));
}

TEST(Transfer, RemoveCommonDigitsTruthTable) {
  Mesh m = mesh({2, 2});
  checkRemoved(m, {8, 16}, "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", {4, 16},
               "[{}, {\"y\"}]", "[{}, {}]");
  checkRemoved(m, {8, 16}, "[{\"x\"}, {}]", "[{\"y\"}, {}]", {8, 16},
               "[{\"x\"}, {}]", "[{\"y\"}, {}]");
  checkRemoved(m, {8, 16}, "[{\"x\", \"y\"}, {}]", "[{\"x\"}, {}]", {4, 16},
               "[{\"y\"}, {}]", "[{}, {}]");
  checkRemoved(m, {8, 16}, "[{2, \"x\"}, {}]", "[{\"x\"}, {}]", {8, 16},
               "[{2, \"x\"}, {}]", "[{\"x\"}, {}]");
  checkRemoved(m, {8, 16}, "[{}, {}], unreduced = {\"x\", \"y\"}",
               "[{}, {}], unreduced = {\"x\"}", {8, 16},
               "[{}, {}], unreduced = {\"y\"}", "[{}, {}]");
  checkRemoved(m, {5, 16}, "[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]", {3, 16},
               "[{}, {\"y\"}]", "[{}, {}]");
  // A digit between two others that move.
  checkRemoved(m, {8, 2}, "[{2, \"x\", \"y\"}, {}]", "[{\"y\", \"x\"}, {}]",
               {4, 2}, "[{2, \"y\"}, {}]", "[{\"y\"}, {}]");
}

TEST(Transfer, AnAllToAllIsFourLoops) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[{\"x\"}, {}]", m, {4, 6}),
                           layout("[{}, {\"x\"}]", m, {4, 6}));
  ASSERT_TRUE(t.has_value());
  ASSERT_EQ(t->atoms.size(), 4u);
  auto check = [](const TransferAtom &a, int64_t size, bool srcIsRank,
                  int64_t srcStride, bool dstIsRank, int64_t dstStride) {
    EXPECT_EQ(a.size, size);
    EXPECT_EQ(a.srcIsRank, srcIsRank);
    EXPECT_EQ(a.srcStride, srcStride);
    EXPECT_EQ(a.dstIsRank, dstIsRank);
    EXPECT_EQ(a.dstStride, dstStride);
  };
  check(t->atoms[0], 2, true, 1, false, 6);  // rows: owner
  check(t->atoms[1], 2, false, 6, false, 3); // rows within a block
  check(t->atoms[2], 2, false, 3, true, 1);  // columns: mine
  check(t->atoms[3], 3, false, 1, false, 1);
}

TEST(Transfer, NeighbouringLoopsJoin) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[{}, {}, {}], unreduced = {\"x\"}", m,
                                  {4, 6, 5}),
                           Layout::replicated({4, 6, 5}));
  ASSERT_TRUE(t.has_value());
  ASSERT_EQ(t->atoms.size(), 1u);
  EXPECT_EQ(t->atoms[0].size, 120);
  ASSERT_EQ(t->reduce.size(), 1u);
  EXPECT_EQ(t->reduce[0], (RankDigit{1, 2}));
}

TEST(Transfer, APermuteSendsEachBlockOnce) {
  // Rank (x, y) wants block y; reading it from (y, x) is a permutation.
  Mesh m = mesh({3, 3});
  auto t = computeTransfer(layout("[{\"x\"}]", m, {9}),
                           layout("[{\"y\"}]", m, {9}));
  ASSERT_TRUE(t.has_value());
  std::vector<int> sends(9, 0);
  for (int64_t rank = 0; rank < 9; ++rank) {
    int64_t source = rank;
    for (const TransferAtom &a : t->atoms)
      if (a.srcIsRank) {
        ASSERT_TRUE(a.dstIsRank);
        int64_t v = (rank / a.dstStride) % a.size;
        source += (v - (rank / a.srcStride) % a.size) * a.srcStride;
      }
    ++sends[source];
  }
  EXPECT_EQ(sends, std::vector<int>(9, 1));
}

TEST(Transfer, ThereIsNoneWhereCutsDoNotDivide) {
  Mesh m = mesh({2, 3});
  EXPECT_FALSE(computeTransfer(layout("[{\"x\"}]", m, {6}),
                               layout("[{\"y\"}]", m, {6})));
  EXPECT_FALSE(computeTransfer(layout("[{\"x\"}]", m, {5}),
                               layout("[{}]", m, {5})));
  // Uneven on both sides alike: padded buffers that stay.
  EXPECT_TRUE(computeTransfer(layout("[{\"x\"}, {\"y\"}]", m, {5, 6}),
                              layout("[{\"x\"}, {}]", m, {5, 6})));
}

TEST(Transfer, AValueWithoutDimsIsOneElement) {
  Mesh m = mesh({2});
  auto t = computeTransfer(layout("[], unreduced = {\"x\"}", m, {}),
                           Layout::replicated({}));
  ASSERT_TRUE(t.has_value());
  EXPECT_TRUE(t->atoms.empty());
  checkPlan(layout("[], unreduced = {\"x\"}", m, {}), Layout::replicated({}), 2,
            false);
}
