//===- SessionWeights.cpp - Arguments that stay ---------------------------===//

#include "SessionImpl.h"

#include "shardkit/rt/Support/Interrupt.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

Status SessionImpl::prepareLoad(const SessionFunction &function,
                                const std::function<bool(const ArgumentSlot &)> &isWanted, const FindSource &find,
                                std::vector<Array> &loaded, FunctionLoad &prepared) {
  const Runnable &what = function.runnable;
  ArgumentLoad &load = prepared.load;
  load.what = &what;
  load.bundle = bundles[function.bundle].get();
  load.isNccl = options.isNccl;
  load.isLocal = true;
  if (hasDevices())
    load.devices = devices.at(what.devices()).get();
  for (size_t s = 0; s < what.stages(); ++s)
    load.sources.emplace_back(what.held(s).arguments.size());
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    for (auto *memory : {&load.host, &load.device})
      memory->emplace_back(what.heldBy(rank).arguments.size());
  for (size_t i = 0; i < function.slots.size(); ++i) {
    const size_t s = function.slots[i];
    const ArgumentSlot &slot = slots[s];
    if (slot.kept || &functions[slot.function] != &function || !isWanted(slot))
      continue;
    for (const ArrayLayout::Copy &copy : slot.layout->copies) {
      SK_ASSIGN_OR_RETURN(TensorSource source, find(copy.value, what.devices()));
      SK_RETURN_IF_ERROR(checkSource(copy.value, source));
      prepared.sources.push_back(std::move(source));
      const auto [stage, index] = what.argumentPositions(i)[size_t(&copy - slot.layout->copies.data())];
      load.sources[stage][index] = &prepared.sources.back();
    }
    loaded[s] = make(slot.layout, slot.name);
    Array::State &state = *loaded[s].state_;
    SK_RETURN_IF_ERROR(allocate(state));
    for (size_t c = 0; c < slot.layout->copies.size(); ++c) {
      const ArrayLayout::Copy &copy = slot.layout->copies[c];
      const size_t index = what.argumentPositions(i)[c].index;
      for (size_t r = 0; r < copy.ranks.size(); ++r)
        if (hasDevices() || copy.first[r] == r)
          (hasDevices() ? load.device : load.host)[size_t(copy.ranks[r])][index] = state.shards[c][r].get();
    }
  }
  return {};
}

Status SessionImpl::loadAll(Status status, const std::function<bool(const ArgumentSlot &)> &isWanted,
                            const FindSource &find) {
  std::vector<Array> loaded(slots.size());
  std::deque<FunctionLoad> prepared;
  for (const SessionFunction &function : functions)
    if (status.ok())
      status = prepareLoad(function, isWanted, find, loaded, prepared.emplace_back()).withContext(function.title());
  SK_RETURN_IF_ERROR(backend->agree(status));
  LoadStats total;
  LoadOptions cancellable = options.load;
  cancellable.isCancelled = [&] { return isLoadCancelled || isInterrupted(); };
  for (FunctionLoad &one : prepared) {
    if (one.sources.empty())
      continue;
    one.load.progress = [&, before = bytesLoaded.load()](int64_t read, int64_t) { bytesLoaded = before + read; };
    SK_RETURN_IF_ERROR(useDevices(one.load.what->devices()));
    LoadStats stats;
    SK_RETURN_IF_ERROR(loader.load(one.load, cancellable, stats).withContext(one.load.what->title()));
    total.add(stats);
  }
  std::lock_guard lock(mutex);
  loadStats.add(total);
  for (size_t s = 0; s < loaded.size(); ++s)
    if (loaded[s])
      bindSlot(slots[s], loaded[s]);
  return {};
}

Status SessionImpl::loadConstants() {
  auto isWanted = [](const ArgumentSlot &slot) { return slot.isConstant() && !slot.array; };
  if (std::none_of(slots.begin(), slots.end(), isWanted))
    return {};
  auto constants = SourceSet::openConstants(*bundles.back());
  isLoadCancelled = false;
  return loadAll(constants.status(), isWanted,
                 [&](const ValueInfo &value, int64_t devices) { return constants->find(value, devices); });
}

Status Session::load(const std::string &path, const std::vector<std::string> &names) {
  OpenOptions open;
  open.followLinks = impl_->options.followLinks;
  return impl_->inTurn([&] {
    auto sources = SourceSet::open(path, open);
    Status status = sources.status();
    for (const std::string &name : names)
      if (status.ok() && std::none_of(impl_->slots.begin(), impl_->slots.end(), [&](const ArgumentSlot &slot) {
            return slot.name == name && !slot.isConstant();
          }))
        status = impl_->unknownArgument(name);
    impl_->isLoadCancelled = false;
    impl_->bytesLoaded = 0;
    impl_->bytesToLoad = impl_->countWanted(names);
    auto isWanted = [&](const ArgumentSlot &slot) -> bool {
      if (!names.empty())
        return std::count(names.begin(), names.end(), slot.name);
      return slot.isWeight() || (sources->presharded() && sources->holds(slot.name));
    };
    return impl_->loadAll(status, isWanted, [&](const ValueInfo &value, int64_t devices) {
      return impl_->options.load.mode == LoadMode::Presharded ? sources->findPresharded(value, devices)
                                                              : sources->find(value, devices);
    });
  });
}

