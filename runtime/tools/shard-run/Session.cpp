//===- Session.cpp - Load, run, verify and write what runs as one -----------===//

#include "Session.h"

#include "../ProgressLine.h"

#include "shardkit/rt/Formats/Npy.h"
#include "shardkit/rt/Formats/Safetensors.h"
#include "shardkit/rt/Loading/Together.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <cstdio>
#include <filesystem>
#include <set>

using namespace shardkit::rt;

namespace shardkit::run {

double RunRecord::minStep() const {
  return steps.empty() ? 0 : *std::min_element(steps.begin(), steps.end());
}

double RunRecord::medianStep() const {
  if (steps.empty())
    return 0;
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

Status Session::prepare(const Runnable &what, Arguments &arguments,
                        std::vector<sk_program> &programs) {
  if (what.devices() > Executor::maxRanks)
    return invalid(what.title() + " needs " + std::to_string(what.devices()) +
                   " devices, the runtime has at most " + std::to_string(Executor::maxRanks));
  const int64_t block = backend_.blockOf(what.devices()), most = options_.devicesPerProcess;
  if (backend_.processes() > 1 && most > 0 && block > most)
    return invalid(what.title() + " needs " + std::to_string(what.devices()) +
                   " devices, there are " + std::to_string(backend_.processes()) +
                   " processes with " + std::to_string(most) + " each, expected " +
                   std::to_string((what.devices() + most - 1) / most) +
                   " processes or --devices-per-process=" + std::to_string(block));
  if (what.pipeline() && options_.load.mode == LoadMode::Presharded)
    return invalid("--load=presharded, but the weights of " + what.title() +
                   " lie on several meshes, expected direct or root-scatter");
  for (size_t s = 0; s < what.stages(); ++s) {
    SK_ASSIGN_OR_RETURN(auto sources, sources_.resolve(what.held(s)));
    arguments.stages.push_back(std::move(sources));
    for (const ValueInfo &value : what.held(s).arguments)
      if (value.load && !value.load->chain.empty())
        SK_RETURN_IF_ERROR(
            functions_.check(value.load->chain).withContext("weight '" + value.name + "'"));
  }
  for (const FunctionInfo *function : what.functions()) {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(*function, function->entry));
    programs.push_back(program);
  }
  if (options_.verify && !what.whole().reference)
    return invalid(what.title() +
                   ": the bundle has no reference to verify against, compile "
                   "with --with-reference");
  if (options_.verify) {
    SK_ASSIGN_OR_RETURN(arguments.whole, sources_.resolve(what.whole()));
  }
  return {};
}

Status Session::openDevices(const Runnable &what) {
  devices_ = nullptr;
  executor_.setDevices(nullptr);
  const Manifest &manifest = bundle_.manifest();
  if (manifest.target != "cuda")
    return {};
  RankDevices &known = allDevices_[what.devices()];
  if (!known.devices) {
    const bool isNccl = options_.backend == "nccl";
    auto [begin, end] = backend_.ownRanks(what.devices());
    cuda::DeviceOptions options;
    options.tf32 = options_.matmulPrecision == "tf32";
    options.graphs = options_.graphs;
    options.tune = options_.tune;
    options.profile = options_.profile;
    options.attention = options_.attention == "cudnn"    ? cuda::AttentionEngine::Cudnn
                        : options_.attention == "kernel" ? cuda::AttentionEngine::Own
                                                         : cuda::AttentionEngine::Any;
    options.map = options_.deviceMap;
    if (isNccl) {
      // Processes of one machine take its GPUs one after the other.
      char host[256] = {};
      ::gethostname(host, sizeof host - 1);
      SK_ASSIGN_OR_RETURN(std::vector<std::string> hosts, backend_.exchange(host));
      options.firstGpu = 0;
      for (int p = 0; p < int(hosts.size()); ++p) {
        if (hosts[size_t(p)] != host)
          continue;
        auto [first, last] = backend_.ranksOf(p, what.devices());
        options.hostRanks += last - first;
        if (p < backend_.process())
          options.firstGpu += last - first;
      }
    }
    auto opened = cuda::Devices::open(manifest.chip, begin, end, options);
    SK_RETURN_IF_ERROR(backend_.agree(opened.status()));
    if (isNccl) {
      SK_ASSIGN_OR_RETURN(
          known.nccl, cuda::NcclRanks::open(
                          backend_, **opened, what.devices(), options_.timeout,
                          [&](const std::function<Status(int64_t)> &fn) {
                            return executor_.forEachRank(what.devices(), fn);
                          }));
    }
    known.devices = std::move(*opened);
  }
  devices_ = known.devices.get();
  executor_.setDevices(devices_, known.nccl.get());
  return {};
}

Status Session::runOnce(const Runnable &what, const std::vector<sk_program> &programs,
                        RunStats *stats) {
  return what.pipeline() ? executor_.run(*what.pipeline(), programs, memory_, stats)
                         : executor_.run(what.whole(), programs[0], memory_, stats);
}

Expected<RunRecord> Session::run(const Runnable &what) {
  // Everything that can be wrong is found before anything is allocated.
  Arguments arguments;
  std::vector<sk_program> programs;
  SK_RETURN_IF_ERROR(backend_.agree(prepare(what, arguments, programs)));
  SK_RETURN_IF_ERROR(openDevices(what));

  if (options_.donate && what.pipeline())
    return invalid("--donate: '" + what.name() + "' runs in stages, expected a function");
  RunRecord record;
  record.what = &what;
  cuda::Device *device = devices_ ? devices_->of(backend_.ownRanks(what.devices()).first)
                                  : nullptr;
  const cuda::AttentionUses before = device ? device->attentionUses() : cuda::AttentionUses();
  const size_t devices = size_t(what.devices());
  if (memory_.size() < devices)
    memory_.resize(devices);
  auto start = std::chrono::steady_clock::now();
  const int64_t sent = backend_.sent().first;
  SK_RETURN_IF_ERROR(load(what, arguments, record));
  record.loadMessages = backend_.sent().first - sent;
  record.loadSeconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
  auto [begin, end] = backend_.ownRanks(what.devices());
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
    record.profile = device->profile();
  }
  if (devices_)
    SK_RETURN_IF_ERROR(backend_.agree(executor_.forEachRank(what.devices(), [&](int64_t rank) {
      return memory_[size_t(rank)].downloadResults(what.heldBy(rank));
    })));
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
  for (int64_t value : {load.stagingBytes, load.bytesDirect, load.bytesMapped, load.scatters,
                        load.broadcasts, load.exchanges})
    mine.add(value);
  for (const LoadCounters &counters : load.ranks)
    mine.add(counters);
  auto [begin, end] = backend_.ownRanks(devices);
  for (int64_t rank = begin; rank < end; ++rank) {
    mine.add(record.localBytes[size_t(rank)]);
    record.what->forEachCounter(record.stats, rank,
                                [&](const auto &counter) { mine.add(counter); });
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
                           &total.broadcasts, &total.exchanges})
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
  auto [begin, end] = backend_.ownRanks(what.devices());
  std::string mine;
  for (int64_t rank = begin; rank < end; ++rank) {
    const FunctionInfo &held = what.heldBy(rank);
    for (size_t i = 0; i < held.results.size(); ++i)
      mine += digestLocal(held.results[i], what.meshRank(rank), memory_[size_t(rank)].result(i));
  }
  SK_ASSIGN_OR_RETURN(std::vector<std::string> all, backend_.exchange(mine));
  std::string joined;
  for (const std::string &part : all)
    joined += part;
  constexpr size_t digits = 32;
  std::vector<size_t> starts; // Of each rank.
  size_t results = 0;
  for (int64_t rank = 0; rank < what.devices(); ++rank) {
    starts.push_back(results);
    results += what.heldBy(rank).results.size();
  }
  for (size_t i = 0; i < what.whole().results.size(); ++i) {
    std::string text;
    for (auto [stage, index] : what.resultPlaces(i))
      for (int64_t rank : what.ranks(stage))
        text += joined.substr((starts[size_t(rank)] + index) * digits, digits);
    record.digests.push_back(std::move(text));
  }
  return {};
}

