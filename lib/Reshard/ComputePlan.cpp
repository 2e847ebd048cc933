//===- ComputePlan.cpp - Layouts of the ops of a function -----------------===//

#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "DeferredReductions.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Partition/ReplicatedFunctions.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Decides the layouts that every op computes with, in program order:
///   1. The signature determines the layouts of arguments and results.
///   2. An op with a rule gets the axes of `spmd.factor_shardings`, a deferred reduction, or the
///      cheapest axes. Its operands need the layouts of these axes, its results are computed in
///      them.
///   3. Any other op forwards its operands in the layouts of its results or its callee.
///
/// Example: %0 = matmul %a, %b; %a [{"x"}, {}], %b [{}, {}], %0 propagated as [{"x"}, {}].
/// The axes {"x"} on factor i need no reshard of %a and compute [{"x"}, {}].
class ComputeDecider {
public:
  ComputeDecider(ComputePlan &plan, int64_t tripCount, bool defersReductions, bool isTrial)
      : plan(plan), func(plan.func), meshes(plan.meshes), mesh(meshes.getMesh()), table(plan.table),
        values(plan.values), reductions(plan), tripCount(tripCount), defersReductions(defersReductions),
        isTrial(isTrial) {}

  LogicalResult run();

private:
  struct Choice {
    FactorAxes axes;
    ComputeLayouts layouts;
  };

  FailureOr<LayoutId> read(ShardingAttr attr, Type type, Location loc);

  static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

  LogicalResult readSignature();
  void define(Value value, LayoutId computed, LayoutId propagated);
  void need(Value value, LayoutId id);
  LogicalResult decideBlock(Block &block);

  /// Adds an op that forwards its operands, each in a given layout: a terminator, a loop.
  void forwardOperands(Operation *op, ArrayRef<std::optional<LayoutId>> needs,
                       ArrayRef<std::optional<LayoutId>> computed = {});

  /// The layouts of the results of a region op.
  FailureOr<SmallVector<std::optional<LayoutId>>> readResults(Operation *op);
  void defineAll(ValueRange values, ArrayRef<std::optional<LayoutId>> layouts);
  static SmallVector<std::optional<LayoutId>> afterScalars(unsigned scalars, ArrayRef<std::optional<LayoutId>> layouts);

  using ResultLayouts = SmallVector<std::optional<LayoutId>>;

  LogicalResult decideRegions(Operation *op);

  /// The layout of operand `i` in the attribute of a region op, or null.
  static ShardingAttr getOperandSharding(Operation *op, unsigned i);
  LogicalResult decideManual(ManualComputationOp op, ResultLayouts &results);
  LogicalResult decideWhile(scf::WhileOp loop, ArrayRef<std::optional<LayoutId>> results);
  LogicalResult decideForall(scf::ForallOp loop, ResultLayouts &results);

  /// Regions that each yield the results.
  LogicalResult decideBranches(Operation *op, const ResultLayouts &results);

  /// A manual computation names one mesh: free axes that the mesh does not have are dropped, minor ones first.
  LogicalResult makeExpressible(ManualComputationOp op, LayoutId &id, Type type);

  /// The layout of a value inside a manual computation: without the manual axes.
  LayoutId getInside(LayoutId id, Type outside, Type inside) {
    return table.intern(getFreeSharding(table.get(id), getShape(outside), getShape(inside)));
  }

  /// A slice is written in the layout of the shared output.
  void decideSliceWrite(tensor::ParallelInsertSliceOp write);

  /// An output that is accumulated over microbatches stays partial and is completed once, afterwards. Any other output
  /// has the propagated layout.
  LogicalResult decideStageOutput(StageOutputOp op);
  LogicalResult decide(Operation *op);

  /// The layout of a constraint or reshard is fixed. Without a reader it needs nothing.
  LogicalResult decideConstraint(Operation *op);

  /// The sharding of a constraint: the propagated one, else its attribute, else that of its operand.
  ShardingAttr getConstraintSharding(Operation *op);

  /// Operands and results with their layouts before the choice for the op.
  FailureOr<SmallVector<TensorLayout>> readTensors(Operation *op, const ShardingRule &rule);

  /// The cheapest axes, computed once for equal ops.
  const Choice &choose(const ShardingRule &rule, ArrayRef<TensorLayout> layouts);

  /// The layouts of an op:
  ///   1. those of `spmd.factor_shardings`,
  ///   2. else with a deferred reduction, if that is possible,
  ///   3. else the cheapest ones.
  FailureOr<ComputeLayouts> decideLayouts(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);
  LogicalResult decideCompute(Operation *op);

  /// Marks a slice for which windows are cheaper than digits.
  bool preferWindows(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);
  ComputeLayouts getLayouts(const ShardingRule &rule, ArrayRef<TensorLayout> layouts, const FactorAxes &axes);

