//===- PipelineManifestTest.cpp - Every way a pipeline can be wrong -------===//

#include "PipelineSupport.h"

#include <functional>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

Json &pipeline(Json &m) { return m["pipelines"][0]; }
Json &stage(Json &m, int s) { return pipeline(m)["stages"][size_t(s)]; }
Json &list(Json &m, int s) { return stage(m, s)["instructions"]; }
Json &channel(Json &m) { return pipeline(m)["channels"][0]; }
Json &forward0(Json &m) { return pipeline(m)["functions"][0]; }
Json &forward1(Json &m) { return pipeline(m)["functions"][1]; }
Json &backward0(Json &m) { return pipeline(m)["functions"][2]; }

/// forward1 makes all of y, which takes the place of w.
void updateInPlace(Json &m) {
  forward1(m)["results"][0]["slot"] = {"result", 0};
  Json y = forward1(m)["results"][0];
  y.erase("slot");
  y["tied"] = 0;
  stage(m, 1)["results"] = {y};
  pipeline(m)["results"][0]["global_shape"] = {4, 4};
  pipeline(m)["results"][0]["tied"] = 1;
}

struct InvalidPipeline {
  const char *name;
  std::function<void(Json &)> change;
  const char *message;
};

const InvalidPipeline invalidPipelines[] = {
    // The pipeline.
    {"noName", [](Json &m) { pipeline(m)["name"] = ""; }, "pipeline '': the name is empty"},
    {"nameOfAFunction",
     [](Json &m) {
       Json function = forward0(m);
       function["name"] = "main";
       function["mesh"] = "a";
       function["devices"] = 1;
       function["results"] = Json::array();
       m["functions"].push_back(function);
     },
     "pipeline 'main' has the name of a function or another pipeline"},
    {"noPipelines", [](Json &m) { m["pipelines"] = Json::array(); }, "'functions' is empty"},
    {"functionTwice", [](Json &m) { forward1(m)["name"] = "forward0"; }, "two functions are named 'forward0'"},
    {"microbatches", [](Json &m) { pipeline(m)["microbatches"] = 0; },
     "pipeline 'main': 'microbatches' is 0, expected 1 to 1048576"},
    {"devices", [](Json &m) { pipeline(m)["devices"] = 4; }, "'devices' is 4, expected those of all stages, 3"},
    {"noStages", [](Json &m) { pipeline(m)["stages"] = Json::array(); }, "'stages' is empty"},
    // Stages.
    {"stageMesh", [](Json &m) { stage(m, 1)["mesh"] = "c"; },
     "pipeline 'main', stage 1: 'mesh' is 'c', which 'meshes' does not list"},
    {"stageNoMesh", [](Json &m) { stage(m, 0).erase("mesh"); }, "stage 0: 'mesh' is missing"},
    {"stageMeshTwice",
     [](Json &m) {
       stage(m, 1)["mesh"] = "a";
       stage(m, 1)["devices"] = 1;
     },
     "stage 1: mesh 'a' is that of another stage too"},
    {"stageDevices", [](Json &m) { stage(m, 1)["devices"] = 3; },
     "stage 1: 'devices' is 3, expected the size of the mesh, 2"},
    {"ranksCount", [](Json &m) { stage(m, 1)["ranks"] = {0}; }, "stage 1: 'ranks' has 1 entries, expected 2"},
    {"ranksTwice", [](Json &m) { stage(m, 1)["ranks"] = {0, 2}; }, "stage 1: rank 2 appears twice"},
    {"ranksGap", [](Json &m) { stage(m, 1)["ranks"] = {0, 3}; }, "the ranks of all stages are not 0 to 2"},
    {"stageArgument", [](Json &m) { stage(m, 0)["arguments"][0]["extents"]["loops"][0][0] = 31; },
     "stage 0, argument 'x': extents do not write every one of the 32 local elements"},
    {"valueDType", [](Json &m) { stage(m, 0)["values"][0]["dtype"] = "f31"; }, "stage 0, value 'h': 'dtype' is 'f31'"},
    {"valueShape", [](Json &m) { stage(m, 0)["values"][0]["local_shape"] = {-1}; },
     "value 'h': 'local_shape' has a negative size"},
    {"valueInit", [](Json &m) { stage(m, 0)["values"][2]["init"] = "two"; },
     "value 'sum': 'init' is 'two', expected one of zero one lowest highest all_ones"},
    {"valueInitFloat", [](Json &m) { stage(m, 0)["values"][2]["init"] = "all_ones"; },
     "value 'sum': 'init' is 'all_ones', which f32 does not have"},
    {"valueInitComplex",
     [](Json &m) {
       stage(m, 0)["values"][2]["dtype"] = "c128";
       stage(m, 0)["values"][2]["init"] = "one";
     },
     "value 'sum': 'init' is 'one', which c128 does not have"},
    // Functions.
    {"functionStage", [](Json &m) { forward0(m)["stage"] = 2; },
     "pipeline 'main', function 0: 'stage' is 2, expected less than 2"},
    {"functionStageMissing", [](Json &m) { forward0(m).erase("stage"); },
     "pipeline 'main', function 0: 'stage' is missing"},
    {"slotMissing", [](Json &m) { forward0(m)["arguments"][0].erase("slot"); },
     "function 'forward0', argument 'x': 'slot' is missing"},
    {"slotKind", [](Json &m) { forward0(m)["arguments"][0]["slot"] = {"result", 0}; },
     "argument 'x': 'slot' is [\"result\",0], expected [\"argument\", index], "
     "[\"argument\", index, dim], [\"value\", index] or [\"sum\", index]"},
    {"slotPart", [](Json &m) { forward0(m)["arguments"][0]["slot"] = {"part", 0, 0}; },
     "'slot' is [\"part\",0,0], expected"},
    {"slotNegative", [](Json &m) { forward0(m)["arguments"][0]["slot"][2] = -1; },
     "'slot' names dim -1, expected 0 or more"},
    {"slotOfSum", [](Json &m) { backward0(m)["results"][0]["slot"][0] = "value"; },
     "'slot' is a value, expected a sum: 'sum' has an 'init'"},
    {"slotOfValue", [](Json &m) { forward0(m)["results"][0]["slot"][0] = "sum"; },
     "'slot' is a sum, expected a value: 'h' has no 'init'"},
    {"slotArgument", [](Json &m) { forward0(m)["arguments"][0]["slot"][1] = 1; },
     "argument 'x': 'slot' names argument 1 of its stage, expected less than 1"},
    {"slotValue", [](Json &m) { forward0(m)["results"][0]["slot"][1] = 3; },
     "result 'h': 'slot' names value 3 of its stage, expected less than 3"},
    {"slotDim", [](Json &m) { forward0(m)["arguments"][0]["slot"][2] = 2; },
     "'slot' names dim 2, expected less than 2"},
    {"slotMicrobatches", [](Json &m) { pipeline(m)["microbatches"] = 3; },
     "dim 0 of the stage's argument has local size 8, expected a multiple of the 3 microbatches"},
    {"slotShape", [](Json &m) { forward0(m)["arguments"][0]["slot"] = {"argument", 0}; },
     "argument 'x': it is f32 4x4, expected f32 8x4 as its slot"},
    {"slotDType", [](Json &m) { forward0(m)["results"][0]["dtype"] = "i32"; },
     "result 'h': it is i32 4x4, expected f32 4x4 as its slot"},
    {"slotTwice", [](Json &m) { forward1(m)["results"].push_back(forward1(m)["results"][1]); },
     "function 'forward1', result 'g': another result has the same slot"},
    {"valueKind", [](Json &m) { forward0(m)["results"][0]["kind"] = "input"; },
     "result 'h': 'kind' is 'input', expected 'value'"},
    {"tied", [](Json &m) { backward0(m)["results"][0]["tied"] = 2; },
     "function 'backward0', result 'sum': 'tied' is 2, expected less than 2"},
    // Arguments and results.
    {"buffers", [](Json &m) { pipeline(m)["results"][0]["buffers"] = Json::array(); },
     "pipeline 'main', result 'y': 'buffers' is empty"},
    {"buffersStage", [](Json &m) { pipeline(m)["arguments"][0]["buffers"][0][0] = 2; },
     "argument 'x': 'buffers' is 2, expected less than 2"},
    {"buffersIndex", [](Json &m) { pipeline(m)["results"][0]["buffers"][0][1] = 1; },
     "result 'y': 'buffers' is 1, expected less than 1"},
    {"buffersTwice", [](Json &m) { pipeline(m)["arguments"][1]["buffers"].push_back({0, 0}); },
     "argument 'w': argument 0 of stage 0 is in 'buffers' twice"},
    {"buffersMissing", [](Json &m) { pipeline(m)["arguments"].erase(1); },
     "argument 0 of stage 1 is in the 'buffers' of no argument of the pipeline"},
    {"buffersResultMissing", [](Json &m) { pipeline(m)["results"].erase(1); },
     "result 0 of stage 0 is in the 'buffers' of no result of the pipeline"},
    {"bufferType", [](Json &m) { pipeline(m)["arguments"][0]["global_shape"] = {8, 5}; },
     "argument 'x': it is f32 8x5, on stage 0 f32 8x4, expected the same"},
    {"bufferKind", [](Json &m) { pipeline(m)["arguments"][1]["kind"] = "input"; },
     "argument 'w': it is f32 4x4, on stage 1 f32 4x4 of another kind, expected the same"},
    {"resultTied", [](Json &m) { pipeline(m)["results"][1]["tied"] = 0; },
     "result 'total': it is tied to argument 'x' of another type"},
    {"updateUnsaid", updateInPlace,
     "stage 1, instruction 1: function 'forward1' reads argument 'w' and does not update it, but result 'y' of "
     "the stage is tied to it"},
    {"updateTooEarly",
     [](Json &m) {
       updateInPlace(m);
       forward1(m)["results"][0]["tied"] = 1;
     },
     "stage 1, instruction 3: function 'forward1' reads argument 'w', which result 'y' has updated"},
    {"reference", [](Json &m) { pipeline(m)["reference"]["program"] = 4; },
     "pipeline 'main', reference: 'program' is 4"},
    // Channels.
    {"channelEnd", [](Json &m) { channel(m)["from"] = {0}; },
     "pipeline 'main', channel 0: 'from' is not [stage, value]"},
    {"channelStage", [](Json &m) { channel(m)["to"] = {2, 0}; }, "channel 0: 'to' is 2, expected less than 2"},
    {"channelValue", [](Json &m) { channel(m)["to"] = {1, 2}; }, "channel 0: 'to' is 2, expected less than 2"},
    {"channelSelf", [](Json &m) { channel(m)["to"] = {0, 1}; }, "'from' and 'to' are one stage, expected two"},
    {"channelElements", [](Json &m) { channel(m)["in_elements"] = 8; },
     "'from' is value 'h' of f32 4x4, expected 8 elements of f32"},
    {"channelDType", [](Json &m) { channel(m)["dtype"] = "i32"; },
     "'from' is value 'h' of f32 4x4, expected 16 elements of i32"},
    {"channelAtoms", [](Json &m) { channel(m)["atoms"][1][0] = 4; },
     "channel 0: 'atoms' do not write every one of the 8 output elements exactly once"},
    {"channelSourceDigit", [](Json &m) { channel(m)["atoms"][0] = {2, "rank", 1, "rank", 1}; },
     "channel 0: a rank digit of 'atoms' has stride 1 and size 2, which 1 devices do not have"},
    {"channelDestinationDigit", [](Json &m) { channel(m)["atoms"][0] = {3, "local", 8, "rank", 1}; },
     "a rank digit of 'atoms' has stride 1 and size 3, which 2 devices do not have"},
    // Instructions.
    {"instruction", [](Json &m) { list(m, 0)[0] = {"rest", 0, 0}; },
     "pipeline 'main', stage 0, instruction 0: it is not [\"run\", function, microbatch]"},
    {"runFunction", [](Json &m) { list(m, 0)[0][1] = 4; }, "stage 0, instruction 0: 'run' is 4, expected less than 4"},
    {"runOtherStage", [](Json &m) { list(m, 0)[0][1] = 1; },
     "instruction 0: 'run' names function 1 ('forward1') of stage 1, expected one of this stage"},
    {"runMicrobatch", [](Json &m) { list(m, 0)[0][2] = 2; }, "instruction 0: microbatch 2, expected -1 or less than 2"},
    {"runOnceWithSlices", [](Json &m) { list(m, 0)[0][2] = -1; },
     "function 'forward0' runs once per step, but 'x' is the slice of a microbatch"},
    {"transferToItself", [](Json &m) { list(m, 0)[1][1] = 0; },
     "instruction 1: stage 0 transfers to itself, expected another stage"},
    {"transferEntry", [](Json &m) { list(m, 0)[1][2][0] = {0}; },
     "instruction 1: a send or receive is not [channel, microbatch]"},
    {"transferDirection", [](Json &m) { list(m, 0)[1][2][0] = {1, 0}; },
     "channel 1 is from stage 1 to stage 0, expected from 0 to 1"},
    {"transferEmpty", [](Json &m) { list(m, 0)[1][2] = Json::array(); },
     "instruction 1: it has no sends and no receives"},
    {"freeValue", [](Json &m) { list(m, 0)[4][1] = 3; }, "instruction 4: 'free' is 3, expected less than 3"},
    // What they do.
    {"readUnwritten", [](Json &m) { list(m, 0)[6] = {"run", 2, 1}; },
     "stage 0, instruction 6: function 'backward0' reads value 'g' of microbatch 1, expected one "
     "that was written and is not freed"},
    {"readFreed", [](Json &m) { list(m, 0)[2] = {"free", 0, 0}; },
     "stage 0, instruction 3: channel 0 sends value 'h' of microbatch 1, expected one that was"},
    {"freeTwice", [](Json &m) { list(m, 0)[5] = {"free", 0, 0}; },
     "stage 0, instruction 5: it frees value 'h' of microbatch 0, expected one that was written"},
    {"writeTwice", [](Json &m) { list(m, 0)[2] = {"run", 0, 0}; },
     "instruction 2: function 'forward0' writes value 'h' of microbatch 0 again before it is "
     "freed"},
    {"receiveTwice", [](Json &m) { list(m, 1)[0] = {"transfer", 0, Json::array(), {{0, 0}, {0, 0}}}; },
     "stage 1, instruction 0: channel 0 receives value 'h' of microbatch 0 again"},
    {"sumOverwritten",
     [](Json &m) {
       forward0(m)["results"].push_back(backward0(m)["results"][0]);
       forward0(m)["results"][1].erase("tied");
     },
     "stage 0, instruction 0: function 'forward0' writes value 'sum' of microbatch 0, which is one "
     "of the step, without reading it"},
    {"onceOfMicrobatch", [](Json &m) { list(m, 0)[11] = {"run", 2, -1}; },
     "it is once per step, but value 'g' is one of each microbatch"},
    {"resultNotWritten", [](Json &m) { list(m, 0).erase(11); }, "stage 0: result 'total' is never written"},
    {"resultPartNotWritten",
     [](Json &m) {
       list(m, 1)[3] = {"free", 0, 1};
       list(m, 1).erase(6);
       list(m, 0).erase(10);
       list(m, 0).erase(9);
       list(m, 0).erase(8);
     },
     "stage 1: result 'y' is never written for some microbatches"},
    {"sendTwice",
     [](Json &m) {
       list(m, 0).insert(list(m, 0).begin() + 4, Json::array({"transfer", 1, {{0, 0}}, Json::array()}));
       list(m, 1).insert(list(m, 1).begin() + 5, Json::array({"transfer", 0, Json::array(), {{0, 0}}}));
     },
     "stage 0, instruction 4: channel 0 of microbatch 0 is sent a second time, expected once in a step"},
    // All stages together.
    {"otherOrder",
     [](Json &m) {
       std::swap(list(m, 0)[1][2], list(m, 0)[3][2]);
       std::swap(list(m, 0)[0], list(m, 0)[2]);
     },
     "stage 0, instruction 1 and stage 1, instruction 0 list other channels, expected the same "
     "in one order"},
    {"peerEnds", [](Json &m) { list(m, 1).erase(6); },
     "stage 0, instruction 8 has a transfer with stage 1, which has none left with stage 0, expected as many on both"},
    {"peerHasNone",
     [](Json &m) {
       list(m, 0)[1] = {"transfer", 1, {{0, 0}}, Json::array()};
       list(m, 0)[3] = {"transfer", 1, {{0, 1}}, Json::array()};
       list(m, 0).insert(list(m, 0).begin() + 4, Json::array({"transfer", 1, Json::array(), {{1, 0}}}));
     },
     "stage 0, instruction 3 and stage 1, instruction 2 list other channels"},
};

