//===- File.h - A read-only file --------------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_FILE_H
#define SHARDKIT_RT_FILE_H

#include "shardkit/rt/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {

/// An open file; reads are positional and may come from any thread.
class File {
public:
  static Expected<std::shared_ptr<File>> open(const std::string &path);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const std::string &path() const { return path_; }
  int64_t size() const { return size_; }
  /// Reads exactly `bytes` at `offset`; a short file is an error that names the
  /// byte range.
  Status read(void *to, int64_t offset, int64_t bytes) const;

private:
  File(std::string path, int fd, int64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  std::string path_;
  int fd_;
  int64_t size_;
};

/// Writes `parts` one after the other into a new file that appears under its
/// name only when complete.
struct FilePart {
  const void *data;
  int64_t bytes;
};
Status writeFile(const std::string &path, const std::vector<FilePart> &parts);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_FILE_H
