//===- NarrowTypes.cpp - 8-bit floats and numbers of 4 bits ---------------===//
//
// Stored weights have these types, but processors and LLVM do not compute in them. Each
// element uses a byte.
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mlir::spmd;

bool target::isNarrowFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E8M0FNUType,
             Float4E2M1FNType>(type);
}

static Type withElement(Type like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? Type(shaped.clone(element)) : element;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// LLVM does not define the upper bits of an i4 or f4 in memory, but the caller passes bytes.
static void passNibblesAsBytes(func::FuncOp func) {
  Block &body = func.getBody().front();
  auto isFloat = [](Type type) { return isa<Float4E2M1FNType>(getElementTypeOrSelf(type)); };
  auto isNibble = [&](Type type) { return getElementTypeOrSelf(type).isSignlessInteger(4) || isFloat(type); };
  OpBuilder b(func.getContext());
  for (BlockArgument arg : body.getArguments()) {
    Type type = arg.getType();
    if (!isNibble(type))
      continue;
    arg.setType(withElement(type, b.getI8Type()));
    b.setInsertionPointToStart(&body);
    auto nibbles = arith::TruncIOp::create(b, arg.getLoc(), withElement(type, b.getIntegerType(4)), arg);
    Value value = isFloat(type) ? arith::BitcastOp::create(b, arg.getLoc(), type, nibbles).getResult() : nibbles;
    arg.replaceAllUsesExcept(value, nibbles);
  }
  Operation *terminator = body.getTerminator();
  b.setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    if (Type type = operand.get().getType(); isNibble(type)) {
      Location loc = terminator->getLoc();
      Value nibbles = operand.get();
      if (isFloat(type))
        nibbles = arith::BitcastOp::create(b, loc, withElement(type, b.getIntegerType(4)), nibbles);
      operand.set(arith::ExtSIOp::create(b, loc, withElement(type, b.getI8Type()), nibbles));
    }
  func.setFunctionType(b.getFunctionType(body.getArgumentTypes(), terminator->getOperandTypes()));
}

LogicalResult target::widenNarrowTypes(func::FuncOp func) {
  passNibblesAsBytes(func);
  bool hasFloats = func.walk([](Operation *op) {
                         for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
                           if (isNarrowFloat(getElementTypeOrSelf(type)))
                             return WalkResult::interrupt();
                         return WalkResult::advance();
                       })
                       .wasInterrupted();
  if (!hasFloats)
    return success();
  MLIRContext *context = func.getContext();
  Type f32 = Float32Type::get(context);
  // Upstream's conversions permit contraction, which would drop the rounding between two ops in one loop nest: only
  // the casts that were there before keep their flags.
  constexpr llvm::StringLiteral kWritten = "spmd_rt.written";
  func.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      op->setDiscardableAttr(kWritten, UnitAttr::get(context));
  });
  SmallVector<Type> narrow{Float8E4M3FNType::get(context),   Float8E5M2Type::get(context),
                           Float8E4M3FNUZType::get(context), Float8E5M2FNUZType::get(context),
                           Float8E8M0FNUType::get(context),  Float4E2M1FNType::get(context)};
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, f32);
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  if (failed(applyPartialConversion(func, target, std::move(patterns))))
    return failure();
  // Math functions too.
  TypeConverter mathConverter;
  SetVector<Type> supported;
  for (Type type :
       {Type(Float16Type::get(context)), Type(BFloat16Type::get(context)), f32, Type(Float64Type::get(context))})
    supported.insert(type);
  math::populateExtendToSupportedTypesTypeConverter(mathConverter, supported, f32);
  ConversionTarget mathTarget(*context);
  math::populateExtendToSupportedTypesConversionTarget(mathTarget, mathConverter);
  RewritePatternSet mathPatterns(context);
  math::populateExtendToSupportedTypesPatterns(mathPatterns, mathConverter);
  if (failed(applyPartialConversion(func, mathTarget, std::move(mathPatterns))))
    return failure();
  auto none = arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::none);
  func.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) && !op->removeDiscardableAttr(kWritten))
      op->setAttr("fastmath", none);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic on the bits of values of one shape.
