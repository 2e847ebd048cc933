//===- Numbers.cpp - Scalar ops of numbers --------------------------------===//

#include "Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

bool enumeration::isNumeric(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return isa<FloatType, IndexType>(type) || (integer && integer.getWidth() <= 64);
}

unsigned enumeration::getWidth(Type type) { return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth(); }

static int64_t wrap(int64_t value, unsigned width) {
  return width >= 64 ? value : int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}

static uint64_t toUnsigned(int64_t value, unsigned width) {
  return width >= 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

static Number ofReal(double real) {
  Number number;
  number.real = real;
  return number;
}

static Number ofInteger(int64_t integer) {
  Number number;
  number.integer = integer;
  return number;
}

Number enumeration::getNumber(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value)) {
    APFloat number = real.getValue();
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return ofReal(number.convertToDouble());
  }
  return ofInteger(cast<IntegerAttr>(value).getValue().sextOrTrunc(64).getSExtValue());
}

Numbers enumeration::getIndices(MLIRContext *context, int64_t index) {
  return {IndexType::get(context), {ofInteger(index)}};
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

using Unary = double (*)(double);
static Unary getUnary(StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Cases("arith.extf", "arith.truncf", [](double x) { return x; })
      .Case("arith.negf", [](double x) { return -x; })
      .Case("math.absf", [](double x) { return std::fabs(x); })
      .Case("math.ceil", [](double x) { return std::ceil(x); })
      .Case("math.floor", [](double x) { return std::floor(x); })
      .Case("math.round", [](double x) { return std::round(x); })
      .Case("math.roundeven", [](double x) { return std::nearbyint(x); })
      .Case("math.trunc", [](double x) { return std::trunc(x); })
      .Case("math.sqrt", [](double x) { return std::sqrt(x); })
      .Case("math.rsqrt", [](double x) { return 1 / std::sqrt(x); })
      .Case("math.cbrt", [](double x) { return std::cbrt(x); })
      .Case("math.exp", [](double x) { return std::exp(x); })
      .Case("math.exp2", [](double x) { return std::exp2(x); })
      .Case("math.expm1", [](double x) { return std::expm1(x); })
      .Case("math.log", [](double x) { return std::log(x); })
      .Case("math.log2", [](double x) { return std::log2(x); })
      .Case("math.log10", [](double x) { return std::log10(x); })
      .Case("math.log1p", [](double x) { return std::log1p(x); })
      .Case("math.sin", [](double x) { return std::sin(x); })
      .Case("math.cos", [](double x) { return std::cos(x); })
      .Case("math.tan", [](double x) { return std::tan(x); })
      .Case("math.sinh", [](double x) { return std::sinh(x); })
      .Case("math.cosh", [](double x) { return std::cosh(x); })
      .Case("math.tanh", [](double x) { return std::tanh(x); })
      .Case("math.asin", [](double x) { return std::asin(x); })
      .Case("math.acos", [](double x) { return std::acos(x); })
      .Case("math.atan", [](double x) { return std::atan(x); })
      .Case("math.asinh", [](double x) { return std::asinh(x); })
      .Case("math.acosh", [](double x) { return std::acosh(x); })
      .Case("math.atanh", [](double x) { return std::atanh(x); })
      .Case("math.erf", [](double x) { return std::erf(x); })
      .Case("math.erfc", [](double x) { return std::erfc(x); })
      .Default(nullptr);
}

static double getMaximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b); }
static double getMinimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b); }

