//===- CollectiveMove.cpp - Costs of collectives in the IR ----------------===//

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

FailureOr<CollectiveMove> spmd::getMove(CollectiveOpInterface op, const MeshCache &meshes) {
  auto emit = [&] { return op.emitError(); };
  CollectiveMove move;
  move.mesh = meshes.lookupOrEmit(op.getFromMesh(), emit);
  const Mesh *to = meshes.lookupOrEmit(op.getToMesh(), emit);
  if (!move.mesh || !to || failed(op.getLayouts(*move.mesh, *to, move.step.from, move.step.to)))
    return failure();
  move.step.kind = op.getKind();
  move.step.group = getMovedRanks(move.step.from, move.step.to);
  SmallVector<int64_t> order = getReordering(*move.mesh, *to);
  if (!order.empty()) {
    move.step.order = order;
    move.step.group.assign({{1, move.mesh->numDevices()}});
  }
  CostModel costs(*move.mesh);
  move.cost = costs.getCost(move.step, getElementBytes(getElementTypeOrSelf(op->getResult(0).getType())));
  move.step.order = {}; // `order` ends here.
  move.latency = std::min(costs.getLatency(move.step.group), move.cost.seconds);
  return move;
}

bool spmd::travelsAlong(Operation *op) {
  return isa_and_nonnull<StartOp>(op->getParentOp()) && op != &op->getBlock()->front();
}

/// True for an op that reads each element once or less, and writes one for it.
static bool isElementwise(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getNumReductionLoops() == 0;
  return op->hasTrait<OpTrait::Elementwise>();
}

/// A value that an elementwise op computes for one reader, which is computed with it.
static bool isComputedWithReader(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isElementwise(op) || !value.hasOneUse())
    return false;
  Operation *reader = *value.user_begin();
  return reader->getBlock() == op->getBlock() && (isElementwise(reader) || isa<linalg::LinalgOp>(reader)) &&
         !linalg::isaContractionOpInterface(dyn_cast<linalg::LinalgOp>(reader));
}

/// Bytes that an op reads from memory and writes to it.
static double getMovedBytes(Operation *op) {
  double bytes = 0;
  auto add = [&](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (tensor && tensor.hasStaticShape() && !isComputedWithReader(value))
      bytes += double(tensor.getNumElements()) * getElementBytes(tensor.getElementType());
  };
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) { // into the destination, in place
    add(insert.getSource());
    return 2 * bytes;
  }
  if (isa<tensor::ExtractSliceOp, tensor::GatherOp>(op)) { // of the source only what is taken
    add(op->getResult(0));
    return 2 * bytes;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (Value operand : linalgOp ? ValueRange(linalgOp.getDpsInputs()) : ValueRange(op->getOperands())) {
    Operation *maker = operand.getDefiningOp();
    if (!maker || !(isa<linalg::FillOp>(maker) || maker->hasTrait<OpTrait::ConstantLike>()))
      add(operand);
  }
  for (Value result : op->getResults())
    add(result);
  return bytes;
}

double spmd::getComputeSeconds(Operation *op, const Mesh &mesh, int64_t tripCount) {
  if (op->getNumResults() == 0 || isa<linalg::FillOp>(op)) // a fill is made where it is used, if at all
    return 0;
  double operations = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
      operations += tensor.getNumElements();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    double space = linalgOp.getNumReductionLoops() > 0 ? 2 : 1;
    for (int64_t range : linalgOp.getStaticLoopRanges())
      space *= ShapedType::isDynamic(range) ? 1 : range;
    operations = space;
  } else if (op->getNumRegions() > 0) {
    double inside = 0;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          inside += getComputeSeconds(&inner, mesh, tripCount);
    return inside * getTripCount(op, tripCount);
  } else if (isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, CollectiveOpInterface,
                 DoneOp>(op) ||
             op->hasTrait<OpTrait::ConstantLike>()) {
    return 0;
  }
  double seconds = operations / mesh.flops.value_or(CostModel::kDefaultFlops);
  return mesh.bandwidth ? std::max(seconds, getMovedBytes(op) / *mesh.bandwidth) : seconds;
}
