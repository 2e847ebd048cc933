//===- PropagatePass.cpp - Read annotations, propagate, write -------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionPropagation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDPROPAGATEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

struct PropagatePass : public spmd::impl::SPMDPropagatePassBase<PropagatePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto parsed = Propagation::parseOptions(module.getLoc(), conflicts, reshapeGaps, tripCount);
    if (failed(parsed))
      return signalPassFailure();
    options = *parsed;
    if (failed(verifyPhaseAtMost(module, Phase::Propagated, getArgument())))
      return signalPassFailure();
    MeshCache meshes(module);
    CallTable calls(module);
    for (auto func : getProgramFunctions(module)) {
      if (getPhase(module) < int(Phase::Annotated))
        makeConstraintsOfShardings(calls.getIndex(func).annotated);
      splitReshapes(calls.getIndex(func).reshapes);
    }
    if (failed(calls.verify()))
      return signalPassFailure();
    Run run{meshes, calls, {}, 0};
    for (auto func : getProgramFunctions(module))
      if (calls.keepsSignature(func) && failed(runOnFunction(func, run)))
        return signalPassFailure();
    calls.eraseUnused();
    unsigned unknownOps = run.unknownOps;
    if (unknownOps > 0)
      emitWarning(module.getLoc()) // without the module below it
          << unknownOps
          << " ops without a sharding rule are replicated; list them with "
             "--remarks-filter=spmd";
    setPhase(module, Phase::Propagated);
  }

private:
  Propagation::Options options;

  struct Run {
    MeshCache &meshes;
    CallTable &calls;
    llvm::SmallDenseSet<Operation *> done;
    unsigned unknownOps;
  };

  LogicalResult runOnFunction(func::FuncOp func, Run &run) {
    if (func.isExternal() || !run.done.insert(func).second)
      return success();
    // Callees with layouts of their own come first.
    const FunctionIndex &index = run.calls.getIndex(func);
    SmallVector<func::CallOp> copied;
    for (func::CallOp call : index.calls) {
      func::FuncOp callee = run.calls.getCallee(call);
      if (callee && !run.calls.keepsSignature(callee))
        copied.push_back(call);
      else if (callee && failed(runOnFunction(callee, run)))
        return failure();
    }
    auto meshes = index.getMeshes(run.meshes);
    if (failed(meshes))
      return failure();
    if (!*meshes)
      return success(); // no mesh: one device
    auto propagation = FunctionPropagation::compute(func, **meshes, run.calls, options);
    if (failed(propagation))
      return failure();
    (*propagation)->emitRemarks();
    (*propagation)->write();
    run.unknownOps += (*propagation)->getNumUnknownOps();
    // Each call gets a copy of its callee with its own layouts.
    for (func::CallOp call : copied) {
      SmallVector<ShardingAttr> arguments, results;
      for (Value operand : call.getOperands())
        arguments.push_back((*propagation)->getClosed(operand));
      for (Value result : call.getResults())
        results.push_back((*propagation)->getClosed(result));
      auto [copy, isNew] = run.calls.specialize(run.calls.getCallee(call), arguments, results);
      call.setCallee(copy.getName());
      // Settled now, as the copy's own.
      if (call->hasAttr(kShardingsAttr) && llvm::all_of(results, [](ShardingAttr a) { return !!a; }))
        call->setAttr(kShardingsAttr,
                      ArrayAttr::get(&getContext(), SmallVector<Attribute>(results.begin(), results.end())));
      if (isNew && failed(runOnFunction(copy, run)))
        return failure();
    }
    return success();
  }
};

} // namespace
