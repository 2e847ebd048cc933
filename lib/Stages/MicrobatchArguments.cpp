//===- MicrobatchArguments.cpp - Arguments of microbatches beside those given --===//
//
// An argument as a whole beside its parts, for sums that an op on a part needs complete; the
// number of the microbatch, for ops that read their place in the batch.
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

/// The ops that make `values`, in their order, as far as `isWanted`, and the arguments that they
/// begin with; nothing where an op has effects or lies in a loop.
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

/// Sums that `op` needs complete are made of whole arguments instead, if they are made of
/// arguments that microbatches cut, scalars and constants alone: no weight, and nothing one is
/// used for. All is looked at again with them.
bool Microbatches::makeWhole(Operation *op, ArrayRef<Value> read) {
  Block &block = func.getBody().front();
  auto isSum = [&](Value value) {
    Operation *made = value.getDefiningOp();
    if (!made || get(value).kind != State::Partial)
      return false;
    bool readsPart = false;
    made->walk([&](Operation *inner) {
      readsPart |= llvm::any_of(inner->getOperands(), [&](Value operand) { return get(operand).kind == State::Cut; });
    });
    return readsPart;
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
  auto isPart = [&](Value value) {
    return !wholes.contains(value) && (get(value).kind != State::Same || !isScalar(value));
  };
  if (!collectSlice(sums.getArrayRef(), block, isPart, ops, arguments) ||
      llvm::any_of(arguments, [&](BlockArgument arg) { return get(arg).kind != State::Cut; }))
    return false;
  for (BlockArgument arg : arguments) {
    NamedAttrList attrs(func.getArgAttrDict(arg.getArgNumber()));
    for (StringRef name : {kMicrobatchAttr, kShardingAttr, kAxisResourcesAttr})
      attrs.erase(name);
    auto name = dyn_cast_or_null<StringAttr>(attrs.get(kNameAttr));
    std::string own = name ? name.str() : "arg" + std::to_string(arg.getArgNumber());
    attrs.set(kNameAttr, StringAttr::get(func.getContext(), own + ".whole"));
    wholeArguments.push_back(arg.getArgNumber());
    unsigned number = func.getNumArguments();
    if (failed(func.insertArgument(number, arg.getType(), attrs.getDictionary(func.getContext()), arg.getLoc())))
      return false;
    wholes.map(arg, func.getArgument(number));
  }
  for (Operation *op : ops)
    OpBuilder(op).clone(*op, wholes);
  for (OpOperand *use : uses)
    use->set(wholes.lookup(use->get()));
  return looksAgain = true;
}

/// Indices over the batch become those in the whole batch.
void Microbatches::placeIndices() {
  for (auto &[op, loops] : indexed)
    rebaseIndices(op, loops, [&, op = op](CutLoop &) -> SmallVector<Value> {
      auto type = RankedTensorType::get({}, IntegerType::get(func.getContext(), 64));
      if (!number) {
        (void)func.insertArgument(func.getNumArguments(), type, {}, func.getLoc());
        number = func.getArgument(func.getNumArguments() - 1);
        set(number, {State::Cut});
      }
      OpBuilder b = OpBuilder::atBlockBegin(&getIndexedBody(op)->front());
      Value own = tensor::ExtractOp::create(b, op->getLoc(), number, ValueRange());
      return {arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), own)};
    });
}
