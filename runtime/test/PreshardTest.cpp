//===- PreshardTest.cpp - Sets cut ahead of time, loaded on any mesh ------===//

#include "Malformed.h"
#include "Support.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Loading/Preshard.h"
#include "shardkit/rt/Loading/WeightLoader.h"

#include <nlohmann/json.hpp>

#include <numeric>

using namespace shardkit::rt;
using namespace shardkit::rt::test;
using Json = nlohmann::json;

namespace {

/// Three weights: rows cut over all devices, columns over the inner axis (so that
/// the outer one replicates), one whole; sizes that no number of devices divides.
WeightManifest manifestFor(int64_t outer, int64_t inner) {
  WeightManifest manifest;
  int64_t devices = outer * inner;
  manifest.devices = devices;
  if (devices > 1)
    manifest.mesh = {"m", {{"o", outer}, {"i", inner}}, {}};
  for (int64_t r = 0; r < devices; ++r)
    manifest.mesh.deviceIds.push_back(r);
  auto add = [&](const std::string &name, DType dtype, Shape shape, int64_t dim, std::vector<RankDigit> digits,
                 const std::string &sharding) {
    ValueInfo value;
    value.name = name;
    value.kind = ValueKind::Weight;
    value.dtype = dtype;
    value.globalShape = value.localShape = shape;
    int64_t parts = 1;
    for (RankDigit digit : digits)
      parts *= digit.size;
    if (dim >= 0)
      value.localShape[size_t(dim)] = (shape[size_t(dim)] + parts - 1) / parts;
    value.globalElements = *numElements(shape);
    value.localElements = *numElements(value.localShape);
    value.sharding = sharding;
    int64_t gs = 1, ls = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      value.extents.loops.insert(value.extents.loops.begin(), {value.localShape[d], gs, ls});
      gs *= shape[d];
      ls *= value.localShape[d];
    }
    if (dim >= 0 && parts > 1)
      value.extents.uneven.push_back({dim, shape[size_t(dim)], digits});
    EXPECT_TRUE(validateExtents(value.extents, value.localElements, value.globalElements, devices, true).ok());
    manifest.weights.push_back(value);
  };
  add("rows", DType::F32, {29, 6}, 0, {{inner, outer}, {1, inner}}, "rows");
  add("layers.0_shard-1-of-2.cols", DType::I16, {5, 17}, 1, {{1, inner}}, "cols");
  add("whole", DType::U8, {11}, -1, {}, "none");
  add("scalar", DType::F64, {}, -1, {}, "none");
  return manifest;
}

struct Sets : testing::Test {
  TempDir dir;
  std::vector<float> rows = std::vector<float>(29 * 6);
  std::vector<int16_t> cols = std::vector<int16_t>(5 * 17);
  std::vector<uint8_t> full = std::vector<uint8_t>(11);
  double scalar = 2.5;

  void SetUp() override {
    std::iota(rows.begin(), rows.end(), 1.f);
    std::iota(cols.begin(), cols.end(), int16_t(1000));
    std::iota(full.begin(), full.end(), uint8_t(5));
    std::filesystem::create_directory(dir / "source");
    ASSERT_TRUE(writeSafetensors(dir / "source/w.safetensors",
                                 {TensorRef{"rows", DType::F32, {29, 6}, rows.data()},
                                  TensorRef{"layers.0_shard-1-of-2.cols", DType::I16, {5, 17}, cols.data()},
                                  TensorRef{"whole", DType::U8, {11}, full.data()},
                                  TensorRef{"scalar", DType::F64, {}, &scalar}})
                    .ok());
  }
  SourceSet open(const std::string &path) {
    auto set = SourceSet::open(path);
    EXPECT_TRUE(set.ok()) << set.status().message();
    return *set;
  }
  const void *dataOf(const std::string &name) const {
    if (name == "rows")
      return rows.data();
    if (name == "whole")
      return full.data();
    if (name == "scalar")
      return &scalar;
    return cols.data();
  }
  void expectRight(const std::vector<LoadedWeight> &loaded, const WeightManifest &manifest) {
    ASSERT_EQ(loaded.size(), manifest.weights.size());
    for (const LoadedWeight &weight : loaded)
      for (int64_t rank = 0; rank < manifest.devices; ++rank) {
        const ValueInfo &value = *weight.value;
        std::vector<char> expected(static_cast<size_t>(value.localBytes()));
        gatherLocal(value.extents, rank, dtypeSize(value.dtype), dataOf(value.name), expected.data());
        EXPECT_EQ(0, std::memcmp(expected.data(), weight.ranks[size_t(rank)].data(), expected.size()))
            << value.name << " rank " << rank;
      }
  }
};