class PipelineFailure : public testing::TestWithParam<InvalidPipeline> {};

TEST_P(PipelineFailure, isOneClearMessage) {
  Json manifest = unequalPipeline();
  GetParam().change(manifest);
  auto parsed = parseManifest(manifest.dump(), "m.json");
  EXPECT_ERROR(parsed.status(), GetParam().message);
  EXPECT_EQ(parsed.status().message().find("m.json: "), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, PipelineFailure, testing::ValuesIn(invalidPipelines),
                         [](const auto &info) { return info.param.name; });

TEST(PipelineManifest, readsWhatTheCompilerWrites) {
  auto parsed = parseManifest(unequalPipeline().dump(), "m");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(parsed->functions.empty());
  const PipelineInfo &pipeline = parsed->pipelines.at(0);
  EXPECT_EQ(pipeline.functions.size(), 4u);
  EXPECT_EQ(pipeline.stageOf, (std::vector<size_t>{0, 1, 0, 0}));
  EXPECT_EQ(pipeline.signature.devices, 3);
  EXPECT_EQ(pipeline.stages[1].held.entry.arenaBytes, 64);
  EXPECT_TRUE(pipeline.stages[0].values[2].isOfStep);
  EXPECT_FALSE(pipeline.stages[0].values[1].isOfStep);
  // Both sides list a transfer alike, what leaves stage 0 first; who waits for it comes later.
  const Instruction &mine = pipeline.stages[0].instructions[3];
  const Instruction &theirs = pipeline.stages[1].instructions[2];
  EXPECT_EQ(mine.transfers, (std::vector<std::pair<size_t, int64_t>>{{0, 1}, {1, 0}}));
  EXPECT_EQ(theirs.transfers, mine.transfers);
  EXPECT_LT(mine.order, pipeline.stages[1].instructions[3].order);
  for (const StageInfo &stage : pipeline.stages)
    for (size_t i = 1; i < stage.instructions.size(); ++i)
      EXPECT_LT(stage.instructions[i - 1].order, stage.instructions[i].order);
}

TEST(PipelineManifest, stagesInACircleWaitForever) {
  // Three stages of one device each; each makes what it sends of what it receives.
  Json m = Json::parse(
      R"({"version": 2, "abi": 1, "target": "cpu", "meshes": [], "programs": [{"file": "p.so"}],
    "functions": [], "pipelines": [{"name": "ring", "microbatches": 1, "devices": 3, "arguments": [], "results": [],
    "functions": [], "stages": [], "channels": []}]})");
  for (int s = 0; s < 3; ++s) {
    const std::string mesh = "m" + std::to_string(s);
    const int next = (s + 1) % 3, before = (s + 2) % 3;
    m["meshes"].push_back({{"name", mesh}, {"axes", Json::array()}});
    m["pipelines"][0]["functions"].push_back(
        {{"name", "make" + std::to_string(s)},
         {"stage", s},
         {"program", 0},
         {"symbol", "s"},
         {"arena_bytes", 0},
         {"arguments",
          {{{"kind", "value"}, {"dtype", "f32"}, {"local_shape", {1}}, {"slot", Json::array({"value", 1})}}}},
         {"results",
          {{{"kind", "value"}, {"dtype", "f32"}, {"local_shape", {1}}, {"slot", Json::array({"value", 0})}}}}});
    const Json value = {{"dtype", "f32"}, {"local_shape", {1}}};
    Json instructions = Json::array({Json::array({"transfer", before, Json::array(), {{before, 0}}})});
    instructions.push_back(Json::array({"run", s, 0}));
    instructions.push_back(Json::array({"transfer", next, {{s, 0}}, Json::array()}));
    m["pipelines"][0]["stages"].push_back({{"mesh", mesh},
                                           {"devices", 1},
                                           {"ranks", {s}},
                                           {"arguments", Json::array()},
                                           {"results", Json::array()},
                                           {"values", {value, value}},
                                           {"instructions", instructions}});
    m["pipelines"][0]["channels"].push_back({{"from", {s, 0}},
                                             {"to", {next, 1}},
                                             {"dtype", "f32"},
                                             {"in_elements", 1},
                                             {"out_elements", 1},
                                             {"atoms", Json::array()}});
  }
  EXPECT_ERROR(parseManifest(m.dump(), "m").status(),
               "pipeline 'ring': the stages would wait forever: stage 0, instruction 1 waits for "
               "stage 2, stage 1, instruction 1 waits for stage 0, stage 2, instruction 1 waits for "
               "stage 1");
  // One of them without arguments breaks the circle.
  m["pipelines"][0]["functions"][2]["arguments"].clear();
  EXPECT_TRUE(parseManifest(m.dump(), "m").ok());
}

