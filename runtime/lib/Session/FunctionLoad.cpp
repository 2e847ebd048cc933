//===- FunctionLoad.cpp - All arguments of a function ---------------------===//

#include "SessionImpl.h"

#include <algorithm>
#include <new>

namespace shardkit::rt {

namespace {

/// Loads all arguments of a function at once, each rank into memory of its own.
class FunctionLoad {
public:
  FunctionLoad(SessionImpl &session, SessionFunction &function, const ArgumentSources &sources,
               const ArgumentLoadOptions &options);
  /// Together.
  Status run(LoadStats &stats);
  std::vector<Array> takeArrays() { return std::move(arrays_); }

private:
  Status allocate();
  Status allocateAll();
  Status allocateRank(int64_t rank);
  /// So that an error for lack of it comes before the load.
  Status reserveResults(int64_t rank);
  /// Memory of an argument where its program runs.
  Expected<std::shared_ptr<void>> makeArgument(int64_t rank, size_t index);
  /// Memory of an argument in that of the node; null: there is none.
  char *onNode(int64_t rank, size_t index) const {
    char *memory = node_.ranks.empty() ? nullptr : node_.ranks[size_t(rank)];
    return memory ? memory + offsets_[what_.stageOf(rank)][index] : nullptr;
  }
  Array::State &stateOf(size_t stage, size_t index) {
    return *SessionImpl::stateOf(arrays_[argumentOf_[stage][index].first]);
  }

