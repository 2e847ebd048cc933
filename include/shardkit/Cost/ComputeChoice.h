//===- ComputeChoice.h - How an op computes ---------------------*- C++ -*-===//

#ifndef SHARDKIT_COST_COMPUTECHOICE_H
#define SHARDKIT_COST_COMPUTECHOICE_H

#include "shardkit/Cost/LayoutTable.h"
#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// The (sub-)axes of each factor of a rule.
using FactorAxes = SmallVector<DimEntries, 8>;

/// Layout that tensor `t` of the rule has under an assignment: for operands
/// what is needed, for results what is produced. Axes on reduction factors make
/// results (and the inits that are accumulated into them) partial.
Sharding getTensorSharding(const ShardingRule &rule, unsigned t, const FactorAxes &axes);

/// The same for an operand that has a layout: a dim that it has whole is read in
/// windows as it is, and needs no cut.
Sharding getNeededSharding(const ShardingRule &rule, unsigned t, const FactorAxes &axes, const Sharding &has);

/// The windows in which tensor `t` is read, one per dim that has a window and is
/// cut, in order of the dims.
SmallVector<UnevenDim, 1> getWindows(const ShardingRule &rule, unsigned t, const FactorAxes &axes, const Mesh &mesh);

/// What is known of a tensor of a rule where an op chooses how it computes.
struct TensorLayout {
  /// Its type; null for what is no ranked tensor.
  RankedTensorType type;
  /// The layout it has (operands) or shall have (results); nothing where it
  /// takes any.
  std::optional<LayoutId> layout;
  /// Bit d: dim d may take further axes at no cost.
  uint64_t openDims = 0;
  /// How often a reshard of it runs: more than once in a loop.
  int64_t count = 1;
};

/// Predicted seconds to gather a candidate of each shard, for each result of a selection.
double getPickSeconds(const ShardingRule &rule, const FactorAxes &axes, LayoutTable &table);

/// Predicted seconds of the reshards before and after an op that computes with
/// `axes`, each as often as it runs: operands are brought to where they are needed, results completed and
/// brought to where they shall be, candidates of a selection gathered. Halos count as
/// part of what an operand needs.
double getReshardSeconds(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, const FactorAxes &axes,
                         LayoutTable &table);

/// The assignment of axes to factors whose reshards cost least. A contraction
/// uses every axis that one of its tensors carries, wherever it divides. What a
/// tensor carries unevenly may be kept; nothing uneven is ever made up.
FactorAxes chooseCompute(const ShardingRule &rule, ArrayRef<TensorLayout> tensors, LayoutTable &table);

/// Entries of factor `f` as the given layout of tensor `t` has them, as far as they
/// fit it (splitDim); nothing if the tensor does not have the factor.
std::optional<DimEntries> projectFactor(const ShardingRule &rule, unsigned t, int32_t f, const Sharding &sharding);

/// The axes that factor `f` is cut by: those of the first tensor of the rule whose
/// layout says any. `getSharding` is null for what has no layout.
DimEntries findCut(const ShardingRule &rule, int32_t f, llvm::function_ref<const Sharding *(Value)> getSharding);

} // namespace mlir::spmd

#endif // SHARDKIT_COST_COMPUTECHOICE_H
