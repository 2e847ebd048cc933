//===- SessionLoad.cpp - Arguments, to the ranks that hold them -----------===//

#include "Session.h"

#include "../ProgressLine.h"

#include "shardkit/rt/Loading/BlockExchange.h"

#include <algorithm>
#include <cstring>

using namespace shardkit::rt;

namespace shardkit::run {

Status Session::load(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  isLocal_ = loadsLocally(what, arguments);
  exchanges_ = nullptr;
  if (isLocal_)
    planExchanges(what, arguments);
  // Else arguments lie where all processes of the node can write them.
  int64_t bytes = 0;
  for (size_t s = 0; s < what.stages(); ++s)
    bytes = std::max(bytes, RankMemory::argumentBytes(what.held(s)));
  auto memory = isLocal_ ? Expected(std::vector<char *>()) : backend_.nodeMemory(what.devices(), bytes);
  if (LoadTeam *team = backend_.loadTeam(); team && backend_.nodeProcess() == 0) {
    team->nextBlock = 0;
    team->nextCall = 0;
  }
  Status status = memory.status();
  auto at = [&](int64_t rank) -> void * { return memory->empty() ? nullptr : (*memory)[size_t(rank)]; };
  for (int64_t rank = 0; rank < what.devices() && status.ok(); ++rank)
    if (backend_.ownerOf(rank, what.devices()) != backend_.process())
      memory_[size_t(rank)].bindRemote(what.heldBy(rank), at(rank), backend_.process() == 0);
  if (status.ok())
    status = executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
      RankMemory &memory = memory_[size_t(rank)];
      memory.bind(what.heldBy(rank), false, at(rank), options_.donate, /*isCopy=*/devices_ != nullptr);
      return devices_ ? memory.bindDevice(what.heldBy(rank), *devices_->of(rank), rank) : Status();
    });
  SK_RETURN_IF_ERROR(backend_.agree(status));
  // On the host first only where other processes take part in the load.
  const bool isShared = !isLocal_ && (backend_.nodeProcesses() > 1 || options_.load.mode == LoadMode::RootScatter);
  if (devices_ && !isShared) {
    SK_RETURN_IF_ERROR(backend_.agree(loadThroughRing(what, arguments, record)));
    SK_RETURN_IF_ERROR(loadByBlockExchange(what, arguments, record));
    if (!options_.verify)
      return {};
    // The reference may be given what the ranks hold.
    return backend_.agree(executor_.forEachRank(
        what.devices(), [&](int64_t rank) { return memory_[size_t(rank)].downloadArguments(what.heldBy(rank)); }));
  }
  SK_RETURN_IF_ERROR(backend_.agree(loadOnHost(what, arguments, record)));
  if (!devices_)
    return {};
  return backend_.agree(executor_.forEachRank(
      what.devices(), [&](int64_t rank) { return memory_[size_t(rank)].uploadArguments(what.heldBy(rank)); }));
}

void Session::fillRandom(const Runnable &what, const Arguments &arguments, int64_t rank, size_t i, void *to) {
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

Status Session::loadThroughRing(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  record.load.ranks.resize(size_t(what.devices()));
  auto [begin, end] = backend_.localRanks(what.devices());
  if (begin == end)
    return {};
  auto isTogether = [&](size_t i) {
    return exchanges_ && std::any_of(exchanges_->begin(), exchanges_->end(), [&](const auto &batch) {
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
        all.push_back({s, i, ranks, (what.held(s).arguments[i].localBytes() + align - 1) / align * align});
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
      char *target;
    };
    std::vector<std::vector<Piece>> pieces(size_t(end - begin));
    LoadPlan plan;
    size_t last = first;
    for (int64_t used = 0; last < all.size() && used + all[last].bytes() <= slotBytes; ++last) {
      const Argument &argument = all[last];
      const TensorSource &source = arguments.stages[argument.stage][argument.index];
      for (int64_t rank : argument.ranks) {
        char *target = ring_[slot].data() + used;
        pieces[size_t(rank - begin)].push_back({argument.index, target});
        if (!std::holds_alternative<RandomTensor>(source))
          plan.add(what.held(argument.stage).arguments[argument.index], source, what.meshRank(rank), target, rank);
        used += argument.rankBytes;
      }
    }
    SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
      for (auto [i, target] : pieces[size_t(rank - begin)])
        fillRandom(what, arguments, rank, i, target);
      return {};
    }));
    SK_RETURN_IF_ERROR(plan.run(options_.load, &functions_, programs(what), record.load));
    for (int64_t rank = begin; rank < end; ++rank) {
      cuda::Device &device = *devices_->of(rank);
      for (auto [i, target] : pieces[size_t(rank - begin)])
        SK_RETURN_IF_ERROR(
            device.upload(memory_[size_t(rank)].arguments()[i], target, what.heldBy(rank).arguments[i].localBytes()));
      SK_RETURN_IF_ERROR(device.recordUploads(slot));
    }
    first = last;
  }
  for (int64_t rank = begin; rank < end; ++rank)
    for (int used : {0, 1})
      SK_RETURN_IF_ERROR(devices_->of(rank)->waitUploads(used));
  return {};
}

bool Session::loadsLocally(const Runnable &what, const Arguments &arguments) const {
  if (!devices_ || options_.backend != "nccl" || backend_.processes() == 1 || options_.load.mode != LoadMode::Direct ||
      what.pipeline())
    return false;
  // What a function makes of whole tensors they would all read whole.
  for (size_t i = 0; i < arguments.stages[0].size(); ++i) {
    const std::optional<LoadInfo> &load = what.held(0).arguments[i].load;
    const auto *stored = std::get_if<StoredSource>(&arguments.stages[0][i]);
    if (stored && !stored->made && load && ((load->function && !load->operands) || !load->chain.empty()))
      return false;
  }
  return true;
}

