//===- RankDevices.cpp - The devices of the ranks of a process ------------===//

#include "shardkit/rt/Execution/RankDevices.h"

#include <unistd.h>

namespace shardkit::rt {

Status RankDevices::open(const std::string &chip, int64_t ranks, Backend &backend, Executor &executor, Opened &opened) {
  auto [begin, end] = backend.localRanks(ranks);
  cuda::DeviceOptions options = options_;
  if (isNccl_) {
    // Processes of one machine take its GPUs one after the other.
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    SK_ASSIGN_OR_RETURN(std::vector<std::string> hosts, backend.exchange(host));
    options.firstGpu = 0;
    for (int p = 0; p < int(hosts.size()); ++p) {
      if (hosts[size_t(p)] != host)
        continue;
      auto [first, last] = backend.ranksOf(p, ranks);
      options.hostRanks += last - first;
      if (p < backend.process())
        options.firstGpu += last - first;
    }
  }
  auto devices = cuda::Devices::open(chip, begin, end, options);
  SK_RETURN_IF_ERROR(backend.agree(devices.status()));
  if (isNccl_) {
    SK_ASSIGN_OR_RETURN(opened.nccl, cuda::NcclRanks::open(backend, **devices, ranks, timeout_,
                                                           [&](const std::function<Status(int64_t)> &fn) {
                                                             return executor.forEachRank(ranks, fn);
                                                           }));
  }
  opened.devices = std::move(*devices);
  return {};
}

Expected<std::shared_ptr<cuda::Devices>> RankDevices::use(const std::string &chip, int64_t ranks, Backend &backend,
                                                          Executor &executor) {
  Opened &known = opened_[{chip, ranks}];
  if (!known.devices)
    SK_RETURN_IF_ERROR(open(chip, ranks, backend, executor, known));
  executor.setDevices(known.devices.get(), known.nccl.get());
  return known.devices;
}

} // namespace shardkit::rt
