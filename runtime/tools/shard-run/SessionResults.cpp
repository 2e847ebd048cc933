//===- SessionResults.cpp - Compare and write what ranks computed ---------===//

#include "Session.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

using namespace shardkit::rt;

namespace shardkit::run {

Status Session::collectResults(const Runnable &what) {
  for (int64_t rank = 0; rank < what.devices(); ++rank) {
    const FunctionInfo &held = what.heldBy(rank);
    for (size_t i = 0; i < held.results.size(); ++i)
      SK_RETURN_IF_ERROR(backend_.transfer(backend_.ownerOf(rank, what.devices()), 0, memory_[size_t(rank)].result(i),
                                           held.results[i].localBytes()));
  }
  return {};
}

Status Session::collectArgument(const Runnable &what, size_t stage, size_t i) {
  for (int64_t rank : what.ranks(stage)) {
    const int owner = backend_.ownerOf(rank, what.devices());
    const int64_t bytes = what.held(stage).arguments[i].localBytes();
    // What lies on its node process 0 sees, unless each process has its own.
    if (isLocal_                  ? owner != 0 && (backend_.process() == 0 || backend_.process() == owner)
        : backend_.process() == 0 ? !backend_.isOnNode(owner)
                                  : backend_.process() == owner && !backend_.isOnNode(0))
      SK_RETURN_IF_ERROR(backend_.transfer(owner, 0, memory_[size_t(rank)].argument(i), bytes));
  }
  return {};
}

Status Session::loadReference(const Runnable &what, size_t index, const TensorSource &source) {
  const FunctionInfo::ReferenceArgument &given = what.full().referenceArguments[index];
  const ValueInfo &value = what.full().arguments[given.argument];
  void *to = reference_.argument(index);
  LoadPlan plan;
  LoadStats stats;
  const auto *random = std::get_if<RandomTensor>(&source);
  const auto *stored = std::get_if<StoredSource>(&source);
  if (given.source >= 0) {
    const LoadSource &wanted = value.load->sources[size_t(given.source)];
    if (stored && !stored->made) {
      plan.addFull(stored->tensors[size_t(given.source)], wanted.dtype, to);
      return plan.run(options_.load, nullptr, nullptr, stats);
    }
    // Nothing has it whole: what the ranks hold of it, in all arguments, is it.
    bool isHeld = false;
    for (size_t s = 0; s < what.stages(); ++s) {
      const FunctionInfo &held = what.held(s);
      const std::vector<int64_t> &ranks = what.ranks(s);
      for (size_t i = 0; i < held.arguments.size(); ++i) {
        const std::optional<LoadInfo> &load = held.arguments[i].load;
        const int64_t size = dtypeSize(wanted.dtype);
        for (const ExtentPiece &piece : load ? load->pieces : std::vector<ExtentPiece>()) {
          if (load->sources[size_t(piece.source)].name != wanted.name)
            continue;
          isHeld = true;
          for (size_t r = 0; r < ranks.size(); ++r)
            scatterLocal(piece.extents, int64_t(r), size,
                         static_cast<char *>(memory_[size_t(ranks[r])].argument(i)) + piece.localBase * size,
                         static_cast<char *>(to) + piece.globalBase * size);
        }
      }
    }
    if (!isHeld)
      return invalid("--verify needs the stored tensor '" + wanted.name + "' of weight '" + value.name +
                     "', of which the set has what a loading function made; expected "
                     "the set that it was made from");
    return {};
  }
  if (random) {
    random->fill(to, 1, 0, 1, value.globalElements);
    return {};
  }
  if (stored && (!value.load || stored->made)) {
    plan.addFull(stored->tensors[0], value.dtype, to);
    return plan.run(options_.load, nullptr, nullptr, stats);
  }
  if (stored && value.load->reference) {
    SK_ASSIGN_OR_RETURN(sk_program program,
                        bundle_.entry(what.full(), *value.load->reference, stored->tensors.size(), 1));
    std::vector<Buffer> buffers;
    std::vector<void *> pointers;
    for (size_t i = 0; i < stored->tensors.size(); ++i) {
      const LoadSource &tensor = value.load->sources[i];
      buffers.emplace_back(tensor.elements * dtypeSize(tensor.dtype));
      pointers.push_back(buffers.back().data());
      plan.addFull(stored->tensors[i], tensor.dtype, pointers.back());
    }
    SK_RETURN_IF_ERROR(plan.run(options_.load, nullptr, nullptr, stats));
    return Executor::call(program, 0, 1, pointers.data(), &to, value.load->reference->arenaBytes);
  }
  // Nothing else has the whole argument: what the ranks hold of it is it.
  if (options_.donate)
    return invalid("--donate with --verify: argument '" + value.name +
                   "' comes in shards, which the step overwrites, expected a set with it whole");
  const Runnable::Position position = what.argumentPositions(given.argument)[0];
  const ValueInfo &local = what.held(position.stage).arguments[position.index];
  const std::vector<int64_t> &ranks = what.ranks(position.stage);
  for (size_t r = 0; r < ranks.size(); ++r)
    if (!isReplica(local.extents, int64_t(r)))
      scatterLocal(local.extents, int64_t(r), dtypeSize(value.dtype),
                   memory_[size_t(ranks[r])].argument(position.index), to);
  return {};
}

Status Session::verify(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  // Process 0 has the reference, and what the ranks hold of the results.
  SK_RETURN_IF_ERROR(backend_.agree(collectResults(what)));
  for (size_t s = 0; s < what.stages(); ++s)
    for (size_t i = 0; i < arguments.stages[s].size(); ++i)
      if (std::holds_alternative<PreshardedSource>(arguments.stages[s][i]))
        SK_RETURN_IF_ERROR(backend_.agree(collectArgument(what, s, i)));
  Status status;
  if (backend_.process() == 0)
    status = compare(what, arguments, record);
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

void Session::gather(const Runnable &what, Runnable::Position position, void *global) {
  const ValueInfo &value = what.held(position.stage).results[position.index];
  const std::vector<int64_t> &ranks = what.ranks(position.stage);
  for (size_t r = 0; r < ranks.size(); ++r)
    if (!isReplica(value.extents, int64_t(r)))
      scatterLocal(value.extents, int64_t(r), dtypeSize(value.dtype), memory_[size_t(ranks[r])].result(position.index),
                   global);
}

std::string Session::compareCopies(const Runnable &what, size_t i) {
  const std::vector<Runnable::Position> &positions = what.resultPositions(i);
  const ValueInfo &value = what.full().results[i];
  if (positions.size() == 1)
    return "";
  Buffer first(value.globalBytes()), other(value.globalBytes());
  gather(what, positions[0], first.data());
  for (size_t k = 1; k < positions.size(); ++k) {
    gather(what, positions[k], other.data());
    if (std::memcmp(first.data(), other.data(), size_t(value.globalBytes())) != 0)
      return "stages " + std::to_string(positions[0].stage) + " and " + std::to_string(positions[k].stage) +
             " do not have the same bits";
  }
  return "";
}

Status Session::compare(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  const FunctionInfo &full = what.full();
  SK_ASSIGN_OR_RETURN(sk_program program, bundle_.referenceEntry(full));
  reference_.bind(full, /*global=*/true);
  for (size_t i = 0; i < full.referenceArguments.size(); ++i)
    SK_RETURN_IF_ERROR(loadReference(what, i, arguments.reference[full.referenceArguments[i].argument]));
  SK_RETURN_IF_ERROR(executor_.runReference(full, program, reference_));
  // Every rank's part is compared, replicas too.
  std::vector<std::vector<Difference>> perRank(size_t(what.devices()));
  auto compareRank = [&](int64_t rank) -> Status {
    std::vector<Difference> &mine = perRank[size_t(rank)];
    mine.resize(full.results.size());
    for (size_t i = 0; i < full.results.size(); ++i)
      for (auto [stage, index] : what.resultPositions(i))
        if (stage == what.stageOf(rank))
          mine[i].merge(compareLocal(what.held(stage).results[index], what.meshRank(rank),
                                     memory_[size_t(rank)].result(index), reference_.result(i)));
    return {};
  };
  SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), compareRank));
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    if (backend_.ownerOf(rank, what.devices()) != backend_.process())
      SK_RETURN_IF_ERROR(compareRank(rank));
  for (size_t i = 0; i < full.results.size(); ++i) {
    const ValueInfo &value = full.results[i];
    Difference total;
    for (const auto &differences : perRank)
      total.merge(differences[i]);
    Tolerance tolerance = Tolerance::forResult(value);
    tolerance.exact |= options_.exact;
    if (options_.rtol) {
      tolerance.rtol = *options_.rtol;
      tolerance.atol = *options_.rtol / 1000;
    }
    if (options_.atol)
      tolerance.atol = *options_.atol;
    record.differences.push_back(total);
    record.tolerances.push_back(tolerance);
    record.fractions.push_back(total.fractionOf(value.dtype, tolerance));
    record.disagreements.push_back(compareCopies(what, i));
    record.within.push_back(total.within(value.dtype, tolerance) && record.disagreements.back().empty());
  }
  return {};
}

Expected<std::vector<std::string>> Session::writeResults(const Runnable &what, const std::string &directory) {
  if (!options_.verify) // That has brought them already.
    SK_RETURN_IF_ERROR(backend_.agree(collectResults(what)));
  std::vector<std::string> paths;
  Status status;
  if (backend_.process() == 0)
    status = writeAll(what, directory, paths);
  SK_RETURN_IF_ERROR(backend_.agree(status));
  return paths;
}

Status Session::writeAll(const Runnable &what, const std::string &directory, std::vector<std::string> &written) {
  SK_RETURN_IF_ERROR(makeDirectory(directory));
  std::vector<Buffer> buffers;
  std::vector<TensorRef> tensors;
  std::set<std::string> paths;
  for (size_t i = 0; i < what.full().results.size(); ++i) {
    const ValueInfo &value = what.full().results[i];
    Buffer global(value.globalBytes());
    gather(what, what.resultPositions(i)[0], global.data());
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
