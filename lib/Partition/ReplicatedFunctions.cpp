//===- ReplicatedFunctions.cpp - Functions on replicated values -----------===//

#include "shardkit/Partition/ReplicatedFunctions.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/ShardingRule.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spmd;

unsigned spmd::dropAnnotations(Operation *root, StringRef reason) {
  SmallVector<Operation *> annotations;
  root->walk([&](Operation *op) {
    if (isa<WithShardingConstraintOp, PropagationBarrierOp, ShardingGroupOp>(op))
      annotations.push_back(op);
  });
  unsigned constraints = 0;
  for (Operation *op : llvm::reverse(annotations)) {
    if (isa<WithShardingConstraintOp>(op)) {
      ++constraints;
      remark::missed(op->getLoc(), remark::RemarkOpts::name("dropped-constraint").category("spmd"))
          << remark::add("{0} is dropped", op->getName().getStringRef()) << remark::reason("{0}", reason);
    }
    if (op->getNumResults() == 1)
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  return constraints;
}

namespace {

/// Makes one function compute on replicated values.
///
///   func @f(%a [{"x"}]) -> [{"x"}]  becomes  %0 = reshard %a <[{}]>; ...; reshard <[{"x"}]>; return
class ReplicatedFunction {
public:
  ReplicatedFunction(func::FuncOp func, FunctionMeshes &meshes, bool forbidImplicit)
      : func(func), meshes(meshes), table(meshes), forbidImplicit(forbidImplicit) {}

  LogicalResult run();

private:
  LayoutId replicatedOf(Type type) { return table.getReplicated(cast<RankedTensorType>(type).getRank()); }

  FailureOr<LayoutId> read(Attribute attr, Type type, Location loc);
  Value reshard(OpBuilder &b, Value value, LayoutId from, LayoutId to, Location loc);

  /// Replicates a value in layout `id` for all its users.
  void reshardAll(OpBuilder &b, Value value, LayoutId id, Location loc);
  LogicalResult visit(Block &block);
  LogicalResult visitCall(func::CallOp call);
  void setShardings(Operation *op, function_ref<LayoutId(unsigned)> layoutOf);

  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable table;
  bool forbidImplicit, foundImplicit = false;
  SmallVector<LayoutId> results;
};

} // namespace

LogicalResult ReplicatedFunction::run() {
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    FailureOr<LayoutId> id = read(func.getArgAttr(arg.getArgNumber(), kShardingAttr), type, arg.getLoc());
    if (failed(id))
      return failure();
    func.setArgAttr(arg.getArgNumber(), kShardingAttr, table.getAttr(*id));
    reshardAll(b, arg, *id, arg.getLoc());
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    results.push_back(0);
    if (!isa<RankedTensorType>(type))
      continue;
    FailureOr<LayoutId> id = read(func.getResultAttr(i, kShardingAttr), type, func.getLoc());
    if (failed(id))
      return failure();
    results.back() = *id;
    func.setResultAttr(i, kShardingAttr, table.getAttr(*id));
  }
  for (Block &block : func.getBody())
    if (failed(visit(block)))
      return failure();
  return failure(foundImplicit);
}

FailureOr<LayoutId> ReplicatedFunction::read(Attribute attr, Type type, Location loc) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  if (!sharding)
    return replicatedOf(type);
  return table.read(sharding, cast<RankedTensorType>(type), [&] { return emitError(loc); });
}

Value ReplicatedFunction::reshard(OpBuilder &b, Value value, LayoutId from, LayoutId to, Location loc) {
  auto [bytes, kinds, axes] = table.getMove(from, to, cast<RankedTensorType>(value.getType()));
  if (bytes > 0 && forbidImplicit) {
    emitError(loc) << "implicit reshard of " << value.getType() << " from " << meshes.toString(table.get(from))
                   << " to " << meshes.toString(table.get(to)) << " (" << kinds << ", " << bytes
                   << " bytes), as the function has several blocks, expected one block: lift "
                      "its control flow, for instance with --lift-cf-to-scf";
    foundImplicit = true;
  }
  if (bytes > 0)
    remark::passed(loc, remark::RemarkOpts::name("reshard").category("spmd").function(func.getName()))
        << remark::add("{0} becomes {1}: {2}", meshes.toString(table.get(from)), meshes.toString(table.get(to)), kinds)
        << remark::metric("Bytes", bytes) << remark::metric("Axes", axes)
        << remark::reason("the function has several blocks")
        << remark::suggest("lift its control flow, for instance with --lift-cf-to-scf");
  return ReshardOp::create(b, loc, value.getType(), value, table.getAttr(to));
}

