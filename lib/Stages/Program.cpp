//===- Program.cpp - What each mesh does, one instruction after another ---===//

#include "shardkit/Stages/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <tuple>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

std::string mlir::spmd::toString(const PipelineProgram &program, Slot slot) {
  std::string text = "'" + program.values[slot.value].name + "'";
  if (slot.microbatch >= 0)
    text += " of microbatch " + std::to_string(slot.microbatch);
  return text;
}

void mlir::spmd::forEachSlot(const PipelineProgram &program, int64_t value, int64_t microbatch, int64_t numMicrobatches,
                             llvm::function_ref<void(Slot)> visit) {
  if (!program.values[value].perMicrobatch)
    visit({value, -1});
  else if (microbatch >= 0)
    visit({value, microbatch});
  else
    for (int64_t i = 0; i < numMicrobatches; ++i)
      visit({value, i});
}

ValueUses::ValueUses(const PipelineProgram &program) : uses(program.values.size()) {
  for (auto [f, function] : llvm::enumerate(program.functions)) {
    for (int64_t value : function.reads)
      if (uses[value].readers.empty() || uses[value].readers.back() != int64_t(f))
        uses[value].readers.push_back(f);
    for (int64_t value : function.writes)
      if (uses[value].writers.empty() || uses[value].writers.back() != int64_t(f))
        uses[value].writers.push_back(f);
  }
  for (auto [v, use] : llvm::enumerate(uses)) {
    if (!use.writers.empty())
      use.home = program.getMesh(program.functions[use.writers.front()]);
    size_t updates = 0, reader = 0;
    for (int64_t writer : use.writers) {
      while (reader < use.readers.size() && use.readers[reader] < writer)
        ++reader;
      updates += reader < use.readers.size() && use.readers[reader] == writer;
    }
    use.isUpdated = updates > 0;
    use.startsAsZero = updates > 0 && updates == use.writers.size();
    bool isReadByOthers = use.readers.size() > updates;
    bool isSumOfStep = use.isUpdated && !program.values[v].perMicrobatch;
    kept.push_back(use.writers.empty() || !isReadByOthers || isSumOfStep || program.values[v].isResult);
  }
}

namespace {

/// A function of one mesh in one row of the table.
struct Run {
  int64_t mesh, function, microbatch;
};

/// The order in which a clock's transfers are posted, by pairs of meshes. Pairs at a
/// distance d form chains; of each every second pair comes first, so that two rounds do for
/// all of them where a runtime ends one exchange before it begins the next.
auto orderOf(const Travel &travel) {
  auto [first, second] = std::minmax(travel.from, travel.to);
  int64_t distance = second - first;
  return std::tuple(distance, first / distance % 2, first);
}
bool comesBefore(const Travel &a, const Travel &b) {
  return std::tuple(orderOf(a), a.from, a.slot) < std::tuple(orderOf(b), b.from, b.slot);
}

struct Release {
  int64_t mesh;
  Slot slot;
};

/// What happens in one row, in this order.
struct Row {
  std::vector<Run> runs;
  std::vector<Release> early; // last used by a run
  std::vector<Travel> travels;
  std::vector<Release> late; // first used by all that it was sent to
};

class Emitter {
public:
  Emitter(const PipelineProgram &program, const ClockTable &table) : program(program), table(table), uses(program) {}

  InstructionLists emit() {
    collectRuns();
    findCopies();
    for (auto [row, content] : llvm::enumerate(rows))
      for (const Run &run : content.runs)
        use(run, row);
    for (int64_t value = 0; value < int64_t(copies.size()); ++value)
      place(value);
    return print();
  }

private:
  /// A value on one mesh. Rows per microbatch (of a value of the step: one); -1: none.
  struct Copy {
    int64_t mesh;
    std::vector<int64_t> firstUse, lastUse;
  };
  struct Copies {
    SmallVector<Copy, 2> list; // by mesh
    std::vector<int64_t> written;
  };

  void collectRuns() {
    std::vector<SmallVector<int64_t, 1>> functions[2];
    for (auto &list : functions)
      list.resize(program.meshOfStage.size());
    int64_t numRounds = 0;
    for (auto [f, function] : llvm::enumerate(program.functions))
      if (function.part == Part::Apply)
        numRounds = std::max(numRounds, function.round + 1);
      else
        functions[size_t(function.part)][function.stage].push_back(f);
    int64_t numClocks = table.getNumClocks();
    rows.resize(numClocks + numRounds);
    for (int64_t clock = 0; clock < numClocks; ++clock)
      for (auto [mesh, cell] : llvm::enumerate(table.getRow(clock)))
        if (!cell.isIdle())
          for (int64_t f : functions[size_t(cell.part)][cell.stage])
            rows[clock].runs.push_back({int64_t(mesh), f, cell.microbatch});
    for (auto [f, function] : llvm::enumerate(program.functions))
      if (function.part == Part::Apply)
        rows[numClocks + function.round].runs.push_back({program.getMesh(function), int64_t(f), -1});
  }

