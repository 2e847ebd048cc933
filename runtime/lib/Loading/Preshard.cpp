//===- Preshard.cpp - Cut a weight set ahead of time ----------------------===//

#include "shardkit/rt/Loading/Preshard.h"

#include "Formats/StrictJson.h"
#include "Support/Md5.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"
#include "shardkit/rt/Loading/ShardLoader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>

namespace shardkit::rt {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

WeightManifest asStored(WeightManifest manifest) {
  for (ValueInfo &value : manifest.weights) {
    // Other cuts find the elements of stored tensors by the pieces of parts.
    if (!value.load || (value.isSegmented && !value.load->pieces.empty()))
      continue;
    value.load->pieces.clear();
    value.load->chain.clear();
    value.load->function.reset();
    value.load->computed = true;
  }
  return manifest;
}

std::vector<size_t> alignedOrder(const WeightManifest &manifest, std::vector<size_t> weights) {
  std::sort(weights.begin(), weights.end(), [&](size_t a, size_t b) {
    int64_t sa = dtypeSize(manifest.weights[a].dtype), sb = dtypeSize(manifest.weights[b].dtype);
    return sa != sb ? sa > sb : a < b;
  });
  return weights;
}

namespace {

/// The identity of the files of a set, their times, and where tensors lie in them: another
/// source means that no file of an interrupted run is kept. The time of the last change of
/// an inode (ctime) cannot be set, unlike that of the content, which copies may preserve.
std::string sourceFingerprint(const WeightSet &set) {
  auto time = [](const timespec &t) { return std::to_string(t.tv_sec) + "." + std::to_string(t.tv_nsec); };
  std::string text;
  for (const StoredFile &file : set.files) {
    struct stat info = {};
    ::stat(file.path.c_str(), &info);
    text += fs::path(file.path).filename().string() + ":" + std::to_string(info.st_dev) + ":" +
            std::to_string(info.st_ino) + ":" + std::to_string(info.st_size) + ":" + time(info.st_mtim) + ":" +
            time(info.st_ctim) + ";";
  }
  Md5 tensors;
  for (const auto &[name, tensor] : set.tensors) {
    const std::string entry = name + "\n" + fs::path(tensor.file->path()).filename().string() + "\n" +
                              std::to_string(tensor.offset) + " " + tensor.storedType + " " +
                              shapeString(tensor.shape) + "\n";
    tensors.add(entry.data(), int64_t(entry.size()));
  }
  return text + tensors.hex();
}

/// A file with shards of some weights: of one rank, or what several ranks hold.
struct PlannedFile {
  std::string name;
  /// Of the mesh: those whose shards it has, of each weight; empty: all that differ.
  std::vector<int64_t> ranks;
  int64_t worldRank; ///< Whose file it is; the number of all ranks for what several hold.
};

/// Files that hold shards of the same weights, in the same order.
struct Batch {
  std::vector<size_t> weights;
  std::vector<PlannedFile> files;
};

std::vector<int64_t> ranksOf(const PlannedFile &file, const ValueInfo &value, int64_t devices) {
  if (!file.ranks.empty())
    return file.ranks;
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < value.holders(devices); ++rank)
    if (!isReplica(value.extents, rank))
      ranks.push_back(rank);
  return ranks;
}

std::vector<Batch> planFiles(const WeightManifest &manifest, const PreshardOptions &options) {
  std::vector<Batch> batches;
  const std::string end = options.tvmLayout ? ".bin" : ".safetensors";
  const int64_t devices = manifest.devices;
  std::map<std::string, int> counts; // Of the files of a rank, and of the common ones.
  auto nameOf = [&](const std::string &whose) {
    char suffix[24];
    std::snprintf(suffix, sizeof suffix, "-%05d", ++counts[whose]);
    return whose + suffix + end;
  };
  // Each of the weights of the same ranks takes as much of the file of every one of them.
  auto add = [&](const std::vector<size_t> &weights, bool isShared) {
    const size_t first = batches.size();
    int64_t bytes = 0;
    for (size_t w : weights) {
      const ValueInfo &value = manifest.weights[w];
      const int64_t shards = distinctShard(value.extents, 0).count;
      if (isShared != (!options.tvmLayout && shards < value.holders(devices)))
        continue;
      const int64_t size = value.localBytes() * (isShared ? shards : 1);
      if (batches.size() == first || (bytes > 0 && bytes + size > options.maxFileBytes)) {
        batches.emplace_back();
        bytes = 0;
      }
      batches.back().weights.push_back(w);
      bytes += size;
    }
    for (size_t k = first; k < batches.size(); ++k) {
      Batch &batch = batches[k];
      const ValueInfo &value = manifest.weights[batch.weights[0]];
      if (!options.tvmLayout)
        batch.weights = alignedOrder(manifest, std::move(batch.weights));
      if (isShared)
        batch.files.push_back({nameOf("common"), {}, devices});
      for (int64_t rank = 0; rank < value.holders(devices) && !isShared; ++rank) {
        const int64_t of = value.worldRank(rank);
        batch.files.push_back(
            {nameOf("rank-" + std::to_string(of + 1) + "-of-" + std::to_string(devices)), {rank}, of});
      }
    }
  };
  std::map<std::vector<int64_t>, std::vector<size_t>> together;
  for (size_t w = 0; w < manifest.weights.size(); ++w)
    together[manifest.weights[w].ranks].push_back(w);
  for (const auto &[ranks, weights] : together) {
    add(weights, false);
    add(weights, true);
  }
  return batches;
}

/// What a run that was killed had under way.
void removeUnfinished(const fs::path &directory, const std::vector<Batch> &batches) {
  std::set<std::string> names = {"presharded.json", "presharded.partial.json", "tensor-cache.json"};
  for (const Batch &batch : batches)
    for (const PlannedFile &file : batch.files)
      names.insert(file.name);
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    const size_t end = name.rfind(".tmp"); // As FileWriter names them.
    if (end != std::string::npos && names.count(name.substr(0, end)))
      unfinished.push_back(entry.path());
  }
  for (const fs::path &path : unfinished)
    fs::remove(path, error);
}

