//===- ShardingTable.h - Interned shardings ---------------------*- C++ -*-===//

#ifndef SHARDKIT_LAYOUT_SHARDINGTABLE_H
#define SHARDKIT_LAYOUT_SHARDINGTABLE_H

#include "shardkit/Layout/KeyedTable.h"
#include "shardkit/Layout/Sharding.h"
#include <deque>

namespace mlir::spmd {

using ShardingId = unsigned;

/// Shardings as small integers: equal numbers are equal shardings, open dims and
/// priorities included. Propagation keeps one per run; a LayoutTable keeps one of
/// closed shardings only, whose numbers therefore denote layouts.
class ShardingTable {
public:
  ShardingId intern(Sharding sharding) {
    llvm::SmallVector<int64_t, 32> key;
    appendKey(sharding, key);
    auto [id, isNew] = ids.try_emplace(key, shardings.size());
    if (isNew)
      shardings.push_back(std::move(sharding));
    return id;
  }
  const Sharding &get(ShardingId id) const { return shardings[id]; }
  size_t size() const { return shardings.size(); }

private:
  std::deque<Sharding> shardings;
  KeyedTable<ShardingId> ids;
};

} // namespace mlir::spmd

#endif // SHARDKIT_LAYOUT_SHARDINGTABLE_H
