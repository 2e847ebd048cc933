//===- GroupCollectives.h - Rows that groups need -----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_GROUPCOLLECTIVES_H
#define SHARDKIT_LIB_TARGET_COMMON_GROUPCOLLECTIVES_H

#include "shardkit/Rules/GroupRegions.h"

namespace mlir::spmd::target {

/// Collectives whose results regions read at their rows alone send these, and those of sums the rows that groups have.
void limitCollectives(Block &block, ArrayRef<GroupRegion> regions);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_GROUPCOLLECTIVES_H
