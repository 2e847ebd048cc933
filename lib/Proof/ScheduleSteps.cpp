//===- ScheduleSteps.cpp - The step of a schedule as a function -----------===//
//
//   schedule of 4 microbatches on [@s0, @s1]     function on <["microbatch"=4, axes of @s0]>
//   slices of an argument, [{"data"}]            [{"microbatch", "data"}]
//   fragment that runs per microbatch            its ops
//   sum over the microbatches                    partial over {"microbatch"}, completed by one all-reduce
//   channel from @s0 to @s1                      exchange between its layouts, as if both were the same devices
//   stage of 2 devices, where another has 6      ["microbatch"=4, "copy"=3, axes]: three times the same
//
// That is right as a stage reads only what its fragments wrote, and what is transferred to
// it: the lists are verified first. A fragment that adds to a sum may do nothing else with
// it, so that the order of the microbatches does not matter.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSteps.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Proof/Terms.h"
#include "shardkit/Stages/ScheduleProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True if the body of an op combines an element of `operand` by `kind` with what it computes of others, and does
/// nothing else with it.
static bool combinesOnce(linalg::LinalgOp op, OpOperand &operand, ReductionKind kind) {
  if (op->getNumResults() != 1)
    return false;
  bool isInit = op.isDpsInit(&operand);
  auto isIdentity = [](AffineMap map) { return map.isIdentity(); };
  if (!isInit && (op.getNumParallelLoops() != op.getNumLoops() || !isIdentity(op.getMatchingIndexingMap(&operand)) ||
                  !isIdentity(op.getMatchingIndexingMap(op.getDpsInitOperand(0)))))
    return false;
  BlockArgument element = op.getMatchingBlockArgument(&operand);
  if (!element.hasOneUse())
    return false;
  Operation *combiner = *element.user_begin(), *yield = op.getBlock()->getTerminator();
  Type type = element.getType();
  return combiner->getNumResults() == 1 && combiner->getNumOperands() == 2 &&
         getCombinerKind(combiner->getName().getStringRef(), type) == getKindOf(kind, type) &&
         combiner->getOperand(0) != combiner->getOperand(1) && yield->getOperand(0) == combiner->getResult(0);
}

