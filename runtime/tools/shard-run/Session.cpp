//===- Session.cpp - Run what runs as one ---------------------------------===//

#include "Session.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

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

Status Session::prepare(const Runnable &what, Arguments &arguments, std::vector<sk_program> &programs) {
  if (what.devices() > Executor::maxRanks)
    return invalid(what.title() + " needs " + std::to_string(what.devices()) + " devices, the runtime has at most " +
                   std::to_string(Executor::maxRanks));
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
    for (const ValueInfo &value : what.held(s).arguments)
      if (value.load && !value.load->chain.empty())
        SK_RETURN_IF_ERROR(functions_.check(value.load->chain).withContext("weight '" + value.name + "'"));
  }
  if (options_.donate)
    SK_RETURN_IF_ERROR(what.checkDonation().withContext("--donate"));
  for (const FunctionInfo *function : what.functions()) {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(*function));
    programs.push_back(program);
  }
  if (options_.verify && !what.full().reference)
    return invalid(what.title() + ": the bundle has no reference to verify against, compile "
                                  "with --with-reference");
  if (options_.verify)
    SK_RETURN_IF_ERROR(bundle_.referenceEntry(what.full()).status());
  if (options_.verify) {
    SK_ASSIGN_OR_RETURN(arguments.reference, sources_.resolve(what.full(), what.devices()));
  }
  return {};
}

cuda::DeviceOptions Session::deviceOptions(const Options &given) {
  cuda::DeviceOptions options;
  options.tf32 = given.matmulPrecision == "tf32";
  options.graphs = given.graphs;
  options.tune = given.tune;
  options.profile = given.profile;
  options.attention = given.attention == "cudnn"    ? cuda::AttentionEngine::Cudnn
                      : given.attention == "kernel" ? cuda::AttentionEngine::Kernel
                                                    : cuda::AttentionEngine::Any;
  options.map = given.deviceMap;
  return options;
}

Status Session::runOnce(const Runnable &what, const std::vector<sk_program> &programs, RunStats *stats) {
  return what.pipeline() ? executor_.run(*what.pipeline(), programs, memory_, stats)
                         : executor_.run(what.full(), programs[0], memory_, stats);
}

Expected<RunRecord> Session::run(const Runnable &what) {
  // Everything that can be wrong is found before anything is allocated.
  Arguments arguments;
  std::vector<sk_program> programs;
  SK_RETURN_IF_ERROR(backend_.agree(prepare(what, arguments, programs)));
  if (const Manifest &manifest = bundle_.manifest(); manifest.target == "cuda") {
    SK_ASSIGN_OR_RETURN(devices_, rankDevices_.use(manifest.chip, what.devices(), backend_, executor_));
  }

  RunRecord record;
  record.what = &what;
  cuda::Device *device = devices_ ? devices_->of(backend_.localRanks(what.devices()).first) : nullptr;
  const cuda::AttentionUses before = device ? device->attentionUses() : cuda::AttentionUses();
  const cuda::GraphUses graphsBefore = device ? device->graphUses() : cuda::GraphUses();
  const size_t devices = size_t(what.devices());
  if (memory_.size() < devices)
    memory_.resize(devices);
  auto start = std::chrono::steady_clock::now();
  const int64_t sent = backend_.sent().first;
  SK_RETURN_IF_ERROR(load(what, arguments, record));
  record.loadMessages = backend_.sent().first - sent;
  record.loadSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto [begin, end] = backend_.localRanks(what.devices());
  record.localBytes.resize(devices);
  for (int64_t r = begin; r < end; ++r)
    record.localBytes[size_t(r)] = memory_[size_t(r)].bytes();

  if (options_.repeat > 1 && !options_.donate) // The first step also prepares the library.
    SK_RETURN_IF_ERROR(runOnce(what, programs, nullptr));
  if (device)
    device->clearProfile();
  for (int64_t i = 0; i < options_.repeat; ++i) {
    SK_RETURN_IF_ERROR(runOnce(what, programs, &record.stats));
    record.steps.push_back(record.stats.seconds);
  }
  if (device) {
    record.attention = device->attentionUses();
    record.attention.byCudnn -= before.byCudnn;
    record.attention.byKernel -= before.byKernel;
    if (record.attention.byKernel == 0)
      record.attention.reason = "";
    record.graphs = {device->graphUses().recorded - graphsBefore.recorded,
                     device->graphUses().launched - graphsBefore.launched};
    record.profile = device->profile();
  }
  if (devices_)
    SK_RETURN_IF_ERROR(backend_.agree(executor_.forEachRank(
        what.devices(), [&](int64_t rank) { return memory_[size_t(rank)].downloadResults(what.heldBy(rank)); })));
  if (measured_)
    SK_RETURN_IF_ERROR(mergeRecords(record));
  if (!options_.digests.empty())
    SK_RETURN_IF_ERROR(digest(what, record));
  if (options_.verify)
    SK_RETURN_IF_ERROR(verify(what, arguments, record));
  return record;
}

