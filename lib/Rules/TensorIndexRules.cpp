//===- TensorIndexRules.cpp - Tensors read or made element by element -----===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

void addUnshardedDims(ShardingRule &rule, Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t d = 0; d < type.getRank(); ++d)
      rule.addDim({});
}

/// extract, insert, from_elements: tensors stay unsharded.
template <typename OpTy> struct ReplicatedModel : ShardingRuleOpInterface::ExternalModel<ReplicatedModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    for (Value operand : op->getOperands()) {
      rule.addOperand(operand);
      addUnshardedDims(rule, operand);
    }
    for (Value result : op->getResults()) {
      rule.addResult(result);
      addUnshardedDims(rule, result);
    }
    return rule;
  }
};

/// dim, rank: a scalar that does not depend on elements. Partition replaces it by the global
/// size if the dim is known.
template <typename OpTy> struct ShapeQueryModel : ShardingRuleOpInterface::ExternalModel<ShapeQueryModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    Value source = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(source.getType());
    bool any = bool(type);
    if constexpr (std::is_same_v<OpTy, tensor::DimOp>)
      any &= cast<OpTy>(op).getConstantIndex().has_value();
    rule.addOperand(source);
    if (any)
      for (int64_t size : type.getShape())
        rule.addDim({rule.addFactor(size)});
    else
      addUnshardedDims(rule, source);
    for (Value operand : op->getOperands().drop_front())
      rule.addOperand(operand);
    rule.addResult(op->getResult(0));
    return rule;
  }
};

/// The dims of the result are parallel; captured tensors have the same factors where they
/// are read at the index of the computed element.
struct GenerateModel : ShardingRuleOpInterface::ExternalModel<GenerateModel, tensor::GenerateOp> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    ArrayRef<int64_t> shape = getShape(op->getResult(0));
    SmallVector<int32_t> factors;
    for (int64_t size : shape)
      factors.push_back(rule.addFactor(size));
    for (Value operand : op->getOperands())
      rule.addOperand(operand);
    addCapturedOperands(rule, op, shape);
    rule.addResult(op->getResult(0));
    rule.addDims(factors);
    return rule;
  }
};

/// gather, scatter.
template <typename OpTy> struct AddressingModel : ShardingRuleOpInterface::ExternalModel<AddressingModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return getAddressingRule(op, *getAddressing(op)); }
};

} // namespace

void spmd::registerTensorIndexShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractOp::attachInterface<ReplicatedModel<tensor::ExtractOp>>(*context);
    tensor::InsertOp::attachInterface<ReplicatedModel<tensor::InsertOp>>(*context);
    tensor::FromElementsOp::attachInterface<ReplicatedModel<tensor::FromElementsOp>>(*context);
    tensor::DimOp::attachInterface<ShapeQueryModel<tensor::DimOp>>(*context);
    tensor::RankOp::attachInterface<ShapeQueryModel<tensor::RankOp>>(*context);
    tensor::GenerateOp::attachInterface<GenerateModel>(*context);
    tensor::GatherOp::attachInterface<AddressingModel<tensor::GatherOp>>(*context);
    tensor::ScatterOp::attachInterface<AddressingModel<tensor::ScatterOp>>(*context);
  });
}
