//===- LinalgRules.cpp - One rule for every structured op -----------------===//
//
// The factors of a structured op are its loops; indexing maps, iterator types
// and the body say the rest. Tensors that the body captures are operands too.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// How partial results of output `i` combine: the yielded value must be one
/// associative op of the accumulator and a value that does not depend on it.
std::optional<ReductionKind> matchReduction(linalg::LinalgOp op, unsigned i) {
  Block *body = op.getBlock();
  BlockArgument acc = op.getRegionOutputArgs()[i];
  Operation *combiner =
      body->getTerminator()->getOperand(i).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !acc.hasOneUse() ||
      combiner->getNumOperands() != 2 || !combiner->getResult(0).hasOneUse())
    return std::nullopt;
  OpOperand &use = *acc.getUses().begin();
  if (use.getOwner() != combiner)
    return std::nullopt;
  // acc - x sums up; x - acc does not.
  StringRef name = combiner->getName().stripDialect();
  if (name.starts_with("sub") && use.getOperandNumber() != 0)
    return std::nullopt;
  // acc has one use, so the other operand cannot depend on it, but it could
  // depend on another accumulator (argmax, log-sum-exp).
  SmallVector<Value> stack{
      combiner->getOperand(1 - use.getOperandNumber())};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == body &&
          arg.getArgNumber() >= op.getNumDpsInputs())
        return std::nullopt;
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() == body && seen.insert(def).second)
      llvm::append_range(stack, def->getOperands());
  }
  return matchCombiner(combiner);
}

/// Loop whose index a scalar value is, if it is exactly `linalg.index k`.
int64_t matchIndex(Value value) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return index.getDim();
  return -1;
}

/// Per dim of a captured tensor the loop that indexes it in every use, or -1.
SmallVector<int32_t> matchCapturedDims(Region &region, Value captured) {
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
      int32_t loop = matchIndex(index);
      loops[d] = first || loops[d] == loop ? loop : -1;
    }
    first = false;
  }
  return loops;
}

ShardingRule getLinalgRule(linalg::LinalgOp op) {
  ShardingRule rule;
  SmallVector<int64_t, 8> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [range, iterator] : llvm::zip(ranges, iterators)) {
    FactorKind kind = ShapedType::isDynamic(range) ? FactorKind::Whole
                      : iterator == utils::IteratorType::reduction
                          ? FactorKind::Reduction
                          : FactorKind::Parallel;
    rule.addFactor(range, kind);
  }
  auto keepWhole = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr e) {
      if (auto dim = dyn_cast<AffineDimExpr>(e))
        rule.setKind(dim.getPosition(), FactorKind::Whole);
    });
  };
  auto addMappedDims = [&](AffineMap map, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      // A window or a constant: whole. A dim that is not as long as its loop
      // (it may be longer where the op reads a part) is whole as well.
      if (dim && type.getDimSize(d) == ranges[dim.getPosition()]) {
        rule.addDim({(int32_t)dim.getPosition()});
        continue;
      }
      keepWhole(expr);
      rule.addDim({});
    }
  };

  for (OpOperand &operand : op->getOpOperands()) {
    ShardingRule::Tensor &tensor = rule.addOperand(operand.get());
    if (op.isDpsInit(&operand)) {
      tensor.role = op.payloadUsesValueFromOperand(&operand)
                        ? OperandRole::Init
                        : OperandRole::ShapeOnly;
      tensor.result = op.getTiedOpResult(&operand)
                          ? op.getTiedOpResult(&operand).getResultNumber()
                          : -1;
    }
    addMappedDims(op.getMatchingIndexingMap(&operand), operand.get());
  }

  if (op->getNumRegions() == 1) {
    Region &region = op->getRegion(0);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    for (Value value : captured) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      SmallVector<int32_t> loops = matchCapturedDims(region, value);
      rule.addOperand(value);
      for (auto [d, loop] : llvm::enumerate(loops)) {
        if (loop >= 0 && type.getDimSize(d) == ranges[loop])
          rule.addDim({loop});
        else
          rule.addDim({});
      }
    }
  }

  bool reduces = op.getNumReductionLoops() > 0;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    OpOperand *init = op.getDpsInitOperand(i);
    ShardingRule::Tensor &tensor = rule.addResult(result);
    if (reduces) {
      if (std::optional<ReductionKind> kind = matchReduction(op, i))
        tensor.reduction = *kind;
      else // not associative: the reduction stays whole
        for (unsigned f = 0; f < iterators.size(); ++f)
          if (rule.factor(f).kind == FactorKind::Reduction)
            rule.setKind(f, FactorKind::Whole);
    }
    addMappedDims(op.getMatchingIndexingMap(init), result);
  }
  // A loop is cut only where a shard of it writes its own part of each result
  // (parallel) or a part of each sum (reduction).
  for (unsigned f = 0; f < iterators.size(); ++f)
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (op.getMatchingIndexingMap(op.getDpsInitOperand(i)).isFunctionOfDim(f) ==
          (iterators[f] == utils::IteratorType::reduction))
        rule.setKind(f, FactorKind::Whole);
  rule.isContraction = linalg::isaContractionOpInterface(op) ||
                       linalg::isaConvolutionOpInterface(op);
  return rule;
}

template <typename OpTy>
struct LinalgRuleModel
    : ShardingRuleOpInterface::ExternalModel<LinalgRuleModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    return getLinalgRule(cast<linalg::LinalgOp>(op));
  }
};

template <typename... OpTys> void attachAll(MLIRContext *context) {
  (OpTys::template attachInterface<LinalgRuleModel<OpTys>>(*context), ...);
}

} // namespace

void spmd::registerLinalgShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
