//===- TensorRules.cpp - Views, slices and creation of tensors ------------===//

#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

FactorKind parallelIfStatic(int64_t size) {
  return ShapedType::isDynamic(size) ? FactorKind::Whole : FactorKind::Parallel;
}

void addScalarOperands(ShardingRule &rule, ValueRange operands) {
  for (Value operand : operands)
    rule.addOperand(operand);
}

/// tensor.empty and tensor.splat: any layout.
template <typename OpTy>
struct CreationModel
    : ShardingRuleOpInterface::ExternalModel<CreationModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    addScalarOperands(rule, op->getOperands());
    rule.addResult(op->getResult(0));
    for (int64_t size : getShape(op->getResult(0)))
      rule.addDim({rule.addFactor(size, parallelIfStatic(size))});
    return rule;
  }
};

/// cast, bitcast: the same shape in and out; a dim whose static size changes
/// stays whole.
template <typename OpTy>
struct CastModel
    : ShardingRuleOpInterface::ExternalModel<CastModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    SmallVector<int32_t> factors;
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (source && result)
      for (auto [in, out] : llvm::zip(source.getShape(), result.getShape()))
        factors.push_back(rule.addFactor(
            out, in == out ? parallelIfStatic(out) : FactorKind::Whole));
    rule.addOperand(op->getOperand(0));
    if (source)
      for (size_t d = 0; d < source.getShape().size(); ++d)
        rule.addDim(factors.empty() ? ArrayRef<int32_t>()
                                    : ArrayRef<int32_t>(factors[d]));
    rule.addResult(op->getResult(0));
    if (result)
      for (size_t d = 0; d < result.getShape().size(); ++d)
        rule.addDim(factors.empty() ? ArrayRef<int32_t>()
                                    : ArrayRef<int32_t>(factors[d]));
    return rule;
  }
};

/// expand_shape and collapse_shape: a factor per dim of the expanded side; the
/// collapsed dims are products of them.
template <typename OpTy>
struct ReassociationModel
    : ShardingRuleOpInterface::ExternalModel<ReassociationModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    auto reshape = cast<OpTy>(op);
    constexpr bool expands = std::is_same_v<OpTy, tensor::ExpandShapeOp>;
    Value expanded = expands ? Value(reshape.getResult()) : Value(reshape.getSrc());
    ShardingRule rule;
    SmallVector<int32_t> factors;
    for (int64_t size : getShape(expanded))
      factors.push_back(rule.addFactor(size, parallelIfStatic(size)));
    // A digit of a dim with a factor of unknown size cannot be placed.
    SmallVector<SmallVector<int32_t>> groups;
    for (auto &indices : reshape.getReassociationIndices()) {
      SmallVector<int32_t> &group = groups.emplace_back();
      bool isStatic = true;
      for (int64_t i : indices) {
        group.push_back(factors[i]);
        isStatic &= !ShapedType::isDynamic(rule.factor(factors[i]).size);
      }
      if (!isStatic) {
        for (int32_t f : group)
          rule.setKind(f, FactorKind::Whole);
        group.clear();
      }
    }
    auto addExpanded = [&] { rule.addDims(factors); };
    auto addCollapsed = [&] {
      for (auto &group : groups)
        rule.addDim(group);
    };
    rule.addOperand(op->getOperand(0));
    if (expands)
      addCollapsed();
    else
      addExpanded();
    addScalarOperands(rule, op->getOperands().drop_front());
    rule.addResult(op->getResult(0));
    if (expands)
      addExpanded();
    else
      addCollapsed();
    return rule;
  }
};

/// The elements in row-major order, cut where both shapes have a border. The
/// operand that says the shape is replaced by the local one.
struct ReshapeModel
    : ShardingRuleOpInterface::ExternalModel<ReshapeModel, tensor::ReshapeOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto reshape = cast<tensor::ReshapeOp>(op);
    ShardingRule rule;
    auto from = dyn_cast<RankedTensorType>(reshape.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(reshape.getResult().getType());
    ReshapeFactors factors(rule, from && to ? from.getShape() : ArrayRef<int64_t>(),
                           from && to ? to.getShape() : ArrayRef<int64_t>());
    rule.addOperand(reshape.getSource());
    for (int64_t d = 0; from && d < from.getRank(); ++d)
      rule.addDim(to ? ArrayRef<int32_t>(factors.from[d]) : ArrayRef<int32_t>());
    rule.addOperand(reshape.getShape());
    rule.addDim({});
    rule.addResult(reshape.getResult());
    for (int64_t d = 0; to && d < to.getRank(); ++d)
      rule.addDim(from ? ArrayRef<int32_t>(factors.to[d]) : ArrayRef<int32_t>());
    return rule;
  }
};

/// Describes the dims of `whole` (the larger tensor) and of `part`, its slice:
/// a dim that the slice covers fully is one factor of both.
struct SliceFactors {
  SmallVector<int32_t> whole, part;

