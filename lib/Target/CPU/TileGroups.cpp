//===- TileGroups.cpp - One loop over rows per group of linalg ops --------===//

#include "../Common/RowGroups.h"
#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUTILEGROUPS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

namespace {

/// The groups that become one loop nest each, over the rows of the root.
class TiledRowGroups : public RowGroups {
  bool isCandidate(linalg::LinalgOp op) override {
    return op.hasPureTensorSemantics() && op->getNumResults() != 0 && !isa<linalg::FillOp>(op) &&
           isa<TilingInterface>(op.getOperation()) &&
           // Upstream's tiling fails on loops without iterations.
           !llvm::is_contained(op.getStaticLoopRanges(), 0);
  }

  bool canJoin(linalg::LinalgOp op) override { return op->getNumResults() == 1 && !hasAssertion(op); }

  bool canJoinUser(linalg::LinalgOp op, OpOperand &use, const RowMember &user, ArrayRef<unsigned> outer) override {
    return true;
  }

  /// All dims of the result, without the innermost one if the innermost loop of the op is
  /// parallel.
  std::optional<SmallVector<unsigned>> getRootLoops(linalg::LinalgOp op) override {
    bool isParallel =
        !op.getIteratorTypesArray().empty() && op.getIteratorTypesArray().back() == utils::IteratorType::parallel;
    SmallVector<unsigned> outer = getRowLoops(op, isParallel);
    for (AffineMap map : op.getIndexingMapsArray())
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return std::nullopt;
    if (outer.empty())
      return std::nullopt;
    return outer;
  }
};

struct TileGroups : spmd::impl::SpmdCpuTileGroupsBase<TileGroups> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    tensor::populateFoldTensorEmptyPatterns(set);
    patterns = std::move(set);
    return success();
  }

  /// True if an op of the group reads an argument of a loop, or a view of one.
  bool readsLoopArgument(RowGroup &group) {
    if (isa<func::FuncOp>(group.root->getParentOp()))
      return false;
    for (Operation &op : *group.root->getBlock()) {
      const RowMember *member = groups.lookup(&op);
      if (!member || member->group != &group)
        continue;
      for (Value value : op.getOperands()) {
        while (Operation *def = value.getDefiningOp()) {
          if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(def))
            break;
          value = def->getOperand(0);
        }
        auto arg = dyn_cast<BlockArgument>(value);
        if (arg && isa<RankedTensorType>(arg.getType()) && !isa<func::FuncOp>(arg.getOwner()->getParentOp()))
          return true;
      }
    }
    return false;
  }

  LogicalResult tile(RowGroup &group) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(group.root);
    // A result that shares the buffer of a loop argument that the group reads cannot be
    // written row by row. It gets a buffer, and is copied where it is yielded.
    if (readsLoopArgument(group))
      for (OpOperand &init : group.root.getDpsInitsMutable())
        if (!group.root.payloadUsesValueFromOperand(&init))
          init.set(bufferization::AllocTensorOp::create(
              rewriter, group.root.getLoc(), cast<RankedTensorType>(init.get().getType()),
              tensor::createDynamicDimValues(rewriter, group.root.getLoc(), init.get())));
    SmallVector<OpFoldResult> sizes(group.root.getNumLoops(), rewriter.getIndexAttr(0));
    for (unsigned loop : groups.lookup(group.root)->outer)
      sizes[loop] = rewriter.getIndexAttr(1);
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(sizes);
    options.fusionControlFn = [&](tensor::ExtractSliceOp, OpResult producer,
                                  bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
      Operation *op = producer.getOwner();
      if (isa<linalg::FillOp>(op))
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      const RowMember *member = groups.lookup(op);
      if (!member || member->group != &group)
        return std::nullopt;
      return scf::SCFTileAndFuseOptions::ControlFnResult{};
    };
    auto tiled =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(group.root.getOperation()), options);
    // An op that cannot be tiled does not change: slower, not wrong.
    if (failed(tiled))
      return success();
    SmallVector<Value> values;
    for (Value result : group.root->getResults())
      values.push_back(tiled->replacements.lookup(result));
    if (llvm::is_contained(values, Value()))
      return group.root.emitError("tiling gave no value for a result");
    rewriter.replaceOp(group.root, values);
    return success();
  }

  void runOnOperation() override {
    groups = TiledRowGroups();
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        groups.addBlock(*block);
    });
    // A single op is a loop nest already.
    for (RowGroup &group : groups.getGroups())
      if (group.members.size() > 1 && failed(tile(group)))
        return signalPassFailure();
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      signalPassFailure();
  }

  TiledRowGroups groups;
  FrozenRewritePatternSet patterns;
};
} // namespace
