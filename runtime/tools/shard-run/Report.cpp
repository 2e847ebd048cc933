//===- Report.cpp - What a run measured -----------------------------------===//

#include "Report.h"

#include "../PeakMemory.h"
#include "../SizeText.h"
#include "shardkit/rt/Cuda/DeviceUses.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>

using namespace shardkit::rt;
using shardkit::tools::peakMemory;
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

/// Times of the same thing on several ranks.
Json timesJson(const std::vector<const TimeStats *> &ranks) {
  Json total = Json::array(), longest = Json::array();
  int64_t executions = 0;
  for (const TimeStats *stats : ranks) {
    executions = std::max(executions, stats->count);
    total.push_back(stats->seconds);
    longest.push_back(stats->maxSeconds);
  }
  return {{"executions", executions}, {"seconds_per_rank", total}, {"max_seconds_per_rank", longest}};
}

/// What was measured of collective `id` of a function.
Json collectiveTimes(const RunStats::Function &stats, size_t id) {
  std::vector<const TimeStats *> ranks;
  Json bytes = Json::array();
  int64_t most = 0;
  for (const auto &perRank : stats.collectives) {
    ranks.push_back(&perRank[id]);
    bytes.push_back(perRank[id].rowBytes);
    most = std::max(most, perRank[id].rowBytes);
  }
  Json json = timesJson(ranks);
  if (most > 0) // of the rows that masks leave
    json["received_bytes_per_rank"] = bytes;
  return json;
}

/// Of all steps, per rank; seconds only where the host computes.
Json contractionsJson(const std::vector<ContractionStats> &ranks) {
  std::vector<const TimeStats *> times;
  Json flops = Json::array();
  for (const ContractionStats &stats : ranks) {
    times.push_back(&stats.time);
    flops.push_back(stats.flops);
  }
  Json json = timesJson(times);
  json["flops_per_rank"] = flops;
  return json;
}

/// What took most comes first.
Json profileJson(const std::map<std::string, cuda::Device::Work> &profile) {
  std::vector<std::pair<std::string, cuda::Device::Work>> all(profile.begin(), profile.end());
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return std::pair(-a.second.seconds, a.first) < std::pair(-b.second.seconds, b.first);
  });
  Json json = Json::array();
  for (const auto &[name, work] : all)
    json.push_back({{"what", name}, {"executions", work.executions}, {"seconds", work.seconds}});
  return json;
}

/// What was measured of a pipeline: its stages, functions and transfers.
Json pipelineJson(const RunRecord &record) {
  const PipelineInfo &pipeline = *record.what->pipeline();
  Json stages = Json::array(), functions = Json::array(), transfers = Json::array();
  for (const StageInfo &stage : pipeline.stages) {
    Json bytes = Json::array(), run = Json::array(), transfer = Json::array(), wait = Json::array();
    for (int64_t rank : stage.ranks) {
      const RunStats::Rank &stats = record.measured.run.ranks[size_t(rank)];
      bytes.push_back(stats.peakValueBytes);
      run.push_back(stats.runSeconds);
      transfer.push_back(stats.transferSeconds);
      wait.push_back(stats.waitSeconds);
    }
    stages.push_back({{"ranks", stage.ranks},
                      {"peak_value_bytes", bytes},
                      {"run_seconds", run},
                      {"transfer_seconds", transfer},
                      {"wait_seconds", wait}});
  }
  for (size_t f = 0; f < pipeline.functions.size(); ++f) {
    std::vector<const TimeStats *> ranks;
    for (const TimeStats &stats : record.measured.run.functions[f].runs)
      ranks.push_back(&stats);
    functions.push_back({{"function", pipeline.functions[f].name},
                         {"stage", pipeline.stageOf[f]},
                         {"measured", timesJson(ranks)},
                         {"contractions", contractionsJson(record.measured.run.functions[f].contractions)}});
  }
  for (size_t t = 0; t < pipeline.channels.size(); ++t) {
    const ChannelInfo &transfer = pipeline.channels[t];
    std::vector<const TimeStats *> ranks;
    for (size_t s : {transfer.fromStage, transfer.toStage})
      for (int64_t rank : pipeline.stages[s].ranks)
        ranks.push_back(&record.measured.run.transfers[t][size_t(rank)]);
    transfers.push_back({{"from", transfer.fromStage},
                         {"to", transfer.toStage},
                         {"bytes", transfer.move.bytes},
                         {"loc", transfer.move.loc},
                         {"measured", timesJson(ranks)}});
  }
  return {{"schedule", pipeline.schedule},
          {"microbatches", pipeline.microbatches},
          {"stages", stages},
          {"functions", functions},
          {"transfers", transfers}};
}

