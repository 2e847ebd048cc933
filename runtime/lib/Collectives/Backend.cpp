//===- Backend.cpp - The processes of a run -------------------------------===//

#include "shardkit/rt/Collectives/Backend.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

namespace shardkit::rt {

std::pair<int64_t, int64_t> Backend::ranksOf(int process, int64_t devices) const {
  int64_t block = blockOf(devices);
  int64_t begin = std::min(devices, process * block);
  return {begin, std::min(devices, begin + block)};
}

namespace {

class LocalBackend : public Backend {
public:
  const char *name() const override { return "local"; }
  bool isOnNode(int) const override { return true; }
  std::unique_ptr<World> makeWorld(int ranks, double timeoutSeconds) override {
    return std::make_unique<LocalWorld>(ranks, timeoutSeconds);
  }
  Status agree(Status mine, World *, const std::string &) override { return mine; }
  Expected<std::vector<std::string>> exchange(const std::string &mine) override {
    return std::vector<std::string>{mine};
  }
  Status transfer(int, int, void *, int64_t) override { return {}; }
  Expected<NodeMemory> nodeMemory(int64_t, int64_t) override { return NodeMemory(); }
  LoadTeam *loadTeam() override { return nullptr; }
  std::pair<int64_t, int64_t> sent() const override { return {0, 0}; }
  void exit(int status, bool) override {
    std::fflush(stdout);
    ::_exit(status);
  }
};

/// The directory that this library lies in.
std::string libraryDirectory() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<const void *>(&makeLocalBackend), &info) || !info.dli_fname)
    return "";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

} // namespace

std::unique_ptr<Backend> makeLocalBackend() { return std::make_unique<LocalBackend>(); }

bool areProcessesUnderMpi() { return std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("SK_RANK"); }

Expected<std::unique_ptr<Backend>> openMpiBackend(double timeoutSeconds) {
  const std::string path = libraryDirectory() + "/libshardkit_mpi.so";
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return notFound("--backend=mpi, but this build has no MPI (there is no " + path + "), expected local");
  // Open MPI's own plugins look its symbols up globally.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *reason = ::dlerror();
    return notFound("--backend=mpi, but Open MPI cannot be loaded: " + std::string(reason ? reason : path));
  }
  auto open = reinterpret_cast<OpenBackendFunction>(::dlsym(library, "sk_open_mpi_backend"));
  if (!open)
    return notFound(path + " is not a backend of this runtime");
  std::string message;
  Backend *backend = open(timeoutSeconds, &message);
  if (!backend)
    return internalError("--backend=mpi: " + message);
  return std::unique_ptr<Backend>(backend);
}

} // namespace shardkit::rt
