//===- Partition.cpp - From the global to the local program ---------------===//
//
// Types of operations are changed in place, and sizes in their attributes are adjusted. The
// layouts were decided by insert-reshards.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Partition/BoundaryOrder.h"
#include "shardkit/Partition/DynamicSizes.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Partition/Lookups.h"
#include "shardkit/Partition/Padding.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Partition/ShardedSelections.h"
#include "shardkit/Partition/Windows.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionIndex.h"

#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPARTITIONPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-partition"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Partitions one function:
///   1. Layouts and global types of all values are read.
///   2. Rules are evaluated on the global program: loop indices, windows, lookups, selections
///      and padding are collected.
///   3. Ops get local types in program order; reshards become collectives.
///   4. What step 2 collected is rewritten on the local program.
///   5. Arguments and results on meshes in another order of the devices are moved (BoundaryOrder.h).
///
/// Example: tensor<8x4xf32> with [{"x"}, {}], "x"=2, becomes tensor<4x4xf32>; its reshard to
/// [{}, {}] becomes spmd.all_gather.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp func, FunctionMeshes &meshes, PaddingFill fill, bool keepLayouts,
                      bool dynamicChecks);
  LogicalResult run();

private:
  LogicalResult setLayout(Value value, ShardingAttr attr, Location loc);
  LogicalResult readLayouts();
  LogicalResult readBlock(Block &block);

  /// Sets the layout of an operand inside a manual computation: without the manual axes.
  LogicalResult setInside(ManualComputationOp op, unsigned i, BlockArgument arg);

  /// The body of a manual computation, all of whose values are local.
  static void inlineManual(ManualComputationOp op);
  void setLayouts(ValueRange values, ValueRange likes);

  /// Local type of a value in its layout.
  RankedTensorType getLocalType(Value value);

  const Sharding &getSharding(Value value) { return table.get(layouts.lookup(value)); }

  void makeLocal(Value value);

  /// Leaves layouts and global types of the results on an op, for reports.
  void noteLayouts(Operation *op);
  void notePadding(Value value);
  LogicalResult partitionBlock(Block &block);
  LogicalResult partition(Operation *op);

  /// Removes attributes that no later pass reads.
  void removeConsumed(Operation *op);
  void writeSignature();

  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable table;
  llvm::DenseMap<Value, RankedTensorType> globalTypes;
  llvm::DenseMap<Value, LayoutId> layouts;
  llvm::DenseMap<std::pair<Type, LayoutId>, RankedTensorType> localTypes;
  SmallVector<StringAttr, 4> consumed; // names of attributes
  SmallVector<ManualComputationOp> manual;
  /// Whether any value has an uneven dim.
  bool hasUneven = false;
  Lookups lookups;
  ShardedSelections selections;
  Padding padding;
  Windows windows;
  PaddingFill fill;
  bool keepLayouts;
  DynamicSizes dynamicSizes;
  /// Values to be filled, with their uneven dims.
  std::vector<std::pair<Value, SmallVector<UnevenLoop, 1>>> padded;
};

struct PartitionPass : public spmd::impl::SPMDPartitionPassBase<PartitionPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Partitioned, getArgument())))
      return signalPassFailure();
    // Layouts that disagree have no reshard between them yet.
    if (int phase = getPhase(module); phase == int(Phase::Annotated) || phase == int(Phase::Propagated)) {
      emitError(module.getLoc()) << getArgument() << " of a module in phase \"" << kPhases[phase]
                                 << "\", expected \"resharded\"; run "
                                    "--spmd-insert-reshards first";
      return signalPassFailure();
    }
    if (getPhase(module) == int(Phase::Partitioned))
      return;
    if (failed(verifyLowered(module, Phase::Resharded, "--" + getArgument())))
      return signalPassFailure();
    MeshCache meshes(module);
    for (auto func : getProgramFunctions(module)) {
      if (func.isExternal())
        continue;
      auto functionMeshes = FunctionIndex::withCallees(func).getMeshes(meshes);
      if (failed(functionMeshes))
        return signalPassFailure();
      if (!*functionMeshes)
        continue;
      if (failed(FunctionPartitioner(func, **functionMeshes, fillPadding, keepLayouts, dynamicChecks).run()))
        return signalPassFailure();
      func.walk([&](CollectiveOpInterface) { SPMD_COUNT(insertedCollectives, 1); });
    }
    setPhase(module, Phase::Partitioned);
  }
};

} // namespace

