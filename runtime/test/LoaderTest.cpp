//===- LoaderTest.cpp - Ranks read what they own, and little more ---------===//

#include "Support.h"

#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Formats/TensorCache.h"
#include "shardkit/rt/Loading/LoadPlan.h"

#include <fcntl.h>
#include <numeric>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

struct Fixture {
  TempDir dir;
  ValueInfo value;
  int64_t devices;
  std::vector<int32_t> data;
  TensorSource source;

  Fixture(Shape global, Shape local, Extents extents, int64_t devices) : devices(devices) {
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
    EXPECT_TRUE(writeSafetensors(dir / "w.safetensors", {TensorRef{"w", DType::I32, global, data.data()}}).ok());
    auto set = SourceSet::open(dir / "w.safetensors");
    EXPECT_TRUE(set.ok()) << set.status().message();
    auto found = set->find(value);
    EXPECT_TRUE(found.ok()) << found.status().message();
    source = *found;
  }

  /// Loads `ranks` and compares; returns the statistics.
  LoadStats load(std::vector<int64_t> ranks, LoadOptions options = {}) {
    std::vector<std::vector<int32_t>> local(ranks.size(),
                                            std::vector<int32_t>(static_cast<size_t>(value.localElements), -1));
    LoadPlan plan;
    for (size_t i = 0; i < ranks.size(); ++i)
      plan.add(value, source, ranks[i], local[i].data());
    LoadStats stats;
    Status status = plan.run(options, nullptr, nullptr, stats);
    EXPECT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < ranks.size(); ++i) {
      std::vector<int32_t> expected(local[i].size(), -1);
      gatherLocal(value.extents, ranks[i], 4, data.data(), expected.data());
      EXPECT_EQ(local[i], expected) << "rank " << ranks[i];
    }
    EXPECT_LE(stats.stagingBytes, int64_t(64) << 20);
    return stats;
  }
  std::vector<int64_t> all() const {
    std::vector<int64_t> ranks(static_cast<size_t>(devices));
    std::iota(ranks.begin(), ranks.end(), int64_t(0));
    return ranks;
  }
};

TEST(Loader, fullRowsAreOneRequestWithoutExtraBytes) {
  Fixture f({64, 512}, {16, 512}, {{{1, 4, 16 * 512}}, {{16, 512, 512}, {512, 1, 1}}}, 4);
  for (int64_t rank = 0; rank < 4; ++rank) {
    LoadStats stats = f.load({rank});
    EXPECT_EQ(stats.total.bytesRead, 16 * 512 * 4);
    EXPECT_EQ(stats.total.bytesNeeded, 16 * 512 * 4);
    EXPECT_EQ(stats.total.requests, 1);
    EXPECT_EQ(stats.ranks[size_t(rank)].bytesRead, 16 * 512 * 4);
  }
  LoadStats stats = f.load(f.all());
  EXPECT_EQ(stats.total.bytesRead, 64 * 512 * 4);
  for (const LoadCounters &rank : stats.ranks)
    EXPECT_EQ(rank.bytesRead, 16 * 512 * 4);
}

TEST(Loader, columnsOfAllRanksAreReadOnceInLargeRequests) {
  // Runs of 8 KiB are read into place by one vectored request, of 64 bytes through
  // staging; either way no byte twice.
  for (int64_t columns : {8192, 64}) {
    Fixture f({256, columns}, {256, columns / 4},
              {{{1, 4, columns / 4}}, {{256, columns, columns / 4}, {columns / 4, 1, 1}}}, 4);
    LoadStats stats = f.load(f.all());
    EXPECT_EQ(stats.total.bytesRead, 256 * columns * 4);
    EXPECT_LE(stats.total.requests, 5);
    // One rank alone reads its neighbours' bytes where gaps are small.
    stats = f.load({2});
    EXPECT_LE(stats.total.bytesRead, 256 * columns * 4);
    EXPECT_GE(stats.total.bytesRead, 256 * columns);
  }
}

