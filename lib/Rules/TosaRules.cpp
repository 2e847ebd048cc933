//===- TosaRules.cpp - tosa ops with tensor results -----------------------===//
//
// Elementwise ops broadcast dims of size 1. Shapes that ops take as constants
// (tosa.const_shape) are made local by partition. Control flow, variables,
// custom and block-scaled ops have no rule.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/TosaWindows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Shape of a ranked tensor; empty for other values.
int64_t getRank(Value value) { return getShape(value).size(); }

bool allRanked(Operation *op) {
  return llvm::none_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                       llvm::IsaPred<UnrankedTensorType>);
}

/// Adds an operand or result with a factor (or -1) per dim.
struct RuleBuilder {
  ShardingRule rule;

  int32_t factor(int64_t size, FactorKind kind = FactorKind::Parallel) { return rule.addFactor(size, kind); }
  SmallVector<int32_t> factorsOf(Value value) {
    SmallVector<int32_t> factors;
    for (int64_t size : getShape(value))
      factors.push_back(factor(size));
    return factors;
  }
  void operand(Value value, ArrayRef<int32_t> factors) {
    rule.addOperand(value);
    rule.addDims(factors);
  }
  void result(Value value, ArrayRef<int32_t> factors) {
    rule.addResult(value);
    rule.addDims(factors);
  }
  /// Scalars, zero points, tables, shapes: every dim is unsharded.
  void unshardedOperand(Value value) { operand(value, SmallVector<int32_t>(getRank(value), -1)); }
  void unshardedOperands(ValueRange values) {
    for (Value value : values)
      unshardedOperand(value);
  }
  /// Same dims as the factors, of which those of size 1 are broadcast.
  void broadcastOperand(Value value, ArrayRef<int32_t> factors) {
    SmallVector<int32_t> factorPerDim(getRank(value), -1);
    if (factorPerDim.size() == factors.size())
      for (auto [d, size] : llvm::enumerate(getShape(value)))
        if (factors[d] >= 0 && size == rule.factor(factors[d]).size)
          factorPerDim[d] = factors[d];
    operand(value, factorPerDim);
  }
  /// Operand 0 of a convolution or pooling, whose dims with a window follow new
  /// factors of the result.
  void windowedOperand(Operation *op, ArrayRef<int32_t> factors, MutableArrayRef<int32_t> result) {
    OpWindows windows = getOpWindows(op);
    rule.addOperand(op->getOperand(0));
    for (auto [d, f] : llvm::enumerate(factors)) {
      auto it = llvm::find_if(windows.dims, [&](const OpWindow &w) { return w.dim == d; });
      if (it == windows.dims.end()) {
        rule.addDim(f < 0 ? ArrayRef<int32_t>() : ArrayRef<int32_t>(f));
        continue;
      }
      result[d] = factor(getShape(op->getResult(0))[d]);
      rule.addWindows(result[d], it->window);
      rule.setGranule(result[d], it->granule);
    }
  }
  /// A bias per channel, or one for all; added once if a reduction is sharded.
  void bias(Value value, ArrayRef<int32_t> channel) {
    ShardingRule::Tensor &tensor = rule.addOperand(value);
    tensor.role = OperandRole::Init;
    tensor.result = 0;
    int64_t channels = 1;
    for (int32_t f : channel)
      channels *= rule.factor(f).size;
    for (int64_t size : getShape(value))
      rule.addDim(size == channels ? channel : ArrayRef<int32_t>());
  }
};

/// True for types whose partial sums can be combined by a collective.
FactorKind reductionIfSummable(Value result) {
  Type element = getElementTypeOrSelf(result.getType());
  return element.isF16() || element.isBF16() || element.isF32() || element.isSignlessInteger(32)
             ? FactorKind::Reduction
             : FactorKind::Replicated;
}

using RuleFn = ShardingRule (*)(Operation *);

ShardingRule getReplicatedRule(Operation *op) {
  RuleBuilder b;
  b.unshardedOperands(op->getOperands());
  for (Value result : op->getResults())
    b.result(result, SmallVector<int32_t>(getRank(result), -1));
  return std::move(b.rule);
}

