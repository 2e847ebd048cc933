//===- LinalgRules.cpp - One rule for every structured op -----------------===//
//
// The factors of a structured op are its loops; indexing maps, iterator types
// and the body define their kinds and dims. Tensors that the body captures are operands too.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/PaddingNeeds.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/Selections.h"
#include "shardkit/Rules/ShardingRule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::spmd;

bool spmd::isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0 && linalgOp.getNumDpsInputs() == 2 &&
         (linalg::isaContractionOpInterface(linalgOp) || linalg::isaConvolutionOpInterface(linalgOp)) &&
         llvm::all_of(linalgOp.getDpsInputOperands(),
                      [&](OpOperand *input) { return linalgOp.payloadUsesValueFromOperand(input); });
}

std::optional<ReductionKind> spmd::matchReduction(linalg::LinalgOp op, unsigned i) {
  unsigned numInputs = op.getNumDpsInputs();
  Block *body = op.getBlock();
  BlockArgument acc = body->getArgument(numInputs + i);
  Operation *combiner = body->getTerminator()->getOperand(i).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !acc.hasOneUse() || combiner->getNumOperands() != 2 ||
      !combiner->getResult(0).hasOneUse())
    return std::nullopt;
  OpOperand &use = *acc.getUses().begin();
  if (use.getOwner() != combiner)
    return std::nullopt;
  // acc - x accumulates; x - acc does not.
  StringRef name = combiner->getName().stripDialect();
  if (name.starts_with("sub") && use.getOperandNumber() != 0)
    return std::nullopt;
  // acc has one use, so the other operand cannot depend on it, but it could
  // depend on another accumulator (argmax, log-sum-exp).
  SmallVector<Value> stack{combiner->getOperand(1 - use.getOperandNumber())};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() == body && arg.getArgNumber() >= numInputs)
        return std::nullopt;
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() == body && seen.insert(def).second)
      llvm::append_range(stack, def->getOperands());
  }
  return matchCombiner(combiner);
}