void ReplicatedFunction::reshardAll(OpBuilder &b, Value value, LayoutId id, Location loc) {
  if (id == replicatedOf(value.getType()))
    return;
  Value replicated = reshard(b, value, id, replicatedOf(value.getType()), loc);
  value.replaceAllUsesExcept(replicated, replicated.getDefiningOp());
}

LogicalResult ReplicatedFunction::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<ReshardOp>(op))
      continue;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      if (failed(visitCall(call)))
        return failure();
      continue;
    }
    if (isa<func::ReturnOp>(op)) {
      OpBuilder b(&op);
      for (auto [i, operand] : llvm::enumerate(op.getOpOperands()))
        if (isa<RankedTensorType>(operand.get().getType()) && results[i] != replicatedOf(operand.get().getType()))
          operand.set(reshard(b, operand.get(), replicatedOf(operand.get().getType()), results[i], op.getLoc()));
      continue;
    }
    setShardings(&op, [&](unsigned i) { return replicatedOf(op.getResult(i).getType()); });
    if (!isControlFlow(&op)) {
      if (failed(verifyReplicatedCalls(&op)))
        return failure();
      continue;
    }
    for (Region &region : op.getRegions())
      if (!region.empty() && failed(visit(region.front())))
        return failure();
  }
  return success();
}

LogicalResult ReplicatedFunction::visitCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  OpBuilder b(call);
  for (auto [i, operand] : llvm::enumerate(call->getOpOperands())) {
    Type type = operand.get().getType();
    if (!isa<RankedTensorType>(type))
      continue;
    FailureOr<LayoutId> id = read(callee ? callee.getArgAttr(i, kShardingAttr) : Attribute(), type, call.getLoc());
    if (failed(id))
      return failure();
    if (*id != replicatedOf(type))
      operand.set(reshard(b, operand.get(), replicatedOf(type), *id, call.getLoc()));
  }
  SmallVector<LayoutId> produced(call.getNumResults());
  b.setInsertionPointAfter(call);
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    FailureOr<LayoutId> id =
        read(callee ? callee.getResultAttr(i, kShardingAttr) : Attribute(), result.getType(), call.getLoc());
    if (failed(id))
      return failure();
    produced[i] = *id;
    reshardAll(b, result, *id, call.getLoc());
  }
  setShardings(call, [&](unsigned i) { return produced[i]; });
  return success();
}

void ReplicatedFunction::setShardings(Operation *op, function_ref<LayoutId(unsigned)> layoutOf) {
  SmallVector<Attribute> attrs;
  for (OpResult result : op->getResults())
    attrs.push_back(table.getAttr(isa<RankedTensorType>(result.getType()) ? layoutOf(result.getResultNumber())
                                                                          : table.getReplicated(0)));
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    op->setAttr(kShardingsAttr, ArrayAttr::get(op->getContext(), attrs));
}

LogicalResult spmd::makeReplicated(func::FuncOp func, FunctionMeshes &meshes, bool forbidImplicit) {
  return ReplicatedFunction(func, meshes, forbidImplicit).run();
}

LogicalResult spmd::verifyReplicatedCalls(Operation *op) {
  WalkResult walk = op->walk([&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    auto isSharded = [](Attribute attr) {
      auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
      return sharding &&
             llvm::any_of(sharding.getDims(), [](DimShardingAttr dim) { return !dim.getEntries().empty(); });
    };
    bool anySharded = false;
    for (unsigned i = 0; callee && i < callee.getNumArguments(); ++i)
      anySharded |= isSharded(callee.getArgAttr(i, kShardingAttr));
    for (unsigned i = 0; callee && i < callee.getNumResults(); ++i)
      anySharded |= isSharded(callee.getResultAttr(i, kShardingAttr));
    if (!anySharded)
      return WalkResult::advance();
    InFlightDiagnostic diag = call.emitError() << "call of @" << callee.getName() << " in the body of " << op->getName()
                                               << ", which computes on replicated values, expected a callee whose "
                                                  "arguments and results are replicated";
    diag.attachNote(callee.getLoc()) << "callee is here";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
