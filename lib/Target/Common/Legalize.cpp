//===- Legalize.cpp - Reject unsupported ops, normalize the others --------===//

#include "NarrowTypes.h"
#include "shardkit/Dialect/SPMD/IR/DroppedDims.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Sorts.h"
#include "shardkit/Rules/SymbolicSizes.h"
#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETLEGALIZE
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

//===----------------------------------------------------------------------===//
// Unsupported ops
//===----------------------------------------------------------------------===//

static bool isSupportedElement(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.isIndex() ||
      spmd::target::isNarrowFloat(type))
    return true;
  return type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64;
}

static LogicalResult checkType(Operation *op, Type type) {
  if (isa<ShapedType>(type) && !isa<RankedTensorType>(type))
    return op->emitError() << "type " << type << " cannot be compiled for cpu, expected a ranked tensor";
  Type element = getElementTypeOrSelf(type);
  // Scalar integers can be wide: the halves of a product.
  if (!isSupportedElement(element) && (isa<ShapedType>(type) || !element.isSignlessInteger()))
    return op->emitError() << (isa<ShapedType>(type) ? "element type " : "type ") << element
                           << " cannot be compiled for cpu, expected f8E4M3FN, f8E5M2, f8E4M3FNUZ, "
                              "f8E5M2FNUZ, f8E8M0FNU, f4E2M1FN, f16, bf16, f32, f64, "
                              "index or a signless integer of at most 64 bits";
  return success();
}

static bool isSupportedOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "linalg")
    return isa<linalg::LinalgOp, linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp, linalg::YieldOp, linalg::IndexOp>(
        op);
  if (dialect == "tensor")
    return true;
  if (dialect == "func")
    return isa<func::FuncOp, func::ReturnOp>(op);
  if (dialect == "cf")
    return isa<cf::AssertOp>(op);
  if (dialect == "math")
    return !isa<math::IPowIOp>(op);
  // These have no bufferization.
  if (dialect == "affine" || dialect == "ub")
    return llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  static const llvm::StringSet<> dialects = {"arith", "scf", "index", "bufferization", "spmd_rt"};
  return dialects.contains(dialect);
}

/// Rejects a slice with constant bounds that is out of bounds and that the program always
/// takes: it would read memory of another value.
static LogicalResult checkSlice(OffsetSizeAndStrideOpInterface slice, RankedTensorType source) {
  if (!isa<func::FuncOp>(slice->getParentOp()))
    return success();
  for (auto [d, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides())) {
    std::optional<int64_t> first = getConstantIntValue(offset), count = getConstantIntValue(size),
                           step = getConstantIntValue(stride);
    if (!first || !count || !step || *count == 0 || source.isDynamicDim(d))
      continue;
    int64_t last = *first + (*count - 1) * *step;
    if (std::min(*first, last) < 0 || std::max(*first, last) >= source.getDimSize(d))
      return slice->emitError("the slice goes from ")
             << *first << " to " << last << " in dim " << d << ", expected indices from 0 to "
             << source.getDimSize(d) - 1 << " of " << source;
  }
  return success();
}

static LogicalResult checkSupported(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("function '") << func.getSymName()
                                        << "' has unstructured control flow, expected one block (lift it first, "
                                           "for instance with --lift-cf-to-scf)";
  WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSupportedOp(op)) {
      InFlightDiagnostic diag = op->emitError() << "'" << op->getName()
                                                << "' cannot be compiled for cpu, expected upstream linalg, "
                                                   "tensor, arith, math, scf or func, or a local-view spmd "
                                                   "collective";
      StringRef dialect = op->getName().getDialectNamespace();
      if (isa<func::CallOp>(op))
        diag.attachNote() << "the callee is recursive or has no body, so the call could not be inlined";
      else if (dialect == "spmd")
        diag.attachNote() << "global-view operations must be partitioned first (--spmd-partition)";
      else
        diag.attachNote() << "lower it to linalg on tensors first, or replace it";
      return WalkResult::interrupt();
    }
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (failed(checkType(op, type)))
        return WalkResult::interrupt();
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op);
        extract && failed(checkSlice(extract, extract.getSourceType())))
      return WalkResult::interrupt();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && failed(checkSlice(insert, insert.getDestType())))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Values without elements, decompositions
