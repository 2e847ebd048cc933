//===- FunctionPropagation.cpp - A function's tables ----------------------===//

#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/GlobalSizes.h"
#include "shardkit/Support/Remarks.h"
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

Attribute FunctionPropagation::getUserSharding(const NamedAttrList &attrs) {
  if (Attribute userSharding = attrs.get(kUserShardingAttr))
    return userSharding;
  return attrs.get(kShardingAttr);
}

FunctionPropagation::FunctionPropagation(ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                                         const Propagation::Options &options)
    : func(funcs.front()), meshes(meshes), mesh(meshes.getMesh()), calls(calls),
      table(meshes, options.costs, &calls.getPrices()), propagation(table, options) {
  for (func::FuncOp each : funcs) {
    signatureOf[each] = signatures.size();
    signatures.push_back({each, SignatureAttrs(each), {}});
  }
}

SmallVector<func::FuncOp> FunctionPropagation::getFunctions() const {
  return llvm::map_to_vector(signatures, [](const Signature &signature) { return signature.func; });
}

bool FunctionPropagation::isShared(Value argument) const {
  auto arg = cast<BlockArgument>(argument);
  return layoutOf.contains({arg.getOwner()->getParentOp(), arg.getArgNumber()});
}

ArrayRef<int64_t> FunctionPropagation::getResultClasses(func::FuncOp of) const {
  return signatures[signatureOf.lookup(of)].results;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

FailureOr<Sharding> FunctionPropagation::readUserSharding(Attribute attr, RankedTensorType type, Location loc) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (!sharding)
    return getOpenSharding(type.getRank());
  FailureOr<Sharding> userSharding = meshes.read(sharding, [&] { return emitError(loc); });
  if (failed(userSharding) || manualAxes.empty())
    return userSharding;
  for (const DimSharding &dim : userSharding->dims)
    if (overlaps(dim.entries, manualAxes, mesh))
      return emitError(loc) << "sharding " << meshes.toString(*userSharding)
                            << " inside a manual computation uses manual axes, expected free "
                               "axes: all but "
                            << meshes.toString(manualAxes);
  userSharding->replicated.append(manualAxes);
  return userSharding;
}

