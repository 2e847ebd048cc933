//===- Buffer.h - Aligned memory --------------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SUPPORT_BUFFER_H
#define SHARDKIT_RT_SUPPORT_BUFFER_H

#include "shardkit/rt/Support/Status.h"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace shardkit::rt {

/// Uninitialised memory aligned to 64 bytes (to pages from 2 MiB on, with huge
/// pages where the system gives them). Never null, also for 0 bytes; std::bad_alloc where
/// there is no room. Sparse memory counts where it is touched, and may be more than there is.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(int64_t bytes, bool isSparse = false);
  /// Memory of another kind, a device's; `free` gives it back.
  Buffer(void *data, int64_t bytes, std::function<void(void *)> free)
      : data_(data), bytes_(bytes), free_(std::move(free)) {}
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer();

  void *data() { return data_; }
  const void *data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// Grows to at least `bytes`; the contents are lost when it does.
  void reserve(int64_t bytes, bool isSparse = false);

private:
  void swap(Buffer &other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    std::swap(free_, other.free_);
  }
  void *data_ = nullptr;
  int64_t bytes_ = 0;
  bool mapped_ = false;
  std::function<void(void *)> free_; ///< Null: this class made it.
};

/// Reusable buffers of one rank. A buffer that is given back serves the next request for
/// the same size; the pool never holds more bytes than were in use at once.
class BufferPool {
public:
  using Make = std::function<Expected<Buffer>(int64_t bytes)>;
  /// Sets how buffers are made from now on; null: on the host. No buffer may be in use.
  void makeBy(Make make);
  Expected<Buffer> take(int64_t bytes);
  void giveBack(Buffer buffer);
  /// Frees the buffers that are not in use.
  void freeIdle();
  /// The most bytes in use at once since the last startPeak.
  int64_t peakBytes() const { return peak_; }
  void startPeak() { peak_ = inUse_; }

private:
  Make make_;
  /// By size and address: steps that take and give back alike have the same buffers.
  std::map<std::pair<int64_t, const void *>, Buffer> idle_;
  int64_t inUse_ = 0, idleBytes_ = 0, peak_ = 0, max_ = 0;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_BUFFER_H
