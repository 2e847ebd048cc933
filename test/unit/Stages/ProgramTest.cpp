//===- ProgramTest.cpp - Instruction lists --------------------------------===//

#include "TestPrograms.h"
#include "shardkit/Stages/VerifyProgram.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace shardkit_test;

static ClockTable build(ScheduleKind kind, int64_t n, int64_t m, int64_t v = 1) {
  std::string error;
  std::optional<ClockTable> table = buildSchedule(kind, n, m, v, error);
  EXPECT_TRUE(table) << error;
  return *table;
}

/// `0 f0 0` runs f0 for microbatch 0 in clock 0, `0 with 1: >x.0 <g.1` posts,
/// `0 -x.0` frees.
static std::string print(const PipelineProgram &program, const std::vector<Instruction> &list) {
  std::string text;
  auto add = [&](ValueInstance instance) {
    text += program.values[instance.value].name;
    if (instance.microbatch >= 0)
      text += "." + std::to_string(instance.microbatch);
  };
  for (const Instruction &instruction : list) {
    text += std::to_string(instruction.clock) + " ";
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      text += program.functions[instruction.function].name;
      if (instruction.microbatch >= 0)
        text += " " + std::to_string(instruction.microbatch);
      break;
    case Instruction::Kind::Transfer:
      text += "with " + std::to_string(instruction.peer) + ":";
      for (ValueInstance instance : instruction.sends)
        text += " >", add(instance);
      for (ValueInstance instance : instruction.receives)
        text += " <", add(instance);
      break;
    case Instruction::Kind::Free:
      text += "-";
      add(instruction.freed);
      break;
    }
    text += "\n";
  }
  return text;
}

TEST(ProgramTest, TwoMeshes) {
  PipelineProgram program = makeTraining(2);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 2, 2));
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(print(program, lists[0]), R"(0 f0 0
0 with 1: >x0.0 >skip.0
1 f0 1
1 with 1: >x0.1 >skip.1
1 -x0.0
1 -skip.0
2 with 1: <g1.0
3 b0 0
3 -saved0.0
3 -g1.0
3 -x0.1
3 -skip.1
4 with 1: <g1.1 <sum1
5 b0 1
5 -saved0.1
5 -g1.1
6 a0
6 -sum1
6 with 1: >tied
7 -tied
)");
  EXPECT_EQ(print(program, lists[1]), R"(0 with 0: <x0.0 <skip.0
1 f1 0
1 -skip.0
1 with 0: <x0.1 <skip.1
2 b1 0
2 -x0.0
2 -saved1.0
2 with 0: >g1.0
3 f1 1
3 -skip.1
3 -g1.0
4 b1 1
4 -x0.1
4 -saved1.1
4 with 0: >g1.1 >sum1
5 -g1.1
6 a1
6 with 0: <tied
7 last
7 -tied
)");
}

TEST(ProgramTest, WhatIsSentAndReceivedInOneClockIsOneTransfer) {
  // In clock 4 of this table mesh 1 ends B0 as mesh 2 ends F1; in clock 6 mesh 0 ends F3 as
  // mesh 1 ends B1.
  PipelineProgram program = makeTraining(3);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 3, 4));
  unsigned both = 0;
  for (const std::vector<Instruction> &list : lists) {
    std::set<std::pair<int64_t, int64_t>> seen; // clock and peer
    for (const Instruction &instruction : list)
      if (instruction.kind == Instruction::Kind::Transfer) {
        EXPECT_TRUE(seen.insert({instruction.clock, instruction.peer}).second);
        both += !instruction.sends.empty() && !instruction.receives.empty();
      }
  }
  EXPECT_GT(both, 0u);
}

TEST(ProgramTest, AValueGoesOnceToEveryMeshThatReadsIt) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::InterleavedOneFOneB}) {
    SCOPED_TRACE(toString(kind).str());
    int64_t v = kind == ScheduleKind::InterleavedOneFOneB ? 2 : 1, m = 8;
    PipelineProgram program = makeTraining(4, v);
    InstructionLists lists = emitInstructions(program, build(kind, 4, m, v));
    // By value: the meshes that it goes to, once per microbatch.
    std::map<std::string, std::map<int64_t, int64_t>> received;
    for (auto [mesh, list] : llvm::enumerate(lists))
      for (const Instruction &instruction : list)
        for (ValueInstance instance : instruction.receives)
          ++received[program.values[instance.value].name][mesh];
    int64_t last = 4 * v - 1;
    // x0 is read by forward 1 and backward 1, both on mesh 1.
    EXPECT_EQ(received["x0"], (std::map<int64_t, int64_t>{{1, m}}));
    EXPECT_EQ(received["g3"], (std::map<int64_t, int64_t>{{2, m}}));
    EXPECT_EQ(received["skip"], (std::map<int64_t, int64_t>{{3, m}}));
    EXPECT_EQ(received["sum" + std::to_string(last)], (std::map<int64_t, int64_t>{{0, 1}}));
    EXPECT_EQ(received["tied"], (std::map<int64_t, int64_t>{{3, 1}}));
    EXPECT_EQ(received["saved0"].size() + received["sum0"].size() + received["loss"].size(), 0u);
  }
}