Json collectiveJson(const FunctionInfo &function, const CollectiveInfo &info) {
  Json entry = {{"id", info.id}, {"function", function.name}, {"kind", info.kind}, {"axes", info.axes}};
  if (info.reduction != Reduction::None)
    entry["reduction"] = reductionName(info.reduction);
  entry["bytes"] = info.bytes;
  entry["loc"] = info.loc;
  Json extra = Json::parse(info.extra);
  for (auto &[key, value] : extra.items())
    entry[key] = value;
  return entry;
}

/// Of all devices of this process, where there was anything; since it was asked last.
void addUses(Json &to) {
  const cuda::Uses uses = cuda::takeUses();
  if (uses.byLibrary + uses.withKernel + uses.byKernel > 0)
    to["products"] = {{"by_library", uses.byLibrary},
                      {"by_library_and_kernel", uses.withKernel},
                      {"by_kernel", uses.byKernel},
                      {"reason", uses.productReason}};
  if (uses.graphsFailed > 0)
    to["graphs_failed"] = {{"count", uses.graphsFailed}, {"reason", uses.graphReason}};
}

Json compilerReport(const Bundle &bundle) {
  std::ifstream stream(bundle.path() + "/report.json");
  Json report = stream ? Json::parse(stream, nullptr, false) : Json();
  if (!report.is_object())
    report = Json::object();
  return report;
}

} // namespace

std::optional<Prediction> findPrediction(const Bundle &bundle, const RunRecord &record) {
  if (record.what->pipeline())
    return std::nullopt;
  for (const Json &function : compilerReport(bundle).value("functions", Json::array()))
    if (function.is_object() && function.value("name", "") == record.what->full().name &&
        function.value("cost", Json()).is_number() && function.value("compute", Json()).is_number())
      return Prediction{function["cost"].get<double>(), function.value("hidden", 0.0),
                        function["compute"].get<double>()};
  return std::nullopt;
}

void printSummary(const RunRecord &record, const std::optional<Prediction> &predicted) {
  const FunctionInfo &full = record.what->full();
  size_t collectives = 0;
  for (const FunctionInfo *function : record.what->functions())
    collectives += function->collectives.size();
  std::printf("%s: %" PRId64 " device%s, %zu collective%s", full.name.c_str(), full.devices,
              full.devices == 1 ? "" : "s", collectives, collectives == 1 ? "" : "s");
  if (const PipelineInfo *pipeline = record.what->pipeline())
    std::printf(", %zu stages, %" PRId64 " microbatch%s, %zu transfer%s", pipeline->stages.size(),
                pipeline->microbatches, pipeline->microbatches == 1 ? "" : "es", pipeline->channels.size(),
                pipeline->channels.size() == 1 ? "" : "s");
  std::printf("\n");
  const LoadStats &load = record.measured.load;
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
    std::printf(", %s owned per device, %s read in all", owned.c_str(), sizeText(load.total.bytesRead).c_str());
    if (load.total.bytesRead >= 10'000'000 && load.total.seconds > 0)
      std::printf(", %.2f GB/s, %s staging", double(load.total.bytesRead) / load.total.seconds / 1e9,
                  sizeText(load.stagingBytes).c_str());
  }
  std::printf("\n");
  if (record.steps.size() == 1)
    std::printf("step: %.3f ms\n", record.steps[0] * 1e3);
  else
    std::printf("step: min %.3f ms, median %.3f ms over %zu runs\n", record.minStep() * 1e3, record.medianStep() * 1e3,
                record.steps.size());
  if (predicted && record.minStep() > 0) {
    std::printf("predicted step: %.3f ms (collectives %.3f ms", predicted->seconds() * 1e3,
                predicted->collectives * 1e3);
    if (predicted->hidden > 0)
      std::printf(", %.3f ms of it hidden by compute", predicted->hidden * 1e3);
    std::printf(", compute %.3f ms), %.2f of the median\n", predicted->compute * 1e3,
                predicted->seconds() / record.medianStep());
  }
  std::printf("peak memory: %s\n", sizeText(peakMemory()).c_str());
}

