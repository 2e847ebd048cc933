//===- FindGroups.cpp - What experts compute for their tokens alone -------===//
//
// Finds on a copy, in the form that targets have before they make loops of them, the ops
// that compute groups of rows, and marks those that they come from:
//
//   %h = %x[row, k] * %w[group, k, n]        {spmd.groups = {groups = 8, used = 2, dim = 0}}
//   %m = select(%chosen[row] == group, %h, 0)
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/GroupRegions.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDFINDGROUPSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-find-groups"

using namespace mlir;
using namespace mlir::spmd;

/// A product of more loops than a matrix has.
static bool isProductOfGroups(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 && op.getNumReductionLoops() > 0 && op.getNumLoops() >= 4;
}

/// A choice between something and what may be zero, or a number made of a condition.
static bool isMask(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Value other = select.getFalseValue();
    return matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero()) || !matchPattern(other, m_Constant());
  }
  return isa<arith::UIToFPOp, arith::ExtUIOp>(op) && getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1);
}

/// Whether a function may have groups, without looking closely.
static bool mayHaveGroups(func::FuncOp func) {
  bool hasProduct = false, hasMask = false;
  func.walk([&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    hasProduct = hasProduct || (linalgOp && isProductOfGroups(linalgOp));
    hasMask = hasMask || isMask(op);
    return hasProduct && hasMask ? WalkResult::interrupt() : WalkResult::advance();
  });
  return hasProduct && hasMask;
}

/// The dim, or loop, of these sizes that is `dim` of `rank` ones without those of size 1.
static std::optional<int64_t> getOriginalDim(ArrayRef<int64_t> sizes, int64_t rank, int64_t dim) {
  if (rank == int64_t(sizes.size()))
    return dim;
  int64_t count = 0;
  std::optional<int64_t> found;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size != 1 && count++ == dim)
      found = d;
  return count == rank ? found : std::nullopt;
}

namespace {
struct FindGroupsPass : public spmd::impl::SPMDFindGroupsPassBase<FindGroupsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !mayHaveGroups(func))
      return;
    OwningOpRef<func::FuncOp> copy = makeCopy(func);
    SmallVector<Block *> blocks;
    copy->walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    const auto getNothing = [](Value) { return Value(); };
    const auto ignore = [](const GroupRegion &, Operation *, Operation *) {};
    const GroupRegionFinder finder{kMinGroupProducts, getNothing, ignore};
    for (Block *block : blocks)
      for (const GroupRegion &region : finder.find(*block))
        mark(*block, region);
  }

private:
  /// A copy in the form that targets find groups in. Each op, or what it becomes, is at the op that it stands for.
  OwningOpRef<func::FuncOp> makeCopy(func::FuncOp func) {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) { ops.push_back(op); });
    OwningOpRef<func::FuncOp> copy = func.clone();
    unsigned next = 0;
    copy->walk([&](Operation *op) {
      Operation *origin = ops[next++];
      op->setLoc(OpaqueLoc::get<Operation *>(origin, origin->getLoc()));
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::ControlDropUnitDims control;
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns, control);
    (void)applyPatternsGreedily(*copy, std::move(patterns));
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(*copy);
    eliminateCommonSubExpressions(rewriter, dominance, *copy);
    return copy;
  }

  void mark(Block &block, const GroupRegion &region) {
    const int64_t used = std::min(region.groups, getUsedGroups(region.mask).value_or(region.groups));
    DenseMap<Operation *, unsigned> stages = region.getStages(block);
    for (auto &[op, sum] : region.sums)
      set(op, {region.groups, used}, sum.roles);
    for (auto &[op, roles] : region.inner) {
      auto isInLoop = [&](Operation *user) {
        return region.contains(user) && stages.lookup(user) == stages.lookup(op);
      };
      GroupShare share{region.groups, used};
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      if (op->getNumResults() == 1 && llvm::all_of(op->getUsers(), isInLoop))
        share.dim = linalgOp ? getDimOfLoop(linalgOp.getIndexingMapMatchingResult(op->getResult(0)), roles.group)
                             : std::optional<int64_t>(roles.group);
      set(op, share, roles);
      // What it is written into.
      if (auto fill =
              linalgOp && share.dim ? linalgOp.getDpsInits()[0].getDefiningOp<linalg::FillOp>() : linalg::FillOp())
        if (llvm::all_of(fill->getUsers(), isInLoop))
          set(fill, share, {*share.dim, -1});
    }
  }

  /// Marks what an op of the copy comes from; `share.dim` and `roles` are those of the copy.
  void set(Operation *op, GroupShare share, GroupRoles roles) {
    auto *origin = OpaqueLoc::getUnderlyingLocationOrNull<Operation *>(op->getLoc());
    if (!origin || origin->getNumResults() != 1)
      return;
    auto type = dyn_cast<RankedTensorType>(origin->getResult(0).getType());
    auto ofCopy = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !ofCopy)
      return;
    if (share.dim)
      share.dim = getOriginalDim(type.getShape(), ofCopy.getRank(), *share.dim);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (auto from = dyn_cast<linalg::LinalgOp>(origin); from && linalgOp && roles.row >= 0) {
      share.loop = getOriginalDim(from.getStaticLoopRanges(), linalgOp.getNumLoops(), roles.group);
      const std::optional<int64_t> row = getOriginalDim(from.getStaticLoopRanges(), linalgOp.getNumLoops(), roles.row);
      for (OpOperand *operand : from.getDpsInputOperands()) {
        AffineMap map = from.getMatchingIndexingMap(operand);
        if (share.loop && row && map.isFunctionOfDim(*row) && !map.isFunctionOfDim(*share.loop))
          share.rowOperands.push_back(operand->getOperandNumber());
      }
    }
    SPMD_LOG() << "marks " << origin->getName() << " at " << origin->getLoc() << ", " << share.used << " of "
               << share.groups << " groups";
    SPMD_COUNT(markedOps, 1);
    setGroupShare(origin, share);
  }
};
} // namespace
