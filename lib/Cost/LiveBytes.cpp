//===- LiveBytes.cpp - What a device holds at a time ----------------------===//

#include "shardkit/Cost/LiveBytes.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

int64_t spmd::getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape()
             ? tensor.getNumElements() * getElementBytes(tensor.getElementType())
             : 0;
}

bool spmd::isView(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op);
}

/// Position behind the last user of a value in its block, through views.
static unsigned getEnd(Value value, Block *block,
                       const llvm::DenseMap<Operation *, unsigned> &position) {
  unsigned end = 0;
  for (Operation *user : value.getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (!here) // another block
      here = block->getTerminator();
    end = std::max(end, position.lookup(here) + 1);
    if (isView(user) && user->getBlock() == block)
      end = std::max(end, getEnd(user->getResult(0), block, position));
  }
  return end;
}

/// The most that is live at once of what a block defines, regions included.
static int64_t getPeak(Block *block) {
  llvm::DenseMap<Operation *, unsigned> position;
  for (Operation &op : *block)
    position.try_emplace(&op, position.size());
  // Bytes that begin to live at an op, less those that end before it.
  SmallVector<int64_t> change(position.size() + 1, 0);
  SmallVector<int64_t> inside(position.size() + 1, 0);
  for (Operation &op : *block) {
    unsigned at = position.lookup(&op);
    bool counts =
        !isView(&op) && !isa<tensor::EmptyOp>(op) && !op.hasTrait<OpTrait::ConstantLike>();
    for (Value result : op.getResults())
      if (int64_t bytes = counts ? getBytes(result.getType()) : 0) {
        change[at] += bytes;
        change[std::max(at + 1, getEnd(result, block, position))] -= bytes;
      }
    if (!isa<linalg::LinalgOp>(op)) // theirs are scalars
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          inside[at] = std::max(inside[at], getPeak(&inner));
  }
  int64_t live = 0, peak = 0;
  for (auto [delta, more] : llvm::zip(change, inside)) {
    live += delta;
    peak = std::max(peak, live + more);
  }
  return peak;
}

int64_t spmd::getPeakBytes(func::FuncOp func) {
  int64_t arguments = 0, peak = 0;
  for (Type type : func.getArgumentTypes())
    arguments += getBytes(type);
  for (Block &block : func.getBody())
    peak = std::max(peak, getPeak(&block));
  return arguments + peak;
}
