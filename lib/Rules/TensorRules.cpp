//===- TensorRules.cpp - Views, slices and creation of tensors ------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

FactorKind parallelIfStatic(int64_t size) {
  return ShapedType::isDynamic(size) ? FactorKind::Whole : FactorKind::Parallel;
}

void addScalarOperands(ShardingRule &rule, ValueRange operands) {
  for (Value operand : operands)
    rule.addOperand(operand);
}

/// tensor.empty and tensor.splat: any layout.
template <typename OpTy> struct CreationModel : ShardingRuleOpInterface::ExternalModel<CreationModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    addScalarOperands(rule, op->getOperands());
    rule.addResult(op->getResult(0));
    for (int64_t size : getShape(op->getResult(0)))
      rule.addDim({rule.addFactor(size)});
    return rule;
  }
};

/// cast, bitcast: the same shape in and out. Where a size is known on one side
/// only, it is the one.
template <typename OpTy> struct CastModel : ShardingRuleOpInterface::ExternalModel<CastModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    SmallVector<int32_t> factors;
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (source && result)
      for (auto [in, out] : llvm::zip(source.getShape(), result.getShape()))
        factors.push_back(rule.addFactor(ShapedType::isDynamic(out) ? in : out));
    rule.addOperand(op->getOperand(0));
    if (source)
      for (size_t d = 0; d < source.getShape().size(); ++d)
        rule.addDim(factors.empty() ? ArrayRef<int32_t>() : ArrayRef<int32_t>(factors[d]));
    rule.addResult(op->getResult(0));
    if (result)
      for (size_t d = 0; d < result.getShape().size(); ++d)
        rule.addDim(factors.empty() ? ArrayRef<int32_t>() : ArrayRef<int32_t>(factors[d]));
    return rule;
  }
};

/// expand_shape and collapse_shape: a factor per dim of the expanded side; the
/// collapsed dims are products of them.
template <typename OpTy>
struct ReassociationModel : ShardingRuleOpInterface::ExternalModel<ReassociationModel<OpTy>, OpTy> {
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
struct ReshapeModel : ShardingRuleOpInterface::ExternalModel<ReshapeModel, tensor::ReshapeOp> {
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

/// How a slice of static length and stride takes a dim.
struct SlicedDim {
  bool isStatic = false;
  int64_t length = 0, stride = 1;
  std::optional<int64_t> offset; // else it is known when the program runs
  bool full = false;             // all of it
  bool aligned = false;          // one of several equal parts, of more than one element
  bool isShort = false;          // one element, or few that are no such part
};

SlicedDim getSlicedDim(OffsetSizeAndStrideOpInterface op, unsigned d, int64_t size) {
  SlicedDim dim;
  auto length = getConstantIntValue(op.getMixedSizes()[d]);
  auto stride = getConstantIntValue(op.getMixedStrides()[d]);
  if (ShapedType::isDynamic(size) || !length || !stride || *stride < 1)
    return dim;
  dim.isStatic = true;
  dim.length = *length;
  dim.stride = *stride;
  dim.offset = getConstantIntValue(op.getMixedOffsets()[d]);
  if (*length == size && *stride == 1)
    dim.offset = 0; // whatever computes it
  dim.full = dim.offset == 0 && *length == size && *stride == 1;
  dim.aligned = dim.offset && *stride == 1 && *length > 1 && size % *length == 0 && *dim.offset % *length == 0;
  constexpr int64_t few = 16; // times less than the dim has
  dim.isShort = dim.offset && !dim.full && (*length == 1 || (!dim.aligned && *length <= size / few));
  return dim;
}

/// A dim that is sliced fully is one factor of both. One of several equal parts is
/// the minor factor of the dim, the major one stays whole: cut as `{3, "x"}`, every
/// shard has its part of each third. Of few elements, and where the place is known at run
/// time only, every shard takes what it owns. Any other slice reads windows, and so do the
/// first two where `spmd.windows` says so: of a dim that is cut otherwise, less moves.
struct ExtractSliceModel : ShardingRuleOpInterface::ExternalModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    ShardingRule rule;
    rule.addOperand(slice.getSource());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int32_t> result;
    for (auto [d, size] : llvm::enumerate(slice.getSourceType().getShape())) {
      SlicedDim dim = getSlicedDim(slice, d, size);
      bool isPlace = !dim.offset || (dim.isShort && !op->hasAttr(kWindowsAttr));
      bool isIndexed =
          dim.isStatic && isPlace && size > 1 && slice.getSourceType().getElementType().isIntOrIndexOrFloat();
      if (isIndexed)
        rule.addDim(rule.addFactor(size, FactorKind::Indexed));
      if (isIndexed || dropped.test(d) || !dim.isStatic || !dim.offset) {
        if (!isIndexed)
          rule.addDim({});
        if (!dropped.test(d))
          result.push_back(-1);
        continue;
      }
      int64_t length = slice.getType().getDimSize(result.size());
      int32_t f = rule.addFactor(length);
      if (dim.full)
        rule.addDim(f);
      else if (dim.aligned && !op->hasAttr(kWindowsAttr))
        rule.addDim({rule.addFactor(size / length, FactorKind::Whole), f});
      else
        rule.addWindows(f, {dim.stride, *dim.offset, 1});
      result.push_back(f);
    }
    addScalarOperands(rule, op->getOperands().drop_front());
    rule.addResult(slice.getResult());
    rule.addDims(result);
    return rule;
  }
};

