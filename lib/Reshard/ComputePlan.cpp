//===- ComputePlan.cpp - How the ops of a function compute ----------------===//

#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "DeferredReductions.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Cost/DeriveCosts.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Partition/WholeFunctions.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ComputeDecider {
public:
  ComputeDecider(ComputePlan &plan, int64_t tripCount, bool carriesSums)
      : plan(plan), func(plan.func), meshes(plan.meshes), mesh(meshes.getMesh()), table(plan.table),
        values(plan.values), sums(plan), tripCount(tripCount), carriesSums(carriesSums) {}

  LogicalResult run() {
    if (failed(readSignature()) || failed(decideBlock(func.getBody().front())))
      return failure();
    if (!func->hasAttr(kSolverAttr)) // the search has said it
      remarkDefaultCosts(func, meshes.getCostMesh());
    return success();
  }

private:
  struct Choice {
    FactorAxes axes;
    ComputeLayouts layouts;
  };

  FailureOr<LayoutId> read(ShardingAttr attr, Type type, Location loc) {
    auto tensor = cast<RankedTensorType>(type);
    FailureOr<LayoutId> id = table.read(attr, tensor, [&] { return emitError(loc); });
    if (succeeded(id))
      for (auto [size, dim] : llvm::zip(tensor.getShape(), table.get(*id).dims))
        hasUneven |= !divides(dim.entries, size);
    return id;
  }

  static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

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
      plan.results.push_back(std::nullopt);
      if (!type)
        continue;
      plan.results.back() = table.getReplicated(type.getRank());
      if (auto attr = func.getResultAttrOfType<ShardingAttr>(i, kShardingAttr)) {
        FailureOr<LayoutId> given = read(attr, type, func.getLoc());
        if (failed(given))
          return failure();
        plan.results.back() = *given;
      }
    }
    return success();
  }

  void define(Value value, LayoutId produced, LayoutId home) {
    auto [it, isNew] = values.try_emplace(value);
    ValueLayouts &state = it->second;
    if (tentative)
      changes.push_back({value, isNew ? std::nullopt : std::optional(state)});
    state.produced = produced;
    state.home = home;
    state.available = {{produced, value}};
  }

  void need(Value value, LayoutId id) {
    auto it = values.find(value);
    if (it == values.end() || llvm::is_contained(it->second.needs, id))
      return;
    if (tentative)
      changes.push_back({value, it->second});
    it->second.needs.push_back(id);
  }

  LogicalResult decideBlock(Block &block) {
    for (Operation &op : block) {
      if (isConstantLike(&op))
        plan.creations.push_back(&op);
      else if (failed(decide(&op)))
        return failure();
    }
    return success();
  }

  /// An op that hands its operands on, each in a given layout: a terminator, a
  /// loop.
  void handOn(Operation *op, ArrayRef<std::optional<LayoutId>> needs, ArrayRef<std::optional<LayoutId>> produced = {}) {
    OpPlan own;
    own.op = op;
    for (auto [operand, id] : llvm::zip(op->getOperands(), needs)) {
      own.needs.push_back(id);
      if (id)
        need(operand, *id);
    }
    own.produced.assign(produced.begin(), produced.end());
    plan.ops.push_back(std::move(own));
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
      FailureOr<LayoutId> given = read(cast<ShardingAttr>(shardings[i]), result.getType(), op->getLoc());
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

  static SmallVector<std::optional<LayoutId>> behind(unsigned scalars, ArrayRef<std::optional<LayoutId>> layouts) {
    SmallVector<std::optional<LayoutId>> needs(scalars);
    needs.append(layouts.begin(), layouts.end());
    return needs;
  }

  using ResultLayouts = SmallVector<std::optional<LayoutId>>;

  LogicalResult decideRegions(Operation *op) {
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

  /// The layout that a region op says operand `i` has, or null.
  static ShardingAttr getGivenOperand(Operation *op, unsigned i) {
    auto known = op->getAttrOfType<ArrayAttr>(kOperandShardingsAttr);
    return known ? cast<ShardingAttr>(known[i]) : ShardingAttr();
  }

  LogicalResult decideManual(ManualComputationOp op, ResultLayouts &results) {
    // Closed, as they are now.
    ResultLayouts operands, inside, handed;
    for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
      ShardingAttr given = getGivenOperand(op, i);
      FailureOr<LayoutId> id = read(given ? given : op.getInSharding(i), operand.getType(), op.getLoc());
      if (failed(id) || failed(makeSpellable(op, *id, operand.getType())))
        return failure();
      operands.push_back(*id);
      inside.push_back(getInside(*id, operand.getType(), op.getBody().getArgument(i).getType()));
    }
    Operation *terminator = op.getBody().front().getTerminator();
    for (auto [result, value, id] : llvm::zip(op->getResults(), terminator->getOperands(), results)) {
      if (failed(makeSpellable(op, *id, result.getType())))
        return failure();
      handed.push_back(getInside(*id, result.getType(), value.getType()));
    }
    handOn(op, operands, results);
    defineAll(op.getBody().getArguments(), inside);
    terminatorNeeds[terminator] = std::move(handed);
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

  LogicalResult decideWhile(scf::WhileOp loop, ArrayRef<std::optional<LayoutId>> results) {
    ResultLayouts carried;
    for (auto [i, init] : llvm::enumerate(loop.getInits())) {
      carried.push_back(std::nullopt);
      if (!isa<RankedTensorType>(init.getType()))
        continue;
      if (ShardingAttr given = getGivenOperand(loop, i)) {
        FailureOr<LayoutId> id = read(given, init.getType(), loop.getLoc());
        if (failed(id))
          return failure();
        carried.back() = *id;
      } else {
        auto it = values.find(init);
        carried.back() = it != values.end() ? it->second.home : table.getReplicated(rankOf(init));
      }
    }
    handOn(loop, carried, results);
    defineAll(loop.getBeforeArguments(), carried);
    defineAll(loop.getAfterArguments(), results);
    terminatorNeeds[loop.getConditionOp()] = behind(1, results);
    terminatorNeeds[loop.getYieldOp()] = carried;
    if (failed(decideBlock(*loop.getBeforeBody())))
      return failure();
    return decideBlock(*loop.getAfterBody());
  }

  LogicalResult decideForall(scf::ForallOp loop, ResultLayouts &results) {
    // Whatever is asked for, dims that are written in part are whole.
    for (auto [i, id] : llvm::enumerate(results)) {
      Sharding sharding = table.get(*id);
      for (unsigned d : getPartlyWrittenDims(loop, i).set_bits())
        sharding.dims[d].entries.clear();
      id = table.intern(std::move(sharding));
    }
    handOn(loop, behind(loop->getNumOperands() - results.size(), results), results);
    defineAll(loop.getRegionIterArgs(), results);
    if (failed(decideBlock(*loop.getBody())))
      return failure();
    for (tensor::ParallelInsertSliceOp write : getSliceWrites(loop))
      decideSliceWrite(write);
    return success();
  }

  /// Regions that each hand out the results.
  LogicalResult decideBranches(Operation *op, const ResultLayouts &results) {
    handOn(op, {}, results);
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      terminatorNeeds[region.front().getTerminator()] = results;
      if (failed(decideBlock(region.front())))
        return failure();
    }
    return success();
  }

  /// A manual computation names one mesh: free axes that it does not have are left
  /// out, minor ones first.
  LogicalResult makeSpellable(ManualComputationOp op, LayoutId &id, Type type) {
    auto isSpelled = [&](const Sharding &sharding, ArrayRef<int64_t> shape) {
      return meshes.getAttrOn(sharding, shape, op.getMesh()).getMesh() == op.getMesh();
    };
    Sharding sharding = table.get(id);
    ArrayRef<int64_t> shape = getShape(type);
    if (isSpelled(sharding, shape))
      return success();
    for (auto [dim, size] : llvm::zip_equal(sharding.dims, shape)) {
      Sharding alone;
      alone.dims.push_back(dim);
      while (!alone.dims[0].entries.empty() && !isSpelled(alone, size))
        alone.dims[0].entries.pop_back();
      dim.entries = alone.dims[0].entries;
    }
    if (!isSpelled(sharding, shape))
      return op.emitError() << "layout " << meshes.toString(table.get(id))
                            << " at the boundary of a manual computation cannot be expressed on mesh " << op.getMesh()
                            << ", expected free axes of that mesh";
    id = table.intern(std::move(sharding));
    return success();
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

  /// What is accumulated over microbatches stays as it is handed out, and is completed
  /// once, behind; anything else leaves in the layout that propagation chose.
  LogicalResult decideHandOver(StageOutputOp op) {
    FailureOr<SmallVector<std::optional<LayoutId>>> results = readResults(op);
    if (failed(results))
      return failure();
    LayoutId home = *results->front(), handed = home;
    auto it = values.find(op.getInput());
    if (it != values.end() && op.getReduction() && table.isPartial(it->second.produced) &&
        table.get(it->second.produced).unreducedKind == op.getReduction()->getValue())
      handed = it->second.produced;
    handOn(op, {handed}, {handed});
    define(op.getResult(), handed, home);
    return success();
  }

  LogicalResult decide(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      handOn(op, plan.results);
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
      plan.consumed.push_back(op);
      return success();
    }
    if (auto part = dyn_cast<FragmentOp>(op)) {
      partExecutions = part.getExecutions().value_or(1);
      return success();
    }
    if (auto out = dyn_cast<StageOutputOp>(op))
      return decideHandOver(out);
    if (isa<StageBoundaryOp>(op) || (isa<CollectiveOpInterface>(op) && !op->getParentOfType<ManualComputationOp>()))
      return op->emitError() << op->getName() << " is not supported by insert-reshards yet";
    return isConstraintLike(op) ? decidePin(op) : decideCompute(op);
  }

  /// A constraint or reshard pins its result: nothing to choose, and nothing to do where
  /// nobody reads it.
  LogicalResult decidePin(Operation *op) {
    OpPlan own;
    own.op = op;
    if (!op->use_empty()) {
      ShardingAttr attr = getPinned(op);
      if (!attr)
        return op->emitError() << "constraint has axis resources, expected a sharding; run "
                                  "--spmd-resolve-axis-resources first";
      FailureOr<LayoutId> pinned = read(attr, op->getResult(0).getType(), op->getLoc());
      if (failed(pinned))
        return failure();
      own.needs.push_back(*pinned);
      own.produced.push_back(*pinned);
      need(op->getOperand(0), *pinned);
      define(op->getResult(0), *pinned, *pinned);
    }
    plan.ops.push_back(std::move(own));
    return success();
  }

  /// What propagation made of it, else what it says, else what its operand has.
  ShardingAttr getPinned(Operation *op) {
    if (auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr))
      return cast<ShardingAttr>(shardings[0]);
    if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
      return constraint.getShardingAttr();
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return reshard.getShardingAttr();
    auto it = values.find(op->getOperand(0));
    return table.getAttr(it != values.end() ? it->second.home : table.getReplicated(rankOf(op->getOperand(0))));
  }

  /// Operands and results as they are before anything is chosen for the op.
  FailureOr<SmallVector<TensorLayout>> readTensors(Operation *op, const ShardingRule &rule) {
    SmallVector<TensorLayout> layouts;
    auto add = [&](RankedTensorType type, std::optional<LayoutId> id, Block *block) {
      layouts.push_back({type, id});
      layouts.back().count = countExecutions(block, tripCount) * partExecutions;
    };
    for (const ShardingRule::Tensor &tensor : rule.operands()) {
      auto it = values.find(tensor.value);
      bool counts = it != values.end() && tensor.role != OperandRole::ShapeOnly;
      add(tensor.type, counts ? std::optional(it->second.home) : std::nullopt, Value(tensor.value).getParentBlock());
    }
    ArrayAttr shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    for (auto [i, tensor] : llvm::enumerate(rule.results())) {
      std::optional<LayoutId> home;
      if (shardings && tensor.type) {
        FailureOr<LayoutId> given = read(cast<ShardingAttr>(shardings[i]), tensor.type, op->getLoc());
        if (failed(given))
          return failure();
        home = *given;
      }
      add(tensor.type, home, op->getBlock());
    }
    return layouts;
  }

  /// The cheapest way to compute; ops alike choose alike.
  const Choice &choose(const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
    // What the choice depends on, as numbers.
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

  /// How an op computes: as it was told, with sums carried on, or as is cheapest.
  FailureOr<ComputeLayouts> decideLayouts(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
    if (op->hasAttr(kFactorShardingsAttr)) {
      FailureOr<FactorAxes> axes = readCompute(op, rule);
      if (failed(axes))
        return failure();
      remarkReplicated(op, rule, layouts, *axes);
      return getLayouts(rule, layouts, *axes);
    }
    if (carriesSums)
      if (std::optional<ComputeLayouts> carried = sums.carry(op, rule, layouts))
        return std::move(*carried);
    const Choice &choice = choose(rule, layouts);
    remarkReplicated(op, rule, layouts, choice.axes);
    return choice.layouts;
  }

  LogicalResult decideCompute(Operation *op) {
    if (op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op)) {
      plan.droppedConstraints += dropAnnotations(op, "the enclosing op computes on replicated values");
      if (failed(verifyWholeCalls(op)))
        return failure();
    }
    if (isa<tensor::ExtractSliceOp>(op))
      op->removeAttr(kWindowsAttr); // decided here
    ShardingRule rule = getShardingRule(op);
    FailureOr<SmallVector<TensorLayout>> layouts = readTensors(op, rule);
    if (failed(layouts))
      return failure();
    if (isa<tensor::ExtractSliceOp>(op) && !op->hasAttr(kFactorShardingsAttr) && preferWindows(op, rule, *layouts))
      rule = getShardingRule(op);
    if (hasUneven || rule.hasWindows())
      markUnevenFactors(rule, op);

    OpPlan own;
    own.op = op;
    for (unsigned t = op->getNumOperands(); t < rule.numOperands(); ++t)
      own.captured.push_back(rule.tensor(t).value);
    own.rule = plan.rules.intern(std::move(rule));
    FailureOr<ComputeLayouts> decided = decideLayouts(op, *own.rule, *layouts);
    if (failed(decided))
      return failure();
    static_cast<ComputeLayouts &>(own) = std::move(*decided);
    for (unsigned t = 0; t < own.needs.size(); ++t)
      if (own.needs[t] && own.rule->tensor(t).role != OperandRole::ShapeOnly)
        need(own.getOperand(t), *own.needs[t]);
    for (auto [i, produced] : llvm::enumerate(own.produced))
      if (produced) {
        std::optional<LayoutId> home = (*layouts)[own.rule->numOperands() + i].layout;
        define(op->getResult(i), *produced, home ? *home : table.getComplete(*produced));
        values.find(op->getResult(i))->second.viaHome = op->hasAttr(kFactorShardingsAttr);
      }
    plan.ops.push_back(std::move(own));
    return success();
  }

  /// Marks a slice that costs less where it reads windows than where it takes a part
  /// of a dim as a digit.
  bool preferWindows(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts) {
    auto getSeconds = [&](const ShardingRule &rule) {
      return getReshardSeconds(rule, layouts, chooseCompute(rule, layouts, table), table);
    };
    double digits = getSeconds(rule);
    if (digits == 0)
      return false;
    op->setAttr(kWindowsAttr, UnitAttr::get(op->getContext()));
    ShardingRule windows = getShardingRule(op);
    markUnevenFactors(windows, op);
    // Of equal times windows receive less in all: not every device reads of another.
    if (windows.hasWindows() && getSeconds(windows) <= digits * (1 + 1e-9))
      return true;
    op->removeAttr(kWindowsAttr);
    return false;
  }

  ComputeLayouts getLayouts(const ShardingRule &rule, ArrayRef<TensorLayout> layouts, const FactorAxes &axes) {
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
      choice.needs.back() = table.intern(getNeededSharding(rule, t, axes, table.get(has)));
    }
    for (unsigned i = 0; i < rule.numResults(); ++i)
      choice.produced.push_back(layoutOf(rule.numOperands() + i));
    return choice;
  }

  /// Says where an op computes whole tensors although its operands are cut.
  void remarkReplicated(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                        const FactorAxes &axes) {
    if (tentative || rule.isFallback || llvm::any_of(axes, [](const DimEntries &list) { return !list.empty(); }))
      return;
    DimEntries cut;
    bool mayCut = false;
    for (unsigned t = 0; t < rule.numOperands(); ++t) {
      if (!layouts[t].layout)
        continue;
      const Sharding &sharding = table.get(*layouts[t].layout);
      for (auto [d, dim] : llvm::enumerate(sharding.dims))
        for (const DimEntry &entry : dim.entries) {
          if (!entry.isStride() && !llvm::is_contained(cut, entry))
            cut.push_back(entry);
          for (int32_t f : rule.dimFactors(rule.tensor(t), d))
            mayCut |= rule.factor(f).kind != FactorKind::Replicated;
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
    remark::missed(op->getLoc(), remark::RemarkOpts::name("replicated").category("spmd").function(func.getName()))
        << remark::add("{0} computes full tensors on every device", op->getName().getStringRef())
        << remark::metric("Bytes", bytes) << remark::metric("Axes", names)
        << remark::reason("{0}", mayCut ? "no sharding of it costs less in reshards"
                                        : "its rule replicates the dims that its operands are sharded along")
        << remark::suggest("shard other dims of its operands");
  }

  /// How an op shall compute, as `spmd.factor_shardings` on it says.
  FailureOr<FactorAxes> readCompute(Operation *op, const ShardingRule &rule) {
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

  //===--- sums that a loop adds up ----------------------------------------===//

  /// Decides the body of a loop. Where all that it adds to an argument is partial
  /// in one way, the argument stays partial and is completed once, behind the
  /// loop: found by deciding the body as if nothing were, and once more if so.
  LogicalResult decideLoop(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> homes) {
    // A loop around it that is decided twice adds nothing to what this one reads, so
    // that what was found the first time holds: each body is decided once per loop
    // around it, not twice.
    if (!carriedOf.contains(loop)) {
      auto carried = findCarried(loop, homes);
      if (failed(carried))
        return failure();
      carriedOf[loop] = *carried;
    }
    SmallVector<std::optional<LayoutId>> carried = carriedOf[loop];
    return decideBody(loop, carried, homes);
  }

  /// The layouts of the arguments of a loop: its homes, partial where that is better.
  FailureOr<SmallVector<std::optional<LayoutId>>> findCarried(scf::ForOp loop,
                                                              ArrayRef<std::optional<LayoutId>> homes) {
    SmallVector<std::optional<LayoutId>> carried(homes);
    SmallVector<SmallVector<Operation *, 2>> chains;
    bool found = false;
    for (unsigned i = 0; i < homes.size(); ++i) {
      chains.push_back(carriesSums && homes[i] ? CarriedSums::getAccumulation(loop, i) : SmallVector<Operation *, 2>());
      found |= !chains.back().empty();
    }
    int64_t trips = getTripCount(loop, tripCount);
    if (!found || trips <= 1)
      return carried;
    State state = save();
    ++tentative;
    LogicalResult decided = decideBody(loop, carried, homes);
    if (failed(decided))
      return failure();
    llvm::DenseMap<Operation *, const OpPlan *> plans;
    for (const OpPlan &own : llvm::drop_begin(plan.ops, state.ops))
      plans[own.op] = &own;
    for (auto [i, chain] : llvm::enumerate(chains)) {
      std::optional<LayoutId> added;
      if (!chain.empty())
        added = sums.getAddedLayout(loop, i, chain, plans);
      if (!added)
        continue;
      // What is added is completed once and not in every trip; the init is brought to
      // where that is.
      Value init = loop.getInitArgs()[i];
      auto type = cast<RankedTensorType>(init.getType());
      auto known = values.find(init);
      double each = table.getSeconds(*added, *homes[i], type), once = each;
      if (known != values.end())
        once += table.getSeconds(known->second.home, *added, type);
      if (once < trips * each)
        carried[i] = *added;
    }
    restore(state);
    --tentative;
    return carried;
  }

  LogicalResult decideBody(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> carried,
                           ArrayRef<std::optional<LayoutId>> homes) {
    handOn(loop, behind(loop.getNumControlOperands(), carried), carried);
    auto defineCarried = [&](ValueRange list) {
      for (auto [value, id, home] : llvm::zip(list, carried, homes))
        if (id)
          define(value, *id, *home);
    };
    defineCarried(loop.getRegionIterArgs());
    terminatorNeeds[loop.getBody()->getTerminator()].assign(carried.begin(), carried.end());
    if (failed(decideBlock(*loop.getBody())))
      return failure();
    defineCarried(loop.getResults());
    return success();
  }

  /// How much there was before a decision that is taken back.
  struct State {
    size_t changes, ops, creations, consumed;
  };
  State save() { return {changes.size(), plan.ops.size(), plan.creations.size(), plan.consumed.size()}; }
  void restore(const State &state) {
    while (changes.size() > state.changes) {
      auto &[value, before] = changes.back();
      if (before)
        values[value] = std::move(*before);
      else
        values.erase(value);
      changes.pop_back();
    }
    plan.ops.resize(state.ops);
    plan.creations.resize(state.creations);
    plan.consumed.resize(state.consumed);
  }

  /// A call hands its operands over in the layouts of the callee.
  LogicalResult decideCall(func::CallOp call) {
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
    SmallVector<std::optional<LayoutId>> needs, produced;
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
      produced.push_back(*id);
    }
    handOn(call, needs, produced);
    defineAll(call.getResults(), produced);
    return success();
  }

  ComputePlan &plan;
  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  CarriedSums sums;
  int64_t partExecutions = 1; // of the part of a stage that the ops are in
  int64_t tripCount;
  /// Whether partial sums go through what is linear in them.
  bool carriesSums;
  /// Above 0 while a body is decided to see what it adds up.
  unsigned tentative = 0;
  /// What it changes meanwhile: values, and what was known of them before.
  std::vector<std::pair<Value, std::optional<ValueLayouts>>> changes;
  /// Per loop that was decided: the layouts of its arguments.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> carriedOf;
  /// Whether any value is given axes that do not divide a dim of it.
  bool hasUneven = false;
  KeyedTable<Choice> choices; ///< By what they depend on.
  DimEntries manualAxes;      ///< Around the op that is decided.
  /// What terminators of regions hand out.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> terminatorNeeds;
};

} // namespace

LogicalResult spmd::decideCompute(ComputePlan &plan, int64_t tripCount, bool carriesSums) {
  return ComputeDecider(plan, tripCount, carriesSums).run();
}