TEST_F(Sets, fromAnyToAnyNumberOfRanksInBothLayouts) {
  const std::pair<int64_t, int64_t> meshes[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {2, 4}};
  for (bool tvm : {false, true})
    for (auto [m0, m1] : meshes) {
      WeightManifest sharded = manifestFor(m0, m1);
      TempDir out;
      PreshardOptions options;
      options.tvmLayout = tvm;
      options.maxFileBytes = 300;
      auto result = preshard(sharded, open(dir / "source"), out.path(), options);
      ASSERT_TRUE(result.ok()) << result.status().message();
      EXPECT_FALSE(std::filesystem::exists(out / "presharded.partial.json"));
      // No byte is read for two ranks.
      EXPECT_LE(result->load.total.bytesRead, 29 * 6 * 4 + 5 * 17 * 2 + 11 + 8);
      SourceSet set = open(out.path());
      // As it is: no communication, each shard read once.
      WeightLoader same(sharded, set);
      auto loaded = same.loadAllPresharded();
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      expectRight(*loaded, sharded);
      EXPECT_EQ(same.stats().scatters + same.stats().broadcasts, 0);
      for (auto [n0, n1] : meshes) {
        WeightManifest wanted = manifestFor(n0, n1);
        WeightLoader other(wanted, set);
        auto direct = other.loadAll();
        ASSERT_TRUE(direct.ok()) << direct.status().message();
        expectRight(*direct, wanted);
        // The node reads no byte of the set twice.
        int64_t most = 0;
        for (const auto &[name, tensor] : set.stored().tensors)
          most += tensor.bytes;
        EXPECT_LE(other.stats().total.bytesRead, most);
        if (n0 * n1 != m0 * m1)
          EXPECT_ERROR(other.loadAllPresharded().status(), "was sharded in another way: devices");
      }
      SourceSet source = open(dir / "source");
      auto verified = verifySet(set, &source, nullptr, {}, nullptr, nullptr);
      ASSERT_TRUE(verified.ok()) << verified.status().message();
      EXPECT_TRUE(verified->values);
      EXPECT_GT(verified->checksums, 0);
    }
}

TEST_F(Sets, replicasAreStoredOnceExceptInTvmLayout) {
  WeightManifest sharded = manifestFor(2, 2);
  TempDir shared, tvm;
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), shared.path(), {}).ok());
  PreshardOptions options;
  options.tvmLayout = true;
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), tvm.path(), options).ok());
  WeightSet a = *openWeights(shared.path()), b = *openWeights(tvm.path());
  EXPECT_TRUE(a.tensors.count("whole_shard-1-of-4"));
  EXPECT_FALSE(a.tensors.count("whole_shard-2-of-4"));
  EXPECT_EQ(a.tensors["whole_shard-1-of-4"].file->path(), shared / "common-00001.safetensors");
  EXPECT_EQ(a.tensors["rows_shard-3-of-4"].file->path(), shared / "rank-3-of-4-00001.safetensors");
  // No data file is read by two ranks.
  std::map<std::string, int64_t> rankOf;
  for (const auto &[name, tensor] : b.tensors) {
    int64_t rank = parseShardName(name)->rank;
    EXPECT_EQ(rankOf.emplace(tensor.file->path(), rank).first->second, rank) << name;
  }
  EXPECT_EQ(b.tensors.size(), 16u);
  // The data of .safetensors starts at a page.
  int64_t least = INT64_MAX;
  for (const auto &[name, tensor] : a.tensors)
    least = std::min(least, tensor.offset);
  EXPECT_EQ(least % 4096, 0);
}

