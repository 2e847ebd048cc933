//===- Passes.td - The phases as passes -----------------------------------===//

#ifndef SHARDKIT_PASSES
#define SHARDKIT_PASSES

include "mlir/Pass/PassBase.td"

def SPMDResolveAxisResourcesPass
    : Pass<"spmd-resolve-axis-resources", "::mlir::ModuleOp"> {
  let summary = "Turn axis resources into shardings on a mesh";
  let description = [{
    Replaces `spmd.axis_resources` on function arguments and results, and the
    axis-resources spelling of constraints, by shardings on the chosen mesh.
    Axis names, rank and reuse are checked; an error stands at the argument and
    lists what is legal. Entries that are left out are unsharded and closed.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/"\"\"",
           "Name of the mesh to resolve against; may be left out where the "
           "module has one mesh">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDShardingsToConstraintsPass : Pass<"spmd-shardings-to-constraints", "::mlir::ModuleOp"> {
  let summary = "Turn shardings that the user wrote on ops into constraints";
  let description = [{
    `spmd.shardings` on an op is a discardable attribute: rewrites that replace the
    op drop it, and canonicalization makes constants one whatever stands on them.
    Constraints, and the attributes of arguments and results, survive. Every pass
    that reads annotations does this first; as a pass of its own it goes before
    upstream passes that come earlier. Phase: up to annotated.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDApplyPlanPass : Pass<"spmd-apply-plan", "::mlir::ModuleOp"> {
  let summary = "Write the shardings of a plan file into the module";
  let description = [{
    Reads a sharding plan (JSON, docs/reference/Plans.md): meshes, and rules that give axis
    resources or shardings to arguments, results and values by name. Adds the meshes that
    the module lacks, writes `spmd.sharding` on arguments and results, and pins values by
    constraints. What stands in the module already must mean the same. A name that does not
    exist is an error, a pattern that matches nothing a warning; both list the nearest
    names.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "The plan to read; - is standard input">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDSpecializeShapesPass : Pass<"spmd-specialize-shapes", "::mlir::ModuleOp"> {
  let summary = "Give arguments of dynamic size the sizes that they will have";
  let description = [{
    `shapes=x=8x16,y=8` gives all arguments of public functions that are called `x`
    (`spmd.weight`, else `spmd.name`, else `arg0`) the shape 8x16, and so on. What
    that makes known of other values follows: sizes are folded, casts go through ops,
    branches and loops, and results that are known become static. Values that stay
    dynamic stay right. To be run before a copy of the unsharded program is made, and
    with helpers inlined. Phase: up to annotated.
  }];
  let options = [
    ListOption<"shapes", "shapes", "std::string", "NAME=SIZExSIZE..., one per argument">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SPMDExportPlanPass : Pass<"spmd-export-plan", "::mlir::ModuleOp"> {
  let summary = "Write the shardings of the module into a plan file";
  let description = [{
    Writes meshes and shardings as a plan that --spmd-apply-plan reads. The
    module stays as it is.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "The plan to write; - is standard output">,
    Option<"content", "content", "std::string", /*default=*/"\"user\"",
           "user: what the user wrote on arguments, results and values; all: "
           "completed arguments and results, and values with how they are "
           "computed">
  ];
}

def SPMDImportOrtPass : Pass<"spmd-import-ort", "::mlir::ModuleOp"> {
  let summary = "Turn ONNX Runtime's specs into shardings";
  let description = [{
    Replaces every `#spmd.ort`, a spec and a device mesh per tensor, by a sharding on
    a mesh of the module that has the devices; where none has, a mesh is added.
    Repeated devices become gaps. Specs that are no layout, or that do not divide a
    dim, are errors. A file gives the specs of the arguments and results of a
    function: `{"inputs": [{"spec", "mesh_shape", "mesh_elements"} ], "outputs":
    [...]}`, null where nothing is given. The default pipeline does this first.
    Phase: up to propagated.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "A file of specs to write on a function first">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "The function that the file is about; may be left out where one is public">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportOrtPass : Pass<"spmd-export-ort", "::mlir::ModuleOp"> {
  let summary = "Write shardings as ONNX Runtime's specs";
  let description = [{
    The inverse of --spmd-import-ort: every sharding becomes `#spmd.ort`, or, with a
    file, those of a function are written there and the module stays as it is.
    Shardings that no device list can say (partial, uneven, parts of axes that do not
    nest) are errors. Open dims are written closed.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "The file to write; - is standard output">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "The function to write; may be left out where one is public">
  ];
}

def SPMDImportSdyPass : Pass<"spmd-import-sdy", "::mlir::ModuleOp"> {
  let summary = "Turn Shardy's annotations into ours";
  let description = [{
    Reads Shardy's dialect in generic form, which needs --allow-unregistered-dialect:
    meshes, shardings of arguments, results and ops (open dims, priorities, replicated
    and unreduced axes, sub-axes, meshes spelled out in place), constraints, reshards,
    barriers, groups, manual computations and sharding rules. Collectives on global
    values become reshards. What has no counterpart (blocked propagation, ops of
    Shardy's own passes) is an error. A reduction in a rule is a sum. Phase: up to
    resharded.
  }];
  let options = [
    Option<"unsupported", "unsupported", "std::string", /*default=*/"\"error\"",
           "What an annotation without a counterpart is: error, or remark, and it is "
           "left out">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportSdyPass : Pass<"spmd-export-sdy", "::mlir::ModuleOp"> {
  let summary = "Write annotations as Shardy's";
  let description = [{
    The inverse of --spmd-import-sdy. What Shardy cannot say is an error: gaps, a
    function on several meshes, axis resources and specs of ONNX Runtime that are not
    resolved, partial results that are no sums, windowed or indexed factors, stage
    boundaries. Names of groups become numbers. Other attributes of ours stay as they
    are, and the costs of a mesh stay on it as a foreign attribute. Phase: up to resharded.
  }];
  let options = [
    Option<"unsupported", "unsupported", "std::string", /*default=*/"\"error\"",
           "What an annotation that Shardy cannot express is: error, or remark, and it is "
           "left out">
  ];
}

def SPMDImportShardPass : Pass<"spmd-import-shard", "::mlir::ModuleOp"> {
  let summary = "Turn annotations of upstream's dialect shard into ours";
  let description = [{
    A grid becomes a mesh whose axes are called d0, d1, ...; `shard.shard` becomes a
    constraint, closed in all dims. That an annotation is for the users of a value, and
    its halo sizes, stay on the constraint as foreign attributes: reshards and halos
    are made where they are needed. Grids of unknown size and ops in local view are
    errors, and so are shards of given sizes. Phase: up to annotated.
  }];
  let options = [
    Option<"unsupported", "unsupported", "std::string", /*default=*/"\"error\"",
           "What an annotation without a counterpart is: error, or remark, and it is "
           "left out">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportShardPass : Pass<"spmd-export-shard", "::mlir::ModuleOp"> {
  let summary = "Write annotations as those of upstream's dialect shard";
  let description = [{
    The inverse of --spmd-import-shard. Shardings of arguments and results become
    annotations at the entry and in front of the return. Equal shardings of a block are
    one op, and dims at the end that are not split are not listed. What the dialect
    cannot say is an error: open dims, priorities, replicated and unreduced axes, gaps,
    parts of axes, device orders, costs, and every op but constraints. Names of axes
    stay on the grid as a foreign attribute. Phase: up to annotated.
  }];
  let options = [
    Option<"unsupported", "unsupported", "std::string", /*default=*/"\"error\"",
           "What an annotation that the dialect cannot express is: error, or remark, and "
           "it is left out">
  ];
  let dependentDialects = ["::mlir::shard::ShardDialect"];
}

def SPMDSplitSegmentsPass : Pass<"spmd-split-segments", "::mlir::ModuleOp"> {
  let summary = "Make an argument of each part of a stored dimension";
  let description = [{
    An argument with `spmd.segments` becomes one argument per part, each with a
    sharding of its own and with `spmd.segment`: its place in the stored tensor. Uses
    follow: what computes along the parts is done part by part (a product with a
    concatenation is the concatenation of the products), and a slice at the borders
    is the part. Any other use reads the concatenation, whose reshards are visible. A
    sharding that cuts a unit is an error that names the counts that do not; a part
    with fewer units than shards is an error unless `replicate` is given: then it is
    cut along a part of the axes. Phase: up to annotated.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SPMDMergeContractionsPass : Pass<"spmd-merge-contractions", "::mlir::ModuleOp"> {
  let summary = "Make one product of the products with parts of one stored tensor";
  let description = [{
    Products of one operand with several parts of a stored tensor, which
    --spmd-split-segments made arguments, become one product with one argument: the
    local parts side by side, in a buffer that the loader fills part by part
    (`spmd.segments_of`). The results are slices of its result. What only relays a part out
    (a transpose, a cast) goes along. Phase: partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SPMDPropagatePass : Pass<"spmd-propagate", "::mlir::ModuleOp"> {
  let summary = "Complete partial shardings by propagation";
  let description = [{
    Completes the shardings of all values of each function from those that the
    user gave, forward and backward through the sharding rules to a fixpoint.
    Dims without `?` stay as they are. What the user wrote on an argument or
    result is kept beside the completed sharding as `spmd.user_sharding`; a constraint
    keeps its own attribute. Elementwise ops and views are propagated through
    before contractions and reductions. Phase: annotated to propagated.
  }];
  let options = [
    Option<"conflicts", "conflicts", "std::string", /*default=*/"\"cost\"",
           "What happens where shardings disagree: `cost` takes the least "
           "predicted time, `basic` the longest prefix that all agree on">,
    Option<"stridedShardings", "strided-shardings", "std::string", /*default=*/"\"allow\"",
           "Whether a reshape may pass an axis on with a gap before it "
           "({2, \"x\"}): allow, forbid-at-boundary (not to arguments and results "
           "of functions) or forbid">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "How often a loop is taken to run whose bounds are not constant: "
           "reshards in it cost that much more">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDBuildStagesPass : Pass<"spmd-build-stages", "::mlir::ModuleOp"> {
  let summary = "Cut a program into pipeline stages on meshes of their own";
  let description = [{
    The public function whose arguments carry `spmd.microbatch`, or that holds stage
    boundaries, becomes one function per stage (`@stage0`, ...; with one stage
    `@accumulate`) for one microbatch, and a schedule with its name. A function per stage holds its
    parts, forward, backward and apply, one behind the other, so that the ordinary
    phases give what they share one layout; --spmd-outline-stages makes functions of the parts once
    they are local. Axis resources resolve against the mesh of the stage they are
    in (docs/internals/Stages.md). Calls are inlined first. Phase: annotated.
  }];
  let options = [
    Option<"stages", "stages", "std::string", /*default=*/"\"manual\"",
           "manual (at the stage boundaries of the program), uniform or auto">,
    Option<"numStages", "num-stages", "int64_t", /*default=*/"0",
           "How many stages; by default what boundaries or meshes say">,
    ListOption<"meshes", "meshes", "std::string",
               "The mesh of each stage; by default the cluster's, cut along its first axis">,
    Option<"microbatches", "microbatches", "int64_t", /*default=*/"1",
           "How many microbatches a step has">,
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b or inference; by default 1f1b for "
           "what has a backward part, else inference">,
    Option<"virtualStages", "virtual-stages", "int64_t", /*default=*/"1",
           "Stages per mesh: stage k runs on mesh k modulo the number of meshes">,
    Option<"cluster", "cluster", "std::string", /*default=*/"\"\"",
           "The mesh of all devices, which the meshes of the stages share out">,
    ListOption<"axes", "axes", "std::string",
               "With stages=auto, the axes of each stage's mesh; by default those that axis "
               "resources name, else those of the cluster">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "The function to cut; may be left out where one has boundaries or microbatches">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDOutlineStagesPass : Pass<"spmd-outline-stages", "::mlir::ModuleOp"> {
  let summary = "Make a function of each part of a stage, and the instruction lists";
  let description = [{
    `@stage0_forward`, `@stage0_backward`, `@stage0_apply` (with one stage `@accumulate`
    and `@apply`) of each local stage function, and in the schedule what moves between
    stages and what each mesh runs when. What is accumulated over the microbatches is an
    argument and a result of the part that adds to it. A schedule that has its lists is
    checked: one error at the first instruction that is wrong. Phase: partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDTimelinePass : Pass<"spmd-timeline", "::mlir::ModuleOp"> {
  let summary = "Print when which mesh of a pipeline runs what";
  let description = [{
    Checks the instruction lists of a schedule (--spmd-outline-stages) and prints them, as text with a
    row per mesh and a column per clock, or as a page (docs/internals/Stages.md). The module stays as it is.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "Name of the schedule; may be left out where there is one">,
    Option<"format", "format", "std::string", /*default=*/"\"text\"", "text or html">,
    Option<"output", "output", "std::string", /*default=*/"\"\"",
           "File to write; standard error if empty">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDAutoShardPass : Pass<"spmd-auto-shard", "::mlir::ModuleOp"> {
  let summary = "Choose all shardings by search, under what the user gave";
  let description = [{
    Takes the place of --spmd-propagate: chooses the layout of every value and how
    every op computes so that the predicted time of all collectives is least, and among
    these the bytes that a device holds. What the user gave is kept: closed dims as they
    are, open ones perhaps with more axes. Writes what propagation writes, and
    `spmd.factor_shardings` and `spmd.reshard_per_use` on ops; `spmd.solver` on a function has the objective, a lower bound
    and whether that proves it optimal (docs/rationale/Search.md). Whole axes are tried in
    every order on everything that they divide. Options ask for more than what stands in the
    program, as constraints of the same problem. Phase: annotated to propagated.
  }];
  let options = [
    Option<"costModel", "cost-model", "std::string", /*default=*/"\"default\"",
           "default, or alpa: with Alpa's terms that break ties, each use of a value "
           "paying its own reshard">,
    ListOption<"forbidCollectives", "forbid-collectives", "std::string",
               "Kinds of collectives that must not be used: all_gather, all_reduce, "
               "reduce_scatter, all_to_all, collective_permute, exchange">,
    Option<"memoryBudget", "memory-budget", "int64_t", /*default=*/"-1",
           "Bytes that a device may hold at once; -1: what the mesh says, if it does">,
    Option<"optimalityGap", "optimality-gap", "double", /*default=*/"0.001",
           "With a memory budget: how far from the bound an answer may be, as a part of it">,
    Option<"timeLimit", "time-limit", "double", /*default=*/"60",
           "Seconds per function, planning included, after which the best found is taken, with its "
           "gap">,
    Option<"solver", "solver", "std::string", /*default=*/"\"own\"",
           "own, or cbc: the same problem as a 0/1 program for CBC, as a check; times only, and "
           "slow">,
    Option<"subAxes", "sub-axes", "std::string", /*default=*/"\"auto\"",
           "Whether parts of axes are tried: auto (where a whole axis divides nothing) "
           "or all">,
    Option<"reshardPerUse", "reshard-per-use", "std::string", /*default=*/"\"auto\"",
           "Whether each use of a value has its own reshard (always), or equal ones "
           "are made once (never, auto; auto within a memory budget as far as they can be held)">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "Trips of loops whose bounds are not constant">,
    Option<"meshShapes", "mesh-shapes", "std::string", /*default=*/"\"given\"",
           "Whether the sizes of the mesh's axes are kept (given), or all are tried that "
           "have the same number of devices (all)">,
    Option<"allowRecompute", "allow-recompute", "bool", /*default=*/"false",
           "Contractions may use fewer devices than they could, so that several compute "
           "the same; then the time to compute counts too">,
    Option<"replicatedWeights", "allow-replicated-weights", "bool", /*default=*/"true",
           "Whether a weight may be whole on every device">,
    ListOption<"batchAxes", "batch-axes", "std::string",
               "Axes that cut dim 0 of every input: data parallelism">,
    ListOption<"batchArguments", "batch-arguments", "std::string",
               "Names of these inputs; none: every argument that is no weight and is not "
               "updated">,
    Option<"zeroStage", "zero-stage", "int64_t", /*default=*/"0",
           "What the batch axes cut besides: 1 optimizer state, 2 gradients too, 3 weights "
           "too, each use of one gathering it again">,
    Option<"smallValueThreshold", "small-value-threshold", "int64_t", /*default=*/"0",
           "Values of fewer elements stay as propagation has them">,
    Option<"deviationPenalty", "deviation-penalty", "double", /*default=*/"0.0",
           "Seconds that each value costs which is not where propagation has it">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDDeriveCostsPass : Pass<"spmd-derive-costs", "::mlir::ModuleOp"> {
  let summary = "Give meshes link costs that follow from the bandwidths of hosts";
  let description = [{
    Writes `beta` on every mesh that has none, from the bandwidth within a host and that
    between hosts, which all groups of an axis use at once (docs/rationale/Search.md).
    Device d is on host d / devices-per-host.
  }];
  let options = [
    Option<"devicesPerHost", "devices-per-host", "int64_t", /*default=*/"0",
           "Devices of one host">,
    Option<"intraHost", "intra-host-bandwidth", "double", /*default=*/"0.0",
           "Bytes per second that a device sends within its host">,
    Option<"interHost", "inter-host-bandwidth", "double", /*default=*/"0.0",
           "Bytes per second on a link between hosts, each way">,
    Option<"topology", "topology", "std::string", /*default=*/"\"tree\"",
           "How hosts are linked: tree (each to a switch) or ring (each to the next)">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDInsertReshardsPass : Pass<"spmd-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "Make every change of layout one visible spmd.reshard";
  let description = [{
    Chooses per op the assignment of axes to factors whose reshards cost least,
    closes every dim, and inserts one `spmd.reshard` per value and layout where
    a user needs another layout than the value has. Constraints are consumed.
    Axes on a reduction factor make the result `unreduced`; the reshard after it
    completes it. `spmd.factor_shardings` and `spmd.reshard_per_use` on an op are obeyed. Phase: propagated to
    resharded.
  }];
  let options = [
    Option<"forbidImplicit", "forbid-implicit", "bool", /*default=*/"false",
           "An error at each reshard that moves data and that no constraint asks "
           "for, with its bytes">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "As of --spmd-propagate">,
    Option<"deferReductions", "defer-reductions", "bool", /*default=*/"true",
           "Keep partial sums partial through ops that are linear in them, where "
           "that costs less, and through loops that add them up (docs/internals/Collectives.md)">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDPartitionPass : Pass<"spmd-partition", "::mlir::ModuleOp"> {
  let summary = "Turn the global program into the local program of each device";
  let description = [{
    Retypes every operation in place to its local shape, lowers each reshard to
    collectives, rebases `linalg.index`, keeps padding lanes of uneven dims out
    of results, makes dynamic sizes local, with a check that a size can be cut
    where that is not known, and leaves `spmd.sharding` and `spmd.global_type` on arguments
    and results. Phase: resharded to partitioned.
  }];
  let options = [
    Option<"fillPadding", "fill-padding", "std::string", /*default=*/"\"\"",
           "For tests: fill the padding lanes of every value with `lowest` (NaN, "
           "the least integer), `ones` (NaN, -1) or `zero`; results must not change">,
    Option<"keepLayouts", "keep-layouts", "bool", /*default=*/"false",
           "Leave layout and global type of each result on its op, as "
           "`spmd.layouts` and `spmd.global_types`: --spmd-report then knows them">,
    Option<"dynamicChecks", "dynamic-checks", "bool", /*default=*/"true",
           "Whether dynamic sizes may be checked at run time (cf.assert); an error "
           "where that would be needed if not">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SPMDShardFunctionsPass : Pass<"spmd-shard-functions", "::mlir::ModuleOp"> {
  let summary = "Cut loading functions as the arguments that they make";
  let description = [{
    For every argument with `spmd.load` a private function from the stored tensors,
    whole, to what this device has of the argument; `spmd.shard_function` names it.
    It is the loading function put through the ordinary phases, its result sharded
    as the argument; one for each distinct function and layout, called by a hash of
    both. It has no collectives: where the phases would exchange data, each device
    computes all of the result and keeps its part. Functions that call host
    functions stay as they are; the shape of what these give is checked. Phase:
    partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDMergeReductionsPass : Pass<"spmd-merge-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce sums of all-reduces once";
  let description = [{
    A sum or difference of all-reduces over the same axes becomes one all-reduce of
    the sum; what a loop adds to an argument by all-reduces alone is reduced once
    behind it. For reductions that users write in manual computations:
    insert-reshards carries partial sums by itself. Phase: partitioned.
  }];
  let options = [
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "As of --spmd-propagate">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect"];
}

def SPMDHoistCollectivesPass : Pass<"spmd-hoist-collectives", "::mlir::ModuleOp"> {
  let summary = "Move collectives out of loops that do not change what they move";
  let description = [{
    A collective whose operand comes from outside a loop is moved before it, where
    the function then still fits its budget. Where a function does not fit, gathers
    that one loop alone reads go into it, the largest first, until it does; only
    into loops that all devices run alike. What is live at once is estimated as
    `getPeakBytes` says (docs/internals/Collectives.md). Phase: partitioned.
  }];
  let options = [
    Option<"memoryBudget", "memory-budget", "int64_t", /*default=*/"0",
           "Bytes that a device may hold; 0: the mesh's `memory`, without one any "
           "number">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDSinkCollectivesPass : Pass<"spmd-sink-collectives", "::mlir::ModuleOp"> {
  let summary = "Place collectives in their blocks where least is held";
  let description = [{
    A collective that makes a value larger, or whose operand lives on, sinks to
    right before its first user; one that makes it smaller rises to the last other
    use of its operand. Views of its result go with it. Phase: partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDCombineCollectivesPass : Pass<"spmd-combine-collectives", "::mlir::ModuleOp"> {
  let summary = "Let small collectives of one group travel together";
  let description = [{
    all_reduce, all_gather and reduce_scatter of one kind, group, reduction and
    element type that do not wait for each other and have a place in common in
    their block become one `spmd.start`, right before the first that reads one of
    them. The bits stay the same. Phase: partitioned.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"-1",
           "Combine collectives of at most so many bytes; -1: those whose latency "
           "(alpha) is more than the rest of their time">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDOverlapCollectivesPass : Pass<"spmd-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Start collectives early and wait for them late";
  let description = [{
    A collective with independent compute before its first user becomes a pair of
    `spmd.start` and `spmd.done`, the done right before that user, the start as far
    in front as the compute in between hides its time. Phase: partitioned.
  }];
  let options = [
    Option<"minHiddenFraction", "min-hidden-fraction", "double", /*default=*/"0.01",
           "Leave a collective as it is where compute hides less than this share of "
           "its time">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "As of --spmd-propagate">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDAssignCollectiveIdsPass
    : Pass<"spmd-assign-collective-ids", "::mlir::ModuleOp"> {
  let summary = "Number the collectives of each function in program order";
  let description = [{
    Writes `id = N : i64` on every collective, from 0 in program order per
    function. The last IR pass. Phase: partitioned to final.
  }];
}

def SPMDStripPass : Pass<"spmd-strip", "::mlir::ModuleOp"> {
  let summary = "Remove all annotations: the unsharded program";
  let description = [{
    Replaces annotation ops by their operands and erases `spmd.*` attributes and
    meshes. Only for IR in global view (before partition). Names of arguments
    and results (`spmd.name`, `spmd.weight`) go as well.
  }];
  let options = [
    Option<"shardingsOnly", "shardings-only", "bool", /*default=*/"false",
           "Remove what a plan can give back: shardings, constraints, how ops "
           "compute, meshes without a use. Names and all else stay">
  ];
}

def SPMDDecomposePass : Pass<"spmd-decompose", "::mlir::ModuleOp"> {
  let summary = "Rewrite ops for what can be cut better";
  let description = [{
    A scalar (a tensor of rank 0) that an op spreads over its result becomes a
    `linalg.fill`, which is made anew for each layout that is asked for: frameworks
    spread a constant once for all that read it, and nothing shall propagate or move
    from one of these to another through it.

    `tosa.avg_pool2d` with padding counts the places of each window that are no
    padding, which differs from device to device where the image is cut. Upstream's
    lowering of it to linalg says so by indices and can be cut, so that only halos
    move. Ops with a rule written on them, of dynamic shape, and modules without a
    mesh are left alone.

    Where a slice drops a dim of size 1 behind one that stays and may be of size 1 too,
    a reshape of its own does so, in modules without a mesh as well: MLIR 22
    canonicalizes such slices to others. Run this before what canonicalizes.
    Phase: up to annotated.
  }];
  let dependentDialects = [
    "::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
  let options = [Option<
      "constantsOnly", "constants-only", "bool", "false",
      "Leave alone scalars that only the run knows: what --spmd-build-stages hands from stage to stage are tensors">];
}

def SPMDInlineCallsPass : Pass<"spmd-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls of functions, so that each is sharded as its operands are";
  let description = [{
    Upstream's inliner, the calls in loops and branches that it leaves since bodies have
    ops of affine, and then upstream's removal of private functions that nothing calls. Both ask for all uses of symbols, which nobody knows of a module with an op
    of one region that is not registered: there calls stay as they are, with a warning,
    and functions are copied per signature (docs/concepts/Propagation.md). Phase: up to annotated.
  }];
}

def SPMDListRulesPass : Pass<"spmd-list-rules", "::mlir::ModuleOp"> {
  let summary = "List the ops of upstream dialects with the rule that each has";
  let description = [{
    Prints, for every registered op of arith, complex, func, linalg, math, scf,
    tensor and tosa, one line: its name and `rule` (it has
    ShardingRuleOpInterface), `elementwise` (the trait Elementwise is enough) or
    `none` (replicated, unless propagation knows it otherwise, as loops). Reads
    no IR; `docs/reference/Status.md` is made from it.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
}

def SPMDReportPass : Pass<"spmd-report", "::mlir::ModuleOp"> {
  let summary = "Report collectives, bytes, costs and what each device holds";
  let description = [{
    Arguments and results with global and local types, every collective with its
    axes, bytes and predicted time, totals by kind and axis, the peak of the
    memory that a device needs with the largest values there, and values that
    axes could cut which hold copies of them now (docs/reference/Report.md).

    A module that is not partitioned yet is taken through the phases that are
    left, on a copy; values then have the names they have there, and the page of
    `format=html` says why each has its layout. Of a module that is partitioned
    the layouts of arguments and results are known, and those of other values
    where --spmd-partition=keep-layouts left them. The module stays as it is.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "text, json, remarks or html">,
    Option<"output", "output", "std::string", /*default=*/"\"\"",
           "File to write; standard error if empty">,
    Option<"top", "top", "int64_t", /*default=*/"10",
           "How many of the largest values, and of the replicated ones, are listed">,
    Option<"baseline", "baseline", "std::string", /*default=*/"\"\"",
           "A report in JSON that this one is compared with">,
    Option<"maxReplicated", "max-replicated", "double", /*default=*/"100",
           "Fail where more than this percentage of the arguments' bytes on a device are "
           "copies that axes could cut">,
    Option<"mesh", "mesh", "std::string", /*default=*/"\"\"",
           "As of --spmd-default-pipeline, for a module that is not partitioned">,
    Option<"conflicts", "conflicts", "std::string", /*default=*/"\"cost\"",
           "As of --spmd-propagate, likewise">,
    Option<"stridedShardings", "strided-shardings", "std::string", /*default=*/"\"allow\"",
           "As of --spmd-propagate, likewise">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "How often a loop is taken to run whose bounds are not constant">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SPMDRequireCompletePass : Pass<"spmd-require-complete", "::mlir::ModuleOp"> {
  let summary = "Refuse arguments and results that no annotation has reached";
  let description = [{
    After propagation, an error at each argument and result of a public function
    on which nothing is given and to which no axis came: nobody has said that it
    is to be replicated. `{}` on its dims says so. Accepts the phase propagated.
  }];
}

def SPMDExplainReshapePass : Pass<"spmd-explain-reshape", "::mlir::ModuleOp"> {
  let summary = "Say for every reshape what it keeps and what is gathered";
  let description = [{
    Propagates a copy of the module from what is given and prints, for each reshape:
    the axes that stay where they are, those that no dim of the result can hold,
    the layout that is left, the bytes received against the fewest possible, and how
    the operand could be written so that nothing is gathered. The module stays as it
    is. Accepts phases up to propagated.
  }];
  let options = [
    Option<"conflicts", "conflicts", "std::string", /*default=*/"\"cost\"",
           "As of --spmd-propagate">,
    Option<"stridedShardings", "strided-shardings", "std::string", /*default=*/"\"allow\"",
           "As of --spmd-propagate">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "As of --spmd-propagate">,
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "text, json or remarks">,
    Option<"output", "output", "std::string", /*default=*/"\"\"",
           "File to write; standard error if empty">
  ];
}

def SPMDExplainPass : Pass<"spmd-explain", "::mlir::ModuleOp"> {
  let summary = "Say for every axis where it comes from, and what stopped others";
  let description = [{
    Propagates a copy of the module from what is given and prints, for each
    selected value: the chain of ops from each axis back to the annotation it
    came from, and for each axis that a neighbouring value has and this one has
    not, what stopped it: a closed dim, a size that does not divide, the axis in
    use, a conflict lost (with both costs), a barrier, an op without a rule. What a
    search laid out is explained by a search: the next best layouts of a value, and ways
    to compute a contraction, with what the whole function would then cost and what of
    it is decisive. The module stays as it is. Accepts phases up to propagated.
  }];
  let options = [
    Option<"top", "top", "int64_t", /*default=*/"3",
           "How many alternatives to what a search chose are named">,
    Option<"value", "value", "std::string", /*default=*/"\"\"",
           "%12 or %arg0 as printed in the input, a NameLoc, spmd.name, "
           "spmd.weight, resultN or file:line; all values if empty">,
    Option<"grid", "grid", "bool", /*default=*/"false",
           "Draw which devices hold which part of each value">,
    Option<"conflicts", "conflicts", "std::string", /*default=*/"\"cost\"",
           "As of --spmd-propagate">,
    Option<"stridedShardings", "strided-shardings", "std::string", /*default=*/"\"allow\"",
           "As of --spmd-propagate">,
    Option<"tripCount", "trip-count", "int64_t", /*default=*/"100",
           "As of --spmd-propagate">,
    Option<"format", "format", "std::string", /*default=*/"\"text\"",
           "text, json or remarks">,
    Option<"output", "output", "std::string", /*default=*/"\"\"",
           "File to write; standard error if empty">
  ];
}

#endif // SHARDKIT_PASSES
