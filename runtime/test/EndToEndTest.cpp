//===- EndToEndTest.cpp - shard-run on a bundle made by hand --------------===//

#include "ShardRunTest.h"
#include "TestBundle.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <nlohmann/json.hpp>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

using Result = ShardRunTest::Result;

class EndToEnd : public ShardRunTest {
protected:
  void SetUp() override { bundle_ = makeBundle({"main"}); }

  std::string makeBundle(const std::vector<std::string> &functions) {
    return writeTestBundle(dir_ / ("bundle" + std::to_string(count_++)), functions);
  }

  std::string bundle_;
  int count_ = 0;
};

TEST_F(EndToEnd, verifiesRandomInputs) {
  Result result = run(bundle_ + " --random-inputs=1 --verify --report=" + (dir_ / "report.json") + " --repeat=3");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "verify: 1 function, 1 result, all equal")) << result.out;
  EXPECT_TRUE(contains(result.out, "step: min")) << result.out;
  Json report = Json::parse(readText(dir_ / "report.json"));
  EXPECT_EQ(report["collectives"][0]["measured"]["executions"], 3);
  EXPECT_EQ(report["collectives"][0]["loc"], "model.mlir:12:8");
  EXPECT_EQ(report["totals"]["bytes_by_axis"]["model"], 128);
  EXPECT_EQ(report["run"]["functions"][0]["steps"]["count"], 3);
}

TEST_F(EndToEnd, verifyBeforeThePositionalArgumentAndExact) {
  EXPECT_EQ(run("--verify " + bundle_ + " --random-inputs=2").status, 0);
  // Two halves of a sum of 16 do not round like one.
  EXPECT_EQ(run("--verify=exact --random-inputs=2 " + bundle_).status, 2);
}

TEST_F(EndToEnd, mismatchIsExitTwo) {
  Result result = run(makeBundle({"wrong"}) + " --random-inputs=1 --verify");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.out, "MISMATCH wrong y")) << result.out;
}

TEST_F(EndToEnd, readsInputsAndWeightsAndWritesResults) {
  std::vector<float> x(8 * 16), w(16 * 8), y(64);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 7) - 3, w[i] = float(i % 5) - 2;
  for (size_t i = 0; i < 8; ++i)
    for (size_t k = 0; k < 16; ++k)
      for (size_t j = 0; j < 8; ++j)
        y[i * 8 + j] += x[i * 16 + k] * w[k * 8 + j];
  ASSERT_TRUE(writeNpy(dir_ / "x.npy", {"", DType::F32, {8, 16}, x.data()}).ok());
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"w", DType::F32, {16, 8}, w.data()}}).ok());
  ASSERT_TRUE(writeSafetensors(dir_ / "x.safetensors", {{"x", DType::F32, {8, 16}, x.data()}}).ok());
  for (const std::string &input : {"x=" + (dir_ / "x.npy"), dir_ / "x.safetensors"})
    for (const std::string format : {"npy", "safetensors"}) {
      Result result = run("--input " + input + " " + bundle_ + " --weights " + (dir_ / "w.safetensors") +
                          " --output-dir " + (dir_ / "results") + " --verify=exact" + " --output-format=" + format);
      EXPECT_EQ(result.status, 0) << result.out;
      EXPECT_TRUE(contains(result.out, "384 B owned per device, 1024 B read in all")) << result.out;
      StoredTensor stored;
      if (format == "npy")
        stored = *openNpy(dir_ / "results/y.npy");
      else
        stored = (*openSafetensors(dir_ / "results/outputs.safetensors"))["y"];
      EXPECT_EQ(stored.shape, (Shape{8, 8}));
      std::vector<float> got(64);
      ASSERT_TRUE(stored.file->read(got.data(), stored.offset, 256).ok());
      EXPECT_EQ(got, y);
    }
}

