//===- DeviceImpl.h - What devices are made of -----------------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_DEVICEIMPL_H
#define SHARDKIT_RT_CUDA_DEVICEIMPL_H

#include "CublasLtApi.h"
#include "CudnnApi.h"
#include "DriverApi.h"
#include "KernelAbi.h"

#include "shardkit/rt/Cuda/Device.h"

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace shardkit::rt::cuda {

inline CUdeviceptr address(const void *pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
}
inline void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(static_cast<uintptr_t>(address)); }
/// What is allocated for a value: kernels read aligned 16 bytes of it at once, of which
/// the last may lie behind its end.
inline size_t sizeToAllocate(int64_t bytes) { return bytes > 0 ? (size_t(bytes) + 15) / 16 * 16 : 16; }

/// A GPU of this machine; its primary context stays for the process.
struct Gpu {
  int ordinal = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr; ///< Of what is allocated in the order of a stream.
  std::string name;            ///< "GPU 0 (...)"
  int major = 0, minor = 0, processors = 1;
  int64_t bytes = 0, sharedBytes = 0; ///< Of a block, at most.
};

/// The libraries and GPUs; opened once by the process.
class Machine {
public:
  static Expected<Machine *> open();
  const DriverApi &driver() const { return driver_; }
  int count() const { return int(gpus_.size()); }
  /// With its context; made when it is asked for first.
  Expected<Gpu *> gpu(int ordinal);
  /// cuBLASLt, opened when it is asked for first.
  Expected<const CublasLtApi *> cublasLt();
  Expected<const CudnnApi *> cudnn();

private:
  Status start();
  std::mutex mutex_;
  DriverApi driver_;
  std::optional<Expected<CublasLtApi>> cublasLt_;
  std::optional<Expected<CudnnApi>> cudnn_;
  std::vector<Gpu> gpus_;
};

/// What is on a GPU for the programs of a bundle, shared by its ranks.
class Programs {
public:
  Programs(Machine &machine, Gpu &gpu) : machine_(machine), gpu_(gpu) {}
  ~Programs();
  Expected<CUfunction> kernel(const sk_kernel &kernel);
  /// One of the runtime's own, which are in `text` (Kernels.h), with that much dynamic
  /// shared memory.
  Expected<CUfunction> runtimeKernel(const std::string &name, const char *text, int sharedBytes);
  Expected<const void *> constant(CUstream aside, const void *host, int64_t bytes);
  Expected<cublasLtHandle_t> cublasLt();

private:
  Expected<CUmodule> load(const char *image, const std::string &what);
  Expected<CUfunction> find(CUmodule module, const std::string &name);
  Status allowShared(CUfunction function, const std::string &name, int bytes);
  Machine &machine_;
  Gpu &gpu_;
  std::mutex mutex_;
  std::unordered_map<const sk_kernel_module *, CUmodule> modules_;
  std::map<const char *, CUmodule> runtimeModules_; ///< By their text.
  std::unordered_map<const sk_kernel *, CUfunction> kernels_;
  std::map<std::string, CUfunction> runtimeKernels_;
  std::map<std::pair<const void *, int64_t>, CUdeviceptr> constants_;
  cublasLtHandle_t cublasLt_ = nullptr;
};

class DeviceCopyEngine;
class Contractions;
class Attention;

struct Device::Impl {
  Impl(Machine &machine, Gpu &gpu, Programs &programs, const DeviceOptions &options)
      : machine(machine), driver(machine.driver()), gpu(gpu), programs(programs), options(options) {}
  ~Impl();
  Status start();

