//===- Report.cpp - What a partitioned program moves and holds ------------===//

#include "shardkit/Report/Report.h"

#include "shardkit/Cost/CollectiveMove.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"

#include "shardkit/Rules/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

template <typename T> static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return text;
}

static int64_t getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  return getElementBytes(tensor.getElementType()) * tensor.getNumElements();
}

static ReportValue describe(std::string name, Type local, Attribute global,
                            Attribute sharding) {
  ReportValue value;
  value.name = std::move(name);
  value.localType = print(local);
  value.localBytes = getBytes(local);
  Type globalType = local;
  if (auto type = dyn_cast_or_null<TypeAttr>(global))
    globalType = type.getValue();
  value.globalType = print(globalType);
  value.globalBytes = getBytes(globalType);
  if (sharding) {
    // Without the prefix `#spmd.sharding`.
    std::string text = print(sharding);
    value.sharding = text.substr(text.find('<'));
  }
  return value;
}

FailureOr<Report> spmd::buildReport(ModuleOp module) {
  Report report;
  MeshCache meshes(module);
  for (const MeshCache::Entry &entry : meshes.entries()) {
    ReportMesh mesh{entry.mesh->name, {}, {}};
    for (const MeshAxis &axis : entry.mesh->axes)
      mesh.axes.emplace_back(axis.name, axis.size);
    mesh.deviceIds.assign(entry.mesh->deviceIds.begin(), entry.mesh->deviceIds.end());
    report.meshes.push_back(std::move(mesh));
  }
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    ReportFunction function;
    function.name = func.getName().str();
    auto nameOf = [](Attribute weight, Attribute name, std::string fallback) {
      if (auto text = dyn_cast_or_null<StringAttr>(weight))
        return text.getValue().str();
      if (auto text = dyn_cast_or_null<StringAttr>(name))
        return text.getValue().str();
      return fallback;
    };
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      function.arguments.push_back(
          describe(nameOf(func.getArgAttr(i, kWeightAttr), func.getArgAttr(i, kNameAttr),
                          "arg" + std::to_string(i)),
                   func.getArgumentTypes()[i], func.getArgAttr(i, kGlobalTypeAttr),
                   func.getArgAttr(i, kShardingAttr)));
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      function.results.push_back(
          describe(nameOf({}, func.getResultAttr(i, kNameAttr),
                          "result" + std::to_string(i)),
                   func.getResultTypes()[i], func.getResultAttr(i, kGlobalTypeAttr),
                   func.getResultAttr(i, kShardingAttr)));
    report.functions.push_back(std::move(function));

    int64_t next = 0;
    WalkResult walk = func.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface op) {
      const Mesh *from = meshes.lookup(op.getFromMesh());
      const Mesh *to = meshes.lookup(op.getToMesh());
      PlanStep step;
      step.kind = op.getKind();
      if (!from || !to || failed(op.getLayouts(*from, *to, step.from, step.to)))
        return WalkResult::interrupt();
      step.group = getMovedRanks(step.from, step.to);
      CostModel costs(*from);
      CollectiveCost cost = costs.getCost(
          step, getElementBytes(getElementTypeOrSelf(op->getResult(0).getType())));
      ReportCollective entry;
      entry.id = op.getCollectiveId().value_or(next);
      ++next;
      entry.function = func.getName().str();
      entry.kind = stringifyCollectiveKind(step.kind).str();
      if (auto reduction = op.getReduction())
        entry.reduction = stringifyReductionKind(*reduction).str();
      for (std::string &axis : costs.getAxes(step.group))
        entry.axes.push_back(std::move(axis));
      entry.bytes = cost.bytes;
      entry.received = cost.received;
      entry.cost = cost.seconds - (travelsAlong(op) ? costs.getLatency(step.group) : 0);
      entry.count = countExecutions(op->getBlock(), kDefaultTripCount);
      entry.loc = getLocationText(op->getLoc());
      // A slice moves nothing between devices.
      report.bytesByKind[entry.kind] += entry.bytes * entry.count;
      if (entry.bytes > 0)
        report.bytesByAxis[llvm::join(entry.axes, ",")] += entry.bytes * entry.count;
      report.totalCost += entry.cost * entry.count;
      report.collectives.push_back(std::move(entry));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return report;
}

