//===- PropagatePass.cpp - Read annotations, propagate, write -------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionMesh.h"
#include "shardkit/Propagation/Propagation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPROPAGATEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// The constraint that stands for a user's `spmd.shardings` on an op: upstream
/// rewrites may drop or merge the attribute, never the constraint.
static void makeConstraintsOfShardings(func::FuncOp func) {
  SmallVector<Operation *> annotated;
  func->walk([&](Operation *op) {
    if (op->hasAttr(kShardingsAttr) && !isa<WithShardingConstraintOp>(op))
      annotated.push_back(op);
  });
  for (Operation *op : annotated) {
    auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    op->removeAttr(kShardingsAttr);
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    for (auto [result, attr] : llvm::zip(op->getResults(), shardings)) {
      auto sharding = dyn_cast<ShardingAttr>(attr);
      if (!sharding)
        continue;
      auto constraint = WithShardingConstraintOp::create(
          b, op->getLoc(), result, sharding);
      result.replaceAllUsesExcept(constraint.getResult(), constraint);
    }
  }
}

static Sharding getOpenSharding(int64_t rank) {
  Sharding sharding;
  sharding.dims.resize(rank);
  for (DimSharding &dim : sharding.dims)
    dim.open = true;
  return sharding;
}

namespace {

struct PropagatePass : public spmd::impl::SPMDPropagatePassBase<PropagatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPhaseAtMost(module, Phase::Propagated, getArgument())))
      return signalPassFailure();
    bool written = getPhase(module) < int(Phase::Annotated);
    MeshCache meshes(module);
    unsigned unknownOps = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (written)
        makeConstraintsOfShardings(func);
      if (failed(runOnFunction(func, meshes, unknownOps)))
        return signalPassFailure();
    }
    if (unknownOps > 0)
      emitWarning(module.getLoc()) // without the module below it
          << unknownOps
          << " ops without a sharding rule are replicated; list them with "
             "--remarks-filter=spmd";
    setPhase(module, Phase::Propagated);
  }

  LogicalResult runOnFunction(func::FuncOp func, MeshCache &meshes,
                              unsigned &unknownOps);
};

/// The sharding given for an argument or result: the user's own where an
/// earlier run has kept it, else what stands there, else everything open.
template <typename GetAttr>
Attribute getGiven(GetAttr getAttr) {
  if (Attribute given = getAttr(kGivenAttr))
    return given;
  return getAttr(kShardingAttr);
}