namespace {

/// Values one after the other, as bytes.
struct Packer {
  std::string text;
  template <typename T> void add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
};
struct Unpacker {
  const std::string &text;
  size_t at = 0;
  template <typename T> T take() {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
};

} // namespace

Status Session::checkFault() {
  std::string mine;
  if (executor_.fault().isSet())
    mine = executor_.fault().hasHappened() ? "happened" : std::getenv("SK_FAULT");
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(mine));
  std::sort(all.begin(), all.end());
  if (all.back().empty() || std::binary_search(all.begin(), all.end(), "happened"))
    return {};
  return invalid("SK_FAULT=" + all.back() + ": nothing failed, for no such rank came to it");
}

Status Session::mergeRecords(RunRecord &record) {
  if (backend_.processes() == 1)
    return {};
  const int64_t devices = record.what->devices();
  record.load.ranks.resize(size_t(devices));
  Packer mine;
  const LoadStats &load = record.load;
  mine.add(load.total);
  mine.add(record.loadMessages);
  mine.add(load.readers);
  for (int64_t value :
       {load.stagingBytes, load.bytesDirect, load.bytesMapped, load.scatters, load.broadcasts, load.exchanges})
    mine.add(value);
  for (const LoadCounters &counters : load.ranks)
    mine.add(counters);
  auto [begin, end] = backend_.localRanks(devices);
  for (int64_t rank = begin; rank < end; ++rank) {
    mine.add(record.localBytes[size_t(rank)]);
    record.what->forEachCounter(record.stats, rank, [&](const auto &counter) { mine.add(counter); });
  }
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(mine.text));
  LoadStats total;
  total.ranks.resize(size_t(devices));
  int64_t messages = 0;
  for (int p = 0; p < backend_.processes(); ++p) {
    Unpacker theirs{all[size_t(p)]};
    LoadCounters sum = theirs.take<LoadCounters>();
    double longest = std::max(total.total.seconds, sum.seconds);
    total.total.add(sum);
    total.total.seconds = longest;
    messages += theirs.take<int64_t>();
    total.readers += theirs.take<int>();
    // At once, on every node.
    total.stagingBytes += theirs.take<int64_t>();
    for (int64_t *value :
         {&total.bytesDirect, &total.bytesMapped, &total.scatters, &total.broadcasts, &total.exchanges})
      *value += theirs.take<int64_t>();
    for (LoadCounters &counters : total.ranks) {
      counters.add(theirs.take<LoadCounters>());
      counters.seconds = longest;
    }
    auto [first, last] = backend_.ranksOf(p, devices);
    for (int64_t rank = first; rank < last; ++rank) {
      record.localBytes[size_t(rank)] = theirs.take<int64_t>();
      record.what->forEachCounter(record.stats, rank, [&](auto &counter) {
        counter = theirs.take<std::remove_reference_t<decltype(counter)>>();
      });
    }
  }
  record.load = std::move(total);
  record.loadMessages = messages;
  return {};
}

Status Session::digest(const Runnable &what, RunRecord &record) {
  auto [begin, end] = backend_.localRanks(what.devices());
  std::string mine;
  for (int64_t rank = begin; rank < end; ++rank) {
    const FunctionInfo &held = what.heldBy(rank);
    for (size_t i = 0; i < held.results.size(); ++i)
      mine += digestLocal(held.results[i], what.meshRank(rank), memory_[size_t(rank)].result(i));
  }
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(mine));
  std::string joined;
  for (const std::string &text : all)
    joined += text;
  constexpr size_t digits = 32;
  std::vector<size_t> starts; // Of each rank.
  size_t results = 0;
  for (int64_t rank = 0; rank < what.devices(); ++rank) {
    starts.push_back(results);
    results += what.heldBy(rank).results.size();
  }
  for (size_t i = 0; i < what.full().results.size(); ++i) {
    std::string text;
    for (auto [stage, index] : what.resultPositions(i))
      for (int64_t rank : what.ranks(stage))
        text += joined.substr((starts[size_t(rank)] + index) * digits, digits);
    record.digests.push_back(std::move(text));
  }
  return {};
}

} // namespace shardkit::run
