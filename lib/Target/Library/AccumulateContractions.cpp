//===- AccumulateContractions.cpp - Contractions that start from a sum ----===//
//
//   sum + contract(x, y)  ->  contract(x, y) with `sum` as its init
//
// if the sum has no other user: it is the iteration argument of a loop, or an argument
// that a result updates. Gradients of microbatches then accumulate without a temporary.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Target/Common/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDTARGETACCUMULATECONTRACTIONS
#include "shardkit/Target/Common/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd::target;

namespace {

/// The other operand, if the op is the elementwise sum of `value` and one more tensor.
Value matchAddition(Operation *op, Value value) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != generic.getNumParallelLoops() || generic->getNumResults() != 1 ||
      llvm::any_of(generic.getIndexingMapsArray(), [](AffineMap map) { return !map.isIdentity(); }))
    return {};
  Block *body = generic.getBody();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || add != &body->front())
    return {};
  auto left = dyn_cast<BlockArgument>(add.getLhs()), right = dyn_cast<BlockArgument>(add.getRhs());
  if (!left || !right || left.getOwner() != body || right.getOwner() != body || left == right)
    return {};
  Value a = generic->getOperand(left.getArgNumber()), b = generic->getOperand(right.getArgNumber());
  return a == value ? b : b == value ? a : Value();
}

/// Whether the result of `add` replaces `sum`, and no other op reads either: an iteration
/// argument of a loop, or an argument and its tied result. `last` becomes the op whose
/// result is yielded or returned.
bool isUpdate(Value sum, Operation *add, Operation *&last) {
  auto argument = dyn_cast<BlockArgument>(sum);
  if (!argument || !add->hasOneUse())
    return false;
  last = add;
  // Loops yield into the buffer of the iteration argument.
  auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(*add->user_begin());
  if (store && store.getDest() == sum && store->hasOneUse())
    last = store;
  OpOperand &use = *last->getResult(0).use_begin();
  Operation *owner = argument.getOwner()->getParentOp();
  if (use.getOwner() != argument.getOwner()->getTerminator() ||
      llvm::any_of(argument.getUsers(), [&](Operation *user) { return user != add && user != last; }))
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return argument.getArgNumber() > 0 && loop.getTiedLoopYieldedValue(argument) == &use;
  auto func = dyn_cast<func::FuncOp>(owner);
  auto tied = func ? func.getResultAttrOfType<IntegerAttr>(use.getOperandNumber(), "spmd.tied") : IntegerAttr();
  return tied && tied.getInt() == int64_t(argument.getArgNumber());
}

struct AccumulateContractions : mlir::spmd::impl::SpmdTargetAccumulateContractionsBase<AccumulateContractions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    for (ContractOp product : products) {
      if (!product.getOverwrite() || product.isFused() || product->use_empty())
        continue;
      // The sum may also be the init of the addition.
      Operation *add = *product->user_begin();
      if (llvm::any_of(product->getUsers(), [&](Operation *user) { return user != add; }))
        continue;
      Value sum = matchAddition(add, product->getResult(0));
      Operation *last = nullptr;
      if (!sum || sum.getType() != product->getResult(0).getType() || !isUpdate(sum, add, last))
        continue;
      OpBuilder b(add);
      auto made = ContractOp::create(b, product.getLoc(), product.getResultTypes(), product.getIndexingMaps(),
                                     product.getA(), product.getB(), sum, ValueRange{}, UnitAttr(), StringAttr());
      last->getResult(0).replaceAllUsesWith(made->getResult(0));
      if (last != add)
        last->erase();
      add->erase();
      product->erase();
    }
  }
};

} // namespace
