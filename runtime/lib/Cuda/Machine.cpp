//===- Machine.cpp - The GPUs of this machine, and what is on them --------===//

#include "DeviceImpl.h"

#include "Kernels.h"
#include "shardkit/rt/Cuda/DeviceUses.h"

namespace shardkit::rt::cuda {

static std::mutex usesMutex;
static Uses uses;

Uses takeUses() {
  std::lock_guard lock(usesMutex);
  return std::exchange(uses, Uses());
}

void noteUses(const Uses &more) {
  std::lock_guard lock(usesMutex);
  uses.byLibrary += more.byLibrary;
  uses.withKernel += more.withKernel;
  uses.byKernel += more.byKernel;
  uses.graphsFailed += more.graphsFailed;
  if (!more.productReason.empty())
    uses.productReason = more.productReason;
  if (!more.graphReason.empty())
    uses.graphReason = more.graphReason;
}

Expected<Machine *> Machine::open() {
  // One for the process, never closed: contexts are dear, and devices that end with the
  // process, after what was made later, still need it.
  static Machine *const machine = new Machine;
  static const Status status = machine->start();
  SK_RETURN_IF_ERROR(status);
  return machine;
}

ContextGuard::ContextGuard(bool isUsed) : isUsed_(isUsed) {
  auto machine = isUsed ? Machine::open() : Expected<Machine *>(nullptr);
  isUsed_ = isUsed && machine.ok();
  CUcontext current = nullptr;
  if (isUsed_)
    (*machine)->driver().cuCtxGetCurrent(&current);
  context_ = current;
}

ContextGuard::~ContextGuard() {
  if (isUsed_)
    (*Machine::open())->driver().cuCtxSetCurrent(static_cast<CUcontext>(context_));
}

Status Machine::start() {
  SK_ASSIGN_OR_RETURN(driver_, DriverApi::open());
  int count = 0;
  SK_RETURN_IF_ERROR(driver_.check(driver_.cuDeviceGetCount(&count), "counting the GPUs"));
  if (count == 0)
    return notFound("the CUDA driver finds no GPU on this machine");
  for (int i = 0; i < count; ++i) {
    Gpu gpu;
    gpu.ordinal = i;
    char name[128] = {};
    size_t bytes = 0;
    int shared = 0;
    const std::string what = "querying GPU " + std::to_string(i);
    SK_RETURN_IF_ERROR(driver_.check(driver_.cuDeviceGet(&gpu.device, i), what));
    SK_RETURN_IF_ERROR(driver_.check(driver_.cuDeviceGetName(name, sizeof name - 1, gpu.device), what));
    SK_RETURN_IF_ERROR(driver_.check(driver_.cuDeviceTotalMem(&bytes, gpu.device), what));
    const std::pair<int, int *> attributes[] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &gpu.processors},
                                                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &gpu.major},
                                                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &gpu.minor},
                                                {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared}};
    for (auto [attribute, value] : attributes)
      SK_RETURN_IF_ERROR(driver_.check(driver_.cuDeviceGetAttribute(value, attribute, gpu.device), what));
    gpu.bytes = int64_t(bytes);
    gpu.sharedBytes = shared;
    gpu.name = "GPU " + std::to_string(i) + " (" + name + ")";
    gpus_.push_back(std::move(gpu));
  }
  return {};
}

Expected<Gpu *> Machine::gpu(int ordinal) {
  std::lock_guard lock(mutex_);
  Gpu &gpu = gpus_[size_t(ordinal)];
  if (gpu.context)
    return &gpu;
  SK_RETURN_IF_ERROR(
      driver_.check(driver_.cuDevicePrimaryCtxRetain(&gpu.context, gpu.device), gpu.name + ": making its context"));
  // The pool keeps what is freed: without this it gives all back at each wait, and every
  // step maps its memory anew.
  uint64_t everything = UINT64_MAX;
  SK_RETURN_IF_ERROR(
      driver_.check(driver_.cuDeviceGetDefaultMemPool(&gpu.pool, gpu.device), gpu.name + ": querying its memory pool"));
  SK_RETURN_IF_ERROR(
      driver_.check(driver_.cuMemPoolSetAttribute(gpu.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything),
                    gpu.name + ": setting up its memory pool"));
  return &gpu;
}

Expected<const CublasLtApi *> Machine::cublasLt() {
  std::lock_guard lock(mutex_);
  if (!cublasLt_)
    cublasLt_ = CublasLtApi::open(driver_.version);
  SK_RETURN_IF_ERROR(cublasLt_->status());
  return &**cublasLt_;
}

Expected<const CudnnApi *> Machine::cudnn() {
  std::lock_guard lock(mutex_);
  if (!cudnn_)
    cudnn_ = CudnnApi::open();
  SK_RETURN_IF_ERROR(cudnn_->status());
  return &**cudnn_;
}

Programs::~Programs() {
  const DriverApi &driver = machine_.driver();
  driver.cuCtxSetCurrent(gpu_.context);
  if (cublasLt_)
    if (auto api = machine_.cublasLt(); api.ok())
      (*api)->cublasLtDestroy(cublasLt_);
  for (auto &[host, address] : constants_)
    driver.cuMemFree(address);
  for (auto &[from, module] : modules_)
    driver.cuModuleUnload(module);
  for (auto &[text, module] : runtimeModules_)
    driver.cuModuleUnload(module);
}

