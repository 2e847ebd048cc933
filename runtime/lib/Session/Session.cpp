//===- Session.cpp - Functions of bundles, and their calls ----------------===//

#include "SessionImpl.h"

#include <algorithm>
#include <chrono>

namespace shardkit::rt {

SessionImpl::SessionImpl(const SessionOptions &given, std::shared_ptr<Backend> itsBackend)
    : options(given), backend(std::move(itsBackend)), executor(given.timeout, backend.get()),
      loader(*backend, executor, hostFunctions) {
  executor.setLibraryThreads(given.libraryThreads);
}

Session::Session(std::unique_ptr<SessionImpl> impl) : impl_(std::move(impl)) {}

Expected<std::unique_ptr<Session>> Session::open(const SessionOptions &options, std::shared_ptr<Backend> backend) {
  if (!(options.timeout > 0))
    return invalid("timeout is " + std::to_string(options.timeout) + ", expected a positive number of seconds");
  if (options.libraryThreads < 0)
    return invalid("library threads are " + std::to_string(options.libraryThreads) + ", expected at least 0");
  Fault fault;
  SK_RETURN_IF_ERROR(Fault::fromEnvironment(fault));
  return std::unique_ptr<Session>(new Session(std::make_unique<SessionImpl>(options, std::move(backend))));
}

Session::~Session() {
  (void)impl_->inTurn([] { return Status(); });
  cuda::ContextGuard guard(impl_->hasDevices());
  const std::shared_ptr<ArrayRegistry> registry = impl_->registry;
  std::unique_lock lock(registry->mutex);
  for (void *alive : impl_->registry->alive) {
    auto &array = *static_cast<Array::State *>(alive);
    array.dead = "is of a session that is closed";
    if (!impl_->executor.stuck())
      for (auto &copy : array.shards)
        std::fill(copy.begin(), copy.end(), nullptr);
  }
  if (impl_->executor.stuck() || impl_->backend->failed()) {
    (void)impl_.release(); // A thread, or work of devices, still uses the programs and their memory.
    return;
  }
  for (auto &[ranks, devices] : impl_->devices) // Work of a step that failed may be under way.
    for (auto [rank, end] = impl_->backend->localRanks(ranks); devices && rank < end; ++rank)
      (void)devices->of(rank)->wait();
  lock.unlock();
  impl_.reset();
}

const Backend &Session::backend() const { return *impl_->backend; }
HostFunctions &Session::hostFunctions() { return impl_->hostFunctions; }
bool Session::stuck() const { return impl_->executor.stuck(); }
void Session::interrupt() { impl_->interrupt(); }

void SessionImpl::interrupt() {
  isLoadCancelled = true;
  executor.interrupt();
}

std::string SessionFunction::title() const { return (runnable.pipeline() ? "pipeline '" : "function '") + name + "'"; }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The layout of an argument or result, of which `values(stage)[index]` are the copies.
static std::shared_ptr<const ArrayLayout> layoutOf(const Runnable &runnable,
                                                   const std::vector<Runnable::Position> &positions, bool isResult,
                                                   const Backend &backend) {
  auto layout = std::make_shared<ArrayLayout>();
  layout->devices = runnable.devices();
  for (auto [stage, index] : positions) {
    ArrayLayout::Copy copy;
    const FunctionInfo &held = runnable.held(stage);
    copy.value = isResult ? held.results[index] : held.arguments[index];
    copy.ranks = runnable.ranks(stage);
    const Extents &extents = copy.value.extents;
    const std::vector<ExtentLoop> loops = coalesceLoops(extents, 0);
    const bool isContiguous = loops.empty()
                                  ? copy.value.localElements <= 1
                                  : loops.size() == 1 && loops[0].globalStride == 1 && loops[0].localStride == 1;
    for (size_t r = 0; r < copy.ranks.size() && isContiguous && extents.uneven.empty(); ++r)
      copy.offset.push_back(extents.base(int64_t(r)) * dtypeSize(copy.value.dtype));
    std::map<std::pair<int, int64_t>, size_t> known; // By process and first owner.
    for (size_t r = 0; r < copy.ranks.size(); ++r)
      copy.first.push_back(
          known.try_emplace({backend.ownerOf(copy.ranks[r], layout->devices), firstOwner(extents, int64_t(r))}, r)
              .first->second);
    layout->copies.push_back(std::move(copy));
  }
  return layout;
}

/// True if loading makes the same elements of both. Code of two bundles is not compared: it may differ.
static bool loadsAlike(const ArrayLayout &a, const ArrayLayout &b, bool isOneBundle) {
  auto getLoad = [](const ValueInfo &value) {
    std::optional<LoadInfo> load = value.load;
    if (load)
      load->reference.reset(); // That of --verify.
    return load;
  };
  return std::equal(a.copies.begin(), a.copies.end(), b.copies.begin(), b.copies.end(),
                    [&](const ArrayLayout::Copy &x, const ArrayLayout::Copy &y) {
                      const ValueInfo &one = x.value, &other = y.value;
                      return one.kind == other.kind && one.isSegmented == other.isSegmented &&
                             getLoad(one) == getLoad(other) && (isOneBundle || !one.load || !one.load->function);
                    });
}

ArgumentSlot *SessionImpl::findKept(ArgumentSlot *other, const ArrayLayout &layout, bool isWeight) const {
  if (!options.reshard || !other || other->isWeight != isWeight)
    return nullptr;
  ArgumentSlot *kept = other->kept ? other->kept : other;
  const ValueInfo &one = kept->layout->value(), &value = layout.value();
  // What loading functions make is not compared, and segments are no full value.
  const bool isPlain = !one.load && !value.load && !one.isSegmented && !value.isSegmented;
  return isPlain && one.dtype == value.dtype && one.globalShape == value.globalShape ? kept : nullptr;
}

size_t SessionImpl::slotFor(const SessionFunction &function, size_t i) {
  const Runnable &what = function.runnable;
  const ValueInfo &value = what.full().arguments[i];
  const bool isWeight = value.kind == ValueKind::Weight;
  auto layout = layoutOf(what, what.argumentPositions(i), false, *backend);
  ArgumentSlot *other = nullptr;
  for (size_t s = 0; s < slots.size(); ++s) {
    ArgumentSlot &slot = slots[s];
    // Segments of one weight are arguments of one name.
    if (slot.name != value.name || std::count(function.slots.begin(), function.slots.end(), s))
      continue;
    const bool isOneBundle = slot.function == functions.size() || functions[slot.function].bundle == function.bundle;
    if (*slot.layout == *layout && slot.isWeight == isWeight && loadsAlike(*slot.layout, *layout, isOneBundle))
      return s;
    if (slot.function != functions.size())
      other = &slot;
  }
  ArgumentSlot *kept = findKept(other, *layout, isWeight);
  if (kept)
    notes.push_back("argument '" + value.name + "' is kept as " + kept->layout->text() + " (function '" +
                    functions[kept->function].name + "') and resharded for calls of function '" + function.name +
                    "', which has it as " + layout->text() + ", " + std::to_string(layout->bytes()) +
                    " bytes during a call");
  else if (other && isWeight && other->isWeight)
    notes.push_back("weight '" + value.name + "' is held twice: function '" + functions[other->function].name +
                    "' has it as " + other->layout->text() + ", function '" + function.name + "' as " + layout->text() +
                    (*other->layout == *layout ? ", by another loading function" : "") + ", " +
                    std::to_string(layout->bytes()) + " bytes more");
  slots.push_back({value.name, std::move(layout), isWeight, functions.size(), {}, kept});
  return slots.size() - 1;
}

Status SessionImpl::addFunction(std::string name, Runnable runnable, size_t bundle) {
  for (const SessionFunction &known : functions)
    if (known.name == name)
      return invalid("two functions of the session are called '" + name + "', expected a name of its own for a bundle");
  if (runnable.devices() > Executor::maxRanks)
    return invalid("function '" + name + "' needs " + std::to_string(runnable.devices()) +
                   " devices, the runtime has at most " + std::to_string(Executor::maxRanks));
  SessionFunction function(std::move(name), std::move(runnable));
  function.bundle = bundle;
  const Runnable &what = function.runnable;
  for (const FunctionInfo *code : what.functions()) {
    SK_ASSIGN_OR_RETURN(sk_program program, bundles[bundle]->entry(*code));
    function.programs.push_back(program);
  }
  for (size_t i = 0; i < what.full().arguments.size(); ++i) {
    const ValueInfo &value = what.full().arguments[i];
    for (auto [stage, index] : what.argumentPositions(i))
      if (const auto &load = what.held(stage).arguments[index].load; load && !load->chain.empty())
        SK_RETURN_IF_ERROR(hostFunctions.check(load->chain).withContext("weight '" + value.name + "'"));
    function.slots.push_back(slotFor(function, i));
  }
  function.accepted.resize(function.slots.size());
  for (size_t i = 0; i < what.full().results.size(); ++i)
    function.results.push_back(layoutOf(what, what.resultPositions(i), true, *backend));
  function.buffers.resize(size_t(what.devices()));
  auto [begin, end] = backend->localRanks(what.devices());
  for (int64_t rank = begin; rank < end; ++rank) {
    function.buffers[size_t(rank)].arguments.resize(what.heldBy(rank).arguments.size());
    function.buffers[size_t(rank)].results.resize(what.heldBy(rank).results.size());
  }
  functions.push_back(std::move(function));
  return {};
}

Status SessionImpl::checkBundle(const Bundle &bundle) {
  const Manifest &manifest = bundle.manifest();
  const std::string what = manifest.target + (manifest.chip.empty() ? "" : " " + manifest.chip);
  Status status;
  const bool isFirst = functions.empty();
  if (isFirst && manifest.target != "cuda" && options.isNccl)
    status = invalid(bundle.path() + ": is for " + what + ", expected a bundle for cuda with the backend nccl");
  else if (!isFirst && (hasDevices() ? "cuda" : "cpu") != manifest.target)
    status = invalid(bundle.path() + ": is for " + what + ", expected a bundle for " + (hasDevices() ? "cuda" : "cpu") +
                     ", as those that the session has");
  else if (!isFirst && manifest.chip != chip)
    status =
        invalid(bundle.path() + ": is for " + what + ", expected one for " + chip + ", as those that the session has");
  SK_RETURN_IF_ERROR(backend->agree(status));
  if (backend->processes() > 1) {
    auto hash = bundle.hash();
    SK_RETURN_IF_ERROR(backend->agree(hash.status()));
    SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend->exchange(*hash));
    for (size_t p = 1; p < all.size(); ++p)
      if (all[p] != all[0])
        return invalid(bundle.path() + ": processes 0 and " + std::to_string(p) + " have different bundles (" + all[0] +
                       ", " + all[p] + "), expected the same on every process");
  }
  chip = manifest.chip;
  if (isFirst) {
    rankDevices.reset();
    if (manifest.target == "cuda")
      rankDevices = std::make_unique<RankDevices>(options.devices, options.isNccl, options.timeout);
  }
  return {};
}

