//===- StageReport.cpp - What stages run, send and hold ---------------------===//

#include "shardkit/Report/StageReport.h"

#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Stages/ScheduleProgram.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::spmd;

static int64_t saturate(int64_t a, int64_t b, bool multiplies) {
  int64_t result;
  bool overflows = multiplies ? llvm::MulOverflow(a, b, result) : llvm::AddOverflow(a, b, result);
  return overflows ? std::numeric_limits<int64_t>::max() : result;
}

llvm::StringMap<int64_t> spmd::countRuns(ModuleOp module, int64_t tripCount) {
  llvm::StringMap<int64_t> runs;
  for (auto schedule : module.getOps<ScheduleOp>())
    for (auto program : schedule.getBody().front().getOps<StageProgramOp>())
      for (auto run : program.getBody().front().getOps<RunOp>())
        ++runs[run.getFunction()];
  // Callers of each function, with the executions of the call in a run of the caller.
  llvm::StringMap<SmallVector<std::pair<func::FuncOp, int64_t>>> calls;
  for (auto func : module.getOps<func::FuncOp>())
    func.walk([&](func::CallOp call) {
      calls[call.getCallee()].push_back({func, countExecutions(call->getBlock(), tripCount)});
    });
  llvm::DenseSet<Operation *> visited;
  std::function<int64_t(func::FuncOp)> count = [&](func::FuncOp func) {
    // A recursive call is not counted.
    if (!visited.insert(func).second)
      return runs.lookup(func.getName());
    int64_t sum = runs.lookup(func.getName());
    if (sum == 0 && !func.isPrivate())
      sum = 1;
    for (auto [caller, executions] : calls.lookup(func.getName()))
      sum = saturate(sum, saturate(count(caller), executions, /*multiplies=*/true), /*multiplies=*/false);
    return runs[func.getName()] = sum;
  };
  for (auto func : module.getOps<func::FuncOp>())
    count(func);
  return runs;
}

namespace {

/// Simulates the instructions of one mesh and tracks the live bytes.
class StageMemory {
public:
  StageMemory(const ScheduleProgram &read, ArrayRef<Instruction> list, int64_t mesh, int64_t microbatches,
              const llvm::StringMap<const FunctionMemory *> &memory)
      : read(read), program(read.program), list(list), mesh(mesh), microbatches(microbatches), memory(memory) {}

  void run(ReportStages &out);

private:
  /// Visits arguments and results of the fragments on this mesh.
  void forEachTensor(llvm::function_ref<void(size_t, Type, DictionaryAttr, bool)> visit);

  static SlotAttr getSlot(DictionaryAttr attrs) { return attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr(); }

  void measureValues(ReportStages &out);

  /// A microbatch is in flight in a stage from its first forward function to its last
  /// backward function.
  void countInFlight(ReportStages &out);

  /// Full arguments and results of the program on this mesh.
  int64_t getProgramBytes();
  void hold(ValueInstance slot);
  void runFragment(const Instruction &run, ReportStages &out, int64_t fixed);

  const ScheduleProgram &read;
  const PipelineProgram &program;
  ArrayRef<Instruction> list;
  int64_t mesh, microbatches;
  const llvm::StringMap<const FunctionMemory *> &memory;
  std::vector<int64_t> bytes; // per value, local
  std::set<ValueInstance> held;
  int64_t heldBytes = 0;
};

} // namespace

void StageMemory::run(ReportStages &out) {
  for (auto [stage, stageMesh] : llvm::enumerate(program.meshOfStage))
    if (stageMesh == mesh)
      out.stages.push_back(stage);
  measureValues(out);
  countInFlight(out);
  int64_t fixed = getProgramBytes();
  // Accumulators are live from the start.
  ValueUses uses(program);
  for (auto [value, use] : llvm::enumerate(uses.uses))
    if (use.writerMesh == mesh && use.startsAsZero && !program.values[value].perMicrobatch)
      hold({int64_t(value), -1});
  for (const Instruction &instruction : list) {
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      runFragment(instruction, out, fixed);
      break;
    case Instruction::Kind::Transfer:
      for (ValueInstance slot : instruction.receives)
        hold(slot);
      break;
    case Instruction::Kind::Free:
      if (held.erase(instruction.freed))
        heldBytes -= bytes[instruction.freed.value];
      break;
    }
    out.valueBytes = std::max(out.valueBytes, heldBytes);
    out.peakBytes = std::max(out.peakBytes, fixed + heldBytes);
  }
}

