//===- ManualRegions.cpp - Regions in local view over some axes -----------===//
//
// The shardings of a manual computation constrain its operands and results. A value inside is
// the shard of the value outside along the manual axes: the free axes of its dims propagate in
// and out, the manual axes must not be used inside.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/IndexedBody.h"

using namespace mlir;
using namespace mlir::spmd;

/// True if devices with different coordinates on `entry` have different coordinates on `axes`.
static bool covers(ArrayRef<DimEntry> axes, const DimEntry &entry, const Mesh &mesh) {
  SmallVector<RankDigit> digits;
  for (const DimEntry &axis : axes)
    digits.push_back(getRankDigit(axis, mesh));
  coalesce(digits);
  RankDigit wanted = getRankDigit(entry, mesh);
  return wanted.size == 1 || llvm::any_of(digits, [&](const RankDigit &digit) {
           return wanted.stride % digit.stride == 0 && digit.stride * digit.size % (wanted.stride * wanted.size) == 0;
         });
}

LogicalResult FunctionPropagation::readManual(ManualComputationOp op) {
  FlatSymbolRefAttr name = op.getMesh();
  DimEntries axes;
  if (name) {
    FailureOr<DimEntries> manual = meshes.readAxes(name, op.getManualAxes(), [&] { return op.emitError(); });
    if (failed(manual))
      return failure();
    axes = std::move(*manual);
  }
  if (overlaps(axes, manualAxes, mesh))
    return op.emitError() << "manual axes " << meshes.toString(axes)
                          << " are already manual around the op, expected other axes";
  auto verifyEven = [&](Type outside, Type inside, const Twine &what) -> LogicalResult {
    for (auto [d, size, local] : llvm::enumerate(getShape(outside), getShape(inside)))
      if (local == 0 || size % local != 0)
        return op.emitError() << "manual axes do not divide dim " << d << " of " << what << " (" << outside
                              << "), expected a multiple of their sizes";
    return success();
  };

  // The manual axes of the operand determine the types inside: no further ones may be added.
  auto keepManual = [&](Sharding &userSharding) {
    for (const DimEntry &axis : axes)
      if (llvm::none_of(userSharding.dims, [&](const DimSharding &dim) { return overlaps(axis, dim.entries, mesh); }))
        userSharding.replicated.push_back(axis);
  };

  SmallVector<ClassId> operands;
  for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
    BlockArgument arg = op.getBody().getArgument(i);
    if (failed(verifyEven(operand.getType(), arg.getType(), "operand #" + Twine(i))))
      return failure();
    auto type = cast<RankedTensorType>(operand.getType());
    FailureOr<Sharding> userSharding = readUserSharding(op.getInSharding(i), type, op.getLoc());
    if (failed(userSharding))
      return failure();
    keepManual(*userSharding);
    operands.push_back(propagation.addClass(type, std::move(*userSharding)));
    forward(op, operand, operands.back());
  }
  size_t outer = manualAxes.size();
  manualAxes.append(axes);
  for (auto [arg, valueClass] : llvm::zip(op.getBody().getArguments(), operands)) {
    if (failed(addOpen(arg)))
      return failure();
    propagation.addIdentity(op, valueClass, propagation.getId(arg), arg);
  }
  propagation.setManualAxes(manualAxes);
  LogicalResult body = readBlock(op.getBody().front());
  manualAxes.truncate(outer);
  propagation.setManualAxes(manualAxes);
  if (failed(body))
    return failure();
  operandClasses.emplace_back(op, SmallVector<int64_t>(operands.begin(), operands.end()));

  Operation *terminator = op.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(op.getOutputs())) {
    Value yielded = terminator->getOperand(i);
    if (failed(verifyEven(result.getType(), yielded.getType(), "result #" + Twine(i))))
      return failure();
    FailureOr<Sharding> userSharding =
        readUserSharding(op.getOutSharding(i), cast<RankedTensorType>(result.getType()), op.getLoc());
    if (failed(userSharding))
      return failure();
    keepManual(*userSharding);
    if (failed(addAnnotated(result, std::move(*userSharding), op.getLoc())))
      return failure();
    if (propagation.contains(yielded))
      propagation.addIdentity(terminator, yielded, propagation.getId(result), result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Uniform values
//===----------------------------------------------------------------------===//

namespace {

/// Finds out whether values in a manual computation are equal on all devices that
/// differ in its manual axes only.
class Uniformity {
public:
  explicit Uniformity(ManualComputationOp op) : op(op) {}

  bool isUniform(Value value) {
    auto [it, isNew] = known.try_emplace(value, false); // a cycle: not known to be
    if (!isNew)
      return it->second;
    bool uniform = compute(value);
    return known[value] = uniform;
  }

private:
  bool areUniform(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isUniform(value); });
  }

  bool compute(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      Operation *parent = arg.getOwner()->getParentOp();
      if (parent == op)
        return llvm::none_of(op.getInSharding(arg.getArgNumber()).getDims(), [&](DimShardingAttr dim) {
          return llvm::any_of(dim.getEntries(), [&](DimEntryAttr entry) {
            return !entry.isStride() && op.isManualAxis(entry.getAxis());
          });
        });
      auto loop = dyn_cast<scf::ForOp>(parent);
      return loop && arg == loop.getInductionVar() &&
             areUniform({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    }
    Operation *def = value.getDefiningOp();
    if (isa<DeviceCoordinateOp>(def) || def->getParentOfType<ManualComputationOp>() != op)
      return false;
    if (auto reduce = dyn_cast<AllReduceOp>(def)) {
      llvm::SmallDenseSet<StringRef> axes;
      for (DimEntryAttr entry : reduce.getAxes().getAxes())
        if (entry.isFullAxis())
          axes.insert(entry.getAxis());
      return llvm::all_of(op.getManualAxes(),
                          [&](Attribute axis) { return axes.contains(cast<StringAttr>(axis).getValue()); });
    }
    if (isa<CollectiveOpInterface>(def) || (def->getNumRegions() > 0 && !getIndexedBody(def)))
      return false;
    return areUniform(def->getOperands());
  }

  ManualComputationOp op;
  llvm::DenseMap<Value, bool> known;
};

/// The op around `op`, inside its manual computation, that may run it on some
/// devices only, or more often on some; null if all run it alike.
Operation *findDivergence(Operation *op) {
  auto manual = op->getParentOfType<ManualComputationOp>();
  Uniformity uniformity(manual);
  for (Operation *around = op->getParentOp(); around != manual; around = around->getParentOp()) {
    bool uniform = false;
    if (auto branch = dyn_cast<scf::IfOp>(around))
      uniform = uniformity.isUniform(branch.getCondition());
    else if (auto branch = dyn_cast<scf::IndexSwitchOp>(around))
      uniform = uniformity.isUniform(branch.getArg());
    else if (auto loop = dyn_cast<scf::WhileOp>(around))
      uniform = uniformity.isUniform(loop.getConditionOp().getCondition());
    else if (auto loop = dyn_cast<LoopLikeOpInterface>(around))
      uniform = llvm::all_of(llvm::concat<const OpFoldResult>(*loop.getLoopLowerBounds(), *loop.getLoopUpperBounds(),
                                                              *loop.getLoopSteps()),
                             [&](OpFoldResult bound) {
                               auto value = dyn_cast<Value>(bound);
                               return !value || uniformity.isUniform(value);
                             });
    else
      uniform = isa<scf::ExecuteRegionOp>(around);
    if (!uniform)
      return around;
  }
  return nullptr;
}

} // namespace

LogicalResult FunctionPropagation::verifyLocalOp(Operation *op) {
  if (!op->getParentOfType<ManualComputationOp>())
    return op->emitError() << op->getName()
                           << " in a function in global view, expected it only inside "
                              "spmd.manual_computation; --spmd-partition creates all others";
  DimEntries used;
  auto emitError = [&] { return op->emitError(); };
  auto verifyOrder = [&](FlatSymbolRefAttr name) -> LogicalResult {
    if (meshes.hasCommonOrder(name))
      return success();
    return op->emitError() << op->getName() << " on mesh " << name
                           << ", whose devices are ordered differently from those of the first "
                              "mesh of the function, expected a mesh with the same order";
  };
  if (auto coordinate = dyn_cast<DeviceCoordinateOp>(op))
    return verifyOrder(coordinate.getMeshAttr());
  auto collective = cast<CollectiveOpInterface>(op);
  for (FlatSymbolRefAttr name : {collective.getFromMesh(), collective.getToMesh()})
    if (name && failed(verifyOrder(name)))
      return failure();
  for (ShardingAttr attr : {collective.getFromSharding(), collective.getToSharding()}) {
    if (!attr)
      continue;
    FailureOr<Sharding> sharding = meshes.read(attr, emitError);
    if (failed(sharding))
      return failure();
    for (const DimSharding &dim : sharding->dims)
      used.append(dim.entries);
    used.append(sharding->unreduced);
  }
  if (auto axes = op->getAttrOfType<AxesAttr>("axes")) {
    FailureOr<DimEntries> entries = meshes.read(axes, emitError);
    if (failed(entries))
      return failure();
    used.append(*entries);
  }
  for (const DimEntry &entry : used)
    if (!entry.isStride() && !covers(manualAxes, entry, mesh))
      return op->emitError() << "collective over axis " << meshes.toString(DimEntries{entry})
                             << ", which is not manual here, expected axes of " << meshes.toString(manualAxes);
  if (Operation *around = findDivergence(op)) {
    InFlightDiagnostic diag = op->emitError()
                              << "collective under control flow that may differ between devices, expected a "
                                 "condition or bounds that are equal on all: constants, arguments that "
                                 "no manual axis shards, or a value all-reduced over the manual axes";
    diag.attachNote(around->getLoc()) << "the " << around->getName() << " is here";
    return diag;
  }
  return success();
}
