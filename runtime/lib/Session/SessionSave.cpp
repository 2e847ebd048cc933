//===- SessionSave.cpp - Resident arrays to a presharded set --------------===//

#include "SessionImpl.h"

#include "Formats/StrictJson.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Loading/Preshard.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

namespace shardkit::rt {

namespace {

/// Writes the shards of a set. Each rank writes a file with those that it is the first to hold;
/// presharded.json comes last and makes the files a set.
class SetWriter {
public:
  SetWriter(const std::string &directory, int64_t devices) : directory_(directory), files_(size_t(devices)) {
    manifest_.devices = devices;
  }

  void add(const std::string &name, std::shared_ptr<Array::State> array);
  /// Writes the file of `rank`.
  Status write(const SessionImpl &session, int64_t rank);
  /// What this process has written, one file a line.
  std::string written() const;
  /// `written` by all processes.
  Status writeIndex(const std::vector<std::string> &written, const MeshInfo &mesh);

private:
  struct Shard {
    size_t weight;
    std::shared_ptr<Array::State> array;
    size_t copy, rank; ///< The rank of the mesh.
  };
  std::string directory_;
  WeightManifest manifest_;
  std::map<int64_t, std::vector<Shard>> shards_; ///< Of this process, by rank.
  std::vector<std::string> files_;               ///< Written, by rank: bytes, checksum and name.
};

void SetWriter::add(const std::string &name, std::shared_ptr<Array::State> array) {
  for (size_t c = 0; c < array->layout->copies.size(); ++c) {
    const ArrayLayout::Copy &copy = array->layout->copies[c];
    ValueInfo value = copy.value;
    value.name = name;
    value.kind = ValueKind::Weight;
    value.tied.reset();
    value.slot.reset();
    std::vector<int64_t> all(copy.ranks.size());
    std::iota(all.begin(), all.end(), int64_t(0));
    value.ranks.clear();
    if (copy.ranks != all || int64_t(all.size()) != manifest_.devices)
      value.ranks = copy.ranks;
    for (size_t r = 0; r < copy.ranks.size(); ++r)
      if (array->shards[c][r] && !isReplica(value.extents, int64_t(r)))
        shards_[copy.ranks[r]].push_back({manifest_.weights.size(), array, c, r});
    manifest_.weights.push_back(std::move(value));
  }
}

Status SetWriter::write(const SessionImpl &session, int64_t rank) {
  auto known = shards_.find(rank);
  if (known == shards_.end())
    return {};
  std::vector<Shard> &shards = known->second;
  // Larger types first, so that every tensor is aligned to its own.
  std::stable_sort(shards.begin(), shards.end(), [&](const Shard &a, const Shard &b) {
    return dtypeSize(manifest_.weights[a.weight].dtype) > dtypeSize(manifest_.weights[b.weight].dtype);
  });
  std::vector<TensorContent> tensors;
  for (const Shard &shard : shards) {
    const ValueInfo &value = manifest_.weights[shard.weight];
    tensors.push_back({shardName(value.name, rank, manifest_.devices), value.dtype, value.localShape, nullptr});
  }
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "rank-%lld-of-%lld-00001.safetensors", static_cast<long long>(rank + 1),
                static_cast<long long>(manifest_.devices));
  SafetensorsOptions options;
  options.alignment = 4096;
  options.md5 = true;
  options.metadata = {{"format", "shardkit-presharded"}};
  SK_ASSIGN_OR_RETURN(auto file, startSafetensors(directory_ + "/" + suffix, tensors, options));
  Buffer room;
  for (const Shard &shard : shards) {
    SK_ASSIGN_OR_RETURN(const void *data, session.bringToHost(*shard.array, shard.copy, shard.rank, room));
    SK_RETURN_IF_ERROR(file->write(data, manifest_.weights[shard.weight].localBytes()));
  }
  std::string line = std::to_string(file->written()) + " " + file->md5() + " " + suffix + "\n";
  SK_RETURN_IF_ERROR(file->commit());
  files_[size_t(rank)] = std::move(line);
  return {};
}

std::string SetWriter::written() const {
  std::string text;
  for (const std::string &line : files_)
    text += line;
  return text;
}

Status SetWriter::writeIndex(const std::vector<std::string> &written, const MeshInfo &mesh) {
  for (const std::string &lines : written)
    for (size_t at = 0; at < lines.size();) {
      const size_t end = lines.find('\n', at), first = lines.find(' ', at), second = lines.find(' ', first + 1);
      manifest_.files.push_back({lines.substr(second + 1, end - second - 1), std::stoll(lines.substr(at, first - at)),
                                 "md5:" + lines.substr(first + 1, second - first - 1)});
      at = end + 1;
    }
  manifest_ = asStored(std::move(manifest_));
  if (!manifest_.hasStages())
    manifest_.mesh = mesh;
  manifest_.configuration = configurationHash(manifest_);
  const std::string text = weightManifestText(manifest_);
  return writeFile(directory_ + "/presharded.json", {{text.data(), int64_t(text.size())}});
}

/// A directory with a set of before, which is none while it is rewritten.
void removeOldSet(const std::string &directory) {
  std::error_code error;
  const std::string index = directory + "/presharded.json";
  auto text = std::filesystem::exists(index, error) ? readMetadata(index) : notFound("");
  auto old = text.ok() ? parseWeightManifest(*text, index) : text.status();
  std::filesystem::remove(index, error);
  if (!old.ok())
    return;
  for (const WeightManifest::File &file : old->files)
    if (auto path = resolveInside(directory, file.path, {}); path.ok())
      std::filesystem::remove(*path, error);
}

} // namespace

