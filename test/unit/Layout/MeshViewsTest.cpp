//===- MeshViewsTest.cpp - Meshes over the same devices -------------------===//

#include "shardkit/Layout/MeshViews.h"
#include "Simulator.h"

using namespace shardkit_test;

static std::string sizes(const Mesh &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes)
    text += (text.empty() ? "" : "x") + std::to_string(axis.size);
  return text;
}

/// The chunk that each device has of a dim sharded by `entries`.
static std::vector<int64_t> chunks(llvm::ArrayRef<DimEntry> entries, const Mesh &mesh) {
  std::vector<int64_t> result(mesh.numDevices());
  for (int64_t rank = 0; rank < mesh.numDevices(); ++rank) {
    int64_t chunk = 0;
    for (const DimEntry &entry : entries) {
      RankDigit digit = getRankDigit(entry, mesh);
      chunk = chunk * digit.size + rank / digit.stride % digit.size;
    }
    result[mesh.device(rank)] = chunk;
  }
  return result;
}

/// All lists of up to two (sub-)axes.
static std::vector<DimEntries> allEntries(const Mesh &mesh) {
  std::vector<DimEntry> single;
  for (unsigned a = 0; a < mesh.axes.size(); ++a)
    for (int64_t pre = 1; pre <= mesh.axes[a].size; ++pre)
      for (int64_t size = 2; size * pre <= mesh.axes[a].size; ++size)
        if (mesh.axes[a].size % (pre * size) == 0)
          single.push_back({int32_t(a), pre, size});
  std::vector<DimEntries> result;
  for (const DimEntry &a : single) {
    result.push_back({a});
    for (const DimEntry &b : single)
      if (!overlaps(a, b, mesh))
        result.push_back({a, b});
  }
  return result;
}

static std::optional<MeshViews> views(llvm::ArrayRef<const Mesh *> meshes, std::string *reason = nullptr) {
  ShardingError error;
  auto result = MeshViews::get(meshes, error);
  if (reason)
    *reason = error.reason;
  return result;
}

TEST(MeshViews, CommonMesh) {
  Mesh a = mesh({4, 2}), b = mesh({2, 4}), c = mesh({2, 3}), d = mesh({3, 2}), e = mesh({6});
  Mesh f = mesh({2, 2, 2});
  EXPECT_EQ(sizes(views({&a})->getCommon()), "4x2");
  EXPECT_EQ(sizes(views({&a, &b})->getCommon()), "2x2x2");
  EXPECT_EQ(views({&a, &b, &f})->getCommon().axes[0].name, f.axes[0].name);
  EXPECT_EQ(sizes(views({&c, &d})->getCommon()), "6");
  EXPECT_EQ(sizes(views({&e, &c})->getCommon()), "2x3");
  EXPECT_EQ(views({&e, &c})->getCommon().axes[1].name, "y");
}

TEST(MeshViews, RequireSameDevices) {
  Mesh a = mesh({2, 2}), b = mesh({2, 2}), c = mesh({2, 2}), d = mesh({4, 2});
  b.deviceIds = {3, 2, 1, 0};
  c.deviceIds = {4, 5, 6, 7};
  std::string reason;
  EXPECT_FALSE(views({&a, &c}, &reason));
  EXPECT_EQ(reason, "mesh_devices");
  EXPECT_FALSE(views({&a, &d}, &reason));
  EXPECT_EQ(reason, "mesh_devices");
  auto reversed = views({&a, &b});
  ASSERT_TRUE(reversed);
  EXPECT_TRUE(reversed->isReordered(1));
  EXPECT_FALSE(reversed->hasCommonOrder(1));
  b.deviceIds = {0, 2, 1, 3};
  ASSERT_TRUE(views({&a, &b}));
  EXPECT_FALSE(views({&a, &b})->isReordered(1));
}

// The axes of a reversed mesh are read as those of one in the common order, whose devices the common mesh has.
TEST(MeshViews, ReorderedMeshesKeepTheirDigits) {
  Mesh a = mesh({4, 2}), b = mesh({2, 4}), rotated = mesh({8});
  b.deviceIds = {7, 6, 5, 4, 3, 2, 1, 0};
  rotated.deviceIds = {1, 2, 3, 4, 5, 6, 7, 0};
  auto all = views({&a, &b, &rotated});
  ASSERT_TRUE(all);
  EXPECT_EQ(sizes(all->getCommon()), "2x2x2");
  EXPECT_TRUE(all->getCommon().sameDevices(a));
  for (unsigned v = 0; v < 3; ++v)
    for (const DimEntries &entries : allEntries(all->getView(v))) {
      auto common = all->toCommon(entries, v);
      ASSERT_TRUE(common);
      auto again = all->fromCommon(*common, v);
      ASSERT_TRUE(again);
      EXPECT_EQ(canonicalize(*again), canonicalize(entries));
    }
}

