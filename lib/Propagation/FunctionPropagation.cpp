//===- FunctionPropagation.cpp - A function's tables ----------------------===//

#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "shardkit/Rules/ControlFlow.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

Sharding FunctionPropagation::getOpenSharding(int64_t rank) const {
  Sharding sharding;
  sharding.dims.resize(rank);
  for (DimSharding &dim : sharding.dims)
    dim.open = true;
  sharding.replicated = manualAxes;
  return sharding;
}

/// The sharding given for an argument or result: the user's own where an
/// earlier run has kept it, else what stands there.
static Attribute getGiven(const NamedAttrList &attrs) {
  if (Attribute given = attrs.get(kUserShardingAttr))
    return given;
  return attrs.get(kShardingAttr);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

FailureOr<Sharding> FunctionPropagation::readGiven(Attribute attr, RankedTensorType type, Location loc) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (!sharding)
    return getOpenSharding(type.getRank());
  FailureOr<Sharding> given = meshes.read(sharding, [&] { return emitError(loc); });
  if (failed(given) || manualAxes.empty())
    return given;
  for (const DimSharding &dim : given->dims)
    if (overlaps(dim.entries, manualAxes, mesh))
      return emitError(loc) << "sharding " << meshes.toString(*given)
                            << " inside a manual computation uses manual axes, expected free "
                               "axes: all but "
                            << meshes.toString(manualAxes);
  given->replicated.append(manualAxes);
  return given;
}

FailureOr<std::unique_ptr<FunctionPropagation>>
FunctionPropagation::compute(func::FuncOp func, FunctionMeshes &meshes, CallTable &calls,
                             const Propagation::Options &options, bool record,
                             llvm::function_ref<void(FunctionPropagation &)> onRead) {
  while (true) {
    auto result = std::make_unique<FunctionPropagation>(func, meshes, calls, options);
    if (failed(result->read()))
      return failure();
    if (onRead)
      onRead(*result);
    if (record)
      result->propagation.record();
    result->propagation.run();
    if (!result->propagation.wantsFlatMesh() || meshes.isFlat())
      return std::move(result);
    meshes.flatten();
  }
}

LogicalResult FunctionPropagation::read() {
  if (failed(readGroups()) || failed(readArguments()))
    return failure();
  if (func.getBody().hasOneBlock()) {
    if (failed(readBlock(func.getBody().front())))
      return failure();
  } else {
    ++unknownOps;
    remarks.push_back([func = func]() mutable {
      remark::missed(func.getLoc(), remark::RemarkOpts::name("replicated").category("spmd").function(func.getName()))
          << remark::add("function @{0} computes on replicated values", func.getName())
          << remark::reason("it has several blocks")
          << remark::suggest("lift its control flow first, for instance with --lift-cf-to-scf");
    });
  }
  return readResults();
}

LogicalResult FunctionPropagation::readGroups() {
  llvm::DenseMap<StringAttr, ShardingGroupOp> first;
  for (ShardingGroupOp op : calls.getIndex(func).groups) {
    Value member = op.getInput();
    StringAttr &group = groupOf[member];
    if (group && group != op.getGroupAttr()) {
      op.emitError() << "value is in sharding groups " << group << " and " << op.getGroupAttr()
                     << ", expected one group; give all members "
                        "the same name";
      return failure();
    }
    group = op.getGroupAttr();
    auto [it, isNew] = first.try_emplace(group, op);
    if (!isNew && member.getType() != it->second.getInput().getType() &&
        getShape(member.getType()) != getShape(it->second.getInput().getType())) {
      InFlightDiagnostic diag = op.emitError()
                                << "member of sharding group " << group << " has type " << member.getType()
                                << ", expected the shape of the first, " << it->second.getInput().getType();
      diag.attachNote(it->second.getLoc()) << "the first member is here";
      return failure();
    }
    if (isConstantLike(member.getDefiningOp()))
      op.emitWarning() << "member of sharding group " << group
                       << " is constant-like and rematerialized per use, "
                          "so that the group does not constrain it";
  }
  return success();
}

LogicalResult FunctionPropagation::addLoopResult(Value result, ValueId place) {
  propagation.addValue(result, place);
  StringAttr group = groupOf.lookup(result);
  if (!group || groups.try_emplace(group, place).second || groups[group] == place)
    return success();
  return emitError(result.getLoc()) << "result of a loop joins sharding group " << group
                                    << " that has earlier members, expected its carried value in the group";
}

