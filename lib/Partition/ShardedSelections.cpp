//===- ShardedSelections.cpp - Selections over shards ---------------------===//

#include "shardkit/Partition/ShardedSelections.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Partition/ReshardLowering.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/Selections.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

void ShardedSelections::collect(Operation *op, llvm::function_ref<const Sharding *(Value)> getSharding) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() != 1)
    return;
  bool isReduction = true; // as for most ops
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    isReduction &= matchReduction(linalgOp, i).has_value();
  if (isReduction)
    return;
  ShardingRule rule = getShardingRule(op);
  ShardedSelection sharded{linalgOp, {}, {}, {}};
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    if (rule.factor(f).kind == FactorKind::Selection && sharded.entries.empty())
      sharded.entries = findFactorAxes(rule, f, getSharding);
  if (sharded.entries.empty())
    return;
  for (Value result : op->getResults()) {
    sharded.globalTypes.push_back(cast<RankedTensorType>(result.getType()));
    sharded.shardings.push_back(*getSharding(result));
  }
  selections.push_back(std::move(sharded));
}

LogicalResult ShardedSelections::complete() {
  for (ShardedSelection &sharded : selections) {
    linalg::LinalgOp op = sharded.op;
    Location loc = op.getLoc();
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    int64_t shards = deviceFactor(sharded.entries);
    SmallVector<Value> gathered;
    llvm::SmallPtrSet<Operation *, 2> expanded;
    for (auto [result, type, sharding] : llvm::zip(op->getResults(), sharded.globalTypes, sharded.shardings)) {
      auto local = cast<RankedTensorType>(result.getType());
      SmallVector<int64_t> shape(local.getShape()), globalShape(type.getShape());
      shape.insert(shape.begin(), 1);
      globalShape.insert(globalShape.begin(), shards);
      SmallVector<ReassociationIndices> groups;
      for (int64_t d = 0; d < local.getRank(); ++d) {
        groups.push_back({d + 1});
        if (d == 0)
          groups.back().insert(groups.back().begin(), 0);
      }
      auto expand = tensor::ExpandShapeOp::create(b, loc, local.clone(shape), result, groups);
      expanded.insert(expand);
      for (Value size : expand.getOutputShape())
        expanded.insert(size.getDefiningOp()); // the size of a dynamic dim
      Sharding from = sharding;
      from.dims.insert(from.dims.begin(), DimSharding());
      Sharding to = from;
      from.dims.front().entries = sharded.entries;
      FailureOr<Value> all =
          lowerReshard(b, loc, expand, type.clone(globalShape), table.intern(from), table.intern(to), table);
      if (failed(all))
        return failure();
      gathered.push_back(*all);
    }
    // The same loops, the reduced one over shards.
    SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
    AffineExpr shard = b.getAffineDimExpr(llvm::find(loops, utils::IteratorType::reduction) - loops.begin());
    SmallVector<AffineMap> maps, outMaps;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      outMaps.push_back(op.getMatchingIndexingMap(&init));
      maps.push_back(outMaps.back().insertResult(shard, 0));
    }
    llvm::append_range(maps, outMaps);
    std::optional<Selection> selection = getSelection(op);
    auto generic = linalg::GenericOp::create(
        b, loc, op->getResultTypes(), gathered, op.getDpsInits(), maps, loops,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          ValueRange held = args.drop_front(gathered.size());
          linalg::YieldOp::create(b, loc, pickOne(b, op, *selection, held, args.take_front(gathered.size())));
        });
    for (auto [result, picked] : llvm::zip(op->getResults(), generic.getResults()))
      result.replaceAllUsesExcept(picked, expanded);
  }
  return success();
}
