//===- VerifyProgramTest.cpp - Right lists pass, broken ones do not -------===//

#include "shardkit/Stages/VerifyProgram.h"
#include "TestPrograms.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace shardkit_test;

static ClockTable build(ScheduleKind kind, int64_t n, int64_t m, int64_t v = 1) {
  std::string error;
  std::optional<ClockTable> table = buildSchedule(kind, n, m, v, error);
  EXPECT_TRUE(table) << error;
  return *table;
}

static std::string print(const std::optional<Fault> &fault) {
  return fault ? std::to_string(fault->mesh) + ", " + std::to_string(fault->instruction) + ": " + fault->message
               : "none";
}

TEST(VerifyProgramTest, EveryScheduleIsRight) {
  for (int64_t n = 1; n <= 32; ++n)
    for (int64_t m : {1, 2, 3, 4, 8, 16, 30, 32, 64, 128}) {
      for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::OneFOneBOverlap,
                                ScheduleKind::InterleavedOneFOneB, ScheduleKind::Inference})
        for (int64_t v : {1, 2, 3}) {
          bool interleaved = kind == ScheduleKind::InterleavedOneFOneB;
          if (interleaved ? m % n != 0 : v > 1)
            continue;
          SCOPED_TRACE(testing::Message() << toString(kind).str() << ", " << n << " meshes, " << m << " microbatches, "
                                          << v << " stages on each");
          ClockTable table = build(kind, n, m, v);
          PipelineProgram program = makeProgram(table);
          ASSERT_EQ(print(verifyProgram(program, emitInstructions(program, table), m, kind)), "none");
        }
    }
}

namespace {

/// The lists of 1f1b with 4 microbatches on 3 meshes, for a test to break.
class BrokenListsTest : public testing::Test {
protected:
  PipelineProgram program = makeTraining(3);
  ScheduleKind kind = ScheduleKind::OneFOneB;
  InstructionLists lists = emitInstructions(program, build(kind, 3, 4));

  using Kind = Instruction::Kind;

  int64_t getFunction(llvm::StringRef name) {
    for (auto [i, function] : llvm::enumerate(program.functions))
      if (function.name == name)
        return i;
    ADD_FAILURE() << "no function " << name.str();
    return 0;
  }
  ValueInstance getInstance(llvm::StringRef name, int64_t microbatch) {
    for (auto [i, value] : llvm::enumerate(program.values))
      if (value.name == name)
        return {int64_t(i), microbatch};
    ADD_FAILURE() << "no value " << name.str();
    return {};
  }
  template <typename Predicate> size_t find(int64_t mesh, Predicate matches) {
    for (auto [i, instruction] : llvm::enumerate(lists[mesh]))
      if (matches(instruction))
        return i;
    ADD_FAILURE() << "no such instruction";
    return 0;
  }
  size_t findRun(int64_t mesh, llvm::StringRef name, int64_t microbatch) {
    int64_t function = getFunction(name);
    return find(mesh, [&](const Instruction &i) {
      return i.kind == Kind::Run && i.function == function && i.microbatch == microbatch;
    });
  }
  size_t findFree(int64_t mesh, ValueInstance instance) {
    return find(mesh, [&](const Instruction &i) { return i.kind == Kind::Free && i.freed == instance; });
  }
  size_t findSend(int64_t mesh, ValueInstance instance) {
    return find(mesh, [&](const Instruction &i) { return llvm::is_contained(i.sends, instance); });
  }
  size_t findReceive(int64_t mesh, ValueInstance instance) {
    return find(mesh, [&](const Instruction &i) { return llvm::is_contained(i.receives, instance); });
  }
  void erase(int64_t mesh, size_t index) { lists[mesh].erase(lists[mesh].begin() + index); }
  void insert(int64_t mesh, size_t index, Instruction instruction) {
    lists[mesh].insert(lists[mesh].begin() + index, instruction);
  }
  void move(int64_t mesh, size_t from, size_t to) {
    Instruction instruction = lists[mesh][from];
    erase(mesh, from);
    instruction.clock = lists[mesh][to].clock;
    insert(mesh, to, instruction);
  }
  Instruction getTransfer(int64_t peer, int64_t clock) {
    Instruction transfer;
    transfer.kind = Kind::Transfer;
    transfer.peer = peer;
    transfer.clock = clock;
    return transfer;
  }
  static void remove(llvm::SmallVectorImpl<ValueInstance> &instances, ValueInstance instance) {
    llvm::erase(instances, instance);
  }

