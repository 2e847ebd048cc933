//===- WeightManifest.cpp - Weights and how they are cut, without programs --===//

#include "Formats/StrictJson.h"
#include "ManifestReader.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

namespace {

Ordered extentsJson(const Extents &extents) {
  Ordered json = {{"offset", Json::array()}, {"loops", Json::array()}};
  for (const OffsetDigit &d : extents.offset)
    json["offset"].push_back({d.rankStride, d.size, d.globalStride});
  for (const ExtentLoop &l : extents.loops)
    json["loops"].push_back({l.size, l.globalStride, l.localStride});
  for (const UnevenLoop &u : extents.uneven) {
    Json ranks = Json::array();
    for (const RankDigit &d : u.ranks)
      ranks.push_back({d.stride, d.size});
    Ordered entry = {{"loop", u.loop}, {"size", u.size}, {"ranks", ranks}};
    if (u.begin != 0)
      entry["begin"] = u.begin;
    json["uneven"].push_back(entry);
  }
  return json;
}

Ordered loadJson(const LoadInfo &load) {
  Ordered json = {{"sources", Json::array()}};
  for (const LoadSource &source : load.sources)
    json["sources"].push_back(
        Ordered{{"name", source.name}, {"dtype", dtypeName(source.dtype)}, {"shape", source.shape}});
  if (load.made) {
    json["made"] = true;
  } else if (!load.chain.empty()) {
    json["chain"] = Json::array();
    for (const HostCall &call : load.chain) {
      Ordered entry = {call.function, {call.shape, dtypeName(call.dtype)}};
      for (const auto &extra : call.extras)
        std::visit([&](const auto &v) { entry.push_back(v); }, extra);
      json["chain"].push_back(entry);
    }
  } else if (!load.function) {
    json["pieces"] = Json::array();
    for (const ExtentPiece &piece : load.pieces) {
      Ordered entry = {{"source", piece.source}, {"base", {piece.globalBase, piece.localBase}}};
      entry.update(extentsJson(piece.extents));
      json["pieces"].push_back(entry);
    }
  }
  return json;
}

Ordered bodyJson(const WeightManifest &manifest) {
  Ordered json;
  Json axes = Json::array();
  for (const auto &[name, size] : manifest.mesh.axes)
    axes.push_back({name, size});
  if (manifest.devices == manifest.mesh.size()) // Else weights have ranks.
    json["mesh"] = Ordered{{"name", manifest.mesh.name}, {"axes", axes}};
  json["devices"] = manifest.devices;
  json["weights"] = Json::array();
  for (const ValueInfo &value : manifest.weights) {
    Ordered entry = {{"name", value.name},
                     {"kind", "weight"},
                     {"dtype", dtypeName(value.dtype)},
                     {"global_shape", value.globalShape},
                     {"local_shape", value.localShape}};
    if (!value.ranks.empty())
      entry["ranks"] = value.ranks;
    if (!value.sharding.empty())
      entry["sharding"] = value.sharding;
    entry["extents"] = extentsJson(value.extents);
    if (value.isPart)
      entry["part"] = true;
    if (value.load)
      entry["load"] = loadJson(*value.load);
    json["weights"].push_back(entry);
  }
  return json;
}

/// Those that hold a weight, by rank of its mesh.
std::vector<int64_t> readRanks(const JsonAt &in, int64_t devices) {
  if (!in.has("ranks"))
    return {};
  std::vector<int64_t> ranks = in.integers("ranks");
  std::set<int64_t> known;
  for (int64_t rank : ranks)
    if (rank < 0 || rank >= devices || !known.insert(rank).second)
      in.fail("'ranks' names rank " + std::to_string(rank) + ", expected each of 0 to " + std::to_string(devices - 1) +
              " at most once");
  if (ranks.empty())
    in.fail("'ranks' is empty");
  return ranks;
}

WeightManifest read(const Json &json) {
  JsonAt in(json, "");
  in.expectObject();
  int64_t version = in.integer("version");
  if (version != 1)
    in.fail("version " + std::to_string(version) + ", this runtime reads version 1");
  WeightManifest manifest;
  if (in.has("mesh"))
    manifest.mesh = readMesh(JsonAt(in.member("mesh"), "'mesh'"));
  else
    manifest.mesh.deviceIds = {0};
  manifest.devices = in.integer("devices");
  // Without a mesh weights may have ranks.
  const bool isOfStages = !in.has("mesh") && manifest.devices > 1 && manifest.devices <= maxDevices;
  if (manifest.devices != manifest.mesh.size() && !isOfStages)
    in.fail("'devices' is " + std::to_string(manifest.devices) + ", expected the size of the mesh, " +
            std::to_string(manifest.mesh.size()));
  for (const Json &entry : in.array("weights")) {
    JsonAt at(entry, "'weights'");
    at.expectObject();
    if (at.has("ranks") != isOfStages)
      at.fail(isOfStages ? "'ranks' is missing, and the manifest has no 'mesh'" : "'ranks' stands beside a mesh");
    std::vector<int64_t> ranks = readRanks(at, manifest.devices);
    ValueInfo value = readValue(at, false, manifest.weights.size(), ranks.empty() ? manifest.devices : ranks.size(), 0,
                                0, /*anyType=*/true);
    value.kind = ValueKind::Weight;
    value.ranks = std::move(ranks);
    manifest.weights.push_back(std::move(value));
  }
  std::string layout = in.stringOr("layout", "shared");
  if (layout != "shared" && layout != "tvm")
    in.fail("'layout' is " + quoteName(layout) + ", expected 'shared' or 'tvm'");
  manifest.perRank = layout == "tvm";
  manifest.configuration = in.stringOr("configuration", "");
  if (in.has("files"))
    for (const Json &entry : in.array("files")) {
      JsonAt file(entry, "'files'");
      file.expectObject();
      manifest.files.push_back({file.string("path"), file.integer("bytes"), file.stringOr("checksum", "")});
    }
  return manifest;
}

} // namespace

