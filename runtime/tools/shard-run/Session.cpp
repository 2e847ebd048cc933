//===- Session.cpp - Load, run, verify and write one function ---------------===//

#include "Session.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <cstdio>
#include <filesystem>
#include <set>
#include <unistd.h>

using namespace shardkit::rt;

namespace shardkit::run {

double FunctionRecord::minStep() const {
  return steps.empty() ? 0 : *std::min_element(steps.begin(), steps.end());
}

double FunctionRecord::medianStep() const {
  if (steps.empty())
    return 0;
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

Status Session::prepare(const FunctionInfo &function, std::vector<TensorSource> &arguments,
                        sk_program &program) {
  if (function.devices > Executor::maxRanks)
    return invalid("function '" + function.name + "' needs " + std::to_string(function.devices) +
                   " devices, the runtime has at most " + std::to_string(Executor::maxRanks));
  const int64_t block = backend_.blockOf(function.devices), most = options_.devicesPerProcess;
  if (backend_.processes() > 1 && most > 0 && block > most)
    return invalid("function '" + function.name + "' needs " + std::to_string(function.devices) +
                   " devices, there are " + std::to_string(backend_.processes()) +
                   " processes with " + std::to_string(most) + " each, expected " +
                   std::to_string((function.devices + most - 1) / most) +
                   " processes or --devices-per-process=" + std::to_string(block));
  SK_ASSIGN_OR_RETURN(arguments, sources_.resolve(function));
  for (const ValueInfo &value : function.arguments)
    if (value.load && !value.load->chain.empty())
      SK_RETURN_IF_ERROR(
          functions_.check(value.load->chain).withContext("weight '" + value.name + "'"));
  SK_ASSIGN_OR_RETURN(program, bundle_.entry(function, function.entry));
  if (options_.verify && !function.reference)
    return invalid("function '" + function.name +
                   "': the bundle has no reference to verify against, compile "
                   "with --with-reference");
  return {};
}

Expected<FunctionRecord> Session::run(const FunctionInfo &function) {
  // Everything that can be wrong is found before anything is allocated.
  std::vector<TensorSource> arguments;
  sk_program program = nullptr;
  SK_RETURN_IF_ERROR(backend_.agree(prepare(function, arguments, program)));

  FunctionRecord record;
  record.function = &function;
  const size_t devices = size_t(function.devices);
  if (memory_.size() < devices)
    memory_.resize(devices);
  auto start = std::chrono::steady_clock::now();
  const int64_t sent = backend_.sent().first;
  SK_RETURN_IF_ERROR(load(function, arguments, record));
  record.loadMessages = backend_.sent().first - sent;
  record.loadSeconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
  auto [begin, end] = backend_.ownRanks(function.devices);
  record.localBytes.resize(devices);
  for (int64_t r = begin; r < end; ++r)
    record.localBytes[size_t(r)] = memory_[size_t(r)].bytes();

  if (options_.repeat > 1) // The first step also prepares the library.
    SK_RETURN_IF_ERROR(executor_.run(function, program, memory_));
  for (int64_t i = 0; i < options_.repeat; ++i) {
    SK_RETURN_IF_ERROR(
        executor_.run(function, program, memory_, &record.stats));
    record.steps.push_back(record.stats.seconds);
  }
  if (measured_)
    SK_RETURN_IF_ERROR(mergeRecords(record));
  if (!options_.digests.empty())
    SK_RETURN_IF_ERROR(digest(function, record));
  if (options_.verify)
    SK_RETURN_IF_ERROR(verify(function, arguments, record));
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

Status Session::mergeRecords(FunctionRecord &record) {
  if (backend_.processes() == 1)
    return {};
  const int64_t devices = record.function->devices;
  record.load.ranks.resize(size_t(devices));
  Packer mine;
  const LoadStats &load = record.load;
  mine.add(load.total);
  mine.add(record.loadMessages);
  mine.add(load.readers);
  for (int64_t value : {load.stagingBytes, load.bytesDirect, load.bytesMapped, load.scatters,
                        load.broadcasts})
    mine.add(value);
  for (const LoadCounters &counters : load.ranks)
    mine.add(counters);
  auto [begin, end] = backend_.ownRanks(devices);
  for (int64_t rank = begin; rank < end; ++rank) {
    mine.add(record.localBytes[size_t(rank)]);
    for (const TimeStats &stats : record.stats.collectives[size_t(rank)])
      mine.add(stats);
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
    for (int64_t *value : {&total.bytesDirect, &total.bytesMapped, &total.scatters,
                           &total.broadcasts})
      *value += theirs.take<int64_t>();
    for (LoadCounters &counters : total.ranks) {
      counters.add(theirs.take<LoadCounters>());
      counters.seconds = longest;
    }
    auto [first, last] = backend_.ranksOf(p, devices);
    for (int64_t rank = first; rank < last; ++rank) {
      record.localBytes[size_t(rank)] = theirs.take<int64_t>();
      for (TimeStats &stats : record.stats.collectives[size_t(rank)])
        stats = theirs.take<TimeStats>();
    }
  }
  record.load = std::move(total);
  record.loadMessages = messages;
  return {};
}

Status Session::digest(const FunctionInfo &function, FunctionRecord &record) {
  auto [begin, end] = backend_.ownRanks(function.devices);
  std::string mine;
  for (int64_t rank = begin; rank < end; ++rank)
    for (size_t i = 0; i < function.results.size(); ++i)
      mine += digestLocal(function.results[i], rank, memory_[size_t(rank)].result(i));
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(mine));
  std::string joined;
  for (const std::string &part : all)
    joined += part;
  constexpr size_t digits = 32;
  const size_t results = function.results.size();
  for (size_t i = 0; i < results; ++i) {
    std::string text;
    for (int64_t rank = 0; rank < function.devices; ++rank)
      text += joined.substr((size_t(rank) * results + i) * digits, digits);
    record.digests.push_back(std::move(text));
  }
  return {};
}

/// Progress on a terminal, nothing elsewhere.
static void showProgress(int64_t done, int64_t all) {
  std::fprintf(stderr, "\r\033[Kload: %.2f of %.2f GB%s", double(done) / 1e9, double(all) / 1e9,
               done >= all ? "\r\033[K" : "");
}

Status Session::load(const FunctionInfo &function, const std::vector<TensorSource> &arguments,
                     FunctionRecord &record) {
  // Arguments lie where all processes of the node can write them.
  auto places = backend_.nodeMemory(function.devices, RankMemory::argumentBytes(function));
  if (LoadTeam *team = backend_.loadTeam(); team && backend_.nodeProcess() == 0) {
    team->nextBlock = 0;
    team->nextCall = 0;
  }
  Status status = places.status();
  auto at = [&](int64_t rank) -> void * {
    return places->empty() ? nullptr : (*places)[size_t(rank)];
  };
  for (int64_t rank = 0; rank < function.devices && status.ok(); ++rank)
    if (backend_.ownerOf(rank, function.devices) != backend_.process())
      memory_[size_t(rank)].bindRemote(function, at(rank), backend_.process() == 0);
  if (status.ok())
    status = executor_.forEachRank(function.devices, [&](int64_t rank) -> Status {
      memory_[size_t(rank)].bind(function, false, at(rank));
      return {};
    });
  SK_RETURN_IF_ERROR(backend_.agree(status));
  return backend_.agree(loadArguments(function, arguments, record));
}

Status Session::loadArguments(const FunctionInfo &function,
                              const std::vector<TensorSource> &arguments,
                              FunctionRecord &record) {
  // Random arguments are made by each rank; files are read for all ranks together.
  SK_RETURN_IF_ERROR(executor_.forEachRank(function.devices, [&](int64_t rank) -> Status {
    RankMemory &memory = memory_[size_t(rank)];
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const auto *random = std::get_if<RandomTensor>(&arguments[i])) {
        const ValueInfo &value = function.arguments[i];
        char *to = static_cast<char *>(memory.argument(i));
        int64_t size = dtypeSize(value.dtype);
        forEachPiece(coalesceLoops(value.extents, rank), value.extents.base(rank),
                     [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                       random->fill(to + l * size, ls, g, gs, n);
                     });
      }
    return {};
  }));
  record.load.ranks.resize(size_t(function.devices));
  const bool root = options_.load.mode == LoadMode::RootScatter;
  if (root && backend_.processes() > backend_.nodeProcesses())
    SK_RETURN_IF_ERROR(scatter(function, arguments, record.load));
  if (root && !backend_.isOnNode(0))
    return {};
  LoadPlan plan;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!std::holds_alternative<RandomTensor>(arguments[i]))
      for (int64_t rank = 0; rank < function.devices; ++rank)
        if (backend_.isOnNode(backend_.ownerOf(rank, function.devices)))
          plan.add(function.arguments[i], arguments[i], rank, memory_[size_t(rank)].argument(i));
  LoadOptions options = options_.load;
  if (::isatty(2) && backend_.process() == 0)
    options.progress = showProgress;
  options.team = backend_.loadTeam();
  options.member = backend_.nodeProcess();
  options.members = backend_.nodeProcesses();
  return plan.run(options, &functions_, programs(function), record.load);
}

