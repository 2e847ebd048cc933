//===- IdleCollectives.cpp - Collectives that move nothing ----------------===//

#include "shardkit/Transforms/IdleCollectives.h"
#include "shardkit/Cost/CollectiveMove.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

/// A sharding of the dims in `kept` alone.
static ShardingAttr keepDims(ShardingAttr sharding, ArrayRef<int64_t> kept) {
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  for (auto [d, dim] : llvm::enumerate(dims))
    if (!llvm::is_contained(kept, int64_t(d)))
      dim = DimShardingAttr::get(sharding.getContext(), {}, /*open=*/false, /*priority=*/0);
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                           sharding.getUnreducedKind(), sharding.getUnreduced());
}

/// Windows inside of each shard, as slices of what a device has; null if a window is not.
static Value sliceShard(OpBuilder &b, HaloExchangeOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (!type.hasStaticShape())
    return {};
  auto global = cast<RankedTensorType>(op.getGlobalType());
  SmallVector<int64_t> shape(type.getShape()), starts(type.getRank(), 0);
  SmallVector<int64_t> dims, steps, offsets; // windows of dims that each device has
  for (auto [d, step, offset] : llvm::zip(op.getDims(), op.getSteps(), op.getOffsets())) {
    if (op.getFrom().getDims()[d].getEntries().empty()) {
      dims.push_back(d), steps.push_back(step), offsets.push_back(offset);
      continue;
    }
    int64_t chunk = type.getDimSize(d), size = op.getType().getDimSize(d);
    bool isOneShard = chunk == global.getDimSize(d);
    if ((step != chunk && !isOneShard) || global.getDimSize(d) % chunk != 0 || offset < 0 || offset + size > chunk)
      return {};
    starts[d] = offset;
    shape[d] = size;
  }
  Value value = op.getInput();
  if (type.clone(shape) != type) {
    SmallVector<OpFoldResult> sizes, strides(type.getRank(), b.getIndexAttr(1)), at;
    for (auto [size, start] : llvm::zip(shape, starts)) {
      sizes.push_back(b.getIndexAttr(size));
      at.push_back(b.getIndexAttr(start));
    }
    value = tensor::ExtractSliceOp::create(b, op.getLoc(), type.clone(shape), value, at, sizes, strides);
  }
  if (dims.empty())
    return value;
  return HaloExchangeOp::create(b, op.getLoc(), op.getType(), value, TypeAttr::get(type.clone(shape)),
                                keepDims(op.getFrom(), {}), keepDims(op.getTo(), dims), b.getDenseI64ArrayAttr(dims),
                                b.getDenseI64ArrayAttr(steps), b.getDenseI64ArrayAttr(offsets), IntegerAttr());
}

/// The value of a collective that moves nothing; null if it has no simpler form.
static Value getUnmoved(OpBuilder &b, CollectiveOpInterface op) {
  if (auto halo = dyn_cast<HaloExchangeOp>(op.getOperation()))
    return sliceShard(b, halo);
  return op->getOperand(0).getType() == op->getResult(0).getType() ? op->getOperand(0) : Value();
}

/// Collectives that start together become single ones.
static void dissolve(StartOp start) {
  DoneOp done = start.getDone();
  SmallVector<CollectiveOpInterface> members(start.getBody().getOps<CollectiveOpInterface>());
  for (auto [member, result] : llvm::zip(members, done.getResults())) {
    result.replaceAllUsesWith(member->getResult(0));
    member->moveBefore(start);
  }
  done.erase();
  start.erase();
}

FailureOr<bool> spmd::removeIdleCollectives(func::FuncOp func, const MeshCache &meshes) {
  SmallVector<CollectiveOpInterface> idle;
  WalkResult walk = func.walk([&](CollectiveOpInterface op) {
    // Ranks of meshes with other orders of devices cannot be compared.
    if (op.getKind() == CollectiveKind::AllSlice || op.getFromMesh() != op.getToMesh())
      return WalkResult::advance();
    FailureOr<CollectiveMove> move = getMove(op, meshes);
    if (failed(move))
      return WalkResult::interrupt();
    if (move->cost.bytes == 0)
      idle.push_back(op);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  bool removed = false;
  for (CollectiveOpInterface op : idle) {
    OpBuilder b(op);
    if (auto start = dyn_cast<StartOp>(op->getParentOp())) {
      dissolve(start);
      removed = true;
      b.setInsertionPoint(op);
    }
    Value value = getUnmoved(b, op);
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    removed = true;
  }
  return removed;
}
