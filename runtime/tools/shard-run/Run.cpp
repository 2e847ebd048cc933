//===- Run.cpp - Load, run, verify and write what runs as one -------------===//

#include "Run.h"

#include "../ProgressLine.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <chrono>
#include <set>

using namespace shardkit::rt;

namespace shardkit::run {

double RunRecord::minStep() const { return steps.empty() ? 0 : *std::min_element(steps.begin(), steps.end()); }

double RunRecord::medianStep() const {
  if (steps.empty())
    return 0;
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

SessionOptions sessionOptions(const Options &given) {
  SessionOptions options;
  options.timeout = given.timeout;
  options.libraryThreads = given.libraryThreads;
  options.followLinks = given.followLinks;
  options.load = given.load;
  options.isNccl = given.backend == "nccl";
  options.devices.tf32 = given.matmulPrecision == "tf32";
  options.devices.graphs = given.graphs;
  options.devices.tune = given.tune;
  options.devices.profile = given.profile;
  options.devices.attention = given.attention == "cudnn"    ? cuda::AttentionEngine::Cudnn
                              : given.attention == "kernel" ? cuda::AttentionEngine::Kernel
                                                            : cuda::AttentionEngine::Any;
  options.devices.map = given.deviceMap;
  return options;
}

Status FunctionRunner::prepare(const Runnable &what, Arguments &arguments) {
  const int64_t block = backend_.blockOf(what.devices()), most = options_.devicesPerProcess;
  if (backend_.processes() > 1 && most > 0 && block > most)
    return invalid(what.title() + " needs " + std::to_string(what.devices()) + " devices, there are " +
                   std::to_string(backend_.processes()) + " processes with " + std::to_string(most) +
                   " each, expected " + std::to_string((what.devices() + most - 1) / most) +
                   " processes or --devices-per-process=" + std::to_string(block));
  for (size_t s = 0; s < what.stages(); ++s) {
    auto sources = sources_.resolve(what.held(s), what.devices());
    if (!sources.ok()) {
      std::vector<const FunctionInfo *> held;
      for (size_t stage = 0; stage < what.stages(); ++stage)
        held.push_back(&what.held(stage));
      return sources_.withAllMissing(sources.status(), held, what.devices());
    }
    arguments.stages.push_back(std::move(*sources));
  }
  if (options_.donate)
    SK_RETURN_IF_ERROR(what.checkDonation().withContext("--donate"));
  if (comparesValues(what))
    SK_RETURN_IF_ERROR(checkValues(what, compareOptions()));
  if (!verifiesResults(what))
    return {};
  SK_ASSIGN_OR_RETURN(arguments.reference, sources_.resolve(what.full(), what.devices()));
  SK_RETURN_IF_ERROR(checkReference(what, arguments.reference));
  if (options_.donate)
    SK_RETURN_IF_ERROR(checkDonatedReference(what, arguments.reference).withContext("--donate with --verify"));
  return {};
}

Expected<std::vector<Array>> FunctionRunner::load(int function, const Arguments &arguments, RunRecord &record) {
  ArgumentLoadOptions load;
  load.donate = options_.donate;
  if (backend_.process() == 0)
    load.progress = tools::progressLine();
  const auto start = std::chrono::steady_clock::now();
  const int64_t sent = backend_.sent().first;
  SK_ASSIGN_OR_RETURN(std::vector<Array> arrays,
                      session_.loadArguments(function, arguments.stages, record.measured.load, load));
  record.measured.loadMessages = backend_.sent().first - sent;
  record.loadSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return arrays;
}

CompareOptions FunctionRunner::compareOptions() const {
  return {options_.exact, options_.rtol, options_.atol, options_.watch, options_.outputDir};
}

Status FunctionRunner::runSteps(int function, const std::vector<Array> &arguments, RunRecord &record) {
  const FunctionInfo &full = record.what->full();
  std::vector<Array> current = arguments;
  CallOptions call;
  call.donate = options_.donate;
  if (options_.repeat > 1 && !options_.donate) // The first step also prepares the library.
    SK_RETURN_IF_ERROR(session_.call(function, current, call).status());
  session_.clearProfile(function);
  call.stats = &record.measured.run;
  if (comparesValues(*record.what)) {
    SK_ASSIGN_OR_RETURN(results_,
                        compareValues(session_, function, arguments, compareOptions(), call, record.values.emplace()));
    record.steps.push_back(record.measured.run.seconds);
    return {};
  }
  for (int64_t step = 0; step < options_.repeat; ++step) {
    results_.clear(); // The next ones take their memory.
    SK_ASSIGN_OR_RETURN(results_, session_.call(function, current, call));
    record.steps.push_back(record.measured.run.seconds);
    for (size_t i = 0; i < results_.size() && options_.donate; ++i)
      if (full.results[i].tied)
        current[size_t(*full.results[i].tied)] = results_[i];
  }
  return {};
}

Expected<RunRecord> FunctionRunner::run(int function) {
  results_.clear();
  const Runnable &what = session_.runnable(function);
  // Everything that can be wrong is found before anything is allocated.
  Arguments sources;
  SK_RETURN_IF_ERROR(backend_.agree(prepare(what, sources)));
  RunRecord record;
  record.what = &what;
  const DeviceCounters before = session_.deviceCounters(function);
  SK_ASSIGN_OR_RETURN(std::vector<Array> arguments, load(function, sources, record));
  const bool isOnDevices = session_.bundle(function).manifest().target == "cuda";
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    record.localBytes.push_back(
        rankBytes(what.heldBy(rank), options_.donate, isOnDevices ? deviceAlignment : hostAlignment));
  SK_RETURN_IF_ERROR(runSteps(function, arguments, record));
  record.counters = session_.deviceCounters(function);
  record.counters.attention.byCudnn -= before.attention.byCudnn;
  record.counters.attention.byKernel -= before.attention.byKernel;
  if (record.counters.attention.byKernel == 0)
    record.counters.attention.reason = "";
  record.counters.graphs.recorded -= before.graphs.recorded;
  record.counters.graphs.launched -= before.graphs.launched;
  if (measured_)
    SK_RETURN_IF_ERROR(record.measured.merge(what, backend_));
  if (!options_.digests.empty()) {
    SK_ASSIGN_OR_RETURN(record.digests, digest(session_, results_));
  }
  if (verifiesResults(what)) {
    SK_ASSIGN_OR_RETURN(record.checks, verify(session_, function, arguments, results_, sources.reference,
                                              {options_.exact, options_.rtol, options_.atol}));
  }
  return record;
}

Expected<std::vector<std::string>> FunctionRunner::writeResults(const std::string &directory) {
  const bool isFirst = backend_.process() == 0, isNpy = options_.outputFormat == "npy";
  std::vector<std::string> paths;
  Status status = isFirst ? makeDirectory(directory) : Status();
  for (const Array &result : results_) {
    std::string name = result.name();
    std::replace(name.begin(), name.end(), '/', '_');
    std::string path = directory + "/" + name + ".npy";
    if (isNpy && std::count(paths.begin(), paths.end(), path) && status.ok())
      status = invalid("two results would be written to " + path);
    paths.push_back(std::move(path));
  }
  SK_RETURN_IF_ERROR(backend_.agree(status));
  std::vector<Buffer> buffers;
  std::vector<TensorRef> tensors;
  for (size_t i = 0; i < results_.size(); ++i) {
    const Array &result = results_[i];
    Buffer &full = isNpy && i > 0 ? buffers[0] : buffers.emplace_back();
    if (isFirst)
      full.reserve(result.bytes());
    SK_RETURN_IF_ERROR(session_.readOnFirst(result, full.data()));
    tensors.push_back({result.name(), result.dtype(), result.shape(), full.data()});
    if (isFirst && isNpy && status.ok())
      status = writeNpy(paths[i], tensors.back());
  }
  if (!isNpy) {
    paths = {directory + "/outputs.safetensors"};
    if (isFirst)
      status = writeSafetensors(paths[0], tensors);
  }
  SK_RETURN_IF_ERROR(backend_.agree(status));
  if (!isFirst)
    paths.clear();
  return paths;
}

} // namespace shardkit::run
