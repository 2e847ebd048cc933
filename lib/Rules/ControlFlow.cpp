//===- ControlFlow.cpp - Loops and branches on values ---------------------===//

#include "shardkit/Rules/ControlFlow.h"

#include "shardkit/Rules/ShardingRule.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::spmd;

bool spmd::isControlFlow(Operation *op) {
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    return region.getRegion().hasOneBlock();
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return llvm::all_of(loop.getTerminator().getYieldingOps(), llvm::IsaPred<tensor::ParallelInsertSliceOp>);
  if (auto loop = dyn_cast<scf::ParallelOp>(op))
    return llvm::none_of(loop.getResultTypes(), llvm::IsaPred<TensorType>);
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op);
}

SmallVector<tensor::ParallelInsertSliceOp> spmd::getSliceWrites(scf::ForallOp loop) {
  return llvm::to_vector(loop.getTerminator().getBody()->getOps<tensor::ParallelInsertSliceOp>());
}

int64_t spmd::getTripCount(Operation *op, int64_t unknown) {
  if (isa<scf::WhileOp>(op))
    return unknown;
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(), step = loop.getLoopSteps();
  if (!lower || !upper || !step)
    return unknown;
  int64_t trips = 1;
  for (auto [first, last, stride] : llvm::zip(*lower, *upper, *step)) {
    auto from = getConstantIntValue(first), to = getConstantIntValue(last), by = getConstantIntValue(stride);
    if (!from || !to || !by || *by <= 0)
      return unknown;
    int64_t length = *to > *from ? llvm::divideCeilSigned(*to - *from, *by) : 0;
    trips = llvm::MulOverflow(trips, length, trips) ? INT64_MAX : trips;
  }
  return trips;
}

int64_t spmd::countExecutions(Block *block, int64_t unknown) {
  int64_t count = 1;
  for (Operation *op = block->getParentOp(); op && !isa<FunctionOpInterface>(op); op = op->getParentOp())
    if (llvm::MulOverflow(count, getTripCount(op, unknown), count))
      return INT64_MAX;
  return count;
}

llvm::SmallBitVector spmd::getPartlyWrittenDims(scf::ForallOp loop, unsigned i) {
  BlockArgument shared = loop.getRegionIterArgs()[i];
  llvm::SmallBitVector dims(cast<RankedTensorType>(shared.getType()).getRank());
  for (tensor::ParallelInsertSliceOp write : getSliceWrites(loop)) {
    if (write.getDest() != shared)
      continue;
    ShardingRule rule = getShardingRule(write);
    const ShardingRule::Tensor &dest = rule.tensor(1);
    for (unsigned d = 0; d < dims.size(); ++d) {
      ArrayRef<int32_t> factors = d < dest.numDims ? rule.dimFactors(dest, d) : ArrayRef<int32_t>();
      if (factors.empty() || rule.factor(factors.front()).kind == FactorKind::Replicated)
        dims.set(d);
    }
  }
  return dims;
}