Status Session::setDevices(const cuda::DeviceOptions &devices) {
  return impl_->inTurn([&]() -> Status {
    if (!impl_->functions.empty())
      return invalid("options of devices for a session that has functions, expected them before its first bundle");
    for (int64_t gpu : devices.map)
      if (gpu < 0)
        return invalid("the device map has GPU " + std::to_string(gpu) + ", expected numbers from 0 on");
    impl_->options.devices = devices;
    return {};
  });
}

Status SessionImpl::useDevices(int64_t ranks) {
  if (!hasDevices()) {
    executor.setDevices(nullptr);
    return {};
  }
  if (const size_t given = options.devices.map.size(); given != 0 && int64_t(given) != ranks)
    return invalid("the device map has " + std::to_string(given) + " entries, expected " + std::to_string(ranks));
  SK_ASSIGN_OR_RETURN(devices[ranks], rankDevices->use(chip, ranks, *backend, executor));
  return {};
}

Status Session::addBundle(const std::string &path, const std::string &name) {
  auto opened = Bundle::open(path);
  SK_RETURN_IF_ERROR(impl_->backend->agree(opened.status()));
  return impl_->inTurn([&]() -> Status {
    const Manifest &manifest = (*opened)->manifest();
    cuda::ContextGuard guard(manifest.target == "cuda");
    SK_RETURN_IF_ERROR(impl_->checkBundle(**opened));
    std::lock_guard lock(impl_->mutex);
    const size_t bundle = impl_->bundles.size(), before = impl_->functions.size(), slots = impl_->slots.size();
    const size_t notes = impl_->notes.size();
    impl_->bundles.push_back(std::move(*opened));
    const size_t count = manifest.functions.size() + manifest.pipelines.size();
    auto called = [&](const std::string &function) {
      return name.empty() ? function : count == 1 ? name : name + "." + function;
    };
    Status status;
    for (const FunctionInfo &function : manifest.functions)
      if (status.ok())
        status = impl_->addFunction(called(function.name), Runnable(function), bundle);
    for (const PipelineInfo &pipeline : manifest.pipelines)
      if (status.ok())
        status = impl_->addFunction(called(pipeline.signature.name), Runnable(pipeline), bundle);
    status = impl_->backend->agree(status.withContext(path));
    for (size_t f = before; f < impl_->functions.size() && status.ok(); ++f)
      if (impl_->hasDevices())
        status = impl_->useDevices(impl_->functions[f].runnable.devices()).withContext(path);
    if (!status.ok()) { // None of them stays.
      impl_->functions.erase(impl_->functions.begin() + long(before), impl_->functions.end());
      impl_->slots.erase(impl_->slots.begin() + long(slots), impl_->slots.end());
      impl_->notes.resize(notes);
    }
    return status;
  });
}

