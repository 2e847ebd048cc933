//===- ManifestPipeline.cpp - The pipelines of a manifest -----------------===//

#include "CollectiveCheck.h"
#include "ManifestReader.h"

#include <algorithm>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

constexpr int64_t maxMicrobatches = 1 << 20;

std::string typeText(DType dtype, const Shape &shape) {
  return std::string(dtypeName(dtype)) + " " + shapeString(shape);
}

/// An index into a list of `count` entries.
size_t asIndex(const JsonAt &in, const Json &json, const char *what, size_t count) {
  int64_t index = in.asInteger(json, what);
  if (index < 0 || index >= int64_t(count))
    in.fail("'" + std::string(what) + "' is " + std::to_string(index) + ", expected less than " +
            std::to_string(count));
  return size_t(index);
}

/// Reads and validates a pipeline. Each step uses what the steps before have validated:
///
///   1. readStages: meshes, ranks, arguments, results and values of the stages.
///   2. readFunctions: the fragments, whose slots refer to buffers of their stage. For example,
///      ["argument", 0, 0] with 4 microbatches has a fourth of dim 0 of argument 0 of the stage.
///   3. readSignature: arguments and results of the program, which refer to buffers of stages.
///   4. readChannel: moves between values of two stages.
///   5. readInstructions: runs of fragments, transfers through channels, frees of values.
class PipelineReader {
public:
  PipelineReader(const JsonAt &in, const Manifest &manifest, PipelineInfo &pipeline)
      : in_(in), manifest_(manifest), pipeline_(pipeline) {}

  void read();

private:
  JsonAt atStage(const Json &json, size_t s) const {
    return JsonAt(json, in_.where() + ", stage " + std::to_string(s));
  }

  void readStages();
  StageValue readStageValue(const Json &json, const JsonAt &stage, size_t index);
  void readFunctions();

  /// Checks that a value of a function has the type of the buffer that it is.
  void checkSlot(const JsonAt &in, const ValueInfo &value, const StageInfo &stage, const std::vector<ValueInfo> &held,
                 const char *what);

  /// The arguments and results of the program, and the buffers of the stages that hold them.
  void readSignature();
  std::vector<PipelineInfo::Buffer> readBuffers(const JsonAt &in, bool isResult);
  void readGlobal(const JsonAt &in, ValueInfo &value);
  void checkBuffer(const JsonAt &in, const ValueInfo &value, const ValueInfo &held, size_t stage);
  void readChannel(const Json &json);
  void readInstructions(const Json &json, size_t s);
  int64_t asMicrobatch(const JsonAt &in, const Json &json) const;
  void readRun(const JsonAt &in, size_t s, Instruction &instruction);
  void readTransfer(const JsonAt &in, size_t s, Instruction &instruction);
  void readFree(const JsonAt &in, const StageInfo &stage, Instruction &instruction);

  const JsonAt &in_;
  const Manifest &manifest_;
  PipelineInfo &pipeline_;
  /// Arguments and results of stages that are buffers of the program.
  std::set<std::tuple<bool, size_t, size_t>> listed_;
};

void PipelineReader::read() {
  pipeline_.schedule = in_.stringOr("schedule", "");
  pipeline_.microbatches = in_.integer("microbatches");
  if (pipeline_.microbatches < 1 || pipeline_.microbatches > maxMicrobatches)
    in_.fail("'microbatches' is " + std::to_string(pipeline_.microbatches) + ", expected 1 to " +
             std::to_string(maxMicrobatches));
  readStages();
  readFunctions();
  readSignature();
  for (const Json &json : in_.array("channels"))
    readChannel(json);
  const Json &stages = in_.member("stages");
  for (size_t s = 0; s < stages.size(); ++s)
    readInstructions(stages[s], s);
  readReference(in_, pipeline_.signature, manifest_.programs.size());
}

