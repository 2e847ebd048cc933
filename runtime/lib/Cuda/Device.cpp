//===- Device.cpp - The GPUs that ranks run on ----------------------------===//

#include "DeviceImpl.h"
#include "Kernels.h"
#include "shardkit/rt/Cuda/DeviceUses.h"

#include "shardkit/rt/Collectives/Group.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

namespace shardkit::rt::cuda {

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

Status Device::Impl::start() {
  auto check = [&](CUresult result, const char *what) { return driver.check(result, onGpu(what)); };
  SK_RETURN_IF_ERROR(check(driver.cuCtxSetCurrent(gpu.context), "entering its context"));
  for (CUstream *stream : {&compute, &communication, &aside})
    SK_RETURN_IF_ERROR(check(driver.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "a stream"));
  for (CUevent *event : {&computed, &communicated, &uploaded[0], &uploaded[1]})
    SK_RETURN_IF_ERROR(check(driver.cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "an event"));
  // With unified addresses, which every GPU of today has, it has one address for both sides.
  void *memory = nullptr;
  SK_RETURN_IF_ERROR(check(driver.cuMemHostAlloc(&memory, sizeof *failure, CU_MEMHOSTALLOC_PORTABLE), "pinned memory"));
  failure = static_cast<const char **>(memory);
  *failure = nullptr;
  engine = std::make_unique<DeviceCopyEngine>(*this);
  contractions = std::make_unique<Contractions>(*this);
  attention = std::make_unique<Attention>(*this);
  return engine->start();
}

Device::Impl::~Impl() {
  driver.cuCtxSetCurrent(gpu.context);
  for (CUstream stream : {compute, communication, aside})
    if (stream)
      driver.cuStreamSynchronize(stream);
  for (auto &[key, one] : recorded)
    if (one.graph)
      driver.cuGraphExecDestroy(one.graph);
  contractions.reset();
  attention.reset();
  engine.reset();
  for (CUdeviceptr memory : chunks)
    driver.cuMemFree(memory);
  if (failure)
    driver.cuMemFreeHost(failure);
  for (CUevent event : {computed, communicated, uploaded[0], uploaded[1]})
    if (event)
      driver.cuEventDestroy(event);
  for (CUevent event : stamps)
    driver.cuEventDestroy(event);
  for (const Span &span : spans) {
    driver.cuEventDestroy(span.begin);
    driver.cuEventDestroy(span.end);
  }
  for (CUstream stream : {compute, communication, aside})
    if (stream)
      driver.cuStreamDestroy(stream);
}

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;

Status Device::enter() {
  return impl_->driver.check(impl_->driver.cuCtxSetCurrent(impl_->gpu.context), impl_->onGpu("entering its context"));
}

const std::string &Device::name() const { return impl_->gpu.name; }
int Device::ordinal() const { return impl_->gpu.ordinal; }
CopyEngine &Device::copyEngine() { return *impl_->engine; }
void Device::noteHost() { impl_->hasHost = true; }
const GraphUses &Device::graphUses() const { return impl_->graphUses; }
const AttentionUses &Device::attentionUses() const { return impl_->attention->uses(); }

struct Devices::Impl {
  int64_t begin = 0;
  std::map<int, std::unique_ptr<Programs>> programs; ///< By GPU.
  std::vector<std::unique_ptr<Device>> devices;      ///< First to go.
};

Devices::Devices() : impl_(std::make_unique<Impl>()) {}
Devices::~Devices() = default;

Device *Devices::of(int64_t rank) {
  const int64_t i = rank - impl_->begin;
  return i >= 0 && i < int64_t(impl_->devices.size()) ? impl_->devices[size_t(i)].get() : nullptr;
}

/// Whether code for `chip` runs on `gpu`: that compute capability or a later one,
/// exactly that one with an "a" behind it, one of its family with an "f".
static Status checkChip(const std::string &chip, const Gpu &gpu) {
  int number = 0;
  const char *begin = chip.data() + 3, *end = chip.data() + chip.size();
  auto [rest, error] = chip.starts_with("sm_") ? std::from_chars(begin, end, number)
                                               : std::from_chars_result{begin, std::errc::invalid_argument};
  const std::string suffix = error == std::errc() ? std::string(rest, end) : "?";
  if (number < 10 || (suffix != "" && suffix != "a" && suffix != "f"))
    return invalid("the bundle is compiled for chip '" + chip + "', expected one like sm_90");
  const int mine = gpu.major * 10 + gpu.minor;
  if (suffix == "a" ? mine == number : mine >= number && (suffix == "" || mine / 10 == number / 10))
    return {};
  return invalid("the bundle is compiled for chip " + chip + ", " + gpu.name + " is sm_" + std::to_string(mine) +
                 ", expected a bundle for that or an earlier one");
}

Expected<std::unique_ptr<Devices>> Devices::open(const std::string &chip, int64_t begin, int64_t end,
                                                 const DeviceOptions &options) {
  SK_ASSIGN_OR_RETURN(Machine * machine, Machine::open());
  // With CUDA_VISIBLE_DEVICES processes may see other GPUs.
  const bool oneGpuPerRank = options.firstGpu >= 0, seesAll = !std::getenv("CUDA_VISIBLE_DEVICES");
  const int64_t first = oneGpuPerRank && seesAll ? options.firstGpu : 0;
  const int64_t needed = seesAll ? options.hostRanks : end - begin;
  if (oneGpuPerRank && options.map.empty() && needed > machine->count())
    return invalid("this machine has " + std::to_string(machine->count()) + " GPU" +
                   (machine->count() == 1 ? "" : "s") + ", expected one for each of its " + std::to_string(needed) +
                   " ranks");
  std::unique_ptr<Devices> devices(new Devices);
  devices->impl_->begin = begin;
  for (int64_t rank = begin; rank < end; ++rank) {
    const int64_t ordinal = rank < int64_t(options.map.size()) ? options.map[size_t(rank)]
                            : oneGpuPerRank                    ? first + rank - begin
                                                               : rank % machine->count();
    if (ordinal >= machine->count())
      return invalid("rank " + std::to_string(rank) + " is put on GPU " + std::to_string(ordinal) +
                     ", this machine has " + std::to_string(machine->count()));
    SK_ASSIGN_OR_RETURN(Gpu * gpu, machine->gpu(int(ordinal)));
    SK_RETURN_IF_ERROR(checkChip(chip, *gpu));
    std::unique_ptr<Programs> &programs = devices->impl_->programs[int(ordinal)];
    if (!programs)
      programs = std::make_unique<Programs>(*machine, *gpu);
    auto impl = std::make_unique<Device::Impl>(*machine, *gpu, *programs, options);
    SK_RETURN_IF_ERROR(impl->start());
    devices->impl_->devices.push_back(std::make_unique<Device>(std::move(impl)));
  }
  return devices;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status Device::Impl::checkAllocation(CUresult result, int64_t bytes, const std::function<Status(int64_t)> &describe) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    driver.cuMemGetInfo(&free, &total);
    return describe(int64_t(free)).withContext(gpu.name);
  }
  return driver.check(result, onGpu("allocating " + std::to_string(bytes) + " bytes"));
}

