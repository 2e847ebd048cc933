//===- StableHLOControlFlow.cpp - Loops and branches of StableHLO as scf --===//

#include "StableHLOOps.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_CONVERTSTABLEHLOCONTROLFLOWTOSCFPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// Whether each region is a block of `arguments` that ends with stablehlo.return of `results`; nothing has verified it.
static bool hasRegions(Operation *op, TypeRange arguments, TypeRange results) {
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.hasOneBlock() && region.getArgumentTypes() == arguments && !region.front().empty() &&
           isStableHLO(&region.front().back(), "return") && region.front().back().getOperandTypes() == results;
  });
}

static Value emitScalar(OpBuilder &b, Location loc, Value tensor) {
  return tensor::ExtractOp::create(b, loc, tensor, ValueRange());
}

static bool isScalar(Type type, Type element = {}) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && (!element || tensor.getElementType() == element);
}

template <typename OpT> static void replaceReturn(Block &block) {
  Operation *end = &block.back();
  OpBuilder b(end);
  OpT::create(b, end->getLoc(), end->getOperands());
  end->erase();
}

static void replaceOp(Operation *op, Operation *by) {
  op->replaceAllUsesWith(by->getResults());
  op->erase();
}

static bool convertWhile(Operation *op) {
  MLIRContext *context = op->getContext();
  Type condition = RankedTensorType::get({}, IntegerType::get(context, 1));
  TypeRange carried = op->getResultTypes();
  if (op->getNumRegions() != 2 || op->getOperandTypes() != carried)
    return false;
  Region &test = op->getRegion(0), &body = op->getRegion(1);
  if (!test.hasOneBlock() || !body.hasOneBlock() || test.getArgumentTypes() != carried ||
      body.getArgumentTypes() != carried || test.front().empty() || body.front().empty() ||
      !isStableHLO(&test.front().back(), "return") || !isStableHLO(&body.front().back(), "return") ||
      test.front().back().getOperandTypes() != TypeRange(condition) || body.front().back().getOperandTypes() != carried)
    return false;
  OpBuilder b(op);
  auto loop = scf::WhileOp::create(b, op->getLoc(), carried, op->getOperands());
  loop.getBefore().takeBody(test);
  loop.getAfter().takeBody(body);
  Operation *end = &loop.getBefore().front().back();
  b.setInsertionPoint(end);
  scf::ConditionOp::create(b, end->getLoc(), emitScalar(b, end->getLoc(), end->getOperand(0)),
                           loop.getBefore().getArguments());
  end->erase();
  replaceReturn<scf::YieldOp>(loop.getAfter().front());
  replaceOp(op, loop);
  return true;
}

static bool convertIf(Operation *op) {
  if (op->getNumRegions() != 2 || op->getNumOperands() != 1 ||
      !isScalar(op->getOperand(0).getType(), IntegerType::get(op->getContext(), 1)) ||
      !hasRegions(op, {}, op->getResultTypes()))
    return false;
  OpBuilder b(op);
  auto branch = scf::IfOp::create(b, op->getLoc(), op->getResultTypes(), emitScalar(b, op->getLoc(), op->getOperand(0)),
                                  /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    to.takeBody(from);
    replaceReturn<scf::YieldOp>(to.front());
  }
  replaceOp(op, branch);
  return true;
}

/// A number that no branch has is that of the last one.
static bool convertCase(Operation *op) {
  if (op->getNumRegions() == 0 || op->getNumOperands() != 1 ||
      !isScalar(op->getOperand(0).getType(), IntegerType::get(op->getContext(), 32)) ||
      !hasRegions(op, {}, op->getResultTypes()))
    return false;
  OpBuilder b(op);
  Location loc = op->getLoc();
  const unsigned cases = op->getNumRegions() - 1;
  Value number = arith::IndexCastOp::create(b, loc, b.getIndexType(), emitScalar(b, loc, op->getOperand(0)));
  auto branch = scf::IndexSwitchOp::create(b, loc, op->getResultTypes(), number,
                                           llvm::to_vector(llvm::seq<int64_t>(0, cases)), cases);
  for (unsigned i = 0; i <= cases; ++i) {
    Region &to = i == cases ? branch.getDefaultRegion() : branch.getCaseRegions()[i];
    to.takeBody(op->getRegion(i));
    replaceReturn<scf::YieldOp>(to.front());
  }
  replaceOp(op, branch);
  return true;
}

namespace {

struct ConvertStableHLOControlFlowToSCFPass
    : public spmd::impl::ConvertStableHLOControlFlowToSCFPassBase<ConvertStableHLOControlFlowToSCFPass> {
  using Base::Base;
  void runOnOperation() override {
    // Ops of other forms stay, for the warning about ops without a rule.
    getOperation().walk<WalkOrder::PostOrder>([](Operation *op) {
      if (isStableHLO(op, "while"))
        convertWhile(op);
      else if (isStableHLO(op, "if"))
        convertIf(op);
      else if (isStableHLO(op, "case"))
        convertCase(op);
    });
  }
};

} // namespace
