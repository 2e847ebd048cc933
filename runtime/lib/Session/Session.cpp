//===- Session.cpp - Functions of bundles --------------------------------===//

#include "SessionImpl.h"

#include <algorithm>
#include <cstdlib>

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
  constexpr int mostThreads = 1024; // OpenMP ends the process where the system has no more.
  if (options.libraryThreads < 0 || options.libraryThreads > mostThreads)
    return invalid("library threads are " + std::to_string(options.libraryThreads) + ", expected 0 to " +
                   std::to_string(mostThreads));
  Fault fault;
  SK_RETURN_IF_ERROR(Fault::fromEnvironment(fault));
  return std::unique_ptr<Session>(new Session(std::make_unique<SessionImpl>(options, std::move(backend))));
}

Session::~Session() {
  (void)impl_->inTurn([] { return Status(); });
  cuda::ContextGuard guard(impl_->hasDevices());
  const std::shared_ptr<ArrayRegistry> registry = impl_->registry;
  std::unique_lock lock(registry->mutex);
  for (Array::State *alive = impl_->registry->first; alive; alive = alive->next) {
    Array::State &array = *alive;
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

Status Session::checkFault() {
  const Fault &fault = impl_->executor.fault();
  std::string mine;
  if (fault.isSet())
    mine = fault.hasHappened() ? "happened" : std::getenv("SK_FAULT");
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, impl_->backend->exchange(mine));
  std::sort(all.begin(), all.end());
  if (all.back().empty() || std::binary_search(all.begin(), all.end(), "happened"))
    return {};
  return invalid("SK_FAULT=" + all.back() + ": nothing failed, for no such rank came to it");
}

void SessionImpl::freeIdle(int64_t ranks) {
  memory->freeIdle();
  std::erase_if(workspaces, [&](const auto &known) { return hasDevices() && known.first.first != ranks; });
}

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

ArgumentSlot *SessionImpl::findKept(ArgumentSlot *other, const ArrayLayout &layout) const {
  const ValueInfo &value = layout.value();
  if (!options.reshard || !other || other->kind != value.kind)
    return nullptr;
  ArgumentSlot *kept = other->kept ? other->kept : other;
  const ValueInfo &one = kept->layout->value();
  // What loading functions make is not compared, and segments are no full value.
  const bool isPlain = !one.load && !value.load && !one.isSegmented && !value.isSegmented;
  return isPlain && one.dtype == value.dtype && one.globalShape == value.globalShape ? kept : nullptr;
}

size_t SessionImpl::slotFor(const SessionFunction &function, size_t i) {
  const Runnable &what = function.runnable;
  const ValueInfo &value = what.full().arguments[i];
  auto layout = layoutOf(what, what.argumentPositions(i), false, *backend);
  ArgumentSlot *other = nullptr;
  std::vector<size_t> &named = slotsOf[value.name];
  for (size_t s : named) {
    ArgumentSlot &slot = slots[s];
    // Segments of one weight are arguments of one name.
    if (std::count(function.slots.begin(), function.slots.end(), s))
      continue;
    const bool isOneBundle = slot.function == functions.size() || functions[slot.function].bundle == function.bundle;
    if (*slot.layout == *layout && slot.kind == value.kind && loadsAlike(*slot.layout, *layout, isOneBundle))
      return s;
    if (slot.function != functions.size())
      other = &slot;
  }
  ArgumentSlot *kept = findKept(other, *layout);
  if (kept)
    notes.push_back("argument '" + value.name + "' is kept as " + kept->layout->text() + " (function '" +
                    functions[kept->function].name + "') and resharded for calls of function '" + function.name +
                    "', which has it as " + layout->text() + ", " + std::to_string(layout->bytes()) +
                    " bytes during a call");
  else if (other && value.kind != ValueKind::Input && other->kind == value.kind)
    notes.push_back(std::string(kindName(value.kind)) + " '" + value.name + "' is held twice: function '" +
                    functions[other->function].name + "' has it as " + other->layout->text() + ", function '" +
                    function.name + "' as " + layout->text() +
                    (*other->layout == *layout ? ", by another loading function" : "") + ", " +
                    std::to_string(layout->bytes()) + " bytes more");
  named.push_back(slots.size());
  slots.push_back({value.name, std::move(layout), value.kind, functions.size(), {}, kept});
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
    status = invalid("is for " + what + ", expected a bundle for cuda with the backend nccl");
  else if (!isFirst && (hasDevices() ? "cuda" : "cpu") != manifest.target)
    status = invalid("is for " + what + ", expected a bundle for " + (hasDevices() ? "cuda" : "cpu") +
                     ", as those that the session has");
  else if (!isFirst && manifest.chip != chip)
    status = invalid("is for " + what + ", expected one for " + chip + ", as those that the session has");
  SK_RETURN_IF_ERROR(backend->agree(status));
  if (backend->processes() > 1) {
    auto hash = bundle.hash();
    SK_RETURN_IF_ERROR(backend->agree(hash.status()));
    SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend->exchange(*hash));
    for (size_t p = 1; p < all.size(); ++p)
      if (all[p] != all[0])
        return invalid("processes 0 and " + std::to_string(p) + " have different bundles (" + all[0] + ", " + all[p] +
                       "), expected the same on every process");
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

Status SessionImpl::addFunctions(const BundleOptions &bundleOptions) {
  std::lock_guard lock(mutex);
  const size_t bundle = bundles.size() - 1, before = functions.size();
  const Manifest &manifest = bundles[bundle]->manifest();
  const size_t count = manifest.functions.size() + manifest.pipelines.size();
  const std::string &name = bundleOptions.name;
  const std::vector<std::string> &wanted = bundleOptions.functions;
  Status status;
  auto add = [&](const std::string &function, const auto &info) {
    if (status.ok() && (wanted.empty() || std::count(wanted.begin(), wanted.end(), function)))
      status = addFunction(name.empty() ? function : count == 1 ? name : name + "." + function, Runnable(info), bundle);
  };
  for (const FunctionInfo &function : manifest.functions)
    add(function.name, function);
  for (const PipelineInfo &pipeline : manifest.pipelines)
    add(pipeline.signature.name, pipeline);
  status = backend->agree(status);
  for (size_t f = before; f < functions.size() && status.ok(); ++f)
    if (hasDevices())
      status = useDevices(functions[f].runnable.devices());
  return status;
}

Status Session::addBundle(const std::string &path, const std::string &name) {
  auto opened = Bundle::open(path);
  SK_RETURN_IF_ERROR(impl_->backend->agree(opened.status()));
  BundleOptions options;
  options.name = name;
  return addBundle(std::move(*opened), options).withContext(path);
}

Status Session::addBundle(std::unique_ptr<Bundle> bundle, const BundleOptions &options) {
  return impl_->inTurn([&]() -> Status {
    cuda::ContextGuard guard(bundle->manifest().target == "cuda");
    SK_RETURN_IF_ERROR(impl_->checkBundle(*bundle));
    const size_t before = impl_->functions.size(), slots = impl_->slots.size(), notes = impl_->notes.size();
    impl_->bundles.push_back(std::move(bundle));
    Status status = impl_->addFunctions(options);
    if (status.ok() && options.loadConstants)
      status = impl_->loadConstants();
    if (!status.ok()) // None of them stays.
      impl_->shrink(before, slots, notes);
    return status;
  });
}

void SessionImpl::shrink(size_t numFunctions, size_t numSlots, size_t numNotes) {
  std::lock_guard lock(mutex);
  functions.erase(functions.begin() + long(numFunctions), functions.end());
  for (; slots.size() > numSlots; slots.pop_back())
    slotsOf[slots.back().name].pop_back();
  notes.resize(numNotes);
}

const std::vector<SizeInfo> &Session::sizes(int function) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->functions[size_t(function)].runnable.full().sizes;
}

Expected<int> Session::atSizes(int function, const std::vector<int64_t> &sizes) {
  SK_RETURN_IF_ERROR(checkFunction(function));
  if (this->sizes(function).empty())
    return sizes.empty() ? Expected<int>(function)
                         : invalid("function '" + name(function) + "' has no sizes that only the run knows");
  auto findKnown = [&] {
    std::lock_guard lock(impl_->mutex);
    auto it = impl_->sizedFunctions.find({function, sizes});
    return it == impl_->sizedFunctions.end() ? -1 : it->second;
  };
  int known = findKnown();
  if (known >= 0)
    return known;
  SK_RETURN_IF_ERROR(impl_->inTurn([&]() -> Status {
    if ((known = findKnown()) >= 0)
      return {};
    const SessionFunction &general = impl_->functions[size_t(function)];
    SK_ASSIGN_OR_RETURN(FunctionInfo info, rt::atSizes(general.runnable.full(), sizes));
    std::string name = general.name;
    for (size_t i = 0; i < sizes.size(); ++i)
      name += (i ? "," : "[") + general.runnable.full().sizes[i].name + "=" + std::to_string(sizes[i]);
    std::lock_guard lock(impl_->mutex);
    impl_->sized.push_back(std::move(info));
    SK_RETURN_IF_ERROR(impl_->addFunction(name + "]", Runnable(impl_->sized.back()), general.bundle));
    known = int(impl_->functions.size()) - 1;
    impl_->sizedFunctions[{function, sizes}] = known;
    return {};
  }));
  const std::vector<SizeInfo> &infos = this->sizes(function);
  for (size_t i = 0; i < infos.size(); ++i) {
    SK_ASSIGN_OR_RETURN(Array array, put(known, infos[i].argument, &sizes[i]));
    SK_RETURN_IF_ERROR(impl_->inTurn([&] { return impl_->moveToDevices(*array.state_); }));
    std::lock_guard lock(impl_->mutex);
    impl_->bindSlot(impl_->slots[impl_->functions[size_t(known)].slots[infos[i].argument]], array);
  }
  return known;
}

Expected<int> Session::atShapes(int function, const std::vector<std::optional<Shape>> &shapes) {
  SK_RETURN_IF_ERROR(checkFunction(function));
  if (sizes(function).empty())
    return function;
  SK_ASSIGN_OR_RETURN(std::vector<int64_t> found, findSizes(runnable(function).full(), shapes));
  return atSizes(function, found);
}

int Session::count() const {
  std::lock_guard lock(impl_->mutex);
  return int(impl_->functions.size());
}

Status Session::checkFunction(int function) const {
  if (function >= 0 && function < count())
    return {};
  return invalid("function " + std::to_string(function) + ", expected one of the " + std::to_string(count()) +
                 " of the session");
}

Status Session::checkArgument(int function, int64_t i) const {
  SK_RETURN_IF_ERROR(checkFunction(function));
  const size_t count = runnable(function).full().arguments.size();
  if (i >= 0 && size_t(i) < count)
    return {};
  return invalid("argument " + std::to_string(i) + ", the function has " + std::to_string(count));
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
Bundle &Session::bundle(int function) const { return *impl_->bundles[impl_->functions[size_t(function)].bundle]; }
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
DeviceCounters Session::deviceCounters(int function) const {
  DeviceCounters counters;
  (void)impl_->inTurn([&] {
    if (const cuda::Device *device = impl_->firstDevice(function))
      counters = {device->attentionUses(), device->graphUses(), device->profile()};
    return Status();
  });
  return counters;
}
void Session::clearProfile(int function) {
  (void)impl_->inTurn([&] {
    if (cuda::Device *device = impl_->firstDevice(function))
      device->clearProfile();
    return Status();
  });
}
cuda::Device *SessionImpl::firstDevice(int function) const {
  const int64_t ranks = functions[size_t(function)].runnable.devices();
  return hasDevices() ? devices.at(ranks)->of(backend->localRanks(ranks).first) : nullptr;
}
FunctionStats Session::stats(int function) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->functions[size_t(function)].stats;
}

} // namespace shardkit::rt
