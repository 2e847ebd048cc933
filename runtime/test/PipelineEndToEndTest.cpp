//===- PipelineEndToEndTest.cpp - shard-run on pipelines made by hand -----===//

#include "PipelineSupport.h"
#include "ShardRunTest.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/loader.h"

#include <cstdlib>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

class PipelineEndToEnd : public ShardRunTest {
protected:
  void SetUp() override { bundle_ = makeBundle(unequalPipeline()); }

  std::string makeBundle(const Json &manifest) {
    std::string path = dir_ / ("bundle" + std::to_string(count_++));
    std::filesystem::create_directories(path + "/programs");
    std::filesystem::copy(TEST_PIPELINE, path + "/programs/program.so");
    writeText(path + "/manifest.json", manifest.dump());
    return path;
  }

  std::string bundle_;
  int count_ = 0;
};

/// w on both stages, whole on stage 0 and on every device of stage 1, and given back by
/// both, from `source0` on stage 0.
Json twoCopies(const char *source0) {
  Json m = unequalPipeline();
  Json &pipeline = m["pipelines"][0];
  const Json whole = Json::parse(R"({"offset": [], "loops": [[16, 1, 1]]})");
  Json w = {{"name", "w"},           {"kind", "weight"}, {"dtype", "f32"}, {"global_shape", {4, 4}},
            {"local_shape", {4, 4}}, {"extents", whole}};
  Json c = w;
  c["name"] = "c";
  c.erase("kind");
  for (int s = 0; s < 2; ++s) {
    Json &stage = pipeline["stages"][size_t(s)];
    stage["arguments"].push_back(w);
    stage["results"].push_back(c);
    Json argument = w, result = c;
    argument["slot"] = {"argument", 1};
    if (s == 0 && std::string(source0) == "sum")
      argument = pipeline["functions"][3]["arguments"][0];
    result["slot"] = {"result", 1};
    stage["instructions"].push_back({"run", pipeline["functions"].size(), -1});
    pipeline["functions"].push_back({{"name", "copy" + std::to_string(s)},
                                     {"stage", s},
                                     {"program", 0},
                                     {"symbol", "sk_apply0"},
                                     {"arena_bytes", 0},
                                     {"arguments", Json::array({argument})},
                                     {"results", Json::array({result})}});
  }
  // The weight of the functions is the same one, of which stage 1 has a shard too.
  pipeline["arguments"][1]["buffers"] = Json::parse("[[1, 0], [0, 1], [1, 1]]");
  pipeline["results"].push_back({{"name", "c"},
                                 {"dtype", "f32"},
                                 {"global_shape", {4, 4}},
                                 {"exact", true},
                                 {"buffers", Json::parse("[[0, 1], [1, 1]]")}});
  pipeline["reference"]["symbol"] = "sk_ref_places";
  return m;
}

TEST_F(PipelineEndToEnd, verifiesRandomInputs) {
  Result result = run(bundle_ + " --random-inputs=1 --verify --report=" + (dir_ / "report.json") +
                      " --repeat=3 --device-map=4,5,6");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "main: 3 devices, 1 collective, 2 stages, 2 microbatches, 2 "
                                   "transfers"))
      << result.out;
  EXPECT_TRUE(contains(result.out, "verify: 1 function, 2 results, all equal")) << result.out;
  Json report = Json::parse(readText(dir_ / "report.json"));
  EXPECT_EQ(report["collectives"][0]["function"], "forward1");
  EXPECT_EQ(report["collectives"][0]["measured"]["executions"], 6); // Microbatches, steps.
  const Json &ran = report["run"]["functions"][0];
  EXPECT_EQ(ran["function"], "main");
  EXPECT_EQ(ran["device_map"], Json::parse("[4, 5, 6]"));
  const Json &pipeline = ran["pipeline"];
  EXPECT_EQ(pipeline["schedule"], "1f1b");
  EXPECT_EQ(pipeline["stages"][0]["ranks"], Json::parse("[2]"));
  EXPECT_EQ(pipeline["stages"][0]["peak_value_bytes"], Json::parse("[256]"));
  EXPECT_EQ(pipeline["stages"][1]["peak_value_bytes"], Json::parse("[128, 128]"));
  EXPECT_EQ(pipeline["stages"][1]["wait_seconds"].size(), 2u);
  EXPECT_EQ(pipeline["functions"][3]["function"], "apply0");
  EXPECT_EQ(pipeline["functions"][3]["measured"]["executions"], 3);
  EXPECT_EQ(pipeline["transfers"][1]["bytes"], 64);
  EXPECT_EQ(pipeline["transfers"][1]["measured"]["executions"], 6);
  EXPECT_EQ(pipeline["transfers"][1]["measured"]["seconds_per_rank"].size(), 3u);
}