FailureOr<std::unique_ptr<FunctionPropagation>>
FunctionPropagation::compute(ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                             const Propagation::Options &options, bool record,
                             llvm::function_ref<void(FunctionPropagation &)> onRead) {
  while (true) {
    auto result = std::make_unique<FunctionPropagation>(funcs, meshes, calls, options);
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
  readTiedMeshes();
  if (failed(readSharedValues()))
    return failure();
  readTiedMeshes();
  for (Signature &signature : signatures)
    if (failed(readFunction(signature)))
      return failure();
  return success();
}

FlatSymbolRefAttr FunctionPropagation::getMeshOf(Signature &signature, bool isResult, unsigned index) {
  NamedAttrList &attrs = isResult ? signature.attrs.result(index) : signature.attrs.arg(index);
  if (auto sharding = dyn_cast_or_null<ShardingAttr>(getUserSharding(attrs)))
    return sharding.getMesh();
  return meshOf.lookup(getSlot(signature.func, isResult, index));
}

void FunctionPropagation::readTiedMeshes() {
  for (Signature &signature : signatures)
    for (unsigned i = 0; i < signature.func.getNumResults(); ++i) {
      auto tied = dyn_cast_or_null<IntegerAttr>(signature.attrs.result(i).get(kTiedAttr));
      if (!tied)
        continue;
      FlatSymbolRefAttr result = getMeshOf(signature, /*isResult=*/true, i);
      FlatSymbolRefAttr argument = getMeshOf(signature, /*isResult=*/false, tied.getInt());
      if (!result && argument)
        meshOf[getSlot(signature.func, /*isResult=*/true, i)] = argument;
      if (!argument && result)
        meshOf[getSlot(signature.func, /*isResult=*/false, tied.getInt())] = result;
    }
}

LogicalResult FunctionPropagation::readFunction(Signature &signature) {
  func = signature.func;
  groups.clear(); // names of groups are those of a function
  auto executions = func->getAttrOfType<IntegerAttr>(kCallsAttr);
  propagation.beginFunction(executions ? executions.getInt() : 1);
  if (failed(readGroups()) || failed(readArguments(signature)))
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
  return readResults(signature);
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

LogicalResult FunctionPropagation::addLoopResult(Value result, ClassId valueClass) {
  propagation.addValue(result, valueClass);
  StringAttr group = groupOf.lookup(result);
  if (!group || groups.try_emplace(group, valueClass).second || groups[group] == valueClass)
    return success();
  return emitError(result.getLoc()) << "result of a loop joins sharding group " << group
                                    << " that has earlier members, expected its carried value in the group";
}

LogicalResult FunctionPropagation::readArguments(Signature &signature) {
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    NamedAttrList &attrs = signature.attrs.arg(arg.getArgNumber());
    if (attrs.get(kAxisResourcesAttr))
      return emitError(arg.getLoc()) << "argument #" << arg.getArgNumber()
                                     << " has axis resources, expected shardings; run "
                                        "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> userSharding = readUserSharding(getUserSharding(attrs), type, arg.getLoc());
    if (failed(userSharding))
      return failure();
    remarkPadding(*userSharding, type, "argument #" + Twine(arg.getArgNumber()), arg.getLoc());
    int64_t shared = getSharedClass(calls.getGroups().getArgument(func, arg.getArgNumber()), /*isResult=*/false,
                                    arg.getArgNumber(), type);
    if (failed(addAnnotated(arg, std::move(*userSharding), arg.getLoc(), shared)))
      return failure();
    propagation.setBoundary(propagation.getId(arg));
  }
  return success();
}

/// Adds a value class per result, with an identity from the returned value. A result that is tied to an argument is
/// in the value class of the argument.
LogicalResult FunctionPropagation::readResults(Signature &signature) {
  SmallVector<int64_t> &results = signature.results;
  func::ReturnOp terminator;
  if (func.getBody().hasOneBlock())
    terminator = dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    results.push_back(-1);
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    if (!type || !terminator)
      continue;
    NamedAttrList &attrs = signature.attrs.result(i);
    if (attrs.get(kAxisResourcesAttr))
      return emitError(func.getLoc()) << "result #" << i
                                      << " has axis resources, expected shardings; run "
                                         "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> userSharding = readUserSharding(getUserSharding(attrs), type, func.getLoc());
    if (failed(userSharding))
      return failure();
    remarkPadding(*userSharding, type, "result #" + Twine(i), func.getLoc());
    if (auto tied = dyn_cast_or_null<IntegerAttr>(attrs.get(kTiedAttr))) {
      BlockArgument arg = func.getArgument(tied.getInt());
      results.back() = propagation.getId(arg);
      addAnnotation(results.back(), *userSharding, {}, func, i);
      if (failed(join(results.back(), *userSharding,
                      "result #" + Twine(i) + " is tied to argument #" + Twine(arg.getArgNumber()) +
                          ", which share one layout",
                      func.getLoc())))
        return failure();
    } else {
      results.back() = getSharedClass(calls.getGroups().getResult(func, i), /*isResult=*/true, i, type);
      if (results.back() < 0)
        results.back() = propagation.addClass(type, *userSharding);
      addAnnotation(results.back(), *userSharding, {}, func, i);
    }
    propagation.setBoundary(results.back());
    forward(terminator, terminator.getOperand(i), results.back());
  }
  return success();
}

LogicalResult FunctionPropagation::addOpen(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? addAnnotated(value, getOpenSharding(type.getRank()), value.getLoc()) : success();
}

void FunctionPropagation::addAnnotation(ClassId valueClass, const Sharding &sharding, Value value, Operation *op,
                                        unsigned index) {
  if (llvm::any_of(sharding.dims, [](const DimSharding &dim) { return !dim.open || !dim.entries.empty(); }))
    annotations.push_back({valueClass, sharding, value, op, index});
}

LogicalResult FunctionPropagation::addAnnotated(Value value, Sharding userSharding, Location loc, int64_t shared) {
  auto add = [&]() -> ClassId {
    if (shared < 0)
      return propagation.addValue(value, userSharding);
    propagation.addValue(value, ClassId(shared));
    return shared;
  };
  StringAttr group = groupOf.lookup(value);
  if (!group) {
    addAnnotation(add(), userSharding, value);
    return success();
  }
  auto [it, isNew] = groups.try_emplace(group, 0);
  if (isNew) {
    it->second = add();
    addAnnotation(it->second, userSharding, value);
    return success();
  }
  propagation.addValue(value, it->second);
  addAnnotation(it->second, userSharding, value);
  return join(it->second, userSharding, "members of sharding group " + Twine(group.getValue()) + " share one layout",
              loc);
}

