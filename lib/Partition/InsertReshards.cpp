//===- InsertReshards.cpp - Every change of layout becomes one op ---------===//
//
// First every op decides how it computes, in program order, on the layouts that
// propagation left; only then is the IR changed, with one reshard per value and
// layout, before its first user.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Partition/WholeFunctions.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/Linearity.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/RuleTable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINSERTRESHARDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// What is known of a value while its function is rewritten.
struct ValueState {
  /// The layout its op hands out, possibly partial, and the one that
  /// propagation chose for it.
  LayoutId produced, home;
  /// Distinct layouts that users ask for, in order.
  SmallVector<LayoutId, 2> needs;
  /// Layouts it can be had in already.
  SmallVector<std::pair<LayoutId, Value>, 2> available;
};

class FunctionRewriter {
public:
  FunctionRewriter(func::FuncOp func, FunctionMeshes &meshes)
      : func(func), meshes(meshes), mesh(meshes.getMesh()), table(meshes) {}

  LogicalResult run() {
    if (!func.getBody().hasOneBlock()) {
      droppedConstraints += dropAnnotations(func, "the function has several blocks");
      return makeWhole(func, meshes, forbidImplicit);
    }
    if (failed(readSignature()))
      return failure();
    if (failed(decideBlock(func.getBody().front())))
      return failure();
    emitDefaultCosts();
    for (OpPlan &plan : plans)
      apply(plan);
    for (Operation *op : llvm::reverse(consumed))
      op->erase();
    // Users of creation ops come after them.
    for (Operation *op : llvm::reverse(creations))
      if (op->use_empty())
        op->erase();
    writeSignature();
    return success();
  }

  /// Constraints without a use that were dropped.
  unsigned droppedConstraints = 0;
  /// Whether a reshard that moves data and that no constraint asks for is an
  /// error, and whether there was one.
  bool forbidImplicit = false, foundImplicit = false;
  /// Trips of loops whose bounds are not constant.
  int64_t tripCount = kDefaultTripCount;

private:
  /// How an op computes.
  struct Choice {
    /// Per operand of the rule: the layout it needs; nothing for scalars.
    SmallVector<std::optional<LayoutId>, 4> needs;
    /// Per result: what the op hands out.
    SmallVector<std::optional<LayoutId>, 1> produced;
  };
  struct OpPlan : Choice {
    Operation *op;
    /// Null for an op that hands its operands on as they are.
    const ShardingRule *rule = nullptr;
    /// Tensors that the body captures: operands of the rule behind the op's own.
    SmallVector<Value, 0> captured;
  };

  FailureOr<LayoutId> read(ShardingAttr attr, Type type, Location loc) {
    auto tensor = cast<RankedTensorType>(type);
    FailureOr<LayoutId> id = table.read(attr, tensor, [&] { return emitError(loc); });
    if (succeeded(id))
      for (auto [size, dim] : llvm::zip(tensor.getShape(), table.get(*id).dims))
        hasUneven |= !divides(dim.entries, size);
    return id;
  }