/// Operands with the dims of the result or size 1.
ShardingRule getBroadcastRule(Operation *op) {
  RuleBuilder b;
  SmallVector<int32_t> factors = b.factorsOf(op->getResult(0));
  for (Value operand : op->getOperands())
    b.broadcastOperand(operand, factors);
  b.result(op->getResult(0), factors);
  return std::move(b.rule);
}

/// The first operand has the shape of the result, others are unsharded: negate and
/// mul take zero points and shifts, table its table.
template <unsigned N> ShardingRule getFirstOperandsRule(Operation *op) {
  RuleBuilder b;
  SmallVector<int32_t> factors = b.factorsOf(op->getResult(0));
  for (Value operand : op->getOperands().take_front(N))
    b.broadcastOperand(operand, factors);
  b.unshardedOperands(op->getOperands().drop_front(N));
  b.result(op->getResult(0), factors);
  return std::move(b.rule);
}

/// Multipliers and shifts per channel follow the last dim.
ShardingRule getRescaleRule(Operation *op) {
  auto rescale = cast<tosa::RescaleOp>(op);
  RuleBuilder b;
  SmallVector<int32_t> factors = b.factorsOf(rescale.getOutput());
  b.operand(rescale.getInput(), factors);
  for (Value scale : {rescale.getMultiplier(), rescale.getShift()}) {
    if (rescale.getPerChannel() && !factors.empty())
      b.broadcastOperand(scale, factors.back());
    else
      b.unshardedOperand(scale);
  }
  // Upstream lowers a non-constant multiplier of one element with an empty shift: no shard
  // may have one channel.
  if (rescale.getPerChannel() && !factors.empty())
    b.rule.setGranule(factors.back(), 2);
  b.unshardedOperands(op->getOperands().drop_front(3));
  b.result(rescale.getOutput(), factors);
  return std::move(b.rule);
}

/// A splat takes any layout; other constants are unsharded and sliced.
ShardingRule getConstRule(Operation *op) {
  if (!isa<SplatElementsAttr>(cast<tosa::ConstOp>(op).getValues()))
    return getReplicatedRule(op);
  RuleBuilder b;
  b.result(op->getResult(0), b.factorsOf(op->getResult(0)));
  return std::move(b.rule);
}

ShardingRule getMatMulRule(Operation *op) {
  auto matmul = cast<tosa::MatMulOp>(op);
  RuleBuilder b;
  ArrayRef<int64_t> shapeA = getShape(matmul.getA());
  int32_t n = b.factor(shapeA[0]), h = b.factor(shapeA[1]),
          c = b.factor(shapeA[2], reductionIfSummable(matmul.getOutput())), w = b.factor(getShape(matmul.getB())[2]);
  b.operand(matmul.getA(), {n, h, c});
  b.operand(matmul.getB(), {n, c, w});
  b.unshardedOperands({matmul.getAZp(), matmul.getBZp()});
  b.result(matmul.getOutput(), {n, h, w});
  b.rule.isContraction = true;
  return std::move(b.rule);
}

/// Batch and output channels are free, input channels are summed; dims in between are
/// read in windows. Covers conv2d, conv3d and transpose_conv2d.
ShardingRule getConvRule(Operation *op) {
  RuleBuilder b;
  Value input = op->getOperand(0), weight = op->getOperand(1), result = op->getResult(0);
  int64_t rank = getRank(result);
  int32_t n = b.factor(getShape(result)[0]), oc = b.factor(getShape(result)[rank - 1]),
          ic = b.factor(getShape(input)[rank - 1], reductionIfSummable(result));
  SmallVector<int32_t> in(rank, -1), kernel(rank, -1), out(rank, -1);
  in[0] = out[0] = n;
  kernel[0] = out[rank - 1] = oc;
  in[rank - 1] = kernel[rank - 1] = ic;
  b.windowedOperand(op, in, out);
  b.operand(weight, kernel);
  b.bias(op->getOperand(2), oc);
  b.unshardedOperands(op->getOperands().drop_front(3));
  b.result(result, out);
  b.rule.isContraction = true;
  return std::move(b.rule);
}

