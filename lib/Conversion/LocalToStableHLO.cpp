//===- LocalToStableHLO.cpp - What partitioning adds, as StableHLO --------===//

#include "LocalToStableHLO.h"
#include "StableHLOOps.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mlir::spmd;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

/// An index is a coordinate, a rank or an offset, which 32 bits hold.
static Type convertElement(Type type) { return type.isIndex() ? IntegerType::get(type.getContext(), 32) : type; }

static std::optional<Type> convertType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(convertElement(tensor.getElementType()));
  if (type.isIntOrIndexOrFloat())
    return RankedTensorType::get({}, convertElement(type));
  return std::nullopt;
}

static Value emitConstant(OpBuilder &b, Location loc, DenseElementsAttr value) {
  return emitStableHLO(b, loc, "constant", value.getType(), {}, b.getNamedAttr("value", value));
}

static Value emitIndex(OpBuilder &b, Location loc, int64_t value) {
  return emitConstant(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, b.getI32Type()), int32_t(value)));
}

/// The value of a constant in its type of StableHLO; null if there is none.
static DenseElementsAttr getConstant(arith::ConstantOp op) {
  auto type = dyn_cast_or_null<RankedTensorType>(convertType(op.getType()).value_or(Type()));
  if (!type)
    return {};
  if (auto number = dyn_cast<IntegerAttr>(op.getValue())) {
    APInt value = number.getValue().sextOrTrunc(type.getElementTypeBitWidth());
    return DenseElementsAttr::get(type, value);
  }
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return DenseElementsAttr::get(type, number.getValue());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !dense.getElementType().isIndex())
    return dense;
  return cast<DenseIntElementsAttr>(dense).mapValues(type.getElementType(),
                                                     [](const APInt &value) { return value.sextOrTrunc(32); });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The op that computes the same elements; empty if there is none. An index is not negative, other integers have signs.
static StringRef getElementwiseName(Operation *op) {
  const bool isIndex = op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isIndex();
  StringRef name = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
                       .Cases({"arith.addi", "arith.addf"}, "add")
                       .Cases({"arith.subi", "arith.subf"}, "subtract")
                       .Cases({"arith.muli", "arith.mulf"}, "multiply")
                       .Cases({"arith.divsi", "arith.divf"}, "divide")
                       .Case("arith.remsi", "remainder")
                       .Case("arith.andi", "and")
                       .Case("arith.ori", "or")
                       .Case("arith.xori", "xor")
                       .Case("arith.select", "select")
                       .Case("arith.index_cast", "convert")
                       .Default("");
  const bool isBool = op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  if (isBool && (name == "add" || name == "multiply" || name == "subtract"))
    return "";
  if (name.empty() && isIndex)
    name = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
               .Case("arith.divui", "divide")
               .Case("arith.remui", "remainder")
               .Cases({"arith.minui", "arith.minsi"}, "minimum")
               .Cases({"arith.maxui", "arith.maxsi"}, "maximum")
               .Default("");
  return name;
}

static StringRef getDirection(arith::CmpIOp op) {
  const bool isIndex = getElementTypeOrSelf(op.getLhs().getType()).isIndex();
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return "EQ";
  case arith::CmpIPredicate::ne:
    return "NE";
  case arith::CmpIPredicate::slt:
    return "LT";
  case arith::CmpIPredicate::sle:
    return "LE";
  case arith::CmpIPredicate::sgt:
    return "GT";
  case arith::CmpIPredicate::sge:
    return "GE";
  case arith::CmpIPredicate::ult:
    return isIndex ? "LT" : "";
  case arith::CmpIPredicate::ule:
    return isIndex ? "LE" : "";
  case arith::CmpIPredicate::ugt:
    return isIndex ? "GT" : "";
  case arith::CmpIPredicate::uge:
    return isIndex ? "GE" : "";
  }
  return "";
}

static bool isDenseSwitch(scf::IndexSwitchOp op) {
  return llvm::equal(op.getCases(), llvm::seq<int64_t>(0, op.getCases().size()));
}

/// Whether a value that a loop passes on is the one that it tests.
static bool forwardsArguments(scf::WhileOp loop) {
  return loop.getConditionOp().getArgs() == loop.getBeforeArguments();
}

