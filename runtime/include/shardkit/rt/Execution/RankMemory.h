//===- RankMemory.h - The memory of a program of one rank -------*- C++ -*-===//

#ifndef SHARDKIT_RT_EXECUTION_RANKMEMORY_H
#define SHARDKIT_RT_EXECUTION_RANKMEMORY_H

#include "shardkit/rt/Manifest/Manifest.h"
#include "shardkit/rt/Support/Buffer.h"
#include "shardkit/rt/Support/Status.h"

#include <string>
#include <vector>

namespace shardkit::rt {

/// The memory of a program of one rank: local arguments and results in the order of the manifest,
/// and the arena, all on the device if there is one.
struct RankBuffers {
  std::vector<void *> arguments, results;
  void *arena = nullptr;
  BufferPool *values = nullptr; ///< Makes the values of a pipeline.
};

/// Alignment of values that follow each other in memory, on the host and on a device.
inline constexpr int64_t hostAlignment = 64, deviceAlignment = 256;

/// Offsets of values that follow each other in memory, and the bytes of all of them.
struct ValueOffsets {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};
/// The offsets of the local arguments that a rank holds, on the host.
ValueOffsets argumentOffsets(const FunctionInfo &held);
/// Bytes of the arguments, results and arena of a rank. With `donate` a result that is tied to an argument has its
/// memory.
int64_t rankBytes(const FunctionInfo &held, bool donate, int64_t alignment);

/// The errors of a function whose values do not all fit, with the largest of them: on the host, with global shapes if
/// `global`; on the device of `rank`, of which `free` bytes were free before.
std::string noHostMemory(const FunctionInfo &function, bool global);
Status noDeviceMemory(const FunctionInfo &held, int64_t rank, int64_t free);

/// Memory on the host for the arguments of a function, its results and the arena. It is reused from function to
/// function.
class RankMemory {
public:
  /// Lays out all values; initializes none. `global` uses global shapes (for the
  /// reference, which runs on one device). Throws if memory is exhausted, with the largest
  /// values in the message.
  void bind(const FunctionInfo &function, bool global = false);

  void *argument(size_t i) { return buffers_.arguments[i]; }
  void *result(size_t i) { return buffers_.results[i]; }
  /// All of these, and memory for the values of a pipeline.
  RankBuffers buffers() { return {buffers_.arguments, buffers_.results, buffers_.arena, &values_}; }

private:
  BufferPool values_;
  Buffer argumentMemory_, memory_;
  RankBuffers buffers_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_RANKMEMORY_H
