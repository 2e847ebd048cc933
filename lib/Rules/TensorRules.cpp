//===- TensorRules.cpp - Views, slices and creation of tensors ------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reshapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

void addScalarOperands(ShardingRule &rule, ValueRange operands) {
  for (Value operand : operands)
    rule.addOperand(operand);
}

/// Sizes of a slice of `tensor`, local for sharded dims that it covers.
SmallVector<int64_t> getLocalSizes(ArrayRef<int64_t> sizes, Value tensor, const TensorTypes &types) {
  SmallVector<int64_t> result(sizes);
  ArrayRef<int64_t> global = types.getGlobal(tensor).getShape();
  ArrayRef<int64_t> local = types.getLocal(tensor).getShape();
  for (auto [d, size] : llvm::enumerate(result))
    if (local[d] != global[d] && size == global[d])
      size = local[d];
  return result;
}

/// tensor.empty and tensor.splat: any layout.
template <typename OpTy> struct ConstantLikeModel : LaneWiseModel<ConstantLikeModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    addScalarOperands(rule, op->getOperands());
    rule.addResult(op->getResult(0));
    for (int64_t size : getShape(op->getResult(0)))
      rule.addDim({rule.addFactor(size)});
    return rule;
  }
};

/// cast, bitcast: equal shapes. A size that is known on one side only is used.
template <typename OpTy> struct CastModel : LaneWiseModel<CastModel<OpTy>, OpTy> {
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
template <typename OpTy> struct ReassociationModel : LaneWiseModel<ReassociationModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    auto reshape = cast<OpTy>(op);
    constexpr bool expands = std::is_same_v<OpTy, tensor::ExpandShapeOp>;
    Value expanded = expands ? Value(reshape.getResult()) : Value(reshape.getSrc());
    ShardingRule rule;
    SmallVector<int32_t> factors;
    for (int64_t size : getShape(expanded))
      factors.push_back(rule.addFactor(size));
    // The position of digits in a dim with a factor of unknown size is unknown, unless that is all of the dim.
    SmallVector<SmallVector<int32_t>> groups;
    for (auto &indices : reshape.getReassociationIndices()) {
      SmallVector<int32_t> &group = groups.emplace_back();
      bool isStatic = true;
      for (int64_t i : indices) {
        group.push_back(factors[i]);
        isStatic &= !ShapedType::isDynamic(rule.factor(factors[i]).size);
      }
      if (!isStatic && group.size() > 1) {
        for (int32_t f : group)
          rule.setKind(f, FactorKind::Replicated);
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
  void makeLocal(Operation *op, const TensorTypes &types) const {
    if constexpr (std::is_same_v<OpTy, tensor::ExpandShapeOp>) {
      auto expand = cast<OpTy>(op);
      expand.setStaticOutputShape(getLocalSizes(expand.getStaticOutputShape(), expand.getResult(), types));
    }
  }
};

/// The elements in row-major order, split at common boundaries of both shapes. The shape
/// operand is replaced by the local shape.
struct ReshapeModel : LaneWiseModel<ReshapeModel, tensor::ReshapeOp> {
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
  void makeLocal(Operation *op, const TensorTypes &types) const {
    auto reshape = cast<tensor::ReshapeOp>(op);
    Value result = reshape.getResult();
    if (!isa<RankedTensorType>(result.getType()) || types.getGlobal(result) == types.getLocal(result))
      return;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(reshape.getShape().getType());
    SmallVector<Attribute> sizes;
    for (int64_t size : types.getLocal(result).getShape())
      sizes.push_back(b.getIntegerAttr(type.getElementType(), size));
    Value shape = arith::ConstantOp::create(b, op->getLoc(), DenseElementsAttr::get(type, sizes));
    reshape.getShapeMutable().assign(shape);
  }
};

/// The relation of a slice of static length and stride to a dim.
struct SlicedDim {
  bool isStatic = false;
  int64_t length = 0, stride = 1;
  std::optional<int64_t> offset; // else known at run time only
  bool full = false;             // the full dim
  bool aligned = false;          // one of several equal slices, of more than one element
  bool isShort = false;          // one element, or few that are not such a slice
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
    dim.offset = 0; // for any offset
  dim.full = dim.offset == 0 && *length == size && *stride == 1;
  dim.aligned = dim.offset && *stride == 1 && *length > 1 && size % *length == 0 && *dim.offset % *length == 0;
  constexpr int64_t few = 16; // ratio of the dim to the slice
  dim.isShort = dim.offset && !dim.full && (*length == 1 || (!dim.aligned && *length <= size / few));
  return dim;
}

/// A dim that is sliced fully is one factor of both. One of several equal slices is the
/// minor factor of the dim, the major one stays unsharded: sharded as `{3, "x"}`, every
/// device has its shard of each third. A slice of few elements is computed by every device
/// from the elements that it owns. One at an index that is known at run time only is a window
/// that is the same for all devices. Any other slice reads windows along the result, and so
/// do the first two with `spmd.windows`: for a dim that is sharded otherwise, this moves less
/// data.
struct ExtractSliceModel : LaneWiseModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    ShardingRule rule;
    rule.addOperand(slice.getSource());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int32_t> result;
    for (auto [d, size] : llvm::enumerate(slice.getSourceType().getShape())) {
      SlicedDim dim = getSlicedDim(slice, d, size);
      if (!dim.offset && dim.isStatic && size > 1) {
        // The owners send the slice.
        rule.addWindows(rule.addFactor(size, FactorKind::Indexed), {0, 0, (dim.length - 1) * dim.stride + 1});
        if (!dropped.test(d))
          result.push_back(-1);
        continue;
      }
      bool fixesIndex = dim.isShort && !op->hasAttr(kWindowsAttr);
      bool isIndexed =
          dim.isStatic && fixesIndex && size > 1 && slice.getSourceType().getElementType().isIntOrIndexOrFloat();
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
        rule.addDim({rule.addFactor(size / length, FactorKind::Replicated), f});
      else
        rule.addWindows(f, {dim.stride, *dim.offset, 1});
      result.push_back(f);
    }
    addScalarOperands(rule, op->getOperands().drop_front());
    rule.addResult(slice.getResult());
    rule.addDims(result);
    return rule;
  }
  WindowForm getWindowForm(Operation *) const { return WindowForm::Slice; }
  /// A sharded dim is covered fully, or by one of several equal slices.
  void makeLocal(Operation *op, const TensorTypes &types) const {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    ArrayRef<int64_t> global = types.getGlobal(slice.getSource()).getShape();
    ArrayRef<int64_t> local = types.getLocal(slice.getSource()).getShape();
    ArrayRef<int64_t> result = types.getLocal(slice.getResult()).getShape();
    ArrayRef<int64_t> all = types.getGlobal(slice.getResult()).getShape();
    SmallVector<int64_t> offsets(slice.getStaticOffsets()), sizes(slice.getStaticSizes());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (unsigned d = 0, next = 0; d < sizes.size(); ++d) {
      if (dropped.test(d))
        continue;
      if (!ShapedType::isDynamic(sizes[d]))
        sizes[d] = result[next];
      bool isSharded = result[next] != all[next]; // else every shard takes what it owns
      ++next;
      if (isSharded && local[d] != global[d] && offsets[d] > 0)
        offsets[d] = offsets[d] / (global[d] / local[d]);
    }
    slice.setStaticOffsets(offsets);
    slice.setStaticSizes(sizes);
  }
};