std::optional<Sharding> FunctionPropagation::getJoined(Sharding joined, const Sharding &userSharding) const {
  if (joined.dims.size() != userSharding.dims.size())
    return std::nullopt;
  for (auto [dim, other] : llvm::zip(joined.dims, userSharding.dims)) {
    DimEntries entries = canonicalize(other.entries);
    dim.entries = canonicalize(dim.entries);
    bool mayExtend = dim.open && isPrefix(dim.entries, entries);
    bool mayKeep = other.open && isPrefix(entries, dim.entries);
    if (!mayExtend && !mayKeep && dim.entries != entries)
      return std::nullopt;
    // A priority is that of entries.
    if (!entries.empty())
      dim.priority = dim.entries.empty() ? other.priority : std::min(dim.priority, other.priority);
    if (mayExtend)
      dim.entries = entries;
    dim.open &= other.open;
  }
  for (const DimEntry &entry : userSharding.replicated)
    if (!llvm::is_contained(joined.replicated, entry))
      joined.replicated.push_back(entry);
  SmallVector<DimEntry> used;
  for (const DimSharding &dim : joined.dims) {
    if (overlaps(dim.entries, used, mesh) || overlaps(dim.entries, joined.replicated, mesh))
      return std::nullopt;
    used.append(dim.entries.begin(), dim.entries.end());
  }
  return joined;
}

LogicalResult FunctionPropagation::join(ClassId valueClass, const Sharding &userSharding, const Twine &what,
                                        Location loc) {
  std::optional<Sharding> joined = getJoined(propagation.get(valueClass), userSharding);
  if (!joined)
    return emitError(loc) << what << ", found " << meshes.toString(propagation.get(valueClass)) << " and "
                          << meshes.toString(userSharding) << ", expected equal shardings or open dims";
  propagation.setUserSharding(valueClass, std::move(*joined));
  return success();
}

LogicalResult FunctionPropagation::readBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(readOp(&op)))
      return failure();
  return success();
}

LogicalResult FunctionPropagation::readConstraint(Operation *op, ShardingAttr sharding) {
  if (!sharding)
    return op->emitError() << "constraint has axis resources, expected a sharding; run "
                              "--spmd-resolve-axis-resources first";
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  FailureOr<Sharding> userSharding = readUserSharding(sharding, type, op->getLoc());
  if (failed(userSharding))
    return failure();
  remarkPadding(*userSharding, type, "the constrained value", op->getLoc());
  if (failed(addAnnotated(result, std::move(*userSharding), op->getLoc())))
    return failure();
  forward(op, op->getOperand(0), propagation.getId(result), result);
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
  // Operands are resharded to the layouts of the callee, which are final.
  auto readSettled = [&](Attribute attr, Type type) -> FailureOr<Sharding> {
    FailureOr<Sharding> userSharding = readUserSharding(attr, cast<RankedTensorType>(type), call.getLoc());
    if (succeeded(userSharding))
      for (DimSharding &dim : userSharding->dims)
        dim.open = false;
    return userSharding;
  };
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    if (!propagation.contains(operand))
      continue;
    FailureOr<Sharding> userSharding =
        readSettled(callee ? callee.getArgAttr(i, kShardingAttr) : Attribute(), operand.getType());
    if (failed(userSharding))
      return failure();
    ClassId valueClass = propagation.addClass(cast<RankedTensorType>(operand.getType()), *userSharding);
    addAnnotation(valueClass, *userSharding, {}, call, i);
    forward(call, operand, valueClass);
  }
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    FailureOr<Sharding> userSharding =
        readSettled(callee ? callee.getResultAttr(i, kShardingAttr) : Attribute(), result.getType());
    if (failed(userSharding) || failed(addAnnotated(result, std::move(*userSharding), call.getLoc())))
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
  if (auto fragment = dyn_cast<FragmentOp>(op)) {
    propagation.beginFragment(fragment.getExecutions().value_or(1));
    return success();
  }
  if ((isa<CollectiveOpInterface, DeviceCoordinateOp>(op)) && failed(verifyLocalOp(op)))
    return failure();
  ops.push_back(op);
  if (auto manual = dyn_cast<ManualComputationOp>(op))
    return readManual(manual);
  if (auto constraint = dyn_cast<WithShardingConstraintOp>(op))
    return readConstraint(op, constraint.getShardingAttr());
  // A reshard of the user is a constraint on its result; a partial result has no sharding that propagates.
  if (auto reshard = dyn_cast<ReshardOp>(op); reshard && reshard.getSharding().getUnreduced().empty())
    return readConstraint(op, reshard.getSharding());
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

  // A rule of another dialect may be wrong.
  if (auto iface = dyn_cast<ShardingRuleOpInterface>(op);
      iface && !hasBuiltinRules(op->getName().getDialectNamespace()) &&
      failed(verifyShardingRule(op, iface.getShardingRule(), [&] { return op->emitError(); })))
    return failure();
  ShardingRule rule = getShardingRule(op);
  if (failed(readResultsOf(op, rule)))
    return failure();
  if (rule.isFallback)
    remarkUnknown(op);
  else
    remarkGlobalSizes(op);
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

