//===- NumberCollectives.cpp - Ids in program order -----------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDASSIGNCOLLECTIVEIDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct NumberCollectivesPass : public spmd::impl::SPMDAssignCollectiveIdsPassBase<NumberCollectivesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto func : module.getOps<func::FuncOp>())
      numberCollectives(func);
    if (getPhase(module) >= int(Phase::Partitioned))
      setPhase(module, Phase::Final);
  }
};
} // namespace
