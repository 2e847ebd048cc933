//===- ComputeControlFlow.cpp - Layouts of regions and calls --------------===//
//
// Ops that forward values: terminators, loops, branches, manual computations, stages and calls.
//
//===----------------------------------------------------------------------===//

#include "ComputeDecider.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Rules/ControlFlow.h"

using namespace mlir;
using namespace mlir::spmd;

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
