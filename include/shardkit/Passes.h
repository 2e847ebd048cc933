//===- Passes.h - The phases as passes --------------------------*- C++ -*-===//

#ifndef SHARDKIT_PASSES_H
#define SHARDKIT_PASSES_H

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Options.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::spmd {

#define GEN_PASS_DECL
#include "shardkit/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardkit/Passes.h.inc"

#define GEN_PASS_DECL
#include "shardkit/Pipelines.h.inc"

/// The options of --spmd-default-pipeline (Pipelines.td): the phases in order.
using PhaseOptions = SPMDDefaultPipelineOptions;

/// Reads the options of --spmd-default-pipeline, with those within `auto-shard` and
/// `pipeline`; `reason` describes an error.
FailureOr<PhaseOptions> parsePhaseOptions(StringRef text, std::string &reason);

/// The options of --spmd-default-pipeline as command-line options of a tool, one per
/// process. Constructed before the command line is parsed.
class PhaseCommandLine {
public:
  /// `except` are options that the tool does not offer.
  PhaseCommandLine(llvm::cl::OptionCategory &category, ArrayRef<StringRef> except);
  ~PhaseCommandLine();
  /// The options of the parsed command line; `reason` describes an error.
  FailureOr<PhaseOptions> read(std::string &reason) const;

private:
  std::unique_ptr<Pass> pipeline;
};

/// Adds the phases that come after `from`, up to `last`.
void buildPhases(OpPassManager &pm, Phase from, const PhaseOptions &phaseOptions, Phase last = Phase::Final);
/// Registers the pipelines, and the old names of passes as errors.
void registerPipelines();

} // namespace mlir::spmd

#endif // SHARDKIT_PASSES_H
