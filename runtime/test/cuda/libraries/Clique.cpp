//===- Clique.cpp - Ranks that meet in a folder of shared memory ----------===//

#include "Clique.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace shardkit::emu {

static const std::string kPrefix = "sk-emu-nccl-";

static fs::path root() {
  std::error_code error;
  return fs::is_directory("/dev/shm", error) ? "/dev/shm" : fs::temp_directory_path();
}

std::string Clique::newToken() {
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(root(), error)) {
    std::string name = entry.path().filename();
    int pid = 0;
    if (name.compare(0, kPrefix.size(), kPrefix) == 0 && sscanf(name.c_str() + kPrefix.size(), "%d-", &pid) == 1 &&
        kill(pid, 0) != 0 && errno == ESRCH)
      fs::remove_all(entry.path(), error);
  }
  std::random_device random;
  char text[64];
  snprintf(text, sizeof text, "%d-%08x%08x", getpid(), random(), random());
  return text;
}

Clique::Clique(std::string token, int ranks, int rank)
    : token_(std::move(token)), folder_(root() / (kPrefix + token_)), ranks_(ranks), rank_(rank) {
  std::error_code error;
  fs::create_directory(folder_, error);
}

bool Clique::post(const std::string &name, const std::vector<char> &bytes) {
  std::string draft = path(".draft-" + name + "-" + std::to_string(rank_));
  int file = open(draft.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (file < 0)
    return false;
  size_t at = 0;
  while (at < bytes.size()) {
    ssize_t n = write(file, bytes.data() + at, bytes.size() - at);
    if (n <= 0)
      break;
    at += size_t(n);
  }
  close(file);
  // Whole or not at all, and never over another.
  bool fresh = at == bytes.size() && link(draft.c_str(), path(name).c_str()) == 0;
  unlink(draft.c_str());
  return fresh;
}

bool Clique::exists(const std::string &name) const { return access(path(name).c_str(), F_OK) == 0; }

std::optional<std::vector<char>> Clique::read(const std::string &name) const {
  int file = open(path(name).c_str(), O_RDONLY);
  if (file < 0)
    return std::nullopt;
  struct stat info;
  fstat(file, &info);
  std::vector<char> out(size_t(info.st_size));
  size_t at = 0;
  while (at < out.size()) {
    ssize_t n = ::read(file, out.data() + at, out.size() - at);
    if (n <= 0)
      break;
    at += size_t(n);
  }
  close(file);
  if (at != out.size())
    return std::nullopt;
  return out;
}

void Clique::remove(const std::string &name) { unlink(path(name).c_str()); }

void Clique::leave() {
  post("left." + std::to_string(rank_), {});
  for (int r = 0; r < ranks_; ++r)
    if (!exists("left." + std::to_string(r)))
      return;
  std::error_code error;
  fs::remove_all(folder_, error);
}

} // namespace shardkit::emu
