//===- ManifestVersion1.cpp - Manifests of version 1 ----------------------===//
//
// Version 1 differs from version 2 in names of members, and in these ways:
//
// * The functions of pipelines are in the list `functions` of the manifest, with the name of
//   their pipeline (`part_of`) and of the mesh of their stage, and instructions count them
//   there. In version 2 they are in `functions` of the pipeline, with the index of the stage.
// * Slots are ["part", index, dim] where version 2 has ["argument" or "result", index, dim], and
//   ["value", index] also for values that accumulate, where version 2 has ["sum", index].
//
//===----------------------------------------------------------------------===//

#include "ManifestVersion1.h"

#include "ManifestReader.h"

#include <map>

namespace shardkit::rt {

using Json = nlohmann::json;

namespace {

void rename(Json &object, const char *from, const char *to) {
  if (!object.is_object() || !object.contains(from))
    return;
  Json value = std::move(object[from]);
  object.erase(from);
  object[to] = std::move(value);
}

/// Calls fn for the entries of a list that is a member of `object`.
template <typename Fn> void forEachEntry(Json &object, const char *key, Fn &&fn) {
  if (object.is_object() && object.contains(key) && object[key].is_array())
    for (Json &entry : object[key])
      fn(entry);
}

/// A member that is a string, else "".
std::string stringOf(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

void translateValue(Json &value) {
  rename(value, "part", "segmented");
  if (value.is_object() && value.contains("load")) {
    rename(value["load"], "whole", "full");
    rename(value["load"], "made", "computed");
  }
}

void translateFunction(Json &function) {
  for (const char *key : {"arguments", "results"})
    forEachEntry(function, key, translateValue);
  forEachEntry(function, "collectives", [](Json &collective) { rename(collective, "with", "start_group"); });
}

class PipelineTranslator {
public:
  explicit PipelineTranslator(Json &pipeline) : pipeline_(pipeline), name_(stringOf(pipeline, "name")) {
    forEachEntry(pipeline_, "stages", [&](Json &stage) { meshes_.push_back(stringOf(stage, "mesh")); });
  }

  /// Takes the functions of the pipeline out of `functions`.
  void run(const Json &functions) {
    Json own = Json::array();
    std::map<int64_t, size_t> indices; // By index in `functions`.
    for (size_t i = 0; i < functions.size(); ++i)
      if (functions[i].is_object() && stringOf(functions[i], "part_of") == name_) {
        indices[int64_t(i)] = own.size();
        own.push_back(functions[i]);
        translateFunctionOfStage(own.back());
      }
    pipeline_["functions"] = std::move(own);
    forEachEntry(pipeline_, "stages", [&](Json &stage) {
      translateFunction(stage);
      forEachEntry(stage, "instructions", [&](Json &instruction) { translateInstruction(instruction, indices); });
    });
    for (const char *key : {"arguments", "results"})
      forEachEntry(pipeline_, key, [](Json &value) { rename(value, "places", "buffers"); });
    rename(pipeline_, "transfers", "channels");
  }

private:
  void translateFunctionOfStage(Json &function) {
    size_t stage = 0;
    const std::string mesh = stringOf(function, "mesh");
    while (stage < meshes_.size() && meshes_[stage] != mesh)
      ++stage;
    if (stage == meshes_.size())
      throw ManifestError{"function '" + stringOf(function, "name") + "': its mesh is that of no stage of pipeline '" +
                          name_ + "'"};
    for (const char *key : {"part_of", "mesh", "devices"})
      function.erase(key);
    function["stage"] = stage;
    translateFunction(function);
    for (bool isResult : {false, true})
      forEachEntry(function, isResult ? "results" : "arguments", [&](Json &value) {
        if (value.is_object() && value.contains("slot"))
          translateSlot(value["slot"], pipeline_["stages"][stage], isResult);
      });
  }

  static void translateSlot(Json &slot, const Json &stage, bool isResult) {
    if (!slot.is_array() || slot.size() < 2 || !slot[0].is_string())
      return;
    if (slot[0] == "part" && slot.size() == 3) {
      slot[0] = isResult ? "result" : "argument";
    } else if (slot[0] == "value" && slot[1].is_number_integer() && stage.contains("values")) {
      const Json &values = stage["values"];
      const auto index = slot[1].get<int64_t>();
      if (values.is_array() && index >= 0 && index < int64_t(values.size()) && values[size_t(index)].contains("init"))
        slot[0] = "sum";
    }
  }

  void translateInstruction(Json &instruction, const std::map<int64_t, size_t> &indices) const {
    if (!instruction.is_array() || instruction.size() != 3 || instruction[0] != "run" ||
        !instruction[1].is_number_integer())
      return;
    auto it = indices.find(instruction[1].get<int64_t>());
    if (it == indices.end())
      throw ManifestError{"pipeline '" + name_ + "': 'run' names function " + instruction[1].dump() +
                          ", which is not a function of the pipeline"};
    instruction[1] = it->second;
  }

  Json &pipeline_;
  const std::string name_;
  std::vector<std::string> meshes_; ///< By stage.
};

} // namespace

void translateVersion1(Json &manifest) {
  manifest["version"] = 2;
  if (!manifest.contains("functions") || !manifest["functions"].is_array())
    return;
  Json functions = std::move(manifest["functions"]);
  std::map<std::string, bool> pipelines;
  forEachEntry(manifest, "pipelines", [&](Json &pipeline) {
    if (!pipeline.is_object())
      return;
    pipelines[stringOf(pipeline, "name")] = true;
    PipelineTranslator(pipeline).run(functions);
  });
  Json others = Json::array();
  for (Json &function : functions) {
    const std::string pipeline = function.is_object() ? stringOf(function, "part_of") : "";
    if (pipeline.empty()) {
      translateFunction(function);
      others.push_back(std::move(function));
    } else if (!pipelines.count(pipeline)) {
      throw ManifestError{"a function is 'part_of' '" + pipeline + "', which 'pipelines' does not list"};
    }
  }
  manifest["functions"] = std::move(others);
}

void translateWeightsVersion1(Json &manifest) {
  manifest["version"] = 2;
  forEachEntry(manifest, "weights", translateValue);
}

} // namespace shardkit::rt
