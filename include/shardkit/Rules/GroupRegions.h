//===- GroupRegions.h - Ops of which a mask leaves few rows -----*- C++ -*-===//
//
// What of a block has groups and rows, and the sums that end it. On processors it becomes a
// loop over the groups, each of which computes its own rows (Target/Common/GroupLoops.cpp).
//
//   %h = %x[row, k] * %w[group, k, n]           inner: has groups and rows
//   %m = select(%mask[row, group], %h, 0)       inner
//   %y = sum over groups of f(%m)               a sum
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RULES_GROUPREGIONS_H
#define SHARDKIT_RULES_GROUPREGIONS_H

#include "shardkit/Rules/ZeroMasks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spmd {

/// The loops, or the dims of slices and the like, that are groups and rows.
using GroupRoles = MaskedDims;

/// An op that sums over groups, or over the rows of a group, what is zero where the mask is false.
struct GroupSum {
  GroupRoles roles;
  bool overRows; ///< the result has groups; else it has rows
};

/// The ops of one mask in a block.
struct GroupRegion {
  ZeroMask mask;
  llvm::MapVector<Operation *, GroupSum> sums;
  /// The ops whose results have groups and rows.
  DenseMap<Operation *, GroupRoles> inner;
  int64_t groups = 0;

  bool contains(Operation *op) const { return inner.contains(op) || sums.contains(op); }
  GroupRoles rolesOf(Operation *op) const {
    auto it = inner.find(op);
    return it == inner.end() ? sums.lookup(op).roles : it->second;
  }
  /// The number of the loop that computes each op of the block that is in the region: a sum ends one, and what depends
  /// on it is computed in a later one. Ops that are not in it have the number of the first loop after which they run.
  DenseMap<Operation *, unsigned> getStages(Block &block) const;
};

/// The fewest elements of a matrix that is worth a loop.
inline constexpr int64_t kMinGroupProducts = 64;

/// Finds the regions of a block whose loops save products.
struct GroupRegionFinder {
  /// The matrices of such products have at least so many elements.
  int64_t minProducts = kMinGroupProducts;
  /// See ZeroMasks.
  llvm::function_ref<Value(Value)> getMoved;
  /// Called with a product whose groups all compute all rows, and the op that reads masked elements of it.
  llvm::function_ref<void(const GroupRegion &, Operation *product, Operation *reader)> onDense;

  /// No two of them have an op in common.
  SmallVector<GroupRegion> find(Block &block) const;
};

/// `spmd.groups` of an op (--spmd-find-groups).
struct GroupShare {
  int64_t groups, used;
  /// The dim of its result that is the groups, if only the loop over the groups reads the result.
  std::optional<int64_t> dim = std::nullopt;
  /// The loop of a structured op that is the groups, and its operands that have rows, the same for all groups.
  std::optional<int64_t> loop = std::nullopt;
  SmallVector<int64_t, 2> rowOperands = {};

  /// The fraction of the op that is computed, on average over the devices.
  double get() const { return double(used) / groups; }
  /// The fraction of all rows that are in any of `local` groups, as if those of a row were drawn at random.
  double getRows(int64_t local) const;
};
std::optional<GroupShare> getGroupShare(Operation *op);
void setGroupShare(Operation *op, const GroupShare &share);

/// How many groups a value of `type` has of which one is in memory at a time; 1 for other values.
int64_t getGroupsInTurn(Value value, RankedTensorType type);

} // namespace mlir::spmd

#endif // SHARDKIT_RULES_GROUPREGIONS_H
