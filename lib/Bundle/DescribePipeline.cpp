//===- DescribePipeline.cpp - Schedules in the manifest -------------------===//

#include "Describe.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshTransfer.h"
#include "shardkit/Stages/ScheduleProgram.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::spmd;
namespace rt = shardkit::rt;

/// The initial elements of a value that accumulates over microbatches.
static rt::Init getInit(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
    return rt::Init::Zero;
  case ReductionKind::Prod:
    return rt::Init::One;
  case ReductionKind::And:
  case ReductionKind::UMin:
    return rt::Init::AllOnes;
  case ReductionKind::Max:
  case ReductionKind::MaxNum:
    return rt::Init::Lowest;
  case ReductionKind::Min:
  case ReductionKind::MinNum:
    return rt::Init::Highest;
  }
  llvm_unreachable("a kind of reduction");
}

namespace {
/// Describes a schedule in the manifest. Example: `#spmd.slot<argument 1>` on argument 0 of a
/// function of stage 0 makes a buffer, argument 0 of that stage in the manifest. Argument 1 of
/// the program lists it ([0, 0]), and the function refers to it as ["argument", 0].
class PipelineDescriber {
public:
  PipelineDescriber(ScheduleOp schedule, const MeshCache &meshes, rt::Manifest &manifest, rt::PipelineInfo &out)
      : schedule(schedule), meshes(meshes), manifest(manifest), out(out) {}

  LogicalResult run();

private:
  /// An argument or result of the program, and the buffers of stages that hold it.
  struct ProgramValue {
    rt::ValueInfo value;
    std::vector<rt::PipelineInfo::Buffer> buffers;
  };

  func::FuncOp lookup(StringRef name) { return schedule->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name); }

  LogicalResult describeStages();

  /// Offset and size of each segment that a value holds; empty for a value without segments.
  using SegmentList = std::vector<std::pair<int64_t, int64_t>>;

  static SegmentList getSegmentList(DictionaryAttr attrs, Type type);

  /// Reads names, types and attributes of the arguments and results of the program. Their
  /// buffers and segments come from the fragments.
  void readSignature();

  /// Erases the entry of the unsegmented value if its segments have entries.
  static void eraseUnsegmented(std::map<SegmentList, ProgramValue> &entries);

  /// Lists the arguments and results in the order of the program, the segments of one by their
  /// offsets, and the arguments of the reference: stored tensors instead of segments.
  void describeSignature();
  int64_t stageOf(const rt::FunctionInfo &function);
  LogicalResult describeFragment(int64_t f, rt::FunctionInfo &function);
  LogicalResult describeSlot(int64_t s, func::FuncOp func, DictionaryAttr attrs, Type type, Location loc,
                             rt::ValueInfo &value);

  /// Describes all microbatches of an argument or result of which a fragment uses one slice: each
  /// microbatch is sharded as its slice, and microbatches follow each other.
  LogicalResult describeBatch(func::FuncOp func, DictionaryAttr attrs, Type type, int64_t dim, Location loc,
                              rt::ValueInfo &held);

  LogicalResult describeChannel(ChannelOp op);
  LogicalResult describeInstructions();

  /// Ties results of a stage to the arguments that they update, whose memory they may use.
  void tieStages();

  /// True if no instruction of the stage reads argument `i`, or the slice of the same microbatch,
  /// after result `j` is written.
  bool canUpdate(const rt::StageInfo &stage, int64_t i, int64_t j);

  ScheduleOp schedule;
  const MeshCache &meshes;
  rt::Manifest &manifest;
  rt::PipelineInfo &out;
  /// Per stage: the indices of its arguments and results, by index in the program, the dim that
  /// microbatches split, and segments.
  std::vector<std::map<std::tuple<int64_t, int64_t, SegmentList>, int64_t>> argumentOf, resultOf;
  /// Arguments and results of the program, by index, then by segments.
  std::vector<std::map<SegmentList, ProgramValue>> arguments, results;
  std::vector<llvm::StringMap<int64_t>> valueOf;
  llvm::StringMap<int64_t> functionOf;
};