FunctionPartitioner::FunctionPartitioner(func::FuncOp func, FunctionMeshes &meshes, PaddingFill fill, bool keepLayouts,
                                         bool dynamicChecks)
    : func(func), meshes(meshes), table(meshes), lookups(meshes), selections(table), padding(meshes, dynamicSizes),
      windows(meshes), fill(fill), keepLayouts(keepLayouts), dynamicSizes(func, meshes, dynamicChecks) {
  for (StringRef name :
       {kShardingsAttr, kUserShardingAttr, kFactorShardingsAttr, kReshardPerUseAttr, kRuleAttr, kWindowsAttr})
    consumed.push_back(StringAttr::get(func.getContext(), name));
}

LogicalResult FunctionPartitioner::run() {
  BoundaryOrder boundary(func, meshes);
  if (failed(boundary.read()) || failed(readLayouts()))
    return failure();
  // Rules are read before any type changes.
  if (!getSizeArguments(func).empty()) {
    func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      dynamicSizes.addOp(op, [&](Value value) { return layouts.contains(value) ? &getSharding(value) : nullptr; });
      return getIndexedBody(op) ? WalkResult::skip() : WalkResult::advance();
    });
    hasUneven |= dynamicSizes.hasPadding();
  }
  SmallVector<std::pair<Operation *, SmallVector<ShardedLoop>>> rebased;
  auto shardingOf = [&](Value value) { return layouts.contains(value) ? &getSharding(value) : nullptr; };
  WalkResult walk = func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (readsIndices(op))
      rebased.emplace_back(op, getShardedLoops(op, shardingOf));
    windows.collect(op, shardingOf);
    lookups.collect(op, shardingOf);
    selections.collect(op, shardingOf);
    if (hasUneven && failed(padding.collect(op, shardingOf)))
      return WalkResult::interrupt();
    // Bodies compute elements, which have no layouts.
    return getIndexedBody(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Block &block : func.getBody())
    if (failed(partitionBlock(block)))
      return failure();
  for (auto &[op, loops] : rebased)
    rebaseIndices(op, loops, meshes);
  lookups.makeBodiesLocal();
  writeSignature();
  if (fill != PaddingFill::None)
    for (auto &[value, dims] : padded)
      padding.fill(value, dims, fill);
  if (failed(selections.complete()))
    return failure();
  padding.apply();
  windows.finish();
  lookups.expandOps();
  // All values are local now, and no layout is looked up any more.
  for (ManualComputationOp op : manual)
    inlineManual(op);
  return boundary.apply();
}

LogicalResult FunctionPartitioner::setLayout(Value value, ShardingAttr attr, Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  globalTypes[value] = type;
  FailureOr<LayoutId> id = table.read(attr, type, [&] { return emitError(loc); });
  if (failed(id))
    return failure();
  hasUneven |= !getUnevenDims(table.get(*id), type.getShape()).empty();
  layouts[value] = *id;
  if (!type.hasStaticShape())
    dynamicSizes.addValue(value, table.get(*id));
  return success();
}

