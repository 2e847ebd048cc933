//===- BundleCache.h - Compiled bundles on disk -----------------*- C++ -*-===//
//
// A directory of the user with one file per bundle. The name of the file is a hash of all that determines the bundle:
// IR, options, processor and compiler. Several processes may use it at once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DRIVER_BUNDLECACHE_H
#define SHARDKIT_DRIVER_BUNDLECACHE_H

#include "mlir/IR/Diagnostics.h"
#include <string>
#include <vector>

namespace mlir::spmd {

/// A diagnostic as a value.
struct CompileDiagnostic {
  DiagnosticSeverity severity = DiagnosticSeverity::Error;
  std::string file; ///< Empty if the diagnostic has no location; then line and column are 0.
  int64_t line = 0, column = 0;
  std::string message;
  /// All of it as tools print it, with the line of the source and the notes. Ends in a newline.
  std::string text;
  std::vector<CompileDiagnostic> notes;
};

/// A file of a bundle; `name` is relative to the bundle: "programs/main.so".
struct BundleFile {
  std::string name, contents;
};

struct CacheEntry {
  std::vector<BundleFile> files;
  std::vector<CompileDiagnostic> diagnostics; ///< Warnings and remarks of the compilation.
};

/// Holds a lock of the cache while it lives; other processes and threads wait for it.
class CacheLock {
public:
  /// Waits for the lock, until it is cancelled.
  CacheLock(std::string path, llvm::function_ref<bool()> isCancelled);
  ~CacheLock();
  CacheLock(const CacheLock &) = delete;
  CacheLock &operator=(const CacheLock &) = delete;

private:
  std::string path;
  int fd = -1;
};

class BundleCache {
public:
  /// The cache in `directory`; "": by the variable SHARDKIT_CACHE, else in the user's directory for caches. Null if
  /// that is "off". Its size is limited by SHARDKIT_CACHE_SIZE. `reason` describes an error.
  static FailureOr<std::unique_ptr<BundleCache>> open(StringRef directory, std::string &reason);

  /// The name of what is compiled from these. `ir` is taken byte by byte, and its name is part of locations.
  /// `resources` differs for others.
  static std::string getKey(StringRef ir, StringRef name, StringRef resources, StringRef options,
                            bool isForThisProcessor);

  /// "", or the reason why the directory cannot be used. Creates it.
  std::string prepare() const;
  /// The entry of `key`, if there is one. `warning` describes a damaged one, which is removed.
  std::optional<CacheEntry> find(StringRef key, std::string &warning) const;
  /// Adds an entry, and removes those that were not used for longest where all exceed the limit. Returns "" or a
  /// warning.
  std::string store(StringRef key, const CacheEntry &entry) const;
  std::unique_ptr<CacheLock> lock(StringRef key, llvm::function_ref<bool()> isCancelled) const;

  StringRef getDirectory() const { return directory; }

private:
  BundleCache(std::string directory, uint64_t limit) : directory(std::move(directory)), limit(limit) {}
  std::string getPath(const llvm::Twine &name) const;
  void removeOldest(StringRef except) const;

  std::string directory;
  uint64_t limit;
};

/// Version of ShardKit and build ids of what is loaded of it, MLIR and LLVM: differs for compilers that may differ.
StringRef getCompilerIdentity();

} // namespace mlir::spmd

#endif // SHARDKIT_DRIVER_BUNDLECACHE_H
