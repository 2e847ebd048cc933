//===- Rows.cpp - Ops that share rows become one kernel -------------------===//

#include "../Common/RowGroups.h"
#include "ScatterCode.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCUDAROWS
#include "shardkit/Target/Cuda/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::cuda;
using namespace mlir::spmd::target;

/// Whether an op can be computed row by row for some choice of rows.
static bool canComputeRows(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || isa<linalg::FillOp>(op) || op->getNumResults() != 1 || getDeviceScatter(op))
    return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  for (Value operand : op->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      if (!tensor.getElementType().isIntOrIndexOrFloat())
        return false;
  // A payload that reads tensors by index does not depend on rows only.
  bool reads = false;
  op.getBlock()->walk([&](Operation *inner) { reads |= isa<tensor::TensorDialect>(inner->getDialect()); });
  return !reads;
}

/// The loops of `op` along the row, those that are not in `outer`; std::nullopt if only
/// some of them are reductions, if threads cannot share the reduction, or if only the run knows a size.
static std::optional<SmallVector<unsigned>> getInnerLoops(linalg::LinalgOp op, ArrayRef<unsigned> outer) {
  SmallVector<unsigned> inner;
  auto iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < iterators.size(); ++loop)
    if (!llvm::is_contained(outer, loop))
      inner.push_back(loop);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(inner, [&](unsigned loop) { return ShapedType::isDynamic(ranges[loop]); }))
    return std::nullopt;
  unsigned reductions = op.getNumReductionLoops();
  if (reductions == 0)
    return inner;
  if (reductions != inner.size() || !isReducedInAllOutputs(op))
    return std::nullopt;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1 || !getStart(combiners[0]))
    return std::nullopt;
  return inner;
}

static SmallVector<int64_t> getSizes(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes;
  for (unsigned loop : loops)
    sizes.push_back(ranges[loop]);
  return sizes;
}

namespace {
/// The groups that become one kernel each. The loops along the row have the same sizes in
/// all ops of a group.
class KernelRowGroups : public RowGroups {
public:
  explicit KernelRowGroups(int64_t maxLength) : maxLength(maxLength) {}

private:
  bool isCandidate(linalg::LinalgOp op) override { return canComputeRows(op); }

  bool canJoin(linalg::LinalgOp op) override { return true; }

  bool canJoinUser(linalg::LinalgOp op, OpOperand &use, const RowMember &user, ArrayRef<unsigned> outer) override {
    if (use.getOwner()->getBlock() != op->getBlock())
      return false;
    auto inner = getInnerLoops(op, outer);
    if (!inner)
      return false;
    bool alongRow = op.getNumReductionLoops() == 0 && !inner->empty();
    if ((alongRow || op.getNumReductionLoops()) && getSizes(op, *inner) != getRowSizes(*user.group))
      return false;
    if (!alongRow)
      return true;
    // The loops along the row are the same loops of op and user.
    auto userInner = *getInnerLoops(cast<linalg::LinalgOp>(use.getOwner()), user.outer);
    if (userInner.size() != inner->size())
      return false;
    for (auto [loop, userLoop] : llvm::zip_equal(*inner, userInner))
      if (getProducerLoop(use, userLoop) != std::optional<unsigned>(loop))
        return false;
    return true;
  }

  /// All dims of the result, without the innermost one if the op has no reduction.
  std::optional<SmallVector<unsigned>> getRootLoops(linalg::LinalgOp op) override {
    SmallVector<unsigned> outer = getRowLoops(op, op.getNumReductionLoops() == 0);
    auto inner = getInnerLoops(op, outer);
    if (!inner || inner->empty())
      return std::nullopt;
    int64_t length = 1;
    for (int64_t size : getSizes(op, *inner))
      length *= size;
    if (length == 0 || length > maxLength)
      return std::nullopt;
    return outer;
  }

  /// The sizes of the loops along the row.
  SmallVector<int64_t> getRowSizes(const RowGroup &group) {
    return getSizes(group.root, *getInnerLoops(group.root, lookup(group.root)->outer));
  }

  int64_t maxLength;
};

struct Rows : spmd::impl::SpmdCudaRowsBase<Rows> {
  using Base::Base;

  void build(const RowGroups &groups, RowGroup &group) {
    OpBuilder b(group.root);
    Location loc = group.root.getLoc();
    // 1. The ops in program order, with the initial values of reductions.
    SetVector<Operation *> inside;
    for (linalg::LinalgOp op : llvm::reverse(group.members)) {
      for (Value init : op.getDpsInits())
        if (auto fill = init.getDefiningOp<linalg::FillOp>())
          inside.insert(fill);
      inside.insert(op);
    }
    SetVector<Value> inputs;
    for (Operation *op : inside)
      for (OpOperand &operand : op->getOpOperands()) {
        bool unread = isa<linalg::FillOp>(op) || (cast<linalg::LinalgOp>(op).isDpsInit(&operand) &&
                                                  !cast<linalg::LinalgOp>(op).payloadUsesValueFromOperand(&operand));
        if (isa<RankedTensorType>(operand.get().getType()) && !unread &&
            !inside.contains(operand.get().getDefiningOp()))
          inputs.insert(operand.get());
      }
    // 2. The inputs: tensors of other ops, and scalars that payloads capture.
    for (Operation *op : inside) {
      SetVector<Value> above(op->getOperands().begin(), op->getOperands().end());
      getUsedValuesDefinedAbove(op->getRegions(), above);
      for (Value value : above)
        if (!isa<TensorType>(value.getType()) && !matchPattern(value, m_Constant()))
          inputs.insert(value);
    }
    auto rows = RowsOp::create(b, loc, TypeRange{group.root->getResult(0).getType()}, inputs.getArrayRef(),
                               group.root.getDpsInits()[0]);
    Block *body = &rows.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    OpBuilder in = OpBuilder::atBlockEnd(body);
    for (Operation *op : inside) {
      SetVector<Value> above(op->getOperands().begin(), op->getOperands().end());
      getUsedValuesDefinedAbove(op->getRegions(), above);
      for (Value value : above)
        if (!isa<TensorType>(value.getType()) && !mapping.contains(value))
          in.clone(*value.getDefiningOp(), mapping);
      // A tensor that is not read provides its type only.
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          if (!mapping.contains(operand.get()))
            mapping.map(operand.get(), ub::PoisonOp::create(in, loc, type));
      Operation *copy = in.clone(*op, mapping);
      if (const RowMember *member = groups.lookup(op))
        copy->setAttr(kOuterAttr,
                      b.getDenseI64ArrayAttr(SmallVector<int64_t>(member->outer.begin(), member->outer.end())));
    }
    YieldOp::create(in, loc, mapping.lookup(group.root->getResult(0)));
    group.root->getResult(0).replaceAllUsesWith(rows.getResult()[0]);
    for (linalg::LinalgOp op : group.members)
      op->erase();
  }

  void runOnOperation() override {
    KernelRowGroups groups(maxLength);
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp, RowsOp>(block->getParentOp()))
        groups.addBlock(*block);
    });
    for (RowGroup &group : groups.getGroups())
      if (group.members.size() > 1 &&
          llvm::any_of(group.members, [](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0; }))
        build(groups, group);
  }
};
} // namespace
