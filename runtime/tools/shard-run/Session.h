//===- Session.h - Load, run, verify and write what runs as one -*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_SESSION_H
#define SHARDKIT_TOOLS_SHARDRUN_SESSION_H

#include "Options.h"
#include "Sources.h"

#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Execution/Compare.h"
#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Manifest/Bundle.h"

namespace shardkit::run {

using rt::Runnable;

/// Measurements of a run of a function or a pipeline.
struct RunRecord {
  const Runnable *what = nullptr;
  double loadSeconds = 0; ///< Random arguments included.
  rt::LoadStats load;
  int64_t loadMessages = 0;  ///< Messages between processes for the load.
  std::vector<double> steps; ///< Seconds.
  rt::RunStats stats;
  std::vector<int64_t> localBytes;                       ///< Bytes of arguments, results and arena per rank.
  rt::cuda::AttentionUses attention;                     ///< Counts of the first rank of this process.
  rt::cuda::GraphUses graphs;                            ///< The same.
  std::map<std::string, rt::cuda::Device::Work> profile; ///< The same, of all steps.
  std::vector<rt::Difference> differences;               ///< Per result, with --verify; on process 0.
  /// Per result, the difference between its copies, with --verify; on process 0.
  std::vector<std::string> disagreements;
  std::vector<bool> within;         ///< On every process.
  std::vector<double> fractions;    ///< Errors as fractions of the tolerance (Difference::fractionOf).
  std::vector<std::string> digests; ///< Per result, with --digests; on every process.

  double minStep() const;
  double medianStep() const;
};

/// Loads, runs and verifies functions and pipelines, one after the other; threads and memory
/// are kept. All processes of the backend call it together and get the same errors.
///
/// There are four strategies to load arguments. `load` selects them:
///
///   strategy         used for
///   host             programs on the host; devices whose node has several processes: files
///                    are read into memory of the ranks, then uploaded (loadOnHost)
///   device ring      devices otherwise: read into pinned memory and uploaded while the next
///                    arguments are read (loadThroughRing)
///   block exchange   arguments that every rank of several processes would read almost
///                    completely: blocks, exchanged by NCCL (loadByBlockExchange)
///   root scatter     --load=root-scatter to other nodes: process 0 reads and sends
///                    (scatterFromRoot)
class Session {
public:
  Session(const Options &options, rt::Bundle &bundle, const Sources &sources, const rt::HostFunctions &functions,
          rt::Backend &backend, bool measured)
      : options_(options), bundle_(bundle), sources_(sources), functions_(functions), backend_(backend),
        measured_(measured), executor_(options.timeout, &backend) {
    executor_.setLibraryThreads(options.libraryThreads);
  }

  rt::Expected<RunRecord> run(const Runnable &what);
  /// Writes the results of the last run into `directory`; process 0 writes, and returns the
  /// paths.
  rt::Expected<std::vector<std::string>> writeResults(const Runnable &what, const std::string &directory);
  bool stuck() const { return executor_.stuck(); }
  /// Called by all processes together after the last run: an error if no rank has reached the
  /// fault of SK_FAULT.
  rt::Status checkFault();

private:
  struct Arguments {
    std::vector<std::vector<rt::TensorSource>> stages; ///< By stage, then by argument.
    std::vector<rt::TensorSource> reference;           ///< For the reference, with --verify.
  };
  /// Finds all errors that can be found before memory is allocated.
  rt::Status prepare(const Runnable &what, Arguments &arguments, std::vector<sk_program> &programs);
  rt::Status load(const Runnable &what, const Arguments &arguments, RunRecord &record);
  rt::Status loadOnHost(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// Fills argument `i` of `rank` in host memory if it is random.
  void fillRandom(const Runnable &what, const Arguments &arguments, int64_t rank, size_t i, void *to);
  /// Through a ring of pinned memory: the next arguments are read while devices copy the last
  /// ones. Arguments of the block exchange are left out.
  rt::Status loadThroughRing(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// Arguments of the block exchange that are loaded at once: each rank reads a block of each.
  struct Batch {
    rt::FunctionInfo moves;       ///< One collective per argument.
    std::vector<size_t> indices;  ///< Indices of the arguments, ascending.
    std::vector<int64_t> offsets; ///< Offset of each block in the memory of a rank.
    int64_t rankBytes = 0;
  };
  /// Whether each process loads only the arguments of its ranks, also if other processes run
  /// on its node: then common arguments go through the block exchange.
  bool loadsLocally(const Runnable &what, const Arguments &arguments) const;
  void planExchanges(const Runnable &what, const Arguments &arguments);
  rt::Status loadByBlockExchange(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// For --load=root-scatter, to the ranks of other nodes.
  rt::Status scatterFromRoot(const Runnable &what, const Arguments &arguments, rt::LoadStats &stats);
  /// Brings the local results (or argument `i` of a stage) of all ranks to process 0.
  rt::Status collectResults(const Runnable &what);
  rt::Status collectArgument(const Runnable &what, size_t stage, size_t i);
  /// Opens the devices of the ranks of this process if the bundle is for devices.
  rt::Status openDevices(const Runnable &what);
  /// Merges the measurements of all processes, on all of them.
  rt::Status mergeRecords(RunRecord &record);
  rt::Status digest(const Runnable &what, RunRecord &record);
  rt::ShardProgram programs(const Runnable &what);
  rt::Status writeAll(const Runnable &what, const std::string &directory, std::vector<std::string> &written);
  /// An empty text if all copies of result `i` have the same bits; else which differ.
  std::string compareCopies(const Runnable &what, size_t i);
  /// Gathers a full result from the ranks of one stage.
  void gather(const Runnable &what, Runnable::Position position, void *global);
  rt::Status runOnce(const Runnable &what, const std::vector<sk_program> &programs, rt::RunStats *stats);
  rt::Status loadReference(const Runnable &what, size_t index, const rt::TensorSource &source);
  rt::Status compare(const Runnable &what, const Arguments &arguments, RunRecord &record);
  rt::Status verify(const Runnable &what, const Arguments &arguments, RunRecord &record);

  const Options &options_;
  rt::Bundle &bundle_;
  const Sources &sources_;
  const rt::HostFunctions &functions_;
  rt::Backend &backend_;
  const bool measured_; ///< Records have the measurements of all processes.
  rt::Executor executor_;
  /// By the ranks [begin, end); memory on them goes first.
  struct RankDevices {
    std::unique_ptr<rt::cuda::Devices> devices;
    std::unique_ptr<rt::cuda::NcclRanks> nccl;
  };
  /// By the number of all ranks.
  std::map<int64_t, RankDevices> allDevices_;
  rt::cuda::PinnedMemory ring_[2];
  bool isLocal_ = false;                                     ///< loadsLocally() of the current run.
  std::vector<std::unique_ptr<Batch>> *exchanges_ = nullptr; ///< Block exchanges of the current run.
  /// By function; the executor knows them by address.
  std::map<const rt::FunctionInfo *, std::vector<std::unique_ptr<Batch>>> allExchanges_;
  std::vector<rt::cuda::DeviceMemory> blocks_; ///< By rank; go before the devices.
  rt::cuda::Devices *devices_ = nullptr;       ///< Devices of the current run; null on the host.
  std::vector<rt::RankMemory> memory_;
  rt::RankMemory reference_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SESSION_H
