//===- ComputeDecider.h - Decides the layouts of a function -----*- C++ -*-===//

#ifndef SHARDKIT_LIB_RESHARD_COMPUTEDECIDER_H
#define SHARDKIT_LIB_RESHARD_COMPUTEDECIDER_H

#include "DeferredReductions.h"
#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Reshard/ComputePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd {

/// Decides the layouts that every op computes with, in program order:
///   1. The signature determines the layouts of arguments and results.
///   2. An op with a rule gets the axes of `spmd.factor_shardings`, a deferred reduction, or the
///      cheapest axes. Its operands need the layouts of these axes, its results are computed in
///      them.
///   3. Any other op forwards its operands in the layouts of its results or its callee.
///
/// Example: %0 = matmul %a, %b; %a [{"x"}, {}], %b [{}, {}], %0 propagated as [{"x"}, {}].
/// The axes {"x"} on factor i need no reshard of %a and compute [{"x"}, {}].
class ComputeDecider {
public:
  ComputeDecider(ComputePlan &plan, int64_t tripCount, bool defersReductions, bool isTrial)
      : plan(plan), func(plan.func), meshes(plan.meshes), mesh(meshes.getMesh()), table(plan.table),
        values(plan.values), reductions(plan), tripCount(tripCount), defersReductions(defersReductions),
        isTrial(isTrial) {}

  LogicalResult run();

private:
  struct Choice {
    FactorAxes axes;
    ComputeLayouts layouts;
  };

  FailureOr<LayoutId> read(ShardingAttr attr, Type type, Location loc);

  static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

  LogicalResult readSignature();
  void define(Value value, LayoutId computed, LayoutId propagated);
  void need(Value value, LayoutId id);
  LogicalResult decideBlock(Block &block);

  /// Adds an op that forwards its operands, each in a given layout: a terminator, a loop.
  void forwardOperands(Operation *op, ArrayRef<std::optional<LayoutId>> needs,
                       ArrayRef<std::optional<LayoutId>> computed = {});

  /// The layouts of the results of a region op.
  FailureOr<SmallVector<std::optional<LayoutId>>> readResults(Operation *op);
  void defineAll(ValueRange values, ArrayRef<std::optional<LayoutId>> layouts);
  static SmallVector<std::optional<LayoutId>> afterScalars(unsigned scalars, ArrayRef<std::optional<LayoutId>> layouts);

  using ResultLayouts = SmallVector<std::optional<LayoutId>>;

  LogicalResult decideRegions(Operation *op);

  /// The layout of operand `i` in the attribute of a region op, or null.
  static ShardingAttr getOperandSharding(Operation *op, unsigned i);
  LogicalResult decideManual(ManualComputationOp op, ResultLayouts &results);
  LogicalResult decideWhile(scf::WhileOp loop, ArrayRef<std::optional<LayoutId>> results);
  LogicalResult decideForall(scf::ForallOp loop, ResultLayouts &results);

  /// Regions that each yield the results.
  LogicalResult decideBranches(Operation *op, const ResultLayouts &results);

  /// A manual computation names one mesh: free axes that the mesh does not have are dropped, minor ones first.
  LogicalResult makeExpressible(ManualComputationOp op, LayoutId &id, Type type);

  /// The layout of a value inside a manual computation: without the manual axes.
  LayoutId getInside(LayoutId id, Type outside, Type inside) {
    return table.intern(getFreeSharding(table.get(id), getShape(outside), getShape(inside)));
  }

  /// A slice is written in the layout of the shared output.
  void decideSliceWrite(tensor::ParallelInsertSliceOp write);

  /// An output that is accumulated over microbatches stays partial and is completed once, afterwards. Any other output
  /// has the propagated layout.
  LogicalResult decideStageOutput(StageOutputOp op);
  LogicalResult decide(Operation *op);

  /// The layout of a constraint or reshard is fixed. Without a reader it needs nothing.
  LogicalResult decideConstraint(Operation *op);

  /// The sharding of a constraint: the propagated one, else its attribute, else that of its operand.
  ShardingAttr getConstraintSharding(Operation *op);

  /// Operands and results with their layouts before the choice for the op.
  FailureOr<SmallVector<TensorLayout>> readTensors(Operation *op, const ShardingRule &rule);

  /// The cheapest axes, computed once for equal ops.
  const Choice &choose(const ShardingRule &rule, ArrayRef<TensorLayout> layouts);

  /// The layouts of an op:
  ///   1. those of `spmd.factor_shardings`, or with a deferred reduction if that is cheaper,
  ///   2. else with a deferred reduction, if that is possible,
  ///   3. else the cheapest ones.
  FailureOr<ComputeLayouts> decideLayouts(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);
  LogicalResult decideCompute(Operation *op);

  /// Marks a slice for which windows are cheaper than digits.
  bool preferWindows(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);
  ComputeLayouts getLayouts(const ShardingRule &rule, ArrayRef<TensorLayout> layouts, const FactorAxes &axes);

  /// Emits a remark if an op computes full tensors although its operands are sharded.
  void remarkReplicated(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts,
                        const FactorAxes &axes);

  /// Emits a remark for each uneven dim of an operand that is gathered as the op has no form on padded shards.
  void remarkUnpadded(Operation *op, const ShardingRule &rule, ArrayRef<TensorLayout> layouts);

  /// Reads and verifies `spmd.factor_shardings`.
  FailureOr<FactorAxes> readCompute(Operation *op, const ShardingRule &rule);

  //===--- Deferred reductions of loops ------------------------------------===//

  /// Decides the body of a loop:
  ///   1. Tentatively with complete arguments, to find arguments to which all additions have the same partial layout.
  ///   2. Again with these arguments partial: they are completed once, after the loop.
  LogicalResult decideLoop(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> propagated);

  /// The layouts of the arguments of a loop: the propagated ones, or partial ones if they are cheaper.
  FailureOr<SmallVector<std::optional<LayoutId>>> findCarried(scf::ForOp loop,
                                                              ArrayRef<std::optional<LayoutId>> propagated);

  LogicalResult decideBody(scf::ForOp loop, ArrayRef<std::optional<LayoutId>> carried,
                           ArrayRef<std::optional<LayoutId>> propagated);

  /// The sizes of the lists before a tentative decision.
  struct State {
    size_t changes, ops, constantLikes, consumed;
  };
  State save() { return {changes.size(), plan.ops.size(), plan.constantLikes.size(), plan.consumed.size()}; }
  void restore(const State &state);

  /// A call passes its operands in the layouts of the callee.
  LogicalResult decideCall(func::CallOp call);

  ComputePlan &plan;
  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  DeferredReductions reductions;
  int64_t fragmentExecutions = 1; // executions of the current fragment
  int64_t tripCount;
  /// Whether partial sums pass through linear ops.
  bool defersReductions;
  /// Whether the IR must stay as it is, without remarks.
  bool isTrial;
  /// Above 0 during tentative decisions.
  unsigned tentative = 0;
  /// Changes of tentative decisions: values, and their previous state.
  std::vector<std::pair<Value, std::optional<ValueLayouts>>> changes;
  /// The layouts of the arguments, per decided loop.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> carriedOf;
  /// Whether any value has an uneven sharding.
  bool hasUneven = false;
  KeyedTable<Choice> choices; ///< By inputs.
  DimEntries manualAxes;      ///< Around the op that is decided.
  /// The layouts that terminators of regions forward.
  llvm::DenseMap<Operation *, SmallVector<std::optional<LayoutId>>> terminatorNeeds;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_RESHARD_COMPUTEDECIDER_H
