//===- MergeModules.cpp - --spmd-merge-modules ----------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDMERGEMODULESPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// True if one op can stand for both: meshes, and private functions that call no others.
static bool areEqual(Operation *a, Operation *b) {
  auto isPrivate = [](Operation *op) {
    auto func = dyn_cast<func::FuncOp>(op);
    return func && func.isPrivate() &&
           !func.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  if (!(isa<MeshOp>(a) && isa<MeshOp>(b)) && !(isPrivate(a) && isPrivate(b)))
    return false;
  return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::Flags::IgnoreLocations);
}

namespace {
struct MergeModulesPass : public spmd::impl::SPMDMergeModulesPassBase<MergeModulesPass> {
  void runOnOperation() override {
    for (auto nested : llvm::make_early_inc_range(getOperation().getOps<ModuleOp>()))
      if (failed(merge(nested)))
        return signalPassFailure();
  }

private:
  LogicalResult merge(ModuleOp nested);
};
} // namespace

LogicalResult MergeModulesPass::merge(ModuleOp nested) {
  if (!nested.getSymName())
    return nested.emitError() << "module without a name, expected the name that its public function takes";
  StringRef name = *nested.getSymName();
  if (getPhase(nested) > int(Phase::Annotated))
    return nested.emitError() << "module @" << name << " is in a later phase, expected modules before --spmd-propagate";
  func::FuncOp entry;
  for (auto func : nested.getOps<func::FuncOp>()) {
    if (func.isPrivate())
      continue;
    if (entry)
      return func.emitError() << "module @" << name << " has two public functions, @" << entry.getName() << " and @"
                              << func.getName() << ", expected one";
    entry = func;
  }
  if (!entry)
    return nested.emitError() << "module @" << name << " has no public function, expected one";

  // Symbols of the module make room for those at the top, except for the function that takes its name.
  ModuleOp top = getOperation();
  SymbolTable inner(nested), outer(top);
  for (Operation &op : llvm::make_early_inc_range(*nested.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || &op == entry.getOperation())
      continue;
    Operation *known = outer.lookup(symbol.getName());
    if (known && areEqual(known, &op))
      inner.erase(&op);
    else if (known && failed(inner.renameToUnique(&op, {&outer})))
      return op.emitError() << "symbol @" << symbol.getName() << " of module @" << name << " cannot be renamed";
  }
  if (Attribute calls = nested->getAttr(kCallsAttr))
    entry->setAttr(kCallsAttr, calls);
  if (entry.getName() != name && failed(inner.rename(entry, name)))
    return entry.emitError() << "function cannot be renamed to @" << name;
  top.getBody()->getOperations().splice(Block::iterator(nested), nested.getBody()->getOperations());
  nested.erase();
  return success();
}
