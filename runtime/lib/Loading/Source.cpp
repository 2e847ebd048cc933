//===- Source.cpp - Where the elements of an argument come from -----------===//

#include "shardkit/rt/Loading/Source.h"

#include "Formats/StrictJson.h"
#include "Support/Names.h"
#include "shardkit/rt/Support/Buffer.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace shardkit::rt {

namespace {

std::string inFile(const StoredTensor &stored) {
  return " (" + stored.file->path() + ", bytes " + std::to_string(stored.offset) + " to " +
         std::to_string(stored.offset + stored.bytes) + ")";
}

Status checkTensor(const StoredTensor &stored, DType dtype, const Shape &shape) {
  if (!stored.dtype || !sameBits(*stored.dtype, dtype))
    return invalid("stored as " + stored.storedType + ", expected " + dtypeName(dtype) + inFile(stored));
  if (stored.shape != shape)
    return invalid("stored with shape " + shapeString(stored.shape) + ", expected " + shapeString(shape) +
                   inFile(stored));
  std::optional<int64_t> count = numElements(stored.shape);
  if (!count || stored.bytes != stored.byteRange(0, *count).second || stored.offset < 0 ||
      stored.bytes > stored.file->size() || stored.offset > stored.file->size() - stored.bytes)
    return invalid("the file is truncated, it has " + std::to_string(stored.file->size()) + " bytes" + inFile(stored));
  return {};
}

/// Whether some rank holds both.
bool meet(const ValueInfo &a, const ValueInfo &b) {
  return a.ranks.empty() || b.ranks.empty() || std::any_of(a.ranks.begin(), a.ranks.end(), [&](int64_t rank) {
           return std::find(b.ranks.begin(), b.ranks.end(), rank) != b.ranks.end();
         });
}

/// "0 to 3", "0, 2, 3"
std::string ranksText(const ValueInfo &value, int64_t devices) {
  std::string text;
  const int64_t first = value.worldRank(0), count = value.holders(devices);
  bool inOrder = true;
  for (int64_t rank = 0; rank < count; ++rank) {
    inOrder &= value.worldRank(rank) == first + rank;
    text += (rank ? ", " : "") + std::to_string(value.worldRank(rank));
  }
  return inOrder && count > 2 ? std::to_string(first) + " to " + std::to_string(first + count - 1) : text;
}

std::string typeOf(const ValueInfo &value) {
  return std::string(dtypeName(value.dtype)) + " " + shapeString(value.globalShape);
}

bool sameExtents(const Extents &a, const Extents &b) {
  auto key = [](const Extents &e) {
    // Digits of size 1 may be left out; order says nothing.
    std::vector<std::vector<int64_t>> keys;
    keys.push_back({-1});
    keys.back().insert(keys.back().end(), e.order.begin(), e.order.end());
    for (const OffsetDigit &d : e.offset)
      if (d.size > 1 && d.globalStride != 0)
        keys.push_back({0, d.rankStride, d.size, d.globalStride});
    std::vector<bool> uneven(e.loops.size());
    for (const UnevenLoop &u : e.uneven) {
      const ExtentLoop &l = e.loops[size_t(u.loop)];
      uneven[size_t(u.loop)] = true;
      keys.push_back({1, u.size, l.size, l.globalStride, l.localStride});
      for (const RankDigit &d : u.ranks)
        if (d.size > 1) {
          keys.back().push_back(d.stride);
          keys.back().push_back(d.size);
        }
    }
    Extents plain;
    for (size_t i = 0; i < e.loops.size(); ++i)
      if (!uneven[i])
        plain.loops.push_back(e.loops[i]);
    for (const ExtentLoop &l : coalesceLoops(plain, 0))
      keys.push_back({2, l.size, l.globalStride, l.localStride});
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  return key(a) == key(b);
}

} // namespace

Status checkSource(const ValueInfo &value, const TensorSource &source) {
  std::string context = std::string(kindName(value.kind)) + " " + quoteName(value.name);
  if (const auto *shards = std::get_if<PreshardedSource>(&source)) {
    for (size_t rank = 0; rank < shards->ranks.size(); ++rank) {
      Status status = checkTensor(shards->ranks[rank], value.dtype, value.localShape);
      if (!status.ok())
        return status.withContext(context + ", rank " + std::to_string(value.worldRank(int64_t(rank))));
    }
    return {};
  }
  const auto *stored = std::get_if<StoredSource>(&source);
  if (!stored)
    return {};
  const LoadInfo *load = value.load && !stored->made ? &*value.load : nullptr;
  size_t expected = load ? load->sources.size() : 1;
  if (stored->tensors.size() != expected)
    return internalError(context + ": " + std::to_string(stored->tensors.size()) + " stored tensors, expected " +
                         std::to_string(expected));
  for (size_t i = 0; i < expected; ++i) {
    const SourceTensor &tensor = stored->tensors[i];
    DType dtype = load ? load->sources[i].dtype : value.dtype;
    const Shape &shape = load ? load->sources[i].shape : value.globalShape;
    if (!tensor.map) {
      SK_RETURN_IF_ERROR(checkTensor(tensor.tensor, dtype, shape).withContext(context));
      continue;
    }
    if (!tensor.tensor.dtype || !sameBits(*tensor.tensor.dtype, dtype) || tensor.tensor.shape != shape)
      return invalid(context + ": presharded from " + tensor.tensor.storedType + " " +
                     shapeString(tensor.tensor.shape) + ", expected " + dtypeName(dtype) + " " + shapeString(shape));
  }
  return {};
}

std::string configurationDiff(const ValueInfo &stored, int64_t storedDevices, const ValueInfo &wanted,
                              int64_t wantedDevices) {
  std::string diff;
  auto add = [&](const std::string &what, const std::string &a, const std::string &b) {
    if (a != b)
      diff += (diff.empty() ? "" : "; ") + what + " " + a + " there, " + b + " here";
  };
  add("devices", std::to_string(storedDevices), std::to_string(wantedDevices));
  if (storedDevices == wantedDevices)
    add("ranks", ranksText(stored, storedDevices), ranksText(wanted, wantedDevices));
  if (!sameBits(stored.dtype, wanted.dtype))
    add("dtype", dtypeName(stored.dtype), dtypeName(wanted.dtype));
  add("global shape", shapeString(stored.globalShape), shapeString(wanted.globalShape));
  add("local shape", shapeString(stored.localShape), shapeString(wanted.localShape));
  if (!sameExtents(stored.extents, wanted.extents))
    add("sharding", stored.sharding.empty() ? "another" : stored.sharding,
        wanted.sharding.empty()              ? "not that"
        : wanted.sharding == stored.sharding ? wanted.sharding + " (on another mesh)"
                                             : wanted.sharding);
  return diff;
}

Expected<SourceSet> SourceSet::openConstants(const Bundle &bundle) {
  if (!bundle.manifest().constants)
    return SourceSet();
  return open(bundle.path() + "/" + bundle.manifest().constants->file);
}

Expected<SourceSet> SourceSet::open(const std::string &path, const OpenOptions &options) {
  SourceSet result;
  SK_ASSIGN_OR_RETURN(result.set_, openWeights(path, options));
  std::string file = result.set_.presharded;
  if (file.empty())
    return result;
  SK_ASSIGN_OR_RETURN(std::string text, readMetadata(file));
  SK_ASSIGN_OR_RETURN(WeightManifest manifest, parseWeightManifest(text, file));
  auto fail = [&](const std::string &message) { return invalid(file + ": " + message); };
  std::string directory = std::filesystem::path(file).parent_path().string();
  for (const WeightManifest::File &listed : manifest.files) {
    auto full = resolveInside(directory, listed.path, options);
    if (!full.ok())
      return full.status().withContext(file);
    std::error_code error;
    int64_t bytes = int64_t(std::filesystem::file_size(*full, error));
    if (error == std::errc::no_such_file_or_directory)
      return notFound(file + ": the file " + quoteName(listed.path) + " cannot be found");
    if (error)
      return ioError(file + ": the file " + quoteName(listed.path) + " cannot be accessed: " + error.message());
    if (bytes != listed.bytes)
      return fail("the file " + quoteName(listed.path) + " has " + std::to_string(bytes) + " bytes, expected " +
                  std::to_string(listed.bytes));
  }
  for (size_t i = 0; i < manifest.weights.size(); ++i) {
    const ValueInfo &value = manifest.weights[i];
    std::vector<size_t> &alike = result.logical_[value.name];
    for (size_t other : alike)
      if (meet(value, manifest.weights[other]))
        return fail("weight " + quoteName(value.name) + " appears twice");
      else if (typeOf(value) != typeOf(manifest.weights[other]))
        return fail("weight " + quoteName(value.name) + " is " + typeOf(manifest.weights[other]) + " on some ranks, " +
                    typeOf(value) + " on others");
    alike.push_back(i);
    // Every distinct shard is there, and fits.
    for (int64_t rank = 0; rank < value.holders(manifest.devices); ++rank) {
      if (!manifest.perRank && isReplica(value.extents, rank))
        continue;
      std::string name = shardName(value.name, value.worldRank(rank), manifest.devices);
      auto found = result.set_.tensors.find(name);
      if (found == result.set_.tensors.end())
        return fail("weight " + quoteName(value.name) + ", rank " + std::to_string(value.worldRank(rank)) +
                    ": the set has no tensor " + quoteName(name));
      Status status = checkTensor(found->second, value.dtype, value.localShape);
      if (!status.ok())
        return status.withContext(file + ": " + quoteName(name));
    }
  }
  // One place of a weight has all of its elements.
  for (const auto &[name, alike] : result.logical_)
    if (const std::optional<LoadInfo> &load = manifest.weights[alike[0]].load)
      for (size_t s = 0; s < load->sources.size() && !load->computed; ++s)
        result.segments_[load->sources[s].name].emplace_back(alike[0], s);
  result.presharded_ = std::move(manifest);
  return result;
}

std::vector<std::string> SourceSet::names() const {
  std::vector<std::string> names;
  for (const auto &entry : logical_)
    if (const std::optional<LoadInfo> &load = presharded_->weights[entry.second[0]].load; !load || load->computed)
      names.push_back(entry.first);
  for (const auto &entry : segments_)
    names.push_back(entry.first);
  if (!presharded_)
    for (const auto &entry : set_.tensors)
      names.push_back(entry.first);
  return names;
}

Status SourceSet::missing(const std::string &what, const std::string &name) const {
  std::vector<std::string> known = names();
  std::string text = "missing " + what + ", " + set_.path + " holds " + std::to_string(known.size()) + " tensors";
  std::string best;
  size_t least = name.size() / 3 + 2;
  for (const std::string &candidate : known)
    if (candidate.size() < 512 && name.size() < 512)
      if (size_t d = editDistance(name, candidate); d < least && d < name.size()) {
        least = d;
        best = candidate;
      }
  if (!best.empty())
    return notFound(text + ", did you mean " + quoteName(best));
  for (size_t i = 0; i < known.size() && i < 21; ++i)
    text += (i ? ", " : ": ") + (i < 20 ? quoteName(known[i]) : "...");
  return notFound(text);
}

/// Names in quotes, at most 100 of them.
static std::string namesText(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 101; ++i)
    text += (i ? ", " : "") + (i < 100 ? quoteName(names[i]) : "...");
  return text;
}

