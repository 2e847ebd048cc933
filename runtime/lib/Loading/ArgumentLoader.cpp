//===- ArgumentLoader.cpp - Arguments, to the ranks that hold them --------===//

#include "shardkit/rt/Loading/ArgumentLoader.h"

#include "shardkit/rt/Loading/BlockExchange.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt {

Status ArgumentLoader::load(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats) {
  stats.ranks.resize(size_t(load.what->devices()));
  if (isOnHost(load, options)) {
    SK_RETURN_IF_ERROR(backend_.agree(loadOnHost(load, options, stats)));
    return load.devices ? backend_.agree(upload(load)) : Status();
  }
  const bool hasExchanges = load.isLocal && canExchange(load, options);
  const Batches *exchanges = hasExchanges ? &planExchanges(load) : nullptr;
  SK_RETURN_IF_ERROR(backend_.agree(loadThroughRing(load, options, exchanges, stats)));
  return exchanges ? loadByBlockExchange(load, options, *exchanges, stats) : Status();
}

Status ArgumentLoader::upload(const ArgumentLoad &load) {
  return executor_.forEachRank(load.what->devices(), [&](int64_t rank) -> Status {
    const FunctionInfo &held = load.what->heldBy(rank);
    for (size_t i = 0; i < held.arguments.size(); ++i)
      if (load.sources[load.what->stageOf(rank)][i])
        SK_RETURN_IF_ERROR(load.devices->of(rank)->upload(load.device[size_t(rank)][i], load.host[size_t(rank)][i],
                                                          held.arguments[i].localBytes()));
    return {};
  });
}

void ArgumentLoader::fillRandom(const ArgumentLoad &load, int64_t rank, size_t i, void *to) {
  const TensorSource *source = load.sources[load.what->stageOf(rank)][i];
  const auto *random = source ? std::get_if<RandomTensor>(source) : nullptr;
  if (!random || !to)
    return;
  const ValueInfo &value = load.what->heldBy(rank).arguments[i];
  const int64_t meshRank = load.what->meshRank(rank), size = dtypeSize(value.dtype);
  forEachPiece(coalesceLoops(value.extents, meshRank), value.extents.base(meshRank),
               [&](int64_t g, int64_t l, int64_t n, int64_t gs, int64_t ls) {
                 random->fill(static_cast<char *>(to) + l * size, ls, g, gs, n);
               });
}

ShardProgram ArgumentLoader::programs(const ArgumentLoad &load) const {
  return [&load](const EntryPoint &entry, int64_t rank, const std::vector<void *> &stored, void *local) -> Status {
    SK_ASSIGN_OR_RETURN(sk_program program, load.bundle->entry(load.what->full(), entry, stored.size(), 1));
    return Executor::call(program, rank, load.what->devices(), stored.data(), &local, entry.arenaBytes);
  };
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Status ArgumentLoader::loadThroughRing(const ArgumentLoad &load, const LoadOptions &options, const Batches *exchanges,
                                       LoadStats &stats) {
  const Runnable &what = *load.what;
  auto [begin, end] = backend_.localRanks(what.devices());
  if (begin == end)
    return {};
  auto isTogether = [&](size_t i) {
    return exchanges && std::any_of(exchanges->begin(), exchanges->end(), [&](const auto &batch) {
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
    for (size_t i = 0; i < load.sources[s].size() && !ranks.empty(); ++i)
      if (load.sources[s][i] && !isTogether(i))
        all.push_back({s, i, ranks, (what.held(s).arguments[i].localBytes() + align - 1) / align * align});
  }
  // Arguments follow each other in batches that fit a slot.
  int64_t slotBytes = 0, allBytes = 0;
  for (const Argument &argument : all) {
    slotBytes = std::max(slotBytes, argument.bytes());
    allBytes += argument.bytes();
  }
  slotBytes = std::max(slotBytes, std::min(least, allBytes));
  LoadOptions one = options;
  int slot = 0;
  for (size_t first = 0; first < all.size(); slot = 1 - slot) {
    SK_RETURN_IF_ERROR(ring_[slot].reserve(*load.devices->of(begin), slotBytes));
    for (int64_t rank = begin; rank < end; ++rank)
      SK_RETURN_IF_ERROR(load.devices->of(rank)->waitUploads(slot));
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
      const TensorSource &source = *load.sources[argument.stage][argument.index];
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
        fillRandom(load, rank, i, target);
      return {};
    }));
    if (load.progress)
      one.progress = [&load, before = stats.total.bytesRead](int64_t read, int64_t all) {
        load.progress(before + read, before + all);
      };
    SK_RETURN_IF_ERROR(plan.run(one, &functions_, programs(load), stats));
    for (int64_t rank = begin; rank < end; ++rank) {
      cuda::Device &device = *load.devices->of(rank);
      for (auto [i, target] : pieces[size_t(rank - begin)])
        SK_RETURN_IF_ERROR(
            device.upload(load.device[size_t(rank)][i], target, what.heldBy(rank).arguments[i].localBytes()));
      SK_RETURN_IF_ERROR(device.recordUploads(slot));
    }
    first = last;
  }
  for (int64_t rank = begin; rank < end; ++rank)
    for (int used : {0, 1})
      SK_RETURN_IF_ERROR(load.devices->of(rank)->waitUploads(used));
  return {};
}

