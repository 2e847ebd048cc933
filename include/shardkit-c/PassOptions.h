/*===- PassOptions.h - Options of passes as structs --------------*- C -*-===*\
 *
 * Written by scripts/generate-reference from the .td files; do not edit. A struct has the
 * defaults until a field is set:
 *
 *     SkDefaultPipelineOptions options = skDefaultPipelineOptions();
 *     options.plan = SK_DEFAULT_PLAN_PROPAGATION;
 *     options.memoryBudget = 1 << 30;
 *     skAddDefaultPipeline(passes, &options, print, NULL);
 *
 * A list is an array and the number of its elements. Text that is NULL is not set. A function
 * that adds a pass fails like skAddPass (Passes.h), with one message to `onError`; null options
 * are the defaults. What a pass cannot run with is its diagnostic.
 *
\*===----------------------------------------------------------------------===*/
/* clang-format off */

#ifndef SHARDKIT_C_PASSOPTIONS_H
#define SHARDKIT_C_PASSOPTIONS_H

#include "mlir-c/Pass.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of options. */
typedef enum SkMPIImplementation { SK_MPI_IMPLEMENTATION_OPENMPI, SK_MPI_IMPLEMENTATION_MPICH } SkMPIImplementation;
typedef enum SkSearchCostModel { SK_SEARCH_COST_MODEL_DEFAULT, SK_SEARCH_COST_MODEL_ALPA, SK_SEARCH_COST_MODEL_XLA } SkSearchCostModel;
typedef enum SkSearchSolver { SK_SEARCH_SOLVER_OWN, SK_SEARCH_SOLVER_CBC } SkSearchSolver;
typedef enum SkSubAxes { SK_SUB_AXES_AUTO, SK_SUB_AXES_ALL } SkSubAxes;
typedef enum SkReshardPerUse { SK_RESHARD_PER_USE_AUTO, SK_RESHARD_PER_USE_ALWAYS, SK_RESHARD_PER_USE_NEVER } SkReshardPerUse;
typedef enum SkMeshShapes { SK_MESH_SHAPES_GIVEN, SK_MESH_SHAPES_ALL } SkMeshShapes;
typedef enum SkStageChoice { SK_STAGE_CHOICE_MANUAL, SK_STAGE_CHOICE_UNIFORM, SK_STAGE_CHOICE_AUTO } SkStageChoice;
typedef enum SkScheduleChoice { SK_SCHEDULE_CHOICE_AUTO, SK_SCHEDULE_CHOICE_GPIPE, SK_SCHEDULE_CHOICE_1F1B, SK_SCHEDULE_CHOICE_1F1B_OVERLAP, SK_SCHEDULE_CHOICE_INTERLEAVED_1F1B, SK_SCHEDULE_CHOICE_INFERENCE } SkScheduleChoice;
typedef enum SkHostTopology { SK_HOST_TOPOLOGY_TREE, SK_HOST_TOPOLOGY_RING } SkHostTopology;
typedef enum SkOutputFormat { SK_OUTPUT_FORMAT_TEXT, SK_OUTPUT_FORMAT_JSON, SK_OUTPUT_FORMAT_REMARKS, SK_OUTPUT_FORMAT_HTML } SkOutputFormat;
typedef enum SkConflicts { SK_CONFLICTS_COST, SK_CONFLICTS_BASIC } SkConflicts;
typedef enum SkDefaultPlan { SK_DEFAULT_PLAN_IMPROVED, SK_DEFAULT_PLAN_PROPAGATION } SkDefaultPlan;
typedef enum SkStridedShardings { SK_STRIDED_SHARDINGS_ALLOW, SK_STRIDED_SHARDINGS_FORBID_AT_BOUNDARY, SK_STRIDED_SHARDINGS_FORBID } SkStridedShardings;
typedef enum SkPlanContent { SK_PLAN_CONTENT_USER, SK_PLAN_CONTENT_ALL } SkPlanContent;
typedef enum SkUnsupportedFeature { SK_UNSUPPORTED_FEATURE_ERROR, SK_UNSUPPORTED_FEATURE_REMARK } SkUnsupportedFeature;
typedef enum SkPaddingFill { SK_PADDING_FILL_NONE, SK_PADDING_FILL_LOWEST, SK_PADDING_FILL_ONES, SK_PADDING_FILL_ZERO } SkPaddingFill;

