//===- Constraints.cpp - Shardings on ops as constraints -------------------===//

#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::spmd;

WithShardingConstraintOp spmd::constrainValue(OpBuilder &b, Value value, ShardingAttr sharding, Location loc) {
  auto constraint = WithShardingConstraintOp::create(b, loc, value, sharding);
  value.replaceAllUsesExcept(constraint.getResult(), constraint);
  return constraint;
}

void spmd::makeConstraintsOfShardings(Operation *root) {
  SmallVector<Operation *> annotated;
  root->walk([&](Operation *op) {
    if (op->hasAttr(kShardingsAttr) && !isa<WithShardingConstraintOp>(op))
      annotated.push_back(op);
  });
  makeConstraintsOfShardings(annotated);
}

void spmd::makeConstraintsOfShardings(ArrayRef<Operation *> annotated) {
  for (Operation *op : annotated) {
    auto shardings = op->getAttrOfType<ArrayAttr>(kShardingsAttr);
    op->removeAttr(kShardingsAttr);
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    for (auto [result, attr] : llvm::zip(op->getResults(), shardings)) {
      auto sharding = dyn_cast<ShardingAttr>(attr);
      if (!sharding || !isa<RankedTensorType>(result.getType()))
        continue;
      constrainValue(b, result, sharding, op->getLoc());
    }
  }
}
