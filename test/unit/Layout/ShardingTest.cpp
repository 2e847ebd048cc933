//===- ShardingTest.cpp - Meshes, entries, text ---------------------------===//

#include "Simulator.h"

using namespace shardkit_test;

static std::string text(llvm::ArrayRef<DimEntry> list, const Mesh &mesh) { return "{" + toString(list, mesh) + "}"; }

TEST(Mesh, SizesStridesAndDevices) {
  Mesh m = mesh({2, 3, 4});
  EXPECT_EQ(m.numDevices(), 24);
  EXPECT_EQ(m.axisStride(0), 12);
  EXPECT_EQ(m.axisStride(1), 4);
  EXPECT_EQ(m.axisStride(2), 1);
  EXPECT_EQ(m.findAxis("z"), 2u);
  EXPECT_FALSE(m.findAxis("a").has_value());
  EXPECT_EQ(m.axesToString(), "\"x\"=2, \"y\"=3, \"z\"=4");
  EXPECT_EQ(mesh({}).numDevices(), 1);
}

TEST(Mesh, SameDevices) {
  Mesh a = mesh({2, 3}), b = mesh({6}), c = mesh({3, 2});
  EXPECT_TRUE(a.sameDevices(b));
  b.deviceIds = {0, 1, 2, 3, 4, 5};
  EXPECT_TRUE(a.sameDevices(b));
  c.deviceIds = {0, 2, 1, 3, 4, 5};
  EXPECT_FALSE(a.sameDevices(c));
  EXPECT_FALSE(a.sameDevices(mesh({2})));
}

TEST(Mesh, VerifyErrors) {
  auto reason = [](const Mesh &m) {
    auto error = verifyMesh(m);
    return error ? error->reason : "";
  };
  EXPECT_EQ(reason(mesh({2, 3})), "");
  EXPECT_EQ(reason(mesh({})), "");
  EXPECT_EQ(reason(mesh({2, 0})), "axis_size");
  EXPECT_EQ(reason(mesh({int64_t(1) << 40, int64_t(1) << 40})), "axis_size");
  EXPECT_EQ(reason(namedMesh({{"x", 2}, {"x", 3}})), "axis_name");
  EXPECT_EQ(reason(namedMesh({{"", 2}})), "axis_name");
  Mesh m = mesh({2});
  m.deviceIds = {3, 3};
  EXPECT_EQ(reason(m), "device_repeated");
  m.deviceIds = {3, -1};
  EXPECT_EQ(reason(m), "device_negative");
  m.deviceIds = {3};
  EXPECT_EQ(reason(m), "device_count");
  m.deviceIds = {3, 7};
  EXPECT_EQ(reason(m), "");
  m.alpha = {1.0, 2.0};
  EXPECT_EQ(reason(m), "cost_count");
  m.alpha = {0.0};
  EXPECT_EQ(reason(m), "cost_not_positive");
}

TEST(Sharding, CanonicalizeTruthTable) {
  Mesh m = namedMesh({{"x", 4}, {"y", 2}, {"u", 1}});
  auto canonical = [&](const std::string &list) { return text(canonicalize(entries(list, m)), m); };
  EXPECT_EQ(canonical("{\"x\":(1)2, \"x\":(2)2}"), "{\"x\"}");
  EXPECT_EQ(canonical("{\"x\":(2)2, \"x\":(1)2}"), "{\"x\":(2)2, \"x\":(1)2}");
  EXPECT_EQ(canonical("{\"x\":(1)2, 2, \"x\":(2)2}"), "{\"x\":(1)2, 2, \"x\":(2)2}");
  EXPECT_EQ(canonical("{\"x\":(1)2, 1, \"x\":(2)2}"), "{\"x\"}");
  EXPECT_EQ(canonical("{2, 3, \"x\", 1, 5}"), "{6, \"x\"}");
  EXPECT_EQ(canonical("{\"y\", \"x\"}"), "{\"y\", \"x\"}");
  EXPECT_EQ(canonical("{3}"), "{}");
  EXPECT_EQ(canonical("{\"u\"}"), "{}");
}

