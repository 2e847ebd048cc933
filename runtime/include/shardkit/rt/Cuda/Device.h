//===- Device.h - The GPUs that ranks run on -------------------*- C++ -*--===//
//
// The libraries of NVIDIA are opened here, at run time; a build needs none of them. A
// logical rank has a Device: its own streams (one for what its program computes, one for
// what its collectives move) and caches on a GPU that other ranks may share. Addresses
// are those of the GPU. All functions of a Device are called by one thread at a time,
// which has called enter().
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

/// Who computes attention: cuDNN where it is and can, else the runtime; or one of them.
enum class AttentionEngine { Any, Cudnn, Own };

/// Calls of sk_attention that the host made, by who computes them.
struct AttentionUses {
  int64_t byCudnn = 0, byKernel = 0;
  std::string reason; ///< Why the last one by a kernel is not cuDNN's.
};

/// Programs of which graphs were made, and how often those were launched.
struct GraphUses {
  int64_t recorded = 0, launched = 0;
};

struct DeviceOptions {
  AttentionEngine attention = AttentionEngine::Any;
  bool tf32 = false;        ///< f32 contractions may round their inputs to tf32.
  bool graphs = true;       ///< Programs that can are recorded and replayed.
  bool tune = false;        ///< Algorithms of products are measured, and the fastest taken.
  bool profile = false;     ///< Time is taken of all that programs ask for, without graphs.
  int64_t firstGpu = -1;    ///< Set: a GPU of its own for each rank, from this one on.
  int64_t hostRanks = 0;    ///< Then: ranks of all processes of this machine.
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

  /// Aligned to 256 bytes. `describe(free)` is the error where there is no room for
  /// them, with `free` bytes left.
  Expected<void *> allocate(int64_t bytes, const std::function<Status(int64_t free)> &describe);
  void free(void *memory);
  /// The same in the order of the program's stream, which is not waited for: what was
  /// given to it before the buffer went may use it.
  Expected<Buffer> allocateInOrder(int64_t bytes, const std::function<Status(int64_t free)> &describe);
  /// `from` may be changed once it has returned, pinned memory once wait() has.
  Status upload(void *to, const void *from, int64_t bytes);
  /// Of uploads from pinned memory: `slot`, 0 or 1, is free once waitUploads has
  /// returned for it.
  Status markUploads(int slot);
  Status waitUploads(int slot);
  /// Waits.
  Status download(void *to, const void *from, int64_t bytes);
  Status copy(void *to, const void *from, int64_t bytes);

  /// What programs ask for (abi.h).
  Status launch(const sk_kernel *kernel, int64_t x, int64_t y, int64_t z, void *const *args);
  Status read(void *to, const void *from, int64_t bytes);
  Expected<const void *> constant(const void *host, int64_t bytes);
  void *failureWord();
  Status contract(const sk_contraction *desc, const void *a, const void *b, void *c);
  Status contractFused(const sk_fused_contraction *desc, const void *a, const void *b, void *c, const void *first,
                       const void *second);
  Status attention(const sk_attention_desc *desc, const void *q, const void *k, const void *v, void *out,
                   const void *const *operands);
  /// Since it was opened.
  const AttentionUses &attentionUses() const;
  const GraphUses &graphUses() const;

  /// What DeviceOptions::profile took the time of up to the last wait(), added up by name:
  /// kernels, products with their sizes, attention, copies, collectives with the wait for them.
  struct Work {
    int64_t executions = 0;
    double seconds = 0; ///< Of the program's stream, from event to event.
  };
  const std::map<std::string, Work> &profile() const;
  void clearProfile();

  /// Between these two the communication stream works behind what the program has
  /// given so far, and then the program's stream behind that.
  Status startCommunication();
  Status endCommunication();
  Mover &mover();
  /// A point in time of the program's stream, by number.
  Expected<size_t> stamp();
  /// Between two of them, once wait() has returned.
  Expected<double> secondsBetween(size_t from, size_t to);
  void clearStamps();
  /// What runs now has met other ranks, or the host: no graph can hold it.
  void noteHost();

  /// Calls `run`, which runs a program on these buffers; from the second time on a
  /// program that nothing on the host steers is a graph. (Of the first 4096 of programs
  /// and buffers: buffers that never come again shall not be remembered for ever.)
  int32_t record(sk_program program, void *const *args, size_t numArgs, void *const *results, size_t numResults,
                 void *arena, const std::function<int32_t()> &run, Status &status);
  /// Waits for all of it. Returns early, with no error, when `world` fails. What kernels have found not to hold is
  /// an error.
  Status wait(const World *world = nullptr);

private:
  std::unique_ptr<Impl> impl_;
};

/// Of the ranks of this process, for the programs of one bundle.
class Devices {
public:
  /// Ranks [begin, end) for programs compiled for `chip`, "sm_90".
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

/// Host memory that devices copy from and to while the host goes on.
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
