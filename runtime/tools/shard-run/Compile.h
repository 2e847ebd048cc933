//===- Compile.h - IR to a temporary bundle ---------------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_COMPILE_H
#define SHARDKIT_TOOLS_SHARDRUN_COMPILE_H

#include "Options.h"

namespace shardkit::run {

/// A directory that disappears with the object.
class TemporaryDirectory {
public:
  ~TemporaryDirectory();
  rt::Status create();
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// Runs the shard-compile that stands beside this executable. Its messages go
/// to our own output; `failed` is set when it ran and reported an error itself.
rt::Status compile(const Options &options, const std::string &bundle, bool &failed);

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_COMPILE_H