//===----------------------------------------------------------------------===//

static bool isEmptyTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// Replaces values without elements, as they do not depend on any op.
static void emptyZeroElementValues(func::FuncOp func) {
  OpBuilder builder(func.getContext());
  SmallVector<Operation *> ops;
  func.getBody().walk([&](Operation *op) {
    if (isa<tensor::EmptyOp>(op))
      return;
    if (llvm::any_of(op->getResultTypes(), isEmptyTensor)) {
      ops.push_back(op);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && isEmptyTensor(insert.getSourceType())) {
      insert.replaceAllUsesWith(insert.getDest()); // inserting no elements does not change the tensor
      ops.push_back(op);
    }
  });
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !isEmptyTensor(type) || result.use_empty())
        continue;
      SmallVector<Value> dynamic;
      for (int64_t d = 0, e = type.getNumDynamicDims(); d < e; ++d)
        dynamic.push_back(arith::ConstantIndexOp::create(builder, op->getLoc(), 0));
      result.replaceAllUsesWith(tensor::EmptyOp::create(builder, op->getLoc(), type, dynamic));
    }
    if (isOpTriviallyDead(op))
      op->erase();
  }
}

/// Gathers and scatters of rows.
static void expandAddressed(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<tensor::GatherOp, tensor::ScatterOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(spmd::expandAddressing(builder, op, *spmd::getAddressing(op)));
    op->erase();
  }
}

/// A window can cover less than the tensor. If a loop of the window has one iteration,
/// upstream drops it (`d0 * 2 + d1` becomes `d1`) and then uses the size of the tensor for
/// the remaining loop (MLIR 22). Such an op gets the slice that it reads.
static void trimWindows(func::FuncOp func) {
  OpBuilder builder(func.getContext());
  func.walk([&](linalg::LinalgOp op) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (llvm::none_of(ranges, [](int64_t size) { return size == 1; }))
      return;
    SmallVector<std::optional<int64_t>> first(ranges.size(), 0), last;
    for (int64_t size : ranges)
      last.push_back(ShapedType::isDynamic(size) ? std::nullopt : std::optional(size - 1));
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type || !type.hasStaticShape())
        continue;
      SmallVector<int64_t> shape(type.getShape());
      for (auto [size, expr] : llvm::zip(shape, op.getMatchingIndexingMap(operand).getResults())) {
        if (isa<AffineDimExpr>(expr))
          continue;
        std::optional<int64_t> end = getBoundForAffineExpr(expr, ranges.size(), 0, first, last, /*isUpper=*/true);
        if (end && *end >= 0 && *end + 1 < size)
          size = *end + 1;
      }
      if (shape == type.getShape())
        continue;
      builder.setInsertionPoint(op);
      MLIRContext *context = func.getContext();
      SmallVector<OpFoldResult> starts(shape.size(), builder.getIndexAttr(0)),
          strides(shape.size(), builder.getIndexAttr(1));
      operand->set(tensor::ExtractSliceOp::create(builder, op.getLoc(), operand->get(), starts,
                                                  getAsIndexOpFoldResult(context, shape), strides));
    }
  });
}

namespace {
struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }
};

/// Upstream's patterns only support unit tiles.
template <typename PackOp> struct LowerPack : OpRewritePattern<PackOp> {
  using OpRewritePattern<PackOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op, PatternRewriter &rewriter) const override {
    if constexpr (std::is_same_v<PackOp, linalg::PackOp>)
      return linalg::lowerPack(rewriter, op, /*lowerPadLikeWithInsertSlice=*/false);
    else
      return linalg::lowerUnPack(rewriter, op, /*lowerUnpadLikeWithExtractSlice=*/false);
  }
};

