//===- Commands.cpp - shard, preshard, verify, convert --------------------===//

#include "Setup.h"

#include "../PeakMemory.h"
#include "../ProgressLine.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"
#include "shardkit/rt/Loading/Preshard.h"
#include "shardkit/rt/Loading/ShardLoader.h"
#include "shardkit/rt/Manifest/ShardInfo.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

using namespace shardkit::rt;
namespace fs = std::filesystem;

namespace shardkit::weights {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void summary(const char *what, const LoadStats &stats, double seconds) {
  std::printf("%s: %s needed, %s read, %.2f s, %.2f GB/s, peak memory %s\n", what,
              sizeText(stats.total.bytesNeeded).c_str(), sizeText(stats.total.bytesRead).c_str(), seconds,
              seconds > 0 ? double(stats.total.bytesRead) / seconds / 1e9 : 0, sizeText(tools::peakMemory()).c_str());
}

Status needManifest(const Partition &partition) {
  return partition.manifest ? Status()
                            : invalid("no sharding is given, expected --manifest=BUNDLE_OR_FILE or "
                                      "--shard-info=FILE with --ranks=N");
}

/// --strict: every tensor is named by an argument, and the checksums are right.
Status checkStrict(const SourceSet &set, const WeightManifest &manifest, const Options &options) {
  if (!options.strict)
    return {};
  SK_RETURN_IF_ERROR(set.checkAllUsed(pointersTo(manifest.weights)));
  return verifyChecksums(set.filesWithChecksums());
}

/// The identity of the code that makes arguments: compiled loading functions and host functions.
Expected<std::string> codeOf(const Partition &partition, const Options &options) {
  std::string text;
  const std::vector<ValueInfo> &weights = partition.manifest->weights;
  if (partition.bundle && std::any_of(weights.begin(), weights.end(),
                                      [](const ValueInfo &value) { return value.load && value.load->function; })) {
    SK_ASSIGN_OR_RETURN(text, partition.bundle->hash());
  }
  for (const std::string &library : options.shardFunctions) {
    SK_ASSIGN_OR_RETURN(std::string md5, fileMd5(library));
    text += " " + md5;
  }
  return text;
}

} // namespace

Status shard(const Options &options) {
  SK_ASSIGN_OR_RETURN(SourceSet set, openSet(options.set, options));
  SK_ASSIGN_OR_RETURN(Partition partition, openPartition(options, &set));
  SK_RETURN_IF_ERROR(needManifest(partition));
  SK_RETURN_IF_ERROR(checkStrict(set, *partition.manifest, options));
  const WeightManifest &manifest = *partition.manifest;
  if (options.rank >= manifest.devices)
    return invalid("--rank=" + std::to_string(options.rank) + ", expected less than " +
                   std::to_string(manifest.devices));
  std::vector<TensorSource> sources;
  for (const ValueInfo &value : manifest.weights) {
    auto source = set.find(value, manifest.devices);
    if (!source.ok())
      return set.withAllMissing(source.status(), pointersTo(manifest.weights), manifest.devices, false);
    sources.push_back(std::move(*source));
    if (value.load)
      SK_RETURN_IF_ERROR(partition.functions->check(value.load->chain).withContext("weight " + quoteName(value.name)));
  }
  SK_RETURN_IF_ERROR(makeSetDirectory(options.output, set));
  SK_ASSIGN_OR_RETURN(std::unique_ptr<DirectoryLock> lock, DirectoryLock::take(options.output));
  double start = now();
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < manifest.devices; ++rank)
    if (options.rank < 0 || rank == options.rank)
      ranks.push_back(rank);
  std::vector<size_t> order(manifest.weights.size());
  std::iota(order.begin(), order.end(), size_t(0));
  order = alignedOrder(manifest, std::move(order));
  // By weight: those of its mesh whose files are written.
  std::vector<std::vector<int64_t>> holders(manifest.weights.size());
  std::map<int64_t, std::vector<TensorContent>> tensors; // By rank of the world.
  for (int64_t rank : ranks)
    tensors[rank];
  int64_t bytes = 0;
  for (size_t w : order) {
    const ValueInfo &value = manifest.weights[w];
    for (int64_t rank = 0; rank < value.holders(manifest.devices); ++rank)
      if (auto file = tensors.find(value.worldRank(rank)); file != tensors.end()) {
        file->second.push_back({value.name, value.dtype, value.localShape, nullptr});
        holders[w].push_back(rank);
      }
    bytes += ShardLoader::bytesOf(value, holders[w]);
  }
  // All ranks side by side: no stored byte is read twice.
  std::map<int64_t, std::pair<std::string, std::unique_ptr<FileWriter>>> files;
  for (auto &[rank, held] : tensors) {
    std::string path = options.output + "/rank-" + std::to_string(rank) + ".safetensors";
    SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> file, startSafetensors(path, held));
    files[rank] = {path, std::move(file)};
  }
  LoadStats stats;
  {
    ShardLoader loader(withProgress(options.load), partition.functions.get(), partition.programs, bytes);
    for (size_t w : order) {
      const ValueInfo &value = manifest.weights[w];
      SK_RETURN_IF_ERROR(loader.load(value, sources[w], holders[w]));
      for (int64_t rank : holders[w])
        SK_RETURN_IF_ERROR(files[value.worldRank(rank)].second->write(loader.shard(rank), value.localBytes()));
    }
    stats = loader.stats();
  }
  for (auto &[rank, file] : files) {
    SK_RETURN_IF_ERROR(file.second->commit());
    std::printf("wrote %s\n", file.first.c_str());
  }
  summary("shard", stats, now() - start);
  return {};
}

