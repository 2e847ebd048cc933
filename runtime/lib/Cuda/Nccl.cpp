//===- Nccl.cpp - Communicators, and what is under way on them ------------===//

#include "NcclImpl.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace shardkit::rt::cuda {

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

static std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

NcclRank::NcclRank(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NcclRank::~NcclRank() = default;

NcclRank::Impl::~Impl() {
  closeAll(*ofProcess);
  (void)device.enter();
  if (!isAborted)
    for (ncclComm_t comm : communicators())
      api.ncclCommDestroy(comm);
  for (const InFlight &one : inFlight)
    idleEvents.insert(idleEvents.end(), {one.begin, one.end});
  for (auto &[id, one] : started)
    idleEvents.push_back(one);
  for (CUevent one : idleEvents)
    driver.cuEventDestroy(one);
}

std::vector<ncclComm_t> NcclRank::Impl::communicators() const {
  std::vector<ncclComm_t> all;
  for (const auto &[groups, comm] : split)
    if (comm)
      all.push_back(comm);
  if (world)
    all.push_back(world);
  return all;
}

void NcclRank::Impl::closeAll(std::vector<Impl *> &all) {
  for (Status (Impl::*step)() : {&Impl::finalize, &Impl::waitFinalized})
    for (Impl *one : all) {
      if (one->isAborted)
        continue;
      if (Status status = (one->*step)(); !status.ok()) {
        std::fprintf(stderr, "warning: rank %d: %s\n", one->rank, status.message().c_str());
        one->abort();
      }
    }
  all.clear();
}

Status NcclRank::Impl::finalize() {
  SK_RETURN_IF_ERROR(device.enter());
  for (ncclComm_t comm : communicators())
    SK_RETURN_IF_ERROR(call(api.ncclCommFinalize(comm), "closing a communicator", comm));
  return {};
}

Status NcclRank::Impl::waitFinalized() {
  for (ncclComm_t comm : communicators())
    SK_RETURN_IF_ERROR(settle(comm, "closing a communicator"));
  return {};
}

void NcclRank::Impl::abort() {
  if (isAborted)
    return;
  isAborted = true;
  for (ncclComm_t comm : communicators())
    api.ncclCommAbort(comm);
}

Status NcclRank::Impl::settle(ncclComm_t comm, const std::string &what) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    ncclResult_t state = ncclSuccess;
    SK_RETURN_IF_ERROR(call(api.ncclCommGetAsyncError(comm, &state), what, comm));
    if (state != ncclInProgress)
      return call(state, what, comm);
    if (secondsSince(start) > timeout)
      return Status(Code::Timeout,
                    what + ": rank " + std::to_string(rank) + " waited " + secondsText(timeout) + " s for NCCL");
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Status NcclRank::Impl::connect(const ncclUniqueId &id) {
  SK_RETURN_IF_ERROR(device.enter());
  ncclConfig_t config;
  config.blocking = 0;
  const std::string what = device.name() + ": joining the communicator of all ranks";
  SK_RETURN_IF_ERROR(call(api.ncclCommInitRankConfig(&world, ranks, id, rank, &config), what, nullptr));
  return settle(world, what);
}

Status NcclRank::prepare(std::span<const std::unique_ptr<CollectivePlan>> plans, World &world) {
  for (const auto &plan : plans) {
    if (impl_->commOf.count(plan.get()))
      continue;
    // The ranks of all groups, for each rank; a rank without one takes part in the split.
    std::vector<std::vector<int>> groups = plan->allParticipants();
    ncclComm_t &comm = impl_->commOf[plan.get()];
    if (groups.size() == 1 && int(groups[0].size()) == impl_->ranks) {
      comm = impl_->world;
      continue;
    }
    auto [known, added] = impl_->split.emplace(groups, nullptr);
    if (added) {
      int colour = -1; // None.
      for (size_t g = 0; g < groups.size(); ++g)
        if (std::binary_search(groups[g].begin(), groups[g].end(), impl_->rank))
          colour = int(g);
      ncclConfig_t config;
      config.blocking = 0;
      const std::string what = plan->describe() + ": its communicator";
      SK_RETURN_IF_ERROR(impl_->call(
          impl_->api.ncclCommSplit(impl_->world, colour, impl_->rank, &known->second, &config), what, impl_->world));
      SK_RETURN_IF_ERROR(impl_->settle(impl_->world, what));
      if (known->second)
        SK_RETURN_IF_ERROR(impl_->settle(known->second, what));
    }
    comm = known->second;
  }
  return {};
}

Expected<CUevent> NcclRank::Impl::event() {
  if (!idleEvents.empty()) {
    CUevent one = idleEvents.back();
    idleEvents.pop_back();
    return one;
  }
  CUevent one = nullptr;
  SK_RETURN_IF_ERROR(driver.check(driver.cuEventCreate(&one, CU_EVENT_DISABLE_TIMING), device.name() + ": an event"));
  return one;
}

Status NcclRank::run(CollectivePlan &plan, int64_t count, const void *in, void *out, World &world) {
  Impl &impl = *impl_;
  constexpr size_t maxInFlight = 256;
  if (impl.inFlight.size() >= maxInFlight && !drain(world, maxInFlight / 2))
    return Status(Code::Aborted, "");
  Impl::Sequence &sequence = impl.sequences[plan.participants(impl.rank)];
  ++sequence.count;
  for (int64_t value : {world.fault().announced(impl.rank, plan.info().id), count})
    sequence.hash = (sequence.hash ^ uint64_t(value)) * 0x9e3779b97f4a7c15u + 1;
  const CUstream stream = impl.device.impl().communication;
  SK_ASSIGN_OR_RETURN(CUevent begin, impl.event());
  SK_ASSIGN_OR_RETURN(CUevent end, impl.event());
  SK_RETURN_IF_ERROR(impl.device.impl().record(begin, stream));
  impl.inFlight.push_back({&plan.base(), begin, end});
  Status status = impl.perform(plan, count, in, out, impl.commOf.at(&plan.base()));
  // Recorded in any case: it is waited for.
  SK_RETURN_IF_ERROR(impl.device.impl().record(end, stream));
  return status.withContext(plan.describe());
}

Status NcclRank::recordStarted(int64_t id) {
  SK_ASSIGN_OR_RETURN(CUevent event, impl_->event());
  impl_->started[id] = event;
  return impl_->device.impl().record(event, impl_->device.impl().communication);
}

Status NcclRank::waitStarted(int64_t id) {
  auto known = impl_->started.find(id);
  if (known == impl_->started.end())
    return internalError("the program waits for collective " + std::to_string(id) + ", which it has not started");
  SK_RETURN_IF_ERROR(impl_->device.impl().waitFor(impl_->device.impl().compute, known->second));
  impl_->idleEvents.push_back(known->second);
  impl_->started.erase(known);
  return {};
}

bool NcclRank::drain(World &world, size_t pending) {
  Impl &impl = *impl_;
  auto start = std::chrono::steady_clock::now();
  bool hasBegun = false;
  for (int64_t i = 0; impl.inFlight.size() > pending; ++i) {
    Impl::InFlight &front = impl.inFlight.front();
    const CUresult ended = impl.driver.cuEventQuery(front.end);
    if (ended == CUDA_SUCCESS) {
      impl.idleEvents.insert(impl.idleEvents.end(), {front.begin, front.end});
      impl.inFlight.pop_front();
      hasBegun = false;
      i = 0;
      continue;
    }
    Status status;
    if (ended != CUDA_ERROR_NOT_READY)
      status = impl.driver.check(ended, impl.device.name() + ": waiting for it");
    ncclResult_t state = ncclSuccess;
    const ncclComm_t comm = impl.commOf.at(front.plan);
    if (status.ok() && comm)
      status = impl.call(impl.api.ncclCommGetAsyncError(comm, &state), front.plan->describe(), comm);
    if (status.ok())
      status = impl.call(state, front.plan->describe(), comm);
    if (!status.ok())
      world.fail(status.withContext("rank " + std::to_string(impl.rank)), impl.rank);
    if (world.failed()) {
      impl.abort();
      return false;
    }
    // Its time counts from where the device has come to it.
    if (!hasBegun && impl.driver.cuEventQuery(front.begin) == CUDA_SUCCESS) {
      hasBegun = true;
      start = std::chrono::steady_clock::now();
    }
    if (hasBegun && secondsSince(start) > impl.timeout) {
      const uint64_t mine = world.record(impl.rank).entered.load();
      std::vector<int> arrived, missing, others;
      for (int peer : front.plan->participants(impl.rank)) {
        const bool isLate = world.isKnown(peer) && world.record(peer).entered.load() < mine;
        (isLate ? missing : arrived).push_back(peer);
        if (peer != impl.rank)
          others.push_back(peer);
      }
      if (missing.empty()) {
        arrived = {impl.rank};
        missing = others;
      }
      world.fail(world.timeoutStatus(front.plan->describe(), impl.rank, arrived, missing), impl.rank);
      continue;
    }
    if (i > 100)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

void NcclRank::wait(World &world) {
  if (!drain(world, 0))
    return;
  Status status = impl_->device.wait(&world);
  if (!status.ok())
    world.fail(status.withContext("rank " + std::to_string(impl_->rank)), impl_->rank);
  if (world.failed())
    impl_->abort();
}

std::string NcclRank::takeSequence() {
  std::string text;
  for (const auto &[ranks, sequence] : impl_->sequences) {
    if (ranks.size() > 1)
      text += rankList(ranks) + ";" + std::to_string(sequence.count) + ";" + std::to_string(sequence.hash) + ";" +
              std::to_string(impl_->rank) + "\n";
  }
  impl_->sequences.clear();
  return text;
}

Status NcclRanks::compareSequences(Backend &backend) {
  std::string mine;
  for (const auto &rank : ranks_)
    mine += rank->takeSequence();
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend.exchange(mine));
  struct Came {
    std::string sequence, rank;
  };
  std::map<std::string, Came> groups;
  for (const std::string &text : all)
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at), first = text.find(';', at), last = text.rfind(';', end);
      const std::string ranks = text.substr(at, first - at), sequence = text.substr(first + 1, last - first - 1),
                        rank = text.substr(last + 1, end - last - 1);
      at = end + 1;
      auto [known, added] = groups.emplace(ranks, Came{sequence, rank});
      if (!added && known->second.sequence != sequence)
        return internalError("ranks " + known->second.rank + " and " + rank +
                             " did not run the same collectives in the same order with ranks " + ranks);
    }
  return {};
}

