//===- Setup.h - Options that several commands share ------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDWEIGHTS_SETUP_H
#define SHARDKIT_TOOLS_SHARDWEIGHTS_SETUP_H

#include "../SizeText.h"
#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Manifest/Bundle.h"

#include <memory>

namespace shardkit::weights {

struct Options {
  std::string set;    ///< The weight set.
  std::string output; ///< A directory, or a file where that is what a format is.
  // How the weights are cut.
  std::string manifest;  ///< A bundle, or a weight manifest.
  std::string function;  ///< Of a bundle.
  std::string shardInfo; ///< TVM's; with `ranks`.
  int64_t ranks = 0;
  std::vector<std::string> shardFunctions;
  bool followLinks = false, strict = false;
  rt::LoadOptions load;
  // Options of single commands.
  std::string layout = "shared", format, source;
  int64_t rank = -1, maxFileBytes = int64_t(2) << 30;
  std::string f32ToBf16; ///< Empty, round or clip.
};

/// The sharding of a set: the manifest and its functions.
struct Partition {
  std::optional<rt::WeightManifest> manifest;
  std::unique_ptr<rt::Bundle> bundle;
  std::unique_ptr<rt::HostFunctions> functions;
  rt::ShardProgram programs;
};

/// `set` may be null unless shard info is given.
rt::Expected<Partition> openPartition(const Options &options, const rt::SourceSet *set);
rt::Expected<rt::SourceSet> openSet(const std::string &path, const Options &options);

using tools::sizeText;
/// Shows progress in bytes if the output is a terminal.
rt::LoadOptions withProgress(const rt::LoadOptions &load);

rt::Status inspect(const Options &options);
rt::Status shard(const Options &options);
rt::Status preshard(const Options &options);
rt::Status verify(const Options &options);
rt::Status convert(const Options &options);
rt::Status exportShardInfo(const Options &options);

} // namespace shardkit::weights

#endif // SHARDKIT_TOOLS_SHARDWEIGHTS_SETUP_H
