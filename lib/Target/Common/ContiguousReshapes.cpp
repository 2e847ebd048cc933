//===- ContiguousReshapes.cpp - Reshapes of contiguous buffers are casts --===//

#include "shardkit/Target/Common/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETCONTIGUOUSRESHAPES
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// Replaces a reshape of a contiguous static buffer. An access through the reshape itself would be folded to one of
/// the source, whose indices are quotients and remainders that the vectorizer does not see through.
template <typename Op> static void castReshape(Op op) {
  auto from = cast<MemRefType>(op.getSrc().getType()), to = cast<MemRefType>(op.getResult().getType());
  if (!from.hasStaticShape() || !to.hasStaticShape() || !from.getLayout().isIdentity() || !to.getLayout().isIdentity())
    return;
  OpBuilder b(op);
  auto [strides, offset] = to.getStridesAndOffset();
  Value flat = memref::ReinterpretCastOp::create(b, op.getLoc(), to, op.getSrc(), offset, to.getShape(), strides);
  op.getResult().replaceAllUsesWith(flat);
  op.erase();
}

namespace {
struct ContiguousReshapes : spmd::impl::SpmdTargetContiguousReshapesBase<ContiguousReshapes> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
        castReshape(expand);
      else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
        castReshape(collapse);
    });
  }
};
} // namespace
