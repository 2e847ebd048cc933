//===- Preshard.h - Shard a weight set ahead of time ------------*- C++ -*-===//

#ifndef SHARDKIT_RT_LOADING_PRESHARD_H
#define SHARDKIT_RT_LOADING_PRESHARD_H

#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Loading/LoadPlan.h"

namespace shardkit::rt {

struct PreshardOptions {
  /// Every rank gets a copy of each of its shards, in TVM's tensor cache. Otherwise
  /// .safetensors, with shards that several ranks hold stored once, in common-*.
  bool tvmLayout = false;
  int64_t maxFileBytes = int64_t(2) << 30;
  LoadOptions load;
  /// The identity of the code of loading functions: files of an interrupted run with other code are not kept.
  std::string functions;
  /// One line for each file that is written or kept.
  std::function<void(const std::string &)> log;
};

struct PreshardResult {
  int64_t files = 0, kept = 0, bytes = 0; ///< `kept`: complete files of an earlier, interrupted run.
  LoadStats load;
};

/// Makes the directory of a set that is made from `source`, if it does not exist; an error if
/// the source is in it.
Status makeSetDirectory(const std::string &directory, const SourceSet &source);

/// Writes `manifest`'s shards of the weights in `source` into `directory`, and
/// presharded.json last. The files of all ranks grow side by side, weight after weight,
/// so that no stored byte is read twice for two ranks. Files that an earlier run of the same configuration on
/// the same source completed are kept if their checksums are right. One run at a time
/// writes into a directory. Weights with loading functions are stored
/// as their arguments.
Expected<PreshardResult> preshard(const WeightManifest &manifest, const SourceSet &source, const std::string &directory,
                                  const PreshardOptions &options, const HostFunctions *functions = nullptr,
                                  const ShardProgram &programs = nullptr);

/// The manifest of the set that preshard() writes: arguments are stored as loading functions
/// make them.
WeightManifest asStored(WeightManifest manifest);

/// Larger types first, so that every tensor of a .safetensors file is aligned to its type.
std::vector<size_t> alignedOrder(const WeightManifest &manifest, std::vector<size_t> weights);

struct VerifyResult {
  int64_t weights = 0, shards = 0, checksums = 0;
  bool values = false; ///< Compared with a source.
};
/// Checks sizes, cover and checksums of a set and, with `source`, every element
/// of a presharded set against the set that it was made from (whose manifest is needed
/// if loading functions made the arguments; null: that of the set).
Expected<VerifyResult> verifySet(const SourceSet &set, const SourceSet *source, const WeightManifest *manifest,
                                 const LoadOptions &options, const HostFunctions *functions,
                                 const ShardProgram &programs);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_PRESHARD_H