TEST(Sharding, OverlapsTruthTable) {
  Mesh m = namedMesh({{"x", 8}, {"y", 2}, {"z", 6}, {"u", 1}});
  auto check = [&](const std::string &a, const std::string &b) {
    DimEntry p = entries("{" + a + "}", m)[0], q = entries("{" + b + "}", m)[0];
    EXPECT_EQ(overlaps(p, q, m), overlaps(q, p, m));
    return overlaps(p, q, m);
  };
  EXPECT_FALSE(check("\"x\"", "\"y\""));
  EXPECT_TRUE(check("\"x\"", "\"x\""));
  EXPECT_TRUE(check("\"x\"", "\"x\":(2)2"));
  EXPECT_FALSE(check("\"x\":(1)2", "\"x\":(2)2"));
  EXPECT_FALSE(check("\"x\":(1)2", "\"x\":(4)2"));
  EXPECT_TRUE(check("\"x\":(1)4", "\"x\":(2)4"));
  EXPECT_TRUE(check("\"z\":(1)2", "\"z\":(3)2"));
  EXPECT_FALSE(check("\"x\"", "2"));
  EXPECT_FALSE(check("\"u\"", "\"u\""));
}

TEST(Sharding, SplitDimTruthTable) {
  Mesh m2 = namedMesh({{"x", 2}, {"y", 2}}), m3 = mesh({3}), m4 = mesh({4});
  auto split = [](const std::string &list, const Mesh &m, std::vector<int64_t> factors) -> std::string {
    bool fits;
    std::string all;
    for (const DimEntries &factor : splitDim(entries(list, m), factors, &fits))
      all += text(factor, m);
    return all + (fits ? "" : " in part");
  };
  EXPECT_EQ(split("{\"x\"}", m4, {2, 4}), "{\"x\":(1)2}{\"x\":(2)2}");
  EXPECT_EQ(split("{2, \"x\"}", m2, {2, 4}), "{}{\"x\"}");
  EXPECT_EQ(split("{\"x\", 2, \"y\"}", m2, {2, 2, 4}), "{\"x\"}{}{\"y\"}");
  EXPECT_EQ(split("{\"x\", \"y\"}", m2, {8, 3}), "{\"x\", \"y\"}{}");
  EXPECT_EQ(split("{\"x\"}", mesh({6}), {4, 3}), "{\"x\":(1)2}{} in part");
  EXPECT_EQ(split("{\"x\"}", mesh({8}), {12, 64}), "{\"x\":(1)4}{} in part");
  EXPECT_EQ(split("{\"x\"}", m3, {2, 6}), "{}{} in part");
  EXPECT_EQ(split("{2, \"x\"}", m2, {3, 4}), "{}{} in part");
  EXPECT_EQ(split("{\"x\"}", m4, {5}), "{\"x\"}");
  EXPECT_EQ(split("{\"x\"}", m4, {1, 5, 1}), "{}{\"x\"}{}");
  EXPECT_EQ(split("{\"x\"}", m4, {5, 2}), "{}{} in part");
  EXPECT_EQ(split("{}", m4, {5, 2}), "{}{}");
  EXPECT_EQ(split("{\"x\"}", m4, {0}), "{\"x\"}");
  EXPECT_EQ(split("{\"x\"}", m4, {0, 2}), "{}{} in part");
}