void PipelineReader::readStages() {
  std::set<int64_t> meshes, ranks;
  int64_t devices = 0;
  for (const Json &json : in_.array("stages")) {
    JsonAt in = atStage(json, pipeline_.stages.size());
    in.expectObject();
    StageInfo &stage = pipeline_.stages.emplace_back();
    stage.held.name = pipeline_.signature.name;
    readPlacement(in, manifest_, stage.held);
    if (stage.held.mesh < 0)
      in.fail("'mesh' is missing");
    if (!meshes.insert(stage.held.mesh).second)
      in.fail("mesh '" + in.string("mesh") + "' is that of another stage too");
    stage.ranks = in.integers("ranks");
    if (int64_t(stage.ranks.size()) != stage.held.devices)
      in.fail("'ranks' has " + std::to_string(stage.ranks.size()) + " entries, expected " +
              std::to_string(stage.held.devices));
    for (int64_t rank : stage.ranks)
      if (!ranks.insert(rank).second)
        in.fail("rank " + std::to_string(rank) + " appears twice");
    devices += stage.held.devices;
    readValues(in, stage.held, manifest_.programs.size(), /*isSlotted=*/false);
    for (const Json &value : in.array("values"))
      stage.values.push_back(readStageValue(value, in, stage.values.size()));
  }
  if (devices == 0)
    in_.fail("'stages' is empty");
  pipeline_.signature.devices = in_.integer("devices");
  if (pipeline_.signature.devices != devices)
    in_.fail("'devices' is " + std::to_string(pipeline_.signature.devices) + ", expected those of all stages, " +
             std::to_string(devices));
  if (*ranks.begin() != 0 || *ranks.rbegin() != devices - 1)
    in_.fail("the ranks of all stages are not 0 to " + std::to_string(devices - 1));
  for (StageInfo &stage : pipeline_.stages)
    for (ValueInfo &argument : stage.held.arguments)
      if (argument.kind != ValueKind::Input &&
          !std::equal(stage.ranks.begin(), stage.ranks.end(), ranks.begin(), ranks.end()))
        argument.ranks = stage.ranks;
}

StageValue PipelineReader::readStageValue(const Json &json, const JsonAt &stage, size_t index) {
  JsonAt at(json, stage.where());
  at.expectObject();
  StageValue value;
  value.name = at.stringOr("name", "value" + std::to_string(index));
  JsonAt in(json, stage.where() + ", value '" + value.name + "'");
  value.dtype = readDType(in);
  readShape(in, "local_shape", value.localShape, value.localElements);
  if (!in.has("init"))
    return value;
  const std::string name = in.string("init");
  const std::optional<Init> init = parseInit(name);
  if (!init)
    in.fail("'init' is '" + name + "', expected one of zero one lowest highest all_ones");
  if ((*init == Init::AllOnes && isFloat(value.dtype)) || (*init != Init::Zero && isComplex(value.dtype)))
    in.fail("'init' is '" + name + "', which " + std::string(dtypeName(value.dtype)) + " does not have");
  value.init = init;
  value.isOfStep = true;
  return value;
}

void PipelineReader::readFunctions() {
  for (const Json &json : in_.array("functions")) {
    JsonAt at(json, in_.where() + ", function " + std::to_string(pipeline_.functions.size()));
    at.expectObject();
    const size_t s = asIndex(at, at.member("stage"), "stage", pipeline_.stages.size());
    StageInfo &stage = pipeline_.stages[s];
    FunctionInfo function = readFunction(at, manifest_, &stage.held);
    JsonAt in(json, "function '" + function.name + "'");
    for (const ValueInfo &value : function.arguments)
      checkSlot(JsonAt(json, in.where() + ", argument '" + value.name + "'"), value, stage, stage.held.arguments,
                "argument");
    std::set<std::pair<Slot::Kind, int64_t>> written;
    for (const ValueInfo &value : function.results) {
      JsonAt result(json, in.where() + ", result '" + value.name + "'");
      checkSlot(result, value, stage, stage.held.results, "result");
      if (!written.insert({value.slot->kind, value.slot->index}).second)
        result.fail("another result has the same slot");
    }
    stage.held.entry.arenaBytes = std::max(stage.held.entry.arenaBytes, function.entry.arenaBytes);
    pipeline_.functions.push_back(std::move(function));
    pipeline_.stageOf.push_back(s);
  }
}