  /// Emits a remark if an op computes full tensors although its operands are sharded.
  void remarkReplicated(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                        const FactorAxes &axes);

  /// Emits a remark for each uneven dim of an operand that is gathered as the op has no form on padded shards.
  void remarkUnpadded(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);

  /// Reads and verifies `spmd.factor_shardings`.
  FailureOr<FactorAxes> readCompute(Operation *op, const ShardingRule &rule);

  //===--- Deferred reductions of loops ------------------------------------===//

  /// Decides the body of a loop:
  ///   1. Tentatively with complete arguments, to find arguments to which all additions have the same partial layout.
  ///   2. Again with these arguments partial: they are completed once, after the loop.
  LogicalResult decideLoop(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> propagated);

  /// The layouts of the arguments of a loop: the propagated ones, or partial ones if they are cheaper.
  FailureOr<SmallVector<std::optional<LayoutId>>> findCarried(scf::ForOp loop,
                                                              ArrayRef<std::optional<LayoutId>> propagated);

  LogicalResult decideBody(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> carried,
                           ArrayRef<std::optional<LayoutId>> propagated);

  /// The sizes of the lists before a tentative decision.
  struct State {
    size_t changes, ops, constantLikes, consumed;
  };
  State save() { return {changes.size(), plan.ops.size(), plan.constantLikes.size(), plan.consumed.size()}; }
  void restore(const State &state);

  /// A call passes its operands in the layouts of the callee.
  LogicalResult decideCall(func::CallOp call);

  ComputePlan &plan;
  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  DeferredReductions reductions;
  int64_t fragmentExecutions = 1; // executions of the current fragment
  int64_t tripCount;
  /// Whether partial sums pass through linear ops.
  bool defersReductions;
  /// Whether the IR must stay as it is, without remarks.
  bool isTrial;
  /// Above 0 during tentative decisions.
  unsigned tentative = 0;
  /// Changes of tentative decisions: values, and their previous state.
  std::vector<std::pair<Value, std::optional<ValueLayouts>>> changes;
  /// The layouts of the arguments, per decided loop.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> carriedOf;
  /// Whether any value has an uneven sharding.
  bool hasUneven = false;
  KeyedTable<Choice> choices; ///< By inputs.
  DimEntries manualAxes;      ///< Around the op that is decided.
  /// The layouts that terminators of regions forward.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> terminatorNeeds;
};

} // namespace

LogicalResult ComputeDecider::run() {
  if (failed(readSignature()) || failed(decideBlock(func.getBody().front())))
    return failure();
  if (!isTrial && !func->hasAttr(kSolverAttr)) // else the search emitted it
    remarkDefaultCosts(func, meshes.getCostMesh());
  return success();
}

FailureOr<LayoutId> ComputeDecider::read(ShardingAttr attr, Type type, Location loc) {
  auto tensor = cast<RankedTensorType>(type);
  FailureOr<LayoutId> id = table.read(attr, tensor, [&] { return emitError(loc); });
  if (succeeded(id))
    for (auto [size, dim] : llvm::zip(tensor.getShape(), table.get(*id).dims))
      hasUneven |= !divides(dim.entries, size);
  return id;
}

LogicalResult ComputeDecider::readSignature() {
  for (BlockArgument arg : func.getArguments()) {
    if (!isa<RankedTensorType>(arg.getType()))
      continue;
    LayoutId id = table.getReplicated(rankOf(arg));
    if (auto attr = func.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(), kShardingAttr)) {
      FailureOr<LayoutId> annotated = read(attr, arg.getType(), arg.getLoc());
      if (failed(annotated))
        return failure();
      id = *annotated;
    }
    define(arg, id, id);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    plan.results.push_back(std::nullopt);
    if (!type)
      continue;
    plan.results.back() = table.getReplicated(type.getRank());
    if (auto attr = func.getResultAttrOfType<ShardingAttr>(i, kShardingAttr)) {
      FailureOr<LayoutId> annotated = read(attr, type, func.getLoc());
      if (failed(annotated))
        return failure();
      plan.results.back() = *annotated;
    }
  }
  return success();
}

void ComputeDecider::define(Value value, LayoutId computed, LayoutId propagated) {
  auto [it, isNew] = values.try_emplace(value);
  ValueLayouts &state = it->second;
  if (tentative)
    changes.push_back({value, isNew ? std::nullopt : std::optional(state)});
  state.computed = computed;
  state.propagated = propagated;
  state.available = {{computed, value}};
}

/// True for a constraint that only constraints read: the layout that it asks for is not seen. Reshards that the user
/// wrote are made.
static bool isPassedBy(Operation *op) {
  return isa<WithShardingConstraintOp>(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<WithShardingConstraintOp>(user); });
}