struct Bits {
  OpBuilder &b;
  Location loc;
  Type like;

  Type type(Type element) const { return withElement(like, element); }
  Type i32() const { return type(b.getI32Type()); }
  Type f32() const { return type(b.getF32Type()); }
  Value constant(TypedAttr attr) const {
    if (auto shaped = dyn_cast<ShapedType>(like))
      attr = DenseElementsAttr::get(shaped.clone(attr.getType()), Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value number(uint32_t value) const { return constant(b.getI32IntegerAttr(int32_t(value))); }
  Value power(int exponent) const { return constant(b.getF32FloatAttr(std::ldexp(1.0f, exponent))); }
  Value asFloat(Value bits) const { return arith::BitcastOp::create(b, loc, f32(), bits); }
  Value asBits(Value value) const { return arith::BitcastOp::create(b, loc, i32(), value); }
  template <typename Op> Value make(Value lhs, Value rhs) const { return Op::create(b, loc, lhs, rhs); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, uint32_t rhs) const {
    return arith::CmpIOp::create(b, loc, predicate, lhs, number(rhs));
  }
  /// An 8-bit float, which `value` is, as `like`, a float of at least 16 bits.
  Value fromF32(Value value) const {
    if (getElementTypeOrSelf(like).isBF16()) { // Exact: the lower bits are 0.
      Value high =
          arith::TruncIOp::create(b, loc, type(b.getI16Type()), make<arith::ShRUIOp>(asBits(value), number(16)));
      return arith::BitcastOp::create(b, loc, like, high);
    }
    unsigned width = getElementTypeOrSelf(like).getIntOrFloatBitWidth();
    if (width > 32)
      return arith::ExtFOp::create(b, loc, like, value);
    return width < 32 ? arith::TruncFOp::create(b, loc, like, value).getResult() : value;
  }
  /// A float of at least 16 bits, to be rounded to 8.
  Value toF32(Value value) const {
    unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    if (width > 32)
      return target::roundToOdd(b, loc, value);
    return width < 32 ? arith::ExtFOp::create(b, loc, f32(), value).getResult() : value;
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
};

/// The format of a signed float of 8 or 4 bits.
struct Format {
  unsigned mantissa;
  int bias;
  bool isUnsignedZero;   ///< The bits of -0 are the only NaN.
  uint32_t infinity;     ///< Magnitude; 0 if there is none.
  uint32_t largest, nan; ///< Magnitudes; conversions write `nan`.
  unsigned width = 8;

  static std::optional<Format> get(Type type) {
    if (isa<Float8E4M3FNType>(type))
      return Format{3, 7, false, 0, 0x7e, 0x7f};
    if (isa<Float8E5M2Type>(type))
      return Format{2, 15, false, 0x7c, 0x7b, 0x7e};
    if (isa<Float8E4M3FNUZType>(type))
      return Format{3, 8, true, 0, 0x7f, 0x80};
    if (isa<Float8E5M2FNUZType>(type))
      return Format{2, 16, true, 0, 0x7f, 0x80};
    if (isa<Float4E2M1FNType>(type)) // Saturates: it has neither infinity nor NaN.
      return Format{1, 1, false, 0, 7, 7, 4};
    return std::nullopt;
  }
};

/// The magnitude, shifted to the position of that of an f32, needs another bias. A subnormal one is the mantissa of
/// the least normal value, which is then subtracted: no operand is a subnormal f32, on which processors are slow.
struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    std::optional<Format> format = Format::get(getElementTypeOrSelf(op.getIn().getType()));
    if (!format)
      return failure();
    Location loc = op.getLoc();
    Bits bits{rewriter, loc, op.getType()};
    const uint32_t signBit = 1u << (format->width - 1);
    Value stored =
        arith::BitcastOp::create(rewriter, loc, bits.type(rewriter.getIntegerType(format->width)), op.getIn());
    Value all = arith::ExtUIOp::create(rewriter, loc, bits.i32(), stored);
    Value size = bits.make<arith::AndIOp>(all, bits.number(signBit - 1));
    Value shifted = bits.make<arith::ShLIOp>(size, bits.number(23 - format->mantissa));
    Value normal = bits.make<arith::AddIOp>(shifted, bits.number(uint32_t(127 - format->bias) << 23));
    Value mantissa = bits.make<arith::AddIOp>(shifted, bits.number(uint32_t(128 - format->bias) << 23));
    Value subnormal = bits.asBits(bits.make<arith::SubFOp>(bits.asFloat(mantissa), bits.power(1 - format->bias)));
    Value value = bits.select(bits.compare(arith::CmpIPredicate::ult, size, 1u << format->mantissa), subnormal, normal);
    if (format->infinity)
      value =
          bits.select(bits.compare(arith::CmpIPredicate::eq, size, format->infinity), bits.number(0x7f800000), value);
    Value isNan = format->isUnsignedZero
                      ? bits.compare(arith::CmpIPredicate::eq, all, 0x80)
                      : bits.compare(arith::CmpIPredicate::ugt, size, std::max(format->infinity, format->largest));
    value = bits.select(isNan, bits.number(0x7fc00000), value);
    Value sign =
        bits.make<arith::ShLIOp>(bits.make<arith::AndIOp>(all, bits.number(signBit)), bits.number(32 - format->width));
    if (format->isUnsignedZero) // NaN has that bit.
      sign = bits.select(isNan, bits.number(0), sign);
    rewriter.replaceOp(op, bits.fromF32(bits.asFloat(bits.make<arith::OrIOp>(value, sign))));
    return success();
  }
};

/// Powers of 2: the exponent of an f32. Exponent 0 is 2^-127 here, and 0 in upstream.
struct ExpandExtPower : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isa<Float8E8M0FNUType>(getElementTypeOrSelf(op.getIn().getType())))
      return failure();
    Location loc = op.getLoc();
    Bits bits{rewriter, loc, op.getType()};
    Value byte = arith::BitcastOp::create(rewriter, loc, bits.type(rewriter.getI8Type()), op.getIn());
    Value all = arith::ExtUIOp::create(rewriter, loc, bits.i32(), byte);
    Value value = bits.make<arith::ShLIOp>(all, bits.number(23));
    value = bits.select(bits.compare(arith::CmpIPredicate::eq, all, 0), bits.number(1 << 22), value);
    value = bits.select(bits.compare(arith::CmpIPredicate::eq, all, 0xff), bits.number(0x7fc00000), value);
    rewriter.replaceOp(op, bits.fromF32(bits.asFloat(value)));
    return success();
  }
};