void StageMemory::forEachTensor(llvm::function_ref<void(size_t, Type, DictionaryAttr, bool)> visit) {
  for (auto [f, function] : llvm::enumerate(program.functions)) {
    if (program.getMesh(function) != mesh)
      continue;
    func::FuncOp func = read.functions[f];
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      visit(f, func.getArgumentTypes()[i], func.getArgAttrDict(i), true);
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      visit(f, func.getResultTypes()[i], func.getResultAttrDict(i), false);
  }
}

void StageMemory::measureValues(ReportStages &out) {
  bytes.assign(program.values.size(), 0);
  llvm::DenseMap<int64_t, unsigned> uses; // by value: bit 0 forward, bit 1 read backward
  forEachTensor([&](size_t f, Type type, DictionaryAttr attrs, bool isArgument) {
    SlotAttr slot = getSlot(attrs);
    if (!slot || !slot.isValue())
      return;
    int64_t value = read.valueOf.lookup(slot.getName());
    bytes[value] = getBytes(type);
    if (!program.values[value].perMicrobatch)
      return;
    if (program.functions[f].fragment == StageFragment::Forward)
      uses[value] |= 1;
    else if (program.functions[f].fragment == StageFragment::Backward && isArgument)
      uses[value] |= 2;
  });
  for (auto [value, use] : uses)
    out.residualBytes += use == 3 ? bytes[value] : 0;
}

void StageMemory::countInFlight(ReportStages &out) {
  std::vector<int64_t> numBackward(program.meshOfStage.size());
  for (const StageFunction &function : program.functions)
    numBackward[function.stage] += function.fragment == StageFragment::Backward;
  std::map<std::pair<int64_t, int64_t>, int64_t> left; // backward functions, by stage and microbatch
  for (const Instruction &instruction : list) {
    if (instruction.kind != Instruction::Kind::Run)
      continue;
    const StageFunction &function = program.functions[instruction.function];
    std::pair<int64_t, int64_t> key(function.stage, instruction.microbatch);
    if (function.fragment == StageFragment::Forward && numBackward[function.stage] > 0)
      left.try_emplace(key, numBackward[function.stage]);
    else if (function.fragment == StageFragment::Backward && --left[key] <= 0)
      left.erase(key);
    out.inFlight = std::max<int64_t>(out.inFlight, left.size());
  }
}

int64_t StageMemory::getProgramBytes() {
  llvm::DenseMap<std::pair<int64_t, Attribute>, int64_t> tensors[2]; // by index and segment; results, arguments
  forEachTensor([&](size_t, Type type, DictionaryAttr attrs, bool isArgument) {
    SlotAttr slot = getSlot(attrs);
    if (!slot || slot.isValue() || (!isArgument && attrs.get(kTiedAttr)))
      return;
    Attribute segment = attrs.get(kSegmentsOfAttr) ? attrs.get(kSegmentsOfAttr) : attrs.get(kSegmentAttr);
    tensors[isArgument][{slot.getIndex(), segment}] = getBytes(type) * (slot.isMicrobatch() ? microbatches : 1);
  });
  int64_t sum = 0;
  for (const auto &sizes : tensors)
    for (auto [key, size] : sizes)
      sum += size;
  return sum;
}

void StageMemory::hold(ValueInstance slot) {
  if (held.insert(slot).second)
    heldBytes += bytes[slot.value];
}