/// True if a fragment returns argument `sum` combined by `kind` with what it computes without it.
static bool isAccumulated(func::FuncOp fragment, unsigned sum, unsigned result, ReductionKind kind) {
  Operation *terminator = fragment.getBody().front().getTerminator();
  Value value = fragment.getArgument(sum);
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *op = use.getOwner();
    if (op == terminator)
      return use.getOperandNumber() == result;
    if (op->getBlock() != terminator->getBlock() || op->getNumResults() != 1)
      return false;
    Type element = getElementTypeOrSelf(value.getType());
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    bool isCombined = loops ? combinesOnce(loops, use, kind)
                            : op->getNumOperands() == 2 && op->getResult(0).getType() == value.getType() &&
                                  getCombinerKind(op->getName().getStringRef(), element) == getKindOf(kind, element);
    if (!isCombined)
      return false;
    value = op->getResult(0);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

namespace {
/// Builds the function of a schedule from its fragments.
class StepBuilder {
public:
  StepBuilder(ScheduleOp schedule, const ScheduleProgram &read)
      : schedule(schedule), read(read), module(schedule->getParentOfType<ModuleOp>()), meshes(module),
        b(module.getContext()), op(schedule) {}

  /// Null if the schedule is beyond what is modelled: `op` and `why` say so.
  func::FuncOp build();
  /// Erases what was built.
  void erase();

private:
  /// An argument or result of the step: its number, and the segment of it.
  using Key = std::pair<int64_t, Attribute>;
  /// A value as a stage has it.
  struct Held {
    Value value;
    int64_t mesh = -1;
    ShardingAttr sharding;
  };

public:
  func::FuncOp fail(Operation *at, const Twine &reason) {
    if (why.empty()) {
      op = at;
      why = reason.str();
    }
    return {};
  }

private:
  bool addMeshes();
  bool addArguments();
  bool addFragment(unsigned number);
  bool addFragments(bool areOfStep);
  bool canRun(unsigned number) const;
  /// What argument `i` of a fragment is.
  Value getOperand(unsigned number, unsigned i);
  Value getProgramArgument(func::FuncOp func, unsigned i, SlotAttr slot);
  Value getHeld(func::FuncOp func, StringRef name, int64_t mesh);
  bool keepResult(unsigned number, unsigned r, Value value);
  /// Completes the sums over the microbatches.
  void completeSums();
  /// The sharding of a slice along `dim` as that of all microbatches.
  ShardingAttr overMicrobatches(ShardingAttr sharding, int64_t dim) const;
  ShardingAttr getSharding(DictionaryAttr attrs, Type type, Attribute mesh) const;
  Key getKey(DictionaryAttr attrs, SlotAttr slot) const { return {slot.getIndex(), attrs.get(kSegmentAttr)}; }
  DictionaryAttr describe(DictionaryAttr attrs, ShardingAttr sharding, Type type) const;
  Value exchange(Location loc, Value value, Type global, ShardingAttr from, ShardingAttr to, Type type);
  void renameMeshes();
  int64_t getMesh(unsigned number) const { return read.program.getMesh(read.program.functions[number]); }

  ScheduleOp schedule;
  const ScheduleProgram &read;
  ModuleOp module;
  MeshCache meshes;
  OpBuilder b;
  func::FuncOp step;
  SmallVector<MeshOp> created;
  StringRef axis;
  std::string axisName;
  /// By the meshes of the fragments.
  llvm::MapVector<Attribute, FlatSymbolRefAttr> renamed;
  struct Argument {
    Value value;
    ShardingAttr sharding;
    Type global;
  };
  llvm::MapVector<Key, Argument> arguments;
  llvm::StringMap<Held> held;
  llvm::StringMap<ReductionKind> open; ///< sums that are not complete
  struct Result {
    Value value;
    DictionaryAttr attrs;
  };
  std::map<std::pair<int64_t, int64_t>, Result> results; ///< by number, and where the segment begins

public:
  Operation *op;
  std::string why;
  bool isRefused = false; ///< what a fragment gets is not what it reads
};
} // namespace

/// Where a segment begins; 0 for all of an argument.
static int64_t getOffset(Attribute segment) {
  auto attr = dyn_cast_or_null<SegmentAttr>(segment);
  return attr ? attr.getOffset() : 0;
}

/// `name` with underscores, so that `isTaken` is false.
static std::string getFreeName(std::string name, llvm::function_ref<bool(StringRef)> isTaken) {
  while (isTaken(name))
    name += "_";
  return name;
}

bool StepBuilder::addMeshes() {
  auto isAxis = [&](StringRef name) {
    return llvm::any_of(meshes.entries(), [&](const MeshCache::Entry &entry) { return entry.mesh->findAxis(name); });
  };
  axisName = getFreeName("microbatch", isAxis);
  axis = axisName;
  std::string copies = getFreeName("copy", isAxis);
  int64_t numDevices = 1;
  for (Attribute name : schedule.getMeshes()) {
    const Mesh *mesh = meshes.lookup(cast<FlatSymbolRefAttr>(name));
    numDevices = mesh ? std::lcm(numDevices, mesh->numDevices()) : 0;
    if (numDevices == 0 || numDevices * int64_t(schedule.getMicrobatches()) >= kOrderStride)
      return bool(fail(schedule, "stages on these meshes are not modelled"));
  }
  for (Attribute name : schedule.getMeshes()) {
    const Mesh *mesh = meshes.lookup(cast<FlatSymbolRefAttr>(name));
    // The devices of a stage by their ranks, on each mesh that lists them.
    llvm::DenseMap<int64_t, int64_t> rankOf;
    for (int64_t rank = 0; rank < mesh->numDevices(); ++rank)
      rankOf[mesh->device(rank)] = rank;
    for (const MeshCache::Entry &entry : meshes.entries()) {
      MeshOp listed = entry.op;
      Mesh of = *entry.mesh;
      if (of.numDevices() != mesh->numDevices() ||
          llvm::any_of(llvm::seq<int64_t>(0, of.numDevices()), [&](int64_t r) { return !rankOf.count(of.device(r)); }))
        continue;
      int64_t numBlocks = int64_t(schedule.getMicrobatches()) * (numDevices / of.numDevices());
      Mesh all;
      all.axes.push_back({axisName, int64_t(schedule.getMicrobatches())});
      if (numDevices != of.numDevices())
        all.axes.push_back({copies, numDevices / of.numDevices()});
      all.axes.append(of.axes.begin(), of.axes.end());
      for (int64_t block = 0; block < numBlocks; ++block)
        for (int64_t rank = 0; rank < of.numDevices(); ++rank)
          all.deviceIds.push_back(block * of.numDevices() + rankOf[of.device(rank)]);
      b.setInsertionPoint(listed);
      std::string text = getFreeName((listed.getSymName() + ".step").str(),
                                     [&](StringRef name) { return module.lookupSymbol(name) != nullptr; });
      created.push_back(createMesh(b, listed.getLoc(), text, all));
      auto symbol = FlatSymbolRefAttr::get(listed.getSymNameAttr());
      renamed.insert({symbol, FlatSymbolRefAttr::get(b.getContext(), text)});
    }
  }
  return true;
}

ShardingAttr StepBuilder::overMicrobatches(ShardingAttr sharding, int64_t dim) const {
  if (dim < 0 || dim >= int64_t(sharding.getDims().size()))
    return sharding;
  MLIRContext *context = sharding.getContext();
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  SmallVector<DimEntryAttr> entries{DimEntryAttr::fullAxis(context, axis)};
  llvm::append_range(entries, dims[dim].getEntries());
  dims[dim] = DimShardingAttr::get(context, entries, dims[dim].getOpen(), dims[dim].getPriority());
  return ShardingAttr::get(context, sharding.getMesh(), dims, sharding.getReplicated(), sharding.getUnreducedKind(),
                           sharding.getUnreduced());
}

ShardingAttr StepBuilder::getSharding(DictionaryAttr attrs, Type type, Attribute mesh) const {
  auto sharding = attrs.getAs<ShardingAttr>(kShardingAttr);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (sharding || !tensor)
    return sharding;
  SmallVector<DimShardingAttr> dims(tensor.getRank(),
                                    DimShardingAttr::get(mesh.getContext(), {}, /*open=*/false, /*priority=*/0));
  return ShardingAttr::get(mesh.getContext(), cast<FlatSymbolRefAttr>(mesh), dims);
}

DictionaryAttr StepBuilder::describe(DictionaryAttr attrs, ShardingAttr sharding, Type type) const {
  NamedAttrList list(attrs);
  for (StringRef name : {kSlotAttr, kTiedAttr})
    list.erase(name);
  if (sharding)
    list.set(kShardingAttr, sharding);
  if (isa<RankedTensorType>(type))
    list.set(kGlobalTypeAttr, TypeAttr::get(type));
  return list.getDictionary(b.getContext());
}

bool StepBuilder::addArguments() {
  FunctionType type = schedule.getFunctionType();
  struct Found {
    int64_t offset;
    Key key;
    Type local;
    DictionaryAttr attrs;
    Argument argument;
  };
  std::map<std::pair<int64_t, int64_t>, Found> found;
  for (func::FuncOp func : read.functions)
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto slot = func.getArgAttrOfType<SlotAttr>(i, kSlotAttr);
      if (!slot || slot.getKind() != SlotKind::Argument)
        continue;
      DictionaryAttr attrs = func.getArgAttrDict(i);
      Key key = getKey(attrs, slot);
      if (slot.getIndex() >= int64_t(type.getNumInputs()))
        return bool(fail(func, "reads argument " + Twine(slot.getIndex()) + " of " + Twine(type.getNumInputs())));
      Type global = type.getInput(slot.getIndex());
      if (auto segment = attrs.getAs<TypeAttr>(kGlobalTypeAttr); key.second && segment)
        global = segment.getValue();
      Type local = func.getArgumentTypes()[i];
      ShardingAttr sharding = getSharding(attrs, local, func->getAttr(kMeshAttr));
      if (sharding)
        sharding = overMicrobatches(sharding, slot.getDim());
      found.try_emplace(
          {slot.getIndex(), getOffset(key.second)},
          Found{getOffset(key.second), key, local, describe(attrs, sharding, global), {{}, sharding, global}});
    }
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    if (auto at = found.lower_bound({int64_t(i), 0}); at == found.end() || at->first.first != int64_t(i))
      found.try_emplace({int64_t(i), 0},
                        Found{0, {int64_t(i), Attribute()}, input, b.getDictionaryAttr({}), {{}, {}, input}});
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  for (auto &[place, each] : found) {
    types.push_back(each.local);
    attrs.push_back(each.attrs);
  }
  b.setInsertionPoint(schedule);
  step =
      func::FuncOp::create(b, schedule.getLoc(), (schedule.getSymName() + ".step").str(), b.getFunctionType(types, {}));
  Block *body = step.addEntryBlock();
  for (auto [i, each] : llvm::enumerate(llvm::make_second_range(found))) {
    step.setArgAttrs(i, attrs[i]);
    each.argument.value = body->getArgument(i);
    arguments.insert({each.key, each.argument});
  }
  b.setInsertionPointToEnd(body);
  return true;
}

