//===- StageFunctions.cpp - One function per stage ------------------------===//
//
// A stage goes through all phases as one function: forward, backward and apply fragments
// follow each other, and a value that they share has one layout. Values of other stages are
// arguments; values for other stages are stage outputs where they are computed.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Stages/StageFunctions.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Dialect/SPMD/IR/Verification.h"
#include "shardkit/Propagation/Propagation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::spmd;

using State = MicrobatchState;

namespace {

/// Makes one function per stage. Example, for stage 1 of 2 with `h` computed in stage 0:
///
///   func.func @stage1(%x1: ... {spmd.slot = #spmd.slot<argument 1, dim = 0>},   // arguments first
///                     %h: ... {spmd.slot = #spmd.slot<value "h">})              // then received values
///     spmd.fragment forward executions = 4
///     %e = ... %h ...
///     spmd.fragment backward executions = 4
///     %g = ...                                            // a gradient, partial over microbatches
///     %s = spmd.stage_output %g "g" accumulated sum
///     %gh0 = ... %e ...
///     %gh = spmd.stage_output %gh0 "gh"                   // stage 0 reads it
///     spmd.fragment apply
///     %n0 = ... %s ...
///     %n = spmd.stage_output %n0 "result0"
///     return %gh, %n
///
/// `collect` finds the values that cross between stages; `build` makes one function: its
/// arguments, each fragment (emitFragment), then its results and their attributes.
class StageBuilder {
public:
  StageBuilder(func::FuncOp func, Microbatches &microbatches, Stages &stages, ArrayRef<FlatSymbolRefAttr> meshes,
               bool isSplit, FlatSymbolRefAttr schedule)
      : func(func), context(func.getContext()), microbatches(microbatches), stages(stages), meshes(meshes),
        isSplit(isSplit), schedule(schedule), meshCache(func->getParentOfType<ModuleOp>()) {}

  LogicalResult run();
  FailureOr<OwningOpRef<func::FuncOp>> runOn(int64_t stage);

private:
  Block &block() { return func.getBody().front(); }
  State::Kind kindOf(Value value) { return microbatches.get(value).kind; }

  /// Finds the values that cross between stages, and the sums that apply fragments read.
  LogicalResult collect();
  std::string getName(Value value);

  //===--- one stage --------------------------------------------------------===//

  struct Output {
    Value value;
    SlotAttr slot;
    /// Result of the program, -1 for what goes to other stages.
    int64_t result = -1;
  };

  SlotAttr valueSlot(StringRef name) {
    return SlotAttr::get(context, SlotKind::Value, -1, -1, name, ReductionKind::Sum);
  }
  SlotAttr indexSlot(SlotKind kind, unsigned index, Value value);
  FailureOr<func::FuncOp> build(int64_t k, StringRef name);
  int64_t getCopyRound(unsigned result);

  /// The name under which a value is sent: a sum has another name.
  std::string getSentName(Value value);

  /// Moves a sharding on the mesh of no stage to the mesh of this stage. `value` is local to a microbatch.
  FailureOr<ShardingAttr> retarget(ShardingAttr sharding, Value value, const Twine &what, Location loc);
  LogicalResult retarget(NamedAttrList &attrs, Value value, const Twine &what);

  /// Axis resources with the axes that a mesh lacks left out.
  AxisResourcesAttr restrict(AxisResourcesAttr resources, Value value, FlatSymbolRefAttr mesh);
  void emitFragment(StageFragment fragment, int64_t round);

  /// The index of the microbatch: forward fragments run in the order of microbatches.
  Value countMicrobatches();

  /// Adds a stage output for a value that leaves its fragment.
  void output(Value value, SlotAttr slot, int64_t result);
  void emitStageOutputs(Value value);

  /// The value in this stage; a value that is the same in all microbatches is computed here.
  Value ensure(Value value);

  /// Copies an op with its regions; one op may be copied into several fragments.
  Operation *copyOp(Operation *op);
  void clone(Operation *op);

  func::FuncOp func;
  MLIRContext *context;
  Microbatches &microbatches;
  Stages &stages;
  ArrayRef<FlatSymbolRefAttr> meshes;
  bool isSplit;
  bool isTrial = false; // its mesh is not known yet
  FlatSymbolRefAttr schedule;
  MeshCache meshCache;

  /// Per stage, values of other stages that it reads.
  std::vector<llvm::SetVector<Value>> received;
  llvm::SetVector<Value> crossing;
  /// Partial values that apply fragments or the caller read.
  llvm::SetVector<Value> summed;
  /// Results, and further stages that hold the argument that they update.
  SmallVector<std::pair<unsigned, int64_t>> copies;
  llvm::DenseMap<Value, std::string> names;
  llvm::StringSet<> taken;