TEST(PipelineManifest, whatIsMadeOncePerStepServesAllMicrobatches) {
  // forward1 reads a value that another function makes once; freed after the last.
  Json m = unequalPipeline();
  stage(m, 1)["values"].push_back({{"name", "w2"}, {"dtype", "f32"}, {"local_shape", {2, 4}}});
  Json value = {{"name", "w2"},
                {"kind", "value"},
                {"dtype", "f32"},
                {"local_shape", {2, 4}},
                {"slot", Json::array({"value", 2})}};
  Json prepare = forward1(m);
  prepare["name"] = "prepare1";
  prepare["collectives"] = Json::array();
  prepare["arguments"].erase(0);
  prepare["results"] = Json::array({value});
  pipeline(m)["functions"].push_back(prepare);
  forward1(m)["arguments"][1] = value;
  list(m, 1).insert(list(m, 1).begin(), Json::array({"run", 4, -1}));
  auto parsed = parseManifest(m.dump(), "m");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(parsed->pipelines[0].stages[1].values[2].isOfStep);
  list(m, 1)[0] = Json::array({"run", 4, 0});
  EXPECT_ERROR(parseManifest(m.dump(), "m").status(),
               "stage 1, instruction 4: function 'forward1' reads value 'w2' of microbatch 1");
}

} // namespace