LogicalResult FunctionPartitioner::readLayouts() {
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    auto attr = func.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(), kShardingAttr);
    if (!attr)
      attr = table.getAttr(table.getReplicated(type.getRank()));
    if (failed(setLayout(arg, attr, arg.getLoc())))
      return failure();
  }
  for (Block &block : func.getBody()) {
    // Functions of several blocks compute on replicated values.
    for (BlockArgument arg : block.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(arg.getType()); type && !block.isEntryBlock())
        if (failed(setLayout(arg, table.getAttr(table.getReplicated(type.getRank())), arg.getLoc())))
          return failure();
    if (failed(readBlock(block)))
      return failure();
  }
  return success();
}

LogicalResult FunctionPartitioner::readBlock(Block &block) {
  for (Operation &op : block) {
    auto shardings = op.getAttrOfType<ArrayAttr>(kShardingsAttr);
    auto reshard = dyn_cast<ReshardOp>(op);
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      ShardingAttr attr = reshard ? reshard.getShardingAttr() : ShardingAttr();
      if (shardings)
        attr = cast<ShardingAttr>(shardings[i]);
      if (!attr)
        return op.emitError() << "result #" << i << " of " << op.getName()
                              << " has no layout, expected spmd.shardings as "
                                 "--spmd-insert-reshards writes them";
      if (failed(setLayout(result, attr, op.getLoc())))
        return failure();
    }
    if (!isControlFlow(&op) && !isa<ManualComputationOp>(op))
      continue;
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      for (auto [i, arg] : llvm::enumerate(manual.getBody().getArguments()))
        if (failed(setInside(manual, i, arg)))
          return failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      setLayouts(loop.getRegionIterArgs(), loop.getResults());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      setLayouts(loop.getBeforeArguments(), loop.getInits());
      setLayouts(loop.getAfterArguments(), loop.getResults());
    } else if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      setLayouts(loop.getRegionIterArgs(), loop.getResults());
    }
    for (Region &region : op.getRegions())
      if (!region.empty() && failed(readBlock(region.front())))
        return failure();
  }
  return success();
}

LogicalResult FunctionPartitioner::setInside(ManualComputationOp op, unsigned i, BlockArgument arg) {
  auto outside = cast<RankedTensorType>(op.getInputs()[i].getType());
  auto inside = cast<RankedTensorType>(arg.getType());
  FailureOr<LayoutId> id = table.read(op.getInSharding(i), outside, [&] { return op.emitError(); });
  if (failed(id))
    return failure();
  layouts[arg] = table.intern(getFreeSharding(table.get(*id), outside.getShape(), inside.getShape()));
  globalTypes[arg] = inside;
  return success();
}

void FunctionPartitioner::inlineManual(ManualComputationOp op) {
  Block &body = op.getBody().front();
  Operation *terminator = body.getTerminator();
  for (auto [arg, operand] : llvm::zip(body.getArguments(), op.getInputs()))
    arg.replaceAllUsesWith(operand);
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
}

void FunctionPartitioner::setLayouts(ValueRange values, ValueRange likes) {
  for (auto [value, like] : llvm::zip(values, likes)) {
    if (!layouts.contains(like))
      continue;
    layouts[value] = layouts.lookup(like);
    globalTypes[value] = globalTypes.lookup(like);
    if (!globalTypes.lookup(value).hasStaticShape())
      dynamicSizes.addValue(value, getSharding(value));
  }
}

RankedTensorType FunctionPartitioner::getLocalType(Value value) {
  RankedTensorType type = globalTypes.lookup(value);
  LayoutId id = layouts.lookup(value);
  RankedTensorType &local = localTypes[{type, id}]; // values alike are many
  if (local)
    return local;
  const Sharding &sharding = table.get(id);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip(shape, sharding.dims))
    if (int64_t shards = deviceFactor(dim.entries); shards > 1 && !ShapedType::isDynamic(size))
      size = (size + shards - 1) / shards;
  return local = type.clone(shape);
}

void FunctionPartitioner::makeLocal(Value value) {
  value.setType(getLocalType(value));
  notePadding(value);
}