void ComputeDecider::need(Value value, LayoutId id) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isPassedBy(op))
      break;
    value = op->getOperand(0);
  }
  auto it = values.find(value);
  if (it == values.end() || llvm::is_contained(it->second.needs, id))
    return;
  if (tentative)
    changes.push_back({value, it->second});
  it->second.needs.push_back(id);
}

LogicalResult ComputeDecider::decideBlock(Block &block) {
  for (Operation &op : block) {
    if (isConstantLike(&op))
      plan.constantLikes.push_back(&op);
    else if (failed(decide(&op)))
      return failure();
  }
  return success();
}

void ComputeDecider::forwardOperands(Operation *op, ArrayRef<std::optional<LayoutId>> needs,
                                     ArrayRef<std::optional<LayoutId>> computed) {
  OpPlan opPlan;
  opPlan.op = op;
  for (auto [operand, id] : llvm::zip(op->getOperands(), needs)) {
    opPlan.needs.push_back(id);
    if (id)
      need(operand, *id);
  }
  opPlan.computed.assign(computed.begin(), computed.end());
  plan.ops.push_back(std::move(opPlan));
}

FailureOr<SmallVector<std::optional<LayoutId>>> ComputeDecider::readResults(Operation *op) {
  SmallVector<std::optional<LayoutId>> layouts;
  auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    layouts.push_back(std::nullopt);
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    layouts.back() = table.getReplicated(rankOf(result));
    if (!shardings)
      continue;
    FailureOr<LayoutId> annotated = read(cast<ShardingAttr>(shardings[i]), result.getType(), op->getLoc());
    if (failed(annotated))
      return failure();
    layouts.back() = *annotated;
  }
  return layouts;
}

void ComputeDecider::defineAll(ValueRange values, ArrayRef<std::optional<LayoutId>> layouts) {
  for (auto [value, id] : llvm::zip(values, layouts))
    if (id)
      define(value, *id, *id);
}

SmallVector<std::optional<LayoutId>> ComputeDecider::afterScalars(unsigned scalars,
                                                                  ArrayRef<std::optional<LayoutId>> layouts) {
  SmallVector<std::optional<LayoutId>> needs(scalars);
  needs.append(layouts.begin(), layouts.end());
  return needs;
}

LogicalResult ComputeDecider::decideRegions(Operation *op) {
  FailureOr<ResultLayouts> results = readResults(op);
  if (failed(results))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return decideLoop(loop, *results);
  auto decided = [&] {
    if (auto manual = dyn_cast<ManualComputationOp>(op))
      return decideManual(manual, *results);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return decideWhile(loop, *results);
    if (auto loop = dyn_cast<scf::ForallOp>(op))
      return decideForall(loop, *results);
    return decideBranches(op, *results);
  }();
  if (failed(decided))
    return failure();
  defineAll(op->getResults(), *results);
  return success();
}

ShardingAttr ComputeDecider::getOperandSharding(Operation *op, unsigned i) {
  auto known = op->getAttrOfType<ArrayAttr>(kOperandShardingsAttr);
  return known ? cast<ShardingAttr>(known[i]) : ShardingAttr();
}

LogicalResult ComputeDecider::decideManual(ManualComputationOp op, ResultLayouts &results) {
  // Closed, as they are now.
  ResultLayouts operands, inside, yielded;
  for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
    ShardingAttr annotated = getOperandSharding(op, i);
    FailureOr<LayoutId> id = read(annotated ? annotated : op.getInSharding(i), operand.getType(), op.getLoc());
    if (failed(id) || failed(makeExpressible(op, *id, operand.getType())))
      return failure();
    operands.push_back(*id);
    inside.push_back(getInside(*id, operand.getType(), op.getBody().getArgument(i).getType()));
  }
  Operation *terminator = op.getBody().front().getTerminator();
  for (auto [result, value, id] : llvm::zip(op->getResults(), terminator->getOperands(), results)) {
    if (failed(makeExpressible(op, *id, result.getType())))
      return failure();
    yielded.push_back(getInside(*id, result.getType(), value.getType()));
  }
  forwardOperands(op, operands, results);
  defineAll(op.getBody().getArguments(), inside);
  terminatorNeeds[terminator] = std::move(yielded);
  const size_t outer = manualAxes.size();
  if (op.getMesh()) {
    FailureOr<DimEntries> axes = meshes.readAxes(op.getMesh(), op.getManualAxes(), [&] { return op.emitError(); });
    if (failed(axes))
      return failure();
    manualAxes.append(*axes);
  }
  LogicalResult body = decideBlock(op.getBody().front());
  manualAxes.truncate(outer);
  return body;
}

