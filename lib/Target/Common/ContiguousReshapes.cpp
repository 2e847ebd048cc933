//===- ContiguousReshapes.cpp - Reshapes of contiguous buffers are casts --===//

#include "ContiguousReshapes.h"
#include "shardkit/Target/Common/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETCONTIGUOUSRESHAPES
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

static OpFoldResult multiply(OpBuilder &b, Location loc, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> first = getConstantIntValue(x), second = getConstantIntValue(y);
  if (first && second)
    return b.getIndexAttr(*first * *second);
  if (first == 1)
    return y;
  if (second == 1)
    return x;
  return arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, x),
                               getValueOrCreateConstantIndexOp(b, loc, y))
      .getResult();
}

static SmallVector<OpFoldResult> sizesOf(OpBuilder &, memref::ExpandShapeOp op) { return op.getMixedOutputShape(); }

static SmallVector<OpFoldResult> sizesOf(OpBuilder &b, memref::CollapseShapeOp op) {
  SmallVector<OpFoldResult> from = memref::getMixedSizes(b, op.getLoc(), op.getSrc()), sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    sizes.push_back(b.getIndexAttr(1));
    for (int64_t dim : group)
      sizes.back() = multiply(b, op.getLoc(), sizes.back(), from[dim]);
  }
  return sizes;
}

template <typename Op> static bool isContiguous(Op op) {
  return cast<MemRefType>(op.getSrc().getType()).getLayout().isIdentity() &&
         cast<MemRefType>(op.getResult().getType()).getLayout().isIdentity();
}

/// Replaces a reshape of a contiguous buffer. An access through the reshape itself would be folded to one of
/// the source, whose indices are quotients and remainders that the vectorizer does not see through.
template <typename Op> static void castReshape(Op op) {
  auto to = cast<MemRefType>(op.getResult().getType());
  OpBuilder b(op);
  SmallVector<OpFoldResult> sizes = sizesOf(b, op), strides(to.getRank(), b.getIndexAttr(1));
  for (auto [dim, size] : llvm::enumerate(to.getShape())) // Where the type knows more than the operands do.
    if (!ShapedType::isDynamic(size))
      sizes[dim] = b.getIndexAttr(size);
  for (int64_t dim = to.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = multiply(b, op.getLoc(), strides[dim], sizes[dim]);
  Value flat = memref::ReinterpretCastOp::create(b, op.getLoc(), to, op.getSrc(), b.getIndexAttr(0), sizes, strides);
  op.getResult().replaceAllUsesWith(flat);
  op.erase();
}

/// Expands dims of unknown size of a strided buffer: the inner dim of a group has the stride of the dim of the source.
static void castStridedExpand(memref::ExpandShapeOp op) {
  auto to = cast<MemRefType>(op.getResult().getType());
  if (to.hasStaticShape())
    return;
  OpBuilder b(op);
  auto source = memref::ExtractStridedMetadataOp::create(b, op.getLoc(), op.getSrc());
  SmallVector<OpFoldResult> sizes = sizesOf(b, op), outer = source.getConstifiedMixedStrides(), strides(to.getRank());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = outer[dim];
    for (int64_t inner : llvm::reverse(group)) {
      strides[inner] = stride;
      stride = multiply(b, op.getLoc(), stride, sizes[inner]);
    }
  }
  Value cast = memref::ReinterpretCastOp::create(b, op.getLoc(), to, op.getSrc(), source.getConstifiedMixedOffset(),
                                                 sizes, strides);
  op.getResult().replaceAllUsesWith(cast);
  op.erase();
}

void spmd::target::castReshapes(Operation *root) {
  root->walk([](Operation *op) {
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
      isContiguous(expand) ? castReshape(expand) : castStridedExpand(expand);
    else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op); collapse && isContiguous(collapse))
      castReshape(collapse);
  });
}

namespace {
struct ContiguousReshapes : spmd::impl::SpmdTargetContiguousReshapesBase<ContiguousReshapes> {
  using Base::Base;

  void runOnOperation() override { spmd::target::castReshapes(getOperation()); }
};
} // namespace
