//===- ScheduleProgram.cpp - Schedules are written and predicted ----------===//

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
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::spmd;

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
