//===- DeviceCopyEngine.cpp - Copies and reductions on a GPU --------------===//

#include "DeviceImpl.h"

#include "shardkit/rt/Collectives/Reduce.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt::cuda {

Status DeviceCopyEngine::start() {
  return device_.driver.check(device_.driver.cuEventCreate(&recorded_, CU_EVENT_DISABLE_TIMING),
                              device_.onGpu("an event"));
}

DeviceCopyEngine::~DeviceCopyEngine() {
  if (recorded_)
    device_.driver.cuEventDestroy(recorded_);
}

Status DeviceCopyEngine::takeStatus() {
  Status status = std::move(status_);
  status_ = {};
  return status;
}

void DeviceCopyEngine::zero(void *to, int64_t bytes) {
  if (bytes)
    perform([&] {
      return device_.driver.check(device_.driver.cuMemsetD8Async(address(to), 0, size_t(bytes), device_.communication),
                                  device_.onGpu("clearing " + std::to_string(bytes) + " bytes"));
    });
}

void DeviceCopyEngine::record() {
  perform([&] { return device_.record(recorded_, device_.communication); });
}

void DeviceCopyEngine::waitFor(CopyEngine &other) {
  // All ranks of a program are on devices.
  perform([&] { return device_.waitFor(device_.communication, static_cast<DeviceCopyEngine &>(other).recorded_); });
}

void DeviceCopyEngine::copy(int64_t elementSize, Source from, void *to, std::span<const Loop> loops) {
  perform([&] { return copyNow(elementSize, from, to, loops); });
  freeReached();
}

void DeviceCopyEngine::reduce(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
                              std::span<const Loop> loops) {
  perform([&] { return reduceNow(reduction, dtype, from, to, loops); });
  freeReached();
}

namespace {

int64_t product(std::span<const CopyEngine::Loop> loops) {
  int64_t elements = 1;
  for (const CopyEngine::Loop &loop : loops)
    elements *= loop.size;
  return elements;
}

/// From the first element that is read to the end of the last.
int64_t extent(std::span<const CopyEngine::Loop> loops) {
  int64_t last = 0;
  for (const CopyEngine::Loop &loop : loops)
    last += (loop.size - 1) * loop.from;
  return last + 1;
}

/// Calls fn(from, to, inner) with all loops that one kernel takes, for every iteration
/// of those outside.
template <typename Fn>
Status forEachKernel(std::span<const CopyEngine::Loop> loops, Fn &&fn, int64_t from = 0, int64_t to = 0) {
  if (loops.size() <= SK_KERNEL_LOOPS)
    return fn(from, to, loops);
  for (int64_t i = 0; i < loops[0].size; ++i)
    SK_RETURN_IF_ERROR(forEachKernel(loops.subspan(1), fn, from + i * loops[0].from, to + i * loops[0].to));
  return {};
}

sk_move describe(std::span<const CopyEngine::Loop> loops) {
  sk_move move;
  std::memset(&move, 0, sizeof move);
  move.elements = product(loops);
  move.num_loops = int32_t(loops.size());
  for (size_t k = 0; k < loops.size(); ++k)
    move.loops[k] = {loops[k].size, loops[k].from, loops[k].to};
  return move;
}

std::string bytesOf(const sk_move &move) { return std::string(reinterpret_cast<const char *>(&move), sizeof move); }

} // namespace

Expected<const void *> DeviceCopyEngine::reach(Source from, int64_t bytes) {
  Device::Impl &owner = from.owner ? static_cast<DeviceCopyEngine *>(from.owner)->device_ : device_;
  if (&owner.gpu == &device_.gpu)
    return from.data;
  const DriverApi &driver = device_.driver;
  const std::string what = device_.onGpu("copying " + std::to_string(bytes) + " bytes from " + owner.gpu.name);
  CUdeviceptr memory = 0;
  SK_RETURN_IF_ERROR(driver.check(driver.cuMemAllocAsync(&memory, size_t(bytes), device_.communication), what));
  reached_.push_back(memory);
  SK_RETURN_IF_ERROR(driver.check(driver.cuMemcpyPeerAsync(memory, device_.gpu.context, address(from.data),
                                                           owner.gpu.context, size_t(bytes), device_.communication),
                                  what));
  return static_cast<const void *>(pointer(memory));
}