/// A file of either layout, written shard after shard.
class ShardFile {
public:
  static Expected<ShardFile> create(const std::string &directory, const std::string &name,
                                    const std::vector<TensorContent> &tensors, bool isTvm) {
    ShardFile file;
    if (isTvm) {
      SK_ASSIGN_OR_RETURN(file.cache_, TensorCacheFile::create(directory, name));
      return file;
    }
    SafetensorsOptions options;
    options.alignment = 4096;
    options.md5 = true;
    options.metadata = {{"format", "shardkit-presharded"}};
    SK_ASSIGN_OR_RETURN(file.writer_, startSafetensors((fs::path(directory) / name).string(), tensors, options));
    return file;
  }
  Status add(const TensorRef &tensor, int64_t bytes) {
    return cache_ ? cache_->add(contentOf(tensor)) : writer_->write(tensor.data, bytes);
  }
  /// What the journal says of it.
  Expected<Json> commit() {
    if (cache_) {
      SK_ASSIGN_OR_RETURN(std::string entry, cache_->commit());
      Json json = Json::parse(entry);
      return Json{{"bytes", json["nbytes"]}, {"md5", json["md5sum"]}, {"entry", entry}};
    }
    Json done = {{"bytes", writer_->written()}, {"md5", writer_->md5()}, {"entry", ""}};
    SK_RETURN_IF_ERROR(writer_->commit());
    return done;
  }

private:
  std::unique_ptr<FileWriter> writer_;
  std::unique_ptr<TensorCacheFile> cache_;
};

/// What a run has completed of a set, in the directory of the set: a run of the same
/// configuration that comes after one that was broken off keeps it.
class Journal {
public:
  /// `same`: what must be the same for files to be kept.
  static Journal open(const fs::path &directory, Json same) {
    Journal journal;
    journal.directory_ = directory;
    journal.path_ = (directory / "presharded.partial.json").string();
    journal.json_ = std::move(same);
    std::error_code error;
    auto text = fs::exists(journal.path_, error) ? readMetadata(journal.path_) : notFound("");
    Json old = text.ok() ? Json::parse(*text, nullptr, false) : Json();
    bool isSame = old.is_object() && old.contains("files") && old["files"].is_object();
    for (auto it = journal.json_.begin(); it != journal.json_.end() && isSame; ++it)
      isSame = old.contains(it.key()) && old[it.key()] == it.value();
    journal.json_["files"] = isSame ? old["files"] : Json::object();
    return journal;
  }

