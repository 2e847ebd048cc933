//===- Replicated.h - Replicas that axes could shard ------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_REPLICATED_H
#define SHARDKIT_REPORT_REPLICATED_H

#include "shardkit/Report/Memory.h"

namespace mlir::spmd {

/// A value that is replicated along some axes, although each of these axes divides a
/// dim of it, and the ops that define and read the value could compute on shards of that
/// dim.
struct ReplicatedValue : DescribedValue {
  std::string function;
  int64_t bytes = 0;  // on each device
  int64_t wasted = 0; // bytes that sharding would save on each device
  bool isArgument = false;
  /// Axes that could shard it, each with the dim, in the order of the mesh.
  std::vector<std::pair<std::string, unsigned>> usable;
  Location location; // for remarks

  /// `"model" on dim 0, ...`
  std::string getUsableText() const;
};

/// The replicated values with known layouts in the public functions of a partitioned
/// module, the most wasted bytes first. An op prevents sharding if its rule replicates
/// the dim, if it uses the axis on another factor, or if the layout of one of its
/// tensors is unknown; loops, calls and terminators do not. Linear in ops and uses, for a
/// given mesh.
std::vector<ReplicatedValue> findReplicated(ModuleOp module, const PartitionedValues &values);

/// One error per function if more than `maxPercent` of the bytes of its arguments on a
/// device are replicas that axes could shard.
LogicalResult verifyReplicated(ArrayRef<ReplicatedValue> replicated, ArrayRef<FunctionMemory> functions,
                               double maxPercent);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_REPLICATED_H
