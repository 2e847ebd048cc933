//===- Shard.h - Attributes for the way to and from shard -------*- C++ -*-===//
//
// Upstream's `shard` dialect annotates values by ops: `shard.sharding` specifies
// the axes of a grid, by number, that split each dim, and `shard.shard` applies it to a
// value. In spmd a constraint does both.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_ANNOTATIONS_SHARD_H
#define SHARDKIT_ANNOTATIONS_SHARD_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::spmd {

/// Names of the axes of a grid.
inline constexpr llvm::StringLiteral kShardAxesAttr = "shardkit.axes";
/// The device of each process of a grid, as device_ids of a mesh.
inline constexpr llvm::StringLiteral kShardDeviceIdsAttr = "shardkit.device_ids";
/// On a constraint: it applies to the users of its result, not to its producer.
inline constexpr llvm::StringLiteral kShardForUsersAttr = "shardkit.annotate_for_users";
/// On a constraint: the halo that a shard holds; partition exchanges it where it is read.
inline constexpr llvm::StringLiteral kShardHaloAttr = "shardkit.halo_sizes";

/// The name of an axis without a name.
inline std::string getShardAxisName(unsigned axis) { return "d" + std::to_string(axis); }

} // namespace mlir::spmd

#endif // SHARDKIT_ANNOTATIONS_SHARD_H
