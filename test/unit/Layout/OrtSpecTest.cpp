//===- OrtSpecTest.cpp - Device lists of ONNX Runtime ---------------------===//

#include "shardkit/Layout/OrtSpec.h"
#include "Simulator.h"

using namespace shardkit_test;

static std::string import(const std::string &spec, OrtMesh ort) {
  ShardingError error;
  auto result = importOrtSpec(spec, ort, error);
  if (!result)
    return error.reason;
  std::string text = toString(result->sharding, result->mesh) + " on";
  for (int64_t id : result->mesh.deviceIds)
    text += " " + std::to_string(id);
  return text;
}

TEST(OrtSpec, PeelingTruthTable) {
  EXPECT_EQ(import("S[0]", {{4}, {0, 1, 0, 1}}), "[{2, \"x\"}] on 0 1");
  EXPECT_EQ(import("S[0]", {{4}, {0, 0, 1, 1}}), "[{\"x\"}] on 0 1");
  EXPECT_EQ(import("S[0]", {{8}, {0, 0, 1, 1, 0, 0, 1, 1}}), "[{2, \"x\"}] on 0 1");
  EXPECT_EQ(import("S[0]", {{4}, {0, 2, 1, 3}}), "[{\"x\"}] on 0 2 1 3");
  EXPECT_EQ(import("S[0]", {{4}, {0, 1, 1, 0}}), "ort_not_digits");
  EXPECT_EQ(import("S[0]", {{4}, {0, 1, 2, 0}}), "ort_not_digits");
  EXPECT_EQ(import("S[0]", {{4}, {0, 1, 1, 2}}), "ort_uneven_ownership");
  EXPECT_EQ(import("S[0]", {{1}, {3}}), "[{}] on 3");
  EXPECT_EQ(import("S[0]", {{8}, {0, 1, 0, 1, 2, 3, 2, 3}}), "[{\"x\":(1)2, 2, \"x\":(2)2}] on 0 1 2 3");
}

TEST(OrtSpec, MeshesOfSeveralDims) {
  EXPECT_EQ(import("S[1]", {{2, 2}, {0, 1, 0, 1}}), "[{\"x\"}] on 0 1");
  EXPECT_EQ(import("S[0]", {{2, 2}, {0, 1, 0, 1}}), "[{}] on 0 1");
  EXPECT_EQ(import("S[1]", {{2, 2}, {0, 1, 1, 0}}), "ort_not_digits");
  EXPECT_EQ(import("S[0]RS[1]", {{2, 2}, {0, 1, 2, 3}}), "[{\"x\":(1)2}, {}, {\"x\":(2)2}] on 0 1 2 3");
  EXPECT_EQ(import("RS[0]", {{2, 3}, {0, 1, 2, 3, 4, 5}}), "[{}, {\"x\":(1)2}] on 0 1 2 3 4 5");
}

TEST(OrtSpec, MalformedSpecs) {
  EXPECT_EQ(import("S[0]", {{3}, {0, 1}}), "ort_shape");
  EXPECT_EQ(import("S[0]", {{0}, {}}), "ort_shape");
  EXPECT_EQ(import("S[0]", {{1}, {-1}}), "ort_shape");
  EXPECT_EQ(import("Q", {{1}, {0}}), "syntax");
  EXPECT_EQ(import("S[1]", {{1}, {0}}), "unknown_axis");
  EXPECT_EQ(import("S[0]S[0]", {{2}, {0, 1}}), "axis_reused");
}

TEST(OrtSpec, ExportRoundTrips) {
  Random random(5);
  int exported = 0;
  for (int n = 0; n < 500; ++n) {
    Mesh m = random.mesh();
    Shape shape = random.shape(3, 400);
    Sharding s = random.sharding(m, shape, false, false);
    ShardingError error;
    auto ort = exportOrtSpec(s, m, error);
    if (!ort)
      continue;
    ++exported;
    auto back = importOrtSpec(ort->spec, ort->mesh, error);
    ASSERT_TRUE(back.has_value()) << toString(s, m) << error.message;
    Layout a = Layout::get(s, m, shape);
    Layout b = Layout::get(back->sharding, back->mesh, shape);
    for (int64_t rank = 0; rank < m.numDevices(); ++rank)
      EXPECT_EQ(b.ownedIndices(rank), a.ownedIndices(back->mesh.device(rank))) << toString(s, m) << " as " << ort->spec;
  }
  EXPECT_GT(exported, 400);
}
