//===- TensorIndexRules.cpp - Tensors read or made element by element -----===//

#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

void addWholeDims(ShardingRule &rule, Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t d = 0; d < type.getRank(); ++d)
      rule.addDim({});
}

/// extract, insert, from_elements: tensors stay whole.
template <typename OpTy>
struct WholeModel
    : ShardingRuleOpInterface::ExternalModel<WholeModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    for (Value operand : op->getOperands()) {
      rule.addOperand(operand);
      addWholeDims(rule, operand);
    }
    for (Value result : op->getResults()) {
      rule.addResult(result);
      addWholeDims(rule, result);
    }
    return rule;
  }
};

/// dim, rank: a scalar that does not depend on elements. A static size is made a
/// constant by partition; a dynamic dim stays whole as everywhere.
template <typename OpTy>
struct ShapeQueryModel
    : ShardingRuleOpInterface::ExternalModel<ShapeQueryModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    Value source = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(source.getType());
    bool any = type && type.hasStaticShape();
    if constexpr (std::is_same_v<OpTy, tensor::DimOp>)
      any &= cast<OpTy>(op).getConstantIndex().has_value();
    rule.addOperand(source);
    if (any)
      for (int64_t size : type.getShape())
        rule.addDim({rule.addFactor(size)});
    else
      addWholeDims(rule, source);
    for (Value operand : op->getOperands().drop_front())
      rule.addOperand(operand);
    rule.addResult(op->getResult(0));
    return rule;
  }
};

/// The result's dims are free; captured tensors follow where they are read at
/// the place that is computed.
struct GenerateModel
    : ShardingRuleOpInterface::ExternalModel<GenerateModel, tensor::GenerateOp> {
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

/// Rows of the source picked by coordinates: one result row per coordinate
/// tuple. The dims that coordinates address stay whole.
struct GatherModel
    : ShardingRuleOpInterface::ExternalModel<GatherModel, tensor::GatherOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto gather = cast<tensor::GatherOp>(op);
    ShardingRule rule;
    ArrayRef<int64_t> source = getShape(gather.getSource());
    ArrayRef<int64_t> indices = getShape(gather.getIndices());
    ArrayRef<int64_t> gathered = gather.getGatherDims();
    SmallVector<int32_t> batch, slice, result;
    for (int64_t size : indices.drop_back())
      batch.push_back(rule.addFactor(size));
    bool keepsRank = getShape(gather.getResult()).size() ==
                     batch.size() + source.size();
    result = batch;
    for (auto [d, size] : llvm::enumerate(source)) {
      bool whole = llvm::is_contained(gathered, int64_t(d));
      slice.push_back(whole ? -1 : rule.addFactor(size));
      if (!whole || keepsRank)
        result.push_back(slice.back());
    }
    rule.addOperand(gather.getSource());
    rule.addDims(slice);
    rule.addOperand(gather.getIndices());
    rule.addDims(batch);
    rule.addDim({}); // the coordinates
    rule.addResult(gather.getResult());
    rule.addDims(result);
    return rule;
  }
};

/// Whole slices written at coordinates: the dims of a slice are free, the dims
/// that coordinates address and the rows written stay whole.
struct ScatterModel
    : ShardingRuleOpInterface::ExternalModel<ScatterModel, tensor::ScatterOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto scatter = cast<tensor::ScatterOp>(op);
    ShardingRule rule;
    ArrayRef<int64_t> dest = getShape(scatter.getDest());
    ArrayRef<int64_t> scattered = scatter.getScatterDims();
    size_t rows = getShape(scatter.getIndices()).size() - 1;
    bool keepsRank =
        getShape(scatter.getSource()).size() == rows + dest.size();
    SmallVector<int32_t> slice, source(rows, -1);
    for (auto [d, size] : llvm::enumerate(dest)) {
      bool whole = llvm::is_contained(scattered, int64_t(d));
      slice.push_back(whole ? -1 : rule.addFactor(size));
      if (!whole || keepsRank)
        source.push_back(slice.back());
    }
    rule.addOperand(scatter.getSource());
    rule.addDims(source);
    rule.addOperand(scatter.getDest());
    rule.addDims(slice);
    rule.addOperand(scatter.getIndices());
    addWholeDims(rule, scatter.getIndices());
    rule.addResult(scatter.getResult());
    rule.addDims(slice);
    return rule;
  }
};

} // namespace

void spmd::registerTensorIndexShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractOp::attachInterface<WholeModel<tensor::ExtractOp>>(*context);
    tensor::InsertOp::attachInterface<WholeModel<tensor::InsertOp>>(*context);
    tensor::FromElementsOp::attachInterface<WholeModel<tensor::FromElementsOp>>(*context);
    tensor::DimOp::attachInterface<ShapeQueryModel<tensor::DimOp>>(*context);
    tensor::RankOp::attachInterface<ShapeQueryModel<tensor::RankOp>>(*context);
    tensor::GenerateOp::attachInterface<GenerateModel>(*context);
    tensor::GatherOp::attachInterface<GatherModel>(*context);
    tensor::ScatterOp::attachInterface<ScatterModel>(*context);
  });
}