void printDifferences(const RunRecord &record, bool onlyMismatches) {
  for (size_t i = 0; i < record.checks.size(); ++i) {
    const Difference &difference = record.checks[i].difference;
    if (onlyMismatches && record.checks[i].isWithin)
      continue;
    std::printf("%s %s %s: max abs error %.3g, max rel error %.3g", record.checks[i].isWithin ? "verify" : "MISMATCH",
                record.what->name().c_str(), record.what->full().results[i].name.c_str(), difference.maxAbs,
                difference.maxRel());
    if (record.checks[i].fraction > 0)
      std::printf(", %.3g of the tolerance (rtol %.3g)", record.checks[i].fraction, record.checks[i].tolerance.rtol);
    if (!record.checks[i].isWithin) {
      std::printf(", %" PRId64 " of %" PRId64 " elements differ", difference.unequal, difference.elements);
      if (difference.incomparable)
        std::printf(", %" PRId64 " of them NaN or infinite on one side", difference.incomparable);
      if (!record.checks[i].disagreement.empty())
        std::printf(", %s", record.checks[i].disagreement.c_str());
    } else {
      std::printf(", ok");
    }
    std::printf("\n");
  }
}

void printValues(const RunRecord &record) { std::fputs(record.values->text().c_str(), stdout); }

void printVerdict(const std::vector<RunRecord> &records, bool exact) {
  // A bundle without references can have values.
  if (std::all_of(records.begin(), records.end(),
                  [](const RunRecord &record) { return record.values && record.checks.empty(); }))
    return;
  size_t results = 0, bad = 0;
  double maxAbs = 0, maxRel = 0;
  for (const RunRecord &record : records)
    for (size_t i = 0; i < record.checks.size(); ++i) {
      ++results;
      bad += !record.checks[i].isWithin;
      maxAbs = std::max(maxAbs, record.checks[i].difference.maxAbs);
      maxRel = std::max(maxRel, record.checks[i].difference.maxRel());
    }
  std::printf("verify: %zu function%s, %zu result%s, ", records.size(), records.size() == 1 ? "" : "s", results,
              results == 1 ? "" : "s");
  if (bad)
    std::printf("%zu MISMATCH%s", bad, bad == 1 ? "" : "ES");
  else
    std::printf("all %s", exact ? "equal bit by bit" : "equal");
  std::printf(", max abs error %.3g, max rel error %.3g\n", maxAbs, maxRel);
}

