//===- ShardLoader.cpp - What ranks hold, weight after weight -------------===//

#include "shardkit/rt/Loading/ShardLoader.h"

#include <cstring>
#include <set>

namespace shardkit::rt {

ShardLoader::ShardLoader(const LoadOptions &options, const HostFunctions *functions, const ShardProgram &programs,
                         int64_t expectedBytes)
    : report_(options.progress), options_(options), functions_(functions), programs_(programs),
      expected_(expectedBytes) {
  if (report_)
    options_.progress = [this](int64_t done, int64_t) {
      const int64_t all = stats_.total.bytesRead + done;
      if (all < expected_) // It is over with the last weight, not before.
        report_(all, expected_);
    };
}

ShardLoader::~ShardLoader() {
  if (report_)
    report_(stats_.total.bytesRead, stats_.total.bytesRead);
}

Status ShardLoader::load(const ValueInfo &value, const TensorSource &source, const std::vector<int64_t> &ranks) {
  value_ = &value;
  isStoredByRank_ = std::holds_alternative<PreshardedSource>(source);
  shards_.clear();
  LoadPlan plan;
  for (int64_t rank : ranks) {
    const int64_t owner = isStoredByRank_ ? rank : firstOwner(value.extents, rank);
    auto [it, added] = shards_.try_emplace(owner);
    if (!added)
      continue;
    it->second = Buffer(value.localBytes());
    std::memset(it->second.data(), 0, size_t(value.localBytes()));
    plan.add(value, source, owner, it->second.data());
  }
  LoadStats loaded;
  SK_RETURN_IF_ERROR(plan.run(options_, functions_, programs_, loaded));
  stats_.add(loaded);
  return {};
}

const void *ShardLoader::shard(int64_t rank) const {
  return shards_.at(isStoredByRank_ ? rank : firstOwner(value_->extents, rank)).data();
}

int64_t ShardLoader::bytesOf(const ValueInfo &value, const std::vector<int64_t> &ranks) {
  std::set<int64_t> owners;
  for (int64_t rank : ranks)
    owners.insert(firstOwner(value.extents, rank));
  int64_t elements = 0;
  for (int64_t rank : owners) {
    int64_t product = 1; // Without padding.
    for (const ExtentLoop &loop : coalesceLoops(value.extents, rank))
      product *= loop.size;
    elements += product;
  }
  return elements * dtypeSize(value.dtype);
}

} // namespace shardkit::rt