TEST(Loader, blocksAndStagingStayBounded) {
  // 48 MB with a run of 4 bytes in each row, and the same transposed in memory.
  Fixture f({3 << 20, 4}, {3 << 20, 1}, {{{1, 4, 1}}, {{3 << 20, 4, 1}}}, 4);
  LoadOptions options;
  options.readers = 4;
  LoadStats stats = f.load(f.all(), options);
  EXPECT_GE(stats.total.requests, 6);
  EXPECT_EQ(stats.total.bytesRead, int64_t(48) << 20);
  EXPECT_EQ(stats.readers, 4);
}

TEST(Loader, wideStridesAreNotRead) {
  Fixture f({16, 65536}, {16, 4}, {{{1, 16384, 4}}, {{16, 65536, 4}, {4, 1, 1}}}, 16384);
  LoadStats stats = f.load({77});
  EXPECT_EQ(stats.total.bytesRead, stats.total.bytesNeeded);
  EXPECT_EQ(stats.total.requests, 16);
}

TEST(Loader, distantElementsAreSeparateRequests) {
  Fixture f({64, 32768}, {64, 1}, {{{1, 32768, 1}}, {{64, 32768, 1}}}, 32768);
  LoadStats stats = f.load({4711});
  EXPECT_EQ(stats.total.bytesRead, 64 * 4);
  EXPECT_EQ(stats.total.requests, 64);
}

TEST(Loader, replicasAreReadOnceAndCopied) {
  Fixture f({64, 512}, {32, 512}, {{{2, 2, 32 * 512}}, {{32 * 512, 1, 1}}}, 8);
  LoadStats stats = f.load({0, 1, 2, 3});
  EXPECT_EQ(stats.total.bytesNeeded, 2 * 64 * 512 * 4);
  EXPECT_EQ(stats.total.bytesRead, 64 * 512 * 4);
}

TEST(Loader, emptyTensorsAndSegmentsOfOneTensor) {
  TempDir dir;
  std::vector<int32_t> data(24);
  std::iota(data.begin(), data.end(), 5);
  ASSERT_TRUE(writeSafetensors(dir / "w.safetensors", {TensorRef{"a", DType::I32, {0, 4}, data.data()},
                                                       TensorRef{"b", DType::I32, {24}, data.data()}})
                  .ok());
  SourceSet set = *SourceSet::open(dir.path());
  auto value = [](const char *name, Shape shape) {
    ValueInfo v;
    v.name = name;
    v.dtype = DType::I32;
    v.globalShape = v.localShape = shape;
    v.globalElements = v.localElements = *numElements(shape);
    v.extents = Extents::identity(v.globalElements);
    return v;
  };
  ValueInfo a = value("a", {0, 4}), b = value("b", {24});
  TensorSource sourceA = *set.find(a), sourceB = *set.find(b), again = *set.find(b);
  std::vector<int32_t> first(24), second(24);
  LoadPlan plan;
  plan.add(a, sourceA, 0, first.data());
  plan.add(b, sourceB, 0, first.data());
  plan.add(b, again, 0, second.data());
  LoadStats stats;
  ASSERT_TRUE(plan.run({}, nullptr, nullptr, stats).ok());
  EXPECT_EQ(first, data);
  EXPECT_EQ(second, data);
  EXPECT_EQ(stats.total.bytesRead, 24 * 4);
}

TEST(Loader, transposedStridedAndUnevenLayouts) {
  Fixture transposed({6, 4}, {6, 4}, {{{1, 2, 0}}, {{6, 4, 1}, {4, 1, 6}}}, 2);
  transposed.load({0, 1});
  // Block-cyclic rows.
  Fixture cyclic({12, 5}, {6, 5}, {{{1, 2, 10}}, {{3, 20, 10}, {10, 1, 1}}}, 2);
  cyclic.load({0, 1});
  // 7 columns on 3 ranks.
  Fixture uneven({5, 7}, {5, 3}, {{}, {{5, 7, 3}, {3, 1, 1}}, {{1, 7, {{1, 3}}}}}, 3);
  LoadStats stats = uneven.load({0, 1, 2});
  EXPECT_EQ(stats.total.bytesRead, 35 * 4);
  EXPECT_EQ(stats.total.bytesNeeded, 35 * 4);
}

