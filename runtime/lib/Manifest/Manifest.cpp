//===- Manifest.cpp - A bundle's manifest, parsed and validated -----------===//

#include "shardkit/rt/Manifest/Manifest.h"

#include "shardkit/rt/Support/File.h"

#include "CollectiveCheck.h"
#include "ManifestReader.h"
#include "ManifestVersion1.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace shardkit::rt {

using Json = nlohmann::json;

int64_t MeshInfo::size() const {
  int64_t product = 1;
  for (const auto &axis : axes)
    product *= axis.second;
  return product;
}

int64_t FunctionInfo::referenceBytes(const ReferenceArgument &given) const {
  const ValueInfo &value = arguments[given.argument];
  if (given.source < 0)
    return value.globalBytes();
  const LoadSource &source = value.load->sources[size_t(given.source)];
  return source.elements * dtypeSize(source.dtype);
}

bool reductionApplies(Reduction reduction, DType dtype) {
  if (isComplex(dtype)) // Programs reduce its components.
    return false;
  switch (reduction) {
  case Reduction::And:
  case Reduction::Or:
  case Reduction::Xor:
  case Reduction::UMax:
  case Reduction::UMin:
    return !isFloat(dtype);
  case Reduction::MaxNum:
  case Reduction::MinNum:
    return isFloat(dtype);
  default:
    return true;
  }
}

void readMove(const JsonAt &in, CollectiveInfo &move) {
  move.inElements = in.integer("in_elements");
  move.outElements = in.integer("out_elements");
  if (move.inElements < 0 || move.outElements < 0)
    in.fail("'in_elements' and 'out_elements' are negative, expected counts");
  auto isRank = [&](const Json &json, const char *key) {
    if (json != "rank" && json != "local")
      in.fail("'" + std::string(key) + "' has a side that is neither 'local' nor 'rank'");
    return json == "rank";
  };
  for (const Json &entry : in.array("atoms")) {
    auto side = [&](const Json &json) { return isRank(json, "atoms"); };
    if (!entry.is_array() || entry.size() != 5)
      in.fail("'atoms' has an entry that is not [size, side, stride, side, "
              "stride]");
    move.atoms.push_back({in.asInteger(entry[0], "atoms"), side(entry[1]), in.asInteger(entry[2], "atoms"),
                          side(entry[3]), in.asInteger(entry[4], "atoms")});
  }
  if (in.has("segments"))
    for (const Json &entry : in.array("segments")) {
      auto digits = [&](const Json &json) {
        std::vector<SegmentDigit> result;
        if (!json.is_array())
          in.fail("'segments' has a side that is not a list of digits");
        for (const Json &digit : json) {
          if (!digit.is_array() || digit.size() != 3)
            in.fail("'segments' has a digit that is not [size, side, stride]");
          result.push_back(
              {in.asInteger(digit[0], "segments"), isRank(digit[1], "segments"), in.asInteger(digit[2], "segments")});
        }
        return result;
      };
      if (!entry.is_array() || entry.size() < 3 || entry.size() > 4)
        in.fail("'segments' has an entry that is not [size, digits, digits] or "
                "[size, digits, digits, window]");
      Segment &segment = move.segments.emplace_back();
      segment = {in.asInteger(entry[0], "segments"), digits(entry[1]), digits(entry[2])};
      if (entry.size() == 4) {
        const bool isAtRunTime = entry[3].is_array() && entry[3].size() == 3;
        std::vector<int64_t> v = in.asIntegers(entry[3], "segments", isAtRunTime ? 3 : 2);
        segment.window = {v[0], v[1], isAtRunTime ? v[2] : -1};
      }
    }
  if (in.has("spread"))
    for (const Json &entry : in.array("spread")) {
      std::vector<int64_t> v = in.asIntegers(entry, "spread", 2);
      move.spread.push_back({v[0], v[1]});
    }
  move.bytes = in.integerOr("bytes", 0);
  if (move.bytes < 0)
    in.fail("'bytes' is negative");
  move.loc = in.stringOr("loc", "");
}

