//===- ShardMemory.cpp - Memory of the shards of arrays -------------------===//

#include "ShardMemory.h"

namespace shardkit::rt {

ShardMemory::Block::~Block() {
  if (!memory)
    return;
  std::lock_guard lock(memory->mutex_);
  if (pool->devices)
    pool->freed.push_back(std::move(buffer));
  else
    pool->buffers.giveBack(std::move(buffer));
}

ShardMemory::~ShardMemory() {
  cuda::ContextGuard guard(hasDevices_); // The last view may go on any thread.
  pools_.clear();
}

std::shared_ptr<void> ShardMemory::wrap(Pool &pool, Buffer buffer) {
  auto block = std::make_shared<Block>();
  block->buffer = std::move(buffer);
  block->pool = &pool;
  block->memory = shared_from_this();
  void *data = block->buffer.data();
  return {std::move(block), data};
}

std::shared_ptr<void> ShardMemory::allocate(int64_t bytes) {
  Buffer buffer;
  Pool *pool;
  {
    std::lock_guard lock(mutex_);
    pool = &pools_[nullptr];
    buffer = std::move(*pool->buffers.take(bytes)); // On the host: throws, and is never an error.
  }
  return wrap(*pool, std::move(buffer));
}

Expected<std::shared_ptr<void>> ShardMemory::allocateOn(const std::shared_ptr<cuda::Devices> &devices, int64_t rank,
                                                        int64_t bytes) {
  cuda::Device *device = devices->of(rank);
  Buffer buffer;
  Pool *pool;
  {
    std::lock_guard lock(mutex_);
    pool = &pools_[device];
    if (!pool->devices) {
      hasDevices_ = true;
      pool->devices = devices;
      pool->buffers.makeBy([this, device, rank](int64_t bytes) -> Expected<Buffer> {
        SK_ASSIGN_OR_RETURN(void *data, device->allocate(bytes, [&](int64_t free) {
          noteFull();
          return internalError("out of device memory: rank " + std::to_string(rank) + " has no room for a shard of " +
                               std::to_string(bytes) + " bytes, " + std::to_string(free) + " are free");
        }));
        return Buffer(data, bytes, [device](void *data) {
          (void)device->wait(); // A copy to it may be under way.
          device->free(data);
        });
      });
    }
    for (Buffer &one : pool->freed)
      pool->buffers.giveBack(std::move(one));
    pool->freed.clear();
    SK_ASSIGN_OR_RETURN(buffer, pool->buffers.take(bytes));
  }
  return wrap(*pool, std::move(buffer));
}

void ShardMemory::freeIdle() {
  std::lock_guard lock(mutex_);
  for (auto &[device, pool] : pools_) {
    for (Buffer &one : pool.freed)
      pool.buffers.giveBack(std::move(one));
    pool.freed.clear();
    pool.buffers.freeIdle();
  }
}

} // namespace shardkit::rt