TEST(Loader, transposesOfElementsOfEverySize) {
  constexpr int64_t rows = 203, columns = 150, shard = 75;
  TempDir dir;
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    const int64_t size = dtypeSize(dtype);
    std::vector<uint8_t> data(size_t(rows * columns * size));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = uint8_t(i * 31 + i / 251);
    const std::string path = dir / "t.safetensors";
    ASSERT_TRUE(writeSafetensors(path, {TensorRef{"w", dtype, {rows, columns}, data.data()}}).ok());
    Fixture f({rows, columns}, {rows, shard}, {{{1, 2, shard}}, {{shard, 1, rows}, {rows, columns, 1}}}, 2);
    f.value.dtype = dtype;
    auto set = SourceSet::open(path);
    ASSERT_TRUE(set.ok()) << set.status().message();
    f.source = *set->find(f.value);
    for (int64_t rank : {0, 1}) {
      std::vector<uint8_t> local(size_t(rows * shard * size)), expected(local.size());
      LoadPlan plan;
      plan.add(f.value, f.source, rank, local.data());
      LoadStats stats;
      ASSERT_TRUE(plan.run({}, nullptr, nullptr, stats).ok());
      gatherLocal(f.value.extents, rank, size, data.data(), expected.data());
      EXPECT_EQ(local, expected) << "elements of " << size << " bytes";
    }
  }
}

TEST(Loader, everyIoModeAndRootScatterGiveTheSameBytes) {
  Fixture f({300, 1000}, {300, 250}, {{{1, 4, 250}}, {{300, 1000, 250}, {250, 1, 1}}}, 4);
  for (IoMode io : {IoMode::Auto, IoMode::Pread, IoMode::Direct, IoMode::Mmap})
    for (LoadMode mode : {LoadMode::Direct, LoadMode::RootScatter}) {
      LoadOptions options;
      options.io = io;
      options.mode = mode;
      LoadStats stats = f.load(f.all(), options);
      EXPECT_EQ(stats.total.bytesRead, 300 * 1000 * 4);
      EXPECT_EQ(stats.scatters, mode == LoadMode::RootScatter ? 1 : 0);
      if (mode == LoadMode::RootScatter) {
        EXPECT_EQ(stats.ranks[0].bytesRead, 300 * 1000 * 4);
        EXPECT_EQ(stats.ranks[3].bytesRead, 0);
      }
      if (mode == LoadMode::Direct && io == IoMode::Mmap)
        EXPECT_EQ(stats.bytesMapped, 300 * 1000 * 4);
    }
}

TEST(Loader, uncachedFilesAreReadByTheFasterMode) {
  Fixture f({8 << 20, 4}, {2 << 20, 4}, {{{1, 4, 8 << 20}}, {{8 << 20, 1, 1}}}, 4);
  int fd = ::open((f.dir / "w.safetensors").c_str(), O_RDONLY);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  LoadStats stats = f.load(f.all());
  EXPECT_EQ(stats.total.bytesRead, int64_t(128) << 20);
}

TEST(Loader, metadataErrorsNameWeightFileAndBytes) {
  Fixture f({8, 16}, {8, 16}, Extents::identity(128), 1);
  ValueInfo wrong = f.value;
  wrong.globalShape = {16, 8};
  EXPECT_ERROR(checkSource(wrong, f.source), "weight 'w': stored with shape 8x16, expected 16x8 (" + f.dir.path());
  wrong = f.value;
  wrong.dtype = DType::F32;
  EXPECT_ERROR(checkSource(wrong, f.source), "stored as I32, expected f32");
  StoredSource sharded = std::get<StoredSource>(f.source);
  sharded.tensors[0].tensor.offset += 4;
  EXPECT_ERROR(checkSource(f.value, sharded), "the file is truncated");
  SourceSet set = *SourceSet::open(f.dir / "w.safetensors");
  wrong = f.value;
  wrong.name = "v";
  EXPECT_ERROR(set.find(wrong).status(), "missing weight 'v' (i32 8x16)");
  EXPECT_ERROR(set.find(wrong).status(), "holds 1 tensors: 'w'");
  EXPECT_ERROR(set.findPresharded(f.value, 2).status(), "missing shard 'w_shard-1-of-2' of rank 0");
}