/// Whether an op has a form in StableHLO, or is one.
static bool hasForm(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "stablehlo" || dialect == "chlo" ||
      isa<ModuleOp, func::FuncOp, func::CallOp, func::ReturnOp, MeshOp, scf::IfOp, scf::YieldOp, scf::ConditionOp,
          tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractOp, linalg::TransposeOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return bool(getConstant(constant));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return !getDirection(compare).empty();
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return isDenseSwitch(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return forwardsArguments(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return !loop.getUnsignedCmp();
  if (auto made = dyn_cast<tensor::FromElementsOp>(op))
    return made.getElements().size() == 1;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.hasUnitStride() && slice.getType().hasStaticShape();
  return !getElementwiseName(op).empty();
}

static LogicalResult verifyForms(ModuleOp module) {
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // The regions of linalg.transpose are made of its form.
    if (!hasForm(op)) {
      op->emitError() << "'" << op->getName()
                      << "' has no form in StableHLO, expected a program of StableHLO ops whose shards are even";
      return WalkResult::interrupt();
    }
    return isa<linalg::TransposeOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

template <typename OpT> using Pattern = OpConversionPattern<OpT>;

class ConvertElementwise : public ConversionPattern {
public:
  ConvertElementwise(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    StringRef name = getElementwiseName(op);
    if (name.empty())
      return failure();
    Type type = getTypeConverter()->convertType(op->getResult(0).getType());
    if (name == "convert" && operands[0].getType() == type)
      rewriter.replaceOp(op, operands[0]);
    else
      rewriter.replaceOp(op, emitStableHLO(rewriter, op->getLoc(), name, type, operands));
    return success();
  }
};

struct ConvertConstant : Pattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitConstant(rewriter, op.getLoc(), getConstant(op)));
    return success();
  }
};

Value emitCompare(OpBuilder &b, Location loc, StringRef direction, Type type, ValueRange operands) {
  const bool isBool = getElementTypeOrSelf(operands[0].getType()).isInteger(1);
  auto parse = [&](const Twine &text) { return parseAttribute(("#stablehlo<" + text + ">").str(), b.getContext()); };
  Attribute compared = parse("comparison_direction " + direction),
            how = parse(Twine("comparison_type ") + (isBool ? "UNSIGNED" : "SIGNED"));
  return emitStableHLO(b, loc, "compare", type, operands,
                       {b.getNamedAttr("comparison_direction", compared), b.getNamedAttr("compare_type", how)});
}

struct ConvertCompare : Pattern<arith::CmpIOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::CmpIOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, emitCompare(rewriter, op.getLoc(), getDirection(op), type, adaptor.getOperands()));
    return success();
  }
};

template <typename OpT> struct ConvertReshape : Pattern<OpT> {
  using Pattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, emitStableHLO(rewriter, op.getLoc(), "reshape", type, adaptor.getSrc()));
    return success();
  }
};

struct ConvertTranspose : Pattern<linalg::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, emitStableHLO(rewriter, op.getLoc(), "transpose", adaptor.getInit().getType(),
                                         adaptor.getInput(),
                                         rewriter.getNamedAttr("permutation", op.getPermutationAttr())));
    return success();
  }
};

/// A slice of one element per dim of `source`, or of `sizes`, at tensors of rank 0.
Value emitDynamicSlice(OpBuilder &b, Location loc, Value source, ArrayRef<Value> starts, ArrayRef<int64_t> sizes) {
  SmallVector<Value> operands{source};
  llvm::append_range(operands, starts);
  return emitStableHLO(b, loc, "dynamic_slice", cast<RankedTensorType>(source.getType()).clone(sizes), operands,
                       b.getNamedAttr("slice_sizes", b.getDenseI64ArrayAttr(sizes)));
}

