//===- ScheduleTest.cpp - Clock tables ------------------------------------===//

#include "shardkit/Stages/Schedule.h"
#include <gtest/gtest.h>

using namespace mlir::spmd;

static ClockTable build(ScheduleKind kind, int64_t n, int64_t m, int64_t v = 1) {
  std::string error;
  std::optional<ClockTable> table = buildSchedule(kind, n, m, v, error);
  EXPECT_TRUE(table) << error;
  return table ? *table : ClockTable();
}

/// `F0 --|F1 F0|...`: rows are clocks, columns are meshes; `F0.1` is the second stage of
/// a mesh.
static std::string print(const ClockTable &table) {
  std::string text;
  for (int64_t clock = 0; clock < table.getNumClocks(); ++clock) {
    text += clock ? "|" : "";
    for (int64_t mesh = 0; mesh < table.numMeshes; ++mesh) {
      const Cell &cell = table.getRow(clock)[mesh];
      text += mesh ? " " : "";
      if (cell.isIdle()) {
        text += "--";
        continue;
      }
      text += (cell.fragment == StageFragment::Forward ? "F" : "B") + std::to_string(cell.microbatch);
      if (table.virtualStages > 1)
        text += "." + std::to_string(cell.stage / table.numMeshes);
    }
  }
  return text;
}

static std::string getError(ScheduleKind kind, int64_t n, int64_t m, int64_t v) {
  std::string error;
  EXPECT_FALSE(buildSchedule(kind, n, m, v, error));
  return error;
}

TEST(ScheduleTest, OneFOneBIsTheTableOfThreeMeshes) {
  EXPECT_EQ(print(build(ScheduleKind::OneFOneB, 3, 4)),
            "F0 -- --|F1 F0 --|F2 F1 F0|-- -- B0|-- B0 F1|B0 F2 B1|F3 B1 F2|B1 F3 B2|-- B2 F3|"
            "B2 -- B3|-- B3 --|B3 -- --");
}

TEST(ScheduleTest, OneFOneBIsTheTableOfTwoMeshes) {
  EXPECT_EQ(print(build(ScheduleKind::OneFOneB, 2, 4)), "F0 --|F1 F0|-- B0|B0 F1|F2 B1|B1 F2|F3 B2|B2 F3|-- B3|B3 --");
}

TEST(ScheduleTest, GPipeGoesBackFromTheLastMicrobatch) {
  EXPECT_EQ(print(build(ScheduleKind::GPipe, 2, 3)), "F0 --|F1 F0|F2 F1|-- F2|-- B2|B2 B1|B1 B0|B0 --");
}

TEST(ScheduleTest, InferenceHasForwardsOnly) {
  EXPECT_EQ(print(build(ScheduleKind::Inference, 3, 2)), "F0 -- --|F1 F0 --|-- F1 F0|-- -- F1");
}

TEST(ScheduleTest, OverlapRunsFurtherAhead) {
  EXPECT_EQ(print(build(ScheduleKind::OneFOneBOverlap, 2, 4)),
            "F0 --|F1 F0|F2 B0|B0 F1|F3 B1|B1 F2|-- B2|B2 F3|-- B3|B3 --");
}

TEST(ScheduleTest, InterleavedVisitsAMeshOncePerVirtualStage) {
  EXPECT_EQ(print(build(ScheduleKind::InterleavedOneFOneB, 2, 2, 2)),
            "F0.0 --|F1.0 F0.0|F0.1 F1.0|F1.1 F0.1|-- B0.1|B0.1 F1.1|-- B1.1|B1.1 B0.0|B0.0 B1.0|"
            "B1.0 --");
}

/// What every table has to be, and the most that are in flight per mesh.
static void expectValid(const ClockTable &table) {
  int64_t n = table.numMeshes, m = table.numMicrobatches, numStages = table.getNumStages();
  std::vector<int64_t> clockOf[2];
  for (std::vector<int64_t> &clocks : clockOf)
    clocks.assign(numStages * m, -1);
  std::vector<int64_t> inFlight(n, 0), most(n, 0);
  for (int64_t clock = 0; clock < table.getNumClocks(); ++clock)
    for (int64_t mesh = 0; mesh < n; ++mesh) {
      const Cell &cell = table.getRow(clock)[mesh];
      if (cell.isIdle())
        continue;
      ASSERT_NE(cell.fragment, StageFragment::Apply);
      ASSERT_LT(cell.stage, numStages);
      ASSERT_LT(cell.microbatch, m);
      ASSERT_EQ(cell.stage % n, mesh);
      int64_t &own = clockOf[size_t(cell.fragment)][cell.stage * m + cell.microbatch];
      ASSERT_EQ(own, -1) << "runs twice";
      own = clock;
      inFlight[mesh] += cell.fragment == StageFragment::Forward ? 1 : -1;
      most[mesh] = std::max(most[mesh], inFlight[mesh]);
    }
  bool hasBackward = table.kind != ScheduleKind::Inference;
  for (int64_t stage = 0; stage < numStages; ++stage)
    for (int64_t i = 0; i < m; ++i) {
      int64_t forward = clockOf[0][stage * m + i], backward = clockOf[1][stage * m + i];
      ASSERT_GE(forward, 0);
      if (stage > 0)
        ASSERT_GT(forward, clockOf[0][(stage - 1) * m + i]);
      ASSERT_EQ(backward >= 0, hasBackward);
      if (!hasBackward)
        continue;
      ASSERT_GT(backward, forward);
      if (stage + 1 < numStages)
        ASSERT_GT(backward, clockOf[1][(stage + 1) * m + i]);
    }
  for (int64_t mesh = 0; mesh < n; ++mesh)
    ASSERT_EQ(most[mesh], getMaxInFlight(table.kind, mesh, n, m, table.virtualStages));
  ASSERT_EQ(table.getNumRows(), table.getNumClocks() + hasBackward);
  if (hasBackward)
    for (int64_t mesh = 0; mesh < n; ++mesh)
      ASSERT_EQ(table.getRow(table.getNumClocks())[mesh], (Cell{mesh, StageFragment::Apply, -1}));
}