LogicalResult PipelineDescriber::run() {
  out.signature.name = schedule.getSymName().str();
  out.schedule = schedule.getKind().str();
  out.microbatches = schedule.getMicrobatches();
  if (failed(verifySchedule(schedule)) || failed(describeStages()))
    return failure();
  readSignature();
  for (auto [f, function] : llvm::enumerate(out.functions))
    if (failed(describeFragment(f, function)))
      return failure();
  describeSignature();
  for (auto channel : schedule.getBody().front().getOps<ChannelOp>())
    if (failed(describeChannel(channel)))
      return failure();
  if (failed(describeInstructions()))
    return failure();
  tieStages();
  return success();
}

LogicalResult PipelineDescriber::describeStages() {
  SmallVector<int64_t> devices;
  for (auto name : schedule.getMeshes().getAsRange<FlatSymbolRefAttr>()) {
    const Mesh *mesh = meshes.lookupOrEmit(name, [&] { return schedule.emitError(); });
    if (!mesh)
      return failure();
    rt::StageInfo &stage = out.stages.emplace_back();
    stage.held.name = out.signature.name;
    stage.held.mesh = addMesh(*mesh, manifest);
    stage.held.devices = mesh->numDevices();
    for (int64_t rank = 0; rank < mesh->numDevices(); ++rank) {
      stage.ranks.push_back(mesh->device(rank));
      devices.push_back(mesh->device(rank));
    }
  }
  // Ranks are the devices in the order of their ids.
  llvm::sort(devices);
  out.signature.devices = devices.size();
  for (rt::StageInfo &stage : out.stages)
    for (int64_t &rank : stage.ranks)
      rank = llvm::lower_bound(devices, rank) - devices.begin();
  argumentOf.resize(out.stages.size());
  resultOf.resize(out.stages.size());
  valueOf.resize(out.stages.size());
  return success();
}

PipelineDescriber::SegmentList PipelineDescriber::getSegmentList(DictionaryAttr attrs, Type type) {
  SegmentList list;
  for (auto [segment, segmentType] : getSegments(attrs, type))
    list.emplace_back(segment.getOffset(), segment.getSize(cast<ShapedType>(segmentType)));
  return list;
}

void PipelineDescriber::readSignature() {
  auto type = cast<FunctionType>(schedule.getFunctionType());
  auto attrsOf = [](std::optional<ArrayAttr> list, unsigned i) {
    return list ? cast<DictionaryAttr>((*list)[i]) : DictionaryAttr();
  };
  auto describe = [&](Type type, rt::ValueInfo &value) {
    value.dtype = getDType(getElementTypeOrSelf(type)).value_or(rt::DType::F32);
    ArrayRef<int64_t> shape = getShape(type);
    value.globalShape.assign(shape.begin(), shape.end());
  };
  for (unsigned i = 0; i < type.getNumInputs(); ++i) {
    rt::ValueInfo &value = arguments.emplace_back()[{}].value;
    DictionaryAttr attrs = attrsOf(schedule.getArgAttrs(), i);
    value.kind = getArgumentKind(attrs);
    auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
    value.name = name ? name.str() : "arg" + std::to_string(i);
    describe(type.getInput(i), value);
  }
  for (unsigned i = 0; i < type.getNumResults(); ++i) {
    rt::ValueInfo &value = results.emplace_back()[{}].value;
    DictionaryAttr attrs = attrsOf(schedule.getResAttrs(), i);
    value.kind = rt::ValueKind::Result;
    auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
    value.name = name ? name.str() : "result" + std::to_string(i);
    if (auto tied = attrs ? attrs.getAs<IntegerAttr>(kTiedAttr) : IntegerAttr())
      value.tied = tied.getInt();
    describe(type.getResult(i), value);
  }
}

void PipelineDescriber::eraseUnsegmented(std::map<SegmentList, ProgramValue> &entries) {
  if (entries.size() > 1 && entries.at({}).buffers.empty())
    entries.erase(SegmentList());
}