/// The factors are the dims of the destination. The source is read in windows
/// along those that it covers partially.
struct InsertSliceModel : LaneWiseModel<InsertSliceModel, tensor::InsertSliceOp> {
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
      // One element, or a slice at an index that is known at run time: all devices have it,
      // and write the elements that they own.
      bool isShared = dim.isStatic && !dim.full && (dim.length == 1 || !dim.offset);
      if (isShared)
        rule.setHasWindows(f);
      if (dropped.test(d))
        continue;
      if (isShared || !dim.isStatic)
        rule.addDim({});
      else if (dim.full)
        rule.addDim(f);
      else // element i is written to index offset + stride * i
        rule.addWindows(f, {1, dim.stride - 1 - *dim.offset, 2 - dim.stride, dim.stride});
    }
    rule.addOperand(slice.getDest());
    rule.addDims(factors);
    addScalarOperands(rule, op->getOperands().drop_front(2));
    rule.addResult(slice.getResult());
    rule.addDims(factors);
    return rule;
  }
  WindowForm getWindowForm(Operation *) const { return WindowForm::Insert; }
  void makeLocal(Operation *op, const TensorTypes &types) const {
    auto slice = cast<tensor::InsertSliceOp>(op);
    slice.setStaticSizes(getLocalSizes(slice.getStaticSizes(), slice.getDest(), types));
  }
};