namespace {

CollectiveInfo readCollective(const JsonAt &at, size_t index, int64_t devices) {
  at.expectObject();
  JsonAt in(at.json(), at.where() + ", collective " + std::to_string(index));
  CollectiveInfo collective;
  collective.id = in.integer("id");
  if (collective.id != int64_t(index))
    in.fail("'id' is " + std::to_string(collective.id) + ", expected " + std::to_string(index));
  collective.kind = in.string("kind");
  static const std::set<std::string> kinds = {"all_gather", "all_reduce",         "reduce_scatter", "all_to_all",
                                              "all_slice",  "collective_permute", "exchange",       "broadcast"};
  if (!kinds.count(collective.kind))
    in.fail("'kind' is '" + collective.kind + "', which this runtime lacks");
  in = JsonAt(at.json(), in.where() + " (" + collective.kind + ")");
  if (in.has("axes"))
    for (const Json &axis : in.array("axes")) {
      if (!axis.is_string())
        in.fail("'axes' has an entry that is not a string");
      collective.axes.push_back(axis.get<std::string>());
    }
  collective.dtype = readDType(in);
  bool reduces = collective.kind == "all_reduce" || collective.kind == "reduce_scatter";
  if (in.has("reduction")) {
    std::string name = in.string("reduction");
    std::optional<Reduction> reduction = parseReduction(name);
    if (!reduction)
      in.fail("'reduction' is '" + name +
              "', expected one of sum prod and or xor max min umax umin maxnum "
              "minnum");
    if (!reduces)
      in.fail("'reduction' stands on a collective that does not reduce");
    if (!reductionApplies(*reduction, collective.dtype))
      in.fail("'reduction' is '" + name + "', which " + dtypeName(collective.dtype) + " does not have");
    collective.reduction = *reduction;
  } else if (reduces) {
    in.fail("'reduction' is missing");
  }
  readMove(in, collective);
  for (const Json &entry : in.array("group")) {
    std::vector<int64_t> v = in.asIntegers(entry, "group", 2);
    collective.group.push_back({v[0], v[1]});
  }
  for (auto [key, order] :
       {std::pair("source_order", &collective.sourceOrder), {"destination_order", &collective.destinationOrder}}) {
    if (!in.has(key))
      continue;
    *order = in.integers(key);
    if (!isPermutation(*order, devices))
      in.fail("'" + std::string(key) + "' does not list the ranks 0 to " + std::to_string(devices - 1) + " once each");
    if (reduces)
      in.fail("'" + std::string(key) + "' is on a collective that reduces");
  }
  collective.startGroup = in.integerOr("start_group", -1);
  Status status = validateMove(collective, devices, devices);
  if (!status.ok())
    in.fail(status.message());
  if (collective.startGroup >= 0 && collective.numOffsets() > 0)
    in.fail("'start_group' is on a collective with offsets that are known at run time");
  Json extra = Json::object();
  static const std::set<std::string> known = {
      "id",       "kind",   "axes",  "dtype", "reduction",   "in_elements", "out_elements", "atoms",
      "segments", "spread", "group", "bytes", "start_group", "loc",         "source_order", "destination_order"};
  for (auto &[key, value] : at.json().items())
    if (!known.count(key))
      extra[key] = value;
  collective.extra = extra.dump();
  return collective;
}

} // namespace

void readPlacement(const JsonAt &in, const Manifest &manifest, FunctionInfo &function) {
  int64_t devices = 1;
  if (in.has("mesh")) {
    std::string mesh = in.string("mesh");
    for (size_t i = 0; i < manifest.meshes.size(); ++i)
      if (manifest.meshes[i].name == mesh)
        function.mesh = int64_t(i);
    if (function.mesh < 0)
      in.fail("'mesh' is '" + mesh + "', which 'meshes' does not list");
    devices = manifest.meshes[size_t(function.mesh)].size();
  }
  function.devices = in.integer("devices");
  if (function.devices != devices)
    in.fail("'devices' is " + std::to_string(function.devices) + ", expected the size of the mesh, " +
            std::to_string(devices));
}

