//===- LoaderAbi.cpp - Loading weights from C -----------------------------===//
//
// No exception crosses this border.
//
//===----------------------------------------------------------------------===//

#include "Execution/Context.h"

#include "Formats/StrictJson.h"

#include "shardkit/rt/Loading/WeightLoader.h"

#include <algorithm>
#include <filesystem>

using namespace shardkit::rt;

namespace {

/// A context that owns its functions; made by sk_context_create alone.
struct OwnedContext : sk_context {
  HostFunctions registered;
  OwnedContext() { functions = &registered; }
};

template <typename Fn> int guarded(sk_context *ctx, Fn &&call) {
  const Status status = catchExceptions(call);
  if (ctx)
    ctx->message = status.message();
  return int(status.code());
}

} // namespace

struct sk_loader {
  sk_context *context;
  WeightLoader loader;
  std::vector<LoadedWeight> kept;

  Status give(std::vector<LoadedWeight> loaded, sk_tensor *out) {
    for (LoadedWeight &weight : loaded) {
      for (Buffer &buffer : weight.ranks)
        *out++ = {buffer.data(), int32_t(weight.value->dtype), int32_t(weight.value->localShape.size()),
                  weight.value->localShape.data(), weight.value->localBytes()};
      kept.push_back(std::move(weight));
    }
    return {};
  }
  Status give(Expected<std::vector<LoadedWeight>> loaded, sk_tensor *out) {
    return loaded.ok() ? give(std::move(*loaded), out) : loaded.status();
  }
  Status give(Expected<LoadedWeight> loaded, sk_tensor *out) {
    if (!loaded.ok())
      return loaded.status();
    std::vector<LoadedWeight> one;
    one.push_back(std::move(*loaded));
    return give(std::move(one), out);
  }
};

sk_context *sk_context_create(void) {
  try {
    return new OwnedContext();
  } catch (...) {
    return nullptr;
  }
}
void sk_context_destroy(sk_context *ctx) { delete static_cast<OwnedContext *>(ctx); }
const char *sk_error(const sk_context *ctx) { return ctx->message.c_str(); }

int sk_register_shard_function(sk_context *ctx, const char *name, sk_shard_function f, void *user) {
  return guarded(ctx, [&]() -> Status {
    if (!ctx->functions)
      return invalid("a running program cannot register shard functions");
    return ctx->functions->add(name ? name : "", f, user);
  });
}

int sk_load_shard_functions(sk_context *ctx, const char *library) {
  return guarded(ctx, [&] { return ctx->functions->loadLibrary(library ? library : ""); });
}

static Expected<WeightManifest> manifestFor(const sk_loader_options &options, const SourceSet &sources) {
  std::vector<std::string> parameters;
  for (int64_t i = 0; options.parameters && i < options.num_parameters; ++i)
    parameters.push_back(options.parameters[i]);
  if (options.manifest) {
    std::string path = options.manifest;
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      SK_ASSIGN_OR_RETURN(std::string text, readMetadata(path));
      return parseWeightManifest(text, path);
    }
    SK_ASSIGN_OR_RETURN(Manifest manifest, readManifest(path));
    for (const FunctionInfo &function : manifest.functions)
      if (options.function ? function.name == options.function : manifest.functions.size() == 1)
        return weightsOf(manifest, function);
    for (const PipelineInfo &pipeline : manifest.pipelines)
      if (options.function ? pipeline.signature.name == options.function : manifest.functions.empty())
        return weightsOf(manifest, pipeline);
    return notFound(path + (options.function ? ": no function " + quoteName(options.function)
                                             : std::string(": several functions, name one")));
  }
  if (options.shard_info) {
    std::string text = options.shard_info, name = "shard info";
    if (text.empty() || text[0] != '{') {
      name = text;
      SK_ASSIGN_OR_RETURN(text, readMetadata(name));
    }
    SK_ASSIGN_OR_RETURN(ShardInfo info, parseShardInfo(text, name));
    if (options.ranks < 1)
      return invalid("ranks is " + std::to_string(options.ranks) + ", expected at least 1");
    // A presharded set needs no functions: those of its parameters have been applied.
    const std::map<std::string, StoredTensor> &tensors = sources.stored().tensors;
    const bool isOfShards =
        std::any_of(tensors.begin(), tensors.end(), [](const auto &entry) { return parseAnyShardName(entry.first); }) &&
        std::none_of(info.begin(), info.end(), [&](const auto &entry) { return tensors.count(entry.first) > 0; });
    if (isOfShards && !sources.presharded()) {
      SK_ASSIGN_OR_RETURN(WeightManifest shards,
                          WeightLoader::manifestOfShards(sources.stored(), options.ranks, parameters));
      for (const auto &entry : info)
        if (std::none_of(shards.weights.begin(), shards.weights.end(),
                         [&](const ValueInfo &value) { return value.name == entry.first; }))
          return notFound(name + ": lists parameter " + quoteName(entry.first) + ", of which " + sources.stored().path +
                          " has no shards");
      return shards;
    }
    if (sources.presharded() && info.empty()) {
      if (sources.presharded()->devices != options.ranks)
        return invalid("ranks is " + std::to_string(options.ranks) + ", " + sources.stored().path +
                       " is presharded for " + std::to_string(sources.presharded()->devices));
      return *sources.presharded();
    }
    return manifestOf(info, sources.stored(), options.ranks, parameters);
  }
  if (sources.presharded())
    return *sources.presharded();
  if (options.ranks < 1)
    return invalid("ranks is " + std::to_string(options.ranks) + ", expected at least 1");
  return WeightLoader::manifestOfShards(sources.stored(), options.ranks, parameters);
}

