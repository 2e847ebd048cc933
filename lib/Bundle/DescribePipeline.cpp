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
namespace manifest = shardkit::manifest;

/// What a sum over microbatches, and the other kinds, start from.
static std::string getInit(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
    return "zero";
  case ReductionKind::Prod:
    return "one";
  case ReductionKind::And:
  case ReductionKind::UMin:
    return "all_ones";
  case ReductionKind::Max:
  case ReductionKind::MaxNum:
    return "lowest";
  case ReductionKind::Min:
  case ReductionKind::MinNum:
    return "highest";
  }
  llvm_unreachable("a kind of reduction");
}

namespace {
class PipelineDescriber {
public:
  PipelineDescriber(ScheduleOp schedule, const MeshCache &meshes, std::vector<manifest::Function> &functions,
                    manifest::Pipeline &out)
      : schedule(schedule), meshes(meshes), functions(functions), out(out) {}

  LogicalResult run() {
    out.name = schedule.getSymName().str();
    out.schedule = schedule.getKind().str();
    out.microbatches = schedule.getMicrobatches();
    if (failed(verifySchedule(schedule)) || failed(describeStages()))
      return failure();
    readSignature();
    for (auto [f, function] : llvm::enumerate(functions))
      if (function.partOf == out.name && failed(describePart(f, function)))
        return failure();
    describeSignature();
    for (auto transfer : schedule.getBody().front().getOps<ChannelOp>())
      if (failed(describeTransfer(transfer)))
        return failure();
    if (failed(describeInstructions()))
      return failure();
    tieStages();
    return success();
  }

private:
  func::FuncOp lookup(StringRef name) { return schedule->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(name); }

  LogicalResult describeStages() {
    SmallVector<int64_t> devices;
    for (auto name : schedule.getMeshes().getAsRange<FlatSymbolRefAttr>()) {
      const Mesh *mesh = meshes.lookupOrEmit(name, [&] { return schedule.emitError(); });
      if (!mesh)
        return failure();
      manifest::Pipeline::Stage &stage = out.stages.emplace_back();
      stage.mesh = mesh->name;
      for (int64_t rank = 0; rank < mesh->numDevices(); ++rank) {
        stage.ranks.push_back(mesh->device(rank));
        devices.push_back(mesh->device(rank));
      }
    }
    // Devices are counted in the order of their ids.
    llvm::sort(devices);
    out.devices = devices.size();
    for (manifest::Pipeline::Stage &stage : out.stages)
      for (int64_t &rank : stage.ranks)
        rank = llvm::lower_bound(devices, rank) - devices.begin();
    argumentOf.resize(out.stages.size());
    resultOf.resize(out.stages.size());
    valueOf.resize(out.stages.size());
    return success();
  }

  /// Of a value of the program, and of a part of a weight: offset and size of each part, none
  /// of a value that is whole.
  using PartList = std::vector<std::pair<int64_t, int64_t>>;

  static PartList getPartList(DictionaryAttr attrs, Type type) {
    PartList list;
    for (auto [part, own] : getParts(attrs, type))
      list.emplace_back(part.getOffset(), getShape(own)[part.getDim()]);
    return list;
  }

  /// Names, types and what else users said of the program's own arguments and results;
  /// where they are, and in which parts, comes from the parts of stages.
  void readSignature() {
    auto type = cast<FunctionType>(schedule.getFunctionType());
    auto attrsOf = [](std::optional<ArrayAttr> list, unsigned i) {
      return list ? cast<DictionaryAttr>((*list)[i]) : DictionaryAttr();
    };
    auto describe = [&](Type type, manifest::Value &value) {
      value.dtype = dtypeName(getElementTypeOrSelf(type)).value_or("");
      ArrayRef<int64_t> shape = getShape(type);
      value.globalShape.assign(shape.begin(), shape.end());
    };
    for (unsigned i = 0; i < type.getNumInputs(); ++i) {
      manifest::Value &value = arguments.emplace_back()[{}].value;
      DictionaryAttr attrs = attrsOf(schedule.getArgAttrs(), i);
      value.kind = attrs && attrs.get(kWeightAttr) ? "weight" : "input";
      auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
      value.name = name ? name.str() : "arg" + std::to_string(i);
      describe(type.getInput(i), value);
    }
    for (unsigned i = 0; i < type.getNumResults(); ++i) {
      manifest::Value &value = results.emplace_back()[{}].value;
      DictionaryAttr attrs = attrsOf(schedule.getResAttrs(), i);
      value.kind = "result";
      auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
      value.name = name ? name.str() : "result" + std::to_string(i);
      if (auto tied = attrs ? attrs.getAs<IntegerAttr>(kTiedAttr) : IntegerAttr())
        value.tied = tied.getInt();
      describe(type.getResult(i), value);
    }
  }