TEST_F(Sets, interruptedRunsResumeAndOtherConfigurationsStartAgain) {
  WeightManifest sharded = manifestFor(1, 3);
  TempDir out;
  PreshardOptions options;
  options.maxFileBytes = 100;
  int written = 0;
  options.log = [&](const std::string &line) { written += line.compare(0, 5, "wrote") == 0; };
  auto first = preshard(sharded, open(dir / "source"), out.path(), options);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->kept, 0);
  EXPECT_EQ(written, first->files);
  const std::string complete = readText(out / "presharded.json");
  // As if it had been killed before the second file was complete: a journal with
  // the first.
  auto breakOff = [&] {
    Json journal = {{"configuration", configurationHash(sharded)},
                    {"layout", "shared"},
                    {"functions", ""},
                    {"max_file_bytes", 100}};
    Json manifest = Json::parse(complete);
    Json file = manifest["files"][0];
    journal["files"][file["path"].get<std::string>()] = {
        {"bytes", file["bytes"]}, {"md5", file["checksum"].get<std::string>().substr(4)}, {"entry", ""}};
    return journal;
  };
  // The fingerprint of the source stands in a journal that is there while it runs.
  std::string fingerprint;
  PreshardOptions spy = options;
  spy.log = [&](const std::string &) {
    fingerprint = Json::parse(readText(out / "presharded.partial.json"))["source"];
    EXPECT_FALSE(std::filesystem::exists(out / "presharded.json"));
  };
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), out.path(), spy).ok());
  Json journal = breakOff();
  journal["source"] = fingerprint;
  std::filesystem::remove(out / "presharded.json");
  writeText(out / "presharded.partial.json", journal.dump());
  writeText(out / "rank-2-of-3-00001.safetensors.tmp17.4", "unfinished");
  writeText(out / "notes.tmp17.4", "of the user");
  written = 0;
  auto second = preshard(sharded, open(dir / "source"), out.path(), options);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->kept, 1);
  EXPECT_EQ(written, second->files - 1);
  EXPECT_FALSE(std::filesystem::exists(out / "rank-2-of-3-00001.safetensors.tmp17.4"));
  EXPECT_TRUE(std::filesystem::exists(out / "notes.tmp17.4"));
  EXPECT_EQ(readText(out / "presharded.json"), complete);
  // Another source, or a file that is cut short: nothing is kept.
  journal["source"] = "other";
  writeText(out / "presharded.partial.json", journal.dump());
  EXPECT_EQ(preshard(sharded, open(dir / "source"), out.path(), options)->kept, 0);
  journal["source"] = fingerprint;
  writeText(out / "presharded.partial.json", journal.dump());
  std::filesystem::resize_file(out / "rank-1-of-3-00001.safetensors", 10);
  EXPECT_EQ(preshard(sharded, open(dir / "source"), out.path(), options)->kept, 0);
  EXPECT_EQ(readText(out / "presharded.json"), complete);
  // A byte that changed, of the same number of bytes.
  const std::string first1 = out / "rank-1-of-3-00001.safetensors", bytes = readText(first1);
  auto resume = [&] {
    writeText(out / "presharded.partial.json", journal.dump());
    return preshard(sharded, open(dir / "source"), out.path(), options);
  };
  EXPECT_EQ(resume()->kept, 1);
  std::string changed = bytes;
  changed.back() ^= 1;
  writeText(first1, changed);
  EXPECT_EQ(resume()->kept, 0);
  EXPECT_EQ(readText(first1), bytes);
  // Other loading functions.
  options.functions = "other code";
  EXPECT_EQ(resume()->kept, 0);
  options.functions.clear();
  EXPECT_EQ(resume()->kept, 1);
  // A damaged journal.
  journal["files"].begin().value()["md5"] = 3;
  EXPECT_EQ(resume()->kept, 0);
}