TEST_F(EndToEnd, loadingFunctionsOfEveryKind) {
  std::vector<float> x(8 * 16), w(16 * 8), wt(8 * 16), left, right, y(64);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 7) - 3, w[i] = float(i % 11) - 2;
  for (size_t k = 0; k < 16; ++k)
    for (size_t j = 0; j < 8; ++j) {
      wt[j * 16 + k] = w[k * 8 + j];
      (j < 3 ? left : right).push_back(w[k * 8 + j]);
      for (size_t i = 0; i < 8; ++i)
        y[i * 8 + j] += x[i * 16 + k] * w[k * 8 + j];
    }
  ASSERT_TRUE(writeNpy(dir_ / "x.npy", {"", DType::F32, {8, 16}, x.data()}).ok());
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {TensorRef{"wt", DType::F32, {8, 16}, wt.data()},
                                                        TensorRef{"left", DType::F32, {16, 3}, left.data()},
                                                        TensorRef{"right", DType::F32, {16, 5}, right.data()}})
                  .ok());
  const Json transposed = Json::parse(R"([{"name": "wt", "dtype": "f32", "shape": [8, 16]}])");
  const Json loads[] = {
      Json::parse(R"({"sources": [{"name": "left", "dtype": "f32", "shape": [16, 3]},
                                  {"name": "right", "dtype": "f32", "shape": [16, 5]}],
                      "pieces": [{"offset": [[1, 2, 24]], "loops": [[8, 3, 8], [3, 1, 1]]},
                                 {"source": 1, "base": [0, 3], "offset": [[1, 2, 40]],
                                  "loops": [[8, 5, 8], [5, 1, 1]]}]})"),
      {{"sources", transposed},
       {"function", {{"program", 0}, {"symbol", "sk_load_transposed"}, {"arena_bytes", 0}}},
       {"reference", {{"program", 0}, {"symbol", "sk_load_whole"}, {"arena_bytes", 0}}}},
      // A slice for each of the two distinct shards, on four devices.
      {{"sources", transposed}, {"chain", Json::parse(R"([["tests.transpose", [[2, 8, 8], "f32"], "transpose"]])")}}};
  const std::string common = " --input x=" + (dir_ / "x.npy") + " --weights " + (dir_ / "w.safetensors") +
                             " --output-dir " + (dir_ / "results");
  const std::string library = std::string(" --shard-functions=") + TEST_SHARD_FUNCTIONS;
  for (const Json &load : loads)
    for (const std::string mode : {"direct", "root-scatter"}) {
      std::string bundle = makeBundle({"main"});
      Json manifest = Json::parse(readText(bundle + "/manifest.json"));
      manifest["functions"][0]["arguments"][1]["load"] = load;
      writeText(bundle + "/manifest.json", manifest.dump());
      Result result = run(bundle + common + library + " --verify=exact --load=" + mode);
      EXPECT_EQ(result.status, 0) << result.out << result.err;
      StoredTensor stored = *openNpy(dir_ / "results/y.npy");
      std::vector<float> got(64);
      ASSERT_TRUE(stored.readElements(0, 64, got.data()).ok());
      EXPECT_EQ(got, y);
      if (load.contains("chain"))
        expectError(bundle + common, "weight 'w': shard function 'tests.transpose' is not "
                                     "registered; there are: 'shardkit.pieces', 'shardkit.shard'");
    }
  std::string bundle = makeBundle({"main"});
  Json manifest = Json::parse(readText(bundle + "/manifest.json"));
  Json &load = manifest["functions"][0]["arguments"][1]["load"];
  load = loads[2];
  load["chain"][0][2] = "else";
  writeText(bundle + "/manifest.json", manifest.dump());
  expectError(bundle + common + library,
              "weight 'w': shard function 'tests.transpose' returned 1 for f32 8x16 to f32 2x8x8");
  load = loads[1];
  load["function"]["symbol"] = "sk_none";
  writeText(bundle + "/manifest.json", manifest.dump());
  expectError(bundle + common, "has no symbol 'sk_none'");
  load["sources"][0]["name"] = "tw";
  writeText(bundle + "/manifest.json", manifest.dump());
  expectError(bundle + common, "missing stored tensor 'tw' of weight 'w'");
  expectError(bundle_ + common + " --shard-functions=" + (dir_ / "none.so"), "none.so: cannot be loaded");
  expectError(bundle_ + common + " --shard-functions=" + TEST_PROGRAM, "has no function 'sk_register'");
}