LogicalResult PropagatePass::runOnFunction(func::FuncOp func,
                                           MeshCache &meshes,
                                           unsigned &unknownOps) {
  FailureOr<FlatSymbolRefAttr> meshRefOr = getFunctionMesh(func, meshes);
  if (failed(meshRefOr))
    return failure();
  if (!*meshRefOr)
    return success(); // no mesh: one device
  FlatSymbolRefAttr meshRef = *meshRefOr;
  const Mesh &mesh = *meshes.lookup(meshRef);
  MLIRContext *context = &getContext();
  Propagation propagation(mesh);

  auto read = [&](Attribute attr, RankedTensorType type,
                  Location loc) -> FailureOr<Sharding> {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    if (!sharding)
      return getOpenSharding(type.getRank());
    return toSharding(sharding, mesh, [&] { return emitError(loc); });
  };

  // Arguments.
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    if (func.getArgAttr(arg.getArgNumber(), kAxisResourcesAttr))
      return emitError(arg.getLoc())
             << "argument #" << arg.getArgNumber()
             << " has axis resources, expected shardings; run "
                "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> given = read(
        getGiven([&](StringRef name) { return func.getArgAttr(arg.getArgNumber(), name); }),
        type, arg.getLoc());
    if (failed(given))
      return failure();
    propagation.addValue(arg, std::move(*given));
  }

  // A function with several blocks keeps everything whole.
  bool straight = func.getBody().hasOneBlock();
  if (!straight)
    emitWarning(func.getLoc()) << "function has several blocks, its values are replicated";
  SmallVector<Operation *> ops;
  if (straight)
    for (Operation &op : func.getBody().front().without_terminator())
      ops.push_back(&op);

  for (Operation *op : ops) {
    if (isCreation(op))
      continue;
    if (isa<ManualComputationOp, PropagationBarrierOp, ShardingGroupOp,
            StageBoundaryOp>(op))
      return op->emitError() << op->getName()
                             << " is not supported by propagation yet";
    auto constraint = dyn_cast<WithShardingConstraintOp>(op);
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      Attribute attr;
      if (constraint) {
        if (constraint.getAxisResourcesAttr())
          return op->emitError() << "constraint has axis resources, expected a "
                                    "sharding; run "
                                    "--spmd-resolve-axis-resources first";
        attr = constraint.getShardingAttr();
      }
      FailureOr<Sharding> given = read(attr, type, op->getLoc());
      if (failed(given))
        return failure();
      propagation.addValue(result, std::move(*given));
    }
    ShardingRule rule = getShardingRule(op);
    auto hasDims = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() > 0;
    };
    bool hasTensors = llvm::any_of(op->getResultTypes(), hasDims) ||
                      llvm::any_of(op->getOperandTypes(), hasDims);
    if (rule.isFallback && hasTensors) {
      ++unknownOps;
      remark::missed(op->getLoc(), remark::RemarkOpts::name("no-rule")
                                       .category("spmd")
                                       .function(func.getName()))
          << remark::add("{0} has no sharding rule and is replicated; implement "
                         "ShardingRuleOpInterface for it",
                         op->getName().getStringRef());
    }
    propagation.addOp(std::move(rule));
  }

  // Results: a place each, equal to what is returned. A result that updates an
  // argument in place shares the argument's layout.
  SmallVector<int64_t> slots;
  func::ReturnOp terminator;
  if (straight)
    terminator = dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    slots.push_back(-1);
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    if (!type || !terminator)
      continue;
    if (func.getResultAttr(i, kAxisResourcesAttr))
      return emitError(func.getLoc()) << "result #" << i
                              << " has axis resources, expected shardings; run "
                                 "--spmd-resolve-axis-resources first";
    FailureOr<Sharding> given = read(
        getGiven([&](StringRef name) { return func.getResultAttr(i, name); }),
        type, func.getLoc());
    if (failed(given))
      return failure();
    slots.back() = propagation.addSlot(type.getShape(), type.getElementType(),
                                       std::move(*given));
    Value returned = terminator.getOperand(i);
    if (propagation.contains(returned))
      propagation.addIdentity(propagation.getId(returned), slots.back());
    if (auto tied = func.getResultAttrOfType<IntegerAttr>(i, kTiedAttr))
      propagation.addIdentity(
          propagation.getId(func.getArgument(tied.getInt())), slots.back());
  }

  propagation.run();

  auto attrOf = [&](unsigned id) {
    return toAttr(context, meshRef, propagation.get(id), mesh);
  };
  for (BlockArgument arg : func.getArguments()) {
    if (!propagation.contains(arg))
      continue;
    unsigned i = arg.getArgNumber();
    Attribute own = getGiven([&](StringRef name) { return func.getArgAttr(i, name); });
    if (!own)
      own = toAttr(context, meshRef,
                   getOpenSharding(cast<RankedTensorType>(arg.getType()).getRank()),
                   mesh);
    ShardingAttr completed = attrOf(propagation.getId(arg));
    func.setArgAttr(i, kShardingAttr, completed);
    if (own != completed)
      func.setArgAttr(i, kGivenAttr, own);
  }
  for (auto [i, slot] : llvm::enumerate(slots)) {
    if (slot < 0)
      continue;
    Attribute own = getGiven([&](StringRef name) { return func.getResultAttr(i, name); });
    if (!own)
      own = toAttr(context, meshRef,
                   getOpenSharding(propagation.get(slot).dims.size()), mesh);
    ShardingAttr completed = attrOf(slot);
    func.setResultAttr(i, kShardingAttr, completed);
    if (own != completed)
      func.setResultAttr(i, kGivenAttr, own);
  }
  for (Operation *op : ops) {
    SmallVector<Attribute> shardings;
    for (Value result : op->getResults())
      if (propagation.contains(result))
        shardings.push_back(attrOf(propagation.getId(result)));
    if (shardings.size() == op->getNumResults() && !shardings.empty())
      op->setAttr(kShardingsAttr, ArrayAttr::get(context, shardings));
  }
  return success();
}

} // namespace
