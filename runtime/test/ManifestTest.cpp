//===- ManifestTest.cpp - Every way a manifest can be wrong ---------------===//

#include "Support.h"

#include "shardkit/rt/Manifest/Manifest.h"

#include <nlohmann/json.hpp>

#include <functional>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

Json goodManifest() {
  std::string text = readText(std::string(TEST_BUNDLE) + "/manifest.json.in");
  for (size_t at; (at = text.find("@NAME@")) != std::string::npos;)
    text.replace(at, 6, "main");
  return Json::parse(text);
}

Json &function(Json &m) { return m["functions"][0]; }
Json &x(Json &m) { return function(m)["arguments"][0]; }
Json &y(Json &m) { return function(m)["results"][0]; }
Json &collective(Json &m) { return function(m)["collectives"][0]; }

/// w is 16x8, 8x8 on each rank: 3 columns of one tensor, 5 of another.
Json goodLoad() {
  return Json::parse(R"({"sources": [{"name": "a", "dtype": "f32", "shape": [16, 3]},
                                     {"name": "b", "dtype": "f32", "shape": [16, 5]}],
      "pieces": [{"offset": [[1, 2, 24]], "loops": [[8, 3, 8], [3, 1, 1]]},
                 {"source": 1, "base": [0, 3], "offset": [[1, 2, 40]], "loops": [[8, 5, 8], [5, 1, 1]]}]})");
}
Json goodChain() {
  return Json::parse(R"({"sources": [{"name": "a", "dtype": "f32", "shape": [8, 16]}],
      "chain": [["f", [[2, 8, 8], "f32"], 1, 2.5, "s"]]})");
}
Json &load(Json &m, const Json &good = goodLoad()) {
  Json &load = function(m)["arguments"][1]["load"];
  return load = good;
}

struct Failure {
  const char *name;
  std::function<void(Json &)> change;
  const char *message;
};