  /// On `stream`, one thread per element, `elements` at least 1.
  Status launchRuntimeKernel(CUstream stream, const std::string &name, int64_t elements, void **args);
  /// The device address of these bytes, uploaded once.
  Expected<const void *> descriptor(const std::string &bytes);
  Status waitFor(CUstream stream, CUevent event) {
    return driver.check(driver.cuStreamWaitEvent(stream, event, 0), "waiting for an event");
  }
  Status record(CUevent event, CUstream stream) {
    return driver.check(driver.cuEventRecord(event, stream), "recording an event");
  }
  Status copy(CUstream stream, void *to, const void *from, int64_t bytes);
  /// cuMemAlloc, once more without what the pool keeps where there is no room.
  CUresult allocate(CUdeviceptr *memory, size_t bytes);
  Status checkAllocation(CUresult result, int64_t bytes, const std::function<Status(int64_t)> &describe);
  /// What a kernel has said in the failure word, which is clear again.
  Status takeFailure();
  std::string onGpu(const std::string &what) const { return gpu.name + ": " + what; }
  /// `call`, which gives the program's stream something to do; in the profile under `name()`.
  template <typename Name, typename Call> Status timed(Name &&name, Call &&call) {
    if (isCapturing)
      return captured(call);
    if (!options.profile)
      return call();
    SK_RETURN_IF_ERROR(beginSpan());
    SK_RETURN_IF_ERROR(call());
    return endSpan(name());
  }
  /// `call`, of a program that is recorded: nothing of that runs, so what fails is no error of
  /// the program, which runs once more without a graph; what comes behind it is left out.
  template <typename Call> Status captured(Call &&call) {
    if (captureFailure.ok())
      captureFailure = call();
    return {};
  }
  Status beginSpan();
  Status endSpan(std::string name);
  /// Of spans that have ended on the device.
  Status addSpans();
  /// Of what `call` gives the program's stream, which is waited for.
  Expected<double> secondsOf(const std::function<Status()> &call);

  Machine &machine;
  const DriverApi &driver;
  Gpu &gpu;
  Programs &programs;
  const DeviceOptions options;
  CUstream compute = nullptr, communication = nullptr, aside = nullptr;
  CUevent computed = nullptr, communicated = nullptr, uploaded[2] = {};
  std::vector<CUevent> stamps; ///< Of which the first are in use.
  size_t usedStamps = 0;
  struct Span {
    std::string name;
    CUevent begin, end;
  };
  std::vector<Span> spans; ///< Of which the first are in use.
  size_t usedSpans = 0;
  std::map<std::string, Device::Work> profile;
  std::unique_ptr<DeviceCopyEngine> engine;
  std::unique_ptr<Contractions> contractions;
  std::unique_ptr<Attention> attention;

  std::map<std::string, CUdeviceptr> descriptors;
  CUdeviceptr chunk = 0;
  int64_t chunkLeft = 0;
  std::vector<CUdeviceptr> chunks;

  const char **failure = nullptr; ///< The failure word, in pinned memory.
  std::string lastKernel;         ///< For errors that come later.
  bool hasHost = false;           ///< Since the last record() started.
  bool isCapturing = false;
  Status captureFailure; ///< The first one, while it is recorded.
  struct Recorded {
    int64_t runs = 0;
    bool isStatic = true;
    CUgraphExec graph = nullptr;
  };
  std::map<std::vector<const void *>, Recorded> recorded;
  GraphUses graphUses;
  std::map<int64_t, int64_t> sizes;
};

/// Copies and reductions on the communication stream.
class DeviceCopyEngine : public CopyEngine {
public:
  explicit DeviceCopyEngine(Device::Impl &device) : device_(device) {}
  ~DeviceCopyEngine() override;
  Status start();
  void zero(void *to, int64_t bytes) override;
  void copy(int64_t elementSize, Source from, void *to, std::span<const Loop> loops) override;
  void reduce(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
              std::span<const Loop> loops) override;
  void record() override;
  void waitFor(CopyEngine &other) override;
  Status takeStatus() override;

private:
  template <typename Call> void perform(Call &&call) {
    if (device_.isCapturing)
      (void)device_.captured(call);
    else
      keep(call());
  }
  void keep(Status status) {
    if (status_.ok())
      status_ = std::move(status);
  }
  /// Where this GPU can read what lies at `from`; copied there if need be.
  Expected<const void *> reach(Source from, int64_t bytes);
  Status copyNow(int64_t elementSize, Source from, void *to, std::span<const Loop> loops);
  Status reduceNow(Reduction reduction, DType dtype, std::span<const Source> from, void *to,
                   std::span<const Loop> loops);
  void freeReached();