LogicalResult ComputeDecider::decideWhile(scf::WhileOp loop, ArrayRef<std::optional<LayoutId>> results) {
  ResultLayouts carried;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    carried.push_back(std::nullopt);
    if (!isa<RankedTensorType>(init.getType()))
      continue;
    if (ShardingAttr annotated = getOperandSharding(loop, i)) {
      FailureOr<LayoutId> id = read(annotated, init.getType(), loop.getLoc());
      if (failed(id))
        return failure();
      carried.back() = *id;
    } else {
      auto it = values.find(init);
      carried.back() = it != values.end() ? it->second.propagated : table.getReplicated(rankOf(init));
    }
  }
  forwardOperands(loop, carried, results);
  defineAll(loop.getBeforeArguments(), carried);
  defineAll(loop.getAfterArguments(), results);
  terminatorNeeds[loop.getConditionOp()] = afterScalars(1, results);
  terminatorNeeds[loop.getYieldOp()] = carried;
  if (failed(decideBlock(*loop.getBeforeBody())))
    return failure();
  return decideBlock(*loop.getAfterBody());
}

LogicalResult ComputeDecider::decideForall(scf::ForallOp loop, ResultLayouts &results) {
  // Dims of which an iteration writes a slice are unsharded.
  for (auto [i, id] : llvm::enumerate(results)) {
    Sharding sharding = table.get(*id);
    for (unsigned d : getPartlyWrittenDims(loop, i).set_bits())
      sharding.dims[d].entries.clear();
    id = table.intern(std::move(sharding));
  }
  forwardOperands(loop, afterScalars(loop->getNumOperands() - results.size(), results), results);
  defineAll(loop.getRegionIterArgs(), results);
  if (failed(decideBlock(*loop.getBody())))
    return failure();
  for (tensor::ParallelInsertSliceOp write : getSliceWrites(loop))
    decideSliceWrite(write);
  return success();
}

LogicalResult ComputeDecider::decideBranches(Operation *op, const ResultLayouts &results) {
  forwardOperands(op, {}, results);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    terminatorNeeds[region.front().getTerminator()] = results;
    if (failed(decideBlock(region.front())))
      return failure();
  }
  return success();
}

LogicalResult ComputeDecider::makeExpressible(ManualComputationOp op, LayoutId &id, Type type) {
  auto isExpressible = [&](const Sharding &sharding, ArrayRef<int64_t> shape) {
    return meshes.getAttrOn(sharding, shape, op.getMesh()).getMesh() == op.getMesh();
  };
  Sharding sharding = table.get(id);
  ArrayRef<int64_t> shape = getShape(type);
  if (isExpressible(sharding, shape))
    return success();
  for (auto [dim, size] : llvm::zip_equal(sharding.dims, shape)) {
    Sharding alone;
    alone.dims.push_back(dim);
    while (!alone.dims[0].entries.empty() && !isExpressible(alone, size))
      alone.dims[0].entries.pop_back();
    dim.entries = alone.dims[0].entries;
  }
  if (!isExpressible(sharding, shape))
    return op.emitError() << "layout " << meshes.toString(table.get(id))
                          << " at the boundary of a manual computation cannot be expressed on mesh " << op.getMesh()
                          << ", expected free axes of that mesh";
  id = table.intern(std::move(sharding));
  return success();
}

void ComputeDecider::decideSliceWrite(tensor::ParallelInsertSliceOp write) {
  ShardingRule rule = getShardingRule(write);
  LayoutId dest = values.find(write.getDest())->second.propagated;
  FactorAxes axes(rule.numFactors());
  for (auto [f, entries] : llvm::enumerate(axes))
    if (auto projected = projectFactor(rule, 1, f, table.get(dest)))
      entries = std::move(*projected);
  forwardOperands(write, {table.intern(getTensorSharding(rule, 0, axes)), dest});
}

LogicalResult ComputeDecider::decideStageOutput(StageOutputOp op) {
  FailureOr<SmallVector<std::optional<LayoutId>>> results = readResults(op);
  if (failed(results))
    return failure();
  LayoutId propagated = *results->front(), yielded = propagated;
  auto it = values.find(op.getInput());
  if (it != values.end() && op.getReduction() && table.isPartial(it->second.computed) &&
      table.get(it->second.computed).unreducedKind == op.getReduction()->getValue())
    yielded = it->second.computed;
  forwardOperands(op, {yielded}, {yielded});
  define(op.getResult(), yielded, propagated);
  return success();
}

