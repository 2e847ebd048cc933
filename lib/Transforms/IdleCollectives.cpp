//===- IdleCollectives.cpp - Collectives that move nothing ----------------===//

#include "shardkit/Transforms/IdleCollectives.h"
#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Layout/MeshViews.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cstdlib>

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

namespace {
/// A window of a dim, relative to the shard of each device.
struct OwnWindow {
  int64_t dim, step, offset;
};
} // namespace

/// Whether no device reads a lane beyond an uneven dim of `size` from its shard of `chunk` lanes.
static bool readsNoPadding(const OwnWindow &window, int64_t length, int64_t chunk, int64_t shards, int64_t size) {
  for (int64_t k = 0; k < shards && chunk * shards > size; ++k) {
    int64_t begin = window.step * k + window.offset, valid = std::clamp<int64_t>(size - chunk * k, 0, chunk);
    if (std::min(begin + length, chunk) > std::max(begin, valid))
      return false;
  }
  return true;
}

/// The shard with zeros in the lanes beyond an uneven dim; null if its type has no zero, or an unknown size.
static Value zeroPadding(OpBuilder &b, HaloExchangeOp op, Value value, int64_t d) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || !type.getElementType().isIntOrIndexOrFloat())
    return {};
  // Windows of a dim of ones are zero beyond it.
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape[d] = cast<RankedTensorType>(op.getGlobalType()).getDimSize(d);
  auto onesType = RankedTensorType::get(shape, b.getI1Type());
  Value ones = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(onesType, true));
  Value owned =
      HaloExchangeOp::create(b, loc, type.clone(b.getI1Type()), ones, ValueRange(), TypeAttr::get(onesType),
                             keepDims(op.getFrom(), {}), keepDims(op.getTo(), {d}), b.getDenseI64ArrayAttr({d}),
                             b.getDenseI64ArrayAttr({type.getDimSize(d)}), b.getDenseI64ArrayAttr({0}), IntegerAttr());
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  return arith::SelectOp::create(b, loc, owned, value, zero);
}

/// Windows that no device receives anything of, as slices of what it has; null if one reads lanes beyond an uneven dim
/// that have no zero.
static Value sliceShard(OpBuilder &b, HaloExchangeOp op, const Layout &to) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto global = cast<RankedTensorType>(op.getGlobalType());
  SmallVector<int64_t> shape(type.getShape()), starts(type.getRank(), 0);
  SmallVector<OwnWindow> windows; // begins that depend on the device
  Value value = op.getInput();
  for (auto [i, d] : llvm::enumerate(op.getDims())) {
    OwnWindow window{d, op.getSteps()[i], op.getOffsets()[i]};
    int64_t chunk = type.getDimSize(d), length = op.getType().getDimSize(d), shards = 1;
    for (const RankDigit &digit : to.uneven[i].ranks)
      shards *= digit.size;
    if (!op.getFrom().getDims()[d].getEntries().empty()) {
      window.step -= chunk;
      if (!readsNoPadding(window, length, chunk, shards, global.getDimSize(d)) &&
          !(value = zeroPadding(b, op, value, d)))
        return {};
    }
    if ((window.step != 0 && shards > 1) || window.offset < 0 || window.offset + length > chunk) {
      windows.push_back(window);
      continue;
    }
    starts[d] = window.offset;
    shape[d] = length;
  }
  if (type.clone(shape) != type) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), value);
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1)), at;
    for (auto [d, start] : llvm::enumerate(starts)) {
      at.push_back(b.getIndexAttr(start));
      if (!type.isDynamicDim(d))
        sizes[d] = b.getIndexAttr(shape[d]);
    }
    value = tensor::ExtractSliceOp::create(b, op.getLoc(), type.clone(shape), value, at, sizes, strides);
  }
  if (windows.empty())
    return value;
  // Every device slices its shard as if all had that.
  SmallVector<int64_t> dims, steps, offsets;
  for (const OwnWindow &window : windows) {
    dims.push_back(window.dim);
    steps.push_back(window.step);
    offsets.push_back(window.offset);
  }
  return HaloExchangeOp::create(b, op.getLoc(), op.getType(), value, ValueRange(), TypeAttr::get(type.clone(shape)),
                                keepDims(op.getFrom(), {}), keepDims(op.getTo(), dims), b.getDenseI64ArrayAttr(dims),
                                b.getDenseI64ArrayAttr(steps), b.getDenseI64ArrayAttr(offsets), IntegerAttr());
}

/// The value of a collective that moves nothing; null if it has no simpler form.
static Value getUnmoved(OpBuilder &b, CollectiveOpInterface op, const Layout &from, const Layout &to) {
  if (auto halo = dyn_cast<HaloExchangeOp>(op.getOperation()))
    return sliceShard(b, halo, to);
  // Shards of unknown size have one type, whatever their number is.
  return op->getOperand(0).getType() == op->getResult(0).getType() && from.localShape() == to.localShape()
             ? op->getOperand(0)
             : Value();
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

/// Whether the price of a collective between two meshes compares devices, not ranks in different orders.
static bool hasComparableRanks(CollectiveOpInterface op, const MeshCache &meshes) {
  const Mesh *from = meshes.lookup(op.getFromMesh()), *to = meshes.lookup(op.getToMesh());
  return from && to && (from == to || from->sameDevices(*to) || !getReordering(*from, *to).empty());
}

FailureOr<bool> spmd::removeIdleCollectives(func::FuncOp func, const MeshCache &meshes) {
  if (std::getenv("SK_KEEP_IDLE_COLLECTIVES")) // for tests on one device
    return false;
  std::vector<std::tuple<CollectiveOpInterface, Layout, Layout>> idle; // with the layouts of operand and result
  WalkResult walk = func.walk([&](CollectiveOpInterface op) {
    // Which elements a window at a run-time offset reads is not known; it is refused on one device.
    auto halo = dyn_cast<HaloExchangeOp>(op.getOperation());
    if (op.getKind() == CollectiveKind::AllSlice || !hasComparableRanks(op, meshes) ||
        (halo && !halo.getDynamicOffsets().empty()))
      return WalkResult::advance();
    FailureOr<CollectiveMove> move = getMove(op, meshes);
    if (failed(move))
      return WalkResult::interrupt();
    if (move->cost.bytes == 0)
      idle.emplace_back(op, std::move(move->step.from), std::move(move->step.to));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  bool removed = false;
  for (auto &[op, from, to] : idle) {
    OpBuilder b(op);
    if (auto start = dyn_cast<StartOp>(op->getParentOp())) {
      dissolve(start);
      removed = true;
      b.setInsertionPoint(op);
    }
    Value value = getUnmoved(b, op, from, to);
    if (!value)
      continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    removed = true;
  }
  return removed;
}