/// Reads the values that `op` forwards to arguments of a region.
LogicalResult FunctionPropagation::readForwarded(Operation *op, ValueRange values, ValueRange args) {
  for (auto [value, arg] : llvm::zip(values, args)) {
    if (failed(addOpen(arg)))
      return failure();
    if (propagation.contains(arg))
      forward(op, value, propagation.getId(arg), arg);
  }
  return success();
}

/// Adds results that are the last values of arguments of the loop.
LogicalResult FunctionPropagation::readLoopResults(ValueRange args, ResultRange results) {
  for (auto [arg, result] : llvm::zip(args, results))
    if (propagation.contains(arg) && failed(addLoopResult(result, propagation.getId(arg))))
      return failure();
  return success();
}

/// Loop-carried values have one layout from the second iteration on; so does the first.
LogicalResult FunctionPropagation::readFor(scf::ForOp loop) {
  if (failed(readForwarded(loop, loop.getInitArgs(), loop.getRegionIterArgs())) || failed(readBlock(*loop.getBody())))
    return failure();
  for (auto [yielded, arg] : llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs()))
    if (propagation.contains(arg))
      forward(loop.getBody()->getTerminator(), yielded, propagation.getId(arg));
  return readLoopResults(loop.getRegionIterArgs(), loop.getResults());
}

LogicalResult FunctionPropagation::readWhile(scf::WhileOp loop) {
  if (failed(readForwarded(loop, loop.getInits(), loop.getBeforeArguments())))
    return failure();
  SmallVector<int64_t> carried;
  for (Value arg : loop.getBeforeArguments())
    carried.push_back(propagation.contains(arg) ? int64_t(propagation.getId(arg)) : -1);
  operandClasses.emplace_back(loop, std::move(carried));
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(readBlock(*loop.getBeforeBody())) ||
      failed(readForwarded(condition, condition.getArgs(), loop.getAfterArguments())) ||
      failed(readBlock(*loop.getAfterBody())))
    return failure();
  for (auto [value, arg] : llvm::zip(loop.getYieldOp()->getOperands(), loop.getBeforeArguments()))
    if (propagation.contains(arg))
      forward(loop.getYieldOp(), value, propagation.getId(arg));
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

/// Reads regions that each yield the results.
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
      forward(yield, yield->getOperand(result.getResultNumber()), propagation.getId(result), result);
    }
  }
  return success();
}

/// Adds the results of an op. With `spmd.factor_shardings` (from a plan) their shardings follow, except for partial
/// results, which may be completed to any layout.
LogicalResult FunctionPropagation::readResultsOf(Operation *op, const ShardingRule &rule) {
  auto attr = op->getAttrOfType<FactorsAttr>(kFactorShardingsAttr);
  // Choices of an earlier run do not count.
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
        if (failed(addAnnotated(result, std::move(sharding), result.getLoc())))
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
  Sharding userSharding = getOpenSharding(cast<RankedTensorType>(arg.getType()).getRank());
  llvm::SmallBitVector unsharded = getPartlyWrittenDims(loop, i);
  for (unsigned d : unsharded.set_bits())
    userSharding.dims[d].open = false;
  if (failed(addAnnotated(arg, std::move(userSharding), loop.getLoc())))
    return failure();
  forward(loop, loop.getOutputs()[i], propagation.getId(arg), arg);
  if (unsharded.none())
    return success();
  std::string dims;
  for (unsigned d : unsharded.set_bits())
    dims += (dims.empty() ? "" : ", ") + std::to_string(d);
  remark::missed(loop.getLoc(), remark::RemarkOpts::name("replicated").category("spmd").function(func.getName()))
      << remark::add("dims {1} of shared output #{0} of scf.forall stay unsharded", i, dims)
      << remark::reason("an iteration writes only a slice of them")
      << remark::suggest("write full dims, or use linalg ops, whose loops can be sharded");
  return success();
}