/// The slice of a shared output that an iteration of scf.forall writes; the loop has the
/// results. Only dims that are written fully may be sharded.
struct ParallelInsertSliceModel : LaneWiseModel<ParallelInsertSliceModel, tensor::ParallelInsertSliceOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto slice = cast<tensor::ParallelInsertSliceOp>(op);
    ShardingRule rule;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int32_t> sliceFactors, destFactors;
    for (auto [d, size] : llvm::enumerate(slice.getDestType().getShape())) {
      bool isFull = getSlicedDim(slice, d, size).full && !dropped.test(d);
      destFactors.push_back(isFull ? rule.addFactor(size) : -1);
      if (!dropped.test(d))
        sliceFactors.push_back(destFactors.back());
    }
    rule.addOperand(slice.getSource());
    rule.addDims(sliceFactors);
    rule.addOperand(slice.getDest());
    rule.addDims(destFactors);
    addScalarOperands(rule, op->getOperands().drop_front(2));
    return rule;
  }
  void makeLocal(Operation *op, const TensorTypes &types) const {
    auto slice = cast<tensor::ParallelInsertSliceOp>(op);
    slice.setStaticSizes(getLocalSizes(slice.getStaticSizes(), slice.getDest(), types));
  }
};

/// The factors are the dims of the result. A padded dim of the source is read in
/// windows if the padding is one value. The body may read other tensors at the computed
/// index; then padded dims stay unsharded.
struct PadModel : ShardingRuleOpInterface::ExternalModel<PadModel, tensor::PadOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto pad = cast<tensor::PadOp>(op);
    ShardingRule rule;
    ArrayRef<int64_t> sourceShape = pad.getSourceType().getShape();
    ArrayRef<int64_t> resultShape = pad.getResultType().getShape();
    bool isConstant = pad.getConstantPaddingValue() != nullptr;
    for (int64_t size : resultShape)
      rule.addFactor(size);
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
        rule.setKind(d, FactorKind::Replicated);
        rule.addDim({});
      }
    }
    addScalarOperands(rule, op->getOperands().drop_front());
    addCapturedOperands(rule, op, resultShape);
    rule.addResult(pad.getResult());
    rule.addDims(llvm::to_vector(llvm::seq<int32_t>(0, resultShape.size())));
    return rule;
  }
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getBodyPaddingNeeds(op, rule, f);
  }
  /// Padding that a body computes per index is on unsharded dims.
  WindowForm getWindowForm(Operation *op) const {
    return cast<tensor::PadOp>(op).getConstantPaddingValue() ? WindowForm::Pad : WindowForm::InPlace;
  }
  PadForm getPadForm(Operation *op, OpBuilder &b) const {
    auto pad = cast<tensor::PadOp>(op);
    Value value = pad.getConstantPaddingValue();
    if (Operation *constant = value.getDefiningOp(); constant && op->isProperAncestor(constant))
      value = b.clone(*constant)->getResult(0);
    return {pad.getMixedLowPad(), pad.getMixedHighPad(), value};
  }
};

struct ConcatModel : LaneWiseModel<ConcatModel, tensor::ConcatOp> {
  ShardingRule getShardingRule(Operation *op) const { return getConcatRule(op, cast<tensor::ConcatOp>(op).getDim()); }
  WindowForm getWindowForm(Operation *) const { return WindowForm::Concat; }
};

} // namespace

ShardingRule spmd::getConcatRule(Operation *op, unsigned joined) {
  ShardingRule rule;
  ArrayRef<int64_t> shape = ::getShape(op->getResult(0));
  auto hasDim = [&](Value value) { return joined < shape.size() && ::getShape(value).size() == shape.size(); };
  if (op->getNumOperands() == 0 || !llvm::all_of(op->getOperands(), hasDim)) {
    rule.error = "getConcatRule joins dim " + std::to_string(joined) + ", expected operands that have it";
    return rule;
  }
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
                   d == joined && !isStatic ? FactorKind::Replicated : FactorKind::Parallel);
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
  int32_t operandFactor = areEqual ? rule.addFactor(op->getNumOperands(), FactorKind::Replicated) : -1;
  rule.addResult(op->getResult(0));
  for (int32_t d = 0; d < int32_t(shape.size()); ++d)
    if (d != int32_t(joined) || !areEqual)
      rule.addDim(d);
    else
      rule.addDim({operandFactor, d});
  return rule;
}

void spmd::registerTensorShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::EmptyOp::attachInterface<ConstantLikeModel<tensor::EmptyOp>>(*context);
    tensor::SplatOp::attachInterface<ConstantLikeModel<tensor::SplatOp>>(*context);
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
