//===- RankDevices.h - The devices of the ranks of a process ---*- C++ -*--===//

#ifndef SHARDKIT_RT_EXECUTION_RANKDEVICES_H
#define SHARDKIT_RT_EXECUTION_RANKDEVICES_H

#include "shardkit/rt/Execution/Executor.h"

#include <map>
#include <memory>
#include <string>

namespace shardkit::rt {

/// Devices by the number of all ranks, opened when they are first used. They outlive memory on
/// them, which may keep them by `devices`.
class RankDevices {
public:
  /// With `isNccl` each rank has a GPU of its own, and collectives go through NCCL.
  RankDevices(const cuda::DeviceOptions &options, bool isNccl, double timeout)
      : options_(options), isNccl_(isNccl), timeout_(timeout) {}

  bool isNccl() const { return isNccl_; }
  /// Called by all processes together: the executor runs on devices for programs compiled for
  /// `chip` from now on.
  Expected<std::shared_ptr<cuda::Devices>> use(const std::string &chip, int64_t ranks, Backend &backend,
                                               Executor &executor);

private:
  struct Opened {
    std::shared_ptr<cuda::Devices> devices;
    std::unique_ptr<cuda::NcclRanks> nccl;
  };
  Status open(const std::string &chip, int64_t ranks, Backend &backend, Executor &executor, Opened &opened);

  const cuda::DeviceOptions options_;
  const bool isNccl_;
  const double timeout_;
  std::map<std::pair<std::string, int64_t>, Opened> opened_; ///< By chip and number of ranks.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_EXECUTION_RANKDEVICES_H