/// The stride of a dim with one element has no effect, but the folders of memref do not
/// support views that drop a dim with a stride other than 1.
template <typename SliceOp> struct UnitStrides : OpRewritePattern<SliceOp> {
  using OpRewritePattern<SliceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> strides = op.getMixedStrides();
    bool changed = false;
    for (auto [stride, size] : llvm::zip(strides, op.getMixedSizes()))
      if (isConstantIntValue(size, 1) && !isConstantIntValue(stride, 1)) {
        stride = rewriter.getIndexAttr(1);
        changed = true;
      }
    if (!changed)
      return failure();
    if constexpr (std::is_same_v<SliceOp, tensor::ExtractSliceOp>)
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getSource(), op.getMixedOffsets(), op.getMixedSizes(),
                                           strides);
    else
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getSource(), op.getDest(), op.getMixedOffsets(), op.getMixedSizes(),
                                           strides);
    return success();
  }
};

/// tensor.bitcast has no bufferization; arith.bitcast is elementwise.
struct BitcastToArith : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::BitcastOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), op.getSource());
    return success();
  }
};

/// From f64 to bf16, LLVM calls a function that libgcc only has since GCC 13. Converts by
/// f32, rounded to odd, which avoids double rounding.
struct TruncateByOdd : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!getElementTypeOrSelf(from).isF64() || !getElementTypeOrSelf(op.getType()).isBF16() || op.getRoundingmode())
      return failure();
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 spmd::target::roundToOdd(rewriter, op.getLoc(), op.getIn()));
    return success();
  }
};

/// Upstream lowers isnan and isfinite, but not these.
template <typename TestOp> struct TestByCompare : OpRewritePattern<TestOp> {
  using OpRewritePattern<TestOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TestOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getOperand().getType();
    const llvm::fltSemantics &semantics = cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    auto compare = [&](arith::CmpFPredicate predicate, Value value, const APFloat &with) -> Value {
      TypedAttr attr = rewriter.getFloatAttr(getElementTypeOrSelf(type), with);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attr = DenseElementsAttr::get(shaped, Attribute(attr));
      return arith::CmpFOp::create(rewriter, loc, predicate, value, arith::ConstantOp::create(rewriter, loc, attr));
    };
    Value size = math::AbsFOp::create(rewriter, loc, op.getOperand());
    APFloat infinity = APFloat::getInf(semantics);
    if constexpr (std::is_same_v<TestOp, math::IsInfOp>) {
      rewriter.replaceOp(op, compare(arith::CmpFPredicate::OEQ, size, infinity));
    } else {
      Value finite = compare(arith::CmpFPredicate::OLT, size, infinity);
      Value large = compare(arith::CmpFPredicate::OGE, size, APFloat::getSmallestNormalized(semantics));
      rewriter.replaceOpWithNewOp<arith::AndIOp>(op, finite, large);
    }
    return success();
  }
};