  void expectFault(int64_t mesh, size_t index, llvm::StringRef message) {
    EXPECT_EQ(print(verifyProgram(program, lists, 4, kind)), print(Fault{mesh, index, message.str()}));
  }
};

} // namespace

TEST_F(BrokenListsTest, UnbrokenTheyAreRight) { EXPECT_EQ(print(verifyProgram(program, lists, 4, kind)), "none"); }

TEST_F(BrokenListsTest, FunctionThatDoesNotExist) {
  size_t at = findRun(1, "f1", 2);
  lists[1][at].function = 99;
  expectFault(1, at, "function number 99, expected one of 10 functions");
}

TEST_F(BrokenListsTest, FunctionOfAnotherMesh) {
  size_t at = findRun(1, "f1", 2);
  lists[1][at].function = getFunction("f2");
  expectFault(1, at, "forward function 'f2' runs on mesh 1, expected mesh 2, which has stage 2");
}

TEST_F(BrokenListsTest, MicrobatchThatDoesNotExist) {
  size_t at = findRun(0, "f0", 3);
  lists[0][at].microbatch = 4;
  expectFault(0, at, "forward function 'f0' runs for microbatch 4, expected one of 4 microbatches");
}

TEST_F(BrokenListsTest, ApplyForAMicrobatch) {
  size_t at = findRun(0, "a0", -1);
  lists[0][at].microbatch = 0;
  expectFault(0, at, "apply function 'a0' runs for microbatch 0, expected -1, the step");
}

TEST_F(BrokenListsTest, RunTwice) {
  size_t at = findRun(2, "b2", 1);
  insert(2, at + 1, lists[2][at]);
  expectFault(2, at + 1, "backward function 'b2' runs a second time for microbatch 1, expected once");
}

TEST_F(BrokenListsTest, NeverRun) {
  erase(2, findRun(2, "f2", 3));
  expectFault(2, findRun(2, "b2", 3),
              "backward function 'b2' runs for microbatch 3 before the forward fragment of stage 2, "
              "expected it after");
}

TEST_F(BrokenListsTest, ApplyNeverRun) {
  erase(1, findRun(1, "a1", -1));
  expectFault(1, lists[1].size(), "apply function 'a1' never runs, expected once");
}

TEST_F(BrokenListsTest, ApplyTooEarly) {
  size_t to = findRun(1, "b1", 3);
  move(1, findRun(1, "a1", -1), to);
  expectFault(1, to,
              "apply function 'a1' runs before 1 run of other fragments, expected all microbatches "
              "to be complete");
}

TEST_F(BrokenListsTest, ReadBeforeItIsReceived) {
  size_t run = findRun(1, "f1", 0);
  move(1, run, 0);
  expectFault(1, 0,
              "forward function 'f1' reads 'x0' of microbatch 0, which is not on mesh 1 yet, "
              "expected it written or received before");
}

TEST_F(BrokenListsTest, ReadAfterItWasFreed) {
  size_t run = findRun(1, "b1", 2);
  move(1, findFree(1, getInstance("x0", 2)), run);
  expectFault(1, run + 1,
              "backward function 'b1' reads 'x0' of microbatch 2 after it was freed, expected it "
              "to be kept until then");
}

TEST_F(BrokenListsTest, FreedTwice) {
  size_t at = findFree(0, getInstance("saved0", 1));
  insert(0, at + 1, lists[0][at]);
  expectFault(0, at + 1, "frees 'saved0' of microbatch 1 a second time, expected once");
}

TEST_F(BrokenListsTest, FreedBeforeItIsThere) {
  size_t at = findFree(0, getInstance("g1", 2));
  move(0, at, 0);
  expectFault(0, 0,
              "frees 'g1' of microbatch 2, which is not on mesh 0, expected it written or received "
              "before");
}

TEST_F(BrokenListsTest, NeverFreed) {
  erase(2, findFree(2, getInstance("saved2", 3)));
  expectFault(2, lists[2].size(), "'saved2' of microbatch 3 is still on mesh 2 at the end, expected it freed");
}