  /// What is there in parts.
  static void eraseWhole(std::map<PartList, manifest::Pipeline::Argument> &own) {
    if (own.size() > 1 && own.at({}).places.empty())
      own.erase(PartList());
  }

  /// Lists arguments and results in the order of the program, the parts of one by their
  /// places, and what the reference takes and gives: stored tensors for parts.
  void describeSignature() {
    bool hasParts = false;
    SmallVector<std::map<PartList, int64_t>> placeOf;
    for (auto &own : arguments) {
      // A whole argument without a place: only the reference takes it.
      eraseWhole(own);
      auto &places = placeOf.emplace_back();
      const int64_t first = out.arguments.size();
      for (auto &[parts, argument] : own) {
        places[parts] = out.arguments.size();
        out.arguments.push_back(std::move(argument));
      }
      if (own.begin()->first.empty()) {
        out.referenceArguments.push_back({first, -1});
        continue;
      }
      hasParts = true;
      const auto [stage, index] = out.arguments[first].places.front();
      const std::optional<manifest::Load> &load = out.stages[stage].arguments[index].load;
      for (size_t s = 0; load && s < load->sources.size(); ++s)
        out.referenceArguments.push_back({first, int64_t(s)});
    }
    if (!hasParts)
      out.referenceArguments.clear();
    for (auto &own : results) {
      eraseWhole(own);
      for (auto &[parts, result] : own) {
        if (std::optional<int64_t> &tied = result.value.tied) {
          auto place = placeOf[*tied].find(parts);
          if (place == placeOf[*tied].end())
            tied.reset();
          else
            tied = place->second;
        }
        out.results.push_back(std::move(result));
      }
    }
  }

  int64_t stageOf(const manifest::Function &function) {
    for (auto [s, stage] : llvm::enumerate(out.stages))
      if (function.mesh == stage.mesh)
        return s;
    return -1;
  }

  LogicalResult describePart(int64_t f, manifest::Function &function) {
    int64_t s = stageOf(function);
    func::FuncOp func = lookup(function.name);
    if (s < 0)
      return func.emitError() << "part of schedule @" << out.name << " is on none of its meshes, expected one of them";
    functionOf[function.name] = f;
    for (auto [i, value] : llvm::enumerate(function.arguments))
      if (failed(describeSlot(s, func, func.getArgAttrDict(i), func.getArgumentTypes()[i], func.getArgument(i).getLoc(),
                              value)))
        return failure();
    for (auto [i, value] : llvm::enumerate(function.results))
      if (failed(describeSlot(s, func, func.getResultAttrDict(i), func.getResultTypes()[i], func.getLoc(), value)))
        return failure();
    return success();
  }

  LogicalResult describeSlot(int64_t s, func::FuncOp func, DictionaryAttr attrs, Type type, Location loc,
                             manifest::Value &value) {
    auto slot = attrs ? attrs.getAs<SlotAttr>(kSlotAttr) : SlotAttr();
    if (!slot)
      return emitError(loc) << "'" << value.name << "' of @" << func.getName()
                            << " has no spmd.slot, expected one on all arguments and results of "
                               "a part";
    manifest::Pipeline::Stage &stage = out.stages[s];
    if (slot.isValue()) {
      auto [it, isNew] = valueOf[s].try_emplace(slot.getName(), stage.values.size());
      if (isNew)
        stage.values.push_back({value.name, value.dtype, value.localShape});
      if (slot.getKind() == SlotKind::Sum)
        stage.values[it->second].init = getInit(slot.getReduction());
      value.slot = {"value", it->second};
      return success();
    }
    bool isArgument = slot.getKind() == SlotKind::Argument;
    auto &places = isArgument ? argumentOf[s] : resultOf[s];
    auto &list = isArgument ? stage.arguments : stage.results;
    auto &program = isArgument ? arguments : results;
    if (slot.getIndex() >= int64_t(program.size()))
      return emitError(loc) << "'" << value.name << "' of @" << func.getName() << " is number " << slot.getIndex()
                            << " of the program, expected less than " << program.size();
    const PartList parts = getPartList(attrs, type);
    auto [it, isNew] = places.try_emplace({slot.getIndex(), slot.getDim(), parts}, list.size());
    if (isNew) {
      auto [known, isFirst] = program[slot.getIndex()].try_emplace(parts);
      manifest::Pipeline::Argument &own = known->second;
      manifest::Value held = value;
      held.slot.reset();
      held.tied.reset();
      if (slot.isMicrobatch() && failed(describeWhole(func, attrs, type, slot.getDim(), loc, held)))
        return failure();
      if (isFirst) {
        own.value = program[slot.getIndex()].at({}).value;
        own.value.name = held.name;
        own.value.globalShape = held.globalShape;
      }
      if (isArgument) {
        if (own.value.kind == "weight")
          own.value.name = held.name;
        own.value.range = held.range;
      } else {
        own.value.exact = value.exact;
      }
      own.places.push_back({s, int64_t(list.size())});
      list.push_back(std::move(held));
    }
    value.slot = slot.isMicrobatch() ? manifest::Value::Slot{"part", it->second, slot.getDim()}
                                     : manifest::Value::Slot{isArgument ? "argument" : "result", it->second};
    return success();
  }