Expected<TensorSource> RandomStored::find(const LoadInfo &load,
                                          const std::function<RandomTensor(const ValueInfo &)> &make) {
  StoredSource result;
  for (const LoadSource &source : load.sources) {
    StoredTensor &tensor = tensors_[source.name];
    if (!tensor.file) {
      ValueInfo value;
      value.name = source.name;
      value.kind = ValueKind::Weight;
      value.dtype = source.dtype;
      value.globalShape = source.shape;
      value.range = source.range;
      Buffer buffer(source.elements * dtypeSize(source.dtype));
      make(value).fill(buffer.data(), 1, 0, 1, source.elements);
      tensor.name = source.name;
      tensor.storedType = dtypeName(source.dtype);
      tensor.dtype = source.dtype;
      tensor.shape = source.shape;
      tensor.bytes = buffer.bytes();
      SK_ASSIGN_OR_RETURN(tensor.file, File::fromMemory(buffer.data(), buffer.bytes(), "random '" + source.name + "'"));
    }
    result.tensors.push_back(SourceTensor{tensor, nullptr, {}});
  }
  return TensorSource(std::move(result));
}

std::vector<const ValueInfo *> pointersTo(const std::vector<ValueInfo> &values) {
  std::vector<const ValueInfo *> pointers;
  for (const ValueInfo &value : values)
    pointers.push_back(&value);
  return pointers;
}

