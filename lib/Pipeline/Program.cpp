//===- Program.cpp - What each mesh does, one instruction after another ---===//

#include "shardkit/Pipeline/Program.h"

#include "llvm/ADT/STLExtras.h"
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

/// What goes from one mesh to another.
struct Move {
  int64_t from, to;
  Slot slot;

  /// Pairs of meshes at a distance d form chains; of each every second pair comes first,
  /// so that two rounds do for all of them.
  auto getOrder() const {
    auto [first, second] = std::minmax(from, to);
    int64_t distance = second - first;
    return std::tuple(distance, first / distance % 2, first);
  }
  bool operator<(const Move &other) const {
    return std::tuple(getOrder(), from, slot) < std::tuple(other.getOrder(), other.from, other.slot);
  }
};

struct Release {
  int64_t mesh;
  Slot slot;
};

/// What happens in one row, in this order.
struct Row {
  std::vector<Run> runs;
  std::vector<Release> early; // last used by a run
  std::vector<Move> moves;
  std::vector<Release> late; // last used by a move
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
    std::vector<int64_t> lastUse;
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
        own.list.push_back({mesh, std::vector<int64_t>(count, -1)});
    }
  }

  Copy &getCopy(int64_t value, int64_t mesh) {
    return *llvm::lower_bound(copies[value].list, mesh,
                              [](const Copy &copy, int64_t mesh) { return copy.mesh < mesh; });
  }

  void use(const Run &run, int64_t row) {
    const StageFunction &function = program.functions[run.function];
    auto mark = [&](int64_t value, std::vector<int64_t> &rows) {
      forEachSlot(program, value, run.microbatch, table.numMicrobatches,
                  [&](Slot slot) { rows[std::max<int64_t>(slot.microbatch, 0)] = row; });
    };
    for (int64_t value : function.reads)
      if (!uses.isArgument(value))
        mark(value, getCopy(value, run.mesh).lastUse);
    for (int64_t value : function.writes) {
      mark(value, getCopy(value, uses.uses[value].home).lastUse);
      mark(value, copies[value].written);
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
      bool isSent = false;
      for (const Copy &copy : own.list) {
        if (copy.mesh == home || copy.lastUse[i] < 0)
          continue;
        rows[written].moves.push_back({home, copy.mesh, slot});
        isSent = true;
        if (copy.lastUse[i] > written)
          rows[copy.lastUse[i]].early.push_back({copy.mesh, slot});
        else // read before it is there, which the verifier tells
          rows[written].late.push_back({copy.mesh, slot});
      }
      if (uses.isKept(value))
        continue;
      Row &last = rows[getCopy(value, home).lastUse[i]];
      (isSent && &last == &rows[written] ? last.late : last.early).push_back({home, slot});
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
      llvm::sort(row.moves);
      const Move *last = nullptr;
      for (const Move &move : row.moves) {
        if (!last || last->getOrder() != move.getOrder()) {
          add(move.from, Instruction::Kind::Transfer).peer = move.to;
          add(move.to, Instruction::Kind::Transfer).peer = move.from;
        }
        lists[move.from].back().sends.push_back(move.slot);
        lists[move.to].back().receives.push_back(move.slot);
        last = &move;
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

std::vector<size_t> mlir::spmd::replay(const InstructionLists &lists, llvm::function_ref<void(int64_t, size_t)> visit) {
  std::vector<size_t> next(lists.size(), 0);
  auto waitsFor = [&](int64_t mesh, int64_t peer) {
    return next[mesh] < lists[mesh].size() && lists[mesh][next[mesh]].kind == Instruction::Kind::Transfer &&
           lists[mesh][next[mesh]].peer == peer;
  };
  SmallVector<int64_t> work;
  for (int64_t mesh = lists.size() - 1; mesh >= 0; --mesh)
    work.push_back(mesh);
  while (!work.empty()) {
    int64_t mesh = work.pop_back_val();
    while (next[mesh] < lists[mesh].size()) {
      const Instruction &instruction = lists[mesh][next[mesh]];
      if (instruction.kind == Instruction::Kind::Transfer) {
        int64_t peer = instruction.peer;
        if (peer == mesh || peer < 0 || peer >= int64_t(lists.size()) || !waitsFor(peer, mesh))
          break;
        visit(mesh, next[mesh]);
        visit(peer, next[peer]++);
        work.push_back(peer);
      } else {
        visit(mesh, next[mesh]);
      }
      ++next[mesh];
    }
  }
  return next;
}
