//===- SessionWeights.cpp - Arguments that stay ---------------------------===//

#include "SessionImpl.h"

#include "shardkit/rt/Support/Interrupt.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

Status SessionImpl::loadWeights(const SourceSet &sources, const std::vector<std::string> &names,
                                const SessionFunction &function, std::vector<Array> &loaded) {
  LoadPlan plan;
  std::deque<TensorSource> found; // The plan refers to them.
  const int64_t devices = function.runnable.devices();
  for (size_t s = 0; s < slots.size(); ++s) {
    const ArgumentSlot &slot = slots[s];
    const bool isStored = sources.presharded() && sources.holds(slot.name);
    const bool isWanted = names.empty() ? slot.isWeight || isStored : std::count(names.begin(), names.end(), slot.name);
    if (!isWanted || slot.kept || &functions[slot.function] != &function)
      continue;
    for (const ArrayLayout::Copy &copy : slot.layout->copies) {
      SK_ASSIGN_OR_RETURN(TensorSource source, options.load.mode == LoadMode::Presharded
                                                   ? sources.findPresharded(copy.value, devices)
                                                   : sources.find(copy.value, devices));
      SK_RETURN_IF_ERROR(checkSource(copy.value, source));
      found.push_back(std::move(source));
    }
    loaded[s] = make(slot.layout, slot.name);
    allocate(*loaded[s].state_);
    const size_t first = found.size() - slot.layout->copies.size();
    forEachShard(*loaded[s].state_, [&](const ArrayLayout::Copy &copy, size_t r, void *data) {
      const TensorSource &source = found[first + size_t(&copy - slot.layout->copies.data())];
      plan.add(copy.value, source, int64_t(r), data, copy.ranks[r]);
    });
  }
  LoadStats stats;
  stats.ranks.resize(size_t(devices));
  auto program = [&](const EntryPoint &entry, int64_t rank, const std::vector<void *> &stored, void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program,
                        bundles[function.bundle]->entry(function.runnable.full(), entry, stored.size(), 1));
    return Executor::call(program, rank, devices, stored.data(), &local, entry.arenaBytes);
  };
  LoadOptions load = options.load;
  load.progress = [&, before = bytesLoaded.load()](int64_t read, int64_t) { bytesLoaded = before + read; };
  load.isCancelled = [&] { return isLoadCancelled || isInterrupted(); };
  SK_RETURN_IF_ERROR(plan.run(load, &hostFunctions, program, stats));
  loadStats.add(stats);
  return {};
}

void SessionImpl::bindAll(const std::vector<Array> &loaded) {
  std::lock_guard lock(mutex);
  for (size_t s = 0; s < loaded.size(); ++s)
    if (loaded[s])
      slots[s].array = loaded[s];
}

Status Session::load(const std::string &path, const std::vector<std::string> &names) {
  OpenOptions open;
  open.followLinks = impl_->options.followLinks;
  return impl_->inTurn([&]() -> Status {
    std::vector<Array> loaded(impl_->slots.size());
    auto sources = SourceSet::open(path, open);
    Status status = sources.status();
    for (const std::string &name : names)
      if (status.ok() && std::none_of(impl_->slots.begin(), impl_->slots.end(),
                                      [&](const ArgumentSlot &slot) { return slot.name == name; }))
        status = impl_->unknownArgument(name);
    impl_->isLoadCancelled = false;
    impl_->bytesLoaded = 0;
    impl_->bytesToLoad = impl_->countWanted(names);
    for (const SessionFunction &function : impl_->functions)
      if (status.ok())
        status = impl_->loadWeights(*sources, names, function, loaded).withContext(function.title());
    SK_RETURN_IF_ERROR(impl_->backend->agree(status));
    impl_->bindAll(loaded);
    return {};
  });
}

int64_t SessionImpl::countWanted(const std::vector<std::string> &names) const {
  int64_t bytes = 0;
  for (const ArgumentSlot &slot : slots)
    if (!slot.kept && (names.empty() ? slot.isWeight : bool(std::count(names.begin(), names.end(), slot.name))))
      bytes += slot.layout->value().globalBytes();
  return bytes;
}

Status Session::fillRandom(uint64_t seed) {
  return impl_->inTurn([&]() -> Status {
    std::vector<Array> made(impl_->slots.size());
    for (size_t s = 0; s < made.size(); ++s) {
      const ArgumentSlot &slot = impl_->slots[s];
      if (!slot.isWeight || slot.kept)
        continue;
      if (slot.layout->value().load)
        return invalid("weight '" + slot.name +
                       "' is made of stored tensors by a loading function, expected a set of "
                       "weights in place of random numbers");
      made[s] = impl_->make(slot.layout, slot.name);
      impl_->allocate(*made[s].state_);
      SessionImpl::forEachShard(*made[s].state_, [&](const ArrayLayout::Copy &copy, size_t r, void *data) {
        const RandomTensor random = RandomTensor::forValue(copy.value, seed);
        const int64_t size = dtypeSize(copy.value.dtype);
        forEachPiece(coalesceLoops(copy.value.extents, int64_t(r)), copy.value.extents.base(int64_t(r)),
                     [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                       random.fill(static_cast<char *>(data) + l * size, ls, g, gs, n);
                     });
      });
    }
    impl_->bindAll(made);
    return {};
  });
}

Status SessionImpl::unknownArgument(const std::string &name) const {
  std::set<std::string> names;
  for (const ArgumentSlot &slot : slots)
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
    if (slot.name != name)
      continue;
    isKnown = true;
    expected += (expected.empty() ? "" : " or ") + slot.layout->text();
    if (!slot.kept && *slot.layout == bound.layout()) {
      slot.array = bound;
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
      if (slot.name != name || slot.function != f)
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
      std::lock_guard lock(impl_->mutex);
      slot.array = array;
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
    if (slot.isWeight || slot.array)
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