TEST_F(BrokenListsTest, FreedSum) {
  Instruction release;
  release.kind = Kind::Free;
  release.freed = getInstance("sum1", -1);
  release.clock = lists[1].back().clock;
  lists[1].push_back(release);
  expectFault(1, lists[1].size() - 1, "frees 'sum1', expected it to stay until the end of the step");
}

TEST_F(BrokenListsTest, FreedResult) {
  size_t at = findRun(2, "b2", 0);
  Instruction release;
  release.kind = Kind::Free;
  release.freed = getInstance("loss", 0);
  release.clock = lists[2][at].clock;
  insert(2, at, release);
  expectFault(2, at, "frees 'loss' of microbatch 0, expected it to stay until the end of the step");
}

TEST_F(BrokenListsTest, FreedValueThatDoesNotExist) {
  size_t at = findFree(0, getInstance("g1", 2));
  lists[0][at].freed.value = 50;
  expectFault(0, at, "value number 50, expected one of 13 values");
}

TEST_F(BrokenListsTest, SumOfAMicrobatch) {
  size_t at = findSend(2, getInstance("sum2", -1));
  for (ValueInstance &instance : lists[2][at].sends)
    if (instance == getInstance("sum2", -1))
      instance.microbatch = 3;
  expectFault(2, at, "'sum2' of microbatch 3, expected -1: there is one per step");
}

TEST_F(BrokenListsTest, ValueOfNoMicrobatch) {
  size_t at = findFree(2, getInstance("x1", 1));
  lists[2][at].freed.microbatch = -1;
  expectFault(2, at, "'x1' of microbatch -1, expected one of 4 microbatches");
}

TEST_F(BrokenListsTest, SentBeforeItIsWritten) {
  size_t run = findRun(0, "f0", 1), at = findSend(0, getInstance("x0", 1));
  ASSERT_EQ(at, run + 1);
  move(0, at, run);
  expectFault(0, run, "sends 'x0' of microbatch 1 to mesh 1, expected it written or received before");
}

TEST_F(BrokenListsTest, SentAfterItWasFreed) {
  size_t at = findSend(0, getInstance("x0", 1));
  move(0, findFree(0, getInstance("x0", 1)), at);
  expectFault(0, at + 1, "sends 'x0' of microbatch 1 to mesh 1 after it was freed, expected it before");
}

TEST_F(BrokenListsTest, SumSentTooEarly) {
  ValueInstance sum = getInstance("sum2", -1);
  size_t late = findSend(2, sum), early = findSend(2, getInstance("g2", 2));
  remove(lists[2][late].sends, sum);
  insert(2, early, getTransfer(0, lists[2][early].clock));
  lists[2][early].sends.push_back(sum);
  expectFault(2, early, "sends 'sum2' to mesh 0 before its last update, expected the complete sum");
}

TEST_F(BrokenListsTest, ReceivedTwice) {
  ValueInstance instance = getInstance("x0", 2);
  size_t first = findReceive(1, instance);
  insert(1, first + 1, lists[1][first]);
  expectFault(1, first + 1,
              "receives 'x0' of microbatch 2 from mesh 0, which is there already, expected it from "
              "one mesh, once");
}

TEST_F(BrokenListsTest, ReceivedFromTwoMeshes) {
  // Mesh 2 sends on what it got.
  ValueInstance instance = getInstance("skip", 0);
  size_t at = findReceive(1, getInstance("x0", 3));
  insert(1, at, getTransfer(2, lists[1][at].clock));
  lists[1][at].receives.push_back(instance);
  insert(1, at + 1, getTransfer(0, lists[1][at].clock));
  lists[1][at + 1].receives.push_back(instance);
  expectFault(1, at + 1,
              "receives 'skip' of microbatch 0 from mesh 0, which is there already, expected it "
              "from one mesh, once");
}

TEST_F(BrokenListsTest, ReceivedAgainAfterItWasFreed) {
  size_t at = findFree(1, getInstance("x0", 0)) + 1;
  insert(1, at, getTransfer(0, lists[1][at - 1].clock));
  lists[1][at].receives.push_back(getInstance("x0", 0));
  expectFault(1, at,
              "receives 'x0' of microbatch 0 from mesh 0 after it was freed, expected it from one "
              "mesh, once");
}

