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
    if (failed(verifyInput(getOperation(), Phase::Annotated, getArgument())))
      return signalPassFailure();
    if (getPhase(getOperation()) < int(Phase::Annotated))
      makeConstraintsOfShardings(getOperation());
  }
};
} // namespace