  int64_t stage = 0;
  std::optional<OpBuilder> builder;
  IRMapping map;
  llvm::MapVector<Value, Value> accumulated; // sums
  SmallVector<Output> outputs;
  SmallVector<Value> copied; // into the current fragment
};

LogicalResult StageBuilder::run() {
  if (failed(collect()))
    return failure();
  OpBuilder b(func);
  for (int64_t k = 0; k < stages.getNumStages(); ++k) {
    bool isOnly = stages.getNumStages() == 1;
    std::string name = isOnly ? "stage" : "stage" + std::to_string(k);
    if (SymbolTable::lookupSymbolIn(func->getParentOp(), name))
      return func.emitError() << "the module has a symbol @" << name
                              << " already, expected that name to be free for a stage";
    FailureOr<func::FuncOp> made = build(k, name);
    if (failed(made))
      return failure();
    b.insert(*made);
  }
  return success();
}

FailureOr<OwningOpRef<func::FuncOp>> StageBuilder::runOn(int64_t stage) {
  isTrial = true;
  if (failed(collect()))
    return failure();
  FailureOr<func::FuncOp> made = build(stage, "stage" + std::to_string(stage));
  if (failed(made))
    return failure();
  return OwningOpRef<func::FuncOp>(*made);
}

LogicalResult StageBuilder::collect() {
  received.resize(stages.getNumStages());
  for (Operation &op : block()) {
    const StageAssignment *assigned = stages.get(&op);
    if (!assigned)
      continue;
    for (Value value : Stages::getRead(&op)) {
      if (Operation *made = value.getDefiningOp()) {
        const StageAssignment *other = stages.get(made);
        if (other && other->stage != assigned->stage) {
          if (!isa<RankedTensorType>(value.getType()))
            return op.emitError() << op.getName() << " in stage " << assigned->stage << " reads a scalar of stage "
                                  << other->stage << ", expected tensors between stages";
          received[assigned->stage].insert(value);
          crossing.insert(value);
        }
      }
      if (kindOf(value) == State::Partial && assigned->fragment == StageFragment::Apply)
        summed.insert(value);
    }
  }
  // Stages that hold the argument that a result updates receive the result too.
  for (auto [i, value] : llvm::enumerate(block().getTerminator()->getOperands())) {
    if (kindOf(value) == State::Partial)
      summed.insert(value);
    StageAssignment assigned = stages.getResult(i);
    auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr);
    if (!tied)
      continue;
    for (int64_t stage : stages.getStages(func.getArgument(tied.getInt())))
      if (stage != assigned.stage) {
        if (kindOf(value) == State::Split)
          return emitError(value.getLoc())
                 << "result #" << i << " of @" << func.getName() << " updates argument #" << tied.getInt()
                 << ", which stage " << stage << " has, and is computed for each microbatch on stage " << assigned.stage
                 << ", expected one stage for both";
        copies.push_back({unsigned(i), stage});
        if (kindOf(value) != State::Same && received[stage].insert(value))
          crossing.insert(value);
      }
  }
  return success();
}

std::string StageBuilder::getName(Value value) {
  auto [it, isNew] = names.try_emplace(value);
  if (!isNew)
    return it->second;
  std::string name;
  if (auto named = dyn_cast<NameLoc>(value.getLoc()))
    name = named.getName().str();
  if (name.empty())
    name = "v" + std::to_string(names.size() - 1);
  for (unsigned n = 0; !taken.insert(it->second = n ? name + "_" + std::to_string(n) : name).second;)
    ++n;
  return it->second;
}

SlotAttr StageBuilder::indexSlot(SlotKind kind, unsigned index, Value value) {
  int64_t dim = microbatches.getCount() > 1 && kindOf(value) == State::Split ? microbatches.get(value).getDim() : -1;
  return SlotAttr::get(context, kind, index, dim, "", ReductionKind::Sum);
}

