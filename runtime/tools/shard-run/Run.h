//===- Run.h - Load, run, verify and write what runs as one -----*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_RUN_H
#define SHARDKIT_TOOLS_SHARDRUN_RUN_H

#include "Options.h"
#include "Sources.h"

#include "shardkit/rt/Session/CompareValues.h"
#include "shardkit/rt/Session/Session.h"
#include "shardkit/rt/Session/Verify.h"

namespace shardkit::run {

/// Measurements of a run of a function or a pipeline.
struct RunRecord {
  const rt::Runnable *what = nullptr;
  double loadSeconds = 0; ///< Random arguments included.
  rt::Measurements measured;
  std::vector<double> steps;             ///< Seconds.
  std::vector<int64_t> localBytes;       ///< Bytes of arguments, results and arena per rank.
  rt::DeviceCounters counters;           ///< Of the first rank of this process; the profile is of all steps.
  std::vector<rt::ResultCheck> checks;   ///< Per result, with --verify.
  std::optional<rt::ValueReport> values; ///< With --verify=values.
  std::vector<std::string> digests;      ///< Per result, with --digests; on every process.

  double minStep() const;
  double medianStep() const;
};

rt::SessionOptions sessionOptions(const Options &options);

/// Runs functions of a session as the command line requests, one after the other. All processes of the backend call it
/// together and get the same errors.
class FunctionRunner {
public:
  /// With `measured` records have the measurements of all processes.
  FunctionRunner(const Options &options, rt::Session &session, rt::Backend &backend, const Sources &sources,
                 bool measured)
      : options_(options), session_(session), backend_(backend), sources_(sources), measured_(measured) {}

  rt::Expected<RunRecord> run(int function);
  /// Writes the results of the last run into `directory`; process 0 writes, and returns the paths.
  rt::Expected<std::vector<std::string>> writeResults(const std::string &directory);

private:
  struct Arguments {
    rt::ArgumentSources stages;
    std::vector<rt::TensorSource> reference; ///< With --verify.
  };
  /// Finds all errors that can be found before memory is allocated.
  rt::Status prepare(const rt::Runnable &what, Arguments &arguments);
  rt::Expected<std::vector<rt::Array>> load(int function, const Arguments &arguments, RunRecord &record);
  rt::Status runSteps(int function, const std::vector<rt::Array> &arguments, RunRecord &record);
  rt::CompareOptions compareOptions() const;
  /// One of several functions may have no values.
  bool comparesValues(const rt::Runnable &what) const {
    return options_.values && (what.full().unsharded || !options_.function.empty());
  }
  /// With --verify=values results are compared too if the bundle has a reference.
  bool verifiesResults(const rt::Runnable &what) const {
    return options_.verify && (!options_.values || what.full().reference);
  }
  rt::Status writeResult(const rt::Array &result, const std::string &path);

  const Options &options_;
  rt::Session &session_;
  rt::Backend &backend_;
  const Sources &sources_;
  const bool measured_;
  std::vector<rt::Array> results_; ///< Of the last step.
};

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_RUN_H
