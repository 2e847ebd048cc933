//===- WeightLoader.h - Load, LoadAll, LoadPresharded -----------*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_WEIGHTLOADER_H
#define SHARDKIT_RT_LOADING_WEIGHTLOADER_H

#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Manifest/ShardInfo.h"

namespace shardkit::rt {

/// The shards of one parameter on all ranks.
struct LoadedWeight {
  const ValueInfo *value = nullptr;
  std::vector<Buffer> ranks; ///< By rank of its mesh.
};

/// Loads the parameters of a manifest from a weight set, all ranks in this
/// process. Parameters have the order of the manifest, never that of a file.
class WeightLoader {
public:
  /// `functions` may be null; it outlives the loader.
  WeightLoader(WeightManifest manifest, SourceSet sources, LoadOptions options = {},
               const HostFunctions *functions = nullptr)
      : manifest_(std::move(manifest)), sources_(std::move(sources)), options_(std::move(options)),
        functions_(functions) {}

  /// The manifest of a set that is presharded for `ranks` by names alone: NAME_shard-K-of-N,
  /// or MLC's NAME_shard-K; a tensor without such a name is replicated.
  static Expected<WeightManifest> manifestOfShards(const WeightSet &set, int64_t ranks,
                                                   const std::vector<std::string> &parameters = {});

  const WeightManifest &manifest() const { return manifest_; }
  int64_t count() const { return int64_t(manifest_.weights.size()); }
  Expected<int64_t> indexOf(const std::string &name) const;

  /// Checks every parameter against the set; allocates and reads nothing.
  Status check(bool presharded) const;

  Expected<LoadedWeight> load(const std::string &name);
  Expected<std::vector<LoadedWeight>> loadAll();
  /// From NAME_shard-K-of-N, with no communication.
  Expected<LoadedWeight> loadPresharded(const std::string &name);
  Expected<LoadedWeight> loadPresharded(int64_t index);
  Expected<std::vector<LoadedWeight>> loadAllPresharded();

  /// Sums over all loads so far.
  const LoadStats &stats() const { return stats_; }

private:
  Expected<std::vector<LoadedWeight>> loadSome(const std::vector<int64_t> &indices, bool presharded);
  WeightManifest manifest_;
  SourceSet sources_;
  LoadOptions options_;
  const HostFunctions *functions_;
  LoadStats stats_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_WEIGHTLOADER_H