TEST_F(Sets, sourcesThatAreSwappedStartAgain) {
  WeightManifest sharded = manifestFor(1, 3);
  PreshardOptions options;
  options.maxFileBytes = 100;
  // Runs end after their first file. The next one finds another file of the same size and time.
  const std::string file = dir / "source/w.safetensors", other = dir / "w.safetensors";
  const std::string text = readText(file);
  for (const std::string how : {"none", "renamed", "written"}) {
    TempDir out;
    options.log = [](const std::string &) { throw std::runtime_error("killed"); };
    EXPECT_THROW((void)preshard(sharded, open(dir / "source"), out.path(), options), std::runtime_error);
    options.log = nullptr;
    const auto time = std::filesystem::last_write_time(file);
    std::string changed = text;
    changed.back() ^= 1;
    if (how == "renamed") {
      writeText(other, changed);
      std::filesystem::rename(other, file);
    } else if (how == "written") {
      writeText(file, text);
    }
    if (how != "none")
      std::filesystem::last_write_time(file, time);
    auto result = preshard(sharded, open(dir / "source"), out.path(), options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->kept, how == "none" ? 1 : 0) << how;
  }
}

TEST_F(Sets, oneRunWritesIntoADirectory) {
  WeightManifest sharded = manifestFor(1, 3);
  TempDir out;
  PreshardOptions options;
  Status second;
  options.log = [&](const std::string &) {
    if (second.ok())
      second = preshard(sharded, open(dir / "source"), out.path(), PreshardOptions()).status();
  };
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), out.path(), options).ok());
  EXPECT_ERROR(second, "another process writes in it and holds shardkit.lock, expected one at a time");
  EXPECT_FALSE(std::filesystem::exists(out / "shardkit.lock"));
  // A lock of a process that died.
  writeText(out / "shardkit.lock", "");
  EXPECT_TRUE(preshard(sharded, open(dir / "source"), out.path(), PreshardOptions()).ok());
}

TEST_F(Sets, allMissingAndUnusedTensorsAreListed) {
  WeightManifest wanted = manifestFor(1, 3);
  SourceSet set = open(dir / "source");
  EXPECT_TRUE(set.checkAllUsed(pointersTo(wanted.weights)).ok());
  wanted.weights[0].name = "row";
  wanted.weights[2].name = "a";
  EXPECT_ERROR(WeightLoader(wanted, set).loadAll().status(), "did you mean 'rows'; 2 are missing in all: 'row', 'a'");
  EXPECT_ERROR(set.checkAllUsed(pointersTo(wanted.weights)), "2 tensors that no argument names: 'rows', 'whole'");
  TempDir out;
  ASSERT_TRUE(preshard(manifestFor(1, 3), set, out.path(), PreshardOptions()).ok());
  SourceSet presharded = open(out.path());
  EXPECT_TRUE(presharded.checkAllUsed(pointersTo(manifestFor(1, 3).weights)).ok());
  EXPECT_ERROR(presharded.checkAllUsed(pointersTo(wanted.weights)), "2 tensors that no argument names");
  EXPECT_ERROR(WeightLoader(wanted, presharded).loadAllPresharded().status(), "2 are missing in all: 'row', 'a'");
  EXPECT_TRUE(verifyChecksums(presharded.filesWithChecksums()).ok());
  std::string bytes = readText(out / "common-00001.safetensors");
  bytes.back() ^= 1;
  writeText(out / "common-00001.safetensors", bytes);
  EXPECT_ERROR(verifyChecksums(presharded.filesWithChecksums()), "common-00001.safetensors: the checksum is");
}