TEST(ProgramTest, MeshesOfOneClockDoNotPostInAChain) {
  // All meshes of gpipe send forward in clock 7: first 0-1, 2-3, ..., then 1-2, 3-4, ...
  PipelineProgram program = makeTraining(8);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::GPipe, 8, 16));
  for (int64_t mesh = 1; mesh < 7; ++mesh) {
    std::vector<int64_t> peers;
    for (const Instruction &instruction : lists[mesh])
      if (instruction.kind == Instruction::Kind::Transfer && instruction.clock == 7)
        peers.push_back(instruction.peer);
    EXPECT_EQ(peers, (mesh % 2 ? std::vector<int64_t>{mesh - 1, mesh + 1} : std::vector<int64_t>{mesh + 1, mesh - 1}));
  }
}

TEST(ProgramTest, WhatIsSentIsKeptUntilTheOtherMeshUsesIt) {
  // Mesh 0 frees skip once mesh 2 has reached its forward fragment, and x0 once mesh 1 has.
  PipelineProgram program = makeTraining(3);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::GPipe, 3, 4));
  std::map<std::string, int64_t> freed;
  for (const Instruction &instruction : lists[0])
    if (instruction.kind == Instruction::Kind::Free && instruction.freed.microbatch == 1)
      freed[program.values[instruction.freed.value].name] = instruction.clock;
  EXPECT_EQ(freed["x0"], 2);
  EXPECT_EQ(freed["skip"], 3);
}

/// Clocks that the lists take where a forward function takes `forward` and a backward one
/// `backward` of them, and transfers `transfer`; a mesh waits as in `replay`.
static double getTime(const PipelineProgram &program, const InstructionLists &lists, int64_t m, double forward,
                      double backward, double transfer) {
  std::vector<double> now(lists.size());
  std::map<std::tuple<int64_t, int64_t, ValueInstance>, double> posted, used;
  auto keyOf = [](const SentValue &sent) { return std::tuple(sent.from, sent.to, sent.instance); };
  replay(program, lists, m, [&](int64_t mesh, size_t index, llvm::ArrayRef<SentValue> awaited) {
    const Instruction &instruction = lists[mesh][index];
    for (const SentValue &one : awaited)
      now[mesh] = std::max(now[mesh], one.to == mesh ? posted[keyOf(one)] + transfer : used[keyOf(one)]);
    for (const SentValue &one : awaited)
      if (one.to == mesh)
        used[keyOf(one)] = now[mesh];
    if (instruction.kind == Instruction::Kind::Run) {
      StageFragment fragment = program.functions[instruction.function].fragment;
      now[mesh] += fragment == StageFragment::Forward ? forward : fragment == StageFragment::Backward ? backward : 0;
    }
    for (ValueInstance instance : instruction.sends)
      posted[{mesh, instruction.peer, instance}] = now[mesh];
  });
  return *llvm::max_element(now);
}

TEST(ProgramTest, NobodyWaitsButForWhatItNeeds) {
  // Backward takes twice as long as forward: 16 (1 + 2) of work, and bubbles of (n - 1)(1 + 2),
  // with V stages on a mesh a V-th of that.
  auto take = [](ScheduleKind kind, int64_t v, double transfer) {
    PipelineProgram program = makeTraining(4, v);
    return getTime(program, emitInstructions(program, build(kind, 4, 16, v)), 16, 1.0 / v, 2.0 / v, transfer);
  };
  EXPECT_EQ(take(ScheduleKind::GPipe, 1, 0), 57);
  EXPECT_EQ(take(ScheduleKind::OneFOneB, 1, 0), 57);
  EXPECT_EQ(take(ScheduleKind::OneFOneBOverlap, 1, 0), 57);
  EXPECT_EQ(take(ScheduleKind::InterleavedOneFOneB, 2, 0), 52.5);
  // Where transfers take a tenth of a forward fragment, what is ahead of its neighbours by one
  // only waits for the three that come first, the three that come last, and that of the apply fragment.
  EXPECT_NEAR(take(ScheduleKind::OneFOneBOverlap, 1, 0.1), 57.7, 1e-9);
  EXPECT_GT(take(ScheduleKind::OneFOneB, 1, 0.1), 59);
}

