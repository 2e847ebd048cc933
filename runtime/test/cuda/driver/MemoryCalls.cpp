//===- MemoryCalls.cpp - cuMem* -------------------------------------------===//

#include "Emulator.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace shardkit::emu;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

static CUresult noMemory(const char *function, int device, size_t bytes) {
  return failed(CUDA_ERROR_OUT_OF_MEMORY, function,
                std::to_string(bytes) + " bytes on device " + std::to_string(device) + ", of " +
                    std::to_string(settings().memory) + " bytes " + std::to_string(memory().used(device)) +
                    " are used");
}

EMU_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
  Lock lock(emulator().mutex);
  CUresult error;
  int device = needContext("cuMemAlloc", error);
  if (device < 0)
    return error;
  if (!out || bytes == 0)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc", "0 bytes");
  *out = memory().allocate(device, bytes);
  return *out ? CUDA_SUCCESS : noMemory("cuMemAlloc", device, bytes);
}
EMU_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  Lock lock(emulator().mutex);
  if (!address)
    return CUDA_SUCCESS;
  Block *b = memory().block(address);
  if (!b || b->device < 0 || b->internal || b->state != Block::Live)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemFree", memory().describe(address));
  memory().free(*b);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  Lock lock(emulator().mutex);
  int device = deviceOf(stream, "cuMemAllocAsync");
  if (device < 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (isCapturing(stream))
    return failed(CUDA_ERROR_NOT_SUPPORTED, "cuMemAllocAsync", "memory that belongs to a graph is not emulated");
  if (!out || bytes == 0)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemAllocAsync", "0 bytes");
  uint64_t address = memory().allocate(device, bytes, Block::Coming);
  // What the streams have still to free counts no longer, as from a pool that waits.
  if (!address) {
    emulator().drainDevice(device);
    address = memory().allocate(device, bytes, Block::Coming);
  }
  *out = address;
  if (!address)
    return noMemory("cuMemAllocAsync", device, bytes);
  return enqueue(stream,
                 simple("allocation",
                        [=] {
                          memory().block(address)->state = Block::Live;
                          return Progress::Done;
                        }),
                 "cuMemAllocAsync");
}
EMU_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool, CUstream stream) {
  return cuMemAllocAsync(out, bytes, stream);
}
EMU_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  Lock lock(emulator().mutex);
  Block *b = memory().block(address);
  if (!b || b->device < 0 || b->internal || b->state == Block::Freed)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemFreeAsync", memory().describe(address));
  return enqueue(stream,
                 simple("free",
                        [=] {
                          Block *b = memory().block(address);
                          if (b->state != Block::Live)
                            complain("cuMemFreeAsync: " + memory().describe(address));
                          else
                            memory().freeToPool(*b);
                          return Progress::Done;
                        }),
                 "cuMemFreeAsync");
}

