//===- IdleCollectives.cpp - Collectives that move nothing ----------------===//

#include "shardkit/Transforms/IdleCollectives.h"
#include "shardkit/Cost/CollectiveMove.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

/// Windows inside of each shard, as a slice of it; null if a window is not.
static Value sliceShard(OpBuilder &b, HaloExchangeOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (!type.hasStaticShape())
    return {};
  auto global = cast<RankedTensorType>(op.getGlobalType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
      strides(type.getRank(), b.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  for (auto [d, step, offset] : llvm::zip(op.getDims(), op.getSteps(), op.getOffsets())) {
    int64_t chunk = type.getDimSize(d), size = op.getType().getDimSize(d);
    bool isAlone = chunk == global.getDimSize(d);
    if ((step != chunk && !isAlone) || global.getDimSize(d) % chunk != 0 || offset < 0 || offset + size > chunk)
      return {};
    offsets[d] = b.getIndexAttr(offset);
    sizes[d] = b.getIndexAttr(size);
  }
  if (op.getType() == type)
    return op.getInput();
  return tensor::ExtractSliceOp::create(b, op.getLoc(), op.getType(), op.getInput(), offsets, sizes, strides);
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