  /// Whether a file is there as it was completed, by its size and checksum.
  bool has(const std::string &name) const {
    std::error_code error;
    const fs::path path = directory_ / name;
    auto done = json_["files"].find(name);
    if (done == json_["files"].end() || !isEntry(*done) || !fs::exists(path, error) ||
        (*done)["bytes"] != int64_t(fs::file_size(path, error)))
      return false;
    auto md5 = fileMd5(path.string());
    return md5.ok() && (*done)["md5"] == *md5;
  }
  const Json &operator[](const std::string &name) const { return json_["files"][name]; }

  Status add(const std::string &name, Json done) {
    json_["files"][name] = std::move(done);
    std::string text = json_.dump(1);
    return writeFile(path_, {{text.data(), int64_t(text.size())}});
  }
  void remove() const {
    std::error_code error;
    fs::remove(path_, error);
  }

private:
  static bool isEntry(const Json &done) {
    return done.is_object() && done.contains("bytes") && done["bytes"].is_number_integer() && done.contains("md5") &&
           done["md5"].is_string() && done.contains("entry") && done["entry"].is_string();
  }

  fs::path directory_;
  std::string path_;
  Json json_;
};

/// Writes a presharded set.
///
/// 1. The source of every weight is found and checked.
/// 2. The journal of an interrupted run lists the complete files, which are kept.
/// 3. For each batch (the files of all ranks that have the same weights): its weights are
///    loaded once, one after the other, and appended to every file that holds a shard.
/// 4. presharded.json is written last: it makes the files a set.
///
/// Example: weights w (sharded) and b (replicated) on 2 ranks make rank-0 and rank-1 with the
/// shards of w, and common-* with b.
class Presharder {
public:
  Presharder(const WeightManifest &manifest, const std::string &directory, const PreshardOptions &options)
      : manifest_(manifest), directory_(directory), out_(directory), options_(options),
        batches_(planFiles(manifest, options)) {}

  Expected<PreshardResult> run(const SourceSet &source, const HostFunctions *functions, const ShardProgram &programs);

private:
  struct OpenFile {
    const PlannedFile *planned;
    ShardFile file;
  };
  Status findSources(const SourceSet &source, const HostFunctions *functions);

  /// The ranks whose shards of a weight go into files that are not kept.
  std::vector<int64_t> missingRanks(const Batch &batch, size_t weight) const;
  std::string shardNameOf(const ValueInfo &value, int64_t rank) const;
  void log(const char *what, const PlannedFile &file) const;
  Expected<OpenFile> start(const Batch &batch, const PlannedFile &file);
  Status write(const Batch &batch, ShardLoader &loader);

  /// Writes presharded.json, which makes the files a set.
  Expected<PreshardResult> writeIndex();

  const WeightManifest &manifest_;
  const std::string &directory_;
  const fs::path out_;
  const PreshardOptions &options_;
  const std::vector<Batch> batches_;
  std::vector<TensorSource> sources_; ///< By weight.
  Journal journal_;
  std::set<std::string> kept_;
  /// By rank, then by parameter; shared files come last.
  std::map<std::pair<int64_t, size_t>, const PlannedFile *> files_;
};

Expected<PreshardResult> Presharder::run(const SourceSet &source, const HostFunctions *functions,
                                         const ShardProgram &programs) {
  SK_RETURN_IF_ERROR(findSources(source, functions));
  SK_RETURN_IF_ERROR(makeSetDirectory(directory_, source));
  SK_ASSIGN_OR_RETURN(std::unique_ptr<DirectoryLock> lock, DirectoryLock::take(directory_));
  journal_ = Journal::open(out_, {{"configuration", configurationHash(manifest_)},
                                  {"layout", options_.tvmLayout ? "tvm" : "shared"},
                                  {"source", sourceFingerprint(source.stored())},
                                  {"functions", options_.functions},
                                  {"max_file_bytes", options_.maxFileBytes}});
  // A complete set is no longer one while it is rewritten.
  std::error_code error;
  fs::remove(out_ / "presharded.json", error);
  for (const Batch &batch : batches_)
    for (const PlannedFile &file : batch.files)
      if (journal_.has(file.name))
        kept_.insert(file.name);
  removeUnfinished(out_, batches_);

  int64_t expected = 0;
  for (const Batch &batch : batches_)
    for (size_t w : batch.weights)
      expected += ShardLoader::bytesOf(manifest_.weights[w], missingRanks(batch, w));
  ShardLoader loader(options_.load, functions, programs, expected);
  for (const Batch &batch : batches_)
    SK_RETURN_IF_ERROR(write(batch, loader));
  SK_ASSIGN_OR_RETURN(PreshardResult summary, writeIndex());
  summary.load = loader.stats();
  journal_.remove();
  return summary;
}