TEST_F(BrokenListsTest, ReceivedWhereItIsWritten) {
  size_t at = findReceive(0, getInstance("g1", 1));
  lists[0][at].receives.push_back(getInstance("saved0", 3));
  expectFault(0, at,
              "receives 'saved0' of microbatch 3 from mesh 1, expected a value that mesh 0 does "
              "not have itself");
}

TEST_F(BrokenListsTest, TransferWithItself) {
  size_t at = findSend(0, getInstance("x0", 1));
  lists[0][at].peer = 0;
  expectFault(0, at, "transfer with mesh 0, expected another one of 3 meshes");
}

TEST_F(BrokenListsTest, TransferOfNothing) {
  insert(1, 3, getTransfer(2, lists[1][3].clock));
  expectFault(1, 3, "transfer with mesh 2 without values, expected values that are sent or received");
}

TEST_F(BrokenListsTest, SidesThatDoNotAgree) {
  size_t at = findSend(0, getInstance("skip", 1));
  lists[0][at].sends.front() = getInstance("saved0", 1);
  expectFault(0, at,
              "sends 'saved0' of microbatch 1, expected 'skip' of microbatch 1, which mesh 2 "
              "receives");
}

TEST_F(BrokenListsTest, SidesOfDifferentLength) {
  program = makeTraining(2);
  lists = emitInstructions(program, build(kind, 2, 4));
  size_t at = findSend(0, getInstance("skip", 1));
  remove(lists[0][at].sends, getInstance("skip", 1));
  expectFault(0, at, "sends no further value, expected 'skip' of microbatch 1, which mesh 1 receives");
}

TEST_F(BrokenListsTest, SidesInAnotherOrder) {
  program = makeTraining(2);
  lists = emitInstructions(program, build(kind, 2, 4));
  size_t at = findSend(0, getInstance("skip", 1));
  std::swap(lists[0][at].sends[0], lists[0][at].sends[1]);
  expectFault(0, at, "sends 'skip' of microbatch 1, expected 'x0' of microbatch 1, which mesh 1 receives");
}

TEST_F(BrokenListsTest, TransferThatTheOtherSideLacks) {
  // A value that mesh 2 itself does not need: the last one that it sends.
  ValueInstance instance = getInstance("g2", 3);
  size_t at = findSend(2, instance);
  remove(lists[2][at].sends, instance);
  ASSERT_TRUE(lists[2][at].sends.empty() && lists[2][at].receives.empty());
  erase(2, at);
  size_t theirs = findReceive(1, instance);
  expectFault(1, theirs, "transfer with mesh 2, which has none left with mesh 1, expected as many on both");
}

TEST_F(BrokenListsTest, SidesInDifferentClocks) {
  size_t at = findSend(0, getInstance("x0", 0));
  for (size_t i = at; i < lists[0].size(); ++i)
    ++lists[0][i].clock;
  expectFault(0, at, "transfer in clock 1, expected clock 0, as mesh 1 has it");
}

TEST_F(BrokenListsTest, ClocksThatFall) {
  size_t at = findRun(0, "f0", 2);
  lists[0][at].clock = 0;
  expectFault(0, at, "clock 0 comes after clock 1, expected clocks to rise");
}

TEST_F(BrokenListsTest, Deadlock) {
  // Backward parts run from the last microbatch to the first. So mesh 1 comes to s of
  // microbatch 0 last, and mesh 0 does not send that of microbatch 1 before it has.
  program = {{{"x"}, {"s"}},
             {{"f0", 0, StageFragment::Forward, 0, {}, {0, 1}},
              {"f1", 1, StageFragment::Forward, 0, {0}, {}},
              {"b1", 1, StageFragment::Backward, 0, {1}, {}}},
             {0, 1}};
  kind = ScheduleKind::GPipe;
  lists = emitInstructions(program, build(kind, 2, 4));
  EXPECT_EQ(print(verifyProgram(program, lists, 4, kind)), "none");
  size_t at = findSend(0, getInstance("s", 0)) + 1;
  move(0, findFree(0, getInstance("s", 0)), at);
  lists[0][at].clock = lists[0][at - 1].clock;
  expectFault(
      0, at, "waits for mesh 1 to use 's' of microbatch 0 forever, expected no mesh to wait for one that waits for it");
}

