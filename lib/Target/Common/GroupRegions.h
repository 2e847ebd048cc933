//===- GroupRegions.h - Ops of which a mask leaves few rows -----*- C++ -*-===//
//
// What of a block has groups and rows, and the sums that end it: see GroupLoops.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_GROUPREGIONS_H
#define SHARDKIT_LIB_TARGET_COMMON_GROUPREGIONS_H

#include "shardkit/Rules/ZeroMasks.h"
#include "shardkit/Target/Common/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd::target {

/// The loops, or the dims of slices and the like, that are groups and rows.
using Roles = MaskedDims;

/// An op that sums over groups, or over the rows of a group, what is zero beside the mask.
struct Sum {
  Roles roles;
  bool overRows; ///< the result has groups; else it has rows
};

/// The ops of one mask in a block.
struct GroupRegion {
  ZeroMask mask;
  llvm::MapVector<Operation *, Sum> sums;
  /// The ops whose results have groups and rows.
  DenseMap<Operation *, Roles> inner;
  int64_t groups = 0;

  bool contains(Operation *op) const { return inner.contains(op) || sums.contains(op); }
  Roles rolesOf(Operation *op) const {
    auto it = inner.find(op);
    return it == inner.end() ? sums.lookup(op).roles : it->second;
  }
};

/// The regions of a block whose loops save products, of matrices of at least so many elements. No two of them have an
/// op in common.
SmallVector<GroupRegion> findGroupRegions(Block &block, int64_t minProducts);

/// Collectives whose results regions read at their rows alone send these, and those of sums the rows that groups have.
void limitCollectives(Block &block, ArrayRef<GroupRegion> regions);

/// Whether an element of a mask counts: it is true, or not zero.
Value emitIsSet(OpBuilder &b, Location loc, Value element);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_GROUPREGIONS_H
