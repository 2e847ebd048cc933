//===- OpQueries.cpp - Classes of ops that phases distinguish -------------===//

#include "shardkit/Dialect/SPMD/IR/OpQueries.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

bool spmd::isConstraintLike(Operation *op) {
  return isa<WithShardingConstraintOp, ReshardOp, PropagationBarrierOp>(op);
}

bool spmd::isRematerialized(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isConstraintLike(op))
      return isConstantLike(op);
    value = op->getOperand(0);
  }
  return false;
}

bool spmd::isDeadConstraint(Operation *op) {
  return isConstraintLike(op) && llvm::all_of(op->getUsers(), isDeadConstraint);
}

bool spmd::isConstantLike(Operation *op) {
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getNumResults() == 1 && isConstantLike(fill.getOutputs().front().getDefiningOp());
  return isa<tensor::EmptyOp, tensor::SplatOp>(op);
}