void PipelineDescriber::describeSignature() {
  rt::FunctionInfo &signature = out.signature;
  bool hasSegments = false;
  SmallVector<std::map<SegmentList, int64_t>> indexOf;
  for (auto &entries : arguments) {
    // An unsegmented argument without a buffer: only the reference reads it.
    eraseUnsegmented(entries);
    auto &indices = indexOf.emplace_back();
    const size_t first = signature.arguments.size();
    for (auto &[segments, argument] : entries) {
      indices[segments] = signature.arguments.size();
      signature.arguments.push_back(std::move(argument.value));
      out.argumentBuffers.push_back(std::move(argument.buffers));
    }
    if (entries.begin()->first.empty()) {
      signature.referenceArguments.push_back({first, -1});
      continue;
    }
    hasSegments = true;
    const auto [stage, index] = out.argumentBuffers[first].front();
    const std::optional<rt::LoadInfo> &load = out.stages[stage].held.arguments[index].load;
    for (size_t s = 0; load && s < load->sources.size(); ++s)
      signature.referenceArguments.push_back({first, int64_t(s)});
  }
  if (!hasSegments)
    signature.referenceArguments.clear();
  for (auto &entries : results) {
    eraseUnsegmented(entries);
    for (auto &[segments, result] : entries) {
      if (std::optional<int64_t> &tied = result.value.tied) {
        auto it = indexOf[*tied].find(segments);
        if (it == indexOf[*tied].end())
          tied.reset();
        else
          tied = it->second;
      }
      signature.results.push_back(std::move(result.value));
      out.resultBuffers.push_back(std::move(result.buffers));
    }
  }
}

int64_t PipelineDescriber::stageOf(const rt::FunctionInfo &function) {
  for (auto [s, stage] : llvm::enumerate(out.stages))
    if (function.mesh == stage.held.mesh)
      return s;
  return -1;
}

LogicalResult PipelineDescriber::describeFragment(int64_t f, rt::FunctionInfo &function) {
  int64_t s = stageOf(function);
  func::FuncOp func = lookup(function.name);
  if (s < 0)
    return func.emitError() << "function of schedule @" << out.signature.name
                            << " is on none of its meshes, expected one of them";
  functionOf[function.name] = f;
  out.stageOf.push_back(s);
  for (auto [i, value] : llvm::enumerate(function.arguments))
    if (failed(describeSlot(s, func, func.getArgAttrDict(i), func.getArgumentTypes()[i], func.getArgument(i).getLoc(),
                            value)))
      return failure();
  for (auto [i, value] : llvm::enumerate(function.results))
    if (failed(describeSlot(s, func, func.getResultAttrDict(i), func.getResultTypes()[i], func.getLoc(), value)))
      return failure();
  return success();
}

LogicalResult PipelineDescriber::describeSlot(int64_t s, func::FuncOp func, DictionaryAttr attrs, Type type,
                                              Location loc, rt::ValueInfo &value) {
  auto slot = attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr();
  if (!slot)
    return emitError(loc) << "'" << value.name << "' of @" << func.getName()
                          << " has no spmd.slot, expected one on all arguments and results of "
                             "a fragment";
  rt::StageInfo &stage = out.stages[s];
  if (slot.isValue()) {
    auto [it, isNew] = valueOf[s].try_emplace(slot.getName(), stage.values.size());
    if (isNew)
      stage.values.push_back({value.name, value.dtype, value.localShape});
    const bool isSum = slot.getKind() == SlotKind::Sum;
    if (isSum)
      stage.values[it->second].init = getInit(slot.getReduction());
    value.slot = rt::Slot{isSum ? rt::Slot::Kind::Sum : rt::Slot::Kind::Value, it->second};
    return success();
  }
  bool isArgument = slot.getKind() == SlotKind::Argument;
  auto &known = isArgument ? argumentOf[s] : resultOf[s];
  auto &list = isArgument ? stage.held.arguments : stage.held.results;
  auto &program = isArgument ? arguments : results;
  if (slot.getIndex() >= int64_t(program.size()))
    return emitError(loc) << "'" << value.name << "' of @" << func.getName() << " has index " << slot.getIndex()
                          << " in the program, expected less than " << program.size();
  const SegmentList segments = getSegmentList(attrs, type);
  auto [it, isNew] = known.try_emplace({slot.getIndex(), slot.getDim(), segments}, list.size());
  if (isNew) {
    auto [entry, isFirst] = program[slot.getIndex()].try_emplace(segments);
    ProgramValue &programValue = entry->second;
    rt::ValueInfo held = value;
    held.slot.reset();
    held.tied.reset();
    if (slot.isMicrobatch() && failed(describeBatch(func, attrs, type, slot.getDim(), loc, held)))
      return failure();
    if (isFirst) {
      programValue.value = program[slot.getIndex()].at({}).value;
      programValue.value.name = held.name;
      programValue.value.globalShape = held.globalShape;
    }
    if (isArgument) {
      if (programValue.value.kind != rt::ValueKind::Input)
        programValue.value.name = held.name;
      programValue.value.range = held.range;
    } else {
      programValue.value.exact = value.exact;
    }
    programValue.buffers.push_back({size_t(s), list.size()});
    list.push_back(std::move(held));
  }
  value.slot = rt::Slot{isArgument ? rt::Slot::Kind::Argument : rt::Slot::Kind::Result, it->second, slot.getDim()};
  return success();
}

