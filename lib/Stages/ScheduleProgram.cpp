//===- ScheduleProgram.cpp - Schedules in IR and as plain data ------------===//

#include "shardkit/Stages/ScheduleProgram.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Layout/MeshTransfer.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Stages/VerifyProgram.h"
#include "llvm/ADT/BitVector.h"

#include "llvm/ADT/MapVector.h"

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

/// Adds fragments that change the layout of values on arrival, where a stage reads a value in
/// another layout than it was written in. Between meshes each byte arrives once, and the
/// fragment gathers what the receivers replicate; on one mesh it reshards.
static LogicalResult addArrivals(ScheduleOp schedule) {
  FailureOr<ScheduleProgram> read = ScheduleProgram::read(schedule);
  if (failed(read))
    return failure();
  auto module = schedule->getParentOfType<ModuleOp>();
  MeshCache meshes(module);
  const PipelineProgram &program = read->program;
  unsigned number = 0;
  for (auto [v, value] : llvm::enumerate(program.values)) {
    ScheduleProgram::Endpoint producer = read->getProducer(v);
    if (!producer)
      continue;
    auto source = producer.func.getResultAttrOfType<ShardingAttr>(producer.index, kShardingAttr);
    auto typeAttr = producer.func.getResultAttrOfType<TypeAttr>(producer.index, kGlobalTypeAttr);
    if (!source || !typeAttr)
      continue; // stays in its stage
    auto type = cast<RankedTensorType>(typeAttr.getValue());
    auto producerStage = producer.func->getAttrOfType<IntegerAttr>(kStageAttr);
    // By the stage that reads it, in order of first use.
    llvm::MapVector<int64_t, SmallVector<ScheduleProgram::Endpoint>> readers;
    for (func::FuncOp func : read->functions)
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (auto slot = func.getArgAttrOfType<SlotAttr>(i, kSlotAttr);
            slot && slot.isValue() && slot.getName() == value.name)
          readers[func->getAttrOfType<IntegerAttr>(kStageAttr).getInt()].push_back({func, i});
    for (auto &[stage, endpoints] : readers) {
      func::FuncOp first = endpoints.front().func;
      auto wanted = first.getArgAttrOfType<ShardingAttr>(endpoints.front().index, kShardingAttr);
      if (stage == producerStage.getInt() || !wanted)
        continue;
      auto emit = [&] { return first.emitError(); };
      FailureOr<ShardingOnMesh> from = meshes.read(source, emit), to = meshes.read(wanted, emit);
      if (failed(from) || failed(to))
        return failure();
      const Mesh *fromMesh = from->mesh, *toMesh = to->mesh;
      Layout fromLayout = Layout::get(from->sharding, *fromMesh, type.getShape());
      bool isSameMesh = fromMesh == toMesh;
      Sharding arrival = isSameMesh ? from->sharding : getArrival(fromLayout, to->sharding, *toMesh);
      Layout arrives = Layout::get(arrival, *toMesh, type.getShape());
      if (arrives == Layout::get(to->sharding, *toMesh, type.getShape()))
        continue;
      // The fragment of the first reader, before it.
      auto fragment = first->getAttrOfType<FragmentAttr>(kFragmentAttr);
      OpBuilder b(first);
      auto localType = type.clone(arrives.localShape());
      std::string name =
          ("stage" + Twine(stage) + "_arrival" + Twine(number++) + "_" + toString(fragment.getKind())).str();
      if (fragment.getRound() > 0)
        name += std::to_string(fragment.getRound());
      auto func = func::FuncOp::create(b, first.getLoc(), name, b.getFunctionType(localType, {}));
      for (StringRef attr : {kStageAttr, kMeshAttr, kScheduleAttr, kFragmentAttr})
        func->setAttr(attr, first->getAttr(attr));
      Block *entry = func.addEntryBlock();
      OpBuilder body = OpBuilder::atBlockEnd(entry);
      auto functionMeshes = FunctionMeshes::get(module, {{wanted.getMesh(), first.getLoc()}}, meshes);
      if (failed(functionMeshes))
        return failure();
      LayoutTable table(*functionMeshes);
      FailureOr<Value> resharded = lowerReshard(body, first.getLoc(), entry->getArgument(0), type,
                                                table.intern(arrival), table.intern(to->sharding), table);
      if (failed(resharded))
        return failure();
      func::ReturnOp::create(body, first.getLoc(), *resharded);
      func.setFunctionType(b.getFunctionType(localType, resharded->getType()));
      MLIRContext *context = func.getContext();
      std::string arrived = (value.name + "@" + Twine(stage)).str();
      auto newSlot = SlotAttr::get(context, SlotKind::Value, -1, -1, arrived, ReductionKind::Sum);
      SignatureAttrs signature(func);
      signature.arg(0).set(kSlotAttr, SlotAttr::get(context, SlotKind::Value, -1, -1, value.name, ReductionKind::Sum));
      signature.arg(0).set(kShardingAttr, toAttr(context, wanted.getMesh(), arrival, *toMesh));
      signature.arg(0).set(kGlobalTypeAttr, typeAttr);
      signature.result(0).set(kSlotAttr, newSlot);
      signature.result(0).set(kShardingAttr, wanted);
      signature.result(0).set(kGlobalTypeAttr, typeAttr);
      signature.write();
      for (ScheduleProgram::Endpoint endpoint : endpoints)
        endpoint.func.setArgAttr(endpoint.index, kSlotAttr, newSlot);
    }
  }
  return success();
}

