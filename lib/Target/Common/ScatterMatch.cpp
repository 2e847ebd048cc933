//===- ScatterMatch.cpp - Scatters on tensors -----------------------------===//

#include "ScatterMatch.h"
#include "shardkit/Rules/IndexedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::spmd::target;

/// Whether `op` with a constant returns its other operand, bitwise.
static bool isNeutral(Operation *op, Value constant) {
  APFloat real(0.0);
  if (matchPattern(constant, m_ConstantFloat(&real)))
    return isa<arith::AddFOp>(op) ? real.isNegZero() : isa<arith::MulFOp>(op) && real.isExactlyValue(1.0);
  APInt number;
  if (!matchPattern(constant, m_ConstantInt(&number)))
    return false;
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp>(op))
    return number.isZero();
  return isa<arith::MulIOp>(op) ? number.isOne() : isa<arith::AndIOp>(op) && number.isAllOnes();
}

/// The condition under which a body does not yield `old`, the previous element.
static Value getCondition(Value yielded, Value old) {
  if (auto select = yielded.getDefiningOp<arith::SelectOp>())
    return select.getFalseValue() == old ? select.getCondition() : Value();
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return {};
  unsigned other = op->getOperand(0) == old ? 1 : 0;
  Operation *given = op->getOperand(other).getDefiningOp();
  if (!given || op->getOperand(1 - other) != old)
    return {};
  // 1, or 0.
  if (isa<arith::ExtUIOp>(given) && isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp>(op))
    return given->getOperand(0).getType().isInteger(1) ? given->getOperand(0) : Value();
  auto select = dyn_cast<arith::SelectOp>(given);
  if (!select)
    return {};
  bool isExtreme =
      isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op);
  bool changesNothing = isExtreme ? select.getFalseValue() == old : isNeutral(op, select.getFalseValue());
  return changesNothing ? select.getCondition() : Value();
}

Scatter::Scatter(linalg::GenericOp op)
    : op(op), body(op.getBody()), maps(op.getIndexingMapsArray()), deciding(op.getNumLoops()),
      inputs(op.getNumDpsInputs()) {}

std::optional<Scatter> Scatter::match(linalg::LinalgOp linalgOp) {
  auto op = dyn_cast<linalg::GenericOp>(linalgOp.getOperation());
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Scatter scatter(op);
  for (AffineMap map : scatter.maps)
    if (!map.isProjectedPermutation())
      return std::nullopt;
  if (scatter.maps.back().getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  SmallVector<Value> terms = {
      getCondition(scatter.body->getTerminator()->getOperand(0), scatter.body->getArguments().back())};
  if (!terms.front())
    return std::nullopt;
  for (unsigned i = 0; i < terms.size(); ++i)
    if (auto both = terms[i].getDefiningOp<arith::AndIOp>())
      terms.append({both.getLhs(), both.getRhs()});
  for (Value term : terms)
    if (auto compare = term.getDefiningOp<arith::CmpIOp>(); compare &&
                                                            compare.getPredicate() == arith::CmpIPredicate::eq &&
                                                            !scatter.addAddress(compare.getLhs(), compare.getRhs()))
      scatter.addAddress(compare.getRhs(), compare.getLhs());
  if (scatter.addresses.empty())
    return std::nullopt;
  return scatter;
}

/// The loops and inputs that a value of the body depends on; false if it cannot be computed
/// in advance.
bool Scatter::addLoops(Value value, llvm::SmallBitVector &loops, llvm::SmallBitVector &read) const {
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == body) {
    if (arg.getArgNumber() == inputs.size())
      return false;
    read.set(arg.getArgNumber());
    for (AffineExpr expr : maps[arg.getArgNumber()].getResults())
      loops.set(cast<AffineDimExpr>(expr).getPosition());
    return true;
  }
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != body)
    return true;
  if (auto index = dyn_cast<linalg::IndexOp>(def)) {
    loops.set(index.getDim());
    return true;
  }
  // The op does not write the tensors that its body reads.
  return def->getNumRegions() == 0 && (isMemoryEffectFree(def) || isa<memref::LoadOp>(def)) &&
         llvm::all_of(def->getOperands(), [&](Value operand) { return addLoops(operand, loops, read); });
}

/// `sum` is the index of a dim of the result, and no other value depends on it.
bool Scatter::addAddress(Value sum, Value index) {
  SmallVector<Value> addends = {sum}, rest;
  std::optional<unsigned> loop;
  for (unsigned i = 0; i < addends.size(); ++i) {
    auto index = addends[i].getDefiningOp<linalg::IndexOp>();
    if (auto add = addends[i].getDefiningOp<arith::AddIOp>())
      addends.append({add.getLhs(), add.getRhs()});
    else if (index && !loop && maps.back().isFunctionOfDim(index.getDim()))
      loop = index.getDim();
    else
      rest.push_back(addends[i]);
  }
  llvm::SmallBitVector loops = deciding, read = inputs;
  if (!loop || !addLoops(index, loops, read) ||
      !llvm::all_of(rest, [&](Value value) { return addLoops(value, loops, read); }) || loops.test(*loop) ||
      llvm::any_of(addresses, [&](Address &a) { return a.loop == *loop || loops.test(a.loop); }))
    return false;
  deciding = loops;
  inputs = read;
  addresses.push_back({*loop, index, rest});
  return true;
}

SmallVector<OpOperand *> Scatter::getDecidingInputs() const {
  linalg::GenericOp generic = op;
  SmallVector<OpOperand *> operands;
  for (unsigned i : inputs.set_bits())
    operands.push_back(generic.getDpsInputOperand(i));
  return operands;
}

/// A value of the body that depends on loops with known indices.
Value Scatter::evaluate(OpBuilder &b, Value value, ArrayRef<Value> at, Load load, IRMapping &known) const {
  if (Value found = known.lookupOrNull(value))
    return found;
  Value made = value;
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == body) {
    made = load(b, op->getOpOperand(arg.getArgNumber()));
  } else if (Operation *def = value.getDefiningOp(); def && def->getBlock() == body) {
    if (auto index = dyn_cast<linalg::IndexOp>(def)) {
      made = at[index.getDim()];
    } else {
      for (Value operand : def->getOperands())
        evaluate(b, operand, at, load, known);
      made = b.clone(*def, known)->getResult(cast<OpResult>(value).getResultNumber());
    }
  }
  known.map(value, made);
  return made;
}

SmallVector<Value> Scatter::emitIndices(OpBuilder &b, ArrayRef<Value> at, Load load) const {
  IRMapping known;
  SmallVector<Value> indices;
  for (const Address &address : addresses) {
    Value index = evaluate(b, address.index, at, load, known);
    for (Value value : address.rest)
      index = arith::SubIOp::create(b, op->getLoc(), index, evaluate(b, value, at, load, known));
    indices.push_back(index);
  }
  return indices;
}

void spmd::target::expandScatter(Operation *op) {
  OpBuilder b(op);
  op->getResult(0).replaceAllUsesWith(expandAddressing(b, op, *getAddressing(op)));
  op->erase();
}
