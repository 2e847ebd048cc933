//===- ComputeChoice.h - Axes of the factors of an op -----------*- C++ -*-===//

#ifndef SHARDKIT_COST_COMPUTECHOICE_H
#define SHARDKIT_COST_COMPUTECHOICE_H

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// The (sub-)axes of each factor of a rule.
using FactorAxes = SmallVector<DimEntries, 8>;

/// The sharding of tensor `t` of a rule under an assignment: of an operand the needed one, of
/// a result the computed one. Axes on reduction factors make results (and their inits)
/// partial.
///
///   matmul, factors i, k, j, axes {"x"} on i and {"y"} on k:
///     operands [{"x"}, {"y"}] and [{"y"}, {}], result [{"x"}, {}], unreduced = {"y"}
Sharding getTensorSharding(const ShardingRule &rule, unsigned t, const FactorAxes &axes);

/// The same for an operand with layout `has`: an unsharded dim that is read in windows stays
/// unsharded, unless its axes shard other dims now and it costs less to move them to it.
///
///   windows along {"x"} of dim 0, has [{}, {"x"}]: [{"x"}, {}] by an all-to-all, not [{}, {}] by an all-gather
LayoutId getNeededLayout(const ShardingRule &rule, unsigned t, const FactorAxes &axes, LayoutId has,
                         RankedTensorType type, LayoutTable &table);

/// The windows in which tensor `t` is read: one per sharded dim with a window, in order of the
/// dims.
SmallVector<UnevenDim, 1> getWindows(const ShardingRule &rule, unsigned t, const FactorAxes &axes, const Mesh &mesh);

/// Devices that an op which computes with `axes` is spread over; the others compute the same as one of these.
int64_t getNumDevices(const FactorAxes &axes);

/// A tensor of a rule as an input of the choice of axes.
struct TensorLayout {
  /// Its type; null if it is not a ranked tensor.
  RankedTensorType type;
  /// The present layout of an operand, or the wanted one of a result; none: any layout.
  std::optional<LayoutId> layout;
  /// Bit d: dim d may take further axes at no cost.
  uint64_t openDims = 0;
  /// Executions of a reshard of it: more than one in a loop.
  int64_t count = 1;
};

/// The tensor that an exchange of windows of tensor `t` runs as often as: windows that do not
/// change in a loop are exchanged before it, those at a run-time index with the op.
unsigned getTensorOfExchange(const ShardingRule &rule, unsigned t);

/// Predicted seconds to gather one candidate per shard, for each result of a selection.
double getPickSeconds(const ShardingRule &rule, const FactorAxes &axes, LayoutTable &table);

/// Predicted seconds, over all executions, of the communication of an op that computes with
/// `axes`: reshards of operands, halo exchanges, reductions and reshards of results, gathers of
/// the candidates of a selection.
double getReshardSeconds(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, const FactorAxes &axes,
                         LayoutTable &table);

/// The assignment of axes to factors with the lowest cost of reshards. A contraction uses
/// every axis of its tensors that divides a factor. An uneven sharding of a tensor may be
/// kept; no other uneven sharding is introduced.
FactorAxes chooseCompute(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, LayoutTable &table);

/// The entries of factor `f` in a sharding of tensor `t`, to the extent that they fit it
/// (splitDim); none if the tensor does not have the factor.
std::optional<DimEntries> projectFactor(const ShardingRule &rule, unsigned t, int32_t f, const Sharding &sharding);

/// The axes that shard factor `f`: those of the first tensor of the rule that has any.
/// `getSharding` returns null for a value without a sharding.
DimEntries findFactorAxes(const ShardingRule &rule, int32_t f, llvm::function_ref<const Sharding *(Value)> getSharding);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COMPUTECHOICE_H