void StageMemory::runFragment(const Instruction &run, ReportStages &out, int64_t fixed) {
  const StageFunction &function = program.functions[run.function];
  func::FuncOp func = read.functions[run.function];
  for (ArrayRef<int64_t> list : {ArrayRef(function.reads), ArrayRef(function.writes)})
    for (int64_t value : list)
      forEachInstance(program, value, run.microbatch, microbatches, [&](ValueInstance slot) { hold(slot); });
  // A value that is not a row of its array is copied. A result that replaces an argument
  // is a second buffer, unless it is tied to the argument.
  int64_t copies = 0;
  auto copied = [&](Type type, SlotAttr slot) {
    if (slot && slot.isMicrobatch() && slot.getDim() > 0 && microbatches > 1)
      copies += getBytes(type);
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    copied(func.getArgumentTypes()[i], getSlot(func.getArgAttrDict(i)));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    copied(func.getResultTypes()[i], getSlot(func.getResultAttrDict(i)));
  llvm::SmallDenseSet<Attribute> isRead;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    isRead.insert(getSlot(func.getArgAttrDict(i)));
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    SlotAttr slot = getSlot(func.getResultAttrDict(i));
    if (slot && slot.isValue() && isRead.contains(slot) && !func.getResultAttr(i, kTiedAttr))
      copies += getBytes(func.getResultTypes()[i]);
  }
  out.valueBytes = std::max(out.valueBytes, heldBytes + copies);
  int64_t inside = 0;
  if (const FunctionMemory *peak = memory.lookup(func.getName()))
    inside = peak->peakBytes - peak->argumentBytes;
  out.peakBytes = std::max(out.peakBytes, fixed + heldBytes + copies + inside);
}

FailureOr<std::vector<ReportPipeline>> spmd::computePipelines(ModuleOp module, const MeshCache &meshes,
                                                              ArrayRef<FunctionMemory> memory, int64_t tripCount) {
  llvm::StringMap<const FunctionMemory *> memoryOf;
  for (const FunctionMemory &peak : memory)
    memoryOf[peak.function] = &peak;
  llvm::StringMap<int64_t> runs = countRuns(module, tripCount);
  std::vector<ReportPipeline> result;
  for (auto schedule : module.getOps<ScheduleOp>()) {
    if (schedule.getBody().front().empty())
      continue;
    FailureOr<ScheduleProgram> read = ScheduleProgram::read(schedule);
    if (failed(read))
      return failure();
    FailureOr<ScheduleLists> lists = ScheduleLists::read(schedule, *read);
    if (failed(lists) || failed(verifySchedule(schedule, *read, *lists)))
      return failure();
    FailureOr<std::vector<double>> seconds = predictSeconds(*read, tripCount);
    if (failed(seconds))
      return failure();
    ReportPipeline &out = result.emplace_back();
    out.name = schedule.getSymName().str();
    out.schedule = schedule.getKind().str();
    out.microbatches = schedule.getMicrobatches();
    for (auto [mesh, name] : llvm::enumerate(schedule.getMeshes().getAsRange<FlatSymbolRefAttr>())) {
      ReportStages &stages = out.meshes.emplace_back();
      stages.mesh = name.getValue().str();
      for (auto [f, function] : llvm::enumerate(read->program.functions))
        if (read->program.getMesh(function) == int64_t(mesh))
          stages.fragments.push_back({function.name, runs.lookup(function.name), (*seconds)[f]});
      StageMemory(*read, lists->lists[mesh], mesh, out.microbatches, memoryOf).run(stages);
    }
    SmallVector<int64_t> counts;
    for (auto program : schedule.getBody().front().getOps<StageProgramOp>())
      for (auto post : program.getBody().front().getOps<TransferOp>())
        for (auto pair : post.getSends().getAsRange<DenseI64ArrayAttr>()) {
          counts.resize(std::max<size_t>(counts.size(), pair[0] + 1));
          ++counts[pair[0]];
        }
    for (auto [i, op] : llvm::enumerate(schedule.getBody().front().getOps<ChannelOp>())) {
      auto emit = [&, op = op] { return ChannelOp(op).emitError(); };
      FailureOr<ShardingOnMesh> read = meshes.read(op.getDestination(), emit);
      if (failed(read))
        return failure();
      auto type = cast<RankedTensorType>(op.getType());
      Layout layout = Layout::get(read->sharding, *read->mesh, type.getShape());
      out.transfers.push_back(
          {op.getValue().str(), int64_t(op.getFrom()), int64_t(op.getTo()),
           layout.numLocalElements() * read->mesh->numDevices() * getElementBytes(type.getElementType()),
           i < counts.size() ? counts[i] : 0});
    }
    out.program = std::move(*read);
    out.lists = std::move(*lists);
    out.seconds = std::move(*seconds);
  }
  return result;
}