std::vector<std::string> SourceSet::missingNames(const ValueInfo &value, int64_t devices, bool presharded) const {
  std::vector<std::string> names;
  if (presharded && presharded_) {
    if (!findLogical(value.name, value.ranks))
      names.push_back(value.name);
  } else if (presharded) {
    for (int64_t rank = 0; rank < value.holders(devices); ++rank)
      if (!findShard(value, rank, devices))
        names.push_back(shardName(value.name, value.worldRank(rank), devices));
  } else {
    auto add = [&](const std::string &name, bool stored) {
      auto tensor = findTensor(name, value.ranks, stored);
      if (!tensor.ok() && tensor.status().message().empty())
        names.push_back(name);
    };
    if (!value.load || holdsMade(value, devices))
      add(value.name, false);
    else
      for (const LoadSource &source : value.load->sources)
        add(source.name, true);
  }
  return names;
}

Status SourceSet::withAllMissing(Status first, const std::vector<const ValueInfo *> &values, int64_t devices,
                                 bool presharded) const {
  if (first.code() != Code::NotFound)
    return first;
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const ValueInfo *value : values)
    for (const std::string &name : missingNames(*value, devices, presharded))
      if (seen.insert(name).second)
        names.push_back(name);
  if (names.size() < 2)
    return first;
  return notFound(first.message() + "; " + std::to_string(names.size()) + " are missing in all: " + namesText(names));
}

