//===- SizesTest.cpp - Functions of sizes that only the run knows ---------===//

#include "shardkit/rt/Manifest/Manifest.h"

#include <gtest/gtest.h>

using namespace shardkit::rt;

/// f(x: b x 6 over 2 of the ranks, padded to 4; y: 2 * b * s; b; s) on 4 devices.
static const SizeExpr b{SizeExpr::Kind::Size, 0, {}}, s{SizeExpr::Kind::Size, 1, {}};
static SizeExpr number(int64_t value) { return {SizeExpr::Kind::Number, value, {}}; }
static SizeExpr binary(SizeExpr::Kind kind, SizeExpr a, SizeExpr b) { return {kind, 0, {a, b}}; }

static FunctionInfo makeFunction() {
  FunctionInfo function;
  function.name = "f";
  function.devices = 4;
  ValueInfo x, y, size;
  x.name = "x";
  x.dims = {{b, {{2, 2}}, 4}, {number(6), {{1, 2}}, 1}};
  y.name = "y";
  y.dims = {{binary(SizeExpr::Kind::Multiply, binary(SizeExpr::Kind::Multiply, b, s), number(2)), {}, 1}};
  size.kind = ValueKind::Size;
  size.dtype = DType::I64;
  size.globalElements = size.localElements = 1;
  size.name = "b";
  function.arguments = {x, y, size};
  size.name = "s";
  function.arguments.push_back(size);
  function.sizes = {{"b", 2, 1, 64, 1}, {"s", 3, 0, 8, 2}};
  return function;
}

static std::string errorOf(const std::vector<std::optional<Shape>> &shapes) {
  auto sizes = findSizes(makeFunction(), shapes);
  if (!sizes.ok())
    return sizes.status().message();
  auto known = atSizes(makeFunction(), *sizes);
  return known.ok() ? "" : known.status().message();
}

TEST(Sizes, shardsAreChunksOfThePaddedDim) {
  auto known = atSizes(makeFunction(), {5, 4});
  ASSERT_TRUE(known.ok()) << known.status().message();
  EXPECT_TRUE(known->sizes.empty());
  const ValueInfo &x = known->arguments[0];
  EXPECT_EQ(x.globalShape, Shape({5, 6}));
  EXPECT_EQ(x.localShape, Shape({4, 3})); // 5 rows are padded to 8
  EXPECT_EQ(known->arguments[1].globalShape, Shape({40}));
  EXPECT_EQ(known->arguments[2].range, std::pair(int64_t(5), int64_t(6)));
  // Ranks 2 and 3 have row 4 alone.
  std::vector<float> full(30), shard(12, -1);
  for (size_t i = 0; i < full.size(); ++i)
    full[i] = float(i);
  gatherLocal(x.extents, 3, 4, full.data(), shard.data());
  EXPECT_EQ(std::vector<float>(shard.begin(), shard.begin() + 4), std::vector<float>({27, 28, 29, -1}));
  EXPECT_TRUE(validateExtents(x.extents, 12, 30, 4, true).ok());
}

TEST(Sizes, everySizeCoversItsValue) {
  for (int64_t b = 1; b <= 64; ++b) {
    auto known = atSizes(makeFunction(), {b, 2});
    ASSERT_TRUE(known.ok());
    const ValueInfo &x = known->arguments[0];
    EXPECT_TRUE(validateExtents(x.extents, x.localElements, x.globalElements, 4, true).ok()) << b;
  }
}

