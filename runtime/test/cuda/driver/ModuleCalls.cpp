//===- ModuleCalls.cpp - cuModule*, cuFunc*, cuLaunchKernel ---------------===//

#include "Emulator.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace shardkit::emu;

namespace {

/// Device memory as the kernels of a device see it.
class View : public DeviceMemory {
public:
  explicit View(int device) : device_(device) {}
  uint64_t generation() const override { return memory().generation; }
  bool find(uint64_t address, Region &region) const override {
    Memory &m = memory();
    std::shared_lock lock(m.mutex);
    Block *b = m.containing(address, lock);
    if (!b || b->state != Block::Live)
      return false;
    if (b->device >= 0 && b->device != device_ && !emulator().devices[size_t(device_)].peers.count(b->device))
      return false;
    region.begin = b->address;
    region.end = b->address + b->bytes;
    region.host = b->host;
    region.written = b->written.empty() ? nullptr : b->written.data();
    region.readOnly = b->readOnly;
    return true;
  }
  std::string describe(uint64_t address) const override { return memory().describe(address); }

private:
  int device_;
};

/// Gives the variables of a module memory and their first values.
void placeGlobals(Module &m) {
  for (const Variable &v : m.ast.variables) {
    if (v.space == Space::Shared)
      continue;
    if (v.external)
      throw PtxError(v.line, "unresolved variable '" + v.name + "'");
    uint64_t address = memory().allocate(m.device, uint64_t(std::max<int64_t>(v.bytes, 1)), Block::Live, true);
    if (!address)
      throw std::bad_alloc();
    m.globals[v.name] = {address, uint64_t(v.bytes)};
  }
  for (const Variable &v : m.ast.variables) {
    if (v.space == Space::Shared)
      continue;
    uint64_t address = m.globals[v.name].address;
    Block &b = *memory().block(address);
    memset(b.host, 0, b.bytes);
    memcpy(b.host, v.init.data(), v.init.size());
    std::fill(b.written.begin(), b.written.end(), 1);
    for (const Variable::Reference &r : v.references) {
      auto it = m.globals.find(r.symbol);
      if (it == m.globals.end())
        throw PtxError(v.line, "unknown symbol '" + r.symbol + "'");
      uint64_t value = it->second.address + uint64_t(r.offset);
      memcpy(b.host + r.at, &value, size_t(r.size));
    }
    b.readOnly = v.space == Space::Const;
  }
}

void dropGlobals(Module &m) {
  for (auto &[name, global] : m.globals)
    memory().free(*memory().block(global.address));
  m.globals.clear();
}

/// "sm_90a" runs on that chip only, "sm_80" on it and later ones.
bool runsOn(const std::string &target) {
  int cc = 0, used = 0;
  if (sscanf(target.c_str(), "sm_%d%n", &cc, &used) != 1)
    return false;
  if (target[size_t(used)]) // a, f
    return target == settings().chip;
  return cc <= settings().major * 10 + settings().minor;
}

} // namespace

EMU_EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned options, const int *keys,
                                       void **values) {
  Lock lock(emulator().mutex);
  CUresult error;
  int device = needContext("cuModuleLoadData", error);
  if (device < 0)
    return error;
  char *log = nullptr;
  size_t logBytes = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (keys[i] == 5) // CU_JIT_ERROR_LOG_BUFFER
      log = static_cast<char *>(values[i]);
    else if (keys[i] == 6) // .._SIZE_BYTES
      logBytes = size_t(reinterpret_cast<uintptr_t>(values[i]));
    else if (keys[i] < 0 || keys[i] > 40)
      return failed(CUDA_ERROR_INVALID_VALUE, "cuModuleLoadData", "unknown JIT option");
  }
  auto refuse = [&](CUresult error, const std::string &what) {
    if (log && logBytes) {
      strncpy(log, what.c_str(), logBytes - 1);
      log[logBytes - 1] = 0;
    }
    return failed(error, "cuModuleLoadData", what);
  };
  const char *text = static_cast<const char *>(image);
  if (!text || memcmp(text,
                      "\x7f"
                      "ELF",
                      4) == 0)
    return refuse(CUDA_ERROR_INVALID_IMAGE, "the emulated device runs PTX only");
  auto m = std::make_shared<Module>();
  m->device = device;
  try {
    m->ast = parsePtx(text);
    if (m->ast.version > 90)
      return refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX " + std::to_string(m->ast.version / 10) + "." +
                                                            std::to_string(m->ast.version % 10) + ", known up to 9.0");
    if (!runsOn(m->ast.target))
      return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for " + m->ast.target + ", the device is " + settings().chip);
    placeGlobals(*m);
    auto addressOf = [&](const std::string &name) { return m->globals.at(name).address; };
    for (const FunctionAst &f : m->ast.functions) {
      if (!f.kernel || !f.defined)
        continue;
      auto loaded = std::make_unique<LoadedFunction>();
      loaded->module = m.get();
      loaded->kernel = decode(m->ast, f, addressOf);
      if (loaded->kernel->sharedBytes > 48 * 1024)
        throw PtxError(f.line, "kernel '" + f.name + "' uses too much shared memory: " +
                                   std::to_string(loaded->kernel->sharedBytes) + " bytes, 49152 at most");
      emulator().functions.insert(loaded.get());
      m->functions[f.name] = std::move(loaded);
    }
  } catch (const PtxError &e) {
    for (auto &[name, f] : m->functions)
      emulator().functions.erase(f.get());
    dropGlobals(*m);
    return refuse(CUDA_ERROR_INVALID_PTX, e.what());
  } catch (const std::bad_alloc &) {
    dropGlobals(*m);
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the variables of the module");
  }
  *out = reinterpret_cast<CUmodule>(m.get());
  emulator().modules[m.get()] = std::move(m);
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *image) {
  return cuModuleLoadDataEx(out, image, 0, nullptr, nullptr);
}
EMU_EXPORT CUresult cuModuleLoad(CUmodule *out, const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return file ? cuModuleLoadData(out, text.str().c_str()) : 301; // FILE_NOT_FOUND
}

