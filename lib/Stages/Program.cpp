//===- Program.cpp - The instructions of each mesh ------------------------===//

#include "shardkit/Stages/Program.h"
#include "shardkit/rt/Manifest/ListReplay.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <tuple>

using namespace mlir::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

std::string mlir::spmd::toString(const PipelineProgram &program, ValueInstance instance) {
  std::string text = "'" + program.values[instance.value].name + "'";
  if (instance.microbatch >= 0)
    text += " of microbatch " + std::to_string(instance.microbatch);
  return text;
}

void mlir::spmd::forEachInstance(const PipelineProgram &program, int64_t value, int64_t microbatch,
                                 int64_t numMicrobatches, llvm::function_ref<void(ValueInstance)> visit) {
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
      use.writerMesh = program.getMesh(program.functions[use.writers.front()]);
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

/// The order in which the transfers of a clock begin, by pairs of meshes. Pairs at a distance
/// d form chains. Every second pair of each chain comes first, so that two rounds suffice for
/// all pairs if a runtime ends one exchange before it begins the next.
auto orderOf(const SentValue &sent) {
  auto [first, second] = std::minmax(sent.from, sent.to);
  int64_t distance = second - first;
  return std::tuple(distance, first / distance % 2, first);
}
bool comesBefore(const SentValue &a, const SentValue &b) {
  return std::tuple(orderOf(a), a.from, a.instance) < std::tuple(orderOf(b), b.from, b.instance);
}

struct FreedInstance {
  int64_t mesh;
  ValueInstance instance;
};

/// The instructions of one row, in this order.
struct Row {
  std::vector<Run> runs;
  std::vector<FreedInstance> freedEarly; // last used by a run
  std::vector<SentValue> sends;
  std::vector<FreedInstance> freedLate; // all receivers have reached their first use
};

/// Emits the instructions of all meshes. Example: forward0 on mesh 0 writes h.0 in clock 0, and
/// forward1 on mesh 1 reads it in clock 1.
///
///   1. collectRuns: row 0 has Run forward0, row 1 has Run forward1.
///   2. findCopies: h has a copy on mesh 0 and one on mesh 1. `use` sets the rows of the uses.
///   3. addSendsAndFrees: h.0 is sent in row 0; mesh 1 frees it early in row 1, mesh 0 late in row
///      1, since mesh 1 first uses it there.
///   4. buildLists: mesh 0: Run, Transfer, Free; mesh 1: Transfer, Run, Free.
class Emitter {
public:
  Emitter(const PipelineProgram &program, const ClockTable &table) : program(program), table(table), uses(program) {}

  InstructionLists emit();

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

  void collectRuns();
  void findCopies();
  Copy &getCopy(int64_t value, int64_t mesh);
  void use(const Run &run, int64_t row);

  /// Adds the sends and frees of a value to the rows.
  void addSendsAndFrees(int64_t value);
  InstructionLists buildLists();

  const PipelineProgram &program;
  const ClockTable &table;
  ValueUses uses;
  std::vector<Row> rows;
  std::vector<Copies> copies; // by value
};

InstructionLists Emitter::emit() {
  collectRuns();
  findCopies();
  for (auto [row, content] : llvm::enumerate(rows))
    for (const Run &run : content.runs)
      use(run, row);
  for (int64_t value = 0; value < int64_t(copies.size()); ++value)
    addSendsAndFrees(value);
  return buildLists();
}

void Emitter::collectRuns() {
  std::vector<SmallVector<int64_t, 1>> functions[2];
  for (auto &list : functions)
    list.resize(program.meshOfStage.size());
  int64_t numRounds = 0;
  for (auto [f, function] : llvm::enumerate(program.functions))
    if (function.fragment == StageFragment::Apply)
      numRounds = std::max(numRounds, function.round + 1);
    else
      functions[size_t(function.fragment)][function.stage].push_back(f);
  int64_t numClocks = table.getNumClocks();
  rows.resize(numClocks + numRounds);
  for (int64_t clock = 0; clock < numClocks; ++clock)
    for (auto [mesh, cell] : llvm::enumerate(table.getRow(clock)))
      if (!cell.isIdle())
        for (int64_t f : functions[size_t(cell.fragment)][cell.stage])
          rows[clock].runs.push_back({int64_t(mesh), f, cell.microbatch});
  for (auto [f, function] : llvm::enumerate(program.functions))
    if (function.fragment == StageFragment::Apply)
      rows[numClocks + function.round].runs.push_back({program.getMesh(function), int64_t(f), -1});
}

void Emitter::findCopies() {
  copies.resize(program.values.size());
  for (auto [v, copiesOfValue] : llvm::enumerate(copies)) {
    const ValueUses::Uses &use = uses.uses[v];
    if (use.writers.empty())
      continue;
    size_t count = program.values[v].perMicrobatch ? table.numMicrobatches : 1;
    copiesOfValue.written.assign(count, -1);
    SmallVector<int64_t> meshes = {use.writerMesh};
    for (int64_t reader : use.readers)
      meshes.push_back(program.getMesh(program.functions[reader]));
    llvm::sort(meshes);
    meshes.erase(llvm::unique(meshes), meshes.end());
    for (int64_t mesh : meshes)
      copiesOfValue.list.push_back({mesh, std::vector<int64_t>(count, -1), std::vector<int64_t>(count, -1)});
  }
}

Emitter::Copy &Emitter::getCopy(int64_t value, int64_t mesh) {
  return *llvm::lower_bound(copies[value].list, mesh, [](const Copy &copy, int64_t mesh) { return copy.mesh < mesh; });
}

void Emitter::use(const Run &run, int64_t row) {
  const StageFunction &function = program.functions[run.function];
  auto forEachIndex = [&](int64_t value, llvm::function_ref<void(int64_t)> visit) {
    forEachInstance(program, value, run.microbatch, table.numMicrobatches,
                    [&](ValueInstance instance) { visit(std::max<int64_t>(instance.microbatch, 0)); });
  };
  for (int64_t value : function.reads)
    if (!uses.isArgument(value)) {
      Copy &copy = getCopy(value, run.mesh);
      forEachIndex(value, [&](int64_t i) {
        if (copy.firstUse[i] < 0)
          copy.firstUse[i] = row;
        copy.lastUse[i] = row;
      });
    }
  for (int64_t value : function.writes) {
    Copy &copy = getCopy(value, uses.uses[value].writerMesh);
    forEachIndex(value, [&](int64_t i) { copy.lastUse[i] = copies[value].written[i] = row; });
  }
}

void Emitter::addSendsAndFrees(int64_t value) {
  Copies &copiesOfValue = copies[value];
  int64_t writerMesh = uses.uses[value].writerMesh;
  for (auto [i, written] : llvm::enumerate(copiesOfValue.written)) {
    if (written < 0)
      continue;
    ValueInstance instance{value, program.values[value].perMicrobatch ? int64_t(i) : -1};
    int64_t lastUse = getCopy(value, writerMesh).lastUse[i], gone = -1;
    for (const Copy &copy : copiesOfValue.list) {
      if (copy.mesh == writerMesh || copy.lastUse[i] < 0)
        continue;
      rows[written].sends.push_back({writerMesh, copy.mesh, instance});
      gone = std::max({gone, copy.firstUse[i], written});
      if (copy.lastUse[i] > written)
        rows[copy.lastUse[i]].freedEarly.push_back({copy.mesh, instance});
      else // read before it is there, which the verifier reports
        rows[written].freedLate.push_back({copy.mesh, instance});
    }
    if (uses.isKept(value))
      continue;
    (gone >= lastUse ? rows[gone].freedLate : rows[lastUse].freedEarly).push_back({writerMesh, instance});
  }
}

InstructionLists Emitter::buildLists() {
  InstructionLists lists(table.numMeshes);
  for (auto [clock, row] : llvm::enumerate(rows)) {
    auto add = [&, clock = int64_t(clock)](int64_t mesh, Instruction::Kind kind) -> Instruction & {
      Instruction &instruction = lists[mesh].emplace_back();
      instruction.kind = kind;
      instruction.clock = clock;
      return instruction;
    };
    auto addFrees = [&](ArrayRef<FreedInstance> list) {
      for (const FreedInstance &entry : list)
        add(entry.mesh, Instruction::Kind::Free).freed = entry.instance;
    };
    for (const Run &run : row.runs) {
      Instruction &instruction = add(run.mesh, Instruction::Kind::Run);
      instruction.function = run.function;
      instruction.microbatch = run.microbatch;
    }
    addFrees(row.freedEarly);
    llvm::sort(row.sends, comesBefore);
    const SentValue *last = nullptr;
    for (const SentValue &sent : row.sends) {
      if (!last || orderOf(*last) != orderOf(sent)) {
        add(sent.from, Instruction::Kind::Transfer).peer = sent.to;
        add(sent.to, Instruction::Kind::Transfer).peer = sent.from;
      }
      lists[sent.from].back().sends.push_back(sent.instance);
      lists[sent.to].back().receives.push_back(sent.instance);
      last = &sent;
    }
    addFrees(row.freedLate);
  }
  return lists;
}

} // namespace

