//===- IndexedBody.cpp - Bodies over an index space ---------------------===//

#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

Region *spmd::getIndexedBody(Operation *op) {
  if (isa<tensor::GenerateOp, tensor::PadOp>(op) || (isa<linalg::LinalgOp>(op) && op->getNumRegions() == 1))
    return &op->getRegion(0);
  return nullptr;
}

int64_t spmd::getLoopOfIndex(Operation *op, Value value) {
  Region *region = getIndexedBody(op);
  if (auto arg = dyn_cast<BlockArgument>(value))
    return isa<linalg::LinalgOp>(op) || arg.getOwner()->getParent() != region ? -1 : int64_t(arg.getArgNumber());
  auto index = value.getDefiningOp<linalg::IndexOp>();
  // An inner op has loops of its own.
  return index && index->getParentRegion() == region ? index.getDim() : -1;
}

bool spmd::readsIndices(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasIndexSemantics();
  Region *region = getIndexedBody(op);
  return region && llvm::any_of(region->getArguments(), [](BlockArgument arg) { return !arg.use_empty(); });
}

bool spmd::readsTensorsAtIndices(Operation *op) {
  Region *body = getIndexedBody(op);
  return body && readsIndices(op) &&
         body->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Per dim of a captured tensor the loop that indexes it in every use, or -1.
static SmallVector<int32_t> matchCapturedDims(Operation *op, Value captured) {
  Region &region = *getIndexedBody(op);
  auto type = cast<RankedTensorType>(captured.getType());
  SmallVector<int32_t> loops(type.getRank(), -1);
  bool first = true;
  for (OpOperand &use : captured.getUses()) {
    if (!region.isAncestor(use.getOwner()->getParentRegion()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract)
      return SmallVector<int32_t>(type.getRank(), -1);
    for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
      int32_t loop = getLoopOfIndex(op, index);
      loops[d] = first || loops[d] == loop ? loop : -1;
    }
    first = false;
  }
  return loops;
}

namespace {
/// stride * (index of a loop) + offset; without a loop (-1) the offset alone.
struct AffineIndex {
  int64_t loop = -1, stride = 0, offset = 0;
};
} // namespace

static std::optional<AffineIndex> matchAffineIndex(Operation *op, Value value) {
  if (int64_t loop = getLoopOfIndex(op, value); loop >= 0)
    return AffineIndex{loop, 1, 0};
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return AffineIndex{-1, 0, *constant};
  Operation *def = value.getDefiningOp();
  if (isa_and_present<arith::IndexCastOp>(def))
    return matchAffineIndex(op, def->getOperand(0));
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def))
    return std::nullopt;
  std::optional<AffineIndex> a = matchAffineIndex(op, def->getOperand(0));
  std::optional<AffineIndex> b = a ? matchAffineIndex(op, def->getOperand(1)) : std::nullopt;
  if (!b || (a->loop >= 0 && b->loop >= 0))
    return std::nullopt;
  int64_t loop = std::max(a->loop, b->loop);
  if (isa<arith::MulIOp>(def)) {
    int64_t factor = a->loop >= 0 ? b->offset : a->offset;
    const AffineIndex &index = a->loop >= 0 ? *a : *b;
    return AffineIndex{loop, index.stride * factor, index.offset * factor};
  }
  int64_t sign = isa<arith::SubIOp>(def) ? -1 : 1;
  return AffineIndex{loop, a->stride + sign * b->stride, a->offset + sign * b->offset};
}

/// Per dim of a captured tensor, the loop along which every use reads it, if there is one,
/// and the window of all uses around one of its indices.
static SmallVector<std::pair<int32_t, DimWindow>> matchCapturedWindows(Operation *op, Value captured) {
  Region &region = *getIndexedBody(op);
  auto type = cast<RankedTensorType>(captured.getType());
  SmallVector<std::pair<int32_t, DimWindow>> windows(type.getRank(), {-1, {}});
  bool first = true;
  for (OpOperand &use : captured.getUses()) {
    if (!region.isAncestor(use.getOwner()->getParentRegion()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract)
      return SmallVector<std::pair<int32_t, DimWindow>>(type.getRank(), {-1, {}});
    for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
      std::optional<AffineIndex> affine = matchAffineIndex(op, index);
      auto &[loop, window] = windows[d];
      if (!affine || affine->loop < 0 || affine->stride == 0 ||
          (!first && (loop != affine->loop || window.stride != affine->stride))) {
        loop = -2; // regardless of other uses
      } else if (first) {
        loop = affine->loop;
        window = {affine->stride, affine->offset, 1};
      } else if (loop >= 0) {
        int64_t end = std::max(window.offset + window.length, affine->offset + 1);
        window.offset = std::min(window.offset, affine->offset);
        window.length = end - window.offset;
      }
    }
    first = false;
  }
  return windows;
}

void spmd::addCapturedOperands(ShardingRule &rule, Operation *op, ArrayRef<int64_t> sizes) {
  Region *region = getIndexedBody(op);
  if (!region)
    return;
  llvm::SetVector<Value> captured;
  region->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !region->isAncestor(operand.getParentRegion()))
        captured.insert(operand);
  });
  if (captured.empty())
    return;
  BodyLookups lookups(op);
  for (Value value : captured) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int32_t> loops = matchCapturedDims(op, value);
    auto windows = matchCapturedWindows(op, value);
    rule.addOperand(value);
    for (auto [d, loop] : llvm::enumerate(loops)) {
      if (loop >= 0 && type.getDimSize(d) == sizes[loop])
        rule.addDim({loop});
      else if (auto [along, window] = windows[d];
               along >= 0 && !ShapedType::isDynamic(sizes[along]) && !type.isDynamicDim(d))
        rule.addWindows(along, window);
      else if (int32_t f = lookups.getFactor(rule, value, d); f >= 0)
        rule.addDim({f});
      else
        rule.addDim({});
    }
  }
}
