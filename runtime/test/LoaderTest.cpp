//===- LoaderTest.cpp - Ranks read what they own, and little more -----------===//

#include "Support.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Loading/Loader.h"

#include <cmath>
#include <numeric>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

struct Fixture {
  TempDir dir;
  ValueInfo value;
  std::vector<int32_t> data;
  TensorSource source;

  Fixture(Shape global, Shape local, Extents extents) {
    value.name = "w";
    value.kind = ValueKind::Weight;
    value.dtype = DType::I32;
    value.globalShape = global;
    value.localShape = local;
    value.globalElements = *numElements(global);
    value.localElements = *numElements(local);
    value.extents = std::move(extents);
    data.resize(size_t(value.globalElements));
    std::iota(data.begin(), data.end(), 1000);
    EXPECT_TRUE(writeSafetensors(dir / "w.safetensors",
                                 {{"w", DType::I32, global, data.data()}}).ok());
    source = (*openSafetensors(dir / "w.safetensors"))["w"];
  }

  LoadCounters load(int64_t rank) {
    EXPECT_TRUE(checkSource(value, source).ok());
    std::vector<int32_t> local(static_cast<size_t>(value.localElements), -1);
    std::vector<int32_t> expected(local.size(), -2);
    Buffer staging;
    LoadCounters counters;
    Status status =
        loadLocal(value, source, rank, local.data(), staging, counters);
    EXPECT_TRUE(status.ok()) << status.message();
    gatherLocal(value.extents, rank, 4, data.data(), expected.data());
    EXPECT_EQ(local, expected);
    EXPECT_EQ(counters.bytesNeeded, value.localBytes());
    EXPECT_LE(staging.bytes(), stagingBytes);
    return counters;
  }
};

TEST(Loader, wholeRowsAreOneRequestOfExactlyTheirBytes) {
  Fixture f({64, 512}, {16, 512}, {{{1, 4, 16 * 512}}, {{16, 512, 512}, {512, 1, 1}}});
  for (int64_t rank = 0; rank < 4; ++rank) {
    LoadCounters counters = f.load(rank);
    EXPECT_EQ(counters.bytesRead, 16 * 512 * 4);
    EXPECT_EQ(counters.requests, 1);
  }
}

TEST(Loader, longColumnsAreReadRunByRun) {
  Fixture f({16, 8192}, {16, 2048}, {{{1, 4, 2048}}, {{16, 8192, 2048}, {2048, 1, 1}}});
  LoadCounters counters = f.load(2);
  EXPECT_EQ(counters.bytesRead, counters.bytesNeeded);
  EXPECT_EQ(counters.requests, 16);
}

TEST(Loader, shortColumnsAreReadInBlocks) {
  Fixture f({1024, 64}, {1024, 16}, {{{1, 4, 16}}, {{1024, 64, 16}, {16, 1, 1}}});
  LoadCounters counters = f.load(3);
  EXPECT_EQ(counters.requests, 1);
  EXPECT_EQ(counters.bytesRead, (1023 * 64 + 16) * 4);
}

TEST(Loader, blocksStayBounded) {
  // 48 MB with a run of 4 bytes in each row.
  Fixture f({3 << 20, 4}, {3 << 20, 1}, {{{1, 4, 1}}, {{3 << 20, 4, 1}}});
  LoadCounters counters = f.load(1);
  EXPECT_GE(counters.requests, 6);
  EXPECT_LE(counters.bytesRead, int64_t(48) << 20);
}

TEST(Loader, wideGapsAreNotRead) {
  Fixture f({16, 65536}, {16, 4}, {{{1, 16384, 4}}, {{16, 65536, 4}, {4, 1, 1}}});
  LoadCounters counters = f.load(77);
  EXPECT_EQ(counters.bytesRead, counters.bytesNeeded);
  EXPECT_EQ(counters.requests, 16);
}