/// Output channels are channels times multipliers.
ShardingRule getDepthwiseRule(Operation *op) {
  RuleBuilder b;
  Value input = op->getOperand(0), weight = op->getOperand(1), result = op->getResult(0);
  int32_t n = b.factor(getShape(input)[0]), c = b.factor(getShape(weight)[2]), m = b.factor(getShape(weight)[3]);
  SmallVector<int32_t> out = {n, -1, -1};
  b.windowedOperand(op, {n, -1, -1, c}, out);
  b.operand(weight, {-1, -1, c, m});
  b.bias(op->getOperand(2), {c, m});
  b.unshardedOperands(op->getOperands().drop_front(3));
  b.rule.addResult(result);
  b.rule.addDims(out);
  b.rule.addDim({c, m});
  b.rule.isContraction = true;
  return std::move(b.rule);
}

/// avg_pool2d, max_pool2d: batch and channels are free, other dims are read in
/// windows. Resize: they stay unsharded.
ShardingRule getPoolRule(Operation *op) {
  RuleBuilder b;
  Value result = op->getResult(0);
  SmallVector<int32_t> factors = {b.factor(getShape(result)[0]), -1, -1, b.factor(getShape(result)[3])};
  b.windowedOperand(op, SmallVector<int32_t>(factors), factors);
  b.unshardedOperands(op->getOperands().drop_front());
  b.result(result, factors);
  return std::move(b.rule);
}

/// fft2d, rfft2d: the batch is free.
ShardingRule getFFTRule(Operation *op) {
  RuleBuilder b;
  SmallVector<int32_t> factors = {b.factor(getShape(op->getResult(0))[0]), -1, -1};
  for (Value operand : op->getOperands())
    b.operand(operand, factors);
  for (Value result : op->getResults())
    b.result(result, factors);
  return std::move(b.rule);
}

template <typename OpTy> std::optional<ReductionKind> getReduction(OpTy op) {
  auto ignoresNan = [](auto op) {
    return op.getNanMode() == tosa::NanPropagationMode::IGNORE && isa<FloatType>(getElementTypeOrSelf(op.getType()));
  };
  if constexpr (std::is_same_v<OpTy, tosa::ReduceSumOp>)
    return ReductionKind::Sum;
  else if constexpr (std::is_same_v<OpTy, tosa::ReduceProductOp>)
    return ReductionKind::Prod;
  else if constexpr (std::is_same_v<OpTy, tosa::ReduceAllOp>)
    return ReductionKind::And;
  else if constexpr (std::is_same_v<OpTy, tosa::ReduceAnyOp>)
    return ReductionKind::Or;
  else if constexpr (std::is_same_v<OpTy, tosa::ReduceMaxOp>)
    return ignoresNan(op) ? ReductionKind::MaxNum : ReductionKind::Max;
  else if constexpr (std::is_same_v<OpTy, tosa::ReduceMinOp>)
    return ignoresNan(op) ? ReductionKind::MinNum : ReductionKind::Min;
  return std::nullopt; // argmax: ordered
}

bool isReducible(Type element) {
  return isa<Float16Type, BFloat16Type, Float32Type>(element) || element.isSignlessInteger(1) ||
         element.isSignlessInteger(8) || element.isSignlessInteger(16) || element.isSignlessInteger(32);
}

/// One axis is reduced, others are free.
template <typename OpTy> ShardingRule getAxisRule(Operation *op) {
  auto axisOp = cast<OpTy>(op);
  RuleBuilder b;
  std::optional<ReductionKind> reduction = getReduction<OpTy>(axisOp);
  Value first = op->getOperand(0), result = op->getResult(0);
  SmallVector<int32_t> in, out;
  for (auto [d, size] : llvm::enumerate(getShape(first))) {
    bool isAxis = int64_t(d) == int64_t(axisOp.getAxis());
    if (!isAxis)
      in.push_back(b.factor(size));
    else if (reduction && isReducible(getElementTypeOrSelf(result.getType())))
      in.push_back(b.factor(size, FactorKind::Reduction));
    else
      in.push_back(-1);
    if (!isAxis)
      out.push_back(in.back());
    else if (!isa<tosa::ArgMaxOp>(op))
      out.push_back(-1);
  }
  for (Value operand : op->getOperands())
    b.operand(operand, in);
  ShardingRule::Tensor &tensor = b.rule.addResult(result);
  tensor.reduction = reduction.value_or(ReductionKind::Sum);
  b.rule.addDims(out);
  return std::move(b.rule);
}