LogicalResult FunctionPropagation::readArguments() {
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    NamedAttrList &attrs = signature.arg(arg.getArgNumber());
    if (attrs.get(kAxisResourcesAttr))
      return emitError(arg.getLoc()) << "argument #" << arg.getArgNumber()
                                     << " has axis resources, expected shardings; run "
                                        "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> given = readGiven(getGiven(attrs), type, arg.getLoc());
    if (failed(given))
      return failure();
    remarkPadding(*given, type, "argument #" + Twine(arg.getArgNumber()), arg.getLoc());
    if (failed(addGiven(arg, std::move(*given), arg.getLoc())))
      return failure();
    propagation.setBoundary(propagation.getId(arg));
  }
  return success();
}

/// Results: a place each, equal to what is returned. A result that updates an
/// argument in place has the argument's.
LogicalResult FunctionPropagation::readResults() {
  func::ReturnOp terminator;
  if (func.getBody().hasOneBlock())
    terminator = dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    results.push_back(-1);
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    if (!type || !terminator)
      continue;
    NamedAttrList &attrs = signature.result(i);
    if (attrs.get(kAxisResourcesAttr))
      return emitError(func.getLoc()) << "result #" << i
                                      << " has axis resources, expected shardings; run "
                                         "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> given = readGiven(getGiven(attrs), type, func.getLoc());
    if (failed(given))
      return failure();
    remarkPadding(*given, type, "result #" + Twine(i), func.getLoc());
    if (auto tied = dyn_cast_or_null<IntegerAttr>(attrs.get(kTiedAttr))) {
      BlockArgument arg = func.getArgument(tied.getInt());
      results.back() = propagation.getId(arg);
      note(results.back(), *given, {}, func, i);
      if (failed(join(results.back(), *given,
                      "result #" + Twine(i) + " is tied to argument #" + Twine(arg.getArgNumber()) +
                          ", which share one layout",
                      func.getLoc())))
        return failure();
    } else {
      results.back() = propagation.addPlace(type, *given);
      note(results.back(), *given, {}, func, i);
    }
    propagation.setBoundary(results.back());
    handOn(terminator, terminator.getOperand(i), results.back());
  }
  return success();
}

LogicalResult FunctionPropagation::addOpen(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? addGiven(value, getOpenSharding(type.getRank()), value.getLoc()) : success();
}

void FunctionPropagation::note(ValueId place, const Sharding &sharding, Value value, Operation *op, unsigned index) {
  if (llvm::any_of(sharding.dims, [](const DimSharding &dim) { return !dim.open || !dim.entries.empty(); }))
    annotations.push_back({place, sharding, value, op, index});
}

LogicalResult FunctionPropagation::addGiven(Value value, Sharding given, Location loc) {
  StringAttr group = groupOf.lookup(value);
  if (!group) {
    note(propagation.addValue(value, given), given, value);
    return success();
  }
  auto [it, isNew] = groups.try_emplace(group, 0);
  if (isNew) {
    it->second = propagation.addValue(value, given);
    note(it->second, given, value);
    return success();
  }
  propagation.addValue(value, it->second);
  note(it->second, given, value);
  return join(it->second, given, "members of sharding group " + Twine(group.getValue()) + " share one layout", loc);
}

LogicalResult FunctionPropagation::join(ValueId place, const Sharding &given, const Twine &what, Location loc) {
  Sharding joined = propagation.get(place);
  auto fail = [&] {
    return emitError(loc) << what << ", found " << meshes.toString(propagation.get(place)) << " and "
                          << meshes.toString(given) << ", expected equal shardings or open dims";
  };
  if (joined.dims.size() != given.dims.size())
    return fail();
  for (auto [dim, other] : llvm::zip(joined.dims, given.dims)) {
    DimEntries entries = canonicalize(other.entries);
    bool mayExtend = dim.open && isPrefix(dim.entries, entries);
    bool mayKeep = other.open && isPrefix(entries, dim.entries);
    if (!mayExtend && !mayKeep && dim.entries != entries)
      return fail();
    // A priority is that of entries.
    if (!entries.empty())
      dim.priority = dim.entries.empty() ? other.priority : std::min(dim.priority, other.priority);
    if (mayExtend)
      dim.entries = entries;
    dim.open &= other.open;
  }
  for (const DimEntry &entry : given.replicated)
    if (!llvm::is_contained(joined.replicated, entry))
      joined.replicated.push_back(entry);
  SmallVector<DimEntry> used;
  for (const DimSharding &dim : joined.dims) {
    if (overlaps(dim.entries, used, mesh) || overlaps(dim.entries, joined.replicated, mesh))
      return fail();
    used.append(dim.entries.begin(), dim.entries.end());
  }
  propagation.setGiven(place, std::move(joined));
  return success();
}

