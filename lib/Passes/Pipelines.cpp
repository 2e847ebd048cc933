//===- Pipelines.cpp - All phases in order --------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

static void buildCollectives(OpPassManager &pm, const PhaseOptions &phaseOptions) {
  if (phaseOptions.mergeReductions) {
    SPMDMergeReductionsPassOptions merge;
    merge.tripCount = phaseOptions.tripCount;
    pm.addPass(createSPMDMergeReductionsPass(merge));
  }
  if (phaseOptions.hoist) {
    SPMDHoistCollectivesPassOptions hoist;
    hoist.memoryBudget = phaseOptions.memoryBudget;
    pm.addPass(createSPMDHoistCollectivesPass(hoist));
  }
  if (phaseOptions.sink)
    pm.addPass(createSPMDSinkCollectivesPass());
  if (phaseOptions.combine) {
    SPMDCombineCollectivesPassOptions combine;
    combine.maxBytes = phaseOptions.combineBytes;
    pm.addPass(createSPMDCombineCollectivesPass(combine));
  }
  if (phaseOptions.overlap) {
    SPMDOverlapCollectivesPassOptions overlap;
    overlap.tripCount = phaseOptions.tripCount;
    overlap.minHiddenFraction = phaseOptions.minHiddenFraction;
    pm.addPass(createSPMDOverlapCollectivesPass(overlap));
  }
}

/// What MLIR says of options that it cannot parse. It says nothing where a value has the wrong type, which LLVM's
/// parser has reported then.
static std::string getReason(StringRef message) {
  message = message.trim();
  message.consume_front("<Pass-Options-Parser>: ");
  return message.empty() ? "a value has the wrong type" : message.str();
}

/// Whether a pass takes these options; `reason` says why not.
static LogicalResult verifyOptions(std::unique_ptr<Pass> pass, StringRef options, std::string &reason) {
  return pass->initializeOptions(options, [&](const llvm::Twine &message) {
    reason = getReason(message.str());
    return failure();
  });
}

LogicalResult spmd::verifyAutoShardOptions(StringRef options, std::string &reason) {
  return verifyOptions(createSPMDAutoShardPass(), options, reason);
}

LogicalResult spmd::verifyPipelineOptions(StringRef options, std::string &reason) {
  return verifyOptions(createSPMDBuildStagesPass(), options, reason);
}

void spmd::buildPhases(OpPassManager &pm, Phase from, const PhaseOptions &phaseOptions, Phase last) {
  if (from < Phase::Propagated && last >= Phase::Propagated) {
    pm.addPass(createSPMDImportOrtPass());
    SPMDResolveAxisResourcesPassOptions options;
    options.mesh = phaseOptions.mesh;
    if (!phaseOptions.pipeline)
      pm.addPass(createSPMDResolveAxisResourcesPass(options));
    SPMDDecomposePassOptions decompose;
    decompose.constantsOnly = phaseOptions.pipeline.has_value();
    pm.addPass(createSPMDDecomposePass(decompose));
    if (phaseOptions.inlineCalls || phaseOptions.pipeline)
      pm.addPass(createSPMDInlineCallsPass());
    else
      pm.addPass(createSymbolDCEPass());
    if (phaseOptions.pipeline) {
      std::unique_ptr<Pass> pipeline = createSPMDBuildStagesPass();
      // Whoever took the options from a user has verified them.
      (void)pipeline->initializeOptions(*phaseOptions.pipeline, [](const llvm::Twine &) { return failure(); });
      pm.addPass(std::move(pipeline));
      pm.addPass(createSPMDResolveAxisResourcesPass(options));
      pm.addPass(createSPMDDecomposePass());
    }
    pm.addPass(createSPMDSplitSegmentsPass());
    // Automatic stages are chosen by what the search finds for each.
    bool searches =
        phaseOptions.autoShard || (phaseOptions.pipeline && StringRef(*phaseOptions.pipeline).contains("stages=auto"));
    if (searches) {
      std::unique_ptr<Pass> search = createSPMDAutoShardPass();
      // Whoever took the options from a user has verified them.
      (void)search->initializeOptions(phaseOptions.autoShard.value_or(""),
                                      [](const llvm::Twine &) { return failure(); });
      pm.addPass(std::move(search));
    } else {
      SPMDPropagatePassOptions propagate;
      propagate.conflicts = phaseOptions.conflicts;
      propagate.stridedShardings = phaseOptions.stridedShardings;
      propagate.tripCount = phaseOptions.tripCount;
      pm.addPass(createSPMDPropagatePass(propagate));
    }
  }
  if (from < Phase::Resharded && last >= Phase::Resharded) {
    SPMDInsertReshardsPassOptions insert;
    insert.tripCount = phaseOptions.tripCount;
    insert.deferReductions = phaseOptions.deferReductions;
    pm.addPass(createSPMDInsertReshardsPass(insert));
  }
  if (from < Phase::Partitioned && last >= Phase::Partitioned) {
    SPMDPartitionPassOptions partition;
    partition.fillPadding = phaseOptions.fillPadding;
    partition.keepLayouts = phaseOptions.keepLayouts;
    pm.addPass(createSPMDPartitionPass(partition));
  }
  if (from < Phase::Final && last >= Phase::Final) {
    if (phaseOptions.mergeContractions)
      pm.addPass(createSPMDMergeContractionsPass());
    pm.addPass(createSPMDOutlineStagesPass());
    pm.addPass(createSPMDShardFunctionsPass());
    buildCollectives(pm, phaseOptions);
    pm.addPass(createSPMDAssignCollectiveIdsPass());
  }
}

