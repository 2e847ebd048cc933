//===- Session.h - Load, run, verify and write one function -----*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_SESSION_H
#define SHARDKIT_TOOLS_SHARDRUN_SESSION_H

#include "Options.h"
#include "Sources.h"

#include "shardkit/rt/Bundle.h"
#include "shardkit/rt/Compare.h"
#include "shardkit/rt/Executor.h"
#include "shardkit/rt/HostFunctions.h"

namespace shardkit::run {

/// What was measured while one function ran.
struct FunctionRecord {
  const rt::FunctionInfo *function = nullptr;
  double loadSeconds = 0; ///< Random arguments included.
  rt::LoadStats load;
  int64_t loadMessages = 0; ///< Sent between processes for the load.
  std::vector<double> steps;          ///< Seconds.
  rt::RunStats stats;
  std::vector<int64_t> localBytes; ///< Per rank: arguments, results and arena.
  std::vector<rt::Difference> differences; ///< Per result, with --verify; on process 0.
  std::vector<bool> within;                ///< On every process.
  std::vector<std::string> digests;        ///< Per result, if asked for; on every process.

  double minStep() const;
  double medianStep() const;
};

/// Runs functions one after the other; threads and memory are kept. All processes of
/// the backend do so together, and get the same errors.
class Session {
public:
  Session(const Options &options, rt::Bundle &bundle, const Sources &sources,
          const rt::HostFunctions &functions, rt::Backend &backend, bool measured)
      : options_(options), bundle_(bundle), sources_(sources), functions_(functions),
        backend_(backend), measured_(measured), executor_(options.timeout, &backend) {
    executor_.setLibraryThreads(options.libraryThreads);
  }

  rt::Expected<FunctionRecord> run(const rt::FunctionInfo &function);
  /// Writes the results of the function that ran last into `directory`; process 0
  /// does, and has the paths.
  rt::Expected<std::vector<std::string>>
  writeResults(const rt::FunctionInfo &function, const std::string &directory);
  bool stuck() const { return executor_.stuck(); }

private:
  /// What this process can find wrong before anything is allocated.
  rt::Status prepare(const rt::FunctionInfo &function, std::vector<rt::TensorSource> &arguments,
                     sk_program &program);
  rt::Status load(const rt::FunctionInfo &function,
                  const std::vector<rt::TensorSource> &arguments, FunctionRecord &record);
  rt::Status loadArguments(const rt::FunctionInfo &function,
                           const std::vector<rt::TensorSource> &arguments,
                           FunctionRecord &record);
  /// --load=root-scatter to the ranks of other nodes.
  rt::Status scatter(const rt::FunctionInfo &function,
                     const std::vector<rt::TensorSource> &arguments, rt::LoadStats &stats);
  /// Brings the local results (or argument `i`) of all ranks to process 0.
  rt::Status collectResults(const rt::FunctionInfo &function);
  rt::Status collectArgument(const rt::FunctionInfo &function, size_t i);
  /// What processes measured, on all of them.
  rt::Status mergeRecords(FunctionRecord &record);
  rt::Status digest(const rt::FunctionInfo &function, FunctionRecord &record);
  rt::ShardProgram programs(const rt::FunctionInfo &function);
  rt::Status writeAll(const rt::FunctionInfo &function, const std::string &directory,
                      std::vector<std::string> &written);
  rt::Status loadReference(const rt::FunctionInfo &function, size_t index,
                           const rt::TensorSource &source);
  rt::Status compare(const rt::FunctionInfo &function,
                     const std::vector<rt::TensorSource> &arguments, FunctionRecord &record);
  rt::Status verify(const rt::FunctionInfo &function,
                    const std::vector<rt::TensorSource> &arguments,
                    FunctionRecord &record);

  const Options &options_;
  rt::Bundle &bundle_;
  const Sources &sources_;
  const rt::HostFunctions &functions_;
  rt::Backend &backend_;
  const bool measured_; ///< Records shall have what all processes measured.
  rt::Executor executor_;
  std::vector<rt::RankMemory> memory_;
  rt::RankMemory reference_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SESSION_H