InstructionLists mlir::spmd::emitInstructions(const PipelineProgram &program, const ClockTable &table) {
  return Emitter(program, table).emit();
}

std::vector<Stop> mlir::spmd::replay(const PipelineProgram &program, const InstructionLists &lists,
                                     int64_t numMicrobatches, VisitReplayed visit) {
  using shardkit::rt::ListReplay;
  auto bufferOf = [](ValueInstance instance) { return ListReplay::Buffer(instance.value, instance.microbatch); };
  auto read = [&](size_t mesh, size_t index, ListReplay::Step &step) {
    const Instruction &instruction = lists[mesh][index];
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      if (instruction.function >= 0 && instruction.function < int64_t(program.functions.size()))
        for (int64_t value : program.functions[instruction.function].reads)
          forEachInstance(program, value, instruction.microbatch, numMicrobatches,
                          [&](ValueInstance instance) { step.uses.push_back(bufferOf(instance)); });
      break;
    case Instruction::Kind::Transfer: {
      const size_t peer = instruction.peer;
      for (ValueInstance instance : instruction.sends) {
        step.uses.push_back(bufferOf(instance));
        step.sends.push_back({bufferOf(instance), {mesh, peer, instance.value, instance.microbatch}});
      }
      for (ValueInstance instance : instruction.receives)
        step.receives.push_back({bufferOf(instance), {peer, mesh, instance.value, instance.microbatch}});
      break;
    }
    case Instruction::Kind::Free:
      step.freed = bufferOf(instruction.freed);
      break;
    }
  };
  auto toSent = [](const ListReplay::Move &move) {
    return SentValue{int64_t(move.from), int64_t(move.to), {move.id, move.microbatch}};
  };
  auto report = [&](size_t mesh, size_t index, const std::vector<ListReplay::Move> &awaited) {
    visit(mesh, index, llvm::map_to_vector(awaited, toSent));
  };
  std::vector<size_t> lengths;
  for (const std::vector<Instruction> &list : lists)
    lengths.push_back(list.size());
  std::vector<Stop> stops;
  for (const ListReplay::Stop &stop : ListReplay(std::move(lengths), read, report).run())
    stops.push_back({stop.index, stop.awaited ? toSent(*stop.awaited) : SentValue()});
  return stops;
}
