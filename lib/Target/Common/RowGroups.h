//===- RowGroups.h - Groups of linalg ops that share rows -------*- C++ -*-===//
//
// A group of linalg ops is computed one row at a time: as one loop nest on a processor
// (CPU/TileGroups.cpp), as one kernel on a GPU (Cuda/Rows.cpp). For example, the ops of a
// softmax along dim 1 of an 8x64 tensor share 8 rows:
//
//   %max = generic (d0, d1) -> (d0)      max over d1        outer loop d0
//   %exp = generic (d0, d1) -> (d0, d1)  exp(x - %max)      outer loop d0
//   %sum = generic (d0, d1) -> (d0)      sum over d1        outer loop d0
//   %div = generic (d0, d1) -> (d0, d1)  %exp / %sum        outer loop d0, the root
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_TARGET_COMMON_ROWGROUPS_H
#define SHARDKIT_LIB_TARGET_COMMON_ROWGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <deque>

namespace mlir::spmd::target {

/// Ops that are computed row by row together. Only the root has users outside the group.
struct RowGroup {
  linalg::LinalgOp root;
  /// The root first, then backwards.
  SmallVector<linalg::LinalgOp> members;
};

/// The position of an op in its group.
struct RowMember {
  RowGroup *group;
  /// The loops of the op that select the row, in the order of the group.
  SmallVector<unsigned> outer;
};

/// The dim of `expr`, if it is one.
std::optional<unsigned> getDimPosition(AffineExpr expr);

/// The loops of `root` that select rows of its first result: all dims, without the
/// innermost one if `alongInnermost`. Empty if an index is not a dim.
SmallVector<unsigned> getRowLoops(linalg::LinalgOp root, bool alongInnermost);

/// The groups of blocks. A target derives from this class to say which ops can be in a
/// group.
///
/// 1. The ops of a block are visited backwards.
/// 2. An op joins the group of its users if all of them are in one group, and if the
///    loops that select rows in the users are the same loops of the op for every use.
/// 3. Any other op is the root of a new group.
class RowGroups {
public:
  virtual ~RowGroups() = default;

  void addBlock(Block &block);
  std::deque<RowGroup> &getGroups() { return groups; }
  /// Null for ops without a group.
  const RowMember *lookup(Operation *op) const {
    auto it = members.find(op);
    return it == members.end() ? nullptr : &it->second;
  }

protected:
  /// Whether the op can be in a group.
  virtual bool isCandidate(linalg::LinalgOp op) = 0;
  /// The loops that select rows if the op is a root; std::nullopt if it cannot be one.
  virtual std::optional<SmallVector<unsigned>> getRootLoops(linalg::LinalgOp op) = 0;
  /// Whether the op can join groups of its users.
  virtual bool canJoin(linalg::LinalgOp op) = 0;
  /// Whether `op` can join `user` by this use, with rows selected by its loops `outer`.
  virtual bool canJoinUser(linalg::LinalgOp op, OpOperand &use, const RowMember &user, ArrayRef<unsigned> outer) = 0;

private:
  std::optional<RowMember> join(linalg::LinalgOp op);

  std::deque<RowGroup> groups;
  llvm::DenseMap<Operation *, RowMember> members;
};

/// The loop of the op that defines `use` and that is loop `loop` of its user;
/// std::nullopt if no dim of the value corresponds to it.
std::optional<unsigned> getProducerLoop(OpOperand &use, unsigned loop);

} // namespace mlir::spmd::target

#endif // SHARDKIT_LIB_TARGET_COMMON_ROWGROUPS_H
