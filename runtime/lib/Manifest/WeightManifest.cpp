//===- WeightManifest.cpp - Weights and their shards, without programs ----===//

#include "Formats/StrictJson.h"
#include "ManifestReader.h"
#include "ManifestText.h"
#include "ManifestVersion1.h"

#include "shardkit/rt/Formats/StoredTensor.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

namespace {

/// The members that the configuration hash covers, in the words of `version`.
Ordered bodyJson(const WeightManifest &manifest, int64_t version) {
  Ordered json;
  Json axes = Json::array();
  for (const auto &[name, size] : manifest.mesh.axes)
    axes.push_back({name, size});
  if (manifest.devices == manifest.mesh.size()) // Otherwise weights have ranks.
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
    if (value.isSegmented)
      entry[version == 1 ? "part" : "segmented"] = true;
    if (value.load) {
      Ordered &load = entry["load"] = loadJson(*value.load, /*isFunctionWritten=*/false);
      for (Ordered &source : load["sources"])
        source.erase("range");
      if (version == 1 && load.erase("computed"))
        load["made"] = true;
    }
    json["weights"].push_back(entry);
  }
  return json;
}

/// The ranks that hold a weight, by rank of its mesh.
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
  if (version != weightManifestVersion)
    in.fail("version " + std::to_string(version) + ", expected 1 to " + std::to_string(weightManifestVersion) +
            ", the versions that this runtime reads" + (version > weightManifestVersion ? "; update the runtime" : ""));
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
      at.fail(isOfStages ? "'ranks' is missing, and the manifest has no 'mesh'"
                         : "'ranks' is present together with a mesh");
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
  weights.devices = pipeline.signature.devices;
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
  const bool isVersion1 = parsed->is_object() && parsed->value("version", Json()) == 1;
  const std::string version1 = isVersion1 ? " (a manifest of version 1, read as version 2)" : "";
  try {
    if (isVersion1)
      translateWeightsVersion1(*parsed);
    WeightManifest manifest = read(*parsed);
    manifest.path = fileName;
    const std::string hash = configurationHash(manifest, isVersion1 ? 1 : weightManifestVersion);
    if (!manifest.configuration.empty() && manifest.configuration != hash)
      return invalid(fileName + ": 'configuration' is " + quoteName(manifest.configuration) + ", expected '" + hash +
                     "' for the listed weights");
    return manifest;
  } catch (const ManifestError &error) {
    return invalid(fileName + ": " + error.message + version1);
  } catch (const std::exception &error) {
    return invalid(fileName + ": " + error.what());
  }
}

std::string weightManifestText(const WeightManifest &manifest) {
  Ordered json = {{"version", weightManifestVersion}};
  json.update(bodyJson(manifest, weightManifestVersion));
  if (!manifest.configuration.empty()) {
    json["layout"] = manifest.perRank ? "tvm" : "shared";
    json["configuration"] = manifest.configuration;
    json["files"] = Json::array();
    for (const WeightManifest::File &file : manifest.files)
      json["files"].push_back(Ordered{{"path", file.path}, {"bytes", file.bytes}, {"checksum", file.checksum}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string configurationHash(const WeightManifest &manifest, int64_t version) {
  // FNV-1a: it distinguishes configurations, it is not a protection.
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : bodyJson(manifest, version).dump(-1, ' ', false, Json::error_handler_t::replace))
    hash = (hash ^ c) * 0x100000001b3ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

} // namespace shardkit::rt
