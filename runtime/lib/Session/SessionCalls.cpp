//===- SessionCalls.cpp - Calls of functions ------------------------------===//

#include "SessionImpl.h"

#include <algorithm>
#include <chrono>

namespace shardkit::rt {

void SessionImpl::bindSlot(ArgumentSlot &slot, const Array &array) {
  slot.array = array;
  for (SessionFunction &function : functions)
    function.bound = nullptr;
}

std::shared_ptr<const BoundArguments> SessionImpl::findBound(SessionFunction &function) {
  if (function.bound)
    return function.bound;
  auto bound = std::make_shared<BoundArguments>();
  for (size_t s : function.slots) {
    const ArgumentSlot &slot = slots[s];
    const bool isUsable = !slot.kept && slot.array && check(slot.array, "bound").ok() &&
                          (slot.array.state_->layout == slot.layout || *slot.array.state_->layout == *slot.layout);
    bound->push_back(isUsable ? slot.array.state_ : nullptr);
  }
  return function.bound = std::move(bound);
}

Status SessionImpl::checkCall(SessionFunction &function, const std::vector<Array> &given,
                              const CallOptions &callOptions, Call &call) {
  const Runnable &what = function.runnable;
  const FunctionInfo &full = what.full();
  if (executor.stuck())
    return internalError(function.title() + ": a rank of an earlier step still runs, expected a new session");
  if (!full.sizes.empty())
    return invalid(function.title() + " has sizes that only the run knows, expected a call of it at sizes (atSizes)");
  if (given.size() > full.arguments.size())
    return invalid(function.title() + " is called with " + std::to_string(given.size()) +
                   " arguments, expected at most " + std::to_string(full.arguments.size()));
  call.function = &function;
  call.donate = callOptions.donate;
  call.stats = callOptions.stats;
  call.values = callOptions.values;
  call.bound = findBound(function);
  call.given.resize(full.arguments.size());
  for (size_t i = 0; i < call.given.size(); ++i) {
    const bool isGiven = i < given.size() && given[i];
    if (!isGiven && (*call.bound)[i])
      continue;
    const ArgumentSlot &slot = slots[function.slots[i]];
    auto describe = [&] { return "argument '" + slot.name + "' of " + function.title(); };
    const bool isResharded = !isGiven && slot.kept;
    const Array &array = isGiven ? given[i] : isResharded ? slot.kept->array : slot.array;
    if (!array)
      return invalid(describe() + " (" + slot.layout->text() + ") is neither given nor bound" +
                     (slot.isWeight() ? ", expected weights to be loaded" : ""));
    SK_RETURN_IF_ERROR(check(array, describe));
    if (isResharded) {
      call.resharded.push_back({i, array.state_, nullptr});
      call.given[i] = std::make_shared<Array::State>(registry, slot.layout, slot.name);
      continue;
    }
    const std::shared_ptr<const ArrayLayout> &layout = array.state_->layout;
    if (layout != slot.layout && layout != function.accepted[i]) {
      if (!(*layout == *slot.layout))
        return invalid(describe() + ": array '" + array.name() + "' is " + array.layout().text() + ", expected " +
                       slot.layout->text());
      function.accepted[i] = layout;
    }
    call.given[i] = array.state_;
  }
  for (size_t i = 0; i < full.results.size(); ++i)
    call.results.push_back(std::make_shared<Array::State>(registry, function.results[i], full.results[i].name));
  if (!call.donate)
    return {};
  SK_RETURN_IF_ERROR(what.checkDonation());
  for (size_t i = 0; i < full.results.size(); ++i) {
    if (!full.results[i].tied)
      continue;
    const std::shared_ptr<Array::State> &argument = call.argument(size_t(*full.results[i].tied));
    size_t uses = 0;
    for (size_t k = 0; k < call.given.size(); ++k)
      uses += call.argument(k) == argument;
    if (uses > 1)
      return invalid(function.title() + ": array '" + argument->name +
                     "' is donated and is another argument of the same call, expected two arrays");
  }
  return {};
}

Expected<std::vector<Array>> Session::call(int number, const std::vector<Array> &arguments,
                                           const CallOptions &options) {
  SK_RETURN_IF_ERROR(checkFunction(number));
  auto call = std::make_shared<Call>();
  std::vector<Array> results;
  uint64_t ticket;
  Status checked;
  {
    std::lock_guard lock(impl_->mutex);
    SessionFunction &function = impl_->functions[size_t(number)];
    checked = impl_->checkCall(function, arguments, options, *call);
    if (!checked.ok() && impl_->backend->processes() == 1)
      return checked;
    for (size_t i = 0; i < call->results.size() && checked.ok(); ++i) {
      call->results[i]->producer = call;
      results.push_back(Array(call->results[i]));
      const std::optional<int64_t> tied = function.runnable.full().results[i].tied;
      if (!options.donate || !tied)
        continue;
      std::shared_ptr<Array::State> argument = call->argument(size_t(*tied)), result = call->results[i];
      for (ReshardedArgument &resharded : call->resharded)
        if (resharded.index == size_t(*tied)) {
          argument = resharded.kept;
          resharded.result = result;
          result = resharded.updated =
              std::make_shared<Array::State>(impl_->registry, argument->layout, argument->name);
          result->producer = call;
        }
      impl_->donate(*call, argument, result);
    }
    ticket = impl_->queue.takeTicket();
  }
  // Other processes may be about to run it.
  auto work = [impl = impl_.get(), call, checked] {
    cuda::ContextGuard guard(impl->hasDevices());
    if (checked.ok())
      impl->perform(*call);
    else
      call->status = impl->backend->agree(checked); // Where others agree on their step.
    call->advanced.clear();
    call->resharded.clear();
    call->given.clear();
    call->bound = nullptr;
    call->results.clear();
    call->isDone.store(true, std::memory_order_release);
  };
  if (options.isAsync && checked.ok()) {
    impl_->queue.post(ticket, work);
    return results;
  }
  impl_->queue.run(ticket, work);
  if (!call->status.ok())
    return call->status;
  return results;
}

/// The shards of `array` on a stage, as the only user of their memory: what is read elsewhere too is
/// copied.
Expected<std::vector<std::shared_ptr<void>>>
SessionImpl::takeShards(Array::State &array, const std::vector<Runnable::Position> &positions, size_t stage) {
  const size_t c = size_t(std::find_if(positions.begin(), positions.end(),
                                       [&](const Runnable::Position &position) { return position.stage == stage; }) -
                          positions.begin());
  std::vector<std::shared_ptr<void>> &shards = array.shards[c];
  std::vector<bool> isShared(shards.size(), array.isBorrowed);
  for (size_t r = 0; r < shards.size(); ++r) {
    if (shards[r].use_count() <= 1)
      continue;
    int64_t known = 0;
    for (size_t k = 0; k < shards.size(); ++k) {
      known += shards[k] && isSameMemory(shards[k], shards[r]);
      if (k != r && shards[k] == shards[r])
        isShared[r] = true;
    }
    if (known < shards[r].use_count())
      isShared[r] = true;
  }
  const int64_t bytes = array.layout->copies[c].value.localBytes();
  for (size_t r = 0; r < shards.size(); ++r)
    if (shards[r] && isShared[r]) {
      const int64_t rank = array.layout->copies[c].ranks[r];
      SK_ASSIGN_OR_RETURN(std::shared_ptr<void> own, makeShard(array.layout->devices, rank, bytes));
      if (hasDevices())
        SK_RETURN_IF_ERROR(deviceOf(*array.layout, rank).copy(own.get(), shards[r].get(), bytes));
      else
        std::copy_n(static_cast<const char *>(shards[r].get()), bytes, static_cast<char *>(own.get()));
      shards[r] = std::move(own);
    }
  return std::exchange(shards, std::vector<std::shared_ptr<void>>(shards.size()));
}

/// Sets the pointers of the ranks of this process.
Status SessionImpl::bindBuffers(Call &call) {
  SessionFunction &function = *call.function;
  const Runnable &what = function.runnable;
  for (size_t i = 0; i < call.given.size(); ++i) {
    Array::State &array = *call.argument(i);
    SK_RETURN_IF_ERROR(moveToDevices(array));
    const auto &positions = what.argumentPositions(i);
    for (size_t c = 0; c < positions.size(); ++c)
      for (size_t r = 0; r < array.shards[c].size(); ++r)
        if (void *data = array.shards[c][r].get())
          function.buffers[size_t(array.layout->copies[c].ranks[r])].arguments[positions[c].index] = data;
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    Array::State &array = *call.results[i];
    array.isOnDevices = hasDevices();
    const auto &positions = what.resultPositions(i);
    for (size_t c = 0; c < positions.size(); ++c) {
      const auto [stage, index] = positions[c];
      const ArrayLayout::Copy &copy = array.layout->copies[c];
      const std::optional<int64_t> tied = what.held(stage).results[index].tied;
      std::vector<std::shared_ptr<void>> donated;
      if (call.donate && tied) {
        SK_ASSIGN_OR_RETURN(donated, takeShards(*call.argument(size_t(*what.full().results[i].tied)),
                                                what.argumentPositions(size_t(*what.full().results[i].tied)), stage));
      }
      // Shards that follow each other are made so that they are the full value.
      std::shared_ptr<void> full;
      if (!copy.offset.empty() && !(call.donate && tied) && !hasDevices())
        full = memory->allocate(copy.value.globalBytes());
      for (size_t r = 0; r < copy.ranks.size(); ++r) {
        if (!isLocal(copy.ranks[r], *array.layout))
          continue;
        RankBuffers &buffers = function.buffers[size_t(copy.ranks[r])];
        std::shared_ptr<void> &shard = array.shards[c][r];
        if (call.donate && tied) {
          shard = std::move(donated[r]);
          buffers.arguments[size_t(*tied)] = shard.get();
        } else if (full && copy.first[r] == r) {
          shard = {full, static_cast<char *>(full.get()) + copy.offset[r]};
        } else {
          SK_ASSIGN_OR_RETURN(shard, makeShard(array.layout->devices, copy.ranks[r], copy.value.localBytes()));
        }
        buffers.results[index] = shard.get();
      }
    }
  }
  auto [begin, end] = backend->localRanks(what.devices());
  for (int64_t rank = begin; rank < end; ++rank)
    SK_RETURN_IF_ERROR(bindWorkspace(what, rank, function.buffers[size_t(rank)]));
  return {};
}

Status SessionImpl::bindWorkspace(const Runnable &what, int64_t rank, RankBuffers &buffers) {
  auto [known, isNew] = workspaces.try_emplace({hasDevices() ? what.devices() : 0, rank});
  Workspace &workspace = known->second;
  buffers.values = &workspace.values;
  const int64_t bytes = what.heldBy(rank).entry.arenaBytes;
  if (!hasDevices()) {
    workspace.arena.reserve(bytes);
    buffers.arena = workspace.arena.data();
    return {};
  }
  cuda::Device &device = *devices.at(what.devices())->of(rank);
  auto noRoom = [rank](const std::string &for_, int64_t needed, int64_t free) {
    return internalError("out of device memory: rank " + std::to_string(rank) + " has no room for " + for_ + " of " +
                         std::to_string(needed) + " bytes, " + std::to_string(free) + " are free");
  };
  if (isNew)
    workspace.values.makeBy([&device, noRoom](int64_t needed) {
      return device.allocateInOrder(needed, [&](int64_t free) { return noRoom("a value", needed, free); });
    });
  SK_RETURN_IF_ERROR(workspace.deviceArena.reserve(device, bytes, [&](int64_t free) {
    memory->noteFull();
    return noRoom("the intermediate values (arena)", bytes, free);
  }));
  buffers.arena = workspace.deviceArena.data();
  return {};
}

void SessionImpl::donate(Call &call, const std::shared_ptr<Array::State> &argument,
                         const std::shared_ptr<Array::State> &result) {
  {
    std::lock_guard dead(registry->mutex);
    argument->dead = "was donated to " + call.function->title();
  }
  // A bound argument goes on as the result.
  for (ArgumentSlot &slot : slots)
    if (slot.array.state_ == argument) {
      call.advanced.emplace_back(&slot, slot.array);
      bindSlot(slot, Array(result));
    }
}

void SessionImpl::undoDonation(Call &call) {
  std::lock_guard lock(mutex);
  for (auto &[slot, array] : call.advanced)
    if (slot->array && slot->array.state_->producer.get() == &call)
      bindSlot(*slot, array);
  const FunctionInfo &full = call.function->runnable.full();
  std::lock_guard dead(registry->mutex);
  for (const ValueInfo &result : full.results)
    if (call.donate && result.tied)
      call.argument(size_t(*result.tied))->dead.clear();
  for (const ReshardedArgument &argument : call.resharded)
    if (argument.updated)
      argument.kept->dead.clear();
}

Status SessionImpl::step(Call &call) {
  Status computed;
  if (executor.stuck()) // Since the call was queued.
    computed = internalError(call.function->title() + ": a rank of an earlier step still runs");
  else
    abandoned.clear();
  for (size_t i = 0; i < call.given.size() && computed.ok(); ++i)
    if (const Array::State &argument = *call.argument(i); argument.producer)
      computed = checkComputed(argument).withContext(call.function->title());
  for (const ReshardedArgument &argument : call.resharded)
    if (computed.ok())
      computed = checkComputed(*argument.kept).withContext(call.function->title());
  if (!computed.ok() && backend->processes() == 1) {
    undoDonation(call);
    return computed;
  }
  const SessionFunction &function = *call.function;
  const Runnable &what = function.runnable;
  if (!call.resharded.empty() && backend->processes() > 1) // They do that together.
    computed = backend->agree(computed);
  if (computed.ok())
    computed = useDevices(what.devices());
  if (computed.ok())
    computed = reshardArguments(call);
  StepStart start{computed, [&] { return bindBuffers(call).withContext(function.title()); }};
  start.values = call.values;
  Status status = what.pipeline()
                      ? executor.run(*what.pipeline(), function.programs, function.buffers, call.stats, &start)
                      : executor.run(what.full(), function.programs[0], function.buffers, call.stats, &start);
  if (!start.hasBegun)
    undoDonation(call);
  SK_RETURN_IF_ERROR(status);
  return reshardUpdates(call);
}

/// Adds the seconds until its end.
class Timer {
public:
  explicit Timer(double &seconds) : seconds_(seconds) {}
  ~Timer() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
  double &seconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Status SessionImpl::reshardArguments(Call &call) {
  if (call.resharded.empty())
    return {};
  Timer timer(call.reshardSeconds);
  for (ReshardedArgument &argument : call.resharded) {
    Array::State &to = *call.given[argument.index];
    SK_RETURN_IF_ERROR(reshard(*argument.kept, to, /*isTemporary=*/true));
    call.reshardedBytes += to.layout->bytes();
  }
  return {};
}

Status SessionImpl::reshardUpdates(Call &call) {
  if (call.resharded.empty())
    return {};
  Timer timer(call.reshardSeconds);
  for (ReshardedArgument &argument : call.resharded) {
    if (!argument.updated)
      continue;
    for (auto &copy : argument.kept->shards) // Was donated.
      std::fill(copy.begin(), copy.end(), nullptr);
    SK_RETURN_IF_ERROR(reshard(*argument.result, *argument.updated, /*isTemporary=*/false));
    call.reshardedBytes += argument.updated->layout->bytes();
  }
  return {};
}

void SessionImpl::release(Call &call) {
  auto forEachShard = [](Array::State &state, auto &&fn) {
    for (auto &copy : state.shards)
      for (std::shared_ptr<void> &shard : copy)
        fn(shard);
  };
  auto abandon = [&](std::shared_ptr<void> &shard) { abandoned.push_back(shard); };
  if (executor.stuck()) {
    for (size_t i = 0; i < call.given.size(); ++i)
      forEachShard(*call.argument(i), abandon);
    for (const auto &result : call.results)
      forEachShard(*result, abandon);
  }
  for (const auto &result : call.results)
    forEachShard(*result, [](std::shared_ptr<void> &shard) { shard = nullptr; });
}

void SessionImpl::perform(Call &call) {
  const auto start = std::chrono::steady_clock::now();
  call.status = catchExceptions([&] { return step(call); });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - call.reshardSeconds;
  if (!call.status.ok())
    release(call);
  std::lock_guard lock(mutex);
  FunctionStats &stats = call.function->stats;
  ++stats.calls;
  stats.failed += !call.status.ok();
  stats.seconds += seconds;
  stats.lastSeconds = seconds;
  stats.reshardedBytes += call.reshardedBytes;
  stats.reshardSeconds += call.reshardSeconds;
}

} // namespace shardkit::rt
