//===- Passes.td - The phases as passes -----------------------------------===//

#ifndef SHARDKIT_PASSES
#define SHARDKIT_PASSES

include "shardkit/Options.td"

def SPMDResolveAxisResourcesPass : SPMDPass<"spmd-resolve-axis-resources"> {
  let summary = "Turn axis resources into shardings on a mesh";
  let description = [{
    Replaces `spmd.axis_resources` on function arguments and results, and the
    axis-resources form of constraints, by shardings on the chosen mesh.
    Checks axis names, rank and reuse; an error points at the argument and lists
    the legal axes. Missing entries are unsharded, closed dims. A pass on modules, as all
    functions get the mesh that it chooses.
  }];
  let options = [
    MeshOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDShardingsToConstraintsPass : SPMDFunctionPass<"spmd-shardings-to-constraints"> {
  let summary = "Turn shardings that the user wrote on ops into constraints";
  let description = [{
    `spmd.shardings` on an op is a discardable attribute. A rewrite that replaces the
    op drops it, and canonicalization merges constants that differ in it.
    Constraints, and the attributes of arguments and results, survive. Every pass
    that reads annotations does this first. Run it as a pass before upstream passes
    that come earlier. Phase: up to annotated.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDApplyPlanPass : SPMDPass<"spmd-apply-plan"> {
  let summary = "Write the shardings of a plan file into the module";
  let description = [{
    Reads a sharding plan (JSON, docs/reference/Plans.md): meshes, and rules that assign
    axis resources or shardings to arguments, results and values by name. Adds
    the meshes that the module lacks, writes `spmd.sharding` on arguments and
    results, and adds constraints for values. An annotation that the module has
    already must mean the same. An unknown name is an error, a pattern without a
    match is a warning; both list the nearest names. A pass on modules: rules name values of
    all functions.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "Plan to read; - is standard input">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDSpecializeShapesPass : SPMDPass<"spmd-specialize-shapes"> {
  let summary = "Replace dynamic sizes of arguments by constants";
  let description = [{
    `shapes=x=8x16,y=8` gives all arguments of public functions with the name `x`
    (`spmd.weight`, else `spmd.name`, else `arg0`) the shape 8x16, and likewise `y`.
    The sizes that follow from these are folded, casts move through ops, branches and
    loops, and results with known shapes become static. Values that remain dynamic
    stay correct. Run this before the unsharded reference is made, and after inlining
    helpers. Phase: up to annotated. A pass on modules: results and callers change together.
  }];
  let options = [
    ListOption<"shapes", "shapes", "std::string", "NAME=SIZExSIZE..., one per argument">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SPMDSizeBucketsPass : SPMDPass<"spmd-size-buckets"> {
  let summary = "Make a function for each bucket of sizes that only the run knows";
  let description = [{
    Replaces a function with `spmd.buckets`, or with `bucket`, by one for each bucket. Its
    `spmd.bounds` are the sizes of the bucket, and its hint the largest of these, or the
    function's own hint where that lies within. So each has layouts of its own; weights and
    state have one layout for all. A bundle has the buckets as one function: the runtime
    chooses by the sizes of a call. What is larger than the last limit is a bucket of its
    own. Phase: up to annotated.

    ```mlir
    func.func @f(%x: tensor<?x16xf32> {spmd.symbols = ["b", ""]})
      attributes {spmd.bounds = {b = [1, 64]}, spmd.buckets = {b = [8]}}
    // becomes
    func.func @"f[b<=8]"(...) attributes {spmd.bounds = {b = [1, 8]}, spmd.hints = {b = 8}, spmd.bucket_of = "f"}
    func.func @"f[b>=9]"(...) attributes {spmd.bounds = {b = [9, 64]}, spmd.hints = {b = 64}, spmd.bucket_of = "f"}
    ```
  }];
  let options = [BucketsOption];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDSizeArgumentsPass : SPMDPass<"spmd-size-arguments"> {
  let summary = "Add an argument for each size that only the run knows";
  let description = [{
    Each `?` of an argument of a public function is a size with a name: that in
    `spmd.symbols`, else `x.0` for dim 0 of `x`. The function gets an argument of type
    index for each name, after all others, with the bound that `spmd.bounds` gives it.
    Sizes in the body that follow from these are computed from them, and
    `spmd.global_sizes` of arguments and results gives their sizes: sums, products and
    quotients of size arguments. The runtime passes the sizes. Layouts are chosen for the
    size in `spmd.hints` or `hint`, else for the upper bound. Phase: up to annotated.

    ```mlir
    func.func @f(%x: tensor<?x16xf32> {spmd.symbols = ["b", ""]}) attributes {spmd.bounds = {b = [1, 64]}}
    // becomes
    func.func @f(%x: tensor<?x16xf32> {spmd.global_sizes = affine_map<()[s0] -> (s0, 16)>},
                 %b: index {spmd.size = "b", spmd.bound = [1, 64]})
    ```

    A pass on modules: callers pass the sizes.
  }];
  let options = [HintsOption];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def SPMDExportPlanPass : SPMDPass<"spmd-export-plan"> {
  let summary = "Write the shardings of the module into a plan file";
  let description = [{
    Writes meshes and shardings as a plan that --spmd-apply-plan reads. The
    module does not change. A pass on modules: the plan is of all functions.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "Plan to write; - is standard output">,
    Option<"content", "content", "::mlir::spmd::PlanContent",
           "::mlir::spmd::PlanContent::User",
           "Which shardings to write", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::PlanContent::User, "user", "those that the user wrote"),
             clEnumValN(::mlir::spmd::PlanContent::All, "all", "those of all arguments, results and values, with how values are computed"))}]>
  ];
}

def SPMDImportOrtPass : SPMDPass<"spmd-import-ort"> {
  let summary = "Turn the specs of ONNX Runtime into shardings";
  let description = [{
    Replaces every `#spmd.ort`, a spec and a device mesh per tensor, by a sharding on
    a mesh of the module that has the devices, or on a new mesh if there is none.
    Repeated devices become strided shardings. A spec that is not a layout, or that
    does not divide a dim, is an error. A file specifies the arguments and results of
    a function: `{"inputs": [{"spec", "mesh_shape", "mesh_elements"} ], "outputs":
    [...]}`, with null for tensors without a spec. The default pipeline runs this first.
    Phase: up to propagated. A pass on modules: it adds meshes.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "File of specs to write on a function first">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "Function of the file; optional if one function is public">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportOrtPass : SPMDPass<"spmd-export-ort"> {
  let summary = "Write shardings as specs of ONNX Runtime";
  let description = [{
    The inverse of --spmd-import-ort. Every sharding becomes `#spmd.ort`. With a
    file, the shardings of one function are written there and the module does not
    change. Shardings that no device list can express (partial, uneven, sub-axes that
    do not nest) are errors. Open dims are written as closed dims. A pass on modules: the
    file is of one function among them.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"\"\"",
           "File to write; - is standard output">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "Function to write; optional if one function is public">
  ];
}

def SPMDImportSdyPass : SPMDPass<"spmd-import-sdy"> {
  let summary = "Turn annotations of Shardy into those of ShardKit";
  let description = [{
    Reads Shardy's dialect in generic form, which needs --allow-unregistered-dialect:
    meshes, shardings of arguments, results and ops (open dims, priorities, replicated
    and unreduced axes, sub-axes, inlined meshes), constraints, reshards, barriers,
    groups, manual computations and sharding rules. Collectives on global values
    become reshards. An annotation without a counterpart (blocked propagation, ops of
    Shardy's own passes) is an error. A reduction in a rule is a sum. A `stablehlo.sort`,
    whose region has been lowered to linalg, becomes a `spmd.sort`. Phase: up to
    resharded. A pass on modules: meshes change too.
  }];
  let options = [
    UnsupportedOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SPMDExportSdyPass : SPMDPass<"spmd-export-sdy"> {
  let summary = "Write annotations as those of Shardy";
  let description = [{
    The inverse of --spmd-import-sdy. Shardy cannot express strided shardings, a
    function on several meshes, unresolved axis resources and specs of ONNX Runtime,
    partial results other than sums, windowed or indexed factors, and stage
    boundaries: each is an error. Names of groups become numbers. Other attributes of
    ShardKit do not change, and the costs of a mesh stay on it as a foreign attribute.
    Phase: up to resharded. A pass on modules: meshes change too.
  }];
  let options = [
    UnsupportedOption
  ];
}

def SPMDImportShardPass : SPMDPass<"spmd-import-shard"> {
  let summary = "Turn annotations of upstream's dialect shard into those of ShardKit";
  let description = [{
    A grid becomes a mesh with axes d0, d1, ...; `shard.shard` becomes a constraint
    with closed dims. The flag that an annotation is for the users of a value, and its
    halo sizes, stay on the constraint as foreign attributes: ShardKit inserts
    reshards and halos where they are needed. A local
    program becomes one of ShardKit in phase partitioned: collectives on tensors, update_halo, a
    send with the recv of its result, and the index of the process. Grids of unknown size, other
    ops in local view, both views in one module, and explicit shard sizes are errors.
    Phase: up to annotated; a local program may be final. A pass on modules: grids change
    too.
  }];
  let options = [
    UnsupportedOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportShardPass : SPMDPass<"spmd-export-shard"> {
  let summary = "Write annotations as those of upstream's dialect shard";
  let description = [{
    The inverse of --spmd-import-shard. Shardings of arguments and results become
    annotations at the entry and before the return. Equal shardings of a block share
    one op, and trailing unsharded dims are not listed. The dialect cannot express
    open dims, priorities, replicated and unreduced axes, strided shardings, sub-axes,
    device orders, costs, and any op but constraints: each is an error. Names of axes
    stay on the grid as a foreign attribute. Phase: up to annotated. A pass on modules:
    meshes change too.
  }];
  let options = [
    UnsupportedOption
  ];
  let dependentDialects = ["::mlir::shard::ShardDialect"];
}

def SPMDInferSegmentsPass : SPMDPass<"spmd-infer-segments"> {
  let summary = "Find the segments of weights";
  let description = [{
    Weights are stored fused: query, key and value in one tensor, gate and up in
    another. From what reads an argument with `spmd.weight` the pass finds the slices
    that are used one by one (also of what is computed from it), and the units
    that must stay together (heads, interleaved gate and up), and writes them as
    `spmd.segments ... replicate`. A remark names them. It looks through transposes,
    reshapes, elementwise ops, and the dims of contractions that their results have.

    A weight has no segments where an op reads the full dim or could not be computed
    segment by segment, where the slices overlap or leave elements unread, where another
    function reads the weight otherwise, and where the function updates it. One segment
    is written if shards of a given sharding would end inside of its units. What the user wrote stays. Phase:
    up to annotated. A pass on modules, as all functions that read a weight decide.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDSplitSegmentsPass : SPMDPass<"spmd-split-segments"> {
  let summary = "Make an argument of each segment of a stored dimension";
  let description = [{
    An argument with `spmd.segments` becomes one argument per segment, each with its
    sharding and with `spmd.segment`, its offset in the stored tensor. Ops along the
    segmented dim are computed per segment: a contraction with a concatenation is the
    concatenation of contractions, and a slice at segment boundaries is the segment.
    Any other use reads the concatenation, whose reshards are visible. Shards have full
    units: where they do not divide these, the units get a dim of their own, which is
    unevenly sharded, and ops along the segment compute on units. With `replicate` a
    segment of fewer units than shards is sharded along a sub-axis instead, where at
    most two units are then on a device. Phase: up to annotated. A pass on modules: no function may call one whose arguments it splits.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SPMDMergeContractionsPass : SPMDFunctionPass<"spmd-merge-contractions"> {
  let summary = "Merge contractions with segments of one stored tensor";
  let description = [{
    Contractions of one operand with several segments of a stored tensor, which
    --spmd-split-segments made arguments, become one contraction with one argument.
    The argument is the concatenation of the local segments, in one buffer that the
    loader fills segment by segment (`spmd.segments_of`). The results become slices of
    the merged result. Ops that only change the layout of a segment (a transpose, a
    cast) are merged too. Phase: partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"mergedContractions", "merged-contractions", "Contractions with segments that became one">
  ];
}

def SPMDPropagatePass : SPMDPass<"spmd-propagate"> {
  let summary = "Complete partial shardings by propagation";
  let description = [{
    Completes the shardings of all values of each function from those that the
    user wrote, forward and backward through the sharding rules to a fixpoint.
    Closed dims do not change. The user's sharding of an argument or result is kept
    next to the completed one as `spmd.user_sharding`; a constraint keeps its
    attribute. Elementwise ops and views are propagated through before contractions
    and reductions. With `plan=improved`, layouts and strategies then change where the
    plan, as it runs in the end, is predicted to take at least 8 % less time
    (docs/concepts/Propagation.md); `spmd.improved` on a function has both times.
    Phase: annotated to propagated. A pass on modules: functions share weights and state,
    and call each other.
  }];
  let options = [
    ConflictsOption,
    PlanOption,
    StridedShardingsOption,
    TripCountOption,
    DeferReductionsOption
  ];
  let dependentDialects = PhaseDialects;
  let statistics = [
    Statistic<"shardedValues", "sharded-values", "Values, those of one sharding counted once, that axes shard">
  ];
}

def SPMDBuildStagesPass : SPMDPass<"spmd-build-stages"> {
  let summary = "Split a program into pipeline stages, each on a mesh";
  let description = [{
    The public function whose arguments carry `spmd.microbatch`, or that holds stage
    boundaries, becomes one function per stage (`@stage0`, ...; with one stage
    `@accumulate`) for one microbatch, and a schedule with its name. The function of a
    stage holds its fragments forward, backward and apply in this order, so that the
    other phases give shared values one layout. --spmd-outline-stages outlines the
    fragments once they are local. Axis resources resolve against the mesh of their
    stage (docs/internals/Stages.md). Calls are inlined first. Phase: annotated. A pass on
    modules: it makes functions.
  }];
  let options = [
    Option<"stages", "stages", "::mlir::spmd::StageChoice",
           "::mlir::spmd::StageChoice::Manual",
           "How to find the stages", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::StageChoice::Manual, "manual", "at the stage boundaries of the program"),
             clEnumValN(::mlir::spmd::StageChoice::Uniform, "uniform", "of equal compute"),
             clEnumValN(::mlir::spmd::StageChoice::Auto, "auto", "by search, with the meshes"))}]>,
    Option<"numStages", "num-stages", "::mlir::spmd::Integer", /*default=*/"0",
           "Number of stages; 0: as boundaries or meshes specify">,
    ListOption<"meshes", "meshes", "std::string",
               "Mesh of each stage; by default slices of the cluster along its first axis">,
    Option<"microbatches", "microbatches", "::mlir::spmd::Integer", /*default=*/"1",
           "Number of microbatches of a step">,
    Option<"schedule", "schedule", "::mlir::spmd::ScheduleChoice",
           "::mlir::spmd::ScheduleChoice::Auto",
           "Order of the microbatches on each mesh", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::ScheduleChoice::Auto, "auto", "1f1b for a program with a backward fragment, else inference"),
             clEnumValN(::mlir::spmd::ScheduleChoice::GPipe, "gpipe", "all forward, then all backward"),
             clEnumValN(::mlir::spmd::ScheduleChoice::OneFOneB, "1f1b", "one forward, one backward"),
             clEnumValN(::mlir::spmd::ScheduleChoice::OneFOneBOverlap, "1f1b-overlap", "1f1b with transfers during compute"),
             clEnumValN(::mlir::spmd::ScheduleChoice::InterleavedOneFOneB, "interleaved-1f1b", "1f1b with several stages per mesh"),
             clEnumValN(::mlir::spmd::ScheduleChoice::Inference, "inference", "forward only"))}]>,
    Option<"virtualStages", "virtual-stages", "::mlir::spmd::Integer", /*default=*/"1",
           "Stages per mesh: stage k runs on mesh k modulo the number of meshes">,
    Option<"cluster", "cluster", "std::string", /*default=*/"\"\"",
           "Mesh of all devices, which are divided among the meshes of the stages">,
    ListOption<"axes", "axes", "std::string",
               "Axes of the mesh of each stage, with stages=auto; by default those that axis "
               "resources name, else those of the cluster">,
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "Function to split; optional if one has boundaries or microbatches">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDOutlineStagesPass : SPMDPass<"spmd-outline-stages"> {
  let summary = "Outline the fragments of stages, and write the instruction lists";
  let description = [{
    Makes the functions `@stage0_forward`, `@stage0_backward` and `@stage0_apply` (with
    one stage `@accumulate` and `@apply`) of each local stage function. Writes into the
    schedule the transfers between stages and the instructions of each mesh. A value
    that is accumulated over the microbatches is an argument and a result of the
    fragment that adds to it. A schedule that already has its lists is verified, with
    one error at the first wrong instruction. Phase: partitioned. A pass on modules: it
    makes functions.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDTimelinePass : SPMDPass<"spmd-timeline"> {
  let summary = "Print when each mesh of a pipeline runs each fragment";
  let description = [{
    Verifies the instruction lists of a schedule (--spmd-outline-stages) and prints
    them, as text with a row per mesh and a column per clock, or as a page
    (docs/internals/Stages.md). The module does not change.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "Name of the schedule; optional if there is one">,
    Option<"format", "format", "::mlir::spmd::OutputFormat",
           "::mlir::spmd::OutputFormat::Text",
           "Form of the output", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::OutputFormat::Text, "text", "a table"),
             clEnumValN(::mlir::spmd::OutputFormat::Html, "html", "a page"))}]>,
    OutputOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDExportRulesPass : SPMDPass<"spmd-export-rules"> {
  let summary = "Write how ops relate the dims of values, as JSON";
  let description = [{
    Writes what propagation works on (docs/reference/RuleSyntax.md), for tools that find
    values by their use. Per function on a mesh:

    * `classes`: the shape of each value class, of values that have one sharding, such
      as an argument, the result that is tied to it and what a loop carries;
    * `arguments` and `results`: the name and the value class, -1 of other values
      than tensors; `weight` of arguments;
    * `ops` in program order, with the sharding rule of each: `factors` with size, kind
      and whether a dim follows it in windows, `operands` and `results` with the value
      class, -1 of constants, and the factors of each dim, major to minor. `name` is the
      op's, empty where a value is passed on, as to and from a loop. `value` is the
      position of its first result (docs/reference/Plans.md), `contraction` whether it
      is one;
    * `hash`: of the function, for rules of a plan about positions.

    The module does not change. It needs a mesh. Phase: up to annotated.
  }];
  let options = [OutputOption];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDAutoShardPass : SPMDPass<"spmd-auto-shard"> {
  let summary = "Choose all shardings by search, under the constraints of the user";
  let description = [{
    Replaces --spmd-propagate: chooses the layout of every value and the strategy of
    every op so that the predicted time of all collectives is minimal, and among equal
    ones the bytes on a device. User shardings are kept: closed dims exactly, open dims
    perhaps with more axes. Writes the same attributes as propagation, and
    `spmd.factor_shardings` and `spmd.reshard_per_use` on ops. `spmd.solver` on a
    function has the objective, a lower bound and whether that proves it optimal
    (docs/rationale/Search.md). Full axes are candidates in every order on every dim that
    they divide. Options add constraints to the same problem. Phase: annotated to
    propagated. A pass on modules: functions share weights and state, and call each other.
  }];
  let options = [
    Option<"costModel", "cost-model", "::mlir::spmd::SearchCostModel",
           "::mlir::spmd::SearchCostModel::Default",
           "Cost model of collectives", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::SearchCostModel::Default, "default", "alpha and beta of the mesh"),
             clEnumValN(::mlir::spmd::SearchCostModel::Alpa, "alpa", "with Alpa's terms that break ties; each use of a value pays its reshard"),
             clEnumValN(::mlir::spmd::SearchCostModel::XLA, "xla", "moves that XLA makes by several collectives cost all of these"))}]>,
    ListOption<"forbidCollectives", "forbid-collectives", "std::string",
               "Kinds of collectives that must not be used: all_gather, all_reduce, "
               "reduce_scatter, all_to_all, collective_permute, exchange">,
    Option<"memoryBudget", "memory-budget", "::mlir::spmd::Integer", /*default=*/"-1",
           "Limit of the bytes on a device; -1: the `memory` of the mesh, if it has one">,
    Option<"optimalityGap", "optimality-gap", "::mlir::spmd::Number", /*default=*/"-1",
           "Allowed distance from the lower bound, as a fraction of it; -1: 0.001 with a memory budget, else 0">,
    Option<"timeLimit", "time-limit", "::mlir::spmd::Number", /*default=*/"60",
           "Seconds of CPU time per function, planning included, after which the best solution is taken">,
    Option<"solver", "solver", "::mlir::spmd::SearchSolver",
           "::mlir::spmd::SearchSolver::Own",
           "Solver of the problem", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::SearchSolver::Own, "own", "the solver of ShardKit"),
             clEnumValN(::mlir::spmd::SearchSolver::Cbc, "cbc", "CBC, for a check of the objective; slow"))}]>,
    Option<"subAxes", "sub-axes", "::mlir::spmd::SubAxes",
           "::mlir::spmd::SubAxes::Auto",
           "Which sub-axes are candidates", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::SubAxes::Auto, "auto", "those of axes that divide no dim"),
             clEnumValN(::mlir::spmd::SubAxes::All, "all", "those of all axes"))}]>,
    Option<"reshardPerUse", "reshard-per-use", "::mlir::spmd::ReshardPerUse",
           "::mlir::spmd::ReshardPerUse::Auto",
           "Whether each use of a value has its own reshard", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::ReshardPerUse::Auto, "auto", "where a memory budget requires it"),
             clEnumValN(::mlir::spmd::ReshardPerUse::Always, "always", "at each use"),
             clEnumValN(::mlir::spmd::ReshardPerUse::Never, "never", "equal reshards are shared"))}]>,
    TripCountOption,
    Option<"meshShapes", "mesh-shapes", "::mlir::spmd::MeshShapes",
           "::mlir::spmd::MeshShapes::Given",
           "Which sizes of mesh axes are candidates", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::MeshShapes::Given, "given", "those of the mesh"),
             clEnumValN(::mlir::spmd::MeshShapes::All, "all", "all with the same number of devices"))}]>,
    Option<"comparePlans", "compare-plans", "::mlir::spmd::Flag", /*default=*/"true",
           "Compare the searched plan with others as they run, and take the fastest; false: the searched one">,
    Option<"hideCollectives", "hide-collectives", "::mlir::spmd::Flag", /*default=*/"true",
           "Collectives take what is left of them after the independent compute that they overlap with, in the "
           "objective and when plans are compared; for a mesh with `flops` and `spmd.overlap`, as measured costs have">,
    Option<"allowRecompute", "allow-recompute", "::mlir::spmd::Flag", /*default=*/"false",
           "Allow contractions to be computed redundantly on several devices; the objective "
           "then includes compute time. Always so if the mesh has `flops`">,
    Option<"replicatedWeights", "allow-replicated-weights", "::mlir::spmd::Flag", /*default=*/"true",
           "Whether weights may be replicated on every device">,
    ListOption<"batchAxes", "batch-axes", "std::string",
               "Axes that shard dim 0 of every input (data parallelism)">,
    ListOption<"batchArguments", "batch-arguments", "std::string",
               "Names of these inputs; by default every argument that is neither a weight nor "
               "updated">,
    Option<"zeroStage", "zero-stage", "::mlir::spmd::Integer", /*default=*/"0",
           "What the batch axes shard in addition: 1 optimizer state, 2 also gradients, 3 also "
           "weights, which are gathered per use">,
    Option<"smallValueThreshold", "small-value-threshold", "::mlir::spmd::Integer", /*default=*/"0",
           "Values of fewer elements keep the sharding of propagation">,
    Option<"deviationPenalty", "deviation-penalty", "::mlir::spmd::Number", /*default=*/"0.0",
           "Cost in seconds of each value whose sharding differs from that of propagation">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDDeriveCostsPass : SPMDPass<"spmd-derive-costs"> {
  let summary = "Derive link costs of meshes from the bandwidths of hosts";
  let description = [{
    Writes `beta` on every mesh that has none, from the bandwidth within a host and the
    bandwidth between hosts, which all groups of an axis use at once
    (docs/rationale/Search.md). Device d is on host d / devices-per-host. A pass on modules:
    it changes meshes.
  }];
  let options = [
    Option<"devicesPerHost", "devices-per-host", "::mlir::spmd::Integer", /*default=*/"0",
           "Devices of one host">,
    Option<"intraHost", "intra-host-bandwidth", "::mlir::spmd::Number", /*default=*/"0.0",
           "Bytes per second that a device sends within its host">,
    Option<"interHost", "inter-host-bandwidth", "::mlir::spmd::Number", /*default=*/"0.0",
           "Bytes per second on a link between hosts, each way">,
    Option<"topology", "topology", "::mlir::spmd::HostTopology",
           "::mlir::spmd::HostTopology::Tree",
           "How hosts are linked", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::HostTopology::Tree, "tree", "each to a switch"),
             clEnumValN(::mlir::spmd::HostTopology::Ring, "ring", "each to the next"))}]>
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
}

def SPMDInsertReshardsPass : SPMDPass<"spmd-insert-reshards"> {
  let summary = "Make every change of layout one explicit spmd.reshard";
  let description = [{
    Chooses for each op the assignment of axes to factors whose reshards cost least,
    closes every dim, and inserts one `spmd.reshard` per value and layout where
    a user needs a layout that differs from that of the value. Constraints are
    consumed. Axes on a reduction factor make the result `unreduced`; the reshard after
    it completes the reduction. Respects `spmd.factor_shardings` and
    `spmd.reshard_per_use` on ops. Phase: propagated to resharded. A pass on modules: it
    reads the layouts that callees have, and adds meshes and the phase.
  }];
  let options = [
    Option<"forbidImplicit", "forbid-implicit", "::mlir::spmd::Flag", /*default=*/"false",
           "Report an error at each reshard that moves data and that no constraint requires, "
           "with its bytes">,
    TripCountOption,
    DeferReductionsOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
  let statistics = [
    Statistic<"insertedReshards", "inserted-reshards", "Reshards that were inserted">
  ];
}

def SPMDInsertProbesPass : SPMDPass<"spmd-insert-probes"> {
  let summary = "Probe the values of a program and of its unsharded counterpart";
  let description = [{
    Each public function gets an unsharded counterpart, a private function that
    `spmd.unsharded` names: the same ops without annotations. After each op in both that
    computes a tensor a `spmd.probe` of one number stands; for values in loops and branches
    too. `shard-run --verify=values` runs both side by side and names the first value that
    differs. Elements that an op leaves undefined (`tensor.empty` as the destination of
    slices and loops) become zeros in both. Values of complex type and of unknown size, and
    large constants, have no probe. Functions with manual computations, stages, calls or sizes
    that only the run knows are left out, with a warning. Phase: resharded. A pass on
    modules: it makes functions.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SPMDPartitionPass : SPMDPass<"spmd-partition"> {
  let summary = "Turn the global program into the local program of each device";
  let description = [{
    Retypes every operation in place to its local shape, lowers each reshard to
    collectives, rebases `linalg.index`, masks padding elements of uneven dims, and
    makes dynamic sizes local, with a run-time check where it is not known whether
    they are divisible. `spmd.sharding` and `spmd.global_type` stay on arguments and
    results. Phase: resharded to partitioned. A pass on modules: it reads the layouts that
    callees have, and adds meshes and the phase.
  }];
  let options = [
    FillPaddingOption,
    KeepLayoutsOption,
    Option<"dynamicChecks", "dynamic-checks", "::mlir::spmd::Flag", /*default=*/"true",
           "Allow run-time checks of dynamic sizes (cf.assert); if not, a size that needs one "
           "is an error">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"insertedCollectives", "inserted-collectives", "Collectives that reshards became">
  ];
}

def SPMDShardFunctionsPass : SPMDPass<"spmd-shard-functions"> {
  let summary = "Partition loading functions like the arguments that they compute";
  let description = [{
    For every argument with `spmd.load`, makes a private function from the full stored
    tensors to this device's shard of the argument; `spmd.shard_function` names it.
    The function is the loading function after the ordinary phases, with a result
    sharded like the argument. Each distinct pair of function and layout has one, named
    by a hash of both. It has no collectives: where the phases would exchange data,
    each device computes the full result and keeps its shard. Functions that call host
    functions do not change; the shapes of the results of these calls are checked.
    Phase: partitioned. A pass on modules: it makes functions.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SPMDMergeReductionsPass : SPMDFunctionPass<"spmd-merge-reductions"> {
  let summary = "Merge all-reduces whose results are added";
  let description = [{
    A sum or difference of all-reduces over the same axes becomes one all-reduce of
    the sum. All-reduces that a loop accumulates become one all-reduce after the loop.
    This is for reductions that users write in manual computations:
    --spmd-insert-reshards defers those that it inserts. Phase: partitioned.
  }];
  let options = [
    TripCountOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"mergedReductions", "merged-reductions", "All-reduces that became one, or left a loop">
  ];
}

def SPMDHoistCollectivesPass : SPMDPass<"spmd-hoist-collectives"> {
  let summary = "Hoist loop-invariant collectives";
  let description = [{
    Moves a collective whose operand is defined outside a loop before the loop, if the
    function still fits its memory budget. If a function does not fit, gathers that
    only one loop reads move into the loop, the largest first, until it does; only
    into loops that all devices run alike. `getPeakBytes` estimates the live bytes
    (docs/internals/Collectives.md). One function at a time, as it reads the functions
    that one calls. Phase: partitioned.
  }];
  let options = [
    MemoryBudgetOption<"memory-budget">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
  let statistics = [
    Statistic<"hoistedCollectives", "hoisted-collectives", "Collectives moved before a loop">,
    Statistic<"sunkGathers", "sunk-gathers", "Gathers moved into a loop">
  ];
}

def SPMDSinkCollectivesPass : SPMDFunctionPass<"spmd-sink-collectives"> {
  let summary = "Move collectives within their blocks to minimize live memory";
  let description = [{
    A collective that enlarges a value, or whose operand stays live, sinks to
    right before its first user. One that shrinks a value rises to the last other
    use of its operand. Views of its result move with it. Phase: partitioned.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
  let statistics = [
    Statistic<"movedCollectives", "moved-collectives", "Collectives moved in their block">
  ];
}

def SPMDCombineCollectivesPass : SPMDPass<"spmd-combine-collectives"> {
  let summary = "Combine collectives of one group";
  let description = [{
    all_reduce, all_gather and reduce_scatter of one kind, group, reduction and
    element type, that do not depend on each other and can all move to one point of
    their block, become one `spmd.start`, up to the capacity of a bucket. Readers that
    do little work, such as transposes and updates, wait for it. The peak of
    `getPeakBytes`, which reads the functions that one calls, stays within the budget, or
    grows by at most a quarter. Results are bitwise equal. Phase: partitioned.
  }];
  let options = [
    CombineBytesOption<"max-bytes">,
    MemoryBudgetOption<"memory-budget">
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
  let statistics = [
    Statistic<"combinedCollectives", "combined-collectives", "Collectives that start together with others">
  ];
}

def SPMDOverlapCollectivesPass : SPMDFunctionPass<"spmd-overlap-collectives"> {
  let summary = "Overlap collectives with compute";
  let description = [{
    A collective with independent compute before its first user becomes a pair of
    `spmd.start` and `spmd.done`: the done right before that user, and the start as
    early as the compute in between hides its time. On a mesh with `spmd.overlap` a
    collective hides that fraction of itself at most. Phase: partitioned.
  }];
  let options = [
    MinHiddenFractionOption<"min-hidden-fraction">,
    TripCountOption
  ];
  let dependentDialects = ["::mlir::spmd::SPMDDialect"];
  let statistics = [
    Statistic<"overlappedCollectives", "overlapped-collectives", "Collectives that overlap with compute">
  ];
}

def SPMDAssignCollectiveIdsPass : SPMDPass<"spmd-assign-collective-ids"> {
  let summary = "Assign ids to the collectives of each function";
  let description = [{
    Removes collectives of which no device receives anything. Writes `id = N : i64` on
    the others, from 0 in program order per function. The last IR pass. Phase:
    partitioned to final. A pass on modules, as it sets their phase; functions are numbered
    at the same time.
  }];
  let dependentDialects = ["::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"collectives", "collectives", "Collectives of the program">
  ];
}

include "shardkit/Conversion/Passes.td"

def SPMDStripPass : SPMDPass<"spmd-strip"> {
  let summary = "Remove all annotations: the unsharded program, or the plain program of a device";
  let description = [{
    Replaces annotation ops by their operands and erases `spmd.*` attributes and
    meshes, including the names of arguments and results (`spmd.name`, `spmd.weight`).
    A `spmd.sort` becomes structured ops and loops.

    Of a partitioned program it removes the same, so that the program of a device without
    collectives, or after --convert-spmd-to-calls, has no op and no attribute of the dialect:
    any compiler on MLIR parses it. Collectives that are left are an error. A pass on modules:
    it removes meshes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"shardingsOnly", "shardings-only", "::mlir::spmd::Flag", /*default=*/"false",
           "Remove only what a plan can restore: shardings, constraints, strategies of ops, "
           "unused meshes">,
    Option<"keepProbes", "keep-probes", "::mlir::spmd::Flag", /*default=*/"false",
           "Keep spmd.probe ops">
  ];
}

def SPMDDecomposePass : SPMDFunctionPass<"spmd-decompose"> {
  let summary = "Rewrite ops into others that can be partitioned better";
  let description = [{
    1. A scalar (a tensor of rank 0) that an op broadcasts becomes a `linalg.fill`,
       which is rematerialized per layout. Frameworks broadcast a constant once for all
       users, and shardings must not propagate, nor data move, from one user to another
       through it.
    2. With `split-broadcasts`, a broadcast that several ops read becomes one for each of
       them, for the same reason: frameworks and CSE merge equal ones, such as the mask of
       all layers. What the user annotated stays one. The default pipeline does that where
       no search chooses the layouts: a search weighs all readers at once, and copies make
       it larger.
    3. `tosa.avg_pool2d` with padding divides by the number of elements of each window
       that are not padding, which differs between devices if the image is sharded.
       Upstream's lowering to linalg expresses that by indices and can be partitioned,
       so that only halos move. Ops with an explicit rule, ops of dynamic shape, and
       modules without a mesh do not change.
    4. A slice that drops a dim of size 1 after one that remains and may be of size 1
       becomes a slice and a reshape, also in modules without a mesh: MLIR 22
       canonicalizes such slices incorrectly. Run this before canonicalization.

    Phase: up to annotated.
  }];
  let dependentDialects = [
    "::mlir::spmd::SPMDDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
  let options = [Option<
      "constantsOnly", "constants-only", "::mlir::spmd::Flag", "false",
      "Rewrite constant scalars only: stages forward tensors, not scalars that are computed">,
    Option<"splitBroadcasts", "split-broadcasts", "::mlir::spmd::Flag", "false",
           "Give each reader of a broadcast one of its own">];
  let statistics = [
    Statistic<"decomposedOps", "decomposed-ops", "Ops that were rewritten">
  ];
}

def SPMDInlineCallsPass : SPMDPass<"spmd-inline-calls"> {
  let summary = "Inline calls, so that each is sharded like its operands";
  let description = [{
    Runs upstream's inliner, inlines the remaining calls in loops and branches, and
    removes private functions without a caller. A module with an unregistered op of
    one region has unknown uses of symbols: its calls stay, with a warning, and
    functions are copied per signature (docs/concepts/Propagation.md). Phase: up to annotated. A
    pass on modules: it removes functions.
  }];
}

def SPMDOutlineConstantsPass : SPMDPass<"spmd-outline-constants"> {
  let summary = "Make arguments of large constants, which the runtime loads from the bundle";
  let description = [{
    A constant of more than `max-constant-bytes` bytes whose elements are not all equal
    becomes an argument at the end of its function, with its elements in `spmd.constant`
    and a name by their hash in `spmd.weight`. Equal constants are one argument. Callers
    pass it on. The argument is sharded like a weight; the bundle has the elements once,
    and each device loads its shard. `dense_resource` constants that stay in the program
    become `dense` ones.

    A manual computation takes it as an operand that its axes do not shard. Constants in
    loading functions, in functions that other ops than calls name, and of types that a file
    of constants does not have (complex<f64>) stay. Phase: up to annotated. A pass on
    modules: callers pass the constants.
  }];
  let options = [MaxConstantBytesOption];
}

def SPMDByteArgumentsPass : SPMDPass<"spmd-byte-arguments"> {
  let summary = "Pass weights of 8-bit floats as bytes, as they are stored";
  let description = [{
    Programs compute with floats of at least 16 bits. An argument of a public function that
    is a weight of 8-bit floats (f8E4M3FN, for instance) becomes one of i8, which a loading
    function makes of the stored tensor without a change of its bits; `arith.bitcast` gives
    the floats back in the program, where `arith.extf` widens them. So such weights take a
    byte for each element on the devices. Phase: up to annotated. A pass on modules: it
    makes loading functions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SPMDNarrowSortsPass : SPMDFunctionPass<"spmd-narrow-sorts"> {
  let summary = "Keep the elements of sorts that are read";
  let description = [{
    A `spmd.sort` whose results are read by slices with constant bounds along the sorted
    dim only, as after torch.topk and torch.kthvalue, keeps the first elements up to the
    last one that is read, or the last ones from the first one that is read. A slice of
    a reversed result, as of a descending jax.numpy.sort, becomes the reversal of a
    slice before. Sharded along that dim, the sort then moves candidates instead of the
    dim (docs/internals/Architecture.md). Run it after --spmd-inline-calls. Phase: up to
    annotated.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"narrowedSorts", "narrowed-sorts", "Sorts that keep fewer elements">
  ];
}

def SPMDFindGroupsPass : SPMDFunctionPass<"spmd-find-groups"> {
  let summary = "Mark what experts compute for their tokens alone";
  let description = [{
    In a program on full tensors a mixture of experts computes all tokens for all experts,
    and a mask leaves few. Targets compute these alone (docs/internals/Targets.md), and so
    they cost what they cost there: ops of groups and rows get
    `spmd.groups = {groups = 8, used = 2}`, with which the search and reports count 2 of 8
    products. How many groups a row is in is known of one-hot vectors (as many as choices)
    and of sorted rows (1); of any other mask it may be all.

    A result that only the loop over the groups reads has `dim`, that of the groups: one of
    them after the other is in memory.

    Run it after --spmd-inline-calls. Phase: up to annotated.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"markedOps", "marked-ops", "Ops that compute some of the rows of each group">
  ];
}

def SPMDMergeModulesPass : SPMDPass<"spmd-merge-modules"> {
  let summary = "Make one module of nested ones, which share weights and state";
  let description = [{
    The public function of `module @prefill { ... }` becomes `@prefill` of the outer
    module. Meshes and private functions move with it; equal ones become one, others
    of one name are renamed. `spmd.calls` of the module becomes that of the function.
    Arguments of one `spmd.weight`, and state, have one layout
    then (docs/concepts/Propagation.md). Phase: up to annotated. A pass on modules: it moves
    functions between them.
  }];
}

def SPMDListRulesPass : SPMDPass<"spmd-list-rules"> {
  let summary = "List the ops of upstream dialects with the rule of each";
  let description = [{
    Prints one line for every registered op of arith, complex, func, linalg, math, scf,
    tensor and tosa: its name and `rule` (it has ShardingRuleOpInterface),
    `elementwise` (the trait Elementwise suffices) or `none` (replicated, unless
    propagation handles it otherwise, like loops). Does not read the IR. `docs/reference/Status.md`
    is made from the output.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect"];
}

def SPMDReportPass : SPMDPass<"spmd-report"> {
  let summary = "Report collectives, bytes, costs and memory per device";
  let description = [{
    Reports arguments and results with global and local types, every collective with
    its axes, bytes and predicted time, totals by kind and axis, the peak memory of a
    device with the largest values at that point, and replicated values that axes could
    shard (docs/reference/Report.md).

    Before --spmd-partition, a copy of the module runs through the remaining phases of
    --spmd-default-pipeline, with its options; values have the names that they have after
    propagation, and the page of `format=html` explains each layout. After --spmd-partition, the layouts of arguments and results are known,
    and those of other values if --spmd-partition=keep-layouts kept them. The module
    does not change.
  }];
  let options = !listconcat([
    Option<"format", "format", "::mlir::spmd::OutputFormat",
           "::mlir::spmd::OutputFormat::Text",
           "Form of the output", [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::OutputFormat::Text, "text", "text"),
             clEnumValN(::mlir::spmd::OutputFormat::Json, "json", "JSON"),
             clEnumValN(::mlir::spmd::OutputFormat::Remarks, "remarks", "optimization remarks"),
             clEnumValN(::mlir::spmd::OutputFormat::Html, "html", "a page"))}]>,
    OutputOption,
    Option<"top", "top", "::mlir::spmd::Integer", /*default=*/"10",
           "Number of the largest values, and of the replicated ones, to list">,
    Option<"baseline", "baseline", "std::string", /*default=*/"\"\"",
           "Report in JSON to compare with">,
    Option<"maxReplicated", "max-replicated", "::mlir::spmd::Number", /*default=*/"100",
           "Fail if more than this percentage of the bytes of arguments on a device are replicas "
           "that axes could shard">
  ], PhaseOptionList);
  let dependentDialects = PhaseDialects;
}

def SPMDRequireCompletePass : SPMDPass<"spmd-require-complete"> {
  let summary = "Reject arguments and results that no annotation reached";
  let description = [{
    After propagation, reports an error at each argument and result of a public function
    that has no user sharding and no propagated axis. To replicate it, write `{}` for
    its dims. Accepts the phase propagated. A pass on modules: it lists what all functions
    lack.
  }];
}

def SPMDExplainReshapePass : SPMDPass<"spmd-explain-reshape"> {
  let summary = "Explain which axes each reshape keeps and gathers";
  let description = [{
    Runs a copy of the module through the phases of --spmd-default-pipeline up to
    propagation and prints, for each reshape: the axes that it keeps, the axes that no dim
    of the result can hold, the resulting layout, the bytes received against the lower
    bound, and a sharding of the operand that needs no gather. The module does not change.
    Accepts phases up to propagated.
  }];
  let options = !listconcat([ExplainFormatOption, OutputOption], PropagationOptionList);
  let dependentDialects = PhaseDialects;
}

def SPMDExplainPass : SPMDPass<"spmd-explain"> {
  let summary = "Explain the origin of every axis, and why others are absent";
  let description = [{
    Runs a copy of the module through the phases of --spmd-default-pipeline up to
    propagation, with its options, and prints, for each selected value, the chain of ops
    from each axis back to its annotation. For each axis that a
    neighboring value has and this one does not, it prints the reason: a closed dim, a
    size that does not divide, the axis in use, a conflict lost (with both costs), a
    barrier, an op without a rule. The result of a search is explained by a search: the
    next best layouts of a value, and strategies of a contraction, with the cost of the
    whole function and its decisive terms. The module does not change. Accepts phases
    up to propagated.
  }];
  let options = !listconcat([
    Option<"top", "top", "::mlir::spmd::Integer", /*default=*/"3",
           "Number of alternatives to list for each choice of a search">,
    Option<"value", "value", "std::string", /*default=*/"\"\"",
           "%12 or %arg0 as printed after propagation (and in reports), a NameLoc, spmd.name, "
           "spmd.weight, resultN or file:line; all values if empty">,
    Option<"grid", "grid", "::mlir::spmd::Flag", /*default=*/"false",
           "Draw which devices hold which shard of each value">,
    ExplainFormatOption, OutputOption
  ], PropagationOptionList);
  let dependentDialects = PhaseDialects;
}

#endif // SHARDKIT_PASSES
