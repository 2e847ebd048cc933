//===- ScheduleLists.cpp - Schedules in IR are read and verified ----------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "shardkit/Stages/VerifyProgram.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<ScheduleProgram> ScheduleProgram::read(ScheduleOp schedule) {
  ScheduleProgram result;
  auto module = schedule->getParentOfType<ModuleOp>();
  auto name = FlatSymbolRefAttr::get(schedule.getSymNameAttr());
  int64_t numStages = 0, numMeshes = schedule.getMeshes().size();
  SmallVector<func::FuncOp> fragments;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->getAttrOfType<FlatSymbolRefAttr>(kScheduleAttr) == name)
      fragments.push_back(func);
  llvm::BitVector isThere(fragments.size());
  for (func::FuncOp func : fragments) {
    auto stage = func->getAttrOfType<IntegerAttr>(kStageAttr);
    if (!stage)
      return func.emitError() << "function of schedule " << name
                              << " has no spmd.stage, expected the index of its stage";
    if (stage.getInt() >= int64_t(fragments.size()))
      return func.emitError() << "function of schedule " << name << " is of stage " << stage.getInt()
                              << ", expected less than " << fragments.size() << ", the number of functions";
    Attribute mesh = schedule.getMeshes()[stage.getInt() % numMeshes];
    if (func->getAttr(kMeshAttr) != mesh)
      return func.emitError() << "function of stage " << stage.getInt()
                              << " has another spmd.mesh than the schedule, expected " << mesh;
    isThere.set(stage.getInt());
    numStages = std::max(numStages, stage.getInt() + 1);
    StageFunction function;
    function.name = func.getName().str();
    function.stage = stage.getInt();
    auto fragment = func->getAttrOfType<FragmentAttr>(kFragmentAttr);
    if (!fragment)
      return func.emitError() << "function of schedule " << name
                              << " has no spmd.fragment, expected #spmd.fragment<forward>, <backward> or <apply> "
                                 "(--spmd-outline-stages has not run)";
    function.fragment = fragment.getKind();
    function.round = fragment.getRound();
    auto take = [&](Attribute attr, SmallVector<int64_t> &list) {
      auto slot = dyn_cast_or_null<SlotAttr>(attr);
      if (!slot || !slot.isValue())
        return;
      auto [it, isNew] = result.valueOf.try_emplace(slot.getName(), result.program.values.size());
      if (isNew)
        result.program.values.push_back({slot.getName().str(), false, false});
      list.push_back(it->second);
    };
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      take(func.getArgAttr(i, kSlotAttr), function.reads);
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      size_t before = function.writes.size();
      take(func.getResultAttr(i, kSlotAttr), function.writes);
      // Per microbatch if a fragment that runs per microbatch writes it, except for sums.
      if (function.writes.size() > before && function.fragment != StageFragment::Apply &&
          func.getResultAttrOfType<SlotAttr>(i, kSlotAttr).getKind() == SlotKind::Value)
        result.program.values[function.writes.back()].perMicrobatch = true;
    }
    result.functions.push_back(func);
    result.program.functions.push_back(std::move(function));
  }
  for (int64_t stage = 0; stage < numStages; ++stage) {
    if (!isThere[stage])
      return schedule.emitError() << "stage " << stage << " of " << numStages
                                  << " has no fragment, expected at least one";
    result.program.meshOfStage.push_back(stage % numMeshes);
  }
  if (numStages % numMeshes != 0)
    return schedule.emitError() << numStages << " stages on " << numMeshes << " meshes, expected a multiple";
  return result;
}

ScheduleProgram::Endpoint ScheduleProgram::getProducer(int64_t value) const {
  for (auto [f, function] : llvm::enumerate(program.functions))
    if (llvm::is_contained(function.writes, value)) {
      func::FuncOp func = functions[f];
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        if (auto slot = func.getResultAttrOfType<SlotAttr>(i, kSlotAttr);
            slot && slot.isValue() && slot.getName() == program.values[value].name)
          return {func, i};
    }
  return {};
}