void FunctionPropagation::remarkPadding(const Sharding &userSharding, RankedTensorType type, const Twine &what,
                                        Location loc) {
  for (auto [d, dim] : llvm::enumerate(userSharding.dims)) {
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

void FunctionPropagation::remarkGlobalSizes(Operation *op) {
  if (!areRemarksEnabled(func))
    return;
  for (GlobalSize &size : getGlobalSizes(op))
    remarks.push_back([=, func = func]() mutable {
      remark::missed(op->getLoc(), remark::RemarkOpts::name("global-size").category("spmd").function(func.getName()))
          << remark::add("factor {0} of {1} is replicated", size.factor, op->getName().getStringRef())
          << remark::reason("{0} holds {1}, which may be a size or offset of the global tensors, and no pass makes "
                            "it local",
                            size.where, size.number)
          << remark::suggest(
                 "implement makeLocal in its ShardingRuleOpInterface, or set hasLocalAttributes in the rule if "
                 "it holds none");
    });
}

void FunctionPropagation::emitRemarks() {
  for (const std::function<void()> &emit : remarks)
    emit();
  remarks.clear();
  remarkConflicts();
  remarkSharedValues();
}

void FunctionPropagation::remarkConflicts() {
  if (!areRemarksEnabled(func))
    return;
  for (unsigned id = 0; id < propagation.getNumNodes(); ++id) {
    const Propagation::Node &node = propagation.getNode(id);
    if (node.isIdentity)
      continue;
    bool agreed = true;
    FactorAxes chosen = propagation.choose(node, &agreed);
    if (agreed)
      continue;
    const ShardingRule &rule = *node.rule;
    std::string lost;
    SmallVector<std::string> axes;
    int64_t bytes = 0;
    for (auto [t, valueClass] : llvm::enumerate(propagation.getTensors(node))) {
      if (valueClass < 0)
        continue;
      bool loses = false;
      for (unsigned f = 0; f < rule.numFactors(); ++f) {
        auto wanted = projectFactor(rule, t, f, propagation.get(valueClass));
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
              std::to_string(isResult ? t - rule.numOperands() : t) + " " +
              meshes.toString(propagation.get(valueClass));
      LayoutId layout = table.intern(propagation.get(valueClass)),
               used = table.intern(getTensorSharding(rule, t, chosen));
      RankedTensorType type = propagation.getClass(valueClass).type;
      bytes += isResult ? table.getMove(used, layout, type).bytes : table.getMove(layout, used, type).bytes;
    }
    if (lost.empty())
      continue;
    bool basic = propagation.getOptions().conflicts == Conflicts::Basic;
    auto of = node.op->getParentOfType<func::FuncOp>();
    remark::missed(node.op->getLoc(), remark::RemarkOpts::name("conflict").category("spmd").function(of.getName()))
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
  auto attrOf = [&](ClassId valueClass) {
    ShardingId id = propagation.getShardingId(valueClass);
    if (!attrs[id])
      attrs[id] = meshes.getAttr(shardings.get(id));
    return attrs[id];
  };
  ShardingAttr none = meshes.getAttr(Sharding());
  auto complete = [&](NamedAttrList &list, const Slot &slot, ClassId id, Type type) {
    Attribute userAttr = getUserSharding(list);
    if (!userAttr)
      userAttr = meshes.getAttr(getOpenSharding(propagation.get(id).dims.size()), meshOf.lookup(slot));
    // On the mesh that the user chose, where it has the axes.
    ShardingAttr completed = attrOf(id);
    if (FlatSymbolRefAttr mesh = cast<ShardingAttr>(userAttr).getMesh(); mesh != completed.getMesh())
      completed = meshes.getAttrOn(propagation.get(id), getShape(type), mesh);
    list.set(kShardingAttr, completed);
    if (userAttr != completed)
      list.set(kUserShardingAttr, userAttr);
    else
      list.erase(kUserShardingAttr); // of an earlier plan
  };
  for (Signature &signature : signatures) {
    func::FuncOp of = signature.func;
    for (BlockArgument arg : of.getArguments())
      if (propagation.contains(arg))
        complete(signature.attrs.arg(arg.getArgNumber()), getSlot(of, /*isResult=*/false, arg.getArgNumber()),
                 propagation.getId(arg), arg.getType());
    for (auto [i, valueClass] : llvm::enumerate(signature.results))
      if (valueClass >= 0)
        complete(signature.attrs.result(i), getSlot(of, /*isResult=*/true, i), valueClass, of.getResultTypes()[i]);
    signature.attrs.write();
    if (meshes.hasReordered())
      of->setAttr(kRankMeshAttr, meshes.getFirstName());
  }
  for (auto &[op, classes] : operandClasses) {
    SmallVector<Attribute> operands;
    for (int64_t valueClass : classes)
      operands.push_back(valueClass < 0 ? none : attrOf(valueClass));
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
