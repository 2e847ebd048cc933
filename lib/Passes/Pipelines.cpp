//===- Pipelines.cpp - All phases in order --------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/Renames.h"
#include "shardkit/Enumeration/Enumeration.h"
#include "shardkit/Passes.h"
#include "shardkit/Proof/Certificate.h"
#include "shardkit/Proof/Normalize.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

static void buildCollectives(OpPassManager &pm, const PhaseOptions &phaseOptions) {
  if (phaseOptions.mergeReductions) {
    SPMDMergeReductionsPassOptions merge;
    merge.tripCount = phaseOptions.tripCount;
    pm.addNestedPass<func::FuncOp>(createSPMDMergeReductionsPass(merge));
  }
  if (phaseOptions.hoist) {
    SPMDHoistCollectivesPassOptions hoist;
    hoist.memoryBudget = phaseOptions.memoryBudget;
    pm.addPass(createSPMDHoistCollectivesPass(hoist));
  }
  if (phaseOptions.sink)
    pm.addNestedPass<func::FuncOp>(createSPMDSinkCollectivesPass());
  if (phaseOptions.combine) {
    SPMDCombineCollectivesPassOptions combine;
    combine.maxBytes = phaseOptions.maxBytes;
    combine.memoryBudget = phaseOptions.memoryBudget;
    pm.addPass(createSPMDCombineCollectivesPass(combine));
  }
  if (phaseOptions.overlap) {
    SPMDOverlapCollectivesPassOptions overlap;
    overlap.tripCount = phaseOptions.tripCount;
    overlap.minHiddenFraction = phaseOptions.minHiddenFraction;
    pm.addNestedPass<func::FuncOp>(createSPMDOverlapCollectivesPass(overlap));
  }
}

namespace {
/// Keeps the module as it is before the phases, for a pass after them.
struct KeepUnshardedPass : PassWrapper<KeepUnshardedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepUnshardedPass)
  using Kept = std::shared_ptr<OwningOpRef<ModuleOp>>;
  KeepUnshardedPass(Kept kept) : kept(std::move(kept)) {}
  StringRef getArgument() const override { return "spmd-keep-unsharded"; }
  void runOnOperation() override { *kept = getOperation().clone(); }
  Kept kept;
};

/// Proves the module against what was kept.
struct ProvePass : PassWrapper<ProvePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProvePass)
  ProvePass(KeepUnshardedPass::Kept kept) : kept(std::move(kept)) {}
  StringRef getArgument() const override { return "spmd-prove"; }
  void getDependentDialects(DialectRegistry &registry) const override { proof::getNormalFormDialects(registry); }
  void runOnOperation() override {
    if (failed(proveAgainst(**kept, getOperation())))
      signalPassFailure();
    *kept = nullptr;
  }
  KeepUnshardedPass::Kept kept;
};
} // namespace

LogicalResult spmd::proveAgainst(ModuleOp unsharded, ModuleOp module, std::string *certificate, bool isSilent) {
  FailureOr<proof::Certificate> proof = failure();
  if (isSilent) {
    // Programs that cannot be compared are not decided.
    std::string reason;
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    // A compile that does not ask for the proof does not pay for one per size.
    proof = proof::proveModule(unsharded, module, /*withClaims=*/false, /*maxSizes=*/0);
    if (failed(proof)) {
      proof.emplace();
      proof->reason = reason;
    }
  } else {
    auto fallback = [](func::FuncOp global, func::FuncOp local, proof::Proof &proof) {
      decideByElements(global, local, proof);
    };
    proof = proof::proveModule(unsharded, module, /*withClaims=*/false, proof::kMaxSizes, fallback);
    if (failed(proof))
      return failure();
  }
  decideByElements(unsharded, module, *proof, /*onlyRefused=*/isSilent);
  proof::report(*proof, isSilent ? std::nullopt : std::optional(DiagnosticSeverity::Warning));
  if (certificate) {
    llvm::raw_string_ostream os(*certificate);
    proof::printJSON(*proof, os);
  }
  return failure(proof->isRefused());
}