TEST_F(PipelineEndToEnd, readsInputsAndWeightsAndWritesResults) {
  std::vector<float> x(32), w(16), y(32), total(16);
  for (size_t i = 0; i < 32; ++i)
    x[i] = float(i % 7) - 3;
  for (size_t i = 0; i < 16; ++i)
    w[i] = float(i % 5) - 2;
  for (size_t i = 0; i < 32; ++i)
    y[i] = 2 * x[i] + w[i % 16] + (i % 16 < 8 ? 3 : 13);
  for (size_t i = 0; i < 16; ++i)
    total[i] = y[16 + i] * y[16 + i] + y[15 - i] * y[15 - i];
  ASSERT_TRUE(writeNpy(dir_ / "x.npy", {"", DType::F32, {8, 4}, x.data()}).ok());
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {4, 4}, w.data()}}).ok());
  const std::string common = " --input x=" + (dir_ / "x.npy") + " --weights " + (dir_ / "w.safetensors") +
                             " --output-dir " + (dir_ / "results");
  const std::string copies = makeBundle(twoCopies("w"));
  for (const std::string &bundle : {bundle_, copies})
    for (const std::string mode : {"direct", "root-scatter"}) {
      Result result = run(bundle + common + " --verify=exact --load=" + mode + " --report=" + (dir_ / "report.json"));
      EXPECT_EQ(result.status, 0) << result.out << result.err;
      for (auto [name, wanted] : {std::pair("y", &y), std::pair("total", &total)}) {
        StoredTensor stored = *openNpy(dir_ / ("results/" + std::string(name) + ".npy"));
        std::vector<float> got(wanted->size());
        ASSERT_TRUE(stored.readElements(0, int64_t(got.size()), got.data()).ok());
        EXPECT_EQ(got, *wanted);
      }
      // Counted for ranks of the pipeline: stage 0 is rank 2, with x and perhaps w. Elements in two copies count once.
      Json report = Json::parse(readText(dir_ / "report.json"));
      const Json &load = report["run"]["functions"][0]["load"];
      EXPECT_EQ(load["bytes_needed"], Json::parse(bundle == copies ? "[64, 64, 192]" : "[32, 32, 128]"));
      // Each byte is read once, also where several stages have it.
      int64_t read = 0;
      for (const Json &bytes : load["bytes_read"])
        read += bytes.get<int64_t>();
      EXPECT_EQ(read, 128 + 64);
    }
  expectError(bundle_ + common + " --load=presharded", "missing shard 'w_shard-2-of-3' of rank 1");
}

TEST_F(PipelineEndToEnd, copiesOfAResultMustAgree) {
  Result result = run(makeBundle(twoCopies("w")) + " --random-inputs=3 --verify");
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_TRUE(contains(result.out, "3 results, all equal")) << result.out;
  // Stage 0 gives back something else, which any tolerance lets pass.
  result = run(makeBundle(twoCopies("sum")) + " --random-inputs=3 --verify --atol=1e9");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.out, "verify main y")) << result.out;
  EXPECT_TRUE(contains(result.out, "MISMATCH main c")) << result.out;
  EXPECT_TRUE(contains(result.out, "stages 0 and 1 do not have the same bits")) << result.out;
}

TEST_F(PipelineEndToEnd, argumentsWithoutAStageAreForTheReference) {
  Json m = unequalPipeline();
  Json unused = m["pipelines"][0]["arguments"][0];
  unused["name"] = "unused";
  unused["buffers"] = Json::array();
  m["pipelines"][0]["arguments"].push_back(unused);
  std::string bundle = makeBundle(m);
  EXPECT_EQ(run(bundle + " --random-inputs=1 --verify").status, 0);
  std::vector<float> x(32);
  ASSERT_TRUE(writeNpy(dir_ / "x.npy", {"", DType::F32, {8, 4}, x.data()}).ok());
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {4, 4}, x.data()}}).ok());
  const std::string given = " --input x=" + (dir_ / "x.npy") + " --weights " + (dir_ / "w.safetensors");
  EXPECT_EQ(run(bundle + given).status, 0);
  expectError(bundle + given + " --verify", "input 'unused' (f32 8x4) is not given");
  EXPECT_EQ(run(bundle + given + " --verify --input unused=" + (dir_ / "x.npy")).status, 0);
}