  static int64_t rankOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  }

  /// Ops that hand their operand on in a layout of their own.
  static bool isPin(Operation *op) {
    return isa<WithShardingConstraintOp, ReshardOp, PropagationBarrierOp>(op);
  }

  LogicalResult readSignature() {
    for (BlockArgument arg : func.getArguments()) {
      if (!isa<RankedTensorType>(arg.getType()))
        continue;
      LayoutId id = table.getReplicated(rankOf(arg));
      if (auto attr = func.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(), kShardingAttr)) {
        FailureOr<LayoutId> given = read(attr, arg.getType(), arg.getLoc());
        if (failed(given))
          return failure();
        id = *given;
      }
      define(arg, id, id);
    }
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
      resultLayouts.push_back(std::nullopt);
      if (!type)
        continue;
      resultLayouts.back() = table.getReplicated(type.getRank());
      if (auto attr = func.getResultAttrOfType<ShardingAttr>(i, kShardingAttr)) {
        FailureOr<LayoutId> given = read(attr, type, func.getLoc());
        if (failed(given))
          return failure();
        resultLayouts.back() = *given;
      }
    }
    return success();
  }

  void define(Value value, LayoutId produced, LayoutId home) {
    ValueState &state = values[value];
    state.produced = produced;
    state.home = home;
    state.available = {{produced, value}};
  }

  void need(Value value, LayoutId id) {
    auto it = values.find(value);
    if (it != values.end() && !llvm::is_contained(it->second.needs, id))
      it->second.needs.push_back(id);
  }

  LogicalResult decideBlock(Block &block) {
    for (Operation &op : block) {
      if (isCreation(&op))
        creations.push_back(&op);
      else if (failed(decide(&op)))
        return failure();
    }
    return success();
  }

  /// An op that hands its operands on, each in a given layout: a terminator, a
  /// loop.
  void handOn(Operation *op, ArrayRef<std::optional<LayoutId>> needs,
              ArrayRef<std::optional<LayoutId>> produced = {}) {
    OpPlan plan;
    plan.op = op;
    for (auto [operand, id] : llvm::zip(op->getOperands(), needs)) {
      plan.needs.push_back(id);
      if (id)
        need(operand, *id);
    }
    plan.produced.assign(produced.begin(), produced.end());
    plans.push_back(std::move(plan));
  }

  /// The layouts of the values that a region op hands in and out, per result.
  FailureOr<SmallVector<std::optional<LayoutId>>> readResults(Operation *op) {
    SmallVector<std::optional<LayoutId>> layouts;
    auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      layouts.push_back(std::nullopt);
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      layouts.back() = table.getReplicated(rankOf(result));
      if (!shardings)
        continue;
      FailureOr<LayoutId> given =
          read(cast<ShardingAttr>(shardings[i]), result.getType(), op->getLoc());
      if (failed(given))
        return failure();
      layouts.back() = *given;
    }
    return layouts;
  }

  void defineAll(ValueRange values, ArrayRef<std::optional<LayoutId>> layouts) {
    for (auto [value, id] : llvm::zip(values, layouts))
      if (id)
        define(value, *id, *id);
  }

  static SmallVector<std::optional<LayoutId>>
  behind(unsigned scalars, ArrayRef<std::optional<LayoutId>> layouts) {
    SmallVector<std::optional<LayoutId>> needs(scalars);
    needs.append(layouts.begin(), layouts.end());
    return needs;
  }

  LogicalResult decideRegions(Operation *op) {
    auto results = readResults(op);
    if (failed(results))
      return failure();
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      // Closed, as they are now.
      SmallVector<std::optional<LayoutId>> operands, inside, handed;
      auto known = op->getAttrOfType<ArrayAttr>(kOperandShardingsAttr);
      for (auto [i, operand] : llvm::enumerate(manual.getInputs())) {
        FailureOr<LayoutId> id =
            read(known ? cast<ShardingAttr>(known[i]) : manual.getInSharding(i),
                 operand.getType(), op->getLoc());
        if (failed(id) || failed(verifySpelling(manual, *id)))
          return failure();
        operands.push_back(*id);
        inside.push_back(
            getInside(*id, operand.getType(), manual.getBody().getArgument(i).getType()));
      }
      Operation *terminator = manual.getBody().front().getTerminator();
      for (auto [result, value, id] :
           llvm::zip(op->getResults(), terminator->getOperands(), *results)) {
        if (failed(verifySpelling(manual, *id)))
          return failure();
        handed.push_back(getInside(*id, result.getType(), value.getType()));
      }
      handOn(op, operands, *results);
      defineAll(manual.getBody().getArguments(), inside);
      terminatorNeeds[terminator] = std::move(handed);
      if (failed(decideBlock(manual.getBody().front())))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      handOn(op, behind(loop.getNumControlOperands(), *results), *results);
      defineAll(loop.getRegionIterArgs(), *results);
      terminatorNeeds[loop.getBody()->getTerminator()] = *results;
      if (failed(decideBlock(*loop.getBody())))
        return failure();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      SmallVector<std::optional<LayoutId>> carried;
      for (Value init : loop.getInits()) {
        auto it = values.find(init);
        carried.push_back(std::nullopt);
        if (it != values.end())
          carried.back() = it->second.home;
        else if (isa<RankedTensorType>(init.getType()))
          carried.back() = table.getReplicated(rankOf(init));
      }
      handOn(op, carried, *results);
      defineAll(loop.getBeforeArguments(), carried);
      defineAll(loop.getAfterArguments(), *results);
      terminatorNeeds[loop.getConditionOp()] = behind(1, *results);
      terminatorNeeds[loop.getYieldOp()] = carried;
      if (failed(decideBlock(*loop.getBeforeBody())) ||
          failed(decideBlock(*loop.getAfterBody())))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      // Whatever is asked for, dims that are written in part are whole.
      for (auto [i, id] : llvm::enumerate(*results)) {
        Sharding sharding = table.get(*id);
        for (unsigned d : getPartlyWrittenDims(loop, i).set_bits())
          sharding.dims[d].entries.clear();
        id = table.intern(std::move(sharding));
      }
      handOn(op, behind(op->getNumOperands() - results->size(), *results), *results);
      defineAll(loop.getRegionIterArgs(), *results);
      if (failed(decideBlock(*loop.getBody())))
        return failure();
      for (tensor::ParallelInsertSliceOp write : getSliceWrites(loop))
        decideSliceWrite(write);
    } else {
      handOn(op, {}, *results);
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        terminatorNeeds[region.front().getTerminator()] = *results;
        if (failed(decideBlock(region.front())))
          return failure();
      }
    }
    defineAll(op->getResults(), *results);
    return success();
  }

  /// A manual computation names one mesh.
  LogicalResult verifySpelling(ManualComputationOp op, LayoutId id) {
    ShardingAttr attr = meshes.getAttr(table.get(id), op.getMesh());
    if (attr.getMesh() == op.getMesh())
      return success();
    return op.emitError() << "layout " << meshes.toString(table.get(id))
                          << " at the border of a manual computation has no spelling on mesh "
                          << op.getMesh() << ", expected its free axes to be of that mesh";
  }

  /// What is left of a layout inside a manual computation.
  LayoutId getInside(LayoutId id, Type outside, Type inside) {
    return table.intern(getFreeSharding(table.get(id), getShape(outside), getShape(inside)));
  }

  /// A slice is written in the layout of the shared output it goes to.
  void decideSliceWrite(tensor::ParallelInsertSliceOp write) {
    ShardingRule rule = getShardingRule(write);
    LayoutId dest = values.find(write.getDest())->second.home;
    FactorAxes axes(rule.numFactors());
    for (auto [f, entries] : llvm::enumerate(axes))
      if (auto own = projectFactor(rule, 1, f, table.get(dest)))
        entries = std::move(*own);
    handOn(write, {table.intern(getTensorSharding(rule, 0, axes)), dest});
  }

  LogicalResult decide(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      handOn(op, resultLayouts);
      return success();
    }
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      handOn(op, terminatorNeeds.lookup(op));
      return success();
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      return decideCall(call);
    if (isControlFlow(op) || isa<ManualComputationOp>(op))
      return decideRegions(op);
    if (isa<ShardingGroupOp>(op)) {
      consumed.push_back(op);
      return success();
    }
    if (isa<StageBoundaryOp>(op) ||
        (isa<CollectiveOpInterface>(op) && !op->getParentOfType<ManualComputationOp>()))
      return op->emitError() << op->getName()
                             << " is not supported by insert-reshards yet";
    OpPlan plan;
    plan.op = op;

    // A constraint or reshard pins its result: nothing to choose, and nothing to
    // do where nobody reads it.
    if (isPin(op) && op->use_empty()) {
      plans.push_back(std::move(plan));
      return success();
    }
    if (isPin(op)) {
      ShardingAttr attr;
      if (auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr))
        attr = cast<ShardingAttr>(shardings[0]);
      else if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
        attr = constraint.getShardingAttr();
      else if (auto reshard = dyn_cast<ReshardOp>(op))
        attr = reshard.getShardingAttr();
      else if (auto it = values.find(op->getOperand(0)); it != values.end())
        attr = table.getAttr(it->second.home);
      else
        attr = table.getAttr(table.getReplicated(rankOf(op->getOperand(0))));
      if (!attr)
        return op->emitError()
               << "constraint has axis resources, expected a sharding; run "
                  "--spmd-resolve-axis-resources first";
      FailureOr<LayoutId> pinned = read(attr, op->getResult(0).getType(), op->getLoc());
      if (failed(pinned))
        return failure();
      plan.needs.push_back(*pinned);
      plan.produced.push_back(*pinned);
      need(op->getOperand(0), *pinned);
      define(op->getResult(0), *pinned, *pinned);
      plans.push_back(std::move(plan));
      return success();
    }

    if (op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op)) {
      droppedConstraints += dropAnnotations(op, "the op around it computes on whole values");
      if (failed(verifyWholeCalls(op)))
        return failure();
    }
    ShardingRule rule = getShardingRule(op);
    // What the choice depends on, as numbers: ops alike choose alike.
    SmallVector<int64_t, 16> key;
    SmallVector<TensorLayout> layouts;
    auto addLayout = [&](RankedTensorType type, std::optional<LayoutId> id, Block *block) {
      layouts.push_back({type, id});
      layouts.back().count = countExecutions(block, tripCount);
      key.append({id ? int64_t(*id) : -1, layouts.back().count});
    };
    for (auto [t, tensor] : llvm::enumerate(rule.operands())) {
      auto it = values.find(tensor.value);
      bool counts = it != values.end() && tensor.role != OperandRole::ShapeOnly;
      addLayout(tensor.type, counts ? std::optional(it->second.home) : std::nullopt,
                Value(tensor.value).getParentBlock());
      if (t >= op->getNumOperands())
        plan.captured.push_back(tensor.value);
    }
    ArrayAttr shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    for (auto [i, tensor] : llvm::enumerate(rule.results())) {
      std::optional<LayoutId> home;
      if (shardings && tensor.type) {
        FailureOr<LayoutId> given =
            read(cast<ShardingAttr>(shardings[i]), tensor.type, op->getLoc());
        if (failed(given))
          return failure();
        home = *given;
      }
      addLayout(tensor.type, home, op->getBlock());
    }
    if (hasUneven)
      markUnevenFactors(rule, op);
    plan.rule = rules.intern(std::move(rule));

    std::optional<Choice> carried;
    if (!op->hasAttr(kComputeAttr))
      carried = carryPartial(op, *plan.rule);
    if (carried) {
      static_cast<Choice &>(plan) = std::move(*carried);
    } else if (op->hasAttr(kComputeAttr)) {
      FailureOr<FactorAxes> axes = readCompute(op, *plan.rule);
      if (failed(axes))
        return failure();
      static_cast<Choice &>(plan) = getChoice(op, *plan.rule, layouts, *axes);
    } else {
      key.push_back(int64_t(reinterpret_cast<uintptr_t>(plan.rule)));
      StringRef bytes(reinterpret_cast<const char *>(key.data()), key.size() * sizeof(int64_t));
      auto [it, isNew] = choices.try_emplace(bytes);
      if (isNew || op->getContext()->getRemarkEngine())
        it->second = getChoice(op, *plan.rule, layouts,
                               chooseCompute(*plan.rule, layouts, table));
      static_cast<Choice &>(plan) = it->second;
    }
    for (unsigned t = 0; t < plan.needs.size(); ++t)
      if (plan.needs[t] && plan.rule->tensor(t).role != OperandRole::ShapeOnly)
        need(getOperand(plan, t), *plan.needs[t]);
    for (auto [i, produced] : llvm::enumerate(plan.produced))
      if (produced) {
        std::optional<LayoutId> home = layouts[plan.rule->numOperands() + i].layout;
        define(op->getResult(i), *produced, home ? *home : table.getComplete(*produced));
      }
    plans.push_back(std::move(plan));
    return success();
  }

  static Value getOperand(const OpPlan &plan, unsigned t) {
    unsigned own = plan.op->getNumOperands();
    return t < own ? plan.op->getOperand(t) : plan.captured[t - own];
  }

  Choice getChoice(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                   const FactorAxes &axes) {
    if (op->getContext()->getRemarkEngine())
      remarkReplicated(op, rule, layouts, axes);
    Choice choice;
    auto layoutOf = [&](unsigned t) -> std::optional<LayoutId> {
      if (!rule.tensor(t).type)
        return std::nullopt;
      return table.intern(getTensorSharding(rule, t, axes));
    };
    for (unsigned t = 0; t < rule.numOperands(); ++t)
      choice.needs.push_back(layoutOf(t));
    for (unsigned i = 0; i < rule.numResults(); ++i)
      choice.produced.push_back(layoutOf(rule.numOperands() + i));
    return choice;
  }

  /// Says where an op computes whole tensors although its operands are cut.
  void remarkReplicated(Operation *op, const ShardingRule &rule,
                        ArrayRef<TensorLayout> layouts, const FactorAxes &axes) {
    if (rule.isFallback || llvm::any_of(axes, [](const DimEntries &list) { return !list.empty(); }))
      return;
    DimEntries cut;
    bool mayCut = false;
    for (unsigned t = 0; t < rule.numOperands(); ++t) {
      if (!layouts[t].layout)
        continue;
      const Sharding &sharding = table.get(*layouts[t].layout);
      for (auto [d, dim] : llvm::enumerate(sharding.dims))
        for (const DimEntry &entry : dim.entries) {
          if (!entry.isGap() && !llvm::is_contained(cut, entry))
            cut.push_back(entry);
          for (int32_t f : rule.dimFactors(rule.tensor(t), d))
            mayCut |= rule.factor(f).kind != FactorKind::Whole;
        }
    }
    int64_t bytes = 0;
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape())
        bytes += type.getNumElements() * getElementBytes(type.getElementType());
    if (cut.empty() || bytes == 0)
      return;
    llvm::sort(cut);
    std::string names;
    for (const DimEntry &entry : cut)
      names += (names.empty() ? "" : ",") + meshes.getAxisName(entry);
    remark::missed(op->getLoc(), remark::RemarkOpts::name("replicated")
                                     .category("spmd")
                                     .function(func.getName()))
        << remark::add("{0} computes whole tensors on every device", op->getName().getStringRef())
        << remark::metric("Bytes", bytes) << remark::metric("Axes", names)
        << remark::reason("{0}", mayCut ? "no cut of it costs less in reshards"
                                        : "it keeps the dims whole that its operands are cut along")
        << remark::suggest("cut other dims of its operands");
  }

  /// How an op shall compute, as `spmd.compute` on it says.
  FailureOr<FactorAxes> readCompute(Operation *op, const ShardingRule &rule) {
    auto attr = op->getAttrOfType<FactorsAttr>(kComputeAttr);
    if (!attr)
      return op->emitError() << "spmd.compute is no #spmd.factors, expected the axes of each "
                                "factor of the sharding rule";
    auto factors = meshes.read(attr, [&] { return op->emitError(); });
    if (failed(factors))
      return failure();
    if (factors->size() != rule.numFactors())
      return op->emitError() << "spmd.compute has " << factors->size()
                             << " factors, expected the " << rule.numFactors()
                             << " of the sharding rule";
    FactorAxes axes;
    DimEntries used;
    for (auto [f, entries] : llvm::enumerate(*factors)) {
      const Factor &factor = rule.factor(f);
      if (!entries.empty() &&
          (factor.kind == FactorKind::Whole || !canCut(factor, entries, meshes.getMesh()) ||
           overlaps(entries, used, mesh)))
        return op->emitError() << "spmd.compute cuts factor " << f << " of size " << factor.size
                               << " by {" << meshes.toString(entries)
                               << "}, expected axes that divide it, used once, and none on a "
                                  "factor that stays whole";
      used.append(entries.begin(), entries.end());
      axes.push_back(canonicalize(entries));
    }
    return axes;
  }

  /// How an op computes whose operands are all partial sums over the same axes and
  /// that sums pass through: the result is partial as they are, and is completed
  /// once, behind the last of such ops. Nothing where another choice is due: an
  /// operand has other users too, or there is one operand and nothing to add it to.
  std::optional<Choice> carryPartial(Operation *op, const ShardingRule &rule) {
    if (!isAdditive(op))
      return std::nullopt;
    std::optional<LayoutId> first;
    unsigned read = 0;
    FactorAxes axes;
    for (unsigned t = 0; t < rule.numOperands(); ++t) {
      if (rule.tensor(t).role == OperandRole::ShapeOnly)
        continue;
      Value operand = op->getOperand(t);
      auto it = values.find(operand);
      if (it == values.end() || !table.isPartial(it->second.produced) ||
          !llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == op; }))
        return std::nullopt;
      ++read;
      const Sharding &own = table.get(it->second.produced);
      if (!first) {
        first = it->second.produced;
        if (own.unreducedKind != ReductionKind::Sum)
          return std::nullopt;
        for (unsigned f = 0; f < rule.numFactors(); ++f)
          axes.push_back(projectFactor(rule, t, f, own).value_or(DimEntries()));
      }
      const Sharding &common = table.get(*first);
      if (own.unreduced != common.unreduced || own.unreducedKind != common.unreducedKind ||
          it->second.produced != getPartial(rule, t, axes, common))
        return std::nullopt;
    }
    if (!first || (read == 1 && !(op->hasOneUse() && isAdditive(*op->user_begin()))))
      return std::nullopt;
    for (auto [f, entries] : llvm::enumerate(axes))
      if (!entries.empty() && (rule.factor(f).kind == FactorKind::Whole ||
                               !canCut(rule.factor(f), entries, meshes.getMesh())))
        return std::nullopt;
    Choice choice;
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
      LayoutId id = rule.tensor(t).role == OperandRole::ShapeOnly
                        ? table.intern(getTensorSharding(rule, t, axes))
                        : getPartial(rule, t, axes, table.get(*first));
      if (t < rule.numOperands())
        choice.needs.push_back(id);
      else
        choice.produced.push_back(id);
    }
    return choice;
  }

  /// What a tensor of a rule has, and is partial over the axes that `like` is.
  LayoutId getPartial(const ShardingRule &rule, unsigned t, const FactorAxes &axes,
                      const Sharding &like) {
    Sharding sharding = getTensorSharding(rule, t, axes);
    sharding.unreduced = like.unreduced;
    sharding.unreducedKind = like.unreducedKind;
    return table.intern(std::move(sharding));
  }

  /// A call hands its operands over in the layouts of the callee.
  LogicalResult decideCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
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
    SmallVector<std::optional<LayoutId>> needs, produced;
    for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
      auto id = layoutOf(callee ? callee.getArgAttr(i, kShardingAttr) : Attribute(),
                         operand.getType());
      if (failed(id))
        return failure();
      needs.push_back(*id);
    }
    for (auto [i, result] : llvm::enumerate(call.getResults())) {
      auto id = layoutOf(callee ? callee.getResultAttr(i, kShardingAttr) : Attribute(),
                         result.getType());
      if (failed(id))
        return failure();
      produced.push_back(*id);
    }
    handOn(call, needs, produced);
    defineAll(call.getResults(), produced);
    return success();
  }

  /// Says once per function where the choices rest on default costs.
  void emitDefaultCosts() {
    const Mesh &costs = meshes.getCostMesh();
    if (!costs.alpha.empty() && !costs.beta.empty())
      return;
    remark::analysis(func.getLoc(), remark::RemarkOpts::name("default-cost")
                                        .category("spmd")
                                        .function(func.getName()))
        << remark::add("mesh @{0} has no link costs: alpha = {1:E1} s, beta = {2:E1} "
                       "s/byte on every axis",
                       costs.name, CostModel::kDefaultAlpha, CostModel::kDefaultBeta)
        << remark::suggest("give the mesh alpha and beta");
  }

  //===--- rewriting ------------------------------------------------------===//

  void apply(OpPlan &plan) {
    Operation *op = plan.op;
    for (auto [t, needed] : llvm::enumerate(plan.needs)) {
      if (!needed)
        continue;
      bool captured = t >= op->getNumOperands();
      bool shapeOnly =
          plan.rule && plan.rule->tensor(t).role == OperandRole::ShapeOnly;
      // Earlier rewrites may have replaced a value that the body captures.
      Value old = captured ? resolve(getOperand(plan, t)) : op->getOperand(t);
      Value value = shapeOnly
                        ? getEmpty(old, *needed, op)
                        : get(old, *needed, op);
      if (value == old)
        continue;
      if (!captured)
        op->setOperand(t, value);
      else
        old.replaceUsesWithIf(value, [&](OpOperand &use) {
          return op->isProperAncestor(use.getOwner());
        });
    }
    if (isPin(op)) {
      if (op->use_empty() && !isa<PropagationBarrierOp>(op)) {
        ++droppedConstraints;
        remark::missed(op->getLoc(), remark::RemarkOpts::name("dropped-constraint")
                                         .category("spmd")
                                         .function(func.getName()))
            << remark::add("result of {0} has no use: dropped",
                           op->getName().getStringRef());
      }
      replaced[op->getResult(0)] = op->getOperand(0);
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      // Erased at the end: the tables know values by address.
      consumed.push_back(op);
      return;
    }
    if (llvm::any_of(plan.produced, [](auto id) { return id.has_value(); }))
      setShardings(op, plan.produced);
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      auto toList = [&](ArrayRef<std::optional<LayoutId>> ids) {
        SmallVector<Attribute> attrs;
        for (auto id : ids)
          attrs.push_back(meshes.getAttr(table.get(*id), manual.getMesh()));
        return ArrayAttr::get(op->getContext(), attrs);
      };
      manual.setInShardingsAttr(toList(plan.needs));
      manual.setOutShardingsAttr(toList(plan.produced));
      op->removeAttr(kOperandShardingsAttr);
    }
  }

  void setShardings(Operation *op, ArrayRef<std::optional<LayoutId>> layouts) {
    SmallVector<Attribute> attrs;
    for (std::optional<LayoutId> id : layouts)
      attrs.push_back(table.getAttr(id ? *id : table.getReplicated(0)));
    ArrayAttr attr;
    if (layouts.size() == 1) { // lists of one are few
      if (*layouts[0] >= single.size())
        single.resize(*layouts[0] + 1);
      ArrayAttr &known = single[*layouts[0]];
      attr = known = known ? known : ArrayAttr::get(op->getContext(), attrs);
    } else {
      attr = ArrayAttr::get(op->getContext(), attrs);
    }
    op->setDiscardableAttr(shardingsName, attr);
  }

  Value resolve(Value value) {
    for (auto it = replaced.find(value); it != replaced.end();
         it = replaced.find(value))
      value = it->second;
    return value;
  }

  /// Where a reshard of a value stands: beside it, outside the loops and branches
  /// that its users are in.
  static Operation *getAnchor(Value value, Operation *consumer) {
    return value.getParentBlock()->findAncestorOpInBlock(*consumer);
  }

  /// The value in a layout, for a consumer that is rewritten now.
  Value get(Value value, LayoutId id, Operation *consumer) {
    if (isCreation(value.getDefiningOp()))
      return materialize(value, id, consumer);
    ValueState &state = values.find(value)->second;
    for (auto &[have, copy] : state.available)
      if (have == id)
        return copy;
    // A partial value that several layouts are wanted of is completed once.
    bool direct = state.produced == state.home || state.needs.size() <= 1 ||
                  id == state.home;
    LayoutId from = direct ? state.produced : state.home;
    Value source = direct ? state.available.front().second
                          : get(value, state.home, consumer);
    return reshard(value, source, from, id, consumer);
  }

  Value reshard(Value value, Value source, LayoutId from, LayoutId to,
                Operation *consumer) {
    OpBuilder b(getAnchor(value, consumer));
    auto op = ReshardOp::create(b, consumer->getLoc(), source.getType(), source, table.getAttr(to));
    emitRemark(value, from, to, consumer);
    ValueState &state = values[value];
    state.available.push_back({to, op.getResult()});
    // The result may be asked for in another layout, where it came from a
    // constraint.
    ValueState copy;
    copy.produced = copy.home = to;
    copy.available = {{to, op.getResult()}};
    values[op.getResult()] = std::move(copy);
    return op.getResult();
  }

  void emitRemark(Value value, LayoutId from, LayoutId to, Operation *consumer) {
    auto type = cast<RankedTensorType>(value.getType());
    auto [bytes, kinds, axes] = table.getMove(from, to, type);
    if (bytes == 0)
      return;
    if (forbidImplicit && !isa<WithShardingConstraintOp, ReshardOp>(consumer)) {
      std::string wanted = meshes.toString(table.get(table.getComplete(to)));
      consumer->emitError() << "implicit reshard of " << type << " from "
                            << meshes.toString(table.get(from)) << " to "
                            << meshes.toString(table.get(to)) << " (" << kinds << ", "
                            << bytes << " bytes), expected it to be written: "
                            << "spmd.with_sharding_constraint <@" << mesh.name << ", " << wanted
                            << "> on the operand";
      foundImplicit = true;
    }
    Operation *def = value.getDefiningOp();
    std::string producer = def ? def->getName().getStringRef().str() : "an argument";
    remark::passed(consumer->getLoc(), remark::RemarkOpts::name("reshard")
                                           .category("spmd")
                                           .function(func.getName()))
        << remark::add("{0} needs {1}, {2} gives {3}: {4}",
                       consumer->getName().getStringRef(),
                       meshes.toString(table.get(to)), producer,
                       meshes.toString(table.get(from)), kinds)
        << remark::metric("Bytes", bytes) << remark::metric("Axes", axes)
        << remark::metric("Reason", table.isPartial(from)
                                        ? "a partial result is completed"
                                        : "the layouts differ")
        << remark::suggest("{0}", table.isPartial(from)
                                      ? "cut another loop of the op that gives it, or have its "
                                        "users want it cut along these axes"
                                      : "write the one as the other by "
                                        "spmd.with_sharding_constraint, if it can be computed so");
  }

  /// A creation op made anew in a layout; one per value and layout.
  Value materialize(Value value, LayoutId id, Operation *consumer) {
    Value &made = materialized[{value, id}];
    if (made)
      return made;
    Operation *def = value.getDefiningOp();
    consumer = getAnchor(value, consumer);
    OpBuilder b(consumer);
    LayoutId complete = table.getComplete(id);
    if (table.isPartial(id) &&
        !isNeutralFill(value, table.get(id).unreducedKind)) {
      // Counts once: complete first, then masked on all shards but the first.
      Value whole = materialize(value, complete, consumer);
      auto op = ReshardOp::create(b, consumer->getLoc(), whole.getType(), whole, table.getAttr(id));
      return materialized[{value, id}] = op.getResult();
    }
    Operation *clone = b.clone(*def);
    if (auto fill = dyn_cast<linalg::FillOp>(def))
      clone->setOperand(1, materialize(fill.getOutputs().front(), complete, clone));
    setShardings(clone, {id});
    return materialized[{value, id}] = clone->getResult(0);
  }

  /// A tensor whose elements are not read.
  Value getEmpty(Value value, LayoutId id, Operation *consumer) {
    auto type = cast<RankedTensorType>(value.getType());
    if (isCreation(value.getDefiningOp()))
      return materialize(value, id, consumer);
    auto it = values.find(value);
    if (!type.hasStaticShape())
      return get(value, id, consumer);
    if (it != values.end() && it->second.produced == id)
      return value;
    OpBuilder b(consumer);
    auto empty = tensor::EmptyOp::create(b, consumer->getLoc(), type.getShape(),
                                         type.getElementType());
    setShardings(empty, {id});
    return empty.getResult();
  }

  void writeSignature() {
    SignatureAttrs signature(func);
    for (BlockArgument arg : func.getArguments()) {
      auto it = values.find(arg);
      if (it != values.end())
        signature.arg(arg.getArgNumber())
            .set(kShardingAttr, table.getAttr(it->second.produced));
    }
    for (auto [i, id] : llvm::enumerate(resultLayouts))
      if (id)
        signature.result(i).set(kShardingAttr, table.getAttr(*id));
    signature.write();
  }

  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  LayoutTable table;
  StringAttr shardingsName = StringAttr::get(func.getContext(), kShardingsAttr);
  SmallVector<ArrayAttr> single; // `spmd.shardings` of one result, per layout
  llvm::DenseMap<Value, ValueState> values;
  SmallVector<std::optional<LayoutId>> resultLayouts;
  /// Whether any value is given axes that do not divide a dim of it.
  bool hasUneven = false;
  std::vector<OpPlan> plans;
  RuleTable rules;
  llvm::StringMap<Choice> choices;
  llvm::DenseMap<std::pair<Value, LayoutId>, Value> materialized;
  llvm::DenseMap<Value, Value> replaced;
  /// What terminators of regions hand out.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> terminatorNeeds;
  /// Creation ops as they stood, in program order.
  SmallVector<Operation *> creations;
  /// Annotations that are not needed any more.
  SmallVector<Operation *> consumed;
};