  void findCopies() {
    copies.resize(program.values.size());
    for (auto [v, own] : llvm::enumerate(copies)) {
      const ValueUses::Uses &use = uses.uses[v];
      if (use.writers.empty())
        continue;
      size_t count = program.values[v].perMicrobatch ? table.numMicrobatches : 1;
      own.written.assign(count, -1);
      SmallVector<int64_t> meshes = {use.home};
      for (int64_t reader : use.readers)
        meshes.push_back(program.getMesh(program.functions[reader]));
      llvm::sort(meshes);
      meshes.erase(llvm::unique(meshes), meshes.end());
      for (int64_t mesh : meshes)
        own.list.push_back({mesh, std::vector<int64_t>(count, -1), std::vector<int64_t>(count, -1)});
    }
  }

  Copy &getCopy(int64_t value, int64_t mesh) {
    return *llvm::lower_bound(copies[value].list, mesh,
                              [](const Copy &copy, int64_t mesh) { return copy.mesh < mesh; });
  }

  void use(const Run &run, int64_t row) {
    const StageFunction &function = program.functions[run.function];
    auto forEachPlace = [&](int64_t value, llvm::function_ref<void(int64_t)> visit) {
      forEachSlot(program, value, run.microbatch, table.numMicrobatches,
                  [&](Slot slot) { visit(std::max<int64_t>(slot.microbatch, 0)); });
    };
    for (int64_t value : function.reads)
      if (!uses.isArgument(value)) {
        Copy &copy = getCopy(value, run.mesh);
        forEachPlace(value, [&](int64_t i) {
          if (copy.firstUse[i] < 0)
            copy.firstUse[i] = row;
          copy.lastUse[i] = row;
        });
      }
    for (int64_t value : function.writes) {
      Copy &copy = getCopy(value, uses.uses[value].home);
      forEachPlace(value, [&](int64_t i) { copy.lastUse[i] = copies[value].written[i] = row; });
    }
  }

  /// When a value is sent and freed.
  void place(int64_t value) {
    Copies &own = copies[value];
    int64_t home = uses.uses[value].home;
    for (auto [i, written] : llvm::enumerate(own.written)) {
      if (written < 0)
        continue;
      Slot slot{value, program.values[value].perMicrobatch ? int64_t(i) : -1};
      int64_t lastUse = getCopy(value, home).lastUse[i], gone = -1;
      for (const Copy &copy : own.list) {
        if (copy.mesh == home || copy.lastUse[i] < 0)
          continue;
        rows[written].travels.push_back({home, copy.mesh, slot});
        gone = std::max({gone, copy.firstUse[i], written});
        if (copy.lastUse[i] > written)
          rows[copy.lastUse[i]].early.push_back({copy.mesh, slot});
        else // read before it is there, which the verifier tells
          rows[written].late.push_back({copy.mesh, slot});
      }
      if (uses.isKept(value))
        continue;
      (gone >= lastUse ? rows[gone].late : rows[lastUse].early).push_back({home, slot});
    }
  }

  InstructionLists print() {
    InstructionLists lists(table.numMeshes);
    for (auto [clock, row] : llvm::enumerate(rows)) {
      auto add = [&, clock = int64_t(clock)](int64_t mesh, Instruction::Kind kind) -> Instruction & {
        Instruction &instruction = lists[mesh].emplace_back();
        instruction.kind = kind;
        instruction.clock = clock;
        return instruction;
      };
      auto release = [&](ArrayRef<Release> list) {
        for (const Release &entry : list)
          add(entry.mesh, Instruction::Kind::Free).freed = entry.slot;
      };
      for (const Run &run : row.runs) {
        Instruction &instruction = add(run.mesh, Instruction::Kind::Run);
        instruction.function = run.function;
        instruction.microbatch = run.microbatch;
      }
      release(row.early);
      llvm::sort(row.travels, comesBefore);
      const Travel *last = nullptr;
      for (const Travel &travel : row.travels) {
        if (!last || orderOf(*last) != orderOf(travel)) {
          add(travel.from, Instruction::Kind::Post).peer = travel.to;
          add(travel.to, Instruction::Kind::Post).peer = travel.from;
        }
        lists[travel.from].back().sends.push_back(travel.slot);
        lists[travel.to].back().receives.push_back(travel.slot);
        last = &travel;
      }
      release(row.late);
    }
    return lists;
  }

  const PipelineProgram &program;
  const ClockTable &table;
  ValueUses uses;
  std::vector<Row> rows;
  std::vector<Copies> copies; // by value
};

} // namespace

InstructionLists mlir::spmd::emitInstructions(const PipelineProgram &program, const ClockTable &table) {
  return Emitter(program, table).emit();
}