Expected<CUmodule> Programs::load(const char *image, const std::string &what) {
  std::string log(8192, '\0');
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  const DriverApi &driver = machine_.driver();
  CUmodule module = nullptr;
  Status status =
      driver.check(driver.cuModuleLoadDataEx(&module, image, 2, options, values), gpu_.name + ": loading " + what);
  if (status.ok())
    return module;
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  for (char &c : log)
    c = c == '\n' || c == '\r' ? ' ' : c;
  while (!log.empty() && log.back() == ' ')
    log.pop_back();
  return Status(status.code(), status.message() + (log.empty() ? "" : ": " + log));
}

Expected<CUfunction> Programs::find(CUmodule module, const std::string &name) {
  const DriverApi &driver = machine_.driver();
  CUfunction function = nullptr;
  SK_RETURN_IF_ERROR(driver.check(driver.cuModuleGetFunction(&function, module, name.c_str()),
                                  gpu_.name + ": looking up kernel '" + name + "'"));
  return function;
}

Status Programs::allowShared(CUfunction function, const std::string &name, int bytes) {
  if (bytes < 0 || bytes > gpu_.sharedBytes)
    return invalid("kernel '" + name + "' needs " + std::to_string(bytes) + " bytes of shared memory, " + gpu_.name +
                   " has " + std::to_string(gpu_.sharedBytes));
  constexpr int atOnce = 48 << 10; // More must be asked for.
  if (bytes <= atOnce)
    return {};
  return machine_.driver().check(
      machine_.driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes),
      gpu_.name + ": " + std::to_string(bytes) + " bytes of shared memory for kernel '" + name + "'");
}

Expected<CUfunction> Programs::kernel(const sk_kernel &kernel) {
  std::lock_guard lock(mutex_);
  CUfunction &known = kernels_[&kernel];
  if (known)
    return known;
  const std::string name = kernel.name;
  if (kernel.module->abi != SK_ABI_VERSION)
    return invalid("kernel '" + name + "' is of ABI version " + std::to_string(kernel.module->abi) + ", expected " +
                   std::to_string(SK_ABI_VERSION));
  const int64_t threads = int64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  if (kernel.block[0] < 1 || kernel.block[1] < 1 || kernel.block[2] < 1 || threads > 1024)
    return invalid("kernel '" + name + "' has " + std::to_string(threads) + " threads in a block, expected 1 to 1024");
  CUmodule &module = modules_[kernel.module];
  if (!module) {
    SK_ASSIGN_OR_RETURN(module, load(kernel.module->image, "the program's kernels"));
  }
  SK_ASSIGN_OR_RETURN(CUfunction found, find(module, name));
  SK_RETURN_IF_ERROR(allowShared(found, name, kernel.shared_bytes));
  return known = found;
}

Expected<CUfunction> Programs::runtimeKernel(const std::string &name, const char *text, int sharedBytes) {
  std::lock_guard lock(mutex_);
  CUfunction &known = runtimeKernels_[name];
  if (known)
    return known;
  if (!*text)
    return invalid("kernel '" + name +
                   "' of the runtime: this runtime was built without kernels of its own for GPUs, expected one built "
                   "with clang-22 or with -DSHARDKIT_PTX_DIR=FOLDER, a folder that scripts/export-suite wrote");
  CUmodule &module = runtimeModules_[text];
  if (!module) {
    SK_ASSIGN_OR_RETURN(module, load(text, "the runtime's kernels"));
  }
  SK_ASSIGN_OR_RETURN(CUfunction found, find(module, name));
  SK_RETURN_IF_ERROR(allowShared(found, name, sharedBytes));
  return known = found;
}

Expected<const void *> Programs::constant(CUstream aside, const void *host, int64_t bytes) {
  std::lock_guard lock(mutex_);
  CUdeviceptr &known = constants_[{host, bytes}];
  if (known)
    return static_cast<const void *>(pointer(known));
  const DriverApi &driver = machine_.driver();
  const std::string what = gpu_.name + ": a constant of " + std::to_string(bytes) + " bytes";
  CUdeviceptr memory = 0;
  SK_RETURN_IF_ERROR(driver.check(driver.cuMemAlloc(&memory, sizeToAllocate(bytes)), what));
  if (bytes)
    SK_RETURN_IF_ERROR(driver.check(driver.cuMemcpyHtoDAsync(memory, host, size_t(bytes), aside), what));
  SK_RETURN_IF_ERROR(driver.check(driver.cuStreamSynchronize(aside), what));
  known = memory;
  return static_cast<const void *>(pointer(known));
}

Expected<cublasLtHandle_t> Programs::cublasLt() {
  std::lock_guard lock(mutex_);
  if (!cublasLt_) {
    SK_ASSIGN_OR_RETURN(const CublasLtApi *api, machine_.cublasLt());
    SK_RETURN_IF_ERROR(api->check(api->cublasLtCreate(&cublasLt_), gpu_.name + ": starting it"));
  }
  return cublasLt_;
}

} // namespace shardkit::rt::cuda
