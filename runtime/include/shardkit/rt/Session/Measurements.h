//===- Measurements.h - What loads and steps took ---------------*- C++ -*-===//

#ifndef SHARDKIT_RT_SESSION_MEASUREMENTS_H
#define SHARDKIT_RT_SESSION_MEASUREMENTS_H

#include "shardkit/rt/Collectives/Backend.h"
#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Loading/LoadPlan.h"

#include <map>
#include <string>

namespace shardkit::rt {

/// Measurements of the load and of the steps of a function, for the ranks of this process.
struct Measurements {
  LoadStats load;
  int64_t loadMessages = 0; ///< Messages between processes for the load.
  RunStats run;

  /// Together: those of all processes, on all of them.
  Status merge(const Runnable &what, Backend &backend);
};

/// Counts and times of a device.
struct DeviceCounters {
  cuda::AttentionUses attention;
  cuda::GraphUses graphs;
  std::map<std::string, cuda::Device::Work> profile; ///< With DeviceOptions::profile.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSION_MEASUREMENTS_H