/// LLVM and libraries only have powers with i32 exponents. For larger exponents, only the
/// sign and the parity matter.
struct PowerOfInt : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value exponent = op.getRhs();
    Type type = exponent.getType(), element = getElementTypeOrSelf(type);
    if (element.isInteger(32))
      return failure();
    auto shaped = dyn_cast<ShapedType>(type);
    auto typeOf = [&](Type element) { return shaped ? Type(shaped.clone(element)) : element; };
    Type wanted = typeOf(rewriter.getI32Type());
    if (element.isIndex()) {
      element = rewriter.getI64Type();
      type = typeOf(element);
      shaped = dyn_cast<ShapedType>(type);
      exponent = arith::IndexCastOp::create(rewriter, loc, type, exponent);
    }
    if (element.getIntOrFloatBitWidth() < 32) {
      exponent = arith::ExtSIOp::create(rewriter, loc, wanted, exponent);
    } else {
      auto constant = [&](int64_t value) -> Value {
        TypedAttr attr = rewriter.getIntegerAttr(element, value);
        if (!shaped || shaped.hasStaticShape())
          return arith::ConstantOp::create(rewriter, loc,
                                           shaped ? TypedAttr(DenseElementsAttr::get(shaped, Attribute(attr))) : attr);
        SmallVector<Value> sizes;
        for (int64_t d = 0; d < shaped.getRank(); ++d)
          if (shaped.isDynamicDim(d))
            sizes.push_back(tensor::DimOp::create(rewriter, loc, op.getRhs(), d));
        return tensor::SplatOp::create(rewriter, loc, type, arith::ConstantOp::create(rewriter, loc, attr), sizes);
      };
      constexpr int64_t most = std::numeric_limits<int32_t>::max() - 1;
      Value odd = arith::AndIOp::create(rewriter, loc, exponent, constant(1));
      Value even = arith::SubIOp::create(rewriter, loc, exponent, odd);
      even = arith::MaxSIOp::create(rewriter, loc, even, constant(-most));
      even = arith::MinSIOp::create(rewriter, loc, even, constant(most));
      exponent = arith::TruncIOp::create(rewriter, loc, wanted, arith::AddIOp::create(rewriter, loc, even, odd));
    }
    rewriter.modifyOpInPlace(op, [&] { op.getRhsMutable().assign(exponent); });
    return success();
  }
};

/// A concat inserts its operands in order. Upstream's pattern does too, but computes each
/// dynamic size twice.
struct ConcatToInserts : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto type = op.getResultType();
    if (!type.hasStaticShape() ||
        !llvm::all_of(op.getInputs().getTypes(), [](Type t) { return cast<RankedTensorType>(t).hasStaticShape(); }))
      return failure();
    Location loc = op.getLoc();
    Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    int64_t position = 0;
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    for (Value input : op.getInputs()) {
      auto inputType = cast<RankedTensorType>(input.getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
      offsets[op.getDim()] = rewriter.getIndexAttr(position);
      position += inputType.getDimSize(op.getDim());
      if (inputType.getNumElements() == 0)
        continue;
      result =
          tensor::InsertSliceOp::create(rewriter, loc, input, result, offsets,
                                        getAsIndexOpFoldResult(rewriter.getContext(), inputType.getShape()), strides);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Regions yield into buffers that exist outside
//===----------------------------------------------------------------------===//

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// True if dim `d` of a value and dim `otherDim` of another have one size, which is known to be so by the ops that
/// compute `value`.
static bool haveOneSize(Value value, int64_t d, Value other, int64_t otherDim) {
  while (value != other || d != otherDim) {
    FailureOr<bool> areEqual = ValueBoundsConstraintSet::areEqual({value, d}, {other, otherDim});
    if (succeeded(areEqual) && *areEqual)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      auto size = dyn_cast<Value>(empty.getMixedSizes()[d]);
      auto dim = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
      std::optional<int64_t> of = dim ? dim.getConstantIndex() : std::nullopt;
      if (!of)
        return false;
      value = dim.getSource();
      d = *of;
      continue;
    }
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = dps.getTiedOpOperand(cast<OpResult>(value))->get();
      continue;
    }
    if (!op->hasTrait<OpTrait::Elementwise>())
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isa<RankedTensorType>(operand.getType()) && haveOneSize(operand, d, other, otherDim);
    });
  }
  return true;
}

