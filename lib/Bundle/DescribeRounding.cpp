//===- DescribeRounding.cpp - Estimated rounding errors of results --------===//

#include "Describe.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::spmd;

/// The unit roundoff of the floats that elements of `type` consist of; 0 for other types.
static double getUnitRoundoff(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  auto floats = dyn_cast<FloatType>(element);
  return floats ? std::ldexp(1.0, -int(llvm::APFloat::semanticsPrecision(floats.getFloatSemantics()))) : 0;
}

/// The number of terms that an element of result `i` adds up or multiplies; 1 if there is no such reduction.
static double countTerms(Operation *op, unsigned i) {
  auto isRounded = [](ReductionKind kind) { return kind == ReductionKind::Sum || kind == ReductionKind::Prod; };
  double terms = 1;
  auto multiply = [&](int64_t size) { terms *= double(std::max<int64_t>(size, 1)); };
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (std::optional<ReductionKind> kind = matchReduction(linalgOp, i); kind && !isRounded(*kind))
      return 1;
    for (auto [size, iterator] : llvm::zip(linalgOp.getStaticLoopRanges(), linalgOp.getIteratorTypesArray()))
      if (iterator == utils::IteratorType::reduction && !ShapedType::isDynamic(size))
        multiply(size);
    return terms;
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    multiply(softmax.getInputOperandType().getDimSize(softmax.getDimension()));
    return terms;
  }
  if (!isa<RankedTensorType>(op->getResult(i).getType()))
    return terms;
  ShardingRule rule = getShardingRule(op);
  if (i >= rule.numResults() || !isRounded(rule.results()[i].reduction))
    return terms;
  for (unsigned f = 0; f < rule.numFactors(); ++f) {
    const Factor &factor = rule.factor(f);
    if (factor.kind != FactorKind::Indexed && factor.kind != FactorKind::Selection &&
        !rule.hasFactor(rule.results()[i], f))
      multiply(factor.size);
  }
  return terms;
}

namespace {
/// Estimates the square of the relative rounding error of each value (Manifest.md, `rounding`). Rounding errors are
/// taken to be independent, so that their squares add up along a path. Every op is visited once.
class RoundingEstimate {
public:
  /// `inputs`: the estimate of all arguments. Returns those of the operands of the terminator.
  SmallVector<double> visit(Block &block, double inputs);

  double get(Value value) const { return squares.lookup(value); }

private:
  void visit(Operation *op);
  void visitRegions(Operation *op, double inputs);
  /// The square that `op` adds to result `i`, where `inputs` is that of its operands: for reductions and conversions to
  /// a narrower type.
  static double getAdded(Operation *op, unsigned i, double inputs);

  DenseMap<Value, double> squares;
};
} // namespace

SmallVector<double> RoundingEstimate::visit(Block &block, double inputs) {
  if (inputs > 0)
    for (BlockArgument argument : block.getArguments())
      squares[argument] = inputs;
  for (Operation &op : block.without_terminator())
    visit(&op);
  SmallVector<double> yielded;
  for (Value operand : block.getTerminator()->getOperands())
    yielded.push_back(get(operand));
  return yielded;
}

double RoundingEstimate::getAdded(Operation *op, unsigned i, double inputs) {
  const double unit = getUnitRoundoff(op->getResult(i).getType());
  if (unit == 0 || onlyMovesElements(op))
    return 0;
  if (const double terms = countTerms(op, i); terms > 1) {
    // Narrow types are accumulated in f32 and rounded once.
    const double wide = std::min(unit, std::ldexp(1.0, -24));
    return (terms - 1) * wide * wide + (unit > wide ? unit * unit : 0);
  }
  // Operands that differ little may become neighbors in a narrower type. Equal operands become equal results.
  if (inputs == 0)
    return 0;
  for (Value operand : op->getOperands())
    if (getUnitRoundoff(operand.getType()) >= unit)
      return 0;
  return unit * unit;
}

void RoundingEstimate::visitRegions(Operation *op, double inputs) {
  double largest = inputs;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      SmallVector<double> yielded = visit(block, inputs);
      // A condition comes before what scf.while yields.
      for (double square : yielded)
        largest = std::max(largest, square);
      if (auto forall = dyn_cast<scf::ForallOp>(op))
        for (Operation &write : *forall.getTerminator().getBody())
          for (Value operand : write.getOperands())
            largest = std::max(largest, get(operand));
    }
  const bool repeats = isa<scf::ForOp, scf::WhileOp>(op);
  const double trips = repeats ? double(getTripCount(op, kDefaultTripCount)) : 1;
  for (Value result : op->getResults())
    squares[result] = inputs + trips * (largest - inputs);
}

void RoundingEstimate::visit(Operation *op) {
  double inputs = 0;
  for (Value operand : op->getOperands())
    inputs = std::max(inputs, get(operand));
  // Values that bodies of elements capture are operands as well.
  if (op->getNumRegions() > 0) {
    SetVector<Value> captured;
    if (!isControlFlow(op))
      getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      inputs = std::max(inputs, get(value));
    if (isControlFlow(op))
      return visitRegions(op, inputs);
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (double square = inputs + getAdded(op, i, inputs); square > 0)
      squares[op->getResult(i)] = square;
}

std::vector<double> spmd::estimateRounding(func::FuncOp func) {
  std::vector<double> result;
  if (!func.getBody().hasOneBlock())
    return result;
  for (double square : RoundingEstimate().visit(func.getBody().front(), 0))
    result.push_back(std::sqrt(square));
  return result;
}

std::vector<double> spmd::estimateProbeRounding(func::FuncOp func) {
  RoundingEstimate estimate;
  (void)estimate.visit(func.getBody().front(), 0);
  std::vector<double> result;
  for (ProbeOp probe : getProbes(func)) {
    double square = estimate.get(probe.getInput());
    // Later iterations of a loop have the errors of earlier ones.
    for (Operation *op = probe->getParentOp(); op != func; op = op->getParentOp())
      for (Value value : op->getResults())
        square = std::max(square, estimate.get(value));
    result.push_back(std::sqrt(square));
  }
  return result;
}