void DeviceCopyEngine::freeReached() {
  for (CUdeviceptr memory : reached_)
    keep(device_.driver.check(device_.driver.cuMemFreeAsync(memory, device_.communication),
                              device_.onGpu("freeing memory")));
  reached_.clear();
}

Status DeviceCopyEngine::copyNow(int64_t elementSize, Source from, void *to, std::span<const Loop> all) {
  if (product(all) == 0)
    return {};
  SK_ASSIGN_OR_RETURN(const void *reached, reach(from, extent(all) * elementSize));
  // Runs that are contiguous on both sides become wider elements.
  std::vector<Loop> loops(all.begin(), all.end());
  std::erase_if(loops, [](const Loop &loop) { return loop.size == 1; });
  if (loops.empty() || loops.back().from != 1 || loops.back().to != 1)
    loops.push_back({1, 1, 1});
  const int64_t run = loops.back().size * elementSize;
  if (loops.size() == 1)
    return device_.copy(device_.communication, to, reached, run);
  if (loops.size() == 2 && run >= 64 && loops[0].from * elementSize >= run && loops[0].to * elementSize >= run) {
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = address(reached);
    copy.srcPitch = size_t(loops[0].from * elementSize);
    copy.dstDevice = address(to);
    copy.dstPitch = size_t(loops[0].to * elementSize);
    copy.WidthInBytes = size_t(run);
    copy.Height = size_t(loops[0].size);
    constexpr size_t maxPitch = 0x7fffffff;
    if (copy.srcPitch <= maxPitch && copy.dstPitch <= maxPitch)
      return device_.driver.check(
          device_.driver.cuMemcpy2DAsync(&copy, device_.communication),
          device_.onGpu("copying " + std::to_string(loops[0].size) + " rows of " + std::to_string(run) + " bytes"));
  }
  int64_t wide = elementSize;
  auto divides = [&](int64_t width) {
    bool fits = run % width == 0 && address(reached) % CUdeviceptr(width) == 0 && address(to) % CUdeviceptr(width) == 0;
    for (size_t k = 0; k + 1 < loops.size(); ++k)
      fits &= loops[k].from * elementSize % width == 0 && loops[k].to * elementSize % width == 0;
    return fits;
  };
  while (wide < 16 && divides(wide * 2))
    wide *= 2;
  for (size_t k = 0; k + 1 < loops.size(); ++k) {
    loops[k].from = loops[k].from * elementSize / wide;
    loops[k].to = loops[k].to * elementSize / wide;
  }
  loops.back().size = run / wide;
  return forEachKernel(loops, [&](int64_t f, int64_t t, std::span<const Loop> inner) -> Status {
    const sk_move move = describe(inner);
    SK_ASSIGN_OR_RETURN(const void *description, device_.descriptor(bytesOf(move)));
    const char *source = static_cast<const char *>(reached) + f * wide;
    char *destination = static_cast<char *>(to) + t * wide;
    void *args[] = {&description, &source, &destination};
    return device_.launchRuntimeKernel(device_.communication, "sk_copy_" + std::to_string(wide), move.elements, args);
  });
}

Status DeviceCopyEngine::reduceNow(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
                                   std::span<const Loop> all) {
  if (product(all) == 0)
    return {};
  const int64_t size = dtypeSize(dtype);
  std::vector<const void *> reached;
  for (const Source &source : from) {
    SK_ASSIGN_OR_RETURN(const void *data, reach(source, extent(all) * size));
    reached.push_back(data);
  }
  if (dtype == DType::I1)
    reduction = reductionOnBits(reduction);
  std::vector<Loop> loops(all.begin(), all.end());
  return forEachKernel(loops, [&](int64_t f, int64_t t, std::span<const Loop> inner) -> Status {
    sk_move move = describe(inner);
    move.operation = int32_t(reduction);
    move.num_from = int64_t(reached.size());
    std::string bytes = bytesOf(move);
    for (const void *data : reached) {
      const void *start = static_cast<const char *>(data) + f * size;
      bytes.append(reinterpret_cast<const char *>(&start), sizeof start);
    }
    SK_ASSIGN_OR_RETURN(const void *description, device_.descriptor(bytes));
    char *destination = static_cast<char *>(to) + t * size;
    void *args[] = {&description, &destination};
    return device_.launchRuntimeKernel(device_.communication, std::string("sk_reduce_") + dtypeName(dtype),
                                       move.elements, args);
  });
}

} // namespace shardkit::rt::cuda
