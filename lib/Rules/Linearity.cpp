//===- Linearity.cpp - Ops that sums pass through -------------------------===//

#include "shardkit/Rules/Linearity.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The dependence of a scalar of a body on the marked operands.
enum class Degree { Constant, Linear, Other };

} // namespace

static Degree getDegree(Operation *op, ArrayRef<Degree> operands) {
  if (llvm::all_of(operands, [](Degree d) { return d == Degree::Constant; }))
    return Degree::Constant;
  bool allLinear = llvm::all_of(operands, [](Degree d) { return d == Degree::Linear; });
  if (allLinear && isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp, arith::NegFOp, arith::ExtFOp>(op))
    return Degree::Linear;
  if (isa<arith::MulFOp, arith::MulIOp>(op) && llvm::count(operands, Degree::Linear) == 1 &&
      llvm::count(operands, Degree::Constant) == 1)
    return Degree::Linear;
  return Degree::Other;
}

static bool isLinear(linalg::LinalgOp op, const llvm::SmallBitVector &marked) {
  Block *body = op.getBlock();
  // The accumulator has the degree of the added value: a product of marked values is not linear in them.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getNumReductionLoops() > 0 && !marked.test(init.getOperandNumber()) &&
        !op.getMatchingBlockArgument(&init).use_empty())
      return false;
  llvm::DenseMap<Value, Degree> degrees;
  for (auto [operand, arg] : llvm::zip(op->getOpOperands(), body->getArguments()))
    degrees[arg] = marked.test(operand.getOperandNumber()) ? Degree::Linear : Degree::Constant;
  auto degreeOf = [&](Value value) {
    auto it = degrees.find(value);
    return it == degrees.end() ? Degree::Constant : it->second; // defined outside
  };
  for (Operation &inner : body->without_terminator()) {
    if (inner.getNumRegions() > 0)
      return false;
    SmallVector<Degree, 3> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(degreeOf(operand));
    Degree degree = getDegree(&inner, operands);
    for (Value result : inner.getResults())
      degrees[result] = degree;
  }
  return llvm::all_of(body->getTerminator()->getOperands(),
                      [&](Value value) { return degreeOf(value) == Degree::Linear; });
}

bool spmd::isLinear(Operation *op, const llvm::SmallBitVector &marked) {
  if (marked.none() || op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return ::isLinear(linalgOp, marked);
  if (isa<arith::MulFOp, arith::MulIOp>(op) ||
      (isa<tosa::MulOp>(op) && isa<FloatType>(getElementTypeOrSelf(op->getOperand(0)))))
    return marked.count() == 1 && marked.find_first() < 2;
  return marked == getReadTensors(op) &&
         isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp, arith::NegFOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::CastOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
             tosa::AddOp, tosa::SubOp, tosa::TransposeOp>(op);
}

bool spmd::isAdditive(Operation *op) { return isLinear(op, getReadTensors(op)); }

llvm::SmallBitVector spmd::getReadTensors(Operation *op) {
  llvm::SmallBitVector read(op->getNumOperands());
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    read[operand.getOperandNumber()] = isa<RankedTensorType>(operand.get().getType()) &&
                                       !(linalgOp && linalgOp.getMatchingBlockArgument(&operand).use_empty());
  return read;
}
