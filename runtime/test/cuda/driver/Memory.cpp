//===- Memory.cpp - Device memory -----------------------------------------===//
//
// Device addresses are no addresses of this process: whatever touches device memory from
// the host fails at once. Addresses are not used twice, so that what is used after it was
// freed is found.
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace shardkit::emu {

static constexpr uint64_t kBase = uint64_t(0x2000) << 32, kPerDevice = uint64_t(1) << 40, kMostDevices = 32;

Memory &memory() {
  static Memory *memory = new Memory; // Outlives every static object.
  return *memory;
}

uint64_t Memory::allocate(int device, uint64_t bytes, Block::State state, bool internal) {
  std::unique_lock lock(mutex);
  size_t d = size_t(device);
  if (used_.size() <= d) {
    used_.resize(d + 1);
    next_.resize(d + 1);
    pooled_.resize(d + 1);
    threshold_.resize(d + 1);
  }
  // The pool gives what it has to those who ask it.
  const uint64_t fromPool = state == Block::Coming ? pooled_[d] : 0;
  if (bytes > settings().memory || next_[d] + bytes > kPerDevice / 2 ||
      used_[d] + pooled_[d] - fromPool + bytes > settings().memory)
    return 0;
  pooled_[d] -= std::min(fromPool, bytes);
  char *host = static_cast<char *>(aligned_alloc(256, (bytes + 255) / 256 * 256));
  if (!host)
    return 0;
  memset(host, 0xff, bytes);
  uint64_t address = kBase + d * kPerDevice + next_[d];
  next_[d] += (bytes + 4096 + 511) / 512 * 512; // A gap between any two.
  used_[d] += bytes;
  Block &b = blocks_[address];
  b.address = address;
  b.bytes = bytes;
  b.host = host;
  b.device = device;
  b.state = state;
  b.internal = internal;
  if (settings().options.uninitialised)
    b.written.assign(bytes, 0);
  return address;
}

uint64_t Memory::allocateHost(void *given, uint64_t bytes) {
  std::unique_lock lock(mutex);
  char *host = static_cast<char *>(given ? given : aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  if (!host)
    return 0;
  uint64_t address = reinterpret_cast<uint64_t>(host);
  Block &b = blocks_[address];
  b.address = address;
  b.bytes = bytes;
  b.host = host;
  b.registered = given != nullptr;
  ++generation;
  return address;
}

Block *Memory::containing(uint64_t address) { return containing(address, std::shared_lock(mutex)); }

Block *Memory::containing(uint64_t address, const std::shared_lock<std::shared_mutex> &) {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin())
    return nullptr;
  --it;
  return address < it->second.address + std::max<uint64_t>(it->second.bytes, 1) ? &it->second : nullptr;
}

Block *Memory::block(uint64_t address) {
  std::shared_lock lock(mutex);
  auto it = blocks_.find(address);
  return it == blocks_.end() ? nullptr : &it->second;
}

void Memory::free(Block &b) {
  std::unique_lock lock(mutex);
  ++generation;
  b.state = Block::Freed;
  if (b.device >= 0)
    used_[size_t(b.device)] -= b.bytes;
  bool registered = b.registered;
  char *host = b.host;
  b.host = nullptr;
  b.written = {};
  if (b.device < 0)
    blocks_.erase(b.address); // The host may use the address again.
  if (!registered)
    graveyard_.push_back(host);
  if (busy > 0) // A kernel may run on it.
    return;
  for (char *dead : graveyard_)
    ::free(dead);
  graveyard_.clear();
}

uint64_t Memory::used(int device) const {
  std::shared_lock lock(mutex);
  return size_t(device) < used_.size() ? used_[size_t(device)] + pooled_[size_t(device)] : 0;
}

void Memory::freeToPool(Block &b) {
  free(b);
  std::unique_lock lock(mutex);
  const size_t d = size_t(b.device);
  pooled_[d] = std::min(pooled_[d] + b.bytes, threshold_[d]);
}

void Memory::setPoolThreshold(int device, uint64_t threshold) {
  std::unique_lock lock(mutex);
  const size_t d = size_t(device);
  if (threshold_.size() <= d)
    for (auto *each : {&used_, &next_, &pooled_, &threshold_})
      each->resize(d + 1);
  threshold_[d] = threshold;
}

void Memory::trimPool(int device, uint64_t keep) {
  std::unique_lock lock(mutex);
  if (size_t(device) < pooled_.size())
    pooled_[size_t(device)] = std::min(pooled_[size_t(device)], keep);
}

static std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string Memory::describe(uint64_t address) const {
  std::shared_lock lock(mutex);
  auto it = blocks_.upper_bound(address);
  if (it != blocks_.begin()) {
    const Block &b = std::prev(it)->second;
    uint64_t offset = address - b.address;
    if (offset < b.bytes + 4096) {
      std::string where = offset < b.bytes ? "byte " + std::to_string(offset) + " of "
                                           : std::to_string(offset - b.bytes) + " bytes behind ";
      const char *state = b.state == Block::Freed    ? ", which was freed"
                          : b.state == Block::Coming ? ", which its stream has not allocated yet"
                                                     : "";
      return where + "the allocation of " + std::to_string(b.bytes) + " bytes at " + hex(b.address) +
             (b.device >= 0 ? " on device " + std::to_string(b.device) : " in host memory") + state;
    }
  }
  if (address < 4096)
    return "a null pointer";
  if (address >= kBase && address < kBase + kMostDevices * kPerDevice)
    return "no allocation";
  return "not device memory (a host pointer?)";
}

std::vector<const Block *> Memory::live() const {
  std::shared_lock lock(mutex);
  std::vector<const Block *> out;
  for (const auto &[address, b] : blocks_)
    if (b.state == Block::Live && !b.internal && !b.registered)
      out.push_back(&b);
  return out;
}

static bool reachable(int device, const Block &b) {
  return b.device < 0 || b.device == device || emulator().devices[size_t(device)].peers.count(b.device);
}

char *deviceMemory(int device, uint64_t address, uint64_t bytes, bool write, const std::string &who) {
  if (bytes == 0)
    return reinterpret_cast<char *>(256); // Nobody touches it.
  Memory &m = memory();
  {
    std::shared_lock lock(m.mutex);
    Block *b = m.containing(address, lock);
    if (b && b->state == Block::Live && address + bytes <= b->address + b->bytes &&
        (device < 0 || reachable(device, *b))) {
      uint64_t offset = address - b->address;
      if (!b->written.empty()) {
        if (write)
          memset(b->written.data() + offset, 1, bytes);
        else
          for (uint64_t i = 0; i < bytes; ++i)
            if (!b->written[offset + i]) {
              lock.unlock();
              complain(who + ": reads memory that nothing has written: " + m.describe(address + i));
              return nullptr;
            }
      }
      return b->host + offset;
    }
  }
  complain(who + ": " + std::to_string(bytes) + " bytes at " + hex(address) + ": " + m.describe(address));
  return nullptr;
}

} // namespace shardkit::emu
