//===- ManifestText.cpp - The text of a manifest --------------------------===//
//
// The writer of manifest.json. It is built into the compiler, which has nothing else of the
// runtime.
//
//===----------------------------------------------------------------------===//

#include "ManifestText.h"

#include "shardkit/rt/Manifest/Manifest.h"

#include <array>

namespace shardkit::rt {

using Ordered = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Names of enumerations
//===----------------------------------------------------------------------===//

static constexpr std::array<const char *, 12> reductionNames = {"none", "sum", "prod", "and",  "or",     "xor",
                                                                "max",  "min", "umax", "umin", "maxnum", "minnum"};

const char *reductionName(Reduction reduction) { return reductionNames[size_t(reduction)]; }

std::optional<Reduction> parseReduction(std::string_view name) {
  for (size_t i = 1; i < reductionNames.size(); ++i)
    if (name == reductionNames[i])
      return Reduction(i);
  return std::nullopt;
}

static constexpr std::array<const char *, 5> initNames = {"zero", "one", "lowest", "highest", "all_ones"};

const char *initName(Init init) { return initNames[size_t(init)]; }

std::optional<Init> parseInit(std::string_view name) {
  for (size_t i = 0; i < initNames.size(); ++i)
    if (name == initNames[i])
      return Init(i);
  return std::nullopt;
}

const char *kindName(ValueKind kind) {
  switch (kind) {
  case ValueKind::Input:
    return "input";
  case ValueKind::Weight:
    return "weight";
  case ValueKind::Constant:
    return "constant";
  case ValueKind::Size:
    return "size";
  case ValueKind::Result:
    return "result";
  case ValueKind::Value:
    return "value";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Ordered extentsJson(const Extents &extents) {
  Ordered json = {{"offset", Ordered::array()}, {"loops", Ordered::array()}};
  for (const OffsetDigit &d : extents.offset)
    json["offset"].push_back({d.rankStride, d.size, d.globalStride});
  for (const ExtentLoop &l : extents.loops)
    json["loops"].push_back({l.size, l.globalStride, l.localStride});
  for (const UnevenLoop &u : extents.uneven) {
    Ordered ranks = Ordered::array();
    for (const RankDigit &d : u.ranks)
      ranks.push_back({d.stride, d.size});
    Ordered entry = {{"loop", u.loop}, {"size", u.size}, {"ranks", ranks}};
    if (u.begin != 0)
      entry["begin"] = u.begin;
    json["uneven"].push_back(std::move(entry));
  }
  if (!extents.order.empty())
    json["order"] = extents.order;
  return json;
}

/// Members program, symbol and arena_bytes.
static Ordered entryJson(const EntryPoint &entry) {
  return {{"program", entry.program}, {"symbol", entry.symbol}, {"arena_bytes", entry.arenaBytes}};
}

static Ordered sizeExprJson(const SizeExpr &expr, const std::vector<SizeInfo> &sizes) {
  auto binary = [&](const char *name) {
    return Ordered({name, sizeExprJson(expr.operands[0], sizes), sizeExprJson(expr.operands[1], sizes)});
  };
  switch (expr.kind) {
  case SizeExpr::Kind::Number:
    return expr.value;
  case SizeExpr::Kind::Size:
    return sizes[size_t(expr.value)].name;
  case SizeExpr::Kind::Add:
    return binary("+");
  case SizeExpr::Kind::Multiply:
    return binary("*");
  case SizeExpr::Kind::FloorDivide:
    return binary("floordiv");
  case SizeExpr::Kind::CeilDivide:
    return binary("ceildiv");
  }
  return {};
}

/// With 'arena', if it depends on sizes.
static Ordered entryJson(const EntryPoint &entry, const std::vector<SizeInfo> &sizes) {
  Ordered json = entryJson(entry);
  for (const ArenaBuffer &buffer : entry.arena)
    json["arena"].push_back({{"bytes", sizeExprJson(buffer.bytes, sizes)}, {"after", buffer.after}});
  return json;
}

static Ordered referenceJson(const FunctionInfo &function) {
  Ordered json = entryJson(*function.reference, function.sizes);
  for (const FunctionInfo::ReferenceArgument &given : function.referenceArguments)
    json["arguments"].push_back(given.source < 0 ? Ordered(given.argument) : Ordered({given.argument, given.source}));
  return json;
}

/// Pieces of numbers have no source.
static Ordered piecesJson(const std::vector<ExtentPiece> &pieces) {
  Ordered list = Ordered::array();
  for (const ExtentPiece &piece : pieces) {
    Ordered entry = Ordered::object();
    if (piece.source >= 0)
      entry["source"] = piece.source;
    else
      entry["numbers"] = true;
    entry["base"] = {piece.globalBase, piece.localBase};
    entry.update(extentsJson(piece.extents));
    list.push_back(std::move(entry));
  }
  return list;
}

Ordered loadJson(const LoadInfo &load, bool isFunctionWritten) {
  Ordered json = {{"sources", Ordered::array()}};
  for (const LoadSource &source : load.sources) {
    Ordered entry = {{"name", source.name}, {"dtype", dtypeName(source.dtype)}, {"shape", source.shape}};
    if (source.range)
      entry["range"] = {source.range->first, source.range->second};
    json["sources"].push_back(std::move(entry));
  }
  if (load.computed) {
    json["computed"] = true;
  } else if (load.function) {
    if (!isFunctionWritten)
      return json;
    json["function"] = entryJson(*load.function);
    if (load.isFull)
      json["full"] = true;
    if (load.operands) {
      json["operands"] = Ordered::array();
      for (const LoadOperand &operand : *load.operands)
        json["operands"].push_back(
            {{"dtype", dtypeName(operand.dtype)}, {"shape", operand.shape}, {"pieces", piecesJson(operand.pieces)}});
    }
  } else if (!load.chain.empty()) {
    json["chain"] = Ordered::array();
    for (const HostCall &call : load.chain) {
      Ordered entry = {call.function, {call.shape, dtypeName(call.dtype)}};
      for (const auto &extra : call.extras)
        std::visit([&](const auto &value) { entry.push_back(value); }, extra);
      json["chain"].push_back(std::move(entry));
    }
  } else {
    json["pieces"] = piecesJson(load.pieces);
  }
  if (load.reference && isFunctionWritten)
    json["reference"] = entryJson(*load.reference);
  return json;
}

static Ordered slotJson(const Slot &slot) {
  static constexpr std::array<const char *, 4> kinds = {"argument", "result", "value", "sum"};
  Ordered json = {kinds[size_t(slot.kind)], slot.index};
  if (slot.isMicrobatch())
    json.push_back(slot.dim);
  return json;
}

static Ordered dimsJson(const std::vector<DimInfo> &dims, const std::vector<SizeInfo> &sizes) {
  Ordered json = Ordered::array();
  for (const DimInfo &dim : dims) {
    Ordered digits = Ordered::array();
    for (const RankDigit &digit : dim.digits)
      digits.push_back({digit.stride, digit.size});
    Ordered entry = {{"size", sizeExprJson(dim.size, sizes)}, {"digits", std::move(digits)}};
    if (dim.multiple != 1)
      entry["multiple"] = dim.multiple;
    json.push_back(std::move(entry));
  }
  return json;
}

/// `sizes`: those of the function of the value.
static Ordered valueJson(const ValueInfo &value, const std::vector<SizeInfo> &sizes = {}) {
  Ordered json = {{"name", value.name}, {"kind", kindName(value.kind)}, {"dtype", dtypeName(value.dtype)}};
  if (value.kind == ValueKind::Value) {
    json["local_shape"] = value.localShape;
    json["slot"] = slotJson(*value.slot);
    if (value.tied)
      json["tied"] = *value.tied;
    return json;
  }
  if (value.dims.empty()) {
    json["global_shape"] = value.globalShape;
    json["local_shape"] = value.localShape;
  } else {
    json["dims"] = dimsJson(value.dims, sizes);
  }
  if (!value.sharding.empty())
    json["sharding"] = value.sharding;
  if (value.dims.empty())
    json["extents"] = extentsJson(value.extents);
  if (value.range)
    json["range"] = {value.range->first, value.range->second};
  if (value.tied)
    json["tied"] = *value.tied;
  if (value.exact)
    json["exact"] = true;
  if (value.rounding > 0)
    json["rounding"] = value.rounding;
  if (value.isSegmented)
    json["segmented"] = true;
  if (value.load)
    json["load"] = loadJson(*value.load, /*isFunctionWritten=*/true);
  if (value.slot)
    json["slot"] = slotJson(*value.slot);
  return json;
}

static Ordered valuesJson(const std::vector<ValueInfo> &values, const std::vector<SizeInfo> &sizes = {}) {
  Ordered json = Ordered::array();
  for (const ValueInfo &value : values)
    json.push_back(valueJson(value, sizes));
  return json;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static Ordered digitsJson(const std::vector<RankDigit> &digits) {
  Ordered json = Ordered::array();
  for (const RankDigit &digit : digits)
    json.push_back({digit.stride, digit.size});
  return json;
}

/// Members in_elements to spread: which elements move from where to where.
static void addMove(const CollectiveInfo &move, Ordered &json) {
  auto side = [](bool isRank) { return isRank ? "rank" : "local"; };
  json["in_elements"] = move.inElements;
  json["out_elements"] = move.outElements;
  json["atoms"] = Ordered::array();
  for (const Atom &atom : move.atoms)
    json["atoms"].push_back(
        {atom.size, side(atom.sourceIsRank), atom.sourceStride, side(atom.destinationIsRank), atom.destinationStride});
  if (!move.segments.empty()) {
    auto digits = [&](const std::vector<SegmentDigit> &list) {
      Ordered result = Ordered::array();
      for (const SegmentDigit &digit : list)
        result.push_back({digit.size, side(digit.isRank), digit.stride});
      return result;
    };
    json["segments"] = Ordered::array();
    for (const Segment &segment : move.segments) {
      Ordered entry = {segment.size, digits(segment.source), digits(segment.destination)};
      if (const auto &window = segment.window; window && window->added >= 0)
        entry.push_back({window->step, window->offset, window->added});
      else if (window)
        entry.push_back({window->step, window->offset});
      json["segments"].push_back(std::move(entry));
    }
  }
  if (!move.spread.empty())
    json["spread"] = digitsJson(move.spread);
}

static Ordered collectiveJson(const CollectiveInfo &collective) {
  Ordered json = {{"id", collective.id},
                  {"kind", collective.kind},
                  {"axes", collective.axes},
                  {"dtype", dtypeName(collective.dtype)}};
  if (collective.reduction != Reduction::None)
    json["reduction"] = reductionName(collective.reduction);
  addMove(collective, json);
  json["group"] = digitsJson(collective.group);
  if (!collective.sourceOrder.empty())
    json["source_order"] = collective.sourceOrder;
  if (!collective.destinationOrder.empty())
    json["destination_order"] = collective.destinationOrder;
  json["bytes"] = collective.bytes;
  if (collective.startGroup >= 0)
    json["start_group"] = collective.startGroup;
  json["loc"] = collective.loc;
  return json;
}

//===----------------------------------------------------------------------===//
// Functions and pipelines
//===----------------------------------------------------------------------===//

static Ordered probeJson(const ProbeInfo &probe) {
  Ordered json = valueJson(probe.value);
  json["producer"] = probe.producer;
  json["loc"] = probe.loc;
  if (probe.reduction != Reduction::None) {
    json["reduction"] = reductionName(probe.reduction);
    json["partial"] = digitsJson(probe.partial);
  }
  if (!probe.inputs.empty())
    json["inputs"] = probe.inputs;
  if (!probe.collectives.empty())
    json["collectives"] = probe.collectives;
  return json;
}

static void addBody(const FunctionInfo &function, Ordered &json) {
  json.update(entryJson(function.entry, function.sizes));
  json["arguments"] = valuesJson(function.arguments, function.sizes);
  json["results"] = valuesJson(function.results, function.sizes);
  for (const SizeInfo &size : function.sizes) {
    Ordered entry = {{"name", size.name}, {"argument", size.argument}, {"bound", {size.least, size.most}}};
    if (size.multiple != 1)
      entry["multiple"] = size.multiple;
    json["sizes"].push_back(std::move(entry));
  }
  json["collectives"] = Ordered::array();
  for (const CollectiveInfo &collective : function.collectives)
    json["collectives"].push_back(collectiveJson(collective));
}

static Ordered functionJson(const FunctionInfo &function, const Manifest &manifest) {
  Ordered json = {{"name", function.name}};
  if (!function.buckets.empty()) {
    for (const FunctionInfo &bucket : function.buckets)
      json["buckets"].push_back(functionJson(bucket, manifest));
    return json;
  }
  json["mesh"] = function.mesh < 0 ? Ordered() : Ordered(manifest.meshes[size_t(function.mesh)].name);
  json["devices"] = function.devices;
  addBody(function, json);
  if (function.reference)
    json["reference"] = referenceJson(function);
  if (function.unsharded) {
    json["unsharded"] = entryJson(*function.unsharded);
    json["unsharded"]["probes"] = Ordered::array();
    for (const ProbeInfo &probe : function.probes)
      json["unsharded"]["probes"].push_back(probeJson(probe));
  }
  return json;
}

static Ordered buffersJson(const std::vector<PipelineInfo::Buffer> &buffers) {
  Ordered json = Ordered::array();
  for (const PipelineInfo::Buffer &buffer : buffers)
    json.push_back({buffer.stage, buffer.index});
  return json;
}

/// An argument or result of the program, and the buffers that hold it.
static Ordered programValueJson(const ValueInfo &value, const std::vector<PipelineInfo::Buffer> &buffers) {
  Ordered json = {{"name", value.name}};
  if (value.kind != ValueKind::Result)
    json["kind"] = kindName(value.kind);
  json["dtype"] = dtypeName(value.dtype);
  json["global_shape"] = value.globalShape;
  if (value.range)
    json["range"] = {value.range->first, value.range->second};
  if (value.tied)
    json["tied"] = *value.tied;
  if (value.exact)
    json["exact"] = true;
  if (value.rounding > 0)
    json["rounding"] = value.rounding;
  json["buffers"] = buffersJson(buffers);
  return json;
}

static Ordered instructionJson(const PipelineInfo &pipeline, size_t stage, const Instruction &instruction) {
  switch (instruction.kind) {
  case Instruction::Kind::Run:
    return {"run", instruction.target, instruction.microbatch};
  case Instruction::Kind::Free:
    return {"free", instruction.target, instruction.microbatch};
  case Instruction::Kind::Transfer:
    break;
  }
  Ordered sends = Ordered::array(), receives = Ordered::array();
  for (auto [channel, microbatch] : instruction.transfers)
    (pipeline.channels[channel].fromStage == stage ? sends : receives).push_back({channel, microbatch});
  return {"transfer", instruction.target, std::move(sends), std::move(receives)};
}

static Ordered stageJson(const PipelineInfo &pipeline, size_t number, const Manifest &manifest) {
  const StageInfo &stage = pipeline.stages[number];
  Ordered json = {{"mesh", manifest.meshes[size_t(stage.held.mesh)].name},
                  {"devices", stage.ranks.size()},
                  {"ranks", stage.ranks},
                  {"arguments", valuesJson(stage.held.arguments)},
                  {"results", valuesJson(stage.held.results)}};
  json["values"] = Ordered::array();
  for (const StageValue &value : stage.values) {
    Ordered entry = {{"name", value.name}, {"dtype", dtypeName(value.dtype)}, {"local_shape", value.localShape}};
    if (value.init)
      entry["init"] = initName(*value.init);
    json["values"].push_back(std::move(entry));
  }
  json["instructions"] = Ordered::array();
  for (const Instruction &instruction : stage.instructions)
    json["instructions"].push_back(instructionJson(pipeline, number, instruction));
  return json;
}

static Ordered pipelineJson(const PipelineInfo &pipeline, const Manifest &manifest) {
  const FunctionInfo &signature = pipeline.signature;
  Ordered json = {{"name", signature.name},
                  {"schedule", pipeline.schedule},
                  {"microbatches", pipeline.microbatches},
                  {"devices", signature.devices}};
  json["arguments"] = Ordered::array();
  for (size_t i = 0; i < signature.arguments.size(); ++i)
    json["arguments"].push_back(programValueJson(signature.arguments[i], pipeline.argumentBuffers[i]));
  json["results"] = Ordered::array();
  for (size_t i = 0; i < signature.results.size(); ++i)
    json["results"].push_back(programValueJson(signature.results[i], pipeline.resultBuffers[i]));
  json["functions"] = Ordered::array();
  for (size_t f = 0; f < pipeline.functions.size(); ++f) {
    Ordered entry = {{"name", pipeline.functions[f].name}, {"stage", pipeline.stageOf[f]}};
    addBody(pipeline.functions[f], entry);
    json["functions"].push_back(std::move(entry));
  }
  json["stages"] = Ordered::array();
  for (size_t s = 0; s < pipeline.stages.size(); ++s)
    json["stages"].push_back(stageJson(pipeline, s, manifest));
  json["channels"] = Ordered::array();
  for (const ChannelInfo &channel : pipeline.channels) {
    Ordered entry = {{"from", {channel.fromStage, channel.fromValue}},
                     {"to", {channel.toStage, channel.toValue}},
                     {"dtype", dtypeName(channel.move.dtype)}};
    addMove(channel.move, entry);
    entry["bytes"] = channel.move.bytes;
    entry["loc"] = channel.move.loc;
    json["channels"].push_back(std::move(entry));
  }
  if (signature.reference)
    json["reference"] = referenceJson(signature);
  return json;
}

static Ordered fileJson(const FileInfo &file) {
  return {{"file", file.file}, {"bytes", file.bytes}, {"hash", file.hash}};
}

std::string manifestText(const Manifest &manifest) {
  Ordered json = {{"version", manifestVersion},
                  {"abi", SK_ABI_VERSION},
                  {"target", manifest.target},
                  {"producer", manifest.producer}};
  if (!manifest.chip.empty())
    json["chip"] = manifest.chip;
  json["meshes"] = Ordered::array();
  for (const MeshInfo &mesh : manifest.meshes) {
    Ordered axes = Ordered::array();
    for (const auto &[name, size] : mesh.axes)
      axes.push_back({name, size});
    Ordered entry = {{"name", mesh.name}, {"axes", axes}};
    bool isIota = true;
    for (size_t i = 0; i < mesh.deviceIds.size(); ++i)
      isIota &= mesh.deviceIds[i] == int64_t(i);
    if (!isIota)
      entry["device_ids"] = mesh.deviceIds;
    json["meshes"].push_back(std::move(entry));
  }
  json["programs"] = Ordered::array();
  for (const FileInfo &program : manifest.programs)
    json["programs"].push_back(fileJson(program));
  if (manifest.constants)
    json["constants"] = fileJson(*manifest.constants);
  json["functions"] = Ordered::array();
  for (const FunctionInfo &function : manifest.functions)
    json["functions"].push_back(functionJson(function, manifest));
  for (const PipelineInfo &pipeline : manifest.pipelines)
    json["pipelines"].push_back(pipelineJson(pipeline, manifest));
  return json.dump(1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

} // namespace shardkit::rt
