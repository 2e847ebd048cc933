//===- Threads.cpp - Work on several threads ------------------------------===//

#include "Threads.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <atomic>

using namespace mlir::spmd;

static constexpr size_t kMaxThreads = 4;

void solver::workTogether(size_t maximum, llvm::function_ref<void()> work) {
  size_t threads = std::min<size_t>({maximum, kMaxThreads, llvm::parallel::strategy.compute_thread_count()});
  llvm::parallel::TaskGroup others;
  for (size_t i = 1; i < threads; ++i)
    others.spawn(work);
  work();
}

void solver::runTogether(size_t count, llvm::function_ref<void(size_t)> run) {
  std::atomic<size_t> next = 0;
  workTogether(count, [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      run(i);
  });
}
