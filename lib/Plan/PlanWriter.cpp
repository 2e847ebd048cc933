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

static void writeMesh(const PlanMesh &entry, raw_ostream &os) {
  const Mesh &mesh = entry.mesh;
  os << "{\"name\": " << toJson(mesh.name) << ", \"axes\": [";
  llvm::interleaveComma(mesh.axes, os,
                        [&](const MeshAxis &axis) { os << "[" << toJson(axis.name) << ", " << axis.size << "]"; });
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
  if (mesh.bandwidth)
    os << ", \"bandwidth\": " << toJson(*mesh.bandwidth);
  if (entry.overlap)
    os << ", \"overlap\": " << toJson(*entry.overlap);
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
  if (spec.factorShardings)
    os << ", \"factor_shardings\": " << toText(spec.factorShardings);
  if (spec.reshardPerUse) {
    os << ", \"reshard_per_use\": [";
    llvm::interleaveComma(spec.reshardPerUse.asArrayRef(), os);
    os << "]";
  }
  os << "}";
}

static void writeStage(const PlanStage &stage, raw_ostream &os) {
  os << "{\"function\": " << toJson(stage.function) << ", \"stage\": " << stage.stage;
  if (!stage.mesh.empty())
    os << ", \"mesh\": " << toJson(stage.mesh);
  if (stage.until.size() == 1) {
    os << ", \"until\": " << toJson(stage.until.front());
  } else if (!stage.until.empty()) {
    os << ", \"until\": ";
    writeList(stage.until, os);
  }
  if (!stage.hash.empty())
    os << ", \"hash\": " << toJson(stage.hash);
  os << "}";
}

void spmd::writePlan(const ShardingPlan &plan, raw_ostream &os) {
  StringRef separator;
  auto beginList = [&](StringRef key) {
    os << ",\n \"" << key << "\": [";
    separator = "";
  };
  auto writeLines = [&](const auto &list, auto write) {
    for (const auto &entry : list) {
      os << separator << "\n  ";
      write(entry, os);
      separator = ",";
    }
  };
  os << "{\"version\": 1";
  beginList("meshes");
  writeLines(plan.meshes, writeMesh);
  os << "]";
  beginList("rules");
  writeLines(plan.stages, writeStage);
  writeLines(plan.rules, writeRule);
  os << "]}\n";
}