Status Session::save(const std::string &directory, const std::vector<std::string> &names) {
  return impl_->inTurn([&]() -> Status {
    std::vector<std::pair<const ArgumentSlot *, std::shared_ptr<Array::State>>> arrays;
    Status status = impl_->findBound(names, arrays);
    const int64_t devices = arrays.empty() ? 1 : arrays[0].first->layout->devices;
    for (const auto &[slot, array] : arrays)
      if (status.ok() && slot->layout->devices != devices)
        status = invalid("save: '" + arrays[0].first->name + "' is on " + std::to_string(devices) + " devices, '" +
                         slot->name + "' on " + std::to_string(slot->layout->devices) +
                         ", expected names of arrays on as many devices");
    if (status.ok() && impl_->backend->process() == 0) {
      status = makeDirectory(directory);
      removeOldSet(directory);
    }
    SK_RETURN_IF_ERROR(impl_->backend->agree(status));
    SetWriter writer(directory, devices);
    for (const auto &[slot, array] : arrays)
      writer.add(slot->name, array);
    SK_RETURN_IF_ERROR(impl_->backend->agree(
        impl_->executor.forEachRank(devices, [&](int64_t rank) { return writer.write(*impl_, rank); })));
    SK_ASSIGN_OR_RETURN(std::vector<std::string> written, impl_->backend->exchange(writer.written()));
    if (impl_->backend->process() == 0)
      status = writer.writeIndex(written, impl_->meshOf(*arrays[0].first));
    return impl_->backend->agree(status);
  });
}

MeshInfo SessionImpl::meshOf(const ArgumentSlot &slot) const {
  const SessionFunction &function = functions[slot.function];
  const int64_t mesh = function.runnable.held(0).mesh;
  return mesh < 0 ? MeshInfo() : bundles[function.bundle]->manifest().meshes[size_t(mesh)];
}

Status
SessionImpl::findBound(const std::vector<std::string> &names,
                       std::vector<std::pair<const ArgumentSlot *, std::shared_ptr<Array::State>>> &found) const {
  std::lock_guard lock(mutex);
  for (const std::string &name : names)
    if (std::none_of(slots.begin(), slots.end(), [&](const ArgumentSlot &slot) { return slot.name == name; }))
      return unknownArgument(name);
    else if (std::none_of(slots.begin(), slots.end(),
                          [&](const ArgumentSlot &slot) { return slot.name == name && slot.array; }))
      return notFound("argument '" + name + "' is not bound");
  for (const ArgumentSlot &slot : slots) {
    const bool isNamed = names.empty() ? !slot.isConstant() : std::count(names.begin(), names.end(), slot.name) > 0;
    const bool isKnown = std::any_of(found.begin(), found.end(), [&](const auto &one) {
      // Segments of one weight have one name.
      return one.first->name == slot.name && one.first->function != slot.function;
    });
    if (!slot.array || !isNamed || isKnown)
      continue;
    SK_RETURN_IF_ERROR(checkComputed(*slot.array.state_));
    found.emplace_back(&slot, slot.array.state_);
  }
  if (found.empty())
    return invalid("save: no argument is bound, expected weights to be loaded or assigned");
  return {};
}

} // namespace shardkit::rt
