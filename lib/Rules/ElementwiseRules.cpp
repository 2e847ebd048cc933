//===- ElementwiseRules.cpp - arith, math and constants on tensors --------===//

#include "shardkit/Rules/ShardingRule.h"

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// One factor per dim of the (first) tensor result.
SmallVector<int32_t> addResultFactors(ShardingRule &rule, Value result) {
  SmallVector<int32_t> factors;
  if (auto type = dyn_cast<RankedTensorType>(result.getType()))
    for (int64_t size : type.getShape())
      factors.push_back(rule.addFactor(size, ShapedType::isDynamic(size)
                                                 ? FactorKind::Whole
                                                 : FactorKind::Parallel));
  return factors;
}

/// Elementwise ops: all tensors have the shape of the result; a scalar operand
/// (the condition of a select) is shared.
ShardingRule getElementwiseRule(Operation *op) {
  ShardingRule rule;
  SmallVector<int32_t> factors = addResultFactors(rule, op->getResult(0));
  for (Value operand : op->getOperands()) {
    rule.addOperand(operand);
    if (isa<RankedTensorType>(operand.getType()))
      rule.addDims(factors);
  }
  for (Value result : op->getResults()) {
    rule.addResult(result);
    rule.addDims(factors);
  }
  return rule;
}

template <typename OpTy>
struct ElementwiseModel
    : ShardingRuleOpInterface::ExternalModel<ElementwiseModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    return getElementwiseRule(op);
  }
};

/// A splat takes any layout; other constants are whole and sliced.
struct ConstantModel
    : ShardingRuleOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    SmallVector<int32_t> factors = addResultFactors(rule, op->getResult(0));
    if (!isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue()))
      for (int32_t f : factors)
        rule.setKind(f, FactorKind::Whole);
    rule.addResult(op->getResult(0));
    rule.addDims(factors);
    return rule;
  }
};

template <typename OpTy> void attachIfElementwise(MLIRContext *context) {
  if constexpr (OpTy::template hasTrait<OpTrait::Elementwise>())
    OpTy::template attachInterface<ElementwiseModel<OpTy>>(*context);
}

template <typename... OpTys> void attachElementwise(MLIRContext *context) {
  (attachIfElementwise<OpTys>(context), ...);
}

} // namespace

void spmd::registerElementwiseShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SPMDDialect *) {
    WithShardingConstraintOp::attachInterface<
        ElementwiseModel<WithShardingConstraintOp>>(*context);
    ReshardOp::attachInterface<ElementwiseModel<ReshardOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
    arith::ConstantOp::attachInterface<ConstantModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, complex::ComplexDialect *) {
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Complex/IR/ComplexOps.cpp.inc"
        >(context);
  });
}
