//===- MergeReductions.cpp - One reduction of a sum -----------------------===//
//
//   all_reduce(a) + all_reduce(b)  ->  all_reduce(a + b)
//   for { s += all_reduce(p) }     ->  for { t += p }  s + all_reduce(t)
//
// --spmd-insert-reshards defers the reductions that it inserts; this is for reductions
// that users write. Both rewrites are correct for any contents of the devices.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Passes.h"
#include "shardkit/Rules/ControlFlow.h"
#include "shardkit/Rules/Linearity.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Rules/ShardingRule.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDMERGEREDUCTIONSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-merge-reductions"

using namespace mlir;
using namespace mlir::spmd;

/// The all-reduce of sums in the block of `op` that defines a value, if `op` is its only
/// user.
static AllReduceOp getOnlySum(Value value, Operation *op) {
  auto reduce = value.getDefiningOp<AllReduceOp>();
  bool fits = reduce && reduce->getBlock() == op->getBlock() &&
              reduce.getReductionKind().getValue() == ReductionKind::Sum &&
              llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; });
  return fits ? reduce : AllReduceOp();
}

/// A sum or difference of all-reduces over the same axes. Returns their number, 0 if they are not merged.
static unsigned mergeOperands(Operation *op) {
  if (op->getNumOperands() < 2 || !isAdditive(op))
    return 0;
  SmallVector<AllReduceOp> sums;
  llvm::SmallBitVector read = getReadTensors(op);
  for (unsigned t : read.set_bits()) {
    AllReduceOp sum = getOnlySum(op->getOperand(t), op);
    if (!sum || (!sums.empty() && sum.getAxes() != sums.front().getAxes()))
      return 0;
    if (!llvm::is_contained(sums, sum))
      sums.push_back(sum);
  }
  if (sums.size() < 2)
    return 0;
  SPMD_LOG() << "merges " << sums.size() << " all-reduces that " << op->getName() << " at " << op->getLoc() << " adds";
  Value result = op->getResult(0);
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  auto merged = AllReduceOp::create(b, sums.front()->getLoc(), result.getType(), result,
                                    sums.front().getReductionKindAttr(), sums.front().getAxesAttr(), IntegerAttr());
  result.replaceAllUsesExcept(merged.getResult(), merged);
  for (AllReduceOp sum : sums) {
    sum.getResult().replaceAllUsesWith(sum.getInput());
    sum.erase();
  }
  return sums.size();
}

/// An iteration argument to which the body only adds an all-reduce, or from which it only
/// subtracts one. Returns whether it is reduced after the loop.
static bool mergeTrips(scf::ForOp loop, unsigned i) {
  BlockArgument sum = loop.getRegionIterArg(i);
  auto type = dyn_cast<RankedTensorType>(sum.getType());
  if (!type || !type.hasStaticShape() || !sum.hasOneUse())
    return false;
  OpOperand &use = *sum.use_begin();
  Operation *op = use.getOwner();
  bool isSum =
      isa<arith::AddFOp, arith::AddIOp>(op) || (isa<arith::SubFOp, arith::SubIOp>(op) && use.getOperandNumber() == 0);
  if (!isSum || op->getBlock() != loop.getBody() || !op->hasOneUse())
    return false;
  OpOperand &yielded = *op->use_begin();
  if (yielded.getOwner() != loop.getBody()->getTerminator() || yielded.getOperandNumber() != i)
    return false;
  OpOperand &other = op->getOpOperand(1 - use.getOperandNumber());
  AllReduceOp reduce = getOnlySum(other.get(), op);
  if (!reduce)
    return false;
  SPMD_LOG() << "reduces sum " << i << " after the loop at " << loop.getLoc() << ", not in it";
  OpBuilder b(loop);
  Location loc = reduce.getLoc();
  Value init = loop.getInitArgs()[i], result = loop.getResult(i);
  bool isZero = isNeutralFill(init, ReductionKind::Sum);
  if (!isZero) {
    // Adding -0.0 does not change any float.
    Type element = type.getElementType();
    TypedAttr zero = getNeutralElement(ReductionKind::Sum, element);
    if (isa<FloatType>(element))
      zero = b.getFloatAttr(element, -0.0);
    loop.getInitArgsMutable()[i].set(arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(zero))));
  }
  b.setInsertionPointAfter(loop);
  auto merged =
      AllReduceOp::create(b, loc, type, result, reduce.getReductionKindAttr(), reduce.getAxesAttr(), IntegerAttr());
  Value total = merged.getResult();
  SmallPtrSet<Operation *, 2> added{merged};
  if (!isZero) {
    total = isa<FloatType>(type.getElementType()) ? arith::AddFOp::create(b, op->getLoc(), init, total).getResult()
                                                  : arith::AddIOp::create(b, op->getLoc(), init, total).getResult();
    added.insert(total.getDefiningOp());
  }
  result.replaceAllUsesExcept(total, added);
  other.set(reduce.getInput());
  reduce.erase();
  return true;
}

namespace {

struct MergeReductionsPass : public spmd::impl::SPMDMergeReductionsPassBase<MergeReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (tripCount < 1) {
      emitModuleError(func) << "trip-count=" << tripCount.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    if (failed(verifyLocalView(func, getArgument())))
      return signalPassFailure();
    // Inner loops first, so that a sum can leave several loops.
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (!isa<AllReduceOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (getTripCount(loop, tripCount) > 1)
          for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
            SPMD_COUNT(mergedReductions, mergeTrips(loop, i));
      } else {
        SPMD_COUNT(mergedReductions, mergeOperands(op));
      }
    }
  }
};

} // namespace
