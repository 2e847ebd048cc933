//===- ShardingRule.cpp - What all rules share ----------------------------===//

#include "shardkit/Rules/ShardingRule.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/IndexedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::spmd;

#include "shardkit/Rules/ShardingRuleOpInterface.cpp.inc"

bool ShardingRule::hasFactor(const Tensor &t, int32_t f) const {
  for (unsigned d = 0; d < t.numDims; ++d)
    if (llvm::is_contained(dimFactors(t, d), f))
      return true;
  return false;
}

void ShardingRule::appendKey(SmallVectorImpl<int64_t> &key) const {
  key.append({isContraction | isFallback << 1, operandCount, int64_t(factors.size()), int64_t(tensors.size())});
  for (const Factor &factor : factors)
    key.append({factor.size, int64_t(factor.kind) | int64_t(factor.allowsPadding) << 8, factor.granule});
  for (const Tensor &tensor : tensors)
    key.append({int64_t(reinterpret_cast<uintptr_t>(tensor.type.getAsOpaquePointer())),
                int64_t(tensor.role) | int64_t(tensor.reduction) << 8 | int64_t(tensor.result) << 16, tensor.numDims});
  for (const Dim &dim : dims)
    key.push_back(int64_t(dim.count) << 32 | uint32_t(dim.window));
  for (const DimWindow &window : windows)
    key.append({window.stride, window.offset, window.length, window.divisor});
  for (int32_t f : factorIds)
    key.push_back(f);
}

Window DimWindow::ofChunk(int64_t chunk, int64_t count) const {
  int64_t reach = stride * (chunk - 1);
  if (divisor == 1)
    return {stride * chunk, offset + std::min<int64_t>(reach, 0), std::abs(reach) + length};
  assert(stride > 0 && "a factor that is finer than its dim runs forwards");
  auto floorDiv = [&](int64_t a) { return llvm::divideFloorSigned(a, divisor); };
  int64_t step = floorDiv(stride * chunk), begin = floorDiv(offset);
  // The accumulated difference of the steps is largest at the last shard.
  int64_t lastShift = (stride * chunk - step * divisor) * (count - 1);
  int64_t end = floorDiv(lastShift + reach + offset + length - 1);
  return {step, begin, std::max<int64_t>(end - begin + 1, 1)};
}

static ShardingRule getFallbackRule(Operation *op) {
  ShardingRule rule;
  rule.isFallback = true;
  auto addDims = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        rule.addDim({});
  };
  for (Value operand : op->getOperands()) {
    rule.addOperand(operand);
    addDims(operand);
  }
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, captured);
  for (Value value : captured) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    rule.addOperand(value);
    addDims(value);
  }
  for (Value result : op->getResults()) {
    rule.addResult(result);
    addDims(result);
  }
  return rule;
}

/// Replicates factors that no op can shard: those of two dims of one tensor (a diagonal),
/// those of a tensor without elements, and those whose product is not the size of a dim.
void spmd::replicateUnshardable(ShardingRule &rule) {
  SmallVector<int32_t> seen;
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    RankedTensorType type = tensor.type;
    if (!type)
      continue;
    bool empty = hasNoElements(type);
    seen.clear();
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensor, d);
      int64_t product = 1;
      for (int32_t f : factors)
        product *= rule.factor(f).size;
      bool isReplicated = empty || (rule.getWindow(tensor, d) ? type.isDynamicDim(d)
                                    : type.isDynamicDim(d)    ? factors.size() != 1
                                                              : product != type.getDimSize(d));
      for (int32_t f : factors) {
        if (isReplicated || llvm::is_contained(seen, f))
          rule.setKind(f, FactorKind::Replicated);
        seen.push_back(f);
      }
    }
  }
}

/// Dims of dynamic size can be sharded in ops that do not depend on the size, or if
/// partition makes the size local (DynamicSizes.h).
static bool allowsDynamicShards(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return !readsIndices(op);
  return isa<tensor::EmptyOp, tensor::SplatOp, tensor::CastOp, tensor::DimOp, tensor::RankOp, WithShardingConstraintOp,
             ReshardOp>(op) ||
         (op->hasTrait<OpTrait::Elementwise>() && !isa<tosa::TosaOp>(op));
}

