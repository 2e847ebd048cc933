//===- Setup.cpp - Options that several commands share --------------------===//

#include "Setup.h"

#include "../ProgressLine.h"

#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Manifest/ShardInfo.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace shardkit::rt;

namespace shardkit::weights {

Expected<SourceSet> openSet(const std::string &path, const Options &options) {
  OpenOptions open;
  open.followLinks = options.followLinks;
  return SourceSet::open(path, open);
}

static Expected<Partition> openBundle(const Options &options, Partition partition) {
  SK_ASSIGN_OR_RETURN(partition.bundle, Bundle::open(options.manifest));
  const Manifest &manifest = partition.bundle->manifest();
  const FunctionInfo *chosen = nullptr; // Of a pipeline what it is as a whole.
  std::string names;
  const bool isOnly = manifest.functions.size() + manifest.pipelines.size() == 1;
  auto consider = [&](const FunctionInfo &function, auto &&weights) {
    names += (names.empty() ? "" : ", ") + function.name;
    if (options.function.empty() ? !isOnly : function.name != options.function)
      return;
    chosen = &function;
    partition.manifest = weights();
  };
  for (const FunctionInfo &function : manifest.functions)
    consider(function, [&] { return weightsOf(manifest, function); });
  for (const PipelineInfo &pipeline : manifest.pipelines)
    consider(pipeline.signature, [&] { return weightsOf(manifest, pipeline); });
  if (!chosen)
    return notFound(options.manifest + ": choose one function with --function: " + names);
  partition.manifest->path = options.manifest;
  Bundle *bundle = partition.bundle.get();
  partition.programs = [bundle, chosen](const EntryPoint &entry, int64_t rank, const std::vector<void *> &stored,
                                        void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle->entry(*chosen, entry, stored.size(), 1));
    return Executor::call(program, rank, chosen->devices, stored.data(), &local, entry.arenaBytes);
  };
  return partition;
}

Expected<Partition> openPartition(const Options &options, const SourceSet *set) {
  Partition partition;
  partition.functions = std::make_unique<HostFunctions>();
  for (const std::string &library : options.shardFunctions)
    SK_RETURN_IF_ERROR(partition.functions->loadLibrary(library));
  if (!options.manifest.empty() && !options.shardInfo.empty())
    return invalid("--manifest and --shard-info both give a sharding, expected one");
  if (!options.manifest.empty()) {
    std::error_code error;
    if (std::filesystem::is_directory(options.manifest, error) &&
        std::filesystem::exists(options.manifest + "/manifest.json", error))
      return openBundle(options, std::move(partition));
    std::string file = std::filesystem::is_directory(options.manifest, error) ? options.manifest + "/presharded.json"
                                                                              : options.manifest;
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
      return notFound(file + ": cannot be read: " + std::strerror(errno) +
                      "; expected a bundle directory or a weight manifest");
    std::ostringstream text;
    text << stream.rdbuf();
    SK_ASSIGN_OR_RETURN(partition.manifest, parseWeightManifest(text.str(), file));
  } else if (!options.shardInfo.empty()) {
    if (options.ranks < 1)
      return invalid("--shard-info needs --ranks=N");
    SK_ASSIGN_OR_RETURN(ShardInfo info, readShardInfo(options.shardInfo));
    SK_ASSIGN_OR_RETURN(partition.manifest, manifestOf(info, set->stored(), options.ranks));
  }
  return partition;
}

LoadOptions withProgress(const LoadOptions &load) {
  LoadOptions result = load;
  result.progress = tools::progressLine();
  return result;
}

} // namespace shardkit::weights
