//===- Grid.h - Which devices hold which part -------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_REPORT_GRID_H
#define SHARDKIT_LIB_REPORT_GRID_H

#include "shardkit/Layout/Layout.h"
#include <string>
#include <vector>

namespace mlir::spmd {

/// A value of `shape` as a table: a column per part of the last dim that is cut, a row per part of the others, and
/// in each the devices that hold it. Places as Python slices them.
///
///                          dim 1 0:16  dim 1 16:32
///   dim 0 0:4              0           1
///   dim 0 4:8              2           3
///
/// At most 16 rows and 8 columns. A line that says why there is none where sizes are not known or the mesh has more
/// than 4,096 devices.
std::vector<std::string> drawGrid(const Sharding &sharding, const Mesh &mesh, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_REPORT_GRID_H
