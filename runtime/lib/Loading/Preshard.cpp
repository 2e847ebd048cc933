//===- Preshard.cpp - Cut a weight set ahead of time ------------------------===//

#include "shardkit/rt/Loading/Preshard.h"

#include "../Formats/StrictJson.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"

#include <cstring>
#include <filesystem>
#include <set>
#include <sys/stat.h>

namespace shardkit::rt {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

WeightManifest asStored(WeightManifest manifest) {
  for (ValueInfo &value : manifest.weights) {
    // Other cuts find the elements of stored tensors by the pieces of parts.
    if (!value.load || (value.isPart && !value.load->pieces.empty()))
      continue;
    value.load->pieces.clear();
    value.load->chain.clear();
    value.load->function.reset();
    value.load->made = true;
  }
  return manifest;
}

TensorContent shardContent(const ValueInfo &value, const TensorSource &source, int64_t rank,
                           const std::string &name, const LoadOptions &options,
                           const HostFunctions *functions, const ShardProgram &programs,
                           LoadStats *stats) {
  auto buffer = std::make_shared<Buffer>();
  auto read = [=, &value, &source](int64_t first, int64_t count, void *to) -> Status {
    if (first == 0) {
      *buffer = Buffer(value.localBytes());
      std::memset(buffer->data(), 0, size_t(value.localBytes())); // Padding is zero.
      LoadPlan plan;
      plan.add(value, source, rank, buffer->data());
      LoadStats own;
      SK_RETURN_IF_ERROR(plan.run(options, functions, programs, own));
      if (stats)
        stats->add(own);
    }
    int64_t size = dtypeSize(value.dtype);
    std::memcpy(to, static_cast<const char *>(buffer->data()) + first * size,
                size_t(count * size));
    if (first + count == value.localElements)
      *buffer = Buffer();
    return {};
  };
  return {name, value.dtype, value.localShape, read};
}

namespace {

/// Names the files of a set and when they were written: another source means
/// that nothing of a broken-off run is kept.
std::string sourceFingerprint(const WeightSet &set) {
  std::string text;
  for (const StoredFile &file : set.files) {
    struct stat info = {};
    ::stat(file.path.c_str(), &info);
    text += fs::path(file.path).filename().string() + ":" + std::to_string(info.st_size) + ":" +
            std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + ";";
  }
  return text;
}

struct PlannedFile {
  std::string name;
  std::vector<std::pair<size_t, int64_t>> shards; ///< Weight, rank.
};

/// Ordered by rank, then by parameter; the common files come last.
std::vector<PlannedFile> planFiles(const WeightManifest &manifest,
                                   const PreshardOptions &options) {
  std::vector<PlannedFile> files;
  auto group = [&](const std::string &stem, const std::string &end, auto &&take) {
    int64_t bytes = 0;
    size_t parts = 0;
    for (size_t w = 0; w < manifest.weights.size(); ++w)
      take(w, [&](int64_t rank) {
        int64_t own = manifest.weights[w].localBytes();
        if (parts == 0 || (bytes > 0 && bytes + own > options.maxFileBytes)) {
          char part[24];
          std::snprintf(part, sizeof part, "-%05zu", ++parts);
          files.push_back({stem + part + end, {}});
          bytes = 0;
        }
        files.back().shards.emplace_back(w, rank);
        bytes += own;
      });
  };
  auto shared = [&](const ValueInfo &value) {
    return !options.tvmLayout && distinctShard(value.extents, 0).count < manifest.devices;
  };
  const std::string end = options.tvmLayout ? ".bin" : ".safetensors";
  for (int64_t rank = 0; rank < manifest.devices; ++rank)
    group("rank-" + std::to_string(rank + 1) + "-of-" + std::to_string(manifest.devices), end,
          [&](size_t w, auto &&add) {
            if (!shared(manifest.weights[w]))
              add(rank);
          });
  group("common", end, [&](size_t w, auto &&add) {
    if (shared(manifest.weights[w]))
      for (int64_t rank = 0; rank < manifest.devices; ++rank)
        if (!isReplica(manifest.weights[w].extents, rank))
          add(rank);
  });
  return files;
}

} // namespace

Expected<PreshardResult> preshard(const WeightManifest &manifest, const SourceSet &source,
                                  const std::string &directory, const PreshardOptions &options,
                                  const HostFunctions *functions, const ShardProgram &programs) {
  std::set<std::string> names;
  std::vector<TensorSource> sources;
  for (const ValueInfo &value : manifest.weights) {
    if (!names.insert(value.name).second)
      return invalid("two arguments are named " + quoteName(value.name) +
                     ", expected distinct names to store them by");
    SK_ASSIGN_OR_RETURN(TensorSource found, source.find(value, manifest.devices));
    sources.push_back(std::move(found));
    if (value.load && !value.load->chain.empty()) {
      if (!functions)
        return notFound("weight " + quoteName(value.name) +
                        ": its shard functions are not registered");
      SK_RETURN_IF_ERROR(
          functions->check(value.load->chain).withContext("weight " + quoteName(value.name)));
    }
  }
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return ioError(directory + ": cannot be created: " + error.message());
  fs::path out(directory);
  for (const StoredFile &file : source.stored().files)
    if (fs::equivalent(fs::path(file.path).parent_path(), out, error))
      return invalid(directory + ": holds the source itself, expected another directory");

  WeightManifest result = asStored(manifest);
  result.perRank = options.tvmLayout;
  result.configuration = configurationHash(result);
  result.files.clear();

  // What a broken-off run of the same configuration completed.
  const std::string journalPath = (out / "presharded.partial.json").string();
  const std::string fingerprint = sourceFingerprint(source.stored());
  Json journal = {{"configuration", configurationHash(manifest)},
                  {"layout", options.tvmLayout ? "tvm" : "shared"},
                  {"source", fingerprint},
                  {"max_file_bytes", options.maxFileBytes},
                  {"files", Json::object()}};
  if (fs::exists(journalPath, error)) {
    auto text = readMetadata(journalPath);
    Json old = text.ok() ? Json::parse(*text, nullptr, false) : Json();
    bool same = old.is_object() && old.contains("files") && old["files"].is_object();
    for (const char *key : {"configuration", "layout", "source", "max_file_bytes"})
      same = same && old.contains(key) && old[key] == journal[key];
    if (same)
      journal = old;
  }
  // A complete set is no longer one while it is rewritten.
  fs::remove(out / "presharded.json", error);

  PreshardResult summary;
  std::vector<std::string> entries;
  for (const PlannedFile &file : planFiles(manifest, options)) {
    std::string path = (out / file.name).string();
    Json &done = journal["files"][file.name];
    if (done.is_object() && done.value("bytes", int64_t(-1)) ==
                                int64_t(fs::exists(path, error) ? fs::file_size(path, error) : 0) &&
        fs::exists(path, error)) {
      ++summary.kept;
      if (options.log)
        options.log("kept " + path);
    } else {
      std::vector<TensorContent> contents;
      for (auto [w, rank] : file.shards)
        contents.push_back(shardContent(manifest.weights[w], sources[w], rank,
                                        shardName(manifest.weights[w].name, rank, manifest.devices),
                                        options.load, functions, programs, &summary.load));
      std::string md5, entry;
      if (options.tvmLayout) {
        SK_ASSIGN_OR_RETURN(entry, writeTensorCacheFile(directory, file.name, contents));
        md5 = Json::parse(entry)["md5sum"].get<std::string>();
      } else {
        SafetensorsOptions write;
        write.alignment = 4096;
        write.md5 = &md5;
        write.metadata = {{"format", "shardkit-presharded"}};
        SK_RETURN_IF_ERROR(writeSafetensors(path, contents, write));
      }
      done = {{"bytes", int64_t(fs::file_size(path, error))}, {"md5", md5}, {"entry", entry}};
      std::string text = journal.dump(1);
      SK_RETURN_IF_ERROR(writeFile(journalPath, {{text.data(), int64_t(text.size())}}));
      if (options.log)
        options.log("wrote " + path);
    }
    ++summary.files;
    summary.bytes += done["bytes"].get<int64_t>();
    result.files.push_back(
        {file.name, done["bytes"].get<int64_t>(), "md5:" + done["md5"].get<std::string>()});
    entries.push_back(done["entry"].get<std::string>());
  }
  if (options.tvmLayout)
    SK_RETURN_IF_ERROR(writeTensorCacheIndex(directory, entries));
  std::string text = weightManifestText(result);
  SK_RETURN_IF_ERROR(writeFile((out / "presharded.json").string(),
                               {{text.data(), int64_t(text.size())}}));
  fs::remove(journalPath, error);
  return summary;
}

Expected<VerifyResult> verifySet(const SourceSet &set, const SourceSet *source,
                                 const WeightManifest *manifest, const LoadOptions &options,
                                 const HostFunctions *functions, const ShardProgram &programs) {
  VerifyResult result;
  // Sizes and cover were checked when the set was opened.
  auto checkFile = [&](const std::string &path, const std::string &expected) -> Status {
    SK_ASSIGN_OR_RETURN(std::string md5, fileMd5(path));
    ++result.checksums;
    if (md5 != expected)
      return invalid(path + ": the checksum is " + md5 + ", expected " + expected);
    return {};
  };
  for (const StoredFile &file : set.stored().files)
    if (!file.md5.empty())
      SK_RETURN_IF_ERROR(checkFile(file.path, file.md5));
  if (!set.presharded()) {
    result.weights = int64_t(set.stored().tensors.size());
    if (source || manifest)
      return invalid(set.stored().path + ": has no presharded.json to compare by");
    return result;
  }
  const WeightManifest &own = *set.presharded();
  std::string directory = fs::path(set.stored().presharded).parent_path().string();
  if (!own.perRank)
    for (const WeightManifest::File &file : own.files)
      if (file.checksum.compare(0, 4, "md5:") == 0)
        SK_RETURN_IF_ERROR(checkFile(directory + "/" + file.path, file.checksum.substr(4)));
  const WeightManifest &cut = manifest ? *manifest : own;
  for (const ValueInfo &value : cut.weights) {
    ++result.weights;
    SK_ASSIGN_OR_RETURN(TensorSource stored, set.findPresharded(value, cut.devices));
    std::optional<TensorSource> original;
    if (source) {
      SK_ASSIGN_OR_RETURN(original, source->find(value, cut.devices));
      result.values = true;
    }
    for (int64_t rank = 0; rank < cut.devices; ++rank) {
      if (!own.perRank && isReplica(value.extents, rank))
        continue;
      ++result.shards;
      if (!source)
        continue;
      Buffer a(value.localBytes()), b(value.localBytes());
      for (Buffer *buffer : {&a, &b}) // Padding is zero.
        std::memset(buffer->data(), 0, size_t(value.localBytes()));
      LoadPlan planA, planB;
      planA.add(value, stored, rank, a.data());
      planB.add(value, *original, rank, b.data());
      LoadStats stats;
      SK_RETURN_IF_ERROR(planA.run(options, functions, programs, stats));
      SK_RETURN_IF_ERROR(planB.run(options, functions, programs, stats));
      if (std::memcmp(a.data(), b.data(), size_t(value.localBytes())) == 0)
        continue;
      const char *x = static_cast<const char *>(a.data()), *y = static_cast<const char *>(b.data());
      int64_t at = 0;
      while (x[at] == y[at])
        ++at;
      return invalid("weight " + quoteName(value.name) + ", rank " + std::to_string(rank) +
                     ": element " + std::to_string(at / dtypeSize(value.dtype)) +
                     " differs from the source");
    }
  }
  return result;
}

} // namespace shardkit::rt
