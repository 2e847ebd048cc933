//===- DeferredReductions.h - Partial sums that stay partial ----*- C++ -*-===//
//
// Ops that forward partial sums instead of completing them, and partial sums that a loop
// accumulates (docs/internals/Collectives.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H
#define SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Reshard/ComputePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {

/// Decides where reductions of partial sums are deferred.
///
///   %0 = matmul (partial over "x"); %1 = matmul (partial over "x"); %2 = add %0, %1
///   return %2 completes %2 by one all_reduce, instead of one for each of %0 and %1.
class DeferredReductions {
public:
  explicit DeferredReductions(ComputePlan &plan)
      : table(plan.table), values(plan.values), mesh(plan.meshes.getMesh()) {}

  /// The layouts of a linear op (Linearity.h) with operands that are partial sums over the same
  /// axes: its result is partial too, and is completed once, after the last of such ops. None
  /// if an operand has other users too that do not make its sum smaller, or if completing it first is
  /// cheaper. Instead of `chosen`, the axes of a plan, only if that is cheaper and the op makes the sum
  /// smaller.
  std::optional<ComputeLayouts> defer(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                                      const FactorAxes *chosen = nullptr);

  /// The chain of ops from an iteration argument to its operand of the yield, each of which
  /// accumulates into it: sums, differences, contractions, insertions of slices. Empty if another op reads it.
  static SmallVector<Operation *, 2> getAccumulation(scf::ForOp loop, unsigned i);

  /// The sum that a loop accumulates in an iteration argument.
  struct Added {
    LayoutId layout; // that of the argument if it stays partial
    double seconds;  // of completing what one trip adds
    bool isInserted; // whether a trip writes a slice, so that the slices of all trips are held at once
  };
  /// The sum of a chain if all that it adds, or inserts, gives it one partial layout. `plans` are
  /// those of an iteration that completes every sum.
  std::optional<Added> getAdded(scf::ForOp loop, unsigned i, ArrayRef<Operation *> chain,
                                const llvm::DenseMap<Operation *, const OpPlan *> &plans);

private:
  /// Whether completing the result is cheaper than completing the operands, or as cheap and
  /// the next op adds to it or makes it smaller.
  bool isCheaper(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts, ArrayRef<unsigned> partial,
                 const FactorAxes &axes, const ComputeLayouts &choice, const FactorAxes *chosen);
  /// The layout of a tensor of a rule, made partial over the axes of `like`.
  LayoutId getPartial(const ShardingRule &rule, unsigned t, const FactorAxes &axes, const Sharding &like);

  /// The partial layout of the result of a linear op, if operand `t` is in layout `id`.
  std::optional<LayoutId> getResultLayout(const ShardingRule &rule, unsigned t, LayoutId id);

  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  const Mesh &mesh;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_RESHARD_DEFERREDREDUCTIONS_H