EMU_EXPORT CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned) {
  CUresult error;
  if (needContext("cuMemHostAlloc", error) < 0)
    return error;
  if (!bytes)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemHostAlloc", "0 bytes");
  *out = reinterpret_cast<void *>(memory().allocateHost(nullptr, bytes));
  return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EMU_EXPORT CUresult cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
EMU_EXPORT CUresult cuMemFreeHost(void *host) {
  Block *b = memory().block(reinterpret_cast<uint64_t>(host));
  if (!b || b->device >= 0 || b->registered)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost", "not allocated by cuMemHostAlloc");
  memory().free(*b);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned) {
  if (memory().containing(reinterpret_cast<uint64_t>(host)))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  return memory().allocateHost(host, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EMU_EXPORT CUresult cuMemHostUnregister(void *host) {
  Block *b = memory().block(reinterpret_cast<uint64_t>(host));
  if (!b || !b->registered)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  memory().free(*b);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *host, unsigned) {
  if (!memory().containing(reinterpret_cast<uint64_t>(host)))
    return failed(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer", "not page-locked memory");
  *out = reinterpret_cast<uint64_t>(host);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  CUresult error;
  int device = needContext("cuMemGetInfo", error);
  if (device < 0)
    return error;
  *total = settings().memory;
  *free = settings().memory - memory().used(device);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  Block *b = memory().containing(address);
  if (!b || b->state != Block::Live)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = b->address;
  if (bytes)
    *bytes = b->bytes;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
  Block *b = memory().containing(address);
  if (!b || b->state != Block::Live)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case 2: // MEMORY_TYPE
    *static_cast<unsigned *>(out) = b->device < 0 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case 3: // DEVICE_POINTER
    *static_cast<uint64_t *>(out) = address;
    return CUDA_SUCCESS;
  case 9: // DEVICE_ORDINAL
    *static_cast<int *>(out) = std::max(b->device, 0);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}
EMU_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device) {
  *out = reinterpret_cast<CUmemoryPool>(uintptr_t(device) + 1);
  return CUDA_SUCCESS;
}
static int deviceOf(CUmemoryPool pool) { return int(reinterpret_cast<uintptr_t>(pool)) - 1; }
EMU_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
  constexpr int releaseThreshold = 4;
  if (attribute != releaseThreshold)
    return failed(CUDA_ERROR_NOT_SUPPORTED, "cuMemPoolSetAttribute",
                  "attribute " + std::to_string(attribute) + " is not emulated");
  memory().setPoolThreshold(deviceOf(pool), *static_cast<uint64_t *>(value));
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  memory().trimPool(deviceOf(pool), keep);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

/// One side of a copy: rows of `width` bytes.
struct Side {
  bool device = false;
  uint64_t base = 0;
  size_t pitch = 0, slice = 0; ///< Bytes between rows and between planes.
};
enum class Kind { Any, Host, Device };

/// Whether what is there is what the call says. Any: by the address.
bool classify(Side &side, Kind kind, const char *function) {
  Block *b = memory().containing(side.base);
  bool onDevice = b && b->device >= 0;
  if (kind == Kind::Device && !b)
    return complain(std::string(function) + ": expected a device address, found " + memory().describe(side.base)),
           false;
  if (kind == Kind::Host && onDevice)
    return complain(std::string(function) + ": expected a host address, found " + memory().describe(side.base)), false;
  side.device = b != nullptr;
  return true;
}

CUresult copy(CUstream stream, bool wait, Side to, Kind toKind, Side from, Kind fromKind, size_t width, size_t height,
              size_t depth, const char *function) {
  Lock lock(emulator().mutex);
  Stream *s = emulator().stream(stream, function);
  if (!s)
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error = emulator().devices[size_t(s->device)].error)
    return error;
  if (width == 0 || height == 0 || depth == 0)
    return CUDA_SUCCESS;
  if (!classify(to, toKind, function) || !classify(from, fromKind, function))
    return CUDA_ERROR_INVALID_VALUE;
  bool captured = s->capture != nullptr;
  if (captured && wait) {
    s->capture->invalid = true;
    return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function, "waits within a capture");
  }
  size_t toBytes = (depth - 1) * to.slice + (height - 1) * to.pitch + width;
  size_t fromBytes = (depth - 1) * from.slice + (height - 1) * from.pitch + width;
  // From pageable memory the bytes are taken now; into it the copy is waited for.
  auto held = std::make_shared<std::vector<char>>();
  if (!from.device && !captured) {
    const char *p = reinterpret_cast<const char *>(from.base);
    held->assign(p, p + fromBytes);
  }
  wait |= !to.device && !captured;
  int device = s->device;
  std::string name = function;
  // A copy between devices needs no access of kernels to each other's memory.
  auto run = [=] {
    char *t = to.device ? deviceMemory(-1, to.base, toBytes, true, name) : reinterpret_cast<char *>(to.base);
    const char *f = !held->empty() ? held->data()
                    : from.device  ? deviceMemory(-1, from.base, fromBytes, false, name)
                                   : reinterpret_cast<const char *>(from.base);
    if (!t || !f) {
      breakDevice(device, CUDA_ERROR_ILLEGAL_ADDRESS);
      return Progress::Done;
    }
    if (t < f + fromBytes && f < t + toBytes && height == 1 && depth == 1) {
      complain(name + ": the buffers overlap");
      breakDevice(device, CUDA_ERROR_INVALID_VALUE);
      return Progress::Done;
    }
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        memcpy(t + z * to.slice + y * to.pitch, f + z * from.slice + y * from.pitch, width);
    return Progress::Done;
  };
  CUresult error = enqueue(stream, simple(name, run), function);
  if (!error && wait) {
    emulator().drain(*s);
    error = emulator().devices[size_t(device)].error;
  }
  return error;
}

uint64_t address(const void *p) { return reinterpret_cast<uint64_t>(p); }
Side flat(uint64_t base) { return {false, base, 0, 0}; }

CUresult copy1(CUstream stream, bool wait, uint64_t to, Kind toKind, uint64_t from, Kind fromKind, size_t bytes,
               const char *function) {
  return copy(stream, wait, flat(to), toKind, flat(from), fromKind, bytes, 1, 1, function);
}

std::optional<std::pair<uint64_t, Kind>> side(int type, const void *host, CUdeviceptr device) {
  switch (type) {
  case CU_MEMORYTYPE_HOST:
    return {{address(host), Kind::Host}};
  case CU_MEMORYTYPE_DEVICE:
    return {{device, Kind::Device}};
  case CU_MEMORYTYPE_UNIFIED:
    return {{device, Kind::Any}};
  default:
    return std::nullopt;
  }
}

CUresult copy2(const CUDA_MEMCPY2D *c, CUstream stream, bool wait) {
  static const char *me = "cuMemcpy2D";
  auto from = side(c->srcMemoryType, c->srcHost, c->srcDevice);
  auto to = side(c->dstMemoryType, c->dstHost, c->dstDevice);
  if (!from || !to)
    return failed(CUDA_ERROR_INVALID_VALUE, me, "arrays are not emulated");
  if ((c->srcPitch && c->srcPitch < c->WidthInBytes + c->srcXInBytes) ||
      (c->dstPitch && c->dstPitch < c->WidthInBytes + c->dstXInBytes) ||
      (c->Height > 1 && (!c->srcPitch || !c->dstPitch)) || c->srcPitch > 2147483647u || c->dstPitch > 2147483647u)
    return failed(CUDA_ERROR_INVALID_VALUE, me, "a pitch is less than the width, or 2 GiB and more");
  return copy(stream, wait, {false, to->first + c->dstY * c->dstPitch + c->dstXInBytes, c->dstPitch, 0}, to->second,
              {false, from->first + c->srcY * c->srcPitch + c->srcXInBytes, c->srcPitch, 0}, from->second,
              c->WidthInBytes, c->Height, 1, me);
}
CUresult copy3(const CUDA_MEMCPY3D *c, CUstream stream, bool wait) {
  static const char *me = "cuMemcpy3D";
  auto from = side(c->srcMemoryType, c->srcHost, c->srcDevice);
  auto to = side(c->dstMemoryType, c->dstHost, c->dstDevice);
  if (!from || !to)
    return failed(CUDA_ERROR_INVALID_VALUE, me, "arrays are not emulated");
  if ((c->Height > 1 &&
       (c->srcPitch < c->WidthInBytes + c->srcXInBytes || c->dstPitch < c->WidthInBytes + c->dstXInBytes)) ||
      (c->Depth > 1 && (c->srcHeight < c->Height + c->srcY || c->dstHeight < c->Height + c->dstY)) ||
      c->srcPitch > 2147483647u || c->dstPitch > 2147483647u)
    return failed(CUDA_ERROR_INVALID_VALUE, me, "a pitch or height is less than what is copied");
  size_t fromSlice = c->srcPitch * c->srcHeight, toSlice = c->dstPitch * c->dstHeight;
  return copy(
      stream, wait,
      {false, to->first + c->dstZ * toSlice + c->dstY * c->dstPitch + c->dstXInBytes, c->dstPitch, toSlice}, to->second,
      {false, from->first + c->srcZ * fromSlice + c->srcY * c->srcPitch + c->srcXInBytes, c->srcPitch, fromSlice},
      from->second, c->WidthInBytes, c->Height, c->Depth, me);
}

CUresult fill(CUdeviceptr to, const void *value, size_t size, size_t pitch, size_t width, size_t height,
              CUstream stream, const char *function) {
  Lock lock(emulator().mutex);
  int device = deviceOf(stream, function);
  if (device < 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!width || !height)
    return CUDA_SUCCESS;
  Side there = flat(to);
  if (!classify(there, Kind::Device, function))
    return CUDA_ERROR_INVALID_VALUE;
  if (to % size || pitch % size)
    return failed(CUDA_ERROR_INVALID_VALUE, function, "misaligned address");
  uint32_t bits = 0;
  memcpy(&bits, value, size);
  std::string name = function;
  auto run = [=] {
    char *p = deviceMemory(device, to, (height - 1) * pitch + width * size, true, name);
    if (!p)
      breakDevice(device, CUDA_ERROR_ILLEGAL_ADDRESS);
    else
      for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x)
          memcpy(p + y * pitch + x * size, &bits, size);
    return Progress::Done;
  };
  return enqueue(stream, simple(name, run), function);
}

