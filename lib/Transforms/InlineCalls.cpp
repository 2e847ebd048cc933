//===- InlineCalls.cpp - Calls go before layouts come ---------------------===//

#include "shardkit/Transforms/InlineCalls.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINLINECALLSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// The interface of MLIR, which also allows affine ops anywhere.
struct AnywhereInterface : InlinerInterface {
  using InlinerInterface::InlinerInterface;
  using InlinerInterface::isLegalToInline;
  bool isLegalToInline(Operation *op, Region *region, bool wouldBeCloned, IRMapping &mapping) const override {
    return isa_and_present<affine::AffineDialect>(op->getDialect()) ||
           InlinerInterface::isLegalToInline(op, region, wouldBeCloned, mapping);
  }
};

struct InlineNestedCallsPass : PassWrapper<InlineNestedCallsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineNestedCallsPass)

  StringRef getArgument() const override { return "spmd-inline-nested-calls"; }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    AnywhereInterface interface(&getContext());
    llvm::DenseMap<Operation *, bool> isDone; // false while its callees are in progress
    for (auto func : getOperation().getOps<func::FuncOp>())
      visit(func, symbols, interface, isDone);
  }

private:
  /// Callees first, so that inlined bodies only have recursive calls.
  static void visit(func::FuncOp func, SymbolTable &symbols, AnywhereInterface &interface,
                    llvm::DenseMap<Operation *, bool> &isDone) {
    if (!isDone.try_emplace(func, false).second)
      return;
    SmallVector<func::CallOp> calls;
    func.walk([&](func::CallOp call) {
      if (!isa<func::FuncOp>(call->getParentOp()))
        calls.push_back(call);
    });
    InlinerConfig config;
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal() || !callee.isPrivate())
        continue;
      visit(callee, symbols, interface, isDone);
      if (isDone.lookup(callee) &&
          succeeded(inlineCall(interface, config.getCloneCallback(), call, callee, &callee.getBody())))
        call.erase();
    }
    isDone[func] = true;
  }
};

struct InlineCallsPass : public spmd::impl::SPMDInlineCallsPassBase<InlineCallsPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    pipeline().getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyInput(module, Phase::Annotated, getArgument())))
      return signalPassFailure();
    // MLIR's inliner assumes that these are registered.
    if (!SymbolTable::getSymbolUses(&module.getBodyRegion())) {
      module.walk([](func::CallOp call) {
        call.emitWarning(
            "calls are not inlined: an op with a region is not registered, and may have symbols of its own");
        return WalkResult::interrupt();
      });
      return;
    }
    OpPassManager passes = pipeline();
    if (failed(runPipeline(passes, module)))
      signalPassFailure();
  }

private:
  static OpPassManager pipeline() {
    OpPassManager passes(ModuleOp::getOperationName());
    addInliner(passes);
    passes.addPass(createSymbolDCEPass());
    return passes;
  }
};

} // namespace

void spmd::addInliner(OpPassManager &passes, bool simplifies) {
  passes.addPass(simplifies ? createInlinerPass() : createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(std::make_unique<InlineNestedCallsPass>());
}