Value StepBuilder::exchange(Location loc, Value value, Type global, ShardingAttr from, ShardingAttr to, Type type) {
  return ExchangeOp::create(b, loc, type, value, TypeAttr::get(global), from, to, IntegerAttr());
}

Value StepBuilder::getProgramArgument(func::FuncOp func, unsigned i, SlotAttr slot) {
  DictionaryAttr attrs = func.getArgAttrDict(i);
  const Argument &argument = arguments.find(getKey(attrs, slot))->second;
  Type type = func.getArgumentTypes()[i];
  ShardingAttr sharding = getSharding(attrs, type, func->getAttr(kMeshAttr));
  if (sharding)
    sharding = overMicrobatches(sharding, slot.getDim());
  if (sharding == argument.sharding && type == argument.value.getType())
    return argument.value;
  // The loader gives each stage the shard of its layout.
  if (!sharding || !argument.sharding)
    return fail(func, "argument " + Twine(slot.getIndex()) + " has several types"), Value();
  return exchange(func.getLoc(), argument.value, argument.global, argument.sharding, sharding, type);
}

Value StepBuilder::getHeld(func::FuncOp func, StringRef name, int64_t mesh) {
  const Held &value = held.find(name)->second;
  if (value.mesh == mesh)
    return value.value;
  for (auto channel : schedule.getBody().front().getOps<ChannelOp>()) {
    if (channel.getValue() != name || int64_t(channel.getTo()) != mesh)
      continue;
    if (int64_t(channel.getFrom()) != value.mesh)
      return fail(channel, "a value that another stage than its own sends is not modelled"), Value();
    auto type = cast<RankedTensorType>(channel.getType());
    ShardingAttr to = channel.getDestinationAttr();
    FailureOr<ShardingOnMesh> layout = meshes.read(to, [&] { return channel.emitError(); });
    if (failed(layout) || verifySharding(layout->sharding, *layout->mesh, type.getShape(), /*allowUneven=*/true))
      return fail(channel, "has a layout that is not legal"), Value();
    Type local = type.clone(Layout::get(layout->sharding, *layout->mesh, type.getShape()).localShape());
    return exchange(channel.getLoc(), value.value, type, channel.getSourceAttr(), to, local);
  }
  return fail(func, "reads \"" + name + "\", which no channel sends to its mesh"), Value();
}