ShardingRule getTosaConcatRule(Operation *op) { return getConcatRule(op, cast<tosa::ConcatOp>(op).getAxis()); }

ShardingRule getTransposeRule(Operation *op) {
  auto transpose = cast<tosa::TransposeOp>(op);
  RuleBuilder b;
  SmallVector<int32_t> in = b.factorsOf(transpose.getInput1()), out;
  for (int32_t p : transpose.getPerms())
    out.push_back(in[p]);
  b.operand(transpose.getInput1(), in);
  b.result(transpose.getOutput(), out);
  return std::move(b.rule);
}

ShardingRule getTosaReshapeRule(Operation *op) {
  auto reshape = cast<tosa::ReshapeOp>(op);
  ShardingRule rule;
  ReshapeFactors factors(rule, getShape(reshape.getInput1()), getShape(reshape.getOutput()));
  rule.addOperand(reshape.getInput1());
  for (auto &dim : factors.from)
    rule.addDim(dim);
  rule.addOperand(reshape.getShape());
  rule.addResult(reshape.getOutput());
  for (auto &dim : factors.to)
    rule.addDim(dim);
  return rule;
}

/// Entries of a constant shape; empty for others.
SmallVector<int64_t> getConstShape(Value shape) {
  SmallVector<int64_t> values;
  if (auto constant = shape.getDefiningOp<tosa::ConstShapeOp>())
    for (const APInt &value : constant.getValues().getValues<APInt>())
      values.push_back(value.getSExtValue());
  return values;
}

/// The dim that is reversed is read in windows from its end.
ShardingRule getReverseRule(Operation *op) {
  auto reverse = cast<tosa::ReverseOp>(op);
  RuleBuilder b;
  SmallVector<int32_t> factors = b.factorsOf(reverse.getOutput());
  ArrayRef<int64_t> shape = getShape(reverse.getOutput());
  b.rule.addOperand(reverse.getInput1());
  for (int32_t d = 0; d < int32_t(shape.size()); ++d)
    if (d == int32_t(reverse.getAxis()) && factors[d] >= 0)
      b.rule.addWindows(factors[d], {-1, shape[d] - 1, 1});
    else
      b.rule.addDim(factors[d] < 0 ? ArrayRef<int32_t>() : ArrayRef<int32_t>(factors[d]));
  b.result(reverse.getOutput(), factors);
  return std::move(b.rule);
}

/// A dim that is equal on both sides is parallel, any other is read in windows.
ShardingRule getSliceRule(Operation *op) {
  auto slice = cast<tosa::SliceOp>(op);
  RuleBuilder b;
  SmallVector<int64_t> start = getConstShape(slice.getStart());
  ArrayRef<int64_t> in = getShape(slice.getInput1()), out = getShape(slice.getOutput());
  SmallVector<int32_t> factors;
  b.rule.addOperand(slice.getInput1());
  for (auto [d, size] : llvm::enumerate(out)) {
    bool known = d < start.size() && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(in[d]);
    factors.push_back(known ? b.factor(size) : -1);
    if (!known)
      b.rule.addDim({});
    else if (in[d] == size && start[d] == 0)
      b.rule.addDim(factors.back());
    else
      b.rule.addWindows(factors.back(), {1, start[d], 1});
  }
  b.unshardedOperands(op->getOperands().drop_front());
  b.result(slice.getOutput(), factors);
  return std::move(b.rule);
}

/// A dim that is equal on both sides is parallel.
ShardingRule getTileRule(Operation *op) {
  RuleBuilder b;
  Value input = op->getOperand(0), result = op->getResult(0);
  SmallVector<int32_t> factors;
  for (auto [in, out] : llvm::zip(getShape(input), getShape(result)))
    factors.push_back(in == out && !ShapedType::isDynamic(in) ? b.factor(in) : -1);
  b.operand(input, factors);
  b.unshardedOperands(op->getOperands().drop_front());
  b.result(result, factors);
  return std::move(b.rule);
}

