//===- loader.cpp - Direct load against pread, root-scatter and TVM's flow --===//
//
// Ratios of what runs in turn in one process; README.md says what each row is.
//
//===----------------------------------------------------------------------===//

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Support/Buffer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace shardkit::rt;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of all threads: on a machine that others use too it tells more
/// than the wall clock.
static double cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

[[noreturn]] static void die(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}
static void check(const Status &status) {
  if (!status.ok())
    die(status.message());
}

static std::string directory;
static int64_t totalBytes = int64_t(1) << 30;
static int repeats = 5;
static const int64_t tensors = 8;

/// `tensors` matrices of i32 whose rows are `rowBytes`; element i of the set is i.
static std::string makeSet(int64_t rowBytes) {
  std::string path = directory + "/rows-" + std::to_string(rowBytes) + ".safetensors";
  int64_t columns = rowBytes / 4, rows = totalBytes / tensors / rowBytes;
  rows = rows / 24 * 24; // 1, 2, 3, 4 and 8 ranks divide it.
  std::vector<TensorContent> contents;
  for (int64_t t = 0; t < tensors; ++t)
    contents.push_back({"layers." + std::to_string(t) + ".w",
                        DType::I32,
                        {rows, columns},
                        [=](int64_t first, int64_t count, void *to) -> Status {
                          int32_t *out = static_cast<int32_t *>(to);
                          for (int64_t i = 0; i < count; ++i)
                            out[i] = int32_t(t * rows * columns + first + i);
                          return {};
                        }});
  check(writeSafetensors(path, contents));
  int fd = ::open(path.c_str(), O_RDONLY);
  ::fsync(fd);
  ::close(fd);
  return path;
}

struct Cut {
  std::vector<ValueInfo> values;
  std::vector<TensorSource> sources;
  int64_t ranks = 0, localBytes = 0;
};

static Cut cut(const SourceSet &set, int64_t ranks, bool columns) {
  Cut result;
  result.ranks = ranks;
  for (const auto &[name, tensor] : set.stored().tensors) {
    ValueInfo value;
    value.name = name;
    value.kind = ValueKind::Weight;
    value.dtype = *tensor.dtype;
    value.globalShape = value.localShape = tensor.shape;
    int64_t &own = value.localShape[columns ? 1 : 0];
    const bool isUneven = own % ranks != 0;
    own = (own + ranks - 1) / ranks;
    value.globalElements = *numElements(value.globalShape);
    value.localElements = *numElements(value.localShape);
    int64_t r = value.localShape[0], c = value.localShape[1], C = value.globalShape[1];
    if (isUneven) // The last rank holds less.
      value.extents = {
          {}, {{r, C, c}, {c, 1, 1}}, {{columns ? 1 : 0, value.globalShape[columns ? 1 : 0], {{1, ranks}}}}};
    else
      value.extents = {{{1, ranks, columns ? c : r * C}}, {{r, C, c}, {c, 1, 1}}, {}};
    result.localBytes += value.localBytes();
    result.values.push_back(value);
  }
  for (const ValueInfo &value : result.values) {
    auto source = set.find(value);
    check(source.status());
    result.sources.push_back(*source);
  }
  return result;
}

static const File &fileOf(const Cut &cut) { return *std::get<StoredSource>(cut.sources[0]).tensors[0].whole.file; }

/// The file stays mapped once a run has mapped it: without this the next would find
/// its pages there, and pages in use are not dropped.
static void forgetMapping(const Cut &cut) {
  if (const char *map = fileOf(cut).map())
    ::madvise(const_cast<char *>(map), size_t(fileOf(cut).size()), MADV_DONTNEED);
}

static void dropCaches(const std::string &path, const Cut &cut) {
  forgetMapping(cut);
  int fd = ::open(path.c_str(), O_RDONLY);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  std::ofstream("/proc/sys/vm/drop_caches") << 1; // Where permitted.
  // Its header may have been read again by others.
  if (fileOf(cut).isCached(fileOf(cut).size() / 2))
    die(path + ": the page cache cannot be dropped: use --warm");
}

static int64_t statusBytes(const char *key) {
  std::ifstream stream("/proc/self/status");
  for (std::string line; std::getline(stream, line);)
    if (line.compare(0, std::strlen(key), key) == 0)
      return std::atoll(line.c_str() + std::strlen(key) + 1) * 1024;
  return 0;
}