LogicalResult PipelineDescriber::describeBatch(func::FuncOp func, DictionaryAttr attrs, Type type, int64_t dim,
                                               Location loc, rt::ValueInfo &held) {
  auto local = cast<RankedTensorType>(type);
  Type global = local;
  if (auto attr = attrs.getAs<TypeAttr>(kGlobalTypeAttr))
    global = attr.getValue();
  auto scale = [&](Type type) {
    SmallVector<int64_t> shape(getShape(type));
    shape[dim] *= out.microbatches;
    return cast<RankedTensorType>(type).clone(shape);
  };
  NamedAttrList batchAttrs(attrs);
  batchAttrs.set(kGlobalTypeAttr, TypeAttr::get(scale(global)));
  auto sharding = attrs.getAs<ShardingAttr>(kShardingAttr);
  if (sharding && out.microbatches > 1) {
    const Mesh *mesh = meshes.lookup(sharding.getMesh());
    FailureOr<Sharding> batch = toSharding(sharding, *mesh, [&] { return emitError(loc); });
    if (failed(batch))
      return failure();
    DimEntries &entries = batch->dims[dim].entries;
    if (!divides(entries, getShape(global)[dim]))
      return emitError(loc) << "'" << held.name << "' of @" << func.getName() << " has size " << getShape(global)[dim]
                            << " in a microbatch, which its axes do "
                            << "not divide, expected microbatches that they divide";
    if (!entries.empty()) {
      entries.insert(entries.begin(), DimEntry::stride(out.microbatches));
      entries = canonicalize(entries);
    }
    batchAttrs.set(kShardingAttr, toAttr(func.getContext(), sharding.getMesh(), *batch, *mesh));
  }
  rt::ValueInfo value;
  value.name = held.name;
  value.kind = held.kind;
  value.exact = held.exact;
  if (failed(describeValue(func, scale(local), batchAttrs.getDictionary(func.getContext()), loc, meshes, value)))
    return failure();
  held = std::move(value);
  return success();
}

LogicalResult PipelineDescriber::describeChannel(ChannelOp op) {
  auto layoutOf = [&](ShardingAttr attr) -> FailureOr<Layout> {
    FailureOr<ShardingOnMesh> read = meshes.read(attr, [&] { return op.emitError(); });
    if (failed(read))
      return failure();
    return Layout::get(read->sharding, *read->mesh, getShape(op.getType()));
  };
  FailureOr<Layout> from = layoutOf(op.getSource()), to = layoutOf(op.getDestination());
  if (failed(from) || failed(to))
    return failure();
  auto devicesOf = [&](ShardingAttr attr) { return meshes.lookup(attr.getMesh())->numDevices(); };
  std::optional<Transfer> transfer =
      computeMeshTransfer(*from, devicesOf(op.getSource()), *to, devicesOf(op.getDestination()));
  std::optional<rt::DType> dtype = getDType(cast<RankedTensorType>(op.getType()).getElementType());
  if (!transfer || !dtype)
    return op.emitError() << "channel of " << op.getType() << " cannot be described, expected a "
                          << "complete value of an element type that the runtime moves";
  auto source = valueOf[op.getFrom()].find(op.getValue());
  auto destination = valueOf[op.getTo()].find(op.getValue());
  if (source == valueOf[op.getFrom()].end() || destination == valueOf[op.getTo()].end())
    return op.emitError() << "channel of \"" << op.getValue() << "\", expected a value of both stages";
  rt::ChannelInfo &channel = out.channels.emplace_back();
  channel.fromStage = op.getFrom();
  channel.fromValue = source->second;
  channel.toStage = op.getTo();
  channel.toValue = destination->second;
  rt::CollectiveInfo &move = channel.move;
  move.dtype = *dtype;
  move.inElements = from->numLocalElements();
  move.outElements = to->numLocalElements();
  describeMove(*transfer, move);
  move.bytes = move.outElements * getElementBytes(cast<RankedTensorType>(op.getType()).getElementType());
  move.loc = getLocationText(op.getLoc());
  return success();
}

