//===- Preshard.h - Cut a weight set ahead of time --------------*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_PRESHARD_H
#define SHARDKIT_RT_LOADING_PRESHARD_H

#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Loading/LoadPlan.h"

namespace shardkit::rt {

struct PreshardOptions {
  /// Every rank gets a copy of every shard of its own, in TVM's tensor cache. Else
  /// .safetensors, and what several ranks hold is stored once, in common-*.
  bool tvmLayout = false;
  int64_t maxFileBytes = int64_t(2) << 30;
  LoadOptions load;
  /// One line for each file that is written or kept.
  std::function<void(const std::string &)> log;
};

struct PreshardResult {
  int64_t files = 0, kept = 0, bytes = 0; ///< `kept`: files of an earlier, broken-off run.
  LoadStats load;
};

/// Makes the directory of a set that is made from `source`, if there is none yet; an error where
/// the source is in it.
Status makeSetDirectory(const std::string &directory, const SourceSet &source);

/// Writes `manifest`'s shards of the weights in `source` into `directory`, and
/// presharded.json last. The files of all ranks grow side by side, weight after weight,
/// so that no stored byte is read twice for two ranks. Files that an earlier run of the same configuration on
/// the same source completed are kept. Weights with loading functions are stored
/// as their arguments.
Expected<PreshardResult> preshard(const WeightManifest &manifest, const SourceSet &source, const std::string &directory,
                                  const PreshardOptions &options, const HostFunctions *functions = nullptr,
                                  const ShardProgram &programs = nullptr);

/// What the set that preshard() writes says of its weights: arguments are stored as
/// loading functions make them.
WeightManifest asStored(WeightManifest manifest);

/// Larger types first: so every tensor of a .safetensors file is aligned to its own.
std::vector<size_t> alignedOrder(const WeightManifest &manifest, std::vector<size_t> weights);

struct VerifyResult {
  int64_t weights = 0, shards = 0, checksums = 0;
  bool values = false; ///< Compared with a source.
};
/// Checks sizes, cover and checksums of a set and, with `source`, every element
/// of a presharded set against what it was cut from (whose manifest is needed
/// where loading functions made the arguments; null: that of the set).
Expected<VerifyResult> verifySet(const SourceSet &set, const SourceSet *source, const WeightManifest *manifest,
                                 const LoadOptions &options, const HostFunctions *functions,
                                 const ShardProgram &programs);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_PRESHARD_H
