//===- File.cpp - A read-only file, and complete-or-absent writing --------===//

#include "shardkit/rt/Support/File.h"

#include "Md5.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace shardkit::rt {

static std::string systemError() { return std::strerror(errno); }

/// Whether a file is the pointer that git-lfs keeps in place of a large file.
static bool isLfsPointer(int fd, int64_t size) {
  constexpr std::string_view head = "version https://git-lfs.github.com/spec/";
  char text[head.size()];
  return size >= int64_t(head.size()) && size < 1024 && ::pread(fd, text, head.size(), 0) == ssize_t(head.size()) &&
         std::string_view(text, head.size()) == head;
}

Expected<std::shared_ptr<File>> File::open(const std::string &path) {
  // Without O_NONBLOCK a pipe in place of a file would block here.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return Status(errno == ENOENT ? Code::NotFound : Code::IO, path + ": cannot be opened: " + systemError());
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return ioError(path + ": not a regular file");
  }
  if (isLfsPointer(fd, int64_t(info.st_size))) {
    ::close(fd);
    return invalid(path + ": is a pointer of git-lfs, expected the file that it stands for (git lfs pull)");
  }
  return std::shared_ptr<File>(new File(path, fd, int64_t(info.st_size)));
}

Status checkExists(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0)
    return {};
  if (errno == ENOENT || errno == ENOTDIR)
    return notFound(path + ": no such file or directory");
  return ioError(path + ": cannot be accessed: " + systemError());
}

Expected<std::shared_ptr<File>> File::fromMemory(const void *data, int64_t bytes, const std::string &path) {
  int fd = ::memfd_create("shardkit", MFD_CLOEXEC);
  if (fd < 0)
    return ioError(path + ": no memory file: " + systemError());
  std::shared_ptr<File> file(new File(path, fd, bytes));
  for (int64_t done = 0; done < bytes;) {
    ssize_t put = ::pwrite(fd, static_cast<const char *>(data) + done, size_t(bytes - done), done);
    if (put <= 0)
      return ioError(path + ": no memory file: " + systemError());
    done += put;
  }
  return file;
}

File::~File() {
  if (map_)
    ::munmap(map_, size_t(size_));
  if (direct_ >= 0)
    ::close(direct_);
  ::close(fd_);
}

Status File::rangeError(int64_t offset, int64_t bytes, int64_t got) const {
  std::string range = "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes);
  if (got < 0)
    return ioError(path_ + ": " + range + " cannot be read: " + systemError());
  struct stat info;
  int64_t end = ::fstat(fd_, &info) == 0 ? int64_t(info.st_size) : size_;
  return ioError(path_ + ": " + range + " lie beyond the end at " + std::to_string(end));
}

