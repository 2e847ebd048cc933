//===- DeviceUses.h - Counts of fallbacks on devices -----------*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_DEVICEUSES_H
#define SHARDKIT_RT_CUDA_DEVICEUSES_H

#include <cstdint>
#include <string>

namespace shardkit::rt::cuda {

/// Counts over all devices of this process.
struct Uses {
  /// Contractions that the host called: computed by cuBLASLt with the whole epilogue, by
  /// cuBLASLt and then a kernel of the runtime, by the runtime's plain kernel.
  int64_t byLibrary = 0, withKernel = 0, byKernel = 0;
  std::string productReason; ///< Why cuBLASLt did not compute the last one alone.
  int64_t graphsFailed = 0;  ///< Programs that could not be recorded and run without a graph.
  std::string graphReason;   ///< Why the last one could not.
};
/// Returns and resets the counts.
Uses takeUses();
/// Adds to the counts; an empty reason does not replace one.
void noteUses(const Uses &more);

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_DEVICEUSES_H
