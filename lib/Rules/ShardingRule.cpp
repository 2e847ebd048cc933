//===- ShardingRule.cpp - Rules of ops ----------------------------------===//

#include "shardkit/Rules/ShardingRule.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/GlobalSizes.h"
#include "shardkit/Rules/IndexedBody.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
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
    key.append(
        {factor.size, int64_t(factor.kind) | int64_t(factor.allowsPadding) << 8, factor.granule, factor.minShard});
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
  return isa<linalg::LinalgOp, linalg::SoftmaxOp, tensor::EmptyOp, tensor::SplatOp, tensor::CastOp, tensor::DimOp,
             tensor::RankOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ConcatOp, SortOp,
             WithShardingConstraintOp, ReshardOp>(op) ||
         (isa<tensor::PadOp>(op) && !readsIndices(op)) ||
         (op->hasTrait<OpTrait::Elementwise>() && !isa<tosa::TosaOp>(op));
}

static void replicateDynamicDims(ShardingRule &rule, const ShardingRule::Tensor &tensor) {
  for (unsigned d = 0; d < tensor.numDims; ++d)
    if (tensor.type && tensor.type.isDynamicDim(d))
      for (int32_t f : rule.dimFactors(tensor, d))
        rule.setKind(f, FactorKind::Replicated);
}

/// Replicates the dims of dynamic size that `op` cannot compute shards of.
static void replicateDynamic(ShardingRule &rule, Operation *op) {
  if (!allowsDynamicShards(op)) {
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t)
      replicateDynamicDims(rule, rule.tensor(t));
    return;
  }
  // A captured tensor may be read at indices that depend on its size, and the size of a chunk, which global indices are
  // computed from, is not known.
  for (const ShardingRule::Tensor &tensor : rule.operands().drop_front(op->getNumOperands()))
    replicateDynamicDims(rule, tensor);
  // Ranks do not know how many elements others have in order.
  if (auto sort = dyn_cast<SortOp>(op); sort && sort.getInputType().isDynamicDim(sort.getDimension()))
    for (int32_t f : rule.dimFactors(rule.tensor(0), sort.getDimension()))
      rule.setKind(f, FactorKind::Replicated);
  if (isa<linalg::LinalgOp>(op) && readsIndices(op))
    getIndexedBody(op)->walk([&](linalg::IndexOp index) {
      if (int64_t loop = getLoopOfIndex(op, index); loop >= 0 && ShapedType::isDynamic(rule.factor(loop).size))
        rule.setKind(loop, FactorKind::Replicated);
    });
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
    if (tensor.numDims == segment.getStored().getRank() + 1) {
      for (int32_t f : rule.dimFactors(tensor, segment.getDim() + 1))
        rule.setKind(f, FactorKind::Replicated);
      continue;
    }
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
  auto iface = dyn_cast<ShardingRuleOpInterface>(op);
  const bool isForeign = iface && !hasBuiltinRules(op->getName().getDialectNamespace());
  if (iface)
    rule = iface.getShardingRule();
  else if (op->hasTrait<OpTrait::Elementwise>())
    rule = getElementwiseShardingRule(op);
  else
    return getFallbackRule(op);
  if (isForeign && failed(verifyShardingRule(op, rule, nullptr)))
    return getFallbackRule(op);
  replicateUnshardable(rule);
  replicateDynamic(rule, op);
  setUnitGranules(rule);
  return rule;
}

//===----------------------------------------------------------------------===//
// Rules written on an op
//===----------------------------------------------------------------------===//

/// The rule in `spmd.sharding_rule`. Roles of operands (inits, tensors that are not read)
/// are those of the op. Invalid kinds become replicated: a parallel factor that a result
/// lacks, a reduction that a result has.
static ShardingRule getWrittenRule(Operation *op, RuleAttr attr, bool &hasBuiltinRule) {
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
  rule.hasLocalAttributes = builtin.hasLocalAttributes;
  replicateUnshardable(rule);
  hasBuiltinRule = !builtin.isFallback;
  return rule;
}

/// The rule of an op, and the global sizes in its attributes.
static std::pair<ShardingRule, SmallVector<GlobalSize, 0>> getRuleAndSizes(Operation *op) {
  auto attr = op->getAttrOfType<RuleAttr>(kRuleAttr);
  bool hasBuiltinRule = true;
  ShardingRule rule = attr ? getWrittenRule(op, attr, hasBuiltinRule) : getBuiltinShardingRule(op);
  SmallVector<GlobalSize, 0> sizes = findGlobalSizes(op, rule, hasBuiltinRule);
  return {std::move(rule), std::move(sizes)};
}

SmallVector<GlobalSize, 0> spmd::getGlobalSizes(Operation *op) { return getRuleAndSizes(op).second; }

ShardingRule spmd::getShardingRule(Operation *op) {
  auto [rule, sizes] = getRuleAndSizes(op);
  for (const GlobalSize &size : sizes)
    rule.setKind(size.factor, FactorKind::Replicated);
  return std::move(rule);
}

void spmd::makeAttributesLocal(Operation *op, const TensorTypes &types) {
  if (SplatElementsAttr splat = getSplatConstant(op))
    return op->setAttr("value", splat.resizeSplat(types.getLocal(op->getResult(0))));
  if (auto iface = dyn_cast<ShardingRuleOpInterface>(op))
    iface.makeLocal(types);
}

bool spmd::hasNoElements(RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }

void spmd::registerShardingRules(DialectRegistry &registry) {
  registerLinalgShardingRules(registry);
  registerRelayoutShardingRules(registry);
  registerElementwiseShardingRules(registry);
  registerTensorShardingRules(registry);
  registerTensorIndexShardingRules(registry);
  registerTosaShardingRules(registry);
  registerCollectiveShardingRules(registry);
  registerSortShardingRules(registry);
}
