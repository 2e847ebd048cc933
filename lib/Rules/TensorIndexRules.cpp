//===- TensorIndexRules.cpp - Tensors read or made element by element -----===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/PaddingNeeds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
template <typename OpTy> struct ReplicatedModel : LaneWiseModel<ReplicatedModel<OpTy>, OpTy> {
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
template <typename OpTy> struct ShapeQueryModel : LaneWiseModel<ShapeQueryModel<OpTy>, OpTy> {
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
  void makeLocal(Operation *op, const TensorTypes &types) const {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto dim = dyn_cast<tensor::DimOp>(op);
    std::optional<int64_t> d = dim ? dim.getConstantIndex() : std::nullopt;
    if (!type || !d || *d >= type.getRank())
      return;
    RankedTensorType global = types.getGlobal(dim.getSource());
    if (global == types.getLocal(dim.getSource()) || global.isDynamicDim(*d))
      return;
    OpBuilder b(op);
    dim.getResult().replaceAllUsesWith(arith::ConstantIndexOp::create(b, op->getLoc(), global.getDimSize(*d)));
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
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getBodyPaddingNeeds(op, rule, f);
  }
  WindowForm getWindowForm(Operation *op) const {
    return readsTensorsAtIndices(op) ? WindowForm::InPlace : WindowForm::None;
  }
};

/// gather, scatter.
template <typename OpTy> struct AddressingModel : ShardingRuleOpInterface::ExternalModel<AddressingModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return getAddressingRule(op, *getUpstreamAddressing(op)); }
  std::optional<Addressing> getAddressing(Operation *op) const { return getUpstreamAddressing(op); }
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