static void replicateDynamic(ShardingRule &rule) {
  for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      if (tensor.type && tensor.type.isDynamicDim(d))
        for (int32_t f : rule.dimFactors(tensor, d))
          rule.setKind(f, FactorKind::Replicated);
  }
}

/// Units of a segment of a stored tensor (`spmd.segment`) stay within one shard.
static void setUnitGranules(ShardingRule &rule) {
  for (const ShardingRule::Tensor &tensor : rule.operands()) {
    auto arg = dyn_cast_or_null<BlockArgument>(tensor.value);
    auto func = arg ? dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp()) : FunctionOpInterface();
    auto segment = func && arg.getOwner()->isEntryBlock()
                       ? func.getArgAttrOfType<SegmentAttr>(arg.getArgNumber(), kSegmentAttr)
                       : SegmentAttr();
    if (!segment || segment.getUnit() == 1 || segment.getDim() >= tensor.numDims)
      continue;
    int64_t inside = 1; // elements per index of the factor
    for (int32_t f : llvm::reverse(rule.dimFactors(tensor, segment.getDim()))) {
      int64_t size = rule.factor(f).size, unit = segment.getUnit();
      if (inside < unit) {
        if (inside * size <= unit || unit % inside != 0)
          rule.setKind(f, FactorKind::Replicated);
        else
          rule.setGranule(f, std::lcm(rule.factor(f).granule, unit / inside));
      }
      inside *= size;
    }
  }
}

ShardingRule spmd::getBuiltinShardingRule(Operation *op) {
  ShardingRule rule;
  if (auto iface = dyn_cast<ShardingRuleOpInterface>(op))
    rule = iface.getShardingRule();
  else if (op->hasTrait<OpTrait::Elementwise>())
    rule = getElementwiseShardingRule(op);
  else
    return getFallbackRule(op);
  replicateUnshardable(rule);
  // A captured tensor may be read at indices that depend on its size.
  if (!allowsDynamicShards(op) || rule.numOperands() > op->getNumOperands())
    replicateDynamic(rule);
  setUnitGranules(rule);
  return rule;
}

//===----------------------------------------------------------------------===//
// Rules written on an op
//===----------------------------------------------------------------------===//

/// The rule in `spmd.sharding_rule`. Roles of operands (inits, tensors that are not read)
/// are those of the op. Invalid kinds become replicated: a parallel factor that a result
/// lacks, a reduction that a result has.
static ShardingRule getWrittenRule(Operation *op, RuleAttr attr) {
  ShardingRule builtin = getBuiltinShardingRule(op), rule;
  for (auto [size, kind] : llvm::zip(attr.getFactorSizes(), attr.getFactorKinds()))
    rule.addFactor(size, kind == RuleFactorKind::Parallel    ? FactorKind::Parallel
                         : kind == RuleFactorKind::Reduction ? FactorKind::Reduction
                                                             : FactorKind::Replicated);
  auto setReplicated = [&](ArrayRef<int64_t> factors) {
    for (int64_t f : factors)
      rule.setKind(f, FactorKind::Replicated);
  };
  unsigned written = attr.getNumOperands();
  for (auto [i, tensor] : llvm::enumerate(builtin.operands())) {
    ShardingRule::Tensor &operand = rule.addOperand(tensor.value);
    operand.role = tensor.role;
    operand.result = tensor.result;
    bool described = i < written && attr.getOperandRank(i) == int64_t(tensor.numDims);
    // A body reads captured tensors at the indices of its loops: dims that are read
    // otherwise stay unsharded.
    auto isLoop = [&](unsigned d) {
      ArrayRef<int32_t> factors = builtin.dimFactors(tensor, d);
      return !factors.empty() && !builtin.getWindow(tensor, d) &&
             builtin.factor(factors.front()).kind != FactorKind::Indexed;
    };
    bool captured = i >= op->getNumOperands() && getIndexedBody(op);
    for (unsigned d = 0; d < tensor.numDims; ++d) {
      ArrayRef<int64_t> factors = described ? attr.getOperandDim(i, d) : ArrayRef<int64_t>();
      if (captured && !isLoop(d)) {
        setReplicated(factors);
        factors = {};
      }
      rule.addDim(SmallVector<int32_t>(factors));
    }
  }
  for (auto [i, tensor] : llvm::enumerate(builtin.results())) {
    std::optional<ReductionKind> reduction;
    llvm::SmallBitVector has(attr.getNumFactors());
    for (unsigned d = 0; d < tensor.numDims; ++d)
      for (int64_t f : attr.getResultDim(i, d))
        has.set(f);
    for (int64_t f = 0; f < attr.getNumFactors(); ++f) {
      FactorKind kind = rule.factor(f).kind;
      if (kind == FactorKind::Parallel && !has.test(f))
        setReplicated(f);
      if (kind != FactorKind::Reduction)
        continue;
      // All factors of one result have the same reduction.
      if (has.test(f) || (reduction && *reduction != attr.getReductions()[f]))
        setReplicated(f);
      else
        reduction = attr.getReductions()[f];
    }
    rule.addResult(tensor.value).reduction = reduction.value_or(ReductionKind::Sum);
    for (unsigned d = 0; d < tensor.numDims; ++d)
      rule.addDim(SmallVector<int32_t>(attr.getResultDim(i, d)));
  }
  rule.isContraction = builtin.isContraction;
  replicateUnshardable(rule);
  return rule;
}

