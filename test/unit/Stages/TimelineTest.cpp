//===- TimelineTest.cpp - Schedules as text and as pages ------------------===//

#include "shardkit/Stages/Timeline.h"
#include "TestPrograms.h"
#include <gtest/gtest.h>
#include <regex>

using namespace shardkit_test;

static ClockTable build(ScheduleKind kind, int64_t n, int64_t m, int64_t v = 1) {
  std::string error;
  std::optional<ClockTable> table = buildSchedule(kind, n, m, v, error);
  EXPECT_TRUE(table) << error;
  return *table;
}

static std::string print(const ClockTable &table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTimeline(table, os);
  return text;
}

static std::string printPage(const PipelineProgram &program, const InstructionLists &lists,
                             llvm::ArrayRef<double> seconds) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTimelinePage(program, lists, seconds, os);
  return text;
}

static unsigned count(const std::string &text, const std::string &part) {
  unsigned found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// Every tag is closed in turn.
static void expectBalanced(const std::string &page) {
  static const std::regex tag("<(/?)([a-z0-9]+)([^<>]*?)(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(page.begin(), page.end(), tag), end; it != end; ++it) {
    if ((*it)[4].length())
      continue;
    if ((*it)[1].length() == 0) {
      open.push_back((*it)[2]);
      continue;
    }
    ASSERT_FALSE(open.empty());
    ASSERT_EQ(open.back(), (*it)[2].str());
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(TimelineTest, Text) {
  EXPECT_EQ(print(build(ScheduleKind::OneFOneB, 3, 4)), "mesh 0  F0 F1 F2 -- -- B0 F3 B1 -- B2 -- B3 A\n"
                                                        "mesh 1  -- F0 F1 -- B0 F2 B1 F3 B2 -- B3 -- A\n"
                                                        "mesh 2  -- -- F0 B0 F1 B1 F2 B2 F3 B3 -- -- A\n");
  EXPECT_EQ(print(build(ScheduleKind::Inference, 2, 2)), "mesh 0  F0 F1 --\n"
                                                         "mesh 1  -- F0 F1\n");
}

TEST(TimelineTest, TextNamesVirtualStages) {
  EXPECT_EQ(print(build(ScheduleKind::InterleavedOneFOneB, 2, 2, 2)),
            "mesh 0  F0.0 F1.0 F0.1 F1.1 --   B0.1 --   B1.1 B0.0 B1.0 A\n"
            "mesh 1  --   F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 --   A\n");
}

TEST(TimelineTest, PageHasEveryRunAndTransferOnce) {
  ClockTable table = build(ScheduleKind::InterleavedOneFOneB, 2, 4, 2);
  PipelineProgram program = makeTraining(2, 2);
  program.values[0].name = "<&\">";
  InstructionLists lists = emitInstructions(program, table);
  std::string page = printPage(program, lists, {});
  expectBalanced(page);
  EXPECT_EQ(count(page, "<g class=\"forward\""), 16u);
  EXPECT_EQ(count(page, "<g class=\"backward\""), 16u);
  EXPECT_EQ(count(page, "<g class=\"apply\""), 5u);
  unsigned transfers = 0;
  for (const std::vector<Instruction> &list : lists)
    for (const Instruction &instruction : list)
      transfers += instruction.sends.size();
  EXPECT_EQ(count(page, "<path d="), transfers);
  EXPECT_EQ(count(page, ">F3.1</text>"), 2u);
  EXPECT_NE(page.find("data-details=\"f0, microbatch 2&#10;stage 0, clock 4&#10;sends '&lt;&amp;&quot;&gt;' of "
                      "microbatch 2 to mesh 1&#10;sends "),
            std::string::npos);
  EXPECT_NE(page.find("Not all functions have a known time"), std::string::npos);
}

TEST(TimelineTest, RunsAreAsWideAsTheyTake) {
  PipelineProgram program = makeInference(2);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::Inference, 2, 2));
  // f0 takes 1 s, f1 3 s: mesh 1 waits for the first and mesh 0 for nobody.
  std::string page = printPage(program, lists, {1.0, 3.0});
  expectBalanced(page);
  EXPECT_EQ(page.find("Not all functions"), std::string::npos);
  // The mean of 2 s is 48 wide; drawings begin at 64.
  for (const char *rect : {"<rect x=\"64.0\" y=\"6\" width=\"24.0\"", "<rect x=\"88.0\" y=\"6\" width=\"24.0\"",
                           "<rect x=\"88.0\" y=\"46\" width=\"72.0\"", "<rect x=\"160.0\" y=\"46\" width=\"72.0\""})
    EXPECT_NE(page.find(rect), std::string::npos) << rect << "\n" << page;
  // Of 7 s mesh 0 works 2 and mesh 1 6.
  EXPECT_NE(page.find("<td class=\"n\">2 s</td><td class=\"n\">7 s</td><td class=\"n\">71.4</td>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"n\">14.3</td>"), std::string::npos);
  EXPECT_NE(page.find("clock 1, 3 s"), std::string::npos);
}
