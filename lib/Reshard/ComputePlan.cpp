//===- ComputePlan.cpp - Layouts of the ops of a function -----------------===//

#include "shardkit/Reshard/ComputePlan.h"
#include "ComputeDecider.h"
#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Partition/ReplicatedFunctions.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Support/Remarks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::spmd;

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
    if (defersReductions)
      if (std::optional<ComputeLayouts> deferred = reductions.defer(op, rule, layouts, &*axes))
        return std::move(*deferred);
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
  choice.devices = getNumDevices(axes);
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
  if (tentative || isTrial || rule.isFallback || !areRemarksEnabled(func))
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
          << remark::suggest(
                 "pad the dim, or specify in its ShardingRuleOpInterface, by setPadding or getPaddingNeeds, "
                 "what padding of factor {0} may hold",
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

LogicalResult spmd::decideCompute(ComputePlan &plan, int64_t tripCount, bool defersReductions, bool isTrial) {
  return ComputeDecider(plan, tripCount, defersReductions, isTrial).run();
}
