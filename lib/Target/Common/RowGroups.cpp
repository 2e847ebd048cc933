//===- RowGroups.cpp - Groups of linalg ops that share rows ---------------===//

#include "RowGroups.h"

using namespace mlir;
using namespace mlir::spmd::target;

std::optional<unsigned> spmd::target::getDimPosition(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  return std::nullopt;
}

/// The map of the first result.
static AffineMap getResultMap(linalg::LinalgOp op) { return op.getIndexingMapsArray()[op.getNumDpsInputs()]; }

SmallVector<unsigned> spmd::target::getRowLoops(linalg::LinalgOp root, bool alongInnermost) {
  SmallVector<unsigned> outer;
  for (AffineExpr expr : getResultMap(root).getResults()) {
    std::optional<unsigned> dim = getDimPosition(expr);
    if (!dim)
      return {};
    outer.push_back(*dim);
  }
  if (!outer.empty() && alongInnermost)
    outer.pop_back();
  return outer;
}

std::optional<unsigned> spmd::target::getProducerLoop(OpOperand &use, unsigned loop) {
  auto user = cast<linalg::LinalgOp>(use.getOwner());
  auto producer = cast<linalg::LinalgOp>(use.get().getDefiningOp());
  for (auto [i, expr] : llvm::enumerate(user.getMatchingIndexingMap(&use).getResults()))
    if (getDimPosition(expr) == std::optional<unsigned>(loop))
      return getDimPosition(getResultMap(producer).getResult(i));
  return std::nullopt;
}

std::optional<RowMember> RowGroups::join(linalg::LinalgOp op) {
  if (op->use_empty() || !canJoin(op))
    return std::nullopt;
  std::optional<RowMember> joined;
  for (OpOperand &use : op->getUses()) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    const RowMember *member = user ? lookup(user) : nullptr;
    if (!member || user.isDpsInit(&use))
      return std::nullopt;
    RowMember candidate{member->group, {}};
    for (unsigned loop : member->outer) {
      std::optional<unsigned> producerLoop = getProducerLoop(use, loop);
      if (!producerLoop)
        return std::nullopt;
      candidate.outer.push_back(*producerLoop);
    }
    if (!canJoinUser(op, use, *member, candidate.outer))
      return std::nullopt;
    if (joined && (joined->group != candidate.group || joined->outer != candidate.outer))
      return std::nullopt;
    joined = candidate;
  }
  return joined;
}

void RowGroups::addBlock(Block &block) {
  for (Operation &operation : llvm::reverse(block)) {
    auto op = dyn_cast<linalg::LinalgOp>(operation);
    if (!op || !isCandidate(op))
      continue;
    std::optional<RowMember> member = join(op);
    if (!member) {
      std::optional<SmallVector<unsigned>> outer = getRootLoops(op);
      if (!outer)
        continue;
      groups.push_back({op, {}});
      member = RowMember{&groups.back(), *outer};
    }
    member->group->members.push_back(op);
    members.try_emplace(op, *member);
  }
}