ShardingRule spmd::getShardingRule(Operation *op) {
  if (auto attr = op->getAttrOfType<RuleAttr>(kRuleAttr))
    return getWrittenRule(op, attr);
  return getBuiltinShardingRule(op);
}

//===----------------------------------------------------------------------===//
// Bodies over an index space
//===----------------------------------------------------------------------===//

Region *spmd::getIndexedBody(Operation *op) {
  if (isa<tensor::GenerateOp, tensor::PadOp>(op) || (isa<linalg::LinalgOp>(op) && op->getNumRegions() == 1))
    return &op->getRegion(0);
  return nullptr;
}

int64_t spmd::getLoopOfIndex(Operation *op, Value value) {
  Region *region = getIndexedBody(op);
  if (auto arg = dyn_cast<BlockArgument>(value))
    return isa<linalg::LinalgOp>(op) || arg.getOwner()->getParent() != region ? -1 : int64_t(arg.getArgNumber());
  auto index = value.getDefiningOp<linalg::IndexOp>();
  // An inner op has loops of its own.
  return index && index->getParentRegion() == region ? index.getDim() : -1;
}

bool spmd::readsIndices(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasIndexSemantics();
  Region *region = getIndexedBody(op);
  return region && llvm::any_of(region->getArguments(), [](BlockArgument arg) { return !arg.use_empty(); });
}

/// Per dim of a captured tensor the loop that indexes it in every use, or -1.
static SmallVector<int32_t> matchCapturedDims(Operation *op, Value captured) {
  Region &region = *getIndexedBody(op);
  auto type = cast<RankedTensorType>(captured.getType());
  SmallVector<int32_t> loops(type.getRank(), -1);
  bool first = true;
  for (OpOperand &use : captured.getUses()) {
    if (!region.isAncestor(use.getOwner()->getParentRegion()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract || extract->getParentRegion() != &region)
      return SmallVector<int32_t>(type.getRank(), -1);
    for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
      int32_t loop = getLoopOfIndex(op, index);
      loops[d] = first || loops[d] == loop ? loop : -1;
    }
    first = false;
  }
  return loops;
}

namespace {
/// stride * (index of a loop) + offset; without a loop (-1) the offset alone.
struct AffineIndex {
  int64_t loop = -1, stride = 0, offset = 0;
};
} // namespace

static std::optional<AffineIndex> matchAffineIndex(Operation *op, Value value) {
  if (int64_t loop = getLoopOfIndex(op, value); loop >= 0)
    return AffineIndex{loop, 1, 0};
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return AffineIndex{-1, 0, *constant};
  Operation *def = value.getDefiningOp();
  if (isa_and_present<arith::IndexCastOp>(def))
    return matchAffineIndex(op, def->getOperand(0));
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def))
    return std::nullopt;
  std::optional<AffineIndex> a = matchAffineIndex(op, def->getOperand(0));
  std::optional<AffineIndex> b = a ? matchAffineIndex(op, def->getOperand(1)) : std::nullopt;
  if (!b || (a->loop >= 0 && b->loop >= 0))
    return std::nullopt;
  int64_t loop = std::max(a->loop, b->loop);
  if (isa<arith::MulIOp>(def)) {
    int64_t factor = a->loop >= 0 ? b->offset : a->offset;
    const AffineIndex &index = a->loop >= 0 ? *a : *b;
    return AffineIndex{loop, index.stride * factor, index.offset * factor};
  }
  int64_t sign = isa<arith::SubIOp>(def) ? -1 : 1;
  return AffineIndex{loop, a->stride + sign * b->stride, a->offset + sign * b->offset};
}

