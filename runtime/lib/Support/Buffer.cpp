//===- Buffer.cpp - Aligned memory ----------------------------------------===//

#include "shardkit/rt/Support/Buffer.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <sys/mman.h>

namespace shardkit::rt {

static constexpr int64_t hugePage = 2 << 20;

Buffer::Buffer(int64_t bytes, bool isSparse) : bytes_(bytes) {
  int64_t rounded = (bytes + 63) / 64 * 64;
  if (rounded < hugePage) {
    data_ = std::aligned_alloc(64, size_t(rounded ? rounded : 64));
  } else {
    data_ = ::mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (isSparse ? MAP_NORESERVE : 0), -1, 0);
    if (data_ == MAP_FAILED)
      data_ = nullptr;
    else
      ::madvise(data_, size_t(bytes), MADV_HUGEPAGE); // A hint, may fail.
    mapped_ = true;
  }
  if (!data_)
    throw std::bad_alloc();
}

Buffer::~Buffer() {
  if (free_ && data_)
    free_(data_);
  else if (mapped_ && data_)
    ::munmap(data_, size_t(bytes_));
  else
    std::free(data_);
}

void Buffer::reserve(int64_t bytes, bool isSparse) {
  if (data_ && bytes <= bytes_)
    return;
  *this = Buffer();
  *this = Buffer(bytes, isSparse);
}

void BufferPool::makeBy(Make make) {
  idle_.clear();
  idleBytes_ = max_ = 0;
  make_ = std::move(make);
}

Expected<Buffer> BufferPool::take(int64_t bytes) {
  inUse_ += bytes;
  peak_ = std::max(peak_, inUse_);
  max_ = std::max(max_, inUse_);
  auto same = idle_.lower_bound({bytes, nullptr});
  if (same != idle_.end() && same->first.first == bytes) {
    Buffer buffer = std::move(same->second);
    idle_.erase(same);
    idleBytes_ -= bytes;
    return buffer;
  }
  while (!idle_.empty() && inUse_ + idleBytes_ > max_) {
    idleBytes_ -= idle_.rbegin()->first.first;
    idle_.erase(std::prev(idle_.end()));
  }
  if (!make_)
    return Buffer(bytes);
  Expected<Buffer> made = make_(bytes);
  if (!made.ok())
    inUse_ -= bytes;
  return made;
}

void BufferPool::freeIdle() {
  idle_.clear();
  idleBytes_ = 0;
}

void BufferPool::giveBack(Buffer buffer) {
  const int64_t bytes = buffer.bytes();
  inUse_ -= bytes;
  idleBytes_ += bytes;
  const void *data = buffer.data();
  idle_.emplace(std::pair(bytes, data), std::move(buffer));
}

} // namespace shardkit::rt
