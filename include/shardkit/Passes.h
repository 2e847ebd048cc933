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

/// Proves that the partitioned `module` computes what `unsharded` does: an error at the op that does not, a warning
/// where that is not decided, unless `isSilent`. `certificate` is set to the JSON of docs/reference/Certificate.md.
LogicalResult proveAgainst(ModuleOp unsharded, ModuleOp module, std::string *certificate = nullptr,
                           bool isSilent = false);

/// Verifies the options within `auto-shard` and `pipeline`: one error at `loc` otherwise.
LogicalResult verifyPhaseOptions(const PhaseOptions &options, Location loc);

/// The options of the phases up to propagation that a pass declares (PropagationOptionList). `BaseT` is the
/// generated base class of the pass.
template <typename BaseT> struct WithPropagationOptions : BaseT {
  using BaseT::BaseT;
  PhaseOptions getPropagationOptions() const {
    PhaseOptions options;
    options.mesh = this->mesh;
    options.conflicts = this->conflicts;
    options.plan = this->plan;
    options.stridedShardings = this->stridedShardings;
    options.tripCount = this->tripCount;
    options.autoShard = this->autoShard.getValue();
    options.pipeline = this->pipeline.getValue();
    options.inlineCalls = this->inlineCalls;
    options.inferSegments = this->inferSegments;
    options.maxConstantBytes = this->maxConstantBytes;
    llvm::append_range(options.hints, this->hints);
    llvm::append_range(options.buckets, this->buckets);
    return options;
  }
};

/// The same for the options of all phases (PhaseOptionList).
template <typename BaseT> struct WithPhaseOptions : WithPropagationOptions<BaseT> {
  using WithPropagationOptions<BaseT>::WithPropagationOptions;
  PhaseOptions getPhaseOptions() const {
    PhaseOptions options = this->getPropagationOptions();
    options.deferReductions = this->deferReductions;
    options.fillPadding = this->fillPadding;
    options.mergeContractions = this->mergeContractions;
    options.mergeReductions = this->mergeReductions;
    options.hoist = this->hoist;
    options.memoryBudget = this->memoryBudget;
    options.sink = this->sink;
    options.combine = this->combine;
    options.maxBytes = this->maxBytes;
    options.overlap = this->overlap;
    options.minHiddenFraction = this->minHiddenFraction;
    return options;
  }
};

/// The options of --spmd-default-pipeline by name, for tools that offer them.
class PhaseOptionSet {
public:
  PhaseOptionSet();
  ~PhaseOptionSet();
  llvm::cl::SubCommand &getOptions();
  /// All values, as the pipeline prints them.
  std::string print() const;
  /// The options as they were set; `reason` describes an error.
  FailureOr<PhaseOptions> read(std::string &reason) const;

private:
  std::unique_ptr<Pass> pipeline;
};

/// Adds the phases that come after `from`, up to `last`.
void buildPhases(OpPassManager &pm, Phase from, const PhaseOptions &phaseOptions, Phase last = Phase::Final);
/// Runs the remaining phases up to `last` on `copy`, whose diagnostics are those of another run: it emits errors alone.
LogicalResult runPhasesOnCopy(ModuleOp copy, const PhaseOptions &options, Phase last);
/// Registers the pipelines, and the old names of passes as errors.
void registerPipelines();

} // namespace mlir::spmd

#endif // SHARDKIT_PASSES_H