namespace {

/// Sizes of the loops: the size of a dim that is indexed by a single loop, if there is one.
SmallVector<int64_t, 8> getLoopRanges(linalg::LinalgOp op, ArrayRef<AffineMap> maps) {
  SmallVector<int64_t, 8> ranges(op.getNumLoops(), -1);
  for (auto [operand, map] : llvm::zip(op->getOperands(), maps))
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
      for (auto [size, expr] : llvm::zip(type.getShape(), map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          if (ranges[dim.getPosition()] == -1)
            ranges[dim.getPosition()] = size;
  return llvm::is_contained(ranges, -1) ? op.getStaticLoopRanges() : ranges;
}

/// Windows of a dim that is read at a sum of loops, all forwards:
///   d1 * 2 + d4 * 3, d1 < 8, d4 < 3     loop 1, stride 2, length 7
/// Only the longest loop may be sharded. std::nullopt for other expressions.
struct LoopWindows {
  int32_t loop;
  DimWindow window;
};
std::optional<LoopWindows> matchWindows(AffineExpr expr, ArrayRef<int64_t> ranges) {
  SmallVector<std::pair<unsigned, int64_t>, 2> terms; // loop, coefficient
  DimWindow window;
  SmallVector<AffineExpr> stack{expr};
  while (!stack.empty()) {
    AffineExpr e = stack.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(e)) {
      if (constant.getValue() < 0)
        return std::nullopt;
      window.length += constant.getValue(); // added by the op
    } else if (auto dim = dyn_cast<AffineDimExpr>(e)) {
      terms.push_back({dim.getPosition(), 1});
    } else if (auto sum = dyn_cast<AffineBinaryOpExpr>(e); sum && e.getKind() == AffineExprKind::Add) {
      stack.append({sum.getRHS(), sum.getLHS()});
    } else if (sum && e.getKind() == AffineExprKind::Mul) {
      auto dim = dyn_cast<AffineDimExpr>(sum.getLHS());
      auto factor = dyn_cast<AffineConstantExpr>(sum.getRHS());
      if (!dim || !factor || factor.getValue() < 1)
        return std::nullopt;
      terms.push_back({dim.getPosition(), factor.getValue()});
    } else {
      return std::nullopt;
    }
  }
  if (terms.empty())
    return std::nullopt;
  auto longest = terms.begin();
  for (auto it = terms.begin(); it != terms.end(); ++it) {
    if (ShapedType::isDynamic(ranges[it->first]) ||
        llvm::count_if(terms, [&](auto &other) { return other.first == it->first; }) > 1)
      return std::nullopt;
    if (ranges[it->first] > ranges[longest->first])
      longest = it;
  }
  window.stride = longest->second;
  for (auto it = terms.begin(); it != terms.end(); ++it)
    if (it != longest)
      window.length += it->second * (ranges[it->first] - 1);
  return LoopWindows{int32_t(longest->first), window};
}

ShardingRule getLinalgRule(linalg::LinalgOp op) {
  // 1. A factor per loop, of the kind of its iterator.
  ShardingRule rule;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t, 8> ranges = getLoopRanges(op, maps);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [range, iterator] : llvm::zip(ranges, iterators)) {
    FactorKind kind = iterator == utils::IteratorType::reduction ? FactorKind::Reduction : FactorKind::Parallel;
    rule.addFactor(range, kind);
  }
  auto addMappedDims = [&](AffineMap map, Value value, bool mayHaveWindows) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && type.getDimSize(d) == ranges[dim.getPosition()]) {
        rule.addDim({(int32_t)dim.getPosition()});
        continue;
      }
      // Unsharded: a dim that differs in size from its loop (it may be larger if the op
      // reads a slice), a constant, and the loops over a window.
      std::optional<LoopWindows> windows;
      if (!dim && !type.isDynamicDim(d) && mayHaveWindows)
        windows = matchWindows(expr, ranges);
      expr.walk([&](AffineExpr e) {
        if (auto loop = dyn_cast<AffineDimExpr>(e); loop && (!windows || int32_t(loop.getPosition()) != windows->loop))
          rule.setKind(loop.getPosition(), FactorKind::Replicated);
      });
      if (windows)
        rule.addWindows(windows->loop, windows->window);
      else
        rule.addDim({});
    }
  };

  // 2. Operands are the inputs, then the inits, in the order of the body's arguments
  // (and of the results). Querying the op each time builds attributes.
  unsigned numInputs = op.getNumDpsInputs();
  Block *body = op.getBlock();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    ShardingRule::Tensor &tensor = rule.addOperand(operand);
    if (i >= numInputs) {
      tensor.role = body->getArgument(i).use_empty() ? OperandRole::ShapeOnly : OperandRole::Init;
      if (op->getNumResults() > 0)
        tensor.result = i - numInputs;
    }
    addMappedDims(maps[i], operand, i < numInputs);
  }

  addCapturedOperands(rule, op, ranges);

  // 3. Results, with the kind of their reduction.
  bool reduces = llvm::is_contained(iterators, utils::IteratorType::reduction);
  bool looksUp = rule.numFactors() > iterators.size();
  FactorKind reduced = FactorKind::Reduction;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    ShardingRule::Tensor &tensor = rule.addResult(result);
    if (reduces || looksUp) {
      if (std::optional<ReductionKind> kind = matchReduction(op, i))
        tensor.reduction = *kind;
      else if (reduced == FactorKind::Reduction) // not associative, or a choice
        reduced = op.getNumReductionLoops() == 1 && isSelection(op) ? FactorKind::Selection : FactorKind::Replicated;
    }
    addMappedDims(maps[numInputs + i], result, false);
  }
  for (unsigned f = 0; f < iterators.size(); ++f)
    if (rule.factor(f).kind == FactorKind::Reduction)
      rule.setKind(f, reduced == FactorKind::Selection && rule.factor(f).hasWindows ? FactorKind::Replicated : reduced);
  // 4. Replicate loops that cannot be sharded. A shard of a loop must write its own slice of
  // each result (parallel) or a partial sum of each (reduction).
  SmallVector<bool, 8> written;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    written.assign(iterators.size(), false);
    maps[numInputs + i].walkExprs([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        written[dim.getPosition()] = true;
    });
    for (unsigned f = 0; f < iterators.size(); ++f)
      if (written[f] == (iterators[f] == utils::IteratorType::reduction))
        rule.setKind(f, FactorKind::Replicated);
  }
  // The body of a named op is not printed: a change of its indices to local ones would be
  // lost (fill_rng_2d).
  // `hasIndexSemantics` is false for it.
  if (!isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op) && !body->getOps<linalg::IndexOp>().empty())
    for (unsigned f = 0; f < iterators.size(); ++f)
      rule.setKind(f, FactorKind::Replicated);
  rule.isContraction = isContraction(op);
  return rule;
}

/// A named op builds its maps on request.
bool mayReadWindows(linalg::LinalgOp op) {
  if (readsTensorsAtIndices(op))
    return true;
  if (!isa<linalg::GenericOp>(op))
    return isa<linalg::ConvolutionOpInterface>(op.getOperation());
  return op.hasPureTensorSemantics() && llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return llvm::any_of(map.getResults(), [](AffineExpr expr) { return isa<AffineBinaryOpExpr>(expr); });
         });
}

template <typename OpTy> struct LinalgRuleModel : ShardingRuleOpInterface::ExternalModel<LinalgRuleModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return getLinalgRule(cast<linalg::LinalgOp>(op)); }
  std::optional<PaddingNeeds> getPaddingNeeds(Operation *op, const ShardingRule &rule, int32_t f) const {
    return getBodyPaddingNeeds(op, rule, f);
  }
  WindowForm getWindowForm(Operation *op) const {
    return mayReadWindows(cast<linalg::LinalgOp>(op)) ? WindowForm::InPlace : WindowForm::None;
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
