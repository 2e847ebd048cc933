//===- Pipelines.td - Options of the default pipeline ------*- tablegen -*-===//
//
// The pipeline is described like a pass, so that it shares the options of its passes.
// It is registered as a pipeline (lib/Passes/Pipelines.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PIPELINES
#define SHARDKIT_PIPELINES

include "shardkit/Options.td"

def SPMDDefaultPipeline : SPMDPass<"spmd-default-pipeline"> {
  let summary = "Run all IR phases in order";
  let description = [{
    1. Annotated: outline large constants, import ONNX Runtime's specs, resolve axis
       resources, decompose ops, inline calls, build stages (with `pipeline`), split segments.
    2. Propagated: --spmd-propagate, or --spmd-auto-shard (with `auto-shard`).
    3. Resharded: --spmd-insert-reshards.
    4. Partitioned: --spmd-partition.
    5. Final: merge contractions, outline stages, shard loading functions, optimize
       collectives and assign their ids.
  }];
  let options = !listconcat(PhaseOptionList, [KeepLayoutsOption, ProveOption, WithValuesOption]);
}

#endif // SHARDKIT_PIPELINES
