//===- Reductions.cpp - Neutral elements and combiners ------------------===//

#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spmd;

TypedAttr spmd::getNeutralElement(ReductionKind kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &sem = floatType.getFloatSemantics();
    auto inf = [&](bool negative) { return b.getFloatAttr(type, APFloat::getInf(sem, negative)); };
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

TypedAttr spmd::getExactNeutral(ReductionKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type); floatType && kind == ReductionKind::Sum)
    return FloatAttr::get(floatType, APFloat::getZero(floatType.getFloatSemantics(), true));
  return getNeutralElement(kind, type);
}

Value spmd::createExactNeutral(OpBuilder &b, Location loc, ReductionKind kind, Type type) {
  auto complexType = dyn_cast<ComplexType>(type);
  if (!complexType)
    return arith::ConstantOp::create(b, loc, getExactNeutral(kind, type));
  Type component = complexType.getElementType();
  Attribute imaginary = getExactNeutral(ReductionKind::Sum, component);
  return complex::ConstantOp::create(b, loc, type, b.getArrayAttr({getExactNeutral(kind, component), imaginary}));
}

Attribute spmd::getFillElement(Value value) {
  Operation *def = value.getDefiningOp();
  while (isa_and_present<WithShardingConstraintOp, ReshardOp>(def))
    def = def->getOperand(0).getDefiningOp();
  Attribute scalar;
  if (!def)
    return scalar;
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    matchPattern(fill.value(), m_Constant(&scalar));
  } else if (auto splat = dyn_cast<tensor::SplatOp>(def)) {
    matchPattern(splat.getInput(), m_Constant(&scalar));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      scalar = dense.getSplatValue<Attribute>();
  } else if (auto generic = dyn_cast<linalg::GenericOp>(def)) {
    // A broadcast constant, as in lowered StableHLO.
    if (generic.getNumDpsInputs() == 1 && generic->getNumResults() == 1 &&
        generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0))
      return getFillElement(generic.getDpsInputs().front());
  }
  return scalar;
}

/// For a sum of floats both zeros are: +0.0 up to the sign of a sum of zeros.
static bool isNeutral(Attribute scalar, ReductionKind kind, Type type) {
  return scalar == getNeutralElement(kind, type) || scalar == getExactNeutral(kind, type);
}

bool spmd::isNeutralFill(Value value, ReductionKind kind) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  Attribute scalar = getFillElement(value);
  Type element = getElementTypeOrSelf(value.getType());
  if (!scalar)
    return false;
  if (auto complexType = dyn_cast<ComplexType>(element)) {
    auto components = dyn_cast<ArrayAttr>(scalar);
    Type component = complexType.getElementType();
    return components && components.size() == 2 && isNeutral(components[0], kind, component) &&
           isNeutral(components[1], ReductionKind::Sum, component);
  }
  return element.isIntOrIndexOrFloat() && isNeutral(scalar, kind, element);
}

std::optional<ReductionKind> spmd::matchCombiner(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  bool boolean = op->getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<arith::AddFOp, complex::AddOp, arith::SubFOp, complex::SubOp>([](auto) { return ReductionKind::Sum; })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto) { return boolean ? ReductionKind::Xor : ReductionKind::Sum; })
      .Case<arith::MulFOp>([](auto) { return ReductionKind::Prod; })
      .Case<arith::MulIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::Prod; })
      .Case<arith::MaximumFOp>([](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp>([](auto) { return ReductionKind::Min; })
      .Case<arith::MaxNumFOp>([](auto) { return ReductionKind::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return ReductionKind::MinNum; })
      // Signed, true is -1.
      .Case<arith::MaxSIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::Max; })
      .Case<arith::MinSIOp>([&](auto) { return boolean ? ReductionKind::Or : ReductionKind::Min; })
      .Case<arith::MaxUIOp>([&](auto) { return boolean ? ReductionKind::Or : ReductionKind::UMax; })
      .Case<arith::MinUIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::UMin; })
      .Case<arith::AndIOp>([](auto) { return ReductionKind::And; })
      .Case<arith::OrIOp>([](auto) { return ReductionKind::Or; })
      .Case<arith::XOrIOp>([](auto) { return ReductionKind::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}
