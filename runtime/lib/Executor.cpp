//===- Executor.cpp - Runs a function on threads of this process ------------===//

#include "shardkit/rt/Executor.h"

#include "Context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unordered_map>

namespace shardkit::rt {

void RankMemory::bind(const FunctionInfo &function, bool global) {
  int64_t at = 0;
  auto place = [&](int64_t bytes) {
    int64_t start = at;
    at += (bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0);
    return start;
  };
  auto bytesOf = [&](const ValueInfo &value) {
    return global ? value.globalBytes() : value.localBytes();
  };
  std::vector<int64_t> arguments, results;
  if (global)
    for (const FunctionInfo::ReferenceArgument &given : function.referenceArguments)
      arguments.push_back(place(function.referenceBytes(given)));
  else
    for (const ValueInfo &value : function.arguments)
      arguments.push_back(place(bytesOf(value)));
  for (const ValueInfo &value : function.results)
    results.push_back(place(bytesOf(value)));
  int64_t arena = place(global && function.reference
                            ? function.reference->arenaBytes
                            : function.entry.arenaBytes);
  used_ = at;
  memory_.reserve(at);
  char *base = static_cast<char *>(memory_.data());
  arguments_.clear();
  results_.clear();
  for (int64_t offset : arguments)
    arguments_.push_back(base + offset);
  for (int64_t offset : results)
    results_.push_back(base + offset);
  arena_ = base + arena;
}

namespace {

int availableCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// What the threads and the owner share; outlives both when a rank hangs.
struct Job {
  std::function<Status(int64_t)> fn;
  std::vector<Status> statuses;
  std::mutex mutex;
  std::condition_variable done;
  int64_t remaining = 0;
};

struct Worker {
  std::thread thread;
  std::atomic<uint32_t> ticket{0};
  std::atomic<bool> stop{false};
  std::shared_ptr<Job> job;
  sk_context context;
  int libraryThreads = 0;

  void loop(int64_t rank) {
    uint32_t seen = 0;
    while (true) {
      ticket.wait(seen, std::memory_order_acquire);
      seen = ticket.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire))
        return;
      std::shared_ptr<Job> current = std::move(job);
      Status status;
      try {
        status = current->fn(rank);
      } catch (const std::exception &error) {
        status = internalError("rank " + std::to_string(rank) + ": " +
                               error.what());
      }
      std::lock_guard lock(current->mutex);
      current->statuses[size_t(rank)] = std::move(status);
      if (--current->remaining == 0)
        current->done.notify_all();
    }
  }
};

} // namespace

struct LocalExecutor::Impl {
  double timeout;
  int cores = availableCores();
  bool stuck = false;
  std::vector<std::unique_ptr<Worker>> workers;

  /// Groups and plans of the functions on one number of ranks.
  struct Ranks {
    std::unique_ptr<World> world;
    std::unordered_map<const FunctionInfo *, std::unique_ptr<FunctionPlans>> plans;
  };
  std::map<int64_t, Ranks> ranks;

  void grow(int64_t count) {
    while (int64_t(workers.size()) < count) {
      workers.push_back(std::make_unique<Worker>());
      Worker *worker = workers.back().get();
      int64_t rank = int64_t(workers.size()) - 1;
      worker->thread = std::thread([worker, rank] { worker->loop(rank); });
    }
  }

  /// `world` may fail; then the ranks get a grace period to return.
  Status dispatch(int64_t count, std::function<Status(int64_t)> fn,
                  World *world) {
    if (stuck)
      return internalError("a rank of an earlier step still runs");
    grow(count);
    auto job = std::make_shared<Job>();
    job->fn = std::move(fn);
    job->statuses.resize(size_t(count));
    job->remaining = count;
    for (int64_t r = 0; r < count; ++r) {
      workers[size_t(r)]->job = job;
      workers[size_t(r)]->ticket.fetch_add(1, std::memory_order_release);
      workers[size_t(r)]->ticket.notify_one();
    }
    std::unique_lock lock(job->mutex);
    auto finished = [&] { return job->remaining == 0; };
    if (!world) {
      job->done.wait(lock, finished);
    } else {
      double grace = std::clamp(timeout, 0.5, 5.0);
      while (!job->done.wait_for(lock, std::chrono::milliseconds(200),
                                 finished)) {
        if (world->failed() && (grace -= 0.2) <= 0) {
          stuck = true;
          return {};
        }
      }
    }
    for (Status &status : job->statuses)
      if (!status.ok())
        return status;
    return {};
  }
};

LocalExecutor::LocalExecutor(double timeoutSeconds)
    : impl_(std::make_unique<Impl>()) {
  impl_->timeout = timeoutSeconds;
}