/// Per dim of a captured tensor, the loop along which every use reads it, if there is one,
/// and the window of all uses around one of its indices.
static SmallVector<std::pair<int32_t, DimWindow>> matchCapturedWindows(Operation *op, Value captured) {
  Region &region = *getIndexedBody(op);
  auto type = cast<RankedTensorType>(captured.getType());
  SmallVector<std::pair<int32_t, DimWindow>> windows(type.getRank(), {-1, {}});
  bool first = true;
  for (OpOperand &use : captured.getUses()) {
    if (!region.isAncestor(use.getOwner()->getParentRegion()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract)
      return SmallVector<std::pair<int32_t, DimWindow>>(type.getRank(), {-1, {}});
    for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
      std::optional<AffineIndex> affine = matchAffineIndex(op, index);
      auto &[loop, window] = windows[d];
      if (!affine || affine->loop < 0 || affine->stride == 0 ||
          (!first && (loop != affine->loop || window.stride != affine->stride))) {
        loop = -2; // regardless of other uses
      } else if (first) {
        loop = affine->loop;
        window = {affine->stride, affine->offset, 1};
      } else if (loop >= 0) {
        int64_t end = std::max(window.offset + window.length, affine->offset + 1);
        window.offset = std::min(window.offset, affine->offset);
        window.length = end - window.offset;
      }
    }
    first = false;
  }
  return windows;
}

void spmd::addCapturedOperands(ShardingRule &rule, Operation *op, ArrayRef<int64_t> sizes) {
  Region *region = getIndexedBody(op);
  if (!region)
    return;
  llvm::SetVector<Value> captured;
  region->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !region->isAncestor(operand.getParentRegion()))
        captured.insert(operand);
  });
  if (captured.empty())
    return;
  BodyLookups lookups(op);
  for (Value value : captured) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int32_t> loops = matchCapturedDims(op, value);
    auto windows = matchCapturedWindows(op, value);
    rule.addOperand(value);
    for (auto [d, loop] : llvm::enumerate(loops)) {
      if (loop >= 0 && type.getDimSize(d) == sizes[loop])
        rule.addDim({loop});
      else if (auto [along, window] = windows[d];
               along >= 0 && !ShapedType::isDynamic(sizes[along]) && !type.isDynamicDim(d))
        rule.addWindows(along, window);
      else if (int32_t f = lookups.getFactor(rule, value, d); f >= 0)
        rule.addDim({f});
      else
        rule.addDim({});
    }
  }
}

bool spmd::hasNoElements(RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }

TypedAttr spmd::getNeutralElement(ReductionKind kind, Type type) {
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &sem = floatType.getFloatSemantics();
    auto inf = [&](bool negative) { return b.getFloatAttr(type, APFloat::getInf(sem, negative)); };
    switch (kind) {
    case ReductionKind::Prod:
      return b.getFloatAttr(type, 1.0);
    case ReductionKind::Max:
      return inf(true);
    case ReductionKind::Min:
      return inf(false);
    case ReductionKind::MaxNum:
    case ReductionKind::MinNum:
      return b.getFloatAttr(type, APFloat::getNaN(sem));
    default:
      return b.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  APInt value(width, 0);
  switch (kind) {
  case ReductionKind::Prod:
    value = APInt(width, 1);
    break;
  case ReductionKind::And:
  case ReductionKind::UMin:
    value = APInt::getAllOnes(width);
    break;
  case ReductionKind::Max:
    value = APInt::getSignedMinValue(width);
    break;
  case ReductionKind::Min:
    value = APInt::getSignedMaxValue(width);
    break;
  default:
    break;
  }
  return b.getIntegerAttr(type, value);
}

TypedAttr spmd::getExactNeutral(ReductionKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type); floatType && kind == ReductionKind::Sum)
    return FloatAttr::get(floatType, APFloat::getZero(floatType.getFloatSemantics(), true));
  return getNeutralElement(kind, type);
}

