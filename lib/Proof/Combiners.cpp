//===- Combiners.cpp - Reductions and their neutral elements -------------===//

#include "shardkit/Proof/Terms.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

ReductionKind proof::getKindOf(ReductionKind kind, Type type) {
  if (!type.isInteger(1))
    return kind;
  switch (kind) {
  case ReductionKind::Sum:
    return ReductionKind::Xor;
  case ReductionKind::Prod:
  case ReductionKind::Max: // of 0 and -1
  case ReductionKind::UMin:
    return ReductionKind::And;
  case ReductionKind::Min:
  case ReductionKind::UMax:
    return ReductionKind::Or;
  default:
    return kind;
  }
}

std::optional<ReductionKind> proof::getCombinerKind(StringRef name, Type type) {
  std::optional<ReductionKind> kind = llvm::StringSwitch<std::optional<ReductionKind>>(name)
                                          .Case("arith.addf", ReductionKind::Sum)
                                          .Case("arith.addi", ReductionKind::Sum)
                                          .Case("complex.add", ReductionKind::Sum)
                                          .Case("complex.mul", ReductionKind::Prod)
                                          .Case("arith.mulf", ReductionKind::Prod)
                                          .Case("arith.muli", ReductionKind::Prod)
                                          .Case("arith.andi", ReductionKind::And)
                                          .Case("arith.ori", ReductionKind::Or)
                                          .Case("arith.xori", ReductionKind::Xor)
                                          .Case("arith.maximumf", ReductionKind::Max)
                                          .Case("arith.minimumf", ReductionKind::Min)
                                          .Case("arith.maxsi", ReductionKind::Max)
                                          .Case("arith.minsi", ReductionKind::Min)
                                          .Case("arith.maxui", ReductionKind::UMax)
                                          .Case("arith.minui", ReductionKind::UMin)
                                          .Case("arith.maxnumf", ReductionKind::MaxNum)
                                          .Case("arith.minnumf", ReductionKind::MinNum)
                                          .Default(std::nullopt);
  return kind ? std::optional(getKindOf(*kind, type)) : std::nullopt;
}

TypedAttr proof::getNeutral(ReductionKind kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    bool hasInfinity = APFloat::semanticsHasInf(semantics), hasNaN = APFloat::semanticsHasNaN(semantics);
    switch (kind) {
    case ReductionKind::Sum:
      return FloatAttr::get(floatType, APFloat::getZero(semantics, /*Negative=*/true));
    case ReductionKind::Prod:
      return FloatAttr::get(floatType, APFloat::getOne(semantics));
    case ReductionKind::Max:
      return hasInfinity ? FloatAttr::get(floatType, APFloat::getInf(semantics, /*Negative=*/true)) : FloatAttr();
    case ReductionKind::Min:
      return hasInfinity ? FloatAttr::get(floatType, APFloat::getInf(semantics)) : FloatAttr();
    case ReductionKind::MaxNum:
    case ReductionKind::MinNum:
      return hasNaN ? FloatAttr::get(floatType, APFloat::getNaN(semantics)) : FloatAttr();
    default:
      return {};
    }
  }
  if (!type.isIntOrIndex())
    return {};
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto get = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMax:
    return get(APInt::getZero(width));
  case ReductionKind::Prod:
    return get(APInt(width, 1));
  case ReductionKind::And:
  case ReductionKind::UMin:
    return get(APInt::getAllOnes(width));
  case ReductionKind::Max:
    return get(APInt::getSignedMinValue(width));
  case ReductionKind::Min:
    return get(APInt::getSignedMaxValue(width));
  default:
    return {};
  }
}

bool proof::isNeutral(ReductionKind kind, Attribute value) {
  // A complex number.
  if (auto parts = dyn_cast_or_null<ArrayAttr>(value); parts && kind == ReductionKind::Sum)
    return llvm::all_of(parts, [&](Attribute part) { return isNeutral(kind, part); });
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  if (!typed)
    return false;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (kind == ReductionKind::Sum)
      return number.getValue().isZero();
    if (kind == ReductionKind::MaxNum || kind == ReductionKind::MinNum)
      return number.getValue().isNaN();
  }
  TypedAttr neutral = getNeutral(kind, typed.getType());
  return neutral && neutral == typed;
}

TypedAttr proof::getNeutral(StringRef name, Type type) {
  std::optional<ReductionKind> kind = getCombinerKind(name, type);
  return kind ? getNeutral(*kind, type) : TypedAttr();
}