ShardProgram Session::programs(const FunctionInfo &function) {
  return [this, &function](const EntryPoint &entry, int64_t rank, void *const *stored,
                           void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(function, entry));
    return Executor::call(program, rank, function.devices, stored, &local, entry.arenaBytes);
  };
}

Status Session::scatter(const FunctionInfo &function, const std::vector<TensorSource> &arguments,
                        LoadStats &stats) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (std::holds_alternative<RandomTensor>(arguments[i]))
      continue;
    const ValueInfo &value = function.arguments[i];
    // The shards of one weight at a time.
    std::vector<std::pair<int64_t, Buffer>> shards;
    LoadPlan plan;
    Status status;
    if (backend_.process() == 0) {
      for (int64_t rank = 0; rank < function.devices; ++rank)
        if (!backend_.isOnNode(backend_.ownerOf(rank, function.devices))) {
          shards.emplace_back(rank, Buffer(value.localBytes()));
          std::memset(shards.back().second.data(), 0, size_t(value.localBytes()));
          plan.add(value, arguments[i], rank, shards.back().second.data());
        }
      status = plan.run(options_.load, &functions_, programs(function), stats);
    }
    SK_RETURN_IF_ERROR(backend_.agree(status));
    size_t next = 0;
    for (int64_t rank = 0; rank < function.devices; ++rank) {
      int owner = backend_.ownerOf(rank, function.devices);
      if (backend_.process() == 0 && !backend_.isOnNode(owner))
        SK_RETURN_IF_ERROR(
            backend_.transfer(0, owner, shards[next++].second.data(), value.localBytes()));
      else if (backend_.process() == owner && !backend_.isOnNode(0))
        SK_RETURN_IF_ERROR(backend_.transfer(0, owner, memory_[size_t(rank)].argument(i),
                                             value.localBytes()));
    }
  }
  return {};
}

