//===- ShardingTable.h - Interned shardings of a run ------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_SHARDINGTABLE_H
#define SHARDKIT_PROPAGATION_SHARDINGTABLE_H

#include "shardkit/Layout/Sharding.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace mlir::spmd {

using ShardingId = unsigned;

/// Shardings, with open dims, priorities and all, as small integers. Unlike those
/// of a LayoutTable they are what is known of a value so far.
class ShardingTable {
public:
  ShardingId intern(Sharding sharding) {
    llvm::SmallVector<int64_t, 32> key;
    appendKey(sharding, key);
    llvm::StringRef bytes(reinterpret_cast<const char *>(key.data()), key.size() * sizeof(int64_t));
    auto [it, isNew] = ids.try_emplace(bytes, shardings.size());
    if (isNew)
      shardings.push_back(std::move(sharding));
    return it->second;
  }
  const Sharding &get(ShardingId id) const { return shardings[id]; }
  size_t size() const { return shardings.size(); }

private:
  std::deque<Sharding> shardings;
  llvm::StringMap<ShardingId> ids;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_SHARDINGTABLE_H