TEST_F(EndToEnd, severalFunctions) {
  std::string several = makeBundle({"main", "wrong"});
  expectError(several + " --random-inputs=1", "the bundle has several functions, choose one with --function: "
                                              "main, wrong");
  expectError(several + " --function=nope --random-inputs=1", "expected one of: main, wrong");
  EXPECT_EQ(run(several + " --function=main --random-inputs=1").status, 0);
  Result all = run(several + " --random-inputs=1 --verify");
  EXPECT_EQ(all.status, 2);
  EXPECT_TRUE(contains(all.out, "verify: 2 functions, 2 results, 1 MISMATCH")) << all.out;
}

TEST_F(EndToEnd, ranksThatFailHangOrAreMissing) {
  expectError(makeBundle({"absent"}) + " --random-inputs=1 --timeout=0.3",
              "collective 0 (all_reduce of 128 bytes at model.mlir:12:8): rank 2 waited 0.3 "
              "s, arrived 2, missing rank 3 (finished)");
  expectError(makeBundle({"failing"}) + " --random-inputs=1", "rank 2: the program returned status 42");
  expectError(makeBundle({"hang"}) + " --random-inputs=1 --timeout=0.3",
              "missing rank 3 (before its first collective)");
}

TEST_F(EndToEnd, userErrors) {
  expectError("", "BUNDLE_OR_IR is required");
  expectError(dir_ / "none", "no such file or directory");
  expectError(dir_.path(), "manifest.json: cannot be read: No such file or directory; expected a bundle");
  expectError(bundle_, "input 'x' (f32 8x16) is not given, use --input");
  expectError(bundle_ + " --random-inputs=x", "--random-inputs=x, expected");
  expectError(bundle_ + " --bogus", "--bogus");
  expectError(bundle_ + " --backend=nccl", "--backend=nccl, but the bundle is for cpu, expected one for cuda");
  expectError(bundle_ + " --load=other", "--load=other, expected direct, root-scatter or presharded");
  expectError(bundle_ + " --verify=maybe", "--verify=maybe");
  expectError(bundle_ + " --repeat=0", "--repeat=0");
  expectError(bundle_ + " --output-format=csv", "--output-format=csv");
  expectError(bundle_ + " --device-map=0,x", "--device-map=0,x");
  expectError(bundle_ + " --device-map=0,1 --random-inputs=1", "--device-map has 2 entries, expected 4");
  expectError(bundle_ + " --input x", "expected NAME=FILE.npy");
  expectError(bundle_ + " --input q=a.npy", "names 'q', which is not an argument");
  expectError(bundle_ + " --input x=" + (dir_ / "gone.npy"), "cannot be opened");
  expectError(bundle_ + " --range=x=5:2", "expected NAME=LOW:HIGH");
  expectError(bundle_ + " --random-inputs=1 --range=x=0:2", "which is not of integers");
  expectError(bundle_ + " --random-inputs=1 --weights " + (dir_ / "w"), "cannot be opened");
  float v = 0;
  ASSERT_TRUE(writeSafetensors(dir_ / "w.safetensors", {{"weight", DType::F32, {}, &v}}).ok());
  expectError(bundle_ + " --random-inputs=1 --weights " + dir_.path(), "missing weight 'w' (f32 16x8)");
  writeText(dir_ / "model.mlir", "module {}");
  expectError(dir_ / "model.mlir", "error: ");
}

TEST_F(EndToEnd, bundlesWithoutAReferenceCannotVerify) {
  Json manifest = Json::parse(readText(bundle_ + "/manifest.json"));
  manifest["functions"][0].erase("reference");
  writeText(bundle_ + "/manifest.json", manifest.dump());
  EXPECT_EQ(run(bundle_ + " --random-inputs=1").status, 0);
  expectError(bundle_ + " --random-inputs=1 --verify", "--with-reference");
}

