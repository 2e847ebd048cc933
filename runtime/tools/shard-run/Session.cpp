//===- Session.cpp - Load, run, verify and write one function ---------------===//

#include "Session.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <chrono>
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

Expected<FunctionRecord> Session::run(const FunctionInfo &function) {
  if (function.devices > Executor::maxRanks)
    return invalid("function '" + function.name + "' needs " +
                   std::to_string(function.devices) +
                   " devices, the local backend runs at most " +
                   std::to_string(Executor::maxRanks));
  // Everything that can be wrong is found before anything is allocated.
  SK_ASSIGN_OR_RETURN(std::vector<TensorSource> arguments,
                      sources_.resolve(function));
  for (const ValueInfo &value : function.arguments)
    if (value.load && !value.load->chain.empty())
      SK_RETURN_IF_ERROR(
          functions_.check(value.load->chain).withContext("weight '" + value.name + "'"));
  SK_ASSIGN_OR_RETURN(sk_program program,
                      bundle_.entry(function, function.entry));
  if (options_.verify && !function.reference)
    return invalid("function '" + function.name +
                   "': the bundle has no reference to verify against, compile "
                   "with --with-reference");

  FunctionRecord record;
  record.function = &function;
  const size_t devices = size_t(function.devices);
  if (memory_.size() < devices)
    memory_.resize(devices);
  auto start = std::chrono::steady_clock::now();
  SK_RETURN_IF_ERROR(load(function, arguments, record));
  record.loadSeconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
  for (size_t r = 0; r < devices; ++r)
    record.localBytes.push_back(memory_[r].bytes());

  if (options_.repeat > 1) // The first step also prepares the library.
    SK_RETURN_IF_ERROR(executor_.run(function, program, memory_));
  for (int64_t i = 0; i < options_.repeat; ++i) {
    SK_RETURN_IF_ERROR(
        executor_.run(function, program, memory_, &record.stats));
    record.steps.push_back(record.stats.seconds);
  }
  if (options_.verify)
    SK_RETURN_IF_ERROR(verify(function, arguments, record));
  return record;
}

/// Progress on a terminal, nothing elsewhere.
static void showProgress(int64_t done, int64_t all) {
  std::fprintf(stderr, "\r\033[Kload: %.2f of %.2f GB%s", double(done) / 1e9, double(all) / 1e9,
               done >= all ? "\r\033[K" : "");
}

Status Session::load(const FunctionInfo &function, const std::vector<TensorSource> &arguments,
                     FunctionRecord &record) {
  // Random arguments are made by each rank; files are read for all ranks together.
  SK_RETURN_IF_ERROR(executor_.forEachRank(function.devices, [&](int64_t rank) -> Status {
    RankMemory &memory = memory_[size_t(rank)];
    memory.bind(function);
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
  LoadPlan plan;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!std::holds_alternative<RandomTensor>(arguments[i]))
      for (int64_t rank = 0; rank < function.devices; ++rank)
        plan.add(function.arguments[i], arguments[i], rank, memory_[size_t(rank)].argument(i));
  auto programs = [&](const EntryPoint &entry, int64_t rank, void *const *stored,
                      void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(function, entry));
    return Executor::call(program, rank, function.devices, stored, &local,
                               entry.arenaBytes);
  };
  LoadOptions options = options_.load;
  if (::isatty(2))
    options.progress = showProgress;
  record.load.ranks.resize(size_t(function.devices));
  return plan.run(options, &functions_, programs, record.load);
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
  SK_RETURN_IF_ERROR(executor_.forEachRank(
      function.devices, [&](int64_t rank) -> Status {
        for (size_t i = 0; i < function.results.size(); ++i)
          perRank[size_t(rank)].push_back(
              compareLocal(function.results[i], rank,
                           memory_[size_t(rank)].result(i),
                           reference_.result(i)));
        return {};
      }));
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
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return ioError(directory + ": cannot be created: " + error.message());
  std::vector<Buffer> buffers;
  std::vector<TensorRef> tensors;
  std::vector<std::string> written;
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
  return written;
}

} // namespace shardkit::run