int Session::count() const {
  std::lock_guard lock(impl_->mutex);
  return int(impl_->functions.size());
}

Expected<int> Session::find(const std::string &name) const {
  std::lock_guard lock(impl_->mutex);
  std::string names;
  for (size_t f = 0; f < impl_->functions.size(); ++f) {
    if (impl_->functions[f].name == name)
      return int(f);
    names += (f ? ", " : "") + impl_->functions[f].name;
  }
  return notFound("no function of the session is called " + quoteName(name) + ", expected one of: " + names);
}

const std::string &Session::name(int function) const { return impl_->functions[size_t(function)].name; }
const Runnable &Session::runnable(int function) const { return impl_->functions[size_t(function)].runnable; }
const ArrayLayout &Session::argument(int function, size_t i) const {
  return *impl_->slots[impl_->functions[size_t(function)].slots[i]].layout;
}
const ArrayLayout &Session::result(int function, size_t i) const {
  return *impl_->functions[size_t(function)].results[i];
}
std::vector<std::string> Session::notes() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->notes;
}
FunctionStats Session::stats(int function) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->functions[size_t(function)].stats;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status SessionImpl::checkCall(SessionFunction &function, const std::vector<Array> &given,
                              const CallOptions &callOptions, Call &call) {
  const Runnable &what = function.runnable;
  const FunctionInfo &full = what.full();
  if (executor.stuck())
    return internalError(function.title() + ": a rank of an earlier step still runs, expected a new session");
  if (given.size() != full.arguments.size())
    return invalid(function.title() + " is called with " + std::to_string(given.size()) + " arguments, expected " +
                   std::to_string(full.arguments.size()));
  call.function = &function;
  call.donate = callOptions.donate;
  call.arguments.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const ArgumentSlot &slot = slots[function.slots[i]];
    auto describe = [&] { return "argument '" + slot.name + "' of " + function.title(); };
    const bool isResharded = !given[i] && slot.kept;
    const Array &array = given[i] ? given[i] : isResharded ? slot.kept->array : slot.array;
    if (!array)
      return invalid(describe() + " (" + slot.layout->text() + ") is neither given nor bound" +
                     (slot.isWeight ? ", expected weights to be loaded" : ""));
    SK_RETURN_IF_ERROR(check(array, describe));
    if (isResharded) {
      call.resharded.push_back({i, array.state_, nullptr});
      call.arguments.push_back(std::make_shared<Array::State>(registry, slot.layout, slot.name));
      continue;
    }
    const std::shared_ptr<const ArrayLayout> &layout = array.state_->layout;
    if (layout != slot.layout && layout != function.accepted[i]) {
      if (!(*layout == *slot.layout))
        return invalid(describe() + ": array '" + array.name() + "' is " + array.layout().text() + ", expected " +
                       slot.layout->text());
      function.accepted[i] = layout;
    }
    call.arguments.push_back(array.state_);
  }
  for (size_t i = 0; i < full.results.size(); ++i)
    call.results.push_back(std::make_shared<Array::State>(registry, function.results[i], full.results[i].name));
  if (!call.donate)
    return {};
  SK_RETURN_IF_ERROR(what.checkDonation());
  for (size_t i = 0; i < full.results.size(); ++i) {
    if (!full.results[i].tied)
      continue;
    const std::shared_ptr<Array::State> &argument = call.arguments[size_t(*full.results[i].tied)];
    if (std::count(call.arguments.begin(), call.arguments.end(), argument) > 1)
      return invalid(function.title() + ": array '" + argument->name +
                     "' is donated and is another argument of the same call, expected two arrays");
  }
  return {};
}