  SessionImpl &session_;
  SessionFunction &function_;
  const Runnable &what_;
  const ArgumentLoadOptions &options_;
  ArgumentLoad load_;
  std::vector<Array> arrays_;
  std::vector<std::vector<std::pair<size_t, size_t>>> argumentOf_; ///< By stage: argument and copy of what it holds.
  NodeMemory node_;
  std::vector<std::vector<int64_t>> offsets_; ///< By stage, in the memory of a rank.
  std::vector<Buffer> staging_;               ///< On the host, for arguments of devices.
  std::optional<int64_t> fullRank_;           ///< The rank whose device has no room.
};

FunctionLoad::FunctionLoad(SessionImpl &session, SessionFunction &function, const ArgumentSources &sources,
                           const ArgumentLoadOptions &options)
    : session_(session), function_(function), what_(function.runnable), options_(options) {
  load_.what = &what_;
  load_.bundle = session.bundles[function.bundle].get();
  load_.isNccl = session.options.isNccl;
  if (session.hasDevices())
    load_.devices = session.devices.at(what_.devices()).get();
  for (size_t s = 0; s < what_.stages(); ++s) {
    std::vector<const TensorSource *> &stage = load_.sources.emplace_back();
    for (const TensorSource &source : sources[s])
      stage.push_back(&source);
    argumentOf_.emplace_back(stage.size());
    offsets_.push_back(argumentOffsets(what_.held(s)).offsets);
  }
  for (size_t i = 0; i < function.slots.size(); ++i) {
    const ArgumentSlot &slot = session.slots[function.slots[i]];
    arrays_.push_back(session.make(slot.layout, slot.name));
    const auto &positions = what_.argumentPositions(i);
    for (size_t c = 0; c < positions.size(); ++c)
      argumentOf_[positions[c].stage][positions[c].index] = {i, c};
  }
}

Expected<std::shared_ptr<void>> FunctionLoad::makeArgument(int64_t rank, size_t index) {
  const int64_t bytes = what_.heldBy(rank).arguments[index].localBytes();
  char *shared = onNode(rank, index);
  if (session_.hasDevices() || !shared)
    return session_.makeShard(what_.devices(), rank, bytes);
  // Of its own: a call that donates looks at who else uses a shard.
  return std::shared_ptr<void>(shared, [owner = node_.owner](void *) {});
}

Status FunctionLoad::reserveResults(int64_t rank) {
  const FunctionInfo &held = what_.heldBy(rank);
  std::vector<std::shared_ptr<void>> results;
  for (const ValueInfo &value : held.results)
    if (!options_.donate || !value.tied) {
      SK_ASSIGN_OR_RETURN(auto result, session_.makeShard(what_.devices(), rank, value.localBytes()));
      results.push_back(std::move(result));
    }
  return session_.bindWorkspace(what_, rank, function_.buffers[size_t(rank)]);
}

Status FunctionLoad::allocateRank(int64_t rank) {
  const FunctionInfo &held = what_.heldBy(rank);
  const size_t stage = what_.stageOf(rank), meshRank = size_t(what_.meshRank(rank));
  const bool isStaged = session_.hasDevices() && session_.loader.isOnHost(load_, session_.options.load);
  auto &host = load_.host[size_t(rank)], &device = load_.device[size_t(rank)];
  for (size_t i = 0; i < held.arguments.size(); ++i) {
    Array::State &state = stateOf(stage, i);
    std::shared_ptr<void> &shard = state.shards[argumentOf_[stage][i].second][meshRank];
    SK_ASSIGN_OR_RETURN(shard, makeArgument(rank, i));
    state.isOnDevices = session_.hasDevices();
    (session_.hasDevices() ? device : host)[i] = shard.get();
    if (isStaged && !(host[i] = onNode(rank, i)))
      host[i] = staging_.emplace_back(held.arguments[i].localBytes()).data();
  }
  return reserveResults(rank);
}

Status FunctionLoad::allocateAll() {
  fullRank_.reset();
  auto [begin, end] = session_.backend->localRanks(what_.devices());
  for (int64_t rank = begin; rank < end; ++rank) {
    try {
      Status status = allocateRank(rank);
      if (session_.memory->takeFull())
        fullRank_ = rank;
      SK_RETURN_IF_ERROR(status);
    } catch (const std::bad_alloc &) {
      return internalError("rank " + std::to_string(rank) + ": " + noHostMemory(what_.heldBy(rank), /*global=*/false));
    }
  }
  return {};
}

Status FunctionLoad::allocate() {
  Status status = allocateAll();
  for (bool isAgain : {false, true}) {
    if (!fullRank_)
      break;
    for (const Array &array : arrays_)
      for (auto &copy : SessionImpl::stateOf(array)->shards)
        std::fill(copy.begin(), copy.end(), nullptr);
    staging_.clear();
    session_.freeIdle(what_.devices());
    if (!isAgain)
      status = allocateAll();
  }
  if (!fullRank_)
    return status;
  cuda::Device &device = *load_.devices->of(*fullRank_);
  return noDeviceMemory(what_.heldBy(*fullRank_), *fullRank_, device.freeBytes()).withContext(device.name());
}

Status FunctionLoad::run(LoadStats &stats) {
  Backend &backend = *session_.backend;
  const LoadOptions &options = session_.options.load;
  load_.isLocal = session_.loader.canExchange(load_, options);
  if (!load_.devices || session_.loader.isOnHost(load_, options))
    load_.progress = options_.progress;
  for (int64_t rank = 0; rank < what_.devices(); ++rank)
    for (auto *memory : {&load_.host, &load_.device})
      memory->emplace_back(what_.heldBy(rank).arguments.size());
  // Arguments lie where all processes of the node can write them, unless each loads alone.
  int64_t bytes = 0;
  for (size_t s = 0; s < what_.stages(); ++s)
    bytes = std::max(bytes, argumentOffsets(what_.held(s)).bytes);
  Status status;
  if (!load_.isLocal) {
    auto node = backend.nodeMemory(what_.devices(), bytes);
    status = node.status();
    if (node.ok())
      node_ = std::move(*node);
  }
  for (int64_t rank = 0; rank < what_.devices(); ++rank)
    for (size_t i = 0; i < load_.host[size_t(rank)].size(); ++i)
      load_.host[size_t(rank)][i] = onNode(rank, i);
  if (LoadTeam *team = backend.loadTeam(); team && backend.nodeProcess() == 0) {
    team->nextBlock = 0;
    team->nextCall = 0;
  }
  SK_RETURN_IF_ERROR(backend.agree(status.ok() ? allocate() : status));
  return session_.loader.load(load_, session_.beginLoad(), stats);
}

Status checkSources(const SessionFunction &function, const ArgumentSources &sources) {
  const size_t stages = function.runnable.stages();
  if (sources.size() != stages)
    return invalid(function.title() + " is given sources for " + std::to_string(sources.size()) + " stages, expected " +
                   std::to_string(stages));
  for (size_t s = 0; s < stages; ++s)
    if (const size_t wanted = function.runnable.held(s).arguments.size(); sources[s].size() != wanted)
      return invalid(function.title() + " is given " + std::to_string(sources[s].size()) + " sources for stage " +
                     std::to_string(s) + ", expected " + std::to_string(wanted));
  return {};
}

} // namespace

Expected<std::vector<Array>> Session::loadArguments(int number, const ArgumentSources &sources, LoadStats &stats,
                                                    const ArgumentLoadOptions &options) {
  std::vector<Array> arrays;
  SK_RETURN_IF_ERROR(impl_->inTurn([&]() -> Status {
    SessionFunction &function = impl_->functions[size_t(number)];
    SK_RETURN_IF_ERROR(checkSources(function, sources));
    SK_RETURN_IF_ERROR(impl_->useDevices(function.runnable.devices()));
    FunctionLoad load(*impl_, function, sources, options);
    SK_RETURN_IF_ERROR(load.run(stats));
    arrays = load.takeArrays();
    return {};
  }));
  return arrays;
}

} // namespace shardkit::rt
