//===- Passes.h - The phases as passes --------------------------*- C++ -*-===//

#ifndef SHARDKIT_PASSES_H
#define SHARDKIT_PASSES_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardkit/Passes.h.inc"

/// Options of --spmd-pipeline-default.
struct DefaultPipelineOptions
    : public PassPipelineOptions<DefaultPipelineOptions> {
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Mesh that axis resources resolve against; may be left "
                     "out where the module has one mesh"),
      llvm::cl::init("")};
};

/// How far the IR has come (`spmd.phase` of the module).
/// The values are positions in kPhases.
enum class Phase { Written = -1, Annotated, Propagated, Resharded, Partitioned, Final };
void setPhase(ModuleOp module, Phase phase);
/// One error if the module is past `last`, the phase that a pass produces.
LogicalResult verifyPhaseAtMost(ModuleOp module, Phase last, StringRef pass);

/// Adds the phases that come after `from`, up to Final.
void buildPhases(OpPassManager &pm, Phase from, StringRef mesh);
void registerPipelines();

} // namespace mlir::spmd

#endif // SHARDKIT_PASSES_H