struct InsertReshardsPass
    : public spmd::impl::SPMDInsertReshardsPassBase<InsertReshardsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (tripCount < 1) {
      emitError(module.getLoc()) << "trip-count=" << tripCount << ", expected a positive number";
      return signalPassFailure();
    }
    if (failed(verifyPhaseAtMost(module, Phase::Resharded, getArgument())))
      return signalPassFailure();
    if (getPhase(module) == int(Phase::Resharded))
      return;
    MeshCache meshes(module);
    unsigned dropped = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      auto own = FunctionIndex(func).getMeshes(meshes);
      if (failed(own))
        return signalPassFailure();
      if (!*own) { // one device: nothing to cut
        dropped += dropAnnotations(func, "the function has no mesh");
        continue;
      }
      FunctionRewriter rewriter(func, **own);
      rewriter.forbidImplicit = forbidImplicit;
      rewriter.tripCount = tripCount;
      if (failed(rewriter.run()) || rewriter.foundImplicit)
        return signalPassFailure();
      dropped += rewriter.droppedConstraints;
    }
    if (dropped > 0)
      emitWarning(module.getLoc()) << dropped
                           << " constraints are dropped; list them "
                              "with --remarks-filter=spmd";
    setPhase(module, Phase::Resharded);
  }
};

} // namespace