Status Session::collectResults(const FunctionInfo &function) {
  for (int64_t rank = 0; rank < function.devices; ++rank)
    for (size_t i = 0; i < function.results.size(); ++i)
      SK_RETURN_IF_ERROR(backend_.transfer(backend_.ownerOf(rank, function.devices), 0,
                                           memory_[size_t(rank)].result(i),
                                           function.results[i].localBytes()));
  return {};
}

Status Session::collectArgument(const FunctionInfo &function, size_t i) {
  for (int64_t rank = 0; rank < function.devices; ++rank) {
    const int owner = backend_.ownerOf(rank, function.devices);
    const int64_t bytes = function.arguments[i].localBytes();
    // What lies on its node process 0 sees.
    if (backend_.process() == 0 ? !backend_.isOnNode(owner)
                                : backend_.process() == owner && !backend_.isOnNode(0))
      SK_RETURN_IF_ERROR(
          backend_.transfer(owner, 0, memory_[size_t(rank)].argument(i), bytes));
  }
  return {};
}

Status Session::loadReference(const FunctionInfo &function, size_t index,
                              const TensorSource &source) {
  const FunctionInfo::ReferenceArgument &given = function.referenceArguments[index];
  const size_t argument = given.argument;
  const ValueInfo &value = function.arguments[argument];
  void *to = reference_.argument(index);
  LoadPlan plan;
  LoadStats stats;
  const auto *random = std::get_if<RandomTensor>(&source);
  const auto *stored = std::get_if<StoredSource>(&source);
  if (given.source >= 0) {
    const LoadSource &wanted = value.load->sources[size_t(given.source)];
    if (stored) {
      plan.addWhole(stored->tensors[size_t(given.source)], wanted.dtype, to);
      return plan.run(options_.load, nullptr, nullptr, stats);
    }
    // Nothing has it whole: what the ranks hold of it, in all arguments, is it.
    for (size_t i = 0; i < function.arguments.size(); ++i) {
      const LoadSource *source = function.arguments[i].wholeSource();
      if (!source || source->name != wanted.name)
        continue;
      const int64_t size = dtypeSize(wanted.dtype);
      for (const ExtentPiece &piece : function.arguments[i].load->pieces)
        for (int64_t rank = 0; rank < function.devices; ++rank)
          scatterLocal(piece.extents, rank, size,
                       static_cast<char *>(memory_[size_t(rank)].argument(i)) + piece.localBase * size,
                       static_cast<char *>(to) + piece.globalBase * size);
    }
    return {};
  }
  if (random) {
    random->fill(to, 1, 0, 1, value.globalElements);
    return {};
  }
  if (stored && !value.load) {
    plan.addWhole(stored->tensors[0], value.dtype, to);
    return plan.run(options_.load, nullptr, nullptr, stats);
  }
  if (stored && value.load->reference) {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(function, *value.load->reference));
    std::vector<Buffer> buffers;
    std::vector<void *> pointers;
    for (size_t i = 0; i < stored->tensors.size(); ++i) {
      const LoadSource &tensor = value.load->sources[i];
      buffers.emplace_back(tensor.elements * dtypeSize(tensor.dtype));
      pointers.push_back(buffers.back().data());
      plan.addWhole(stored->tensors[i], tensor.dtype, pointers.back());
    }
    SK_RETURN_IF_ERROR(plan.run(options_.load, nullptr, nullptr, stats));
    return Executor::call(program, 0, 1, pointers.data(), &to,
                               value.load->reference->arenaBytes);
  }
  // Nothing else has the whole argument: what the ranks hold of it is it.
  for (int64_t rank = 0; rank < function.devices; ++rank)
    if (!isReplica(value.extents, rank))
      scatterLocal(value.extents, rank, dtypeSize(value.dtype),
                   memory_[size_t(rank)].argument(argument), to);
  return {};
}

