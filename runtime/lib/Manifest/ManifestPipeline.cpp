//===- ManifestPipeline.cpp - The pipelines of a manifest -----------------===//

#include "CollectiveCheck.h"
#include "ManifestReader.h"

#include <algorithm>
#include <map>
#include <set>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

constexpr int64_t maxMicrobatches = 1 << 20;

std::string typeText(DType dtype, const Shape &shape) {
  return std::string(dtypeName(dtype)) + " " + shapeString(shape);
}

/// An index into a list of `count` things.
size_t asIndex(const JsonAt &in, const Json &json, const char *what, size_t count) {
  int64_t index = in.asInteger(json, what);
  if (index < 0 || index >= int64_t(count))
    in.fail("'" + std::string(what) + "' is " + std::to_string(index) + ", expected less than " +
            std::to_string(count));
  return size_t(index);
}

class PipelineReader {
public:
  PipelineReader(const JsonAt &in, const Json &functions, const Manifest &manifest, PipelineInfo &pipeline)
      : in_(in), functions_(functions), manifest_(manifest), pipeline_(pipeline) {}

  void read() {
    pipeline_.schedule = in_.stringOr("schedule", "");
    pipeline_.microbatches = in_.integer("microbatches");
    if (pipeline_.microbatches < 1 || pipeline_.microbatches > maxMicrobatches)
      in_.fail("'microbatches' is " + std::to_string(pipeline_.microbatches) + ", expected 1 to " +
               std::to_string(maxMicrobatches));
    readStages();
    readFunctions();
    readPlaced();
    for (const Json &json : in_.array("transfers"))
      readTransfer(json);
    const Json &stages = in_.member("stages");
    for (size_t s = 0; s < stages.size(); ++s)
      readInstructions(stages[s], s);
    readReference(in_, pipeline_.whole, manifest_.programs.size());
  }

private:
  JsonAt atStage(const Json &json, size_t s) const {
    return JsonAt(json, in_.where() + ", stage " + std::to_string(s));
  }

