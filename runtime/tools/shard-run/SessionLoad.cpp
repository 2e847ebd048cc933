//===- SessionLoad.cpp - Arguments, to the ranks that hold them -----------===//

#include "Session.h"

#include "../ProgressLine.h"

#include <algorithm>

using namespace shardkit::rt;

namespace shardkit::run {

Status Session::load(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  ArgumentLoad load;
  load.what = &what;
  load.bundle = &bundle_;
  load.devices = devices_.get();
  load.isNccl = options_.backend == "nccl";
  for (const std::vector<TensorSource> &stage : arguments.stages) {
    load.sources.emplace_back();
    for (const TensorSource &source : stage)
      load.sources.back().push_back(&source);
  }
  load.isLocal = isLocal_ = loader_.canExchange(load, options_.load);
  if (backend_.process() == 0 && (!devices_ || (!isLocal_ && backend_.nodeProcesses() > 1)))
    load.progress = tools::progressLine();
  // Arguments lie where all processes of the node can write them, unless each loads alone.
  int64_t bytes = 0;
  for (size_t s = 0; s < what.stages(); ++s)
    bytes = std::max(bytes, RankMemory::argumentBytes(what.held(s)));
  auto memory = isLocal_ ? Expected(std::vector<char *>()) : backend_.nodeMemory(what.devices(), bytes);
  if (LoadTeam *team = backend_.loadTeam(); team && backend_.nodeProcess() == 0) {
    team->nextBlock = 0;
    team->nextCall = 0;
  }
  Status status = memory.status();
  auto at = [&](int64_t rank) -> void * { return memory->empty() ? nullptr : (*memory)[size_t(rank)]; };
  for (int64_t rank = 0; rank < what.devices() && status.ok(); ++rank)
    if (backend_.ownerOf(rank, what.devices()) != backend_.process())
      memory_[size_t(rank)].bindRemote(what.heldBy(rank), at(rank), backend_.process() == 0);
  if (status.ok())
    status = executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
      RankMemory &memory = memory_[size_t(rank)];
      memory.bind(what.heldBy(rank), false, at(rank), options_.donate, /*isCopy=*/devices_ != nullptr);
      return devices_ ? memory.bindDevice(what.heldBy(rank), *devices_->of(rank), rank) : Status();
    });
  SK_RETURN_IF_ERROR(backend_.agree(status));
  auto [begin, end] = backend_.localRanks(what.devices());
  load.host.resize(size_t(what.devices()));
  load.device.resize(size_t(what.devices()));
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    for (size_t i = 0; i < what.heldBy(rank).arguments.size(); ++i) {
      load.host[size_t(rank)].push_back(memory_[size_t(rank)].argument(i));
      if (devices_ && rank >= begin && rank < end)
        load.device[size_t(rank)].push_back(memory_[size_t(rank)].arguments()[i]);
    }
  SK_RETURN_IF_ERROR(loader_.load(load, options_.load, record.load));
  if (!devices_ || !options_.verify)
    return {};
  // The reference may be given what the ranks hold.
  return backend_.agree(executor_.forEachRank(
      what.devices(), [&](int64_t rank) { return memory_[size_t(rank)].downloadArguments(what.heldBy(rank)); }));
}

} // namespace shardkit::run
