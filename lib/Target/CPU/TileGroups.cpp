//===- TileGroups.cpp - One loop over rows per group of linalg ops --------===//

#include "shardkit/Target/CPU/Passes.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <deque>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCPUTILEGROUPS
#include "shardkit/Target/CPU/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;

namespace {

/// Ops that become one loop nest. All results but those of the root are
/// used inside the group only.
struct Group {
  linalg::LinalgOp root;
  unsigned size = 0;
};
struct Member {
  Group *group;
  /// Loops of the op that become the outer loops of the group, in its order.
  SmallVector<unsigned> outer;
};

static std::optional<unsigned> dimOf(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  return std::nullopt;
}

/// The loops of `root` that become outer loops: all dims of the result, but the
/// innermost one where the op's own innermost loop is parallel.
static SmallVector<unsigned> outerLoopsOfRoot(linalg::LinalgOp root) {
  AffineMap map = root.getIndexingMapsArray()[root.getNumDpsInputs()];
  SmallVector<unsigned> outer;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dimOf(expr);
    if (!dim)
      return {};
    outer.push_back(*dim);
  }
  auto iterators = root.getIteratorTypesArray();
  if (!outer.empty() && iterators.back() == utils::IteratorType::parallel)
    outer.pop_back();
  return outer;
}

struct TileGroups : spmd::impl::SpmdCpuTileGroupsBase<TileGroups> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    tensor::populateFoldTensorEmptyPatterns(set);
    patterns = std::move(set);
    return success();
  }

  /// Where the outer loops of the using op run in the producer, if every use
  /// sees the same part of it per iteration and nothing twice.
  std::optional<Member> join(linalg::LinalgOp op) {
    std::optional<Member> joined;
    if (op->use_empty() || spmd::target::hasAssertion(op))
      return std::nullopt;
    AffineMap outMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
    for (OpOperand &use : op->getUses()) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!user || !members.contains(user) || user.isDpsInit(&use) || cast<OpResult>(use.get()).getResultNumber() != 0)
        return std::nullopt;
      const Member &member = members.find(user)->second;
      AffineMap map = user.getMatchingIndexingMap(&use);
      Member candidate{member.group, {}};
      for (unsigned loop : member.outer) {
        auto it =
            llvm::find_if(map.getResults(), [&](AffineExpr e) { return dimOf(e) == std::optional<unsigned>(loop); });
        if (it == map.getResults().end())
          return std::nullopt;
        auto dim = dimOf(outMap.getResult(it - map.getResults().begin()));
        if (!dim)
          return std::nullopt;
        candidate.outer.push_back(*dim);
      }
      if (joined && (joined->group != candidate.group || joined->outer != candidate.outer))
        return std::nullopt;
      joined = candidate;
    }
    return joined;
  }

  void findGroups(Block &block) {
    for (Operation &operation : llvm::reverse(block)) {
      auto op = dyn_cast<linalg::LinalgOp>(operation);
      if (!op || !op.hasPureTensorSemantics() || op->getNumResults() == 0 || op.hasDynamicShape() ||
          isa<linalg::FillOp>(operation) || !isa<TilingInterface>(operation))
        continue;
      // Upstream's tiling fails on loops that do not run.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0))
        continue;
      std::optional<Member> member;
      if (op->getNumResults() == 1)
        member = join(op);
      if (!member) {
        SmallVector<unsigned> outer = outerLoopsOfRoot(op);
        for (AffineMap map : op.getIndexingMapsArray())
          if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
            outer.clear();
        groups.push_back(Group{op});
        member = Member{&groups.back(), outer};
        if (outer.empty()) {
          // Nothing to tile: nothing can join.
          continue;
        }
      }
      ++member->group->size;
      members.try_emplace(op, *member);
    }
  }

  /// True if an op of the group reads an argument of a loop, or a view of one.
  bool readsLoopArgument(Group &group) {
    if (isa<func::FuncOp>(group.root->getParentOp()))
      return false;
    for (Operation &op : *group.root->getBlock()) {
      auto it = members.find(&op);
      if (it == members.end() || it->second.group != &group)
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

  LogicalResult tile(Group &group, const Member &root) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(group.root);
    // A result in the place of a loop's argument that the group reads could not be
    // written part by part. It would go there where it is yielded.
    if (readsLoopArgument(group))
      for (OpOperand &init : group.root.getDpsInitsMutable())
        if (!group.root.payloadUsesValueFromOperand(&init))
          init.set(bufferization::AllocTensorOp::create(rewriter, group.root.getLoc(),
                                                        cast<RankedTensorType>(init.get().getType()), ValueRange()));
    SmallVector<OpFoldResult> sizes(group.root.getNumLoops(), rewriter.getIndexAttr(0));
    for (unsigned loop : root.outer)
      sizes[loop] = rewriter.getIndexAttr(1);
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(sizes);
    options.fusionControlFn = [&](tensor::ExtractSliceOp, OpResult producer,
                                  bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
      Operation *op = producer.getOwner();
      if (isa<linalg::FillOp>(op))
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      auto it = members.find(op);
      if (it == members.end() || it->second.group != &group)
        return std::nullopt;
      return scf::SCFTileAndFuseOptions::ControlFnResult{};
    };
    auto tiled =
        scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(group.root.getOperation()), options);
    // What cannot be tiled stays as it is: slower, not wrong.
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
    members.clear();
    groups.clear();
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        findGroups(*block);
    });
    for (Group &group : groups) {
      // Alone, an op is a loop nest already.
      if (group.size < 2)
        continue;
      Member root = members.find(group.root)->second;
      if (failed(tile(group, root)))
        return signalPassFailure();
    }
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      signalPassFailure();
  }

  llvm::DenseMap<Operation *, Member> members;
  std::deque<Group> groups;
  FrozenRewritePatternSet patterns;
};
} // namespace