TEST(Sharding, IsRefinementTruthTable) {
  Mesh m2 = namedMesh({{"x", 2}, {"y", 2}}), m4 = namedMesh({{"x", 4}, {"y", 2}});
  auto check = [](const char *list, const char *finer, const Mesh &m) {
    return isRefinement(entries(list, m), entries(finer, m));
  };
  EXPECT_TRUE(check("{4, \"y\"}", "{\"x\", 2, \"y\"}", m2));
  EXPECT_TRUE(check("{4, \"y\"}", "{\"x\", \"y\"}", m4));
  EXPECT_FALSE(check("{4, \"y\"}", "{\"x\", \"y\"}", m2));
  EXPECT_TRUE(check("{\"x\":(1)2, 2, \"y\"}", "{\"x\", \"y\"}", m4));
  EXPECT_FALSE(check("{\"x\"}", "{\"x\":(1)2}", m4));
  EXPECT_TRUE(check("{}", "{\"x\"}", m4));
  EXPECT_TRUE(check("{\"x\"}", "{\"x\", \"y\"}", m4));
  EXPECT_FALSE(check("{\"y\"}", "{\"x\", \"y\"}", m4));
}

TEST(Sharding, JoinDimTruthTable) {
  Mesh m2 = namedMesh({{"x", 2}, {"y", 2}}), m4 = mesh({4});
  auto join = [](std::vector<std::string> lists, const Mesh &m, std::vector<int64_t> factors) {
    llvm::SmallVector<DimEntries> factorEntries;
    for (const std::string &list : lists)
      factorEntries.push_back(entries(list, m));
    return text(joinDim(factorEntries, factors), m);
  };
  EXPECT_EQ(join({"{}", "{\"x\"}"}, m2, {2, 4}), "{2, \"x\"}");
  EXPECT_EQ(join({"{\"x\"}", "{}"}, m2, {2, 4}), "{\"x\"}");
  EXPECT_EQ(join({"{\"x\":(1)2}", "{\"x\":(2)2}"}, m4, {2, 4}), "{\"x\"}");
  EXPECT_EQ(join({"{\"x\"}", "{\"y\"}"}, m2, {4, 6}), "{\"x\", 2, \"y\"}");
  EXPECT_EQ(join({"{}", "{\"x\"}"}, m4, {1, 5}), "{\"x\"}");
  EXPECT_EQ(join({"{\"x\"}", "{}"}, m4, {5, 2}), "{}");
  EXPECT_EQ(join({"{\"x\"}"}, m4, {1}), "{\"x\"}");
}

TEST(Sharding, AllowsPaddingTruthTable) {
  Mesh m = mesh({4, 2});
  struct Row {
    DimEntries entries;
    int64_t size;
    bool divides, allowsPadding;
  } rows[] = {
      {{{0, 1, 4}}, 8, true, true},
      {{{0, 1, 4}}, 6, false, true},
      {{{0, 1, 4}, {1, 1, 2}}, 1, false, true},
      {{{0, 1, 2}}, 5, false, false},
      {{{0, 1, 2}, {0, 2, 2}}, 5, false, true},
      {{DimEntry::stride(2), {0, 1, 4}}, 6, false, false},
      {{}, 5, true, true},
  };
  for (const Row &row : rows) {
    EXPECT_EQ(divides(row.entries, row.size), row.divides) << text(row.entries, m);
    EXPECT_EQ(allowsPadding(row.entries, m), row.allowsPadding) << text(row.entries, m);
  }
}

TEST(Sharding, ParseAndPrintRoundTrip) {
  Mesh m = namedMesh({{"x", 2}, {"y", 4}, {"z", 3}, {"w", 5}});
  for (std::string s : {"[]", "[{}]", "[{?}]", "[{\"x\", ?}, {2, \"y\":(1)2}p1, {}]",
                        "[{\"x\", ?}, {2, \"y\":(1)2}p1, {}], replicated = {\"z\"}, "
                        "unreduced(max) = {\"w\"}",
                        "[{\"x\"}], unreduced = {\"y\":(2)2}"})
    EXPECT_EQ(toString(sharding(s, m), m), s);
  EXPECT_EQ(toString(sharding(" [ {\"x\":(1)2,?} ,{} ] ", m), m), "[{\"x\", ?}, {}]");
  Mesh odd = namedMesh({{"a\"b\\\x01", 2}});
  std::string printed = toString(sharding("[{\"a\\\"b\\\\\\01\"}]", odd), odd);
  EXPECT_EQ(toString(sharding(printed, odd), odd), printed);
}