TEST(Sizes, arenaIsAsLargeAsTheSizesNeed) {
  using Kind = SizeExpr::Kind;
  FunctionInfo function = makeFunction();
  // 64 * b; 64 * ceil(s / 4) behind it; b * s * floor((b + -1) / 2), where neither lives.
  function.entry.arena = {{binary(Kind::Multiply, b, number(64)), {}},
                          {binary(Kind::Multiply, number(64), binary(Kind::CeilDivide, s, number(4))), {0}},
                          {binary(Kind::Multiply, binary(Kind::Multiply, b, s),
                                  binary(Kind::FloorDivide, binary(Kind::Add, b, number(-1)), number(2))),
                           {}}};
  auto bytes = [&](int64_t b, int64_t s) {
    auto known = atSizes(function, {b, s});
    EXPECT_TRUE(known.ok() && known->entry.arena.empty());
    return known->entry.arenaBytes;
  };
  EXPECT_EQ(bytes(5, 6), 5 * 64 + 2 * 64);
  EXPECT_EQ(bytes(1, 0), 64);
  EXPECT_EQ(bytes(64, 8), 64 * 8 * 31);
  function.sizes[0].most = SizeInfo::maxSize;
  EXPECT_EQ(atSizes(function, {SizeInfo::maxSize, 8}).status().message(),
            "function 'f': the intermediate values (arena) are too large");
  const std::string text = [&] {
    Manifest manifest;
    manifest.functions.push_back(function);
    return manifestText(manifest);
  }();
  EXPECT_NE(text.find("\"floordiv\""), std::string::npos) << text;
}

TEST(Sizes, callsHaveTheSizesOfTheirArguments) {
  EXPECT_EQ(errorOf({Shape{5, 6}, std::nullopt}),
            "function 'f': size 's' is not known, expected an argument with a dim of it");
  EXPECT_EQ(errorOf({Shape{5}, std::nullopt}), "function 'f': argument 'x' has shape 5, expected 2 dims");
  FunctionInfo function = makeFunction();
  ValueInfo z;
  z.name = "z";
  z.dims = {{s, {}, 1}, {b, {}, 1}};
  function.arguments.push_back(z);
  auto sizes = findSizes(function, {Shape{5, 6}, Shape{40}, std::nullopt, std::nullopt, Shape{4, 5}});
  ASSERT_TRUE(sizes.ok()) << sizes.status().message();
  EXPECT_EQ(*sizes, std::vector<int64_t>({5, 4}));
  sizes = findSizes(function, {Shape{5, 6}, std::nullopt, std::nullopt, std::nullopt, Shape{4, 6}});
  EXPECT_EQ(sizes.status().message(),
            "function 'f': dim 1 of argument 'z' is 6, expected 5, as dim 0 of argument 'x': both are 'b'");
  sizes = findSizes(function, {Shape{5, 6}, Shape{41}, std::nullopt, std::nullopt, Shape{4, 5}});
  EXPECT_EQ(sizes.status().message(), "function 'f': dim 0 of argument 'y' is 41, expected 40 (2 * b * s)");
}

TEST(Sizes, sizesFollowFromDimsThatAreLinearInThem) {
  using Kind = SizeExpr::Kind;
  auto sizes = findSizes(makeFunction(), {Shape{5, 6}, Shape{40}});
  ASSERT_TRUE(sizes.ok()) << sizes.status().message();
  EXPECT_EQ(*sizes, std::vector<int64_t>({5, 4}));
  EXPECT_EQ(errorOf({Shape{5, 6}, Shape{41}}),
            "function 'f': dim 0 of argument 'y' is 41, expected 2 * b * s for a size 's'");
  // Of x: b + s and 3 * s - 1, of y: floor(b / 2).
  FunctionInfo function = makeFunction();
  auto &x = function.arguments[0].dims, &y = function.arguments[1].dims;
  x = {{binary(Kind::Add, b, s), {}, 1}, {binary(Kind::Add, binary(Kind::Multiply, s, number(3)), number(-1)), {}, 1}};
  y = {{binary(Kind::FloorDivide, b, number(2)), {}, 1}};
  auto messageAt = [&](int64_t d, int64_t e, int64_t f) {
    sizes = findSizes(function, {Shape{d, e}, Shape{f}});
    return sizes.ok() ? "" : sizes.status().message();
  };
  EXPECT_EQ(messageAt(9, 5, 3), "");
  EXPECT_EQ(*sizes, std::vector<int64_t>({7, 2}));
  EXPECT_EQ(messageAt(9, 6, 3), "function 'f': dim 1 of argument 'x' is 6, expected 3 * s - 1 for a size 's'");
  EXPECT_EQ(messageAt(1, 5, 3), "function 'f': dim 0 of argument 'x' is 1, expected b + s for a size 'b'");
  EXPECT_EQ(messageAt(9, 5, 4), "function 'f': dim 0 of argument 'y' is 4, expected 3 (floor(b / 2))");
  x[0].size = y[0].size; // from which b does not follow
  EXPECT_EQ(messageAt(3, 5, 3), "function 'f': size 'b' is not known, expected an argument with a dim of it");
}