TEST(MeshViews, ConversionKeepsOwners) {
  Mesh a = mesh({4, 2}), b = mesh({2, 4}), c = mesh({2, 2, 2}), d = mesh({4, 2});
  d.deviceIds = {0, 4, 1, 5, 2, 6, 3, 7};
  Mesh e = mesh({2, 6}), f = mesh({3, 4}), g = mesh({2, 2, 3}), h = mesh({4, 3});
  h.deviceIds = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
  Mesh i = mesh({1, 12});
  unsigned back = 0, elsewhere = 0;
  using Group = std::vector<const Mesh *>;
  for (const Group &group : {Group{&a, &b, &c, &d}, Group{&d, &a, &b}, Group{&e, &f, &g, &h, &i}, Group{&h, &e}}) {
    auto all = views(group);
    ASSERT_TRUE(all);
    for (unsigned v = 0; v < all->size(); ++v) {
      if (all->isReordered(v)) // Its digits are those of other devices.
        continue;
      for (const DimEntries &entries : allEntries(all->getView(v))) {
        auto common = all->toCommon(entries, v);
        if (!common)
          continue;
        EXPECT_EQ(chunks(entries, all->getView(v)), chunks(*common, all->getCommon()));
        auto again = all->fromCommon(*common, v);
        ASSERT_TRUE(again);
        EXPECT_EQ(canonicalize(*again), canonicalize(entries));
        ++back;
        for (unsigned w = 0; w < all->size(); ++w)
          if (auto other = all->fromCommon(*common, w); other && !all->isReordered(w)) {
            EXPECT_EQ(chunks(entries, all->getView(v)), chunks(*other, all->getView(w)));
            ++elsewhere;
          }
      }
    }
  }
  // Views with the order of the first lose nothing.
  for (const Group &group : {Group{&a, &b, &c}, Group{&e, &f, &g, &i}})
    for (unsigned v = 0; v < group.size(); ++v)
      for (const DimEntries &entries : allEntries(*group[v]))
        EXPECT_TRUE(views(group)->toCommon(entries, v));
  EXPECT_GT(back, 150u);
  EXPECT_GT(elsewhere, back);
}

TEST(MeshViews, AllowsPaddingForFullAxesOfAView) {
  Mesh a = mesh({2, 3, 5}), b = mesh({3, 10});
  auto both = views({&a, &b});
  ASSERT_TRUE(both);
  const Mesh &common = both->getCommon(); // 6 x 5
  const std::pair<std::optional<DimEntries>, bool> rows[] = {
      {both->toCommon(DimEntries{{0, 1, 2}}, 0), true},             // x
      {both->toCommon(DimEntries{{1, 1, 3}}, 0), true},             // y
      {both->toCommon(DimEntries{{1, 1, 3}, {2, 1, 5}}, 0), true},  // y, z
      {both->toCommon(DimEntries{{1, 1, 3}, {0, 1, 2}}, 0), true},  // y, x
      {both->toCommon(DimEntries{{1, 1, 10}}, 1), true},            // v
      {both->toCommon(DimEntries{{1, 1, 10}, {0, 1, 3}}, 1), true}, // v, u
      {both->toCommon(DimEntries{{1, 1, 2}}, 1), false},            // sub-axis of v
      {both->toCommon(DimEntries{{1, 1, 2}, {0, 1, 3}}, 1), false}, // sub-axis of v, u
  };
  for (const auto &[entries, may] : rows) {
    ASSERT_TRUE(entries);
    EXPECT_EQ(allowsPadding(*entries, common), may) << toString(*entries, common);
    // Uneven dims yield the same layout again.
    Sharding sharding;
    sharding.dims.push_back({*entries});
    EXPECT_EQ(Layout::get(sharding, common, {7}).toSharding(common).has_value(), may);
  }
}

TEST(MeshViews, RefineToFullAxesOfSeveralViews) {
  Mesh a = mesh({2, 3, 2, 3}), b = mesh({3, 2, 3, 2});
  auto both = views({&a, &b});
  ASSERT_TRUE(both);
  Sharding mixed; // "x" of one, "s" of the other
  mixed.dims.push_back({*both->toCommon(DimEntries{{0, 1, 2}}, 0)});
  mixed.dims.push_back({*both->toCommon(DimEntries{{3, 1, 2}}, 1)});
  auto refined = both->refine(mixed);
  ASSERT_TRUE(refined);
  EXPECT_EQ(refined->mesh.axesToString(), "\"d0\"=2, \"d1\"=3, \"d2\"=3, \"d3\"=2");
  EXPECT_EQ(toString(refined->sharding, refined->mesh), "[{\"d0\"}, {\"d3\"}]");
  EXPECT_EQ(Layout::get(refined->sharding, refined->mesh, {5, 7}), Layout::get(mixed, both->getCommon(), {5, 7}));
  // Full axes of the common mesh need no other mesh.
  Sharding plain;
  plain.dims.push_back({*both->toCommon(DimEntries{{0, 1, 2}, {1, 1, 3}}, 0)});
  EXPECT_FALSE(both->refine(plain));
}

TEST(MeshViews, KeepStrides) {
  Mesh a = mesh({4, 2}), b = mesh({2, 4});
  auto all = views({&a, &b});
  DimEntries entries{DimEntry::stride(3), {0, 1, 4}, DimEntry::stride(5), {1, 1, 2}};
  auto common = all->toCommon(entries, 0);
  ASSERT_TRUE(common);
  EXPECT_EQ("{" + toString(*common, all->getCommon()) + "}", "{3, \"d0\", \"d1\", 5, \"d2\"}");
  EXPECT_EQ("{" + toString(*all->fromCommon(*common, 1), b) + "}", "{3, \"x\", \"y\":(1)2, 5, \"y\":(2)2}");
}
