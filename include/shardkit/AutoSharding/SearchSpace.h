//===- SearchSpace.h - What automatic sharding chooses from -----*- C++ -*-===//
//
// Layouts of values, and assignments of axes to the factors of sharding rules: full axes,
// each used at most once, in every order on every dim that they divide, and user shardings.
// --spmd-partition supports each of them.
//
// Mesh <"x"=2, "y"=3>, tensor<6x4xf32>, no user sharding:
//   [{}, {}]  [{"x"}, {}]  [{"x", "y"}, {}]  [{"y"}, {}]  [{"y", "x"}, {}]  [{}, {"x"}]
//   [{"y"}, {"x"}]
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_AUTOSHARDING_SEARCHSPACE_H
#define SHARDKIT_AUTOSHARDING_SEARCHSPACE_H

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Layout/KeyedTable.h"

namespace mlir::spmd {

/// Per factor: lists of entries that may shard it in addition to full axes that divide it:
/// sub-axes, strided and uneven shardings of the user.
using ExtraShardings = SmallVector<SmallVector<DimEntries, 1>, 8>;

class SearchSpace {
public:
  /// Layouts of `fullAxes`, in mesh order. `allSubAxes`: use sub-axes everywhere, not only if the
  /// full axis divides no factor.
  SearchSpace(LayoutTable &table, ArrayRef<DimEntry> fullAxes, bool allSubAxes);

  /// Closed layouts of a value that extend the open dims of a user sharding, those over the
  /// fewest devices first. Dims of dynamic size are not extended.
  const std::vector<LayoutId> &getLayouts(RankedTensorType type, const Sharding &userSharding);

  /// The strategies of an op, those over the fewest devices first. A contraction uses as many
  /// devices as its widest strategy, unless `recompute` is allowed. `manual`: axes that must
  /// not be used.
  std::vector<FactorAxes> getStrategies(const ShardingRule &rule, const ExtraShardings &extra,
                                        ArrayRef<DimEntry> manual, bool recompute) const;

  unsigned getNumAxes() const { return axes.size(); }
  /// Bytes that a device holds of a value.
  int64_t getLocalBytes(LayoutId id, RankedTensorType type) const;

private:
  LayoutTable &table;
  const Mesh &mesh;
  bool allSubAxes;
  /// Axes of size > 1, and their sub-axes of prime size, in mesh order.
  DimEntries axes, primeSubAxes;
  KeyedTable<std::vector<LayoutId>> layouts;
  mutable llvm::DenseMap<std::pair<LayoutId, Type>, int64_t> localBytes;
};

} // namespace mlir::spmd

#endif // SHARDKIT_AUTOSHARDING_SEARCHSPACE_H
