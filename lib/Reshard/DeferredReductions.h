//===- DeferredReductions.h - Partial sums that stay partial ----*- C++ -*-===//
//
// Which ops hand partial sums on instead of completing them, and what a loop adds
// up (docs/internals/Collectives.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H
#define SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Reshard/ComputePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {

class CarriedSums {
public:
  explicit CarriedSums(ComputePlan &plan) : table(plan.table), values(plan.values), mesh(plan.meshes.getMesh()) {}

  /// How an op computes that sums pass through (Linearity.h) and some of whose
  /// operands are partial sums over the same axes: its result is partial as they
  /// are, and is completed once, behind the last of such ops. Nothing where
  /// another choice is due: an operand has other users too, or to complete it
  /// first costs less.
  std::optional<ComputeLayouts> carry(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);

  /// The ops that an iteration argument goes through to the same place of the
  /// yield, each adding something to it: sums and differences, and contractions
  /// into it. Empty where anything else reads it on the way.
  static SmallVector<Operation *, 2> getAccumulation(scf::ForOp loop, unsigned i);

  /// The layout in which all that a chain adds is handed out, if that is one and
  /// partial. `plans` are those of an iteration that completes every sum.
  std::optional<LayoutId> getAddedLayout(scf::ForOp loop, unsigned i, ArrayRef<Operation *> chain,
                                         const llvm::DenseMap<Operation *, const OpPlan *> &plans);

private:
  /// Whether to complete the result costs less than to complete the operands; or
  /// as much, where the next op adds something to it or makes it smaller.
  bool isCheaper(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts, ArrayRef<unsigned> partial,
                 const FactorAxes &axes, const ComputeLayouts &choice);
  /// What a tensor of a rule has, and is partial over the axes that `like` is.
  LayoutId getPartial(const ShardingRule &rule, unsigned t, const FactorAxes &axes, const Sharding &like);

  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  const Mesh &mesh;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H
