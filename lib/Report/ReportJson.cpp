//===- ReportJson.cpp - The report for programs ---------------------------===//

#include "shardkit/Report/Report.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spmd;

/// Keys keep the order in which they are written.
using json = nlohmann::ordered_json;

/// The list of the conversions of each item.
template <typename Range, typename Convert> static json listOf(const Range &range, Convert convert) {
  json list = json::array();
  for (const auto &each : range)
    list.push_back(convert(each));
  return list;
}

static json toJson(const ReportMesh &mesh) {
  json axes = json::array();
  for (auto &[name, size] : mesh.axes)
    axes.push_back({name, size});
  json entry = {{"name", mesh.name}, {"axes", axes}};
  if (!mesh.deviceIds.empty())
    entry["device_ids"] = mesh.deviceIds;
  return entry;
}

static json toJson(const ReportValue &value) {
  return {{"name", value.name},
          {"global_type", value.globalType},
          {"sharding", value.sharding},
          {"local_type", value.localType},
          {"global_bytes", value.globalBytes},
          {"local_bytes", value.localBytes}};
}

static json toJson(const ReportFunction &function) {
  auto convert = [](const ReportValue &value) { return toJson(value); };
  json entry = {{"name", function.name},
                {"arguments", listOf(function.arguments, convert)},
                {"results", listOf(function.results, convert)},
                {"cost", function.cost}};
  if (function.compute)
    entry["compute"] = *function.compute;
  if (function.hidden > 0)
    entry["hidden"] = function.hidden;
  if (function.calls > 0)
    entry["calls"] = function.calls;
  return entry;
}

static json toJson(const ReportCollective &c) {
  json entry = {{"id", c.id}, {"function", c.function}, {"kind", c.kind}, {"axes", c.axes}};
  if (!c.reduction.empty())
    entry["reduction"] = c.reduction;
  entry["bytes"] = c.bytes;
  entry["received"] = c.received;
  if (c.rows < 1)
    entry["rows"] = c.rows;
  entry["count"] = c.count;
  entry["cost"] = c.cost;
  entry["loc"] = c.loc;
  if (!c.scope.empty())
    entry["scope"] = c.scope;
  entry["reason"] = c.reason;
  return entry;
}

/// A member after those of `first`.
static json describe(const DescribedValue &value, json first) {
  first.update({{"name", value.name},
                {"global_type", value.globalType},
                {"sharding", value.sharding},
                {"local_type", value.localType},
                {"loc", value.loc}});
  return first;
}

static json listLargest(const FunctionMemory &memory) {
  return listOf(memory.largest, [](const HeldValue &held) { return describe(held, {{"bytes", held.bytes}}); });
}

static json toJson(const FunctionMemory &memory) {
  json entry = {{"name", memory.function},
                {"peak_bytes", memory.peakBytes},
                {"argument_bytes", memory.argumentBytes},
                {"at", memory.at},
                {"op", memory.op},
                {"largest", listLargest(memory)}};
  if (memory.dynamicValues > 0)
    entry["uncounted_dynamic_values"] = memory.dynamicValues;
  if (!memory.formula.empty())
    entry["formula"] = memory.formula;
  return entry;
}

/// The functions, and the one with the largest peak.
static json toJson(const std::vector<FunctionMemory> &memories) {
  const FunctionMemory *peak = nullptr;
  for (const FunctionMemory &memory : memories)
    if (!peak || memory.peakBytes > peak->peakBytes)
      peak = &memory;
  return {{"peak_bytes", peak ? peak->peakBytes : 0},
          {"at", peak ? peak->at : ""},
          {"largest", peak ? listLargest(*peak) : json::array()},
          {"functions", listOf(memories, [](const FunctionMemory &memory) { return toJson(memory); })}};
}

static json toJson(const Report &report, const ReportPipeline &pipeline) {
  auto ofFragment = [&](const ReportFragment &fragment) -> json {
    return {{"function", fragment.function},
            {"runs", fragment.runs},
            {"seconds", fragment.seconds},
            {"collective_bytes", report.getCollectiveBytes(fragment.function)}};
  };
  auto ofStages = [&](const ReportStages &stages) -> json {
    return {{"mesh", stages.mesh},
            {"stages", stages.stages},
            {"fragments", listOf(stages.fragments, ofFragment)},
            {"in_flight", stages.inFlight},
            {"residual_bytes", stages.residualBytes},
            {"value_bytes", stages.valueBytes},
            {"peak_bytes", stages.peakBytes}};
  };
  auto ofTransfer = [](const ReportTransfer &transfer) -> json {
    return {{"value", transfer.value},
            {"from", transfer.from},
            {"to", transfer.to},
            {"bytes", transfer.bytes},
            {"count", transfer.count}};
  };
  return {{"name", pipeline.name},
          {"schedule", pipeline.schedule},
          {"microbatches", pipeline.microbatches},
          {"meshes", listOf(pipeline.meshes, ofStages)},
          {"transfers", listOf(pipeline.transfers, ofTransfer)}};
}

