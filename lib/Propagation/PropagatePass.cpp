//===- PropagatePass.cpp - Read annotations, propagate, write -------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionMesh.h"
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
    if (conflicts != "cost" && conflicts != "basic") {
      emitError(module.getLoc()) << "unknown conflicts=" << conflicts
                                 << ", expected cost or basic";
      return signalPassFailure();
    }
    if (failed(verifyPhaseAtMost(module, Phase::Propagated, getArgument())))
      return signalPassFailure();
    bool written = getPhase(module) < int(Phase::Annotated);
    MeshCache meshes(module);
    unsigned unknownOps = 0;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (written)
        makeConstraintsOfShardings(func);
      if (failed(runOnFunction(func, meshes, unknownOps)))
        return signalPassFailure();
    }
    if (unknownOps > 0)
      emitWarning(module.getLoc()) // without the module below it
          << unknownOps
          << " ops without a sharding rule are replicated; list them with "
             "--remarks-filter=spmd";
    setPhase(module, Phase::Propagated);
  }

  LogicalResult runOnFunction(func::FuncOp func, MeshCache &meshes,
                              unsigned &unknownOps) {
    FailureOr<FlatSymbolRefAttr> meshRef = getFunctionMesh(func, meshes);
    if (failed(meshRef))
      return failure();
    if (!*meshRef)
      return success(); // no mesh: one device
    FunctionPropagation propagation(func, *meshes.lookup(*meshRef), *meshRef,
                                    conflicts == "basic" ? Propagation::Conflicts::Basic
                                                         : Propagation::Conflicts::Cost);
    if (failed(propagation.read()))
      return failure();
    propagation.run();
    propagation.write();
    unknownOps += propagation.getNumUnknownOps();
    return success();
  }
};

} // namespace
