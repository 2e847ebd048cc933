//===- TosaPadding.cpp - tosa ops on padded shards ------------------------===//

#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/TosaWindows.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

/// The zero point of a quantized operand.
static TypedAttr getZeroPointOf(Value zeroPoint, Type element) {
  DenseElementsAttr constant;
  if (!matchPattern(zeroPoint, m_Constant(&constant)) || !constant.isSplat())
    return {};
  auto value = constant.getSplatValue<Attribute>();
  if (auto number = dyn_cast<IntegerAttr>(value); number && number.getType() == element)
    return number;
  if (auto number = dyn_cast<FloatAttr>(value); number && number.getValue().isZero())
    return getExactNeutral(ReductionKind::Sum, element);
  return {};
}

/// The sum over input channels.
static std::optional<PaddingNeeds> getNeedsOfTosaProduct(Operation *op, const ShardingRule &rule, int32_t f,
                                                         Value zeroPointA, Value zeroPointB) {
  if (rule.factor(f).kind != FactorKind::Reduction)
    return PaddingNeeds();
  Type a = getElementTypeOrSelf(op->getOperand(0)), b = getElementTypeOrSelf(op->getOperand(1));
  TypedAttr zeroA = getZeroPointOf(zeroPointA, a), zeroB = getZeroPointOf(zeroPointB, b);
  if (!zeroA || !zeroB)
    return std::nullopt;
  if (isa<FloatType>(b))
    zeroB = getNeutralElement(ReductionKind::Sum, b);
  return maskProduct(rule, f, zeroA, zeroB, !isa<FloatType>(a));
}

std::optional<PaddingNeeds> spmd::getTosaPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) {
  return llvm::TypeSwitch<Operation *, std::optional<PaddingNeeds>>(op)
      .Case<tosa::ReduceSumOp, tosa::ReduceProductOp, tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
            tosa::ReduceMinOp>([&](Operation *op) -> std::optional<PaddingNeeds> {
        if (rule.factor(f).kind != FactorKind::Reduction)
          return PaddingNeeds();
        return maskOperand(rule, f, 0,
                           getExactNeutral(rule.results().front().reduction, getElementTypeOrSelf(op->getOperand(0))));
      })
      .Case([&](tosa::MatMulOp op) { return getNeedsOfTosaProduct(op, rule, f, op.getAZp(), op.getBZp()); })
      .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::TransposeConv2DOp>(
          [&](auto op) { return getNeedsOfTosaProduct(op, rule, f, op.getInputZp(), op.getWeightZp()); })
      .Case([&](tosa::IntDivOp op) {
        return maskOperand(rule, f, 1, IntegerAttr::get(getElementTypeOrSelf(op.getInput2()), 1));
      })
      .Case<tosa::GatherOp, tosa::ScatterOp>([&](Operation *op) {
        return maskOperand(rule, f, 1, getNeutralElement(ReductionKind::Sum, getElementTypeOrSelf(op->getOperand(1))));
      })
      .Default([&](Operation *) -> std::optional<PaddingNeeds> {
        if (rule.factor(f).kind != FactorKind::Parallel)
          return std::nullopt;
        return PaddingNeeds();
      });
}