void PipelineReader::checkSlot(const JsonAt &in, const ValueInfo &value, const StageInfo &stage,
                               const std::vector<ValueInfo> &held, const char *what) {
  const Slot &slot = *value.slot;
  const bool isValue = slot.isValue();
  const size_t count = isValue ? stage.values.size() : held.size();
  if (slot.index < 0 || slot.index >= int64_t(count))
    in.fail("'slot' names " + std::string(isValue ? "value " : what + std::string(" ")) + std::to_string(slot.index) +
            " of its stage, expected less than " + std::to_string(count));
  if (isValue && stage.values[size_t(slot.index)].init.has_value() != (slot.kind == Slot::Kind::Sum))
    in.fail("'slot' is a " + std::string(slot.kind == Slot::Kind::Sum ? "sum" : "value") + ", expected a " +
            (slot.kind == Slot::Kind::Sum ? "value: '" : "sum: '") + stage.values[size_t(slot.index)].name + "' has " +
            (slot.kind == Slot::Kind::Sum ? "no " : "an ") + "'init'");
  DType dtype = isValue ? stage.values[size_t(slot.index)].dtype : held[size_t(slot.index)].dtype;
  Shape shape = isValue ? stage.values[size_t(slot.index)].localShape : held[size_t(slot.index)].localShape;
  if (slot.isMicrobatch()) {
    if (slot.dim >= int64_t(shape.size()))
      in.fail("'slot' names dim " + std::to_string(slot.dim) + ", expected less than " + std::to_string(shape.size()));
    int64_t &size = shape[size_t(slot.dim)];
    if (size % pipeline_.microbatches != 0)
      in.fail("dim " + std::to_string(slot.dim) + " of the stage's " + what + " has local size " +
              std::to_string(size) + ", expected a multiple of the " + std::to_string(pipeline_.microbatches) +
              " microbatches");
    size /= pipeline_.microbatches;
  }
  if (dtype != value.dtype || shape != value.localShape)
    in.fail("it is " + typeText(value.dtype, value.localShape) + ", expected " + typeText(dtype, shape) +
            " as its slot");
}

void PipelineReader::readSignature() {
  std::set<std::string> names;
  for (const Json &json : in_.array("arguments")) {
    JsonAt at(json, in_.where());
    at.expectObject();
    const size_t index = pipeline_.signature.arguments.size();
    std::string name = at.stringOr("name", "arg" + std::to_string(index));
    JsonAt in(json, in_.where() + ", argument '" + name + "'");
    std::vector<PipelineInfo::Buffer> buffers = readBuffers(in, /*isResult=*/false);
    ValueInfo value;
    if (!buffers.empty()) // Else only the reference reads it.
      value = pipeline_.stages[buffers[0].stage].held.arguments[buffers[0].index];
    value.kind = readArgumentKind(in, in.stringOr("kind", "input"));
    value.name = name;
    if (name.empty())
      in.fail("the name is empty");
    if (value.kind == ValueKind::Input && !names.insert(name).second)
      in.fail("two inputs are named '" + name + "'");
    readGlobal(in, value);
    value.range = readRange(in, value.dtype);
    for (auto [s, i] : buffers) {
      ValueInfo &held = pipeline_.stages[s].held.arguments[i];
      checkBuffer(in, value, held, s);
      // Names and ranges of all buffers are those of the program.
      held.name = value.name;
      held.range = value.range;
    }
    pipeline_.signature.arguments.push_back(std::move(value));
    pipeline_.argumentBuffers.push_back(std::move(buffers));
  }
  names.clear();
  for (const Json &json : in_.array("results")) {
    JsonAt at(json, in_.where());
    at.expectObject();
    const size_t index = pipeline_.signature.results.size();
    std::string name = at.stringOr("name", "result" + std::to_string(index));
    JsonAt in(json, in_.where() + ", result '" + name + "'");
    std::vector<PipelineInfo::Buffer> buffers = readBuffers(in, /*isResult=*/true);
    ValueInfo value = pipeline_.stages[buffers[0].stage].held.results[buffers[0].index];
    value.name = name;
    if (name.empty() || !names.insert(name).second)
      in.fail("the name is empty or that of another result");
    readGlobal(in, value);
    value.exact = in.flag("exact");
    value.rounding = in.notNegative("rounding");
    value.tied = std::nullopt;
    if (in.has("tied")) {
      size_t tied = asIndex(in, in.member("tied"), "tied", pipeline_.signature.arguments.size());
      const ValueInfo &argument = pipeline_.signature.arguments[tied];
      if (argument.dtype != value.dtype || argument.globalShape != value.globalShape)
        in.fail("it is tied to argument '" + argument.name + "' of another type");
      value.tied = int64_t(tied);
    }
    for (auto [s, i] : buffers) {
      ValueInfo &held = pipeline_.stages[s].held.results[i];
      checkBuffer(in, value, held, s);
      held.name = value.name;
      held.exact = value.exact;
    }
    pipeline_.signature.results.push_back(std::move(value));
    pipeline_.resultBuffers.push_back(std::move(buffers));
  }
  for (size_t s = 0; s < pipeline_.stages.size(); ++s)
    for (bool isResult : {false, true}) {
      const FunctionInfo &held = pipeline_.stages[s].held;
      for (size_t i = 0; i < (isResult ? held.results : held.arguments).size(); ++i)
        if (!listed_.count({isResult, s, i}))
          in_.fail(std::string(isResult ? "result " : "argument ") + std::to_string(i) + " of stage " +
                   std::to_string(s) + " is in the 'buffers' of no " + (isResult ? "result" : "argument") +
                   " of the pipeline");
    }
}

