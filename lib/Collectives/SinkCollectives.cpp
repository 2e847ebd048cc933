//===- SinkCollectives.cpp - Collectives move to minimize live memory -----===//
//
// A collective that enlarges a value, or whose operand stays live, sinks to right before
// its first user. One that shrinks a value, and is the last use of its operand, rises to
// right after the op that defines the operand.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Passes.h"
#include "shardkit/Support/PassDebugging.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSINKCOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-sink-collectives"

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct DelayCollectivesPass : public spmd::impl::SPMDSinkCollectivesPassBase<DelayCollectivesPass> {
  /// The last other user of the operand in the block, or the op that defines it if there
  /// is none. Null if the value is defined outside the block.
  static Operation *getEarliest(Operation *op, Block *block) {
    Operation *last = getProducer(op->getOperand(0), block);
    if (!last || last->hasTrait<OpTrait::ConstantLike>()) // constants stay anyway
      return nullptr;
    for (Value offset : op->getOperands().drop_front())
      if (Operation *def = getProducer(offset, block); def && last->isBeforeInBlock(def))
        last = def;
    for (Operation *user : op->getOperand(0).getUsers()) {
      Operation *here = getUserIn(block, user);
      if (here != op && last->isBeforeInBlock(here))
        last = here;
    }
    return last;
  }

  /// Views of the result of a collective move with it.
  static bool viewsCollective(Operation *op) {
    while (op && isView(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<CollectiveOpInterface>(op);
  }

  void move(Operation *op, Operation *before) {
    if (op->getNextNode() == before)
      return;
    SPMD_LOG() << "moves " << describeValue(op->getResult(0)) << " before " << before->getName() << " at "
               << before->getLoc();
    SPMD_COUNT(movedCollectives, isa<CollectiveOpInterface>(op));
    moveWithinBlock(op, before);
  }

  void moveCollectives(Block *block) {
    SmallVector<Operation *> ops;
    for (Operation &op : *block)
      if (viewsCollective(&op))
        ops.push_back(&op);
    auto growth = [](Operation *op) {
      return getBytes(op->getResult(0).getType()) - getBytes(op->getOperand(0).getType());
    };
    // Later collectives sink first, so that their operands can follow.
    for (Operation *op : llvm::reverse(ops)) {
      Operation *user = getFirstUser(op->getResults(), block);
      if (!user)
        continue;
      Operation *earliest = getEarliest(op, block);
      bool livesOn = !earliest || op->isBeforeInBlock(earliest);
      if (isView(op) || livesOn || growth(op) > 0)
        move(op, user);
    }
    // Earlier collectives rise first, so that their users can follow.
    for (Operation *op : ops) {
      Operation *earliest = isView(op) ? nullptr : getEarliest(op, block);
      if (earliest && earliest->isBeforeInBlock(op) && growth(op) < 0)
        move(op, earliest->getNextNode());
    }
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(verifyLocalView(func, getArgument())))
      return signalPassFailure();
    for (Block *block : getBlocks(func))
      moveCollectives(block);
  }
};

} // namespace