CUresult Device::Impl::allocate(CUdeviceptr *memory, size_t bytes) {
  const CUresult result = driver.cuMemAlloc(memory, bytes);
  if (result != CUDA_ERROR_OUT_OF_MEMORY || isCapturing)
    return result;
  for (CUstream stream : {communication, compute}) // Which may have something to free.
    driver.cuStreamSynchronize(stream);
  driver.cuMemPoolTrimTo(gpu.pool, 0);
  return driver.cuMemAlloc(memory, bytes);
}

Expected<void *> Device::allocate(int64_t bytes, const std::function<Status(int64_t)> &describe) {
  SK_RETURN_IF_ERROR(enter());
  CUdeviceptr memory = 0;
  const CUresult result = impl_->allocate(&memory, sizeToAllocate(bytes));
  SK_RETURN_IF_ERROR(impl_->checkAllocation(result, bytes, describe));
  return pointer(memory);
}

Expected<Buffer> Device::allocateInOrder(int64_t bytes, const std::function<Status(int64_t)> &describe) {
  SK_RETURN_IF_ERROR(enter());
  CUdeviceptr memory = 0;
  const CUresult result = impl_->driver.cuMemAllocAsync(&memory, sizeToAllocate(bytes), impl_->compute);
  SK_RETURN_IF_ERROR(impl_->checkAllocation(result, bytes, describe));
  return Buffer(pointer(memory), bytes, [this](void *data) {
    (void)enter();
    impl_->driver.cuMemFreeAsync(address(data), impl_->compute);
  });
}