LogicalResult FunctionPropagation::readBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(readOp(&op)))
      return failure();
  return success();
}

LogicalResult FunctionPropagation::readConstraint(WithShardingConstraintOp op) {
  if (op.getAxisResourcesAttr())
    return op->emitError() << "constraint has axis resources, expected a sharding; run "
                              "--spmd-resolve-axis-resources first";
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<Sharding> given = readGiven(op.getShardingAttr(), type, op.getLoc());
  if (failed(given))
    return failure();
  remarkPadding(*given, type, "the constrained value", op.getLoc());
  if (failed(addGiven(op.getResult(), std::move(*given), op.getLoc())))
    return failure();
  handOn(op, op.getInput(), propagation.getId(op.getResult()), op.getResult());
  return success();
}

LogicalResult FunctionPropagation::readCall(func::CallOp call) {
  if (!manualAxes.empty())
    return call.emitError() << "call of @" << call.getCallee()
                            << " inside a manual computation, expected it to be inlined";
  func::FuncOp callee = calls.getCallee(call);
  if (callee && !calls.keepsSignature(callee)) {
    for (Value result : call.getResults())
      if (failed(addOpen(result)))
        return failure();
    propagation.addOp(call, calls.getRule(call));
    return success();
  }
  // Operands are brought to the layouts of the callee, which are settled.
  auto readSettled = [&](Attribute attr, Type type) -> FailureOr<Sharding> {
    FailureOr<Sharding> given = readGiven(attr, cast<RankedTensorType>(type), call.getLoc());
    if (succeeded(given))
      for (DimSharding &dim : given->dims)
        dim.open = false;
    return given;
  };
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    if (!propagation.contains(operand))
      continue;
    FailureOr<Sharding> given =
        readSettled(callee ? callee.getArgAttr(i, kShardingAttr) : Attribute(), operand.getType());
    if (failed(given))
      return failure();
    ValueId place = propagation.addPlace(cast<RankedTensorType>(operand.getType()), *given);
    note(place, *given, {}, call, i);
    handOn(call, operand, place);
  }
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    FailureOr<Sharding> given =
        readSettled(callee ? callee.getResultAttr(i, kShardingAttr) : Attribute(), result.getType());
    if (failed(given) || failed(addGiven(result, std::move(*given), call.getLoc())))
      return failure();
  }
  return success();
}

ShardingAttr FunctionPropagation::getClosed(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return {};
  return table.getAttr(propagation.contains(value) ? table.intern(propagation.get(propagation.getId(value)))
                                                   : table.getReplicated(type.getRank()));
}

LogicalResult FunctionPropagation::readOp(Operation *op) {
  if (isConstantLike(op) || isa<ShardingGroupOp>(op))
    return success();
  if (auto part = dyn_cast<FragmentOp>(op)) {
    propagation.beginPart(part.getExecutions().value_or(1));
    return success();
  }
  if (isa<StageBoundaryOp>(op))
    return op->emitError() << op->getName()
                           << " in a function that is not split into stages, expected "
                              "--spmd-build-stages to have run";
  if ((isa<CollectiveOpInterface, DeviceCoordinateOp>(op)) && failed(verifyLocalOp(op)))
    return failure();
  ops.push_back(op);
  if (auto manual = dyn_cast<ManualComputationOp>(op))
    return readManual(manual);
  if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
    return readConstraint(constraint);
  if (auto barrier = dyn_cast<PropagationBarrierOp>(op))
    return readBarrier(barrier);
  if (auto call = dyn_cast<func::CallOp>(op))
    return readCall(call);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return readFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return readWhile(loop);
  if (auto loop = dyn_cast<scf::ForallOp>(op); loop && isControlFlow(op))
    return readForall(loop);
  if (isControlFlow(op))
    return readBranches(op);

  ShardingRule rule = getShardingRule(op);
  if (failed(readResultsOf(op, rule)))
    return failure();
  if (rule.isFallback)
    remarkUnknown(op);
  propagation.addOp(op, std::move(rule));
  return success();
}