void readValues(const JsonAt &in, FunctionInfo &function, size_t numPrograms, bool isSlotted) {
  std::set<std::string> names;
  for (const Json &json : in.array("arguments")) {
    ValueInfo value = readValue(JsonAt(json, in.where()), false, function.arguments.size(), function.devices, 0,
                                numPrograms, /*anyType=*/false, isSlotted, function.sizes);
    // Two arguments may read segments of one stored weight, not one input. Values of
    // pipelines are identified by their slots.
    if (!isSlotted && value.kind == ValueKind::Input && !names.insert(value.name).second)
      in.fail("two inputs are named '" + value.name + "'");
    function.arguments.push_back(std::move(value));
  }
  names.clear();
  for (const Json &json : in.array("results")) {
    ValueInfo value = readValue(JsonAt(json, in.where()), true, function.results.size(), function.devices,
                                function.arguments.size(), numPrograms,
                                /*anyType=*/false, isSlotted, function.sizes);
    if (!isSlotted && !names.insert(value.name).second)
      in.fail("two results are named '" + value.name + "'");
    if (value.tied) {
      const ValueInfo &argument = function.arguments[size_t(*value.tied)];
      if (argument.dtype != value.dtype || argument.dims.size() != value.dims.size() ||
          argument.globalShape != value.globalShape || argument.localShape != value.localShape)
        in.fail("result '" + value.name + "' is tied to argument '" + argument.name + "' of another type");
    }
    function.results.push_back(std::move(value));
  }
}

/// The sizes that only the run knows; the dims of values are of these.
static void readSizes(const JsonAt &in, FunctionInfo &function) {
  std::set<std::string> names;
  if (in.has("sizes"))
    for (const Json &json : in.array("sizes")) {
      JsonAt at(json, in.where() + ", size " + std::to_string(function.sizes.size()));
      at.expectObject();
      SizeInfo size;
      size.name = at.string("name");
      if (size.name.empty() || !names.insert(size.name).second)
        at.fail("the name '" + size.name + "' is empty or appears twice");
      size.argument = size_t(at.integer("argument"));
      std::vector<int64_t> bound = at.asIntegers(at.array("bound"), "bound", 2);
      size.least = bound[0];
      size.most = bound[1];
      size.multiple = at.integerOr("multiple", 1);
      if (size.least < 0 || size.least > size.most || size.most > SizeInfo::maxSize || size.multiple < 1)
        at.fail("'bound' or 'multiple' is out of range");
      function.sizes.push_back(std::move(size));
    }
}

/// Each size is an argument of its own.
static void checkSizes(const JsonAt &in, const FunctionInfo &function) {
  size_t sizeArguments = 0;
  for (const ValueInfo &value : function.arguments)
    sizeArguments += value.kind == ValueKind::Size;
  std::set<size_t> taken;
  for (const SizeInfo &size : function.sizes)
    if (size.argument >= function.arguments.size() || function.arguments[size.argument].kind != ValueKind::Size ||
        !taken.insert(size.argument).second)
      in.fail("size '" + size.name + "' has 'argument' " + std::to_string(int64_t(size.argument)) +
              ", expected an argument of kind 'size', of its own");
  if (sizeArguments != function.sizes.size())
    in.fail("'sizes' has " + std::to_string(function.sizes.size()) + " entries, expected " +
            std::to_string(sizeArguments) + ", the arguments of kind 'size'");
}

