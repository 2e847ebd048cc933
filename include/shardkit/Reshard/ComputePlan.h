//===- ComputePlan.h - How the ops of a function compute --------*- C++ -*-===//

#ifndef SHARDKIT_RESHARD_COMPUTEPLAN_H
#define SHARDKIT_RESHARD_COMPUTEPLAN_H

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Rules/RuleTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spmd {

/// The layouts of a value.
struct ValueLayouts {
  /// The one its op hands out, possibly partial, and the one that propagation
  /// chose for it.
  LayoutId produced, home;
  /// Whether everything is made of what it has at home, as the search that chose both
  /// has counted it.
  bool viaHome = false;
  /// Distinct layouts that users ask for, in order.
  SmallVector<LayoutId, 2> needs;
  /// Layouts it can be had in already.
  SmallVector<std::pair<LayoutId, Value>, 2> available;
};

/// How an op computes.
struct ComputeLayouts {
  /// Per operand of the rule: the layout it needs; nothing for scalars.
  SmallVector<std::optional<LayoutId>, 4> needs;
  /// Per result: what the op hands out.
  SmallVector<std::optional<LayoutId>, 1> produced;
};

struct OpPlan : ComputeLayouts {
  Operation *op;
  /// Null for an op that hands its operands on as they are.
  const ShardingRule *rule = nullptr;
  /// Tensors that the body captures: operands of the rule behind the op's own.
  SmallVector<Value, 0> captured;

  Value getOperand(unsigned t) const {
    unsigned own = op->getNumOperands();
    return t < own ? op->getOperand(t) : captured[t - own];
  }
};

/// How all ops of a function of one block compute, and the layouts that its values
/// then have and are asked for in.
struct ComputePlan {
  ComputePlan(func::FuncOp func, FunctionMeshes &meshes) : func(func), meshes(meshes), table(meshes) {}

  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable table;
  RuleTable rules;
  llvm::DenseMap<Value, ValueLayouts> values;
  SmallVector<std::optional<LayoutId>> results;
  /// In program order; creation ops, which are made anew per layout, apart.
  std::vector<OpPlan> ops;
  SmallVector<Operation *> creations;
  /// Annotations that are not needed any more.
  SmallVector<Operation *> consumed;
  /// Constraints that were dropped with the ops around them.
  unsigned droppedConstraints = 0;
};

/// Decides, in program order, how every op computes on the layouts that
/// propagation left: as `spmd.factor_shardings` says, else where its reshards cost least.
/// `tripCount`: trips of loops whose bounds are not constant. `carriesSums`:
/// partial sums stay partial through what is linear in them, loops included. The
/// IR stays as it is, but for annotations inside ops that compute on whole values.
LogicalResult decideCompute(ComputePlan &plan, int64_t tripCount, bool carriesSums);

} // namespace mlir::spmd

#endif // SHARDKIT_RESHARD_COMPUTEPLAN_H
