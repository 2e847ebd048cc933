//===- MoveUnits.cpp - Units of segments, in the ops that use them --------===//

#include "MoveUnits.h"

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The collapses of units: those at the arguments, and those that moved.
struct Collapses : public RewriterBase::Listener {
  llvm::SmallPtrSet<Operation *, 16> ops;

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (isa<tensor::CollapseShapeOp>(op))
      ops.insert(op);
  }
  void notifyOperationErased(Operation *op) override { ops.erase(op); }

  /// The collapse that an op may compute before; null if there is none.
  tensor::CollapseShapeOp get(OpOperand &operand) const {
    auto collapse = operand.get().getDefiningOp<tensor::CollapseShapeOp>();
    // Attributes of the op refer to its dims.
    bool isAnnotated = llvm::any_of(operand.getOwner()->getDiscardableAttrs(), [](NamedAttribute attr) {
      return isa_and_nonnull<SPMDDialect>(attr.getNameDialect());
    });
    return collapse && ops.contains(collapse) && !isAnnotated ? collapse : tensor::CollapseShapeOp();
  }
};

/// An expand to the units that a collapse joined.
struct DropExpand : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || collapse.getSrcType() != op.getResultType() ||
        collapse.getReassociationIndices() != op.getReassociationIndices())
      return failure();
    rewriter.replaceOp(op, collapse.getSrc());
    return success();
  }
};

/// As upstream's patterns for linalg ops, for elementwise ops on tensors.
struct MoveAfterElementwise : RewritePattern {
  MoveAfterElementwise(MLIRContext *context, const Collapses &collapses)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), collapses(collapses) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumRegions() != 0)
      return failure();
    tensor::CollapseShapeOp collapse;
    for (OpOperand &operand : op->getOpOperands())
      if (!collapse)
        collapse = collapses.get(operand);
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    if (!collapse || !llvm::all_of(op->getResultTypes(), isTensor))
      return failure();
    RankedTensorType source = collapse.getSrcType();
    auto groups = collapse.getReassociationIndices();
    auto expandedType = [&](Type type) { return RankedTensorType::get(source.getShape(), getElementTypeOrSelf(type)); };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isTensor(operand.getType())) {
        auto other = operand.getDefiningOp<tensor::CollapseShapeOp>();
        RankedTensorType type = expandedType(operand.getType());
        operand = other && other.getSrcType() == type && other.getReassociationIndices() == groups
                      ? other.getSrc()
                      : tensor::ExpandShapeOp::create(rewriter, op->getLoc(), type, operand, groups).getResult();
      }
      operands.push_back(operand);
    }
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(expandedType(type));
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    Operation *expanded = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [result, type] : llvm::zip(expanded->getResults(), op->getResultTypes()))
      results.push_back(
          tensor::CollapseShapeOp::create(rewriter, op->getLoc(), cast<RankedTensorType>(type), result, groups));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  const Collapses &collapses;
};

} // namespace

LogicalResult spmd::moveUnits(func::FuncOp func, ArrayRef<tensor::CollapseShapeOp> arguments) {
  Collapses collapses;
  for (tensor::CollapseShapeOp collapse : arguments)
    collapses.ops.insert(collapse);
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                    [&](OpOperand *operand) { return bool(collapses.get(*operand)); });
  patterns.add<MoveAfterElementwise>(context, collapses);
  patterns.add<DropExpand>(context, /*benefit=*/2);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  GreedyRewriteConfig config;
  config.setListener(&collapses).enableFolding(false).setMaxIterations(GreedyRewriteConfig::kNoLimit);
  return applyPatternsGreedily(func, std::move(patterns), config);
}
