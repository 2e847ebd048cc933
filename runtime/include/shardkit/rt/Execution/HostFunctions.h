//===- HostFunctions.h - Shard functions that the user registers -*- C++ -*--===//

#ifndef SHARDKIT_RT_EXECUTION_HOSTFUNCTIONS_H
#define SHARDKIT_RT_EXECUTION_HOSTFUNCTIONS_H

#include "shardkit/rt/Manifest/Manifest.h"
#include "shardkit/rt/Support/Buffer.h"
#include "shardkit/rt/loader.h"

#include <map>
#include <memory>
#include <string>

namespace shardkit::rt {

/// Functions by name. "shardkit.shard" (Manifest/ShardInfo.h) is always there.
class HostFunctions {
public:
  HostFunctions();
  ~HostFunctions();
  HostFunctions(const HostFunctions &) = delete;
  HostFunctions &operator=(const HostFunctions &) = delete;

  /// An error for an empty name or one that is in use.
  Status add(const std::string &name, sk_shard_function function, void *user);
  /// Loads a library and calls its `int sk_register(sk_context *)`.
  Status loadLibrary(const std::string &path);
  /// An error that lists the known functions if one is missing, before anything is loaded.
  Status check(const std::vector<HostCall> &chain) const;
  /// Applies the calls in order to `input`; `output` is the last result.
  Status apply(const std::vector<HostCall> &chain, const LoadSource &input, const void *data, Buffer &output) const;

private:
  struct Entry {
    sk_shard_function function;
    void *user;
  };
  std::map<std::string, Entry> functions_;
  std::vector<void *> libraries_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_HOSTFUNCTIONS_H