std::vector<PipelineInfo::Buffer> PipelineReader::readBuffers(const JsonAt &in, bool isResult) {
  std::vector<PipelineInfo::Buffer> buffers;
  for (const Json &entry : in.array("buffers")) {
    if (!entry.is_array() || entry.size() != 2)
      in.fail("'buffers' has an entry that is not [stage, index]");
    size_t s = asIndex(in, entry[0], "buffers", pipeline_.stages.size());
    const FunctionInfo &held = pipeline_.stages[s].held;
    size_t i = asIndex(in, entry[1], "buffers", (isResult ? held.results : held.arguments).size());
    if (!listed_.insert({isResult, s, i}).second)
      in.fail(std::string(isResult ? "result " : "argument ") + std::to_string(i) + " of stage " + std::to_string(s) +
              " is in 'buffers' twice");
    buffers.push_back({s, i});
  }
  if (buffers.empty() && isResult)
    in.fail("'buffers' is empty");
  return buffers;
}

void PipelineReader::readGlobal(const JsonAt &in, ValueInfo &value) {
  value.dtype = readDType(in);
  readShape(in, "global_shape", value.globalShape, value.globalElements);
}

void PipelineReader::checkBuffer(const JsonAt &in, const ValueInfo &value, const ValueInfo &held, size_t stage) {
  if (held.kind != value.kind || held.dtype != value.dtype || held.globalShape != value.globalShape)
    in.fail("it is " + typeText(value.dtype, value.globalShape) + ", on stage " + std::to_string(stage) + " " +
            typeText(held.dtype, held.globalShape) + (held.kind != value.kind ? " of another kind" : "") +
            ", expected the same");
}

void PipelineReader::readChannel(const Json &json) {
  const size_t number = pipeline_.channels.size();
  JsonAt in(json, in_.where() + ", channel " + std::to_string(number));
  in.expectObject();
  ChannelInfo &channel = pipeline_.channels.emplace_back();
  auto readEnd = [&](const char *key, size_t &stage, size_t &value) {
    const Json &end = in.array(key);
    if (end.size() != 2)
      in.fail("'" + std::string(key) + "' is not [stage, value]");
    stage = asIndex(in, end[0], key, pipeline_.stages.size());
    value = asIndex(in, end[1], key, pipeline_.stages[stage].values.size());
  };
  readEnd("from", channel.fromStage, channel.fromValue);
  readEnd("to", channel.toStage, channel.toValue);
  if (channel.fromStage == channel.toStage)
    in.fail("'from' and 'to' are one stage, expected two");
  CollectiveInfo &move = channel.move;
  move.id = ChannelInfo::firstId + int64_t(number);
  move.kind = "transfer";
  move.dtype = readDType(in);
  readMove(in, move);
  const StageInfo &from = pipeline_.stages[channel.fromStage];
  const StageInfo &to = pipeline_.stages[channel.toStage];
  auto checkEnd = [&](const StageValue &value, const char *key, int64_t elements) {
    if (value.dtype != move.dtype || value.localElements != elements)
      in.fail("'" + std::string(key) + "' is value '" + value.name + "' of " + typeText(value.dtype, value.localShape) +
              ", expected " + std::to_string(elements) + " elements of " + dtypeName(move.dtype));
  };
  checkEnd(from.values[channel.fromValue], "from", move.inElements);
  checkEnd(to.values[channel.toValue], "to", move.outElements);
  Status status = validateMove(move, from.held.devices, to.held.devices);
  if (status.ok() && move.numOffsets() > 0)
    status = invalid("'segments' has offsets that are known at run time");
  if (!status.ok())
    in.fail(status.message());
}

