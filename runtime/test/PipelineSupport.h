//===- PipelineSupport.h - Pipelines written by hand ------------*- C++ -*-===//

#ifndef SHARDKIT_RUNTIME_TEST_PIPELINESUPPORT_H
#define SHARDKIT_RUNTIME_TEST_PIPELINESUPPORT_H

#include "Support.h"

#include "shardkit/rt/Manifest/Manifest.h"

#include <nlohmann/json.hpp>

namespace shardkit::rt::test {

/// A batch of 8 rows in two microbatches. Stage 0 has one device (rank 2), stage 1 has
/// two, whose ranks (1, 0) are not in order. h goes forward, g comes back, and stage 0
/// sums it up over the microbatches.
inline nlohmann::json unequalPipeline() {
  return nlohmann::json::parse(R"({
"version": 2, "abi": 1, "target": "cpu",
"meshes": [{"name": "a", "axes": [["i", 1]]}, {"name": "b", "axes": [["j", 2]]}],
"programs": [{"file": "programs/program.so"}],
"functions": [],
"pipelines": [{
  "name": "main", "schedule": "1f1b", "microbatches": 2, "devices": 3,
  "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "global_shape": [8, 4], "buffers": [[0, 0]]},
                {"name": "w", "kind": "weight", "dtype": "f32", "global_shape": [4, 4], "buffers": [[1, 0]]}],
  "results": [{"name": "y", "dtype": "f32", "global_shape": [8, 4], "buffers": [[1, 0]]},
              {"name": "total", "dtype": "f32", "global_shape": [4, 4], "buffers": [[0, 0]]}],
  "functions": [
    {"name": "forward0", "stage": 0, "program": 0, "symbol": "sk_forward0", "arena_bytes": 0,
     "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "global_shape": [4, 4], "local_shape": [4, 4],
                    "extents": {"offset": [], "loops": [[16, 1, 1]]}, "slot": ["argument", 0, 0]}],
     "results": [{"name": "h", "kind": "value", "dtype": "f32", "local_shape": [4, 4], "slot": ["value", 0]}]},
    {"name": "forward1", "stage": 1, "program": 0, "symbol": "sk_forward1", "arena_bytes": 64,
     "arguments": [{"name": "h", "kind": "value", "dtype": "f32", "local_shape": [2, 4], "slot": ["value", 0]},
                   {"name": "w", "kind": "weight", "dtype": "f32", "global_shape": [4, 4], "local_shape": [2, 4],
                    "extents": {"offset": [[1, 2, 8]], "loops": [[8, 1, 1]]}, "slot": ["argument", 0]}],
     "results": [{"name": "y", "dtype": "f32", "global_shape": [4, 4], "local_shape": [2, 4],
                  "extents": {"offset": [[1, 2, 8]], "loops": [[8, 1, 1]]}, "slot": ["result", 0, 0]},
                 {"name": "g", "kind": "value", "dtype": "f32", "local_shape": [2, 4], "slot": ["value", 1]}],
     "collectives": [{"id": 0, "kind": "all_reduce", "dtype": "f32", "reduction": "sum", "in_elements": 1, "out_elements": 1,
                      "atoms": [], "group": [[1, 2]], "bytes": 4, "loc": "m.mlir:2:1"}]},
    {"name": "backward0", "stage": 0, "program": 0, "symbol": "sk_backward0", "arena_bytes": 0,
     "arguments": [{"name": "sum", "kind": "value", "dtype": "f32", "local_shape": [4, 4], "slot": ["sum", 2]},
                   {"name": "g", "kind": "value", "dtype": "f32", "local_shape": [4, 4], "slot": ["value", 1]}],
     "results": [{"name": "sum", "kind": "value", "dtype": "f32", "local_shape": [4, 4], "slot": ["sum", 2]}]},
    {"name": "apply0", "stage": 0, "program": 0, "symbol": "sk_apply0", "arena_bytes": 0,
     "arguments": [{"name": "sum", "kind": "value", "dtype": "f32", "local_shape": [4, 4], "slot": ["sum", 2]}],
     "results": [{"name": "total", "dtype": "f32", "global_shape": [4, 4], "local_shape": [4, 4],
                  "extents": {"offset": [], "loops": [[16, 1, 1]]}, "slot": ["result", 0]}]}],
  "stages": [
    {"mesh": "a", "devices": 1, "ranks": [2],
     "arguments": [{"name": "x", "kind": "input", "dtype": "f32", "global_shape": [8, 4], "local_shape": [8, 4],
                    "extents": {"offset": [], "loops": [[32, 1, 1]]}}],
     "results": [{"name": "total", "dtype": "f32", "global_shape": [4, 4], "local_shape": [4, 4],
                  "extents": {"offset": [], "loops": [[16, 1, 1]]}}],
     "values": [{"name": "h", "dtype": "f32", "local_shape": [4, 4]},
                {"name": "g", "dtype": "f32", "local_shape": [4, 4]},
                {"name": "sum", "dtype": "f32", "local_shape": [4, 4], "init": "zero"}],
     "instructions": [["run", 0, 0], ["transfer", 1, [[0, 0]], []], ["run", 0, 1],
                      ["transfer", 1, [[0, 1]], [[1, 0]]], ["free", 0, 0], ["free", 0, 1],
                      ["run", 2, 0], ["free", 1, 0], ["transfer", 1, [], [[1, 1]]], ["run", 2, 1],
                      ["free", 1, 1], ["run", 3, -1]]},
    {"mesh": "b", "devices": 2, "ranks": [1, 0],
     "arguments": [{"name": "w", "kind": "weight", "dtype": "f32", "global_shape": [4, 4], "local_shape": [2, 4],
                    "extents": {"offset": [[1, 2, 8]], "loops": [[8, 1, 1]]}}],
     "results": [{"name": "y", "dtype": "f32", "global_shape": [8, 4], "local_shape": [4, 4],
                  "extents": {"offset": [[1, 2, 8]], "loops": [[2, 16, 8], [8, 1, 1]]}}],
     "values": [{"name": "h", "dtype": "f32", "local_shape": [2, 4]},
                {"name": "g", "dtype": "f32", "local_shape": [2, 4]}],
     "instructions": [["transfer", 0, [], [[0, 0]]], ["run", 1, 0], ["transfer", 0, [[1, 0]], [[0, 1]]],
                      ["run", 1, 1], ["free", 0, 0], ["free", 1, 0], ["transfer", 0, [[1, 1]], []]]}],
  "channels": [
    {"from": [0, 0], "to": [1, 0], "dtype": "f32", "in_elements": 16, "out_elements": 8,
     "atoms": [[2, "local", 8, "rank", 1], [8, "local", 1, "local", 1]], "bytes": 64, "loc": "m.mlir:3:1"},
    {"from": [1, 1], "to": [0, 1], "dtype": "f32", "in_elements": 8, "out_elements": 16,
     "atoms": [[2, "rank", 1, "local", 8], [8, "local", 1, "local", 1]], "bytes": 64, "loc": "m.mlir:4:1"}],
  "reference": {"program": 0, "symbol": "sk_ref_pipeline", "arena_bytes": 0}}]})");
}