Expected<std::vector<Array>> Session::call(int number, const std::vector<Array> &arguments,
                                           const CallOptions &options) {
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
      std::shared_ptr<Array::State> argument = call->arguments[size_t(*tied)], result = call->results[i];
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
    call->status = impl->backend->processes() == 1 ? checked : impl->backend->agree(checked);
    if (call->status.ok())
      impl->perform(*call);
    call->advanced.clear();
    call->resharded.clear();
    call->arguments.clear();
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
      SK_ASSIGN_OR_RETURN(std::shared_ptr<void> own, makeShard(*array.layout, rank, bytes));
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
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    Array::State &array = *call.arguments[i];
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
        SK_ASSIGN_OR_RETURN(donated, takeShards(*call.arguments[size_t(*what.full().results[i].tied)],
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
          SK_ASSIGN_OR_RETURN(shard, makeShard(*array.layout, copy.ranks[r], copy.value.localBytes()));
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
  auto [known, isNew] = workspaces.try_emplace({what.devices(), rank});
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
  SK_RETURN_IF_ERROR(workspace.deviceArena.reserve(
      device, bytes, [&](int64_t free) { return noRoom("the intermediate values (arena)", bytes, free); }));
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
      slot.array = Array(result);
    }
}

void SessionImpl::undoDonation(Call &call) {
  std::lock_guard lock(mutex);
  for (auto &[slot, array] : call.advanced)
    if (slot->array && slot->array.state_->producer.get() == &call)
      slot->array = array;
  const FunctionInfo &full = call.function->runnable.full();
  std::lock_guard dead(registry->mutex);
  for (const ValueInfo &result : full.results)
    if (call.donate && result.tied)
      call.arguments[size_t(*result.tied)]->dead.clear();
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
  for (const auto &argument : call.arguments)
    if (computed.ok())
      computed = checkComputed(*argument).withContext(call.function->title());
  for (const ReshardedArgument &argument : call.resharded)
    if (computed.ok())
      computed = checkComputed(*argument.kept).withContext(call.function->title());
  if (backend->processes() > 1)
    computed = backend->agree(computed);
  if (!computed.ok()) {
    undoDonation(call);
    return computed;
  }
  const Runnable &what = call.function->runnable;
  SK_RETURN_IF_ERROR(useDevices(what.devices()));
  SK_RETURN_IF_ERROR(reshardArguments(call));
  Status bound = bindBuffers(call);
  if (hasDevices())
    bound = backend->agree(bound);
  SK_RETURN_IF_ERROR(bound.withContext(call.function->title()));
  SK_RETURN_IF_ERROR(what.pipeline() ? executor.run(*what.pipeline(), call.function->programs, call.function->buffers)
                                     : executor.run(what.full(), call.function->programs[0], call.function->buffers));
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
    Array::State &to = *call.arguments[argument.index];
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
  for (auto *states : {&call.results, &call.arguments})
    for (auto &state : *states)
      for (auto &copy : state->shards)
        for (std::shared_ptr<void> &shard : copy) {
          if (executor.stuck())
            abandoned.push_back(shard);
          if (states == &call.results)
            shard = nullptr;
        }
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