FailureOr<func::FuncOp> StageBuilder::build(int64_t k, StringRef name) {
  stage = k;
  map = IRMapping();
  accumulated.clear();
  outputs.clear();
  copied.clear();
  bool isOnly = stages.getNumStages() == 1;
  OpBuilder b(context);
  FlatSymbolRefAttr mesh = meshes[k % meshes.size()];

  // Arguments of the program, then values of other stages.
  SmallVector<Type> inputs;
  SmallVector<NamedAttrList> argAttrs;
  SmallVector<std::pair<Value, Location>> arguments;
  llvm::DenseMap<int64_t, int64_t> argumentOf; // by argument of the program
  for (BlockArgument arg : func.getArguments()) {
    if (arg == microbatches.getNumber())
      continue;
    // Unused arguments are on the first stage.
    bool used = stages.getStages(arg).contains(k) || (k == 0 && stages.getStages(arg).empty());
    for (auto [result, at] : copies) {
      Value value = block().getTerminator()->getOperand(result);
      if (at == k && kindOf(value) == State::Same)
        used |= stages.getSources(value).contains(arg);
      if (at == k)
        used |= func.getResultAttrOfType<IntegerAttr>(result, kTiedAttr).getInt() == int64_t(arg.getArgNumber());
    }
    if (!used)
      continue;
    argumentOf[arg.getArgNumber()] = inputs.size();
    inputs.push_back(arg.getType());
    NamedAttrList attrs(func.getArgAttrDict(arg.getArgNumber()));
    attrs.erase(kMicrobatchAttr);
    if (!attrs.get(kNameAttr) && !attrs.get(kWeightAttr))
      attrs.set(kNameAttr, b.getStringAttr("arg" + Twine(arg.getArgNumber())));
    attrs.set(kSlotAttr, indexSlot(SlotKind::Argument, microbatches.getOriginal(arg), arg));
    if (failed(retarget(attrs, arg, "argument #" + Twine(arg.getArgNumber()))))
      return failure();
    argAttrs.push_back(attrs);
    arguments.push_back({arg, arg.getLoc()});
  }
  for (Value value : received[k]) {
    inputs.push_back(value.getType());
    NamedAttrList attrs;
    attrs.set(kSlotAttr, valueSlot(getSentName(value)));
    for (const Stages::CrossingConstraint &constraint : stages.getConstraints())
      if (constraint.value == value && constraint.to == k)
        attrs.set(kAxisResourcesAttr, restrict(constraint.resources, value, mesh));
    argAttrs.push_back(attrs);
    arguments.push_back({value, value.getLoc()});
  }

  auto stageFunc = func::FuncOp::create(b, func.getLoc(), name, b.getFunctionType(inputs, {}));
  stageFunc->setAttr(kStageAttr, b.getI64IntegerAttr(k));
  stageFunc->setAttr(kMeshAttr, mesh);
  stageFunc->setAttr(kScheduleAttr, schedule);
  Block *entry = stageFunc.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    entry->getArgument(i).setLoc(argument.second);
    map.map(argument.first, entry->getArgument(i));
  }
  builder.emplace(context);
  builder->setInsertionPointToEnd(entry);

  emitFragment(StageFragment::Forward, 0);
  if (!isOnly && stages.isTraining())
    emitFragment(StageFragment::Backward, 0);
  int64_t rounds = -1;
  for (Operation &op : block())
    if (const StageAssignment *assigned = stages.get(&op);
        assigned && assigned->stage == k && assigned->fragment == StageFragment::Apply)
      rounds = std::max(rounds, assigned->round);
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (StageAssignment assigned = stages.getResult(i);
        assigned.stage == k && assigned.fragment == StageFragment::Apply)
      rounds = std::max(rounds, assigned.round);
  for (auto [result, at] : copies)
    if (at == k)
      rounds = std::max(rounds, getCopyRound(result));
  for (Value value : summed)
    if (stages.get(value.getDefiningOp())->stage == k)
      rounds = std::max<int64_t>(rounds, 0);
  for (auto [value, sum] : accumulated)
    map.map(value, sum);
  for (int64_t round = 0; round <= rounds; ++round)
    emitFragment(StageFragment::Apply, round);

  if (outputs.empty()) {
    stageFunc.erase();
    return func.emitError() << "stage " << k << " of @" << func.getName()
                            << " computes no value that another stage or the caller uses, expected at least "
                               "one (move the stage boundaries)";
  }

  // Results.
  SmallVector<Type> types;
  SmallVector<Value> values;
  for (const Output &output : outputs) {
    types.push_back(output.value.getType());
    values.push_back(output.value);
  }
  func::ReturnOp::create(*builder, func.getLoc(), values);
  stageFunc.setFunctionType(b.getFunctionType(inputs, types));
  SignatureAttrs signature(stageFunc);
  for (auto [i, attrs] : llvm::enumerate(argAttrs))
    signature.arg(i) = attrs;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    NamedAttrList attrs;
    if (output.result >= 0) {
      attrs = NamedAttrList(func.getResultAttrDict(output.result));
      if (!attrs.get(kNameAttr))
        attrs.set(kNameAttr, b.getStringAttr("result" + Twine(output.result)));
      if (auto tied = dyn_cast_or_null<IntegerAttr>(attrs.get(kTiedAttr))) {
        if (auto it = argumentOf.find(tied.getInt()); it != argumentOf.end())
          attrs.set(kTiedAttr, b.getI64IntegerAttr(it->second));
        else
          attrs.erase(kTiedAttr);
      }
      if (failed(retarget(attrs, output.value, "result #" + Twine(output.result))))
        return failure();
    }
    attrs.set(kSlotAttr, output.slot);
    signature.result(i) = attrs;
  }
  signature.write();
  WalkResult walk = stageFunc.walk([&](WithShardingConstraintOp op) {
    FailureOr<ShardingAttr> moved = retarget(op.getShardingAttr(), op.getInput(), "a value", op.getLoc());
    if (failed(moved))
      return WalkResult::interrupt();
    if (*moved)
      op.setShardingAttr(*moved);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return stageFunc;
}

int64_t StageBuilder::getCopyRound(unsigned result) {
  bool isSame = kindOf(block().getTerminator()->getOperand(result)) == State::Same;
  return isSame ? 0 : stages.getResult(result).round + 1;
}

std::string StageBuilder::getSentName(Value value) {
  std::string name = getName(value);
  return kindOf(value) == State::Partial ? name + ".total" : name;
}

FailureOr<ShardingAttr> StageBuilder::retarget(ShardingAttr sharding, Value value, const Twine &what, Location loc) {
  if (!sharding)
    return sharding;
  FlatSymbolRefAttr mesh = sharding.getMesh();
  bool isOther = isSplit && !llvm::is_contained(meshes, mesh);
  if (isOther)
    mesh = meshes[stage % meshes.size()];
  auto moved = ShardingAttr::get(context, mesh, sharding.getDims(), sharding.getReplicated(),
                                 sharding.getUnreducedKind(), sharding.getUnreduced());
  std::string where = (what + " in stage " + Twine(stage)).str();
  auto emitError = [&] {
    InFlightDiagnostic diag = mlir::emitError(loc);
    if (isOther)
      diag.attachNote(func.getLoc()) << where << " is on " << mesh << ", the mesh of that stage";
    if (microbatches.get(value).kind == State::Split)
      diag.attachNote(func.getLoc()) << "its size is that in one of " << microbatches.getCount() << " microbatches";
    return diag;
  };
  if (!isTrial && failed(verifyShardingOf(moved, value.getType(), *meshCache.lookup(mesh), where, emitError)))
    return failure();
  return moved;
}

LogicalResult StageBuilder::retarget(NamedAttrList &attrs, Value value, const Twine &what) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attrs.get(kShardingAttr));
  FailureOr<ShardingAttr> moved = retarget(sharding, value, what, value.getLoc());
  if (succeeded(moved) && *moved != sharding)
    attrs.set(kShardingAttr, *moved);
  return moved;
}

