//===- PlanWriter.cpp - A plan as JSON ------------------------------------===//

#include "shardkit/Plan/ShardingPlan.h"

#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

template <typename T> static std::string toJson(const T &value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

static std::string toJson(StringRef text) { return toJson(text.str()); }

/// `<@pod, [...]>`, without the name of the attribute.
static std::string toText(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attr.print(os);
  return toJson(text.substr(text.find('<')));
}

template <typename Range> static void writeList(const Range &range, raw_ostream &os) {
  os << "[";
  llvm::interleaveComma(range, os, [&](const auto &value) { os << toJson(value); });
  os << "]";
}

static void writeMesh(const Mesh &mesh, raw_ostream &os) {
  os << "{\"name\": " << toJson(mesh.name) << ", \"axes\": [";
  llvm::interleaveComma(mesh.axes, os, [&](const MeshAxis &axis) {
    os << "[" << toJson(axis.name) << ", " << axis.size << "]";
  });
  os << "]";
  if (!mesh.deviceIds.empty()) {
    os << ", \"device_ids\": ";
    writeList(mesh.deviceIds, os);
  }
  for (auto [key, costs] : {std::pair("alpha", &mesh.alpha), std::pair("beta", &mesh.beta)})
    if (!costs->empty()) {
      os << ", \"" << key << "\": ";
      writeList(*costs, os);
    }
  if (mesh.flops)
    os << ", \"flops\": " << toJson(*mesh.flops);
  if (mesh.memory)
    os << ", \"memory\": " << *mesh.memory;
  os << "}";
}

static void writeResources(AxisResourcesAttr resources, raw_ostream &os) {
  if (resources.getReplicated()) {
    os << "null";
    return;
  }
  os << "[";
  llvm::interleaveComma(llvm::seq<int64_t>(0, resources.getNumEntries()), os, [&](int64_t i) {
    SmallVector<StringRef> axes = resources.getAxes(i);
    if (resources.isOpen(i))
      os << "\"?\"";
    else if (axes.empty())
      os << "null";
    else if (axes.size() == 1 && axes[0] != "?")
      os << toJson(axes[0]);
    else
      writeList(axes, os);
  });
  os << "]";
}

static void writeRule(const PlanRule &rule, raw_ostream &os) {
  const ShardingSpec &spec = rule.spec;
  os << "{\"function\": " << toJson(rule.function) << ", \"" << stringifyPlanTarget(rule.target)
     << "\": " << toJson(rule.name);
  if (!rule.hash.empty())
    os << ", \"hash\": " << toJson(rule.hash);
  if (!spec.mesh.empty())
    os << ", \"mesh\": " << toJson(spec.mesh);
  if (spec.resources) {
    os << ", \"axis_resources\": ";
    writeResources(spec.resources, os);
  }
  if (spec.sharding)
    os << ", \"sharding\": " << toText(spec.sharding);
  if (spec.compute)
    os << ", \"compute\": " << toText(spec.compute);
  os << "}";
}

void spmd::writePlan(const ShardingPlan &plan, raw_ostream &os) {
  auto writeLines = [&](StringRef key, const auto &list, auto write) {
    os << ",\n \"" << key << "\": [";
    llvm::interleave(
        list, [&](const auto &entry) { os << "\n  "; write(entry); }, [&] { os << ","; });
    os << "]";
  };
  os << "{\"version\": 1";
  writeLines("meshes", plan.meshes, [&](const PlanMesh &mesh) { writeMesh(mesh.mesh, os); });
  writeLines("rules", plan.rules, [&](const PlanRule &rule) { writeRule(rule, os); });
  os << "}\n";
}