TEST(Loader, filesThatShrinkAreAnErrorWithTheRange) {
  for (IoMode io : {IoMode::Auto, IoMode::Direct, IoMode::Mmap}) {
    Fixture f({8, 16}, {8, 16}, Extents::identity(128), 1);
    std::filesystem::resize_file(f.dir / "w.safetensors", 200);
    std::vector<int32_t> local(128);
    LoadPlan plan;
    plan.add(f.value, f.source, 0, local.data());
    LoadOptions options;
    options.io = io;
    LoadStats stats;
    Status status = plan.run(options, nullptr, nullptr, stats);
    EXPECT_ERROR(status, "weight 'w'");
    EXPECT_ERROR(status, "lie beyond the end at 200");
  }
}

TEST(Loader, randomLayoutsOfManyWeights) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    // Three dims, each cut over one of two axes or none, perhaps block-cyclically.
    int64_t axes[2] = {int64_t(1 + random() % 4), int64_t(1 + random() % 3)};
    int64_t devices = axes[0] * axes[1];
    int64_t strides[2] = {axes[1], 1};
    Shape global, local;
    Extents extents;
    bool used[2] = {};
    for (int d = 0; d < 3; ++d) {
      int axis = int(random() % 3);
      int64_t part = int64_t(1 + random() % 40);
      int64_t sharded = axis < 2 && !used[axis] ? axes[axis] : 1;
      if (axis < 2)
        used[axis] = true;
      global.push_back(part * sharded);
      local.push_back(part);
      extents.offset.push_back({axis < 2 ? strides[axis] : 1, sharded, part});
      extents.loops.push_back({part, 1, 1});
    }
    int64_t gs = 1, ls = 1;
    for (int d = 2; d >= 0; --d) {
      extents.offset[size_t(d)].globalStride *= gs;
      extents.loops[size_t(d)].globalStride = gs;
      extents.loops[size_t(d)].localStride = ls;
      gs *= global[size_t(d)];
      ls *= local[size_t(d)];
    }
    ASSERT_TRUE(validateExtents(extents, *numElements(local), *numElements(global), devices, true).ok());
    Fixture f(global, local, extents, devices);
    LoadStats stats = f.load(f.all());
    EXPECT_EQ(stats.total.bytesRead, *numElements(global) * 4);
    ShardMap map(extents);
    for (int64_t g = 0; g < *numElements(global);) {
      ShardMap::Location location = map.find(g);
      ASSERT_EQ(firstOwner(extents, location.rank), location.rank);
      std::vector<int32_t> mine(static_cast<size_t>(*numElements(local)));
      gatherLocal(extents, location.rank, 4, f.data.data(), mine.data());
      ASSERT_GE(location.run, 1);
      for (int64_t i = 0; i < location.run; ++i)
        ASSERT_EQ(mine[size_t(location.local + i)], f.data[size_t(g + i)]);
      g += location.run;
    }
  }
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

