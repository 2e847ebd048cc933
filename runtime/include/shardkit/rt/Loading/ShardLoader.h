//===- ShardLoader.h - Shards of ranks, weight after weight -----*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_SHARDLOADER_H
#define SHARDKIT_RT_LOADING_SHARDLOADER_H

#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Support/Buffer.h"

namespace shardkit::rt {

/// For tools that write or compare shards of whole sets: one weight is in memory at
/// a time, and bytes that several ranks need are read once.
class ShardLoader {
public:
  /// Progress is that of all weights, of which `expectedBytes` are loaded.
  ShardLoader(const LoadOptions &options, const HostFunctions *functions, const ShardProgram &programs,
              int64_t expectedBytes = 0);
  /// Ends the progress.
  ~ShardLoader();
  ShardLoader(const ShardLoader &) = delete;
  ShardLoader &operator=(const ShardLoader &) = delete;

  /// Loads the shards of `value` on `ranks`. Replicas share one buffer, except shards
  /// that are stored rank by rank. Padding is zero.
  Status load(const ValueInfo &value, const TensorSource &source, const std::vector<int64_t> &ranks);
  /// The shard of the weight that was loaded last.
  const void *shard(int64_t rank) const;

  /// Bytes of the distinct shards on `ranks`.
  static int64_t bytesOf(const ValueInfo &value, const std::vector<int64_t> &ranks);
  const LoadStats &stats() const { return stats_; }

private:
  const std::function<void(int64_t, int64_t)> report_;
  LoadOptions options_;
  const HostFunctions *functions_;
  const ShardProgram programs_;
  const int64_t expected_;
  const ValueInfo *value_ = nullptr;
  bool isStoredByRank_ = false;
  std::map<int64_t, Buffer> shards_; ///< By the first rank that holds each.
  LoadStats stats_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_SHARDLOADER_H