void readReference(const JsonAt &in, FunctionInfo &function, size_t numPrograms) {
  if (!in.has("reference"))
    return;
  const Json &json = in.member("reference");
  JsonAt reference(json, in.where() + ", reference");
  reference.expectObject();
  function.reference = readEntry(reference, numPrograms);
  readArena(reference, function.sizes, *function.reference);
  if (reference.has("arguments"))
    for (const Json &entry : reference.array("arguments")) {
      std::vector<int64_t> given = entry.is_array() ? reference.asIntegers(entry, "arguments", 2)
                                                    : reference.asIntegers(Json::array({entry, -1}), "arguments", 2);
      bool isSource = entry.is_array();
      if (given[0] < 0 || given[0] >= int64_t(function.arguments.size()))
        reference.fail("argument " + std::to_string(given[0]) + " is taken, expected less than " +
                       std::to_string(function.arguments.size()));
      const auto &load = function.arguments[size_t(given[0])].load;
      int64_t sources = load ? int64_t(load->sources.size()) : 0;
      if (isSource && (given[1] < 0 || given[1] >= sources))
        reference.fail("source " + std::to_string(given[1]) + " of argument " + std::to_string(given[0]) +
                       " is taken, expected less than " + std::to_string(sources));
      function.referenceArguments.push_back({size_t(given[0]), isSource ? given[1] : -1});
    }
  else
    for (size_t i = 0; i < function.arguments.size(); ++i)
      function.referenceArguments.push_back({i, -1});
}

static ProbeInfo readProbe(const JsonAt &at, const FunctionInfo &function, size_t numPrograms) {
  ProbeInfo probe;
  probe.value = readValue(at, /*isResult=*/true, function.probes.size(), function.devices, 0, numPrograms);
  JsonAt in(at.json(), at.where() + ", '" + probe.value.name + "'");
  if (!probe.value.dims.empty() || probe.value.tied)
    in.fail("the value has 'dims' or 'tied', expected neither");
  probe.producer = in.string("producer");
  probe.loc = in.stringOr("loc", "");
  if (in.has("reduction")) {
    const std::string name = in.string("reduction");
    std::optional<Reduction> reduction = parseReduction(name);
    if (!reduction || !reductionApplies(*reduction, probe.value.dtype))
      in.fail("'reduction' is '" + name + "', which " + dtypeName(probe.value.dtype) + " does not have");
    probe.reduction = *reduction;
    int64_t ranks = 1;
    for (const Json &entry : in.array("partial")) {
      std::vector<int64_t> v = in.asIntegers(entry, "partial", 2);
      if (v[0] < 1 || v[1] < 1 || __builtin_mul_overflow(ranks, v[1], &ranks) || ranks > function.devices ||
          v[0] > function.devices)
        in.fail("'partial' has digits that are not those of " + std::to_string(function.devices) + " devices");
      probe.partial.push_back({v[0], v[1]});
    }
  }
  if (in.has("inputs"))
    probe.inputs = in.integers("inputs");
  if (in.has("collectives"))
    probe.collectives = in.integers("collectives");
  for (int64_t id : probe.collectives)
    if (id < 0 || id >= int64_t(function.collectives.size()))
      in.fail("'collectives' has " + std::to_string(id) + ", expected less than " +
              std::to_string(function.collectives.size()));
  return probe;
}

/// The counterpart of the function, and the values that are compared with its own.
static void readUnsharded(const JsonAt &in, FunctionInfo &function, size_t numPrograms) {
  if (!in.has("unsharded"))
    return;
  JsonAt unsharded(in.member("unsharded"), in.where() + ", unsharded");
  unsharded.expectObject();
  if (!function.sizes.empty())
    unsharded.fail("the function has 'sizes', expected none");
  function.unsharded = readEntry(unsharded, numPrograms);
  for (const Json &json : unsharded.array("probes")) {
    JsonAt at(json, unsharded.where() + ", probe " + std::to_string(function.probes.size()));
    at.expectObject();
    function.probes.push_back(readProbe(at, function, numPrograms));
  }
  for (size_t i = 0; i < function.probes.size(); ++i)
    for (int64_t input : function.probes[i].inputs)
      if (input < 0 || input >= int64_t(function.probes.size()))
        unsharded.fail("probe " + std::to_string(i) + " has input " + std::to_string(input) + ", expected less than " +
                       std::to_string(function.probes.size()));
}

