//===- Grid.h - Which devices hold which shard ------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_GRID_H
#define SHARDKIT_LIB_REPORT_GRID_H

#include "shardkit/Layout/Layout.h"
#include <string>
#include <vector>

namespace mlir::spmd {

/// A value of `shape` as a table: a column per shard of the last sharded dim, a row per
/// shard of the other dims, and in each cell the devices that hold it. Elements in the
/// notation of Python's slices.
///
///                          dim 1 0:16  dim 1 16:32
///   dim 0 0:4              0           1
///   dim 0 4:8              2           3
///
/// At most 16 rows and 8 columns. If sizes are unknown or the mesh has more than 4,096
/// devices, one line with the reason.
std::vector<std::string> drawGrid(const Sharding &sharding, const Mesh &mesh, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_GRID_H