Status Session::load(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  isApart_ = loadsApart(what, arguments);
  together_ = nullptr;
  if (isApart_)
    planTogether(what, arguments);
  // Else arguments lie where all processes of the node can write them.
  int64_t bytes = 0;
  for (size_t s = 0; s < what.stages(); ++s)
    bytes = std::max(bytes, RankMemory::argumentBytes(what.held(s)));
  auto places = isApart_ ? Expected(std::vector<char *>()) : backend_.nodeMemory(what.devices(), bytes);
  if (LoadTeam *team = backend_.loadTeam(); team && backend_.nodeProcess() == 0) {
    team->nextBlock = 0;
    team->nextCall = 0;
  }
  Status status = places.status();
  auto at = [&](int64_t rank) -> void * {
    return places->empty() ? nullptr : (*places)[size_t(rank)];
  };
  for (int64_t rank = 0; rank < what.devices() && status.ok(); ++rank)
    if (backend_.ownerOf(rank, what.devices()) != backend_.process())
      memory_[size_t(rank)].bindRemote(what.heldBy(rank), at(rank), backend_.process() == 0);
  if (status.ok())
    status = executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
      RankMemory &memory = memory_[size_t(rank)];
      memory.bind(what.heldBy(rank), false, at(rank), options_.donate);
      return devices_ ? memory.bindDevice(what.heldBy(rank), *devices_->of(rank), rank) : Status();
    });
  SK_RETURN_IF_ERROR(backend_.agree(status));
  // On the host first only where other processes take part in the load.
  const bool isShared = !isApart_ && (backend_.nodeProcesses() > 1 ||
                                      options_.load.mode == LoadMode::RootScatter);
  if (devices_ && !isShared) {
    SK_RETURN_IF_ERROR(backend_.agree(loadOnDevices(what, arguments, record)));
    SK_RETURN_IF_ERROR(loadTogether(what, arguments, record));
    if (!options_.verify)
      return {};
    // The reference may be given what the ranks hold.
    return backend_.agree(executor_.forEachRank(what.devices(), [&](int64_t rank) {
      return memory_[size_t(rank)].downloadArguments(what.heldBy(rank));
    }));
  }
  SK_RETURN_IF_ERROR(backend_.agree(loadArguments(what, arguments, record)));
  if (!devices_)
    return {};
  return backend_.agree(executor_.forEachRank(what.devices(), [&](int64_t rank) {
    return memory_[size_t(rank)].uploadArguments(what.heldBy(rank));
  }));
}

