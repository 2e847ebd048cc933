//===- Options.td - Options that several passes have -------*- tablegen -*-===//
//
// Each option is described here once, for the passes and for the default pipeline
// (Pipelines.td), which is also what shard-compile offers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_OPTIONS
#define SHARDKIT_OPTIONS

include "mlir/Pass/PassBase.td"

class SPMDPass<string argument> : PassBase<argument, "::mlir::spmd::ModulePass">;
/// A pass that changes one function and reads nothing of others.
class SPMDFunctionPass<string argument> : PassBase<argument, "::mlir::spmd::FunctionPass">;

def MeshOption : Option<
    "mesh", "mesh", "std::string", /*default=*/"\"\"",
    "Name of the mesh that axis resources resolve against; optional if the module has one mesh">;

def ConflictsOption : Option<
    "conflicts", "conflicts", "::mlir::spmd::Conflicts", "::mlir::spmd::Conflicts::Cost",
    "How propagation decides where shardings disagree", [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::Conflicts::Cost, "cost", "the least predicted time"),
      clEnumValN(::mlir::spmd::Conflicts::Basic, "basic", "the longest common prefix of all"))}]>;

def PlanOption : Option<
    "plan", "plan", "::mlir::spmd::DefaultPlan", "::mlir::spmd::DefaultPlan::Improved",
    "The plan without --spmd-auto-shard", [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::DefaultPlan::Improved, "improved",
                 "propagated, then changed where that is predicted to take less time"),
      clEnumValN(::mlir::spmd::DefaultPlan::Propagation, "propagation", "as propagated"))}]>;

def StridedShardingsOption : Option<
    "stridedShardings", "strided-shardings", "::mlir::spmd::StridedShardings",
    "::mlir::spmd::StridedShardings::Allow",
    "Whether reshapes propagate strided shardings, such as {2, \"x\"}", [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::StridedShardings::Allow, "allow", "everywhere"),
      clEnumValN(::mlir::spmd::StridedShardings::ForbidAtBoundary, "forbid-at-boundary",
                 "except to arguments and results of functions"),
      clEnumValN(::mlir::spmd::StridedShardings::Forbid, "forbid", "nowhere"))}]>;

def TripCountOption : Option<
    "tripCount", "trip-count", "::mlir::spmd::Integer", /*default=*/"100",
    "Assumed number of iterations of loops without constant bounds">;

def DeferReductionsOption : Option<
    "deferReductions", "defer-reductions", "::mlir::spmd::Flag", /*default=*/"true",
    "Keep partial sums through linear ops where that costs less, and through loops that "
    "accumulate them (docs/internals/Collectives.md)">;

def FillPaddingOption : Option<
    "fillPadding", "fill-padding", "::mlir::spmd::PaddingFill", "::mlir::spmd::PaddingFill::None",
    "For tests: the value of padding elements, which must not change results",
    [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::PaddingFill::None, "none", "unspecified"),
      clEnumValN(::mlir::spmd::PaddingFill::Lowest, "lowest", "NaN, the least integer"),
      clEnumValN(::mlir::spmd::PaddingFill::Ones, "ones", "NaN, -1"),
      clEnumValN(::mlir::spmd::PaddingFill::Zero, "zero", "0"))}]>;

def KeepLayoutsOption : Option<
    "keepLayouts", "keep-layouts", "::mlir::spmd::Flag", /*default=*/"false",
    "Keep layout and global type of each result on its op, as `spmd.layouts` and "
    "`spmd.global_types`, for --spmd-report">;

def ProveOption : Option<
    "prove", "prove", "::mlir::spmd::Flag", /*default=*/"false",
    "Prove that the partitioned program computes what the unsharded one does: an error where it does not, "
    "a warning where that is not decided (docs/internals/Proof.md)">;

def WithValuesOption : Option<
    "withValues", "with-values", "::mlir::spmd::Flag", /*default=*/"false",
    "For debugging: run --spmd-insert-probes, so that shard-run --verify=values compares each value with the "
    "unsharded one; ops are not fused across values, and contractions are not merged">;

class MemoryBudgetOption<string name> : Option<
    "memoryBudget", name, "::mlir::spmd::Integer", /*default=*/"0",
    "Limit of the bytes on a device for hoisting and combining; 0: the `memory` of the mesh, if it has one">;

