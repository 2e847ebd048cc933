//===- BlockProver.cpp - Visits the local program -------------------------===//

#include "BlockProver.h"
#include "Lanes.h"
#include "LocalOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::proof;

void BlockProver::visit(Block &block) {
  for (Operation &op : block.without_terminator())
    visit(op);
}

void BlockProver::visit(Operation &op) {
  ++proof.localOps;
  if (repaired.op == &op) {
    ArrayRef<Fact> facts = repaired.facts;
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType())) {
        values.addFact(result, facts.front());
        facts = facts.drop_front();
      }
    return;
  }
  if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
    std::optional<unsigned> depth = getLoopDepth(&op);
    bool isKnown = depth && values.global.isAsserted(values.reader.get(assertion.getArg()), *depth);
    // A loop is visited several times: the last one counts.
    if (isKnown)
      values.ownAssertions.remove(&op);
    else
      values.ownAssertions.insert(&op);
  }
  if (op.getNumResults() == 0 || isDynamic(op) || visitEmpty(op) || visitAlias(op))
    return;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return visitCollective(collective, values);
  if (isa<BroadcastOp>(op))
    return values.setGap(&op, Outcome::Undecided, "not modelled", "spmd.broadcast");
  bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  if (isScalar && op.getNumRegions() == 0)
    return values.reader.read(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getElseRegion().empty())
    return visitIf(branch);
  if (isScalar || visitConstant(op))
    return;
  if (isReshape(&op) && visitReshape(op, values))
    return;
  if (auto sort = dyn_cast<SortOp>(op))
    return visitSort(sort, values);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    visitEqualConcat(concat, values);
    visitWindowConcat(concat, values);
  }
  if (std::optional<Structured> structured = readStructured(&op, values.terms, values.getScalars())) {
    findReadsInside(*structured, values.terms);
    return visitStructured(op, *structured, values);
  }
  if (!isReshape(&op))
    visitOpaque(op, values);
}

bool BlockProver::isDynamic(Operation &op) {
  resolveSizes(&op, values.terms.sizes, [&](Value value) -> std::optional<IndexForm> {
    const Term &term = values.terms[values.reader.get(value)];
    return term.kind == Term::Kind::Index ? std::optional(term.form) : std::nullopt;
  });
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !isa<ShapedType>(type) || (tensor && tensor.hasStaticShape());
  };
  if (llvm::all_of(llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()), isStatic))
    return false;
  bool hasScalar = llvm::any_of(op.getResultTypes(), [](Type result) { return !isa<ShapedType>(result); });
  if (hasScalar && op.getNumRegions() == 0)
    values.reader.read(op);
  for (Value operand : op.getOperands())
    if (isa<ShapedType>(operand.getType()) && values.passGap(op, operand))
      return true;
  values.setGap(&op, Outcome::Undecided, "a size that only the run knows", "dynamic size");
  return true;
}

bool BlockProver::visitEmpty(Operation &op) {
  return llvm::all_of(op.getResults(), [&](OpResult result) {
    if (hasNoElements(result.getType()))
      values.addUniformFact(result, values.global.getUndefined());
    else if (Value first = getUnwritten(result))
      values.copy(first, result);
    return !values.getFacts(result).empty();
  });
}

bool BlockProver::visitAlias(Operation &op) {
  if (std::optional<Value> annotated = getAnnotated(&op)) {
    if (!values.passGap(op, *annotated))
      for (const Fact &fact : SmallVector<Fact, 2>(values.getFacts(*annotated)))
        values.addFact(op.getResult(0), fact);
    return true;
  }
  if (auto start = dyn_cast<StartOp>(op)) {
    Block &body = start.getBody().front();
    visit(body);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
      values.copy(value, result);
    return true;
  }
  if (!isa<DoneOp>(op))
    return false;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), op.getOperands()))
    values.copy(value, result);
  return true;
}

bool BlockProver::visitConstant(Operation &op) {
  if (isa<tensor::EmptyOp>(op)) {
    values.addUniformFact(op.getResult(0), values.global.getUndefined());
    return true;
  }
  ElementsAttr constant = getElements(&op);
  if (!constant)
    return false;
  ClassId id = values.global.getConstant(constant);
  if (values.global[id].splat)
    values.addUniformFact(op.getResult(0), id);
  else
    values.addFact(op.getResult(0), getFullFact(id, values.global[id].type.getShape()));
  return true;
}
