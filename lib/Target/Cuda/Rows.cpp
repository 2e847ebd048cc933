//===- Rows.cpp - Ops that share rows become one kernel -------------------===//

#include "ScatterCode.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Target/Cuda/Passes.h"
#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include <deque>

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDCUDAROWS
#include "shardkit/Target/Cuda/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::cuda;

namespace {
struct Group {
  linalg::LinalgOp root;
  SmallVector<int64_t> rowSizes;         ///< Of the loops along the row.
  SmallVector<linalg::LinalgOp> members; ///< The root first, then backwards.
  bool reduces = false;
};
struct Member {
  Group *group;
  SmallVector<unsigned> outer, inner; ///< Loops that choose the row, and along it.
};
} // namespace

static std::optional<unsigned> dimOf(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  return std::nullopt;
}

/// An op that can be computed a row at a time, whatever the rows are.
static bool isCandidate(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape() || isa<linalg::FillOp>(op) || op->getNumResults() != 1 ||
      getDeviceScatter(op))
    return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  for (Value operand : op->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      if (!tensor.getElementType().isIntOrIndexOrFloat())
        return false;
  // What a payload reads elsewhere is no row of ours.
  bool reads = false;
  op.getBlock()->walk([&](Operation *inner) { reads |= isa<tensor::TensorDialect>(inner->getDialect()); });
  return !reads;
}

/// The loops of `op` that are not in `outer`; nothing if some reduce and others do not,
/// or if it reduces in a way that threads cannot share.
static std::optional<SmallVector<unsigned>> innerLoops(linalg::LinalgOp op, ArrayRef<unsigned> outer) {
  SmallVector<unsigned> inner;
  auto iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < iterators.size(); ++loop)
    if (!llvm::is_contained(outer, loop))
      inner.push_back(loop);
  unsigned reductions = op.getNumReductionLoops();
  if (reductions == 0)
    return inner;
  if (reductions != inner.size())
    return std::nullopt;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1 || !getStart(combiners[0]))
    return std::nullopt;
  return inner;
}

static SmallVector<int64_t> sizesOf(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes;
  for (unsigned loop : loops)
    sizes.push_back(ranges[loop]);
  return sizes;
}

namespace {
struct Rows : spmd::impl::SpmdCudaRowsBase<Rows> {
  using Base::Base;

  /// The rows of an op that may be the last of a group: all dims of the result, but the
  /// innermost one where the op's own innermost loop is parallel.
  std::optional<Member> asRoot(linalg::LinalgOp op) {
    Member member{nullptr, {}, {}};
    AffineMap map = op.getIndexingMapsArray()[op.getNumDpsInputs()];
    for (AffineExpr expr : map.getResults())
      member.outer.push_back(*dimOf(expr));
    if (!member.outer.empty() && op.getNumReductionLoops() == 0)
      member.outer.pop_back();
    auto inner = innerLoops(op, member.outer);
    if (!inner || inner->empty())
      return std::nullopt;
    int64_t length = 1;
    for (int64_t size : sizesOf(op, *inner))
      length *= size;
    if (length == 0 || length > maxLength)
      return std::nullopt;
    member.inner = *inner;
    return member;
  }

  /// Where the rows of the users are in `op`, if all see it by the same rows.
  std::optional<Member> join(linalg::LinalgOp op) {
    if (op->use_empty())
      return std::nullopt;
    AffineMap outMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
    std::optional<Member> joined;
    for (OpOperand &use : op->getUses()) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!user || !members.contains(user) || user->getBlock() != op->getBlock() || user.isDpsInit(&use))
        return std::nullopt;
      const Member &member = members.find(user)->second;
      AffineMap map = user.getMatchingIndexingMap(&use);
      // The loop of `op` that a loop of the user is.
      auto loopAt = [&](unsigned loop) -> std::optional<unsigned> {
        for (auto [i, expr] : llvm::enumerate(map.getResults()))
          if (dimOf(expr) == std::optional<unsigned>(loop))
            return dimOf(outMap.getResult(i));
        return std::nullopt;
      };
      Member candidate{member.group, {}, {}};
      for (unsigned loop : member.outer) {
        std::optional<unsigned> at = loopAt(loop);
        if (!at)
          return std::nullopt;
        candidate.outer.push_back(*at);
      }
      auto inner = innerLoops(op, candidate.outer);
      if (!inner)
        return std::nullopt;
      candidate.inner = *inner;
      bool alongRow = op.getNumReductionLoops() == 0 && !inner->empty();
      if ((alongRow || op.getNumReductionLoops()) && sizesOf(op, *inner) != candidate.group->rowSizes)
        return std::nullopt;
      if (alongRow) {
        if (member.inner.size() != inner->size())
          return std::nullopt;
        for (auto [mine, theirs] : llvm::zip_equal(*inner, member.inner))
          if (loopAt(theirs) != std::optional<unsigned>(mine))
            return std::nullopt;
      }
      if (joined && (joined->group != candidate.group || joined->outer != candidate.outer))
        return std::nullopt;
      joined = candidate;
    }
    return joined;
  }

  void findGroups(Block &block) {
    for (Operation &operation : llvm::reverse(block)) {
      auto op = dyn_cast<linalg::LinalgOp>(operation);
      if (!op || !isCandidate(op))
        continue;
      std::optional<Member> member = join(op);
      if (!member) {
        if (!(member = asRoot(op)))
          continue;
        groups.push_back(Group{op, sizesOf(op, member->inner), {}, false});
        member->group = &groups.back();
      }
      member->group->members.push_back(op);
      member->group->reduces |= op.getNumReductionLoops() > 0;
      members.try_emplace(op, *member);
    }
  }

  void build(Group &group) {
    OpBuilder b(group.root);
    Location loc = group.root.getLoc();
    // In program order, with the constants that reductions start from.
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
    // Scalars that payloads take from outside.
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
      // A tensor that nobody reads stands for its type.
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          if (!mapping.contains(operand.get()))
            mapping.map(operand.get(), tensor::EmptyOp::create(in, loc, type.getShape(), type.getElementType()));
      Operation *copy = in.clone(*op, mapping);
      if (auto it = members.find(op); it != members.end())
        copy->setAttr(kOuterAttr,
                      b.getDenseI64ArrayAttr(SmallVector<int64_t>(it->second.outer.begin(), it->second.outer.end())));
    }
    YieldOp::create(in, loc, mapping.lookup(group.root->getResult(0)));
    group.root->getResult(0).replaceAllUsesWith(rows.getResult()[0]);
    for (linalg::LinalgOp op : group.members)
      op->erase();
  }

  void runOnOperation() override {
    members.clear();
    groups.clear();
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp, RowsOp>(block->getParentOp()))
        findGroups(*block);
    });
    for (Group &group : groups)
      if (group.members.size() > 1 && group.reduces)
        build(group);
  }

  llvm::DenseMap<Operation *, Member> members;
  std::deque<Group> groups;
};
} // namespace
