//===- VerifyProgram.cpp - Verification of instruction lists --------------===//

#include "shardkit/Stages/VerifyProgram.h"
#include "shardkit/rt/Manifest/ListChecks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

static std::string count(int64_t number, const char *one, const char *many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

namespace {

/// Verifies the lists of all meshes (VerifyProgram.h). Example, for mesh 1:
///
///   Transfer 0 receive h.0    h of microbatch 0: Absent -> Present
///   Run forward1, 0           reads h.0, which is Present; one microbatch is in flight
///   Free h.0                  Present -> Freed
///   Run forward1, 1           error: reads h.1, which is Absent
///
///   1. checkStages: each stage is on a mesh.
///   2. checkMesh goes through the list of each mesh with a state per instance.
///   3. matchTransfers compares the transfers of each pair of meshes.
///   4. checkOrder runs all lists together (`replay`).
class Verifier {
public:
  Verifier(const PipelineProgram &program, const InstructionLists &lists, int64_t numMicrobatches, ScheduleKind kind)
      : program(program), lists(lists), numMicrobatches(numMicrobatches), kind(kind), uses(program) {}

  std::optional<Fault> verify();

private:
  using State = shardkit::rt::BufferStates::State;
  struct Stage {
    SmallVector<int64_t, 1> functions[2]; // Forward, Backward
    bool isCounted() const { return !functions[0].empty() && !functions[1].empty(); }
  };

  bool fail(const Twine &message);
  std::string countMicrobatches() const { return count(numMicrobatches, "microbatch", "microbatches"); }
  std::string text(ValueInstance instance) const { return toString(program, instance); }
  std::string text(const StageFunction &function) const {
    return (toString(function.fragment) + " function '" + function.name + "'").str();
  }

  bool checkStages();

  //===--- one mesh ---------------------------------------------------------===//

  bool checkMesh();
  bool check(const Instruction &instruction);
  bool checkRun(const Instruction &run);
  static std::string ofMicrobatch(const Instruction &run) {
    return run.microbatch < 0 ? "" : " for microbatch " + std::to_string(run.microbatch);
  }

  bool countInFlight(const StageFunction &function, int64_t microbatch);
  bool checkRead(const StageFunction &function, ValueInstance instance);
  bool checkWrite(const StageFunction &function, ValueInstance instance);
  bool checkTransfer(const Instruction &transfer);
  bool checkFree(ValueInstance instance);
  bool checkEnd();

  //===--- slots ------------------------------------------------------------===//

  bool checkSlot(ValueInstance instance);
  bool forEach(int64_t value, int64_t microbatch, llvm::function_ref<bool(ValueInstance)> check);
  int64_t getWriterMesh(int64_t value) const { return uses.uses[value].writerMesh; }

  static shardkit::rt::BufferStates::Buffer toBuffer(ValueInstance instance) {
    return {instance.value, instance.microbatch};
  }

  /// True if every function that writes the instance has run; received instances are complete.
  bool isComplete(ValueInstance instance);

  //===--- all meshes -------------------------------------------------------===//

  bool matchTransfers();
  bool checkSame(ArrayRef<ValueInstance> mine, ArrayRef<ValueInstance> theirs, const char *verb, const char *theirVerb,
                 int64_t peer);
  bool checkOrder();

  const PipelineProgram &program;
  const InstructionLists &lists;
  int64_t numMicrobatches;
  ScheduleKind kind;
  ValueUses uses;
  std::vector<Stage> stages;
  std::vector<int64_t> numRuns; // per mesh, of Forward and Backward

  // The current instruction, and the state of the current mesh.
  int64_t mesh = 0;
  size_t index = 0;
  shardkit::rt::BufferStates states{
      [this](int64_t value) { return getWriterMesh(value) == mesh && uses.uses[value].startsAsZero; }};
  std::map<shardkit::rt::BufferStates::Buffer, int64_t> numWrites; // so far
  std::vector<std::vector<bool>> ran;                              // by function and microbatch
  std::vector<std::vector<int64_t>> fragmentRuns;                  // by stage: of each microbatch forward, backward
  int64_t left = 0, inFlight = 0, maxInFlight = 0;
  std::optional<Fault> fault;
};

std::optional<Fault> Verifier::verify() {
  if (!checkStages())
    return fault;
  for (mesh = 0; mesh < int64_t(lists.size()); ++mesh)
    if (!checkMesh())
      return fault;
  if (!matchTransfers() || !checkOrder())
    return fault;
  return std::nullopt;
}

bool Verifier::fail(const Twine &message) {
  fault = Fault{mesh, index, message.str()};
  return false;
}

bool Verifier::checkStages() {
  stages.resize(program.meshOfStage.size());
  for (auto [stage, stageMesh] : llvm::enumerate(program.meshOfStage))
    if (stageMesh < 0 || stageMesh >= int64_t(lists.size()))
      return fail("stage " + Twine(stage) + " is on mesh " + Twine(stageMesh) + ", expected one of " +
                  count(lists.size(), "mesh", "meshes"));
  numRuns.assign(lists.size(), 0);
  for (auto [f, function] : llvm::enumerate(program.functions))
    if (function.fragment != StageFragment::Apply) {
      stages[function.stage].functions[size_t(function.fragment)].push_back(f);
      numRuns[program.getMesh(function)] += numMicrobatches;
    }
  return true;
}

bool Verifier::checkMesh() {
  states.clear();
  numWrites.clear();
  ran.assign(program.functions.size(), {});
  fragmentRuns.assign(stages.size(), {});
  inFlight = 0;
  index = 0;
  int64_t numVirtual = llvm::divideCeil(stages.size(), lists.size());
  maxInFlight = getMaxInFlight(kind, mesh, lists.size(), numMicrobatches, numVirtual);
  left = numRuns[mesh];
  int64_t clock = 0;
  for (const Instruction &instruction : lists[mesh]) {
    if (instruction.clock < clock)
      return fail("clock " + Twine(instruction.clock) + " comes after clock " + Twine(clock) +
                  ", expected clocks to rise");
    clock = instruction.clock;
    if (!check(instruction))
      return false;
    ++index;
  }
  return checkEnd();
}

bool Verifier::check(const Instruction &instruction) {
  switch (instruction.kind) {
  case Instruction::Kind::Run:
    return checkRun(instruction);
  case Instruction::Kind::Transfer:
    return checkTransfer(instruction);
  case Instruction::Kind::Free:
    return checkFree(instruction.freed);
  }
  llvm_unreachable("unknown kind");
}

bool Verifier::checkRun(const Instruction &run) {
  if (run.function < 0 || run.function >= int64_t(program.functions.size()))
    return fail("function number " + Twine(run.function) + ", expected one of " +
                count(program.functions.size(), "function", "functions"));
  const StageFunction &function = program.functions[run.function];
  if (program.getMesh(function) != mesh)
    return fail(text(function) + " runs on mesh " + Twine(mesh) + ", expected mesh " +
                Twine(program.getMesh(function)) + ", which has stage " + Twine(function.stage));
  bool isApply = function.fragment == StageFragment::Apply;
  if (isApply ? run.microbatch != -1 : run.microbatch < 0 || run.microbatch >= numMicrobatches)
    return fail(text(function) + " runs for microbatch " + Twine(run.microbatch) + ", expected " +
                (isApply ? "-1, the step" : "one of " + countMicrobatches()));
  std::vector<bool> &done = ran[run.function];
  if (done.empty())
    done.assign(isApply ? 1 : numMicrobatches, false);
  if (done[std::max<int64_t>(run.microbatch, 0)])
    return fail(text(function) + " runs a second time" + ofMicrobatch(run) + ", expected once");
  done[std::max<int64_t>(run.microbatch, 0)] = true;
  if (isApply) {
    if (left > 0)
      return fail(text(function) + " runs before " + count(left, "run", "runs") +
                  " of other fragments, expected all microbatches to be complete");
  } else {
    --left;
    if (!countInFlight(function, run.microbatch))
      return false;
  }
  for (int64_t value : function.reads)
    if (!forEach(value, run.microbatch, [&](ValueInstance instance) { return checkRead(function, instance); }))
      return false;
  for (int64_t value : function.writes)
    if (!forEach(value, run.microbatch, [&](ValueInstance instance) { return checkWrite(function, instance); }))
      return false;
  return true;
}

bool Verifier::countInFlight(const StageFunction &function, int64_t microbatch) {
  const Stage &stage = stages[function.stage];
  if (!stage.isCounted())
    return true;
  std::vector<int64_t> &runs = fragmentRuns[function.stage];
  if (runs.empty())
    runs.assign(2 * numMicrobatches, 0);
  int64_t &forward = runs[2 * microbatch], &backward = runs[2 * microbatch + 1];
  if (function.fragment == StageFragment::Forward) {
    if (++forward == 1 && ++inFlight > maxInFlight)
      return fail("microbatch " + Twine(microbatch) + " of stage " + Twine(function.stage) + " is number " +
                  Twine(inFlight) + " in flight, expected at most " + Twine(maxInFlight) + " on mesh " + Twine(mesh) +
                  " of schedule " + toString(kind));
    return true;
  }
  if (forward < int64_t(stage.functions[0].size()))
    return fail(text(function) + " runs for microbatch " + Twine(microbatch) +
                " before the forward fragment of stage " + Twine(function.stage) + ", expected it after");
  inFlight -= ++backward == int64_t(stage.functions[1].size());
  return true;
}

bool Verifier::checkRead(const StageFunction &function, ValueInstance instance) {
  if (uses.isArgument(instance.value))
    return true;
  std::string what = text(function) + " reads " + text(instance);
  switch (states.read(toBuffer(instance))) {
  case State::Absent:
    return fail(what + ", which is not on mesh " + Twine(mesh) + " yet, expected it written or received before");
  case State::Freed:
    return fail(what + " after it was freed, expected it to be kept until then");
  case State::Present:
    break;
  }
  if (!llvm::is_contained(function.writes, instance.value) && !isComplete(instance))
    return fail(what + " before its last update, expected the complete sum");
  return true;
}

bool Verifier::checkWrite(const StageFunction &function, ValueInstance instance) {
  std::string what = text(function) + " writes " + text(instance);
  if (getWriterMesh(instance.value) != mesh)
    return fail(what + ", which mesh " + Twine(getWriterMesh(instance.value)) +
                " writes too, expected one mesh to write it");
  State before = states.write(toBuffer(instance));
  if (!llvm::is_contained(function.reads, instance.value) && before == State::Present)
    return fail(what + " a second time, expected one write or a sum");
  if (before == State::Freed)
    return fail(what + " after it was freed, expected no further write");
  ++numWrites[toBuffer(instance)];
  return true;
}

bool Verifier::checkTransfer(const Instruction &transfer) {
  if (transfer.peer < 0 || transfer.peer >= int64_t(lists.size()) || transfer.peer == mesh)
    return fail("transfer with mesh " + Twine(transfer.peer) + ", expected another one of " + Twine(lists.size()) +
                " meshes");
  if (transfer.sends.empty() && transfer.receives.empty())
    return fail("transfer with mesh " + Twine(transfer.peer) +
                " without values, expected values that are sent or received");
  for (ValueInstance instance : transfer.sends) {
    if (!checkSlot(instance))
      return false;
    std::string what = "sends " + text(instance) + " to mesh " + std::to_string(transfer.peer);
    if (uses.isArgument(instance.value))
      return fail(what + ", expected a value that a function writes");
    State state = states.read(toBuffer(instance));
    if (state == State::Absent)
      return fail(what + ", expected it written or received before");
    if (state == State::Freed)
      return fail(what + " after it was freed, expected it before");
    if (!isComplete(instance))
      return fail(what + " before its last update, expected the complete sum");
  }
  for (ValueInstance instance : transfer.receives) {
    if (!checkSlot(instance))
      return false;
    std::string what = "receives " + text(instance) + " from mesh " + std::to_string(transfer.peer);
    if (uses.isArgument(instance.value) || getWriterMesh(instance.value) == mesh)
      return fail(what + ", expected a value that mesh " + Twine(mesh) + " does not have itself");
    State before = states.write(toBuffer(instance));
    if (before == State::Present)
      return fail(what + ", which is there already, expected it from one mesh, once");
    if (before == State::Freed)
      return fail(what + " after it was freed, expected it from one mesh, once");
  }
  return true;
}

bool Verifier::checkFree(ValueInstance instance) {
  if (!checkSlot(instance))
    return false;
  std::string what = "frees " + text(instance);
  if (uses.isArgument(instance.value))
    return fail(what + ", expected a value that a function writes");
  State before = states.free(toBuffer(instance));
  if (before == State::Absent)
    return fail(what + ", which is not on mesh " + Twine(mesh) + ", expected it written or received before");
  if (before == State::Freed)
    return fail(what + " a second time, expected once");
  if (getWriterMesh(instance.value) == mesh && uses.isKept(instance.value))
    return fail(what + ", expected it to stay until the end of the step");
  return true;
}

bool Verifier::checkEnd() {
  for (auto [f, function] : llvm::enumerate(program.functions)) {
    if (program.getMesh(function) != mesh)
      continue;
    int64_t times = function.fragment == StageFragment::Apply ? 1 : numMicrobatches;
    for (int64_t i = 0; i < times; ++i)
      if (ran[f].empty() || !ran[f][i])
        return fail(text(function) + " never runs" +
                    (function.fragment == StageFragment::Apply ? "" : " for microbatch " + std::to_string(i)) +
                    ", expected once");
  }
  for (auto [value, microbatch] : states.getPresent())
    if (getWriterMesh(value) != mesh || !uses.isKept(value))
      return fail(text(ValueInstance{value, microbatch}) + " is still on mesh " + Twine(mesh) +
                  " at the end, expected it freed");
  return true;
}

bool Verifier::checkSlot(ValueInstance instance) {
  if (instance.value < 0 || instance.value >= int64_t(program.values.size()))
    return fail("value number " + Twine(instance.value) + ", expected one of " +
                count(program.values.size(), "value", "values"));
  bool each = program.values[instance.value].perMicrobatch;
  if (each ? instance.microbatch < 0 || instance.microbatch >= numMicrobatches : instance.microbatch != -1)
    return fail("'" + program.values[instance.value].name + "' of microbatch " + Twine(instance.microbatch) +
                ", expected " + (each ? "one of " + countMicrobatches() : "-1: there is one per step"));
  return true;
}

bool Verifier::forEach(int64_t value, int64_t microbatch, llvm::function_ref<bool(ValueInstance)> check) {
  bool isRight = true;
  forEachInstance(program, value, microbatch, numMicrobatches,
                  [&](ValueInstance instance) { isRight = isRight && check(instance); });
  return isRight;
}

bool Verifier::isComplete(ValueInstance instance) {
  if (getWriterMesh(instance.value) != mesh || !uses.uses[instance.value].isUpdated)
    return true;
  int64_t expected = 0;
  for (int64_t writer : uses.uses[instance.value].writers)
    expected +=
        program.values[instance.value].perMicrobatch || program.functions[writer].fragment == StageFragment::Apply
            ? 1
            : numMicrobatches;
  return numWrites[toBuffer(instance)] == expected;
}

bool Verifier::matchTransfers() {
  std::vector<size_t> lengths;
  for (const std::vector<Instruction> &list : lists)
    lengths.push_back(list.size());
  auto getPeer = [&](size_t from, size_t i) -> std::optional<size_t> {
    const Instruction &instruction = lists[from][i];
    return instruction.kind == Instruction::Kind::Transfer ? std::optional<size_t>(instruction.peer) : std::nullopt;
  };
  return shardkit::rt::matchTransfers(
      lengths, getPeer, [&](size_t from, size_t i, size_t peer, std::optional<size_t> other) {
        mesh = from;
        index = i;
        const Instruction &mine = lists[from][i];
        if (!other)
          return fail("transfer with mesh " + Twine(peer) + ", which has none left with mesh " + Twine(mesh) +
                      ", expected as many on both");
        const Instruction &theirs = lists[peer][*other];
        if (mine.clock != theirs.clock)
          return fail("transfer in clock " + Twine(mine.clock) + ", expected clock " + Twine(theirs.clock) +
                      ", as mesh " + Twine(peer) + " has it");
        return checkSame(mine.sends, theirs.receives, "sends", "receives", peer) &&
               checkSame(mine.receives, theirs.sends, "receives", "sends", peer);
      });
}

bool Verifier::checkSame(ArrayRef<ValueInstance> mine, ArrayRef<ValueInstance> theirs, const char *verb,
                         const char *theirVerb, int64_t peer) {
  for (size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
    std::string own = i < mine.size() ? text(mine[i]) : "no further value";
    std::string other = i < theirs.size() ? text(theirs[i]) : "no further value";
    if (own != other)
      return fail(Twine(verb) + " " + own + ", expected " + other + ", which mesh " + Twine(peer) + " " + theirVerb);
  }
  return true;
}

bool Verifier::checkOrder() {
  std::vector<Stop> stops = replay(program, lists, numMicrobatches, [](int64_t, size_t, ArrayRef<SentValue>) {});
  for (mesh = 0; mesh < int64_t(lists.size()); ++mesh) {
    index = stops[mesh].index;
    if (index >= lists[mesh].size())
      continue;
    const SentValue &awaited = stops[mesh].awaited;
    std::string what = "waits for mesh " + std::to_string(awaited.from == mesh ? awaited.to : awaited.from) +
                       (awaited.from == mesh ? " to use " : " to send ") + text(awaited.instance);
    return fail(Twine(what) + " forever, expected no mesh to wait for one that waits for it");
  }
  return true;
}

} // namespace

std::optional<Fault> mlir::spmd::verifyProgram(const PipelineProgram &program, const InstructionLists &lists,
                                               int64_t numMicrobatches, ScheduleKind kind) {
  return Verifier(program, lists, numMicrobatches, kind).verify();
}