  /// All microbatches of what a part takes one of: the cut of each, microbatches one
  /// behind the other.
  LogicalResult describeWhole(func::FuncOp func, DictionaryAttr attrs, Type type, int64_t dim, Location loc,
                              manifest::Value &held) {
    auto local = cast<RankedTensorType>(type);
    Type global = local;
    if (auto attr = attrs.getAs<TypeAttr>(kGlobalTypeAttr))
      global = attr.getValue();
    auto scale = [&](Type type) {
      SmallVector<int64_t> shape(getShape(type));
      shape[dim] *= out.microbatches;
      return cast<RankedTensorType>(type).clone(shape);
    };
    NamedAttrList whole(attrs);
    whole.set(kGlobalTypeAttr, TypeAttr::get(scale(global)));
    auto sharding = attrs.getAs<ShardingAttr>(kShardingAttr);
    if (sharding && out.microbatches > 1) {
      const Mesh *mesh = meshes.lookup(sharding.getMesh());
      FailureOr<Sharding> own = toSharding(sharding, *mesh, [&] { return emitError(loc); });
      if (failed(own))
        return failure();
      DimEntries &entries = own->dims[dim].entries;
      if (!divides(entries, getShape(global)[dim]))
        return emitError(loc) << "'" << held.name << "' of @" << func.getName() << " has size " << getShape(global)[dim]
                              << " in a microbatch, which its axes cut "
                              << "unevenly, expected microbatches that they divide";
      if (!entries.empty()) {
        entries.insert(entries.begin(), DimEntry::stride(out.microbatches));
        entries = canonicalize(entries);
      }
      whole.set(kShardingAttr, toAttr(func.getContext(), sharding.getMesh(), *own, *mesh));
    }
    manifest::Value value;
    value.name = held.name;
    value.kind = held.kind;
    value.exact = held.exact;
    if (failed(describeValue(func, scale(local), whole.getDictionary(func.getContext()), loc, meshes, value)))
      return failure();
    held = std::move(value);
    return success();
  }

  LogicalResult describeTransfer(ChannelOp op) {
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
    std::optional<std::string> dtype = dtypeName(cast<RankedTensorType>(op.getType()).getElementType());
    if (!transfer || !dtype)
      return op.emitError() << "transfer of " << op.getType() << " cannot be described, expected a "
                            << "complete value of an element type that the runtime moves";
    auto source = valueOf[op.getFrom()].find(op.getValue());
    auto destination = valueOf[op.getTo()].find(op.getValue());
    if (source == valueOf[op.getFrom()].end() || destination == valueOf[op.getTo()].end())
      return op.emitError() << "transfer of \"" << op.getValue() << "\", expected a value of both stages";
    manifest::Pipeline::Move &move = out.transfers.emplace_back();
    move.from = {int64_t(op.getFrom()), source->second};
    move.to = {int64_t(op.getTo()), destination->second};
    move.move.dtype = *dtype;
    move.move.inElements = from->numLocalElements();
    move.move.outElements = to->numLocalElements();
    describeMove(*transfer, move.move);
    move.move.bytes = move.move.outElements * getElementBytes(cast<RankedTensorType>(op.getType()).getElementType());
    move.move.loc = getLocationText(op.getLoc());
    return success();
  }