void Session::fillRandom(const Runnable &what, const Arguments &arguments, int64_t rank, size_t i,
                         void *to) {
  const auto *random = std::get_if<RandomTensor>(&arguments.stages[what.stageOf(rank)][i]);
  if (!random)
    return;
  const ValueInfo &value = what.heldBy(rank).arguments[i];
  const int64_t meshRank = what.meshRank(rank), size = dtypeSize(value.dtype);
  forEachPiece(coalesceLoops(value.extents, meshRank), value.extents.base(meshRank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 random->fill(static_cast<char *>(to) + l * size, ls, g, gs, n);
               });
}

Status Session::loadOnDevices(const Runnable &what, const Arguments &arguments,
                              RunRecord &record) {
  record.load.ranks.resize(size_t(what.devices()));
  auto [begin, end] = backend_.ownRanks(what.devices());
  if (begin == end)
    return {};
  auto isTogether = [&](size_t i) {
    return together_ && std::any_of(together_->begin(), together_->end(), [&](const auto &batch) {
             return std::binary_search(batch->indices.begin(), batch->indices.end(), i);
           });
  };
  constexpr int64_t align = 4096, least = 64 << 20;
  /// An argument of a stage, on the ranks of this process.
  struct Argument {
    size_t stage, index;
    std::vector<int64_t> ranks;
    int64_t rankBytes; ///< In a slot.
    int64_t bytes() const { return rankBytes * int64_t(ranks.size()); }
  };
  std::vector<Argument> all;
  for (size_t s = 0; s < what.stages(); ++s) {
    std::vector<int64_t> ranks;
    for (int64_t rank : what.ranks(s))
      if (rank >= begin && rank < end)
        ranks.push_back(rank);
    for (size_t i = 0; i < arguments.stages[s].size() && !ranks.empty(); ++i)
      if (!isTogether(i))
        all.push_back({s, i, ranks,
                       (what.held(s).arguments[i].localBytes() + align - 1) / align * align});
  }
  // Arguments follow each other in batches that fit a slot.
  int64_t slotBytes = 0, allBytes = 0;
  for (const Argument &argument : all) {
    slotBytes = std::max(slotBytes, argument.bytes());
    allBytes += argument.bytes();
  }
  slotBytes = std::max(slotBytes, std::min(least, allBytes));
  int slot = 0;
  for (size_t first = 0; first < all.size(); slot = 1 - slot) {
    SK_RETURN_IF_ERROR(ring_[slot].reserve(*devices_->of(begin), slotBytes));
    for (int64_t rank = begin; rank < end; ++rank)
      SK_RETURN_IF_ERROR(devices_->of(rank)->waitUploads(slot));
    // By argument, then by rank; of each rank those that it has.
    struct Piece {
      size_t index;
      char *place;
    };
    std::vector<std::vector<Piece>> pieces(size_t(end - begin));
    LoadPlan plan;
    size_t last = first;
    for (int64_t used = 0; last < all.size() && used + all[last].bytes() <= slotBytes; ++last) {
      const Argument &argument = all[last];
      const TensorSource &source = arguments.stages[argument.stage][argument.index];
      for (int64_t rank : argument.ranks) {
        char *place = ring_[slot].data() + used;
        pieces[size_t(rank - begin)].push_back({argument.index, place});
        if (!std::holds_alternative<RandomTensor>(source))
          plan.add(what.held(argument.stage).arguments[argument.index], source,
                   what.meshRank(rank), place, rank);
        used += argument.rankBytes;
      }
    }
    SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
      for (auto [i, place] : pieces[size_t(rank - begin)])
        fillRandom(what, arguments, rank, i, place);
      return {};
    }));
    SK_RETURN_IF_ERROR(plan.run(options_.load, &functions_, programs(what), record.load));
    for (int64_t rank = begin; rank < end; ++rank) {
      cuda::Device &device = *devices_->of(rank);
      for (auto [i, place] : pieces[size_t(rank - begin)])
        SK_RETURN_IF_ERROR(device.upload(memory_[size_t(rank)].arguments()[i], place,
                                         what.heldBy(rank).arguments[i].localBytes()));
      SK_RETURN_IF_ERROR(device.markUploads(slot));
    }
    first = last;
  }
  for (int64_t rank = begin; rank < end; ++rank)
    for (int used : {0, 1})
      SK_RETURN_IF_ERROR(devices_->of(rank)->waitUploads(used));
  return {};
}

