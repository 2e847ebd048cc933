//===- File.h - A read-only file --------------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SUPPORT_FILE_H
#define SHARDKIT_RT_SUPPORT_FILE_H

#include "shardkit/rt/Support/Status.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct iovec;

namespace shardkit::rt {

class Md5;

/// An open file; reads are positional and may come from any thread.
class File {
public:
  static Expected<std::shared_ptr<File>> open(const std::string &path);
  /// A file in memory; `path` is what errors call it.
  static Expected<std::shared_ptr<File>> fromMemory(const void *data, int64_t bytes, const std::string &path);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const std::string &path() const { return path_; }
  int64_t size() const { return size_; }
  /// Reads exactly `bytes` at `offset`; a short file is an error that names the
  /// byte range.
  Status read(void *to, int64_t offset, int64_t bytes) const;
  /// Fills `buffers` one after the other from `offset` on. May change `buffers`.
  Status read(std::vector<::iovec> &buffers, int64_t offset) const;

  /// Direct I/O, past the page cache: `to`, `offset` and `bytes` are multiples of
  /// directAlignment. Returns at least what the file has of the range; false
  /// where the file system offers none (nothing was read then).
  static constexpr int64_t directAlignment = 4096;
  Expected<bool> readDirect(void *to, int64_t offset, int64_t bytes) const;
  /// The whole file, mapped on first use; null where it cannot be.
  const char *map() const;
  /// True if the page at `offset` can be read without waiting for a device.
  bool isCached(int64_t offset) const;
  /// Starts to read a range into the page cache, without waiting.
  void willRead(int64_t offset, int64_t bytes) const;

private:
  File(std::string path, int fd, int64_t size) : path_(std::move(path)), fd_(fd), size_(size) {}
  Status rangeError(int64_t offset, int64_t bytes, int64_t got) const;
  std::string path_;
  int fd_;
  int64_t size_;
  mutable std::once_flag mapOnce_, directOnce_;
  mutable void *map_ = nullptr;
  mutable int direct_ = -1;
};

/// A new file, written in order, that appears under its name only when complete:
/// without commit() no file remains. A link stays, and its target is replaced. A device, a
/// pipe and the standard output stay, and are written to at once.
class FileWriter {
public:
  static Expected<std::unique_ptr<FileWriter>> create(const std::string &path);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;

  Status write(const void *data, int64_t bytes);
  int64_t written() const { return written_; }
  /// From now on md5() is that of what is written.
  void keepMd5();
  std::string md5() const;
  /// With `durable` the bytes are on the device when this returns.
  Status commit(bool durable = false);

private:
  FileWriter(std::string path, std::string temporary, int fd);
  std::string path_, temporary_; ///< No temporary: in place.
  int fd_;
  int64_t written_ = 0;
  std::unique_ptr<Md5> md5_;
};

/// NotFound if there is no file or directory of that name; IO, with the reason, if that cannot be determined.
Status checkExists(const std::string &path);

/// An error where a FileWriter could not write to `path`; changes nothing.
Status checkWritable(const std::string &path);

/// Makes a directory, with those it lies in, where there is none; an error where that is
/// not possible, or where no files can be made in it.
Status makeDirectory(const std::string &path);

/// The right to write a set of files into a directory, which one process has at a time: a
/// locked file there, which is removed at the end. The system frees it if the process dies.
class DirectoryLock {
public:
  static Expected<std::unique_ptr<DirectoryLock>> take(const std::string &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  DirectoryLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};

/// The MD5 of a file's content, as 32 hexadecimal digits.
Expected<std::string> fileMd5(const std::string &path);

/// Writes `buffers` one after the other, by a FileWriter.
struct FileChunk {
  const void *data;
  int64_t bytes;
};
Status writeFile(const std::string &path, const std::vector<FileChunk> &buffers);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_FILE_H
