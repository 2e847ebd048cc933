//===- Passes.h - The phases as passes --------------------------*- C++ -*-===//

#ifndef SHARDKIT_PASSES_H
#define SHARDKIT_PASSES_H

#include "shardkit/Dialect/SPMD/IR/Phases.h"
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

/// Options of --spmd-default-pipeline.
struct DefaultPipelineOptions : public PassPipelineOptions<DefaultPipelineOptions> {
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("Mesh that axis resources resolve against; may be left "
                                          "out where the module has one mesh"),
                           llvm::cl::init("")};
  Option<std::string> conflicts{*this, "conflicts", llvm::cl::desc("As of --spmd-propagate"), llvm::cl::init("cost")};
  Option<std::string> stridedShardings{*this, "strided-shardings", llvm::cl::desc("As of --spmd-propagate"),
                                       llvm::cl::init("allow")};
  Option<int64_t> tripCount{*this, "trip-count", llvm::cl::desc("As of --spmd-propagate"), llvm::cl::init(100)};
  Option<bool> keepLayouts{*this, "keep-layouts", llvm::cl::desc("As of --spmd-partition"), llvm::cl::init(false)};
  Option<bool> autoShard{*this, "auto-shard", llvm::cl::desc("Run --spmd-auto-shard in place of --spmd-propagate"),
                         llvm::cl::init(false)};
  Option<std::string> autoShardOptions{*this, "auto-shard-options", llvm::cl::desc("Options of --spmd-auto-shard"),
                                       llvm::cl::init("")};
  Option<std::string> pipeline{
      *this, "pipeline", llvm::cl::desc("Cut the program into stages first, with these options of --spmd-build-stages"),
      llvm::cl::init("")};
  Option<bool> inlineCalls{*this, "inline", llvm::cl::desc("Inline private functions first"), llvm::cl::init(true)};
  Option<bool> deferReductions{*this, "defer-reductions", llvm::cl::desc("As of --spmd-insert-reshards"),
                               llvm::cl::init(true)};
  Option<bool> mergeContractions{*this, "merge-contractions", llvm::cl::desc("Run --spmd-merge-contractions"),
                                 llvm::cl::init(true)};
  Option<bool> mergeReductions{*this, "merge-reductions", llvm::cl::desc("Run --spmd-merge-reductions"),
                               llvm::cl::init(true)};
  Option<bool> hoist{*this, "hoist", llvm::cl::desc("Run --spmd-hoist-collectives"), llvm::cl::init(true)};
  Option<int64_t> memoryBudget{*this, "memory-budget", llvm::cl::desc("As of --spmd-hoist-collectives"),
                               llvm::cl::init(0)};
  Option<bool> sink{*this, "sink", llvm::cl::desc("Run --spmd-sink-collectives"), llvm::cl::init(true)};
  Option<bool> combine{*this, "combine", llvm::cl::desc("Run --spmd-combine-collectives"), llvm::cl::init(true)};
  Option<int64_t> combineBytes{*this, "combine-bytes", llvm::cl::desc("max-bytes of --spmd-combine-collectives"),
                               llvm::cl::init(-1)};
  Option<bool> overlap{*this, "overlap", llvm::cl::desc("Run --spmd-overlap-collectives"), llvm::cl::init(true)};
  Option<double> minHiddenFraction{*this, "min-hidden-fraction",
                                   llvm::cl::desc("min-hidden-fraction of --spmd-overlap-collectives"),
                                   llvm::cl::init(0.01)};
};

/// What the phases have to be told; the names are those of the pass options.
struct PhaseOptions {
  /// Mesh that axis resources resolve against; "": the module's only one.
  std::string mesh;
  std::string conflicts = "cost", stridedShardings = "allow";
  int64_t tripCount = 100;
  /// What tests put into padding: "", lowest, ones or zero.
  std::string fillPadding = "";
  /// Whether partition leaves the layouts of values on their ops.
  bool keepLayouts = false;
  /// Options of --spmd-auto-shard, which then takes the place of --spmd-propagate.
  std::optional<std::string> autoShard;
  /// Whether private functions are inlined, so that each call is sharded as its
  /// operands are; else they are copied per signature.
  bool inlineCalls = true;
  /// Which collective optimisations run, and with what (docs/internals/Collectives.md).
  bool deferReductions = true, mergeReductions = true, hoist = true, sink = true, combine = true, overlap = true;
  int64_t memoryBudget = 0, combineBytes = -1;
  double minHiddenFraction = 0.01;
  /// Whether products with parts of one stored tensor become one.
  bool mergeContractions = true;
  /// Options of --spmd-build-stages, which then cuts the program into stages.
  std::optional<std::string> pipeline;
};

/// Whether --spmd-auto-shard takes these options; `reason` says why not.
LogicalResult verifyAutoShardOptions(StringRef options, std::string &reason);

/// The same of --spmd-build-stages.
LogicalResult verifyPipelineOptions(StringRef options, std::string &reason);

/// Adds the phases that come after `from`, up to `last`.
void buildPhases(OpPassManager &pm, Phase from, const PhaseOptions &phaseOptions, Phase last = Phase::Final);
void registerPipelines();

} // namespace mlir::spmd

#endif // SHARDKIT_PASSES_H