/// x[2, 6] in three microbatches along dim 1 runs through four functions, of which each
/// of two stages has every other one.
inline nlohmann::json interleavedPipeline() {
  using Json = nlohmann::json;
  auto value = [](const char *name, int slot) -> Json {
    return {{"name", name},
            {"kind", "value"},
            {"dtype", "f32"},
            {"local_shape", {2, 2}},
            {"slot", Json::array({"value", slot})}};
  };
  auto full = [](const char *name, const char *kind, int columns) -> Json {
    return {{"name", name},
            {"kind", kind},
            {"dtype", "f32"},
            {"global_shape", {2, columns}},
            {"local_shape", {2, columns}},
            {"extents", {{"offset", Json::array()}, {"loops", {{2 * columns, 1, 1}}}}}};
  };
  auto slice = [&](const char *name, const char *kind) {
    Json json = full(name, kind, 2);
    json["slot"] = Json::array({std::string(kind) == "result" ? "result" : "argument", 0, 1});
    return json;
  };
  Json functions = Json::array(), channels = Json::array();
  const char *names[] = {"a", "b", "c", "d"};
  for (int f = 0; f < 4; ++f) {
    functions.push_back({{"name", names[f]},
                         {"stage", f % 2},
                         {"program", 0},
                         {"symbol", "s"},
                         {"arena_bytes", 0},
                         {"arguments", {f == 0 ? slice("x", "input") : value("v", f - 1)}},
                         {"results", {f == 3 ? slice("y", "result") : value("v", f)}}});
    if (f < 3)
      channels.push_back({{"from", {f % 2, f}},
                          {"to", {(f + 1) % 2, f}},
                          {"dtype", "f32"},
                          {"in_elements", 4},
                          {"out_elements", 4},
                          {"atoms", {Json::array({4, "local", 1, "local", 1})}}});
  }
  Json lists[2] = {Json::array(), Json::array()};
  for (int m = 0; m < 3; ++m)
    for (int f = 0; f < 4; ++f) {
      lists[f % 2].push_back({"run", f, m});
      if (f == 3)
        continue;
      lists[f % 2].push_back(Json::array({"transfer", (f + 1) % 2, {{f, m}}, Json::array()}));
      lists[(f + 1) % 2].push_back(Json::array({"transfer", f % 2, Json::array(), {{f, m}}}));
      lists[f % 2].push_back({"free", f, m});
    }
  const Json v = {{"dtype", "f32"}, {"local_shape", {2, 2}}};
  Json stages = Json::array();
  for (int s = 0; s < 2; ++s)
    stages.push_back({{"mesh", s ? "m1" : "m0"},
                      {"devices", 1},
                      {"ranks", {s}},
                      {"arguments", s ? Json::array() : Json::array({full("x", "input", 6)})},
                      {"results", s ? Json::array({full("y", "result", 6)}) : Json::array()},
                      {"values", {v, v, v}},
                      {"instructions", lists[s]}});
  return {{"version", 2},
          {"abi", 1},
          {"target", "cpu"},
          {"meshes",
           {{{"name", "m0"}, {"axes", Json::array({Json::array({"i", 1})})}},
            {{"name", "m1"}, {"axes", Json::array({Json::array({"i", 1})})}}}},
          {"programs", {{{"file", "p.so"}}}},
          {"functions", Json::array()},
          {"pipelines",
           {{{"name", "main"},
             {"microbatches", 3},
             {"devices", 2},
             {"arguments",
              {{{"name", "x"},
                {"kind", "input"},
                {"dtype", "f32"},
                {"global_shape", {2, 6}},
                {"buffers", Json::array({Json::array({0, 0})})}}}},
             {"results",
              {{{"name", "y"},
                {"dtype", "f32"},
                {"global_shape", {2, 6}},
                {"buffers", Json::array({Json::array({1, 0})})}}}},
             {"functions", functions},
             {"stages", stages},
             {"channels", channels}}}}};
}