int64_t Device::freeBytes() {
  size_t free = 0, total = 0;
  if (enter().ok())
    impl_->driver.cuMemGetInfo(&free, &total);
  return int64_t(free);
}

void Device::free(void *memory) {
  (void)enter();
  impl_->driver.cuMemFree(address(memory));
}

Status Device::upload(void *to, const void *from, int64_t bytes) {
  SK_RETURN_IF_ERROR(enter());
  if (bytes == 0)
    return {};
  return impl_->driver.check(impl_->driver.cuMemcpyHtoDAsync(address(to), from, size_t(bytes), impl_->compute),
                             impl_->onGpu("copying " + std::to_string(bytes) + " bytes to it"));
}

Status Device::download(void *to, const void *from, int64_t bytes) {
  SK_RETURN_IF_ERROR(enter());
  const std::string what = impl_->onGpu("copying " + std::to_string(bytes) + " bytes from it");
  if (bytes)
    SK_RETURN_IF_ERROR(
        impl_->driver.check(impl_->driver.cuMemcpyDtoHAsync(to, address(from), size_t(bytes), impl_->compute), what));
  const CUresult result = impl_->driver.cuStreamSynchronize(impl_->compute);
  SK_RETURN_IF_ERROR(impl_->takeFailure());
  return impl_->driver.check(result, what);
}

Status Device::recordUploads(int slot) { return impl_->record(impl_->uploaded[slot], impl_->compute); }

Status Device::waitUploads(int slot) {
  SK_RETURN_IF_ERROR(enter());
  return impl_->driver.check(impl_->driver.cuEventSynchronize(impl_->uploaded[slot]),
                             impl_->onGpu("waiting for copies to it"));
}

Status Device::Impl::copy(CUstream stream, void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return {};
  return driver.check(driver.cuMemcpyDtoDAsync(address(to), address(from), size_t(bytes), stream),
                      onGpu("copying " + std::to_string(bytes) + " bytes on it"));
}

Status Device::copy(void *to, const void *from, int64_t bytes) {
  if (to == from)
    return {};
  return impl_->timed([] { return "copy"; }, [&] { return impl_->copy(impl_->compute, to, from, bytes); });
}

Status DeviceMemory::reserve(Device &device, int64_t bytes, const std::function<Status(int64_t)> &describe) {
  if (device_ == &device && data_ && bytes <= bytes_)
    return {};
  *this = DeviceMemory();
  SK_ASSIGN_OR_RETURN(data_, device.allocate(bytes, describe));
  device_ = &device;
  bytes_ = bytes;
  return {};
}

DeviceMemory::~DeviceMemory() {
  if (data_)
    device_->free(data_);
}

Status PinnedMemory::reserve(Device &device, int64_t bytes) {
  if (data_ && bytes <= bytes_)
    return {};
  const DriverApi &driver = device.impl().driver;
  SK_RETURN_IF_ERROR(device.enter());
  if (data_)
    driver.cuMemFreeHost(data_);
  data_ = nullptr;
  bytes_ = 0;
  void *memory = nullptr;
  SK_RETURN_IF_ERROR(driver.check(driver.cuMemHostAlloc(&memory, size_t(bytes ? bytes : 1), CU_MEMHOSTALLOC_PORTABLE),
                                  "allocating " + std::to_string(bytes) + " bytes of pinned memory"));
  device_ = &device;
  data_ = static_cast<char *>(memory);
  bytes_ = bytes;
  return {};
}

