//===- ShardMemory.h - Memory of the shards of arrays -----------*- C++ -*-===//

#ifndef SHARDKIT_RT_SHARDMEMORY_H
#define SHARDKIT_RT_SHARDMEMORY_H

#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Support/Buffer.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shardkit::rt {

/// Memory of shards, on the host and on devices. What is freed serves the next request for the same size; it may
/// outlive the session.
class ShardMemory : public std::enable_shared_from_this<ShardMemory> {
public:
  ~ShardMemory();
  /// On the host. Throws std::bad_alloc.
  std::shared_ptr<void> allocate(int64_t bytes);
  /// On the device of `rank`. In turn, as all uses of a device.
  Expected<std::shared_ptr<void>> allocateOn(const std::shared_ptr<cuda::Devices> &devices, int64_t rank,
                                             int64_t bytes);
  /// Gives back what no shard has. In turn.
  void freeIdle();
  /// A device had no room for something.
  void noteFull() { isFull_ = true; }
  /// Whether it had since the last call.
  bool takeFull() { return isFull_.exchange(false); }

private:
  struct Pool {
    std::shared_ptr<cuda::Devices> devices;
    BufferPool buffers;
    /// Buffers of a device that were freed on any thread, until the next turn.
    std::vector<Buffer> freed;
  };
  struct Block {
    std::shared_ptr<ShardMemory> memory;
    Pool *pool = nullptr;
    Buffer buffer;
    ~Block();
  };
  std::shared_ptr<void> wrap(Pool &pool, Buffer buffer);

  std::mutex mutex_;
  std::atomic<bool> isFull_{false};
  bool hasDevices_ = false;
  std::map<cuda::Device *, Pool> pools_; ///< Null: the host.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SHARDMEMORY_H