LocalExecutor::~LocalExecutor() {
  if (impl_->stuck) {
    // A thread still runs; what it may touch is left alone.
    for (auto &worker : impl_->workers)
      worker->thread.detach();
    (void)impl_.release();
    return;
  }
  for (auto &worker : impl_->workers) {
    worker->stop.store(true, std::memory_order_release);
    worker->ticket.fetch_add(1, std::memory_order_release);
    worker->ticket.notify_one();
    worker->thread.join();
  }
}

bool LocalExecutor::stuck() const { return impl_->stuck; }

Status
LocalExecutor::forEachRank(int64_t ranks,
                           const std::function<Status(int64_t)> &fn) {
  return impl_->dispatch(ranks, fn, nullptr);
}

Status LocalExecutor::run(const FunctionInfo &function, sk_program program,
                          std::vector<RankMemory> &memory, RunStats *stats) {
  const int64_t devices = function.devices;
  if (devices > maxRanks)
    return invalid("function '" + function.name + "' needs " +
                   std::to_string(devices) +
                   " devices, the local backend runs at most " +
                   std::to_string(maxRanks));
  Impl::Ranks &ranks = impl_->ranks[devices];
  if (!ranks.world)
    ranks.world = std::make_unique<World>(int(devices), impl_->timeout);
  World &world = *ranks.world;
  std::unique_ptr<FunctionPlans> &known = ranks.plans[&function];
  if (!known)
    known = std::make_unique<FunctionPlans>(function, world);
  SK_RETURN_IF_ERROR(known->status);
  FunctionPlans &plans = *known;
  if (stats) {
    stats->collectives.resize(size_t(devices));
    for (auto &perRank : stats->collectives)
      perRank.resize(plans.plans.size());
  }
  world.startRun(function);
  impl_->grow(devices);
  const int threads = std::max(1, impl_->cores / int(devices));
  auto start = std::chrono::steady_clock::now();
  Status dispatched = impl_->dispatch(
      devices,
      [this, &world, &plans, &memory, stats, program,
       threads](int64_t rank) -> Status {
        Worker &worker = *impl_->workers[size_t(rank)];
        if (worker.libraryThreads != threads) {
          setLibraryThreads(threads);
          worker.libraryThreads = threads;
        }
        sk_context &context = worker.context;
        context.rank = int(rank);
        context.world = &world;
        context.plans = &plans;
        context.stats = stats ? &stats->collectives[size_t(rank)] : nullptr;
        context.status = 0;
        RankMemory &local = memory[size_t(rank)];
        int32_t returned = program(&context, local.arguments(), local.results(),
                                   local.arena());
        world.record(int(rank)).finished.store(true,
                                               std::memory_order_relaxed);
        if (returned != 0)
          world.fail(internalError("rank " + std::to_string(rank) +
                                   ": the program returned status " +
                                   std::to_string(returned)));
        return {};
      },
      &world);
  if (stats)
    stats->seconds = std::chrono::duration<double>(
                         std::chrono::steady_clock::now() - start)
                         .count();
  if (!dispatched.ok())
    return dispatched;
  if (!world.failed())
    return {};
  Status status = world.status().withContext("function '" + function.name + "'");
  if (!impl_->stuck)
    impl_->ranks.erase(devices); // Its groups are out of step.
  return status;
}

Status LocalExecutor::runReference(const FunctionInfo &function,
                                   sk_program program, RankMemory &memory) {
  int32_t returned = 0;
  auto world = std::make_unique<World>(1, impl_->timeout);
  Status status = impl_->dispatch(
      1,
      [&](int64_t) -> Status {
        sk_context &context = impl_->workers[0]->context;
        context.rank = 0;
        context.world = world.get();
        context.plans = nullptr;
        context.stats = nullptr;
        context.status = 0;
        returned = program(&context, memory.arguments(), memory.results(),
                           memory.arena());
        return {};
      },
      nullptr);
  SK_RETURN_IF_ERROR(status);
  if (world->failed() || returned != 0)
    return internalError("function '" + function.name +
                         "': the reference returned status " +
                         std::to_string(returned));
  return {};
}

Status LocalExecutor::call(sk_program program, int64_t rank, int64_t ranks,
                           void *const *arguments, void *const *results, int64_t arenaBytes) {
  World world(int(ranks), 60);
  sk_context context;
  context.rank = int(rank);
  context.world = &world;
  Buffer arena(arenaBytes);
  int32_t returned = program(&context, arguments, results, arena.data());
  if (world.failed())
    return world.status();
  if (returned != 0)
    return internalError("rank " + std::to_string(rank) + ": the program returned status " +
                         std::to_string(returned));
  return {};
}

} // namespace shardkit::rt