/// A function that has one program for each bucket of its sizes.
static FunctionInfo readBuckets(const JsonAt &in, const std::string &name, const Manifest &manifest) {
  std::vector<FunctionInfo> buckets;
  for (const Json &json : in.array("buckets")) {
    buckets.push_back(readFunction(JsonAt(json, in.where() + ", bucket"), manifest, /*stage=*/nullptr));
    if (buckets.back().sizes.empty())
      in.fail("bucket '" + buckets.back().name + "' has no sizes, expected some that only the run knows");
  }
  if (buckets.empty())
    in.fail("'buckets' is empty");
  Expected<FunctionInfo> joined = joinBuckets(name, std::move(buckets));
  if (!joined.ok())
    in.fail(joined.status().message());
  return std::move(*joined);
}

FunctionInfo readFunction(const JsonAt &at, const Manifest &manifest, const FunctionInfo *stage) {
  at.expectObject();
  FunctionInfo function;
  function.name = at.string("name");
  JsonAt in(at.json(), "function '" + function.name + "'");
  if (function.name.empty())
    in.fail("the name is empty");
  if (!stage && in.has("buckets"))
    return readBuckets(in, function.name, manifest);
  if (stage) {
    function.mesh = stage->mesh;
    function.devices = stage->devices;
  } else {
    readPlacement(in, manifest, function);
  }
  function.entry = readEntry(in, manifest.programs.size());
  readSizes(in, function);
  readValues(in, function, manifest.programs.size(), /*isSlotted=*/stage != nullptr);
  checkSizes(in, function);
  readArena(in, function.sizes, function.entry);
  if (in.has("collectives"))
    for (const Json &json : in.array("collectives"))
      function.collectives.push_back(
          readCollective(JsonAt(json, in.where()), function.collectives.size(), function.devices));
  // The collectives of a start group are consecutive.
  for (size_t i = 0; i < function.collectives.size(); ++i) {
    const int64_t group = function.collectives[i].startGroup;
    if (group != -1 && group != int64_t(i) && (i == 0 || group < 0 || function.collectives[i - 1].startGroup != group))
      in.fail("collective " + std::to_string(i) + " is in start group " + std::to_string(group) +
              ", expected its id or the start group of the collective before");
  }
  if (!stage) {
    readReference(in, function, manifest.programs.size());
    readUnsharded(in, function, manifest.programs.size());
  }
  return function;
}

