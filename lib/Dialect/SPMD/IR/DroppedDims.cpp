//===- DroppedDims.cpp - Slices that drop dims ----------------------------===//

#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::spmd;

/// True if a dim is dropped after a similar one that stays, so that the two can be confused.
static bool isAmbiguous(const llvm::SmallBitVector &dropped, ArrayRef<OpFoldResult> sizes) {
  bool isKeptBefore = false;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped.test(d) && isKeptBefore)
      return true;
    isKeptBefore |= !dropped.test(d) && getConstantIntValue(sizes[d]).value_or(1) == 1;
  }
  return false;
}

/// Groups of dims to collapse: each dim that stays with the dropped ones after it, the first also with those before.
static SmallVector<ReassociationIndices> getGroups(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (groups.empty() ||
        (!dropped.test(d) && llvm::any_of(groups.back(), [&](int64_t e) { return !dropped.test(e); })))
      groups.emplace_back();
    groups.back().push_back(d);
  }
  if (dropped.all())
    groups.clear();
  return groups;
}

/// The type of as many dims as there are sizes.
static RankedTensorType getFullType(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size) : ShapedType::kDynamic);
  return RankedTensorType::get(shape, type.getElementType());
}

template <typename InsertOp> static void expandSource(InsertOp op, Operation *before) {
  if (op->hasAttr(kRuleAttr) || !isAmbiguous(op.getDroppedDims(), op.getMixedSizes()))
    return;
  OpBuilder b(before);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  auto type = getFullType(op.getSourceType(), sizes);
  Value full =
      tensor::ExpandShapeOp::create(b, op.getLoc(), type, op.getSource(), getGroups(op.getDroppedDims()), sizes);
  op.getSourceMutable().assign(full);
}

void spmd::makeDroppedDimsExplicit(Operation *root) {
  root->walk([](Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
      if (op->hasAttr(kRuleAttr) || !isAmbiguous(dropped, sizes))
        return;
      OpBuilder b(op);
      Value full =
          tensor::ExtractSliceOp::create(b, op->getLoc(), getFullType(slice.getType(), sizes), slice.getSource(),
                                         slice.getMixedOffsets(), sizes, slice.getMixedStrides());
      auto result = tensor::CollapseShapeOp::create(b, op->getLoc(), slice.getType(), full, getGroups(dropped));
      result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op->replaceAllUsesWith(result);
      op->erase();
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      expandSource(insert, op);
    } else if (auto parallel = dyn_cast<tensor::ParallelInsertSliceOp>(op)) {
      expandSource(parallel, op->getParentOp());
    }
  });
}