TEST_F(Sets, damagedSetsAreOneError) {
  WeightManifest sharded = manifestFor(1, 2);
  TempDir out;
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), out.path(), {}).ok());
  const std::string good = readText(out / "presharded.json");
  auto expect = [&](const std::function<void(Json &)> &change, const std::string &message) {
    Json json = Json::parse(good);
    change(json);
    writeText(out / "presharded.json", json.dump());
    keepMalformed(out / ".", message);
    EXPECT_ERROR(SourceSet::open(out.path()).status(), message);
  };
  expect([](Json &j) { j["version"] = 3; },
         "version 3, expected 1 to 2, the versions that this runtime reads; update the runtime");
  expect([](Json &j) { j.erase("weights"); }, "'weights' is missing");
  expect([](Json &j) { j["devices"] = 3; }, "expected the size of the mesh, 2");
  expect([](Json &j) { j["layout"] = "zip"; }, "expected 'shared' or 'tvm'");
  expect([](Json &j) { j["weights"][0]["sharding"] = "x"; }, "'configuration' is");
  expect([](Json &j) { j["configuration"] = "0"; }, "'configuration' is '0', expected");
  expect([](Json &j) { j["weights"][0]["dtype"] = "f31"; }, "'dtype' is 'f31'");
  expect([](Json &j) { j["weights"][0]["local_shape"] = {14, 6}; }, "do not write every one");
  expect([](Json &j) { j["weights"][0]["extents"]["uneven"] = Json::array(); }, "do not cover the 174 global elements");
  expect([](Json &j) { j["files"][0]["path"] = "../x"; }, "leaves the directory");
  expect([](Json &j) { j["files"][0]["path"] = "gone"; }, "'gone' cannot be found");
  expect([](Json &j) { j["files"][0]["bytes"] = 7; }, "bytes, expected 7");
  auto again = [&](const std::function<void(WeightManifest &)> &change, const std::string &message) {
    WeightManifest manifest = *parseWeightManifest(good, "m");
    change(manifest);
    manifest.configuration = configurationHash(manifest);
    writeText(out / "presharded.json", weightManifestText(manifest));
    keepMalformed(out / ".", message);
    EXPECT_ERROR(SourceSet::open(out.path()).status(), message);
  };
  again([](WeightManifest &m) { m.weights[0].name = "other"; },
        "weight 'other', rank 0: the set has no tensor 'other_shard-1-of-2'");
  again([](WeightManifest &m) { m.weights.push_back(m.weights[0]); }, "weight 'rows' appears twice");
  again([](WeightManifest &m) { m.weights[0].dtype = DType::I32; }, "stored as F32, expected i32");
  writeText(out / "presharded.json", good.substr(0, 100));
  EXPECT_ERROR(SourceSet::open(out.path()).status(), "presharded.json: the manifest is not valid JSON");
  // Without it the set loads on its own number of ranks alone.
  std::filesystem::remove(out / "presharded.json");
  SourceSet bare = open(out.path());
  EXPECT_ERROR(bare.find(sharded.weights[0]).status(), "holds it presharded for 2 ranks and has no presharded.json");
  EXPECT_ERROR(bare.findPresharded(sharded.weights[0], 3).status(), "holds it presharded for 2 ranks, expected 3");
  EXPECT_TRUE(bare.findPresharded(sharded.weights[0], 2).ok());
  // Values and checksums.
  writeText(out / "presharded.json", good);
  std::string file = out / "rank-2-of-2-00001.safetensors", bytes = readText(file);
  bytes[4100] ^= 1;
  writeText(file, bytes);
  SourceSet damaged = open(out.path()), source = open(dir / "source");
  EXPECT_ERROR(verifySet(damaged, nullptr, nullptr, {}, nullptr, nullptr).status(), "the checksum is");
}

/// Of a pipeline: `rows` on two ranks of one stage and three of another, the rest on one of
/// them; the ranks of a mesh are not those of the world.
WeightManifest manifestOfStages() {
  WeightManifest first = manifestFor(1, 2), second = manifestFor(1, 3), all;
  all.devices = 5;
  for (const auto &[stage, ranks] :
       {std::pair(&first, std::vector<int64_t>{3, 1}), std::pair(&second, std::vector<int64_t>{0, 4, 2})})
    for (ValueInfo value : stage->weights)
      if (value.name == "rows" || (value.name == "whole") == (stage == &second)) {
        value.ranks = ranks;
        all.weights.push_back(value);
      }
  return all;
}

