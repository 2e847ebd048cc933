//===- ArgumentLoader.h - Arguments, to the ranks that hold them *- C++ -*-===//
//
// There are four strategies to load arguments. `load` selects them:
//
//   strategy         used for
//   host             programs on the host; devices whose node has several processes that load
//                    together: files are read into memory of the ranks, then uploaded
//                    (loadOnHost)
//   device ring      devices otherwise: read into pinned memory and uploaded while the next
//                    arguments are read (loadThroughRing)
//   block exchange   arguments that every rank of several processes would read almost
//                    completely: blocks, exchanged by NCCL (loadByBlockExchange)
//   root scatter     LoadMode::RootScatter to other nodes: process 0 reads and sends
//                    (scatterFromRoot)
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_LOADING_ARGUMENTLOADER_H
#define SHARDKIT_RT_LOADING_ARGUMENTLOADER_H

#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Execution/RankDevices.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Loading/LoadPlan.h"
#include "shardkit/rt/Manifest/Bundle.h"

#include <map>

namespace shardkit::rt {

/// Arguments of a function or pipeline that are loaded at once.
struct ArgumentLoad {
  const Runnable *what = nullptr;
  Bundle *bundle = nullptr; ///< Has the loading functions.
  /// By stage and argument; null: it is not loaded.
  std::vector<std::vector<const TensorSource *>> sources;
  cuda::Devices *devices = nullptr; ///< Null: programs run on the host.
  bool isNccl = false;
  /// Each process loads for its own ranks alone. Else the processes of a node load together.
  bool isLocal = false;
  /// By rank and argument, the memory on the host and on the device. Null on the host: another
  /// process has it, or it is loaded elsewhere. Where devices load locally the host needs none.
  std::vector<std::vector<void *>> host, device;
  /// LoadOptions::progress of the whole load. Devices know only what they have begun to read.
  std::function<void(int64_t, int64_t)> progress;
};

/// Loads what ArgumentLoad describes. All processes call it together.
class ArgumentLoader {
public:
  /// All of these outlive the loader.
  ArgumentLoader(Backend &backend, Executor &executor, const HostFunctions &functions)
      : backend_(backend), executor_(executor), functions_(functions) {}

  /// Whether processes that load locally read each byte once all the same: those of NCCL,
  /// which exchange common arguments.
  bool canExchange(const ArgumentLoad &load, const LoadOptions &options) const;
  /// Whether arguments are read to memory of the host, also where programs run on devices.
  bool isOnHost(const ArgumentLoad &load, const LoadOptions &options) const {
    return !load.devices || (!load.isLocal && (backend_.nodeProcesses() > 1 || options.mode == LoadMode::RootScatter));
  }
  Status load(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats);

private:
  /// Arguments of the block exchange that are loaded at once: each rank reads a block of each.
  struct Batch {
    FunctionInfo moves;           ///< One collective per argument.
    std::vector<size_t> indices;  ///< Indices of the arguments, ascending.
    std::vector<int64_t> offsets; ///< Offset of each block in the memory of a rank.
    int64_t rankBytes = 0;
  };
  using Batches = std::vector<std::unique_ptr<Batch>>;

  Status loadOnHost(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats);
  /// Fills argument `i` of `rank` in host memory if it is random.
  static void fillRandom(const ArgumentLoad &load, int64_t rank, size_t i, void *to);
  /// Through a ring of pinned memory: the next arguments are read while devices copy the last
  /// ones. Arguments of the block exchange are left out.
  Status loadThroughRing(const ArgumentLoad &load, const LoadOptions &options, const Batches *exchanges,
                         LoadStats &stats);
  const Batches &planExchanges(const ArgumentLoad &load);
  Status loadByBlockExchange(const ArgumentLoad &load, const LoadOptions &options, const Batches &exchanges,
                             LoadStats &stats);
  /// For root-scatter, to the ranks of other nodes.
  Status scatterFromRoot(const ArgumentLoad &load, const LoadOptions &options, LoadStats &stats);
  ShardProgram programs(const ArgumentLoad &load) const;
  Status upload(const ArgumentLoad &load);

  Backend &backend_;
  Executor &executor_;
  const HostFunctions &functions_;
  cuda::PinnedMemory ring_[2];
  std::vector<cuda::DeviceMemory> blocks_; ///< By rank.
  /// By function and the arguments that are exchanged; the executor knows the batches by address.
  std::map<std::pair<const FunctionInfo *, std::vector<size_t>>, Batches> exchanges_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_LOADING_ARGUMENTLOADER_H
