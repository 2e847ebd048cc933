//===- Report.h - What a run measured ---------------------------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDRUN_REPORT_H
#define SHARDKIT_TOOLS_SHARDRUN_REPORT_H

#include "Run.h"

namespace shardkit::run {

/// Seconds of a step that the bundle's compiler predicts, where the mesh has `flops`. Hidden: those of collectives that
/// pass while devices compute.
struct Prediction {
  double collectives, hidden, compute;
  double seconds() const { return collectives - hidden + compute; }
};
std::optional<Prediction> findPrediction(const rt::Bundle &bundle, const RunRecord &record);
/// The few lines about one run on stdout.
void printSummary(const RunRecord &record, const std::optional<Prediction> &predicted);
/// One line per result.
void printDifferences(const RunRecord &record, bool onlyMismatches);
/// How the values of a run compare with those of the unsharded program.
void printValues(const RunRecord &record);
/// One line about all runs.
void printVerdict(const std::vector<RunRecord> &records, bool exact);
/// One line of JSON: how a function of a suite compares with its reference.
std::string suiteEntry(const std::string &run, const RunRecord &record);
/// The same of a run that failed.
std::string suiteEntry(const std::string &run, const std::string &error);

/// The report of the bundle's compiler, if it holds one, with measured times
/// added; the schema is in docs/internals/Runtime.md.
rt::Status writeReport(const std::string &path, const rt::Bundle &bundle, const Options &options,
                       const std::vector<RunRecord> &records, int processes);

} // namespace shardkit::run

#endif // SHARDKIT_TOOLS_SHARDRUN_REPORT_H