TEST_F(PipelineEndToEnd, recordedRunsHaveTheSameDigests) {
  ::setenv("SK_RECORD", (dir_ / "suite").c_str(), 1);
  EXPECT_EQ(run(bundle_ + " --random-inputs=1").status, 0);
  EXPECT_EQ(run(makeBundle(twoCopies("w")) + " --random-inputs=2").status, 0);
  ::unsetenv("SK_RECORD");
  Result result = run("--suite " + (dir_ / "suite"));
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "suite: 2 runs, 2 functions, 5 results on 1 process, all equal "
                                   "bit by bit"))
      << result.out;
}

TEST_F(PipelineEndToEnd, isSelectedByName) {
  Json m = unequalPipeline();
  Json alone = m["pipelines"][0]["functions"][3];
  alone["name"] = "alone";
  alone["mesh"] = "a";
  alone["devices"] = 1;
  alone["arguments"][0] = m["pipelines"][0]["stages"][1]["arguments"][0];
  alone["arguments"][0]["local_shape"] = {4, 4};
  alone["arguments"][0]["extents"] = alone["results"][0]["extents"];
  m["functions"].push_back(alone);
  std::string bundle = makeBundle(m);
  expectError(bundle + " --random-inputs=1", "choose one with --function: alone, main");
  expectError(bundle + " --random-inputs=1 --function=forward0", "expected one of: alone, main");
  EXPECT_EQ(run(bundle + " --random-inputs=1 --function=main").status, 0);
  EXPECT_EQ(run(bundle + " --random-inputs=1 --function=alone").status, 0);
}

TEST_F(PipelineEndToEnd, userErrors) {
  expectError(bundle_, "input 'x' (f32 8x4) is not given, use --input");
  expectError(bundle_ + " --random-inputs=1 --device-map=0,1",
              "--device-map has 2 entries, expected 3 for pipeline 'main'");
  expectError(bundle_ + " --random-inputs=1 --input h=a.npy", "'h', which is not an argument");
  Json m = unequalPipeline();
  m["pipelines"][0].erase("reference");
  expectError(makeBundle(m) + " --random-inputs=1 --verify",
              "pipeline 'main': the bundle has no reference to verify against");
  m["pipelines"][0]["functions"][2]["symbol"] = "sk_none";
  expectError(makeBundle(m) + " --random-inputs=1",
              "function 'backward0': program 'programs/program.so' has no symbol 'sk_none'");
  m = unequalPipeline();
  m["pipelines"][0]["stages"][1]["instructions"].erase(6);
  expectError(makeBundle(m) + " --random-inputs=1", "which has none left with stage 0");
}

TEST_F(PipelineEndToEnd, weightsOfAPipelineAreNotShardedForOneMesh) {
  std::vector<float> w(16);
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {4, 4}, w.data()}}).ok());
  const std::string weights = dir_ / "w.safetensors";
  sk_loader_options options{};
  options.abi = SK_ABI_VERSION;
  options.weights = weights.c_str();
  options.manifest = bundle_.c_str();
  sk_context *context = sk_context_create();
  sk_loader *loader = nullptr;
  EXPECT_NE(sk_loader_open(context, &options, &loader), 0);
  EXPECT_TRUE(contains(sk_error(context), bundle_ + ": is of a pipeline, whose weights lie on several "
                                                    "meshes, expected a function"))
      << sk_error(context);
  sk_context_destroy(context);
}

TEST_F(PipelineEndToEnd, faultsEndAllStages) {
  for (auto [fault, message] :
       {std::pair("0:transfer=1:error",
                  "pipeline 'main': stage 1, instruction 2 (transfer 0 of microbatch 1, transfer 1 "
                  "of microbatch 0 with stage 0): rank 0: an injected fault"),
        std::pair("2:transfer=0:stall", "missing rank 2 ("), std::pair("1:0:kill", "rank 1 (")}) {
    ::setenv("SK_FAULT", fault, 1);
    expectError(bundle_ + " --random-inputs=1 --timeout=0.5", message);
    ::unsetenv("SK_FAULT");
  }
  ::setenv("SK_FAULT", "1:transfer=:kill", 1);
  expectError(bundle_ + " --random-inputs=1", "SK_FAULT=1:transfer=:kill, expected RANK:[after=][transfer=]ID:KIND");
  ::unsetenv("SK_FAULT");
}

} // namespace
