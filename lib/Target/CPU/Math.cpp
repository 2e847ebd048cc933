//===- Math.cpp - Polynomials and flags for float arithmetic --------------===//

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUMATH
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

/// The polynomials are for f32 only. Functions whose polynomial has an error of more than
/// a few ulp use libm (docs/internals/Targets.md lists them).
static bool hasPolynomial(StringRef name) {
  return llvm::is_contained({"math.exp", "math.erf", "math.tanh", "math.log", "math.log1p", "math.expm1", "math.log2"},
                            name);
}

namespace {
/// LLVM vectorizes erf, not erfc. The far negative tail of erfc loses relative accuracy;
/// gelu does not, as it adds 1.
struct ErfcToErf : OpRewritePattern<math::ErfcOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfcOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Value erf = math::ErfOp::create(rewriter, op.getLoc(), op.getOperand());
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getF32FloatAttr(1.0f));
    rewriter.replaceOpWithNewOp<arith::SubFOp>(op, one, erf);
    return success();
  }
};

struct Math : spmd::impl::SpmdCpuMathBase<Math> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<ErfcToErf>(context);
    populateMathF32ExpansionPatterns(set, [](StringRef) { return true; });
    populateMathPolynomialApproximationPatterns(set, hasPolynomial);
    arith::populateExpandBFloat16Patterns(set);
    patterns = std::move(set);
    return success();
  }

  static void addFlags(Operation *op, arith::FastMathFlags flags) {
    auto iface = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!iface)
      return;
    if (auto old = iface.getFastMathFlagsAttr())
      flags = flags | old.getValue();
    op->setAttr(iface.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags));
  }

  void runOnOperation() override {
    // A reduction can be reassociated, as sharding it over devices does.
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() == 0)
        return;
      Block *body = op.getBlock();
      for (auto [i, value] : llvm::enumerate(body->getTerminator()->getOperands())) {
        Operation *combiner = value.getDefiningOp();
        Value carried = body->getArgument(op.getNumDpsInputs() + i);
        if (combiner && llvm::is_contained(combiner->getOperands(), carried))
          addFlags(combiner, arith::FastMathFlags::reassoc);
      }
    });
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      return signalPassFailure();
    // Not to conversions: extf(truncf(x)) would become x.
    getOperation().walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
        addFlags(op, arith::FastMathFlags::contract);
    });
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
