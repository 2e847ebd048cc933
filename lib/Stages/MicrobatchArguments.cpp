//===- MicrobatchArguments.cpp - Arguments added for microbatches ---------===//
//
// Unsplit copies of arguments, for sums that an op on a slice needs complete, and the index of
// the microbatch, for ops that read their index in the batch.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Stages/Microbatches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::spmd;

using State = MicrobatchState;

static bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || (type.hasStaticShape() && type.getNumElements() == 1);
}

/// Collects the ops that compute `values`, in their order, restricted to `isWanted`, and the
/// arguments that they read. False if an op has effects or is in a loop.
static bool collectSlice(ArrayRef<Value> values, Block &block, llvm::function_ref<bool(Value)> isWanted,
                         SmallVector<Operation *> &ops, SmallVector<BlockArgument> &arguments) {
  llvm::SmallSetVector<Value, 8> pending;
  auto add = [&](Value value) {
    if (isWanted(value))
      pending.insert(value);
  };
  llvm::for_each(values, add);
  for (size_t i = 0; i < pending.size(); ++i) {
    if (auto arg = dyn_cast<BlockArgument>(pending[i])) {
      arguments.push_back(arg);
      continue;
    }
    Operation *made = pending[i].getDefiningOp();
    if (made->getBlock() != &block || !isMemoryEffectFree(made))
      return false;
    ops.push_back(made);
    llvm::for_each(made->getOperands(), add);
    visitUsedValuesDefinedAbove(made->getRegions(), [&](OpOperand *use) { add(use->get()); });
  }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ops.erase(llvm::unique(ops), ops.end());
  return true;
}

/// Computes sums that `op` needs complete from unsplit arguments instead, if they depend on split
/// arguments, scalars and constants alone, not on weights. The analysis is repeated with them.
bool Microbatches::useUnsplitArguments(Operation *op, ArrayRef<Value> read) {
  Block &block = func.getBody().front();
  auto isSum = [&](Value value) {
    Operation *made = value.getDefiningOp();
    if (!made || get(value).kind != State::Partial)
      return false;
    bool readsSlice = false;
    made->walk([&](Operation *inner) {
      readsSlice |=
          llvm::any_of(inner->getOperands(), [&](Value operand) { return get(operand).kind == State::Split; });
    });
    return readsSlice;
  };
  auto isMadeOfSums = [&](Value value) {
    State::Kind kind = get(value).kind;
    return kind == State::Complete || (kind == State::Partial && !isSum(value));
  };
  SmallVector<Operation *> readers, ops;
  SmallVector<BlockArgument> arguments;
  if (!collectSlice(read, block, isMadeOfSums, readers, arguments))
    return false;
  readers.push_back(op);
  llvm::SmallSetVector<Value, 4> sums;
  SmallVector<OpOperand *> uses;
  for (Operation *reader : readers)
    reader->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (isSum(operand.get())) {
          sums.insert(operand.get());
          uses.push_back(&operand);
        }
    });
  if (uses.empty())
    return false;
  auto isComputedFromSplit = [&](Value value) {
    return !unsplit.contains(value) && (get(value).kind != State::Same || !isScalar(value));
  };
  if (!collectSlice(sums.getArrayRef(), block, isComputedFromSplit, ops, arguments) ||
      llvm::any_of(arguments, [&](BlockArgument arg) { return get(arg).kind != State::Split; }))
    return false;
  for (BlockArgument arg : arguments) {
    NamedAttrList attrs(func.getArgAttrDict(arg.getArgNumber()));
    for (StringRef name : {kMicrobatchAttr, kShardingAttr, kAxisResourcesAttr})
      attrs.erase(name);
    auto name = dyn_cast_or_null<StringAttr>(attrs.get(kNameAttr));
    std::string original = name ? name.str() : "arg" + std::to_string(arg.getArgNumber());
    attrs.set(kNameAttr, StringAttr::get(func.getContext(), original + ".batch"));
    unsplitArguments.push_back(arg.getArgNumber());
    unsigned number = func.getNumArguments();
    if (failed(func.insertArgument(number, arg.getType(), attrs.getDictionary(func.getContext()), arg.getLoc())))
      return false;
    unsplit.map(arg, func.getArgument(number));
  }
  for (Operation *op : ops)
    OpBuilder(op).clone(*op, unsplit);
  for (OpOperand *use : uses)
    use->set(unsplit.lookup(use->get()));
  return looksAgain = true;
}

/// Rebases the indices that ops read from those in the microbatch to those in the batch.
void Microbatches::addMicrobatchIndices() {
  for (auto &[op, loops] : indexed)
    rebaseIndices(op, loops, [&, op = op](ShardedLoop &) -> SmallVector<Value> {
      auto type = RankedTensorType::get({}, IntegerType::get(func.getContext(), 64));
      if (!number) {
        (void)func.insertArgument(func.getNumArguments(), type, {}, func.getLoc());
        number = func.getArgument(func.getNumArguments() - 1);
        set(number, {State::Split});
      }
      OpBuilder b = OpBuilder::atBlockBegin(&getIndexedBody(op)->front());
      Value index = tensor::ExtractOp::create(b, op->getLoc(), number, ValueRange());
      return {arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), index)};
    });
}