int64_t SessionImpl::countWanted(const std::vector<std::string> &names) const {
  int64_t bytes = 0;
  for (const ArgumentSlot &slot : slots)
    if (!slot.kept && (names.empty() ? slot.isWeight() : bool(std::count(names.begin(), names.end(), slot.name))))
      bytes += slot.layout->value().globalBytes();
  return bytes;
}

Status Session::fillRandom(uint64_t seed) {
  return impl_->inTurn([&] {
    return impl_->loadAll(
        {}, [](const ArgumentSlot &slot) { return slot.isWeight(); },
        [&](const ValueInfo &value, int64_t) -> Expected<TensorSource> {
          if (value.load)
            return invalid("weight '" + value.name +
                           "' is made of stored tensors by a loading function, expected a set of weights in place of "
                           "random numbers");
          return TensorSource(RandomTensor::forValue(value, seed));
        });
  });
}

Status SessionImpl::unknownArgument(const std::string &name) const {
  std::set<std::string> names;
  for (const ArgumentSlot &slot : slots)
    if (!slot.isConstant())
      names.insert(slot.name);
  std::string text;
  size_t count = 0;
  for (const std::string &one : names)
    if (++count <= 20)
      text += (count > 1 ? ", " : "") + one;
  return notFound("no argument is called " + quoteName(name) + ", expected one of: " + text +
                  (count > 20 ? ", ... (" + std::to_string(count) + ")" : ""));
}

Expected<Array> SessionImpl::asKept(Session &session, const std::string &name, const Array &array) {
  const ArgumentSlot *kept = nullptr;
  {
    std::lock_guard lock(mutex);
    for (const ArgumentSlot &slot : slots)
      if (slot.name == name && slot.kept && *slot.layout == array.layout())
        kept = slot.kept;
  }
  if (!kept)
    return array;
  const std::vector<size_t> &arguments = functions[kept->function].slots;
  size_t i = 0;
  while (&slots[arguments[i]] != kept)
    ++i;
  return session.reshard(array, int(kept->function), i);
}

Status Session::bind(const std::string &name, const Array &array) {
  SK_RETURN_IF_ERROR(impl_->check(array, [&] { return "bind '" + name + "'"; }));
  SK_ASSIGN_OR_RETURN(const Array bound, impl_->asKept(*this, name, array));
  std::lock_guard lock(impl_->mutex);
  bool isKnown = false, isBound = false;
  std::string expected;
  for (ArgumentSlot &slot : impl_->slots) {
    if (slot.name != name || slot.isConstant())
      continue;
    isKnown = true;
    expected += (expected.empty() ? "" : " or ") + slot.layout->text();
    if (!slot.kept && *slot.layout == bound.layout()) {
      impl_->bindSlot(slot, bound);
      isBound = true;
    }
  }
  if (!isKnown)
    return impl_->unknownArgument(name);
  if (!isBound)
    return invalid("bind '" + name + "': array '" + array.name() + "' is " + array.layout().text() + ", expected " +
                   expected);
  return {};
}

Status Session::assign(const std::string &name, const void *data, int64_t bytes) {
  bool isKnown = false;
  for (size_t f = 0; f < impl_->functions.size(); ++f)
    for (size_t i = 0; i < impl_->functions[f].slots.size(); ++i) {
      ArgumentSlot &slot = impl_->slots[impl_->functions[f].slots[i]];
      if (slot.name != name || slot.isConstant() || slot.function != f)
        continue;
      isKnown = true;
      if (slot.kept)
        continue;
      if (slot.layout->value().load || slot.layout->value().isSegmented)
        return invalid("argument '" + name + "' is made of stored tensors when it is loaded, expected load()");
      if (bytes != slot.layout->value().globalBytes())
        return invalid("memory of " + std::to_string(bytes) + " bytes for argument '" + name + "' (" +
                       slot.layout->text() + "), expected " + std::to_string(slot.layout->value().globalBytes()));
      SK_ASSIGN_OR_RETURN(Array array, put(int(f), i, data));
      if (impl_->hasDevices()) // Now, so that no copy of a weight stays on the host.
        SK_RETURN_IF_ERROR(impl_->inTurn([&] { return impl_->moveToDevices(*array.state_); }));
      std::lock_guard lock(impl_->mutex);
      impl_->bindSlot(slot, array);
    }
  return isKnown ? Status() : impl_->unknownArgument(name);
}

Expected<Array> Session::bound(const std::string &name) const {
  std::lock_guard lock(impl_->mutex);
  for (const ArgumentSlot &slot : impl_->slots)
    if (slot.name == name && slot.array)
      return slot.array;
  for (const ArgumentSlot &slot : impl_->slots)
    if (slot.name == name)
      return notFound("argument '" + name + "' is not bound");
  return impl_->unknownArgument(name);
}

std::vector<std::string> Session::boundNames() const {
  std::lock_guard lock(impl_->mutex);
  std::set<std::string> names;
  for (const ArgumentSlot &slot : impl_->slots)
    if (!slot.isConstant() && (slot.isWeight() || slot.array))
      names.insert(slot.name);
  return {names.begin(), names.end()};
}

std::pair<int64_t, int64_t> Session::loadProgress() const {
  const int64_t done = impl_->bytesLoaded;
  return {done, std::max<int64_t>(done, impl_->bytesToLoad)};
}

LoadStats Session::loadStats() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->loadStats;
}

} // namespace shardkit::rt