Status Presharder::findSources(const SourceSet &source, const HostFunctions *functions) {
  std::set<std::pair<std::string, int64_t>> names;
  for (const ValueInfo &value : manifest_.weights) {
    bool isNew = true;
    for (int64_t rank = 0; rank < value.holders(manifest_.devices); ++rank)
      isNew &= names.insert({value.name, value.worldRank(rank)}).second;
    if (!isNew)
      return invalid("two arguments are named " + quoteName(value.name) + ", expected distinct names to store them by");
    auto found = source.find(value, manifest_.devices);
    if (!found.ok())
      return source.withAllMissing(found.status(), pointersTo(manifest_.weights), manifest_.devices, false);
    sources_.push_back(std::move(*found));
    if (value.load && !value.load->chain.empty()) {
      if (!functions)
        return notFound("weight " + quoteName(value.name) + ": its shard functions are not registered");
      SK_RETURN_IF_ERROR(functions->check(value.load->chain).withContext("weight " + quoteName(value.name)));
    }
  }
  return {};
}

std::vector<int64_t> Presharder::missingRanks(const Batch &batch, size_t weight) const {
  std::vector<int64_t> ranks;
  for (const PlannedFile &file : batch.files)
    if (!kept_.count(file.name))
      for (int64_t rank : ranksOf(file, manifest_.weights[weight], manifest_.devices))
        ranks.push_back(rank);
  return ranks;
}

std::string Presharder::shardNameOf(const ValueInfo &value, int64_t rank) const {
  return shardName(value.name, value.worldRank(rank), manifest_.devices);
}

void Presharder::log(const char *what, const PlannedFile &file) const {
  if (options_.log)
    options_.log(what + (out_ / file.name).string());
}

Expected<Presharder::OpenFile> Presharder::start(const Batch &batch, const PlannedFile &file) {
  std::vector<TensorContent> tensors;
  for (size_t w : batch.weights) {
    const ValueInfo &value = manifest_.weights[w];
    for (int64_t rank : ranksOf(file, value, manifest_.devices))
      tensors.push_back({shardNameOf(value, rank), value.dtype, value.localShape, nullptr});
  }
  SK_ASSIGN_OR_RETURN(ShardFile started, ShardFile::create(directory_, file.name, tensors, options_.tvmLayout));
  return OpenFile{&file, std::move(started)};
}

Status Presharder::write(const Batch &batch, ShardLoader &loader) {
  std::vector<OpenFile> open;
  for (const PlannedFile &file : batch.files) {
    files_[{file.worldRank, files_.size()}] = &file;
    if (kept_.count(file.name)) {
      log("kept ", file);
      continue;
    }
    SK_ASSIGN_OR_RETURN(OpenFile started, start(batch, file));
    open.push_back(std::move(started));
  }
  if (open.empty())
    return {};
  for (size_t w : batch.weights) {
    const ValueInfo &value = manifest_.weights[w];
    SK_RETURN_IF_ERROR(loader.load(value, sources_[w], missingRanks(batch, w)));
    for (OpenFile &each : open)
      for (int64_t rank : ranksOf(*each.planned, value, manifest_.devices))
        SK_RETURN_IF_ERROR(each.file.add({shardNameOf(value, rank), value.dtype, value.localShape, loader.shard(rank)},
                                         value.localBytes()));
  }
  for (OpenFile &each : open) {
    SK_ASSIGN_OR_RETURN(Json done, each.file.commit());
    SK_RETURN_IF_ERROR(journal_.add(each.planned->name, std::move(done)));
    log("wrote ", *each.planned);
  }
  return {};
}

