//===- GuardedCall.h - Accesses of host functions beyond their tensors -*- C++ -*-===//

#ifndef SHARDKIT_RT_LIB_EXECUTION_GUARDEDCALL_H
#define SHARDKIT_RT_LIB_EXECUTION_GUARDEDCALL_H

#include "shardkit/rt/Support/Buffer.h"
#include "shardkit/rt/loader.h"

#include <functional>
#include <optional>
#include <string>

namespace shardkit::rt {

/// Zeroed memory between two inaccessible pages. The data end at most 63 bytes before the
/// second one, as they are aligned to 64 bytes; these bytes, and those between the first
/// one and the data, have a pattern that wasChanged() compares.
///
///   | guard page | pattern | data of n bytes | pattern (< 64) | guard page |
class GuardedMemory {
public:
  /// An error if the system has no such memory.
  static Expected<GuardedMemory> create(int64_t bytes);
  GuardedMemory() = default;
  GuardedMemory(GuardedMemory &&other) noexcept { swap(other); }
  GuardedMemory &operator=(GuardedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~GuardedMemory();

  char *data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// Makes the data an input: writes to them are caught as well.
  Status makeReadOnly();
  Status makeWritable();
  /// Whether `address` is in this memory or its guard pages.
  bool contains(const void *address) const;
  /// The first byte of the pattern, counted from the data, that has another value.
  std::optional<int64_t> findChange() const;
  /// The memory as a buffer, which frees it.
  Buffer release();

private:
  void swap(GuardedMemory &other);
  char *map_ = nullptr, *data_ = nullptr;
  int64_t mapBytes_ = 0, bytes_ = 0;
};

/// Calls `function`, whose tensors in[0] and out are in guarded memory. An access that the
/// system refuses, in one of them or in their guard pages, is an error that names the byte,
/// as is a change of the pattern around them. Other faults are those of the process.
Expected<int> callGuarded(const std::function<int()> &function, const GuardedMemory &in, const GuardedMemory &out);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LIB_EXECUTION_GUARDEDCALL_H
