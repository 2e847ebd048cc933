//===- CollectiveRules.cpp - Collectives that users write -----------------===//
//
// In a manual computation a collective moves data along manual axes; dims that it does
// not change may be sharded by the other axes.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/ShardingRule.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

template <typename OpTy> struct CollectiveModel : ShardingRuleOpInterface::ExternalModel<CollectiveModel<OpTy>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    auto collective = cast<CollectiveOpInterface>(op);
    auto isMoved = [](ShardingAttr attr, unsigned d) { return attr && !attr.getDims()[d].getEntries().empty(); };
    ShardingRule rule;
    auto from = cast<RankedTensorType>(op->getOperand(0).getType()),
         to = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int32_t> factors;
    for (auto [d, size, other] : llvm::enumerate(from.getShape(), to.getShape())) {
      bool stays = size == other && !ShapedType::isDynamic(size) && !isMoved(collective.getFromSharding(), d) &&
                   !isMoved(collective.getToSharding(), d);
      factors.push_back(stays ? rule.addFactor(size) : -1);
    }
    rule.addOperand(op->getOperand(0));
    rule.addDims(factors);
    rule.addResult(op->getResult(0));
    rule.addDims(factors);
    return rule;
  }
  /// Dims that a user's collective does not move may be sharded by other axes.
  void makeLocal(Operation *op, const TensorTypes &types) const {
    if constexpr (llvm::is_one_of<OpTy, CollectivePermuteOp, ExchangeOp, HaloExchangeOp>::value) {
      auto move = cast<OpTy>(op);
      auto global = cast<RankedTensorType>(move.getGlobalType());
      SmallVector<int64_t> shape(global.getShape());
      for (auto [size, local, from, to] : llvm::zip_equal(shape, types.getLocal(move.getResult()).getShape(),
                                                          move.getFrom().getDims(), move.getTo().getDims()))
        if (from.getEntries().empty() && to.getEntries().empty())
          size = local;
      move.setGlobalType(global.clone(shape));
    }
  }
};

} // namespace

void spmd::registerCollectiveShardingRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SPMDDialect *) {
    AllGatherOp::attachInterface<CollectiveModel<AllGatherOp>>(*context);
    AllReduceOp::attachInterface<CollectiveModel<AllReduceOp>>(*context);
    AllSliceOp::attachInterface<CollectiveModel<AllSliceOp>>(*context);
    AllToAllOp::attachInterface<CollectiveModel<AllToAllOp>>(*context);
    CollectivePermuteOp::attachInterface<CollectiveModel<CollectivePermuteOp>>(*context);
    ExchangeOp::attachInterface<CollectiveModel<ExchangeOp>>(*context);
    HaloExchangeOp::attachInterface<CollectiveModel<HaloExchangeOp>>(*context);
    ReduceScatterOp::attachInterface<CollectiveModel<ReduceScatterOp>>(*context);
  });
}