void Session::planExchanges(const Runnable &what, const Arguments &arguments) {
  auto [known, added] = allExchanges_.try_emplace(&what.full());
  exchanges_ = &known->second;
  if (!added)
    return;
  // The same on all processes, whatever number of ranks they have.
  constexpr int64_t align = 4096, most = 64 << 20;
  const FunctionInfo &function = what.held(0);
  const int64_t ranks = backend_.blockOf(what.devices());
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    std::optional<CollectiveInfo> move = moveFromBlocks(function.arguments[i], arguments.stages[0][i], what.devices());
    if (!move)
      continue;
    const int64_t bytes = (move->inElements * dtypeSize(move->dtype) + align - 1) / align * align;
    if (exchanges_->empty() || (exchanges_->back()->rankBytes + bytes) * ranks > most) {
      auto batch = std::make_unique<Batch>();
      batch->moves.name = function.name + ", loading";
      batch->moves.devices = what.devices();
      exchanges_->push_back(std::move(batch));
    }
    Batch &batch = *exchanges_->back();
    move->id = int64_t(batch.indices.size());
    batch.moves.collectives.push_back(std::move(*move));
    batch.indices.push_back(i);
    batch.offsets.push_back(batch.rankBytes);
    batch.rankBytes += bytes;
  }
}

Status Session::loadByBlockExchange(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  auto [begin, end] = backend_.localRanks(what.devices());
  blocks_.resize(size_t(what.devices()));
  for (size_t b = 0; exchanges_ && b < exchanges_->size(); ++b) {
    const Batch &batch = *(*exchanges_)[b]; // The executor keeps its address.
    cuda::PinnedMemory &slot = ring_[0];
    LoadPlan plan;
    Status status;
    if (begin < end)
      status = slot.reserve(*devices_->of(begin), batch.rankBytes * (end - begin));
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      status = blocks_[size_t(rank)].reserve(*devices_->of(rank), batch.rankBytes, [&](int64_t free) {
        return invalid(devices_->of(rank)->name() + ": out of device memory: rank " + std::to_string(rank) +
                       " has no room for the blocks of weights that it "
                       "reads: they need " +
                       std::to_string(batch.rankBytes) + " bytes, " + std::to_string(free) + " are free");
      });
      for (size_t k = 0; k < batch.indices.size(); ++k) {
        const auto &stored = std::get<StoredSource>(arguments.stages[0][batch.indices[k]]);
        const int64_t elements = batch.moves.collectives[k].inElements;
        plan.addBlock(stored.tensors[0], rank * elements, elements,
                      slot.data() + (rank - begin) * batch.rankBytes + batch.offsets[k], rank);
      }
    }
    if (status.ok())
      status = plan.run(options_.load, nullptr, nullptr, record.load);
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      cuda::Device &device = *devices_->of(rank);
      status =
          device.upload(blocks_[size_t(rank)].data(), slot.data() + (rank - begin) * batch.rankBytes, batch.rankBytes);
      if (status.ok())
        status = device.recordUploads(0);
      if (status.ok())
        status = device.waitUploads(0);
    }
    SK_RETURN_IF_ERROR(backend_.agree(status));
    SK_RETURN_IF_ERROR(executor_.runCollectives(batch.moves, [&](int64_t rank, size_t k) {
      const char *block = static_cast<char *>(blocks_[size_t(rank)].data()) + batch.offsets[k];
      return std::pair<const void *, void *>(block, memory_[size_t(rank)].arguments()[batch.indices[k]]);
    }));
    if (backend_.process() == 0)
      record.load.exchanges += int64_t(batch.indices.size());
  }
  blocks_.clear(); // The device has its shards alone.
  return {};
}

Status Session::loadOnHost(const Runnable &what, const Arguments &arguments, RunRecord &record) {
  // Random arguments are made by each rank; files are read for all ranks together.
  SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
    for (size_t i = 0; i < what.heldBy(rank).arguments.size(); ++i)
      fillRandom(what, arguments, rank, i, memory_[size_t(rank)].argument(i));
    return {};
  }));
  record.load.ranks.resize(size_t(what.devices()));
  const bool root = options_.load.mode == LoadMode::RootScatter;
  if (root && backend_.processes() > backend_.nodeProcesses())
    SK_RETURN_IF_ERROR(scatterFromRoot(what, arguments, record.load));
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
  return
      [this, &what](const EntryPoint &entry, int64_t rank, const std::vector<void *> &stored, void *local) -> Status {
        SK_ASSIGN_OR_RETURN(sk_program program, bundle_.entry(what.full(), entry, stored.size(), 1));
        return Executor::call(program, rank, what.devices(), stored.data(), &local, entry.arenaBytes);
      };
}

Status Session::scatterFromRoot(const Runnable &what, const Arguments &arguments, LoadStats &stats) {
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
          SK_RETURN_IF_ERROR(backend_.transfer(0, owner, shards[next++].data(), value.localBytes()));
        else if (backend_.process() == owner && !backend_.isOnNode(0))
          SK_RETURN_IF_ERROR(backend_.transfer(0, owner, memory_[size_t(rank)].argument(i), value.localBytes()));
      }
    }
  return {};
}

} // namespace shardkit::run