Status preshard(const Options &options) {
  SK_ASSIGN_OR_RETURN(SourceSet set, openSet(options.set, options));
  SK_ASSIGN_OR_RETURN(Partition partition, openPartition(options, &set));
  SK_RETURN_IF_ERROR(needManifest(partition));
  SK_RETURN_IF_ERROR(checkStrict(set, *partition.manifest, options));
  PreshardOptions preshard;
  preshard.tvmLayout = options.layout == "tvm";
  preshard.maxFileBytes = options.maxFileBytes;
  preshard.load = withProgress(options.load);
  SK_ASSIGN_OR_RETURN(preshard.functions, codeOf(partition, options));
  preshard.log = [](const std::string &line) {
    tools::clearProgress();
    std::printf("%s\n", line.c_str());
  };
  double start = now();
  SK_ASSIGN_OR_RETURN(PreshardResult result, rt::preshard(*partition.manifest, set, options.output, preshard,
                                                          partition.functions.get(), partition.programs));
  std::printf("%lld files, %s, %lld of them kept from an earlier run\n", static_cast<long long>(result.files),
              sizeText(result.bytes).c_str(), static_cast<long long>(result.kept));
  summary("preshard", result.load, now() - start);
  return {};
}

Status verify(const Options &options) {
  SK_ASSIGN_OR_RETURN(SourceSet set, openSet(options.set, options));
  std::optional<SourceSet> source;
  if (!options.source.empty()) {
    SK_ASSIGN_OR_RETURN(source, openSet(options.source, options));
  }
  SK_ASSIGN_OR_RETURN(Partition partition, openPartition(options, source ? &*source : &set));
  SK_ASSIGN_OR_RETURN(VerifyResult result,
                      verifySet(set, source ? &*source : nullptr, partition.manifest ? &*partition.manifest : nullptr,
                                withProgress(options.load), partition.functions.get(), partition.programs));
  std::printf("%s: %lld weights", options.set.c_str(), static_cast<long long>(result.weights));
  if (result.shards)
    std::printf(" in %lld shards cover every element once", static_cast<long long>(result.shards));
  std::printf(", sizes right, %lld checksum%s right%s\n", static_cast<long long>(result.checksums),
              result.checksums == 1 ? "" : "s", result.values ? ", every value equal to the source" : "");
  return {};
}

/// A whole tensor, joined from its shards when it is first asked for.
static TensorContent fullContent(const std::string &name, const TensorSource &source, const LoadOptions &load) {
  const SourceTensor &tensor = std::get<StoredSource>(source).tensors[0];
  if (!tensor.map)
    return contentOf(tensor.tensor);
  DType dtype = *tensor.tensor.dtype;
  int64_t elements = numElements(tensor.tensor.shape).value_or(0), size = dtypeSize(dtype);
  auto buffer = std::make_shared<Buffer>();
  return {name, dtype, tensor.tensor.shape, [=, &tensor](int64_t first, int64_t count, void *to) -> Status {
            if (first == 0) {
              *buffer = Buffer(elements * size);
              LoadPlan plan;
              plan.addFull(tensor, dtype, buffer->data());
              LoadStats stats;
              SK_RETURN_IF_ERROR(plan.run(load, nullptr, nullptr, stats));
            }
            std::memcpy(to, static_cast<const char *>(buffer->data()) + first * size, size_t(count * size));
            if (first + count == elements)
              *buffer = Buffer();
            return {};
          }};
}

namespace {

/// Of bytes that are read one after the other.
class Progress {
public:
  Progress(std::function<void(int64_t, int64_t)> report, int64_t all) : report_(std::move(report)), all_(all) {}
  ~Progress() {
    if (report_)
      report_(all_, all_);
  }
  void add(int64_t bytes) {
    done_ += bytes;
    if (!report_ || done_ >= all_ || now() - reported_ < 0.1)
      return;
    reported_ = now();
    report_(done_, all_);
  }

private:
  const std::function<void(int64_t, int64_t)> report_;
  const int64_t all_;
  int64_t done_ = 0;
  double reported_ = 0;
};

} // namespace

