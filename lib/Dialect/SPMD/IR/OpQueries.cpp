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

SplatElementsAttr spmd::getSplatConstant(Operation *op) {
  if (op->getName().stripDialect() != "constant" || op->getNumOperands() != 0 || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return {};
  auto value = op->getAttrOfType<SplatElementsAttr>("value");
  return value && value.getType() == op->getResult(0).getType() ? value : SplatElementsAttr();
}

bool spmd::isConstantLike(Operation *op) {
  if (!op)
    return false;
  if (getSplatConstant(op))
    return true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getNumResults() == 1 && isConstantLike(fill.getOutputs().front().getDefiningOp());
  return isa<tensor::EmptyOp, tensor::SplatOp>(op);
}