bool StepBuilder::canRun(unsigned number) const {
  const StageFunction &function = read.program.functions[number];
  return llvm::all_of(function.reads, [&](int64_t value) {
    return held.count(read.program.values[value].name) ||
           (function.fragment != StageFragment::Apply && llvm::is_contained(function.writes, value));
  });
}

Value StepBuilder::getOperand(unsigned number, unsigned i) {
  func::FuncOp func = read.functions[number];
  auto slot = func.getArgAttrOfType<SlotAttr>(i, kSlotAttr);
  if (!slot)
    return fail(func, "argument #" + Twine(i) + " has no slot"), Value();
  bool isOfStep = read.program.functions[number].fragment == StageFragment::Apply;
  Type type = func.getArgumentTypes()[i];
  if (slot.getKind() == SlotKind::Argument) {
    if (isOfStep && slot.isMicrobatch())
      return fail(func, "a slice of a microbatch in a fragment of the step is not modelled"), Value();
    return getProgramArgument(func, i, slot);
  }
  StringRef name = slot.getName();
  const PipelineValue &value = read.program.values[read.valueOf.lookup(name)];
  if (slot.getKind() == SlotKind::Sum && !isOfStep) {
    auto isSame = [&](unsigned r) { return func.getResultAttr(r, kSlotAttr) == slot; };
    auto results = llvm::seq<unsigned>(0, func.getNumResults());
    auto written = llvm::find_if(results, isSame);
    if (written == results.end() || !isAccumulated(func, i, *written, slot.getReduction()))
      return fail(func, "reads \"" + name + "\" while it is accumulated"), Value();
    if (held.count(name))
      return held[name].value;
    TypedAttr neutral = proof::getNeutral(slot.getReduction(), getElementTypeOrSelf(type));
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!neutral || (tensor && !tensor.hasStaticShape()))
      return fail(func, "\"" + name + "\" begins with a value that is not known"), Value();
    TypedAttr init = tensor ? cast<TypedAttr>(DenseElementsAttr::get(tensor, Attribute(neutral))) : neutral;
    return arith::ConstantOp::create(b, func.getLoc(), init);
  }
  if (isOfStep && value.perMicrobatch)
    return fail(func, "a fragment of the step that reads values of all microbatches is not modelled"), Value();
  if (!isOfStep && open.count(name))
    return fail(func, "reads \"" + name + "\" while it is accumulated"), Value();
  return getHeld(func, name, getMesh(number));
}

