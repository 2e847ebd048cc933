//===- Device.h - The GPUs that ranks run on -------------------*- C++ -*--===//
//
// The libraries of NVIDIA are opened here, at run time; a build needs none of them. A
// logical rank has a Device: two streams (one for computation, one for communication)
// and caches on a GPU that other ranks may share. Addresses are those of the GPU. All
// functions of a Device are called by one thread at a time, which has called enter().
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CUDA_DEVICE_H
#define SHARDKIT_RT_CUDA_DEVICE_H

#include "shardkit/rt/Collectives/CopyEngine.h"
#include "shardkit/rt/Support/Buffer.h"
#include "shardkit/rt/Support/Status.h"
#include "shardkit/rt/abi.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shardkit::rt {
class World;
}

namespace shardkit::rt::cuda {

/// The implementation of attention: Any is cuDNN where it is installed and supports the case, else the runtime.
enum class AttentionEngine { Any, Cudnn, Kernel };

/// Calls of sk_attention that the host made, by implementation.
struct AttentionUses {
  int64_t byCudnn = 0, byKernel = 0;
  std::string reason; ///< Why cuDNN did not compute the last one by a kernel.
};

/// Programs that were recorded as graphs, and launches of these graphs.
struct GraphUses {
  int64_t recorded = 0, launched = 0;
};

struct DeviceOptions {
  AttentionEngine attention = AttentionEngine::Any;
  bool tf32 = false;        ///< f32 contractions may round their inputs to tf32.
  bool graphs = true;       ///< Programs are recorded and replayed where possible.
  bool tune = false;        ///< Contraction algorithms are measured, and the fastest is taken.
  bool profile = false;     ///< All work of programs is timed, without graphs.
  int64_t firstGpu = -1;    ///< If set: one GPU per rank, from this one on.
  int64_t hostRanks = 0;    ///< With firstGpu: ranks of all processes of this machine.
  std::vector<int64_t> map; ///< GPU of each rank; empty: one after the other.
};

class Device {
public:
  struct Impl;
  explicit Device(std::unique_ptr<Impl> impl);
  ~Device();
  Impl &impl() { return *impl_; }

  /// On the thread that uses it from now on.
  Status enter();
  /// "GPU 0 (NVIDIA H100 80GB HBM3)"
  const std::string &name() const;
  /// The number that CUDA has for it.
  int ordinal() const;

  /// Aligned to 256 bytes. `describe(free)` makes the error if they do not fit into the
  /// `free` bytes that are left.
  Expected<void *> allocate(int64_t bytes, const std::function<Status(int64_t free)> &describe);
  void free(void *memory);
  int64_t freeBytes();
  /// The same in the order of the program's stream, which is not waited for: work that was
  /// enqueued before the buffer was freed may use it.
  Expected<Buffer> allocateInOrder(int64_t bytes, const std::function<Status(int64_t free)> &describe);
  /// `from` may be changed once it has returned, pinned memory once wait() has.
  Status upload(void *to, const void *from, int64_t bytes);
  /// Records the uploads so far from pinned memory `slot`, 0 or 1: it is free once
  /// waitUploads has returned for it.
  Status recordUploads(int slot);
  Status waitUploads(int slot);
  /// Waits for the copy.
  Status download(void *to, const void *from, int64_t bytes);
  Status copy(void *to, const void *from, int64_t bytes);

  /// The calls of programs (abi.h).
  Status launch(const sk_kernel *kernel, int64_t x, int64_t y, int64_t z, void *const *args);
  Status read(void *to, const void *from, int64_t bytes);
  Expected<const void *> constant(const void *host, int64_t bytes);
  void *failureWord();
  Status contract(const sk_contraction_desc *desc, const void *a, const void *b, void *c);
  /// The descriptor is valid during the call alone: for sizes that only the run knows.
  Status contractSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c);
  Status contractFused(const sk_fused_contraction_desc *desc, const void *a, const void *b, void *c, const void *first,
                       const void *second);
  Status findRows(const uint8_t *flags, int64_t count, int64_t *rows);
  Status attention(const sk_attention_desc *desc, const void *q, const void *k, const void *v, void *out,
                   const void *const *operands);
  Status attentionSized(const sk_attention_desc &desc, const void *q, const void *k, const void *v, void *out,
                        const void *const *operands);
  /// Counts since the device was opened.
  const AttentionUses &attentionUses() const;
  const GraphUses &graphUses() const;

