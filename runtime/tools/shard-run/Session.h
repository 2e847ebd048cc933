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
  std::vector<double> steps;          ///< Seconds.
  rt::RunStats stats;
  std::vector<int64_t> localBytes; ///< Per rank: arguments, results and arena.
  std::vector<rt::Difference> differences; ///< Per result, with --verify.
  std::vector<bool> within;

  double minStep() const;
  double medianStep() const;
};

/// Runs functions one after the other; threads and memory are kept.
class Session {
public:
  Session(const Options &options, rt::Bundle &bundle, const Sources &sources,
          const rt::HostFunctions &functions)
      : options_(options), bundle_(bundle), sources_(sources), functions_(functions),
        executor_(options.timeout) {}

  rt::Expected<FunctionRecord> run(const rt::FunctionInfo &function);
  /// Writes the results of the function that ran last into `directory`.
  rt::Expected<std::vector<std::string>>
  writeResults(const rt::FunctionInfo &function, const std::string &directory);
  bool stuck() const { return executor_.stuck(); }

private:
  rt::Status load(const rt::FunctionInfo &function,
                  const std::vector<rt::TensorSource> &arguments, FunctionRecord &record);
  rt::Status loadReference(const rt::FunctionInfo &function, size_t index,
                           const rt::TensorSource &source);
  rt::Status verify(const rt::FunctionInfo &function,
                    const std::vector<rt::TensorSource> &arguments,
                    FunctionRecord &record);

  const Options &options_;
  rt::Bundle &bundle_;
  const Sources &sources_;
  const rt::HostFunctions &functions_;
  rt::Executor executor_;
  std::vector<rt::RankMemory> memory_;
  rt::RankMemory reference_;
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_SESSION_H