void spmd::printText(const Report &report, raw_ostream &os) {
  for (const ReportMesh &mesh : report.meshes) {
    os << "mesh @" << mesh.name << ":";
    for (auto &[name, size] : mesh.axes)
      os << " " << name << "=" << size;
    os << "\n";
  }
  auto printValues = [&](StringRef title, const std::vector<ReportValue> &values) {
    if (values.empty())
      return;
    size_t nameWidth = 0, typeWidth = 0, localWidth = 0;
    for (const ReportValue &value : values) {
      nameWidth = std::max(nameWidth, value.name.size());
      typeWidth = std::max(typeWidth, value.globalType.size());
      localWidth = std::max(localWidth, value.localType.size());
    }
    os << "  " << title << "\n";
    for (const ReportValue &value : values)
      os << "    " << llvm::left_justify(value.name, nameWidth) << "  "
         << llvm::left_justify(value.globalType, typeWidth) << "  "
         << llvm::left_justify(value.localType, localWidth) << "  " << value.sharding
         << "\n";
  };
  for (const ReportFunction &function : report.functions) {
    os << "function @" << function.name << "\n";
    printValues("arguments", function.arguments);
    printValues("results", function.results);
    bool header = false;
    for (const ReportCollective &c : report.collectives) {
      if (c.function != function.name)
        continue;
      if (!header)
        os << "  collectives\n";
      header = true;
      os << "    #" << llvm::left_justify(std::to_string(c.id), 4)
         << llvm::left_justify(c.kind + (c.reduction.empty() ? "" : " " + c.reduction), 20)
         << llvm::left_justify("{" + llvm::join(c.axes, ",") + "}", 16)
         << llvm::right_justify(std::to_string(c.bytes), 12) << " B  "
         << llvm::format("%.3e s", c.cost) << "  " << c.loc << "\n";
    }
    if (!header)
      os << "  no collectives\n";
  }
  os << "totals\n";
  for (auto &[kind, bytes] : report.bytesByKind)
    os << "    " << llvm::left_justify(kind, 20) << llvm::right_justify(std::to_string(bytes), 14) << " B\n";
  for (auto &[axis, bytes] : report.bytesByAxis)
    os << "    " << llvm::left_justify("on {" + axis + "}", 20)
       << llvm::right_justify(std::to_string(bytes), 14) << " B\n";
  os << "    " << llvm::left_justify("predicted time", 20) << llvm::format("%14.3e", report.totalCost) << " s\n";
}

void spmd::printJSON(const Report &report, raw_ostream &os) {
  using json = nlohmann::ordered_json;
  json root = {{"version", 1}, {"meshes", json::array()}, {"functions", json::array()},
               {"collectives", json::array()}};
  for (const ReportMesh &mesh : report.meshes) {
    json axes = json::array();
    for (auto &[name, size] : mesh.axes)
      axes.push_back({name, size});
    json entry = {{"name", mesh.name}, {"axes", axes}};
    if (!mesh.deviceIds.empty())
      entry["device_ids"] = mesh.deviceIds;
    root["meshes"].push_back(entry);
  }
  auto values = [](const std::vector<ReportValue> &list) {
    json array = json::array();
    for (const ReportValue &value : list)
      array.push_back({{"name", value.name},
                       {"global_type", value.globalType},
                       {"sharding", value.sharding},
                       {"local_type", value.localType},
                       {"global_bytes", value.globalBytes},
                       {"local_bytes", value.localBytes}});
    return array;
  };
  for (const ReportFunction &function : report.functions)
    root["functions"].push_back({{"name", function.name},
                                 {"arguments", values(function.arguments)},
                                 {"results", values(function.results)}});
  for (const ReportCollective &c : report.collectives) {
    json entry = {{"id", c.id}, {"function", c.function}, {"kind", c.kind}, {"axes", c.axes}};
    if (!c.reduction.empty())
      entry["reduction"] = c.reduction;
    entry["bytes"] = c.bytes;
    entry["received"] = c.received;
    entry["count"] = c.count;
    entry["cost"] = c.cost;
    entry["loc"] = c.loc;
    root["collectives"].push_back(entry);
  }
  root["totals"] = {{"bytes_by_kind", report.bytesByKind},
                    {"bytes_by_axis", report.bytesByAxis},
                    {"cost", report.totalCost}};
  os << root.dump(1) << "\n";
}
