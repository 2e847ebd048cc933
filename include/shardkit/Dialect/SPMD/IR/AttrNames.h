//===- AttrNames.h - Names of discardable attributes ------------*- C++ -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_ATTRNAMES_H
#define SHARDKIT_DIALECT_SPMD_IR_ATTRNAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::spmd {

inline constexpr llvm::StringLiteral kShardingAttr = "spmd.sharding";
inline constexpr llvm::StringLiteral kShardingsAttr = "spmd.shardings";
/// On a manual computation: the shardings of its operands after propagation.
inline constexpr llvm::StringLiteral kOperandShardingsAttr = "spmd.operand_shardings";
inline constexpr llvm::StringLiteral kUserShardingAttr = "spmd.user_sharding";
inline constexpr llvm::StringLiteral kFactorShardingsAttr = "spmd.factor_shardings";
/// On an op: the operands that are resharded for it again, although an earlier op has them in the same layout.
inline constexpr llvm::StringLiteral kReshardPerUseAttr = "spmd.reshard_per_use";
/// On a function: objective, lower bound and status of the search by auto-shard.
inline constexpr llvm::StringLiteral kSolverAttr = "spmd.solver";
/// Values of `kept` in `spmd.solver`: the plan that a function has in place of the searched one.
inline constexpr llvm::StringLiteral kKeptDefaultPlan = "default plan", kKeptStrategiesByCost = "strategies by cost";
/// On a function: predicted seconds of the propagated plan, and of the one that replaced it.
inline constexpr llvm::StringLiteral kImprovedAttr = "spmd.improved";
/// On a function: how often it is called, as compared with the functions that share values with it.
inline constexpr llvm::StringLiteral kCallsAttr = "spmd.calls";
/// On a module: the mesh shapes that auto-shard tried, the best one first.
inline constexpr llvm::StringLiteral kMeshShapesAttr = "spmd.mesh_shapes";
/// On a mesh: the bandwidths that its link costs are derived from.
inline constexpr llvm::StringLiteral kHostsAttr = "spmd.hosts";
/// On a mesh: the fraction of collectives that passes while devices compute.
inline constexpr llvm::StringLiteral kOverlapAttr = "spmd.overlap";
inline constexpr llvm::StringLiteral kPhaseAttr = "spmd.phase";
inline constexpr llvm::StringLiteral kTiedAttr = "spmd.tied";
inline constexpr llvm::StringLiteral kWeightAttr = "spmd.weight";
/// On an argument: its elements. The bundle has them, so that callers of the program do not pass it.
inline constexpr llvm::StringLiteral kConstantAttr = "spmd.constant";
inline constexpr llvm::StringLiteral kNameAttr = "spmd.name";
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "spmd.global_type";
inline constexpr llvm::StringLiteral kRangeAttr = "spmd.range";
/// On an argument: a name for each dim whose size only the run knows, "" for the others. Dims of one name have one
/// size. On a function: bounds of these, by name, and the sizes that layouts are chosen for.
inline constexpr llvm::StringLiteral kDimSymbolsAttr = "spmd.symbols";
inline constexpr llvm::StringLiteral kBoundsAttr = "spmd.bounds";
inline constexpr llvm::StringLiteral kHintsAttr = "spmd.hints";
inline constexpr llvm::StringLiteral kBucketsAttr = "spmd.buckets";
inline constexpr llvm::StringLiteral kBucketOfAttr = "spmd.bucket_of";
// Attributes by --spmd-size-arguments (SymbolicSizes.h).
inline constexpr llvm::StringLiteral kSizeAttr = "spmd.size";
inline constexpr llvm::StringLiteral kBoundAttr = "spmd.bound";
inline constexpr llvm::StringLiteral kHintAttr = "spmd.hint";
inline constexpr llvm::StringLiteral kGlobalSizesAttr = "spmd.global_sizes";
// Attributes by partition: what a size argument has to be a multiple of, or what sharded dims of its size are padded to
// a multiple of, and the sizes of a shard.
inline constexpr llvm::StringLiteral kMultipleAttr = "spmd.multiple";
inline constexpr llvm::StringLiteral kPaddedToAttr = "spmd.padded_to";
inline constexpr llvm::StringLiteral kLocalSizesAttr = "spmd.local_sizes";
inline constexpr llvm::StringLiteral kRuleAttr = "spmd.sharding_rule";
/// On one of several equal slices: its sharded dims are read in windows of a dim that is
/// sharded as it is, not as a digit of the dim.
inline constexpr llvm::StringLiteral kWindowsAttr = "spmd.windows";
/// On an op: groups of rows, such as experts and tokens, in turn (Rules/GroupRegions.h).
inline constexpr llvm::StringLiteral kGroupsAttr = "spmd.groups";
inline constexpr llvm::StringLiteral kAxisResourcesAttr = "spmd.axis_resources";
inline constexpr llvm::StringLiteral kReferenceAttr = "spmd.reference";
/// On a function with probes: its unsharded counterpart, which does not belong to the program.
inline constexpr llvm::StringLiteral kUnshardedAttr = "spmd.unsharded";
inline constexpr llvm::StringLiteral kMicrobatchAttr = "spmd.microbatch";
/// On arguments and results of stages: the buffer of the stage that they are.
inline constexpr llvm::StringLiteral kSlotAttr = "spmd.slot";
/// On a function: the mesh that its axis resources resolve against.
inline constexpr llvm::StringLiteral kMeshAttr = "spmd.mesh";
/// On a partitioned function: the mesh that counts its ranks, if other meshes list the devices in other orders.
inline constexpr llvm::StringLiteral kRankMeshAttr = "spmd.rank_mesh";
/// On a function: the schedule that it belongs to, and the fragment of its stage that it is.
inline constexpr llvm::StringLiteral kScheduleAttr = "spmd.schedule";
inline constexpr llvm::StringLiteral kFragmentAttr = "spmd.fragment";
inline constexpr llvm::StringLiteral kSegmentsAttr = "spmd.segments";
// Attributes by --spmd-split-segments and --spmd-merge-contractions.
inline constexpr llvm::StringLiteral kSegmentAttr = "spmd.segment";
inline constexpr llvm::StringLiteral kSegmentsOfAttr = "spmd.segments_of";
inline constexpr llvm::StringLiteral kLoadAttr = "spmd.load";
/// The loading function of an argument as each device runs it.
inline constexpr llvm::StringLiteral kShardFunctionAttr = "spmd.shard_function";
/// On a shard function: it computes each element by itself, from operands that the loader
/// fills with copies of stored elements.
inline constexpr llvm::StringLiteral kElementwiseAttr = "spmd.elementwise";
inline constexpr llvm::StringLiteral kStageAttr = "spmd.stage";
// Attributes by partition on ops, for reports: lists of one entry per result with the
// layout and the global type of the value (unit for other than tensors), and the name
// that the value had before.
inline constexpr llvm::StringLiteral kLayoutsAttr = "spmd.layouts";
inline constexpr llvm::StringLiteral kGlobalTypesAttr = "spmd.global_types";
inline constexpr llvm::StringLiteral kOriginsAttr = "spmd.origins";

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_ATTRNAMES_H