TEST_F(EndToEnd, brokenProgramsAreNamed) {
  Json manifest = Json::parse(readText(bundle_ + "/manifest.json"));
  manifest["functions"][0]["symbol"] = "sk_fn_none";
  writeText(bundle_ + "/manifest.json", manifest.dump());
  expectError(bundle_ + " --random-inputs=1", "has no symbol 'sk_fn_none'");
  writeText(bundle_ + "/programs/program.so", "not a library");
  expectError(bundle_ + " --random-inputs=1", "program 'programs/program.so' cannot be loaded");
}

TEST_F(EndToEnd, manifestsThatDisagreeWithTheProgramAreRefused) {
  const Json manifest = Json::parse(readText(bundle_ + "/manifest.json"));
  auto refuse = [&](const std::string &listed, const std::string &symbol, const std::string &needed, auto change,
                    const std::string &options = "") {
    Json other = manifest;
    change(other["functions"][0]);
    writeText(bundle_ + "/manifest.json", other.dump());
    expectError(bundle_ + " --random-inputs=1" + options,
                "function 'main': the manifest lists " + listed + " for '" + symbol + "', the program needs " + needed);
  };
  const std::string main = "2 arguments, 1 results and an arena of 128 bytes";
  refuse("2 arguments, 0 results and an arena of 128 bytes", "sk_fn_main", main,
         [](Json &function) { function["results"] = Json::array(); });
  refuse("1 arguments, 1 results and an arena of 128 bytes", "sk_fn_main", main,
         [](Json &function) { function["arguments"].erase(1); });
  refuse("2 arguments, 1 results and an arena of 127 bytes", "sk_fn_main", main,
         [](Json &function) { function["arena_bytes"] = 127; });
  refuse(
      "1 arguments, 1 results and an arena of 0 bytes", "sk_ref_main", "2 arguments, 1 results and an arena of 0 bytes",
      [](Json &function) { function["reference"]["arguments"] = {0}; }, " --verify");
  refuse("2 arguments, 1 results and an arena of 0 bytes", "sk_load_transposed",
         "1 arguments, 1 results and an arena of 0 bytes", [](Json &function) {
           const Json stored = {{"name", "a"}, {"dtype", "f32"}, {"shape", {8, 16}}};
           Json second = stored;
           second["name"] = "b";
           function["arguments"][1]["load"] = {
               {"sources", {stored, second}},
               {"function", {{"program", 0}, {"symbol", "sk_load_transposed"}, {"arena_bytes", 0}}}};
         });
}

TEST_F(EndToEnd, irIsCompiledByTheCompilerInTheSameFolder) {
  // A copy of shard-run with a stand-in for the compiler beside it.
  std::filesystem::create_directories(dir_ / "bin");
  std::filesystem::create_symlink(std::filesystem::path(SHARD_RUN).parent_path().parent_path() / "lib", dir_ / "lib");
  std::filesystem::copy(SHARD_RUN, dir_ / "bin/shard-run");
  std::string compiler = dir_ / "bin/shard-compile";
  auto standIn = [&](const std::string &script) {
    writeText(compiler, "#!/bin/sh\n" + script);
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  };
  writeText(dir_ / "m.mlir", "module {}");
  auto go = [&](const std::string &arguments) {
    std::string command =
        (dir_ / "bin/shard-run") + " " + (dir_ / "m.mlir") + " " + arguments + " >" + (dir_ / "out") + " 2>&1";
    int status = std::system(command.c_str());
    return WEXITSTATUS(status);
  };
  standIn("echo \"$@\"; cp -r " + bundle_ + "/. \"$3\"\n");
  EXPECT_EQ(go("--random-inputs=1 --verify --auto-shard=time-limit=3 "
               "--compile-option=--mesh=pod"),
            0);
  std::string out = readText(dir_ / "out");
  EXPECT_TRUE(contains(out, "m.mlir -o ")) << out;
  EXPECT_TRUE(contains(out, "--with-reference --auto-shard=time-limit=3 --mesh=pod")) << out;
  EXPECT_TRUE(contains(out, "all equal")) << out;
  standIn("echo m.mlir:1:1: error: no >&2; exit 3\n");
  EXPECT_EQ(go("--random-inputs=1"), 1);
  EXPECT_EQ(readText(dir_ / "out"), "m.mlir:1:1: error: no\n");
}

} // namespace
