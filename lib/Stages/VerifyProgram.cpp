//===- VerifyProgram.cpp - Whether instruction lists are right ------------===//

#include "shardkit/Stages/VerifyProgram.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

static std::string count(int64_t number, const char *one, const char *many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

namespace {

class Verifier {
public:
  Verifier(const PipelineProgram &program, const InstructionLists &lists, int64_t numMicrobatches, ScheduleKind kind)
      : program(program), lists(lists), numMicrobatches(numMicrobatches), kind(kind), uses(program) {}

  std::optional<Fault> verify() {
    if (!checkStages())
      return fault;
    for (mesh = 0; mesh < int64_t(lists.size()); ++mesh)
      if (!checkMesh())
        return fault;
    if (!checkPosts() || !checkOrder())
      return fault;
    return std::nullopt;
  }

private:
  /// Of a slot on the mesh that is looked at.
  enum class State : uint8_t { Never, Here, Freed };
  struct ValueState {
    std::vector<State> states;
    std::vector<int64_t> writes; // that ran
  };
  struct Stage {
    SmallVector<int64_t, 1> functions[2]; // Forward, Backward
    bool isCounted() const { return !functions[0].empty() && !functions[1].empty(); }
  };

  bool fail(const Twine &message) {
    fault = Fault{mesh, index, message.str()};
    return false;
  }
  std::string countMicrobatches() const { return count(numMicrobatches, "microbatch", "microbatches"); }
  std::string text(Slot slot) const { return toString(program, slot); }
  std::string text(const StageFunction &function) const {
    return (toString(function.part) + " function '" + function.name + "'").str();
  }

  bool checkStages() {
    stages.resize(program.meshOfStage.size());
    for (auto [stage, own] : llvm::enumerate(program.meshOfStage))
      if (own < 0 || own >= int64_t(lists.size()))
        return fail("stage " + Twine(stage) + " is on mesh " + Twine(own) + ", expected one of " +
                    count(lists.size(), "mesh", "meshes"));
    numRuns.assign(lists.size(), 0);
    for (auto [f, function] : llvm::enumerate(program.functions))
      if (function.part != Part::Apply) {
        stages[function.stage].functions[size_t(function.part)].push_back(f);
        numRuns[program.getMesh(function)] += numMicrobatches;
      }
    return true;
  }

  //===--- one mesh ---------------------------------------------------------===//

  bool checkMesh() {
    values.assign(program.values.size(), {});
    ran.assign(program.functions.size(), {});
    partRuns.assign(stages.size(), {});
    inFlight = 0;
    index = 0;
    int64_t numVirtual = llvm::divideCeil(stages.size(), lists.size());
    mostInFlight = getMostInFlight(kind, mesh, lists.size(), numMicrobatches, numVirtual);
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

  bool check(const Instruction &instruction) {
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      return checkRun(instruction);
    case Instruction::Kind::Post:
      return checkPost(instruction);
    case Instruction::Kind::Free:
      return checkFree(instruction.freed);
    }
    llvm_unreachable("unknown kind");
  }

  bool checkRun(const Instruction &run) {
    if (run.function < 0 || run.function >= int64_t(program.functions.size()))
      return fail("function number " + Twine(run.function) + ", expected one of " +
                  count(program.functions.size(), "function", "functions"));
    const StageFunction &function = program.functions[run.function];
    if (program.getMesh(function) != mesh)
      return fail(text(function) + " runs on mesh " + Twine(mesh) + ", expected mesh " +
                  Twine(program.getMesh(function)) + ", which has stage " + Twine(function.stage));
    bool isApply = function.part == Part::Apply;
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
                    " of other parts, expected all microbatches to be through");
    } else {
      --left;
      if (!countInFlight(function, run.microbatch))
        return false;
    }
    for (int64_t value : function.reads)
      if (!forEach(value, run.microbatch, [&](Slot slot) { return checkRead(function, slot); }))
        return false;
    for (int64_t value : function.writes)
      if (!forEach(value, run.microbatch, [&](Slot slot) { return checkWrite(function, slot); }))
        return false;
    return true;
  }

  static std::string ofMicrobatch(const Instruction &run) {
    return run.microbatch < 0 ? "" : " for microbatch " + std::to_string(run.microbatch);
  }

  bool countInFlight(const StageFunction &function, int64_t microbatch) {
    const Stage &stage = stages[function.stage];
    if (!stage.isCounted())
      return true;
    std::vector<int64_t> &runs = partRuns[function.stage];
    if (runs.empty())
      runs.assign(2 * numMicrobatches, 0);
    int64_t &forward = runs[2 * microbatch], &backward = runs[2 * microbatch + 1];
    if (function.part == Part::Forward) {
      if (++forward == 1 && ++inFlight > mostInFlight)
        return fail("microbatch " + Twine(microbatch) + " of stage " + Twine(function.stage) + " is number " +
                    Twine(inFlight) + " in flight, expected at most " + Twine(mostInFlight) + " on mesh " +
                    Twine(mesh) + " of schedule " + toString(kind));
      return true;
    }
    if (forward < int64_t(stage.functions[0].size()))
      return fail(text(function) + " runs for microbatch " + Twine(microbatch) + " before the forward part of stage " +
                  Twine(function.stage) + ", expected it after");
    inFlight -= ++backward == int64_t(stage.functions[1].size());
    return true;
  }

  bool checkRead(const StageFunction &function, Slot slot) {
    if (uses.isArgument(slot.value))
      return true;
    std::string what = text(function) + " reads " + text(slot);
    switch (getState(slot)) {
    case State::Never:
      return fail(what + ", which is not on mesh " + Twine(mesh) + " yet, expected it written or received before");
    case State::Freed:
      return fail(what + " after it was freed, expected it to be kept until then");
    case State::Here:
      break;
    }
    if (!llvm::is_contained(function.writes, slot.value) && !isComplete(slot))
      return fail(what + " before its last update, expected the whole sum");
    return true;
  }

  bool checkWrite(const StageFunction &function, Slot slot) {
    std::string what = text(function) + " writes " + text(slot);
    if (getHome(slot.value) != mesh)
      return fail(what + ", which mesh " + Twine(getHome(slot.value)) + " writes too, expected one mesh to write it");
    if (!llvm::is_contained(function.reads, slot.value) && getState(slot) == State::Here)
      return fail(what + " a second time, expected one write or a sum");
    if (getState(slot) == State::Freed)
      return fail(what + " after it was freed, expected it not to be written any more");
    setState(slot, State::Here);
    ++values[slot.value].writes[std::max<int64_t>(slot.microbatch, 0)];
    return true;
  }

  bool checkPost(const Instruction &post) {
    if (post.peer < 0 || post.peer >= int64_t(lists.size()) || post.peer == mesh)
      return fail("post with mesh " + Twine(post.peer) + ", expected another one of " + Twine(lists.size()) +
                  " meshes");
    if (post.sends.empty() && post.receives.empty())
      return fail("post of nothing with mesh " + Twine(post.peer) + ", expected values that are sent or received");
    for (Slot slot : post.sends) {
      if (!checkSlot(slot))
        return false;
      std::string what = "sends " + text(slot) + " to mesh " + std::to_string(post.peer);
      if (uses.isArgument(slot.value))
        return fail(what + ", expected a value that a function writes");
      if (getState(slot) == State::Never)
        return fail(what + ", expected it written or received before");
      if (getState(slot) == State::Freed)
        return fail(what + " after it was freed, expected it before");
      if (!isComplete(slot))
        return fail(what + " before its last update, expected the whole sum");
    }
    for (Slot slot : post.receives) {
      if (!checkSlot(slot))
        return false;
      std::string what = "receives " + text(slot) + " from mesh " + std::to_string(post.peer);
      if (uses.isArgument(slot.value) || getHome(slot.value) == mesh)
        return fail(what + ", expected a value that mesh " + Twine(mesh) + " does not have itself");
      if (getState(slot) == State::Here)
        return fail(what + ", which is there already, expected it from one mesh, once");
      if (getState(slot) == State::Freed)
        return fail(what + " after it was freed, expected it from one mesh, once");
      setState(slot, State::Here);
    }
    return true;
  }

  bool checkFree(Slot slot) {
    if (!checkSlot(slot))
      return false;
    std::string what = "frees " + text(slot);
    if (uses.isArgument(slot.value))
      return fail(what + ", expected a value that a function writes");
    if (getState(slot) == State::Never)
      return fail(what + ", which is not on mesh " + Twine(mesh) + ", expected it written or received before");
    if (getState(slot) == State::Freed)
      return fail(what + " a second time, expected once");
    if (getHome(slot.value) == mesh && uses.isKept(slot.value))
      return fail(what + ", expected it to stay until the end of the step");
    setState(slot, State::Freed);
    return true;
  }

  bool checkEnd() {
    for (auto [f, function] : llvm::enumerate(program.functions)) {
      if (program.getMesh(function) != mesh)
        continue;
      int64_t times = function.part == Part::Apply ? 1 : numMicrobatches;
      for (int64_t i = 0; i < times; ++i)
        if (ran[f].empty() || !ran[f][i])
          return fail(text(function) + " never runs" +
                      (function.part == Part::Apply ? "" : " for microbatch " + std::to_string(i)) + ", expected once");
    }
    for (auto [v, value] : llvm::enumerate(values)) {
      if (getHome(v) == mesh && uses.isKept(v))
        continue;
      for (auto [i, state] : llvm::enumerate(value.states))
        if (state == State::Here)
          return fail(text(Slot{int64_t(v), program.values[v].perMicrobatch ? int64_t(i) : -1}) + " is still on mesh " +
                      Twine(mesh) + " at the end, expected it freed");
    }
    return true;
  }

  //===--- slots ------------------------------------------------------------===//

  bool checkSlot(Slot slot) {
    if (slot.value < 0 || slot.value >= int64_t(program.values.size()))
      return fail("value number " + Twine(slot.value) + ", expected one of " +
                  count(program.values.size(), "value", "values"));
    bool each = program.values[slot.value].perMicrobatch;
    if (each ? slot.microbatch < 0 || slot.microbatch >= numMicrobatches : slot.microbatch != -1)
      return fail("'" + program.values[slot.value].name + "' of microbatch " + Twine(slot.microbatch) + ", expected " +
                  (each ? "one of " + countMicrobatches() : "-1: there is one per step"));
    return true;
  }

  bool forEach(int64_t value, int64_t microbatch, llvm::function_ref<bool(Slot)> check) {
    bool isRight = true;
    forEachSlot(program, value, microbatch, numMicrobatches, [&](Slot slot) { isRight = isRight && check(slot); });
    return isRight;
  }

  int64_t getHome(int64_t value) const { return uses.uses[value].home; }

  ValueState &getValue(int64_t value) {
    ValueState &own = values[value];
    if (own.states.empty()) {
      bool isHere = getHome(value) == mesh && uses.uses[value].startsAsZero;
      size_t size = program.values[value].perMicrobatch ? numMicrobatches : 1;
      own.states.assign(size, isHere ? State::Here : State::Never);
      own.writes.assign(size, 0);
    }
    return own;
  }
  State getState(Slot slot) { return getValue(slot.value).states[std::max<int64_t>(slot.microbatch, 0)]; }
  void setState(Slot slot, State state) { getValue(slot.value).states[std::max<int64_t>(slot.microbatch, 0)] = state; }

  /// Every function that writes it has; elsewhere what was received is complete.
  bool isComplete(Slot slot) {
    if (getHome(slot.value) != mesh || !uses.uses[slot.value].isUpdated)
      return true;
    int64_t expected = 0;
    for (int64_t writer : uses.uses[slot.value].writers)
      expected += program.values[slot.value].perMicrobatch || program.functions[writer].part == Part::Apply
                      ? 1
                      : numMicrobatches;
    return getValue(slot.value).writes[std::max<int64_t>(slot.microbatch, 0)] == expected;
  }

  //===--- all meshes -------------------------------------------------------===//

  bool checkPosts() {
    llvm::DenseMap<std::pair<int64_t, int64_t>, SmallVector<size_t>> posts;
    for (auto [from, list] : llvm::enumerate(lists))
      for (auto [i, instruction] : llvm::enumerate(list))
        if (instruction.kind == Instruction::Kind::Post)
          posts[{from, instruction.peer}].push_back(i);
    for (mesh = 0; mesh < int64_t(lists.size()); ++mesh) {
      llvm::DenseMap<int64_t, size_t> next; // by peer
      for (index = 0; index < lists[mesh].size(); ++index) {
        const Instruction &own = lists[mesh][index];
        if (own.kind != Instruction::Kind::Post)
          continue;
        size_t k = next[own.peer]++;
        auto other = posts.find({own.peer, mesh});
        if (other == posts.end() || k >= other->second.size())
          return fail("post number " + Twine(k) + " with mesh " + Twine(own.peer) + ", expected mesh " +
                      Twine(own.peer) + " to have as many with mesh " + Twine(mesh));
        const Instruction &theirs = lists[own.peer][other->second[k]];
        if (own.clock != theirs.clock)
          return fail("post in clock " + Twine(own.clock) + ", expected clock " + Twine(theirs.clock) + ", as mesh " +
                      Twine(own.peer) + " has it");
        if (!checkSame(own.sends, theirs.receives, "sends", "receives", own.peer) ||
            !checkSame(own.receives, theirs.sends, "receives", "sends", own.peer))
          return false;
      }
    }
    return true;
  }

  bool checkSame(ArrayRef<Slot> own, ArrayRef<Slot> theirs, const char *verb, const char *theirVerb, int64_t peer) {
    for (size_t i = 0; i < std::max(own.size(), theirs.size()); ++i) {
      std::string mine = i < own.size() ? text(own[i]) : "nothing more";
      std::string other = i < theirs.size() ? text(theirs[i]) : "nothing more";
      if (mine != other)
        return fail(Twine(verb) + " " + mine + ", expected " + other + ", which mesh " + Twine(peer) + " " + theirVerb);
    }
    return true;
  }

  bool checkOrder() {
    std::vector<Stop> stops = replay(program, lists, numMicrobatches, [](int64_t, size_t, ArrayRef<Travel>) {});
    for (mesh = 0; mesh < int64_t(lists.size()); ++mesh) {
      index = stops[mesh].index;
      if (index >= lists[mesh].size())
        continue;
      const Travel &awaited = stops[mesh].awaited;
      std::string what = "waits for mesh " + std::to_string(awaited.from == mesh ? awaited.to : awaited.from) +
                         (awaited.from == mesh ? " to use " : " to send ") + text(awaited.slot);
      return fail(Twine(what) + " for ever, expected no mesh to wait for one that waits for it");
    }
    return true;
  }

  const PipelineProgram &program;
  const InstructionLists &lists;
  int64_t numMicrobatches;
  ScheduleKind kind;
  ValueUses uses;
  std::vector<Stage> stages;
  std::vector<int64_t> numRuns; // per mesh, of Forward and Backward

  // Where it looks, and what is there.
  int64_t mesh = 0;
  size_t index = 0;
  std::vector<ValueState> values;
  std::vector<std::vector<bool>> ran;         // by function and microbatch
  std::vector<std::vector<int64_t>> partRuns; // by stage: of each microbatch forward, backward
  int64_t left = 0, inFlight = 0, mostInFlight = 0;
  std::optional<Fault> fault;
};

} // namespace

std::optional<Fault> mlir::spmd::verifyProgram(const PipelineProgram &program, const InstructionLists &lists,
                                               int64_t numMicrobatches, ScheduleKind kind) {
  return Verifier(program, lists, numMicrobatches, kind).verify();
}