  Device::Impl &device_;
  CUevent recorded_ = nullptr;
  std::vector<CUdeviceptr> reached_;
  Status status_;
};

/// sk_contraction and sk_fused_contraction on a device.
class Contractions {
public:
  explicit Contractions(Device::Impl &device);
  ~Contractions();
  struct Work {
    const sk_contraction_desc &desc;
    const sk_fused_contraction_desc *fused; ///< May be null.
    const void *a, *b;
    void *c;
    const void *added[SK_MAX_ADDED];
  };
  Status run(const Work &work);
  /// As run, of a descriptor that does not live on.
  Status runSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c);

private:
  struct Product;
  struct Plan;
  struct Setting;
  static void count(const Plan &plan);
  Expected<Plan *> plan(const Work &work);
  Expected<std::unique_ptr<Plan>> make(const Work &work);
  /// Null, and `reason` set, where the library has no algorithm for it.
  Expected<std::unique_ptr<Product>> makeProduct(const Work &work, const Setting &setting, std::string &reason);
  Status runProducts(const Plan &plan, const Work &work);
  /// Measures the algorithms that there are for it and keeps the fastest.
  Status tune(Plan &plan, const Work &work);
  Status reserveWorkspace();
  Device::Impl &device_;
  CUdeviceptr workspace_ = 0;
  size_t workspaceBytes_ = 0;
  double workedSeconds_ = 0; ///< Of the device, before products are measured.
  struct Key {
    const sk_contraction_desc *desc;
    std::array<uint32_t, 3 + SK_MAX_ADDED> alignments; ///< Of A, B, C and what is added.
    bool operator==(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      size_t hash = std::hash<const void *>()(key.desc);
      for (uint32_t alignment : key.alignments)
        hash = hash * 31 + alignment;
      return hash;
    }
  };
  std::unordered_map<Key, std::unique_ptr<Plan>, Hash> plans_;
  /// Descriptors of sizes that only the run knows, by their bytes.
  std::unordered_map<std::string, std::unique_ptr<sk_contraction_desc>> sized_;
};

/// sk_attention on a device.
class Attention {
public:
  explicit Attention(Device::Impl &device);
  ~Attention();
  struct Call {
    const sk_attention_desc &desc;
    const void *q, *k, *v;
    void *out;
    const void *const *operands;
  };
  Status run(const Call &call) { return run(call, /*isSized=*/false); }
  /// As run, of a descriptor that does not live on. By the runtime's kernels unless cuDNN is asked for, as it takes a
  /// quarter of a second for each size.
  Status runSized(const Call &call);
  const AttentionUses &uses() const { return uses_; }

private:
  struct Plan;
  struct Key {
    const sk_attention_desc *desc;
    std::array<uint8_t, 4 + SK_MAX_ATTENTION_OPERANDS> alignments; ///< q, k, v, out; operands.
    auto operator<=>(const Key &) const = default;
  };
  Status run(const Call &call, bool isSized);
  Expected<std::shared_ptr<Plan>> plan(const Call &call, bool isSized);
  Expected<std::shared_ptr<Plan>> make(const Call &call, bool isSized);
  /// Memory that all calls share, as they run one after the other; recorded programs have its address.
  Expected<CUdeviceptr> scratch(int64_t bytes);
  Status makeLibrary(const Call &call, Plan &plan);
  Status makeKernel(const Call &call, Plan &plan);
  Expected<cudnnHandle_t> cudnn(const CudnnApi &api);
  Device::Impl &device_;
  cudnnHandle_t cudnn_ = nullptr;              ///< Made when it is asked for first.
  std::map<Key, std::shared_ptr<Plan>> plans_; ///< Equal descriptors have one.
  /// Descriptors of sizes that only the run knows, by their bytes.
  std::map<std::string, std::unique_ptr<sk_attention_desc>> sized_;
  std::vector<std::pair<CUdeviceptr, int64_t>>
      scratch_; ///< With bytes; each has at least twice those of the one before.
  AttentionUses uses_;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_DEVICEIMPL_H