bool StepBuilder::keepResult(unsigned number, unsigned r, Value value) {
  func::FuncOp func = read.functions[number];
  DictionaryAttr attrs = func.getResultAttrDict(r);
  auto slot = func.getResultAttrOfType<SlotAttr>(r, kSlotAttr);
  if (!slot)
    return bool(fail(func, "result #" + Twine(r) + " has no slot"));
  auto sharding = attrs.getAs<ShardingAttr>(kShardingAttr);
  if (slot.getKind() == SlotKind::Result) {
    FunctionType type = schedule.getFunctionType();
    if (slot.getIndex() >= int64_t(type.getNumResults()))
      return bool(fail(func, "writes result " + Twine(slot.getIndex()) + " of " + Twine(type.getNumResults())));
    Type global = type.getResult(slot.getIndex());
    Attribute segment = attrs.get(kSegmentAttr);
    if (auto of = attrs.getAs<TypeAttr>(kGlobalTypeAttr); segment && of)
      global = of.getValue();
    sharding = getSharding(attrs, value.getType(), func->getAttr(kMeshAttr));
    if (sharding)
      sharding = overMicrobatches(sharding, slot.getDim());
    if (!results.try_emplace({slot.getIndex(), getOffset(segment)}, Result{value, describe(attrs, sharding, global)})
             .second)
      return bool(fail(func, "writes result " + Twine(slot.getIndex()) + " a second time"));
    return true;
  }
  bool isOfStep = read.program.functions[number].fragment == StageFragment::Apply;
  if (slot.getKind() == SlotKind::Sum && !isOfStep) {
    auto isSame = [&](unsigned i) { return func.getArgAttr(i, kSlotAttr) == slot; };
    if (llvm::none_of(llvm::seq<unsigned>(0, func.getNumArguments()), isSame))
      return bool(fail(func, "\"" + slot.getName() + "\" begins with what a fragment writes, which is not modelled"));
    open[slot.getName()] = slot.getReduction();
  }
  held[slot.getName()] = {value, getMesh(number), sharding};
  return true;
}

bool StepBuilder::addFragment(unsigned number) {
  func::FuncOp func = read.functions[number];
  if (func.isExternal() || !func.getBody().hasOneBlock() ||
      func.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return bool(fail(func, "a fragment without a body, with several blocks, or with calls is not modelled"));
  IRMapping mapping;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    Value operand = getOperand(number, i);
    if (!operand)
      return false;
    if (operand.getType() != func.getArgumentTypes()[i]) {
      isRefused = true;
      fail(func, "argument #" + Twine(i) + " has another type than what it gets");
      return false;
    }
    mapping.map(func.getArgument(i), operand);
  }
  Block &body = func.getBody().front();
  for (Operation &nested : body.without_terminator())
    b.clone(nested, mapping);
  return llvm::all_of(llvm::enumerate(body.getTerminator()->getOperands()), [&](auto result) {
    return keepResult(number, result.index(), mapping.lookupOrDefault(result.value()));
  });
}

