//===- Executor.cpp - Runs programs on the ranks of this process ----------===//

#include "shardkit/rt/Execution/Executor.h"

#include "Context.h"
#include "PipelineRun.h"

#include "shardkit/rt/Support/Interrupt.h"
#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <unordered_map>

namespace shardkit::rt {

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
  int64_t first = 0; ///< The rank of worker 0.
  int64_t remaining = 0;
};

struct Worker {
  std::thread thread;
  std::atomic<uint32_t> ticket{0};
  std::atomic<bool> stop{false};
  std::shared_ptr<Job> job;
  sk_context context;
  int libraryThreads = 0;

  void loop(int64_t number) {
    uint32_t seen = 0;
    while (true) {
      ticket.wait(seen, std::memory_order_acquire);
      seen = ticket.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire))
        return;
      std::shared_ptr<Job> current = std::move(job);
      Status status;
      try {
        status = current->fn(current->first + number);
      } catch (const std::exception &error) {
        status = internalError("rank " + std::to_string(current->first + number) + ": " + error.what());
      }
      std::lock_guard lock(current->mutex);
      current->statuses[size_t(number)] = std::move(status);
      if (--current->remaining == 0)
        current->done.notify_all();
    }
  }
};

} // namespace

struct Executor::Impl {
  double timeout;
  cuda::Devices *devices = nullptr;
  cuda::NcclRanks *nccl = nullptr;
  std::unique_ptr<Backend> localBackend;
  Backend *backend;
  Fault fault;
  int cores = availableCores(), libraryThreads = 0;
  /// A job of which a rank has not returned, and the number of its ranks; null: none.
  std::shared_ptr<Job> late;
  mutable std::mutex lateMutex;
  int64_t lateDevices = 0;
  std::atomic<bool> isInterrupted{false};
  std::vector<std::unique_ptr<Worker>> workers;

  /// A function with its plans.
  struct Planned {
    Planned(const FunctionInfo &function, World &world) : running(function), plans(function, world) {}
    RunningFunction running;
    FunctionPlans plans;
    double lastSeconds = -1; ///< Of its last step; -1: none.
  };
  /// Groups and plans of what runs on one number of ranks.
  struct Ranks {
    std::unordered_map<const FunctionInfo *, std::unique_ptr<Planned>> functions;
    std::unordered_map<const PipelineInfo *, std::unique_ptr<PipelinePlans>> pipelines;
    std::unique_ptr<World> world; ///< Last: it names what of the above runs.
  };
  std::map<int64_t, Ranks> ranks;

  /// Workers [0, count), of the ranks from the first one of this process on.
  Status grow(int64_t first, int64_t count) {
    while (int64_t(workers.size()) < count) {
      auto worker = std::make_unique<Worker>();
      const int64_t number = int64_t(workers.size());
      SK_RETURN_IF_ERROR(startThread([worker = worker.get(), number] { worker->loop(number); },
                                     "rank " + std::to_string(first + number), &worker->thread));
      workers.push_back(std::move(worker));
    }
    return {};
  }

  bool isStuck() const {
    std::lock_guard lock(lateMutex);
    if (!late)
      return false;
    std::lock_guard job(late->mutex);
    return late->remaining > 0;
  }
  /// An error while a rank of an earlier step runs. What it ran in is freed when it has returned.
  Status recover() {
    if (isStuck())
      return internalError("a rank of an earlier step still runs");
    std::lock_guard lock(lateMutex);
    if (late && !backend->failed())
      ranks.erase(lateDevices);
    late = nullptr;
    return {};
  }
  void abandon(std::shared_ptr<Job> job, World &world) {
    std::lock_guard lock(lateMutex);
    late = std::move(job);
    lateDevices = world.size();
  }