TEST(Pieces, coverIsCheckedForHolesAndOverlaps) {
  auto check = [](std::vector<ExtentPiece> pieces, std::vector<int64_t> sources, int64_t local, int64_t devices) {
    return validatePieces(pieces, sources, {local}, {local * devices}, devices);
  };
  // q, k, v rows of one tensor, [160|80|80] by 10, on two ranks.
  auto rows = [](int64_t from, int64_t rows, int64_t at) {
    return ExtentPiece{0, from * 10, at * 10, {{{1, 2, rows * 10}}, {{rows * 10, 1, 1}}}};
  };
  EXPECT_TRUE(check({rows(0, 80, 0), rows(160, 40, 80), rows(240, 40, 120)}, {3200}, 1600, 2).ok());
  EXPECT_ERROR(check({rows(0, 80, 0), rows(160, 40, 81), rows(240, 40, 121)}, {3210}, 1610, 2),
               "do not write every one of the 1610 local elements exactly once");
  EXPECT_ERROR(check({rows(0, 80, 0), rows(160, 40, 79), rows(240, 40, 119)}, {3200}, 1600, 2),
               "do not write every one");
  EXPECT_ERROR(check({rows(0, 80, 0), rows(160, 40, 80), rows(240, 40, 121)}, {3200}, 1600, 2),
               "piece 2: it reaches local element 1210 + 399, expected less than 1600");
  EXPECT_ERROR(check({rows(0, 80, 0), rows(160, 40, 80), rows(241, 40, 120)}, {3200}, 1600, 2),
               "piece 2: extents reach global element");
  // Gate and up interleaved: even and odd rows, from two tensors.
  ExtentPiece gate{0, 0, 0, {{}, {{4, 3, 6}, {3, 1, 1}}}}, up{1, 0, 3, {{}, {{4, 3, 6}, {3, 1, 1}}}};
  EXPECT_TRUE(check({gate, up}, {12, 12}, 24, 1).ok());
  up.localBase = 2;
  EXPECT_FALSE(check({gate, up}, {12, 12}, 24, 1).ok());
  up.localBase = 3;
  up.source = 2;
  EXPECT_ERROR(check({gate, up}, {12, 12}, 24, 1), "'source' is 2, expected less than 2");
  // A column concat whose rows merge with nothing: [2][3|5].
  ExtentPiece left{0, 0, 0, {{}, {{2, 3, 8}, {3, 1, 1}}}}, right{1, 0, 3, {{}, {{2, 5, 8}, {5, 1, 1}}}};
  EXPECT_TRUE(check({left, right}, {6, 10}, 16, 1).ok());
  EXPECT_FALSE(check({left}, {6}, 16, 1).ok());
  EXPECT_FALSE(check({}, {6}, 16, 1).ok());
  EXPECT_TRUE(check({}, {6}, 0, 1).ok());
  // A loop that stays in one place.
  ExtentPiece still{0, 0, 0, {{{1, 2, 2}}, {{2, 1, 0}}}}, moving{1, 0, 0, {{{1, 2, 2}}, {{2, 1, 1}}}};
  EXPECT_ERROR(check({still, moving}, {4, 4}, 4, 2), "do not write every one");
  EXPECT_ERROR(check({still}, {4}, 1, 2), "do not write every one");
  // One piece's rows are one loop, the other's two.
  ExtentPiece split{1, 0, 3, {{}, {{2, 15, 24}, {3, 5, 8}, {5, 1, 1}}}};
  left.extents.loops[0].size = 6;
  EXPECT_TRUE(check({left, split}, {18, 30}, 48, 1).ok());
}