bool StepBuilder::addFragments(bool areOfStep) {
  SmallVector<unsigned> left;
  for (auto [number, function] : llvm::enumerate(read.program.functions))
    if ((function.fragment == StageFragment::Apply) == areOfStep)
      left.push_back(number);
  while (!left.empty()) {
    auto *next = llvm::find_if(left, [&](unsigned number) { return canRun(number); });
    if (next == left.end())
      return bool(fail(read.functions[left.front()], "reads what no fragment before it writes"));
    unsigned number = *next;
    left.erase(next);
    if (!addFragment(number))
      return false;
  }
  return true;
}

void StepBuilder::completeSums() {
  for (auto &[name, kind] : open) {
    Held &sum = held[name];
    auto mesh = cast<FlatSymbolRefAttr>(schedule.getMeshes()[sum.mesh]);
    auto axes = AxesAttr::get(b.getContext(), mesh, {DimEntryAttr::fullAxis(b.getContext(), axis)});
    sum.value = AllReduceOp::create(b, sum.value.getLoc(), sum.value.getType(), sum.value,
                                    ReductionKindAttr::get(b.getContext(), kind), axes, IntegerAttr());
  }
  open.clear();
}

void StepBuilder::renameMeshes() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr name) -> std::optional<Attribute> {
    auto it = renamed.find(name);
    return it == renamed.end() ? std::nullopt : std::optional<Attribute>(it->second);
  });
  replacer.recursivelyReplaceElementsIn(step);
}

void StepBuilder::erase() {
  if (step)
    step.erase();
  for (MeshOp mesh : created)
    mesh.erase();
}

func::FuncOp StepBuilder::build() {
  if (!addMeshes() || !addArguments() || !addFragments(/*areOfStep=*/false))
    return {};
  completeSums();
  if (!addFragments(/*areOfStep=*/true))
    return {};
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  for (auto &[place, result] : results) {
    values.push_back(result.value);
    attrs.push_back(result.attrs);
  }
  func::ReturnOp::create(b, schedule.getLoc(), values);
  step.setFunctionType(b.getFunctionType(step.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [r, each] : llvm::enumerate(attrs))
    step.setResultAttrs(r, each);
  renameMeshes();
  if (failed(verify(step)))
    return fail(schedule, "the step is not a legal function");
  return step;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Why a schedule stays; std::nullopt if it was replaced.
static std::optional<Proof> replaceSchedule(ScheduleOp schedule) {
  Proof open;
  open.kind = "schedule";
  open.opName = schedule->getName().getStringRef().str();
  open.loc = schedule.getLoc();
  ScopedDiagnosticHandler handler(schedule.getContext(), [&](Diagnostic &diagnostic) {
    if (open.reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      open.reason = diagnostic.str();
      open.loc = diagnostic.getLocation();
    }
    return success();
  });
  FailureOr<ScheduleProgram> read = ScheduleProgram::read(schedule);
  FailureOr<ScheduleLists> lists = failure();
  if (succeeded(read))
    lists = ScheduleLists::read(schedule, *read);
  if (failed(lists) || failed(verifySchedule(schedule, *read, *lists))) {
    open.outcome = Outcome::Refused;
    return open;
  }
  StepBuilder builder(schedule, *read);
  func::FuncOp step = builder.build();
  if (!step) {
    open.outcome = builder.isRefused ? Outcome::Refused : Outcome::Undecided;
    open.opName = builder.op->getName().getStringRef().str();
    open.loc = builder.op->getLoc();
    open.reason = builder.why + (open.reason.empty() ? "" : ": " + open.reason);
    builder.erase();
    return open;
  }
  StringAttr name = schedule.getSymNameAttr();
  schedule.erase();
  for (func::FuncOp fragment : read->functions)
    fragment.erase();
  step.setSymNameAttr(name);
  return std::nullopt;
}

std::vector<OpenSchedule> proof::replaceSchedules(ModuleOp module) {
  std::vector<OpenSchedule> open;
  for (auto schedule : llvm::to_vector(module.getOps<ScheduleOp>())) {
    std::string name = schedule.getSymName().str();
    if (std::optional<Proof> proof = replaceSchedule(schedule))
      open.push_back({name, std::move(*proof)});
  }
  return open;
}