Status Session::verify(const FunctionInfo &function,
                       const std::vector<TensorSource> &arguments,
                       FunctionRecord &record) {
  // Process 0 has the reference, and what the ranks hold of the results.
  SK_RETURN_IF_ERROR(backend_.agree(collectResults(function)));
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::holds_alternative<PreshardedSource>(arguments[i]))
      SK_RETURN_IF_ERROR(backend_.agree(collectArgument(function, i)));
  Status status;
  if (backend_.process() == 0)
    status = compare(function, arguments, record);
  SK_RETURN_IF_ERROR(backend_.agree(status));
  std::string within;
  for (bool ok : record.within)
    within += ok ? '1' : '0';
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(within));
  record.within.clear();
  for (char ok : all[0])
    record.within.push_back(ok == '1');
  return {};
}

Status Session::compare(const FunctionInfo &function, const std::vector<TensorSource> &arguments,
                        FunctionRecord &record) {
  SK_ASSIGN_OR_RETURN(sk_program program,
                      bundle_.entry(function, *function.reference));
  reference_.bind(function, /*global=*/true);
  for (size_t i = 0; i < function.referenceArguments.size(); ++i)
    SK_RETURN_IF_ERROR(
        loadReference(function, i, arguments[function.referenceArguments[i].argument]));
  SK_RETURN_IF_ERROR(
      executor_.runReference(function, program, reference_));
  // Every rank's part is compared, replicas too.
  std::vector<std::vector<Difference>> perRank(size_t(function.devices));
  auto compareRank = [&](int64_t rank) -> Status {
    for (size_t i = 0; i < function.results.size(); ++i)
      perRank[size_t(rank)].push_back(compareLocal(function.results[i], rank,
                                                   memory_[size_t(rank)].result(i),
                                                   reference_.result(i)));
    return {};
  };
  SK_RETURN_IF_ERROR(executor_.forEachRank(function.devices, compareRank));
  for (int64_t rank = 0; rank < function.devices; ++rank)
    if (backend_.ownerOf(rank, function.devices) != backend_.process())
      SK_RETURN_IF_ERROR(compareRank(rank));
  for (size_t i = 0; i < function.results.size(); ++i) {
    const ValueInfo &value = function.results[i];
    Difference total;
    for (const auto &differences : perRank)
      total.merge(differences[i]);
    Tolerance tolerance = Tolerance::forDType(value.dtype);
    tolerance.exact = options_.exact || value.exact;
    if (options_.rtol) {
      tolerance.rtol = *options_.rtol;
      tolerance.atol = *options_.rtol / 1000;
    }
    if (options_.atol)
      tolerance.atol = *options_.atol;
    record.differences.push_back(total);
    record.within.push_back(total.within(value.dtype, tolerance));
  }
  return {};
}