static json toJson(const ReportSolver &solver) {
  json entry = {{"name", solver.function},
                {"objective", solver.objective},
                {"lower_bound", solver.lowerBound},
                {"gap", solver.getGap()},
                {"status", solver.status}};
  if (solver.communication)
    entry["communication"] = *solver.communication;
  if (solver.hidden)
    entry["hidden"] = *solver.hidden;
  if (solver.timedOut)
    entry["timed_out"] = true;
  entry["options"] = solver.options;
  if (!solver.kept.empty())
    entry["kept"] = {{"plan", solver.kept}, {"cost", solver.keptSeconds}, {"searched_cost", solver.searchedSeconds}};
  return entry;
}

static json toJson(const ReportShape &shape) {
  json entry = {{"shape", shape.shape}};
  if (shape.error.empty())
    entry.update({{"objective", shape.objective}, {"lower_bound", shape.lowerBound}, {"status", shape.status}});
  else
    entry["error"] = shape.error;
  return entry;
}

/// The searches of all functions, combined.
static json toJson(const std::vector<ReportSolver> &searches, const std::vector<ReportShape> &shapes) {
  ReportSolver all(searches.front().location);
  all.status = "optimal";
  for (const ReportSolver &solver : searches) {
    all.objective += solver.objective;
    all.lowerBound += solver.lowerBound;
    // The weakest status holds for all: gap, within sets, optimal.
    if (solver.status == "gap" || all.status == "optimal")
      all.status = solver.status;
  }
  json root = {{"objective", all.objective},
               {"lower_bound", all.lowerBound},
               {"gap", all.getGap()},
               {"status", all.status},
               {"functions", listOf(searches, [](const ReportSolver &one) { return toJson(one); })}};
  if (!shapes.empty())
    root["mesh_shapes"] = listOf(shapes, [](const ReportShape &shape) { return toJson(shape); });
  return root;
}

static json toJson(const ReplicatedValue &value) {
  json usable = json::array();
  for (auto &[axis, dim] : value.usable)
    usable.push_back({{"axis", axis}, {"dim", dim}});
  return describe(value,
                  {{"function", value.function}, {"bytes", value.bytes}, {"wasted", value.wasted}, {"usable", usable}});
}

static json toJson(const ComparedFigure &figure) {
  auto side = [](std::optional<double> value) { return value ? json(*value) : json(); };
  return {{"what", figure.what}, {"unit", figure.unit}, {"before", side(figure.before)}, {"now", side(figure.now)}};
}

static json toJson(const ComparedLayout &layout) {
  return {{"function", layout.function}, {"value", layout.value}, {"before", layout.before}, {"now", layout.now}};
}

static json toJson(const ComparedCollective &c) {
  return {{"function", c.function}, {"collective", c.text}, {"bytes", c.bytes}, {"count", c.count}, {"loc", c.loc}};
}

/// {"f": {"b": 8}}
static json toJson(const std::vector<ReportSize> &sizes) {
  json byFunction = json::object();
  for (const ReportSize &size : sizes)
    byFunction[size.function][size.name] = size.size;
  return byFunction;
}

void spmd::printJSON(const Report &report, unsigned top, raw_ostream &os) {
  auto convert = [](const auto &each) { return toJson(each); };
  json root = {{"version", 1},
               {"meshes", listOf(report.meshes, convert)},
               {"functions", listOf(report.functions, convert)},
               {"collectives", listOf(report.collectives, convert)}};
  root["totals"] = {{"bytes_by_kind", report.bytesByKind},
                    {"bytes_by_axis", report.bytesByAxis},
                    {"cost", report.totalCost},
                    {"launches", report.launches}};
  if (report.totalCompute)
    root["totals"]["compute"] = *report.totalCompute;
  if (report.totalHidden > 0)
    root["totals"]["hidden"] = report.totalHidden;
  root["memory"] = toJson(report.memory);
  if (!report.sizes.empty()) {
    root["sizes"] = toJson(report.sizes);
    root["memory"]["sizes"] = toJson(report.memorySizes);
  }
  if (!report.pipelines.empty())
    root["pipelines"] =
        listOf(report.pipelines, [&](const ReportPipeline &pipeline) { return toJson(report, pipeline); });
  for (const ReportImprovement &improvement : report.improvements)
    root["improvements"].push_back({{"name", improvement.function},
                                    {"propagated", improvement.propagated},
                                    {"improved", improvement.improved},
                                    {"for_memory", improvement.isForMemory}});
  if (!report.solver.empty())
    root["solver"] = toJson(report.solver, report.shapes);
  root["replicated"] = report.layoutsKnown ? listOf(ArrayRef(report.replicated).take_front(top), convert) : json();
  if (report.comparison)
    root["comparison"] = {{"file", report.comparison->file},
                          {"figures", listOf(report.comparison->figures, convert)},
                          {"layouts", listOf(report.comparison->layouts, convert)},
                          {"gone", listOf(report.comparison->gone, convert)},
                          {"added", listOf(report.comparison->added, convert)}};
  os << root.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
}