TEST_F(BrokenListsTest, TooManyInFlight) {
  // F2 of mesh 1 before its B0.
  size_t run = findRun(1, "b1", 0), next = findRun(1, "f1", 2);
  move(1, next, run);
  expectFault(1, run,
              "microbatch 2 of stage 1 is number 3 in flight, expected at most 2 on mesh 1 of "
              "schedule 1f1b");
}

TEST_F(BrokenListsTest, TheListsOfAnotherSchedule) {
  lists = emitInstructions(program, build(ScheduleKind::GPipe, 3, 4));
  EXPECT_EQ(print(verifyProgram(program, lists, 4, ScheduleKind::GPipe)), "none");
  expectFault(0, findRun(0, "f0", 3),
              "microbatch 3 of stage 0 is number 4 in flight, expected at most 3 on mesh 0 of "
              "schedule 1f1b");
}

TEST_F(BrokenListsTest, StageOnAMeshThatIsNotThere) {
  program.meshOfStage[2] = 5;
  expectFault(0, 0, "stage 2 is on mesh 5, expected one of 3 meshes");
}

//===--- programs that break the rules --------------------------------------===//

TEST(BrokenProgramTest, WrittenOnTwoMeshes) {
  PipelineProgram program = makeTraining(2);
  program.functions[3].writes.push_back(program.functions[0].writes[1]); // f1 writes saved0
  ASSERT_EQ(program.functions[3].name, "f1");
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 2, 2));
  std::optional<Fault> fault = verifyProgram(program, lists, 2, ScheduleKind::OneFOneB);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message, "forward function 'f1' writes 'saved0' of microbatch 0, which mesh 0 writes too, "
                            "expected one mesh to write it");
}

TEST(BrokenProgramTest, OneOfTheStepWrittenByEveryMicrobatch) {
  PipelineProgram program;
  program.values = {{"x", false}};
  program.meshOfStage = {0};
  program.functions = {{"f0", 0, StageFragment::Forward, 0, {}, {0}}, {"a0", 0, StageFragment::Apply, 0, {0}, {}}};
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::GPipe, 1, 2));
  EXPECT_EQ(print(verifyProgram(program, lists, 2, ScheduleKind::GPipe)),
            "0, 1: forward function 'f0' writes 'x' a second time, expected one write or a sum");
}

TEST(BrokenProgramTest, ReadInAnEarlierClockThanItIsWritten) {
  PipelineProgram program;
  program.values = {{"x"}};
  program.meshOfStage = {0, 1};
  program.functions = {{"f0", 0, StageFragment::Forward, 0, {0}, {}}, {"f1", 1, StageFragment::Forward, 0, {}, {0}}};
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::Inference, 2, 2));
  EXPECT_EQ(print(verifyProgram(program, lists, 2, ScheduleKind::Inference)),
            "0, 0: forward function 'f0' reads 'x' of microbatch 0, which is not on mesh 0 yet, "
            "expected it written or received before");
}

TEST(BrokenProgramTest, SumReadWhileItIsUpdated) {
  PipelineProgram program;
  program.values = {{"sum", false}};
  program.meshOfStage = {0};
  program.functions = {{"f0", 0, StageFragment::Forward, 0, {0}, {0}}, {"b0", 0, StageFragment::Backward, 0, {0}, {}}};
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 1, 2));
  EXPECT_EQ(print(verifyProgram(program, lists, 2, ScheduleKind::OneFOneB)),
            "0, 1: backward function 'b0' reads 'sum' before its last update, expected the "
            "complete sum");
}

TEST(BrokenProgramTest, ApplyRoundsThatComeTooEarly) {
  PipelineProgram program = makeTraining(2);
  program.functions.back().round = 0; // `last` reads what a0 writes, on the other mesh
  ASSERT_EQ(program.functions.back().name, "last");
  InstructionLists lists = emitInstructions(program, build(ScheduleKind::OneFOneB, 2, 2));
  std::optional<Fault> fault = verifyProgram(program, lists, 2, ScheduleKind::OneFOneB);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message, "apply function 'last' reads 'tied', which is not on mesh 1 yet, expected it written "
                            "or received before");
}
