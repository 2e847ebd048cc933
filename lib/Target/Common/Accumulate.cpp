//===- Accumulate.cpp - Reductions of f16 and bf16 in f32 -----------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETACCUMULATE
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// The sum or product of result `k` over the reduction loops, if its type is f16 or bf16.
static Operation *getAccumulation(linalg::LinalgOp op, unsigned k) {
  Block *block = op.getBlock();
  Value last = block->getTerminator()->getOperand(k);
  if (!last.getType().isF16() && !last.getType().isBF16())
    return nullptr;
  Operation *combine = last.getDefiningOp();
  BlockArgument old = block->getArgument(op.getNumDpsInputs() + k);
  if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combine) || !last.hasOneUse() || !old.hasOneUse() ||
      !llvm::is_contained(combine->getOperands(), old))
    return nullptr;
  return combine;
}

static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  if (element.isF32())
    return arith::ExtFOp::create(b, loc, element, value);
  return arith::TruncFOp::create(b, loc, element, value);
}

/// `tensor` with another element type; a splat is filled again.
static Value convertTensor(RewriterBase &b, Location loc, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, loc, convert(b, loc, fill.value(), element), empty).getResult(0);
  SmallVector<AffineMap, 2> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange values) {
    linalg::YieldOp::create(inner, at, convert(inner, at, values[0], element));
  };
  return linalg::GenericOp::create(b, loc, empty.getType(), tensor, empty, maps, iterators, body).getResult(0);
}

/// The added term in f32: of a product, the product of its factors in f32, as in libraries.
static Value widen(OpBuilder &b, Value added, Operation *combine) {
  Location loc = combine->getLoc();
  auto product = added.getDefiningOp<arith::MulFOp>();
  if (!product || !isa<arith::AddFOp>(combine))
    return convert(b, loc, added, b.getF32Type());
  Value lhs = convert(b, loc, product.getLhs(), b.getF32Type()),
        rhs = convert(b, loc, product.getRhs(), b.getF32Type());
  return arith::MulFOp::create(b, loc, lhs, rhs, product.getFastmath());
}

static LogicalResult accumulateInF32(RewriterBase &b, linalg::LinalgOp op) {
  SmallVector<unsigned> wide;
  for (unsigned k = 0; k < unsigned(op.getNumDpsInits()); ++k)
    if (getAccumulation(op, k))
      wide.push_back(k);
  if (wide.empty())
    return success();
  b.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(op)) {
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(b, op);
    if (failed(generic))
      return failure();
    op = *generic;
  }
  Location loc = op.getLoc();
  for (unsigned k : wide) {
    OpOperand *init = op.getDpsInitOperand(k);
    b.setInsertionPoint(op);
    b.modifyOpInPlace(op, [&] { init->set(convertTensor(b, loc, init->get(), b.getF32Type())); });
    Operation *combine = getAccumulation(op, k);
    BlockArgument old = op.getMatchingBlockArgument(init);
    b.setInsertionPoint(combine);
    Value added = combine->getOperand(combine->getOperand(0) == old ? 1 : 0);
    Value given = widen(b, added, combine);
    b.modifyOpInPlace(op, [&] {
      old.setType(b.getF32Type());
      combine->setOperands({old, given});
      combine->getResult(0).setType(b.getF32Type());
    });
    Value result = op->getResult(k);
    Type element = getElementTypeOrSelf(result.getType());
    result.setType(init->get().getType());
    b.setInsertionPointAfter(op);
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(result.getUses())); // without the uses of the new value
    Value rounded = convertTensor(b, loc, result, element);
    for (OpOperand *use : uses)
      b.modifyOpInPlace(use->getOwner(), [&] { use->set(rounded); });
  }
  return success();
}

namespace {
struct Accumulate : spmd::impl::SpmdTargetAccumulateBase<Accumulate> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(accumulateInF32(rewriter, op))) {
        op.emitError("sums of ") << op->getName() << " cannot be kept in f32";
        return signalPassFailure();
      }
  }
};
} // namespace