/// Rounds to nearest, ties to even. Values beyond the largest become infinity, or NaN if
/// there is no infinity.
struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    std::optional<Format> format = Format::get(getElementTypeOrSelf(op.getType()));
    if (!format ||
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) != arith::RoundingMode::to_nearest_even)
      return failure();
    Location loc = op.getLoc();
    Bits bits{rewriter, loc, op.getType()};
    Value in = bits.toF32(op.getIn());
    const unsigned drop = 23 - format->mantissa;
    Value all = bits.asBits(in);
    Value size = bits.make<arith::AndIOp>(all, bits.number(0x7fffffff));
    // Normal: add half an ulp, minus one if the last bit is even.
    Value last = bits.make<arith::AndIOp>(bits.make<arith::ShRUIOp>(size, bits.number(drop)), bits.number(1));
    Value rounded =
        bits.make<arith::AddIOp>(bits.make<arith::AddIOp>(size, last),
                                 bits.number((1u << (drop - 1)) - 1 - (uint32_t(127 - format->bias) << 23)));
    Value normal = bits.make<arith::ShRUIOp>(rounded, bits.number(drop));
    // Subnormal: rounded by a sum whose last bit has the weight of the smallest value.
    const int exponent = 1 - format->bias - int(format->mantissa) + 23;
    Value sum = bits.asBits(bits.make<arith::AddFOp>(bits.asFloat(size), bits.power(exponent)));
    Value small = bits.make<arith::SubIOp>(sum, bits.number(uint32_t(exponent + 127) << 23));
    Value value =
        bits.select(bits.compare(arith::CmpIPredicate::ult, size, uint32_t(128 - format->bias) << 23), small, normal);
    uint32_t over = format->infinity ? format->infinity : format->nan;
    Value isOver = arith::OrIOp::create(rewriter, loc, bits.compare(arith::CmpIPredicate::ugt, value, format->largest),
                                        bits.compare(arith::CmpIPredicate::uge, size, 0x7f800000));
    value = bits.select(isOver, bits.number(over), value);
    value = bits.select(bits.compare(arith::CmpIPredicate::ugt, size, 0x7f800000), bits.number(format->nan), value);
    Value sign = bits.make<arith::AndIOp>(bits.make<arith::ShRUIOp>(all, bits.number(32 - format->width)),
                                          bits.number(1u << (format->width - 1)));
    if (format->isUnsignedZero)
      sign = bits.select(bits.compare(arith::CmpIPredicate::eq, value, 0), bits.number(0), sign);
    Value stored = arith::TruncIOp::create(rewriter, loc, bits.type(rewriter.getIntegerType(format->width)),
                                           bits.make<arith::OrIOp>(value, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), stored);
    return success();
  }
};

