//===- ComputeChoice.h - How an op computes ---------------------*- C++ -*-===//

#ifndef SHARDKIT_PARTITION_COMPUTECHOICE_H
#define SHARDKIT_PARTITION_COMPUTECHOICE_H

#include "shardkit/Partition/LayoutTable.h"
#include "shardkit/Rules/ShardingRule.h"

namespace mlir::spmd {

/// The (sub-)axes of each factor of a rule.
using FactorAxes = SmallVector<DimEntries, 8>;

/// Layout that tensor `t` of the rule has under an assignment: for operands
/// what is needed, for results what is produced. Axes on reduction factors make
/// results (and the inits that are accumulated into them) partial.
Sharding getTensorSharding(const ShardingRule &rule, unsigned t,
                           const FactorAxes &axes);

/// The assignment of axes to factors whose reshards cost least, given the
/// layouts that the tensors of the rule have (operands) or shall have (results);
/// nothing stands for a tensor that takes any layout. A contraction uses every
/// axis that one of them carries, wherever it divides.
FactorAxes chooseCompute(const ShardingRule &rule,
                         ArrayRef<std::optional<LayoutId>> layouts,
                         LayoutTable &table);

/// Entries of factor `f` as the given layout of tensor `t` has them; nothing if
/// the tensor does not have the factor or its digits do not fit it.
std::optional<DimEntries> projectFactor(const ShardingRule &rule, unsigned t,
                                        int32_t f, const Sharding &sharding);

} // namespace mlir::spmd

#endif // SHARDKIT_PARTITION_COMPUTECHOICE_H