LogicalResult FunctionPropagation::readBarrier(PropagationBarrierOp barrier) {
  if (failed(addOpen(barrier.getResult())))
    return failure();
  Flow flow = barrier.getAllow() == BarrierDirection::Forward    ? Flow::Forward
              : barrier.getAllow() == BarrierDirection::Backward ? Flow::Backward
                                                                 : Flow::None;
  if (propagation.contains(barrier.getInput()))
    propagation.addIdentity(barrier, barrier.getInput(), propagation.getId(barrier.getResult()), barrier.getResult(),
                            flow);
  return success();
}

/// What `op` hands on to arguments of a region.
LogicalResult FunctionPropagation::readHandedOn(Operation *op, ValueRange values, ValueRange args) {
  for (auto [value, arg] : llvm::zip(values, args)) {
    if (failed(addOpen(arg)))
      return failure();
    if (propagation.contains(arg))
      handOn(op, value, propagation.getId(arg), arg);
  }
  return success();
}

/// Results that are what arguments of the loop were last.
LogicalResult FunctionPropagation::readLoopResults(ValueRange args, ResultRange results) {
  for (auto [arg, result] : llvm::zip(args, results))
    if (propagation.contains(arg) && failed(addLoopResult(result, propagation.getId(arg))))
      return failure();
  return success();
}

/// Loop-carried values have one layout from the second iteration on; so does the first.
LogicalResult FunctionPropagation::readFor(scf::ForOp loop) {
  if (failed(readHandedOn(loop, loop.getInitArgs(), loop.getRegionIterArgs())) || failed(readBlock(*loop.getBody())))
    return failure();
  for (auto [yielded, arg] : llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs()))
    if (propagation.contains(arg))
      handOn(loop.getBody()->getTerminator(), yielded, propagation.getId(arg));
  return readLoopResults(loop.getRegionIterArgs(), loop.getResults());
}

LogicalResult FunctionPropagation::readWhile(scf::WhileOp loop) {
  if (failed(readHandedOn(loop, loop.getInits(), loop.getBeforeArguments())))
    return failure();
  SmallVector<int64_t> carried;
  for (Value arg : loop.getBeforeArguments())
    carried.push_back(propagation.contains(arg) ? int64_t(propagation.getId(arg)) : -1);
  operandPlaces.emplace_back(loop, std::move(carried));
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(readBlock(*loop.getBeforeBody())) ||
      failed(readHandedOn(condition, condition.getArgs(), loop.getAfterArguments())) ||
      failed(readBlock(*loop.getAfterBody())))
    return failure();
  for (auto [value, arg] : llvm::zip(loop.getYieldOp()->getOperands(), loop.getBeforeArguments()))
    if (propagation.contains(arg))
      handOn(loop.getYieldOp(), value, propagation.getId(arg));
  return readLoopResults(loop.getAfterArguments(), loop.getResults());
}

/// Every iteration starts from the shared outputs and writes slices of them.
LogicalResult FunctionPropagation::readForall(scf::ForallOp loop) {
  for (unsigned i = 0; i < loop.getOutputs().size(); ++i)
    if (failed(readSharedOutput(loop, i)))
      return failure();
  if (failed(readBlock(*loop.getBody())))
    return failure();
  for (tensor::ParallelInsertSliceOp write : getSliceWrites(loop))
    propagation.addOp(write, getShardingRule(write));
  return readLoopResults(loop.getRegionIterArgs(), loop.getResults());
}

/// Regions that each hand out the results.
LogicalResult FunctionPropagation::readBranches(Operation *op) {
  for (Region &region : op->getRegions())
    if (!region.empty() && failed(readBlock(region.front())))
      return failure();
  for (OpResult result : op->getResults()) {
    if (failed(addOpen(result)))
      return failure();
    if (!propagation.contains(result))
      continue;
    for (Region &region : op->getRegions()) {
      Operation *yield = region.front().getTerminator();
      handOn(yield, yield->getOperand(result.getResultNumber()), propagation.getId(result), result);
    }
  }
  return success();
}

/// An op that is told how to compute (`spmd.factor_shardings`, from a plan) hands its results out
/// in the layouts that follow; what is partial then may be completed to anything.
LogicalResult FunctionPropagation::readResultsOf(Operation *op, const ShardingRule &rule) {
  auto attr = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
  // What an earlier run chose is not given.
  bool isGiven = attr && attr.getFactors().size() == rule.numFactors() &&
                 getPhase(func->getParentOfType<ModuleOp>()) <= int(Phase::Annotated);
  FactorAxes axes;
  if (isGiven) {
    auto factors = meshes.read(attr, [&] { return op->emitError(); });
    if (failed(factors))
      return failure();
    for (const DimEntries &entries : *factors) {
      if (overlaps(entries, manualAxes, mesh))
        return op->emitError() << "spmd.factor_shardings has {" << meshes.toString(entries)
                               << "}, expected none of the axes that are manual around the op: "
                               << meshes.toString(manualAxes);
      axes.push_back(canonicalize(entries));
    }
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (isGiven && isa<RankedTensorType>(result.getType())) {
      Sharding sharding = getTensorSharding(rule, rule.numOperands() + i, axes);
      if (sharding.unreduced.empty()) {
        if (failed(addGiven(result, std::move(sharding), result.getLoc())))
          return failure();
        continue;
      }
    }
    if (failed(addOpen(result)))
      return failure();
  }
  return success();
}

