//===- Domain.cpp - What a program is run on ------------------------------===//

#include "Domain.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::enumeration;

/// Values of an integer that decides what a program does, as a size.
static constexpr int64_t kMaxValues = 64;
/// Elements of a tensor that is read at indices that are not known.
static constexpr int64_t kMaxLookup = 4096;

Number Domain::getIndex(MLIRContext *context, int64_t index) {
  return getConstant(IntegerAttr::get(IndexType::get(context), index));
}

Number NumberDomain::getUndefined(Type type) {
  Number number;
  if (isa<FloatType>(type))
    number.real = 100 + double(random() % 1000) / 7;
  else
    number.integer = getWidth(type) == 1 ? -int64_t(random() % 2) : int64_t(random() % 8);
  return number;
}

std::optional<int64_t> ExpressionDomain::getInteger(Number scalar) { return expressions.findInteger(scalar.integer); }

bool ExpressionDomain::forEachValue(Number scalar, llvm::function_ref<bool()> prove) {
  std::optional<Expressions::Range> range = expressions.getRange(scalar.integer);
  if (!range || range->second - range->first >= kMaxValues)
    return false;
  // What is assumed for one value is not so for another one.
  std::map<ExprId, Expressions::Range> assumptions = expressions.getAssumptions();
  llvm::DenseSet<ExprId> before = traps;
  bool isProven = true;
  for (int64_t value = range->first; isProven && value <= range->second; ++value) {
    expressions.setAssumptions(assumptions);
    expressions.assumeRange(scalar.integer, value, value);
    isProven = prove();
    traps = before;
  }
  expressions.setAssumptions(std::move(assumptions));
  return isProven;
}

std::optional<Numbers> ExpressionDomain::compute(Operation *op, ArrayRef<const Numbers *> operands) {
  if (op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op))
    return std::nullopt;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  size_t count = 1;
  for (const Numbers *operand : operands)
    count = operand->list.size() == 1 ? count : operand->list.size();
  Numbers result{type, {}};
  SmallVector<ExprId> scalars(operands.size());
  for (size_t i = 0; i < count; ++i) {
    for (auto [scalar, operand] : llvm::zip_equal(scalars, operands))
      scalar = (*operand)[i].integer;
    result.list.push_back(toNumber(expressions.getOp(op, type, scalars)));
  }
  return result;
}

Number ExpressionDomain::select(Number condition, Number value, Number other, Type type) {
  return toNumber(expressions.getSelect(condition.integer, value.integer, other.integer, type));
}

Number ExpressionDomain::combine(StringRef name, Type type, Number a, Number b) {
  // Indices that are known stay so.
  std::optional<int64_t> x = getInteger(a), y = getInteger(b);
  if (x && y)
    return getConstant(
        IntegerAttr::get(type, enumeration::combine(name, type, {.integer = *x}, {.integer = *y}).integer));
  return toNumber(expressions.getBag(name, type, {ExprId(a.integer), ExprId(b.integer)}));
}

std::optional<Number> ExpressionDomain::lookUp(const Numbers &elements, ArrayRef<int64_t> shape,
                                               ArrayRef<Number> indices) {
  int64_t count = ShapedType::getNumElements(shape);
  if (count > kMaxLookup)
    return std::nullopt;
  SmallVector<ExprId> all, at;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(elements[i].integer);
  for (Number index : indices)
    at.push_back(index.integer);
  return toNumber(expressions.getLookup(elements.type, shape, all, at));
}

bool ExpressionDomain::addBounds(Number scalar, int64_t min, int64_t max, bool isUnsharded, bool isCertain) {
  if (isUnsharded && isCertain)
    expressions.assumeRange(scalar.integer, min, max);
  return isUnsharded || expressions.isInRange(scalar.integer, min, max);
}

Number ExpressionDomain::isEqual(Number scalar, int64_t value, MLIRContext *context) {
  return toNumber(expressions.getEqual(scalar.integer, getIndex(context, value).integer));
}

bool ExpressionDomain::addTrap(Number scalar, bool isUnsharded, bool isCertain) {
  if (expressions.getValue(scalar.integer))
    return true;
  if (isUnsharded && isCertain) {
    traps.insert(scalar.integer);
    expressions.assumeDefined(scalar.integer);
  }
  return isUnsharded || traps.contains(scalar.integer) || expressions.isDefined(scalar.integer);
}
