//===- Fuse.cpp - Fuse elementwise ops into their users -------------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETFUSE
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// A load of few bits is one of more bits, or is followed by one instruction: less than a load of the widened element.
static bool isWidening(Operation &op) {
  return isa<arith::ExtUIOp, arith::ExtSIOp, arith::ExtFOp>(op) && isa<BlockArgument>(op.getOperand(0)) &&
         !op.getOperand(0).getType().isInteger(1);
}

/// Approximate cost of one iteration in simple operations; loads count separately.
static int64_t bodyCost(linalg::LinalgOp op) {
  int64_t cost = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp, arith::IndexCastOp>(inner) || isWidening(inner))
      continue;
    cost += isa<math::MathDialect>(inner.getDialect()) ||
                    isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
                        tensor::ExtractOp>(inner) ||
                    inner.getNumRegions()
                ? 16
                : 1;
  }
  return cost;
}

/// Of a load or a store of a result, in simple operations.
static constexpr int64_t kAccessCost = 2;

static int64_t iterations(linalg::LinalgOp op) {
  int64_t n = 1;
  for (int64_t size : op.getStaticLoopRanges())
    n = ShapedType::isDynamic(size) ? n : n * size;
  return n;
}

/// Elements that the op reads.
static int64_t inputElements(linalg::LinalgOp op) {
  int64_t n = 0;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand->get().getType()))
      n += type.hasStaticShape() ? type.getNumElements() : 1;
  return n;
}

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || target::hasAssertion(producer))
    return false;
  int64_t cost = bodyCost(producer);
  // A broadcast, a transpose or a constant costs no more than a load.
  if (cost == 0)
    return true;
  // The consumer visits each element of the producer more than once: computing it again, instead of a store and loads.
  const int64_t computed = iterations(producer), visits = iterations(consumer);
  bool repeats = visits > computed;
  if (producer->hasOneUse())
    return cost * (visits - computed) <= kAccessCost * (visits + computed);
  bool oneUser = llvm::all_of(producer->getUsers(), [&](Operation *u) { return u == consumer; });
  if (oneUser) {
    // Equal operands are merged and fused once. Other operands get a copy of the body
    // each, which doubles with each op of a chain.
    bool sameMaps = llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
      return other != operand && other->get() == operand->get() &&
             consumer.getMatchingIndexingMap(other) == consumer.getMatchingIndexingMap(operand);
    });
    return !sameMaps && cost <= 2;
  }
  // The inputs are much smaller than the result: recompute instead of storing.
  return cost <= 4 && !repeats && inputElements(producer) * 8 <= iterations(producer);
}

namespace {
struct Fuse : spmd::impl::SpmdTargetFuseBase<Fuse> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet fusion(context);
    linalg::populateElementwiseOpsFusionPatterns(fusion, shouldFuse);
    patterns = std::move(fusion);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      signalPassFailure();
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