LogicalResult FunctionPropagation::readSharedOutput(scf::ForallOp loop, unsigned i) {
  BlockArgument arg = loop.getRegionIterArgs()[i];
  Sharding given = getOpenSharding(cast<RankedTensorType>(arg.getType()).getRank());
  llvm::SmallBitVector whole = getPartlyWrittenDims(loop, i);
  for (unsigned d : whole.set_bits())
    given.dims[d].open = false;
  if (failed(addGiven(arg, std::move(given), loop.getLoc())))
    return failure();
  handOn(loop, loop.getOutputs()[i], propagation.getId(arg), arg);
  if (whole.none())
    return success();
  std::string dims;
  for (unsigned d : whole.set_bits())
    dims += (dims.empty() ? "" : ", ") + std::to_string(d);
  remark::missed(loop.getLoc(), remark::RemarkOpts::name("replicated").category("spmd").function(func.getName()))
      << remark::add("dims {1} of shared output #{0} of scf.forall stay unsharded", i, dims)
      << remark::reason("an iteration writes only a slice of them")
      << remark::suggest("write full dims, or use linalg ops, whose loops can be sharded");
  return success();
}

void FunctionPropagation::remarkPadding(const Sharding &given, RankedTensorType type, const Twine &what, Location loc) {
  for (auto [d, dim] : llvm::enumerate(given.dims)) {
    int64_t size = type.getDimSize(d), devices = deviceFactor(dim.entries);
    if (size <= 0 || divides(dim.entries, size))
      continue;
    int64_t chunk = llvm::divideCeil(size, devices);
    remarks.push_back([=, d = d, func = func, what = what.str(), axes = meshes.toString(dim.entries)]() mutable {
      remark::analysis(loc, remark::RemarkOpts::name("padding").category("spmd").function(func.getName()))
          << remark::add("dim {0} of {1} (size {2}) is sharded by {3} (size {4}) into chunks of {5}: "
                         "{6} % of the shards is padding",
                         d, what, size, axes, devices, chunk, 100 * (chunk * devices - size) / (chunk * devices));
    });
  }
}

void FunctionPropagation::remarkUnknown(Operation *op) {
  auto hasDims = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() > 0;
  };
  if (llvm::none_of(op->getResultTypes(), hasDims) && llvm::none_of(op->getOperandTypes(), hasDims))
    return;
  ++unknownOps;
  int64_t bytes = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
      bytes += tensor.getNumElements() * getElementBytes(tensor.getElementType());
  bool severalBlocks =
      llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty() && !region.hasOneBlock(); });
  remarks.push_back([=, func = func]() mutable {
    remark::missed(op->getLoc(), remark::RemarkOpts::name("no-rule").category("spmd").function(func.getName()))
        << remark::add("{0} has no sharding rule and is replicated", op->getName().getStringRef())
        << remark::metric("Bytes", bytes)
        << remark::reason("{0}", severalBlocks ? "one of its regions has several blocks"
                                               : "it does not implement ShardingRuleOpInterface")
        << remark::suggest("{0}", severalBlocks ? "lift its control flow, for instance with --lift-cf-to-scf"
                                                : "implement the interface, or write spmd.sharding_rule on it");
  });
}

void FunctionPropagation::emitRemarks() {
  for (const std::function<void()> &emit : remarks)
    emit();
  remarks.clear();
  remarkConflicts();
}

