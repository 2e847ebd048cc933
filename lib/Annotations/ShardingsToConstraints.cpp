//===- ShardingsToConstraints.cpp - --spmd-shardings-to-constraints -------===//

#include "shardkit/Dialect/SPMD/IR/Constraints.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDSHARDINGSTOCONSTRAINTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ShardingsToConstraintsPass : public spmd::impl::SPMDShardingsToConstraintsPassBase<ShardingsToConstraintsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(verifyInput(func, Phase::Annotated, getArgument())))
      return signalPassFailure();
    if (getPhase(func) < int(Phase::Annotated))
      makeConstraintsOfShardings(func);
  }
};
} // namespace