TEST_F(Sets, stagesHoldTheirWeights) {
  const WeightManifest sharded = manifestOfStages();
  ASSERT_EQ(sharded.weights.size(), 5u);
  for (bool tvm : {false, true}) {
    TempDir out, again;
    PreshardOptions options;
    options.tvmLayout = tvm;
    options.maxFileBytes = 300;
    ASSERT_TRUE(preshard(sharded, open(dir / "source"), out.path(), options).ok());
    SourceSet set = open(out.path());
    auto expectAll = [&](Expected<std::vector<LoadedWeight>> loaded, const WeightManifest &manifest) {
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      for (const LoadedWeight &weight : *loaded) {
        const ValueInfo &value = *weight.value;
        ASSERT_EQ(int64_t(weight.ranks.size()), value.holders(manifest.devices));
        for (size_t r = 0; r < weight.ranks.size(); ++r) {
          std::vector<char> expected(static_cast<size_t>(value.localBytes()));
          gatherLocal(value.extents, int64_t(r), dtypeSize(value.dtype), dataOf(value.name), expected.data());
          EXPECT_EQ(0, std::memcmp(expected.data(), weight.ranks[r].data(), expected.size()))
              << value.name << " rank " << value.worldRank(int64_t(r));
        }
      }
    };
    WeightLoader same(sharded, set);
    expectAll(same.loadAllPresharded(), sharded);
    expectAll(same.loadAll(), sharded);
    for (auto [outer, inner] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {1, 5}}) {
      WeightManifest mesh = manifestFor(outer, inner);
      WeightLoader other(mesh, set);
      expectAll(other.loadAll(), mesh);
      EXPECT_FALSE(other.loadAllPresharded().ok());
    }
    EXPECT_ERROR(WeightLoader(manifestFor(1, 5), set).loadAllPresharded().status(),
                 "was sharded in another way: ranks 3, 1 there, 0 to 4 here");
    // From a mesh to stages, and from stages to others.
    WeightManifest moved = sharded;
    std::swap(moved.weights[0].ranks[0], moved.weights[0].ranks[1]);
    WeightLoader elsewhere(moved, set);
    expectAll(elsewhere.loadAll(), moved);
    EXPECT_ERROR(elsewhere.loadAllPresharded().status(), "ranks 3, 1 there, 1, 3 here");
    ASSERT_TRUE(preshard(manifestFor(2, 2), set, again.path(), options).ok());
    WeightLoader back(sharded, open(again.path()));
    expectAll(back.loadAll(), sharded);
    auto verified = verifySet(set, nullptr, &sharded, {}, nullptr, nullptr);
    EXPECT_TRUE(verified.ok()) << verified.status().message();
  }
}

TEST_F(Sets, ranksOfStagesAreChecked) {
  const std::string good = weightManifestText(manifestOfStages());
  ASSERT_TRUE(parseWeightManifest(good, "m").ok());
  auto expect = [&](const std::function<void(Json &)> &change, const std::string &message) {
    Json json = Json::parse(good);
    change(json);
    EXPECT_ERROR(parseWeightManifest(json.dump(), "m").status(), message);
  };
  expect([](Json &j) { j["weights"][0]["ranks"] = {1, 5}; }, "'ranks' names rank 5, expected each of 0 to 4");
  expect([](Json &j) { j["weights"][0]["ranks"] = {1, 1}; }, "'ranks' names rank 1, expected each of 0 to 4 at most");
  expect([](Json &j) { j["weights"][0]["ranks"] = {-1, 1}; }, "'ranks' names rank -1");
  expect([](Json &j) { j["weights"][0]["ranks"] = Json::array(); }, "'ranks' is empty");
  expect([](Json &j) { j["weights"][0]["ranks"] = {1}; }, "does not fit 1 devices");
  expect([](Json &j) { j["weights"][0].erase("ranks"); }, "'ranks' is missing, and the manifest has no 'mesh'");
  expect([](Json &j) { j["devices"] = int64_t(1) << 40; }, "expected the size of the mesh");
  expect([](Json &j) { j["mesh"] = Json::parse(R"({"name": "m", "axes": [["x", 5]]})"); },
         "'ranks' is present together with a mesh");
  // One rank cannot hold a weight in two ways.
  WeightManifest twice = manifestOfStages();
  twice.weights[3].ranks = {0, 4, 1};
  TempDir out;
  EXPECT_ERROR(preshard(twice, open(dir / "source"), out.path(), {}).status(), "two arguments are named 'rows'");
}

