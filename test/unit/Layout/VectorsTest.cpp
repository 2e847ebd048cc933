//===- VectorsTest.cpp - Expected layouts in Inputs/layouts.json ----===//
//
// Compiled with exceptions, for the JSON reader.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"
#include "shardkit/Layout/OrtSpec.h"
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace shardkit_test;
using nlohmann::json;

static const json &vectors(const char *section) {
  static const json all = [] {
    std::ifstream file(SHARDKIT_LAYOUT_INPUTS "/layouts.json");
    return json::parse(file);
  }();
  return all.at(section);
}

static Mesh readMesh(const json &j) {
  Mesh mesh;
  for (const json &axis : j.at("axes"))
    mesh.axes.push_back({axis[0].get<std::string>(), axis[1].get<int64_t>()});
  for (const json &id : j.at("device_ids"))
    mesh.deviceIds.push_back(id.get<int64_t>());
  EXPECT_FALSE(verifyMesh(mesh)) << j;
  return mesh;
}

static Shape readShape(const json &j) {
  Shape shape;
  for (const json &size : j)
    shape.push_back(size.get<int64_t>());
  return shape;
}

TEST(Vectors, Ownership) {
  for (const json &v : vectors("ownership")) {
    SCOPED_TRACE(v.dump());
    Mesh m = readMesh(v.at("mesh"));
    Layout l = layout(v.at("sharding"), m, readShape(v.at("shape")));
    EXPECT_EQ(l.localShape(), readShape(v.at("local_shape")));
    EXPECT_EQ(!l.uneven.empty(), v.at("uneven").get<bool>());
    for (int64_t rank = 0; rank < m.numDevices(); ++rank) {
      auto owned = l.ownedIndices(rank);
      EXPECT_EQ(json(std::vector<int64_t>(owned.begin(), owned.end())), v.at("owned").at(m.device(rank)));
    }
  }
}

TEST(Vectors, Equal) {
  for (const json &v : vectors("equal")) {
    SCOPED_TRACE(v.dump());
    Mesh a = readMesh(v.at("mesh")), b = readMesh(v.at("mesh_b"));
    Shape shape = readShape(v.at("shape"));
    EXPECT_TRUE(a.sameDevices(b));
    EXPECT_EQ(layout(v.at("a"), a, shape) == layout(v.at("b"), b, shape), v.at("equal").get<bool>());
  }
}

TEST(Vectors, Invalid) {
  for (const json &v : vectors("invalid")) {
    SCOPED_TRACE(v.dump());
    Mesh m = readMesh(v.at("mesh"));
    ShardingError error;
    auto parsed = parseSharding(v.at("sharding").get<std::string>(), m, error);
    if (parsed) {
      auto illegal = verifySharding(*parsed, m, readShape(v.at("shape")), true);
      ASSERT_TRUE(illegal.has_value());
      error = *illegal;
    }
    EXPECT_EQ(error.reason, v.at("reason").get<std::string>());
  }
}

TEST(Vectors, Reshape) {
  for (const json &v : vectors("reshape")) {
    SCOPED_TRACE(v.dump());
    Mesh m = readMesh(v.at("mesh"));
    Shape outShape = readShape(v.at("out_shape"));
    Layout in = layout(v.at("in"), m, readShape(v.at("in_shape")));
    ReshapeResult r = reshape(in, outShape);
    llvm::SmallVector<Digit, 4> kept;
    for (const json &d : v.at("kept_digits"))
      kept.push_back({d[0].get<int64_t>(), d[1].get<int64_t>(), d[2].get<int64_t>()});
    coalesce(kept);
    EXPECT_TRUE(r.result.digits == kept) << r.result.toString();
    EXPECT_EQ(r.free, v.at("free").get<bool>());
    EXPECT_EQ(receivedElements(in, r.gathered, m.numDevices()), v.at("received_elements").get<int64_t>());
    auto out = r.result.toSharding(m);
    EXPECT_EQ(out.has_value(), !v.at("out").is_null());
    if (out && !v.at("out").is_null())
      EXPECT_EQ(toString(*out, m), v.at("out").get<std::string>());
    if (r.gathered.shape != in.shape)
      in.shape = r.gathered.shape;
    checkPlan(in, r.gathered, m.numDevices(), true);
  }
}

TEST(Vectors, Reshard) {
  for (const json &v : vectors("reshard")) {
    SCOPED_TRACE(v.dump());
    Mesh m = readMesh(v.at("mesh"));
    Shape shape = readShape(v.at("shape"));
    Layout from = layout(v.at("from"), m, shape);
    Layout to = layout(v.at("to"), m, shape);
    MoveVolume volume = moveVolume(from, to, m.numDevices());
    EXPECT_EQ(volume.total, v.at("bound_total").get<int64_t>());
    EXPECT_EQ(volume.largest, v.at("bound_max").get<int64_t>());
    auto plan = planReshard(from, to);
    bool even = from.uneven.empty() && to.uneven.empty();
    if (from != to && v.at("slice").get<bool>())
      EXPECT_EQ(kinds(plan), "all_slice");
    // Chunks of an uneven dim that are slices of larger ones are exchanged.
    else if (from != to && even && v.at("gather").get<bool>())
      EXPECT_EQ(kinds(plan), "all_gather");
    else if (from != to && even && v.at("permute").get<bool>())
      EXPECT_EQ(kinds(plan), "collective_permute");
    checkPlan(from, to, m.numDevices(), true);
  }
}

TEST(Vectors, OrtDeviceLists) {
  for (const json &v : vectors("ort")) {
    SCOPED_TRACE(v.dump());
    OrtMesh ort;
    for (const json &size : v.at("mesh_shape"))
      ort.shape.push_back(size.get<int64_t>());
    for (const json &id : v.at("mesh_elements"))
      ort.elements.push_back(id.get<int64_t>());
    ShardingError error;
    auto result = importOrtSpec(v.at("spec").get<std::string>(), ort, error);
    EXPECT_EQ(result.has_value(), !v.at("sharding").is_null());
    if (!result || v.at("sharding").is_null())
      continue;
    EXPECT_EQ(toString(result->sharding, result->mesh), v.at("sharding").get<std::string>());
    EXPECT_EQ(json(std::vector<int64_t>(result->mesh.deviceIds.begin(), result->mesh.deviceIds.end())),
              v.at("device_ids"));
  }
}