bool Session::loadsApart(const Runnable &what, const Arguments &arguments) const {
  if (!devices_ || options_.backend != "nccl" || backend_.processes() == 1 ||
      options_.load.mode != LoadMode::Direct || what.pipeline())
    return false;
  // What a function makes of whole tensors they would all read whole.
  for (size_t i = 0; i < arguments.stages[0].size(); ++i) {
    const std::optional<LoadInfo> &load = what.held(0).arguments[i].load;
    const auto *stored = std::get_if<StoredSource>(&arguments.stages[0][i]);
    if (stored && !stored->made && load && (load->function || !load->chain.empty()))
      return false;
  }
  return true;
}

void Session::planTogether(const Runnable &what, const Arguments &arguments) {
  auto [known, added] = allTogether_.try_emplace(&what.whole());
  together_ = &known->second;
  if (!added)
    return;
  // The same on all processes, whatever number of ranks they have.
  constexpr int64_t align = 4096, most = 64 << 20;
  const FunctionInfo &function = what.held(0);
  const int64_t ranks = backend_.blockOf(what.devices());
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    std::optional<CollectiveInfo> move =
        moveFromBlocks(function.arguments[i], arguments.stages[0][i], what.devices());
    if (!move)
      continue;
    const int64_t bytes =
        (move->inElements * dtypeSize(move->dtype) + align - 1) / align * align;
    if (together_->empty() || (together_->back()->rankBytes + bytes) * ranks > most) {
      auto batch = std::make_unique<Batch>();
      batch->moves.name = function.name + ", loading";
      batch->moves.devices = what.devices();
      together_->push_back(std::move(batch));
    }
    Batch &batch = *together_->back();
    move->id = int64_t(batch.indices.size());
    batch.moves.collectives.push_back(std::move(*move));
    batch.indices.push_back(i);
    batch.places.push_back(batch.rankBytes);
    batch.rankBytes += bytes;
  }
}

