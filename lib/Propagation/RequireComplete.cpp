//===- RequireComplete.cpp - --spmd-require-complete ----------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDREQUIRECOMPLETEPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

/// True if a value has no sharding: every dim is open and has no axis.
static bool isUndetermined(Type type, Attribute attr) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return false;
  auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
  return !sharding || llvm::all_of(sharding.getDims(),
                                   [](DimShardingAttr dim) { return dim.getEntries().empty() && dim.getOpen(); });
}

namespace {
struct RequireCompletePass : public spmd::impl::SPMDRequireCompletePassBase<RequireCompletePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (getPhase(module) != int(Phase::Propagated)) {
      emitError(module.getLoc()) << getArgument()
                                 << " of a module that is not in phase \"propagated\", "
                                    "expected --spmd-propagate before it";
      return signalPassFailure();
    }
    bool complete = true;
    auto report = [&](func::FuncOp func, Location loc, const Twine &what, Type type) {
      complete = false;
      emitError(loc) << what << " of @" << func.getName() << " (" << type
                     << ") has no sharding, and propagation found none, expected an annotation "
                        "({} on each dim to replicate it)";
    };
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isPrivate() || func.isExternal())
        continue;
      for (BlockArgument arg : func.getArguments())
        if (isUndetermined(arg.getType(), func.getArgAttr(arg.getArgNumber(), kShardingAttr)))
          report(func, arg.getLoc(), "argument #" + Twine(arg.getArgNumber()), arg.getType());
      for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
        if (isUndetermined(type, func.getResultAttr(i, kShardingAttr)))
          report(func, func.getLoc(), "result #" + Twine(i), type);
    }
    if (!complete)
      signalPassFailure();
  }
};
} // namespace
