//===- StepSchedule.cpp - Steps that may run at the same time -------------===//

#include "StepSchedule.h"
#include "Threads.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

using namespace mlir::spmd::solver;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Looks for a step that is waited for before another thread is let in: some microseconds, as steps take.
static constexpr unsigned kMaxSpins = 1 << 10;

StepSchedule::StepSchedule(ArrayRef<Step> steps) {
  struct Cell {
    std::optional<unsigned> writer;
    SmallVector<unsigned, 1> readers; // since it was written
  };
  llvm::DenseMap<size_t, unsigned> numbers;
  std::vector<Cell> cells;
  auto getCell = [&](size_t number) -> Cell & {
    auto [it, isNew] = numbers.try_emplace(number, cells.size());
    if (isNew)
      cells.emplace_back();
    return cells[it->second];
  };
  std::vector<unsigned> depth;
  waitBegin.push_back(0);
  for (auto [s, step] : llvm::enumerate(steps)) {
    SmallVector<unsigned, 24> before;
    for (size_t number : step.reads) {
      Cell &cell = getCell(number);
      if (cell.writer)
        before.push_back(*cell.writer);
      cell.readers.push_back(s);
    }
    for (size_t number : step.writes) {
      Cell &cell = getCell(number);
      if (cell.writer)
        before.push_back(*cell.writer);
      llvm::append_range(before, cell.readers);
      cell.writer = s;
      cell.readers.clear();
    }
    llvm::sort(before);
    before.erase(llvm::unique(before), before.end());
    unsigned stepDepth = 0;
    for (unsigned b : before)
      if (b != s) {
        waitsFor.push_back(b);
        stepDepth = std::max(stepDepth, depth[b] + 1);
      }
    depth.push_back(stepDepth);
    waitBegin.push_back(waitsFor.size());
    order.push_back(s);
  }
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return depth[a] < depth[b]; });
}

void StepSchedule::run(llvm::function_ref<void(unsigned)> run) const {
  std::unique_ptr<std::atomic<bool>[]> done(new std::atomic<bool>[order.size()]());
  std::atomic<size_t> next = 0;
  // When a thread takes a step, all earlier ones have begun, in any thread: no thread waits forever.
  workTogether(order.size(), [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < order.size();) {
      unsigned step = order[i];
      for (unsigned other : ArrayRef(waitsFor).slice(waitBegin[step], waitBegin[step + 1] - waitBegin[step]))
        for (unsigned spins = 0; !done[other].load(std::memory_order_acquire); ++spins)
          if (spins >= kMaxSpins)
            std::this_thread::yield();
      run(step);
      done[step].store(true, std::memory_order_release);
    }
  });
}