TEST_F(Sets, wrongValuesOfAPreshardedSetAreFound) {
  WeightManifest sharded = manifestFor(1, 2);
  TempDir out, other;
  rows[29 * 6 - 1] = -1;
  ASSERT_TRUE(
      writeSafetensors(other / "w.safetensors",
                       {TensorRef{"rows", DType::F32, {29, 6}, rows.data()},
                        TensorRef{"layers.0_shard-1-of-2.cols", DType::I16, {5, 17}, cols.data()},
                        TensorRef{"whole", DType::U8, {11}, full.data()}, TensorRef{"scalar", DType::F64, {}, &scalar}})
          .ok());
  ASSERT_TRUE(preshard(sharded, open(dir / "source"), out.path(), {}).ok());
  SourceSet set = open(out.path()), source = open(other.path());
  EXPECT_ERROR(verifySet(set, &source, nullptr, {}, nullptr, nullptr).status(),
               "weight 'rows', rank 1: element 83 differs from the source");
}

TEST_F(Sets, shardInfoListsPiecesOfOneTensor) {
  // Rows 2 to 9 of ten, turned: [3, 7] in columns of 4 and 3, on two ranks.
  std::vector<float> data(30);
  std::iota(data.begin(), data.end(), 0.f);
  TempDir stored;
  ASSERT_TRUE(writeSafetensors(stored / "w.safetensors", {TensorRef{"t", DType::F32, {10, 3}, data.data()}}).ok());
  WeightManifest sharded;
  sharded.mesh = {"m", {{"x", 2}}, {0, 1}};
  sharded.devices = 2;
  ValueInfo value;
  value.name = "w";
  value.kind = ValueKind::Weight;
  value.globalShape = {3, 7};
  value.localShape = {3, 4};
  value.globalElements = 21;
  value.localElements = 12;
  value.extents = {{}, {{3, 7, 4}, {4, 1, 1}}, {{1, 7, {{1, 2}}}}};
  value.load.emplace();
  value.load->sources = {{"t", DType::F32, {10, 3}, 30}};
  value.load->pieces = {{0, 6, 0, {{}, {{3, 1, 4}, {4, 3, 1}}, {{1, 5, {{1, 2}}, 0}}}},
                        {0, 21, 0, {{}, {{3, 1, 4}, {4, 3, 1}}, {{1, 2, {{1, 2}}, 5}}}}};
  sharded.weights = {value};
  auto text = shardInfoText(sharded);
  ASSERT_TRUE(text.ok()) << text.status().message();
  auto info = parseShardInfo(*text, "s");
  ASSERT_TRUE(info.ok()) << info.status().message();
  SourceSet set = open(stored.path());
  auto manifest = manifestOf(*info, set.stored(), 2);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  HostFunctions functions;
  auto loaded = WeightLoader(*manifest, set, {}, &functions).loadAll();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  for (int64_t rank : {0, 1})
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t c = 0; c < 4 && rank * 4 + c < 7; ++c)
        EXPECT_EQ(static_cast<const float *>((*loaded)[0].ranks[size_t(rank)].data())[r * 4 + c],
                  float((2 + rank * 4 + c) * 3 + r));
  sharded.weights[0].load->sources.push_back({"u", DType::F32, {1}, 1});
  EXPECT_ERROR(shardInfoText(sharded).status(), "weight 'w': pieces of several stored tensors cannot be exported");
}