std::string suiteEntry(const std::string &run, const RunRecord &record) {
  bool passed = true;
  double error = 0;
  for (size_t i = 0; i < record.checks.size(); ++i) {
    passed &= record.checks[i].isWithin;
    error = std::max(error, record.checks[i].difference.maxRel());
  }
  Json entry = {
      {"run", run},         {"function", record.what->name()}, {"devices", record.what->devices()}, {"passed", passed},
      {"max_error", error}, {"seconds", record.minStep()}};
  if (record.counters.graphs.launched > 0)
    entry["graphs"] = {{"recorded", record.counters.graphs.recorded}, {"launched", record.counters.graphs.launched}};
  addUses(entry);
  return entry.dump() + "\n";
}
std::string suiteEntry(const std::string &run, const std::string &error) {
  return Json({{"run", run}, {"error", error}}).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status writeReport(const std::string &path, const Bundle &bundle, const Options &options,
                   const std::vector<RunRecord> &records, int processes) {
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
  bool haveCollectives = report.contains("collectives") && report["collectives"].is_array();
  if (!haveFunctions)
    report["functions"] = Json::array();
  if (!haveCollectives)
    report["collectives"] = Json::array();
  std::map<std::pair<std::string, int64_t>, size_t> indexOf;
  for (size_t i = 0; i < report["collectives"].size(); ++i) {
    const Json &entry = report["collectives"][i];
    if (entry.is_object())
      indexOf[{entry.value("function", ""), entry.value("id", int64_t(-1))}] = i;
  }
  Json runs = Json::array();
  for (const RunRecord &record : records) {
    const FunctionInfo &full = record.what->full();
    if (!haveFunctions) {
      Json arguments = Json::array(), results = Json::array();
      for (const ValueInfo &value : full.arguments)
        arguments.push_back(valueJson(value));
      for (const ValueInfo &value : full.results)
        results.push_back(valueJson(value));
      report["functions"].push_back({{"name", full.name}, {"arguments", arguments}, {"results", results}});
    }
    for (size_t f = 0; f < record.what->functions().size(); ++f) {
      const FunctionInfo &function = *record.what->functions()[f];
      for (size_t id = 0; id < function.collectives.size(); ++id) {
        Json &entries = report["collectives"];
        auto [known, added] = indexOf.try_emplace({function.name, int64_t(id)}, entries.size());
        if (added)
          entries.push_back(collectiveJson(function, function.collectives[id]));
        entries[known->second]["measured"] = collectiveTimes(record.measured.run.functions[f], id);
      }
    }
    Json read = Json::array(), needed = Json::array();
    for (const LoadCounters &counters : record.measured.load.ranks) {
      read.push_back(counters.bytesRead);
      needed.push_back(counters.bytesNeeded);
    }
    Json run = {{"function", full.name},
                {"devices", full.devices},
                {"load",
                 {{"mode", loadModeName(options.load.mode)},
                  {"seconds", record.loadSeconds},
                  {"bytes_read", read},
                  {"bytes_needed", needed},
                  {"requests", record.measured.load.total.requests},
                  {"readers", record.measured.load.readers},
                  {"staging_bytes", record.measured.load.stagingBytes},
                  {"scatters", record.measured.load.scatters},
                  {"broadcasts", record.measured.load.broadcasts},
                  {"exchanges", record.measured.load.exchanges},
                  {"messages", record.measured.loadMessages}}},
                {"steps",
                 {{"count", record.steps.size()},
                  {"min_seconds", record.minStep()},
                  {"median_seconds", record.medianStep()},
                  {"seconds", record.steps}}},
                {"device_bytes", record.localBytes}};
    if (std::optional<Prediction> predicted = findPrediction(bundle, record))
      run["steps"]["predicted"] = {{"seconds", predicted->seconds()},
                                   {"collectives", predicted->collectives},
                                   {"hidden", predicted->hidden},
                                   {"compute", predicted->compute},
                                   {"of_median", predicted->seconds() / record.medianStep()}};
    if (!record.what->pipeline())
      run["contractions"] = contractionsJson(record.measured.run.functions[0].contractions);
    if (record.counters.attention.byCudnn + record.counters.attention.byKernel > 0)
      run["attention"] = {{"by_cudnn", record.counters.attention.byCudnn},
                          {"by_kernel", record.counters.attention.byKernel},
                          {"reason", record.counters.attention.reason}};
    if (record.counters.graphs.launched > 0)
      run["graphs"] = {{"recorded", record.counters.graphs.recorded}, {"launched", record.counters.graphs.launched}};
    if (options.profile)
      run["profile"] = profileJson(record.counters.profile);
    if (!record.checks.empty()) {
      Json verify = Json::array();
      for (size_t i = 0; i < record.checks.size(); ++i) {
        const Tolerance &tolerance = record.checks[i].tolerance;
        const bool exact = tolerance.exact || !isFloat(full.results[i].dtype);
        verify.push_back({{"result", full.results[i].name},
                          {"max_abs", record.checks[i].difference.maxAbs},
                          {"max_rel", record.checks[i].difference.maxRel()},
                          {"exact", exact},
                          {"rtol", exact ? 0 : tolerance.rtol},
                          {"atol", exact ? 0 : tolerance.atol},
                          {"of_tolerance", record.checks[i].fraction},
                          {"ok", record.checks[i].isWithin}});
      }
      run["verify"] = verify;
    }
    if (record.values)
      run["values"] = Json::parse(record.values->json());
    if (record.what->pipeline())
      run["pipeline"] = pipelineJson(record);
    std::vector<int64_t> map = options.deviceMap;
    for (int64_t rank = 0; map.size() < size_t(full.devices); ++rank)
      if (int64_t mesh = record.what->heldBy(rank).mesh; mesh >= 0)
        map.push_back(manifest.meshes[size_t(mesh)].deviceIds[size_t(record.what->meshRank(rank))]);
      else
        break;
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
      int64_t bytes = entry.value("bytes", int64_t(0)) * entry.value("count", int64_t(1));
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
  addUses(report["run"]);
  std::string text = report.dump(1) + "\n";
  return writeFile(path, {{text.data(), int64_t(text.size())}});
}

} // namespace shardkit::run