Expected<std::vector<std::string>>
Session::writeResults(const FunctionInfo &function,
                      const std::string &directory) {
  if (!options_.verify) // That has brought them already.
    SK_RETURN_IF_ERROR(backend_.agree(collectResults(function)));
  std::vector<std::string> paths;
  Status status;
  if (backend_.process() == 0)
    status = writeAll(function, directory, paths);
  SK_RETURN_IF_ERROR(backend_.agree(status));
  return paths;
}

Status Session::writeAll(const FunctionInfo &function, const std::string &directory,
                         std::vector<std::string> &written) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return ioError(directory + ": cannot be created: " + error.message());
  std::vector<Buffer> buffers;
  std::vector<TensorRef> tensors;
  std::set<std::string> paths;
  for (size_t i = 0; i < function.results.size(); ++i) {
    const ValueInfo &value = function.results[i];
    Buffer global(value.globalBytes());
    for (int64_t rank = 0; rank < function.devices; ++rank)
      if (!isReplica(value.extents, rank))
        scatterLocal(value.extents, rank, dtypeSize(value.dtype),
                     memory_[size_t(rank)].result(i), global.data());
    TensorRef tensor{value.name, value.dtype, value.globalShape, global.data()};
    if (options_.outputFormat == "npy") {
      std::string name = value.name;
      std::replace(name.begin(), name.end(), '/', '_');
      std::string path = directory + "/" + name + ".npy";
      if (!paths.insert(path).second)
        return invalid("two results would be written to " + path);
      SK_RETURN_IF_ERROR(writeNpy(path, tensor));
      written.push_back(path);
    } else {
      tensors.push_back(tensor);
      buffers.push_back(std::move(global));
    }
  }
  if (options_.outputFormat == "safetensors") {
    std::string path = directory + "/outputs.safetensors";
    SK_RETURN_IF_ERROR(writeSafetensors(path, tensors));
    written.push_back(path);
  }
  return {};
}

} // namespace shardkit::run