AxisResourcesAttr StageBuilder::restrict(AxisResourcesAttr resources, Value value, FlatSymbolRefAttr mesh) {
  const Mesh *stageMesh = meshCache.lookup(mesh);
  auto has = [&](StringRef name) {
    return stageMesh && llvm::any_of(stageMesh->axes, [&](const MeshAxis &axis) { return axis.name == name; });
  };
  SmallVector<Attribute> entries;
  for (int64_t i = 0; i < resources.getNumEntries(); ++i) {
    if (resources.isOpen(i)) {
      entries.push_back(resources.getEntries()[i]);
      continue;
    }
    SmallVector<Attribute> axes;
    for (StringRef axis : resources.getAxes(i))
      if (has(axis))
        axes.push_back(StringAttr::get(context, axis));
    entries.push_back(ArrayAttr::get(context, axes));
  }
  return AxisResourcesAttr::get(context, resources.getReplicated(), entries);
}

void StageBuilder::emitFragment(StageFragment fragment, int64_t round) {
  int64_t executions = fragment == StageFragment::Apply ? 1 : microbatches.getCount();
  auto optional = [&](bool is, int64_t number) { return is ? builder->getI64IntegerAttr(number) : IntegerAttr(); };
  FragmentOp::create(*builder, func.getLoc(), FragmentAttr::get(context, fragment, round),
                     optional(executions > 1, executions));
  if (BlockArgument number = microbatches.getNumber();
      number && fragment == StageFragment::Forward && stages.getStages(number).contains(stage))
    map.map(number, countMicrobatches());
  bool isFirstApply = fragment == StageFragment::Apply && round == 0;
  for (Operation &op : block()) {
    const StageAssignment *assigned = stages.get(&op);
    if (!assigned || assigned->stage != stage || assigned->fragment != fragment || assigned->round != round)
      continue;
    clone(&op);
    for (Value value : op.getResults())
      emitStageOutputs(value);
  }
  // Values that are completed for other stages and for the caller.
  if (isFirstApply)
    for (Value value : summed)
      if (crossing.contains(value) && stages.get(value.getDefiningOp())->stage == stage)
        output(value, valueSlot(getSentName(value)), -1);
  for (auto [i, value] : llvm::enumerate(block().getTerminator()->getOperands())) {
    StageAssignment assigned = stages.getResult(i);
    bool isCopy = fragment == StageFragment::Apply && llvm::any_of(copies, [&, i = i](auto copy) {
                    return copy.first == i && copy.second == stage && getCopyRound(copy.first) == round;
                  });
    bool isHere = assigned.stage == stage && assigned.fragment == fragment && assigned.round == round;
    if (isHere || isCopy)
      output(value, indexSlot(SlotKind::Result, i, value), i);
  }
  for (Value value : copied)
    map.erase(value);
  copied.clear();
}