/// A dim that is equal on both sides is parallel, a padded one is read in windows.
ShardingRule getPadRule(Operation *op) {
  RuleBuilder b;
  Value input = op->getOperand(0), result = op->getResult(0);
  SmallVector<int64_t> pad = getConstShape(op->getOperand(1));
  ArrayRef<int64_t> in = getShape(input), out = getShape(result);
  // Its value becomes a constant of arith, which has no unsigned integers.
  bool known = pad.size() == 2 * in.size() && !getElementTypeOrSelf(input.getType()).isUnsignedInteger();
  SmallVector<int32_t> factors;
  b.rule.addOperand(input);
  for (auto [d, size] : llvm::enumerate(out)) {
    bool same = known && pad[2 * d] == 0 && pad[2 * d + 1] == 0 && in[d] == size;
    bool canBeSharded = same || (known && !ShapedType::isDynamic(in[d]) && !ShapedType::isDynamic(size));
    factors.push_back(canBeSharded ? b.factor(size) : -1);
    if (!canBeSharded)
      b.rule.addDim({});
    else if (same)
      b.rule.addDim(factors.back());
    else
      b.rule.addWindows(factors.back(), {1, -pad[2 * d], 1});
  }
  b.unshardedOperands(op->getOperands().drop_front());
  b.result(result, factors);
  return std::move(b.rule);
}

ShardingRule getGatherRule(Operation *op) { return getAddressingRule(op, *getUpstreamAddressing(op)); }

/// Makes sizes in attributes and constant operands local.
void makeTosaLocal(Operation *, const TensorTypes &) {}

void makeTosaLocal(tosa::ConstOp constant, const TensorTypes &types) {
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValues()))
    constant.setValuesAttr(splat.resizeSplat(types.getLocal(constant)));
}

/// Replaces a constant shape by that of the local value.
void makeShapeLocal(OpOperand &shape, Value value, const TensorTypes &types) {
  if (!isa<RankedTensorType>(value.getType()) || types.getGlobal(value) == types.getLocal(value))
    return;
  OpBuilder b(shape.getOwner());
  auto type = cast<tosa::shapeType>(shape.get().getType());
  shape.set(tosa::ConstShapeOp::create(b, shape.getOwner()->getLoc(), type,
                                       b.getIndexTensorAttr(types.getLocal(value).getShape())));
}

void makeTosaLocal(tosa::ReshapeOp reshape, const TensorTypes &types) {
  makeShapeLocal(reshape.getShapeMutable(), reshape.getOutput(), types);
}

void makeTosaLocal(tosa::SliceOp slice, const TensorTypes &types) {
  makeShapeLocal(slice.getSizeMutable(), slice.getOutput(), types);
}

WindowForm getTosaWindowForm(Operation *op) {
  if (isa<tosa::PadOp>(op))
    return WindowForm::Pad;
  if (isa<tosa::ConcatOp>(op))
    return WindowForm::Concat;
  return isa<tosa::SliceOp, tosa::ReverseOp>(op) || !getOpWindows(op).dims.empty() ? WindowForm::InPlace
                                                                                   : WindowForm::None;
}

/// A slice starts at the first element of its window.
void makeTosaWindowLocal(tosa::SliceOp slice, const LocalWindow &window) {
  OpBuilder b(slice);
  auto constant = slice.getStart().getDefiningOp<tosa::ConstShapeOp>();
  SmallVector<int64_t> start = getConstShape(slice.getStart());
  start[window.dim] = 0;
  slice.getStartMutable().assign(
      tosa::ConstShapeOp::create(b, slice.getLoc(), constant.getType(), b.getIndexTensorAttr(start)));
}

void makeTosaWindowLocal(Operation *op, const LocalWindow &window) {
  if (window.operand != 0)
    return;
  for (const OpWindow &dim : getOpWindows(op).dims)
    if (dim.dim == window.dim)
      return setOpWindow(op, dim, window.chunk, window.window.size);
}

TypedAttr getTosaWindowPadding(Operation *op, unsigned operand, unsigned d) {
  OpWindows windows = getOpWindows(op);
  bool readsBeyond =
      operand == 0 && llvm::any_of(windows.dims, [&](const OpWindow &dim) { return dim.dim == d && dim.readsBeyond; });
  return readsBeyond ? windows.padding : TypedAttr();
}