/// Rounds to the nearest power of 2, ties to the larger. Zero and negative values become
/// NaN.
struct ExpandTruncPower : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isa<Float8E8M0FNUType>(getElementTypeOrSelf(op.getType())) || op.getRoundingmode())
      return failure();
    Location loc = op.getLoc();
    Bits bits{rewriter, loc, op.getType()};
    Value in = bits.toF32(op.getIn());
    Value all = bits.asBits(in);
    Value nearest = bits.make<arith::ShRUIOp>(bits.make<arith::AddIOp>(all, bits.number(1 << 22)), bits.number(23));
    // 2^-127 is the minimum.
    Value value = bits.select(bits.compare(arith::CmpIPredicate::ule, all, 1 << 22), bits.number(0), nearest);
    // Infinity and NaN, zero, and negative values, whose bits are larger than all others.
    Value isNone = arith::OrIOp::create(rewriter, loc, bits.compare(arith::CmpIPredicate::uge, all, 0x7f800000),
                                        bits.compare(arith::CmpIPredicate::eq, all, 0));
    value = bits.select(isNone, bits.number(0xff), value);
    Value byte = arith::TruncIOp::create(rewriter, loc, bits.type(rewriter.getI8Type()), value);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};
} // namespace

Value target::roundToOdd(OpBuilder &b, Location loc, Value value) {
  Bits bits{b, loc, value.getType()};
  Value near = arith::TruncFOp::create(b, loc, bits.f32(), value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), near);
  Value lost = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, value);
  Value away = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                                     math::AbsFOp::create(b, loc, value));
  Value nearBits = bits.asBits(near);
  Value toZero = bits.select(away, bits.make<arith::SubIOp>(nearBits, bits.number(1)), nearBits);
  return bits.asFloat(bits.select(lost, bits.make<arith::OrIOp>(toZero, bits.number(1)), nearBits));
}

void target::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExtF, ExpandTruncF>(patterns.getContext());
  patterns.add<ExpandExtPower, ExpandTruncPower>(patterns.getContext(), /*benefit=*/2);
  arith::populateExpandF8E8M0Patterns(patterns);
}
