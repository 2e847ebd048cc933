//===- Session.h - Load, run, verify and write what runs as one -*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_SESSION_H
#define SHARDKIT_TOOLS_SHARDRUN_SESSION_H

#include "Options.h"
#include "Sources.h"

#include "shardkit/rt/Cuda/Device.h"
#include "shardkit/rt/Execution/Compare.h"
#include "shardkit/rt/Execution/Executor.h"
#include "shardkit/rt/Execution/HostFunctions.h"
#include "shardkit/rt/Execution/RankDevices.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Loading/ArgumentLoader.h"
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
  std::vector<bool> within;              ///< On every process.
  std::vector<rt::Tolerance> tolerances; ///< Per result, with --verify; on process 0.
  std::vector<double> fractions;         ///< Errors as fractions of the tolerance (Difference::fractionOf).
  std::vector<std::string> digests;      ///< Per result, with --digests; on every process.

  double minStep() const;
  double medianStep() const;
};

/// Loads, runs and verifies functions and pipelines, one after the other; threads and memory
/// are kept. All processes of the backend call it together and get the same errors.
class Session {
public:
  Session(const Options &options, rt::Bundle &bundle, const Sources &sources, const rt::HostFunctions &functions,
          rt::Backend &backend, bool measured)
      : options_(options), bundle_(bundle), sources_(sources), functions_(functions), backend_(backend),
        measured_(measured), executor_(options.timeout, &backend),
        rankDevices_(deviceOptions(options), options.backend == "nccl", options.timeout),
        loader_(backend, executor_, functions) {
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
  /// Brings the local results (or argument `i` of a stage) of all ranks to process 0.
  rt::Status collectResults(const Runnable &what);
  rt::Status collectArgument(const Runnable &what, size_t stage, size_t i);
  static rt::cuda::DeviceOptions deviceOptions(const Options &options);
  /// Merges the measurements of all processes, on all of them.
  rt::Status mergeRecords(RunRecord &record);
  rt::Status digest(const Runnable &what, RunRecord &record);
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
  rt::RankDevices rankDevices_;
  rt::ArgumentLoader loader_;
  bool isLocal_ = false;                       ///< Of the current run: ArgumentLoad::isLocal.
  std::shared_ptr<rt::cuda::Devices> devices_; ///< Devices of the current run; null on the host.
  std::vector<rt::RankMemory> memory_;
  rt::RankMemory reference_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SESSION_H
