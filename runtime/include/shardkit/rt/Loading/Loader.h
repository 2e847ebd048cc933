//===- Loader.h - Each rank reads what it owns ------------------*- C++ -*-===//
//
// Mode `direct`: a plan is checked from metadata alone, then each rank reads the
// bytes that its extents name. Long runs are read in place; runs shorter than
// 4 KiB are read in larger blocks and sliced in memory.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADER_H
#define SHARDKIT_RT_LOADER_H

#include "shardkit/rt/Buffer.h"
#include "shardkit/rt/Manifest.h"
#include "shardkit/rt/Random.h"
#include "shardkit/rt/Formats/WeightSet.h"

#include <variant>

namespace shardkit::rt {

/// Where a global value comes from: a file, or the random generator.
using TensorSource = std::variant<StoredTensor, RandomTensor>;

struct LoadCounters {
  int64_t bytesNeeded = 0; ///< From files: what the rank owns.
  int64_t bytesRead = 0;   ///< From files: what was read to get it.
  int64_t requests = 0;
  double seconds = 0;
};

/// Runs at most this long are read with their neighbours.
inline constexpr int64_t shortRunBytes = 512;
inline constexpr int64_t stagingBytes = 8 << 20;

/// Checks dtype, shape and byte range of `source` against `value`; the message
/// names the value, the file and the byte range. Allocates nothing.
Status checkSource(const ValueInfo &value, const TensorSource &source);

/// Fills `local`, what `rank` holds of `value`.
Status loadLocal(const ValueInfo &value, const TensorSource &source,
                 int64_t rank, void *local, Buffer &staging,
                 LoadCounters &counters);

/// Fills `global`, the whole value.
Status loadGlobal(const ValueInfo &value, const TensorSource &source,
                  void *global);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADER_H