Status SourceSet::checkAllUsed(const std::vector<const ValueInfo *> &values) const {
  std::set<std::string> used;
  for (const ValueInfo *value : values) {
    used.insert(value->name);
    if (value->load)
      for (const LoadSource &source : value->load->sources)
        used.insert(source.name);
  }
  std::vector<std::string> unused;
  for (const std::string &name : names()) {
    const std::optional<ShardName> shard = parseAnyShardName(name);
    if (!used.count(name) && !(shard && !presharded_ && used.count(shard->name)))
      unused.push_back(name);
  }
  if (unused.empty())
    return {};
  return invalid(set_.path + ": " + std::to_string(unused.size()) + " tensor" + (unused.size() == 1 ? "" : "s") +
                 " that no argument names: " + namesText(unused) + ", expected none with strict checks");
}

std::vector<StoredFile> SourceSet::filesWithChecksums() const {
  std::vector<StoredFile> files;
  for (const StoredFile &file : set_.files)
    if (!file.md5.empty())
      files.push_back(file);
  if (presharded_ && !presharded_->perRank) {
    const std::string directory = std::filesystem::path(set_.presharded).parent_path().string();
    for (const WeightManifest::File &file : presharded_->files)
      if (file.checksum.compare(0, 4, "md5:") == 0)
        files.push_back({directory + "/" + file.path, file.bytes, file.checksum.substr(4)});
  }
  return files;
}

Status verifyChecksums(const std::vector<StoredFile> &files, size_t first, size_t step) {
  for (size_t i = first; i < files.size(); i += step) {
    SK_ASSIGN_OR_RETURN(std::string md5, fileMd5(files[i].path));
    if (md5 != files[i].md5)
      return invalid(files[i].path + ": the checksum is " + md5 + ", expected " + files[i].md5);
  }
  return {};
}

