//===- Inspect.cpp - Tables of weights ------------------------------------===//

#include "Setup.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace shardkit::rt;

namespace shardkit::weights {

namespace {

void printTable(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      widths.resize(std::max(widths.size(), c + 1));
      widths[c] = std::max(widths[c], row[c].size());
    }
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      line += row[c];
      if (c + 1 < row.size())
        line.append(widths[c] - row[c].size() + 2, ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

std::string plain(const std::string &name) {
  std::string text = quoteName(name);
  return text.substr(1, text.size() - 2);
}

std::string shardsText(const ValueInfo &value, int64_t devices) {
  int64_t count = distinctShard(value.extents, 0).count;
  if (count == 1)
    return devices == 1 ? "unsharded" : "replicated on " + std::to_string(devices);
  std::string text = std::to_string(count) + " of " + shapeString(value.localShape);
  if (count < devices)
    text += ", each on " + std::to_string(devices / count) + " ranks";
  return text;
}

} // namespace

Status inspect(const Options &options) {
  SK_ASSIGN_OR_RETURN(SourceSet set, openSet(options.set, options));
  SK_ASSIGN_OR_RETURN(Partition partition, openPartition(options, &set));
  const WeightManifest *manifest = partition.manifest ? &*partition.manifest
                                   : set.presharded() ? &*set.presharded()
                                                      : nullptr;
  int64_t bytes = 0;
  for (const auto &[name, tensor] : set.stored().tensors)
    bytes += tensor.bytes;
  std::vector<std::vector<std::string>> rows;
  if (manifest) {
    rows.push_back({"name", "dtype", "shape", "shards", "sharding", "bytes per rank", "made from"});
    std::vector<int64_t> held(size_t(manifest->devices)); // Bytes, by rank.
    for (const ValueInfo &value : manifest->weights) {
      std::string from;
      if (value.load) {
        for (const LoadSource &source : value.load->sources)
          from += (from.empty() ? "" : ", ") + plain(source.name);
        if (value.load->function)
          from += " by " + value.load->function->symbol;
        for (const HostCall &call : value.load->chain)
          from += " by " + plain(call.function);
      }
      rows.push_back({plain(value.name), dtypeName(value.dtype), shapeString(value.globalShape),
                      shardsText(value, value.holders(manifest->devices)), value.sharding, sizeText(value.localBytes()),
                      from});
      for (int64_t rank = 0; rank < value.holders(manifest->devices); ++rank)
        held[size_t(value.worldRank(rank))] += value.localBytes();
      // What is wrong is said here too.
      SK_RETURN_IF_ERROR(set.find(value, manifest->devices).status());
    }
    printTable(rows);
    const auto [least, most] = std::minmax_element(held.begin(), held.end());
    std::printf("%zu weights for %lld device%s, %s%s per rank; stored: %zu tensors, %s\n", manifest->weights.size(),
                static_cast<long long>(manifest->devices), manifest->devices == 1 ? "" : "s",
                *least < *most ? "at most " : "", sizeText(*most).c_str(), set.stored().tensors.size(),
                sizeText(bytes).c_str());
    return {};
  }
  rows.push_back({"name", "dtype", "shape", "shard", "bytes", "file", "offset"});
  for (const auto &[name, tensor] : set.stored().tensors) {
    auto shard = parseShardName(name);
    rows.push_back({plain(name), tensor.storedType, shapeString(tensor.shape),
                    shard ? std::to_string(shard->rank + 1) + " of " + std::to_string(shard->ranks) : "-",
                    sizeText(tensor.bytes), std::filesystem::path(tensor.file->path()).filename().string(),
                    std::to_string(tensor.offset)});
  }
  printTable(rows);
  std::printf("%zu tensors, %s, %s\n", set.stored().tensors.size(), sizeText(bytes).c_str(),
              set.stored().format.c_str());
  return {};
}

} // namespace shardkit::weights