const Failure failures[] = {
    {"loadInput", [](Json &m) { x(m)["load"] = goodLoad(); },
     "argument 'x': 'load' is on a value that is not a weight"},
    {"loadType", [](Json &m) { load(m) = 3; }, "argument 'w', load: expected an object"},
    {"loadNoSources", [](Json &m) { load(m)["sources"] = Json::array(); }, "'sources' is empty"},
    {"loadSourceName", [](Json &m) { load(m)["sources"][0]["name"] = ""; }, "load: a source has no name"},
    {"loadSourceDType", [](Json &m) { load(m)["sources"][0]["dtype"] = "f12"; }, "load, source 'a': 'dtype' is 'f12'"},
    {"loadSourceShape", [](Json &m) { load(m)["sources"][0]["shape"] = {-1}; },
     "load, source 'a': 'shape' has a negative size"},
    {"loadKinds", [](Json &m) { load(m)["chain"] = Json::array(); },
     "expected one of 'pieces', 'function' and 'chain'"},
    {"loadNothing", [](Json &m) { load(m).erase("pieces"); }, "expected one of 'pieces', 'function' and 'chain'"},
    {"loadPieceDType", [](Json &m) { load(m)["sources"][1]["dtype"] = "f16"; },
     "piece 1: the source is f16, expected f32"},
    {"loadPieceSource", [](Json &m) { load(m)["pieces"][1]["source"] = 2; },
     "piece 1: 'source' is 2, expected less than 2"},
    {"loadPieceBase", [](Json &m) { load(m)["pieces"][1]["base"] = {0, 65}; },
     "'base' [0, 65] lies outside of 80 stored and 64 local elements"},
    {"loadPieceBeyond", [](Json &m) { load(m)["pieces"][1]["base"] = {1, 3}; },
     "piece 1: extents reach global element 79, expected less than 79"},
    {"loadPieceHole", [](Json &m) { load(m)["pieces"].erase(1); },
     "the pieces do not write every one of the 64 local elements exactly once"},
    {"loadPieceOverlap", [](Json &m) { load(m)["pieces"][1]["base"] = {0, 2}; },
     "the pieces do not write every one of the 64 local elements exactly once"},
    {"loadPieceInPlace", [](Json &m) { load(m)["pieces"][0]["loops"] = Json::parse("[[8, 3, 8], [3, 1, 0]]"); },
     "the pieces do not write every one of the 64 local elements exactly once"},
    {"loadPieceRank", [](Json &m) { load(m)["pieces"][1]["offset"][0][0] = 8; },
     "piece 1: extents offset digit with rank stride 8 and size 2 does not fit 4 devices"},
    {"loadFull",
     [](Json &m) {
       Json &l = load(m);
       l.erase("pieces");
       l["function"] = {{"program", 0}, {"symbol", "f"}, {"arena_bytes", 0}};
       l["full"] = 1;
     },
     "'full' is not a boolean"},
    {"loadFullOfSegments",
     [](Json &m) {
       Json &w = function(m)["arguments"][1];
       w["load"] = goodLoad();
       w["load"].erase("pieces");
       w["load"]["function"] = {{"program", 0}, {"symbol", "f"}, {"arena_bytes", 0}};
       w["load"]["full"] = true;
       w["segmented"] = true;
     },
     "'full' is on an argument that is segmented"},
    {"loadFunction",
     [](Json &m) {
       Json &l = load(m);
       l.erase("pieces");
       l["function"] = {{"program", 1}, {"symbol", "s"}, {"arena_bytes", 0}};
     },
     "load, function: 'program' is 1, expected less than 1"},
    {"loadReference", [](Json &m) { load(m)["reference"] = 1; }, "load, reference: expected an object"},
    {"loadChainSources", [](Json &m) { load(m, goodChain())["sources"] = goodLoad()["sources"]; },
     "'chain' has 2 sources, expected 1"},
    {"loadChainEmpty", [](Json &m) { load(m, goodChain())["chain"] = Json::array(); }, "'chain' is empty"},
    {"loadChainCall", [](Json &m) { load(m, goodChain())["chain"][0] = {"f"}; },
     "a call is not [function, [shape, dtype], extra inputs...]"},
    {"loadChainExtra", [](Json &m) { load(m, goodChain())["chain"][0][2] = nullptr; },
     "function 'f': extra input 0 is neither a number nor a string"},
    {"loadChainLeading", [](Json &m) { load(m, goodChain())["chain"][0][1][0] = {3, 8, 8}; },
     "'f' gives 3x8x8, expected a leading dim of 2, the number of shards, or 4"},
    {"loadChainSlice", [](Json &m) { load(m, goodChain())["chain"][0][1][0] = {2, 8, 9}; },
     "'f' gives f32 2x8x9, expected slices of f32 8x8"},
    {"loadChainDType", [](Json &m) { load(m, goodChain())["chain"][0][1][1] = "float16"; },
     "'f' gives f16 2x8x8, expected slices of f32 8x8"},
    {"version", [](Json &m) { m["version"] = 6; },
     "manifest version 6, expected 1 to 5, the versions that this runtime reads; update the runtime"},
    {"versionZero", [](Json &m) { m["version"] = 0; },
     "manifest version 0, expected 1 to 5, the versions that this runtime reads"},
    {"versionMissing", [](Json &m) { m.erase("version"); }, "'version' is missing"},
    {"abi", [](Json &m) { m["abi"] = 7; }, "program ABI version 7"},
    {"target", [](Json &m) { m["target"] = "rocm"; }, "'target' is 'rocm'"},
    {"chip", [](Json &m) { m["target"] = "cuda"; }, "'chip' is missing"},
    {"meshesType", [](Json &m) { m["meshes"] = 3; }, "'meshes' is not a list"},
    {"meshAxis", [](Json &m) { m["meshes"][0]["axes"][0] = "data"; },
     "mesh 'pod': 'axes' has an entry that is not [name, size]"},
    {"meshAxisTwice", [](Json &m) { m["meshes"][0]["axes"][1][0] = "data"; }, "axis 'data' is empty or appears twice"},
    {"meshAxisSize", [](Json &m) { m["meshes"][0]["axes"][0][1] = 0; }, "axis 'data' has size 0, expected at least 1"},
    {"meshHuge", [](Json &m) { m["meshes"][0]["axes"][0][1] = 1l << 40; }, "more than 16777216 devices"},
    {"meshTwice", [](Json &m) { m["meshes"].push_back(m["meshes"][0]); }, "two meshes are named 'pod'"},
    {"deviceIdsCount", [](Json &m) { m["meshes"][0]["device_ids"] = {0, 1}; },
     "'device_ids' has 2 entries, expected 4"},
    {"deviceIdsTwice", [](Json &m) { m["meshes"][0]["device_ids"] = {0, 1, 1, 2}; },
     "device id 1 is negative or appears twice"},
    {"programMissing", [](Json &m) { m["programs"][0]["file"] = "programs/no.so"; },
     "program 'programs/no.so': the file does not exist"},
    {"programLeaves", [](Json &m) { m["programs"][0]["file"] = "../x.so"; }, "the path leaves the bundle"},
    {"programBytes", [](Json &m) { m["programs"][0]["bytes"] = 17; }, "the file has 4 bytes, expected 17"},
    {"noFunctions", [](Json &m) { m["functions"] = Json::array(); }, "'functions' is empty"},
    {"functionTwice", [](Json &m) { m["functions"].push_back(m["functions"][0]); }, "two functions are named 'main'"},
    {"functionMesh", [](Json &m) { function(m)["mesh"] = "cloud"; },
     "function 'main': 'mesh' is 'cloud', which 'meshes' does not list"},
    {"functionDevices", [](Json &m) { function(m)["devices"] = 3; },
     "'devices' is 3, expected the size of the mesh, 4"},
    {"functionProgram", [](Json &m) { function(m)["program"] = 1; }, "'program' is 1, expected less than 1"},
    {"symbol", [](Json &m) { function(m)["symbol"] = ""; }, "'symbol' is empty"},
    {"arena", [](Json &m) { function(m)["arena_bytes"] = -1; }, "'arena_bytes' is -1, expected a size"},
    {"reference", [](Json &m) { function(m)["reference"]["program"] = 9; },
     "function 'main', reference: 'program' is 9"},
    {"referenceArgument", [](Json &m) { function(m)["reference"]["arguments"] = Json::parse("[0, 9]"); },
     "function 'main', reference: argument 9 is taken, expected less than"},
    {"referenceSource", [](Json &m) { function(m)["reference"]["arguments"] = Json::parse("[[0, 0]]"); },
     "function 'main', reference: source 0 of argument 0 is taken, expected less than 0"},
    {"referenceArgumentPair", [](Json &m) { function(m)["reference"]["arguments"] = Json::parse("[[0]]"); },
     "'arguments' has an entry that is not a list of 2 integers"},
    {"referenceArgumentName", [](Json &m) { function(m)["reference"]["arguments"] = Json::parse("[\"x\"]"); },
     "'arguments' is not an integer"},
    {"inputTwice", [](Json &m) { function(m)["arguments"].push_back(x(m)); }, "two inputs are named 'x'"},
    {"kind", [](Json &m) { x(m)["kind"] = "result"; },
     "function 'main', argument 'x': 'kind' is 'result', expected 'input', 'weight', 'constant' or 'size'"},
    {"sizeType", [](Json &m) { x(m)["kind"] = "size"; }, "argument 'x': a size is f32"},
    {"sizeUnknown",
     [](Json &m) {
       x(m)["dims"] = Json::parse(R"([{"size": ["+", "b", 1], "digits": []}, {"size": 16, "digits": []}])");
     },
     "argument 'x', dim 0: 'size' names \"b\", which is not one of 'sizes'"},
    {"sizeNegative", [](Json &m) { x(m)["dims"] = Json::parse(R"([{"size": -1, "digits": []}])"); },
     "argument 'x', dim 0: 'size' is -1, expected 0 or more"},
    {"sizeProduct", // as up to version 4
     [](Json &m) { x(m)["dims"] = Json::parse(R"([{"size": [[16]], "digits": []}, {"size": [[1, 0]], "digits": []}])"); },
     "argument 'x', dim 1: 'size' has the size 0, expected less than 0"},
    {"sizeShards",
     [](Json &m) { x(m)["dims"] = Json::parse(R"([{"size": 16, "digits": [[1, 1000]]}])"); },
     "argument 'x', dim 0: 'digits' has digits that are not those of"},
    {"sizeMultiple",
     [](Json &m) { x(m)["dims"] = Json::parse(R"([{"size": 16, "digits": [[1, 2]], "multiple": 3}])"); },
     "'multiple' is 3, expected a multiple of the 2 shards, in one piece each"},
    {"sizeArgument",
     [](Json &m) { function(m)["sizes"] = Json::parse(R"([{"name": "b", "argument": 0, "bound": [0, 4]}])"); },
     "size 'b' has 'argument' 0, expected an argument of kind 'size', of its own"},
    {"bucketsEmpty", [](Json &m) { function(m)["buckets"] = Json::array(); },
     "function 'main': 'buckets' is empty"},
    {"bucketWithoutSizes", [](Json &m) { Json bucket = function(m); function(m)["buckets"] = {bucket}; },
     "function 'main': bucket 'main' has no sizes, expected some that only the run knows"},
    {"arenaSize",
     [](Json &m) { function(m)["arena"] = Json::parse(R"([{"bytes": ["*", "b", 4], "after": []}])"); },
     "function 'main', buffer 0 of 'arena': 'bytes' names \"b\", which is not one of 'sizes'"},
    {"arenaOperator",
     [](Json &m) { function(m)["arena"] = Json::parse(R"([{"bytes": ["-", 8, 4], "after": []}])"); },
     "'bytes' has [\"-\",8,4], expected a number, the name of a size, or [\"+\" | \"*\" | \"floordiv\" | "
     "\"ceildiv\", a, b]"},
    {"arenaAfter", [](Json &m) { function(m)["arena"] = Json::parse(R"([{"bytes": 4, "after": [0]}])"); },
     "buffer 0 of 'arena': 'after' has 0, expected buffers before it"},
    {"constantsMissing", [](Json &m) { x(m)["kind"] = "constant"; },
     "argument 'x' is a constant, expected 'constants', the file that has it"},
    {"constantsFile", [](Json &m) { m["constants"] = {{"file", "no.safetensors"}}; },
     "file of constants 'no.safetensors': the file does not exist"},
    {"dtype", [](Json &m) { x(m)["dtype"] = "f31"; }, "argument 'x': 'dtype' is 'f31', expected one of"},
    {"shapeNegative", [](Json &m) { x(m)["global_shape"] = {8, -16}; },
     "'global_shape' has a negative size or is too large"},
    {"shapeHuge", [](Json &m) { x(m)["global_shape"] = {1l << 40, 1l << 40}; },
     "'global_shape' has a negative size or is too large"},
    {"extentsOrder", [](Json &m) { x(m)["extents"]["order"] = {0, 1, 1, 3}; },
     "extents 'order' does not list the ranks 0 to 3 once each"},
    {"extentsOrderShort", [](Json &m) { x(m)["extents"]["order"] = {0, 1, 2}; },
     "extents 'order' does not list the ranks 0 to 3 once each"},
    {"sourceOrder", [](Json &m) { collective(m)["source_order"] = {0, 1, 2, 4}; },
     "'source_order' does not list the ranks 0 to 3 once each"},
    {"destinationOrderOfReduction", [](Json &m) { collective(m)["destination_order"] = {3, 2, 1, 0}; },
     "'destination_order' is on a collective that reduces"},
    {"roundingText", [](Json &m) { y(m)["rounding"] = "1e-6"; },
     "'rounding' is \"1e-6\", expected 0 or a positive number"},
    {"roundingNegative", [](Json &m) { y(m)["rounding"] = -1; }, "'rounding' is -1, expected 0 or a positive number"},
    {"shapeText", [](Json &m) { x(m)["global_shape"] = {"8", 16}; }, "'global_shape' is not an integer"},
    {"shapeRank", [](Json &m) { x(m)["local_shape"] = {32}; }, "'local_shape' has rank 1, expected 2"},
    {"shapeLarger", [](Json &m) { x(m)["local_shape"] = {4, 32}; },
     "'local_shape' is 4x32, expected no more than 8x16"},
    {"extentsMissing", [](Json &m) { x(m).erase("extents"); }, "argument 'x': 'extents' is missing"},
    {"extentsEntry", [](Json &m) { x(m)["extents"]["loops"][0] = {4, 16}; },
     "'loops' has an entry that is not a list of 3 integers"},
    {"extentsCover", [](Json &m) { x(m)["extents"]["loops"][1] = {8, 1, 2}; },
     "extents do not write every one of the 32 local elements exactly once"},
    {"extentsTooFew", [](Json &m) { x(m)["extents"]["loops"][0][0] = 3; }, "extents do not write every one"},
    {"extentsRange", [](Json &m) { x(m)["extents"]["offset"][0][2] = 80; },
     "extents reach global element 143, expected less than 128"},
    {"extentsOverflow", [](Json &m) { x(m)["extents"]["offset"][0][2] = INT64_MAX; }, "extents"},
    {"extentsDigit", [](Json &m) { x(m)["extents"]["offset"][0][1] = 3; }, "does not fit 4 devices"},
    {"extentsDigitsOverlap", [](Json &m) { x(m)["extents"]["offset"][0] = {1, 4, 32}; }, "extents"},
    {"resultCover", [](Json &m) { y(m)["extents"]["offset"] = Json::array(); },
     "result 'y': extents of all ranks together do not cover the 64 global "
     "elements"},
    {"kindOfTwoLines",
     [](Json &m) {
       x(m)["kind"] = "in\nput";
       function(m)["name"] = "a\nb";
     },
     "function 'a\\x0ab', argument 'x': 'kind' is 'in\\x0aput'"},
    {"resultKind", [](Json &m) { y(m)["kind"] = "input"; }, "result 'y': 'kind' is 'input', expected 'result'"},
    {"resultTwice", [](Json &m) { function(m)["results"].push_back(y(m)); }, "two results are named 'y'"},
    {"tied", [](Json &m) { y(m)["tied"] = 2; }, "'tied' is 2, expected less than 2"},
    {"tiedType", [](Json &m) { y(m)["tied"] = 0; }, "result 'y' is tied to argument 'x' of another type"},
    {"rangeFloat", [](Json &m) { x(m)["range"] = {0, 2}; }, "'range' on a value of f32"},
    {"rangeOrder",
     [](Json &m) {
       x(m)["dtype"] = "i8";
       x(m)["range"] = {2, 2};
     },
     "'range' is not [low, high]"},
    {"rangeWide",
     [](Json &m) {
       x(m)["dtype"] = "i8";
       x(m)["range"] = {0, 130};
     },
     "with low < high in i8"},
    {"collectiveStartGroup", [](Json &m) { collective(m)["start_group"] = 1; },
     "collective 0 is in start group 1, expected its id or the start group of the collective before"},
    {"collectiveId", [](Json &m) { collective(m)["id"] = 1; }, "function 'main', collective 0: 'id' is 1, expected 0"},
    {"collectiveKind", [](Json &m) { collective(m)["kind"] = "gossip"; },
     "'kind' is 'gossip', which this runtime lacks"},
    {"reductionMissing", [](Json &m) { collective(m).erase("reduction"); },
     "collective 0 (all_reduce): 'reduction' is missing"},
    {"reductionUnknown", [](Json &m) { collective(m)["reduction"] = "mean"; },
     "'reduction' is 'mean', expected one of"},
    {"reductionType", [](Json &m) { collective(m)["reduction"] = "xor"; },
     "'reduction' is 'xor', which f32 does not have"},
    {"reductionComplex", [](Json &m) { collective(m)["dtype"] = "c64"; },
     "'reduction' is 'sum', which c64 does not have"},
    {"reductionStray", [](Json &m) { collective(m)["kind"] = "all_gather"; },
     "'reduction' stands on a collective that does not reduce"},
    {"atomsEntry", [](Json &m) { collective(m)["atoms"][0] = {32, "local", 1}; }, "'atoms' has an entry that is not"},
    {"atomsSide", [](Json &m) { collective(m)["atoms"][0][1] = "remote"; }, "neither 'local' nor 'rank'"},
    {"atomsCover", [](Json &m) { collective(m)["atoms"][0][0] = 16; },
     "'atoms' do not write every one of the 32 output elements exactly once"},
    {"atomsRead", [](Json &m) { collective(m)["atoms"][0][2] = 2; },
     "'atoms' read input element 62, expected less than 32"},
    {"atomsDigit", [](Json &m) { collective(m)["atoms"][0] = {32, "rank", 1, "local", 1}; },
     "which 4 devices do not have"},
    {"segmentsEntry", [](Json &m) { collective(m)["segments"] = Json::array({Json::array({5, Json::array()})}); },
     "'segments' has an entry that is not"},
    {"segmentsSides", [](Json &m) { collective(m)["segments"] = Json::array({Json::array({5, "local", "local"})}); },
     "'segments' has a side that is not a list of digits"},
    {"segmentsPart",
     [](Json &m) { collective(m)["segments"] = Json::array({{5, Json::array({{5, "local"}}), Json::array()}}); },
     "'segments' has a digit that is not [size, side, stride]"},
    {"segmentsPlaces",
     [](Json &m) {
       Json four = Json::array({{4, "local", 32}});
       collective(m)["segments"] = Json::array({{5, four, four}});
     },
     "'segments' has digits for 4 elements, expected 5 or more"},
    {"segmentsDigit",
     [](Json &m) {
       Json three = Json::array({{3, "rank", 1}});
       collective(m)["segments"] = Json::array({{3, three, three}});
     },
     "a rank digit of 'segments' has stride 1 and size 3"},
    {"spreadDigit", [](Json &m) { collective(m)["spread"] = Json::array({{1, 3}}); },
     "a rank digit of 'spread' has stride 1 and size 3"},
    {"spreadOverlap", [](Json &m) { collective(m)["spread"] = {{1, 2}, {1, 4}}; },
     "the rank digits of 'atoms' overlap"},
    {"groupDigit", [](Json &m) { collective(m)["group"][0] = {1, 3}; },
     "a rank digit of 'group' has stride 1 and size 3"},
    {"groupOverlap", [](Json &m) { collective(m)["group"] = {{1, 2}, {1, 4}}; }, "the rank digits of 'group' overlap"},
    {"negativeBytes", [](Json &m) { collective(m)["bytes"] = -5; }, "'bytes' is negative"},
};