int64_t SourceSet::ranksOfShards(const std::string &name) const {
  int64_t ranks = 0;
  for (auto it = set_.tensors.lower_bound(name + "_shard-");
       it != set_.tensors.end() && it->first.compare(0, name.size() + 7, name + "_shard-") == 0; ++it)
    if (const std::optional<ShardName> shard = parseAnyShardName(it->first); shard && shard->name == name)
      ranks = std::max(ranks, shard->ranks ? shard->ranks : shard->rank + 1);
  return ranks;
}

const StoredTensor *SourceSet::findShard(const ValueInfo &value, int64_t rank, int64_t devices) const {
  const int64_t of = value.worldRank(rank);
  std::vector<std::string> names = {shardName(value.name, of, devices)};
  const int64_t ranks = presharded_ ? -1 : ranksOfShards(value.name);
  if (ranks == devices)
    names.push_back(mlcShardName(value.name, of));
  // A set without any shard is not a presharded one.
  if (ranks == 0 && value.localElements == value.globalElements &&
      std::any_of(set_.tensors.begin(), set_.tensors.end(),
                  [](const auto &entry) { return parseAnyShardName(entry.first); }))
    names.push_back(value.name);
  for (const std::string &name : names)
    if (auto found = set_.tensors.find(name); found != set_.tensors.end())
      return &found->second;
  return nullptr;
}

Expected<SourceTensor> SourceSet::joinSegments(const std::string &name) const {
  SourceTensor result;
  auto map = std::make_shared<ShardMap>();
  const int64_t devices = presharded_->devices;
  for (auto [index, number] : segments_.at(name)) {
    const ValueInfo &value = presharded_->weights[index];
    const LoadSource &source = value.load->sources[number];
    if (result.tensor.name.empty()) {
      result.tensor.name = name;
      result.tensor.storedType = dtypeName(source.dtype);
      result.tensor.dtype = source.dtype;
      result.tensor.shape = source.shape;
    } else if (result.tensor.dtype != source.dtype || result.tensor.shape != source.shape) {
      return invalid(set_.path + ": segments of stored tensor " + quoteName(name) + " do not agree on its type, " +
                     dtypeName(*result.tensor.dtype) + " " + shapeString(result.tensor.shape) + " and " +
                     dtypeName(source.dtype) + " " + shapeString(source.shape));
    }
    for (const ExtentPiece &piece : value.load->pieces)
      if (piece.source == int64_t(number) &&
          !map->add(piece.extents, piece.globalBase, piece.localBase, int64_t(index) * devices))
        return invalid(set_.path + ": weight " + quoteName(value.name) + " does not distinguish the elements of " +
                       quoteName(name) + " apart");
    for (int64_t rank = 0; rank < value.holders(devices); ++rank)
      result.shards.emplace(int64_t(index) * devices + rank, shardOf(value, rank));
  }
  result.map = std::move(map);
  return result;
}

bool SourceSet::holdsMade(const ValueInfo &value, int64_t devices) const {
  const ValueInfo *logical = findLogical(value.name, value.ranks);
  if (!value.load || !logical || !logical->load || !logical->load->computed ||
      logical->isSegmented != value.isSegmented)
    return false;
  // What parts side by side are depends on how they are cut.
  return !logical->isSegmented || configurationDiff(*logical, presharded_->devices, value, devices).empty();
}

const ValueInfo *SourceSet::findLogical(const std::string &name, const std::vector<int64_t> &ranks) const {
  auto found = logical_.find(name);
  if (found == logical_.end())
    return nullptr;
  for (size_t index : found->second)
    if (presharded_->weights[index].ranks == ranks)
      return &presharded_->weights[index];
  return &presharded_->weights[found->second[0]];
}

const StoredTensor &SourceSet::shardOf(const ValueInfo &value, int64_t rank) const {
  const int64_t owner = presharded_->perRank ? rank : firstOwner(value.extents, rank);
  return set_.tensors.at(shardName(value.name, value.worldRank(owner), presharded_->devices));
}

