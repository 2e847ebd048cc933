//===- Report.cpp - What a run measured -------------------------------------===//

#include "Report.h"

#include "../SizeText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>
#include <sys/resource.h>

using namespace shardkit::rt;
using shardkit::tools::sizeText;
using Json = nlohmann::ordered_json;

namespace shardkit::run {

namespace {

std::string tensorType(const ValueInfo &value, const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + dtypeName(value.dtype) + ">";
}

Json valueJson(const ValueInfo &value) {
  return {{"name", value.name},
          {"global_type", tensorType(value, value.globalShape)},
          {"sharding", value.sharding},
          {"local_type", tensorType(value, value.localShape)}};
}

/// Adds what was measured of collective `id` to its entry.
void addMeasured(Json &entry, const FunctionRecord &record, size_t id) {
  Json total = Json::array(), longest = Json::array();
  int64_t executions = 0;
  for (const auto &perRank : record.stats.collectives) {
    const TimeStats &stats = perRank[id];
    executions = std::max(executions, stats.count);
    total.push_back(stats.seconds);
    longest.push_back(stats.maxSeconds);
  }
  entry["measured"] = {{"executions", executions},
                       {"seconds_per_rank", total},
                       {"max_seconds_per_rank", longest}};
}

Json collectiveJson(const FunctionInfo &function, const CollectiveInfo &info) {
  Json entry = {{"id", info.id},
                {"function", function.name},
                {"kind", info.kind},
                {"axes", info.axes}};
  if (info.reduction != Reduction::None)
    entry["reduction"] = reductionName(info.reduction);
  entry["bytes"] = info.bytes;
  entry["loc"] = info.loc;
  Json extra = Json::parse(info.extra);
  for (auto &[key, value] : extra.items())
    entry[key] = value;
  return entry;
}

Json compilerReport(const Bundle &bundle) {
  std::ifstream stream(bundle.path() + "/report.json");
  Json report = stream ? Json::parse(stream, nullptr, false) : Json();
  if (!report.is_object())
    report = Json::object();
  return report;
}

} // namespace

int64_t peakMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

void printSummary(const FunctionRecord &record) {
  const FunctionInfo &function = *record.function;
  std::printf("%s: %" PRId64 " device%s, %zu collective%s\n",
              function.name.c_str(), function.devices,
              function.devices == 1 ? "" : "s", function.collectives.size(),
              function.collectives.size() == 1 ? "" : "s");
  const LoadStats &load = record.load;
  int64_t least = INT64_MAX, most = 0;
  for (const LoadCounters &counters : load.ranks) {
    least = std::min(least, counters.bytesNeeded);
    most = std::max(most, counters.bytesNeeded);
  }
  std::printf("load: %.1f ms", record.loadSeconds * 1e3);
  if (load.total.bytesRead) {
    std::string owned = sizeText(most);
    if (least != most)
      owned = sizeText(least) + " to " + owned;
    std::printf(", %s owned per device, %s read in all", owned.c_str(),
                sizeText(load.total.bytesRead).c_str());
    if (load.total.bytesRead >= 10'000'000 && load.total.seconds > 0)
      std::printf(", %.2f GB/s, %s staging", double(load.total.bytesRead) / load.total.seconds / 1e9,
                  sizeText(load.stagingBytes).c_str());
  }
  std::printf("\n");
  if (record.steps.size() == 1)
    std::printf("step: %.3f ms\n", record.steps[0] * 1e3);
  else
    std::printf("step: min %.3f ms, median %.3f ms over %zu runs\n",
                record.minStep() * 1e3, record.medianStep() * 1e3,
                record.steps.size());
  std::printf("peak memory: %s\n", sizeText(peakMemory()).c_str());
}

void printDifferences(const FunctionRecord &record, bool onlyMismatches) {
  for (size_t i = 0; i < record.differences.size(); ++i) {
    const Difference &difference = record.differences[i];
    if (onlyMismatches && record.within[i])
      continue;
    std::printf("%s %s %s: max abs error %.3g, max rel error %.3g",
                record.within[i] ? "verify" : "MISMATCH",
                record.function->name.c_str(),
                record.function->results[i].name.c_str(), difference.maxAbs,
                difference.maxRel());
    if (!record.within[i]) {
      std::printf(", %" PRId64 " of %" PRId64 " elements differ",
                  difference.unequal, difference.elements);
      if (difference.incomparable)
        std::printf(", %" PRId64 " of them NaN or infinite on one side",
                    difference.incomparable);
    } else {
      std::printf(", ok");
    }
    std::printf("\n");
  }
}

void printVerdict(const std::vector<FunctionRecord> &records, bool exact) {
  size_t results = 0, bad = 0;
  double maxAbs = 0, maxRel = 0;
  for (const FunctionRecord &record : records)
    for (size_t i = 0; i < record.differences.size(); ++i) {
      ++results;
      bad += !record.within[i];
      maxAbs = std::max(maxAbs, record.differences[i].maxAbs);
      maxRel = std::max(maxRel, record.differences[i].maxRel());
    }
  std::printf("verify: %zu function%s, %zu result%s, ", records.size(),
              records.size() == 1 ? "" : "s", results,
              results == 1 ? "" : "s");
  if (bad)
    std::printf("%zu MISMATCH%s", bad, bad == 1 ? "" : "ES");
  else
    std::printf("all %s", exact ? "equal bit by bit" : "equal");
  std::printf(", max abs error %.3g, max rel error %.3g\n", maxAbs, maxRel);
}

Status writeReport(const std::string &path, const Bundle &bundle,
                   const Options &options,
                   const std::vector<FunctionRecord> &records, int processes) {
  const Manifest &manifest = bundle.manifest();
  Json report = compilerReport(bundle);
  report["version"] = 1;
  if (!report.contains("meshes")) {
    Json meshes = Json::array();
    for (const MeshInfo &mesh : manifest.meshes) {
      Json axes = Json::array();
      for (const auto &[name, size] : mesh.axes)
        axes.push_back({name, size});
      meshes.push_back({{"name", mesh.name}, {"axes", axes}});
    }
    report["meshes"] = meshes;
  }
  bool haveFunctions = report.contains("functions");
  bool haveCollectives = report.contains("collectives") &&
                         report["collectives"].is_array();
  if (!haveFunctions)
    report["functions"] = Json::array();
  if (!haveCollectives)
    report["collectives"] = Json::array();
  std::map<std::pair<std::string, int64_t>, size_t> places;
  for (size_t i = 0; i < report["collectives"].size(); ++i) {
    const Json &entry = report["collectives"][i];
    if (entry.is_object())
      places[{entry.value("function", ""), entry.value("id", int64_t(-1))}] = i;
  }
  Json runs = Json::array();
  for (const FunctionRecord &record : records) {
    const FunctionInfo &function = *record.function;
    if (!haveFunctions) {
      Json arguments = Json::array(), results = Json::array();
      for (const ValueInfo &value : function.arguments)
        arguments.push_back(valueJson(value));
      for (const ValueInfo &value : function.results)
        results.push_back(valueJson(value));
      report["functions"].push_back({{"name", function.name},
                                     {"arguments", arguments},
                                     {"results", results}});
    }
    for (size_t id = 0; id < function.collectives.size(); ++id) {
      Json &entries = report["collectives"];
      auto [known, added] =
          places.try_emplace({function.name, int64_t(id)}, entries.size());
      if (added)
        entries.push_back(collectiveJson(function, function.collectives[id]));
      addMeasured(entries[known->second], record, id);
    }
    Json read = Json::array(), needed = Json::array();
    for (const LoadCounters &counters : record.load.ranks) {
      read.push_back(counters.bytesRead);
      needed.push_back(counters.bytesNeeded);
    }
    Json run = {{"function", function.name},
                {"devices", function.devices},
                {"load",
                 {{"mode", loadModeName(options.load.mode)},
                  {"seconds", record.loadSeconds},
                  {"bytes_read", read},
                  {"bytes_needed", needed},
                  {"requests", record.load.total.requests},
                  {"readers", record.load.readers},
                  {"staging_bytes", record.load.stagingBytes},
                  {"scatters", record.load.scatters},
                  {"broadcasts", record.load.broadcasts},
                  {"messages", record.loadMessages}}},
                {"steps",
                 {{"count", record.steps.size()},
                  {"min_seconds", record.minStep()},
                  {"median_seconds", record.medianStep()},
                  {"seconds", record.steps}}},
                {"device_bytes", record.localBytes}};
    if (!record.differences.empty()) {
      Json verify = Json::array();
      for (size_t i = 0; i < record.differences.size(); ++i)
        verify.push_back({{"result", function.results[i].name},
                          {"max_abs", record.differences[i].maxAbs},
                          {"max_rel", record.differences[i].maxRel()},
                          {"ok", bool(record.within[i])}});
      run["verify"] = verify;
    }
    std::vector<int64_t> map = options.deviceMap;
    if (map.empty() && function.mesh >= 0)
      map = manifest.meshes[size_t(function.mesh)].deviceIds;
    if (!map.empty())
      run["device_map"] = map;
    runs.push_back(std::move(run));
  }
  if (!report.contains("totals")) {
    Json byKind = Json::object(), byAxis = Json::object();
    for (const Json &entry : report["collectives"]) {
      std::string axes;
      for (const Json &axis : entry.value("axes", Json::array()))
        axes += (axes.empty() ? "" : ",") + axis.get<std::string>();
      int64_t bytes = entry.value("bytes", int64_t(0)) *
                      entry.value("count", int64_t(1));
      std::string kind = entry.value("kind", "");
      byKind[kind] = byKind.value(kind, int64_t(0)) + bytes;
      byAxis[axes] = byAxis.value(axes, int64_t(0)) + bytes;
    }
    report["totals"] = {{"bytes_by_kind", byKind}, {"bytes_by_axis", byAxis}};
  }
  report["run"] = {{"backend", options.backend},
                   {"processes", processes},
                   {"peak_process_bytes", peakMemory()},
                   {"functions", runs}};
  std::string text = report.dump(1) + "\n";
  return writeFile(path, {{text.data(), int64_t(text.size())}});
}

} // namespace shardkit::run