TEST_F(Sets, shardInfoIsWrittenAndGivesTheSameShards) {
  WeightManifest sharded = manifestFor(2, 3);
  auto text = shardInfoText(sharded);
  ASSERT_TRUE(text.ok()) << text.status().message();
  Json json = Json::parse(*text);
  EXPECT_EQ(json.size(), 2u); // What is whole everywhere is not listed.
  EXPECT_EQ(json["rows"][0][0], "shardkit.shard");
  EXPECT_EQ(json["rows"][0][1], Json::parse("[[6, 5, 6], \"float32\"]"));
  for (size_t i = 2; i < json["rows"][0].size(); ++i)
    EXPECT_TRUE(json["rows"][0][i].is_number_integer()); // All that TVM's reader takes.
  ShardInfo info = *parseShardInfo(*text, "s");
  SourceSet set = open(dir / "source");
  auto manifest = manifestOf(info, set.stored(), 6);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  HostFunctions functions;
  for (LoadMode mode : {LoadMode::Direct, LoadMode::RootScatter}) {
    LoadOptions options;
    options.mode = mode;
    WeightLoader loader(*manifest, set, options, &functions);
    auto loaded = loader.loadAll();
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    for (const LoadedWeight &weight : *loaded)
      for (const ValueInfo &value : sharded.weights)
        if (value.name == weight.value->name)
          for (int64_t rank = 0; rank < 6; ++rank) {
            std::vector<char> expected(static_cast<size_t>(value.localBytes()));
            gatherLocal(value.extents, rank, dtypeSize(value.dtype), dataOf(value.name), expected.data());
            EXPECT_EQ(0, std::memcmp(expected.data(), weight.ranks[size_t(rank)].data(), expected.size()));
          }
    EXPECT_EQ(loader.stats().scatters, mode == LoadMode::RootScatter ? 2 : 0);
    EXPECT_EQ(loader.stats().broadcasts, mode == LoadMode::RootScatter ? 2 : 0);
  }
  // Cut by it ahead of time: slices of stacks, for this number of ranks.
  for (bool tvm : {false, true}) {
    TempDir out;
    PreshardOptions options;
    options.tvmLayout = tvm;
    auto result = preshard(*manifest, set, out.path(), options, &functions);
    ASSERT_TRUE(result.ok()) << result.status().message();
    SourceSet slices = open(out.path());
    WeightLoader loader(*manifest, slices);
    auto loaded = loader.loadAllPresharded();
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    for (const LoadedWeight &weight : *loaded)
      for (const ValueInfo &value : sharded.weights)
        if (value.name == weight.value->name)
          for (int64_t rank = 0; rank < 6; ++rank) {
            std::vector<char> expected(static_cast<size_t>(value.localBytes()));
            gatherLocal(value.extents, rank, dtypeSize(value.dtype), dataOf(value.name), expected.data());
            EXPECT_EQ(0, std::memcmp(expected.data(), weight.ranks[size_t(rank)].data(), expected.size()))
                << value.name << " rank " << rank;
          }
    auto verified = verifySet(slices, &set, &*manifest, {}, &functions, nullptr);
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    EXPECT_TRUE(verified->values);
    auto fewer = manifestOf(*parseShardInfo("{}", "s"), open(dir / "source").stored(), 3);
    EXPECT_ERROR(WeightLoader(*fewer, slices).loadAllPresharded().status(),
                 "was sharded in another way: devices 6 there, 3 here");
    // A slice is one of its own number of ranks, and of no more dims than the stack less one.
    const std::string good = readText(out / "presharded.json");
    auto expect = [&](const std::function<void(Json &)> &change, const std::string &message) {
      Json json = Json::parse(good);
      for (Json &weight : json["weights"])
        if (weight["name"] == "rows")
          change(weight);
      writeText(out / "presharded.json", json.dump());
      keepMalformed(out / ".", message);
      EXPECT_ERROR(SourceSet::open(out.path()).status(), message);
    };
    expect([](Json &w) { w["segmented"] = false; }, "'local_shape' has rank 2, expected 3");
    expect([](Json &w) { w["global_shape"] = {5, 6, 6}; }, "'local_shape' has rank 2, expected 3");
    expect([](Json &w) { w["global_shape"] = {6, 4, 6}; }, "'local_shape' is 5x6, expected no more than 4x6");
    expect(
        [](Json &w) {
          w["load"].erase("computed");
          w["load"]["pieces"] = Json::array();
        },
        "'local_shape' has rank 2, expected 3");
  }
}

} // namespace