PinnedMemory::~PinnedMemory() {
  if (!data_)
    return;
  (void)device_->enter();
  device_->impl().driver.cuMemFreeHost(data_);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Status Device::launch(const sk_kernel *kernel, int64_t x, int64_t y, int64_t z, void *const *args) {
  if (x == 0 || y == 0 || z == 0)
    return {};
  SK_ASSIGN_OR_RETURN(CUfunction function, impl_->programs.kernel(*kernel));
  constexpr int64_t most = 65535, maxX = 0x7fffffff;
  if (x < 0 || y < 0 || z < 0 || x > maxX || y > most || z > most)
    return invalid("kernel '" + std::string(kernel->name) + "' is launched on " + std::to_string(x) + " x " +
                   std::to_string(y) + " x " + std::to_string(z) + " blocks, expected at most " + std::to_string(maxX) +
                   " x " + std::to_string(most) + " x " + std::to_string(most));
  impl_->lastKernel = kernel->name;
  return impl_->timed([&] { return impl_->lastKernel; },
                      [&] {
                        return impl_->driver.check(
                            impl_->driver.cuLaunchKernel(function, unsigned(x), unsigned(y), unsigned(z),
                                                         unsigned(kernel->block[0]), unsigned(kernel->block[1]),
                                                         unsigned(kernel->block[2]), unsigned(kernel->shared_bytes),
                                                         impl_->compute, const_cast<void **>(args), nullptr),
                            impl_->onGpu("launching kernel '" + impl_->lastKernel + "'"));
                      });
}

Status Device::Impl::launchRuntimeKernel(CUstream stream, const std::string &name, int64_t elements, void **args) {
  SK_ASSIGN_OR_RETURN(CUfunction function, programs.runtimeKernel(name, kernelPtx, 0));
  // The kernels step over what is left.
  const int64_t blocks = std::min<int64_t>((elements + SK_KERNEL_THREADS - 1) / SK_KERNEL_THREADS, 1 << 20);
  return driver.check(
      driver.cuLaunchKernel(function, unsigned(blocks), 1, 1, SK_KERNEL_THREADS, 1, 1, 0, stream, args, nullptr),
      onGpu("launching kernel '" + name + "'"));
}

Expected<const void *> Device::Impl::descriptor(const std::string &bytes) {
  auto known = descriptors.find(bytes);
  if (known != descriptors.end())
    return static_cast<const void *>(pointer(known->second));
  constexpr int64_t chunkBytes = 256 << 10;
  // Buffers that come and go elsewhere each time are described anew each time.
  constexpr size_t most = 1 << 16;
  const bool isHeld = std::any_of(recorded.begin(), recorded.end(), [](const auto &one) { return one.second.graph; });
  if (descriptors.size() >= most && !isHeld) {
    for (CUstream stream : {compute, communication})
      SK_RETURN_IF_ERROR(driver.check(driver.cuStreamSynchronize(stream), onGpu("waiting for it")));
    for (CUdeviceptr memory : chunks)
      driver.cuMemFree(memory);
    chunks.clear();
    descriptors.clear();
    chunkLeft = 0;
  }
  const int64_t rounded = (int64_t(bytes.size()) + 255) / 256 * 256;
  const std::string what = onGpu("a description of " + std::to_string(bytes.size()) + " bytes");
  if (chunkLeft < rounded) {
    const int64_t made = std::max(chunkBytes, rounded);
    chunkLeft = 0;
    SK_RETURN_IF_ERROR(driver.check(driver.cuMemAlloc(&chunk, size_t(made)), what));
    chunks.push_back(chunk);
    chunkLeft = made;
  }
  SK_RETURN_IF_ERROR(driver.check(driver.cuMemcpyHtoDAsync(chunk, bytes.data(), bytes.size(), aside), what));
  SK_RETURN_IF_ERROR(driver.check(driver.cuStreamSynchronize(aside), what));
  descriptors.emplace(bytes, chunk);
  const void *result = pointer(chunk);
  chunk += CUdeviceptr(rounded);
  chunkLeft -= rounded;
  return result;
}

Status Device::read(void *to, const void *from, int64_t bytes) {
  impl_->hasHost = true;
  return download(to, from, bytes);
}

Expected<const void *> Device::constant(const void *host, int64_t bytes) {
  return impl_->programs.constant(impl_->aside, host, bytes);
}

void *Device::failureWord() { return impl_->failure; }

Status Device::Impl::takeFailure() {
  const char *text = __atomic_exchange_n(failure, nullptr, __ATOMIC_ACQUIRE);
  return text ? invalid(text) : Status();
}

/// "product 32 x 2048 x 2048 x 128 bf16": batch, rows, columns and what is added up.
static std::string nameOf(const sk_contraction_desc &desc) {
  int64_t sizes[4] = {1, 1, 1, 1};
  for (int32_t i = 0; i < desc.num_dims; ++i)
    sizes[desc.dims[i].role] *= desc.dims[i].size;
  std::string name = "product";
  for (int i = 0; i < 4; ++i)
    name += (i ? " x " : " ") + std::to_string(sizes[i]);
  return name + " " + dtypeName(DType(desc.in_dtype));
}

Status Device::contract(const sk_contraction_desc *desc, const void *a, const void *b, void *c) {
  return impl_->timed([&] { return nameOf(*desc); },
                      [&] { return impl_->contractions->run({*desc, nullptr, a, b, c, {}}); });
}

Status Device::contractSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c) {
  return impl_->timed([&] { return nameOf(desc); }, [&] { return impl_->contractions->runSized(desc, a, b, c); });
}