Status File::read(void *to, int64_t offset, int64_t bytes) const {
  char *at = static_cast<char *>(to);
  for (int64_t done = 0; done < bytes;) {
    ssize_t got = ::pread(fd_, at + done, size_t(bytes - done), offset + done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return rangeError(offset, bytes, got);
    done += got;
  }
  return {};
}

Status File::read(std::vector<::iovec> &buffers, int64_t offset) const {
  const int64_t begin = offset;
  int64_t bytes = 0;
  for (const ::iovec &chunk : buffers)
    bytes += int64_t(chunk.iov_len);
  for (size_t next = 0; next < buffers.size();) {
    int count = int(std::min<size_t>(buffers.size() - next, IOV_MAX));
    ssize_t got = ::preadv(fd_, buffers.data() + next, count, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return rangeError(begin, bytes, got);
    offset += got;
    size_t before = next;
    while (next < buffers.size() && got >= ssize_t(buffers[next].iov_len))
      got -= ssize_t(buffers[next++].iov_len);
    if (got > 0) {
      buffers[next].iov_base = static_cast<char *>(buffers[next].iov_base) + got;
      buffers[next].iov_len -= size_t(got);
    } else if (next == before) {
      return rangeError(begin, bytes, 0);
    }
  }
  return {};
}

Expected<bool> File::readDirect(void *to, int64_t offset, int64_t bytes) const {
  std::call_once(directOnce_, [&] {
    // By the descriptor: the name may mean another file by now.
    std::string self = "/proc/self/fd/" + std::to_string(fd_);
    direct_ = ::open(self.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  });
  if (direct_ < 0)
    return false;
  char *at = static_cast<char *>(to);
  int64_t wanted = std::min(bytes, size_ - offset);
  for (int64_t done = 0; done < wanted;) {
    ssize_t got = ::pread(direct_, at + done, size_t(bytes - done), offset + done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EINVAL && done == 0)
      return false;
    if (got <= 0)
      return rangeError(offset, wanted, got);
    done += got;
    if (done < wanted && done % directAlignment != 0) {
      // What is left cannot be asked for in this way.
      SK_RETURN_IF_ERROR(read(at + done, offset + done, wanted - done));
      break;
    }
  }
  return true;
}

const char *File::map() const {
  std::call_once(mapOnce_, [&] {
    if (size_ == 0)
      return;
    void *map = ::mmap(nullptr, size_t(size_), PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED)
      return;
    ::madvise(map, size_t(size_), MADV_SEQUENTIAL);
    map_ = map;
  });
  return static_cast<const char *>(map_);
}

bool File::isCached(int64_t offset) const {
  char byte;
  ::iovec chunk{&byte, 1};
  return ::preadv2(fd_, &chunk, 1, offset, RWF_NOWAIT) == 1;
}

void File::willRead(int64_t offset, int64_t bytes) const {
  ::posix_fadvise(fd_, offset, bytes, POSIX_FADV_WILLNEED); // A hint, may fail.
}

/// Where what is written to `path` goes.
struct Target {
  enum Kind { Replaced, InPlace, Output } kind;
  std::string path; ///< Of what is replaced the last part is no link.
};

static Expected<Target> targetOf(const std::string &path) {
  struct stat info, output;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return ioError(path + ": cannot be written: " + std::strerror(EISDIR));
    if (!S_ISREG(info.st_mode))
      return Target{Target::InPlace, path};
    if (::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == info.st_dev && output.st_ino == info.st_ino)
      return Target{Target::Output, path};
  }
  // The target of a link is replaced (or made), not the link.
  constexpr int maxLinks = 40; // As the kernel follows.
  std::filesystem::path at = path;
  for (int links = 0;; ++links) {
    std::error_code error;
    std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error)
      return Target{Target::Replaced, at.string()};
    if (links == maxLinks)
      return ioError(path + ": cannot be written: " + std::strerror(ELOOP));
    at = at.parent_path() / target;
  }
}

Expected<std::unique_ptr<FileWriter>> FileWriter::create(const std::string &path) {
  static std::atomic<int> counter{0};
  SK_ASSIGN_OR_RETURN(Target target, targetOf(path));
  std::string temporary;
  int fd = -1;
  switch (target.kind) {
  case Target::Replaced:
    temporary = target.path + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(counter++);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    break;
  case Target::InPlace:
    fd = ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    break;
  case Target::Output: // It goes on where the process has printed to.
    fd = ::dup(STDOUT_FILENO);
    break;
  }
  if (fd < 0)
    return ioError(path + ": cannot be written: " + systemError());
  return std::unique_ptr<FileWriter>(new FileWriter(target.path, temporary, fd));
}

Status checkWritable(const std::string &path) {
  SK_ASSIGN_OR_RETURN(Target target, targetOf(path));
  if (target.kind == Target::Replaced)
    return FileWriter::create(path).status();
  // A reader of a pipe would take a second opening for the end.
  if (::access(target.path.c_str(), W_OK) != 0)
    return ioError(path + ": cannot be written: " + systemError());
  return {};
}

Status makeDirectory(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return ioError(path + ": cannot be created: " + error.message());
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return ioError(path + ": nothing can be written in it: " + systemError());
  return {};
}

Expected<std::unique_ptr<DirectoryLock>> DirectoryLock::take(const std::string &directory) {
  const std::string path = directory + "/shardkit.lock";
  for (;;) {
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
      return ioError(path + ": cannot be written: " + systemError());
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const bool isHeld = errno == EWOULDBLOCK;
      const std::string reason = systemError();
      ::close(fd);
      return isHeld
                 ? invalid(directory + ": another process writes in it and holds shardkit.lock, expected one at a time")
                 : ioError(path + ": cannot be locked: " + reason);
    }
    // The last holder may have removed the file between the two calls.
    struct stat locked, named;
    if (::fstat(fd, &locked) == 0 && ::stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
        locked.st_ino == named.st_ino)
      return std::unique_ptr<DirectoryLock>(new DirectoryLock(path, fd));
    ::close(fd);
  }
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());
  ::close(fd_);
}

FileWriter::FileWriter(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

void FileWriter::keepMd5() { md5_ = std::make_unique<Md5>(); }
std::string FileWriter::md5() const { return md5_ ? md5_->hex() : std::string(); }

Expected<std::string> fileMd5(const std::string &path) {
  SK_ASSIGN_OR_RETURN(std::shared_ptr<File> file, File::open(path));
  Md5 md5;
  std::vector<char> block(4 << 20);
  for (int64_t at = 0; at < file->size();) {
    int64_t n = std::min<int64_t>(int64_t(block.size()), file->size() - at);
    SK_RETURN_IF_ERROR(file->read(block.data(), at, n));
    md5.add(block.data(), n);
    at += n;
  }
  return md5.hex();
}

FileWriter::~FileWriter() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

Status FileWriter::write(const void *data, int64_t bytes) {
  const char *at = static_cast<const char *>(data);
  for (int64_t done = 0; done < bytes;) {
    ssize_t put = ::write(fd_, at + done, size_t(bytes - done));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return ioError(path_ + ": cannot be written: " + systemError());
    done += put;
  }
  written_ += bytes;
  if (md5_)
    md5_->add(data, bytes);
  return {};
}

Status FileWriter::commit(bool durable) {
  const bool isInPlace = temporary_.empty();
  int fd = fd_;
  bool failed = durable && !isInPlace && ::fsync(fd) != 0;
  fd_ = -1;
  if (::close(fd) != 0 || failed || (!isInPlace && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    Status status = ioError(path_ + ": cannot be written: " + systemError());
    if (!isInPlace)
      ::unlink(temporary_.c_str());
    return status;
  }
  return {};
}

Status writeFile(const std::string &path, const std::vector<FileChunk> &buffers) {
  SK_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> writer, FileWriter::create(path));
  for (const FileChunk &chunk : buffers)
    SK_RETURN_IF_ERROR(writer->write(chunk.data, chunk.bytes));
  return writer->commit();
}

} // namespace shardkit::rt