using Binary = double (*)(double, double);
static Binary getBinary(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("arith.addf", [](double x, double y) { return x + y; })
      .Case("arith.subf", [](double x, double y) { return x - y; })
      .Case("arith.mulf", [](double x, double y) { return x * y; })
      .Case("arith.divf", [](double x, double y) { return x / y; })
      .Case("arith.remf", [](double x, double y) { return std::fmod(x, y); })
      .Case("arith.maximumf", getMaximum)
      .Case("arith.minimumf", getMinimum)
      .Case("arith.maxnumf", [](double x, double y) { return std::fmax(x, y); })
      .Case("arith.minnumf", [](double x, double y) { return std::fmin(x, y); })
      .Case("math.powf", [](double x, double y) { return std::pow(x, y); })
      .Case("math.atan2", [](double x, double y) { return std::atan2(x, y); })
      .Case("math.copysign", [](double x, double y) { return std::copysign(x, y); })
      .Default(nullptr);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A division by zero is undefined: it gives zero.
static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

using Integer = int64_t (*)(int64_t, int64_t, unsigned);
static Integer getInteger(StringRef name) {
  return llvm::StringSwitch<Integer>(name)
      .Case("arith.addi", [](int64_t x, int64_t y, unsigned) { return int64_t(uint64_t(x) + uint64_t(y)); })
      .Case("arith.subi", [](int64_t x, int64_t y, unsigned) { return int64_t(uint64_t(x) - uint64_t(y)); })
      .Case("arith.muli", [](int64_t x, int64_t y, unsigned) { return int64_t(uint64_t(x) * uint64_t(y)); })
      .Case("arith.divsi", [](int64_t x, int64_t y, unsigned) { return y == 0    ? 0
                                                                       : y == -1 ? -x
                                                                                 : x / y; })
      .Case("arith.remsi", [](int64_t x, int64_t y, unsigned) { return y == 0 || y == -1 ? 0 : x % y; })
      .Case("arith.floordivsi",
            [](int64_t x, int64_t y, unsigned) { return y == 0    ? 0
                                                        : y == -1 ? -x
                                                                  : floorDivide(x, y); })
      .Case("arith.ceildivsi",
            [](int64_t x, int64_t y, unsigned) { return y == 0    ? 0
                                                        : y == -1 ? -x
                                                                  : -floorDivide(-x, y); })
      .Case("arith.divui",
            [](int64_t x, int64_t y, unsigned w) { return y == 0 ? 0 : int64_t(toUnsigned(x, w) / toUnsigned(y, w)); })
      .Case("arith.remui",
            [](int64_t x, int64_t y, unsigned w) { return y == 0 ? 0 : int64_t(toUnsigned(x, w) % toUnsigned(y, w)); })
      .Case("arith.ceildivui",
            [](int64_t x, int64_t y, unsigned w) {
              return y == 0 || x == 0 ? 0 : int64_t((toUnsigned(x, w) - 1) / toUnsigned(y, w) + 1);
            })
      .Case("arith.andi", [](int64_t x, int64_t y, unsigned) { return x & y; })
      .Case("arith.ori", [](int64_t x, int64_t y, unsigned) { return x | y; })
      .Case("arith.xori", [](int64_t x, int64_t y, unsigned) { return x ^ y; })
      .Case("arith.shli",
            [](int64_t x, int64_t y, unsigned w) { return uint64_t(y) < w ? int64_t(uint64_t(x) << y) : 0; })
      .Case("arith.shrsi", [](int64_t x, int64_t y, unsigned w) { return uint64_t(y) < w ? x >> y : 0; })
      .Case("arith.shrui",
            [](int64_t x, int64_t y, unsigned w) { return uint64_t(y) < w ? int64_t(toUnsigned(x, w) >> y) : 0; })
      .Case("arith.maxsi", [](int64_t x, int64_t y, unsigned) { return std::max(x, y); })
      .Case("arith.minsi", [](int64_t x, int64_t y, unsigned) { return std::min(x, y); })
      .Case("arith.maxui", [](int64_t x, int64_t y, unsigned w) { return toUnsigned(x, w) > toUnsigned(y, w) ? x : y; })
      .Case("arith.minui", [](int64_t x, int64_t y, unsigned w) { return toUnsigned(x, w) < toUnsigned(y, w) ? x : y; })
      .Default(nullptr);
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  auto toInt = [&](int64_t x) { return APInt(width, uint64_t(x), /*isSigned=*/false, /*implicitTrunc=*/true); };
  return arith::applyCmpPredicate(predicate, toInt(a), toInt(b));
}

/// An integer of the width `from` in another type; std::nullopt if the op is no such conversion.
static std::optional<Number> convert(StringRef name, Number number, unsigned from) {
  if (llvm::is_contained({"arith.extsi", "arith.trunci", "arith.index_cast"}, name))
    return number;
  if (llvm::is_contained({"arith.extui", "arith.index_castui"}, name))
    return ofInteger(int64_t(toUnsigned(number.integer, from)));
  if (name == "arith.sitofp")
    return ofReal(double(number.integer));
  if (name == "arith.uitofp")
    return ofReal(double(toUnsigned(number.integer, from)));
  if (name == "math.absi")
    return ofInteger(number.integer < 0 ? -number.integer : number.integer);
  if (name == "math.ctpop")
    return ofInteger(llvm::popcount(toUnsigned(number.integer, from)));
  return std::nullopt;
}

/// A float as an integer; what is beyond any integer is undefined, and zero.
static std::optional<Number> truncate(StringRef name, double number) {
  if (!llvm::is_contained({"arith.fptosi", "arith.fptoui"}, name))
    return std::nullopt;
  return ofInteger(std::fabs(number) < 9e18 ? int64_t(number) : 0);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// As many results as the longest operand has numbers.
static std::optional<Numbers> computeEach(Type type, ArrayRef<const Numbers *> operands,
                                          llvm::function_ref<std::optional<Number>(size_t)> get) {
  size_t count = 1;
  for (const Numbers *operand : operands)
    count = operand->list.size() == 1 ? count : operand->list.size();
  Numbers result{type, std::vector<Number>(count)};
  unsigned width = isa<FloatType>(type) ? 0 : getWidth(type);
  for (size_t i = 0; i < count; ++i) {
    std::optional<Number> number = get(i);
    if (!number)
      return std::nullopt;
    result.list[i] = width ? ofInteger(wrap(number->integer, width)) : *number;
  }
  return result;
}

static std::optional<Numbers> computeUnary(StringRef name, Type type, const Numbers &a) {
  unsigned from = getWidth(a.type);
  if (!a.isFloat())
    return computeEach(type, {&a}, [&](size_t i) { return convert(name, a[i], from); });
  if (Unary function = getUnary(name))
    return computeEach(type, {&a}, [&](size_t i) { return ofReal(function(a[i].real)); });
  return computeEach(type, {&a}, [&](size_t i) { return truncate(name, a[i].real); });
}

static std::optional<Numbers> computeBinary(Operation *op, StringRef name, Type type, const Numbers &a,
                                            const Numbers &b) {
  unsigned width = getWidth(a.type);
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return computeEach(type, {&a, &b}, [&](size_t i) {
      return ofInteger(-arith::applyCmpPredicate(cmp.getPredicate(), APFloat(a[i].real), APFloat(b[i].real)));
    });
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return computeEach(type, {&a, &b}, [&](size_t i) {
      return ofInteger(-compare(cmp.getPredicate(), a[i].integer, b[i].integer, width));
    });
  if (Binary function = getBinary(name))
    return computeEach(type, {&a, &b}, [&](size_t i) { return ofReal(function(a[i].real, b[i].real)); });
  if (Integer function = getInteger(name))
    return computeEach(type, {&a, &b},
                       [&](size_t i) { return ofInteger(function(a[i].integer, b[i].integer, width)); });
  if (isa<math::FPowIOp>(op))
    return computeEach(type, {&a, &b}, [&](size_t i) { return ofReal(std::pow(a[i].real, double(b[i].integer))); });
  return std::nullopt;
}

std::optional<Numbers> enumeration::compute(Operation *op, ArrayRef<const Numbers *> operands) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isNumeric(type) || !llvm::all_of(operands, [](const Numbers *each) { return isNumeric(each->type); }))
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  if (isa<arith::SelectOp>(op))
    return computeEach(type, operands, [&](size_t i) { return (*operands[(*operands[0])[i].integer ? 1 : 2])[i]; });
  if (isa<math::FmaOp>(op))
    return computeEach(type, operands, [&](size_t i) {
      return ofReal((*operands[0])[i].real * (*operands[1])[i].real + (*operands[2])[i].real);
    });
  if (isa<math::IsNaNOp>(op))
    return computeEach(type, operands, [&](size_t i) { return ofInteger(-std::isnan((*operands[0])[i].real)); });
  if (operands.size() == 1)
    return computeUnary(name, type, *operands[0]);
  return operands.size() == 2 ? computeBinary(op, name, type, *operands[0], *operands[1]) : std::nullopt;
}

Number enumeration::combine(StringRef name, Type type, Number a, Number b) {
  if (isa<FloatType>(type))
    return ofReal(getBinary(name)(a.real, b.real));
  return ofInteger(wrap(getInteger(name)(a.integer, b.integer, getWidth(type)), getWidth(type)));
}
