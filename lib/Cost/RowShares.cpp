//===- RowShares.cpp - Rows that groups need of collectives ---------------===//

#include "shardkit/Cost/RowShares.h"
#include "shardkit/Rules/GroupRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

/// Ops between a collective and groups that are followed at most.
static constexpr unsigned kMaxDepth = 16;

/// The groups that a device has of an op, at most all.
static int64_t getLocalGroups(linalg::LinalgOp op, const GroupShare &share) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!share.loop || *share.loop >= int64_t(ranges.size()) || ShapedType::isDynamic(ranges[*share.loop]))
    return share.groups;
  return ranges[*share.loop];
}

static int64_t countRows(Value value) {
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    if (size != 1)
      return size;
  return 1;
}

static bool hasLargeRows(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat() || type.getNumElements() == 0)
    return false;
  return type.getNumElements() / countRows(value) * type.getElementTypeBitWidth() >= kMinRowBits;
}

/// What a started collective, or one that is done, becomes.
static Value getMovedTo(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<DoneOp>(op))
    return op->getResult(use.getOperandNumber());
  if (isa<spmd::ReturnOp>(op) && isa<StartOp>(op->getParentOp()))
    return op->getParentOp()->getResult(use.getOperandNumber());
  return {};
}

/// The fraction of the rows of a value that is read.
static double getNeeded(Value value, unsigned depth) {
  if (depth == 0 || !isa<RankedTensorType>(value.getType()))
    return 1;
  double needed = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<tensor::DimOp>(op))
      continue;
    if (Value moved = getMovedTo(use)) {
      needed = std::max(needed, getNeeded(moved, depth - 1));
      continue;
    }
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op) ||
        (isa<tensor::ExtractSliceOp, linalg::TransposeOp>(op) && use.getOperandNumber() == 0)) {
      needed = std::max(needed, getNeeded(op->getResult(0), depth - 1));
      continue;
    }
    // One that looks rows up reads as many of them as of its result, at most.
    const bool looksUp = isa<tensor::ExtractOp>(op) && isa<linalg::LinalgOp>(op->getParentOp());
    auto linalgOp = dyn_cast<linalg::LinalgOp>(looksUp ? op->getParentOp() : op);
    if (!linalgOp || (!looksUp && !linalgOp.isDpsInput(&use)))
      return 1;
    std::optional<GroupShare> share = getGroupShare(linalgOp);
    if (share && !looksUp && llvm::is_contained(share->rowOperands, int64_t(use.getOperandNumber()))) {
      needed = std::max(needed, share->getRows(getLocalGroups(linalgOp, *share)));
    } else if (!share && linalgOp.getNumReductionLoops() == 0 && linalgOp->getNumResults() == 1) {
      const double ofResult = getNeeded(linalgOp->getResult(0), depth - 1);
      if (ofResult == 1)
        return 1;
      const double rows = looksUp ? double(countRows(linalgOp->getResult(0))) / countRows(value) : 1;
      needed = std::max(needed, std::min(1.0, ofResult * rows));
    } else {
      return 1;
    }
  }
  return needed;
}

/// The fraction of the rows of a value that groups of the device have made; the others are zero.
static double getComputed(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return 1;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    std::optional<GroupShare> share = getGroupShare(op);
    if (share && share->loop && *share->loop < linalgOp.getNumLoops() &&
        linalgOp.getIteratorTypesArray()[*share->loop] == utils::IteratorType::reduction)
      return share->getRows(getLocalGroups(linalgOp, *share));
    const bool keepsZeros =
        isa<linalg::TransposeOp>(op) || (linalgOp.getNumDpsInputs() == 1 && linalgOp.getNumReductionLoops() == 0 &&
                                         llvm::all_of(linalgOp.getBlock()->without_terminator(), [](Operation &inner) {
                                           return isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(inner);
                                         }));
    return keepsZeros ? getComputed(op->getOperand(0), depth - 1) : 1;
  }
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tensor::InsertSliceOp, tensor::PadOp>(op)
             ? getComputed(op->getOperand(0), depth - 1)
             : 1;
}

double spmd::getRowShare(CollectiveOpInterface op, const CollectiveCost &cost) {
  Value from = op->getOperand(0), to = op->getResult(0);
  if (cost.bytes == 0 || !isa<RankedTensorType>(from.getType()) || !hasLargeRows(from) || !hasLargeRows(to))
    return 1;
  const double share = getComputed(from, kMaxDepth) * getNeeded(to, kMaxDepth);
  if (op.getKind() != CollectiveKind::AllReduce)
    return share;
  // A device receives the rows of each other one, or, if that is less, chunks of sums and the sums.
  const double devices = 1 + double(cost.received) / (2.0 * cost.bytes);
  return std::min(1.0, share * devices / 2);
}

CollectiveCost spmd::scaleToRows(CollectiveCost cost, double latency, double share) {
  cost.bytes = std::llround(cost.bytes * share);
  cost.received = std::llround(cost.received * share);
  cost.seconds = latency + (cost.seconds - latency) * share;
  return cost;
}
