//===- Linearity.cpp - Ops that sums pass through -------------------------===//

#include "shardkit/Rules/Linearity.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::spmd;

/// Each input once per element of the result, in a body of sums and differences.
static bool isAdditive(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() == 0)
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType())
            ? !op.getMatchingIndexingMap(&operand).isPermutation()
            : true)
      return false;
  Block *body = op.getBlock();
  for (BlockArgument arg : body->getArguments())
    if (int64_t uses = std::distance(arg.use_begin(), arg.use_end());
        arg.getArgNumber() < op.getNumDpsInputs() ? uses != 1 : uses != 0)
      return false;
  for (Operation &inner : body->without_terminator())
    if (!isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp, arith::NegFOp>(inner) ||
        !inner.hasOneUse() || llvm::any_of(inner.getOperands(), [&](Value value) {
          return value.getParentBlock() != body;
        }))
      return false;
  return body->getTerminator()->getOperand(0).getParentBlock() == body;
}

bool spmd::isAdditive(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return ::isAdditive(linalgOp);
  return isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp, arith::NegFOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tosa::TransposeOp>(op);
}
