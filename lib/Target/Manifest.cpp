//===- Manifest.cpp - manifest.json ---------------------------------------===//

#include "shardkit/Target/Manifest.h"
#include <nlohmann/json.hpp>

using namespace shardkit::manifest;
using Json = nlohmann::ordered_json;

static Json toJson(const Entry &entry) {
  return {{"program", entry.program},
          {"symbol", entry.symbol},
          {"arena_bytes", entry.arenaBytes}};
}

static Json toJson(const std::vector<std::array<int64_t, 3>> &offset,
                   const std::vector<std::array<int64_t, 3>> &loops,
                   const std::vector<UnevenLoop> &unevenLoops) {
  Json json = {{"offset", offset}, {"loops", loops}};
  for (const UnevenLoop &uneven : unevenLoops) {
    Json entry = {{"loop", uneven.loop}, {"size", uneven.size}, {"ranks", uneven.ranks}};
    if (uneven.begin != 0)
      entry["begin"] = uneven.begin;
    json["uneven"].push_back(std::move(entry));
  }
  return json;
}

static Json toJson(const Load &load) {
  Json json = {{"sources", Json::array()}};
  for (const Load::Source &source : load.sources) {
    Json entry = {{"name", source.name}, {"dtype", source.dtype}, {"shape", source.shape}};
    if (source.range)
      entry["range"] = *source.range;
    json["sources"].push_back(std::move(entry));
  }
  if (load.function) {
    json["function"] = toJson(*load.function);
  } else if (!load.chain.empty()) {
    json["chain"] = Json::array();
    for (const Load::HostCall &call : load.chain) {
      Json entry = {call.function, {call.shape, call.dtype}};
      for (const auto &extra : call.extras)
        std::visit([&](auto value) { entry.push_back(value); }, extra);
      json["chain"].push_back(std::move(entry));
    }
  } else {
    json["pieces"] = Json::array();
    for (const Piece &piece : load.pieces) {
      Json entry = {{"source", piece.source}, {"base", piece.base}};
      entry.update(toJson(piece.offset, piece.loops, piece.uneven));
      json["pieces"].push_back(std::move(entry));
    }
  }
  if (load.reference)
    json["reference"] = toJson(*load.reference);
  return json;
}

static Json toJson(const Value &value) {
  Json json = {{"name", value.name},
               {"kind", value.kind},
               {"dtype", value.dtype},
               {"global_shape", value.globalShape},
               {"local_shape", value.localShape}};
  if (value.sharding)
    json["sharding"] = *value.sharding;
  json["extents"] = toJson(value.offset, value.loops, value.uneven);
  if (value.range)
    json["range"] = *value.range;
  if (value.tied)
    json["tied"] = *value.tied;
  if (value.exact)
    json["exact"] = true;
  if (value.load)
    json["load"] = toJson(*value.load);
  return json;
}

static Json toJson(const Collective &collective) {
  Json json = {{"id", collective.id},
               {"kind", collective.kind},
               {"axes", collective.axes},
               {"dtype", collective.dtype}};
  if (collective.reduction)
    json["reduction"] = *collective.reduction;
  json["in_elements"] = collective.inElements;
  json["out_elements"] = collective.outElements;
  Json atoms = Json::array();
  for (const Atom &atom : collective.atoms)
    atoms.push_back({atom.size, atom.sourceIsRank ? "rank" : "local", atom.sourceStride,
                     atom.destinationIsRank ? "rank" : "local", atom.destinationStride});
  json["atoms"] = atoms;
  if (!collective.segments.empty()) {
    auto parts = [](const std::vector<SegmentPart> &list) {
      Json result = Json::array();
      for (const SegmentPart &part : list)
        result.push_back({part.size, part.isRank ? "rank" : "local", part.stride});
      return result;
    };
    json["segments"] = Json::array();
    for (const Segment &segment : collective.segments) {
      Json entry = {segment.size, parts(segment.source), parts(segment.destination)};
      if (segment.window)
        entry.push_back(*segment.window);
      json["segments"].push_back(std::move(entry));
    }
  }
  if (!collective.spread.empty())
    json["spread"] = collective.spread;
  json["group"] = collective.group;
  json["bytes"] = collective.bytes;
  if (collective.with)
    json["with"] = *collective.with;
  json["loc"] = collective.loc;
  return json;
}

static Json toJson(const Function &function) {
  Json json = {{"name", function.name},
               {"mesh", function.mesh ? Json(*function.mesh) : Json()},
               {"devices", function.devices}};
  json.update(toJson(function.entry));
  for (auto [key, values] : {std::pair("arguments", &function.arguments),
                             std::pair("results", &function.results)}) {
    json[key] = Json::array();
    for (const Value &value : *values)
      json[key].push_back(toJson(value));
  }
  json["collectives"] = Json::array();
  for (const Collective &collective : function.collectives)
    json["collectives"].push_back(toJson(collective));
  if (function.reference) {
    json["reference"] = toJson(*function.reference);
    if (!function.referenceArguments.empty()) {
      Json &list = json["reference"]["arguments"] = Json::array();
      for (auto [argument, source] : function.referenceArguments)
        list.push_back(source < 0 ? Json(argument) : Json({argument, source}));
    }
  }
  return json;
}

std::string shardkit::manifest::toJson(const Manifest &manifest) {
  Json json = {{"version", 1},
               {"abi", manifest.abi},
               {"target", manifest.target},
               {"producer", manifest.producer}};
  json["meshes"] = Json::array();
  for (const Mesh &mesh : manifest.meshes) {
    Json axes = Json::array();
    for (const auto &[name, size] : mesh.axes)
      axes.push_back({name, size});
    Json entry = {{"name", mesh.name}, {"axes", axes}};
    if (!mesh.deviceIds.empty())
      entry["device_ids"] = mesh.deviceIds;
    json["meshes"].push_back(entry);
  }
  json["programs"] = Json::array();
  for (const Program &program : manifest.programs)
    json["programs"].push_back(
        {{"file", program.file}, {"bytes", program.bytes}, {"hash", program.hash}});
  json["functions"] = Json::array();
  for (const Function &function : manifest.functions)
    json["functions"].push_back(::toJson(function));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