/// Writes what `sources` hold in the format that was asked for.
static Status writeAll(const std::vector<std::pair<std::string, TensorSource>> &sources, const Options &options,
                       const SourceSet &set) {
  std::vector<TensorContent> contents;
  int64_t bytes = 0;
  for (const auto &[name, source] : sources) {
    contents.push_back(fullContent(name, source, options.load));
    bytes += numElements(contents.back().shape).value_or(0) * dtypeSize(contents.back().dtype);
  }
  Progress progress(tools::progressLine(), bytes);
  for (TensorContent &content : contents)
    content.read = [&progress, size = dtypeSize(content.dtype), read = content.read](int64_t first, int64_t count,
                                                                                     void *to) -> Status {
      SK_RETURN_IF_ERROR(read(first, count, to));
      progress.add(count * size);
      return {};
    };
  std::error_code error;
  if (options.format == "npz") {
    SK_RETURN_IF_ERROR(writeNpz(options.output, contents));
  } else if (options.format == "safetensors" && fs::path(options.output).extension() == ".safetensors" &&
             !fs::is_directory(options.output, error)) {
    SK_RETURN_IF_ERROR(writeSafetensors(options.output, std::move(contents)));
  } else {
    SK_RETURN_IF_ERROR(makeSetDirectory(options.output, set));
    SK_ASSIGN_OR_RETURN(std::unique_ptr<DirectoryLock> lock, DirectoryLock::take(options.output));
    if (options.format == "tensor-cache") {
      TensorCacheOptions cache;
      cache.f32 = options.f32ToBf16.empty()     ? F32Storage::Raw
                  : options.f32ToBf16 == "clip" ? F32Storage::ClipToBF16
                                                : F32Storage::RoundToBF16;
      cache.maxFileBytes = options.maxFileBytes;
      SK_RETURN_IF_ERROR(writeTensorCache(options.output, contents, cache));
    } else {
      SK_RETURN_IF_ERROR(writeSafetensorsSet(options.output, contents, options.maxFileBytes));
    }
  }
  return {};
}

Status convert(const Options &options) {
  SK_ASSIGN_OR_RETURN(SourceSet set, openSet(options.set, options));
  std::vector<std::pair<std::string, TensorSource>> sources;
  auto add = [&](const std::string &name, DType dtype, const Shape &shape) -> Status {
    ValueInfo value;
    value.name = name;
    value.kind = ValueKind::Weight;
    value.dtype = dtype;
    value.globalShape = shape;
    SK_ASSIGN_OR_RETURN(TensorSource source, set.find(value));
    sources.emplace_back(name, std::move(source));
    return {};
  };
  if (set.presharded()) {
    std::set<std::string> seen, joined;
    for (const ValueInfo &value : set.presharded()->weights) {
      if (!seen.insert(value.name).second)
        continue; // At another stage.
      if (!value.isSegmented) {
        SK_RETURN_IF_ERROR(add(value.name, value.dtype, value.globalShape));
        continue;
      }
      if (value.load && value.load->computed)
        return invalid("weight " + quoteName(value.name) +
                       " consists of segments of the result of a loading function, which cannot be joined");
      for (const LoadSource &source : value.load->sources)
        if (joined.insert(source.name).second)
          SK_RETURN_IF_ERROR(add(source.name, source.dtype, source.shape));
    }
  } else {
    for (const auto &[name, tensor] : set.stored().tensors) {
      if (!tensor.dtype || tensor.isF4())
        return invalid("tensor " + quoteName(name) + " is " + tensor.storedType + ", which cannot be converted");
      SK_RETURN_IF_ERROR(add(name, *tensor.dtype, tensor.shape));
    }
  }
  SK_RETURN_IF_ERROR(writeAll(sources, options, set));
  std::printf("wrote %zu tensors to %s\n", sources.size(), options.output.c_str());
  return {};
}

Status exportShardInfo(const Options &options) {
  SK_ASSIGN_OR_RETURN(Partition partition, openPartition(options, nullptr));
  if (partition.manifest->hasStages())
    return invalid(options.manifest + ": is of a pipeline, whose weights lie on several meshes, which TVM's shard info "
                                      "cannot express, expected a function");
  SK_ASSIGN_OR_RETURN(std::string text, shardInfoText(*partition.manifest));
  SK_RETURN_IF_ERROR(writeFile(options.output, {{text.data(), int64_t(text.size())}}));
  std::printf("wrote %s\n", options.output.c_str());
  return {};
}

} // namespace shardkit::weights