TEST(Sizes, outOfBoundsIsOneError) {
  auto messageAt = [](std::vector<int64_t> sizes) { return atSizes(makeFunction(), sizes).status().message(); };
  EXPECT_EQ(messageAt({0, 2}), "function 'f': size 'b' is 0, expected one from 1 to 64");
  EXPECT_EQ(messageAt({65, 2}), "function 'f': size 'b' is 65, expected one from 1 to 64");
  EXPECT_EQ(messageAt({5, 3}),
            "function 'f': size 's' is 3, expected a multiple of 2, the devices that dims of it are sharded over");
  EXPECT_EQ(messageAt({5}), "function 'f': 1 sizes are given, expected 2");
}

/// f for b up to 8, where x is sharded, and for more.
static std::vector<FunctionInfo> makeBuckets() {
  std::vector<FunctionInfo> buckets = {makeFunction(), makeFunction()};
  buckets[0].name = "f[b<=8]";
  buckets[0].sizes[0].most = 8;
  buckets[1].name = "f[b>=9]";
  buckets[1].sizes[0].least = 9;
  buckets[1].arguments[0].dims[0].digits.clear();
  for (FunctionInfo &bucket : buckets)
    bucket.arguments[0].sharding = bucket.name;
  return buckets;
}

TEST(Sizes, aCallHasTheBucketOfItsSizes) {
  auto function = joinBuckets("f", makeBuckets());
  ASSERT_TRUE(function.ok()) << function.status().message();
  EXPECT_EQ(function->sizes[0].least, 1);
  EXPECT_EQ(function->sizes[0].most, 64);
  EXPECT_EQ(function->arguments[0].sharding, "by bucket");
  EXPECT_EQ(atSizes(*function, {8, 2})->name, "f[b<=8]");
  EXPECT_EQ(atSizes(*function, {8, 2})->arguments[0].localShape, Shape({4, 3}));
  EXPECT_EQ(atSizes(*function, {9, 2})->name, "f[b>=9]");
  EXPECT_EQ(atSizes(*function, {9, 2})->arguments[0].localShape, Shape({12, 3}));
  EXPECT_EQ(atSizes(*function, {65, 2}).status().message(), "function 'f': size 'b' is 65, expected one from 1 to 64");
}

TEST(Sizes, bucketsThatDifferAreOneError) {
  auto messageOf = [](auto &&change) {
    std::vector<FunctionInfo> buckets = makeBuckets();
    change(buckets[1]);
    return joinBuckets("f", std::move(buckets)).status().message();
  };
  const std::string which = "function 'f': buckets 'f[b<=8]' and 'f[b>=9]' differ in ";
  EXPECT_EQ(messageOf([](FunctionInfo &f) { f.arguments.pop_back(); }),
            which + "the number of arguments, expected the same");
  EXPECT_EQ(messageOf([](FunctionInfo &f) { f.arguments[0].dtype = DType::F16; }),
            which + "the types of arguments, expected the same");
  EXPECT_EQ(messageOf([](FunctionInfo &f) { f.arguments[0].name = "z"; }),
            which + "the names of arguments, expected the same");
  EXPECT_EQ(messageOf([](FunctionInfo &f) { f.sizes[0].name = "c"; }), which + "sizes, expected the same");
}