TEST(Pieces, chunksOfRanksHaveTheirIndicesOfADim) {
  // Rows of three tensors, [8|12|12] by 6, in chunks of 11 on three ranks.
  auto rows = [](int64_t source, int64_t begin, int64_t count) {
    return ExtentPiece{source, 0, 0, {{}, {{11, 6, 6}, {6, 1, 1}}, {{0, count, {{1, 3}}, begin}}}};
  };
  std::vector<ExtentPiece> pieces = {rows(0, 0, 8), rows(2, 20, 12), rows(1, 8, 12)};
  const std::vector<int64_t> sources = {48, 72, 72};
  auto check = [&] { return validatePieces(pieces, sources, {11, 6}, {32, 6}, 3); };
  EXPECT_TRUE(check().ok()) << check().message();
  std::vector<std::vector<float>> data;
  std::vector<float> full;
  for (int64_t s : {0, 1, 2}) {
    data.emplace_back(sources[size_t(s)]);
    std::iota(data.back().begin(), data.back().end(), float(100 * (s + 1)));
    full.insert(full.end(), data.back().begin(), data.back().end());
  }
  for (int64_t rank : {0, 1, 2}) {
    std::vector<float> local(66, -1), expected(66, -1);
    for (int64_t i = 0; i < 66 && rank * 66 + i < 192; ++i)
      expected[size_t(i)] = full[size_t(rank * 66 + i)];
    for (const ExtentPiece &piece : pieces)
      gatherLocal(piece.extents, rank, 4, data[size_t(piece.source)].data(), local.data());
    EXPECT_EQ(local, expected);
    for (const ExtentPiece &piece : pieces)
      scatterLocal(piece.extents, rank, 4, expected.data(), data[size_t(piece.source)].data());
  }
  EXPECT_EQ(data[1][0], 200);
  EXPECT_EQ(data[2][71], 371);
  // A row too few, twice, and not to the end.
  pieces[2] = rows(1, 8, 11);
  EXPECT_ERROR(check(), "the pieces do not write every one of the 66 local elements exactly once");
  pieces[2] = rows(1, 7, 12);
  EXPECT_ERROR(check(), "do not write every one");
  pieces = {rows(0, 0, 8), rows(1, 8, 12)};
  EXPECT_ERROR(check(), "do not write every one");
  pieces[1].extents.uneven[0].begin = -1;
  EXPECT_ERROR(check(), "piece 1: extents 'uneven' begins at -1, expected 0 to 33");
  pieces[1].extents.uneven[0].begin = 22;
  EXPECT_ERROR(check(), "piece 1: extents 'uneven' has size 12, expected 1 to 11");
  // Two dims at once: a corner and what is left of it.
  auto corner = [](int64_t r, int64_t rows, int64_t c, int64_t columns) {
    return ExtentPiece{
        0, 0, 0, {{}, {{2, columns, 3}, {3, 1, 1}}, {{0, rows, {{2, 2}}, r}, {1, columns, {{1, 2}}, c}}}};
  };
  std::vector<ExtentPiece> corners = {corner(0, 1, 0, 2), corner(0, 1, 2, 3), corner(1, 3, 0, 2), corner(1, 3, 2, 3)};
  EXPECT_TRUE(validatePieces(corners, {20}, {2, 3}, {4, 5}, 4).ok());
  corners.pop_back();
  EXPECT_FALSE(validatePieces(corners, {20}, {2, 3}, {4, 5}, 4).ok());
  // Pieces that lie in one another: rows 0 and 3 of one tensor whole, the others by
  // columns of two, every second row of one and all that is left of the other.
  auto local = [](int64_t base, std::vector<ExtentLoop> loops) {
    return ExtentPiece{0, 0, base, {{}, std::move(loops)}};
  };
  std::vector<ExtentPiece> woven = {local(0, {{2, 1, 12}, {4, 1, 1}}), local(4, {{2, 1, 4}, {2, 1, 1}}),
                                    local(6, {{2, 1, 4}, {2, 1, 1}})};
  EXPECT_TRUE(validatePieces(woven, {20}, {4, 4}, {4, 4}, 1).ok());
  woven[2].localBase = 5;
  EXPECT_FALSE(validatePieces(woven, {20}, {4, 4}, {4, 4}, 1).ok());
  // Only pieces begin inside a chunk.
  EXPECT_ERROR(validateExtents(rows(0, 8, 12).extents, 66, 192, 3, false), "begins at 8, expected 0 but for pieces");
}