TEST(Sharding, ParseErrors) {
  Mesh m = mesh({2});
  auto reason = [&](const std::string &s) {
    ShardingError error;
    EXPECT_FALSE(parseSharding(s, m, error).has_value()) << s;
    EXPECT_FALSE(error.message.empty());
    return error.reason;
  };
  for (std::string s : {"", "[", "[{]", "[{}", "[{}] x", "[{?, \"x\"}]", "[{\"x\":2}]", "[{\"x\"}p]", "[{\"x]",
                        "[{-1}]", "[{}], replicated", "[{},]", "[{\"x\",}]", "[{99999999999999999999}]",
                        "[{}], replicated = {}, replicated = {}"})
    EXPECT_EQ(reason(s), "syntax") << s;
  EXPECT_EQ(reason("[{\"q\"}]"), "unknown_axis");
  EXPECT_EQ(reason("[{}], unreduced(avg) = {\"x\"}"), "unknown_reduction");
}

TEST(Sharding, VerifyErrors) {
  Mesh m = namedMesh({{"x", 4}, {"y", 6}});
  auto reason = [&](const std::string &s, Shape shape, bool uneven = true) {
    auto error = verifySharding(sharding(s, m), m, shape, uneven);
    return error ? error->reason : "";
  };
  EXPECT_EQ(reason("[{\"x\"}, {\"y\"}]", {4, 6}), "");
  EXPECT_EQ(reason("[{\"x\"}]", {4, 6}), "rank_mismatch");
  EXPECT_EQ(reason("[{0, \"x\"}]", {8}), "zero_stride");
  EXPECT_EQ(reason("[{\"x\":(2)4}]", {8}), "sub_axis_size");
  EXPECT_EQ(reason("[{\"x\"}, {\"x\":(2)2}]", {8, 8}), "axis_reused");
  EXPECT_EQ(reason("[{\"x\"}], replicated = {\"x\"}", {8}), "axis_reused");
  EXPECT_EQ(reason("[{\"x\"}], unreduced = {\"x\"}", {8}), "axis_reused");
  EXPECT_EQ(reason("[{\"y\":(1)2}, {\"y\":(3)2}]", {8, 8}), "axis_reused");
  EXPECT_EQ(reason("[{}], unreduced = {2}", {8}), "stride_not_allowed");
  EXPECT_EQ(reason("[{3, \"x\"}]", {8}), "stride_not_dividing");
  EXPECT_EQ(reason("[{9223372036854775807, 2, \"x\"}]", {8}), "stride_not_dividing");
  EXPECT_EQ(reason("[{\"y\":(1)3}]", {8}), "sub_axis_not_dividing");
  EXPECT_EQ(reason("[{\"x\"}]", {5}), "");
  EXPECT_EQ(reason("[{\"x\":(1)2, \"x\":(2)2}]", {5}), "");
  EXPECT_EQ(reason("[{\"x\"}]", {5}, false), "axis_not_dividing");
  EXPECT_EQ(reason("[{\"x\"}]", {0}, false), "");
  auto error = verifySharding(sharding("[{}, {\"x\"}, {\"y\", \"x\"}]", m), m, {8, 8, 8}, true);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->dim, 2);
}

TEST(Sharding, ReductionKindsRoundTrip) {
  for (std::string s : {"sum", "prod", "and", "or", "xor", "max", "min", "umax", "umin", "maxnum", "minnum"})
    EXPECT_EQ(stringifyReductionKind(*parseReductionKind(s)), s);
  EXPECT_FALSE(parseReductionKind("mean").has_value());
  EXPECT_TRUE(isIdempotent(ReductionKind::MaxNum));
  EXPECT_FALSE(isIdempotent(ReductionKind::Xor));
}