/// True if a value of the type of `dest` has its sizes, so that it can be in its buffer.
static bool fitsInto(Value value, Value dest) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type != dest.getType())
    return false;
  if (type.hasStaticShape())
    return true;
  SymbolicSizes sizes(dest.getParentRegion()->getParentOfType<func::FuncOp>());
  // What a loop carries has the sizes that it begins with, if that is so for what each iteration yields.
  auto arg = dyn_cast<BlockArgument>(dest);
  auto loop = arg ? dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()) : scf::ForOp();
  OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
  auto haveOneForm = [&](int64_t d) {
    AffineExpr a = sizes.getDim(value, d), b = sizes.getDim(dest, d);
    return a && b && simplifyAffineExpr(a, 0, sizes.getNumSymbols()) == simplifyAffineExpr(b, 0, sizes.getNumSymbols());
  };
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d) && !haveOneForm(d) && !haveOneSize(value, d, dest, d) &&
        !(init && haveOneSize(value, d, init->get(), d)))
      return false;
  return true;
}

/// True if only `update` uses a value, except for earlier reads of elements.
static bool isReadOnlyBefore(Value value, Operation *update) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == update ||
           (isa<tensor::ExtractOp>(user) && user->getBlock() == update->getBlock() && user->isBeforeInBlock(update));
  });
}

/// True if `value` is `root` after a chain of in-place updates, each the last use
/// of the one before.
static bool isUpdateOf(Value value, Value root) {
  while (value != root) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
             linalgOp && linalgOp.getNumParallelLoops() == linalgOp.getNumLoops())
      return false; // after fusion, the op reads its output as an input
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      value = dps.getTiedOpOperand(cast<OpResult>(value))->get();
    else if (auto loop = dyn_cast<scf::ForOp>(op)) // normalised before: updates its init
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    else
      return false;
    if (!isReadOnlyBefore(value, op))
      return false;
  }
  return true;
}

/// Puts the terminator operand into the buffer of `dest`.
static void yieldInto(OpBuilder &builder, OpOperand &yielded, Value dest) {
  if (!fitsInto(yielded.get(), dest) || isUpdateOf(yielded.get(), dest))
    return;
  Operation *terminator = yielded.getOwner();
  builder.setInsertionPoint(terminator);
  auto op = bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), dest.getType(),
                                                              yielded.get(), dest);
  yielded.set(op.getResult());
}

/// True if bufferization may put `value` into the buffer of `other`: by views and
/// loops, and by updates in place. With `exceptUpdates`, not by updates alone.
static bool mayShare(Value value, Value other, bool exceptUpdates = false) {
  SetVector<Value> values;
  values.insert(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    if (values[i] == other)
      return true;
    Operation *op = values[i].getDefiningOp();
    if (!op)
      continue;
    if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op)) {
      values.insert(op->getOperand(0));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      values.insert(select.getTrueValue());
      values.insert(select.getFalseValue());
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      values.insert_range(loop.getInits());
      exceptUpdates = false;
    } else if (exceptUpdates) {
      continue;
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      values.insert(insert.getDest());
    } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      values.insert(insert.getDest());
    } else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      values.insert(dps.getTiedOpOperand(cast<OpResult>(values[i]))->get());
    }
  }
  return false;
}

namespace {
/// A terminator operand, and the value whose buffer it gets.
struct Yield {
  OpOperand *operand;
  Value dest;
  Value value() const { return operand->get(); }
};
} // namespace

/// The operands of a terminator are yielded simultaneously: those whose buffer may be
/// overwritten, or is that of another operand, are copied first.
static void yieldAllInto(OpBuilder &builder, MutableArrayRef<OpOperand> operands, ValueRange dests) {
  SmallVector<Yield> yields;
  for (auto [operand, dest] : llvm::zip_equal(operands, dests))
    if (operand.get() != dest && (isStaticTensor(operand.get().getType()) || fitsInto(operand.get(), dest)))
      yields.push_back({&operand, dest});
  SmallVector<Yield> aside;
  for (const Yield &yield : yields) {
    Value value = yield.value();
    bool shares = !isUpdateOf(value, yield.dest) && mayShare(value, yield.dest, /*exceptUpdates=*/true);
    for (const Yield &other : yields)
      if (&other != &yield)
        shares |= mayShare(value, other.dest) ||
                  (value == other.value() ? &other < &yield
                                          : mayShare(value, other.value()) || mayShare(other.value(), value));
    if (shares)
      aside.push_back(yield);
  }
  for (const Yield &yield : aside) {
    Operation *terminator = yield.operand->getOwner();
    builder.setInsertionPoint(terminator);
    yield.operand->set(bufferization::AllocTensorOp::create(
        builder, terminator->getLoc(), cast<RankedTensorType>(yield.value().getType()), ValueRange(), yield.value()));
  }
  for (const Yield &yield : yields)
    yieldInto(builder, *yield.operand, yield.dest);
}