ScheduleProgram::Endpoint ScheduleProgram::getConsumer(int64_t value, int64_t mesh) const {
  for (auto [f, function] : llvm::enumerate(program.functions))
    if (program.getMesh(function) == mesh && llvm::is_contained(function.reads, value)) {
      func::FuncOp func = functions[f];
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (auto slot = func.getArgAttrOfType<SlotAttr>(i, kSlotAttr);
            slot && slot.isValue() && slot.getName() == program.values[value].name)
          return {func, i};
    }
  return {};
}

/// channel_c3: the source layout is the one in which a fragment writes the value.
static LogicalResult verifyChannel(ChannelOp op, const ScheduleProgram &read) {
  auto it = read.valueOf.find(op.getValue());
  if (it == read.valueOf.end())
    return op.emitError() << "unknown value \"" << op.getValue()
                          << "\", expected one that fragments of the schedule write or read";
  ScheduleProgram::Endpoint producer = read.getProducer(it->second);
  if (!producer)
    return op.emitError() << "no fragment writes \"" << op.getValue() << "\", expected one that does";
  auto source = producer.func.getResultAttrOfType<ShardingAttr>(producer.index, kShardingAttr);
  auto type = producer.func.getResultAttrOfType<TypeAttr>(producer.index, kGlobalTypeAttr);
  if (source != op.getSourceAttr() || !type || type.getValue() != op.getType())
    return op.emitError() << "channel of " << op.getType() << " from " << op.getSourceAttr()
                          << ", expected the type and sharding that @" << producer.func.getName() << " writes \""
                          << op.getValue() << "\" in";
  return success();
}

FailureOr<ScheduleLists> ScheduleLists::read(ScheduleOp schedule, const ScheduleProgram &read) {
  llvm::StringMap<int64_t> functionOf;
  for (auto [f, function] : llvm::enumerate(read.program.functions))
    functionOf[function.name] = f;
  SmallVector<ChannelOp> channels(schedule.getBody().front().getOps<ChannelOp>());
  auto programs = llvm::to_vector(schedule.getBody().front().getOps<StageProgramOp>());
  if (programs.empty())
    return schedule.emitError() << "the schedule has no instructions, expected "
                                   "--spmd-outline-stages to have run";
  for (ChannelOp channel : channels)
    if (failed(verifyChannel(channel, read)))
      return failure();
  int64_t numMeshes = schedule.getMeshes().size();
  auto instanceOf = [&](Operation *op, StringRef name, int64_t microbatch) -> FailureOr<ValueInstance> {
    auto it = read.valueOf.find(name);
    if (it == read.valueOf.end())
      return op->emitError() << "unknown value \"" << name
                             << "\", expected one that fragments of the schedule write or read";
    return ValueInstance{it->second, microbatch};
  };
  ScheduleLists result;
  result.lists.resize(numMeshes);
  result.ops.resize(numMeshes);
  for (auto [mesh, program] : llvm::enumerate(programs))
    for (Operation &op : program.getBody().front()) {
      Instruction instruction;
      if (auto run = dyn_cast<RunOp>(op)) { // run_c2
        auto it = functionOf.find(run.getFunction());
        if (it == functionOf.end())
          return run.emitError() << "unknown fragment @" << run.getFunction()
                                 << ", expected a function of the schedule";
        instruction.function = it->second;
        instruction.microbatch = run.getMicrobatch().value_or(-1);
      } else if (auto transfer = dyn_cast<TransferOp>(op)) {
        instruction.kind = Instruction::Kind::Transfer;
        instruction.peer = transfer.getPeer();
        // transfer_c3
        for (auto [list, attr, sends] : {std::tuple(&instruction.sends, transfer.getSends(), true),
                                         std::tuple(&instruction.receives, transfer.getReceives(), false)})
          for (auto pair : attr.getAsRange<DenseI64ArrayAttr>()) {
            if (pair[0] < 0 || pair[0] >= int64_t(channels.size()))
              return transfer.emitError() << "channel " << pair[0] << ", expected less than " << channels.size();
            ChannelOp channel = channels[pair[0]];
            int64_t from = sends ? int64_t(mesh) : instruction.peer;
            int64_t to = sends ? instruction.peer : int64_t(mesh);
            if (int64_t(channel.getFrom()) != from || int64_t(channel.getTo()) != to)
              return transfer.emitError()
                     << "channel " << pair[0] << " is from mesh " << channel.getFrom() << " to mesh " << channel.getTo()
                     << ", expected one from " << from << " to " << to;
            FailureOr<ValueInstance> instance = instanceOf(transfer, channel.getValue(), pair[1]);
            if (failed(instance))
              return failure();
            list->push_back(*instance);
          }
      } else {
        auto free = cast<FreeOp>(op); // stage_program_c1
        instruction.kind = Instruction::Kind::Free;
        // free_c2
        FailureOr<ValueInstance> instance = instanceOf(free, free.getValue(), free.getMicrobatch().value_or(-1));
        if (failed(instance))
          return failure();
        instruction.freed = *instance;
      }
      result.lists[mesh].push_back(std::move(instruction));
      result.ops[mesh].push_back(&op);
    }
  return result;
}