LogicalResult ComputeDecider::decide(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    forwardOperands(op, plan.results);
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    forwardOperands(op, terminatorNeeds.lookup(op));
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    return decideCall(call);
  if (isControlFlow(op) || isa<ManualComputationOp>(op))
    return decideRegions(op);
  if (isa<ShardingGroupOp>(op)) {
    plan.consumed.push_back(op);
    return success();
  }
  if (auto fragment = dyn_cast<FragmentOp>(op)) {
    fragmentExecutions = fragment.getExecutions().value_or(1);
    forwardOperands(op, {});
    return success();
  }
  if (auto out = dyn_cast<StageOutputOp>(op))
    return decideStageOutput(out);
  if (isa<CollectiveOpInterface>(op) && !op->getParentOfType<ManualComputationOp>())
    return op->emitError() << op->getName()
                           << " in global view, expected it inside of spmd.manual_computation, or a spmd.reshard";
  return isConstraintLike(op) ? decideConstraint(op) : decideCompute(op);
}

LogicalResult ComputeDecider::decideConstraint(Operation *op) {
  OpPlan opPlan;
  opPlan.op = op;
  if (!op->use_empty() && !isPassedBy(op)) {
    ShardingAttr attr = getConstraintSharding(op);
    if (!attr)
      return op->emitError() << "constraint has axis resources, expected a sharding; run "
                                "--spmd-resolve-axis-resources first";
    FailureOr<LayoutId> constrained = read(attr, op->getResult(0).getType(), op->getLoc());
    if (failed(constrained))
      return failure();
    opPlan.needs.push_back(*constrained);
    opPlan.computed.push_back(*constrained);
    need(op->getOperand(0), *constrained);
    define(op->getResult(0), *constrained, *constrained);
  }
  plan.ops.push_back(std::move(opPlan));
  return success();
}

ShardingAttr ComputeDecider::getConstraintSharding(Operation *op) {
  if (auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr))
    return cast<ShardingAttr>(shardings[0]);
  if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
    return constraint.getShardingAttr();
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return reshard.getShardingAttr();
  auto it = values.find(op->getOperand(0));
  return table.getAttr(it != values.end() ? it->second.propagated : table.getReplicated(rankOf(op->getOperand(0))));
}

FailureOr<SmallVector<TensorLayout>> ComputeDecider::readTensors(Operation *op, const ShardingRule &rule) {
  SmallVector<TensorLayout> layouts;
  auto add = [&](RankedTensorType type, std::optional<LayoutId> id, Block *block) {
    layouts.push_back({type, id});
    layouts.back().count = countExecutions(block, tripCount) * fragmentExecutions;
  };
  for (const ShardingRule::Tensor &tensor : rule.operands()) {
    auto it = values.find(tensor.value);
    bool counts = it != values.end() && tensor.role != OperandRole::ShapeOnly;
    add(tensor.type, counts ? std::optional(it->second.propagated) : std::nullopt,
        Value(tensor.value).getParentBlock());
  }
  ArrayAttr shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
  for (auto [i, tensor] : llvm::enumerate(rule.results())) {
    std::optional<LayoutId> propagated;
    if (shardings && tensor.type) {
      FailureOr<LayoutId> annotated = read(cast<ShardingAttr>(shardings[i]), tensor.type, op->getLoc());
      if (failed(annotated))
        return failure();
      propagated = *annotated;
    }
    add(tensor.type, propagated, op->getBlock());
  }
  return layouts;
}

const ComputeDecider::Choice &ComputeDecider::choose(const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
  // The inputs of the choice, as numbers.
  SmallVector<int64_t, 16> key{int64_t(reinterpret_cast<uintptr_t>(&rule))};
  for (const TensorLayout &tensor : layouts)
    key.append({tensor.layout ? int64_t(*tensor.layout) : -1, tensor.count});
  auto [choice, isNew] = choices.try_emplace(key);
  if (isNew) {
    choice.axes = chooseCompute(rule, layouts, table);
    choice.layouts = getLayouts(rule, layouts, choice.axes);
  }
  return choice;
}

FailureOr<ComputeLayouts> ComputeDecider::decideLayouts(Operation *op, const ShardingRule &rule,
                                                        ArrayRef<TensorLayout> layouts) {
  if (op->hasAttr(kFactorShardingsAttr)) {
    FailureOr<FactorAxes> axes = readCompute(op, rule);
    if (failed(axes))
      return failure();
    remarkReplicated(op, rule, layouts, *axes);
    return getLayouts(rule, layouts, *axes);
  }
  if (defersReductions)
    if (std::optional<ComputeLayouts> deferred = reductions.defer(op, rule, layouts))
      return std::move(*deferred);
  const Choice &choice = choose(rule, layouts);
  remarkReplicated(op, rule, layouts, choice.axes);
  return choice.layouts;
}