void FunctionPartitioner::noteLayouts(Operation *op) {
  auto unit = UnitAttr::get(op->getContext());
  SmallVector<Attribute> attrs, types;
  for (Value result : op->getResults()) {
    bool known = layouts.contains(result);
    attrs.push_back(known ? Attribute(table.getAttr(layouts.lookup(result))) : unit);
    types.push_back(known ? Attribute(TypeAttr::get(globalTypes.lookup(result))) : unit);
  }
  op->setDiscardableAttr(kLayoutsAttr, ArrayAttr::get(op->getContext(), attrs));
  op->setDiscardableAttr(kGlobalTypesAttr, ArrayAttr::get(op->getContext(), types));
}

void FunctionPartitioner::notePadding(Value value) {
  if (!hasUneven || fill == PaddingFill::None)
    return;
  const Sharding &sharding = getSharding(value);
  auto dims = getUnevenDims(sharding, globalTypes.lookup(value).getShape());
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    if (AffineExpr size = dynamicSizes.getPaddedSize(value, d); size && deviceFactor(dim.entries) > 1)
      dims.push_back({unsigned(d), ShapedType::kDynamic, canonicalize(dim.entries), size});
  if (!dims.empty())
    padded.emplace_back(value, std::move(dims));
}

LogicalResult FunctionPartitioner::partitionBlock(Block &block) {
  for (BlockArgument arg : block.getArguments())
    if (layouts.contains(arg))
      makeLocal(arg);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(partition(&op)))
      return failure();
  return success();
}

LogicalResult FunctionPartitioner::partition(Operation *op) {
  if (isa<WithShardingConstraintOp, PropagationBarrierOp, ShardingGroupOp, StageBoundaryOp>(op))
    return op->emitError() << op->getName()
                           << " in phase resharded, expected it to be "
                              "consumed by --spmd-insert-reshards";
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    Value input = reshard.getInput();
    RankedTensorType type = globalTypes.lookup(reshard.getResult());
    if (failed(dynamicSizes.checkMove(reshard, type, getSharding(input), getSharding(reshard.getResult()))))
      return failure();
    OpBuilder b(op);
    const Sharding &from = getSharding(input), &to = getSharding(reshard.getResult());
    SPMD_LOG() << "reshard at " << op->getLoc() << " of " << type << " from " << meshes.toString(from) << " to "
               << meshes.toString(to) << ": "
               << table.getMove(layouts.lookup(input), layouts.lookup(reshard.getResult()), type).kinds;
    Value withPadding = dynamicSizes.pad(b, reshard, input, from, to);
    FailureOr<Value> value = lowerReshard(b, op->getLoc(), withPadding, type, layouts.lookup(input),
                                          layouts.lookup(reshard.getResult()), table);
    if (failed(value))
      return failure();
    *value = dynamicSizes.trimPadding(b, reshard, *value, from, to);
    dynamicSizes.replace(reshard.getResult(), *value);
    // Later ops see the local value in the layout of the reshard.
    layouts[*value] = layouts.lookup(reshard.getResult());
    globalTypes[*value] = globalTypes.lookup(reshard.getResult());
    if (*value == input) {
      // Equal layouts in different forms.
      reshard.getResult().replaceAllUsesWith(input);
    } else {
      reshard.getResult().replaceAllUsesWith(*value);
      notePadding(*value);
      if (keepLayouts)
        noteLayouts(value->getDefiningOp());
    }
    op->erase();
    return success();
  }

  if (auto probe = dyn_cast<ProbeOp>(op)) {
    probe.setShardingAttr(table.getAttr(layouts.lookup(probe.getInput())));
    probe.setGlobalTypeAttr(TypeAttr::get(globalTypes.lookup(probe.getInput())));
    return success();
  }
  if (failed(dynamicSizes.makeLocal(
          op, [&](Value value) { return globalTypes.lookup(value); },
          [&](Value value) -> const Sharding & { return getSharding(value); })))
    return failure();
  makeAttributesLocal(
      op, {[&](Value value) { return globalTypes.lookup(value); }, [&](Value value) { return getLocalType(value); }});
  if (isControlFlow(op) || isa<scf::InParallelOp, ManualComputationOp>(op))
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(partitionBlock(region.front())))
        return failure();
  if (windows.contains(op)) {
    auto shardingOf = [&](Value value) -> const Sharding & { return getSharding(value); };
    auto typeOf = [&](Value value) { return globalTypes.lookup(value); };
    if (Value local = windows.lower(op, {shardingOf, typeOf})) {
      Value result = op->getResult(0);
      layouts[local] = layouts.lookup(result);
      globalTypes[local] = globalTypes.lookup(result);
      dynamicSizes.replace(result, local);
      result.replaceAllUsesWith(local);
      notePadding(local);
      op->erase();
      return success();
    }
  }
  for (Value result : op->getResults())
    if (layouts.contains(result))
      makeLocal(result);
  removeConsumed(op);
  if (keepLayouts && llvm::any_of(op->getResults(), [&](Value v) { return layouts.contains(v); }))
    noteLayouts(op);
  if (auto computation = dyn_cast<ManualComputationOp>(op))
    manual.push_back(computation); // inner ones first
  return success();
}