  /// The times that DeviceOptions::profile measured up to the last wait(), added up by name:
  /// kernels, contractions with their sizes, attention, copies, collectives with the wait for them.
  struct Work {
    int64_t executions = 0;
    double seconds = 0; ///< On the program's stream, from event to event.
  };
  const std::map<std::string, Work> &profile() const;
  void clearProfile();

  /// Work of the communication stream between these two starts after all work that the
  /// program has enqueued so far; later work of the program starts after it.
  Status startCommunication();
  Status endCommunication();
  CopyEngine &copyEngine();
  /// A point in time of the program's stream, by number.
  Expected<size_t> stamp();
  /// Between two of them, once wait() has returned.
  Expected<double> secondsBetween(size_t from, size_t to);
  void clearStamps();
  /// The running program has communicated with other ranks or the host: it cannot be a graph.
  void noteHost();

  /// Host memory with a size that only the run knows: one address for each size.
  int64_t *onHost(int64_t size);
  /// Calls `run`, which runs a program on these buffers. From the second call on, a program
  /// without host control flow is replayed as a graph. (At most 4096 combinations of program
  /// and buffers are kept, so that buffers that are never used again do not accumulate.)
  int32_t record(sk_program program, void *const *args, size_t numArgs, void *const *results, size_t numResults,
                 void *arena, const std::function<int32_t()> &run, Status &status);
  /// Waits for all work. Returns early, without an error, when `world` fails. A failed assertion of a kernel is an
  /// error.
  Status wait(const World *world = nullptr);

private:
  std::unique_ptr<Impl> impl_;
};

/// Restores the current context of this thread, which Device::enter changes, at the end: other users of CUDA in
/// the process depend on it.
class ContextGuard {
public:
  /// With `isUsed` false it does nothing, and opens no driver.
  explicit ContextGuard(bool isUsed);
  ~ContextGuard();
  ContextGuard(const ContextGuard &) = delete;
  ContextGuard &operator=(const ContextGuard &) = delete;

private:
  bool isUsed_;
  void *context_ = nullptr;
};

/// The devices of the ranks of this process, for the programs of one bundle.
class Devices {
public:
  /// Opens those of ranks [begin, end) for programs compiled for `chip`, "sm_90".
  static Expected<std::unique_ptr<Devices>> open(const std::string &chip, int64_t begin, int64_t end,
                                                 const DeviceOptions &options);
  ~Devices();
  /// Null for a rank of another process.
  Device *of(int64_t rank);

private:
  struct Impl;
  Devices();
  std::unique_ptr<Impl> impl_;
};

/// Memory of a device; never null once reserved, also for 0 bytes.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();
  /// At least `bytes` on `device`; the contents are lost when it grows.
  Status reserve(Device &device, int64_t bytes, const std::function<Status(int64_t free)> &describe);
  void *data() const { return data_; }
  int64_t bytes() const { return bytes_; }

private:
  void swap(DeviceMemory &other) {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device *device_ = nullptr;
  void *data_ = nullptr;
  int64_t bytes_ = 0;
};

/// Page-locked host memory, which devices copy from and to asynchronously.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory &) = delete;
  ~PinnedMemory();
  Status reserve(Device &device, int64_t bytes);
  char *data() const { return data_; }
  int64_t bytes() const { return bytes_; }

private:
  Device *device_ = nullptr;
  char *data_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_DEVICE_H
