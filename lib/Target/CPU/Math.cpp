//===- Math.cpp - Polynomials and flags for float arithmetic --------------===//

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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

/// 2 to the power of an integer, as the bits of the result: scales of blocks are stored as exponents.
struct PowerOfTwo : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    auto exponent = op.getRhs().getDefiningOp<arith::SIToFPOp>();
    FloatAttr base;
    if (!op.getType().isF32() || !exponent || !exponent.getIn().getType().isInteger(32) ||
        !matchPattern(op.getLhs(), m_Constant(&base)) || !base.getValue().isExactlyValue(2.0))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
    auto atLeast = [&](Value value, int32_t limit) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, value, number(limit));
    };
    Value n = arith::MinSIOp::create(b, exponent.getIn(), number(128)); // infinity
    Value normal = arith::ShLIOp::create(b, arith::AddIOp::create(b, n, number(127)), number(23));
    Value subnormal = arith::ShLIOp::create(b, number(1), arith::AddIOp::create(b, n, number(149)));
    Value small = arith::SelectOp::create(b, atLeast(n, -149), subnormal, number(0));
    Value bits = arith::SelectOp::create(b, atLeast(n, -126), normal, small);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

/// Rounds bits to nearest, ties to even. NaN is not rounded and becomes quiet, as LLVM does it. Unlike upstream's
/// pattern, the result is not selected: LLVM has no vector code for selections of bf16 without the instructions that
/// flush subnormals.
struct RoundToBFloat16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isF32() || !op.getType().isBF16() ||
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) != arith::RoundingMode::to_nearest_even)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](uint32_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
    };
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), op.getIn());
    Value last = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, number(16)), number(1));
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, op.getIn(), op.getIn());
    Value half = arith::AddIOp::create(b, last, number(0x7fff));
    Value rounded = arith::AddIOp::create(b, bits, arith::SelectOp::create(b, isNan, number(0), half));
    Value quiet = arith::OrIOp::create(b, rounded, arith::SelectOp::create(b, isNan, number(0x400000), number(0)));
    Value high = arith::TruncIOp::create(b, b.getI16Type(), arith::ShRUIOp::create(b, quiet, number(16)));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), high);
    return success();
  }
};

/// Integers that f32 represents exactly become f32 first, which is rounded by vector code.
template <typename OpTy> struct IntToBFloat16 : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!op.getType().isBF16() || op.getIn().getType().getIntOrFloatBitWidth() > 16)
      return failure();
    Value wide = OpTy::create(rewriter, op.getLoc(), rewriter.getF32Type(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

struct Math : spmd::impl::SpmdCpuMathBase<Math> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<ErfcToErf>(context);
    set.add<IntToBFloat16<arith::SIToFPOp>, IntToBFloat16<arith::UIToFPOp>>(context);
    set.add<RoundToBFloat16, PowerOfTwo>(context, /*benefit=*/2);
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
    // A reduction can be reassociated, as sharding it over devices does. Where the innermost loop is one of results,
    // code is vectors of these: sums keep their order, so that they have the same bits in shards of any size.
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() == 0 || linalg::isParallelIterator(op.getIteratorTypesArray().back()))
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
