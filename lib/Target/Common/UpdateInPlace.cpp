//===- UpdateInPlace.cpp - Results in their arguments' memory -------------===//

#include "UpdateInPlace.h"
#include "shardkit/Target/Common/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

/// Whether the op reads the full operand and keeps no view of it.
static bool isConsumed(OpOperand &use) {
  return isa<linalg::LinalgOp, target::ContractOp, target::ContractWidenedOp, target::AttentionOp, target::CallOp,
             target::CollectiveOp, target::StartOp, target::DoneOp, tensor::ExtractOp, tensor::DimOp>(use.getOwner());
}

/// Whether all reads of `value`, or of a view of it, in `block` precede `producer`.
static bool isReadBefore(OpOperand &use, Operation *producer) {
  Operation *user = producer->getBlock()->findAncestorOpInBlock(*use.getOwner());
  if (!user || user == producer || !user->isBeforeInBlock(producer))
    return false;
  if (isConsumed(use))
    return true;
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(use.getOwner()) &&
         llvm::all_of(use.getOwner()->getUses(), [&](OpOperand &next) { return isReadBefore(next, producer); });
}

/// The insertion that computes result `index` of `loop`, a nest of loops, slice by slice;
/// iterations write disjoint slices. Null if there is none.
static tensor::InsertSliceOp matchParts(scf::ForOp loop, unsigned index, SmallVectorImpl<scf::ForOp> &nest) {
  nest.push_back(loop);
  Value carried = loop.getRegionIterArg(index);
  Value yielded = loop.getBody()->getTerminator()->getOperand(index);
  if (auto inner = yielded.getDefiningOp<scf::ForOp>()) {
    unsigned result = cast<OpResult>(yielded).getResultNumber();
    return inner->getBlock() == loop.getBody() && inner.getInitArgs()[result] == carried
               ? matchParts(inner, result, nest)
               : tensor::InsertSliceOp();
  }
  auto insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || insert.getDest() != carried || insert->getBlock() != loop.getBody())
    return {};
  for (scf::ForOp each : nest) {
    auto step = getConstantIntValue(each.getStep());
    bool isOwn = llvm::any_of(
        llvm::zip_equal(insert.getMixedOffsets(), insert.getMixedSizes(), insert.getMixedStrides()), [&](auto slice) {
          auto [offset, size, stride] = slice;
          auto length = getConstantIntValue(size);
          return offset == OpFoldResult(each.getInductionVar()) && isConstantIntValue(stride, 1) && step && length &&
                 *length <= *step;
        });
    if (!isOwn)
      return {};
  }
  return insert;
}

/// Whether the buffer of the result is not written before its producer begins.
static bool isFresh(Value init, Value full) {
  auto slice = init.getDefiningOp<tensor::ExtractSliceOp>();
  return init.getDefiningOp<tensor::EmptyOp>() || (slice && slice.getSource() == full);
}

/// `full`: the full value, if the value is a slice.
static bool check(Value value, Value argument, Value full) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || value.getType() != argument.getType())
    return false;
  Operation *producer = result.getOwner();
  auto loop = dyn_cast<scf::ForOp>(producer);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(producer);
  auto call = dyn_cast<target::CallOp>(producer);
  tensor::InsertSliceOp insert;
  SmallVector<scf::ForOp> nest;
  if (linalgOp) {
    if (linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
        !isFresh(linalgOp.getDpsInits()[result.getResultNumber()], full))
      return false;
  } else if (loop) {
    if (!isFresh(loop.getInitArgs()[result.getResultNumber()], full) ||
        !(insert = matchParts(loop, result.getResultNumber(), nest)))
      return false;
  } else if (call) {
    const int64_t tied = call.getTied()[result.getResultNumber()];
    if (!isFresh(call.getInits()[result.getResultNumber()], full) || tied < 0 || call.getInputs()[tied] != argument)
      return false;
  } else {
    return false;
  }
  auto isReadInStep = [&](OpOperand &use) {
    if (call) // The layer is such a function itself.
      return int64_t(use.getOperandNumber()) == call.getTied()[result.getResultNumber()];
    if (linalgOp)
      return use.getOwner() == producer && linalgOp.isDpsInput(&use) &&
             linalgOp.getMatchingIndexingMap(&use) == linalgOp.getIndexingMapMatchingResult(result) &&
             linalgOp.getMatchingIndexingMap(&use).isPermutation();
    auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
    return slice && slice->getBlock() == insert->getBlock() && slice.getMixedOffsets() == insert.getMixedOffsets() &&
           slice.getMixedSizes() == insert.getMixedSizes() && slice.getMixedStrides() == insert.getMixedStrides() &&
           check(insert.getSource(), slice, insert.getDest());
  };
  return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
    return isReadBefore(use, producer) || (producer->isAncestor(use.getOwner()) && isReadInStep(use));
  });
}

bool target::canUpdateInPlace(Value value, Value argument) { return check(value, argument, Value()); }

OpOperand *target::findUpdate(Value value, BlockArgument argument) {
  if (value.getType() != argument.getType())
    return nullptr;
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    OpOperand *init = nullptr;
    if (op->getBlock() != argument.getOwner())
      return nullptr;
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      init = destination.getTiedOpOperand(result);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      init = loop.getTiedLoopInit(result);
    if (!init)
      return nullptr;
    value = init->get();
    if (value == argument)
      return llvm::all_of(argument.getUses(), [&](OpOperand &use) { return &use == init || isReadBefore(use, op); })
                 ? init
                 : nullptr;
  }
  return nullptr;
}
