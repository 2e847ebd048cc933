//===- Pipelines.cpp - All phases in order --------------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

void spmd::buildPhases(OpPassManager &pm, Phase from,
                       const PhaseOptions &phaseOptions, Phase last) {
  if (from < Phase::Propagated && last >= Phase::Propagated) {
    SPMDResolveAxisResourcesPassOptions options;
    options.mesh = phaseOptions.mesh;
    pm.addPass(createSPMDResolveAxisResourcesPass(options));
    // Private helpers are inlined, so that each call is sharded as its operands
    // are.
    pm.addPass(createInlinerPass());
    pm.addPass(createSymbolDCEPass());
    SPMDPropagatePassOptions propagate;
    propagate.conflicts = phaseOptions.conflicts;
    propagate.reshapeGaps = phaseOptions.reshapeGaps;
    propagate.tripCount = phaseOptions.tripCount;
    pm.addPass(createSPMDPropagatePass(propagate));
  }
  if (from < Phase::Resharded && last >= Phase::Resharded) {
    SPMDInsertReshardsPassOptions insert;
    insert.tripCount = phaseOptions.tripCount;
    pm.addPass(createSPMDInsertReshardsPass(insert));
  }
  if (from < Phase::Partitioned && last >= Phase::Partitioned) {
    SPMDPartitionPassOptions partition;
    partition.fillPadding = phaseOptions.fillPadding;
    partition.keepLayouts = phaseOptions.keepLayouts;
    pm.addPass(createSPMDPartitionPass(partition));
  }
  if (from < Phase::Final && last >= Phase::Final)
    pm.addPass(createSPMDNumberCollectivesPass());
}

void spmd::registerPipelines() {
  PassPipelineRegistration<DefaultPipelineOptions>(
      "spmd-pipeline-default",
      "All IR phases in order: resolve axis resources, inline, propagate, "
      "insert reshards, partition, number collectives",
      [](OpPassManager &pm, const DefaultPipelineOptions &options) {
        PhaseOptions phases{options.mesh, options.conflicts, options.reshapeGaps, options.tripCount};
        phases.keepLayouts = options.keepLayouts;
        buildPhases(pm, Phase::Written, phases);
      });
  PassPipelineRegistration<>(
      "spmd-forbid-implicit-reshard",
      "Insert reshards, with an error at each that the user did not write",
      [](OpPassManager &pm) {
        SPMDInsertReshardsPassOptions options;
        options.forbidImplicit = true;
        pm.addPass(createSPMDInsertReshardsPass(options));
      });
}