/// A separate buffer: equal tensor.empty would be merged.
static Value newBuffer(OpBuilder &builder, Location loc, RankedTensorType type) {
  return bufferization::AllocTensorOp::create(builder, loc, type, ValueRange());
}

static void normaliseFor(scf::ForOp op) {
  OpBuilder builder(op);
  yieldAllInto(builder, op.getBody()->getTerminator()->getOpOperands(), op.getRegionIterArgs());
}

static void normaliseWhile(scf::WhileOp op) {
  OpBuilder builder(op);
  auto condition = op.getConditionOp();
  if (TypeRange(ValueRange(op.getBeforeArguments())) == TypeRange(ValueRange(op.getAfterArguments()))) {
    yieldAllInto(builder, condition->getOpOperands().drop_front(), op.getBeforeArguments());
    yieldAllInto(builder, op.getYieldOp()->getOpOperands(), op.getAfterArguments());
    return;
  }
  // The values passed to the after region differ from the iteration arguments: add a
  // buffer for each of them.
  //   before (tensors, buffers, scalars) -> after (tensors, passed values, scalars)
  SmallVector<Value> inits, buffers;
  SmallVector<unsigned> tensorArgs, otherArgs, passedTensors, passedOthers;
  for (auto [i, init] : llvm::enumerate(op.getInits()))
    (isStaticTensor(init.getType()) ? tensorArgs : otherArgs).push_back(i);
  for (auto [i, value] : llvm::enumerate(condition.getArgs()))
    (isStaticTensor(value.getType()) ? passedTensors : passedOthers).push_back(i);
  for (unsigned i : tensorArgs)
    inits.push_back(op.getInits()[i]);
  for (unsigned i : passedTensors) {
    auto type = cast<RankedTensorType>(condition.getArgs()[i].getType());
    inits.push_back(newBuffer(builder, op.getLoc(), type));
  }
  for (unsigned i : otherArgs)
    inits.push_back(op.getInits()[i]);
  SmallVector<Type> results;
  for (unsigned i : tensorArgs)
    results.push_back(op.getInits()[i].getType());
  for (unsigned i : passedTensors)
    results.push_back(condition.getArgs()[i].getType());
  for (unsigned i : passedOthers)
    results.push_back(condition.getArgs()[i].getType());
  unsigned numTensors = tensorArgs.size(), numPassed = passedTensors.size();
  auto newOp = scf::WhileOp::create(
      builder, op.getLoc(), results, inits, [](OpBuilder &, Location, ValueRange) {},
      [](OpBuilder &, Location, ValueRange) {});
  Block *before = newOp.getBeforeBody(), *after = newOp.getAfterBody();
  for (auto [k, i] : llvm::enumerate(tensorArgs))
    op.getBeforeArguments()[i].replaceAllUsesWith(before->getArgument(k));
  for (auto [k, i] : llvm::enumerate(otherArgs))
    op.getBeforeArguments()[i].replaceAllUsesWith(before->getArgument(numTensors + numPassed + k));
  before->getOperations().splice(before->end(), op.getBeforeBody()->getOperations());
  SmallVector<Value> passed;
  for (unsigned k = 0; k < numTensors; ++k)
    passed.push_back(before->getArgument(k));
  for (unsigned i : passedTensors)
    passed.push_back(condition.getArgs()[i]);
  for (unsigned i : passedOthers)
    passed.push_back(condition.getArgs()[i]);
  condition.getArgsMutable().assign(passed);
  for (unsigned k = 0; k < numPassed; ++k)
    yieldInto(builder, condition.getArgsMutable()[numTensors + k], before->getArgument(numTensors + k));

  for (auto [k, i] : llvm::enumerate(passedTensors)) {
    op.getAfterArguments()[i].replaceAllUsesWith(after->getArgument(numTensors + k));
    op.getResult(i).replaceAllUsesWith(newOp.getResult(numTensors + k));
  }
  for (auto [k, i] : llvm::enumerate(passedOthers)) {
    op.getAfterArguments()[i].replaceAllUsesWith(after->getArgument(numTensors + numPassed + k));
    op.getResult(i).replaceAllUsesWith(newOp.getResult(numTensors + numPassed + k));
  }
  Operation *yield = op.getYieldOp();
  after->getOperations().splice(after->end(), op.getAfterBody()->getOperations());
  SmallVector<Value> next;
  for (unsigned i : tensorArgs)
    next.push_back(yield->getOperand(i));
  for (unsigned k = 0; k < numPassed; ++k)
    next.push_back(after->getArgument(numTensors + k));
  for (unsigned i : otherArgs)
    next.push_back(yield->getOperand(i));
  yield->setOperands(next);
  yieldAllInto(builder, yield->getOpOperands().take_front(numTensors), after->getArguments().take_front(numTensors));
  // The body may update the passed buffer in place. The next iteration overwrites it, and
  // the result is that of the last `before`.
  op.erase();
}

