//===- CollectiveMove.cpp - Costs of collectives in the IR ----------------===//

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Cost/RowShares.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Layout/MeshViews.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/GroupRegions.h"
#include "shardkit/Rules/Reductions.h"
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
  move.cost = scaleToRows(move.cost, move.latency, getRowShare(op, move.cost));
  return move;
}

bool spmd::travelsAlong(Operation *op) {
  return isa_and_nonnull<StartOp>(op->getParentOp()) && op != &op->getBlock()->front();
}

/// How many ops next to an op are computed with it at most.
static constexpr int kMaxDistance = 64;

/// An op on elements or rows.
static bool isLight(Operation *op) {
  return op->getNumRegions() == 0 ? op->hasTrait<OpTrait::Elementwise>()
                                  : isa<linalg::LinalgOp>(op) && !isContraction(op);
}

/// The light ops that a light op is computed with, from what is in caches: those before it up to a contraction or
/// collective, or those after it.
static SmallVector<Operation *> getNeighbors(Operation *op, bool isForward) {
  SmallVector<Operation *> neighbors;
  auto step = [&](Operation *from) { return isForward ? from->getNextNode() : from->getPrevNode(); };
  Operation *next = isLight(op) ? step(op) : nullptr;
  for (int i = 0; next && i < kMaxDistance; ++i, next = step(next)) {
    if (isContraction(next) || isa<CollectiveOpInterface>(next))
      break;
    if (isLight(next))
      neighbors.push_back(next);
  }
  return neighbors;
}

/// Bytes that an op reads from memory and writes to it. What its neighbors have read or made is not read again, and
/// what only they read is not written. Linear in uses.
static double getMovedBytes(Operation *op) {
  auto getBytes = [](Value value) -> double {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    bool isKnown = tensor && tensor.hasStaticShape();
    double bytes = isKnown ? double(tensor.getNumElements()) * getElementBytes(tensor.getElementType()) : 0;
    // Of groups the rows that are computed.
    return getGroupsInTurn(value, tensor) > 1 ? bytes * getGroupShare(value.getDefiningOp())->get() : bytes;
  };
  if (op->getNumResults() == 0) // it ends a block
    return 0;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) // into the destination, in place
    return 2 * getBytes(insert.getSource());
  if (isa<tensor::ExtractSliceOp, tensor::GatherOp>(op)) // of the source only what is taken
    return 2 * getBytes(op->getResult(0));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  bool isTranspose = isa<linalg::TransposeOp>(op) || (generic && linalg::isaTransposeOpInterface(generic));
  if (isTranspose && llvm::all_of(op->getUsers(), isContraction)) // they read it as it is
    return 0;
  SmallVector<Operation *> before = getNeighbors(op, /*isForward=*/false), after = getNeighbors(op, /*isForward=*/true);
  auto isRead = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    if (maker && (isa<linalg::FillOp>(maker) || maker->hasTrait<OpTrait::ConstantLike>()))
      return false;
    if (maker && isContraction(maker) && isLight(op) && value.hasOneUse()) // with each tile of it
      return false;
    return llvm::none_of(
        before, [&](Operation *other) { return other == maker || llvm::is_contained(other->getOperands(), value); });
  };
  auto isWritten = [&](Value value) {
    int64_t uses = 0;
    for (Operation *reader : after)
      uses += llvm::count(reader->getOperands(), value);
    return uses < std::distance(value.use_begin(), value.use_end());
  };
  double bytes = 0;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  SmallVector<Value> operands = linalgOp ? linalgOp.getDpsInputs() : SmallVector<Value>(op->getOperands());
  for (Value operand : operands)
    bytes += isRead(operand) ? getBytes(operand) : 0;
  for (Value result : op->getResults())
    bytes += isWritten(result) ? getBytes(result) : 0;
  return bytes;
}

double spmd::getComputeSeconds(Operation *op, const Mesh &mesh, int64_t tripCount) {
  if (isa<linalg::FillOp>(op)) // made where it is used, if at all
    return 0;
  double operations = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
      operations += tensor.getNumElements();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    double space = isContraction(op) ? 2 : 1;
    for (int64_t range : linalgOp.getStaticLoopRanges())
      space *= ShapedType::isDynamic(range) ? 1 : range;
    operations = space;
    if (std::optional<GroupShare> share = getGroupShare(op))
      operations *= share->get();
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