/* --convert-spmd-to-calls: turn collectives into calls of functions that an embedder defines. */
typedef struct SkConvertSpmdToCallsOptions {
  /* Pass tensors instead of addresses. */
  bool tensors;
} SkConvertSpmdToCallsOptions;
MLIR_CAPI_EXPORTED SkConvertSpmdToCallsOptions skConvertSpmdToCallsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddConvertSpmdToCalls(MlirOpPassManager passes, const SkConvertSpmdToCallsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --convert-spmd-to-mpi: turn collectives into ops of upstream's dialect mpi. */
typedef struct SkConvertSpmdToMpiOptions {
  /* Whose ABI upstream's lowering targets. */
  SkMPIImplementation implementation;
} SkConvertSpmdToMpiOptions;
MLIR_CAPI_EXPORTED SkConvertSpmdToMpiOptions skConvertSpmdToMpiOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddConvertSpmdToMpi(MlirOpPassManager passes, const SkConvertSpmdToMpiOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-apply-plan: write the shardings of a plan file into the module. */
typedef struct SkApplyPlanOptions {
  /* Plan to read; - is standard input. */
  const char *file;
} SkApplyPlanOptions;
MLIR_CAPI_EXPORTED SkApplyPlanOptions skApplyPlanOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddApplyPlan(MlirOpPassManager passes, const SkApplyPlanOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-auto-shard: choose all shardings by search, under the constraints of the user. */
typedef struct SkAutoShardOptions {
  /* Cost model of collectives. */
  SkSearchCostModel costModel;
  /* Kinds of collectives that must not be used: all_gather, all_reduce, reduce_scatter, all_to_all,
   * collective_permute, exchange. */
  intptr_t numForbidCollectives;
  const char *const *forbidCollectives;
  /* Limit of the bytes on a device; -1: the `memory` of the mesh, if it has one. */
  int64_t memoryBudget;
  /* Allowed distance from the lower bound, as a fraction of it; -1: 0.001 with a memory budget, else 0. */
  double optimalityGap;
  /* Seconds of CPU time per function, planning included, after which the best solution is taken. */
  double timeLimit;
  /* Solver of the problem. */
  SkSearchSolver solver;
  /* Which sub-axes are candidates. */
  SkSubAxes subAxes;
  /* Whether each use of a value has its own reshard. */
  SkReshardPerUse reshardPerUse;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Which sizes of mesh axes are candidates. */
  SkMeshShapes meshShapes;
  /* Compare the searched plan with others as they run, and take the fastest; false: the searched one. */
  bool comparePlans;
  /* Collectives take what is left of them after the independent compute that they overlap with, in the objective
   * and when plans are compared; for a mesh with `flops` and `spmd.overlap`, as measured costs have. */
  bool hideCollectives;
  /* Allow contractions to be computed redundantly on several devices; the objective then includes compute time.
   * Always so if the mesh has `flops`. */
  bool allowRecompute;
  /* Whether weights may be replicated on every device. */
  bool replicatedWeights;
  /* Axes that shard dim 0 of every input (data parallelism). */
  intptr_t numBatchAxes;
  const char *const *batchAxes;
  /* Names of these inputs; by default every argument that is neither a weight nor updated. */
  intptr_t numBatchArguments;
  const char *const *batchArguments;
  /* What the batch axes shard in addition: 1 optimizer state, 2 also gradients, 3 also weights, which are gathered
   * per use. */
  int64_t zeroStage;
  /* Values of fewer elements keep the sharding of propagation. */
  int64_t smallValueThreshold;
  /* Cost in seconds of each value whose sharding differs from that of propagation. */
  double deviationPenalty;
} SkAutoShardOptions;
MLIR_CAPI_EXPORTED SkAutoShardOptions skAutoShardOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddAutoShard(MlirOpPassManager passes, const SkAutoShardOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-build-stages: split a program into pipeline stages, each on a mesh. */
typedef struct SkBuildStagesOptions {
  /* How to find the stages. */
  SkStageChoice stages;
  /* Number of stages; 0: as boundaries or meshes specify. */
  int64_t numStages;
  /* Mesh of each stage; by default slices of the cluster along its first axis. */
  intptr_t numMeshes;
  const char *const *meshes;
  /* Number of microbatches of a step. */
  int64_t microbatches;
  /* Order of the microbatches on each mesh. */
  SkScheduleChoice schedule;
  /* Stages per mesh: stage k runs on mesh k modulo the number of meshes. */
  int64_t virtualStages;
  /* Mesh of all devices, which are divided among the meshes of the stages. */
  const char *cluster;
  /* Axes of the mesh of each stage, with stages=auto; by default those that axis resources name, else those of the
   * cluster. */
  intptr_t numAxes;
  const char *const *axes;
  /* Function to split; optional if one has boundaries or microbatches. */
  const char *function;
} SkBuildStagesOptions;
MLIR_CAPI_EXPORTED SkBuildStagesOptions skBuildStagesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddBuildStages(MlirOpPassManager passes, const SkBuildStagesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-combine-collectives: combine collectives of one group. */
typedef struct SkCombineCollectivesOptions {
  /* Largest collective to combine, in bytes; -1: of any size, in buckets by latency and transfer time. */
  int64_t maxBytes;
  /* Limit of the bytes on a device for hoisting and combining; 0: the `memory` of the mesh, if it has one. */
  int64_t memoryBudget;
} SkCombineCollectivesOptions;
MLIR_CAPI_EXPORTED SkCombineCollectivesOptions skCombineCollectivesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddCombineCollectives(MlirOpPassManager passes, const SkCombineCollectivesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-decompose: rewrite ops into others that can be partitioned better. */
typedef struct SkDecomposeOptions {
  /* Rewrite constant scalars only: stages forward tensors, not scalars that are computed. */
  bool constantsOnly;
  /* Give each reader of a broadcast one of its own. */
  bool splitBroadcasts;
} SkDecomposeOptions;
MLIR_CAPI_EXPORTED SkDecomposeOptions skDecomposeOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddDecompose(MlirOpPassManager passes, const SkDecomposeOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-derive-costs: derive link costs of meshes from the bandwidths of hosts. */
typedef struct SkDeriveCostsOptions {
  /* Devices of one host. */
  int64_t devicesPerHost;
  /* Bytes per second that a device sends within its host. */
  double intraHost;
  /* Bytes per second on a link between hosts, each way. */
  double interHost;
  /* How hosts are linked. */
  SkHostTopology topology;
} SkDeriveCostsOptions;
MLIR_CAPI_EXPORTED SkDeriveCostsOptions skDeriveCostsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddDeriveCosts(MlirOpPassManager passes, const SkDeriveCostsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-explain: explain the origin of every axis, and why others are absent. */
typedef struct SkExplainOptions {
  /* Number of alternatives to list for each choice of a search. */
  int64_t top;
  /* %12 or %arg0 as printed after propagation (and in reports), a NameLoc, spmd.name, spmd.weight, resultN or
   * file:line; all values if empty. */
  const char *value;
  /* Draw which devices hold which shard of each value. */
  bool grid;
  /* Form of the output. */
  SkOutputFormat format;
  /* File to write; standard error if empty. */
  const char *output;
  /* Name of the mesh that axis resources resolve against; optional if the module has one mesh. */
  const char *mesh;
  /* How propagation decides where shardings disagree. */
  SkConflicts conflicts;
  /* The plan without --spmd-auto-shard. */
  SkDefaultPlan plan;
  /* Whether reshapes propagate strided shardings, such as {2, "x"}. */
  SkStridedShardings stridedShardings;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Choose shardings by --spmd-auto-shard, with these options of it. */
  const char *autoShard;
  /* Split the program into stages by --spmd-build-stages, with these options of it. */
  const char *pipeline;
  /* Run --spmd-inline-calls; if not, functions are copied per signature. */
  bool inlineCalls;
  /* Run --spmd-infer-segments. */
  bool inferSegments;
  /* Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, each device its
   * shard; -1: no limit. */
  int64_t maxConstantBytes;
  /* NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for. */
  intptr_t numHints;
  const char *const *hints;
  /* NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own. */
  intptr_t numBuckets;
  const char *const *buckets;
} SkExplainOptions;
MLIR_CAPI_EXPORTED SkExplainOptions skExplainOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExplain(MlirOpPassManager passes, const SkExplainOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-explain-reshape: explain which axes each reshape keeps and gathers. */
typedef struct SkExplainReshapeOptions {
  /* Form of the output. */
  SkOutputFormat format;
  /* File to write; standard error if empty. */
  const char *output;
  /* Name of the mesh that axis resources resolve against; optional if the module has one mesh. */
  const char *mesh;
  /* How propagation decides where shardings disagree. */
  SkConflicts conflicts;
  /* The plan without --spmd-auto-shard. */
  SkDefaultPlan plan;
  /* Whether reshapes propagate strided shardings, such as {2, "x"}. */
  SkStridedShardings stridedShardings;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Choose shardings by --spmd-auto-shard, with these options of it. */
  const char *autoShard;
  /* Split the program into stages by --spmd-build-stages, with these options of it. */
  const char *pipeline;
  /* Run --spmd-inline-calls; if not, functions are copied per signature. */
  bool inlineCalls;
  /* Run --spmd-infer-segments. */
  bool inferSegments;
  /* Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, each device its
   * shard; -1: no limit. */
  int64_t maxConstantBytes;
  /* NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for. */
  intptr_t numHints;
  const char *const *hints;
  /* NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own. */
  intptr_t numBuckets;
  const char *const *buckets;
} SkExplainReshapeOptions;
MLIR_CAPI_EXPORTED SkExplainReshapeOptions skExplainReshapeOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExplainReshape(MlirOpPassManager passes, const SkExplainReshapeOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-export-ort: write shardings as specs of ONNX Runtime. */
typedef struct SkExportOrtOptions {
  /* File to write; - is standard output. */
  const char *file;
  /* Function to write; optional if one function is public. */
  const char *function;
} SkExportOrtOptions;
MLIR_CAPI_EXPORTED SkExportOrtOptions skExportOrtOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExportOrt(MlirOpPassManager passes, const SkExportOrtOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-export-plan: write the shardings of the module into a plan file. */
typedef struct SkExportPlanOptions {
  /* Plan to write; - is standard output. */
  const char *file;
  /* Which shardings to write. */
  SkPlanContent content;
} SkExportPlanOptions;
MLIR_CAPI_EXPORTED SkExportPlanOptions skExportPlanOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExportPlan(MlirOpPassManager passes, const SkExportPlanOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-export-rules: write how ops relate the dims of values, as JSON. */
typedef struct SkExportRulesOptions {
  /* File to write; standard error if empty. */
  const char *output;
} SkExportRulesOptions;
MLIR_CAPI_EXPORTED SkExportRulesOptions skExportRulesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExportRules(MlirOpPassManager passes, const SkExportRulesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-export-sdy: write annotations as those of Shardy. */
typedef struct SkExportSdyOptions {
  /* What to do with an annotation that has no counterpart. */
  SkUnsupportedFeature unsupported;
} SkExportSdyOptions;
MLIR_CAPI_EXPORTED SkExportSdyOptions skExportSdyOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExportSdy(MlirOpPassManager passes, const SkExportSdyOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-export-shard: write annotations as those of upstream's dialect shard. */
typedef struct SkExportShardOptions {
  /* What to do with an annotation that has no counterpart. */
  SkUnsupportedFeature unsupported;
} SkExportShardOptions;
MLIR_CAPI_EXPORTED SkExportShardOptions skExportShardOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddExportShard(MlirOpPassManager passes, const SkExportShardOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-hoist-collectives: hoist loop-invariant collectives. */
typedef struct SkHoistCollectivesOptions {
  /* Limit of the bytes on a device for hoisting and combining; 0: the `memory` of the mesh, if it has one. */
  int64_t memoryBudget;
} SkHoistCollectivesOptions;
MLIR_CAPI_EXPORTED SkHoistCollectivesOptions skHoistCollectivesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddHoistCollectives(MlirOpPassManager passes, const SkHoistCollectivesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-import-ort: turn the specs of ONNX Runtime into shardings. */
typedef struct SkImportOrtOptions {
  /* File of specs to write on a function first. */
  const char *file;
  /* Function of the file; optional if one function is public. */
  const char *function;
} SkImportOrtOptions;
MLIR_CAPI_EXPORTED SkImportOrtOptions skImportOrtOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddImportOrt(MlirOpPassManager passes, const SkImportOrtOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-import-sdy: turn annotations of Shardy into those of ShardKit. */
typedef struct SkImportSdyOptions {
  /* What to do with an annotation that has no counterpart. */
  SkUnsupportedFeature unsupported;
} SkImportSdyOptions;
MLIR_CAPI_EXPORTED SkImportSdyOptions skImportSdyOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddImportSdy(MlirOpPassManager passes, const SkImportSdyOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-import-shard: turn annotations of upstream's dialect shard into those of ShardKit. */
typedef struct SkImportShardOptions {
  /* What to do with an annotation that has no counterpart. */
  SkUnsupportedFeature unsupported;
} SkImportShardOptions;
MLIR_CAPI_EXPORTED SkImportShardOptions skImportShardOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddImportShard(MlirOpPassManager passes, const SkImportShardOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-insert-reshards: make every change of layout one explicit spmd.reshard. */
typedef struct SkInsertReshardsOptions {
  /* Report an error at each reshard that moves data and that no constraint requires, with its bytes. */
  bool forbidImplicit;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Keep partial sums through linear ops where that costs less, and through loops that accumulate them
   * (docs/internals/Collectives.md). */
  bool deferReductions;
} SkInsertReshardsOptions;
MLIR_CAPI_EXPORTED SkInsertReshardsOptions skInsertReshardsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddInsertReshards(MlirOpPassManager passes, const SkInsertReshardsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-merge-reductions: merge all-reduces whose results are added. */
typedef struct SkMergeReductionsOptions {
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
} SkMergeReductionsOptions;
MLIR_CAPI_EXPORTED SkMergeReductionsOptions skMergeReductionsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddMergeReductions(MlirOpPassManager passes, const SkMergeReductionsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-outline-constants: make arguments of large constants, which the runtime loads from the bundle. */
typedef struct SkOutlineConstantsOptions {
  /* Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, each device its
   * shard; -1: no limit. */
  int64_t maxConstantBytes;
} SkOutlineConstantsOptions;
MLIR_CAPI_EXPORTED SkOutlineConstantsOptions skOutlineConstantsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddOutlineConstants(MlirOpPassManager passes, const SkOutlineConstantsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-overlap-collectives: overlap collectives with compute. */
typedef struct SkOverlapCollectivesOptions {
  /* Do not split a collective if compute hides a smaller fraction of its time. */
  double minHiddenFraction;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
} SkOverlapCollectivesOptions;
MLIR_CAPI_EXPORTED SkOverlapCollectivesOptions skOverlapCollectivesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddOverlapCollectives(MlirOpPassManager passes, const SkOverlapCollectivesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-partition: turn the global program into the local program of each device. */
typedef struct SkPartitionOptions {
  /* For tests: the value of padding elements, which must not change results. */
  SkPaddingFill fillPadding;
  /* Keep layout and global type of each result on its op, as `spmd.layouts` and `spmd.global_types`, for --spmd-
   * report. */
  bool keepLayouts;
  /* Allow run-time checks of dynamic sizes (cf.assert); if not, a size that needs one is an error. */
  bool dynamicChecks;
} SkPartitionOptions;
MLIR_CAPI_EXPORTED SkPartitionOptions skPartitionOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddPartition(MlirOpPassManager passes, const SkPartitionOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-propagate: complete partial shardings by propagation. */
typedef struct SkPropagateOptions {
  /* How propagation decides where shardings disagree. */
  SkConflicts conflicts;
  /* The plan without --spmd-auto-shard. */
  SkDefaultPlan plan;
  /* Whether reshapes propagate strided shardings, such as {2, "x"}. */
  SkStridedShardings stridedShardings;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Keep partial sums through linear ops where that costs less, and through loops that accumulate them
   * (docs/internals/Collectives.md). */
  bool deferReductions;
} SkPropagateOptions;
MLIR_CAPI_EXPORTED SkPropagateOptions skPropagateOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddPropagate(MlirOpPassManager passes, const SkPropagateOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-report: report collectives, bytes, costs and memory per device. */
typedef struct SkReportOptions {
  /* Form of the output. */
  SkOutputFormat format;
  /* File to write; standard error if empty. */
  const char *output;
  /* Number of the largest values, and of the replicated ones, to list. */
  int64_t top;
  /* Report in JSON to compare with. */
  const char *baseline;
  /* Fail if more than this percentage of the bytes of arguments on a device are replicas that axes could shard. */
  double maxReplicated;
  /* Name of the mesh that axis resources resolve against; optional if the module has one mesh. */
  const char *mesh;
  /* How propagation decides where shardings disagree. */
  SkConflicts conflicts;
  /* The plan without --spmd-auto-shard. */
  SkDefaultPlan plan;
  /* Whether reshapes propagate strided shardings, such as {2, "x"}. */
  SkStridedShardings stridedShardings;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Choose shardings by --spmd-auto-shard, with these options of it. */
  const char *autoShard;
  /* Split the program into stages by --spmd-build-stages, with these options of it. */
  const char *pipeline;
  /* Run --spmd-inline-calls; if not, functions are copied per signature. */
  bool inlineCalls;
  /* Run --spmd-infer-segments. */
  bool inferSegments;
  /* Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, each device its
   * shard; -1: no limit. */
  int64_t maxConstantBytes;
  /* NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for. */
  intptr_t numHints;
  const char *const *hints;
  /* NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own. */
  intptr_t numBuckets;
  const char *const *buckets;
  /* Keep partial sums through linear ops where that costs less, and through loops that accumulate them
   * (docs/internals/Collectives.md). */
  bool deferReductions;
  /* For tests: the value of padding elements, which must not change results. */
  SkPaddingFill fillPadding;
  /* Run --spmd-merge-contractions. */
  bool mergeContractions;
  /* Run --spmd-merge-reductions. */
  bool mergeReductions;
  /* Run --spmd-hoist-collectives. */
  bool hoist;
  /* Limit of the bytes on a device for hoisting and combining; 0: the `memory` of the mesh, if it has one. */
  int64_t memoryBudget;
  /* Run --spmd-sink-collectives. */
  bool sink;
  /* Run --spmd-combine-collectives. */
  bool combine;
  /* Largest collective to combine, in bytes; -1: of any size, in buckets by latency and transfer time. */
  int64_t maxBytes;
  /* Run --spmd-overlap-collectives. */
  bool overlap;
  /* Do not split a collective if compute hides a smaller fraction of its time. */
  double minHiddenFraction;
} SkReportOptions;
MLIR_CAPI_EXPORTED SkReportOptions skReportOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddReport(MlirOpPassManager passes, const SkReportOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-resolve-axis-resources: turn axis resources into shardings on a mesh. */
typedef struct SkResolveAxisResourcesOptions {
  /* Name of the mesh that axis resources resolve against; optional if the module has one mesh. */
  const char *mesh;
} SkResolveAxisResourcesOptions;
MLIR_CAPI_EXPORTED SkResolveAxisResourcesOptions skResolveAxisResourcesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddResolveAxisResources(MlirOpPassManager passes, const SkResolveAxisResourcesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-size-arguments: add an argument for each size that only the run knows. */
typedef struct SkSizeArgumentsOptions {
  /* NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for. */
  intptr_t numHints;
  const char *const *hints;
} SkSizeArgumentsOptions;
MLIR_CAPI_EXPORTED SkSizeArgumentsOptions skSizeArgumentsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddSizeArguments(MlirOpPassManager passes, const SkSizeArgumentsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-size-buckets: make a function for each bucket of sizes that only the run knows. */
typedef struct SkSizeBucketsOptions {
  /* NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own. */
  intptr_t numBuckets;
  const char *const *buckets;
} SkSizeBucketsOptions;
MLIR_CAPI_EXPORTED SkSizeBucketsOptions skSizeBucketsOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddSizeBuckets(MlirOpPassManager passes, const SkSizeBucketsOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-specialize-shapes: replace dynamic sizes of arguments by constants. */
typedef struct SkSpecializeShapesOptions {
  /* NAME=SIZExSIZE..., one per argument. */
  intptr_t numShapes;
  const char *const *shapes;
} SkSpecializeShapesOptions;
MLIR_CAPI_EXPORTED SkSpecializeShapesOptions skSpecializeShapesOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddSpecializeShapes(MlirOpPassManager passes, const SkSpecializeShapesOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-strip: remove all annotations: the unsharded program, or the plain program of a device. */
typedef struct SkStripOptions {
  /* Remove only what a plan can restore: shardings, constraints, strategies of ops, unused meshes. */
  bool shardingsOnly;
  /* Keep spmd.probe ops. */
  bool keepProbes;
} SkStripOptions;
MLIR_CAPI_EXPORTED SkStripOptions skStripOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddStrip(MlirOpPassManager passes, const SkStripOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-timeline: print when each mesh of a pipeline runs each fragment. */
typedef struct SkTimelineOptions {
  /* Name of the schedule; optional if there is one. */
  const char *schedule;
  /* Form of the output. */
  SkOutputFormat format;
  /* File to write; standard error if empty. */
  const char *output;
} SkTimelineOptions;
MLIR_CAPI_EXPORTED SkTimelineOptions skTimelineOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddTimeline(MlirOpPassManager passes, const SkTimelineOptions *options, MlirStringCallback onError,
                                                 void *data);

/* --spmd-default-pipeline: run all IR phases in order. */
typedef struct SkDefaultPipelineOptions {
  /* Name of the mesh that axis resources resolve against; optional if the module has one mesh. */
  const char *mesh;
  /* How propagation decides where shardings disagree. */
  SkConflicts conflicts;
  /* The plan without --spmd-auto-shard. */
  SkDefaultPlan plan;
  /* Whether reshapes propagate strided shardings, such as {2, "x"}. */
  SkStridedShardings stridedShardings;
  /* Assumed number of iterations of loops without constant bounds. */
  int64_t tripCount;
  /* Choose shardings by --spmd-auto-shard, with these options of it. */
  const char *autoShard;
  /* Split the program into stages by --spmd-build-stages, with these options of it. */
  const char *pipeline;
  /* Run --spmd-inline-calls; if not, functions are copied per signature. */
  bool inlineCalls;
  /* Run --spmd-infer-segments. */
  bool inferSegments;
  /* Largest constant that programs contain, in bytes; larger ones are loaded from the bundle, each device its
   * shard; -1: no limit. */
  int64_t maxConstantBytes;
  /* NAME=SIZE: a likely size of what only the run knows, which layouts are chosen for. */
  intptr_t numHints;
  const char *const *hints;
  /* NAME=SIZE: the largest size of a bucket of what only the run knows; each bucket has layouts of its own. */
  intptr_t numBuckets;
  const char *const *buckets;
  /* Keep partial sums through linear ops where that costs less, and through loops that accumulate them
   * (docs/internals/Collectives.md). */
  bool deferReductions;
  /* For tests: the value of padding elements, which must not change results. */
  SkPaddingFill fillPadding;
  /* Run --spmd-merge-contractions. */
  bool mergeContractions;
  /* Run --spmd-merge-reductions. */
  bool mergeReductions;
  /* Run --spmd-hoist-collectives. */
  bool hoist;
  /* Limit of the bytes on a device for hoisting and combining; 0: the `memory` of the mesh, if it has one. */
  int64_t memoryBudget;
  /* Run --spmd-sink-collectives. */
  bool sink;
  /* Run --spmd-combine-collectives. */
  bool combine;
  /* Largest collective to combine, in bytes; -1: of any size, in buckets by latency and transfer time. */
  int64_t maxBytes;
  /* Run --spmd-overlap-collectives. */
  bool overlap;
  /* Do not split a collective if compute hides a smaller fraction of its time. */
  double minHiddenFraction;
  /* Keep layout and global type of each result on its op, as `spmd.layouts` and `spmd.global_types`, for --spmd-
   * report. */
  bool keepLayouts;
  /* Prove that the partitioned program computes what the unsharded one does: an error where it does not, a warning
   * where that is not decided (docs/internals/Proof.md). */
  bool prove;
  /* For debugging: run --spmd-insert-probes, so that shard-run --verify=values compares each value with the
   * unsharded one; ops are not fused across values, and contractions are not merged. */
  bool withValues;
} SkDefaultPipelineOptions;
MLIR_CAPI_EXPORTED SkDefaultPipelineOptions skDefaultPipelineOptions(void);
MLIR_CAPI_EXPORTED MlirLogicalResult skAddDefaultPipeline(MlirOpPassManager passes, const SkDefaultPipelineOptions *options, MlirStringCallback onError,
                                                 void *data);

#ifdef __cplusplus
}
#endif

#endif /* SHARDKIT_C_PASSOPTIONS_H */