Expected<PreshardResult> Presharder::writeIndex() {
  WeightManifest result = asStored(manifest_);
  result.perRank = options_.tvmLayout;
  result.configuration = configurationHash(result);
  result.files.clear();
  PreshardResult summary;
  summary.files = int64_t(files_.size());
  summary.kept = int64_t(kept_.size());
  std::vector<std::string> entries;
  for (const auto &[position, file] : files_) {
    const Json &done = journal_[file->name];
    const int64_t bytes = done["bytes"].get<int64_t>();
    summary.bytes += bytes;
    result.files.push_back({file->name, bytes, "md5:" + done["md5"].get<std::string>()});
    entries.push_back(done["entry"].get<std::string>());
  }
  if (options_.tvmLayout)
    SK_RETURN_IF_ERROR(writeTensorCacheIndex(directory_, entries));
  std::string text = weightManifestText(result);
  SK_RETURN_IF_ERROR(writeFile((out_ / "presharded.json").string(), {{text.data(), int64_t(text.size())}}));
  return summary;
}

} // namespace

Status makeSetDirectory(const std::string &directory, const SourceSet &source) {
  SK_RETURN_IF_ERROR(makeDirectory(directory));
  std::error_code error;
  for (const StoredFile &file : source.stored().files)
    if (fs::equivalent(fs::path(file.path).parent_path(), directory, error))
      return invalid(directory + ": holds the source itself, expected another directory");
  return {};
}

Expected<PreshardResult> preshard(const WeightManifest &manifest, const SourceSet &source, const std::string &directory,
                                  const PreshardOptions &options, const HostFunctions *functions,
                                  const ShardProgram &programs) {
  return Presharder(manifest, directory, options).run(source, functions, programs);
}

Expected<VerifyResult> verifySet(const SourceSet &set, const SourceSet *source, const WeightManifest *manifest,
                                 const LoadOptions &options, const HostFunctions *functions,
                                 const ShardProgram &programs) {
  VerifyResult result;
  // Sizes and cover were checked when the set was opened.
  const std::vector<StoredFile> files = set.filesWithChecksums();
  SK_RETURN_IF_ERROR(verifyChecksums(files));
  result.checksums = int64_t(files.size());
  if (!set.presharded()) {
    result.weights = int64_t(set.stored().tensors.size());
    if (source || manifest)
      return invalid(set.stored().path + ": has no presharded.json to compare by");
    return result;
  }
  const WeightManifest &presharded = *set.presharded();
  const WeightManifest &target = manifest ? *manifest : presharded;
  auto ranksOfValue = [&](const ValueInfo &value) {
    std::vector<int64_t> ranks;
    for (int64_t rank = 0; rank < value.holders(target.devices); ++rank)
      if (presharded.perRank || !isReplica(value.extents, rank))
        ranks.push_back(rank);
    return ranks;
  };
  int64_t expected = 0;
  for (const ValueInfo &value : target.weights)
    expected += ShardLoader::bytesOf(value, ranksOfValue(value));
  LoadOptions quiet = options;
  quiet.progress = nullptr;
  ShardLoader shards(quiet, functions, programs);
  ShardLoader originals(source ? options : quiet, functions, programs, expected);
  for (const ValueInfo &value : target.weights) {
    ++result.weights;
    SK_ASSIGN_OR_RETURN(TensorSource stored, set.findPresharded(value, target.devices));
    const std::vector<int64_t> ranks = ranksOfValue(value);
    result.shards += int64_t(ranks.size());
    if (!source)
      continue;
    SK_ASSIGN_OR_RETURN(TensorSource original, source->find(value, target.devices));
    result.values = true;
    SK_RETURN_IF_ERROR(originals.load(value, original, ranks));
    for (int64_t rank : ranks) {
      SK_RETURN_IF_ERROR(shards.load(value, stored, {rank}));
      const char *x = static_cast<const char *>(shards.shard(rank));
      const char *y = static_cast<const char *>(originals.shard(rank));
      if (std::memcmp(x, y, size_t(value.localBytes())) == 0)
        continue;
      int64_t at = 0;
      while (x[at] == y[at])
        ++at;
      return invalid("weight " + quoteName(value.name) + ", rank " + std::to_string(value.worldRank(rank)) +
                     ": element " + std::to_string(at / dtypeSize(value.dtype)) + " differs from the source");
    }
  }
  return result;
}

} // namespace shardkit::rt
