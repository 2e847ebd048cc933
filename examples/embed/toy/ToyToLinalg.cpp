// Each op as one linalg.generic, of any sizes.
#include "Toy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {

using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// Loops over `inputs`, by which the result starts from `init`. Parallel loops come first.
Value createLoops(OpBuilder &b, Operation *op, ValueRange inputs, ArrayRef<StringRef> maps, float init, Body body) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value start = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(init));
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  Value filled = linalg::FillOp::create(b, loc, start, empty).getResult(0);
  unsigned loops = 0;
  for (StringRef map : maps)
    for (char c : map)
      loops = std::max(loops, c == '0' ? 0 : unsigned(c - 'a' + 1));
  SmallVector<AffineMap> affine;
  for (StringRef map : maps) {
    SmallVector<AffineExpr> dims;
    for (char c : map)
      dims.push_back(c == '0' ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(c - 'a'));
    affine.push_back(AffineMap::get(loops, 0, dims, b.getContext()));
  }
  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::reduction);
  for (char c : maps.back())
    if (c != '0')
      kinds[c - 'a'] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
             b, loc, type, inputs, filled, affine, kinds,
             [&](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, body(b, loc, args)); })
      .getResult(0);
}

struct LowerLinear : OpRewritePattern<toy::LinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(toy::LinearOp op, PatternRewriter &b) const override {
    b.replaceOp(op, createLoops(b, op, op.getOperands(), {"ac", "bc", "ab"}, 0, [](auto &b, auto loc, auto args) {
                  return arith::AddFOp::create(b, loc, args[2], arith::MulFOp::create(b, loc, args[0], args[1]));
                }));
    return success();
  }
};

struct LowerRowMax : OpRewritePattern<toy::RowMaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(toy::RowMaxOp op, PatternRewriter &b) const override {
    b.replaceOp(op, createLoops(b, op, op.getX(), {"ab", "a0"}, -INFINITY, [](auto &b, auto loc, auto args) {
                  return arith::MaximumFOp::create(b, loc, args[0], args[1]);
                }));
    return success();
  }
};

struct LowerFill : OpRewritePattern<toy::FillOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(toy::FillOp op, PatternRewriter &b) const override {
    auto type = RankedTensorType::get(op.getShape(), b.getF32Type());
    b.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(type, op.getValueAttr()));
    return success();
  }
};

struct LowerSmooth : OpRewritePattern<toy::SmoothOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(toy::SmoothOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getX(), zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    int64_t rows = op.getX().getType().getDimSize(0), size = op.getX().getType().getDimSize(1) + 2 * op.getPadding();
    OpFoldResult none = b.getIndexAttr(0), padding = b.getIndexAttr(op.getPadding());
    if (op.getPadding())
      x = tensor::PadOp::create(b, loc, RankedTensorType::get({rows, size}, b.getF32Type()), x, ArrayRef{none, padding},
                                ArrayRef{none, padding}, zero);
    // The sum of `width` slices.
    auto type = op.getResult().getType();
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    Value sum;
    for (int64_t j = 0; j < int64_t(op.getWidth()); ++j) {
      OpFoldResult one = b.getIndexAttr(1);
      Value slice = tensor::ExtractSliceOp::create(b, loc, x, ArrayRef<OpFoldResult>{none, b.getIndexAttr(j)}, sizes,
                                                   ArrayRef<OpFoldResult>{one, one});
      sum = sum ? Value(arith::AddFOp::create(b, loc, sum, slice)) : slice;
    }
    b.replaceOp(op, sum);
    return success();
  }
};

struct ToyToLinalg : PassWrapper<ToyToLinalg, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToyToLinalg)
  StringRef getArgument() const override { return "toy-to-linalg"; }
  StringRef getDescription() const override { return "Lowers the dialect toy to linalg"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerLinear, LowerRowMax, LowerFill, LowerSmooth>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

void registerToyToLinalg() { PassRegistration<ToyToLinalg>(); }