  /// Calls fn(rank) on `count` ranks from `first` on. `world` may fail; then the ranks
  /// get a grace period to return. The end of the step is a meeting too: ranks that
  /// are done wait for the others of this process as long as in a collective.
  Status dispatch(int64_t first, int64_t count, std::function<Status(int64_t)> fn, World *world) {
    if (isStuck())
      return internalError("a rank of an earlier step still runs");
    SK_RETURN_IF_ERROR(grow(first, count));
    auto job = std::make_shared<Job>();
    job->fn = std::move(fn);
    job->first = first;
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
      constexpr double tick = interruptTick;
      double grace = std::clamp(timeout, 0.5, 5.0), patience = timeout;
      while (!job->done.wait_for(lock, std::chrono::duration<double>(tick), finished)) {
        lock.unlock();
        if (rt::isInterrupted())
          isInterrupted = true;
        lock.lock();
        if (isInterrupted.exchange(false) && !world->failed()) {
          world->fail(Status(Code::Aborted, "the step was interrupted"));
          grace = 0.5;
        }
        if (world->failed()) {
          if ((grace -= tick) > 0)
            continue;
          lock.unlock();
          abandon(job, *world);
          return {};
        }
        // Ranks that still meet others time out by themselves.
        patience = job->remaining < count ? patience - tick : timeout;
        if (patience <= 0)
          failAtEnd(*world, first, count);
      }
    }
    for (Status &status : job->statuses)
      if (!status.ok())
        return status;
    return {};
  }

  /// The ranks of that many devices, with a world; null and `status` where the runtime
  /// has not as many.
  Expected<Ranks *> ranksFor(const std::string &what, int64_t devices);
  Expected<Planned *> planned(const FunctionInfo &function);
  /// One step of what runs on `ranks`: body(context, rank) is a rank's part, and returns
  /// what a program does.
  Status step(Ranks &ranks, const Running &running, std::function<int32_t(sk_context &, int64_t)> body, RunStats *stats,
              StepStart *start, double *lastSeconds = nullptr);
  /// An error that no rank has to end for; one of this process alone ends the ranks of others.
  Status bind(StepStart &start, World &world);
  /// Runs the only rank on this thread: a short step costs less than to wake another one.
  Status runHere(const std::function<Status(int64_t)> &fn) {
    const int threads = rt::libraryThreads();
    Status status = catchExceptions([&] { return fn(0); });
    rt::setLibraryThreads(threads);
    return status;
  }

  int64_t workersWithTeams = 0; ///< They have library threads that wait for them.
  std::mutex workMutex;         ///< Held while workers have something to do.
  void moveTeams(int64_t first, int64_t count, bool isHere);
  /// Lets workers from `kept` on give up their library threads.
  void releaseTeams(int64_t first, int64_t kept);

  void failAtEnd(World &world, int64_t first, int64_t count) {
    std::vector<int> arrived, missing;
    for (int64_t rank = first; rank < first + count; ++rank)
      (world.record(int(rank)).finished.load() ? arrived : missing).push_back(int(rank));
    if (!arrived.empty() && !missing.empty())
      world.fail(world.timeoutStatus("end of the step", arrived[0], arrived, missing));
  }
};

namespace {

/// The executor of this process whose workers have library threads.
struct TeamOwner {
  std::mutex mutex;
  void *executor = nullptr;

  static TeamOwner &get() {
    static TeamOwner owner;
    return owner;
  }
};
/// This thread, which is no worker, has library threads.
thread_local bool callerHasTeam = false;

} // namespace

void Executor::Impl::releaseTeams(int64_t first, int64_t kept) {
  if (workersWithTeams <= kept)
    return;
  (void)dispatch(
      first, workersWithTeams,
      [=](int64_t rank) {
        if (rank - first >= kept)
          releaseLibraryThreads();
        return Status();
      },
      nullptr);
  workersWithTeams = kept;
}

/// Before a step on `count` workers, or on this thread: those of all sessions that are not used now give up their
/// library threads, with which the others would sleep between loops.
void Executor::Impl::moveTeams(int64_t first, int64_t count, bool isHere) {
  TeamOwner &owner = TeamOwner::get();
  std::lock_guard lock(owner.mutex);
  if (auto *other = static_cast<Impl *>(owner.executor); other && other != this)
    if (std::unique_lock idle(other->workMutex, std::try_to_lock); idle) // Else both compute at the same time.
      other->releaseTeams(0, 0);
  const int64_t kept = isHere ? 0 : count;
  releaseTeams(first, kept);
  workersWithTeams = kept;
  owner.executor = kept ? this : nullptr;
  if (!isHere && std::exchange(callerHasTeam, false))
    releaseLibraryThreads();
  callerHasTeam |= isHere;
}