LogicalResult PipelineDescriber::describeInstructions() {
  using Instruction = rt::Instruction;
  for (auto [s, program] : llvm::enumerate(schedule.getBody().front().getOps<StageProgramOp>())) {
    for (Operation &op : program.getBody().front()) {
      Instruction instruction;
      if (auto run = dyn_cast<RunOp>(op)) {
        auto it = functionOf.find(run.getFunction());
        if (it == functionOf.end())
          return run.emitError() << "unknown fragment @" << run.getFunction()
                                 << ", expected a function of the schedule";
        instruction.target = it->second;
        instruction.microbatch = run.getMicrobatch().value_or(-1);
      } else if (auto transfer = dyn_cast<TransferOp>(op)) {
        instruction.kind = Instruction::Kind::Transfer;
        instruction.target = transfer.getPeer();
        std::vector<std::pair<size_t, int64_t>> sends, receives;
        for (auto [list, attr] : {std::pair(&sends, transfer.getSends()), std::pair(&receives, transfer.getReceives())})
          for (auto pair : attr.getAsRange<DenseI64ArrayAttr>())
            list->push_back({size_t(pair[0]), pair[1]});
        instruction.setTransfers(s, std::move(sends), std::move(receives));
      } else if (auto free = dyn_cast<FreeOp>(op)) {
        auto it = valueOf[s].find(free.getValue());
        if (it == valueOf[s].end())
          return free.emitError() << "unknown value \"" << free.getValue() << "\", expected a value of the stage";
        instruction.kind = Instruction::Kind::Free;
        instruction.target = it->second;
        instruction.microbatch = free.getMicrobatch().value_or(-1);
      }
      out.stages[s].instructions.push_back(std::move(instruction));
    }
  }
  return success();
}

void PipelineDescriber::tieStages() {
  for (auto [result, buffers] : llvm::zip_equal(out.signature.results, out.resultBuffers))
    if (result.tied)
      for (auto [s, j] : buffers)
        for (auto [stage, i] : out.argumentBuffers[*result.tied])
          if (stage == s && canUpdate(out.stages[s], i, j))
            out.stages[s].held.results[j].tied = i;
}

bool PipelineDescriber::canUpdate(const rt::StageInfo &stage, int64_t i, int64_t j) {
  const rt::ValueInfo &argument = stage.held.arguments[i], &result = stage.held.results[j];
  auto isTiedTo = [&](const rt::ValueInfo &other) { return other.tied == std::optional(i); };
  if (argument.sharding != result.sharding || argument.localShape != result.localShape ||
      llvm::any_of(stage.held.results, isTiedTo))
    return false;
  bool isWritten = false;
  std::set<std::pair<int64_t, int64_t>> slices; // dim and microbatch
  for (const rt::Instruction &instruction : stage.instructions) {
    if (instruction.kind != rt::Instruction::Kind::Run)
      continue;
    const rt::FunctionInfo &function = out.functions[instruction.target];
    SmallVector<int64_t> reads;
    for (auto [k, value] : llvm::enumerate(function.arguments)) {
      if (value.slot->isValue() || value.slot->index != i)
        continue;
      if (isWritten && !(value.slot->isMicrobatch() && llvm::all_of(slices, [&](auto &slice) {
                           return slice.first == value.slot->dim && slice.second != instruction.microbatch;
                         })))
        return false;
      reads.push_back(k);
    }
    for (const rt::ValueInfo &value : function.results) {
      if (value.slot->isValue() || value.slot->index != j)
        continue;
      // The function may read the argument itself only if it updates it.
      for (int64_t k : reads)
        if (value.tied != std::optional(k) || function.arguments[k].slot->dim != value.slot->dim)
          return false;
      isWritten = true;
      slices.insert({value.slot->dim, instruction.microbatch});
    }
  }
  return true;
}
} // namespace

LogicalResult spmd::describePipeline(ScheduleOp schedule, const MeshCache &meshes, rt::Manifest &manifest,
                                     rt::PipelineInfo &out) {
  return PipelineDescriber(schedule, meshes, manifest, out).run();
}
