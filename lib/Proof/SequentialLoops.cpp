//===- SequentialLoops.cpp - Loops and branches of few kinds --------------===//

#include "SequentialLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::spmd;

/// Clones the ops of a block without its terminator.
static void cloneBody(OpBuilder &b, Block &block, IRMapping &map) {
  for (Operation &op : block.without_terminator())
    b.clone(op, map);
}

/// A nest of loops around what `body` builds, by the indices and the carried values, which it returns as they are
/// after an iteration.
static SmallVector<Value>
buildNest(OpBuilder &b, Location loc, ArrayRef<Value> lower, ArrayRef<Value> upper, ArrayRef<Value> step,
          ValueRange carried, llvm::function_ref<SmallVector<Value>(OpBuilder &, ArrayRef<Value>, ValueRange)> body,
          SmallVector<Value> indices = {}) {
  unsigned depth = indices.size();
  if (depth == lower.size())
    return body(b, indices, carried);
  auto loop = scf::ForOp::create(b, loc, lower[depth], upper[depth], step[depth], carried);
  // A loop that carries nothing has a terminator already.
  if (carried.empty())
    loop.getBody()->getTerminator()->erase();
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  indices.push_back(loop.getInductionVar());
  SmallVector<Value> yields = buildNest(inner, loc, lower, upper, step, loop.getRegionIterArgs(), body, indices);
  scf::YieldOp::create(inner, loc, yields);
  return llvm::to_vector_of<Value>(loop.getResults());
}

static void replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

/// An iteration inserts its slices into what the ones before it left. What it reads of an output is as it was before
/// the loop: other iterations may not have run.
static void rewrite(scf::ForallOp op) {
  OpBuilder b(op);
  SmallVector<Value> lower = op.getLowerBound(b), upper = op.getUpperBound(b), step = op.getStep(b);
  auto body = [&](OpBuilder &inner, ArrayRef<Value> indices, ValueRange carried) {
    IRMapping map;
    map.map(op.getInductionVars(), indices);
    map.map(op.getRegionIterArgs(), op.getOutputs());
    cloneBody(inner, *op.getBody(), map);
    SmallVector<Value> yields(carried);
    for (Operation &nested : op.getTerminator().getYieldingOps()) {
      auto insert = cast<tensor::ParallelInsertSliceOp>(nested);
      auto argument = cast<BlockArgument>(insert.getDest());
      Value &dest = yields[argument.getArgNumber() - indices.size()];
      auto look = [&](SmallVector<OpFoldResult> sizes) {
        for (OpFoldResult &size : sizes)
          if (auto value = dyn_cast<Value>(size))
            size = map.lookupOrDefault(value);
        return sizes;
      };
      dest = tensor::InsertSliceOp::create(inner, insert.getLoc(), map.lookupOrDefault(insert.getSource()), dest,
                                           look(insert.getMixedOffsets()), look(insert.getMixedSizes()),
                                           look(insert.getMixedStrides()));
    }
    return yields;
  };
  replace(op, buildNest(b, op.getLoc(), lower, upper, step, op.getOutputs(), body));
}

static void rewrite(scf::ParallelOp op) {
  OpBuilder b(op);
  SmallVector<Value> lower(op.getLowerBound()), upper(op.getUpperBound()), step(op.getStep());
  auto body = [&](OpBuilder &inner, ArrayRef<Value> indices, ValueRange carried) {
    IRMapping map;
    map.map(op.getInductionVars(), indices);
    cloneBody(inner, *op.getBody(), map);
    auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
    SmallVector<Value> yields;
    for (auto [sum, operand, region] : llvm::zip_equal(carried, reduce.getOperands(), reduce.getReductions())) {
      Block &combiner = region.front();
      map.map(combiner.getArgument(0), sum);
      map.map(combiner.getArgument(1), map.lookupOrDefault(operand));
      cloneBody(inner, combiner, map);
      yields.push_back(map.lookupOrDefault(combiner.getTerminator()->getOperand(0)));
    }
    return yields;
  };
  replace(op, buildNest(b, op.getLoc(), lower, upper, step, op.getInitVals(), body));
}

static void rewrite(scf::IndexSwitchOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  // From the last case on, each the other side of the one before it.
  auto moveBody = [](Region &from, Region &to) { to.takeBody(from); };
  std::function<SmallVector<Value>(OpBuilder &, unsigned)> build = [&](OpBuilder &at, unsigned number) {
    if (number == op.getNumCases()) {
      IRMapping map;
      cloneBody(at, op.getDefaultBlock(), map);
      return llvm::map_to_vector(op.getDefaultBlock().getTerminator()->getOperands(),
                                 [&](Value value) { return map.lookupOrDefault(value); });
    }
    Value value = arith::ConstantIndexOp::create(at, loc, op.getCases()[number]);
    Value isCase = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, op.getArg(), value);
    auto branch = scf::IfOp::create(at, loc, op.getResultTypes(), isCase, /*withElseRegion=*/true);
    moveBody(op.getCaseRegions()[number], branch.getThenRegion());
    Block &other = branch.getElseRegion().front();
    other.clear();
    OpBuilder inner = OpBuilder::atBlockEnd(&other);
    SmallVector<Value> yields = build(inner, number + 1);
    scf::YieldOp::create(inner, loc, yields);
    return llvm::to_vector_of<Value>(branch.getResults());
  };
  replace(op, build(b, 0));
}

static void rewrite(scf::ExecuteRegionOp op) {
  if (!op.getRegion().hasOneBlock())
    return;
  Block &block = op.getRegion().front();
  SmallVector<Value> yields(block.getTerminator()->getOperands());
  block.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  replace(op, yields);
}

void proof::makeSequential(ModuleOp module) {
  // Inner ops first.
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<scf::ForallOp, scf::ParallelOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      rewrite(forall);
    else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
      rewrite(parallel);
    else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
      rewrite(branch);
    else
      rewrite(cast<scf::ExecuteRegionOp>(op));
  }
}