bool ArgumentLoader::canExchange(const ArgumentLoad &load, const LoadOptions &options) const {
  if (!load.devices || !load.isNccl || backend_.processes() == 1 || options.mode != LoadMode::Direct ||
      load.what->pipeline())
    return false;
  // What a function makes of full tensors they would all read in full.
  for (size_t i = 0; i < load.sources[0].size(); ++i) {
    const std::optional<LoadInfo> &made = load.what->held(0).arguments[i].load;
    const auto *stored = load.sources[0][i] ? std::get_if<StoredSource>(load.sources[0][i]) : nullptr;
    if (stored && !stored->made && made && ((made->function && !made->operands) || !made->chain.empty()))
      return false;
  }
  return true;
}

const ArgumentLoader::Batches &ArgumentLoader::planExchanges(const ArgumentLoad &load) {
  // The same on all processes, whatever number of ranks they have.
  constexpr int64_t align = 4096, most = 64 << 20;
  const FunctionInfo &function = load.what->held(0);
  const int64_t ranks = backend_.blockOf(load.what->devices());
  Batches batches;
  std::vector<size_t> indices;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    if (!load.sources[0][i])
      continue;
    std::optional<CollectiveInfo> move =
        moveFromBlocks(function.arguments[i], *load.sources[0][i], load.what->devices());
    if (!move)
      continue;
    indices.push_back(i);
    const int64_t bytes = (move->inElements * dtypeSize(move->dtype) + align - 1) / align * align;
    if (batches.empty() || (batches.back()->rankBytes + bytes) * ranks > most) {
      auto batch = std::make_unique<Batch>();
      batch->moves.name = function.name + ", loading";
      batch->moves.devices = load.what->devices();
      batches.push_back(std::move(batch));
    }
    Batch &batch = *batches.back();
    move->id = int64_t(batch.indices.size());
    batch.moves.collectives.push_back(std::move(*move));
    batch.indices.push_back(i);
    batch.offsets.push_back(batch.rankBytes);
    batch.rankBytes += bytes;
  }
  return exchanges_.try_emplace({&load.what->full(), std::move(indices)}, std::move(batches)).first->second;
}