Value StageBuilder::countMicrobatches() {
  Location loc = func.getLoc();
  auto type = cast<RankedTensorType>(microbatches.getNumber().getType());
  Value one = arith::ConstantOp::create(*builder, loc, DenseElementsAttr::get(type, int64_t(1)));
  auto sum = ReductionKindAttr::get(context, ReductionKind::Sum);
  Value count = StageOutputOp::create(*builder, loc, type, one, "microbatch" + std::to_string(stage), sum);
  return arith::SubIOp::create(*builder, loc, count, one);
}

void StageBuilder::output(Value value, SlotAttr slot, int64_t result) {
  Value local = ensure(value);
  std::string name = slot.isValue() ? slot.getName().str() : ("result" + Twine(result)).str();
  Value out = StageOutputOp::create(*builder, value.getLoc(), local.getType(), local, name, ReductionKindAttr());
  outputs.push_back({out, slot, result});
}

void StageBuilder::emitStageOutputs(Value value) {
  State::Kind kind = kindOf(value);
  if (kind == State::Partial && summed.contains(value)) {
    auto reduction = ReductionKindAttr::get(context, microbatches.get(value).reduction);
    accumulated[value] =
        StageOutputOp::create(*builder, value.getLoc(), value.getType(), map.lookup(value), getName(value), reduction);
    return;
  }
  if (!crossing.contains(value) || kind == State::Partial)
    return;
  Value local = map.lookup(value);
  for (const Stages::CrossingConstraint &constraint : stages.getConstraints())
    if (constraint.value == value && constraint.from == stage)
      local = WithShardingConstraintOp::create(*builder, constraint.loc, local.getType(), local, ShardingAttr(),
                                               restrict(constraint.resources, value, meshes[stage % meshes.size()]),
                                               OrtAttr());
  std::string name = getSentName(value);
  Value out = StageOutputOp::create(*builder, value.getLoc(), local.getType(), local, name, ReductionKindAttr());
  outputs.push_back({out, valueSlot(name), -1});
}

Value StageBuilder::ensure(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  Operation *copy = copyOp(op);
  for (auto [result, local] : llvm::zip(op->getResults(), copy->getResults())) {
    map.map(result, local);
    copied.push_back(result);
  }
  return map.lookup(value);
}

Operation *StageBuilder::copyOp(Operation *op) {
  IRMapping operands;
  for (Value operand : Stages::getRead(op))
    operands.map(operand, ensure(operand));
  return builder->clone(*op, operands);
}

void StageBuilder::clone(Operation *op) {
  Operation *copy = copyOp(op);
  copy->removeDiscardableAttr(kStageAttr);
  for (auto [result, local] : llvm::zip(op->getResults(), copy->getResults()))
    map.map(result, local);
}

} // namespace

LogicalResult spmd::buildStageFunctions(func::FuncOp func, Microbatches &microbatches, Stages &stages,
                                        ArrayRef<FlatSymbolRefAttr> meshes, bool isSplit, FlatSymbolRefAttr schedule) {
  return StageBuilder(func, microbatches, stages, meshes, isSplit, schedule).run();
}

FailureOr<OwningOpRef<func::FuncOp>> spmd::buildStageFunction(func::FuncOp func, Microbatches &microbatches,
                                                              Stages &stages, int64_t stage, FlatSymbolRefAttr mesh) {
  SmallVector<FlatSymbolRefAttr> meshes(stages.getNumStages(), mesh);
  auto schedule = FlatSymbolRefAttr::get(func.getNameAttr());
  return StageBuilder(func, microbatches, stages, meshes, /*isSplit=*/true, schedule).runOn(stage);
}