NcclRanks::~NcclRanks() = default;

NcclRank *NcclRanks::of(int64_t rank) {
  const int64_t i = rank - begin_;
  return i >= 0 && i < int64_t(ranks_.size()) ? ranks_[size_t(i)].get() : nullptr;
}

Expected<std::unique_ptr<NcclRanks>>
NcclRanks::open(Backend &backend, Devices &devices, int64_t ranks, double timeoutSeconds,
                const std::function<Status(const std::function<Status(int64_t)> &)> &forEachRank) {
  // One for the process, as the library is.
  static const Expected<NcclApi> api = NcclApi::open();
  SK_RETURN_IF_ERROR(backend.agree(api.status()));
  ncclUniqueId id = {};
  Status status;
  if (backend.process() == 0)
    status = (*api).check((*api).ncclGetUniqueId(&id),
                          "requesting an id from NCCL, for which a network interface must be up (lo "
                          "will do on one machine)");
  SK_RETURN_IF_ERROR(backend.agree(status));
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend.exchange(std::string(id.internal, sizeof id.internal)));
  std::memcpy(id.internal, all[0].data(), sizeof id.internal);
  std::unique_ptr<NcclRanks> result(new NcclRanks);
  auto [begin, end] = backend.localRanks(ranks);
  result->begin_ = begin;
  auto ofProcess = std::make_shared<std::vector<NcclRank::Impl *>>();
  std::vector<NcclRank::Impl *> impls;
  for (int64_t rank = begin; rank < end; ++rank) {
    auto impl = std::make_unique<NcclRank::Impl>(*api, *devices.of(rank), int(rank), int(ranks), timeoutSeconds);
    impls.push_back(impl.get());
    impl->ofProcess = ofProcess;
    result->ranks_.push_back(std::make_unique<NcclRank>(std::move(impl)));
  }
  status = forEachRank([&](int64_t rank) { return impls[size_t(rank - begin)]->connect(id); });
  SK_RETURN_IF_ERROR(backend.agree(status));
  *ofProcess = impls;
  return result;
}

} // namespace shardkit::rt::cuda
