//===- Bundle.cpp - A bundle on disk and its code -------------------------===//

#include "shardkit/rt/Manifest/Bundle.h"

#include "Support/Md5.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <dlfcn.h>
#include <mutex>

namespace shardkit::rt {

/// Programs leave sk_* undefined. An executable that links this library shows
/// it to them; where it was loaded privately (a plug-in, Python) it is promoted.
static void exportSelf() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<void *>(&sk_collective), &info) && info.dli_fname)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

Bundle::Bundle(std::string path, Manifest manifest)
    : path_(std::move(path)), manifest_(std::move(manifest)), handles_(manifest_.programs.size(), nullptr) {}

Bundle::~Bundle() {
  for (void *handle : handles_)
    if (handle)
      ::dlclose(handle);
}

Expected<std::unique_ptr<Bundle>> Bundle::open(const std::string &path) {
  SK_ASSIGN_OR_RETURN(Manifest manifest, readManifest(path));
  return std::unique_ptr<Bundle>(new Bundle(path, std::move(manifest)));
}

Status Bundle::setSizes(size_t function, const std::vector<int64_t> &sizes) {
  SK_ASSIGN_OR_RETURN(manifest_.functions[function], atSizes(manifest_.functions[function], sizes));
  return {};
}

Expected<std::string> Bundle::hash() const {
  if (!hash_.empty())
    return hash_;
  SK_ASSIGN_OR_RETURN(std::string all, fileMd5(path_ + "/manifest.json"));
  for (const FileInfo &program : manifest_.programs) {
    SK_ASSIGN_OR_RETURN(std::string one, fileMd5(path_ + "/" + program.file));
    all += one;
  }
  Md5 md5;
  md5.add(all.data(), int64_t(all.size()));
  return hash_ = md5.hex();
}

/// Compares the buffers of an entry point in the program and in the manifest.
static Status compareBuffers(const sk_buffers &needed, const EntryPoint &entry, size_t numArguments,
                             size_t numResults) {
  auto text = [](int64_t arguments, int64_t results, int64_t arenaBytes) {
    return std::to_string(arguments) + " arguments, " + std::to_string(results) + " results and an arena of " +
           std::to_string(arenaBytes) + " bytes";
  };
  if (needed.num_args == int64_t(numArguments) && needed.num_results == int64_t(numResults) &&
      needed.arena_bytes <= entry.arenaBytes)
    return {};
  return invalid("the manifest lists " + text(int64_t(numArguments), int64_t(numResults), entry.arenaBytes) + " for " +
                 quoteName(entry.symbol) + ", the program needs " +
                 text(needed.num_args, needed.num_results, needed.arena_bytes) +
                 ", expected the manifest and the programs of one compilation");
}

Expected<sk_program> Bundle::entry(const FunctionInfo &function, const EntryPoint &entry, size_t numArguments,
                                   size_t numResults) {
  static std::mutex loading; // Threads that load weights ask for functions at once.
  std::lock_guard lock(loading);
  void *&handle = handles_[size_t(entry.program)];
  const std::string &file = manifest_.programs[size_t(entry.program)].file;
  if (!handle) {
    exportSelf();
    // A path without a slash would be searched for.
    std::string full = path_ + "/" + file;
    handle = ::dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *error = ::dlerror();
      return invalid("program " + quoteName(file) + " cannot be loaded: " + (error ? error : "unknown error"));
    }
  }
  void *symbol = ::dlsym(handle, entry.symbol.c_str());
  if (!symbol)
    return notFound("function " + quoteName(function.name) + ": program " + quoteName(file) + " has no symbol " +
                    quoteName(entry.symbol));
  const std::string buffers = "sk_buffers_" + entry.symbol;
  if (auto *needed = static_cast<const sk_buffers *>(::dlsym(handle, buffers.c_str())))
    SK_RETURN_IF_ERROR(
        compareBuffers(*needed, entry, numArguments, numResults).withContext("function " + quoteName(function.name)));
  return reinterpret_cast<sk_program>(symbol);
}

} // namespace shardkit::rt
