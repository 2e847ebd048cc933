//===- ComputePlan.h - Layouts of the ops of a function ---------*- C++ -*-===//

#ifndef SHARDKIT_RESHARD_COMPUTEPLAN_H
#define SHARDKIT_RESHARD_COMPUTEPLAN_H

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Rules/RuleTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The layouts of a value.
///
///   %0 = matmul, k sharded by "x"     computed [{}, {}], unreduced = {"x"}; propagated [{"x"}, {}]
///   two readers that need [{"x"}, {}] needs [{"x"}, {}]: one reduce_scatter
struct ValueLayouts {
  /// The layout that its op computes, possibly partial, and the one that propagation chose.
  LayoutId computed, propagated;
  /// Whether all copies are made from the propagated layout, as counted by the search that
  /// chose both.
  bool viaPropagated = false;
  /// Distinct layouts that readers need, in order.
  SmallVector<LayoutId, 2> needs;
  /// Available layouts, with the value in each.
  SmallVector<std::pair<LayoutId, Value>, 2> available;
};

/// The layouts that an op computes with.
struct ComputeLayouts {
  /// Per operand of the rule: the needed layout; none for scalars.
  SmallVector<std::optional<LayoutId>, 4> needs;
  /// Per result: the computed layout.
  SmallVector<std::optional<LayoutId>, 1> computed;
  /// Devices that the op is spread over.
  int64_t devices = 1;
  /// Predicted seconds, over all executions, of halo exchanges and of the candidates of a selection.
  double exchangeSeconds = 0;
};

struct OpPlan : ComputeLayouts {
  Operation *op;
  /// Null for an op that forwards its operands: a terminator, a loop, a call.
  const ShardingRule *rule = nullptr;
  /// Tensors that the body captures: operands of the rule after those of the op.
  SmallVector<Value, 0> captured;

  Value getOperand(unsigned t) const {
    unsigned numOperands = op->getNumOperands();
    return t < numOperands ? op->getOperand(t) : captured[t - numOperands];
  }
};

/// The layouts of all ops and values of a function with one block.
struct ComputePlan {
  /// `prices`: of moves, those of other functions too.
  ComputePlan(func::FuncOp func, FunctionMeshes &meshes, SharedMovePrices *prices = nullptr)
      : func(func), meshes(meshes), table(meshes, {}, prices) {}

  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable table;
  RuleTable rules;
  llvm::DenseMap<Value, ValueLayouts> values;
  SmallVector<std::optional<LayoutId>> results;
  /// In program order; constant-like ops, which are rematerialized per layout, separately.
  std::vector<OpPlan> ops;
  SmallVector<Operation *> constantLikes;
  /// Ops that are erased at the end.
  SmallVector<Operation *> consumed;
  /// Constraints that were dropped with the ops around them.
  unsigned droppedConstraints = 0;
};

/// Decides, in program order, the layouts that every op computes with, given the propagated
/// shardings: those of `spmd.factor_shardings`, else those with the cheapest reshards.
/// `tripCount`: trips of loops with bounds that are not constant. `defersReductions`: partial
/// sums stay partial through linear ops, including loops. The IR is not changed, except that
/// annotations inside ops that compute on replicated values are dropped.
/// `isTrial`: not even these, nothing is reported, and a call passes its operands as they are.
LogicalResult decideCompute(ComputePlan &plan, int64_t tripCount, bool defersReductions, bool isTrial = false);

/// The predicted time of a plan that is decided, over all executions. Communication: the reshards that
/// --spmd-insert-reshards would insert, and exchanges; compute, where the mesh has `flops`. Calls do not count.
/// `perValue` gets the communication of each value that is resharded.
PlanSeconds getSeconds(ComputePlan &plan, int64_t tripCount, llvm::DenseMap<Value, double> *perValue = nullptr);

} // namespace mlir::spmd

#endif // SHARDKIT_RESHARD_COMPUTEPLAN_H