TEST(Loader, transposedLocalOrderAndReplication) {
  Fixture f({6, 4}, {6, 4}, {{{1, 2, 0}}, {{6, 4, 1}, {4, 1, 6}}});
  f.load(0);
  f.load(1);
}

TEST(Loader, metadataErrorsNameWeightFileAndBytes) {
  Fixture f({8, 16}, {8, 16}, Extents::identity(128));
  ValueInfo wrong = f.value;
  wrong.globalShape = {16, 8};
  EXPECT_ERROR(checkSource(wrong, f.source),
               "weight 'w': stored with shape 8x16, expected 16x8 (" + f.dir.path());
  wrong = f.value;
  wrong.dtype = DType::F32;
  EXPECT_ERROR(checkSource(wrong, f.source), "stored as I32, expected f32");
  StoredTensor cut = std::get<StoredTensor>(f.source);
  cut.offset += 4;
  EXPECT_ERROR(checkSource(f.value, cut), "the file is truncated");
}

TEST(Loader, filesThatShrinkAreAnErrorWithTheRange) {
  Fixture f({8, 16}, {8, 16}, Extents::identity(128));
  std::filesystem::resize_file(f.dir / "w.safetensors", 200);
  std::vector<int32_t> local(128);
  Buffer staging;
  LoadCounters counters;
  EXPECT_ERROR(loadLocal(f.value, f.source, 5, local.data(), staging, counters),
               "rank 5, 'w'");
  EXPECT_ERROR(loadGlobal(f.value, f.source, local.data()), "lie beyond the end at 200");
}

TEST(Random, isTheSameOnEveryMesh) {
  for (DType dtype : allDTypes) {
    ValueInfo value;
    value.name = "x";
    value.kind = ValueKind::Weight;
    value.dtype = dtype;
    value.globalShape = {12, 16};
    value.globalElements = 192;
    RandomTensor random = RandomTensor::forValue(value, 7);
    std::vector<char> whole(192 * 8), part(192 * 8), expected(192 * 8);
    random.fill(whole.data(), 1, 0, 1, 192);
    value.extents = {{{1, 4, 4}}, {{12, 16, 4}, {4, 1, 1}}};
    Buffer staging;
    LoadCounters counters;
    ASSERT_TRUE(loadLocal(value, random, 2, part.data(), staging, counters).ok());
    gatherLocal(value.extents, 2, dtypeSize(dtype), whole.data(), expected.data());
    EXPECT_EQ(part, expected);
    for (int64_t i = 0; i < 192; ++i) {
      double v = getElement(dtype, whole.data(), i);
      if (isFloat(dtype)) {
        EXPECT_GE(v, -0.25);
        EXPECT_LT(v, 0.25);
      } else {
        EXPECT_TRUE(v == 0 || v == 1);
      }
    }
  }
}

TEST(Random, rangesAndSeeds) {
  ValueInfo value;
  value.name = "ids";
  value.dtype = DType::I32;
  value.globalShape = {1000};
  value.range = {-3, 30000};
  auto draw = [&](uint64_t seed) {
    std::vector<int32_t> v(1000);
    RandomTensor::forValue(value, seed).fill(v.data(), 1, 0, 1, 1000);
    return v;
  };
  std::vector<int32_t> v = draw(1);
  EXPECT_GE(*std::min_element(v.begin(), v.end()), -3);
  EXPECT_LT(*std::max_element(v.begin(), v.end()), 30000);
  EXPECT_GT(*std::max_element(v.begin(), v.end()), 29000);
  EXPECT_EQ(v, draw(1));
  EXPECT_NE(v, draw(2));
  value.name = "other";
  EXPECT_NE(v, draw(1));
  RandomTensor narrow = RandomTensor::forValue(value, 1, std::pair(5, 6));
  narrow.fill(v.data(), 1, 0, 1, 1000);
  EXPECT_EQ(v, std::vector<int32_t>(1000, 5));
}

} // namespace
