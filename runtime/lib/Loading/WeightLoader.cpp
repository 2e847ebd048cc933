//===- WeightLoader.cpp - Load, LoadAll, LoadPresharded -------------------===//

#include "shardkit/rt/Loading/WeightLoader.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace shardkit::rt {

Expected<WeightManifest> WeightLoader::manifestOfShards(const WeightSet &set, int64_t ranks,
                                                        const std::vector<std::string> &parameters) {
  WeightSet full; // The first shard of each parameter stands for it.
  full.path = set.path;
  std::map<std::string, int64_t> mlcRanks; // By parameter, for names without the number of ranks.
  std::set<std::string> replicated;
  for (const auto &[name, tensor] : set.tensors) {
    auto shard = parseAnyShardName(name);
    if (!shard) {
      full.tensors.emplace(name, tensor);
      replicated.insert(name);
      continue;
    }
    if (shard->ranks == 0)
      shard->ranks = std::max(mlcRanks[shard->name] = std::max(mlcRanks[shard->name], shard->rank + 1), ranks);
    if (shard->ranks != ranks)
      return invalid(set.path + ": tensor " + quoteName(name) + " is presharded for " + std::to_string(shard->ranks) +
                     " ranks, expected " + std::to_string(ranks));
    if (shard->rank == 0)
      full.tensors.emplace(shard->name, tensor);
  }
  for (const auto &[name, found] : mlcRanks)
    if (found != ranks)
      return invalid(set.path + ": parameter " + quoteName(name) + " is presharded for " + std::to_string(found) +
                     " ranks, expected " + std::to_string(ranks));
  if (replicated.size() == set.tensors.size() && !replicated.empty())
    return invalid(set.path + ": tensor " + quoteName(*replicated.begin()) +
                   " is not a shard, expected NAME_shard-K-of-" + std::to_string(ranks));
  SK_ASSIGN_OR_RETURN(WeightManifest manifest, manifestOf({}, full, ranks, parameters));
  for (ValueInfo &value : manifest.weights) {
    if (replicated.count(value.name))
      continue;
    // Nothing says how the whole was cut: the stack of the shards stands for it.
    value.globalShape.insert(value.globalShape.begin(), ranks);
    value.globalElements = value.localElements * ranks;
    value.extents = {{{1, ranks, value.localElements}}, {{value.localElements, 1, 1}}, {}};
  }
  return manifest;
}

Expected<int64_t> WeightLoader::indexOf(const std::string &name) const {
  for (size_t i = 0; i < manifest_.weights.size(); ++i)
    if (manifest_.weights[i].name == name)
      return int64_t(i);
  return notFound("no parameter is named " + quoteName(name) + ", expected one of " + std::to_string(count()));
}

Status WeightLoader::check(bool presharded) const {
  for (const ValueInfo &value : manifest_.weights) {
    auto source =
        presharded ? sources_.findPresharded(value, manifest_.devices) : sources_.find(value, manifest_.devices);
    if (!source.ok())
      return sources_.withAllMissing(source.status(), pointersTo(manifest_.weights), manifest_.devices, presharded);
    if (value.load && !value.load->chain.empty() && !presharded) {
      if (!functions_)
        return notFound("weight " + quoteName(value.name) + ": its shard functions are not registered");
      SK_RETURN_IF_ERROR(functions_->check(value.load->chain).withContext("weight " + quoteName(value.name)));
    }
    if (value.load && value.load->function && !presharded)
      return invalid("weight " + quoteName(value.name) +
                     ": it has a compiled loading function, which only a run of its bundle has");
  }
  return {};
}

Expected<std::vector<LoadedWeight>> WeightLoader::loadSome(const std::vector<int64_t> &indices, bool presharded) {
  std::vector<TensorSource> sources;
  for (int64_t index : indices) {
    const ValueInfo &value = manifest_.weights[size_t(index)];
    auto source =
        presharded ? sources_.findPresharded(value, manifest_.devices) : sources_.find(value, manifest_.devices);
    if (!source.ok()) {
      std::vector<const ValueInfo *> values;
      for (int64_t each : indices)
        values.push_back(&manifest_.weights[size_t(each)]);
      return sources_.withAllMissing(source.status(), values, manifest_.devices, presharded);
    }
    sources.push_back(std::move(*source));
  }
  LoadPlan plan;
  std::vector<LoadedWeight> result;
  for (size_t i = 0; i < indices.size(); ++i) {
    LoadedWeight weight;
    weight.value = &manifest_.weights[size_t(indices[i])];
    bool padded = !weight.value->extents.uneven.empty() && !presharded;
    for (int64_t rank = 0; rank < weight.value->holders(manifest_.devices); ++rank) {
      weight.ranks.emplace_back(weight.value->localBytes());
      if (padded) // Is zero, so that equal weights are equal bytes.
        std::memset(weight.ranks.back().data(), 0, size_t(weight.value->localBytes()));
      plan.add(*weight.value, sources[i], rank, weight.ranks.back().data());
    }
    result.push_back(std::move(weight));
  }
  LoadOptions options = options_;
  if (presharded)
    options.mode = LoadMode::Presharded;
  SK_RETURN_IF_ERROR(plan.run(options, functions_, nullptr, stats_));
  return result;
}

Expected<LoadedWeight> WeightLoader::load(const std::string &name) {
  SK_ASSIGN_OR_RETURN(int64_t index, indexOf(name));
  SK_ASSIGN_OR_RETURN(std::vector<LoadedWeight> loaded, loadSome({index}, false));
  return std::move(loaded[0]);
}

Expected<LoadedWeight> WeightLoader::loadPresharded(const std::string &name) {
  SK_ASSIGN_OR_RETURN(int64_t index, indexOf(name));
  return loadPresharded(index);
}

Expected<LoadedWeight> WeightLoader::loadPresharded(int64_t index) {
  if (index < 0 || index >= count())
    return invalid("parameter " + std::to_string(index) + ", expected 0 to " + std::to_string(count() - 1));
  SK_ASSIGN_OR_RETURN(std::vector<LoadedWeight> loaded, loadSome({index}, true));
  return std::move(loaded[0]);
}

static std::vector<int64_t> allOf(int64_t count) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), int64_t(0));
  return indices;
}

Expected<std::vector<LoadedWeight>> WeightLoader::loadAll() { return loadSome(allOf(count()), false); }

Expected<std::vector<LoadedWeight>> WeightLoader::loadAllPresharded() { return loadSome(allOf(count()), true); }

} // namespace shardkit::rt