  SliceFactors(ShardingRule &rule, OffsetSizeAndStrideOpInterface op,
               ArrayRef<int64_t> wholeShape, RankedTensorType partType,
               const llvm::SmallBitVector &dropped) {
    for (auto [d, size] : llvm::enumerate(wholeShape)) {
      auto is = [](OpFoldResult value, int64_t expected) {
        return getConstantIntValue(value) == expected;
      };
      bool full = !ShapedType::isDynamic(size) &&
                  is(op.getMixedOffsets()[d], 0) &&
                  is(op.getMixedSizes()[d], size) &&
                  is(op.getMixedStrides()[d], 1);
      whole.push_back(full ? rule.addFactor(size) : -1);
      if (!dropped.test(d))
        part.push_back(whole.back());
      else
        whole.back() = -1;
    }
  }
};

struct ExtractSliceModel
    : ShardingRuleOpInterface::ExternalModel<ExtractSliceModel,
                                             tensor::ExtractSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    ShardingRule rule;
    SliceFactors factors(rule, slice, slice.getSourceType().getShape(),
                         slice.getType(), slice.getDroppedDims());
    rule.addOperand(slice.getSource());
    rule.addDims(factors.whole);
    addScalarOperands(rule, op->getOperands().drop_front());
    rule.addResult(slice.getResult());
    rule.addDims(factors.part);
    return rule;
  }
};

/// Also what an iteration of scf.forall writes of a shared output; nothing comes
/// out of that op, the loop does it.
template <typename OpTy>
struct InsertSliceModel : ShardingRuleOpInterface::ExternalModel<InsertSliceModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<OpTy>(op);
    ShardingRule rule;
    SliceFactors factors(rule, slice, slice.getDestType().getShape(),
                         slice.getSourceType(), slice.getDroppedDims());
    rule.addOperand(slice.getSource());
    rule.addDims(factors.part);
    rule.addOperand(slice.getDest());
    rule.addDims(factors.whole);
    addScalarOperands(rule, op->getOperands().drop_front(2));
    for (Value result : op->getResults()) {
      rule.addResult(result);
      rule.addDims(factors.whole);
    }
    return rule;
  }
};

/// Dims without padding are shared; the body may read other tensors at the place
/// that is computed.
struct PadModel : ShardingRuleOpInterface::ExternalModel<PadModel, tensor::PadOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto pad = cast<tensor::PadOp>(op);
    ShardingRule rule;
    SmallVector<int32_t> source, result;
    ArrayRef<int64_t> sourceShape = pad.getSourceType().getShape();
    ArrayRef<int64_t> resultShape = pad.getResultType().getShape();
    for (auto [d, size] : llvm::enumerate(resultShape)) {
      bool unpadded = sourceShape[d] == size &&
                      getConstantIntValue(pad.getMixedLowPad()[d]) == 0 &&
                      getConstantIntValue(pad.getMixedHighPad()[d]) == 0;
      result.push_back(rule.addFactor(
          size, unpadded ? parallelIfStatic(size) : FactorKind::Whole));
      source.push_back(unpadded ? result.back() : -1);
    }
    rule.addOperand(pad.getSource());
    rule.addDims(source);
    addScalarOperands(rule, op->getOperands().drop_front());
    addCapturedOperands(rule, op, resultShape);
    rule.addResult(pad.getResult());
    rule.addDims(result);
    return rule;
  }
};

struct ConcatModel
    : ShardingRuleOpInterface::ExternalModel<ConcatModel, tensor::ConcatOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto concat = cast<tensor::ConcatOp>(op);
    ShardingRule rule;
    SmallVector<int32_t> factors;
    for (auto [d, size] : llvm::enumerate(concat.getResultType().getShape()))
      factors.push_back(d == concat.getDim() ? -1
                                             : rule.addFactor(size, parallelIfStatic(size)));
    for (Value operand : op->getOperands()) {
      rule.addOperand(operand);
      rule.addDims(factors);
    }
    rule.addResult(concat.getResult());
    rule.addDims(factors);
    return rule;
  }
};

} // namespace

void spmd::registerTensorShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::EmptyOp::attachInterface<CreationModel<tensor::EmptyOp>>(*context);
    tensor::SplatOp::attachInterface<CreationModel<tensor::SplatOp>>(*context);
    tensor::CastOp::attachInterface<CastModel<tensor::CastOp>>(*context);
    tensor::BitcastOp::attachInterface<CastModel<tensor::BitcastOp>>(*context);
    tensor::ReshapeOp::attachInterface<ReshapeModel>(*context);
    tensor::ExpandShapeOp::attachInterface<ReassociationModel<tensor::ExpandShapeOp>>(*context);
    tensor::CollapseShapeOp::attachInterface<ReassociationModel<tensor::CollapseShapeOp>>(*context);
    tensor::ExtractSliceOp::attachInterface<ExtractSliceModel>(*context);
    tensor::InsertSliceOp::attachInterface<InsertSliceModel<tensor::InsertSliceOp>>(*context);
    tensor::ParallelInsertSliceOp::attachInterface<InsertSliceModel<tensor::ParallelInsertSliceOp>>(*context);
    tensor::PadOp::attachInterface<PadModel>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
  });
}