static PhaseOptions readOptions(const DefaultPipelineOptions &options) {
  PhaseOptions phases;
  phases.mesh = options.mesh;
  phases.conflicts = options.conflicts;
  phases.stridedShardings = options.stridedShardings;
  phases.tripCount = options.tripCount;
  if (options.autoShard)
    phases.autoShard = options.autoShardOptions;
  if (!options.pipeline.empty())
    phases.pipeline = options.pipeline;
  phases.inlineCalls = options.inlineCalls;
  phases.deferReductions = options.deferReductions;
  phases.mergeContractions = options.mergeContractions;
  phases.mergeReductions = options.mergeReductions;
  phases.hoist = options.hoist;
  phases.memoryBudget = options.memoryBudget;
  phases.sink = options.sink;
  phases.combine = options.combine;
  phases.combineBytes = options.combineBytes;
  phases.overlap = options.overlap;
  phases.minHiddenFraction = options.minHiddenFraction;
  phases.keepLayouts = options.keepLayouts;
  return phases;
}

/// Builds the default pipeline from the text of its options, two of which are options of passes themselves.
static LogicalResult buildDefaultPipeline(OpPassManager &pm, StringRef text,
                                          llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) {
  DefaultPipelineOptions options;
  std::string message;
  llvm::raw_string_ostream os(message);
  if (failed(options.parseFromString(text, os)))
    return emitError("options of --spmd-default-pipeline: " + getReason(message));
  PhaseOptions phases = readOptions(options);
  std::string reason;
  if (failed(verifyAutoShardOptions(options.autoShardOptions, reason)))
    return emitError("auto-shard-options is '" + options.autoShardOptions + "': " + reason);
  if (failed(verifyPipelineOptions(options.pipeline, reason)))
    return emitError("pipeline is '" + options.pipeline + "': " + reason);
  if (!options.autoShard && !options.autoShardOptions.empty())
    return emitError("auto-shard-options is '" + options.autoShardOptions + "', expected auto-shard=true beside it");
  buildPhases(pm, Phase::Written, phases);
  return success();
}

void spmd::registerPipelines() {
  registerPassPipeline("spmd-default-pipeline",
                       "All IR phases in order: resolve axis resources, decompose, inline, split segments, propagate "
                       "(or auto-shard), insert reshards, partition, merge products, optimise and number collectives",
                       buildDefaultPipeline, [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handler) {
                         DefaultPipelineOptions options;
                         handler(options);
                       });
  PassPipelineRegistration<>("spmd-forbid-implicit-reshard",
                             "Insert reshards, with an error at each that the user did not write",
                             [](OpPassManager &pm) {
                               SPMDInsertReshardsPassOptions options;
                               options.forbidImplicit = true;
                               pm.addPass(createSPMDInsertReshardsPass(options));
                             });
}
