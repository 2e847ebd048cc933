//===- Pipelines.td - Options of the default pipeline ------*- tablegen -*-===//
//
// The pipeline is described like a pass, so that it shares the options of its passes.
// It is registered as a pipeline (lib/Passes/Pipelines.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PIPELINES
#define SHARDKIT_PIPELINES

include "shardkit/Options.td"

class SwitchOption<string variable, string name, string pass> : Option<
    variable, name, "bool", /*default=*/"true", "Run --spmd-" # pass>;

def SPMDDefaultPipeline : SPMDPass<"spmd-default-pipeline"> {
  let summary = "Run all IR phases in order";
  let description = [{
    1. Annotated: import ONNX Runtime's specs, resolve axis resources, decompose ops, inline
       calls, build stages (with `pipeline`), split segments.
    2. Propagated: --spmd-propagate, or --spmd-auto-shard (with `auto-shard`).
    3. Resharded: --spmd-insert-reshards.
    4. Partitioned: --spmd-partition.
    5. Final: merge contractions, outline stages, shard loading functions, optimize
       collectives and assign their ids.
  }];
  let options = [
    MeshOption, ConflictsOption, StridedShardingsOption, TripCountOption,
    Option<"autoShard", "auto-shard", "std::optional<std::string>", "std::nullopt",
           "Choose shardings by --spmd-auto-shard, with these options of it",
           [{::llvm::cl::ValueOptional, ::llvm::cl::value_desc("options")}]>,
    Option<"pipeline", "pipeline", "std::optional<std::string>", "std::nullopt",
           "Split the program into stages by --spmd-build-stages, with these options of it",
           [{::llvm::cl::ValueOptional, ::llvm::cl::value_desc("options")}]>,
    SwitchOption<"inlineCalls", "inline", "inline-calls; if not, functions are copied per signature">,
    DeferReductionsOption, FillPaddingOption, KeepLayoutsOption,
    SwitchOption<"mergeContractions", "merge-contractions", "merge-contractions">,
    SwitchOption<"mergeReductions", "merge-reductions", "merge-reductions">,
    SwitchOption<"hoist", "hoist", "hoist-collectives">,
    HoistBudgetOption<"memory-budget">,
    SwitchOption<"sink", "sink", "sink-collectives">,
    SwitchOption<"combine", "combine", "combine-collectives">,
    CombineBytesOption<"combine-bytes">,
    SwitchOption<"overlap", "overlap", "overlap-collectives">,
    MinHiddenFractionOption<"min-hidden-fraction">
  ];
}

#endif // SHARDKIT_PIPELINES