class ManifestFailure : public testing::TestWithParam<Failure> {};

TEST_P(ManifestFailure, isOneError) {
  TempDir dir;
  std::filesystem::create_directories(dir / "programs");
  writeText(dir / "programs/program.so", "code");
  Json manifest = goodManifest();
  GetParam().change(manifest);
  writeText(dir / "manifest.json", manifest.dump());
  auto parsed = readManifest(dir.path());
  EXPECT_ERROR(parsed.status(), GetParam().message);
  EXPECT_EQ(parsed.status().message().find(dir / "manifest.json"), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, ManifestFailure, testing::ValuesIn(failures),
                         [](const auto &info) { return info.param.name; });

TEST(Manifest, readsWhatTheCompilerWrites) {
  Json json = goodManifest();
  json["functions"][0]["collectives"][0]["reason"] = "contraction";
  json["meshes"][0]["device_ids"] = {0, 2, 1, 3};
  auto parsed = parseManifest(json.dump(), "manifest.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const FunctionInfo &f = parsed->functions[0];
  EXPECT_EQ(f.devices, 4);
  EXPECT_EQ(f.arguments[0].localElements, 32);
  EXPECT_EQ(f.arguments[1].kind, ValueKind::Weight);
  EXPECT_EQ(f.arguments[0].extents.base(3), 64 + 8);
  EXPECT_EQ(f.collectives[0].reduction, Reduction::Sum);
  EXPECT_EQ(f.collectives[0].extra, R"({"reason":"contraction"})");
  EXPECT_EQ(parsed->meshes[0].deviceIds[1], 2);
}

TEST(Manifest, acceptsNoMesh) {
  Json json = goodManifest();
  json["meshes"] = Json::array();
  Json &f = json["functions"][0];
  f["mesh"] = nullptr;
  f["devices"] = 1;
  f["collectives"] = Json::array();
  for (Json *value : {&f["arguments"][0], &f["arguments"][1], &f["results"][0]}) {
    (*value)["local_shape"] = (*value)["global_shape"];
    int64_t n = (*value)["global_shape"][0].get<int64_t>() * (*value)["global_shape"][1].get<int64_t>();
    (*value)["extents"] = {{"offset", Json::array()}, {"loops", {{n, 1, 1}}}};
  }
  auto parsed = parseManifest(json.dump(), "manifest.json");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
}

TEST(Manifest, refusesInvalidJson) {
  EXPECT_ERROR(parseManifest("{\"version\": 1,", "m.json").status(), "m.json: not valid JSON at byte");
  EXPECT_ERROR(parseManifest("[]", "m.json").status(), "expected an object");
  EXPECT_ERROR(readManifest("/nonexistent").status(), "expected a bundle");
}

TEST(Manifest, loadsAreKept) {
  for (const Json &good : {goodLoad(), goodChain()}) {
    Json m = goodManifest();
    load(m, good);
    auto manifest = parseManifest(m.dump(), "m");
    ASSERT_TRUE(manifest.ok()) << manifest.status().message();
    const ValueInfo &w = manifest->functions[0].arguments[1];
    ASSERT_TRUE(w.load);
    // The weights alone say the same when they are written and read.
    WeightManifest weights = weightsOf(*manifest, manifest->functions[0]);
    ASSERT_EQ(weights.weights.size(), 1u);
    std::string text = weightManifestText(weights);
    auto again = parseWeightManifest(text, "w");
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(weightManifestText(*again), text);
    EXPECT_EQ(configurationHash(*again), configurationHash(weights));
    weights.weights[0].localShape = {4, 8};
    EXPECT_NE(configurationHash(*again), configurationHash(weights));
  }
}

/// A manifest of version 1 that the compiler wrote.
Json version1(const char *bundle) {
  return Json::parse(readText(std::string(TEST_BUNDLE) + "/v1/" + bundle + "/manifest.json"));
}

TEST(ManifestVersion1, isReadAsVersion2) {
  auto function = parseManifest(version1("function").dump(), "m");
  ASSERT_TRUE(function.ok()) << function.status().message();
  const FunctionInfo &main = function->functions.at(0);
  EXPECT_TRUE(main.arguments[1].load->isFull);
  EXPECT_FALSE(main.arguments[1].isSegmented);
  EXPECT_FALSE(main.arguments[3].load->pieces.empty());
  EXPECT_TRUE(main.arguments[5].isSegmented);
  auto pipeline = parseManifest(version1("pipeline").dump(), "m");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_TRUE(pipeline->functions.empty());
  const PipelineInfo &main2 = pipeline->pipelines.at(0);
  EXPECT_EQ(main2.stages.size(), 3u);
  EXPECT_EQ(main2.argumentBuffers[0].size(), 2u);
  bool hasSum = false, hasSlice = false;
  for (const FunctionInfo &fragment : main2.functions)
    for (const ValueInfo &argument : fragment.arguments) {
      hasSum |= argument.slot->kind == Slot::Kind::Sum;
      hasSlice |= argument.slot->isMicrobatch();
    }
  EXPECT_TRUE(hasSum);
  EXPECT_TRUE(hasSlice);
}

TEST(ManifestVersion1, writtenAgainHasTheVersionOfThisRuntime) {
  for (const char *bundle : {"function", "pipeline"}) {
    auto manifest = parseManifest(version1(bundle).dump(), "m");
    ASSERT_TRUE(manifest.ok()) << manifest.status().message();
    const std::string text = manifestText(*manifest);
    EXPECT_EQ(Json::parse(text)["version"], manifestVersion);
    auto again = parseManifest(text, "m");
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(manifestText(*again), text);
  }
}

struct DamagedVersion1 {
  const char *name, *bundle;
  std::function<void(Json &)> change;
  const char *message;
};
const DamagedVersion1 damagedVersion1[] = {
    {"mesh", "pipeline", [](Json &m) { m["functions"][0]["mesh"] = "other"; },
     "its mesh is that of no stage of pipeline 'main'"},
    {"pipelineMissing", "pipeline", [](Json &m) { m.erase("pipelines"); },
     "a function is 'part_of' 'main', which 'pipelines' does not list"},
    {"pipelinesType", "pipeline", [](Json &m) { m["pipelines"] = 3; },
     "a function is 'part_of' 'main', which 'pipelines' does not list"},
    {"stagesType", "pipeline", [](Json &m) { m["pipelines"][0]["stages"] = "none"; },
     "its mesh is that of no stage of pipeline 'main'"},
    {"run", "pipeline", [](Json &m) { m["pipelines"][0]["stages"][0]["instructions"][0] = {"run", 99, 0}; },
     "'run' names function 99, which is not a function of the pipeline"},
    {"instruction", "pipeline", [](Json &m) { m["pipelines"][0]["stages"][0]["instructions"][0] = {"run"}; },
     "stage 0, instruction 0: it is not [\"run\", function, microbatch]"},
    {"slot", "pipeline", [](Json &m) { m["functions"][0]["arguments"][0]["slot"] = {"part", 0}; },
     "'slot' is [\"part\",0], expected"},
    {"slotType", "pipeline", [](Json &m) { m["functions"][0]["arguments"][0]["slot"] = 1; }, "'slot' is not a list"},
    {"places", "pipeline", [](Json &m) { m["pipelines"][0]["results"][0].erase("places"); }, "'buffers' is missing"},
    {"transfers", "pipeline", [](Json &m) { m["pipelines"][0].erase("transfers"); }, "'channels' is missing"},
    {"functionsType", "function", [](Json &m) { m["functions"] = 1; }, "'functions' is not a list"},
    {"functionType", "function", [](Json &m) { m["functions"][0] = 1; }, "expected an object"},
    {"argumentType", "function", [](Json &m) { m["functions"][0]["arguments"][0] = 1; }, "expected an object"},
    {"loadType", "function", [](Json &m) { m["functions"][0]["arguments"][1]["load"] = 1; },
     "load: expected an object"},
    {"whole", "function", [](Json &m) { m["functions"][0]["arguments"][1]["load"]["whole"] = 1; },
     "'full' is not a boolean"},
    {"with", "function", [](Json &m) { m["functions"][0]["collectives"][0]["with"] = 4; },
     "collective 0 is in start group 4"},
};

class DamagedVersion1Test : public testing::TestWithParam<DamagedVersion1> {};

TEST_P(DamagedVersion1Test, isOneClearMessage) {
  Json manifest = version1(GetParam().bundle);
  GetParam().change(manifest);
  auto parsed = parseManifest(manifest.dump(), "m.json");
  EXPECT_ERROR(parsed.status(), GetParam().message);
  EXPECT_EQ(parsed.status().message().find("m.json: "), 0u);
  EXPECT_NE(parsed.status().message().find(" (a manifest of version 1, read as version 2)"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, DamagedVersion1Test, testing::ValuesIn(damagedVersion1),
                         [](const auto &info) { return info.param.name; });

} // namespace
