//===- ElementwiseRules.cpp - Elementwise ops and constants ---------------===//
//
// Every op with the trait Elementwise, of any dialect,
// has the rule of this file.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Rules/PaddingNeeds.h"

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// One factor per dim of the (first) tensor result.
SmallVector<int32_t> addResultFactors(ShardingRule &rule, Value result) {
  SmallVector<int32_t> factors;
  if (auto type = dyn_cast<RankedTensorType>(result.getType()))
    for (int64_t size : type.getShape())
      factors.push_back(rule.addFactor(size));
  return factors;
}

template <typename OpTy> struct SameShapeModel : LaneWiseModel<SameShapeModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return getElementwiseShardingRule(op); }
};

/// A splat takes any layout; other constants are unsharded and sliced.
struct ConstantModel : LaneWiseModel<ConstantModel, arith::ConstantOp> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    SmallVector<int32_t> factors = addResultFactors(rule, op->getResult(0));
    if (!isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue()))
      for (int32_t f : factors)
        rule.setKind(f, FactorKind::Replicated);
    rule.addResult(op->getResult(0));
    rule.addDims(factors);
    return rule;
  }
};

} // namespace

ShardingRule spmd::getElementwiseShardingRule(Operation *op) {
  ShardingRule rule;
  SmallVector<int32_t> factors;
  if (op->getNumResults() > 0)
    factors = addResultFactors(rule, op->getResult(0));
  auto addTensorDims = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        rule.addDim(factors.empty() ? ArrayRef<int32_t>() : ArrayRef<int32_t>(factors[d]));
  };
  for (Value operand : op->getOperands()) {
    rule.addOperand(operand);
    addTensorDims(operand);
  }
  for (Value result : op->getResults()) {
    rule.addResult(result);
    addTensorDims(result);
  }
  return rule;
}

void spmd::registerElementwiseShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SPMDDialect *) {
    WithShardingConstraintOp::attachInterface<SameShapeModel<WithShardingConstraintOp>>(*context);
    ReshardOp::attachInterface<SameShapeModel<ReshardOp>>(*context);
    StageOutputOp::attachInterface<SameShapeModel<StageOutputOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::ConstantOp::attachInterface<ConstantModel>(*context);
  });
}