Status Session::loadTogether(const Runnable &what, const Arguments &arguments,
                             RunRecord &record) {
  auto [begin, end] = backend_.ownRanks(what.devices());
  blocks_.resize(size_t(what.devices()));
  for (size_t b = 0; together_ && b < together_->size(); ++b) {
    const Batch &batch = *(*together_)[b];
    cuda::PinnedMemory &slot = ring_[b % 2];
    LoadPlan plan;
    Status status;
    if (begin < end)
      status = slot.reserve(*devices_->of(begin), batch.rankBytes * (end - begin));
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      status = blocks_[size_t(rank)].reserve(*devices_->of(rank), batch.rankBytes, [&](int64_t free) {
        return invalid(devices_->of(rank)->name() + ": out of device memory: rank " +
                       std::to_string(rank) + " has no room for the blocks of weights that it "
                       "reads: they need " + std::to_string(batch.rankBytes) + " bytes, " +
                       std::to_string(free) + " are free");
      });
      for (size_t k = 0; k < batch.indices.size(); ++k) {
        const auto &stored = std::get<StoredSource>(arguments.stages[0][batch.indices[k]]);
        const int64_t elements = batch.moves.collectives[k].inElements;
        plan.addBlock(stored.tensors[0], rank * elements, elements,
                      slot.data() + (rank - begin) * batch.rankBytes + batch.places[k], rank);
      }
    }
    if (status.ok())
      status = plan.run(options_.load, nullptr, nullptr, record.load);
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      cuda::Device &device = *devices_->of(rank);
      status = device.upload(blocks_[size_t(rank)].data(),
                             slot.data() + (rank - begin) * batch.rankBytes, batch.rankBytes);
      if (status.ok())
        status = device.markUploads(int(b % 2));
      if (status.ok())
        status = device.waitUploads(int(b % 2));
    }
    SK_RETURN_IF_ERROR(backend_.agree(status));
    SK_RETURN_IF_ERROR(executor_.runCollectives(batch.moves, [&](int64_t rank, size_t k) {
      const char *block = static_cast<char *>(blocks_[size_t(rank)].data()) + batch.places[k];
      return std::pair<const void *, void *>(
          block, memory_[size_t(rank)].arguments()[batch.indices[k]]);
    }));
    if (backend_.process() == 0)
      record.load.exchanges += int64_t(batch.indices.size());
  }
  blocks_.clear(); // The device has its shards alone.
  return {};
}