int sk_loader_open(sk_context *ctx, const sk_loader_options *options, sk_loader **out) {
  return guarded(ctx, [&]() -> Status {
    *out = nullptr;
    if (options->abi != SK_ABI_VERSION)
      return invalid("loader ABI version " + std::to_string(options->abi) + ", this runtime has version " +
                     std::to_string(SK_ABI_VERSION));
    if (!options->weights)
      return invalid("no weights are named");
    LoadOptions load;
    auto mode = parseLoadMode(options->mode ? options->mode : "direct");
    auto io = parseIoMode(options->io ? options->io : "auto");
    if (!mode || *mode == LoadMode::Presharded)
      return invalid("mode '" + std::string(options->mode) + "', expected 'direct' or 'root-scatter'");
    if (!io)
      return invalid("io '" + std::string(options->io) + "', expected 'auto', 'pread', 'direct' or 'mmap'");
    load.mode = *mode;
    load.io = *io;
    load.readers = options->readers;
    OpenOptions open;
    open.followLinks = options->follow_links != 0;
    SK_ASSIGN_OR_RETURN(SourceSet sources, SourceSet::open(options->weights, open));
    SK_ASSIGN_OR_RETURN(WeightManifest manifest, manifestFor(*options, sources));
    if (manifest.hasStages())
      return invalid((options->manifest ? options->manifest : sources.stored().path) +
                     ": is of a pipeline, whose weights lie on several meshes, expected a function");
    if (options->strict) {
      SK_RETURN_IF_ERROR(sources.checkAllUsed(pointersTo(manifest.weights)));
      SK_RETURN_IF_ERROR(verifyChecksums(sources.filesWithChecksums()));
    }
    *out = new sk_loader{ctx, WeightLoader(std::move(manifest), std::move(sources), load, ctx->functions), {}};
    return {};
  });
}

void sk_loader_close(sk_loader *loader) { delete loader; }
int64_t sk_loader_ranks(const sk_loader *l) { return l->loader.manifest().devices; }
int64_t sk_loader_count(const sk_loader *l) { return l->loader.count(); }
const char *sk_loader_name(const sk_loader *l, int64_t index) {
  return index < 0 || index >= l->loader.count() ? nullptr : l->loader.manifest().weights[size_t(index)].name.c_str();
}

int sk_load(sk_loader *l, const char *name, sk_tensor *out) {
  return guarded(l->context, [&] { return l->give(l->loader.load(name), out); });
}
int sk_load_all(sk_loader *l, sk_tensor *out) {
  return guarded(l->context, [&] { return l->give(l->loader.loadAll(), out); });
}
int sk_load_presharded(sk_loader *l, const char *name, sk_tensor *out) {
  return guarded(l->context, [&] { return l->give(l->loader.loadPresharded(std::string(name)), out); });
}
int sk_load_presharded_at(sk_loader *l, int64_t index, sk_tensor *out) {
  return guarded(l->context, [&] { return l->give(l->loader.loadPresharded(index), out); });
}
int sk_load_all_presharded(sk_loader *l, sk_tensor *out) {
  return guarded(l->context, [&] { return l->give(l->loader.loadAllPresharded(), out); });
}

void sk_loader_counters(const sk_loader *l, sk_load_counters *out) {
  const LoadStats &stats = l->loader.stats();
  *out = {stats.total.bytesNeeded, stats.total.bytesRead, stats.total.requests, stats.scatters,
          stats.broadcasts,        stats.stagingBytes,    stats.total.seconds};
}
