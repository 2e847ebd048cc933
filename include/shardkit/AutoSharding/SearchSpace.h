//===- SearchSpace.h - What automatic sharding chooses from -----*- C++ -*-===//
//
// Layouts of values, and assignments of axes to the factors of sharding rules:
// whole axes, each used once at most, in every order on everything that they
// divide, and what is given besides. All that is here can be partitioned.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_SEARCHSPACE_H
#define SHARDKIT_AUTOSHARDING_SEARCHSPACE_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Layout/KeyedTable.h"

namespace mlir::spmd {

/// Lists of entries that a factor may be cut by besides whole axes that divide it:
/// sub-axes, gaps and uneven cuts that somebody gave. One set of lists per factor.
using ExtraCuts = SmallVector<SmallVector<DimEntries, 1>, 8>;

class SearchSpace {
public:
  /// `allSubAxes`: parts of axes too, not only where a whole one divides nothing.
  SearchSpace(LayoutTable &table, bool allSubAxes);

  /// Closed layouts of a value that has what is given and perhaps more on its open
  /// dims, the least cut first. Dims of unknown size take nothing.
  const std::vector<LayoutId> &getLayouts(RankedTensorType type, const Sharding &given);

  /// How an op may compute, the least cut first. A contraction uses as many devices as
  /// any of its assignments does, unless `recompute` is allowed. `manual`:
  /// axes that it has nothing of.
  std::vector<FactorAxes> getStrategies(const ShardingRule &rule, const ExtraCuts &extra, ArrayRef<DimEntry> manual,
                                        bool recompute) const;

  /// Bytes that a device holds of a value.
  int64_t getLocalBytes(LayoutId id, RankedTensorType type) const;

private:
  LayoutTable &table;
  const Mesh &mesh;
  bool allSubAxes;
  /// Axes of size > 1, and the prime parts that they fall into, in mesh order.
  DimEntries axes, parts;
  KeyedTable<std::vector<LayoutId>> layouts;
  mutable llvm::DenseMap<std::pair<LayoutId, Type>, int64_t> localBytes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_SEARCHSPACE_H