EMU_EXPORT CUresult cuModuleUnload(CUmodule handle) {
  Lock lock(emulator().mutex);
  auto it = emulator().modules.find(handle);
  if (it == emulator().modules.end())
    return failed(CUDA_ERROR_INVALID_HANDLE, "cuModuleUnload", "no such module");
  for (auto &[name, f] : it->second->functions)
    emulator().functions.erase(f.get());
  dropGlobals(*it->second);
  emulator().modules.erase(it);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
  Lock lock(emulator().mutex);
  auto it = emulator().modules.find(handle);
  if (it == emulator().modules.end())
    return failed(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetFunction", "no such module");
  auto f = it->second->functions.find(name);
  if (f == it->second->functions.end())
    return failed(CUDA_ERROR_NOT_FOUND, "cuModuleGetFunction", std::string("no kernel '") + name + "'");
  *out = reinterpret_cast<CUfunction>(f->second.get());
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) {
  Lock lock(emulator().mutex);
  auto it = emulator().modules.find(handle);
  if (it == emulator().modules.end())
    return failed(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetGlobal", "no such module");
  auto g = it->second->globals.find(name);
  if (g == it->second->globals.end())
    return failed(CUDA_ERROR_NOT_FOUND, "cuModuleGetGlobal", std::string("no variable '") + name + "'");
  if (address)
    *address = g->second.address;
  if (bytes)
    *bytes = g->second.bytes;
  return CUDA_SUCCESS;
}

static LoadedFunction *function(CUfunction handle, const char *caller) {
  if (!emulator().functions.count(handle)) {
    complain(std::string(caller) + ": no such function");
    return nullptr;
  }
  return reinterpret_cast<LoadedFunction *>(handle);
}

EMU_EXPORT CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
  Lock lock(emulator().mutex);
  LoadedFunction *f = function(handle, "cuFuncSetAttribute");
  if (!f)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == 9) // PREFERRED_SHARED_MEMORY_CARVEOUT
    return CUDA_SUCCESS;
  if (attribute != 8) // MAX_DYNAMIC_SHARED_SIZE_BYTES
    return failed(CUDA_ERROR_NOT_SUPPORTED, "cuFuncSetAttribute", "attribute is not emulated");
  if (value < 0 || uint32_t(value) + f->kernel->sharedBytes > 227 * 1024)
    return failed(CUDA_ERROR_INVALID_VALUE, "cuFuncSetAttribute",
                  std::to_string(value) + " bytes of dynamic shared memory: 227 KiB at most");
  f->maxDynamicShared = value;
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuFuncGetAttribute(int *out, int attribute, CUfunction handle) {
  Lock lock(emulator().mutex);
  LoadedFunction *f = function(handle, "cuFuncGetAttribute");
  if (!f)
    return CUDA_ERROR_INVALID_HANDLE;
  const int values[] = {1024, int(f->kernel->sharedBytes), 0, int(f->kernel->functions.front().localBytes), 32, 0, 0,
                        0,    f->maxDynamicShared};
  if (attribute < 0 || attribute > 8)
    return CUDA_ERROR_INVALID_VALUE;
  *out = values[attribute];
  return CUDA_SUCCESS;
}
EMU_EXPORT CUresult cuFuncSetCacheConfig(CUfunction, int) { return CUDA_SUCCESS; }
EMU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction, int block, size_t) {
  *out = block > 0 ? std::max(1, 2048 / block) : 0;
  return block > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMU_EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned sharedBytes, CUstream stream, void **args, void **extra) {
  static const char *me = "cuLaunchKernel";
  Lock lock(emulator().mutex);
  LoadedFunction *f = function(handle, me);
  if (!f)
    return CUDA_ERROR_INVALID_HANDLE;
  const Kernel &k = *f->kernel;
  auto refuse = [&](CUresult error, const std::string &what) {
    return failed(error, me, "kernel " + k.name + ": " + what);
  };
  int device = deviceOf(stream, me);
  if (device < 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (device != f->module->device)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "the stream is of another device than the module");
  if (!gx || !gy || !gz || gx > 2147483647u || gy > 65535 || gz > 65535)
    return refuse(CUDA_ERROR_INVALID_VALUE, "grid of " + std::to_string(gx) + " x " + std::to_string(gy) + " x " +
                                                std::to_string(gz) + ": at most 2147483647 x 65535 x 65535, none 0");
  uint64_t threads = uint64_t(bx) * by * bz;
  if (!threads || threads > 1024 || bx > 1024 || by > 1024 || bz > 64)
    return refuse(CUDA_ERROR_INVALID_VALUE, "block of " + std::to_string(threads) + " threads: 1 to 1024 are legal");
  if (k.maxThreads[0] && threads > uint64_t(k.maxThreads[0]) * unsigned(k.maxThreads[1]) * unsigned(k.maxThreads[2]))
    return refuse(CUDA_ERROR_INVALID_VALUE, "block of " + std::to_string(threads) + " threads, more than its .maxntid");
  if (k.requiredThreads[0] &&
      (int(bx) != k.requiredThreads[0] || int(by) != k.requiredThreads[1] || int(bz) != k.requiredThreads[2]))
    return refuse(CUDA_ERROR_INVALID_VALUE, "the block is not its .reqntid");
  if (sharedBytes > unsigned(f->maxDynamicShared) ||
      (sharedBytes + k.sharedBytes > 48 * 1024 && f->maxDynamicShared <= 48 * 1024))
    return refuse(CUDA_ERROR_INVALID_VALUE, std::to_string(sharedBytes) + " bytes of dynamic shared memory and " +
                                                std::to_string(k.sharedBytes) + " static ones, the function may have " +
                                                std::to_string(f->maxDynamicShared) +
                                                " dynamic ones (48 KiB in all unless set)");
  std::vector<char> params(k.paramBytes);
  if (args && extra)
    return refuse(CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra");
  if (args) {
    for (size_t i = 0; i < k.params.size(); ++i) {
      if (!args[i])
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "argument " + std::to_string(i) + " of " + std::to_string(k.params.size()) + " is missing");
      memcpy(params.data() + k.params[i].first, args[i], k.params[i].second);
    }
  } else if (extra) {
    const void *buffer = nullptr;
    size_t bytes = 0;
    for (size_t i = 0; extra[i]; i += 2) {
      if (extra[i] == reinterpret_cast<void *>(1))
        buffer = extra[i + 1];
      else if (extra[i] == reinterpret_cast<void *>(2))
        bytes = *static_cast<size_t *>(extra[i + 1]);
    }
    if (!buffer || bytes != k.paramBytes)
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    std::to_string(bytes) + " bytes of arguments, expected " + std::to_string(k.paramBytes));
    memcpy(params.data(), buffer, bytes);
  } else if (k.paramBytes) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "no arguments, expected " + std::to_string(k.params.size()));
  }
  auto module = f->module->shared_from_this();
  auto run = [=, kernel = &k, params = std::move(params)] {
    try {
      launch(*kernel, {gx, gy, gz}, {bx, by, bz}, sharedBytes, params, View(device), settings().options);
    } catch (const DeviceFault &fault) {
      complain(fault.what());
      breakDevice(device, fault.kind == FaultKind::Address       ? CUDA_ERROR_ILLEGAL_ADDRESS
                          : fault.kind == FaultKind::Misaligned  ? CUDA_ERROR_MISALIGNED_ADDRESS
                          : fault.kind == FaultKind::Instruction ? CUDA_ERROR_ILLEGAL_INSTRUCTION
                          : fault.kind == FaultKind::Assert      ? CUDA_ERROR_ASSERT
                                                                 : CUDA_ERROR_LAUNCH_FAILED);
    }
    (void)module;
    return Progress::Done;
  };
  return enqueue(stream, simple("kernel " + k.name, run), me);
}
