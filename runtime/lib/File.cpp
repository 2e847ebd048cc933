//===- File.cpp - A read-only file, and complete-or-absent writing ----------===//

#include "shardkit/rt/File.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardkit::rt {

static std::string systemError() { return std::strerror(errno); }

Expected<std::shared_ptr<File>> File::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return Status(errno == ENOENT ? Code::NotFound : Code::IO,
                  path + ": cannot be opened: " + systemError());
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return ioError(path + ": not a regular file");
  }
  return std::shared_ptr<File>(new File(path, fd, int64_t(info.st_size)));
}

File::~File() { ::close(fd_); }

Status File::read(void *to, int64_t offset, int64_t bytes) const {
  char *at = static_cast<char *>(to);
  int64_t done = 0;
  while (done < bytes) {
    ssize_t got = ::pread(fd_, at + done, size_t(bytes - done), offset + done);
    if (got < 0 && errno == EINTR)
      continue;
    std::string range = "bytes " + std::to_string(offset) + " to " +
                        std::to_string(offset + bytes);
    if (got < 0)
      return ioError(path_ + ": " + range + " cannot be read: " +
                     systemError());
    if (got == 0)
      return ioError(path_ + ": " + range + " lie beyond the end at " +
                     std::to_string(offset + done));
    done += got;
  }
  return {};
}

Status writeFile(const std::string &path, const std::vector<FilePart> &parts) {
  std::string temporary = path + ".tmp" + std::to_string(::getpid());
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0666);
  if (fd < 0)
    return ioError(path + ": cannot be written: " + systemError());
  for (const FilePart &part : parts) {
    const char *at = static_cast<const char *>(part.data);
    for (int64_t done = 0; done < part.bytes;) {
      ssize_t put = ::write(fd, at + done, size_t(part.bytes - done));
      if (put < 0 && errno == EINTR)
        continue;
      if (put <= 0) {
        Status status =
            ioError(path + ": cannot be written: " + systemError());
        ::close(fd);
        ::unlink(temporary.c_str());
        return status;
      }
      done += put;
    }
  }
  if (::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = ioError(path + ": cannot be written: " + systemError());
    ::unlink(temporary.c_str());
    return status;
  }
  return {};
}

} // namespace shardkit::rt