namespace {

FileInfo readFile(const JsonAt &at, const std::string &what, const std::string &bundleDir) {
  at.expectObject();
  FileInfo file;
  file.file = at.string("file");
  JsonAt in(at.json(), what + " '" + file.file + "'");
  file.bytes = in.integerOr("bytes", -1);
  std::filesystem::path path(file.file);
  if (file.file.empty() || path.is_absolute() ||
      std::any_of(path.begin(), path.end(), [](const auto &name) { return name == ".."; }))
    in.fail("the path leaves the bundle");
  if (bundleDir.empty())
    return file;
  std::error_code error;
  std::filesystem::path full = std::filesystem::path(bundleDir) / path;
  if (const Status status = checkExists(full.string()); !status.ok())
    in.fail(status.code() == Code::NotFound ? "the file does not exist" : status.message());
  if (!std::filesystem::is_regular_file(full, error))
    in.fail("it is not a regular file");
  int64_t size = int64_t(std::filesystem::file_size(full, error));
  if (file.bytes >= 0 && size != file.bytes)
    in.fail("the file has " + std::to_string(size) + " bytes, expected " + std::to_string(file.bytes));
  return file;
}

/// An argument that is a constant needs the file of constants.
void checkConstants(const JsonAt &in, const Manifest &manifest) {
  auto check = [&](const FunctionInfo &function) {
    for (const ValueInfo &value : function.arguments)
      if (value.kind == ValueKind::Constant && !manifest.constants)
        in.fail("argument '" + value.name + "' is a constant, expected 'constants', the file that has it");
  };
  for (const FunctionInfo &function : manifest.functions)
    check(function);
  for (const PipelineInfo &pipeline : manifest.pipelines)
    check(pipeline.signature);
}

Manifest read(const Json &json, const std::string &bundleDir) {
  JsonAt in(json, "");
  in.expectObject();
  int64_t version = in.integer("version");
  if (version < 2 || version > manifestVersion)
    in.fail("manifest version " + std::to_string(version) + ", expected 1 to " + std::to_string(manifestVersion) +
            ", the versions that this runtime reads" + (version > manifestVersion ? "; update the runtime" : ""));
  int64_t abi = in.integer("abi");
  if (abi != SK_ABI_VERSION)
    in.fail("program ABI version " + std::to_string(abi) + ", this runtime has version " +
            std::to_string(SK_ABI_VERSION));
  Manifest manifest;
  manifest.target = in.string("target");
  if (manifest.target != "cpu" && manifest.target != "cuda")
    in.fail("'target' is '" + manifest.target + "', this runtime runs 'cpu' and 'cuda'");
  manifest.chip = manifest.target == "cuda" ? in.string("chip") : in.stringOr("chip", "");
  manifest.producer = in.stringOr("producer", "");
  std::set<std::string> names;
  for (const Json &entry : in.array("meshes")) {
    manifest.meshes.push_back(readMesh(JsonAt(entry, "'meshes'")));
    if (!names.insert(manifest.meshes.back().name).second)
      in.fail("two meshes are named '" + manifest.meshes.back().name + "'");
  }
  for (const Json &entry : in.array("programs"))
    manifest.programs.push_back(readFile(JsonAt(entry, "'programs'"), "program", bundleDir));
  if (in.has("constants"))
    manifest.constants = readFile(JsonAt(in.member("constants"), "'constants'"), "file of constants", bundleDir);
  names.clear();
  for (const Json &entry : in.array("functions")) {
    manifest.functions.push_back(readFunction(JsonAt(entry, "'functions'"), manifest, /*stage=*/nullptr));
    const std::string &name = manifest.functions.back().name;
    if (!names.insert(name).second)
      in.fail("two functions are named '" + name + "'");
  }
  if (in.has("pipelines"))
    for (const Json &entry : in.array("pipelines")) {
      manifest.pipelines.push_back(readPipeline(JsonAt(entry, "'pipelines'"), manifest));
      const PipelineInfo &pipeline = manifest.pipelines.back();
      const std::string &name = pipeline.signature.name;
      if (!names.insert(name).second)
        in.fail("pipeline '" + name + "' has the name of a function or another pipeline");
      for (const FunctionInfo &function : pipeline.functions)
        if (!names.insert(function.name).second)
          in.fail("two functions are named '" + function.name + "'");
    }
  if (manifest.functions.empty() && manifest.pipelines.empty())
    in.fail("'functions' is empty");
  checkConstants(in, manifest);
  return manifest;
}

} // namespace

Expected<Manifest> parseManifest(const std::string &text, const std::string &fileName, const std::string &bundleDir) {
  std::string version1;
  try {
    Json json = Json::parse(text);
    if (json.is_object() && json.value("version", Json()) == 1) {
      version1 = " (a manifest of version 1, read as version 2)";
      translateVersion1(json);
    }
    return read(json, bundleDir);
  } catch (const ManifestError &error) {
    return invalid(fileName + ": " + error.message + version1);
  } catch (const Json::parse_error &error) {
    return invalid(fileName + ": not valid JSON at byte " + std::to_string(error.byte));
  } catch (const std::exception &error) {
    return invalid(fileName + ": " + error.what() + version1);
  }
}

Expected<Manifest> readManifest(const std::string &bundleDir) {
  std::string path = bundleDir;
  if (!path.empty() && path.back() != '/')
    path += '/';
  path += "manifest.json";
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Status(errno == ENOENT || errno == ENOTDIR ? Code::NotFound : Code::IO,
                  path + ": cannot be read: " + std::strerror(errno) + "; expected a bundle directory");
  std::ostringstream text;
  text << stream.rdbuf();
  return parseManifest(text.str(), path, bundleDir);
}

} // namespace shardkit::rt