  LogicalResult describeInstructions() {
    using Instruction = manifest::Pipeline::Instruction;
    for (auto [s, program] : llvm::enumerate(schedule.getBody().front().getOps<StageProgramOp>())) {
      for (Operation &op : program.getBody().front()) {
        Instruction instruction{Instruction::Kind::Run};
        if (auto run = dyn_cast<RunOp>(op)) {
          auto it = functionOf.find(run.getFunction());
          if (it == functionOf.end())
            return run.emitError() << "unknown part @" << run.getFunction() << ", expected a function of the schedule";
          instruction.index = it->second;
          instruction.microbatch = run.getMicrobatch().value_or(-1);
        } else if (auto post = dyn_cast<TransferOp>(op)) {
          instruction.kind = Instruction::Kind::Transfer;
          instruction.index = post.getPeer();
          for (auto [list, attr] :
               {std::pair(&instruction.sends, post.getSends()), std::pair(&instruction.receives, post.getReceives())})
            for (auto pair : attr.getAsRange<DenseI64ArrayAttr>())
              list->push_back({pair[0], pair[1]});
        } else if (auto free = dyn_cast<FreeOp>(op)) {
          auto it = valueOf[s].find(free.getValue());
          if (it == valueOf[s].end())
            return free.emitError() << "unknown value \"" << free.getValue() << "\", expected a value of the stage";
          instruction.kind = Instruction::Kind::Free;
          instruction.index = it->second;
          instruction.microbatch = free.getMicrobatch().value_or(-1);
        }
        out.stages[s].instructions.push_back(std::move(instruction));
      }
    }
    return success();
  }

  /// Results of a stage may take the memory of the arguments that they update there.
  void tieStages() {
    for (manifest::Pipeline::Argument &result : out.results)
      if (result.value.tied)
        for (auto [s, j] : result.places)
          for (auto [stage, i] : out.arguments[*result.value.tied].places)
            if (stage == s && canUpdate(out.stages[s], i, j))
              out.stages[s].results[j].tied = i;
  }

  /// That nothing of the stage reads argument `i` once result `j` is written: it, or the same
  /// microbatch's part of it.
  bool canUpdate(const manifest::Pipeline::Stage &stage, int64_t i, int64_t j) {
    const manifest::Value &argument = stage.arguments[i], &result = stage.results[j];
    auto isTiedTo = [&](const manifest::Value &other) { return other.tied == std::optional(i); };
    if (argument.sharding != result.sharding || argument.localShape != result.localShape ||
        llvm::any_of(stage.results, isTiedTo))
      return false;
    bool isWritten = false;
    std::set<std::pair<std::optional<int64_t>, int64_t>> parts; // dim and microbatch
    for (const manifest::Pipeline::Instruction &instruction : stage.instructions) {
      if (instruction.kind != manifest::Pipeline::Instruction::Kind::Run)
        continue;
      const manifest::Function &function = functions[instruction.index];
      SmallVector<int64_t> reads;
      for (auto [k, value] : llvm::enumerate(function.arguments)) {
        if (value.slot->kind == "value" || value.slot->index != i)
          continue;
        const bool isPart = value.slot->kind == "part";
        if (isWritten && !(isPart && llvm::all_of(parts, [&](auto &part) {
                             return part.first == value.slot->dim && part.second != instruction.microbatch;
                           })))
          return false;
        reads.push_back(k);
      }
      for (const manifest::Value &value : function.results) {
        if (value.slot->kind == "value" || value.slot->index != j)
          continue;
        // What it reads itself it updates: the program knows of it.
        for (int64_t k : reads)
          if (value.tied != std::optional(k) || function.arguments[k].slot->dim != value.slot->dim)
            return false;
        isWritten = true;
        parts.insert({value.slot->dim, instruction.microbatch});
      }
    }
    return true;
  }

  ScheduleOp schedule;
  const MeshCache &meshes;
  std::vector<manifest::Function> &functions;
  manifest::Pipeline &out;
  /// Per stage: places of the program's arguments and results, and of values.
  /// By number, the dim that microbatches cut, and parts.
  std::vector<std::map<std::tuple<int64_t, int64_t, PartList>, int64_t>> argumentOf, resultOf;
  /// Of the program, by number.
  std::vector<std::map<PartList, manifest::Pipeline::Argument>> arguments, results;
  std::vector<llvm::StringMap<int64_t>> valueOf;
  llvm::StringMap<int64_t> functionOf;
};
} // namespace

LogicalResult spmd::describePipeline(ScheduleOp schedule, const MeshCache &meshes,
                                     std::vector<manifest::Function> &functions, manifest::Pipeline &out) {
  return PipelineDescriber(schedule, meshes, functions, out).run();
}
