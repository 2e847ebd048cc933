//===- Manifest.cpp - manifest.json ---------------------------------------===//

#include "shardkit/Bundle/Manifest.h"
#include <nlohmann/json.hpp>

using namespace shardkit::manifest;
using Json = nlohmann::ordered_json;

static Json toJson(const Entry &entry) {
  return {{"program", entry.program}, {"symbol", entry.symbol}, {"arena_bytes", entry.arenaBytes}};
}
/// Of a reference: what it takes where that is not the arguments.
static Json toJson(const Entry &entry, const std::vector<std::array<int64_t, 2>> &taken) {
  Json json = toJson(entry);
  for (auto [argument, source] : taken)
    json["arguments"].push_back(source < 0 ? Json(argument) : Json({argument, source}));
  return json;
}

static Json toJson(const std::vector<std::array<int64_t, 3>> &offset, const std::vector<std::array<int64_t, 3>> &loops,
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
    if (load.isWhole)
      json["whole"] = true;
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

static Json toJson(const Value::Slot &slot) {
  Json json = {slot.kind, slot.index};
  if (slot.dim)
    json.push_back(*slot.dim);
  return json;
}

static Json toJson(const Value &value) {
  Json json = {{"name", value.name}, {"kind", value.kind}, {"dtype", value.dtype}};
  if (value.kind == "value") { // of a stage
    json["local_shape"] = value.localShape;
    json["slot"] = toJson(*value.slot);
    if (value.tied)
      json["tied"] = *value.tied;
    return json;
  }
  json["global_shape"] = value.globalShape;
  json["local_shape"] = value.localShape;
  if (value.sharding)
    json["sharding"] = *value.sharding;
  json["extents"] = toJson(value.offset, value.loops, value.uneven);
  if (value.range)
    json["range"] = *value.range;
  if (value.tied)
    json["tied"] = *value.tied;
  if (value.exact)
    json["exact"] = true;
  if (value.isPart)
    json["part"] = true;
  if (value.load)
    json["load"] = toJson(*value.load);
  if (value.slot)
    json["slot"] = toJson(*value.slot);
  return json;
}

/// Which elements go where.
static void addMove(const Collective &collective, Json &json) {
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
}

static Json toJson(const Collective &collective) {
  Json json = {
      {"id", collective.id}, {"kind", collective.kind}, {"axes", collective.axes}, {"dtype", collective.dtype}};
  if (collective.reduction)
    json["reduction"] = *collective.reduction;
  addMove(collective, json);
  json["group"] = collective.group;
  json["bytes"] = collective.bytes;
  if (collective.with)
    json["with"] = *collective.with;
  json["loc"] = collective.loc;
  return json;
}

static Json toJson(const Function &function) {
  Json json = {{"name", function.name}};
  if (function.partOf)
    json["part_of"] = *function.partOf;
  json["mesh"] = function.mesh ? Json(*function.mesh) : Json();
  json["devices"] = function.devices;
  json.update(toJson(function.entry));
  for (auto [key, values] : {std::pair("arguments", &function.arguments), std::pair("results", &function.results)}) {
    json[key] = Json::array();
    for (const Value &value : *values)
      json[key].push_back(toJson(value));
  }
  json["collectives"] = Json::array();
  for (const Collective &collective : function.collectives)
    json["collectives"].push_back(toJson(collective));
  if (function.reference)
    json["reference"] = toJson(*function.reference, function.referenceArguments);
  return json;
}

static Json toJson(const Pipeline &pipeline) {
  Json json = {{"name", pipeline.name},
               {"schedule", pipeline.schedule},
               {"microbatches", pipeline.microbatches},
               {"devices", pipeline.devices}};
  for (auto [key, values] : {std::pair("arguments", &pipeline.arguments), std::pair("results", &pipeline.results)}) {
    json[key] = Json::array();
    for (const Pipeline::Argument &argument : *values) {
      const Value &value = argument.value;
      Json entry = {{"name", value.name}};
      if (value.kind != "result")
        entry["kind"] = value.kind;
      entry["dtype"] = value.dtype;
      entry["global_shape"] = value.globalShape;
      if (value.range)
        entry["range"] = *value.range;
      if (value.tied)
        entry["tied"] = *value.tied;
      if (value.exact)
        entry["exact"] = true;
      entry["places"] = argument.places;
      json[key].push_back(std::move(entry));
    }
  }
  json["stages"] = Json::array();
  for (const Pipeline::Stage &stage : pipeline.stages) {
    Json entry = {{"mesh", stage.mesh}, {"devices", stage.ranks.size()}, {"ranks", stage.ranks}};
    for (auto [key, values] : {std::pair("arguments", &stage.arguments), std::pair("results", &stage.results)}) {
      entry[key] = Json::array();
      for (const Value &value : *values)
        entry[key].push_back(toJson(value));
    }
    entry["values"] = Json::array();
    for (const Pipeline::StageValue &value : stage.values) {
      Json own = {{"name", value.name}, {"dtype", value.dtype}, {"local_shape", value.localShape}};
      if (value.init)
        own["init"] = *value.init;
      entry["values"].push_back(std::move(own));
    }
    entry["instructions"] = Json::array();
    for (const Pipeline::Instruction &instruction : stage.instructions)
      switch (instruction.kind) {
      case Pipeline::Instruction::Kind::Run:
        entry["instructions"].push_back({"run", instruction.index, instruction.microbatch});
        break;
      case Pipeline::Instruction::Kind::Transfer:
        entry["instructions"].push_back({"transfer", instruction.index, instruction.sends, instruction.receives});
        break;
      case Pipeline::Instruction::Kind::Free:
        entry["instructions"].push_back({"free", instruction.index, instruction.microbatch});
        break;
      }
    json["stages"].push_back(std::move(entry));
  }
  json["transfers"] = Json::array();
  for (const Pipeline::Move &transfer : pipeline.transfers) {
    Json entry = {{"from", transfer.from}, {"to", transfer.to}, {"dtype", transfer.move.dtype}};
    addMove(transfer.move, entry);
    entry["bytes"] = transfer.move.bytes;
    entry["loc"] = transfer.move.loc;
    json["transfers"].push_back(std::move(entry));
  }
  if (pipeline.reference)
    json["reference"] = toJson(*pipeline.reference, pipeline.referenceArguments);
  return json;
}

std::string shardkit::manifest::toJson(const Manifest &manifest) {
  Json json = {{"version", 1}, {"abi", manifest.abi}, {"target", manifest.target}, {"producer", manifest.producer}};
  if (!manifest.chip.empty())
    json["chip"] = manifest.chip;
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
    json["programs"].push_back({{"file", program.file}, {"bytes", program.bytes}, {"hash", program.hash}});
  json["functions"] = Json::array();
  for (const Function &function : manifest.functions)
    json["functions"].push_back(::toJson(function));
  for (const Pipeline &pipeline : manifest.pipelines)
    json["pipelines"].push_back(::toJson(pipeline));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