Value spmd::createExactNeutral(OpBuilder &b, Location loc, ReductionKind kind, Type type) {
  auto complexType = dyn_cast<ComplexType>(type);
  if (!complexType)
    return arith::ConstantOp::create(b, loc, getExactNeutral(kind, type));
  Type component = complexType.getElementType();
  Attribute imaginary = getExactNeutral(ReductionKind::Sum, component);
  return complex::ConstantOp::create(b, loc, type, b.getArrayAttr({getExactNeutral(kind, component), imaginary}));
}

Attribute spmd::getFillElement(Value value) {
  Operation *def = value.getDefiningOp();
  while (isa_and_present<WithShardingConstraintOp, ReshardOp>(def))
    def = def->getOperand(0).getDefiningOp();
  Attribute scalar;
  if (!def)
    return scalar;
  if (auto fill = dyn_cast<linalg::FillOp>(def)) {
    matchPattern(fill.value(), m_Constant(&scalar));
  } else if (auto splat = dyn_cast<tensor::SplatOp>(def)) {
    matchPattern(splat.getInput(), m_Constant(&scalar));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      scalar = dense.getSplatValue<Attribute>();
  } else if (auto generic = dyn_cast<linalg::GenericOp>(def)) {
    // A broadcast constant, as in lowered StableHLO.
    if (generic.getNumDpsInputs() == 1 && generic->getNumResults() == 1 &&
        generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0))
      return getFillElement(generic.getDpsInputs().front());
  }
  return scalar;
}

/// For a sum of floats both zeros are: +0.0 up to the sign of a sum of zeros.
static bool isNeutral(Attribute scalar, ReductionKind kind, Type type) {
  return scalar == getNeutralElement(kind, type) || scalar == getExactNeutral(kind, type);
}

bool spmd::isNeutralFill(Value value, ReductionKind kind) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  Attribute scalar = getFillElement(value);
  Type element = getElementTypeOrSelf(value.getType());
  if (!scalar)
    return false;
  if (auto complexType = dyn_cast<ComplexType>(element)) {
    auto components = dyn_cast<ArrayAttr>(scalar);
    Type component = complexType.getElementType();
    return components && components.size() == 2 && isNeutral(components[0], kind, component) &&
           isNeutral(components[1], ReductionKind::Sum, component);
  }
  return element.isIntOrIndexOrFloat() && isNeutral(scalar, kind, element);
}

std::optional<ReductionKind> spmd::matchCombiner(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  bool boolean = op->getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<arith::AddFOp, complex::AddOp, arith::SubFOp, complex::SubOp>([](auto) { return ReductionKind::Sum; })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto) { return boolean ? ReductionKind::Xor : ReductionKind::Sum; })
      .Case<arith::MulFOp>([](auto) { return ReductionKind::Prod; })
      .Case<arith::MulIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::Prod; })
      .Case<arith::MaximumFOp>([](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp>([](auto) { return ReductionKind::Min; })
      .Case<arith::MaxNumFOp>([](auto) { return ReductionKind::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return ReductionKind::MinNum; })
      // Signed, true is -1.
      .Case<arith::MaxSIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::Max; })
      .Case<arith::MinSIOp>([&](auto) { return boolean ? ReductionKind::Or : ReductionKind::Min; })
      .Case<arith::MaxUIOp>([&](auto) { return boolean ? ReductionKind::Or : ReductionKind::UMax; })
      .Case<arith::MinUIOp>([&](auto) { return boolean ? ReductionKind::And : ReductionKind::UMin; })
      .Case<arith::AndIOp>([](auto) { return ReductionKind::And; })
      .Case<arith::OrIOp>([](auto) { return ReductionKind::Or; })
      .Case<arith::XOrIOp>([](auto) { return ReductionKind::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

void spmd::registerShardingRules(DialectRegistry &registry) {
  registerLinalgShardingRules(registry);
  registerRelayoutShardingRules(registry);
  registerElementwiseShardingRules(registry);
  registerTensorShardingRules(registry);
  registerTensorIndexShardingRules(registry);
  registerTosaShardingRules(registry);
  registerCollectiveShardingRules(registry);
}