void FunctionPropagation::remarkConflicts() {
  if (!func.getContext()->getRemarkEngine())
    return;
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (node.handsOn)
      continue;
    bool agreed = true;
    FactorAxes chosen = propagation.choose(node, &agreed);
    if (agreed)
      continue;
    const ShardingRule &rule = *node.rule;
    std::string lost;
    SmallVector<std::string> axes;
    int64_t bytes = 0;
    for (auto [t, place] : llvm::enumerate(propagation.getTensors(node))) {
      if (place < 0)
        continue;
      bool loses = false;
      for (unsigned f = 0; f < rule.numFactors(); ++f) {
        auto wanted = projectFactor(rule, t, f, propagation.get(place));
        if (!wanted || isPrefix(*wanted, chosen[f]) || rule.factor(f).kind == FactorKind::Replicated)
          continue;
        loses = true;
        for (const DimEntry &entry : *wanted)
          if (!entry.isStride() && !llvm::is_contained(axes, meshes.getAxisName(entry)))
            axes.push_back(meshes.getAxisName(entry));
      }
      if (!loses)
        continue;
      bool isResult = t >= rule.numOperands();
      lost += (lost.empty() ? "" : ", ") + std::string(isResult ? "result #" : "operand #") +
              std::to_string(isResult ? t - rule.numOperands() : t) + " " + meshes.toString(propagation.get(place));
      LayoutId own = table.intern(propagation.get(place)), used = table.intern(getTensorSharding(rule, t, chosen));
      RankedTensorType type = propagation.getPlace(place).type;
      bytes += isResult ? table.getMove(used, own, type).bytes : table.getMove(own, used, type).bytes;
    }
    if (lost.empty())
      continue;
    bool basic = propagation.getOptions().conflicts == Conflicts::Basic;
    remark::missed(node.op->getLoc(), remark::RemarkOpts::name("conflict").category("spmd").function(func.getName()))
        << remark::add("the operands and results of {0} conflict: {1} is resharded", node.op->getName().getStringRef(),
                       lost)
        << remark::metric("Bytes", bytes) << remark::metric("Axes", llvm::join(axes, ","))
        << remark::reason("{0}",
                          basic ? "conflicts=basic resolves no conflict" : "no other choice costs less in reshards")
        << remark::suggest("shard them equally, or give one a priority; "
                           "--spmd-explain names the annotations");
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void FunctionPropagation::write() {
  MLIRContext *context = func.getContext();
  // Layouts are few, values many.
  const ShardingTable &shardings = propagation.getShardings();
  SmallVector<ShardingAttr> attrs(shardings.size());
  auto attrOf = [&](ValueId place) {
    ShardingId id = propagation.getShardingId(place);
    if (!attrs[id])
      attrs[id] = meshes.getAttr(shardings.get(id));
    return attrs[id];
  };
  ShardingAttr none = meshes.getAttr(Sharding());
  auto complete = [&](NamedAttrList &list, ValueId id, Type type) {
    Attribute own = getGiven(list);
    if (!own)
      own = meshes.getAttr(getOpenSharding(propagation.get(id).dims.size()));
    // On the mesh that the user chose, where it has the axes.
    ShardingAttr completed = attrOf(id);
    if (FlatSymbolRefAttr mesh = cast<ShardingAttr>(own).getMesh(); mesh != completed.getMesh())
      completed = meshes.getAttrOn(propagation.get(id), getShape(type), mesh);
    list.set(kShardingAttr, completed);
    if (own != completed)
      list.set(kUserShardingAttr, own);
  };
  for (BlockArgument arg : func.getArguments())
    if (propagation.contains(arg))
      complete(signature.arg(arg.getArgNumber()), propagation.getId(arg), arg.getType());
  for (auto [i, place] : llvm::enumerate(results))
    if (place >= 0)
      complete(signature.result(i), place, func.getResultTypes()[i]);
  signature.write();
  for (auto &[op, places] : operandPlaces) {
    SmallVector<Attribute> operands;
    for (int64_t place : places)
      operands.push_back(place < 0 ? none : attrOf(place));
    op->setDiscardableAttr(kOperandShardingsAttr, ArrayAttr::get(context, operands));
  }
  auto name = StringAttr::get(context, kShardingsAttr);
  SmallVector<ArrayAttr> single(shardings.size()); // lists of one
  SmallVector<Attribute> list;
  for (Operation *op : ops) {
    list.clear();
    bool any = false;
    for (Value result : op->getResults()) {
      any |= propagation.contains(result);
      list.push_back(propagation.contains(result) ? attrOf(propagation.getId(result)) : none);
    }
    if (!any)
      continue;
    ArrayAttr attr;
    if (list.size() == 1) {
      ArrayAttr &known = single[propagation.getShardingId(propagation.getId(op->getResult(0)))];
      attr = known = known ? known : ArrayAttr::get(context, list);
    } else {
      attr = ArrayAttr::get(context, list);
    }
    op->setDiscardableAttr(name, attr);
  }
}
