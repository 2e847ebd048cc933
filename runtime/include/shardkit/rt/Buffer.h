//===- Buffer.h - Aligned memory --------------------------------*- C++ -*-===//

#ifndef SHARDKIT_RT_BUFFER_H
#define SHARDKIT_RT_BUFFER_H

#include <cstdint>
#include <utility>

namespace shardkit::rt {

/// Uninitialised memory aligned to 64 bytes (to pages from 2 MiB on, with huge
/// pages where the system gives them). Never null, also for 0 bytes.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(int64_t bytes);
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
  void reserve(int64_t bytes);

private:
  void swap(Buffer &other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
  }
  void *data_ = nullptr;
  int64_t bytes_ = 0;
  bool mapped_ = false;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_BUFFER_H