/// Fresh destinations, one for each rank, of the runtime's own kind.
static std::vector<Buffer> destinations(const Cut &cut) {
  std::vector<Buffer> buffers;
  for (int64_t r = 0; r < cut.ranks; ++r)
    buffers.emplace_back(cut.localBytes);
  return buffers;
}

static LoadPlan planOf(const Cut &cut, std::vector<Buffer> &buffers) {
  LoadPlan plan;
  for (int64_t r = 0; r < cut.ranks; ++r) {
    char *to = static_cast<char *>(buffers[size_t(r)].data());
    for (size_t w = 0; w < cut.values.size(); ++w) {
      plan.add(cut.values[w], cut.sources[w], r, to);
      to += cut.values[w].localBytes();
    }
  }
  return plan;
}

struct Measured {
  double seconds = 0, cpu = 0;
  LoadStats stats;
  int64_t extra = 0; ///< Peak memory beyond the destinations.
};

static Measured load(const Cut &cut, const LoadOptions &options) {
  Measured result;
  std::ofstream("/proc/self/clear_refs") << 5; // Resets the peak.
  int64_t before = statusBytes("VmRSS:");
  std::vector<Buffer> buffers = destinations(cut);
  double start = now(), startCpu = cpu();
  LoadPlan plan = planOf(cut, buffers);
  check(plan.run(options, nullptr, nullptr, result.stats));
  result.seconds = now() - start;
  result.cpu = cpu() - startCpu;
  result.extra = statusBytes("VmHWM:") - before - cut.ranks * cut.localBytes;
  return result;
}