bool WeightManifest::hasStages() const {
  return std::any_of(weights.begin(), weights.end(), [](const ValueInfo &value) { return !value.ranks.empty(); });
}

WeightManifest weightsOf(const Manifest &manifest, const PipelineInfo &pipeline) {
  WeightManifest weights;
  weights.devices = pipeline.whole.devices;
  for (const StageInfo &stage : pipeline.stages)
    for (const ValueInfo &value : stage.held.arguments)
      if (value.kind == ValueKind::Weight)
        weights.weights.push_back(value);
  if (pipeline.stages.size() == 1 && !weights.hasStages())
    weights.mesh = manifest.meshes[size_t(pipeline.stages[0].held.mesh)];
  return weights;
}

WeightManifest weightsOf(const Manifest &manifest, const FunctionInfo &function) {
  WeightManifest weights;
  if (function.mesh >= 0)
    weights.mesh = manifest.meshes[size_t(function.mesh)];
  weights.devices = function.devices;
  for (const ValueInfo &value : function.arguments)
    if (value.kind == ValueKind::Weight)
      weights.weights.push_back(value);
  return weights;
}

Expected<WeightManifest> parseWeightManifest(const std::string &text, const std::string &fileName) {
  auto parsed = parseStrictJson(text, "the manifest");
  if (!parsed.ok())
    return parsed.status().withContext(fileName);
  try {
    WeightManifest manifest = read(*parsed);
    manifest.path = fileName;
    if (!manifest.configuration.empty() && manifest.configuration != configurationHash(manifest))
      return invalid(fileName + ": 'configuration' is " + quoteName(manifest.configuration) + ", expected '" +
                     configurationHash(manifest) + "' for what it lists");
    return manifest;
  } catch (const ManifestError &error) {
    return invalid(fileName + ": " + error.message);
  } catch (const std::exception &error) {
    return invalid(fileName + ": " + error.what());
  }
}

std::string weightManifestText(const WeightManifest &manifest) {
  Ordered json = {{"version", 1}};
  json.update(bodyJson(manifest));
  if (!manifest.configuration.empty()) {
    json["layout"] = manifest.perRank ? "tvm" : "shared";
    json["configuration"] = manifest.configuration;
    json["files"] = Json::array();
    for (const WeightManifest::File &file : manifest.files)
      json["files"].push_back(Ordered{{"path", file.path}, {"bytes", file.bytes}, {"checksum", file.checksum}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string configurationHash(const WeightManifest &manifest) {
  // FNV-1a: it tells configurations apart, it protects against nobody.
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : bodyJson(manifest).dump(-1, ' ', false, Json::error_handler_t::replace))
    hash = (hash ^ c) * 0x100000001b3ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

} // namespace shardkit::rt