PadForm getTosaPadForm(Operation *op, OpBuilder &b) {
  auto pad = cast<tosa::PadOp>(op);
  PadForm form;
  for (auto [i, size] : llvm::enumerate(getConstShape(pad.getPadding())))
    (i % 2 ? form.high : form.low).push_back(b.getIndexAttr(size));
  DenseElementsAttr value;
  if (matchPattern(pad.getPadConst(), m_Constant(&value)) && value.isSplat()) {
    form.padding = arith::ConstantOp::create(b, op->getLoc(), value.getSplatValue<TypedAttr>());
  } else {
    auto type = cast<RankedTensorType>(pad.getPadConst().getType());
    SmallVector<Value> first(type.getRank(), arith::ConstantIndexOp::create(b, op->getLoc(), 0));
    form.padding = tensor::ExtractOp::create(b, op->getLoc(), pad.getPadConst(), first);
  }
  return form;
}

template <typename OpTy, RuleFn fn>
struct TosaModel : ShardingRuleOpInterface::ExternalModel<TosaModel<OpTy, fn>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return allRanked(op) ? fn(op) : getReplicatedRule(op); }
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getTosaPaddingNeeds(op, rule, f);
  }
  void makeLocal(Operation *op, const TensorTypes &types) const { makeTosaLocal(cast<OpTy>(op), types); }
  WindowForm getWindowForm(Operation *op) const { return getTosaWindowForm(op); }
  void makeWindowLocal(Operation *op, const LocalWindow &window) const { makeTosaWindowLocal(cast<OpTy>(op), window); }
  TypedAttr getWindowPadding(Operation *op, unsigned operand, unsigned d) const {
    return getTosaWindowPadding(op, operand, d);
  }
  PadForm getPadForm(Operation *op, OpBuilder &b) const { return getTosaPadForm(op, b); }
  std::optional<Addressing> getAddressing(Operation *op) const { return getUpstreamAddressing(op); }
};

template <RuleFn fn, typename... OpTys> void attach(MLIRContext *context) {
  (OpTys::template attachInterface<TosaModel<OpTys, fn>>(*context), ...);
}

template <typename OpTy> void attachIfElementwise(MLIRContext *context) {
  // negate has zero points next to its operand.
  if constexpr (OpTy::template hasTrait<OpTrait::tosa::TosaElementwiseOperator>() &&
                !std::is_same_v<OpTy, tosa::NegateOp>)
    attach<getBroadcastRule, OpTy>(context);
}

template <typename... OpTys> void attachElementwise(MLIRContext *context) {
  (attachIfElementwise<OpTys>(context), ...);
}

template <typename... OpTys> void attachAxis(MLIRContext *context) {
  (attach<getAxisRule<OpTys>, OpTys>(context), ...);
}

} // namespace

void spmd::registerTosaShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    using namespace tosa;
    attachElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Tosa/IR/TosaOps.cpp.inc"
        >(context);
    attach<getFirstOperandsRule<1>, NegateOp, TableOp, CastOp, IdentityOp>(context);
    attach<getFirstOperandsRule<2>, MulOp>(context);
    attach<getRescaleRule, RescaleOp>(context);
    attach<getConstRule, ConstOp>(context);
    attach<getMatMulRule, MatMulOp>(context);
    attach<getConvRule, Conv2DOp, Conv3DOp, TransposeConv2DOp>(context);
    attach<getDepthwiseRule, DepthwiseConv2DOp>(context);
    attach<getPoolRule, AvgPool2dOp, MaxPool2dOp, ResizeOp>(context);
    attach<getFFTRule, FFT2dOp, RFFT2dOp>(context);
    attachAxis<ReduceSumOp, ReduceProductOp, ReduceAllOp, ReduceAnyOp, ReduceMaxOp, ReduceMinOp, ArgMaxOp>(context);
    attach<getTosaConcatRule, ConcatOp>(context);
    attach<getTransposeRule, TransposeOp>(context);
    attach<getTosaReshapeRule, ReshapeOp>(context);
    attach<getReverseRule, ReverseOp>(context);
    attach<getSliceRule, SliceOp>(context);
    attach<getPadRule, PadOp>(context);
    attach<getTileRule, TileOp>(context);
    attach<getGatherRule, GatherOp, ScatterOp>(context);
  });
}