Executor::Executor(double timeoutSeconds, Backend *backend) : impl_(std::make_unique<Impl>()) {
  impl_->timeout = timeoutSeconds;
  if (!backend)
    impl_->localBackend = makeLocalBackend();
  impl_->backend = backend ? backend : impl_->localBackend.get();
  if (!Fault::fromEnvironment(impl_->fault).ok())
    impl_->fault = Fault(); // Whoever reads the environment for users says so.
}

void Executor::setLibraryThreads(int threads) { impl_->libraryThreads = threads; }

void Executor::setDevices(cuda::Devices *devices, cuda::NcclRanks *nccl) {
  impl_->devices = devices;
  impl_->nccl = nccl;
}

Executor::~Executor() {
  {
    TeamOwner &owner = TeamOwner::get();
    std::lock_guard lock(owner.mutex);
    if (owner.executor == impl_.get())
      owner.executor = nullptr;
  }
  if (stuck()) {
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

bool Executor::stuck() const { return impl_->isStuck(); }

void Executor::interrupt() { impl_->isInterrupted = true; }

const Fault &Executor::fault() const { return impl_->fault; }

Status Executor::forEachRank(int64_t ranks, const std::function<Status(int64_t)> &fn) {
  auto [begin, end] = impl_->backend->localRanks(ranks);
  std::lock_guard working(impl_->workMutex);
  return impl_->dispatch(begin, end - begin, fn, nullptr);
}

Expected<Executor::Impl::Ranks *> Executor::Impl::ranksFor(const std::string &what, int64_t devices) {
  if (devices > maxRanks)
    return invalid(what + " needs " + std::to_string(devices) + " devices, the runtime has at most " +
                   std::to_string(maxRanks));
  Ranks &known = ranks[devices];
  if (!known.world) {
    known.world = backend->makeWorld(int(devices), timeout);
    known.world->fault() = fault;
  }
  return &known;
}

Expected<Executor::Impl::Planned *> Executor::Impl::planned(const FunctionInfo &function) {
  SK_ASSIGN_OR_RETURN(Ranks * known, ranksFor("function '" + function.name + "'", function.devices));
  std::unique_ptr<Planned> &planned = known->functions[&function];
  if (!planned)
    planned = std::make_unique<Planned>(function, *known->world);
  SK_RETURN_IF_ERROR(planned->plans.status);
  return planned.get();
}

Status Executor::Impl::bind(StepStart &start, World &world) {
  start.hasBegun = true;
  Status bound = catchExceptions(start.bind);
  if (devices)
    bound = backend->agree(bound);
  else if (!bound.ok() && backend->processes() > 1)
    world.fail(bound);
  return bound;
}

Status Executor::Impl::step(Ranks &ranks, const Running &running, std::function<int32_t(sk_context &, int64_t)> body,
                            RunStats *stats, StepStart *given, double *lastSeconds) {
  World &world = *ranks.world;
  const int64_t devices = world.size();
  auto [begin, end] = backend->localRanks(devices);
  const int64_t first = begin;
  world.startRun(running, begin, end);
  // Nobody is seen with the records of the last run.
  const bool isReady = !given || given->ready.ok();
  SK_RETURN_IF_ERROR(backend->agree(isReady ? grow(begin, end - begin) : given->ready));
  const Status bound = given ? bind(*given, world) : Status();
  if (!bound.ok() && !world.failed())
    return bound;
  const int64_t together = std::min<int64_t>(devices, backend->blockOf(devices) * backend->nodeProcesses());
  const int threads = libraryThreads > 0 ? libraryThreads : std::max(1, cores / int(together));
  // Without peers nothing in the step waits, so it needs no watch.
  constexpr double shortSeconds = 0.01;
  const bool isHere = devices == 1 && end - begin == 1 && !this->devices && lastSeconds && *lastSeconds >= 0 &&
                      *lastSeconds < shortSeconds;
  std::lock_guard working(workMutex);
  if (threads > 1)
    moveTeams(begin, end - begin, isHere);
  auto start = std::chrono::steady_clock::now();
  isInterrupted = false;
  std::function<Status(int64_t)> work = [this, &world, body = std::move(body), threads, first, isHere,
                                         values = given ? given->values : nullptr](int64_t rank) -> Status {
    Worker &worker = *workers[size_t(rank - first)];
    if (isHere) {
      if (rt::libraryThreads() != threads)
        rt::setLibraryThreads(threads);
    } else if (worker.libraryThreads != threads) {
      rt::setLibraryThreads(threads);
      worker.libraryThreads = threads;
    }
    sk_context &context = worker.context;
    context.rank = context.meshRank = int(rank);
    context.world = &world;
    context.plans = nullptr;
    context.stats = nullptr;
    context.contractionStats = nullptr;
    context.values = values;
    context.status = 0;
    context.isGone = false;
    context.device = this->devices ? this->devices->of(rank) : nullptr;
    context.nccl = nccl ? nccl->of(rank) : nullptr;
    Status status = context.device ? context.device->enter() : Status();
    int32_t returned = status.ok() ? body(context, rank) : int32_t(status.code());
    if (context.isGone)
      return {};
    if (context.nccl && status.ok())
      context.nccl->wait(world);
    else if (context.device && status.ok() && !world.failed())
      status = context.device->wait();
    if (!status.ok()) {
      world.fail(status.withContext("rank " + std::to_string(rank)), int(rank));
      return {};
    }
    world.record(int(rank)).finished.store(true, std::memory_order_relaxed);
    if (returned != 0)
      world.fail(
          internalError("rank " + std::to_string(rank) + ": the program returned status " + std::to_string(returned)),
          int(rank));
    return {};
  };
  Status dispatched = !bound.ok() ? bound
                      : isHere    ? runHere(work)
                                  : dispatch(begin, end - begin, std::move(work), &world);
  if (dispatched.ok() && !world.failed() && end > begin) {
    // A rank that went without a word is missed here at the latest.
    std::vector<int> arrived, missing;
    for (int64_t rank = begin; rank < end; ++rank)
      (world.record(int(rank)).finished.load() ? arrived : missing).push_back(int(rank));
    if (!missing.empty())
      world.fail(internalError("end of the step: missing " + world.describeRank(missing[0])));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (stats)
    stats->seconds = seconds;
  if (lastSeconds)
    *lastSeconds = seconds;
  if (dispatched.ok() && world.failed())
    dispatched = world.status();
  if (isStuck())
    return dispatched;
  dispatched = backend->agree(dispatched, &world, "end of the step");
  if (nccl && dispatched.ok())
    dispatched = nccl->compareSequences(*backend).withContext(running.title());
  // Its groups are out of step. (Those of several processes have messages under way
  // and are of no more use.)
  if (world.failed() && !backend->failed())
    this->ranks.erase(devices);
  return dispatched;
}

static std::vector<RankBuffers> buffersOf(std::vector<RankMemory> &memory) {
  std::vector<RankBuffers> buffers;
  for (RankMemory &one : memory)
    buffers.push_back(one.buffers());
  return buffers;
}

Status Executor::run(const FunctionInfo &function, sk_program program, std::vector<RankMemory> &memory,
                     RunStats *stats) {
  return run(function, program, buffersOf(memory), stats);
}

Status Executor::run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs,
                     std::vector<RankMemory> &memory, RunStats *stats) {
  return run(pipeline, programs, buffersOf(memory), stats);
}

Status Executor::run(const FunctionInfo &function, sk_program program, const std::vector<RankBuffers> &buffers,
                     RunStats *stats, StepStart *start) {
  SK_RETURN_IF_ERROR(impl_->recover());
  SK_ASSIGN_OR_RETURN(Impl::Planned * known, impl_->planned(function));
  FunctionPlans *plans = &known->plans;
  if (stats) {
    stats->functions.resize(1);
    stats->functions[0].collectives.resize(size_t(function.devices));
    for (auto &perRank : stats->functions[0].collectives)
      perRank.resize(plans->plans.size());
    stats->functions[0].contractions.resize(size_t(function.devices));
  }
  return impl_->step(
      impl_->ranks[function.devices], known->running,
      [plans, &buffers, stats, program, &function](sk_context &context, int64_t rank) -> int32_t {
        context.plans = plans;
        if (stats) {
          context.stats = &stats->functions[0].collectives[size_t(rank)];
          context.contractionStats = &stats->functions[0].contractions[size_t(rank)];
        }
        const RankBuffers &local = buffers[size_t(rank)];
        if (!context.device)
          return program(&context, local.arguments.data(), local.results.data(), local.arena);
        Status status;
        if (context.nccl)
          status = context.nccl->prepare(plans->plans, *context.world);
        if (!status.ok())
          return failRun(context, status);
        std::vector<void *> arguments = local.arguments;
        for (size_t i = 0; i < function.arguments.size(); ++i)
          if (const ValueInfo &argument = function.arguments[i]; argument.kind == ValueKind::Size)
            arguments[i] = context.device->onHost(argument.range->first);
        auto call = [&] { return program(&context, arguments.data(), local.results.data(), local.arena); };
        int32_t returned =
            context.device->record(program, arguments.data(), function.arguments.size(), local.results.data(),
                                   function.results.size(), local.arena, call, status);
        return status.ok() ? returned : failRun(context, status);
      },
      stats, start, &known->lastSeconds);
}

Status
Executor::runCollectives(const FunctionInfo &function,
                         const std::function<std::pair<const void *, void *>(int64_t rank, size_t id)> &buffers) {
  SK_RETURN_IF_ERROR(impl_->recover());
  SK_ASSIGN_OR_RETURN(Impl::Planned * known, impl_->planned(function));
  FunctionPlans *plans = &known->plans;
  return impl_->step(
      impl_->ranks[function.devices], known->running,
      [plans, &buffers](sk_context &context, int64_t rank) -> int32_t {
        context.plans = plans;
        if (context.nccl)
          if (Status status = context.nccl->prepare(plans->plans, *context.world); !status.ok())
            return failRun(context, status);
        for (size_t id = 0; id < plans->plans.size() && context.status == 0; ++id) {
          auto [in, out] = buffers(rank, id);
          sk_collective(&context, int64_t(id), in, out);
        }
        return context.status;
      },
      nullptr, nullptr);
}

Status Executor::run(const PipelineInfo &pipeline, const std::vector<sk_program> &programs,
                     const std::vector<RankBuffers> &buffers, RunStats *stats, StepStart *start) {
  SK_RETURN_IF_ERROR(impl_->recover());
  SK_ASSIGN_OR_RETURN(Impl::Ranks * ranks,
                      impl_->ranksFor("pipeline '" + pipeline.signature.name + "'", pipeline.signature.devices));
  std::unique_ptr<PipelinePlans> &known = ranks->pipelines[&pipeline];
  if (!known)
    known = std::make_unique<PipelinePlans>(pipeline, *ranks->world, impl_->nccl != nullptr);
  PipelinePlans &plans = *known;
  SK_RETURN_IF_ERROR(plans.status);
  if (stats)
    plans.prepare(*stats);
  return impl_->step(
      *ranks, plans,
      [&plans, &programs, &buffers, stats](sk_context &context, int64_t rank) {
        return plans.run(context, programs, buffers[size_t(rank)], stats);
      },
      stats, start);
}

Status Executor::runReference(const FunctionInfo &function, sk_program program, RankMemory &memory) {
  int32_t returned = 0;
  const RankBuffers buffers = memory.buffers();
  auto world = std::make_unique<LocalWorld>(1, impl_->timeout);
  std::lock_guard working(impl_->workMutex);
  Status status = impl_->dispatch(
      0, 1,
      [&](int64_t) -> Status {
        sk_context &context = impl_->workers[0]->context;
        context.rank = context.meshRank = 0;
        context.nccl = nullptr;
        context.device = nullptr;
        context.world = world.get();
        context.plans = nullptr;
        context.stats = nullptr;
        context.values = nullptr;
        context.status = 0;
        context.isGone = false;
        returned = program(&context, buffers.arguments.data(), buffers.results.data(), buffers.arena);
        return {};
      },
      nullptr);
  SK_RETURN_IF_ERROR(status);
  if (world->failed() || returned != 0)
    return internalError("function '" + function.name + "': the reference returned status " + std::to_string(returned));
  return {};
}

Status Executor::call(sk_program program, int64_t rank, int64_t ranks, void *const *arguments, void *const *results,
                      int64_t arenaBytes, ValueComparison *values) {
  LocalWorld world(int(ranks), 60);
  sk_context context;
  context.rank = context.meshRank = int(rank);
  context.world = &world;
  context.values = values;
  context.isCounterpart = values != nullptr;
  Buffer arena(arenaBytes);
  int32_t returned = program(&context, arguments, results, arena.data());
  if (world.failed())
    return world.status();
  if (returned != 0)
    return internalError("rank " + std::to_string(rank) + ": the program returned status " + std::to_string(returned));
  return {};
}

} // namespace shardkit::rt