class CombineBytesOption<string name> : Option<
    "maxBytes", name, "::mlir::spmd::Integer", /*default=*/"-1",
    "Largest collective to combine, in bytes; -1: of any size, in buckets by latency and "
    "transfer time">;

class MinHiddenFractionOption<string name> : Option<
    "minHiddenFraction", name, "::mlir::spmd::Number", /*default=*/"0.01",
    "Do not split a collective if compute hides a smaller fraction of its time">;

class SwitchOption<string variable, string name, string pass> : Option<
    variable, name, "::mlir::spmd::Flag", /*default=*/"true", "Run --spmd-" # pass>;

def MaxConstantBytesOption : Option<
    "maxConstantBytes", "max-constant-bytes", "::mlir::spmd::Integer", /*default=*/"65536",
    "Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, "
    "each device its shard; -1: no limit">;

def AutoShardOption : Option<
    "autoShard", "auto-shard", "std::optional<std::string>", "std::nullopt",
    "Choose shardings by --spmd-auto-shard, with these options of it",
    [{::llvm::cl::ValueOptional, ::llvm::cl::value_desc("options")}]>;

def PipelineOption : Option<
    "pipeline", "pipeline", "std::optional<std::string>", "std::nullopt",
    "Split the program into stages by --spmd-build-stages, with these options of it",
    [{::llvm::cl::ValueOptional, ::llvm::cl::value_desc("options")}]>;

def HintsOption : ListOption<
    "hints", "hint", "std::string",
    "NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for">;

def BucketsOption : ListOption<
    "buckets", "bucket", "std::string",
    "NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own">;

def InlineOption : SwitchOption<
    "inlineCalls", "inline", "inline-calls; if not, functions are copied per signature">;

def InferSegmentsOption : SwitchOption<"inferSegments", "infer-segments", "infer-segments">;

/// Options of the phases up to propagation.
defvar PropagationOptionList = [
  MeshOption, ConflictsOption, PlanOption, StridedShardingsOption, TripCountOption,
  AutoShardOption, PipelineOption, InlineOption, InferSegmentsOption, MaxConstantBytesOption, HintsOption,
  BucketsOption
];

/// Options of the phases: of the default pipeline, and of passes that run it on a copy.
defvar PhaseOptionList = !listconcat(PropagationOptionList, [
  DeferReductionsOption, FillPaddingOption,
  SwitchOption<"mergeContractions", "merge-contractions", "merge-contractions">,
  SwitchOption<"mergeReductions", "merge-reductions", "merge-reductions">,
  SwitchOption<"hoist", "hoist", "hoist-collectives">,
  MemoryBudgetOption<"memory-budget">,
  SwitchOption<"sink", "sink", "sink-collectives">,
  SwitchOption<"combine", "combine", "combine-collectives">,
  CombineBytesOption<"combine-bytes">,
  SwitchOption<"overlap", "overlap", "overlap-collectives">,
  MinHiddenFractionOption<"min-hidden-fraction">
]);

/// Dialects that the phases create ops of.
defvar PhaseDialects = [
  "::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
  "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
];

def UnsupportedOption : Option<
    "unsupported", "unsupported", "::mlir::spmd::UnsupportedFeature",
    "::mlir::spmd::UnsupportedFeature::Error",
    "What to do with an annotation that has no counterpart", [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::UnsupportedFeature::Error, "error", "report an error"),
      clEnumValN(::mlir::spmd::UnsupportedFeature::Remark, "remark", "omit it with a remark"))}]>;

def OutputOption : Option<
    "output", "output", "std::string", /*default=*/"\"\"", "File to write; standard error if empty">;

def ExplainFormatOption : Option<
    "format", "format", "::mlir::spmd::OutputFormat", "::mlir::spmd::OutputFormat::Text",
    "Form of the output", [{::llvm::cl::values(
      clEnumValN(::mlir::spmd::OutputFormat::Text, "text", "text"),
      clEnumValN(::mlir::spmd::OutputFormat::Json, "json", "JSON"),
      clEnumValN(::mlir::spmd::OutputFormat::Remarks, "remarks", "optimization remarks"))}]>;

#endif // SHARDKIT_OPTIONS