void PipelineReader::readInstructions(const Json &json, size_t s) {
  JsonAt stage = atStage(json, s);
  StageInfo &info = pipeline_.stages[s];
  for (const Json &entry : stage.array("instructions")) {
    JsonAt in(entry, stage.where() + ", instruction " + std::to_string(info.instructions.size()));
    Instruction &instruction = info.instructions.emplace_back();
    const std::string kind =
        entry.is_array() && !entry.empty() && entry[0].is_string() ? entry[0].get<std::string>() : "";
    if (kind == "run" && entry.size() == 3)
      readRun(in, s, instruction);
    else if (kind == "transfer" && entry.size() == 4)
      readTransfer(in, s, instruction);
    else if (kind == "free" && entry.size() == 3)
      readFree(in, info, instruction);
    else
      in.fail("it is not [\"run\", function, microbatch], [\"transfer\", stage, sends, receives] or "
              "[\"free\", value, microbatch]");
  }
}

int64_t PipelineReader::asMicrobatch(const JsonAt &in, const Json &json) const {
  int64_t microbatch = in.asInteger(json, "microbatch");
  if (microbatch < -1 || microbatch >= pipeline_.microbatches)
    in.fail("microbatch " + std::to_string(microbatch) + ", expected -1 or less than " +
            std::to_string(pipeline_.microbatches));
  return microbatch;
}

void PipelineReader::readRun(const JsonAt &in, size_t s, Instruction &instruction) {
  instruction.kind = Instruction::Kind::Run;
  instruction.target = asIndex(in, in.json()[1], "run", pipeline_.functions.size());
  if (pipeline_.stageOf[instruction.target] != s)
    in.fail("'run' names function " + std::to_string(instruction.target) + " ('" +
            pipeline_.functions[instruction.target].name + "') of stage " +
            std::to_string(pipeline_.stageOf[instruction.target]) + ", expected one of this stage");
  instruction.microbatch = asMicrobatch(in, in.json()[2]);
  const FunctionInfo &function = pipeline_.functions[instruction.target];
  for (const auto *values : {&function.arguments, &function.results})
    for (const ValueInfo &value : *values)
      if (value.slot->isMicrobatch() && instruction.microbatch < 0)
        in.fail("function '" + function.name + "' runs once per step, but '" + value.name +
                "' is the slice of a microbatch");
}

void PipelineReader::readTransfer(const JsonAt &in, size_t s, Instruction &instruction) {
  instruction.kind = Instruction::Kind::Transfer;
  instruction.target = asIndex(in, in.json()[1], "transfer", pipeline_.stages.size());
  if (instruction.target == s)
    in.fail("stage " + std::to_string(s) + " transfers to itself, expected another stage");
  std::vector<std::pair<size_t, int64_t>> sides[2];
  for (bool isReceive : {false, true}) {
    const Json &list = in.json()[isReceive ? 3 : 2];
    if (!list.is_array())
      in.fail("the sends or receives are not a list");
    for (const Json &entry : list) {
      if (!entry.is_array() || entry.size() != 2)
        in.fail("a send or receive is not [channel, microbatch]");
      size_t number = asIndex(in, entry[0], "channel", pipeline_.channels.size());
      const ChannelInfo &channel = pipeline_.channels[number];
      const size_t from = isReceive ? instruction.target : s;
      const size_t to = isReceive ? s : instruction.target;
      if (channel.fromStage != from || channel.toStage != to)
        in.fail("channel " + std::to_string(number) + " is from stage " + std::to_string(channel.fromStage) +
                " to stage " + std::to_string(channel.toStage) + ", expected from " + std::to_string(from) + " to " +
                std::to_string(to));
      sides[isReceive].emplace_back(number, asMicrobatch(in, entry[1]));
    }
  }
  instruction.setTransfers(s, std::move(sides[0]), std::move(sides[1]));
  if (instruction.transfers.empty())
    in.fail("it has no sends and no receives");
}

void PipelineReader::readFree(const JsonAt &in, const StageInfo &stage, Instruction &instruction) {
  instruction.kind = Instruction::Kind::Free;
  instruction.target = asIndex(in, in.json()[1], "free", stage.values.size());
  instruction.microbatch = asMicrobatch(in, in.json()[2]);
}

} // namespace

PipelineInfo readPipeline(const JsonAt &at, const Manifest &manifest) {
  at.expectObject();
  PipelineInfo pipeline;
  pipeline.signature.name = at.string("name");
  JsonAt in(at.json(), "pipeline '" + pipeline.signature.name + "'");
  if (pipeline.signature.name.empty())
    in.fail("the name is empty");
  PipelineReader(in, manifest, pipeline).read();
  checkInstructions(in, pipeline);
  return pipeline;
}

} // namespace shardkit::rt
