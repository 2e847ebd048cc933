//===- DeviceCalls.cpp - cuInit, cuDevice*, cuCtx* ------------------------===//

#include "Emulator.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

using namespace shardkit::emu;

static thread_local int current = -1;

int shardkit::emu::currentDevice() { return current; }

int shardkit::emu::needContext(const char *function, CUresult &error) {
  error = CUDA_SUCCESS;
  if (!emulator().initialised)
    error = failed(CUDA_ERROR_NOT_INITIALIZED, function, "called before cuInit");
  else if (current < 0)
    error = failed(CUDA_ERROR_INVALID_CONTEXT, function, "no context is current in this thread");
  else if (emulator().devices[size_t(current)].retained == 0)
    error = failed(CUDA_ERROR_INVALID_CONTEXT, function, "the current context was released");
  else
    error = emulator().devices[size_t(current)].error;
  return error ? -1 : current;
}

static CUcontext contextOf(int device) { return reinterpret_cast<CUcontext>(&emulator().devices[size_t(device)]); }
static int deviceOfContext(CUcontext context) {
  for (size_t d = 0; d < emulator().devices.size(); ++d)
    if (contextOf(int(d)) == context)
      return int(d);
  return -1;
}
static bool isDevice(CUdevice d) { return d >= 0 && size_t(d) < emulator().devices.size(); }
static CUresult noDevice(const char *function, CUdevice d) {
  return failed(CUDA_ERROR_INVALID_DEVICE, function, "no device " + std::to_string(d));
}