/// The factors are the dims of the destination. The source is read in windows
/// along those that it covers in part.
struct InsertSliceModel : ShardingRuleOpInterface::ExternalModel<InsertSliceModel, tensor::InsertSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::InsertSliceOp>(op);
    ShardingRule rule;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int32_t> factors;
    rule.addOperand(slice.getSource());
    for (auto [d, size] : llvm::enumerate(slice.getDestType().getShape())) {
      SlicedDim dim = getSlicedDim(slice, d, size);
      int32_t f = dim.isStatic ? rule.addFactor(size) : -1;
      factors.push_back(f);
      // One place, or a part at a place that is known at run time: all have it, and
      // write of it what is theirs.
      bool isShared = dim.isStatic && !dim.full && (dim.length == 1 || !dim.offset);
      if (isShared)
        rule.setHasWindows(f);
      if (dropped.test(d))
        continue;
      if (isShared || !dim.isStatic)
        rule.addDim({});
      else if (dim.full)
        rule.addDim(f);
      else // element i is written to place offset + stride * i
        rule.addWindows(f, {1, dim.stride - 1 - *dim.offset, 2 - dim.stride, dim.stride});
    }
    rule.addOperand(slice.getDest());
    rule.addDims(factors);
    addScalarOperands(rule, op->getOperands().drop_front(2));
    rule.addResult(slice.getResult());
    rule.addDims(factors);
    return rule;
  }
};

/// What an iteration of scf.forall writes of a shared output; nothing comes out of
/// that op, the loop does it. Only dims that are written fully may be cut.
struct ParallelInsertSliceModel
    : ShardingRuleOpInterface::ExternalModel<ParallelInsertSliceModel, tensor::ParallelInsertSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::ParallelInsertSliceOp>(op);
    ShardingRule rule;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int32_t> part, whole;
    for (auto [d, size] : llvm::enumerate(slice.getDestType().getShape())) {
      bool full = getSlicedDim(slice, d, size).full && !dropped.test(d);
      whole.push_back(full ? rule.addFactor(size) : -1);
      if (!dropped.test(d))
        part.push_back(whole.back());
    }
    rule.addOperand(slice.getSource());
    rule.addDims(part);
    rule.addOperand(slice.getDest());
    rule.addDims(whole);
    addScalarOperands(rule, op->getOperands().drop_front(2));
    return rule;
  }
};