TEST(Pieces, areLoadedFromSeveralTensorsAndSegmentsOfOne) {
  TempDir dir;
  std::vector<float> a(280 * 4), b(24);
  std::iota(a.begin(), a.end(), 0.f);
  std::iota(b.begin(), b.end(), 9000.f);
  ASSERT_TRUE(writeSafetensors(dir / "w.safetensors", {TensorRef{"qkv", DType::F32, {280, 4}, a.data()},
                                                       TensorRef{"b", DType::F32, {6, 4}, b.data()}})
                  .ok());
  ValueInfo value;
  value.name = "arg";
  value.kind = ValueKind::Weight;
  value.globalShape = {286, 4};
  value.localShape = {143, 4};
  value.globalElements = 286 * 4;
  value.localElements = 143 * 4;
  value.extents = {{{1, 2, 143 * 4}}, {{143 * 4, 1, 1}}};
  value.load.emplace();
  value.load->sources = {{"qkv", DType::F32, {280, 4}, 1120}, {"b", DType::F32, {6, 4}, 24}};
  auto piece = [&](int64_t source, int64_t from, int64_t rows, int64_t at) {
    value.load->pieces.push_back({source, from * 4, at * 4, {{{1, 2, rows * 4}}, {{rows * 4, 1, 1}}}});
  };
  piece(0, 0, 40, 0);
  piece(0, 80, 50, 40);
  piece(0, 180, 50, 90);
  piece(1, 0, 3, 140);
  ASSERT_TRUE(validatePieces(value.load->pieces, {1120, 24}, value.localShape, value.globalShape, 2).ok());
  SourceSet set = *SourceSet::open(dir.path());
  auto source = set.find(value);
  ASSERT_TRUE(source.ok()) << source.status().message();
  for (int64_t rank : {0, 1}) {
    std::vector<float> local(143 * 4), expected;
    auto rows = [&](const std::vector<float> &from, int64_t begin, int64_t count) {
      expected.insert(expected.end(), from.begin() + begin * 4, from.begin() + (begin + count) * 4);
    };
    rows(a, rank * 40, 40);
    rows(a, 80 + rank * 50, 50);
    rows(a, 180 + rank * 50, 50);
    rows(b, rank * 3, 3);
    LoadPlan plan;
    plan.add(value, *source, rank, local.data());
    LoadStats stats;
    ASSERT_TRUE(plan.run({}, nullptr, nullptr, stats).ok());
    EXPECT_EQ(local, expected);
  }
  value.load->sources[1].name = "c";
  EXPECT_ERROR(set.find(value).status(), "missing stored tensor 'c' of weight 'arg'");
  value.load->sources[1].name = "b";
  value.load->sources[1].shape = {4, 6};
  EXPECT_ERROR(set.find(value).status(), "weight 'arg': stored with shape 6x4, expected 4x6");
}

TEST(Encodings, bf16AndNibblesAreDecodedForEverySplit) {
  TempDir dir;
  std::vector<float> f(7 * 9);
  std::vector<int8_t> q(7 * 9);
  for (size_t i = 0; i < f.size(); ++i) {
    f[i] = float(int(i) - 30);
    q[i] = int8_t(int(i * 5) % 16 - 8);
  }
  TensorCacheOptions options;
  options.f32 = F32Storage::RoundToBF16;
  ASSERT_TRUE(writeTensorCache(dir.path(),
                               {contentOf(TensorRef{"f", DType::F32, {7, 9}, f.data()}),
                                contentOf(TensorRef{"q", DType::I4, {7, 9}, q.data()})},
                               options)
                  .ok());
  SourceSet set = *SourceSet::open(dir.path());
  for (auto [name, dtype] : {std::pair("f", DType::F32), std::pair("q", DType::I4)}) {
    ValueInfo value;
    value.name = name;
    value.dtype = dtype;
    value.globalShape = {7, 9};
    value.localShape = {7, 3};
    value.globalElements = 63;
    value.localElements = 21;
    value.extents = {{{1, 3, 3}}, {{7, 9, 3}, {3, 1, 1}}};
    auto source = set.find(value);
    ASSERT_TRUE(source.ok()) << source.status().message();
    int64_t size = dtypeSize(dtype);
    const void *full = dtype == DType::F32 ? static_cast<const void *>(f.data()) : q.data();
    for (IoMode io : {IoMode::Pread, IoMode::Direct, IoMode::Mmap}) {
      std::vector<std::vector<char>> local(3, std::vector<char>(size_t(21 * size)));
      LoadPlan plan;
      for (int64_t rank = 0; rank < 3; ++rank)
        plan.add(value, *source, rank, local[size_t(rank)].data());
      LoadStats stats;
      LoadOptions load;
      load.io = io;
      ASSERT_TRUE(plan.run(load, nullptr, nullptr, stats).ok());
      for (int64_t rank = 0; rank < 3; ++rank) {
        std::vector<char> expected(size_t(21 * size));
        gatherLocal(value.extents, rank, size, full, expected.data());
        EXPECT_EQ(local[size_t(rank)], expected);
      }
    }
  }
}

} // namespace