TEST(ScheduleTest, EveryTableIsValidAndAsShortAsItCanBe) {
  for (int64_t n = 1; n <= 32; ++n)
    for (int64_t m : {1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128}) {
      SCOPED_TRACE(testing::Message() << n << " meshes, " << m << " microbatches");
      for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::OneFOneBOverlap}) {
        SCOPED_TRACE(toString(kind).str());
        ClockTable table = build(kind, n, m);
        EXPECT_EQ(table.getNumClocks(), 2 * (m + n - 1));
        expectValid(table);
      }
      ClockTable inference = build(ScheduleKind::Inference, n, m);
      EXPECT_EQ(inference.getNumClocks(), m + n - 1);
      expectValid(inference);
      if (m % n == 0)
        for (int64_t v : {1, 2, 3, 5}) {
          SCOPED_TRACE(v);
          ClockTable table = build(ScheduleKind::InterleavedOneFOneB, n, m, v);
          EXPECT_EQ(table.getNumClocks(), 2 * (m * v + n - 1));
          expectValid(table);
        }
    }
}

TEST(ScheduleTest, MostInFlight) {
  // n = 4, m = 8, by mesh
  for (auto [kind, v, most] : {
           std::tuple(ScheduleKind::GPipe, 1, std::vector<int64_t>{8, 8, 8, 8}),
           std::tuple(ScheduleKind::OneFOneB, 1, std::vector<int64_t>{4, 3, 2, 1}),
           std::tuple(ScheduleKind::OneFOneBOverlap, 1, std::vector<int64_t>{7, 5, 3, 1}),
           std::tuple(ScheduleKind::InterleavedOneFOneB, 2, std::vector<int64_t>{11, 9, 7, 5}),
       })
    for (int64_t mesh = 0; mesh < 4; ++mesh)
      EXPECT_EQ(getMaxInFlight(kind, mesh, 4, 8, v), most[mesh]) << toString(kind).str();
  EXPECT_EQ(getMaxInFlight(ScheduleKind::OneFOneB, 0, 4, 2, 1), 2);
}

TEST(ScheduleTest, WhatCannotBeIsSaid) {
  EXPECT_EQ(getError(ScheduleKind::GPipe, 0, 4, 1), "0 meshes, expected at least 1");
  EXPECT_EQ(getError(ScheduleKind::GPipe, 2, -1, 1), "-1 microbatches, expected at least 1");
  EXPECT_EQ(getError(ScheduleKind::InterleavedOneFOneB, 2, 4, 0), "0 virtual stages per mesh, expected at least 1");
  EXPECT_EQ(getError(ScheduleKind::OneFOneB, 2, 4, 2),
            "2 virtual stages per mesh, expected 1 with schedule 1f1b: only interleaved-1f1b takes "
            "more");
  EXPECT_EQ(getError(ScheduleKind::InterleavedOneFOneB, 4, 6, 2),
            "6 microbatches, expected a multiple of the 4 meshes with schedule interleaved-1f1b: 4 "
            "or 8");
  EXPECT_EQ(getError(ScheduleKind::InterleavedOneFOneB, 4, 3, 2),
            "3 microbatches, expected a multiple of the 4 meshes with schedule interleaved-1f1b: "
            "4");
  EXPECT_EQ(getError(ScheduleKind::GPipe, 1 << 20, 1 << 20, 1),
            "a schedule of 1048576 meshes, 1048576 microbatches and 1 virtual stages per mesh, "
            "expected a product of at most 16777216");
}

TEST(ScheduleTest, Names) {
  std::string error;
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::OneFOneBOverlap,
                            ScheduleKind::InterleavedOneFOneB, ScheduleKind::Inference})
    EXPECT_EQ(parseScheduleKind(toString(kind), error), kind);
  EXPECT_FALSE(parseScheduleKind("1F1B", error));
  EXPECT_EQ(error, "unknown schedule '1F1B', expected gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b, "
                   "inference");
}