Status Session::loadArguments(const Runnable &what, const Arguments &arguments,
                              RunRecord &record) {
  // Random arguments are made by each rank; files are read for all ranks together.
  SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
    for (size_t i = 0; i < what.heldBy(rank).arguments.size(); ++i)
      fillRandom(what, arguments, rank, i, memory_[size_t(rank)].argument(i));
    return {};
  }));
  record.load.ranks.resize(size_t(what.devices()));
  const bool root = options_.load.mode == LoadMode::RootScatter;
  if (root && backend_.processes() > backend_.nodeProcesses())
    SK_RETURN_IF_ERROR(scatter(what, arguments, record.load));
  if (root && !backend_.isOnNode(0))
    return {};
  LoadPlan plan;
  for (size_t s = 0; s < what.stages(); ++s)
    for (size_t i = 0; i < arguments.stages[s].size(); ++i)
      if (!std::holds_alternative<RandomTensor>(arguments.stages[s][i]))
        for (int64_t rank : what.ranks(s))
          if (backend_.isOnNode(backend_.ownerOf(rank, what.devices())))
            plan.add(what.held(s).arguments[i], arguments.stages[s][i], what.meshRank(rank),
                     memory_[size_t(rank)].argument(i), rank);
  LoadOptions options = options_.load;
  if (backend_.process() == 0)
    options.progress = tools::progressLine();
  options.team = backend_.loadTeam();
  options.member = backend_.nodeProcess();
  options.members = backend_.nodeProcesses();
  return plan.run(options, &functions_, programs(what), record.load);
}

ShardProgram Session::programs(const Runnable &what) {
  return [this, &what](const EntryPoint &entry, int64_t rank, void *const *stored,
                       void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(what.whole(), entry));
    return Executor::call(program, rank, what.devices(), stored, &local, entry.arenaBytes);
  };
}

Status Session::scatter(const Runnable &what, const Arguments &arguments, LoadStats &stats) {
  const int64_t devices = what.devices();
  for (size_t s = 0; s < what.stages(); ++s)
    for (size_t i = 0; i < arguments.stages[s].size(); ++i) {
      if (std::holds_alternative<RandomTensor>(arguments.stages[s][i]))
        continue;
      const ValueInfo &value = what.held(s).arguments[i];
      // The shards of one weight at a time.
      std::vector<Buffer> shards;
      LoadPlan plan;
      Status status;
      if (backend_.process() == 0) {
        for (int64_t rank : what.ranks(s))
          if (!backend_.isOnNode(backend_.ownerOf(rank, devices))) {
            shards.emplace_back(value.localBytes());
            std::memset(shards.back().data(), 0, size_t(value.localBytes()));
            plan.add(value, arguments.stages[s][i], what.meshRank(rank), shards.back().data(), rank);
          }
        status = plan.run(options_.load, &functions_, programs(what), stats);
      }
      SK_RETURN_IF_ERROR(backend_.agree(status));
      size_t next = 0;
      for (int64_t rank : what.ranks(s)) {
        int owner = backend_.ownerOf(rank, devices);
        if (backend_.process() == 0 && !backend_.isOnNode(owner))
          SK_RETURN_IF_ERROR(
              backend_.transfer(0, owner, shards[next++].data(), value.localBytes()));
        else if (backend_.process() == owner && !backend_.isOnNode(0))
          SK_RETURN_IF_ERROR(backend_.transfer(0, owner, memory_[size_t(rank)].argument(i),
                                               value.localBytes()));
      }
    }
  return {};
}

Status Session::collectResults(const Runnable &what) {
  for (int64_t rank = 0; rank < what.devices(); ++rank) {
    const FunctionInfo &held = what.heldBy(rank);
    for (size_t i = 0; i < held.results.size(); ++i)
      SK_RETURN_IF_ERROR(backend_.transfer(backend_.ownerOf(rank, what.devices()), 0,
                                           memory_[size_t(rank)].result(i),
                                           held.results[i].localBytes()));
  }
  return {};
}