TEST(ProgramTest, ResultsAndSumsStay) {
  PipelineProgram program = makeTraining(2);
  for (PipelineValue &value : program.values)
    value.isResult = value.name == "x0";
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 2, 2));
  std::set<std::pair<int64_t, std::string>> freed;
  for (auto [mesh, list] : llvm::enumerate(lists))
    for (const Instruction &instruction : list)
      if (instruction.kind == Instruction::Kind::Free)
        freed.insert({mesh, program.values[instruction.freed.value].name});
  // x0 where it was received, sum1 likewise.
  EXPECT_EQ(freed, (std::set<std::pair<int64_t, std::string>>{{0, "g1"},
                                                              {0, "saved0"},
                                                              {0, "skip"},
                                                              {0, "sum1"},
                                                              {0, "tied"},
                                                              {1, "g1"},
                                                              {1, "saved1"},
                                                              {1, "skip"},
                                                              {1, "tied"},
                                                              {1, "x0"}}));
}

TEST(ProgramTest, ASumOfAMicrobatchIsFreed) {
  PipelineProgram program;
  program.values = {{"x"}};
  program.meshOfStage = {0};
  program.functions = {{"write", 0, StageFragment::Forward, 0, {}, {0}},
                       {"update", 0, StageFragment::Forward, 0, {0}, {0}},
                       {"read", 0, StageFragment::Backward, 0, {0}, {}}};
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 1, 2));
  EXPECT_EQ(print(program, lists[0]), R"(0 write 0
0 update 0
1 read 0
1 -x.0
2 write 1
2 update 1
3 read 1
3 -x.1
)");
  EXPECT_FALSE(verifyProgram(program, lists, 2, ScheduleKind::OneFOneB));
}

TEST(ProgramTest, ApplyTakesAllMicrobatchesOfAValue) {
  PipelineProgram program;
  program.values = {{"x"}, {"all", false}};
  program.meshOfStage = {0, 1};
  program.functions = {{"f0", 0, StageFragment::Forward, 0, {}, {0}},
                       {"f1", 1, StageFragment::Forward, 0, {}, {}},
                       {"a1", 1, StageFragment::Apply, 0, {0}, {1}}};
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::Inference, 2, 2));
  EXPECT_EQ(print(program, lists[0]), R"(0 f0 0
0 with 1: >x.0
1 f0 1
1 with 1: >x.1
3 -x.0
3 -x.1
)");
  EXPECT_EQ(print(program, lists[1]), R"(0 with 0: <x.0
1 f1 0
1 with 0: <x.1
2 f1 1
3 a1
3 -x.0
3 -x.1
)");
  EXPECT_FALSE(verifyProgram(program, lists, 2, ScheduleKind::Inference));
}

TEST(ProgramTest, ReplayStopsWhereMeshesWaitForOneAnother) {
  PipelineProgram program = makeTraining(3);
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 3, 4));
  std::vector<size_t> next(3, 0);
  std::vector<Stop> stops = replay(program, lists, 4, [&](int64_t mesh, size_t index, llvm::ArrayRef<SentValue>) {
    EXPECT_EQ(index, next[mesh]++);
  });
  for (int64_t mesh = 0; mesh < 3; ++mesh) {
    EXPECT_EQ(stops[mesh].index, lists[mesh].size());
    EXPECT_EQ(next[mesh], lists[mesh].size());
  }
  // Without its first transfer mesh 0 sends nothing that mesh 1 waits for in its first run.
  llvm::erase_if(lists[0], [](const Instruction &i) { return i.kind == Instruction::Kind::Transfer && i.clock == 0; });
  stops = replay(program, lists, 4, [](int64_t, size_t, llvm::ArrayRef<SentValue>) {});
  EXPECT_LT(stops[1].index, lists[1].size());
  EXPECT_EQ(stops[1].awaited, (SentValue{0, 1, {0, 0}}));
  EXPECT_LT(stops[0].index, lists[0].size());
}