LogicalResult spmd::verifySchedule(ScheduleOp schedule, const ScheduleProgram &read, const ScheduleLists &lists) {
  std::string error;
  std::optional<ScheduleKind> kind = parseScheduleKind(schedule.getKind(), error);
  if (!kind)
    return schedule.emitError() << error;
  // No list has fewer instructions than runs.
  size_t longest = 0;
  for (const std::vector<Instruction> &list : lists.lists)
    longest = std::max(longest, list.size());
  if (schedule.getMicrobatches() > longest)
    return schedule.emitError() << "the schedule has " << schedule.getMicrobatches() << " microbatches and at most "
                                << longest << " instructions on a mesh, expected a run of each microbatch";
  // schedule_c5
  auto fault = verifyProgram(read.program, lists.lists, schedule.getMicrobatches(), *kind);
  if (!fault)
    return success();
  const SmallVector<Operation *> &ops = lists.ops[fault->mesh];
  if (fault->instruction < ops.size())
    return ops[fault->instruction]->emitError() << fault->message;
  auto programs = schedule.getBody().front().getOps<StageProgramOp>();
  return (*std::next(programs.begin(), fault->mesh)).emitError() << "at the end: " << fault->message;
}

LogicalResult spmd::verifySchedule(ScheduleOp schedule) {
  FailureOr<ScheduleProgram> read = ScheduleProgram::read(schedule);
  if (failed(read))
    return failure();
  FailureOr<ScheduleLists> lists = ScheduleLists::read(schedule, *read);
  return failure(failed(lists) || failed(verifySchedule(schedule, *read, *lists)));
}

/// A transfer is in the clock of the last run of its sender, on both sides.
LogicalResult ScheduleLists::readClocks() {
  llvm::DenseMap<std::pair<int64_t, int64_t>, SmallVector<Instruction *>> transfers; // by mesh and peer
  for (auto [mesh, list] : llvm::enumerate(lists)) {
    int64_t clock = -1;
    for (auto [instruction, op] : llvm::zip_equal(list, ops[mesh])) {
      if (auto run = dyn_cast<RunOp>(op)) {
        if (!run.getClock() || int64_t(*run.getClock()) < clock)
          return run.emitError() << "run has "
                                 << (run.getClock() ? "clock " + std::to_string(*run.getClock())
                                                    : std::string("no clock"))
                                 << ", expected one" << (clock < 0 ? "" : ", " + std::to_string(clock) + " or later");
        clock = *run.getClock();
      }
      instruction.clock = std::max<int64_t>(clock, 0);
      if (instruction.kind == Instruction::Kind::Transfer)
        transfers[{int64_t(mesh), instruction.peer}].push_back(&instruction);
    }
  }
  for (auto &[ends, mine] : transfers) {
    if (ends.first > ends.second)
      continue;
    for (auto [ours, theirs] : llvm::zip(mine, transfers[{ends.second, ends.first}]))
      ours->clock = theirs->clock =
          std::max(ours->sends.empty() ? 0 : ours->clock, theirs->sends.empty() ? 0 : theirs->clock);
  }
  return success();
}
