//===- LocalMicrobatches.cpp - Types in one microbatch --------------------===//

#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/IndexedOps.h"
#include "shardkit/Stages/Microbatches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spmd;

using State = MicrobatchState;

RankedTensorType Microbatches::getType(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  const State &state = get(value);
  if (!type || state.kind != State::Split || count == 1)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip(shape, state.dims))
    size /= deviceFactor(dim);
  return type.clone(shape);
}

/// A copy of a constant-like value with another type, for one reader.
static Value makeCreation(OpBuilder &b, Value value, RankedTensorType type) {
  Operation *op = value.getDefiningOp();
  Operation *copy = b.clone(*op);
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  else if (auto fill = dyn_cast<linalg::FillOp>(copy)) {
    OpBuilder before(copy);
    auto init = cast<RankedTensorType>(fill.getOutputs().front().getType());
    fill.getOutputsMutable().assign(makeCreation(before, fill.getOutputs().front(), init.clone(type.getShape())));
  }
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

void Microbatches::makeLocal() {
  if (count == 1)
    return;
  llvm::DenseMap<Value, RankedTensorType> globals, locals;
  auto note = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      globals[value] = type;
      locals[value] = getType(value);
    }
  };
  for (BlockArgument arg : func.getArguments())
    note(arg);
  func.walk([&](Operation *op) {
    for (Value value : op->getResults())
      note(value);
    if (!getIndexedBody(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value value : block.getArguments())
            note(value);
  });
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func && !isConstantLike(op))
      ops.push_back(op);
    return getIndexedBody(op) ? WalkResult::skip() : WalkResult::advance();
  });
  // Constant-like operands get the layout that their reader needs. Rules are read before any
  // type changes.
  struct Made {
    OpOperand *use;
    RankedTensorType type;
  };
  SmallVector<Made> made;
  for (Operation *op : ops) {
    if (isConstraintLike(op) || isMark(op) || apply.contains(op) || isSame(op) ||
        !llvm::any_of(op->getOperands(), [](Value operand) { return isConstantLike(operand.getDefiningOp()); }))
      continue;
    ShardingRule rule = getShardingRule(op);
    FactorAxes axes(rule.numFactors());
    for (unsigned t = 0; t < rule.numOperands() + rule.numResults(); ++t) {
      if (!rule.tensor(t).type || get(rule.tensor(t).value).kind != State::Split)
        continue;
      Sharding sharding = get(rule.tensor(t).value).getSharding();
      for (unsigned f = 0; f < rule.numFactors(); ++f)
        if (auto entries = projectFactor(rule, t, f, sharding); entries && deviceFactor(*entries) > 1)
          axes[f] = *entries;
    }
    for (unsigned t = 0; t < op->getNumOperands() && t < rule.numOperands(); ++t) {
      Value operand = op->getOperand(t);
      if (!rule.tensor(t).type || !isConstantLike(operand.getDefiningOp()))
        continue;
      SmallVector<int64_t> shape(rule.tensor(t).type.getShape());
      for (auto [size, dim] : llvm::zip(shape, getTensorSharding(rule, t, axes).dims))
        size /= deviceFactor(dim.entries);
      if (ArrayRef<int64_t>(shape) != rule.tensor(t).type.getShape())
        made.push_back({&op->getOpOperand(t), rule.tensor(t).type.clone(shape)});
    }
  }
  for (auto [use, type] : made) {
    OpBuilder b(use->getOwner());
    Value value = makeCreation(b, use->get(), type);
    globals[value] = cast<RankedTensorType>(use->get().getType());
    locals[value] = type;
    use->set(value);
  }
  for (BlockArgument arg : func.getArguments())
    if (auto type = locals.lookup(arg))
      arg.setType(type);
  auto typeIn = [](const llvm::DenseMap<Value, RankedTensorType> &known, Value value) {
    auto it = known.find(value);
    return it != known.end() ? it->second : cast<RankedTensorType>(value.getType());
  };
  auto getGlobal = [&](Value value) { return typeIn(globals, value); };
  auto getLocal = [&](Value value) { return typeIn(locals, value); };
  TensorTypes types{getGlobal, getLocal};
  for (Operation *op : ops) {
    // Inits and yields of a loop have the types of the loop-carried values.
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Operation *yield = loop.getBody()->getTerminator();
      for (auto [i, carriedArg] : llvm::enumerate(loop.getRegionIterArgs()))
        for (OpOperand *use : {&loop.getInitArgsMutable()[i], &yield->getOpOperand(i)}) {
          auto type = dyn_cast<RankedTensorType>(use->get().getType());
          RankedTensorType carried = locals.lookup(carriedArg);
          if (!type || carried == type || !isConstantLike(use->get().getDefiningOp()))
            continue;
          OpBuilder b(use->getOwner());
          use->set(makeCreation(b, use->get(), carried));
        }
    }
    makeAttributesLocal(op, types);
    for (Value result : op->getResults())
      if (auto type = locals.lookup(result))
        result.setType(type);
    if (!getIndexedBody(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value arg : block.getArguments())
            if (auto type = locals.lookup(arg))
              arg.setType(type);
  }
}