LogicalResult spmd::emitSchedule(ScheduleOp schedule) {
  if (failed(addArrivals(schedule)))
    return failure();
  FailureOr<ScheduleProgram> read = ScheduleProgram::read(schedule);
  if (failed(read))
    return failure();
  const PipelineProgram &program = read->program;
  std::string error;
  std::optional<ScheduleKind> kind = parseScheduleKind(schedule.getKind(), error);
  int64_t numMeshes = schedule.getMeshes().size();
  int64_t numStages = program.meshOfStage.size();
  std::optional<ClockTable> table;
  if (kind)
    table = buildSchedule(*kind, numMeshes, schedule.getMicrobatches(), numStages / numMeshes, error);
  if (!table)
    return schedule.emitError() << error;
  InstructionLists lists = emitInstructions(program, *table);
  if (auto fault = verifyProgram(program, lists, schedule.getMicrobatches(), *kind))
    return schedule.emitError() << fault->message << " (instruction " << fault->instruction << " of mesh "
                                << fault->mesh << ")";

  // The channels: one per value and receiving mesh.
  OpBuilder b = OpBuilder::atBlockEnd(&schedule.getBody().front());
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> channelOf;
  for (auto [from, list] : llvm::enumerate(lists))
    for (const Instruction &instruction : list)
      for (const ValueInstance &instance : instruction.sends) {
        auto [it, isNew] = channelOf.try_emplace({instance.value, instruction.peer}, channelOf.size());
        if (!isNew)
          continue;
        ScheduleProgram::Endpoint producer = read->getProducer(instance.value);
        ScheduleProgram::Endpoint consumer = read->getConsumer(instance.value, instruction.peer);
        auto source = producer.func.getResultAttrOfType<ShardingAttr>(producer.index, kShardingAttr);
        auto destination = consumer.func.getArgAttrOfType<ShardingAttr>(consumer.index, kShardingAttr);
        auto type = producer.func.getResultAttrOfType<TypeAttr>(producer.index, kGlobalTypeAttr);
        if (!source || !destination || !type)
          return consumer.func.emitError() << "value \"" << program.values[instance.value].name
                                           << "\" crosses stages without a layout, expected spmd.sharding and "
                                              "spmd.global_type as --spmd-partition leaves them";
        ChannelOp::create(b, producer.func.getLoc(), program.values[instance.value].name, int64_t(from), source,
                          instruction.peer, destination, cast<RankedTensorType>(type.getValue()));
      }
  auto optional = [&](int64_t number) { return number >= 0 ? b.getI64IntegerAttr(number) : IntegerAttr(); };
  for (auto [mesh, list] : llvm::enumerate(lists)) {
    auto stage = StageProgramOp::create(b, schedule.getLoc(), cast<FlatSymbolRefAttr>(schedule.getMeshes()[mesh]));
    OpBuilder body = OpBuilder::atBlockEnd(&stage.getBody().emplaceBlock());
    for (const Instruction &instruction : list) {
      switch (instruction.kind) {
      case Instruction::Kind::Run:
        RunOp::create(body, schedule.getLoc(),
                      FlatSymbolRefAttr::get(read->functions[instruction.function].getNameAttr()),
                      optional(instruction.microbatch), b.getI64IntegerAttr(instruction.clock));
        break;
      case Instruction::Kind::Transfer: {
        auto pairs = [&](ArrayRef<ValueInstance> instances, bool sends) {
          SmallVector<Attribute> attrs;
          for (const ValueInstance &instance : instances)
            attrs.push_back(b.getDenseI64ArrayAttr(
                {channelOf.at({instance.value, sends ? instruction.peer : int64_t(mesh)}), instance.microbatch}));
          return b.getArrayAttr(attrs);
        };
        TransferOp::create(body, schedule.getLoc(), instruction.peer, pairs(instruction.sends, true),
                           pairs(instruction.receives, false));
        break;
      }
      case Instruction::Kind::Free:
        FreeOp::create(body, schedule.getLoc(), program.values[instruction.freed.value].name,
                       optional(instruction.freed.microbatch));
        break;
      }
    }
  }
  return success();
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

FailureOr<std::vector<double>> spmd::predictSeconds(const ScheduleProgram &program, int64_t tripCount) {
  std::vector<double> result;
  for (func::FuncOp func : program.functions) {
    MeshCache meshes(func->getParentOfType<ModuleOp>());
    const Mesh *mesh =
        meshes.lookupOrEmit(func->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr), [&] { return func.emitError(); });
    if (!mesh)
      return failure();
    double &seconds = result.emplace_back(0);
    for (Operation &op : func.getBody().front())
      seconds += getComputeSeconds(&op, *mesh, tripCount);
    WalkResult walk = func.walk([&](CollectiveOpInterface op) {
      FailureOr<CollectiveMove> move = getMove(op, meshes);
      if (failed(move))
        return WalkResult::interrupt();
      double each = move->cost.seconds - (travelsAlong(op) ? move->latency : 0);
      seconds += each * countExecutions(op->getBlock(), tripCount);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return result;
}