struct ConvertExtract : Pattern<tensor::ExtractOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value value = adaptor.getTensor();
    if (!adaptor.getIndices().empty()) {
      SmallVector<int64_t> sizes(adaptor.getIndices().size(), 1);
      value = emitDynamicSlice(rewriter, op.getLoc(), value, llvm::to_vector(adaptor.getIndices()), sizes);
      value = emitStableHLO(rewriter, op.getLoc(), "reshape", getTypeConverter()->convertType(op.getType()), value);
    }
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ConvertFromElements : Pattern<tensor::FromElementsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::FromElementsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value value = adaptor.getElements().front();
    Type type = getTypeConverter()->convertType(op.getType());
    if (value.getType() != type)
      value = emitStableHLO(rewriter, op.getLoc(), "reshape", type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ConvertExtractSlice : Pattern<tensor::ExtractSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> starts;
    auto next = adaptor.getOffsets().begin();
    for (int64_t offset : op.getStaticOffsets())
      starts.push_back(ShapedType::isDynamic(offset) ? *next++ : emitIndex(rewriter, op.getLoc(), offset));
    Value value = emitDynamicSlice(rewriter, op.getLoc(), adaptor.getSource(), starts, op.getStaticSizes());
    Type type = getTypeConverter()->convertType(op.getType());
    if (value.getType() != type)
      value = emitStableHLO(rewriter, op.getLoc(), "reshape", type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// Regions become those of an op of StableHLO, whose terminators are converted next.
Operation *replaceWithRegions(ConversionPatternRewriter &rewriter, Operation *op, StringRef name, ValueRange operands,
                              ArrayRef<Region *> regions) {
  Operation *made =
      createStableHLO(rewriter, op->getLoc(), name, op->getResultTypes(), operands, {}, unsigned(regions.size()));
  for (auto [from, to] : llvm::zip(regions, made->getRegions()))
    rewriter.inlineRegionBefore(*from, to, to.end());
  rewriter.replaceOp(op, made);
  return made;
}

struct ConvertWhile : Pattern<scf::WhileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(scf::WhileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    replaceWithRegions(rewriter, op, "while", adaptor.getInits(), {&op.getBefore(), &op.getAfter()});
    return success();
  }
};

/// A loop that counts carries its number.
struct ConvertFor : Pattern<scf::ForOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(scf::ForOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type number = adaptor.getLowerBound().getType();
    SmallVector<Type> types{number};
    llvm::append_range(types, op.getResultTypes());
    SmallVector<Value> inits{adaptor.getLowerBound()};
    llvm::append_range(inits, adaptor.getInitArgs());
    Operation *loop = createStableHLO(rewriter, loc, "while", types, inits, {}, 2);
    // 1. The test.
    Block *test = rewriter.createBlock(&loop->getRegion(0), {}, types, SmallVector<Location>(types.size(), loc));
    Value isIn = emitCompare(rewriter, loc, "LT", RankedTensorType::get({}, rewriter.getI1Type()),
                             {test->getArgument(0), adaptor.getUpperBound()});
    createStableHLO(rewriter, loc, "return", {}, isIn);
    // 2. The body, which adds the step.
    rewriter.inlineRegionBefore(op.getRegion(), loop->getRegion(1), loop->getRegion(1).end());
    FailureOr<Block *> body = rewriter.convertRegionTypes(&loop->getRegion(1), *getTypeConverter());
    if (failed(body))
      return failure();
    Operation *end = (*body)->getTerminator();
    rewriter.setInsertionPoint(end);
    SmallVector<Value> next{emitStableHLO(rewriter, loc, "add", number, {(*body)->getArgument(0), adaptor.getStep()})};
    llvm::append_range(next, end->getOperands());
    createStableHLO(rewriter, end->getLoc(), "return", {}, next);
    rewriter.eraseOp(end);
    rewriter.replaceOp(op, loop->getResults().drop_front());
    return success();
  }
};

struct ConvertIf : Pattern<scf::IfOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(scf::IfOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getElseRegion().empty()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.createBlock(&op.getElseRegion());
      scf::YieldOp::create(rewriter, op.getLoc());
    }
    replaceWithRegions(rewriter, op, "if", adaptor.getCondition(), {&op.getThenRegion(), &op.getElseRegion()});
    return success();
  }
};

struct ConvertSwitch : Pattern<scf::IndexSwitchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(scf::IndexSwitchOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Region *> regions;
    for (Region &region : op.getCaseRegions())
      regions.push_back(&region);
    regions.push_back(&op.getDefaultRegion());
    replaceWithRegions(rewriter, op, "case", adaptor.getArg(), regions);
    return success();
  }
};

template <typename OpT> struct ConvertTerminator : Pattern<OpT> {
  using Pattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ValueRange values = adaptor.getOperands();
    if (isa<scf::ConditionOp>(op))
      values = values.take_front();
    createStableHLO(rewriter, op.getLoc(), "return", {}, values);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

/// A reshape of a reshape becomes one.
static void joinReshapes(ModuleOp module) {
  SmallVector<Operation *> reshapes;
  module.walk([&](Operation *op) {
    if (isStableHLO(op, "reshape"))
      reshapes.push_back(op);
  });
  for (Operation *op : reshapes)
    if (Operation *source = op->getOperand(0).getDefiningOp(); source && isStableHLO(source, "reshape"))
      op->setOperand(0, source->getOperand(0));
  for (Operation *op : llvm::reverse(reshapes)) {
    if (op->getOperand(0).getType() == op->getResult(0).getType())
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    if (op->use_empty())
      op->erase();
  }
}

LogicalResult spmd::convertLocalToStableHLO(ModuleOp module) {
  if (failed(verifyForms(module)))
    return failure();
  MLIRContext *context = module.getContext();
  TypeConverter types;
  types.addConversion(convertType);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalDialect<arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect, linalg::LinalgDialect>();
  target.addLegalOp<tensor::EmptyOp>();
  target.addDynamicallyLegalOp<linalg::YieldOp>([](Operation *) { return true; });
  RewritePatternSet patterns(context);
  patterns.add<ConvertElementwise, ConvertConstant, ConvertCompare, ConvertReshape<tensor::ExpandShapeOp>,
               ConvertReshape<tensor::CollapseShapeOp>, ConvertTranspose, ConvertExtract, ConvertExtractSlice,
               ConvertFromElements, ConvertFor, ConvertWhile, ConvertIf, ConvertSwitch, ConvertTerminator<scf::YieldOp>,
               ConvertTerminator<scf::ConditionOp>>(types, context);
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  // Transposes had them.
  WalkResult walk = module.walk([](tensor::EmptyOp op) {
    if (!op.use_empty())
      return WalkResult(op->emitError("has uses that have no form in StableHLO, expected transposes alone"));
    op.erase();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  joinReshapes(module);
  return success();
}
