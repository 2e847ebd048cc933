//===- DeviceUses.h - What devices did otherwise than hoped for -*- C++ -*--===//

#ifndef SHARDKIT_RT_CUDA_DEVICEUSES_H
#define SHARDKIT_RT_CUDA_DEVICEUSES_H

#include <cstdint>
#include <string>

namespace shardkit::rt::cuda {

/// Counts of all devices of this process.
struct Uses {
  /// Calls for products that the host made: by cuBLASLt with all that follows them, by
  /// cuBLASLt and a kernel of the runtime behind it, by the runtime's plain kernel.
  int64_t byLibrary = 0, withKernel = 0, byKernel = 0;
  std::string productReason; ///< Why the last one is not cuBLASLt's alone.
  int64_t graphsFailed = 0;  ///< Programs that could not be recorded and run without.
  std::string graphReason;   ///< Of the last one.
};
/// Since it was asked last.
Uses takeUses();
/// Adds to them; an empty reason changes none.
void noteUses(const Uses &more);

} // namespace shardkit::rt::cuda

#endif // SHARDKIT_RT_CUDA_DEVICEUSES_H