constexpr Kind H = Kind::Host, D = Kind::Device, A = Kind::Any;

} // namespace

EMU_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) {
  return copy1(nullptr, true, to, D, address(from), H, n, "cuMemcpyHtoD");
}
EMU_EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) {
  return copy1(nullptr, true, address(to), H, from, D, n, "cuMemcpyDtoH");
}
EMU_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) {
  return copy1(nullptr, false, to, D, from, D, n, "cuMemcpyDtoD");
}
EMU_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
  return copy1(nullptr, true, to, A, from, A, n, "cuMemcpy");
}
EMU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
  return copy1(s, false, to, D, address(from), H, n, "cuMemcpyHtoDAsync");
}
EMU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
  return copy1(s, false, address(to), H, from, D, n, "cuMemcpyDtoHAsync");
}
EMU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  return copy1(s, false, to, D, from, D, n, "cuMemcpyDtoDAsync");
}
EMU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  return copy1(s, false, to, A, from, A, n, "cuMemcpyAsync");
}
EMU_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n, CUstream s) {
  return copy1(s, false, to, D, from, D, n, "cuMemcpyPeerAsync");
}
EMU_EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n) {
  return copy1(nullptr, false, to, D, from, D, n, "cuMemcpyPeer");
}
EMU_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) { return copy2(c, nullptr, true); }
EMU_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) { return copy2(c, nullptr, true); }
EMU_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream s) { return copy2(c, s, false); }
EMU_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *c) { return copy3(c, nullptr, true); }
EMU_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream s) { return copy3(c, s, false); }

EMU_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char v, size_t n) {
  return fill(to, &v, 1, 0, n, 1, nullptr, "cuMemsetD8");
}
EMU_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short v, size_t n) {
  return fill(to, &v, 2, 0, n, 1, nullptr, "cuMemsetD16");
}
EMU_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned v, size_t n) {
  return fill(to, &v, 4, 0, n, 1, nullptr, "cuMemsetD32");
}
EMU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
  return fill(to, &v, 1, 0, n, 1, s, "cuMemsetD8Async");
}
EMU_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, CUstream s) {
  return fill(to, &v, 2, 0, n, 1, s, "cuMemsetD16Async");
}
EMU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s) {
  return fill(to, &v, 4, 0, n, 1, s, "cuMemsetD32Async");
}
EMU_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char v, size_t width, size_t height,
                                      CUstream s) {
  return fill(to, &v, 1, pitch, width, height, s, "cuMemsetD2D8Async");
}
EMU_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned v, size_t width, size_t height,
                                       CUstream s) {
  return fill(to, &v, 4, pitch, width, height, s, "cuMemsetD2D32Async");
}
