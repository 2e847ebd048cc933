//===- Replicated.h - Copies that axes could cut ----------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_REPLICATED_H
#define SHARDKIT_REPORT_REPLICATED_H

#include "shardkit/Report/Memory.h"

namespace mlir::spmd {

/// A value of which devices along some axes hold copies, although each of these
/// axes divides a dim of it, and the ops that make and read the value could
/// compute on parts of that dim.
struct ReplicatedValue : DescribedValue {
  std::string function;
  int64_t bytes = 0;  // on each device
  int64_t wasted = 0; // of these, more than it would hold were it cut
  bool isArgument = false;
  /// Axes that could cut it, each with the dim, in the order of the mesh.
  std::vector<std::pair<std::string, unsigned>> usable;
  Location location; // for remarks

  /// `"model" on dim 0, ...`
  std::string getUsableText() const;
};

/// The values of the public functions of a partitioned module, the most wasted
/// bytes first, whose layouts are known. An op stands in the way where its rule
/// keeps the dim whole, it uses the axis on another factor, or the layout of a
/// tensor of it is not known; loops, calls and
/// ends of regions do not. Linear in ops and uses, for a given mesh.
std::vector<ReplicatedValue> findReplicated(ModuleOp module, const PartitionedValues &values);

/// One error per function of whose arguments, as a device holds them, more than `mostPercent` of the bytes are copies
/// that axes could cut.
LogicalResult verifyReplicated(ArrayRef<ReplicatedValue> replicated, ArrayRef<FunctionMemory> functions,
                               double mostPercent);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_REPLICATED_H