void spmd::buildPhases(OpPassManager &pm, Phase from, const PhaseOptions &phaseOptions, Phase last) {
  bool proves = phaseOptions.prove && from < Phase::Propagated && last >= Phase::Final;
  auto unsharded = std::make_shared<OwningOpRef<ModuleOp>>();
  if (from < Phase::Propagated && last >= Phase::Propagated)
    pm.addPass(createSPMDSizeBucketsPass({phaseOptions.buckets}));
  if (proves)
    pm.addPass(std::make_unique<KeepUnshardedPass>(unsharded));
  if (from < Phase::Propagated && last >= Phase::Propagated) {
    pm.addPass(createConvertStableHLOControlFlowToSCFPass());
    pm.addPass(createSPMDSizeArgumentsPass({phaseOptions.hints}));
    SPMDOutlineConstantsPassOptions constants;
    constants.maxConstantBytes = phaseOptions.maxConstantBytes;
    pm.addPass(createSPMDOutlineConstantsPass(constants));
    pm.addPass(createSPMDByteArgumentsPass());
    pm.addPass(createSPMDImportOrtPass());
    SPMDResolveAxisResourcesPassOptions options;
    options.mesh = phaseOptions.mesh;
    if (!phaseOptions.pipeline)
      pm.addPass(createSPMDResolveAxisResourcesPass(options));
    // Automatic stages are chosen by what the search finds for each.
    const bool searches =
        phaseOptions.autoShard || (phaseOptions.pipeline && StringRef(*phaseOptions.pipeline).contains("stages=auto"));
    SPMDDecomposePassOptions decompose;
    decompose.constantsOnly = phaseOptions.pipeline.has_value();
    decompose.splitBroadcasts = !searches && !phaseOptions.pipeline;
    pm.addNestedPass<func::FuncOp>(createSPMDDecomposePass(decompose));
    if (phaseOptions.inlineCalls || phaseOptions.pipeline)
      pm.addPass(createSPMDInlineCallsPass());
    else
      pm.addPass(createSymbolDCEPass());
    pm.addNestedPass<func::FuncOp>(createSPMDNarrowSortsPass());
    if (phaseOptions.pipeline) {
      std::unique_ptr<Pass> pipeline = createSPMDBuildStagesPass();
      // These options are verified where they are read.
      (void)pipeline->initializeOptions(*phaseOptions.pipeline, [](const llvm::Twine &) { return failure(); });
      pm.addPass(std::move(pipeline));
      pm.addPass(createSPMDResolveAxisResourcesPass(options));
      SPMDDecomposePassOptions ofStages;
      ofStages.splitBroadcasts = !searches;
      pm.addNestedPass<func::FuncOp>(createSPMDDecomposePass(ofStages));
    }
    if (phaseOptions.inferSegments)
      pm.addPass(createSPMDInferSegmentsPass());
    pm.addPass(createSPMDSplitSegmentsPass());
    pm.addNestedPass<func::FuncOp>(createSPMDFindGroupsPass());
    if (searches) {
      std::unique_ptr<Pass> search = createSPMDAutoShardPass();
      // These options are verified where they are read.
      (void)search->initializeOptions(phaseOptions.autoShard.value_or(""),
                                      [](const llvm::Twine &) { return failure(); });
      pm.addPass(std::move(search));
    } else {
      SPMDPropagatePassOptions propagate;
      propagate.conflicts = phaseOptions.conflicts;
      propagate.plan = phaseOptions.plan;
      propagate.deferReductions = phaseOptions.deferReductions;
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
    if (phaseOptions.withValues)
      pm.addPass(createSPMDInsertProbesPass());
    SPMDPartitionPassOptions partition;
    partition.fillPadding = phaseOptions.fillPadding;
    partition.keepLayouts = phaseOptions.keepLayouts;
    pm.addPass(createSPMDPartitionPass(partition));
  }
  if (from < Phase::Final && last >= Phase::Final) {
    // Merged arguments have no unsharded counterpart.
    if (phaseOptions.mergeContractions && !phaseOptions.withValues)
      pm.addNestedPass<func::FuncOp>(createSPMDMergeContractionsPass());
    pm.addPass(createSPMDOutlineStagesPass());
    pm.addPass(createSPMDShardFunctionsPass());
    buildCollectives(pm, phaseOptions);
    pm.addPass(createSPMDAssignCollectiveIdsPass());
  }
  if (proves)
    pm.addPass(std::make_unique<ProvePass>(unsharded));
}

LogicalResult spmd::runPhasesOnCopy(ModuleOp copy, const PhaseOptions &options, Phase last) {
  ScopedDiagnosticHandler errorsOnly(
      copy.getContext(), [](Diagnostic &diag) { return failure(diag.getSeverity() == DiagnosticSeverity::Error); });
  PassManager pm(copy.getContext());
  buildPhases(pm, Phase(getPhase(copy)), options, last);
  return pm.run(copy);
}

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDDEFAULTPIPELINE
#include "shardkit/Pipelines.h.inc"
} // namespace mlir::spmd

namespace {
/// Holds the options of the pipeline. It is a pass in form only, and never runs.
struct DefaultPipeline : public WithPhaseOptions<spmd::impl::SPMDDefaultPipelineBase<DefaultPipeline>> {
  using WithPhaseOptions::WithPhaseOptions;
  void runOnOperation() override { llvm_unreachable("a pipeline is not a pass"); }

