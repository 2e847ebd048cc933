//===- WeightSet.cpp - Weights by name, whatever they are stored in -------===//

#include "shardkit/rt/Formats/WeightSet.h"

#include "StrictJson.h"

#include "shardkit/rt/Formats/Gguf.h"
#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"

#include <algorithm>
#include <filesystem>

namespace shardkit::rt {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Status readIndex(const std::string &path, const OpenOptions &options, WeightSet &set) {
  SK_ASSIGN_OR_RETURN(std::string text, readMetadata(path));
  std::string directory = fs::path(path).parent_path().string();
  auto parsed = parseStrictJson(text, "the index");
  if (!parsed.ok())
    return parsed.status().withContext(path);
  const Json &json = *parsed;
  if (!json.contains("weight_map") || !json["weight_map"].is_object())
    return invalid(path + ": expected a JSON object with weight_map");
  std::map<std::string, std::map<std::string, StoredTensor>> files;
  for (auto &[name, where] : json["weight_map"].items()) {
    std::string context = path + ": weight " + quoteName(name);
    if (!where.is_string())
      return invalid(context + ": the file is not a string");
    std::string file = where.get<std::string>();
    auto found = files.find(file);
    if (found == files.end()) {
      auto full = resolveInside(directory, file, options);
      if (!full.ok())
        return full.status().withContext(context);
      SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(*full));
      set.files.push_back({*full, tensors.empty() ? 0 : tensors.begin()->second.file->size(), ""});
      found = files.emplace(file, std::move(tensors)).first;
    }
    auto tensor = found->second.find(name);
    if (tensor == found->second.end())
      return invalid(context + " is not in " + quoteName(file));
    set.tensors.emplace(name, tensor->second);
  }
  return {};
}

Status add(WeightSet &set, const std::string &path, const std::map<std::string, StoredTensor> &tensors) {
  for (auto &[name, tensor] : tensors)
    if (!set.tensors.emplace(name, tensor).second)
      return invalid(path + ": tensor " + quoteName(name) + " appears in another file of the directory too");
  std::error_code error;
  set.files.push_back({path, int64_t(fs::file_size(path, error)), ""});
  return {};
}

Status readFile(const std::string &path, const OpenOptions &options, WeightSet &set) {
  std::string name = fs::path(path).filename().string();
  if (isTensorCacheName(name)) {
    set.format = "tensor-cache";
    return readTensorCache(path, options, set);
  }
  if (endsWith(name, ".json")) {
    set.format = "safetensors";
    return readIndex(path, options, set);
  }
  if (endsWith(name, ".gguf")) {
    set.format = "gguf";
    SK_ASSIGN_OR_RETURN(auto tensors, openGguf(path));
    return add(set, path, tensors);
  }
  if (endsWith(name, ".npz")) {
    set.format = "npz";
    SK_ASSIGN_OR_RETURN(auto tensors, openNpz(path));
    return add(set, path, tensors);
  }
  if (endsWith(name, ".npy")) {
    set.format = "npy";
    SK_ASSIGN_OR_RETURN(StoredTensor tensor, openNpy(path));
    tensor.name = name.substr(0, name.size() - 4);
    return add(set, path, {{tensor.name, tensor}});
  }
  set.format = "safetensors";
  SK_ASSIGN_OR_RETURN(auto tensors, openSafetensors(path));
  return add(set, path, tensors);
}

/// Whether `path`, both canonical, lies in `root`.
bool isInside(const fs::path &path, const fs::path &root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

/// The folder of contents of Hugging Face's cache, models--NAME/blobs, to which the links in
/// models--NAME/snapshots/REVISION lead; empty for any other directory.
fs::path blobsOf(const fs::path &directory) {
  for (fs::path at = directory; at.has_relative_path(); at = at.parent_path())
    if (at.parent_path().filename() == "snapshots")
      return at.parent_path().parent_path() / "blobs";
  return {};
}

} // namespace

Expected<std::string> resolveInside(const std::string &directory, const std::string &relative,
                                    const OpenOptions &options) {
  fs::path path(relative);
  if (relative.empty() || relative.find('\0') != std::string::npos || path.is_absolute() ||
      std::any_of(path.begin(), path.end(), [](const auto &component) { return component == ".."; }))
    return invalid("the file " + quoteName(relative) + " leaves the directory");
  fs::path base = directory.empty() ? fs::path(".") : fs::path(directory);
  fs::path full = base / path;
  if (!options.followLinks) {
    std::error_code error;
    fs::path real = fs::canonical(full, error);
    if (error) // What is not there is said when it is opened.
      return full.string();
    fs::path root = fs::canonical(base, error);
    const fs::path blobs = error ? fs::path() : blobsOf(root);
    const bool isBlob = !blobs.empty() && fs::canonical(blobs, error) == blobs && isInside(real, blobs);
    if (error || !(isInside(real, root) || isBlob))
      return invalid("the file " + quoteName(relative) +
                     " is a symbolic link that leaves the directory (follow-links allows it)");
  }
  return full.string();
}

Expected<WeightSet> openWeights(const std::string &path, const OpenOptions &options) {
  WeightSet set;
  set.path = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    SK_RETURN_IF_ERROR(readFile(path, options, set));
    return set;
  }
  std::vector<std::string> indices, files, ggufs, caches, arrays;
  for (const auto &entry : fs::directory_iterator(path, error)) {
    std::string name = entry.path().filename().string();
    if (endsWith(name, ".safetensors.index.json"))
      indices.push_back(name);
    else if (endsWith(name, ".safetensors"))
      files.push_back(name);
    else if (endsWith(name, ".gguf"))
      ggufs.push_back(name);
    else if (isTensorCacheName(name))
      caches.push_back(name);
    else if (endsWith(name, ".npz") || endsWith(name, ".npy"))
      arrays.push_back(name);
    else if (name == "presharded.json")
      set.presharded = (fs::path(path) / name).string();
  }
  if (error)
    return ioError(path + ": cannot be listed: " + error.message());
  // All lists of a cache have the same tensors: the one with the types of the program is taken.
  for (const char *name : {"tensor-cache.json", "ndarray-cache.json", "tensor-cache-b16.json"})
    if (caches.size() > 1 && std::count(caches.begin(), caches.end(), name))
      caches = {name};
  if (indices.size() > 1)
    return invalid(path + ": several *.safetensors.index.json, name one");
  if (!caches.empty() && (!indices.empty() || !files.empty()))
    return invalid(path + ": holds .safetensors and " + caches[0] + ", name one");
  std::vector<std::string> chosen = !caches.empty()    ? caches
                                    : !indices.empty() ? indices
                                    : !files.empty()   ? files
                                    : !ggufs.empty()   ? ggufs
                                                       : arrays;
  if (chosen.empty())
    return notFound(path + ": the directory holds no *.safetensors, no *.safetensors.index.json, "
                           "no *.gguf, no tensor-cache.json and no *.npz or *.npy");
  std::sort(chosen.begin(), chosen.end());
  for (const std::string &name : chosen) {
    auto full = resolveInside(path, name, options);
    if (!full.ok())
      return full.status().withContext(path);
    SK_RETURN_IF_ERROR(readFile(*full, options, set));
  }
  return set;
}

} // namespace shardkit::rt