/// The factors are the dims of the result. A padded dim of the source is read in
/// windows, where the padding is one value; the body may read other tensors at the
/// place that is computed, and then padded dims stay whole.
struct PadModel : ShardingRuleOpInterface::ExternalModel<PadModel, tensor::PadOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto pad = cast<tensor::PadOp>(op);
    ShardingRule rule;
    ArrayRef<int64_t> sourceShape = pad.getSourceType().getShape();
    ArrayRef<int64_t> resultShape = pad.getResultType().getShape();
    bool isConstant = pad.getConstantPaddingValue() != nullptr;
    for (int64_t size : resultShape)
      rule.addFactor(size, parallelIfStatic(size));
    rule.addOperand(pad.getSource());
    for (int32_t d = 0; d < int32_t(sourceShape.size()); ++d) {
      int64_t size = sourceShape[d];
      auto low = getConstantIntValue(pad.getMixedLowPad()[d]);
      auto high = getConstantIntValue(pad.getMixedHighPad()[d]);
      if (low == 0 && high == 0 && size == resultShape[d]) {
        rule.addDim(d);
      } else if (isConstant && low && high && *low >= 0 && *high >= 0 && !ShapedType::isDynamic(size)) {
        rule.addWindows(d, {1, -*low, 1});
      } else {
        rule.setKind(d, FactorKind::Whole);
        rule.addDim({});
      }
    }
    addScalarOperands(rule, op->getOperands().drop_front());
    addCapturedOperands(rule, op, resultShape);
    rule.addResult(pad.getResult());
    rule.addDims(llvm::to_vector(llvm::seq<int32_t>(0, resultShape.size())));
    return rule;
  }
};

struct ConcatModel : ShardingRuleOpInterface::ExternalModel<ConcatModel, tensor::ConcatOp> {
  ShardingRule getShardingRule(Operation *op) const { return getConcatRule(op, cast<tensor::ConcatOp>(op).getDim()); }
};

} // namespace

ShardingRule spmd::getConcatRule(Operation *op, unsigned joined) {
  ShardingRule rule;
  ArrayRef<int64_t> shape = ::getShape(op->getResult(0));
  int64_t length = ::getShape(op->getOperand(0))[joined];
  bool isStatic = !ShapedType::isDynamic(shape[joined]), areEqual = isStatic;
  for (Value operand : op->getOperands()) {
    isStatic &= !ShapedType::isDynamic(::getShape(operand)[joined]);
    areEqual &= ::getShape(operand)[joined] == length;
  }
  bool isAlone = op->getNumOperands() == 1;
  areEqual &= length > 1 && !isAlone;
  for (auto [d, size] : llvm::enumerate(shape))
    rule.addFactor(d == joined && areEqual ? length : size,
                   d == joined && !isStatic ? FactorKind::Whole : parallelIfStatic(size));
  int64_t start = 0;
  for (Value operand : op->getOperands()) {
    rule.addOperand(operand);
    for (int32_t d = 0; d < int32_t(shape.size()); ++d)
      if (d != int32_t(joined) || areEqual || isAlone)
        rule.addDim(d);
      else if (isStatic)
        rule.addWindows(d, {1, -start, 1});
      else
        rule.addDim({});
    start += ::getShape(operand)[joined];
  }
  int32_t part = areEqual ? rule.addFactor(op->getNumOperands(), FactorKind::Whole) : -1;
  rule.addResult(op->getResult(0));
  for (int32_t d = 0; d < int32_t(shape.size()); ++d)
    if (d != int32_t(joined) || !areEqual)
      rule.addDim(d);
    else
      rule.addDim({part, d});
  return rule;
}

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
    tensor::InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    tensor::ParallelInsertSliceOp::attachInterface<ParallelInsertSliceModel>(*context);
    tensor::PadOp::attachInterface<PadModel>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
  });
}
