//===- StartedCollectives.cpp - spmd.start and spmd.done ------------------===//

#include "OpSyntax.h"

using namespace mlir;
using namespace mlir::spmd;

DoneOp StartOp::getDone() {
  return getNumResults() == 0 || getResult(0).use_empty() ? DoneOp() : dyn_cast<DoneOp>(*getResult(0).user_begin());
}

LogicalResult StartOp::verifyRegions() {
  Block &body = getBody().front();
  // start_c1
  SmallVector<Value> results;
  for (Operation &op : body.without_terminator()) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || collective.getKind() == CollectiveKind::AllSlice)
      return op.emitOpError() << "is in spmd.start, expected a collective that moves data";
    results.push_back(op.getResult(0));
    // start_c2
    if (op.getOperand(0).getParentRegion() == &getBody())
      return op.emitOpError() << "reads the result of another collective of its spmd.start, "
                                 "expected collectives that do not wait for each other";
  }
  if (body.getNumArguments() > 0 || results.empty() || !isa<ReturnOp>(body.getTerminator()) ||
      body.getTerminator()->getOperands() != ValueRange(results) ||
      TypeRange(ValueRange(results)) != TypeRange(getResultTypes()))
    return emitOpError() << "does not return the results of its collectives, expected spmd.return "
                            "of all of them in order";
  // start_c4
  DoneOp done = getDone();
  if (!done || done->getBlock() != (*this)->getBlock() || done.getInputs() != ValueRange(getResults()) ||
      !llvm::all_of(getResults(), [](Value value) { return value.hasOneUse(); }))
    return emitOpError() << "has results that other ops than one spmd.done use, expected "
                            "one of the same block that takes them in order";
  return success();
}

LogicalResult StartOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // start_c3
  std::optional<SmallVector<RankDigit, 2>> ranks;
  FlatSymbolRefAttr mesh;
  for (auto op : getBody().getOps<CollectiveOpInterface>()) {
    FailureOr<Mesh> from = getMeshOrEmit(op, op.getFromMesh(), symbolTable);
    FailureOr<Mesh> to = getMeshOrEmit(op, op.getToMesh(), symbolTable);
    Layout source, target;
    if (failed(from) || failed(to) || failed(op.getLayouts(*from, *to, source, target)))
      return failure();
    SmallVector<RankDigit, 2> moved = getMovedRanks(source, target);
    bool isAlone = llvm::hasSingleElement(getBody().front().without_terminator());
    if (!isAlone && ((ranks && (*ranks != moved || mesh != op.getFromMesh())) || op.getFromMesh() != op.getToMesh()))
      return op->emitOpError() << "moves data among other devices than the other collectives of its "
                                  "spmd.start, expected the same axes of one mesh";
    ranks = std::move(moved);
    mesh = op.getFromMesh();
  }
  return success();
}

LogicalResult DoneOp::verify() {
  // done_c1
  auto start = getNumOperands() == 0 ? StartOp() : getOperand(0).getDefiningOp<StartOp>();
  if (!start || getInputs() != ValueRange(start.getResults()))
    return emitOpError() << "has operands that are not the results of one spmd.start, "
                            "expected all of them in order";
  return success();
}