/// As many threads, pieces of 8 MiB, fresh destinations of the same size and kind.
static Measured preadThreads(const std::string &path, const Cut &cut, int threads) {
  std::vector<Buffer> buffers = destinations(cut);
  int fd = ::open(path.c_str(), O_RDONLY);
  struct stat info;
  ::fstat(fd, &info);
  int64_t all = cut.ranks * cut.localBytes, begin = info.st_size - all;
  const int64_t piece = 8 << 20;
  std::atomic<int64_t> next{0};
  double start = now(), startCpu = cpu();
  auto work = [&] {
    for (int64_t at; (at = next.fetch_add(piece)) < all;) {
      int64_t end = std::min(all, at + piece);
      while (at < end) {
        int64_t rank = at / cut.localBytes, within = at % cut.localBytes;
        int64_t n = std::min(end - at, cut.localBytes - within);
        if (::pread(fd, static_cast<char *>(buffers[size_t(rank)].data()) + within, size_t(n), begin + at) != n)
          die("pread failed");
        at += n;
      }
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  Measured result;
  result.seconds = now() - start;
  result.cpu = cpu() - startCpu;
  ::close(fd);
  return result;
}

/// What TVM's loader does: one process reads a weight whole, a function cuts it
/// into a stacked tensor, the slices are scattered.
static double tvmFlow(const Cut &cut) {
  std::vector<Buffer> buffers = destinations(cut);
  double start = now();
  std::vector<int64_t> at(size_t(cut.ranks), 0);
  for (size_t w = 0; w < cut.values.size(); ++w) {
    const ValueInfo &value = cut.values[w];
    const StoredTensor &stored = std::get<StoredSource>(cut.sources[w]).tensors[0].whole;
    Buffer whole(value.globalBytes()), stacked(value.globalBytes());
    check(stored.readElements(0, value.globalElements, whole.data()));
    for (int64_t r = 0; r < cut.ranks; ++r)
      gatherLocal(value.extents, r, 4, whole.data(), static_cast<char *>(stacked.data()) + r * value.localBytes());
    for (int64_t r = 0; r < cut.ranks; ++r) {
      std::memcpy(static_cast<char *>(buffers[size_t(r)].data()) + at[size_t(r)],
                  static_cast<char *>(stacked.data()) + r * value.localBytes(), size_t(value.localBytes()));
      at[size_t(r)] += value.localBytes();
    }
  }
  return now() - start;
}

/// Rows need no copy at all where a program may read the mapped file: nothing is
/// loaded, so it has no GB/s, and the pages come with the first use.
static void aliased(const std::string &path, const SourceSet &set, int64_t ranks) {
  Cut c = cut(set, ranks, false);
  auto file = File::open(path);
  check(file.status());
  double start = now();
  const char *map = (*file)->map();
  if (!map)
    die(path + ": cannot be mapped");
  std::vector<const char *> shards;
  for (const TensorSource &source : c.sources)
    for (int64_t r = 0; r < ranks; ++r) {
      const StoredTensor &stored = std::get<StoredSource>(source).tensors[0].whole;
      shards.push_back(map + stored.offset + stored.bytes / ranks * r);
    }
  double mapped = now();
  [[maybe_unused]] volatile char byte;
  const int64_t bytes = c.values[0].localBytes();
  for (const char *shard : shards)
    for (int64_t at = 0; at < bytes; at += 4096)
      byte = shard[at];
  double touched = now();
  std::printf("aliasing a read-only mapping (rows, %lld ranks, warm): %.2f ms for %zu shards, %.0f ms more to "
              "touch each page once; nothing is copied\n\n",
              static_cast<long long>(ranks), (mapped - start) * 1e3, shards.size(), (touched - mapped) * 1e3);
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

static void compare(const std::string &path, const char *what, const Cut &cut, bool cold, bool others) {
  LoadOptions direct, root, mapped;
  root.mode = LoadMode::RootScatter;
  mapped.io = IoMode::Mmap;
  std::vector<double> ours, theirs, ourCpu, theirCpu, scattered, tvm, viaMap;
  Measured last;
  double gb = double(cut.ranks * cut.localBytes) / 1e9;
  int64_t extra = 0;
  auto timed = [&](const std::function<double()> &run) {
    if (cold)
      dropCaches(path, cut);
    return run();
  };
  last = load(cut, direct); // Fills the page cache.
  for (int i = 0; i < repeats; ++i) {
    auto one = [&] {
      last = load(cut, direct);
      extra = std::max(extra, last.extra);
      ourCpu.push_back(last.cpu);
      return last.seconds;
    };
    // In turn, so that neither always comes first.
    if (i % 2 == 0)
      ours.push_back(timed(one));
    theirs.push_back(timed([&] {
      Measured pread = preadThreads(path, cut, std::max(1, last.stats.readers));
      theirCpu.push_back(pread.cpu);
      return pread.seconds;
    }));
    if (i % 2 == 1)
      ours.push_back(timed(one));
    if (others) {
      scattered.push_back(timed([&] { return load(cut, root).seconds; }));
      tvm.push_back(timed([&] { return tvmFlow(cut); }));
      forgetMapping(cut);
      viaMap.push_back(timed([&] { return load(cut, mapped).seconds; }));
    }
  }
  double most = 0;
  for (const LoadCounters &rank : last.stats.ranks)
    most = std::max(most, double(rank.bytesRead) / double(std::max<int64_t>(1, rank.bytesNeeded)));
  std::printf("| %s | %lld | %s | %.2f | %.2f | **%.2f** | %.2f | %.2f |", what, static_cast<long long>(cut.ranks),
              cold ? "cold" : "warm", gb / median(ours), gb / median(theirs), median(theirs) / median(ours),
              *std::min_element(theirs.begin(), theirs.end()) / *std::min_element(ours.begin(), ours.end()),
              median(theirCpu) / median(ourCpu));
  if (others)
    std::printf(" %.2f | %.2f | %.2f |", median(scattered) / median(ours), median(tvm) / median(ours),
                median(viaMap) / median(ours));
  else
    std::printf(" | | |");
  std::printf(" %.3f | %.3f | %.1f | %d |\n", most,
              double(last.stats.total.bytesRead) / double(cut.ranks * cut.localBytes),
              double(std::max(extra, last.stats.stagingBytes)) / 1048576.0, last.stats.readers);
  std::fflush(stdout);
}

/// The same set on any number of ranks: put together it is the file, which stays as
/// it is; no rank reads more than 1.05 times what it owns of rows, and the node no
/// byte of columns twice.
static void sameContent(const std::string &path, const SourceSet &set) {
  auto before = fileMd5(path);
  check(before.status());
  for (bool columns : {false, true})
    for (int64_t ranks : {1, 2, 3, 4, 8}) {
      Cut c = cut(set, ranks, columns);
      std::vector<Buffer> buffers = destinations(c);
      LoadStats stats;
      check(planOf(c, buffers).run({}, nullptr, nullptr, stats));
      for (const LoadCounters &rank : stats.ranks)
        if (!columns && double(rank.bytesRead) > 1.05 * double(rank.bytesNeeded))
          die("a rank of " + std::to_string(ranks) + " read " + std::to_string(rank.bytesRead) + " bytes for " +
              std::to_string(rank.bytesNeeded));
      if (stats.total.bytesRead > stats.total.bytesNeeded)
        die("the node read bytes twice on " + std::to_string(ranks) + " ranks");
      int64_t offset = 0;
      for (size_t w = 0; w < c.values.size(); ++w) {
        const ValueInfo &value = c.values[w];
        Buffer whole(value.globalBytes()), stored(value.globalBytes());
        for (int64_t r = 0; r < ranks; ++r)
          scatterLocal(value.extents, r, 4, static_cast<char *>(buffers[size_t(r)].data()) + offset, whole.data());
        const StoredTensor &tensor = std::get<StoredSource>(c.sources[w]).tensors[0].whole;
        check(tensor.readElements(0, value.globalElements, stored.data()));
        if (std::memcmp(whole.data(), stored.data(), size_t(value.globalBytes())) != 0)
          die("the content differs on " + std::to_string(ranks) + " ranks");
        offset += value.localBytes();
      }
    }
  auto after = fileMd5(path);
  check(after.status());
  if (*before != *after)
    die(path + " was changed");
  std::printf("content: %s on 1, 2, 3, 4 and 8 ranks, by rows and by columns, is what the file holds, "
              "which is unchanged; no byte was read twice, no rank read another's\n\n",
              std::filesystem::path(path).filename().c_str());
}

int main(int argc, char **argv) {
  bool withCold = true;
  std::string only; // Rows or columns.
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&](const char *name) -> const char * {
      size_t n = std::strlen(name);
      return argument.compare(0, n, name) == 0 ? argument.c_str() + n : nullptr;
    };
    if (const char *v = value("--dir="))
      directory = v;
    else if (const char *v = value("--mib="))
      totalBytes = std::atoll(v) << 20;
    else if (const char *v = value("--repeats="))
      repeats = std::max(1, std::atoi(v));
    else if (argument == "--cut=rows" || argument == "--cut=columns")
      only = argument.substr(6);
    else if (argument == "--warm")
      withCold = false;
    else
      die("usage: loader-benchmark --dir=DIRECTORY [--mib=1024] [--repeats=5] [--warm] [--cut=rows|columns]");
  }
  if (directory.empty())
    die("--dir=DIRECTORY is missing");
  directory += "/shardkit-loader-benchmark." + std::to_string(::getpid());
  std::filesystem::create_directories(directory);
  struct Remove {
    ~Remove() { std::filesystem::remove_all(directory); }
  } remove;

  std::printf("%.2f GB in %lld matrices, median of %d\n\n", double(totalBytes) / 1e9, static_cast<long long>(tensors),
              repeats);
  const char *head =
      "| sharding | ranks | cache | direct GB/s | pread GB/s | direct : pread | best : best | by CPU time | : root-scatter | : TVM "
      "flow | : mmap | worst rank read : own | node read : needed | MiB beyond shards | readers "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  if (only != "columns") {
    std::string path = makeSet(16384);
    auto set = SourceSet::open(path);
    check(set.status());
    sameContent(path, *set);
    std::vector<double> cat;
    for (int i = 0; i < 3; ++i) {
      double start = now();
      if (std::system(("cat '" + path + "' > /dev/null").c_str()) != 0)
        die("cat failed");
      cat.push_back(now() - start);
    }
    std::printf("cat > /dev/null: %.2f GB/s (copies nothing out of the page cache twice, and has "
                "no destination)\n",
                double(totalBytes) / 1e9 / median(cat));
    aliased(path, *set, 4);
    std::printf("%s", head);
    std::fflush(stdout);
    for (int64_t ranks : {1, 2, 3, 4, 8})
      compare(path, "rows", cut(*set, ranks, false), false, ranks == 4);
    if (withCold)
      compare(path, "rows", cut(*set, 4, false), true, true);
    std::filesystem::remove(path);
  }
  if (only == "rows")
    return 0;
  if (only == "columns")
    std::printf("%s", head);
  for (int64_t ranks : {2, 4, 8}) {
    std::string path = makeSet(4096 * ranks);
    auto set = SourceSet::open(path);
    check(set.status());
    compare(path, "columns, runs of 4 KiB", cut(*set, ranks, true), false, ranks == 4);
    if (withCold && ranks == 4)
      compare(path, "columns, runs of 4 KiB", cut(*set, ranks, true), true, true);
    std::filesystem::remove(path);
  }
  {
    std::string path = makeSet(64 * 4);
    auto set = SourceSet::open(path);
    check(set.status());
    compare(path, "columns, runs of 64 B", cut(*set, 4, true), false, true);
  }
  return 0;
}