Status ArgumentLoader::loadByBlockExchange(const ArgumentLoad &load, const LoadOptions &options,
                                           const Batches &exchanges, LoadStats &stats) {
  const int64_t devices = load.what->devices();
  auto [begin, end] = backend_.localRanks(devices);
  blocks_.resize(size_t(devices));
  for (const std::unique_ptr<Batch> &known : exchanges) {
    const Batch &batch = *known; // The executor keeps its address.
    cuda::PinnedMemory &slot = ring_[0];
    LoadPlan plan;
    Status status;
    if (begin < end)
      status = slot.reserve(*load.devices->of(begin), batch.rankBytes * (end - begin));
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      status = blocks_[size_t(rank)].reserve(*load.devices->of(rank), batch.rankBytes, [&](int64_t free) {
        return invalid(load.devices->of(rank)->name() + ": out of device memory: rank " + std::to_string(rank) +
                       " has no room for the blocks of weights that it reads: they need " +
                       std::to_string(batch.rankBytes) + " bytes, " + std::to_string(free) + " are free");
      });
      for (size_t k = 0; k < batch.indices.size(); ++k) {
        const auto &stored = std::get<StoredSource>(*load.sources[0][batch.indices[k]]);
        const int64_t elements = batch.moves.collectives[k].inElements;
        plan.addBlock(stored.tensors[0], rank * elements, elements,
                      slot.data() + (rank - begin) * batch.rankBytes + batch.offsets[k], rank);
      }
    }
    if (status.ok())
      status = plan.run(options, nullptr, nullptr, stats);
    for (int64_t rank = begin; rank < end && status.ok(); ++rank) {
      cuda::Device &device = *load.devices->of(rank);
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
      return std::pair<const void *, void *>(block, load.device[size_t(rank)][batch.indices[k]]);
    }));
    if (backend_.process() == 0)
      stats.exchanges += int64_t(batch.indices.size());
  }
  blocks_.clear(); // The device has its shards alone.
  return {};
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

Status ArgumentLoader::loadOnHost(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats) {
  const Runnable &what = *load.what;
  // Random arguments are made by each rank; files are read for all ranks together.
  SK_RETURN_IF_ERROR(executor_.forEachRank(what.devices(), [&](int64_t rank) -> Status {
    for (size_t i = 0; i < what.heldBy(rank).arguments.size(); ++i)
      fillRandom(load, rank, i, load.host[size_t(rank)][i]);
    return {};
  }));
  const bool root = options.mode == LoadMode::RootScatter;
  if (root && backend_.processes() > backend_.nodeProcesses())
    SK_RETURN_IF_ERROR(scatterFromRoot(load, options, stats));
  if (root && !backend_.isOnNode(0))
    return {};
  LoadPlan plan;
  for (size_t s = 0; s < what.stages(); ++s)
    for (size_t i = 0; i < load.sources[s].size(); ++i) {
      const TensorSource *source = load.sources[s][i];
      if (!source || std::holds_alternative<RandomTensor>(*source))
        continue;
      for (int64_t rank : what.ranks(s))
        if (void *to = load.host[size_t(rank)][i]; to && backend_.isOnNode(backend_.ownerOf(rank, what.devices())))
          plan.add(what.held(s).arguments[i], *source, what.meshRank(rank), to, rank);
    }
  LoadOptions shared = options;
  shared.progress = load.progress;
  if (!load.isLocal) {
    shared.team = backend_.loadTeam();
    shared.member = backend_.nodeProcess();
    shared.members = backend_.nodeProcesses();
  }
  return plan.run(shared, &functions_, programs(load), stats);
}

Status ArgumentLoader::scatterFromRoot(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats) {
  const Runnable &what = *load.what;
  const int64_t devices = what.devices();
  for (size_t s = 0; s < what.stages(); ++s)
    for (size_t i = 0; i < load.sources[s].size(); ++i) {
      const TensorSource *source = load.sources[s][i];
      if (!source || std::holds_alternative<RandomTensor>(*source))
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
            plan.add(value, *source, what.meshRank(rank), shards.back().data(), rank);
          }
        status = plan.run(options, &functions_, programs(load), stats);
      }
      SK_RETURN_IF_ERROR(backend_.agree(status));
      size_t next = 0;
      for (int64_t rank : what.ranks(s)) {
        int owner = backend_.ownerOf(rank, devices);
        if (backend_.process() == 0 && !backend_.isOnNode(owner))
          SK_RETURN_IF_ERROR(backend_.transfer(0, owner, shards[next++].data(), value.localBytes()));
        else if (backend_.process() == owner && !backend_.isOnNode(0))
          SK_RETURN_IF_ERROR(backend_.transfer(0, owner, load.host[size_t(rank)][i], value.localBytes()));
      }
    }
  return {};
}

} // namespace shardkit::rt
