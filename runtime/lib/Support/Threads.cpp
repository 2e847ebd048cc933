//===- Threads.cpp - The threads that a rank computes on ------------------===//

#include "shardkit/rt/Support/Threads.h"

#include <system_error>

#include <algorithm>
#include <atomic>
#include <dlfcn.h>

namespace shardkit::rt {

Status startThread(std::function<void()> work, const std::string &what, std::thread *thread) {
  try {
    std::thread started(std::move(work));
    if (thread)
      *thread = std::move(started);
    else
      started.detach();
    return {};
  } catch (const std::system_error &error) {
    return internalError("no thread can be started for " + what + ": " + error.code().message() +
                         ", expected a higher limit of processes (ulimit -u) or of memory");
  }
}

namespace {

/// The library of products brings its OpenMP runtime along; linking one ourselves could bring
/// in a second. Without that library, GCC's is loaded where there is one. LLVM's has GCC's
/// functions, too.
struct OpenMp {
  void (*setThreads)(int);
  int (*maxThreads)();
  int (*pauseAll)(int kind);
  void (*parallel)(void (*)(void *), void *, unsigned threads, unsigned flags);

  static const OpenMp &get() {
    static const OpenMp found = [] {
      OpenMp one = {};
      void *library = RTLD_DEFAULT;
      if (!::dlsym(library, "GOMP_parallel"))
        if (void *loaded = ::dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL))
          library = loaded;
      auto look = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      };
      look(one.setThreads, "omp_set_num_threads");
      look(one.maxThreads, "omp_get_max_threads");
      look(one.pauseAll, "omp_pause_resource_all");
      look(one.parallel, "GOMP_parallel");
      return one;
    }();
    return found;
  }
};

/// Parts are taken as threads come to them: one that has to wait holds up nobody.
struct Chunks {
  const std::function<void(int64_t, int64_t)> &body;
  const int64_t count, size;
  std::atomic<int64_t> next{0};

  static void work(void *data) {
    Chunks &chunks = *static_cast<Chunks *>(data);
    while (true) {
      const int64_t begin = chunks.next.fetch_add(chunks.size, std::memory_order_relaxed);
      if (begin >= chunks.count)
        return;
      chunks.body(begin, std::min(begin + chunks.size, chunks.count));
    }
  }
};

} // namespace

void setLibraryThreads(int threads) {
  if (OpenMp::get().setThreads)
    OpenMp::get().setThreads(threads);
}

int libraryThreads() { return OpenMp::get().maxThreads ? OpenMp::get().maxThreads() : 1; }

void releaseLibraryThreads() {
  constexpr int soft = 1; // omp_pause_soft
  if (OpenMp::get().pauseAll)
    (void)OpenMp::get().pauseAll(soft);
}

void onLibraryThreads(int64_t count, const std::function<void(int64_t, int64_t)> &body) {
  const OpenMp &openMp = OpenMp::get();
  const int64_t threads = openMp.parallel && openMp.maxThreads ? std::min<int64_t>(openMp.maxThreads(), count) : 1;
  if (threads <= 1) {
    if (count > 0)
      body(0, count);
    return;
  }
  constexpr int64_t chunksPerThread = 4;
  const int64_t chunks = threads * chunksPerThread;
  Chunks work{body, count, (count + chunks - 1) / chunks};
  openMp.parallel(Chunks::work, &work, unsigned(threads), 0);
}

} // namespace shardkit::rt
