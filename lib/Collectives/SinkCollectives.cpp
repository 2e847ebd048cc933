//===- SinkCollectives.cpp - Collectives stand where least is held --------===//
//
// A collective that makes a value larger, or whose operand lives on anyway, sinks
// to right before its first user; one that makes it smaller, and frees its operand,
// rises to behind the op that gives it.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Collectives/Placement.h"
#include "shardkit/Cost/LiveBuffers.h"
#include "shardkit/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSINKCOLLECTIVESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct DelayCollectivesPass : public spmd::impl::SPMDSinkCollectivesPassBase<DelayCollectivesPass> {
  /// The last user of the operand in the block other than the op; the op that
  /// gives it if there is none. Null where the value comes from elsewhere.
  static Operation *getEarliest(Operation *op, Block *block) {
    Operation *last = getProducer(op->getOperand(0), block);
    if (!last || last->hasTrait<OpTrait::ConstantLike>()) // constants stay anyway
      return nullptr;
    for (Operation *user : op->getOperand(0).getUsers()) {
      Operation *here = getUserIn(block, user);
      if (here != op && last->isBeforeInBlock(here))
        last = here;
    }
    return last;
  }

  /// A view of what a collective gives goes with it.
  static bool viewsCollective(Operation *op) {
    while (op && isView(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<CollectiveOpInterface>(op);
  }

  static void place(Block *block) {
    SmallVector<Operation *> ops;
    for (Operation &op : *block)
      if (viewsCollective(&op))
        ops.push_back(&op);
    auto growth = [](Operation *op) {
      return getBytes(op->getResult(0).getType()) - getBytes(op->getOperand(0).getType());
    };
    // Those behind sink first, so that what they read may follow.
    for (Operation *op : llvm::reverse(ops)) {
      Operation *user = getFirstUser(op->getResults(), block);
      if (!user)
        continue;
      Operation *earliest = getEarliest(op, block);
      bool livesOn = !earliest || op->isBeforeInBlock(earliest);
      if (isView(op) || livesOn || growth(op) > 0)
        moveWithinBlock(op, user);
    }
    // Those in front rise first, so that what reads them may follow.
    for (Operation *op : ops) {
      Operation *earliest = isView(op) ? nullptr : getEarliest(op, block);
      if (earliest && earliest->isBeforeInBlock(op) && growth(op) < 0)
        moveWithinBlock(op, earliest->getNextNode());
    }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyLocalView(module, getArgument())))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      for (Block *block : getBlocks(func))
        place(block);
  }
};

} // namespace