/// Stages of one device in a row: the first makes a number, the last turns it around, and
/// all between forward it, there and back, for microbatch 0 or (-1) once per step.
inline nlohmann::json relayPipeline(int stages, int microbatch = 0) {
  using Json = nlohmann::json;
  const Json type = {{"dtype", "f32"}, {"local_shape", {1}}};
  auto value = [&](int slot) {
    Json json = type;
    json["kind"] = "value";
    json["slot"] = Json::array({"value", slot});
    return json;
  };
  Json y = {{"name", "y"},
            {"dtype", "f32"},
            {"global_shape", {1}},
            {"local_shape", {1}},
            {"extents", {{"offset", Json::array()}, {"loops", {{1, 1, 1}}}}}};
  Json slotted = y;
  slotted["slot"] = Json::array({"result", 0});
  Json m = Json::parse(
      R"({"version": 2, "abi": 1, "target": "cpu", "meshes": [], "programs": [{"file": "p.so"}],
    "functions": [], "pipelines": [{"name": "relay", "microbatches": 1, "arguments": [], "functions": [], "stages": [], "channels": [],
    "results": [{"name": "y", "dtype": "f32", "global_shape": [1], "buffers": [[0, 0]]}]}]})");
  auto function = [&](const char *name, int stage, const Json &arguments, const Json &results) {
    m["pipelines"][0]["functions"].push_back({{"name", name},
                                              {"stage", stage},
                                              {"program", 0},
                                              {"symbol", "s"},
                                              {"arena_bytes", 0},
                                              {"arguments", arguments},
                                              {"results", results}});
  };
  const int last = stages - 1;
  function("make", 0, Json::array(), Json::array({value(0)}));
  function("turn", last, Json::array({value(0)}), Json::array({value(1)}));
  function("end", 0, Json::array({value(1)}), Json::array({slotted}));
  Json &pipeline = m["pipelines"][0];
  pipeline["devices"] = stages;
  for (int s = 0; s < stages; ++s) {
    m["meshes"].push_back({{"name", "m" + std::to_string(s)}, {"axes", Json::array()}});
    // Channel 2 s goes from stage s to the next, 2 s + 1 comes back from there.
    Json list = Json::array();
    auto transfer = [&](int peer, int sent, int received) {
      auto one = [&](int t) { return t < 0 ? Json::array() : Json::array({Json::array({t, microbatch})}); };
      list.push_back(Json::array({"transfer", peer, one(sent), one(received)}));
    };
    if (s > 0)
      transfer(s - 1, -1, 2 * s - 2);
    if (s == 0 || s == last)
      list.push_back(Json::array({"run", s == 0 ? 0 : 1, microbatch}));
    if (s < last) {
      transfer(s + 1, 2 * s, -1);
      transfer(s + 1, -1, 2 * s + 1);
      for (int back : {0, 1}) {
        Json channel = {{"in_elements", 1}, {"out_elements", 1}, {"dtype", "f32"}};
        channel["from"] = {s + back, back};
        channel["to"] = {s + 1 - back, back};
        channel["atoms"] = Json::array();
        pipeline["channels"].push_back(channel);
      }
    }
    if (s > 0)
      transfer(s - 1, 2 * s - 1, -1);
    else
      list.push_back(Json::array({"run", 2, microbatch}));
    pipeline["stages"].push_back({{"mesh", "m" + std::to_string(s)},
                                  {"devices", 1},
                                  {"ranks", {s}},
                                  {"arguments", Json::array()},
                                  {"results", s ? Json::array() : Json::array({y})},
                                  {"values", {type, type}},
                                  {"instructions", list}});
  }
  return m;
}

