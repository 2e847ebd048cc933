//===- LoadMemoryTest.cpp - What a load needs beside what it loads --------===//
//
// A child of its own loads, so that its peak (VmHWM) is that of the load. The file
// has no blocks on the disk: reading it gives zeros.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "shardkit/rt/Loading/WeightLoader.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

constexpr int64_t rows = 24 << 10, columns = 1 << 10; // 96 MiB of f32 each.
constexpr int ranks = 4;

ValueInfo weight(const std::string &name, bool shardColumns) {
  ValueInfo value;
  value.name = name;
  value.kind = ValueKind::Weight;
  value.dtype = DType::F32;
  value.globalShape = {rows, columns};
  value.localShape = {shardColumns ? rows : rows / ranks, shardColumns ? columns / ranks : columns};
  value.globalElements = rows * columns;
  value.localElements = value.globalElements / ranks;
  if (shardColumns)
    value.extents = {{{1, ranks, columns / ranks}}, {{rows, columns, columns / ranks}, {columns / ranks, 1, 1}}, {}};
  else
    value.extents = {{{1, ranks, value.localElements}}, {{value.localElements, 1, 1}}, {}};
  return value;
}

/// In bytes.
int64_t statusField(const std::string &name) {
  std::istringstream lines(readText("/proc/self/status"));
  for (std::string word; lines >> word;)
    if (word == name + ":") {
      int64_t kilobytes = 0;
      lines >> kilobytes;
      return kilobytes * 1024;
    }
  return -1;
}

class LoadMemory : public testing::TestWithParam<std::pair<LoadMode, IoMode>> {};

TEST_P(LoadMemory, isAtMost64MiBBeyondTheShards) {
  TempDir dir;
  const std::string path = dir / "w.safetensors";
  const int64_t bytes = rows * columns * 4;
  std::string header;
  for (int i = 0; i < 2; ++i)
    header += std::string(i ? "," : "{") + (i ? "\"columns\"" : "\"rows\"") + ":{\"dtype\":\"F32\",\"shape\":[" +
              std::to_string(rows) + "," + std::to_string(columns) + "],\"data_offsets\":[" +
              std::to_string(i * bytes) + "," + std::to_string((i + 1) * bytes) + "]}";
  header += "}";
  uint64_t length = header.size();
  writeText(path, std::string(reinterpret_cast<char *>(&length), 8) + header);
  std::filesystem::resize_file(path, 8 + length + uint64_t(2 * bytes));

  WeightManifest manifest;
  manifest.devices = ranks;
  manifest.mesh = {"m", {{"x", ranks}}, {0, 1, 2, 3}};
  manifest.weights = {weight("rows", false), weight("columns", true)};
  auto [mode, io] = GetParam();
  pid_t child = ::fork();
  if (child == 0) {
    auto sources = SourceSet::open(path);
    if (!sources.ok())
      ::_exit(2);
    LoadOptions options;
    options.mode = mode;
    options.io = io;
    options.readers = maxReaders;
    int64_t before = statusField("VmRSS");
    WeightLoader loader(manifest, std::move(*sources), options);
    auto loaded = loader.loadAll();
    if (!loaded.ok())
      ::_exit(3);
    int64_t beyond = statusField("VmHWM") - before - 2 * bytes;
    std::fprintf(stderr, "%lld bytes beyond the shards, %lld counted\n", (long long)beyond,
                 (long long)loader.stats().stagingBytes);
    if (loader.stats().stagingBytes > 64 << 20)
      ::_exit(4);
    // All was there at once, else the bound says nothing.
    if (statusField("VmRSS") < before + 2 * bytes)
      ::_exit(5);
    ::_exit(beyond <= 64 << 20 ? 0 : 6);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, LoadMemory,
                         testing::Values(std::pair(LoadMode::Direct, IoMode::Pread),
                                         std::pair(LoadMode::Direct, IoMode::Direct),
                                         std::pair(LoadMode::RootScatter, IoMode::Auto)));

} // namespace