LogicalResult ComputeDecider::decideCompute(Operation *op) {
  if (!isTrial && op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op)) {
    plan.droppedConstraints += dropAnnotations(op, "the enclosing op computes on replicated values");
    if (failed(verifyReplicatedCalls(op)))
      return failure();
  }
  Attribute windows; // decided here
  if (isa<tensor::ExtractSliceOp>(op))
    windows = op->removeAttr(kWindowsAttr);
  auto restore = llvm::make_scope_exit([&] {
    if (isTrial && windows)
      op->setAttr(kWindowsAttr, windows);
    else if (isTrial && isa<tensor::ExtractSliceOp>(op))
      op->removeAttr(kWindowsAttr);
  });
  ShardingRule rule = getShardingRule(op);
  FailureOr<SmallVector<TensorLayout>> layouts = readTensors(op, rule);
  if (failed(layouts))
    return failure();
  if (isa<tensor::ExtractSliceOp>(op) && !op->hasAttr(kFactorShardingsAttr) && preferWindows(op, rule, *layouts))
    rule = getShardingRule(op);
  if (hasUneven || rule.hasWindows())
    markUnevenFactors(rule, op);

  OpPlan opPlan;
  opPlan.op = op;
  for (unsigned t = op->getNumOperands(); t < rule.numOperands(); ++t)
    opPlan.captured.push_back(rule.tensor(t).value);
  if (hasUneven)
    remarkUnpadded(op, rule, *layouts);
  opPlan.rule = plan.rules.intern(std::move(rule));
  FailureOr<ComputeLayouts> decided = decideLayouts(op, *opPlan.rule, *layouts);
  if (failed(decided))
    return failure();
  static_cast<ComputeLayouts &>(opPlan) = std::move(*decided);
  for (unsigned t = 0; t < opPlan.needs.size(); ++t)
    if (opPlan.needs[t] && opPlan.rule->tensor(t).role != OperandRole::ShapeOnly)
      need(opPlan.getOperand(t), *opPlan.needs[t]);
  for (auto [i, computed] : llvm::enumerate(opPlan.computed))
    if (computed) {
      std::optional<LayoutId> propagated = (*layouts)[opPlan.rule->numOperands() + i].layout;
      define(op->getResult(i), *computed, propagated ? *propagated : table.getComplete(*computed));
      values.find(op->getResult(i))->second.viaPropagated = op->hasAttr(kFactorShardingsAttr);
    }
  plan.ops.push_back(std::move(opPlan));
  return success();
}

bool ComputeDecider::preferWindows(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
  auto getSeconds = [&](const ShardingRule &rule) {
    return getReshardSeconds(rule, layouts, chooseCompute(rule, layouts, table), table);
  };
  double digits = getSeconds(rule);
  if (digits == 0)
    return false;
  op->setAttr(kWindowsAttr, UnitAttr::get(op->getContext()));
  ShardingRule windows = getShardingRule(op);
  markUnevenFactors(windows, op);
  // For equal times windows receive fewer bytes: not every device reads from another one.
  if (windows.hasWindows() && getSeconds(windows) <= digits * (1 + 1e-9))
    return true;
  op->removeAttr(kWindowsAttr);
  return false;
}

ComputeLayouts ComputeDecider::getLayouts(const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                                          const FactorAxes &axes) {
  ComputeLayouts choice;
  auto layoutOf = [&](unsigned t) -> std::optional<LayoutId> {
    if (!rule.tensor(t).type)
      return std::nullopt;
    return table.intern(getTensorSharding(rule, t, axes));
  };
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    choice.needs.push_back(layoutOf(t));
    if (!choice.needs.back() || !rule.hasWindows())
      continue;
    LayoutId has = layouts[t].layout.value_or(table.getReplicated(layouts[t].type.getRank()));
    choice.needs.back() = getNeededLayout(rule, t, axes, has, layouts[t].type, table);
  }
  for (unsigned i = 0; i < rule.numResults(); ++i)
    choice.computed.push_back(layoutOf(rule.numOperands() + i));
  if (!isTrial)
    return choice;
  for (unsigned t = 0; t < rule.numOperands(); ++t)
    if (auto windows = getWindows(rule, t, axes, mesh); !windows.empty() && choice.needs[t])
      choice.exchangeSeconds +=
          layouts[getTensorOfExchange(rule, t)].count *
          table.getSeconds(*choice.needs[t], windows, cast<RankedTensorType>(rule.tensor(t).type));
  if (rule.numResults() > 0)
    choice.exchangeSeconds += layouts[rule.numOperands()].count * getPickSeconds(rule, axes, table);
  return choice;
}