  void readStages() {
    std::set<int64_t> meshes, ranks;
    int64_t devices = 0;
    for (const Json &json : in_.array("stages")) {
      JsonAt in = atStage(json, pipeline_.stages.size());
      in.expectObject();
      StageInfo &stage = pipeline_.stages.emplace_back();
      stage.held.name = pipeline_.whole.name;
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
    pipeline_.whole.devices = in_.integer("devices");
    if (pipeline_.whole.devices != devices)
      in_.fail("'devices' is " + std::to_string(pipeline_.whole.devices) + ", expected those of all stages, " +
               std::to_string(devices));
    if (*ranks.begin() != 0 || *ranks.rbegin() != devices - 1)
      in_.fail("the ranks of all stages are not 0 to " + std::to_string(devices - 1));
    for (StageInfo &stage : pipeline_.stages)
      for (ValueInfo &argument : stage.held.arguments)
        if (argument.kind == ValueKind::Weight &&
            !std::equal(stage.ranks.begin(), stage.ranks.end(), ranks.begin(), ranks.end()))
          argument.ranks = stage.ranks;
  }

  StageValue readStageValue(const Json &json, const JsonAt &stage, size_t index) {
    JsonAt at(json, stage.where());
    at.expectObject();
    StageValue value;
    value.name = at.stringOr("name", "value" + std::to_string(index));
    JsonAt in(json, stage.where() + ", value '" + value.name + "'");
    value.dtype = readDType(in);
    readShape(in, "local_shape", value.localShape, value.localElements);
    if (!in.has("init"))
      return value;
    static const std::map<std::string, Init> inits = {{"zero", Init::Zero},
                                                      {"one", Init::One},
                                                      {"lowest", Init::Lowest},
                                                      {"highest", Init::Highest},
                                                      {"all_ones", Init::AllOnes}};
    std::string name = in.string("init");
    auto init = inits.find(name);
    if (init == inits.end())
      in.fail("'init' is '" + name + "', expected one of zero one lowest highest all_ones");
    if ((init->second == Init::AllOnes && isFloat(value.dtype)) ||
        (init->second != Init::Zero && isComplex(value.dtype)))
      in.fail("'init' is '" + name + "', which " + std::string(dtypeName(value.dtype)) + " does not have");
    value.init = init->second;
    value.isOfStep = true;
    return value;
  }

  void readFunctions() {
    local_.assign(functions_.size(), SIZE_MAX);
    for (size_t i = 0; i < functions_.size(); ++i) {
      JsonAt at(functions_[i], "'functions'");
      if (!at.has("part_of") || at.string("part_of") != pipeline_.whole.name)
        continue;
      FunctionInfo function = readFunction(at, manifest_, /*isSlotted=*/true);
      JsonAt in(functions_[i], "function '" + function.name + "'");
      size_t s = 0;
      while (s < pipeline_.stages.size() && pipeline_.stages[s].held.mesh != function.mesh)
        ++s;
      if (s == pipeline_.stages.size())
        in.fail("its mesh is that of no stage of pipeline '" + pipeline_.whole.name + "'");
      StageInfo &stage = pipeline_.stages[s];
      for (const ValueInfo &value : function.arguments)
        checkSlot(JsonAt(functions_[i], in.where() + ", argument '" + value.name + "'"), value, stage,
                  stage.held.arguments, "argument");
      std::set<std::pair<Slot::Kind, int64_t>> written;
      for (const ValueInfo &value : function.results) {
        JsonAt result(functions_[i], in.where() + ", result '" + value.name + "'");
        checkSlot(result, value, stage, stage.held.results, "result");
        if (!written.insert({value.slot->kind, value.slot->index}).second)
          result.fail("another result has the same slot");
      }
      stage.held.entry.arenaBytes = std::max(stage.held.entry.arenaBytes, function.entry.arenaBytes);
      local_[i] = pipeline_.functions.size();
      pipeline_.functions.push_back(std::move(function));
      pipeline_.stageOf.push_back(s);
    }
  }

  /// That a value of a function has the type of the buffer that it is.
  void checkSlot(const JsonAt &in, const ValueInfo &value, const StageInfo &stage, const std::vector<ValueInfo> &held,
                 const char *what) {
    const Slot &slot = *value.slot;
    const bool isValue = slot.kind == Slot::Kind::Value;
    const size_t count = isValue ? stage.values.size() : held.size();
    if (slot.index < 0 || slot.index >= int64_t(count))
      in.fail("'slot' names " + std::string(isValue ? "value " : what + std::string(" ")) + std::to_string(slot.index) +
              " of its stage, expected less than " + std::to_string(count));
    DType dtype = isValue ? stage.values[size_t(slot.index)].dtype : held[size_t(slot.index)].dtype;
    Shape shape = isValue ? stage.values[size_t(slot.index)].localShape : held[size_t(slot.index)].localShape;
    if (slot.kind == Slot::Kind::Part) {
      if (slot.dim < 0 || slot.dim >= int64_t(shape.size()))
        in.fail("'slot' names dim " + std::to_string(slot.dim) + ", expected less than " +
                std::to_string(shape.size()));
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

  /// Arguments and results of the whole pipeline, and where the stages have them.
  void readPlaced() {
    std::set<std::string> names;
    for (const Json &json : in_.array("arguments")) {
      JsonAt at(json, in_.where());
      at.expectObject();
      const size_t index = pipeline_.whole.arguments.size();
      std::string name = at.stringOr("name", "arg" + std::to_string(index));
      JsonAt in(json, in_.where() + ", argument '" + name + "'");
      std::vector<PipelineInfo::Place> places = readPlaces(in, /*isResult=*/false);
      ValueInfo value;
      if (!places.empty()) // Else only the reference takes it.
        value = pipeline_.stages[places[0].stage].held.arguments[places[0].index];
      std::string kind = in.stringOr("kind", "input");
      if (kind != "input" && kind != "weight")
        in.fail("'kind' is '" + kind + "', expected 'input' or 'weight'");
      value.kind = kind == "weight" ? ValueKind::Weight : ValueKind::Input;
      value.name = name;
      if (name.empty())
        in.fail("the name is empty");
      if (value.kind == ValueKind::Input && !names.insert(name).second)
        in.fail("two inputs are named '" + name + "'");
      readGlobal(in, value);
      value.range = readRange(in, value.dtype);
      for (auto [s, i] : places) {
        ValueInfo &held = pipeline_.stages[s].held.arguments[i];
        checkPlaced(in, value, held, s);
        // Names and ranges are what users know it by, at every place.
        held.name = value.name;
        held.range = value.range;
      }
      pipeline_.whole.arguments.push_back(std::move(value));
      pipeline_.argumentPlaces.push_back(std::move(places));
    }
    names.clear();
    for (const Json &json : in_.array("results")) {
      JsonAt at(json, in_.where());
      at.expectObject();
      const size_t index = pipeline_.whole.results.size();
      std::string name = at.stringOr("name", "result" + std::to_string(index));
      JsonAt in(json, in_.where() + ", result '" + name + "'");
      std::vector<PipelineInfo::Place> places = readPlaces(in, /*isResult=*/true);
      ValueInfo value = pipeline_.stages[places[0].stage].held.results[places[0].index];
      value.name = name;
      if (name.empty() || !names.insert(name).second)
        in.fail("the name is empty or that of another result");
      readGlobal(in, value);
      value.exact = false;
      if (in.has("exact")) {
        if (!in.member("exact").is_boolean())
          in.fail("'exact' is not a boolean");
        value.exact = in.member("exact").get<bool>();
      }
      value.tied = std::nullopt;
      if (in.has("tied")) {
        size_t tied = asIndex(in, in.member("tied"), "tied", pipeline_.whole.arguments.size());
        const ValueInfo &argument = pipeline_.whole.arguments[tied];
        if (argument.dtype != value.dtype || argument.globalShape != value.globalShape)
          in.fail("it is tied to argument '" + argument.name + "' of another type");
        value.tied = int64_t(tied);
      }
      for (auto [s, i] : places) {
        ValueInfo &held = pipeline_.stages[s].held.results[i];
        checkPlaced(in, value, held, s);
        held.name = value.name;
        held.exact = value.exact;
      }
      pipeline_.whole.results.push_back(std::move(value));
      pipeline_.resultPlaces.push_back(std::move(places));
    }
    for (size_t s = 0; s < pipeline_.stages.size(); ++s)
      for (bool isResult : {false, true}) {
        const FunctionInfo &held = pipeline_.stages[s].held;
        for (size_t i = 0; i < (isResult ? held.results : held.arguments).size(); ++i)
          if (!placed_.count({isResult, s, i}))
            in_.fail(std::string(isResult ? "result " : "argument ") + std::to_string(i) + " of stage " +
                     std::to_string(s) + " is at no place of a" + (isResult ? " result" : "n argument") +
                     " of the pipeline");
      }
  }

  std::vector<PipelineInfo::Place> readPlaces(const JsonAt &in, bool isResult) {
    std::vector<PipelineInfo::Place> places;
    for (const Json &entry : in.array("places")) {
      if (!entry.is_array() || entry.size() != 2)
        in.fail("'places' has an entry that is not [stage, index]");
      size_t s = asIndex(in, entry[0], "places", pipeline_.stages.size());
      const FunctionInfo &held = pipeline_.stages[s].held;
      size_t i = asIndex(in, entry[1], "places", (isResult ? held.results : held.arguments).size());
      if (!placed_.insert({isResult, s, i}).second)
        in.fail(std::string(isResult ? "result " : "argument ") + std::to_string(i) + " of stage " + std::to_string(s) +
                " is at two places");
      places.push_back({s, i});
    }
    if (places.empty() && isResult)
      in.fail("'places' is empty");
    return places;
  }

  void readGlobal(const JsonAt &in, ValueInfo &value) {
    value.dtype = readDType(in);
    readShape(in, "global_shape", value.globalShape, value.globalElements);
  }

  void checkPlaced(const JsonAt &in, const ValueInfo &value, const ValueInfo &held, size_t stage) {
    if (held.kind != value.kind || held.dtype != value.dtype || held.globalShape != value.globalShape)
      in.fail("it is " + typeText(value.dtype, value.globalShape) + ", on stage " + std::to_string(stage) + " " +
              typeText(held.dtype, held.globalShape) + (held.kind != value.kind ? " of another kind" : "") +
              ", expected the same");
  }

  void readTransfer(const Json &json) {
    const size_t number = pipeline_.transfers.size();
    JsonAt in(json, in_.where() + ", transfer " + std::to_string(number));
    in.expectObject();
    TransferInfo &transfer = pipeline_.transfers.emplace_back();
    auto readEnd = [&](const char *key, size_t &stage, size_t &value) {
      const Json &end = in.array(key);
      if (end.size() != 2)
        in.fail("'" + std::string(key) + "' is not [stage, value]");
      stage = asIndex(in, end[0], key, pipeline_.stages.size());
      value = asIndex(in, end[1], key, pipeline_.stages[stage].values.size());
    };
    readEnd("from", transfer.fromStage, transfer.fromValue);
    readEnd("to", transfer.toStage, transfer.toValue);
    if (transfer.fromStage == transfer.toStage)
      in.fail("'from' and 'to' are one stage, expected two");
    CollectiveInfo &move = transfer.move;
    move.id = TransferInfo::transferId + int64_t(number);
    move.kind = "transfer";
    move.dtype = readDType(in);
    readMove(in, move);
    const StageInfo &from = pipeline_.stages[transfer.fromStage];
    const StageInfo &to = pipeline_.stages[transfer.toStage];
    auto checkEnd = [&](const StageValue &value, const char *key, int64_t elements) {
      if (value.dtype != move.dtype || value.localElements != elements)
        in.fail("'" + std::string(key) + "' is value '" + value.name + "' of " +
                typeText(value.dtype, value.localShape) + ", expected " + std::to_string(elements) + " elements of " +
                dtypeName(move.dtype));
    };
    checkEnd(from.values[transfer.fromValue], "from", move.inElements);
    checkEnd(to.values[transfer.toValue], "to", move.outElements);
    Status status = validateMove(move, from.held.devices, to.held.devices);
    if (!status.ok())
      in.fail(status.message());
  }

  void readInstructions(const Json &json, size_t s) {
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
        readMeeting(in, s, instruction);
      else if (kind == "free" && entry.size() == 3)
        readFree(in, info, instruction);
      else
        in.fail("it is no [\"run\", function, microbatch], [\"transfer\", stage, sends, receives] or "
                "[\"free\", value, microbatch]");
    }
  }

  int64_t asMicrobatch(const JsonAt &in, const Json &json) const {
    int64_t microbatch = in.asInteger(json, "microbatch");
    if (microbatch < -1 || microbatch >= pipeline_.microbatches)
      in.fail("microbatch " + std::to_string(microbatch) + ", expected -1 or less than " +
              std::to_string(pipeline_.microbatches));
    return microbatch;
  }

  void readRun(const JsonAt &in, size_t s, Instruction &instruction) {
    instruction.kind = Instruction::Kind::Run;
    size_t number = asIndex(in, in.json()[1], "run", functions_.size());
    instruction.target = local_[number];
    if (instruction.target == SIZE_MAX || pipeline_.stageOf[instruction.target] != s)
      in.fail("'run' names function " + std::to_string(number) + " ('" +
              functions_[number].at("name").get<std::string>() + "'), which is none of this stage");
    instruction.microbatch = asMicrobatch(in, in.json()[2]);
    const FunctionInfo &function = pipeline_.functions[instruction.target];
    for (const auto *values : {&function.arguments, &function.results})
      for (const ValueInfo &value : *values)
        if (value.slot->kind == Slot::Kind::Part && instruction.microbatch < 0)
          in.fail("function '" + function.name + "' runs once per step, but '" + value.name +
                  "' is the part of a microbatch");
  }

  void readMeeting(const JsonAt &in, size_t s, Instruction &instruction) {
    instruction.kind = Instruction::Kind::Transfer;
    instruction.target = asIndex(in, in.json()[1], "transfer", pipeline_.stages.size());
    if (instruction.target == s)
      in.fail("stage " + std::to_string(s) + " meets itself, expected another");
    std::vector<std::pair<size_t, int64_t>> sides[2];
    for (bool isReceive : {false, true}) {
      const Json &list = in.json()[isReceive ? 3 : 2];
      if (!list.is_array())
        in.fail("what is sent or received is no list");
      for (const Json &entry : list) {
        if (!entry.is_array() || entry.size() != 2)
          in.fail("a transfer is not [transfer, microbatch]");
        size_t number = asIndex(in, entry[0], "transfer", pipeline_.transfers.size());
        const TransferInfo &transfer = pipeline_.transfers[number];
        const size_t from = isReceive ? instruction.target : s;
        const size_t to = isReceive ? s : instruction.target;
        if (transfer.fromStage != from || transfer.toStage != to)
          in.fail("transfer " + std::to_string(number) + " is from stage " + std::to_string(transfer.fromStage) +
                  " to stage " + std::to_string(transfer.toStage) + ", expected from " + std::to_string(from) + " to " +
                  std::to_string(to));
        sides[isReceive].emplace_back(number, asMicrobatch(in, entry[1]));
      }
    }
    auto &first = sides[s < instruction.target ? 0 : 1], &second = sides[s < instruction.target];
    instruction.transfers = std::move(first);
    instruction.transfers.insert(instruction.transfers.end(), second.begin(), second.end());
    if (instruction.transfers.empty())
      in.fail("nothing is sent and nothing received");
  }

  void readFree(const JsonAt &in, const StageInfo &stage, Instruction &instruction) {
    instruction.kind = Instruction::Kind::Free;
    instruction.target = asIndex(in, in.json()[1], "free", stage.values.size());
    instruction.microbatch = asMicrobatch(in, in.json()[2]);
  }

  const JsonAt &in_;
  const Json &functions_;
  const Manifest &manifest_;
  PipelineInfo &pipeline_;
  std::vector<size_t> local_; ///< Of each function of the manifest, its number here.
  std::set<std::tuple<bool, size_t, size_t>> placed_;
};

} // namespace

PipelineInfo readPipeline(const JsonAt &at, const Json &functions, const Manifest &manifest) {
  at.expectObject();
  PipelineInfo pipeline;
  pipeline.whole.name = at.string("name");
  JsonAt in(at.json(), "pipeline '" + pipeline.whole.name + "'");
  if (pipeline.whole.name.empty())
    in.fail("the name is empty");
  PipelineReader(in, functions, manifest, pipeline).read();
  checkInstructions(in, pipeline);
  return pipeline;
}

} // namespace shardkit::rt