/// scf.if and scf.index_switch: all branches write one buffer.
static void normaliseBranch(Operation *op) {
  OpBuilder builder(op);
  // Other values than tensors do not change.
  SmallVector<Value> dests(op->getResults());
  for (Value &dest : dests)
    if (isStaticTensor(dest.getType()))
      dest = newBuffer(builder, op->getLoc(), cast<RankedTensorType>(dest.getType()));
  for (Region &region : op->getRegions())
    if (!region.empty()) // A branch without results may have none.
      yieldAllInto(builder, region.front().getTerminator()->getOpOperands(), dests);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Legalize : spmd::impl::SpmdTargetLegalizeBase<Legalize> {
  using Base::Base;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<DecomposeSoftmax, BitcastToArith, TruncateByOdd, TestByCompare<math::IsInfOp>,
            TestByCompare<math::IsNormalOp>, PowerOfInt, linalg::DecomposePadOpPattern,
            UnitStrides<tensor::ExtractSliceOp>, UnitStrides<tensor::InsertSliceOp>>(context);
    set.add<ConcatToInserts>(context, /*benefit=*/2);
    tensor::populateDecomposeTensorConcatPatterns(set);
    math::populateExpansionPatterns(set, {"clampf"});
    spmd::target::populateNarrowFloatPatterns(set);
    // A loop with one iteration would yield into the buffer of its init, which may be an
    // argument.
    scf::ForOp::getCanonicalizationPatterns(set, context);
    set.add<LowerPack<linalg::PackOp>, LowerPack<linalg::UnPackOp>>(context);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    spmd::expandSorts(func);
    if (failed(checkSupported(func)))
      return signalPassFailure();
    if (failed(spmd::target::widenNarrowTypes(func)))
      return signalPassFailure();
    expandAddressed(func); // Upstream has no lowering of these.
    spmd::makeDroppedDimsExplicit(func);
    emptyZeroElementValues(func);
    if (failed(applyPatternsGreedily(func, patterns)))
      return signalPassFailure();
    emptyZeroElementValues(func);
    if (!regions)
      return;
    trimWindows(func);
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        normaliseFor(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        normaliseWhile(loop);
      else
        normaliseBranch(op);
    }
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