EMU_EXPORT CUresult cuInit(unsigned flags) {
  Lock lock(emulator().mutex);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  emulator().initialised = true;
  return settings().devices ? CUDA_SUCCESS : 100; // CUDA_ERROR_NO_DEVICE
}
EMU_EXPORT CUresult cuDriverGetVersion(int *out) {
  *out = settings().driver;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceGetCount(int *out) {
  *out = settings().devices;
  return emulator().initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}
EMU_EXPORT CUresult cuDeviceGet(CUdevice *out, int ordinal) {
  if (!emulator().initialised)
    return failed(CUDA_ERROR_NOT_INITIALIZED, "cuDeviceGet", "called before cuInit");
  if (!isDevice(ordinal))
    return noDevice("cuDeviceGet", ordinal);
  *out = ordinal;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceGetName(char *out, int length, CUdevice d) {
  if (!isDevice(d) || length < 1)
    return noDevice("cuDeviceGetName", d);
  snprintf(out, size_t(length), "Emulated %s", settings().chip.c_str());
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice d) {
  if (!isDevice(d))
    return noDevice("cuDeviceTotalMem", d);
  *out = settings().memory;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceGetUuid_v2(char *out, CUdevice d) {
  if (!isDevice(d))
    return noDevice("cuDeviceGetUuid", d);
  memset(out, 0, 16);
  out[0] = 'e';
  out[15] = char(d);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceGetUuid(char *out, CUdevice d) { return cuDeviceGetUuid_v2(out, d); }
EMU_EXPORT CUresult cuDeviceGetPCIBusId(char *out, int length, CUdevice d) {
  if (!isDevice(d))
    return noDevice("cuDeviceGetPCIBusId", d);
  snprintf(out, size_t(length), "0000:%02x:00.0", d + 1);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDeviceGetAttribute(int *out, int attribute, CUdevice d) {
  if (!isDevice(d))
    return noDevice("cuDeviceGetAttribute", d);
  switch (attribute) {
  case 1:
    *out = 1024;
    break; // threads per block
  case 2:
  case 3:
    *out = 1024;
    break; // block x, y
  case 4:
    *out = 64;
    break; // block z
  case 5:
    *out = 2147483647;
    break; // grid x
  case 6:
  case 7:
    *out = 65535;
    break; // grid y, z
  case 8:
    *out = 48 * 1024;
    break; // shared memory per block
  case 9:
    *out = 64 * 1024;
    break; // constant memory
  case 10:
    *out = 32;
    break; // warp
  case 12:
    *out = 65536;
    break; // registers per block
  case 13:
    *out = 1000000;
    break; // clock, kHz
  case 16:
    *out = 4;
    break; // multiprocessors
  case 31:
  case 32:
    *out = 1;
    break; // concurrent kernels; ECC
  case 33:
    *out = d + 1;
    break; // PCI bus
  case 34:
    *out = 0;
    break; // PCI device
  case 38:
    *out = 50 << 20;
    break; // L2
  case 39:
    *out = 2048;
    break; // threads per multiprocessor
  case 40:
    *out = 1;
    break; // copy engines
  case 41:
    *out = 1;
    break; // unified addressing
  case 75:
    *out = settings().major;
    break;
  case 76:
    *out = settings().minor;
    break;
  case 81:
    *out = 228 * 1024;
    break; // shared memory per multiprocessor
  case 82:
    *out = 65536;
    break;
  case 97:
    *out = 227 * 1024;
    break; // shared memory per block, at most
  case 115:
    *out = 1;
    break; // memory pools
  default:
    return failed(CUDA_ERROR_NOT_SUPPORTED, "cuDeviceGetAttribute",
                  "attribute " + std::to_string(attribute) + " is not emulated");
  }
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d) {
  Lock lock(emulator().mutex);
  if (!emulator().initialised)
    return failed(CUDA_ERROR_NOT_INITIALIZED, "cuDevicePrimaryCtxRetain", "called before cuInit");
  if (!isDevice(d))
    return noDevice("cuDevicePrimaryCtxRetain", d);
  ++emulator().devices[size_t(d)].retained;
  *out = contextOf(d);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
  Lock lock(emulator().mutex);
  if (!isDevice(d) || emulator().devices[size_t(d)].retained == 0)
    return failed(CUDA_ERROR_INVALID_CONTEXT, "cuDevicePrimaryCtxRelease", "not retained");
  Device &device = emulator().devices[size_t(d)];
  if (device.retained == 1)
    emulator().drainDevice(d);
  if (--device.retained == 0) { // A new context begins without the errors of the old one.
    device.error = CUDA_SUCCESS;
    device.peers.clear();
  }
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active) {
  if (!isDevice(d))
    return noDevice("cuDevicePrimaryCtxGetState", d);
  *flags = 0;
  *active = emulator().devices[size_t(d)].retained > 0;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  Lock lock(emulator().mutex);
  int d = context ? deviceOfContext(context) : -1;
  if (context && d < 0)
    return failed(CUDA_ERROR_INVALID_CONTEXT, "cuCtxSetCurrent", "no such context");
  current = d;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuCtxGetCurrent(CUcontext *out) {
  *out = current < 0 ? nullptr : contextOf(current);
  return CUDA_SUCCESS;
}
static thread_local std::vector<int> stack;
EMU_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  stack.push_back(current);
  CUresult error = cuCtxSetCurrent(context);
  if (error)
    stack.pop_back();
  return error;
}
EMU_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *out) {
  if (stack.empty())
    return failed(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPopCurrent", "nothing was pushed");
  if (out)
    cuCtxGetCurrent(out);
  current = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuCtxGetDevice(CUdevice *out) {
  if (current < 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  *out = current;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuCtxSynchronize() {
  Lock lock(emulator().mutex);
  CUresult error;
  int d = needContext("cuCtxSynchronize", error);
  if (d < 0)
    return error;
  for (auto &[handle, s] : emulator().streams)
    if (s->device == d && s->capture)
      return failed(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuCtxSynchronize", "a stream is being captured");
  emulator().drainDevice(d);
  return emulator().devices[size_t(d)].error;
}
EMU_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuDeviceCanAccessPeer(int *out, CUdevice d, CUdevice peer) {
  if (!isDevice(d) || !isDevice(peer))
    return noDevice("cuDeviceCanAccessPeer", isDevice(d) ? peer : d);
  *out = d != peer;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
  Lock lock(emulator().mutex);
  CUresult error;
  int d = needContext("cuCtxEnablePeerAccess", error), p = deviceOfContext(peer);
  if (d < 0)
    return error;
  if (p < 0 || p == d)
    return failed(CUDA_ERROR_INVALID_CONTEXT, "cuCtxEnablePeerAccess", "no such peer");
  return emulator().devices[size_t(d)].peers.insert(p).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
EMU_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  Lock lock(emulator().mutex);
  CUresult error;
  int d = needContext("cuCtxDisablePeerAccess", error);
  if (d < 0)
    return error;
  return emulator().devices[size_t(d)].peers.erase(deviceOfContext(peer)) ? CUDA_SUCCESS
                                                                          : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

EMU_EXPORT CUresult cuGetErrorName(CUresult error, const char **out) {
  static const std::pair<CUresult, const char *> names[] = {{0, "CUDA_SUCCESS"},
                                                            {1, "CUDA_ERROR_INVALID_VALUE"},
                                                            {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                            {3, "CUDA_ERROR_NOT_INITIALIZED"},
                                                            {100, "CUDA_ERROR_NO_DEVICE"},
                                                            {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                            {200, "CUDA_ERROR_INVALID_IMAGE"},
                                                            {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                            {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                            {218, "CUDA_ERROR_INVALID_PTX"},
                                                            {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                            {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                            {500, "CUDA_ERROR_NOT_FOUND"},
                                                            {600, "CUDA_ERROR_NOT_READY"},
                                                            {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                            {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                            {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
                                                            {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
                                                            {710, "CUDA_ERROR_ASSERT"},
                                                            {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
                                                            {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                                                            {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                            {801, "CUDA_ERROR_NOT_SUPPORTED"},
                                                            {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                            {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
                                                            {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
                                                            {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
                                                            {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
                                                            {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
                                                            {907, "CUDA_ERROR_CAPTURED_EVENT"}};
  for (const auto &[value, name] : names)
    if (value == error) {
      *out = name;
      return CUDA_SUCCESS;
    }
  *out = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
EMU_EXPORT CUresult cuGetErrorString(CUresult error, const char **out) { return cuGetErrorName(error, out); }

EMU_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int, uint64_t, int *status) {
  std::string base = name;
  for (const std::string &each : {base + "_v2", base})
    if ((*out = dlsym(RTLD_DEFAULT, each.c_str()))) {
      if (status)
        *status = 0;
      return CUDA_SUCCESS;
    }
  if (status)
    *status = 1;
  return CUDA_ERROR_NOT_FOUND;
}