void ComputeDecider::remarkReplicated(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                                      const FactorAxes &axes) {
  if (tentative || isTrial || rule.isFallback ||
      llvm::any_of(axes, [](const DimEntries &list) { return !list.empty(); }))
    return;
  DimEntries shardedAxes;
  bool canShard = false, isUneven = false;
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (!layouts[t].layout)
      continue;
    const Sharding &sharding = table.get(*layouts[t].layout);
    for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
      for (const DimEntry &entry : dim.entries)
        if (!entry.isStride() && !llvm::is_contained(shardedAxes, entry))
          shardedAxes.push_back(entry);
      if (dim.entries.empty())
        continue;
      for (int32_t f : rule.dimFactors(rule.tensor(t), d)) {
        if (rule.factor(f).kind == FactorKind::Replicated)
          continue;
        bool divided = rule.factor(f).allowsPadding || divides(dim.entries, rule.factor(f).size);
        (divided ? canShard : isUneven) = true;
      }
    }
  }
  int64_t bytes = 0;
  for (Value result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape())
      bytes += type.getNumElements() * getElementBytes(type.getElementType());
  if (shardedAxes.empty() || bytes == 0)
    return;
  llvm::sort(shardedAxes);
  std::string names;
  for (const DimEntry &entry : shardedAxes)
    names += (names.empty() ? "" : ",") + meshes.getAxisName(entry);
  remark::missed(op->getLoc(), remark::RemarkOpts::name("replicated").category("spmd").function(func.getName()))
      << remark::add("{0} computes full tensors on every device", op->getName().getStringRef())
      << remark::metric("Bytes", bytes) << remark::metric("Axes", names)
      << remark::reason("{0}", canShard   ? "no sharding of it costs less in reshards"
                               : isUneven ? "it has no form on padded shards, and the axes divide none of its dims"
                                          : "its rule replicates the dims that its operands are sharded along")
      << remark::suggest("shard other dims of its operands");
}

void ComputeDecider::remarkUnpadded(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
  if (tentative || isTrial || rule.isFallback || !func.getContext()->getRemarkEngine())
    return;
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (!layouts[t].layout || rule.tensor(t).role == OperandRole::ShapeOnly)
      continue;
    for (auto [d, dim] : llvm::enumerate(table.get(*layouts[t].layout).dims)) {
      int64_t size = layouts[t].type.getDimSize(d);
      ArrayRef<int32_t> factors = rule.dimFactors(rule.tensor(t), d);
      if (size <= 0 || divides(dim.entries, size) || factors.size() != 1 ||
          rule.factor(factors.front()).kind == FactorKind::Replicated || rule.factor(factors.front()).allowsPadding)
        continue;
      remark::missed(op->getLoc(), remark::RemarkOpts::name("unpadded").category("spmd").function(func.getName()))
          << remark::add("{0} needs dim {1} of operand #{2} (size {3}) unsharded, which {4} shards unevenly",
                         op->getName().getStringRef(), d, t, size, meshes.toString(dim.entries))
          << remark::reason("{0}", "it has no form on padded shards")
          << remark::suggest("pad the dim, or, if padding is harmless to the op, call setAllowsPadding for factor {0} "
                             "in its ShardingRuleOpInterface",
                             factors.front());
    }
  }
}

FailureOr<FactorAxes> ComputeDecider::readCompute(Operation *op, const ShardingRule &rule) {
  auto attr = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
  if (!attr)
    return op->emitError() << "spmd.factor_shardings is not a #spmd.factors, expected the axes of each "
                              "factor of the sharding rule";
  auto factors = meshes.read(attr, [&] { return op->emitError(); });
  if (failed(factors))
    return failure();
  if (factors->size() != rule.numFactors())
    return op->emitError() << "spmd.factor_shardings has " << factors->size() << " factors, expected the "
                           << rule.numFactors() << " of the sharding rule";
  FactorAxes axes;
  DimEntries used = manualAxes;
  for (auto [f, entries] : llvm::enumerate(*factors)) {
    const Factor &factor = rule.factor(f);
    if (!entries.empty() && (factor.kind == FactorKind::Replicated || !canShard(factor, entries, meshes.getMesh()) ||
                             overlaps(entries, used, mesh)))
      return op->emitError() << "spmd.factor_shardings shards factor " << f << " of size " << factor.size << " by {"
                             << meshes.toString(entries)
                             << "}, expected axes that divide it, each used once and not manual "
                                "around the op, and none on a replicated factor";
    used.append(entries.begin(), entries.end());
    axes.push_back(canonicalize(entries));
  }
  return axes;
}

LogicalResult ComputeDecider::decideLoop(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> propagated) {
  // A tentative decision of an enclosing loop does not change the inputs of this one, so that its result is reused:
  // each body is decided once per enclosing loop, not twice.
  if (!carriedOf.contains(loop)) {
    auto carried = findCarried(loop, propagated);
    if (failed(carried))
      return failure();
    carriedOf[loop] = *carried;
  }
  SmallVector<std::optional<LayoutId>> carried = carriedOf[loop];
  return decideBody(loop, carried, propagated);
}