  /// The set of these options. MLIR keeps that of a pass private, but every option refers
  /// to its set.
  llvm::cl::SubCommand &getSet() { return **mesh.Subs.begin(); }

  PhaseOptions get() const {
    PhaseOptions options = getPhaseOptions();
    options.keepLayouts = keepLayouts;
    options.prove = prove;
    options.withValues = withValues;
    return options;
  }
};
} // namespace

/// Whether a pass takes the options `text`, the value of the option `name`; `reason` says
/// why not.
static LogicalResult verifyNestedOptions(StringRef name, const std::optional<std::string> &text,
                                         std::unique_ptr<Pass> pass, std::string &reason) {
  return pass->initializeOptions(text.value_or(""), [&](const llvm::Twine &message) {
    reason = (name + " is '" + *text + "': " + message).str();
    return failure();
  });
}

/// The options within options of `options`. `prefix` stands before the names of options.
static LogicalResult verifyNestedOptions(const PhaseOptions &options, StringRef prefix, std::string &reason) {
  if (options.autoShard && options.plan == DefaultPlan::Propagation) {
    reason =
        (prefix + "plan=propagation, but " + prefix + "auto-shard chooses the plan by search, expected one of them")
            .str();
    return failure();
  }
  return success(succeeded(verifyNestedOptions((prefix + "auto-shard").str(), options.autoShard,
                                               createSPMDAutoShardPass(), reason)) &&
                 succeeded(verifyNestedOptions((prefix + "pipeline").str(), options.pipeline,
                                               createSPMDBuildStagesPass(), reason)));
}

LogicalResult spmd::verifyPhaseOptions(const PhaseOptions &options, Location loc) {
  std::string reason;
  if (succeeded(verifyNestedOptions(options, "", reason)))
    return success();
  return emitError(loc) << reason;
}

FailureOr<PhaseOptions> spmd::parsePhaseOptions(StringRef text, std::string &reason) {
  DefaultPipeline pipeline;
  auto setReason = [&](const llvm::Twine &message) {
    reason = ("options of --spmd-default-pipeline: " + message).str();
    return failure();
  };
  if (failed(pipeline.initializeOptions(text, setReason)))
    return failure();
  PhaseOptions options = pipeline.get();
  if (failed(verifyNestedOptions(options, "", reason)))
    return failure();
  return options;
}

PhaseOptionSet::PhaseOptionSet() : pipeline(std::make_unique<DefaultPipeline>()) {}

PhaseOptionSet::~PhaseOptionSet() = default;

llvm::cl::SubCommand &PhaseOptionSet::getOptions() { return static_cast<DefaultPipeline &>(*pipeline).getSet(); }

std::string PhaseOptionSet::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  pipeline->printAsTextualPipeline(os);
  return text;
}

FailureOr<PhaseOptions> PhaseOptionSet::read(std::string &reason) const {
  PhaseOptions options = static_cast<const DefaultPipeline &>(*pipeline).get();
  if (failed(verifyNestedOptions(options, "--", reason)))
    return failure();
  return options;
}

/// Builds the default pipeline from the text of its options.
static LogicalResult buildDefaultPipeline(OpPassManager &pm, StringRef text,
                                          llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) {
  std::string reason;
  FailureOr<PhaseOptions> options = parsePhaseOptions(text, reason);
  if (failed(options))
    return emitError(reason);
  buildPhases(pm, Phase::Written, *options);
  return success();
}

void spmd::registerPipelines() {
  // The options' set is a detail::PassOptions, whose base is inaccessible: a C-style cast.
  auto handleOptions = [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handler) {
    DefaultPipeline pipeline;
    handler((const mlir::detail::PassOptions &)pipeline.getSet());
  };
  registerPassPipeline("spmd-default-pipeline", "Run all IR phases in order", buildDefaultPipeline, handleOptions);
  PassPipelineRegistration<>("spmd-forbid-implicit-reshard",
                             "Insert reshards, with an error at each that the user did not write",
                             [](OpPassManager &pm) {
                               SPMDInsertReshardsPassOptions options;
                               options.forbidImplicit = true;
                               pm.addPass(createSPMDInsertReshardsPass(options));
                             });
  for (const Rename &rename : getRenames()) {
    if (rename.kind != RenameKind::Pass)
      continue;
    StringRef name = rename.oldName;
    registerPassPipeline(
        name, ("Renamed to --" + rename.newName).str(),
        [name](OpPassManager &, StringRef, llvm::function_ref<LogicalResult(const llvm::Twine &)> emitError) {
          return emitError(describeRename(RenameKind::Pass, name));
        },
        [](llvm::function_ref<void(const mlir::detail::PassOptions &)>) {});
  }
}