Status Device::contractFused(const sk_fused_contraction_desc *desc, const void *a, const void *b, void *c,
                             const void *first, const void *second) {
  return impl_->timed([&] { return nameOf(desc->product) + ", with what follows it"; },
                      [&] { return impl_->contractions->run({desc->product, desc, a, b, c, {first, second}}); });
}

Status Device::attention(const sk_attention_desc *desc, const void *q, const void *k, const void *v, void *out,
                         const void *const *operands) {
  return impl_->timed([&] { return impl_->lastKernel; },
                      [&] { return impl_->attention->run({*desc, q, k, v, out, operands}); });
}

Status Device::findRows(const uint8_t *flags, int64_t count, int64_t *rows) {
  return impl_->timed([] { return std::string("sk_find_rows"); },
                      [&] {
                        void *args[] = {&flags, &count, &rows};
                        impl_->lastKernel = "sk_rows_found";
                        return impl_->launchRuntimeKernel(impl_->compute, "sk_rows_found", /*elements=*/1, args);
                      });
}

Status Device::attentionSized(const sk_attention_desc &desc, const void *q, const void *k, const void *v, void *out,
                              const void *const *operands) {
  return impl_->timed([&] { return impl_->lastKernel; },
                      [&] { return impl_->attention->runSized({desc, q, k, v, out, operands}); });
}

Status Device::startCommunication() {
  auto start = [&]() -> Status {
    SK_RETURN_IF_ERROR(impl_->record(impl_->computed, impl_->compute));
    return impl_->waitFor(impl_->communication, impl_->computed);
  };
  if (impl_->isCapturing)
    return impl_->captured(start);
  if (impl_->options.profile)
    SK_RETURN_IF_ERROR(impl_->beginSpan());
  return start();
}

Status Device::endCommunication() {
  auto end = [&]() -> Status {
    SK_RETURN_IF_ERROR(impl_->record(impl_->communicated, impl_->communication));
    return impl_->waitFor(impl_->compute, impl_->communicated);
  };
  if (impl_->isCapturing)
    return impl_->captured(end);
  SK_RETURN_IF_ERROR(end());
  return impl_->options.profile ? impl_->endSpan("collective") : Status();
}

Status Device::Impl::beginSpan() {
  if (usedSpans == spans.size()) {
    Span span = {};
    for (CUevent *event : {&span.begin, &span.end})
      SK_RETURN_IF_ERROR(driver.check(driver.cuEventCreate(event, CU_EVENT_DEFAULT), onGpu("an event")));
    spans.push_back(span);
  }
  return record(spans[usedSpans].begin, compute);
}

Status Device::Impl::endSpan(std::string name) {
  Span &span = spans[usedSpans++];
  span.name = std::move(name);
  return record(span.end, compute);
}

Status Device::Impl::addSpans() {
  for (size_t i = 0; i < usedSpans; ++i) {
    float milliseconds = 0;
    SK_RETURN_IF_ERROR(driver.check(driver.cuEventElapsedTime(&milliseconds, spans[i].begin, spans[i].end),
                                    onGpu("reading the time of " + spans[i].name)));
    Device::Work &work = profile[spans[i].name];
    ++work.executions;
    work.seconds += double(milliseconds) / 1e3;
  }
  usedSpans = 0;
  return {};
}

Expected<double> Device::Impl::secondsOf(const std::function<Status()> &call) {
  SK_RETURN_IF_ERROR(beginSpan());
  SK_RETURN_IF_ERROR(call());
  const Span span = spans[usedSpans]; // It stays free.
  float milliseconds = 0;
  SK_RETURN_IF_ERROR(record(span.end, compute));
  SK_RETURN_IF_ERROR(driver.check(driver.cuEventSynchronize(span.end), onGpu("waiting")));
  SK_RETURN_IF_ERROR(
      driver.check(driver.cuEventElapsedTime(&milliseconds, span.begin, span.end), onGpu("reading a time")));
  return double(milliseconds) / 1e3;
}

const std::map<std::string, Device::Work> &Device::profile() const { return impl_->profile; }
void Device::clearProfile() { impl_->profile.clear(); }