namespace {

/// Runs all lists together, each as far as it comes.
class Replay {
public:
  Replay(const PipelineProgram &program, const InstructionLists &lists, int64_t numMicrobatches, VisitReplayed visit)
      : program(program), lists(lists), numMicrobatches(numMicrobatches), visit(visit), meshes(lists.size()) {}

  std::vector<Stop> run() {
    for (int64_t mesh = lists.size() - 1; mesh >= 0; --mesh)
      work.push_back(mesh);
    while (!work.empty())
      go(work.pop_back_val());
    std::vector<Stop> stops;
    for (Mesh &mesh : meshes)
      stops.push_back(mesh.stop);
    return stops;
  }

private:
  struct Mesh {
    Stop stop;
    SmallVector<Travel> awaited;                                               // by the instruction it is at
    llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> incoming;             // by slot: from where, until it is taken
    llvm::DenseMap<std::pair<int64_t, int64_t>, SmallVector<int64_t, 2>> sent; // by slot: where to
    llvm::DenseSet<std::tuple<int64_t, int64_t, int64_t>> taken;               // from, slot
    std::vector<Slot> received;                                                // in order
  };
  static std::pair<int64_t, int64_t> keyOf(Slot slot) { return {slot.value, slot.microbatch}; }

  void go(int64_t number) {
    Mesh &mesh = meshes[number];
    while (mesh.stop.index < lists[number].size()) {
      if (!perform(number, lists[number][mesh.stop.index]))
        return;
      visit(number, mesh.stop.index++, mesh.awaited);
      mesh.stop.awaited = {};
      mesh.awaited.clear();
    }
    // Whatever is left.
    for (Slot slot : mesh.received)
      if (!take(number, slot))
        return;
  }

  bool perform(int64_t number, const Instruction &instruction) {
    Mesh &mesh = meshes[number];
    switch (instruction.kind) {
    case Instruction::Kind::Run: {
      bool isReady = true;
      if (instruction.function >= 0 && instruction.function < int64_t(program.functions.size()))
        for (int64_t value : program.functions[instruction.function].reads)
          forEachSlot(program, value, instruction.microbatch, numMicrobatches,
                      [&](Slot slot) { isReady = isReady && take(number, slot); });
      return isReady;
    }
    case Instruction::Kind::Post:
      for (Slot slot : instruction.sends)
        if (!take(number, slot))
          return false;
      for (Slot slot : instruction.sends)
        mesh.sent[keyOf(slot)].push_back(instruction.peer);
      for (Slot slot : instruction.receives) {
        mesh.incoming.try_emplace(keyOf(slot), instruction.peer);
        mesh.received.push_back(slot);
      }
      wake(instruction.peer);
      return true;
    case Instruction::Kind::Free:
      return take(number, instruction.freed) && isGone(number, instruction.freed);
    }
    llvm_unreachable("unknown kind");
  }

  void wake(int64_t mesh) {
    if (mesh >= 0 && mesh < int64_t(meshes.size()))
      work.push_back(mesh);
  }

  /// Whether a slot is there, or comes now.
  bool take(int64_t number, Slot slot) {
    Mesh &mesh = meshes[number];
    auto it = mesh.incoming.find(keyOf(slot));
    if (it == mesh.incoming.end())
      return true;
    int64_t from = it->second;
    mesh.stop.awaited = {from, number, slot};
    if (from < 0 || from >= int64_t(meshes.size()))
      return false;
    auto sent = meshes[from].sent.find(keyOf(slot));
    if (sent == meshes[from].sent.end() || !llvm::is_contained(sent->second, number))
      return false;
    mesh.awaited.push_back(mesh.stop.awaited);
    mesh.incoming.erase(it);
    mesh.taken.insert({from, slot.value, slot.microbatch});
    wake(from);
    return true;
  }

  bool isGone(int64_t number, Slot slot) {
    Mesh &mesh = meshes[number];
    auto sent = mesh.sent.find(keyOf(slot));
    if (sent == mesh.sent.end())
      return true;
    for (int64_t to : sent->second) {
      mesh.stop.awaited = {number, to, slot};
      if (to < 0 || to >= int64_t(meshes.size()) || !meshes[to].taken.contains({number, slot.value, slot.microbatch}))
        return false;
    }
    for (int64_t to : sent->second)
      mesh.awaited.push_back({number, to, slot});
    return true;
  }

  const PipelineProgram &program;
  const InstructionLists &lists;
  int64_t numMicrobatches;
  VisitReplayed visit;
  std::vector<Mesh> meshes;
  SmallVector<int64_t> work;
};

} // namespace

std::vector<Stop> mlir::spmd::replay(const PipelineProgram &program, const InstructionLists &lists,
                                     int64_t numMicrobatches, VisitReplayed visit) {
  return Replay(program, lists, numMicrobatches, visit).run();
}
