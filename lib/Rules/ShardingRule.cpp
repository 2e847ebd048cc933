//===- ShardingRule.cpp - What all rules share ----------------------------===//

#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

#include "shardkit/Rules/ShardingRuleOpInterface.cpp.inc"

static ShardingRule getFallbackRule(Operation *op) {
  ShardingRule rule;
  rule.isFallback = true;
  auto addDims = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        rule.addDim({});
  };
  for (Value operand : op->getOperands()) {
    rule.addOperand(operand);
    addDims(operand);
  }
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, captured);
  for (Value value : captured) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    rule.addOperand(value);
    addDims(value);
  }
  for (Value result : op->getResults()) {
    rule.addResult(result);
    addDims(result);
  }
  return rule;
}

/// What holds whatever the op: a factor that one tensor has on two dims (a
/// diagonal) cannot be cut, nor can the dims of a tensor without elements.
static void keepUncuttableWhole(ShardingRule &rule) {
  SmallVector<int32_t> seen;
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    auto type = dyn_cast<RankedTensorType>(tensor.value.getType());
    if (!type)
      continue;
    bool empty = hasNoElements(type);
    seen.clear();
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int32_t f : rule.dimFactors(tensor, d)) {
        if (empty || llvm::is_contained(seen, f))
          rule.setKind(f, FactorKind::Whole);
        seen.push_back(f);
      }
  }
}

ShardingRule spmd::getShardingRule(Operation *op) {
  auto iface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!iface)
    return getFallbackRule(op);
  ShardingRule rule = iface.getShardingRule();
  keepUncuttableWhole(rule);
  return rule;
}

bool spmd::hasNoElements(RankedTensorType type) {
  return llvm::is_contained(type.getShape(), 0);
}

TypedAttr spmd::getNeutralElement(ReductionKind kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &sem = floatType.getFloatSemantics();
    auto inf = [&](bool negative) {
      return b.getFloatAttr(type, APFloat::getInf(sem, negative));
    };
    switch (kind) {
    case ReductionKind::Prod:
      return b.getFloatAttr(type, 1.0);
    case ReductionKind::Max:
      return inf(true);
    case ReductionKind::Min:
      return inf(false);
    case ReductionKind::MaxNum:
    case ReductionKind::MinNum:
      return b.getFloatAttr(type, APFloat::getNaN(sem));
    default:
      return b.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  APInt value(width, 0);
  switch (kind) {
  case ReductionKind::Prod:
    value = APInt(width, 1);
    break;
  case ReductionKind::And:
  case ReductionKind::UMin:
    value = APInt::getAllOnes(width);
    break;
  case ReductionKind::Max:
    value = APInt::getSignedMinValue(width);
    break;
  case ReductionKind::Min:
    value = APInt::getSignedMaxValue(width);
    break;
  default:
    break;
  }
  return b.getIntegerAttr(type, value);
}

bool spmd::isNeutralFill(Value value, ReductionKind kind) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  if (isa<tensor::EmptyOp>(def))
    return true;
  Attribute scalar;
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    matchPattern(fill.value(), m_Constant(&scalar));
  } else if (auto splat = dyn_cast<tensor::SplatOp>(def)) {
    matchPattern(splat.getInput(), m_Constant(&scalar));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      scalar = dense.getSplatValue<Attribute>();
  }
  Type element = getElementTypeOrSelf(value.getType());
  if (!scalar || !element.isIntOrIndexOrFloat())
    return false;
  TypedAttr neutral = getNeutralElement(kind, element);
  if (scalar == neutral)
    return true;
  // -0.0 and 0.0 are both neutral for a sum up to the sign of an all-zero sum:
  // only the exact neutral is accepted for anything else.
  return false;
}

std::optional<ReductionKind> spmd::matchCombiner(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  bool boolean = op->getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<arith::AddFOp, complex::AddOp, arith::SubFOp, complex::SubOp>(
          [](auto) { return ReductionKind::Sum; })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto) {
        return boolean ? ReductionKind::Xor : ReductionKind::Sum;
      })
      .Case<arith::MulFOp>([](auto) { return ReductionKind::Prod; })
      .Case<arith::MulIOp>([&](auto) {
        return boolean ? ReductionKind::And : ReductionKind::Prod;
      })
      .Case<arith::MaximumFOp>([](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp>([](auto) { return ReductionKind::Min; })
      .Case<arith::MaxNumFOp>([](auto) { return ReductionKind::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return ReductionKind::MinNum; })
      // Signed, true is -1.
      .Case<arith::MaxSIOp>([&](auto) {
        return boolean ? ReductionKind::And : ReductionKind::Max;
      })
      .Case<arith::MinSIOp>([&](auto) {
        return boolean ? ReductionKind::Or : ReductionKind::Min;
      })
      .Case<arith::MaxUIOp>([&](auto) {
        return boolean ? ReductionKind::Or : ReductionKind::UMax;
      })
      .Case<arith::MinUIOp>([&](auto) {
        return boolean ? ReductionKind::And : ReductionKind::UMin;
      })
      .Case<arith::AndIOp>([](auto) { return ReductionKind::And; })
      .Case<arith::OrIOp>([](auto) { return ReductionKind::Or; })
      .Case<arith::XOrIOp>([](auto) { return ReductionKind::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

void spmd::registerShardingRules(DialectRegistry &registry) {
  registerLinalgShardingRules(registry);
  registerElementwiseShardingRules(registry);
  registerTensorShardingRules(registry);
}