Expected<size_t> Device::stamp() {
  std::vector<CUevent> &stamps = impl_->stamps;
  if (impl_->usedStamps == stamps.size()) {
    CUevent event = nullptr;
    SK_RETURN_IF_ERROR(
        impl_->driver.check(impl_->driver.cuEventCreate(&event, CU_EVENT_DEFAULT), impl_->onGpu("an event")));
    stamps.push_back(event);
  }
  SK_RETURN_IF_ERROR(impl_->record(stamps[impl_->usedStamps], impl_->compute));
  return impl_->usedStamps++;
}

Expected<double> Device::secondsBetween(size_t from, size_t to) {
  float milliseconds = 0;
  SK_RETURN_IF_ERROR(
      impl_->driver.check(impl_->driver.cuEventElapsedTime(&milliseconds, impl_->stamps[from], impl_->stamps[to]),
                          impl_->onGpu("reading the time between two events")));
  return double(milliseconds) / 1e3;
}

void Device::clearStamps() { impl_->usedStamps = 0; }

int64_t *Device::onHost(int64_t size) { return &impl_->sizes.try_emplace(size, size).first->second; }

int32_t Device::record(sk_program program, void *const *args, size_t numArgs, void *const *results, size_t numResults,
                       void *arena, const std::function<int32_t()> &run, Status &status) {
  const DriverApi &driver = impl_->driver;
  std::vector<const void *> key = {reinterpret_cast<const void *>(program), arena};
  key.insert(key.end(), args, args + numArgs);
  key.insert(key.end(), results, results + numResults);
  constexpr size_t most = 4096;
  if (impl_->recorded.size() >= most && !impl_->recorded.count(key))
    return run();
  Impl::Recorded &known = impl_->recorded[key];
  auto launch = [&] {
    ++impl_->graphUses.launched;
    status = driver.check(driver.cuGraphLaunch(known.graph, impl_->compute), impl_->onGpu("launching a graph"));
    return int32_t(status.code());
  };
  if (known.graph)
    return launch();
  impl_->hasHost = false;
  if (!impl_->options.graphs || impl_->options.profile || !known.isStatic || known.runs == 0) {
    const int32_t returned = run();
    ++known.runs;
    known.isStatic &= !impl_->hasHost;
    return returned;
  }
  // What cannot be recorded runs as it did before, and is not tried again.
  auto runWithout = [&](const Status &why) {
    Uses uses;
    uses.graphsFailed = 1;
    uses.graphReason = why.message();
    noteUses(uses);
    known.isStatic = false;
    status = {};
    return run();
  };
  // Relaxed: what is asked for the first time now is uploaded beside it.
  Status failure = driver.check(driver.cuStreamBeginCapture(impl_->compute, CU_STREAM_CAPTURE_MODE_RELAXED),
                                impl_->onGpu("starting to record a graph"));
  if (!failure.ok())
    return runWithout(failure);
  impl_->captureFailure = {};
  impl_->isCapturing = true;
  const int32_t returned = run();
  impl_->isCapturing = false;
  CUgraph graph = nullptr;
  failure = driver.check(driver.cuStreamEndCapture(impl_->compute, &graph), impl_->onGpu("recording a graph"));
  if (!impl_->captureFailure.ok()) // It came first.
    failure = impl_->captureFailure;
  if (!returned && failure.ok())
    failure = driver.check(driver.cuGraphInstantiate(&known.graph, graph, 0), impl_->onGpu("making a graph"));
  if (graph)
    driver.cuGraphDestroy(graph);
  if (returned)
    return returned;
  if (!failure.ok()) {
    known.graph = nullptr;
    return runWithout(failure);
  }
  ++impl_->graphUses.recorded;
  return launch();
}

Status Device::wait(const World *world) {
  const DriverApi &driver = impl_->driver;
  for (CUstream stream : {impl_->communication, impl_->compute}) {
    CUresult result = CUDA_ERROR_NOT_READY;
    if (!world) {
      result = driver.cuStreamSynchronize(stream);
    } else {
      for (int64_t i = 0; (result = driver.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY; ++i) {
        if (world->failed())
          return {};
        if (i > 1000)
          std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    SK_RETURN_IF_ERROR(impl_->takeFailure()); // Whatever has come of it.
    SK_RETURN_IF_ERROR(driver.check(
        result, impl_->onGpu(impl_->lastKernel.empty() ? "waiting for it"
                                                       : "waiting for it after kernel '" + impl_->lastKernel + "'")));
  }
  return impl_->addSpans();
}

} // namespace shardkit::rt::cuda