void FunctionPartitioner::removeConsumed(Operation *op) {
  DictionaryAttr attrs = op->getDiscardableAttrDictionary();
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attr : attrs)
    if (!llvm::is_contained(consumed, attr.getName()))
      kept.push_back(attr);
  if (kept.size() != attrs.size())
    op->setDiscardableAttrs(kept);
}

void FunctionPartitioner::writeSignature() {
  SignatureAttrs signature(func);
  SmallVector<Type> inputs, results;
  for (BlockArgument arg : func.getArguments()) {
    NamedAttrList &attrs = signature.arg(arg.getArgNumber());
    if (layouts.contains(arg)) {
      attrs.set(kGlobalTypeAttr, TypeAttr::get(globalTypes.lookup(arg)));
      attrs.set(kShardingAttr, table.getAttr(layouts.lookup(arg)));
    }
    if (auto sizes = dyn_cast_or_null<AffineMapAttr>(attrs.get(kGlobalSizesAttr)); sizes && layouts.contains(arg))
      attrs.set(kLocalSizesAttr, AffineMapAttr::get(dynamicSizes.getLocalShape(sizes.getValue(), getSharding(arg))));
    attrs.erase(kUserShardingAttr);
    inputs.push_back(arg.getType());
  }
  for (auto [i, size] : llvm::enumerate(getSizeArguments(func)))
    if (int64_t multiple = dynamicSizes.getMultiples()[i]; multiple > 1)
      signature.arg(size.getArgNumber())
          .set(dynamicSizes.isPadded(i) ? kPaddedToAttr : kMultipleAttr, IntegerAttr::get(size.getType(), multiple));
  Operation *terminator = nullptr; // any return: all have the same layouts
  for (Block &block : func.getBody())
    if (isa<func::ReturnOp>(block.getTerminator()))
      terminator = block.getTerminator();
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    NamedAttrList &attrs = signature.result(i);
    attrs.erase(kUserShardingAttr);
    results.push_back(type);
    if (!isa<RankedTensorType>(type) || !terminator)
      continue;
    Value returned = terminator->getOperand(i);
    results.back() = returned.getType();
    attrs.set(kGlobalTypeAttr, TypeAttr::get(type));
    attrs.set(kShardingAttr, table.getAttr(layouts.lookup(returned)));
    if (auto sizes = dyn_cast_or_null<AffineMapAttr>(attrs.get(kGlobalSizesAttr)))
      attrs.set(kLocalSizesAttr,
                AffineMapAttr::get(dynamicSizes.getLocalShape(sizes.getValue(), getSharding(returned))));
  }
  signature.write();
  func.setFunctionType(FunctionType::get(func.getContext(), inputs, results));
}
