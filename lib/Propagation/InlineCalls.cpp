//===- InlineCalls.cpp - Calls go before layouts come ---------------------===//

#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINLINECALLSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

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
    // MLIR's inliner takes for granted that these are known.
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
    passes.addPass(createInlinerPass());
    passes.addPass(createSymbolDCEPass());
    return passes;
  }
};

} // namespace
