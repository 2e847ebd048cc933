//===- Session.h - Load, run, verify and write what runs as one -*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_SESSION_H
#define SHARDKIT_TOOLS_SHARDRUN_SESSION_H

#include "Options.h"
#include "Runnable.h"
#include "Sources.h"

#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Execution/Compare.h"
#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Manifest/Bundle.h"

namespace shardkit::run {

/// What was measured while a function or a pipeline ran.
struct RunRecord {
  const Runnable *what = nullptr;
  double loadSeconds = 0; ///< Random arguments included.
  rt::LoadStats load;
  int64_t loadMessages = 0;  ///< Sent between processes for the load.
  std::vector<double> steps; ///< Seconds.
  rt::RunStats stats;
  std::vector<int64_t> localBytes;                       ///< Per rank: arguments, results and arena.
  rt::cuda::AttentionUses attention;                     ///< Of the first rank of this process.
  rt::cuda::GraphUses graphs;                            ///< The same.
  std::map<std::string, rt::cuda::Device::Work> profile; ///< The same, of all steps.
  std::vector<rt::Difference> differences;               ///< Per result, with --verify; on process 0.
  /// Per result, that its places differ, with --verify; on process 0.
  std::vector<std::string> disagreements;
  std::vector<bool> within;         ///< On every process.
  std::vector<std::string> digests; ///< Per result, if asked for; on every process.

  double minStep() const;
  double medianStep() const;
};

/// Runs one after the other; threads and memory are kept. All processes of
/// the backend do so together, and get the same errors.
class Session {
public:
  Session(const Options &options, rt::Bundle &bundle, const Sources &sources, const rt::HostFunctions &functions,
          rt::Backend &backend, bool measured)
      : options_(options), bundle_(bundle), sources_(sources), functions_(functions), backend_(backend),
        measured_(measured), executor_(options.timeout, &backend) {
    executor_.setLibraryThreads(options.libraryThreads);
  }

  rt::Expected<RunRecord> run(const Runnable &what);
  /// Writes the results of what ran last into `directory`; process 0
  /// does, and has the paths.
  rt::Expected<std::vector<std::string>> writeResults(const Runnable &what, const std::string &directory);
  bool stuck() const { return executor_.stuck(); }
  /// By all processes together, when all has run: an error if SK_FAULT asks for what none
  /// of their ranks came to.
  rt::Status checkFault();

private:
  struct Arguments {
    std::vector<std::vector<rt::TensorSource>> stages; ///< Of what each stage holds.
    std::vector<rt::TensorSource> whole;               ///< For the reference, with --verify.
  };
  /// What this process can find wrong before anything is allocated.
  rt::Status prepare(const Runnable &what, Arguments &arguments, std::vector<sk_program> &programs);
  rt::Status load(const Runnable &what, const Arguments &arguments, RunRecord &record);
  rt::Status loadArguments(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// Random argument `i` of `rank`, made where it shall lie on the host; nothing for
  /// one that is not random.
  void fillRandom(const Runnable &what, const Arguments &arguments, int64_t rank, size_t i, void *to);
  /// By way of a ring of pinned memory: what is read next while devices copy the last.
  /// Arguments that ranks read together are left out.
  rt::Status loadOnDevices(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// Arguments of which each rank reads a block, to be exchanged between the devices: as
  /// many as are on their way at once.
  struct Batch {
    rt::FunctionInfo moves;      ///< A collective for each.
    std::vector<size_t> indices; ///< Of the arguments, ascending.
    std::vector<int64_t> places; ///< Of the blocks, in what a rank has of them.
    int64_t rankBytes = 0;
  };
  /// Whether each process loads what its own ranks hold, also where others of its node run:
  /// what several would read they read together.
  bool loadsApart(const Runnable &what, const Arguments &arguments) const;
  void planTogether(const Runnable &what, const Arguments &arguments);
  rt::Status loadTogether(const Runnable &what, const Arguments &arguments, RunRecord &record);
  /// --load=root-scatter to the ranks of other nodes.
  rt::Status scatter(const Runnable &what, const Arguments &arguments, rt::LoadStats &stats);
  /// Brings the local results (or argument `i` of a stage) of all ranks to process 0.
  rt::Status collectResults(const Runnable &what);
  rt::Status collectArgument(const Runnable &what, size_t stage, size_t i);
  /// Where the bundle is for devices: those of the ranks that this process runs.
  rt::Status openDevices(const Runnable &what);
  /// What processes measured, on all of them.
  rt::Status mergeRecords(RunRecord &record);
  rt::Status digest(const Runnable &what, RunRecord &record);
  rt::ShardProgram programs(const Runnable &what);
  rt::Status writeAll(const Runnable &what, const std::string &directory, std::vector<std::string> &written);
  /// Whether the places of result `i` hold the same bits; else which do not.
  std::string comparePlaces(const Runnable &what, size_t i);
  /// The whole of a result, as the ranks of a place have it.
  void gather(const Runnable &what, Runnable::Place place, void *global);
  rt::Status runOnce(const Runnable &what, const std::vector<sk_program> &programs, rt::RunStats *stats);
  rt::Status loadReference(const Runnable &what, size_t index, const rt::TensorSource &source);
  rt::Status compare(const Runnable &what, const Arguments &arguments, RunRecord &record);
  rt::Status verify(const Runnable &what, const Arguments &arguments, RunRecord &record);

  const Options &options_;
  rt::Bundle &bundle_;
  const Sources &sources_;
  const rt::HostFunctions &functions_;
  rt::Backend &backend_;
  const bool measured_; ///< Records shall have what all processes measured.
  rt::Executor executor_;
  /// By the ranks [begin, end); memory on them goes first.
  struct RankDevices {
    std::unique_ptr<rt::cuda::Devices> devices;
    std::unique_ptr<rt::cuda::NcclRanks> nccl;
  };
  /// By the number of all ranks.
  std::map<int64_t, RankDevices> allDevices_;
  rt::cuda::PinnedMemory ring_[2];
  bool isApart_ = false;                                    ///< loadsApart of what runs now;
  std::vector<std::unique_ptr<Batch>> *together_ = nullptr; ///< what is read together then.
  /// By function; the executor knows them by address.
  std::map<const rt::FunctionInfo *, std::vector<std::unique_ptr<Batch>>> allTogether_;
  std::vector<rt::cuda::DeviceMemory> blocks_; ///< By rank; go before the devices.
  rt::cuda::Devices *devices_ = nullptr;       ///< Of what runs now; null on the host.
  std::vector<rt::RankMemory> memory_;
  rt::RankMemory reference_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SESSION_H