Expected<SourceTensor> SourceSet::findTensor(const std::string &name, const std::vector<int64_t> &ranks,
                                             bool stored) const {
  SourceTensor result;
  if (segments_.count(name))
    return joinSegments(name);
  const ValueInfo *logical = findLogical(name, ranks);
  if (logical && stored && logical->load)
    return notFound("");
  if (logical) {
    const ValueInfo &value = *logical;
    result.tensor.name = name;
    result.tensor.storedType = dtypeName(value.dtype);
    result.tensor.dtype = value.dtype;
    result.tensor.shape = value.globalShape;
    result.map = std::make_shared<ShardMap>(value.extents);
    for (int64_t rank = 0; rank < value.holders(presharded_->devices); ++rank)
      if (!isReplica(value.extents, rank))
        result.shards.emplace(rank, shardOf(value, rank));
    return result;
  }
  auto found = set_.tensors.find(name);
  if (presharded_ || found == set_.tensors.end())
    return notFound("");
  result.tensor = found->second;
  return result;
}

Expected<TensorSource> SourceSet::find(const ValueInfo &value, int64_t devices) const {
  StoredSource source;
  source.made = holdsMade(value, devices);
  std::vector<std::string> names;
  if (value.load && !source.made) {
    if (value.load->computed)
      return invalid("weight " + quoteName(value.name) +
                     " is made by a loading function that only the bundle or the "
                     "shard info has, expected --manifest=BUNDLE or --shard-info=FILE");
    for (const LoadSource &s : value.load->sources)
      names.push_back(s.name);
  } else {
    names.push_back(value.name);
  }
  for (const std::string &name : names) {
    auto tensor = findTensor(name, value.ranks, /*stored=*/value.load && !source.made);
    if (!tensor.ok() && !tensor.status().message().empty())
      return tensor.status();
    if (!tensor.ok()) {
      // A TVM set that was cut for its own number of ranks.
      if (const int64_t ranks = ranksOfShards(name))
        return notFound("weight " + quoteName(name) + ": " + set_.path + " holds it presharded for " +
                        std::to_string(ranks) + " ranks and has no presharded.json, expected --load=presharded on " +
                        std::to_string(ranks) + " ranks");
      return missing(value.load ? "stored tensor " + quoteName(name) + " of weight " + quoteName(value.name)
                                : "weight " + quoteName(name) + " (" + typeOf(value) + ")",
                     name);
    }
    source.tensors.push_back(std::move(*tensor));
  }
  TensorSource result = std::move(source);
  SK_RETURN_IF_ERROR(checkSource(value, result));
  return result;
}

Expected<TensorSource> SourceSet::findPresharded(const ValueInfo &value, int64_t devices) const {
  if (presharded_) {
    const ValueInfo *logical = findLogical(value.name, value.ranks);
    if (!logical)
      return missing("weight " + quoteName(value.name) + " (" + typeOf(value) + ")", value.name);
    std::string diff = configurationDiff(*logical, presharded_->devices, value, devices);
    if (!diff.empty())
      return invalid("weight " + quoteName(value.name) + ": " + set_.path + " was sharded in another way: " + diff +
                     "; --load=direct takes it as it is");
    if (value.load && !logical->load)
      return invalid("weight " + quoteName(value.name) + ": " + set_.path +
                     " holds the stored tensor, expected what the loading function makes of it; "
                     "--load=direct takes it as it is");
  }
  PreshardedSource source;
  for (int64_t rank = 0; rank < value.holders(devices); ++rank) {
    const int64_t owner = presharded_ && !presharded_->perRank ? firstOwner(value.extents, rank) : rank;
    const StoredTensor *found = findShard(value, owner, devices);
    if (!found) {
      const std::string name = shardName(value.name, value.worldRank(owner), devices);
      if (const int64_t ranks = ranksOfShards(value.name); ranks && ranks != devices)
        return invalid("weight " + quoteName(value.name) + ": " + set_.path + " holds it presharded for " +
                       std::to_string(ranks) + " ranks, expected " + std::to_string(devices));
      return missing("shard " + quoteName(name) + " of rank " + std::to_string(value.worldRank(rank)), name);
    }
    source.ranks.push_back(*found);
  }
  TensorSource result = std::move(source);
  SK_RETURN_IF_ERROR(checkSource(value, result));
  return result;
}

} // namespace shardkit::rt