Status Session::collectArgument(const Runnable &what, size_t stage, size_t i) {
  for (int64_t rank : what.ranks(stage)) {
    const int owner = backend_.ownerOf(rank, what.devices());
    const int64_t bytes = what.held(stage).arguments[i].localBytes();
    // What lies on its node process 0 sees, unless each process has its own.
    if (isApart_ ? owner != 0 && (backend_.process() == 0 || backend_.process() == owner)
        : backend_.process() == 0 ? !backend_.isOnNode(owner)
                                  : backend_.process() == owner && !backend_.isOnNode(0))
      SK_RETURN_IF_ERROR(
          backend_.transfer(owner, 0, memory_[size_t(rank)].argument(i), bytes));
  }
  return {};
}

Status Session::loadReference(const Runnable &what, size_t index,
                              const TensorSource &source) {
  const FunctionInfo::ReferenceArgument &given = what.whole().referenceArguments[index];
  const ValueInfo &value = what.whole().arguments[given.argument];
  void *to = reference_.argument(index);
  LoadPlan plan;
  LoadStats stats;
  const auto *random = std::get_if<RandomTensor>(&source);
  const auto *stored = std::get_if<StoredSource>(&source);
  if (given.source >= 0) {
    const LoadSource &wanted = value.load->sources[size_t(given.source)];
    if (stored && !stored->made) {
      plan.addWhole(stored->tensors[size_t(given.source)], wanted.dtype, to);
      return plan.run(options_.load, nullptr, nullptr, stats);
    }
    // Nothing has it whole: what the ranks hold of it, in all arguments, is it. (A set
    // of shards, for a function: it has one mesh.)
    const FunctionInfo &held = what.held(0);
    const std::vector<int64_t> &ranks = what.ranks(0);
    bool isHeld = false;
    for (size_t i = 0; i < held.arguments.size(); ++i) {
      const std::optional<LoadInfo> &load = held.arguments[i].load;
      const int64_t size = dtypeSize(wanted.dtype);
      for (const ExtentPiece &piece : load ? load->pieces : std::vector<ExtentPiece>()) {
        if (load->sources[size_t(piece.source)].name != wanted.name)
          continue;
        isHeld = true;
        for (size_t r = 0; r < ranks.size(); ++r)
          scatterLocal(piece.extents, int64_t(r), size,
                       static_cast<char *>(memory_[size_t(ranks[r])].argument(i)) +
                           piece.localBase * size,
                       static_cast<char *>(to) + piece.globalBase * size);
      }
    }
    if (!isHeld)
      return invalid("--verify needs the stored tensor '" + wanted.name + "' of weight '" +
                     value.name + "', of which the set has what a loading function made; expected "
                     "the set that it was cut from");
    return {};
  }
  if (random) {
    random->fill(to, 1, 0, 1, value.globalElements);
    return {};
  }
  if (stored && (!value.load || stored->made)) {
    plan.addWhole(stored->tensors[0], value.dtype, to);
    return plan.run(options_.load, nullptr, nullptr, stats);
  }
  if (stored && value.load->reference) {
    SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(what.whole(), *value.load->reference));
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
  if (options_.donate)
    return invalid("--donate with --verify: argument '" + value.name +
                   "' comes in shards, which the step overwrites, expected a set with it whole");
  const Runnable::Place place = what.argumentPlaces(given.argument)[0];
  const ValueInfo &local = what.held(place.stage).arguments[place.index];
  const std::vector<int64_t> &ranks = what.ranks(place.stage);
  for (size_t r = 0; r < ranks.size(); ++r)
    if (!isReplica(local.extents, int64_t(r)))
      scatterLocal(local.extents, int64_t(r), dtypeSize(value.dtype),
                   memory_[size_t(ranks[r])].argument(place.index), to);
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

void Session::gather(const Runnable &what, Runnable::Place place, void *global) {
  const ValueInfo &value = what.held(place.stage).results[place.index];
  const std::vector<int64_t> &ranks = what.ranks(place.stage);
  for (size_t r = 0; r < ranks.size(); ++r)
    if (!isReplica(value.extents, int64_t(r)))
      scatterLocal(value.extents, int64_t(r), dtypeSize(value.dtype),
                   memory_[size_t(ranks[r])].result(place.index), global);
}

std::string Session::comparePlaces(const Runnable &what, size_t i) {
  const std::vector<Runnable::Place> &places = what.resultPlaces(i);
  const ValueInfo &value = what.whole().results[i];
  if (places.size() == 1)
    return "";
  Buffer first(value.globalBytes()), other(value.globalBytes());
  gather(what, places[0], first.data());
  for (size_t k = 1; k < places.size(); ++k) {
    gather(what, places[k], other.data());
    if (std::memcmp(first.data(), other.data(), size_t(value.globalBytes())) != 0)
      return "stages " + std::to_string(places[0].stage) + " and " +
             std::to_string(places[k].stage) + " do not have the same bits";
  }
  return "";
}

Status Session::compare(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  const FunctionInfo &whole = what.whole();
  SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(whole, *whole.reference));
  reference_.bind(whole, /*global=*/true);
  for (size_t i = 0; i < whole.referenceArguments.size(); ++i)
    SK_RETURN_IF_ERROR(
        loadReference(what, i, arguments.whole[whole.referenceArguments[i].argument]));
  SK_RETURN_IF_ERROR(executor_.runReference(whole, program, reference_));
  // Every rank's part is compared, replicas too.
  std::vector<std::vector<Difference>> perRank(size_t(what.devices()));
  auto compareRank = [&](int64_t rank) -> Status {
    std::vector<Difference> &mine = perRank[size_t(rank)];
    mine.resize(whole.results.size());
    for (size_t i = 0; i < whole.results.size(); ++i)
      for (auto [stage, index] : what.resultPlaces(i))
        if (stage == what.stageOf(rank))
          mine[i].merge(compareLocal(what.held(stage).results[index], what.meshRank(rank),
                                     memory_[size_t(rank)].result(index), reference_.result(i)));
    return {};
  };
  SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), compareRank));
  for (int64_t rank = 0; rank < what.devices(); ++rank)
    if (backend_.ownerOf(rank, what.devices()) != backend_.process())
      SK_RETURN_IF_ERROR(compareRank(rank));
  for (size_t i = 0; i < whole.results.size(); ++i) {
    const ValueInfo &value = whole.results[i];
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
    record.disagreements.push_back(comparePlaces(what, i));
    record.within.push_back(total.within(value.dtype, tolerance) &&
                            record.disagreements.back().empty());
  }
  return {};
}

Expected<std::vector<std::string>>
Session::writeResults(const Runnable &what,
                      const std::string &directory) {
  if (!options_.verify) // That has brought them already.
    SK_RETURN_IF_ERROR(backend_.agree(collectResults(what)));
  std::vector<std::string> paths;
  Status status;
  if (backend_.process() == 0)
    status = writeAll(what, directory, paths);
  SK_RETURN_IF_ERROR(backend_.agree(status));
  return paths;
}

Status Session::writeAll(const Runnable &what, const std::string &directory,
                         std::vector<std::string> &written) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return ioError(directory + ": cannot be created: " + error.message());
  std::vector<Buffer> buffers;
  std::vector<TensorRef> tensors;
  std::set<std::string> paths;
  for (size_t i = 0; i < what.whole().results.size(); ++i) {
    const ValueInfo &value = what.whole().results[i];
    Buffer global(value.globalBytes());
    gather(what, what.resultPlaces(i)[0], global.data());
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