/// One stage whose only function gives a value of the step back as it was initialised.
inline nlohmann::json onePipeline(const char *init, const char *dtype) {
  nlohmann::json json = nlohmann::json::parse(R"({
"version": 2, "abi": 1, "target": "cpu", "meshes": [{"name": "m", "axes": []}], "programs": [{"file": "p.so"}],
"functions": [],
"pipelines": [{"name": "main", "microbatches": 1, "devices": 1, "arguments": [],
   "functions": [{"name": "apply", "stage": 0, "program": 0, "symbol": "s", "arena_bytes": 0,
   "arguments": [{"kind": "value", "local_shape": [3], "slot": ["sum", 0]}],
   "results": [{"name": "y", "global_shape": [3], "local_shape": [3], "extents": {"offset": [], "loops": [[3, 1, 1]]},
                "slot": ["result", 0]}]}],
   "results": [{"name": "y", "global_shape": [3], "buffers": [[0, 0]]}],
   "stages": [{"mesh": "m", "devices": 1, "ranks": [0], "arguments": [],
     "results": [{"name": "y", "global_shape": [3], "local_shape": [3], "extents": {"offset": [], "loops": [[3, 1, 1]]}}],
     "values": [{"local_shape": [3]}], "instructions": [["run", 0, -1]]}],
   "channels": []}]})");
  nlohmann::json &pipeline = json["pipelines"][0], &function = pipeline["functions"][0];
  for (nlohmann::json *value : {&function["arguments"][0], &function["results"][0], &pipeline["results"][0],
                                &pipeline["stages"][0]["results"][0], &pipeline["stages"][0]["values"][0]})
    (*value)["dtype"] = dtype;
  pipeline["stages"][0]["values"][0]["init"] = init;
  return json;
}

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_PIPELINESUPPORT_H
