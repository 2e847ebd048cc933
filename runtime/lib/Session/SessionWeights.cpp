//===- SessionWeights.cpp - Arguments that stay ---------------------------===//

#include "SessionImpl.h"

#include "shardkit/rt/Support/Interrupt.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

namespace {

/// Loads arguments of all functions, each once, and binds them.
class SlotLoad {
public:
  using IsWanted = std::function<bool(const ArgumentSlot &)>;
  using FindSource = std::function<Expected<TensorSource>(const ValueInfo &value, int64_t devices)>;

  SlotLoad(SessionImpl &session, IsWanted isWanted, FindSource find)
      : session_(session), isWanted_(std::move(isWanted)), find_(std::move(find)), loaded_(session.slots.size()) {}
  /// Together; `status` is that of this process so far.
  Status run(Status status);

private:
  /// Arguments of which one function is the first with them.
  struct FunctionLoad {
    ArgumentLoad load;
    std::deque<TensorSource> sources; ///< `load` refers to them.
  };
  Status prepare(const SessionFunction &function, FunctionLoad &prepared);
  /// Argument `i` of the function.
  Status prepareArgument(const SessionFunction &function, size_t i, FunctionLoad &prepared);

  SessionImpl &session_;
  const IsWanted isWanted_;
  const FindSource find_;
  std::vector<Array> loaded_; ///< By slot.
};

Status SlotLoad::prepare(const SessionFunction &function, FunctionLoad &prepared) {
  const Runnable &what = function.runnable;
  ArgumentLoad &load = prepared.load;
  load.what = &what;
  load.bundle = session_.bundles[function.bundle].get();
  load.isNccl = session_.options.isNccl;
  load.isLocal = true;
  if (session_.hasDevices())
    load.devices = session_.devices.at(what.devices()).get();
  for (size_t s = 0; s < what.stages(); ++s)
    load.sources.emplace_back(what.held(s).arguments.size());
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    for (auto *memory : {&load.host, &load.device})
      memory->emplace_back(what.heldBy(rank).arguments.size());
  for (size_t i = 0; i < function.slots.size(); ++i) {
    const ArgumentSlot &slot = session_.slots[function.slots[i]];
    if (!slot.kept && &session_.functions[slot.function] == &function && isWanted_(slot))
      SK_RETURN_IF_ERROR(prepareArgument(function, i, prepared));
  }
  return {};
}

Status SlotLoad::prepareArgument(const SessionFunction &function, size_t i, FunctionLoad &prepared) {
  const Runnable &what = function.runnable;
  const ArgumentSlot &slot = session_.slots[function.slots[i]];
  const std::vector<Runnable::Position> &positions = what.argumentPositions(i);
  for (size_t c = 0; c < slot.layout->copies.size(); ++c) {
    const ValueInfo &value = slot.layout->copies[c].value;
    SK_ASSIGN_OR_RETURN(TensorSource source, find_(value, what.devices()));
    SK_RETURN_IF_ERROR(checkSource(value, source));
    prepared.sources.push_back(std::move(source));
    prepared.load.sources[positions[c].stage][positions[c].index] = &prepared.sources.back();
  }
  Array &array = loaded_[function.slots[i]] = session_.make(slot.layout, slot.name);
  Array::State &state = *SessionImpl::stateOf(array);
  SK_RETURN_IF_ERROR(session_.allocate(state));
  auto &memory = session_.hasDevices() ? prepared.load.device : prepared.load.host;
  for (size_t c = 0; c < slot.layout->copies.size(); ++c) {
    const ArrayLayout::Copy &copy = slot.layout->copies[c];
    for (size_t r = 0; r < copy.ranks.size(); ++r)
      if (session_.hasDevices() || copy.first[r] == r)
        memory[size_t(copy.ranks[r])][positions[c].index] = state.shards[c][r].get();
  }
  return {};
}

Status SlotLoad::run(Status status) {
  std::deque<FunctionLoad> prepared;
  for (const SessionFunction &function : session_.functions)
    if (status.ok())
      status = prepare(function, prepared.emplace_back()).withContext(function.title());
  SK_RETURN_IF_ERROR(session_.backend->agree(status));
  LoadStats total;
  const LoadOptions options = session_.beginLoad();
  for (FunctionLoad &one : prepared) {
    if (one.sources.empty())
      continue;
    one.load.progress = [this, before = session_.bytesLoaded.load()](int64_t read, int64_t) {
      session_.bytesLoaded = before + read;
    };
    SK_RETURN_IF_ERROR(session_.useDevices(one.load.what->devices()));
    LoadStats stats;
    SK_RETURN_IF_ERROR(session_.loader.load(one.load, options, stats).withContext(one.load.what->title()));
    total.add(stats);
  }
  std::lock_guard lock(session_.mutex);
  session_.loadStats.add(total);
  for (size_t s = 0; s < loaded_.size(); ++s)
    if (loaded_[s])
      session_.bindSlot(session_.slots[s], loaded_[s]);
  return {};
}

} // namespace

LoadOptions SessionImpl::beginLoad() {
  isLoadCancelled = false;
  LoadOptions load = options.load;
  load.isCancelled = [this] { return isLoadCancelled || isInterrupted(); };
  return load;
}

Status SessionImpl::loadConstants() {
  auto isWanted = [](const ArgumentSlot &slot) { return slot.kind == ValueKind::Constant && !slot.array; };
  if (std::none_of(slots.begin(), slots.end(), isWanted))
    return {};
  auto constants = SourceSet::openConstants(*bundles.back());
  return SlotLoad(*this, isWanted,
                  [&](const ValueInfo &value, int64_t devices) { return constants->find(value, devices); })
      .run(constants.status());
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
    impl_->bytesLoaded = 0;
    impl_->bytesToLoad = impl_->countWanted(names);
    auto isWanted = [&](const ArgumentSlot &slot) -> bool {
      if (!names.empty())
        return std::count(names.begin(), names.end(), slot.name);
      return slot.isWeight() || (sources->presharded() && sources->holds(slot.name));
    };
    auto find = [&](const ValueInfo &value, int64_t devices) {
      return impl_->options.load.mode == LoadMode::Presharded ? sources->findPresharded(value, devices)
                                                              : sources->find(value, devices);
    };
    return SlotLoad(*impl_, isWanted, find).run(status);
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
  RandomStored stored;
  auto find = [&stored, seed](const ValueInfo &value, int64_t) -> Expected<TensorSource> {
    if (value.load)
      return stored.find(*value.load, [seed](const ValueInfo &tensor) { return RandomTensor::forValue(tensor, seed); });
    return TensorSource(RandomTensor::forValue(value, seed));
  };
  return impl_->inTurn(
      [&] { return SlotLoad(*impl_, [](const ArgumentSlot &slot) { return slot.isWeight(); }, find).run({}); });
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