FailureOr<SmallVector<std::optional<LayoutId>>>
ComputeDecider::findCarried(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> propagated) {
  SmallVector<std::optional<LayoutId>> carried(propagated);
  SmallVector<SmallVector<Operation *, 2>> chains;
  bool found = false;
  for (unsigned i = 0; i < propagated.size(); ++i) {
    chains.push_back(defersReductions && propagated[i] ? DeferredReductions::getAccumulation(loop, i)
                                                       : SmallVector<Operation *, 2>());
    found |= !chains.back().empty();
  }
  int64_t trips = getTripCount(loop, tripCount);
  if (!found || trips <= 1)
    return carried;
  State state = save();
  ++tentative;
  LogicalResult decided = decideBody(loop, carried, propagated);
  if (failed(decided))
    return failure();
  llvm::DenseMap<Operation *, const OpPlan *> plans;
  for (const OpPlan &opPlan : llvm::drop_begin(plan.ops, state.ops))
    plans[opPlan.op] = &opPlan;
  for (auto [i, chain] : llvm::enumerate(chains)) {
    std::optional<DeferredReductions::Added> added;
    if (!chain.empty())
      added = reductions.getAdded(loop, i, chain, plans);
    if (!added)
      continue;
    auto getShards = [&](LayoutId id) {
      int64_t shards = 1;
      for (const DimSharding &dim : table.get(id).dims)
        shards *= deviceFactor(dim.entries);
      return shards;
    };
    if (added->isInserted && getShards(added->layout) < getShards(*propagated[i]))
      continue;
    // The sum is completed once and not in every trip; the init is resharded to the partial layout.
    Value init = loop.getInitArgs()[i];
    auto type = cast<RankedTensorType>(init.getType());
    auto known = values.find(init);
    double once = table.getSeconds(added->layout, *propagated[i], type);
    if (known != values.end())
      once += table.getSeconds(known->second.propagated, added->layout, type);
    if (once < trips * added->seconds)
      carried[i] = added->layout;
  }
  restore(state);
  --tentative;
  return carried;
}

LogicalResult ComputeDecider::decideBody(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> carried,
                                         ArrayRef<std::optional<LayoutId>> propagated) {
  forwardOperands(loop, afterScalars(loop.getNumControlOperands(), carried), carried);
  auto defineCarried = [&](ValueRange list) {
    for (auto [value, id, target] : llvm::zip(list, carried, propagated))
      if (id)
        define(value, *id, *target);
  };
  defineCarried(loop.getRegionIterArgs());
  terminatorNeeds[loop.getBody()->getTerminator()].assign(carried.begin(), carried.end());
  if (failed(decideBlock(*loop.getBody())))
    return failure();
  defineCarried(loop.getResults());
  return success();
}

void ComputeDecider::restore(const State &state) {
  while (changes.size() > state.changes) {
    auto &[value, before] = changes.back();
    if (before)
      values[value] = std::move(*before);
    else
      values.erase(value);
    changes.pop_back();
  }
  plan.ops.resize(state.ops);
  plan.constantLikes.resize(state.constantLikes);
  plan.consumed.resize(state.consumed);
}

LogicalResult ComputeDecider::decideCall(func::CallOp call) {
  if (isTrial) {
    FailureOr<ResultLayouts> results = readResults(call);
    if (failed(results))
      return failure();
    ResultLayouts operands;
    for (Value operand : call.getOperands()) {
      auto it = values.find(operand);
      operands.push_back(it == values.end() ? std::nullopt : std::optional(it->second.propagated));
    }
    forwardOperands(call, operands, *results);
    defineAll(call.getResults(), *results);
    return success();
  }
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  auto layoutOf = [&](Attribute attr, Type type) -> FailureOr<std::optional<LayoutId>> {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return std::optional<LayoutId>();
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    if (!sharding)
      return std::optional(table.getReplicated(tensor.getRank()));
    FailureOr<LayoutId> id = read(sharding, type, call.getLoc());
    if (failed(id))
      return failure();
    return std::optional(*id);
  };
  SmallVector<std::optional<LayoutId>> needs, computed;
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    auto id = layoutOf(callee ? callee.getArgAttr(i, kShardingAttr) : Attribute(), operand.getType());
    if (failed(id))
      return failure();
    needs.push_back(*id);
  }
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    auto id = layoutOf(callee ? callee.getResultAttr(i, kShardingAttr) : Attribute(), result.getType());
    if (failed(id))
      return failure();
    computed.push_back(*id);
  }
  forwardOperands(call, needs, computed);
  defineAll(call.getResults(), computed);
  return success();
}

LogicalResult spmd::decideCompute(ComputePlan &plan, int64_t tripCount, bool defersReductions, bool isTrial) {
  return ComputeDecider(plan, tripCount, defersReductions, isTrial).run();
}
