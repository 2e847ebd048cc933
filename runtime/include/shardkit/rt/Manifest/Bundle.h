//===- Bundle.h - A bundle on disk and its code -----------------*- C++ -*-===//

#ifndef SHARDKIT_RT_MANIFEST_BUNDLE_H
#define SHARDKIT_RT_MANIFEST_BUNDLE_H

#include "shardkit/rt/Manifest/Manifest.h"
#include "shardkit/rt/Support/Status.h"
#include "shardkit/rt/abi.h"

#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {

class Bundle {
public:
  /// Reads and validates the manifest; loads no code yet.
  static Expected<std::unique_ptr<Bundle>> open(const std::string &path);
  ~Bundle();
  Bundle(const Bundle &) = delete;
  Bundle &operator=(const Bundle &) = delete;

  const std::string &path() const { return path_; }
  const Manifest &manifest() const { return manifest_; }
  /// Gives the sizes that only the run knows to a function, which must have some (atSizes).
  Status setSizes(size_t function, const std::vector<int64_t> &sizes);
  /// A hash of the manifest and the programs: equal for processes that can run together.
  Expected<std::string> hash() const;
  /// Loads the program if need be and looks the entry point up. An error if its own
  /// description (sk_buffers) requires other buffers than the manifest.
  Expected<sk_program> entry(const FunctionInfo &function, const EntryPoint &entry, size_t numArguments,
                             size_t numResults);
  /// The entry points of the function and of its reference.
  Expected<sk_program> entry(const FunctionInfo &function) {
    return entry(function, function.entry, function.arguments.size(), function.results.size());
  }
  Expected<sk_program> referenceEntry(const FunctionInfo &function) {
    return entry(function, *function.reference, function.referenceArguments.size(), function.results.size());
  }

private:
  Bundle(std::string path, Manifest manifest);
  std::string path_;
  Manifest manifest_;
  std::vector<void *> handles_;
  mutable std::string hash_; ///< Empty: not computed yet.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_BUNDLE_H
